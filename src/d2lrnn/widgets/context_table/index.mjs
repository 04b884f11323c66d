// What followed these letters in a story: counts for a context of 0 to 5 letters; n-gram models tested on new text, and writing.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable } from "../ui.mjs";
import { MAX_LINE, MAX_ORDER, MAX_START, countInSteps, createCounts, formatShare, lookAt, readOf, tidy, writings } from "./maths.mjs";
import {
  backPanel, copiedValues, countsPanel, filled, linePanel, modelsPanel, sentenceNodes, sentenceOf, shorterValues, testPanel, testedSentence, visible,
  writingsPanel, writtenSentence,
} from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SLICE_MS = 8;
const { seed: SEED } = SPEC.controls;

/** Count the training text a few milliseconds at a time; the last text that was counted is kept for other views. */
let lastCounted = { text: null, counts: null };
function countSlowly({ text, numTrain, vocab, signal, onDone }) {
  if (lastCounted.text === text) {
    onDone(lastCounted.counts);
    return;
  }
  const index = new Map(Array.from(vocab, (character, i) => [character, i]));
  const ids = Int32Array.from(text.slice(0, numTrain), (character) => index.get(character));
  const steps = countInSteps(ids, MAX_ORDER, vocab.length);
  let timer = 0;
  const work = () => {
    if (signal.aborted) return;
    const start = performance.now();
    let step = steps.next();
    while (!step.done && performance.now() - start < SLICE_MS) step = steps.next();
    if (!step.done) {
      timer = setTimeout(work, 0);
      return;
    }
    lastCounted = { text, counts: createCounts(step.value, vocab) };
    onDone(lastCounted.counts);
  };
  timer = setTimeout(work, 0);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}

/** A field for a text; what it shows is left alone as long as it means the same, and a note says what is read. */
function textField({ t, label, max, onText, signal }) {
  const input = element("input", { type: "text", class: "d2lrnn-text ctx-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    tell();
    onText(tidy(input.value, max));
  };
  const note = element("p", { class: "ctx-note", hidden: true });
  const tell = () => {
    const { text, length, cut, changed } = readOf(input.value, max);
    note.hidden = !cut && !changed;
    const values = { text: text === "" ? t("read_as_nothing") : `“${visible(text)}”`, count: text.length, typed: length };
    note.textContent = t(!cut ? "read_as" : changed ? "read_last_as" : "read_last", values);
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element("label", { class: "ctx-field" }, element("span", {}, label), input);
  const force = (text) => {
    input.value = text;
    tell();
  };
  const draw = (text) => {
    if (input.value !== text && tidy(input.value, max) !== text) force(text);
  };
  return { node, note, draw, force };
}

/** A paragraph whose first words, up to the colon, stand out. */
function about(text) {
  const end = text.indexOf(":") + 1;
  return element("p", { class: "ctx-about" }, element("b", {}, text.slice(0, end)), text.slice(end));
}

/** A button for each thing that the models do. */
function viewButtons({ t, signal, onView }) {
  const buttons = SPEC.controls.view.choices.map((view) => buttonControl({ label: t(`view_${view}`), signal, onPress: () => onView(view) }));
  return {
    node: element("div", { class: "d2lrnn-segments ctx-views", role: "group", "aria-label": t("views") }, ...buttons),
    draw: (shown) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(SPEC.controls.view.choices[i] === shown))),
  };
}

