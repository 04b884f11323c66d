// What comes next: type, see what a trained network expects, cut the distribution, and let it write on.
import { createReader, randomSource, reshapeProbs, sampleIndex } from "../core.mjs";
import {
  buttonControl, element, explorable, footPanel, formatNumber, formatProbability, numberRule, prefersReducedMotion,
  rangeControl, textRule, visibleCharacter,
} from "../ui.mjs";
import { encode, loadModel, normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same as Python's NextCharacter ---------------------------------------------------------------------

/** Characters that are read; of a longer text the end. */
export const MAX_TEXT = 400;
/** Rows that are shown. */
export const ROWS = 9;

/** What is read of a typed text: normalised, its last MAX_TEXT characters. */
export function readable(text) {
  return normalise(text).slice(-MAX_TEXT);
}

/** 2 to the entropy: among how many equally likely letters one would be as unsure. */
export function choices(probs) {
  let bits = 0;
  for (const p of probs) if (p > 0) bits -= p * Math.log2(p);
  return 2 ** bits;
}

/**
 * A reader that remembers where it was: reading a text that goes on from the last one costs only what is new.
 *
 * `predict(text)` returns the probabilities of the next character, as a Float32Array over the vocabulary. Nothing read
 * yet counts as a space: a word may begin.
 */
export function createPredictor({ model, vocab }) {
  const reader = createReader(model);
  let read = null;
  let probs = null;
  return (text) => {
    const wanted = text === "" ? " " : text;
    if (read === null || !wanted.startsWith(read)) {
      reader.state = new Float32Array(model.numHiddens);
      read = "";
    }
    for (const index of encode(wanted.slice(read.length), vocab)) probs = reader.read(index).slice();
    read = wanted;
    return probs;
  };
}

/** Settings as `reshapeProbs` takes them: 0 means no bound on k. */
export function cuts({ temperature, top_k, top_p }) {
  return { temperature, topK: top_k || Infinity, topP: top_p };
}

/** The letters by falling probability, with what they are drawn with: [{ character, before, after }]. */
export function rank(probs, drawn, vocab) {
  return vocab
    .map((character, i) => ({ character, before: probs[i], after: drawn[i] }))
    .sort((a, b) => b.before - a.before || vocab.indexOf(a.character) - vocab.indexOf(b.character));
}

/** The next letter to write: a draw that depends on nothing but the text, the settings and the seed. */
export function draw(drawn, vocab, seed, text) {
  let hash = seed + 1;
  for (const character of text) hash = (Math.imul(hash, 31) + character.codePointAt(0)) | 0;
  const random = randomSource(hash);
  random();
  return vocab[sampleIndex(drawn, random())];
}

export const RULES = {
  text: textRule(MAX_TEXT),
  temperature: numberRule(0, 3),
  top_k: numberRule(0, 27, { whole: true }),
  top_p: numberRule(0.05, 1),
  seed: numberRule(0, 9999, { whole: true }),
};

// ---- view -------------------------------------------------------------------------------------------------------------

const WRITE_MS = 90;
const TRAITS = ["text", "temperature", "top_k", "top_p", "seed", "compact"];
const loaded = new WeakMap(); // DataView -> model: several instances on a page share one

function modelIn(view) {
  if (!loaded.has(view)) loaded.set(view, loadModel(view));
  return loaded.get(view);
}

const percent = (p) => `${(100 * p).toFixed(2)}%`;

function barRow() {
  const name = element("span", { class: "next-name" });
  const outline = element("span", { class: "next-outline" });
  const bar = element("span", { class: "next-bar" });
  const before = element("span", { class: "next-before" });
  const after = element("span", { class: "next-after" });
  const spoken = element("span", { class: "d2lrnn-hidden" });
  const seen = element(
    "span", { class: "next-seen", "aria-hidden": "true" },
    name, element("span", { class: "next-track" }, bar, outline), before, after,
  );
  const node = element("li", { class: "next-row" }, spoken, seen);
  const set = (character, p, q, words) => {
    name.textContent = character;
    outline.style.setProperty("width", percent(p));
    bar.style.setProperty("width", percent(q));
    before.textContent = formatProbability(p);
    after.textContent = formatProbability(q);
    node.classList.toggle("next-cut", q === 0);
    spoken.textContent = words;
  };
  return { node, set };
}

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const { model: network, vocab } = modelIn(model.get("weights"));
  const predict = createPredictor({ model: network, vocab });
  let shown = null;
  let drawn = null;
  let timer = 0;

  const input = element("textarea", {
    class: "d2lrnn-text next-text", rows: 3, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const label = element("label", { class: "d2lrnn-control next-label" }, element("span", {}, t("text")), input);
  const hint = element("p", { class: "next-hint" }, t("text_hint"));
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    stop();
    const normal = normalise(input.value);
    hint.textContent = normal.length > MAX_TEXT ? t("text_long", { max: MAX_TEXT }) : t("text_hint");
    commit({ text: readable(input.value) });
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });

  const one = () => commit({ text: readable(shown.text + draw(drawn, vocab, shown.seed, shown.text)) });
  function stop() {
    clearInterval(timer);
    timer = 0;
    onButton.textContent = t("write_on");
    onButton.setAttribute("aria-pressed", "false");
  }
  const start = () => {
    timer = setInterval(() => { if (!document.hidden) one(); }, prefersReducedMotion() ? 5 * WRITE_MS : WRITE_MS);
    onButton.textContent = t("pause");
    onButton.setAttribute("aria-pressed", "true");
  };
  const onButton = buttonControl({ label: t("write_on"), class: "d2lrnn-button next-main", "aria-pressed": "false", signal, onPress: () => (timer ? stop() : start()) });
  const oneButton = buttonControl({ label: t("write_one"), signal, onPress: () => { stop(); one(); } });
  const clearButton = buttonControl({ label: t("clear"), signal, onPress: () => { stop(); commit({ text: "" }); } });
  const resetButton = buttonControl({ label: t("reset"), signal, onPress: () => { stop(); reset(); } });

  const rows = Array.from({ length: ROWS }, barRow);
  const rest = element("p", { class: "next-rest" });
  const summary = element("p", { class: "next-summary" });
  const list = element("ol", { class: "next-rows" }, ...rows.map(({ node }) => node));
  const head = element(
    "div", { class: "next-head", "aria-hidden": "true" },
    element("span", {}, t("column_next")), element("span", {}), element("span", {}, t("column_before")), element("span", {}, t("column_after")),
  );
  const slider = (name, min, max, step, text) => {
    const value = element("b", {});
    const range = rangeControl({
      label: element("span", { class: "next-caption" }, t(name), " ", value), min, max, step, signal,
      onInput: (number) => commit({ [name]: number }),
    });
    return { node: range.node, set: (number) => { value.textContent = text(number); range.set(number, text(number)); } };
  };
  const sliders = {
    temperature: slider("temperature", 0, 3, 0.05, (x) => (x === 0 ? t("greedy") : x.toFixed(2))),
    top_k: slider("top_k", 0, vocab.length, 1, (k) => (k === 0 ? t("all") : String(k))),
    top_p: slider("top_p", 0.05, 1, 0.05, (p) => (p === 1 ? t("all") : p.toFixed(2))),
  };
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  const settings = element("div", { class: "next-settings" }, ...Object.values(sliders).map(({ node }) => node));
  const body = element(
    "div", { class: "next" }, label, hint,
    element("div", { class: "next-buttons" }, onButton, oneButton, clearButton, resetButton),
    settings, head, list, rest, summary, foot.node,
  );
  el.append(body);

  const visible = (character) => visibleCharacter(character);
  const drawView = (state) => {
    const before = shown;
    shown = state;
    body.classList.toggle("next-compact", state.compact);
    settings.hidden = foot.node.hidden = rest.hidden = hint.hidden = state.compact;
    const probs = predict(state.text);
    drawn = reshapeProbs(probs, cuts(state));
    const ranked = rank(probs, drawn, vocab);
    const count = state.compact ? 5 : ROWS;
    rows.forEach((row, i) => {
      row.node.hidden = i >= count;
      const { character, before: p, after: q } = ranked[i];
      const words = { character: visible(character), before: formatProbability(p), after: formatProbability(q) };
      row.set(visible(character), p, q, t("bar", words));
    });
    const others = ranked.slice(count);
    rest.textContent = `${t("others", { count: others.length })}: ${formatProbability(others.reduce((sum, { before: p }) => sum + p, 0))}`;
    const unsure = { before: formatNumber(choices(probs), 1), after: formatNumber(choices(drawn), 1) };
    summary.textContent = `${state.text === "" ? `${t("empty")} ` : ""}${t("choices", unsure)}`;
    for (const [name, control] of Object.entries(sliders)) control.set(state[name]);
    if (input.value !== state.text && readable(input.value) !== state.text) {
      input.value = state.text;
      input.scrollTop = input.scrollHeight;
    }
    if (before !== null && !timer) {
      const top = ranked[0];
      say(t("spoken", { character: visible(top.character), p: formatProbability(top.before), count: drawn.filter((p) => p > 0).length }));
    }
  };
  return { draw: drawView, destroy: () => clearInterval(timer) };
}

export default explorable({ words: SPEC.words, traits: TRAITS, build: buildView, rules: RULES, repair: (state) => ({ ...state, text: readable(state.text) }) });
