// A line of new text, along which the longest context is often unknown; and six n-gram models that write, n = 1 to 6.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable } from "../ui.mjs";
import {
  LINE_LENGTH, MAX_ORDER, MAX_START, alongLine, countInSteps, createCounts, formatShare, readOf, tidyStart, writings,
} from "./maths.mjs";
import { aboutCopies, filled, linePanel, sentenceNodes, sentenceOf, timesOf, writingsPanel, writtenSentence } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SLICE_MS = 8;
const { seed: SEED, place: PLACE } = SPEC.controls;
const { duel: DUEL } = SPEC.presets;

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

/** The field with the beginning; what it shows is left alone as long as it means the same, and a note says what is read. */
function startField({ t, onStart, signal }) {
  const input = element("input", { type: "text", class: "d2lrnn-text ctx-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    tell();
    onStart(tidyStart(input.value));
  };
  const note = element("p", { class: "ctx-note", hidden: true });
  const tell = () => {
    const { start, length, cut, changed } = readOf(input.value);
    note.hidden = !cut && !changed;
    const values = { start: start.trim() === "" ? t("read_as_nothing") : `“${start}”`, count: MAX_START, typed: length };
    note.textContent = t(!cut ? "read_as" : changed ? "read_last_as" : "read_last", values);
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element("label", { class: "ctx-start" }, element("span", {}, t("go_on")), input);
  const draw = (start) => {
    if (input.value !== start && tidyStart(input.value) !== start) force(start);
  };
  const force = (start) => {
    input.value = start;
    tell();
  };
  return { node, note, draw, force };
}

/** A paragraph whose first words, up to the colon, stand out. */
function about(text) {
  const end = text.indexOf(":") + 1;
  return element("p", { class: "ctx-about" }, element("b", {}, text.slice(0, end)), text.slice(end));
}

/** Two buttons, one for each thing that the six models do. */
function viewButtons({ t, signal, onView }) {
  const buttons = SPEC.controls.view.choices.map((view) => buttonControl({ label: t(`view_${view}`), signal, onPress: () => onView(view) }));
  return {
    node: element("div", { class: "ctx-views", role: "group", "aria-label": t("views") }, ...buttons),
    draw: (shown) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(SPEC.controls.view.choices[i] === shown))),
  };
}

function build({ el, t, model, signal, commit, reset, onReset, say, link }) {
  const { text, num_train: numTrain, vocab, levels, line_start: lineStart } = Object.fromEntries(
    ["text", "num_train", "vocab", "levels", "line_start"].map((name) => [name, model.get(name)]),
  );
  const source = text.slice(0, numTrain);
  const line = text.slice(lineStart, lineStart + LINE_LENGTH);
  let counts = null;
  let steps = null;
  let written = { key: null, all: null };
  let shown = null; // the state on the screen
  let closeSteps = () => {};
  let asking = false; // a step asks about the letter in sight

  const now = nowLine();
  const tell = (template, values) => now.set(...emphasised(template, values));
  const views = viewButtons({ t, signal, onView: (view) => commit({ view }) });
  const field = startField({
    t, signal,
    onStart: (start) => {
      closeSteps(); // they ask about other beginnings
      commit({ start });
    },
  });
  const again = buttonControl({ label: t("again"), signal, onPress: () => commit({ seed: (shown.seed + 1) % (SEED.max + 1) }) });
  const rows = writingsPanel({ t, levels, onWritten: () => drawNow(), signal });
  const along = linePanel({ t, line, min: PLACE.min, max: PLACE.max, signal, onPlace: (place) => {
    if (asking) closeSteps();
    commit({ place });
  } });
  const waiting = element("p", { class: "ctx-waiting" }, t("counting"));
  const { node: guided } = guidedSteps({
    t, steps: SPEC.steps, say, signal, outcome: (i) => outcomes(t, { steps })[i],
    set: (values) => {
      ask(SPEC.steps.some(({ before, state }) => before === values && before.place === state.place));
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
  const panels = {
    write: element("div", { class: "ctx-panel" }, element("div", { class: "ctx-tools" }, field.node, again, field.note), rows.node),
    read: element("div", { class: "ctx-panel" }, along.node),
  };
  const root = element(
    "div", { class: "d2lrnn-shape ctx ctx-busy" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, waiting, views.node, element("div", { class: "ctx-panels" }, panels.read, panels.write),
    guided, fold(t("more"), ...["blocks", "times", "guess", "mix", "copied", "new"].map((what) => about(t(`about_${what}`, aboutCopies())))),
    footRow({ t, reset: () => { reset(); field.force(model.get("start")); }, link, say, signal }),
  );
  el.append(root);

  const ask = (does) => {
    asking = does;
    root.classList.toggle("ctx-asks", does); // what would tell is out of sight
  };

  const here = () => steps[shown.place - PLACE.min];
  const drawNow = () => {
    if (shown === null || counts === null) return;
    if (shown.view === "read") now.set(...sentenceNodes(here(), t));
    else if (rows.writing()) tell(t.raw("now_writing"), {});
    else tell(...writtenSentence(written.all, levels, t));
  };
  const draw = (state) => {
    const before = shown;
    shown = state;
    field.draw(state.start);
    views.draw(state.view);
    for (const [view, panel] of Object.entries(panels)) panel.classList.toggle("ctx-away", view !== state.view);
    if (counts === null) return;
    const key = JSON.stringify([state.start, state.seed]);
    const isNew = key !== written.key;
    if (isNew) written = { key, all: writings(counts, source, state.start, state.seed) };
    rows.draw(written.all, { start: state.start, animate: before !== null && isNew && state.view === "write" });
    along.draw(steps, state.place);
    drawNow();
    if (before === null) return;
    if (state.view === "read" && (before.place !== state.place || before.view !== state.view)) say(sentenceOf(here(), t, asking));
    else if (state.view === "write" && isNew) say(filled(...writtenSentence(written.all, levels, t)));
  };
  field.force(model.get("start"));
  countSlowly({
    text, numTrain, vocab, signal,
    onDone: (counted) => {
      counts = counted;
      steps = alongLine(counts, line);
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

/** What the guided steps tell once a guess is made, with numbers that were computed here. */
export function outcomes(t, { steps }) {
  const [fell, seen] = SPEC.steps.map(({ state }) => state);
  const [word, last] = [fell, seen].map(({ place }) => steps[place - PLACE.min]);
  return [
    { p: formatShare(word.p), seen: word.answering.context, times: timesOf(word.answering.total, t) },
    { p: formatShare(last.p), context: last.past, times: timesOf(last.answering.total, t) },
    { gain: DUEL.gain.toFixed(1), loss: DUEL.loss.toFixed(1), worse: Math.round(100 * DUEL.worse) },
  ];
}

export default explorable({
  spec: SPEC, build, repair: (state) => ({ ...state, start: tidyStart(state.start) }),
});