function build({ el, t, model, signal, commit, reset, onReset, say, link, state }) {
  const { text, num_train: numTrain, vocab, levels } = Object.fromEntries(
    ["text", "num_train", "vocab", "levels"].map((name) => [name, model.get(name)]),
  );
  const source = text.slice(0, numTrain);
  let counts = null;
  let written = { key: null, all: null };
  let shown = null; // the state on the screen
  let look = null; // what the story has at its letter
  let closeSteps = () => {};
  let asking = false; // a step asks about the letter in sight

  const now = nowLine();
  const views = viewButtons({ t, signal, onView: (view) => go({ view }) });
  /** The reader goes an own way: an open step closes, but an answered one stays for other letters and contexts of its line. */
  const go = (values) => {
    const walks = Object.keys(values).every((name) => name === "place" || name === "order");
    if (asking || !walks) closeSteps();
    commit(values);
  };
  const fields = {
    line: textField({ t, label: t("own"), max: MAX_LINE, signal, onText: (line) => go({ line, place: Math.max(0, line.length - 1) }) }),
    start: textField({ t, label: t("go_on"), max: MAX_START, signal, onText: (start) => go({ start }) }),
  };
  const again = buttonControl({ label: t("again"), signal, onPress: () => go({ seed: (shown.seed + 1) % (SEED.max + 1) }) });
  const rows = writingsPanel({ t, onWritten: () => drawNow(), signal });
  const moves = { onPlace: (place) => go({ place }), onOrder: (order) => go({ order }) };
  const [line, back, bars, models] = [linePanel({ t, signal, ...moves }), backPanel({ t, signal, ...moves }), countsPanel({ t }), modelsPanel({ t, signal, ...moves })];
  const origin = element("span", { class: "ctx-key ctx-origin" });
  const tested = testPanel({ t, levels, count: text.length - numTrain, signal, onOrder: moves.onOrder });
  const waiting = element("p", { class: "ctx-waiting" }, t("counting"));
  const ask = (does) => {
    asking = does;
    root.classList.toggle("ctx-asks", does); // what would tell is out of sight
    drawNow();
  };
  const { node: guided } = guidedSteps({
    t, state, steps: SPEC.steps, say, signal, outcome: () => ({ ...copiedValues(), ...SPEC.presets.networks, ...shorterValues(counts, SPEC.steps[0].before, t), here: copiedHere(counts, source) }),
    set: (values) => {
      ask(SPEC.steps.some(({ before, hides }) => before === values && hides));
      commit(values);
    },
    onReset: (act) => {
      closeSteps = () => {
        ask(false);
        act();
      };
      onReset(closeSteps);
    },
  });
  const parts = {
    read: element("div", { class: "ctx-panel ctx-walk" }, line.node, back.node, bars.node,
      element("div", { class: "ctx-tools" }, fields.line.node, origin, fields.line.note)),
    test: element("div", { class: "ctx-panel" }, tested.node),
    write: element("div", { class: "ctx-panel ctx-walk" }, rows.node,
      element("div", { class: "ctx-tools" }, fields.start.node, again, fields.start.note)),
  };
  const root = element(
    "div", { class: "d2lrnn-shape ctx ctx-busy" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, waiting,
    views.node, element("div", { class: "ctx-panels" }, ...Object.values(parts)),
    guided, fold(t("more"), models.node, element("div", { class: "ctx-abouts" }, ...["counts", "new", "scores", "copied"].map((what) => about(t(`about_${what}`, { ...copiedValues(), ...SPEC.presets.networks }))))),
    footRow({ t, reset: () => { reset(); for (const name of ["line", "start"]) fields[name].force(model.get(name)); }, link, say, signal }),
  );
  el.append(root);

  const drawNow = () => {
    if (shown === null || counts === null) return;
    if (shown.view === "read") now.set(...sentenceNodes(look, t));
    else if (shown.view === "test") now.set(...emphasised(...testedSentence(levels, shown.order, t)));
    else if (asking) now.set(t("now_asks"));
    else if (rows.writing()) now.set(t("now_writing"));
    else now.set(...emphasised(...writtenSentence(written.all, shown.start, t)));
  };
  const draw = (state) => {
    const before = shown;
    shown = state;
    for (const name of ["line", "start"]) fields[name].draw(state[name]);
    views.draw(state.view);
    for (const [view, node] of Object.entries(parts)) node.classList.toggle("ctx-away", view !== state.view);
    if (counts === null) return;
    const key = JSON.stringify([state.start, state.seed]);
    const isNew = key !== written.key;
    if (isNew) written = { key, all: writings(counts, source, state.start, state.seed) };
    rows.draw(written.all, { start: state.start, animate: before !== null && isNew && state.view === "write" });
    const was = look;
    look = lookAt(counts, state);
    root.classList.toggle("ctx-empty", look === null);
    tested.draw(state);
    for (const panel of [line, back, bars, models]) panel.draw(look, state);
    origin.textContent = state.line === "" ? "" : t(source.includes(state.line) ? "line_counted" : "line_new");
    drawNow();
    if (before === null) return;
    if (state.view === "read") {
      const sentence = sentenceOf(look, t, asking);
      if (before.view !== state.view || sentence !== sentenceOf(was, t, asking)) say(sentence);
    } else if (state.view === "test") {
      if (before.view !== state.view || before.order !== state.order) say(filled(...testedSentence(levels, state.order, t)));
    } else if (isNew && !asking) say(filled(...writtenSentence(written.all, shown.start, t)));
  };
  for (const name of ["line", "start"]) fields[name].force(model.get(name));
  countSlowly({
    text, numTrain, vocab, signal,
    onDone: (counted) => {
      counts = counted;
      waiting.remove();
      root.classList.remove("ctx-busy");
      if (shown !== null) {
        const state = shown;
        shown = null; // nothing has been on the screen yet
        draw(state);
      }
    },
  });
  return { draw };
}

/** How much looking 5 letters back copies in the step that asks it. */
export function copiedHere(counts, source) {
  const { start, seed } = SPEC.steps[2].before;
  return formatShare(writings(counts, source, start, seed).at(-1).copied);
}

export default explorable({
  spec: SPEC, build,
  repair: (state) => {
    const line = tidy(state.line, MAX_LINE);
    return { ...state, line, start: tidy(state.start, MAX_START), place: Math.max(0, Math.min(state.place, line.length - 1)) };
  },
});
