// Six n-gram models write at once, n = 1 to 6; and a line of new text, along which the longest context is often unknown.
import { fold, footRow, guidedSteps, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, formatNumber, prefersReducedMotion } from "../ui.mjs";
import {
  LINE_LENGTH, MAX_ORDER, alongLine, countInSteps, createCounts, predict, ranking, tidyStart, writings,
} from "./maths.mjs";
import { detailsPanel, linePanel, sentenceOf, surprisalOf, writingsPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SLICE_MS = 8;
const WALK_MS = 700;
const { seed: SEED, place: PLACE } = SPEC.controls;

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
    const start = tidyStart(input.value);
    note.hidden = input.value.toLowerCase() === start;
    note.textContent = t("read_as", { start: start.trim() === "" ? t("read_as_nothing") : `“${start}”` });
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

function build({ el, t, model, signal, commit, reset, onReset, say, link }) {
  const { text, num_train: numTrain, vocab, levels, chapters, line_start: lineStart } = Object.fromEntries(
    ["text", "num_train", "vocab", "levels", "chapters", "line_start"].map((name) => [name, model.get(name)]),
  );
  const source = text.slice(0, numTrain);
  const line = text.slice(lineStart, lineStart + LINE_LENGTH);
  let counts = null;
  let steps = null;
  let written = { key: null, all: null };
  let shown = null; // the state on the screen
  let walker = 0;

  const halt = () => {
    clearInterval(walker);
    walker = 0;
    walkButton.textContent = t("walk");
  };
  const change = (values) => {
    halt();
    commit(values);
  };
  const walk = () => {
    if (shown.place === PLACE.max) commit({ place: PLACE.min });
    walkButton.textContent = t("pause");
    walker = setInterval(() => {
      if (document.hidden) return;
      const place = Math.min(PLACE.max, shown.place + 1);
      if (place === PLACE.max) halt();
      commit({ place });
    }, prefersReducedMotion() ? 3 * WALK_MS : WALK_MS);
  };

  const now = nowLine();
  const field = startField({ t, signal, onStart: (start) => change({ start }) });
  const again = buttonControl({ label: t("again"), signal, onPress: () => change({ seed: (shown.seed + 1) % (SEED.max + 1) }) });
  const rows = writingsPanel({ t, now, levels, chapters, signal });
  const walkButton = buttonControl({ label: t("walk"), class: "d2lrnn-button ctx-walk-button", signal, onPress: () => (walker ? halt() : walk()) });
  const along = linePanel({
    t, line, min: PLACE.min, max: PLACE.max, signal, button: walkButton, onPlace: (place) => change({ place }),
  });
  const details = detailsPanel({ t, levels, vocab: [...vocab] });
  const waiting = element("p", { class: "ctx-waiting" }, t("counting"));
  const { node: guided } = guidedSteps({
    t, steps: SPEC.steps, set: change, onReset, say, signal, outcome: (i) => outcomes(t, { levels, counts, steps })[i],
  });
  const root = element(
    "div", { class: "d2lrnn-shape ctx ctx-busy" },
    now.node, waiting, element("div", { class: "ctx-tools" }, field.node, again, field.note), rows.node, along.node,
    guided, fold(t("more"), details.node),
    footRow({ t, reset: () => { halt(); reset(); field.force(model.get("start")); }, link, say, signal }),
  );
  el.append(root);

  const draw = (state) => {
    const before = shown;
    shown = state;
    field.draw(state.start);
    if (counts === null) return;
    const key = JSON.stringify([state.start, state.seed]);
    const isNew = key !== written.key;
    if (isNew) written = { key, all: writings(counts, source, state.start, state.seed) };
    rows.draw(written.all, state.scores, { animate: before !== null && isNew });
    along.draw(steps, state.place);
    details.draw(steps[state.place - PLACE.min], state.scores);
    if (before === null) return;
    if (before.place !== state.place) say(sentenceOf(steps[state.place - PLACE.min], t));
    else if (isNew) say(rows.said());
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
      whenSeen(rows.node, { act: rows.play, signal });
    },
  });
  return { draw, destroy: () => clearInterval(walker) };
}

/** What the guided steps tell once a guess is made, with numbers that were computed here. */
export function outcomes(t, { levels, counts, steps }) {
  const best = levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));
  const last = levels.at(-1);
  const name = ({ order }) => t("n_gram", { n: order });
  const start = SPEC.steps[1].state.start;
  const { answering, chain: [asked], probs } = predict(counts, MAX_ORDER, start);
  const hardest = steps.reduce((a, b) => (b.bits > a.bits ? b : a));
  return [
    { best: name(best), lowest: formatNumber(best.perplexity), last: name(last), highest: formatNumber(last.perplexity) },
    { unseen: asked.context, seen: answering.context, letter: counts.vocab[ranking(probs)[0]] },
    {
      empty: steps.filter(({ order }) => order < MAX_ORDER).length, letter: hardest.letter,
      bits: surprisalOf(hardest.bits, t),
    },
  ];
}

export default explorable({
  spec: SPEC, build, repair: (state) => ({ ...state, start: tidyStart(state.start) }),
});
