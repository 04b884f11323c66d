// The surprise map: every letter of a text coloured by its bits, under one network at four stages of its training.
import { createReader } from "../core.mjs";
import {
  buttonControl, choiceRule, element, explorable, footPanel, formatNumber, formatProbability, numberRule, rangeControl,
  textRule, visibleCharacter,
} from "../ui.mjs";
import { encode, loadModel, normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same as Python's SurpriseMap ------------------------------------------------------------------------

export const MAX_TEXT = 800;
export const STAGES = ["untrained", "first_steps", "half_way", "trained"];
const BITS_SHOWN = 8; // a darker colour and a higher bar there are not

/** What is read of a typed text: normalised, its first MAX_TEXT characters. */
export function readable(text) {
  return normalise(text).slice(0, MAX_TEXT);
}

/**
 * Read a text and note what it costs: { bits, tops }.
 *
 * `bits[i]` is the surprise of character i + 1 after all before it; `tops[i]` the three likeliest instead, as
 * [index, probability].
 */
export function surprises({ model, vocab }, text) {
  const ids = encode(text, vocab);
  const reader = createReader(model);
  const bits = new Float64Array(Math.max(ids.length - 1, 0));
  const tops = [];
  for (let i = 0; i + 1 < ids.length; i += 1) {
    const probs = reader.read(ids[i]);
    bits[i] = -Math.log2(probs[ids[i + 1]]);
    const order = [...probs.keys()].sort((a, b) => probs[b] - probs[a]).slice(0, 3);
    tops.push(order.map((index) => [index, probs[index]]));
  }
  return { bits, tops };
}

/** Totals of some surprises: { bits, rate, perplexity, bytes }. A coder needs whole bytes. */
export function totals(bits) {
  const sum = bits.reduce((total, b) => total + b, 0);
  const rate = sum / bits.length;
  return { bits: sum, rate, perplexity: 2 ** rate, bytes: Math.ceil(sum / 8) };
}

/** Where a surprise stands on the scale of colours and heights, 0 to 1. */
export function level(bits) {
  return Math.min(bits / BITS_SHOWN, 1);
}

export const RULES = {
  text: textRule(MAX_TEXT),
  stage: choiceRule(STAGES),
  place: numberRule(1, MAX_TEXT, { whole: true }),
};

// ---- view -----------------------------------------------------------------------------------------------------------------

const loaded = new WeakMap();

function networkIn(view) {
  if (!loaded.has(view)) loaded.set(view, loadModel(view));
  return loaded.get(view);
}

/** Pieces of a text that a line break must not part: words with the space after them, long ones cut. */
export function pieces(text) {
  return text.match(/[^ ]{1,20} ?| /g) ?? [];
}

function letterSpan(character) {
  const bar = element("span", { class: "map-bar" });
  const node = element("span", { class: "map-letter" }, character === " " ? "\u00a0" : character, bar);
  return { node, bar };
}

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const networks = Object.fromEntries(STAGES.map((stage) => [stage, networkIn(model.get(`weights_${stage}`))]));
  const steps = (stage) => formatNumber(Number(networks[stage].about.num_steps), 0);
  const stageName = (stage) => t(`stage_${stage}`, { steps: steps(stage) });
  const results = new Map(); // stage -> surprises of the text at hand
  let shown = null;
  let letters = [];
  let timer = 0;

  const input = element("textarea", {
    class: "d2lrnn-text map-text", rows: 3, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const hint = element("p", { class: "map-hint" }, t("text_hint", { max: MAX_TEXT }));
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const normal = normalise(input.value);
    hint.textContent = t(normal.length > MAX_TEXT ? "text_long" : "text_hint", { max: MAX_TEXT });
    commit({ text: readable(input.value), place: 1 });
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });

  const stageButtons = STAGES.map((stage) =>
    buttonControl({ label: stageName(stage), "data-stage": stage, signal, onPress: () => commit({ stage }) }));
  const resetButton = buttonControl({ label: t("reset"), signal, onPress: () => reset() });
  const text = element("div", { class: "map-letters", "aria-hidden": "true" });
  text.addEventListener("click", (event) => {
    const i = letters.findIndex(({ node }) => node.contains(event.target));
    if (i > 0) commit({ place: i });
  }, { signal });
  const caption = element("span", { class: "map-caption" });
  const range = rangeControl({ label: caption, min: 1, max: 1, signal, onInput: (place) => commit({ place }) });
  const detail = element("p", { class: "map-detail" });
  const cells = Object.fromEntries(STAGES.map((stage) => [stage, [0, 1, 2].map(() => element("td", {}, "…"))]));
  const lines = STAGES.map((stage) =>
    element("tr", { "data-stage": stage }, element("th", { scope: "row" }, stageName(stage)), ...cells[stage]));
  const table = element(
    "table", { class: "map-table" },
    element("thead", {}, element("tr", {}, ...["stage", "rate", "perplexity", "bytes"].map((name) =>
      element("th", { scope: "col" }, t(`column_${name}`))))),
    element("tbody", {}, ...lines),
  );
  const raw = element("p", { class: "map-hint" });
  const scaleBar = element("div", { class: "map-scale", "aria-hidden": "true" },
    element("span", {}, "0"), element("span", { class: "map-ramp" }), element("span", {}, `${t("scale_more")} ${t("scale")}`));
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  el.append(element(
    "div", { class: "map" },
    element("div", { class: "map-stages", role: "group", "aria-label": t("stages") }, ...stageButtons, resetButton),
    element("div", { class: "map-figure", role: "group", "aria-label": t("map") }, text, scaleBar),
    range.node, detail, table, raw,
    element("label", { class: "d2lrnn-control map-label" }, element("span", {}, t("text")), input),
    hint, foot.node,
  ));

  const resultOf = (stage) => {
    if (!results.has(stage)) results.set(stage, surprises(networks[stage], shown.text));
    return results.get(stage);
  };
  const fillLine = (stage) => {
    const [rate, perplexity, bytes] = cells[stage];
    if (shown.text.length < 2) {
      for (const cell of cells[stage]) cell.textContent = "–";
      return;
    }
    const sum = totals(resultOf(stage).bits);
    rate.textContent = formatNumber(sum.rate);
    perplexity.textContent = formatNumber(sum.perplexity);
    bytes.textContent = String(sum.bytes);
  };
  /** The other stages one after the other, so that a key press is never kept waiting for all four. */
  const fillOthers = () => {
    clearTimeout(timer);
    const open = STAGES.filter((stage) => !results.has(stage) && shown.text.length >= 2);
    if (open.length === 0) return;
    timer = setTimeout(() => {
      fillLine(open[0]);
      fillOthers();
    }, 30);
  };

  const drawLetters = (bits) => {
    if (letters.length !== shown.text.length || text.dataset.text !== shown.text) {
      letters = Array.from(shown.text, letterSpan);
      text.dataset.text = shown.text;
      let from = 0;
      text.replaceChildren(...pieces(shown.text).map((piece) => {
        const word = letters.slice(from, (from += piece.length)).map(({ node }) => node);
        return element("span", { class: "map-word" }, ...word);
      }));
    }
    letters.forEach(({ node }, i) => {
      node.style.setProperty("--map-level", i === 0 ? 0 : level(bits[i - 1]).toFixed(3));
      node.classList.toggle("map-here", i === shown.place);
    });
  };
  const drawDetail = ({ bits, tops }) => {
    const count = shown.text.length - 1;
    const place = Math.min(shown.place, count);
    range.input.max = Math.max(count, 1);
    range.input.disabled = count < 1;
    caption.textContent = t("letter", { place: Math.max(place, 0), count: Math.max(count, 0) });
    if (count < 1) {
      detail.textContent = t("text_short");
      range.set(1, "");
      return;
    }
    const character = visibleCharacter(shown.text[place]);
    const b = bits[place - 1];
    const { vocab } = networks[shown.stage];
    const expected = tops[place - 1].map(([index, p]) =>
      t("expected_row", { character: visibleCharacter(vocab[index]), p: formatProbability(p) }));
    range.set(place, t("letter_value", { character, bits: formatNumber(b) }));
    detail.textContent = t("detail", {
      context: shown.text.slice(Math.max(0, place - 12), place), character, p: formatProbability(2 ** -b),
      bits: formatNumber(b), expected: expected.join(", "),
    });
  };
  const draw = (state) => {
    const before = shown;
    shown = state;
    if (before === null || before.text !== state.text) results.clear();
    const result = state.text.length < 2 ? { bits: [], tops: [] } : resultOf(state.stage);
    drawLetters(result.bits);
    drawDetail(result);
    for (const stage of STAGES) if (results.has(stage) || state.text.length < 2) fillLine(stage);
    for (const button of stageButtons) button.setAttribute("aria-pressed", String(button.dataset.stage === state.stage));
    for (const line of lines) line.classList.toggle("map-chosen", line.dataset.stage === state.stage);
    raw.textContent = t("raw", { bytes: Math.max(state.text.length - 1, 0) });
    if (readable(input.value) !== state.text) input.value = state.text;
    if (before !== null && before.stage !== state.stage && result.bits.length) {
      const { rate, perplexity } = totals(result.bits);
      say(t("spoken", { stage: stageName(state.stage), rate: formatNumber(rate), perplexity: formatNumber(perplexity) }));
    } else if (before !== null && before.place !== state.place) say(detail.textContent);
    fillOthers();
  };
  return { draw, destroy: () => clearTimeout(timer) };
}

/** A link's text is what is read of it, and the letter is one of it. */
export function repair(state) {
  const text = readable(state.text);
  return { ...state, text, place: Math.max(1, Math.min(state.place, text.length - 1)) };
}

export default explorable({ words: SPEC.words, traits: ["text", "stage", "place"], build: buildView, rules: RULES, repair });
