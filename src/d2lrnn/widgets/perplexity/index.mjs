// Perplexity, one word at a time: the reader sets the probability that a model gave to each right next character.
import {
  buttonControl, element, explorable, footPanel, formatNumber, formatProbability, listRule, numberRule, rangeControl, svg,
  visibleCharacter,
} from "../ui.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same numbers as d2lrnn.metrics -------------------------------------------------------------------

/** Surprise -log2 p in bits: 0 where p is 1, infinite where it is 0. */
export function surpriseBits(p) {
  return p > 0 ? 0 - Math.log2(p) : Infinity;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Mean surprise of the right characters, in bits per character. */
export function meanBits(probs) {
  return mean(probs.map(surpriseBits));
}

/** Perplexity, 2 to the mean surprise in bits: the geometric mean of the choices 1 / p. */
export function perplexity(probs) {
  return 2 ** meanBits(probs);
}

/** Geometric, arithmetic and harmonic mean of the choices 1 / p. Only the first is the perplexity. */
export function meanChoices(probs) {
  return {
    geometric: perplexity(probs),
    arithmetic: mean(probs.map((p) => 1 / p)),
    harmonic: 1 / mean(probs),
  };
}

/** What a model predicts in a word: each character after the first, with the context before it. */
export function predictions(word) {
  const characters = [...word];
  return characters.slice(1).map((target, i) => ({ context: characters.slice(0, i + 1), target }));
}

export const MIN_CHARACTERS = 2;
export const MAX_CHARACTERS = 12;

/** null if `text` may be the word, else { key, values }: the words that say why not. */
export function wordProblem(text) {
  const characters = [...text];
  if (characters.length < MIN_CHARACTERS || characters.length > MAX_CHARACTERS) {
    return { key: "word_length", values: { min: MIN_CHARACTERS, max: MAX_CHARACTERS, count: characters.length } };
  }
  const control = characters.find((character) => /^[\p{Cc}\p{Cs}]$/u.test(character));
  return control === undefined ? null : { key: "word_control", values: { code: visibleCharacter(control) } };
}

/** Probabilities for another word: they keep their places as far as there are any, the rest is uniform. */
export function carryProbs(probs, count, vocabSize) {
  return Array.from({ length: count }, (_, i) => probs[i] ?? 1 / vocabSize);
}

/** The presets, in the order of their probability. */
export const PRESETS = ["best", "confident", "unsure", "uniform", "worst", "one_zero"];

/** Exact probabilities of a preset for `count` predictions. */
export function presetProbs(name, count, vocabSize) {
  const each = { best: 1, confident: 0.8, unsure: 0.2, uniform: 1 / vocabSize, worst: 0, one_zero: 1 }[name];
  const probs = Array(count).fill(each);
  if (name === "one_zero") probs[count - 1] = 0;
  return probs;
}

/** Where a slider may stand: hundredths, finer steps near 0, where surprise grows fast, and the uniform 1 / vocabSize. */
export function probabilityStops(vocabSize) {
  const hundredths = Array.from({ length: 101 }, (_, i) => i / 100);
  const stops = new Set([...hundredths, 0.001, 0.002, 0.005, 0.995, 0.999, 1 / vocabSize]);
  return [...stops].sort((a, b) => a - b);
}

/** Index of the stop next to p; only 0 and 1 themselves stand on the ends, so that a step further always changes p. */
export function nearestStop(stops, p) {
  const last = stops.length - 1;
  if (p <= 0) return 0;
  if (p >= 1) return last;
  let best = 1;
  for (let i = 2; i < last; i += 1) if (Math.abs(stops[i] - p) < Math.abs(stops[best] - p)) best = i;
  return best;
}

/**
 * A node with `choices` equally likely branches: { branches: [{ y, weight }], more }.
 *
 * y runs from -1 to 1; a fractional last branch has its fraction as weight and parts from its neighbour as it grows.
 * At most `limit` branches are drawn; `more` says how many are not.
 */
export function branchLayout(choices, limit = 32) {
  if (choices > limit) {
    const branches = Array.from({ length: limit }, (_, i) => ({ y: (2 * i) / (limit - 1) - 1, weight: 1 }));
    return { branches, more: choices - limit };
  }
  const whole = Math.max(1, Math.floor(choices + 1e-9));
  const fraction = Math.max(0, choices - whole);
  const weights = [...Array(whole).fill(1), ...(fraction > 1e-9 ? [fraction] : [])];
  const spread = Math.min(1, choices - 1);
  const branches = weights.map((weight, i) => ({
    y: choices > 1 + 1e-9 ? spread * ((2 * Math.min(i, choices - 1)) / (choices - 1) - 1) : 0,
    weight,
  }));
  return { branches, more: 0 };
}

/** Bits at the right end of the axis; a longer bar ends in an arrow. */
export const AXIS_BITS = 7;

/** Where `bits` stands on the axis: 0 to 1. */
export function axisPosition(bits) {
  return Math.min(bits, AXIS_BITS) / AXIS_BITS;
}

/** A count of choices in a sentence: 1.25, 2.8, 27, 1 234. */
export function formatChoices(choices) {
  if (choices >= 99.95) return formatNumber(choices, 0);
  return String(Number(choices.toFixed(choices < 1.995 ? 2 : 1)));
}

// ---- view -------------------------------------------------------------------------------------------------------

const percent = (fraction) => `${(100 * fraction).toFixed(2)}%`;
const bitsText = (bits) => formatNumber(bits, 2);

/** The sentence beneath the number. */
function inWords(choices, t) {
  if (choices === Infinity) return t("sentence_infinite");
  if (choices < 1.0005) return t("sentence_certain");
  if (choices < 1.05) return t("sentence_almost");
  return t("sentence", { choices: formatChoices(choices) });
}

function spokenResult(choices, t) {
  const sentence = inWords(choices, t);
  if (choices === Infinity) return t("spoken_infinite", { sentence });
  return t("spoken", { perplexity: formatNumber(choices), sentence });
}

/** Perplexity as a number, a sentence and a fan of branches. */
function resultPanel(t) {
  // No <output>: that would be a second live region, which speaks at every step of a drag.
  const number = element("div", { class: "ppl-number" });
  const sentence = element("p", { class: "ppl-sentence" });
  const fan = svg("svg", { class: "ppl-fan", viewBox: "0 0 200 112", role: "img" });
  const node = element(
    "div",
    { class: "ppl-result" },
    element("div", { class: "ppl-figure" }, element("span", { class: "ppl-label" }, t("perplexity")), number),
    sentence,
    fan,
  );

  const draw = (choices) => {
    number.textContent = formatNumber(choices);
    sentence.textContent = inWords(choices, t);
    const { branches, more } = branchLayout(choices);
    const label = choices === Infinity ? "∞" : formatChoices(choices);
    fan.setAttribute("aria-label", t("branches", { choices: choices === Infinity ? t("infinite") : label }));
    const right = more ? 112 : 190;
    const paths = branches.map(({ y, weight }) => {
      const end = 56 + 50 * y;
      return svg("path", {
        class: weight < 1 ? "ppl-branch ppl-branch-part" : "ppl-branch",
        d: `M14 56C64 56 ${right - 84} ${end.toFixed(2)} ${right} ${end.toFixed(2)}`,
        // A little of the last branch shows from the start; it is dashed until it is whole.
        "stroke-opacity": weight < 1 ? (0.25 + 0.75 * weight).toFixed(3) : null,
      });
    });
    const texts = more
      ? [svg("text", { x: right + 8, y: 62, class: "ppl-fan-more" }, t("branches_more", { count: formatChoices(more) }))]
      : [];
    fan.replaceChildren(...paths, svg("circle", { class: "ppl-node", cx: 14, cy: 56, r: 6 }), ...texts);
  };
  return { node, draw };
}

/** The word, the presets and the reset. */
function toolbar({ t, signal, onWord, onPreset, onReset, say }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text ppl-word", autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "auto",
  });
  const message = element("p", { class: "ppl-message", hidden: true });
  let shownWord = null;

  const clear = () => {
    input.value = shownWord ?? "";
    input.removeAttribute("aria-invalid");
    message.hidden = true;
  };
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const problem = wordProblem(input.value);
    if (problem === null) {
      shownWord = input.value;
      clear();
      onWord(input.value);
      return;
    }
    input.setAttribute("aria-invalid", "true");
    message.textContent = t(problem.key, problem.values);
    message.hidden = false;
    say(message.textContent);
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });

  const presets = PRESETS.map((name) => {
    const value = element("span", { class: "ppl-preset-value" });
    const label = [value, element("span", { class: "ppl-preset-name" }, t(`preset_${name}`))];
    return { name, value, button: buttonControl({ label, class: "d2lrnn-button ppl-preset", signal, onPress: () => onPreset(name) }) };
  });
  const group = element("div", { class: "ppl-presets", role: "group", "aria-label": t("presets") }, ...presets.map(({ button }) => button));
  const resetButton = buttonControl({ label: t("reset"), class: "d2lrnn-button ppl-reset", signal, onPress: onReset });
  const node = element(
    "div",
    { class: "ppl-tools" },
    element("label", { class: "ppl-word-label" }, element("span", {}, t("word")), input),
    resetButton,
    message,
    element("p", { class: "ppl-presets-label", "aria-hidden": "true" }, t("presets")),
    group,
  );

  const draw = ({ word, probs, vocab_size }) => {
    if (word !== shownWord) {
      shownWord = word;
      clear();
    }
    for (const { name, value, button } of presets) {
      const values = { best: "1", confident: "0.8", unsure: "0.2", uniform: `1/${vocab_size}`, worst: "0" };
      value.textContent = values[name] ?? t("preset_one_zero_value");
      const pressed = presetProbs(name, probs.length, vocab_size).every((p, i) => p === probs[i]);
      button.setAttribute("aria-pressed", String(pressed));
    }
  };
  return { node, draw, clear };
}

const visible = (characters) => characters.map(visibleCharacter).join("");
/** The end of a context, for a narrow place. */
const visibleEnd = (characters) => (characters.length > 6 ? `…${visible(characters.slice(-5))}` : visible(characters));

/** One prediction: context and character, slider, p, bar, bits, choices. */
function chartRow({ context, target, stops, onProbability, t, signal }) {
  const label = element(
    "span",
    { class: "ppl-row-label" },
    element("span", { class: "d2lrnn-hidden" }, t("slider", { target: visible([target]), context: visible(context) })),
    element(
      "span",
      { class: "ppl-prediction", "aria-hidden": "true" },
      element("bdi", { class: "ppl-context ppl-wide" }, visible(context)),
      element("bdi", { class: "ppl-context ppl-narrow" }, visibleEnd(context)),
      element("span", { class: "ppl-arrow" }, "→"),
      element("bdi", { class: "ppl-target" }, visible([target])),
    ),
  );
  const range = rangeControl({ label, min: 0, max: stops.length - 1, signal, onInput: (i) => onProbability(stops[i]) });
  const p = element("span", { class: "ppl-p" });
  const bar = element("span", { class: "ppl-bar" });
  const bits = element("span", { class: "ppl-bits" });
  const choices = element("span", { class: "ppl-choices" });
  range.node.classList.add("ppl-control");
  const node = element(
    "div", { class: "ppl-row" }, range.node, p,
    element("span", { class: "ppl-track" }, bar, element("span", { class: "ppl-mean" })), bits, choices,
  );

  const draw = (probability) => {
    const surprise = surpriseBits(probability);
    p.textContent = formatProbability(probability);
    bits.textContent = bitsText(surprise);
    choices.textContent = formatNumber(1 / probability);
    bar.style.setProperty("width", percent(axisPosition(surprise)));
    bar.classList.toggle("ppl-bar-beyond", surprise > AXIS_BITS);
    const said = surprise === Infinity ? t("infinite") : bitsText(surprise);
    range.set(nearestStop(stops, probability), t("slider_value", { p: formatProbability(probability), bits: said }));
  };
  return { node, draw };
}

/** The rows, with the mean as a line through the bars; bits on the upper axis, choices on the lower. */
function chart(t) {
  const range = Array.from({ length: AXIS_BITS + 1 }, (_, i) => i);
  const ticks = []; // { bits, tick }
  const meanFlag = element("span");
  const perplexityFlag = element("span", { class: "ppl-flag" });
  const axis = (texts, flag) => {
    const node = element("span", { class: "ppl-axis", "aria-hidden": "true" });
    texts.forEach((text, bits) => {
      const tick = element("span", { class: "ppl-tick" }, text);
      tick.style.setProperty("left", percent(axisPosition(bits)));
      ticks.push({ bits, tick });
      node.append(tick);
    });
    node.append(flag);
    return element("div", { class: "ppl-row ppl-axis-row" }, node);
  };
  const head = element(
    "div", { class: "ppl-row ppl-head" },
    element("span", { class: "ppl-head-row" }, t("column_row")),
    element("span", { class: "ppl-head-p" }, t("column_probability")),
    element("span", { class: "ppl-head-track" }, t("column_surprise")),
    element("span", { class: "ppl-head-bits" }, t("column_bits")),
    element(
      "span", { class: "ppl-head-choices" },
      t("column_choices"), element("span", { class: "ppl-wide" }, " ", t("column_choices_formula")),
    ),
  );
  const rows = element("div", { class: "ppl-rows" });
  const equationBits = element("b");
  const equationPower = element("sup");
  const equationResult = element("b");
  const node = element(
    "div", { class: "ppl-chart" },
    head,
    axis(range.map(String), element("span", { class: "ppl-flag" }, element("span", { class: "ppl-wide" }, t("mean"), " "), meanFlag)),
    rows,
    axis(range.map((bits) => String(2 ** bits)), perplexityFlag),
    element(
      "p", { class: "ppl-equation" },
      t("mean"), " ", equationBits, " → ", t("perplexity"), " 2", equationPower, " = ", equationResult,
    ),
  );
  let rowViews = [];

  const setWord = ({ word, stops, onProbability, signal }) => {
    rowViews = predictions(word).map((prediction, i) => chartRow({
      ...prediction, stops, t, signal, onProbability: (p) => onProbability(i, p),
    }));
    rows.replaceChildren(...rowViews.map((row) => row.node));
  };
  const draw = (probs, choices) => {
    rowViews.forEach((row, i) => row.draw(probs[i]));
    const bits = meanBits(probs);
    node.style.setProperty("--ppl-mean", percent(axisPosition(bits)));
    node.classList.toggle("ppl-mean-beyond", bits > AXIS_BITS);
    for (const { bits: at, tick } of ticks) tick.hidden = Math.abs(axisPosition(at) - axisPosition(bits)) < 0.27;
    meanFlag.textContent = bitsText(bits);
    perplexityFlag.textContent = formatNumber(choices);
    equationBits.textContent = t("equation_bits", { bits: bitsText(bits) });
    equationPower.textContent = bitsText(bits);
    equationResult.textContent = formatNumber(choices);
  };
  return { node, setWord, draw };
}

/** The three means of the choices, of which only one is the perplexity. */
function meansPanel(t) {
  const kinds = ["harmonic", "geometric", "arithmetic"];
  const values = Object.fromEntries(kinds.map((kind) => [kind, element("dd")]));
  const entries = kinds.map((kind) => element("div", { class: `ppl-mean-${kind}` }, element("dt", {}, t(kind)), values[kind]));
  const node = element(
    "div", { class: "ppl-means" }, element("p", {}, t("means_title")), element("dl", {}, ...entries),
  );
  const draw = (probs) => {
    const means = meanChoices(probs);
    for (const kind of kinds) values[kind].textContent = formatNumber(means[kind]);
  };
  return { node, draw };
}

/** What the suggested experiment shows, with the numbers of the word at hand. */
function expectation(probs, t) {
  const alone = (p) => formatNumber(perplexity([p, ...Array(probs.length - 1).fill(1)]));
  return t("expect", { count: probs.length, half: alone(0.5), hundredth: alone(0.01), thousandth: alone(0.001) });
}

/** What a link may set. */
export const RULES = {
  word: (value) => (typeof value === "string" && wordProblem(value) === null ? value : undefined),
  probs: listRule(numberRule(0, 1), MAX_CHARACTERS - 1),
  vocab_size: numberRule(2, 1_000_000, { whole: true }),
};

/** As many probabilities as the word needs. */
export function repair({ word, probs, vocab_size }) {
  return { word, probs: carryProbs(probs, predictions(word).length, vocab_size), vocab_size };
}

function buildView({ el, t, signal, commit, reset, say, link }) {
  const body = element("div", { class: "ppl" });
  const result = resultPanel(t);
  const table = chart(t);
  const means = meansPanel(t);
  const reading = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  let shown = null; // the state on the screen
  let shownResult = null;

  // Only a preset and a reset glide; a slider answers at once.
  const change = (animate, act) => {
    body.toggleAttribute("data-animate", animate);
    act();
  };
  const tools = toolbar({
    t, signal, say,
    onWord: (word) => {
      const probs = carryProbs(shown.probs, predictions(word).length, shown.vocab_size);
      change(false, () => commit({ word, probs }));
    },
    onPreset: (name) => change(true, () => commit({ probs: presetProbs(name, shown.probs.length, shown.vocab_size) })),
    onReset: () => change(true, () => { tools.clear(); reset(); }),
  });
  const onProbability = (i, p) => change(false, () => commit({ probs: shown.probs.map((q, j) => (j === i ? p : q)) }));
  body.append(result.node, tools.node, table.node, means.node, reading.node);
  el.append(body);

  const draw = ({ word, probs: given, vocab_size }) => {
    // Python sends one trait at a time: for a moment the probabilities may still belong to another word.
    const probs = carryProbs(given, predictions(word).length, vocab_size);
    if (shown?.word !== word || shown.vocab_size !== vocab_size) {
      table.setWord({ word, stops: probabilityStops(vocab_size), onProbability, signal });
    }
    shown = { word, probs, vocab_size };
    const choices = perplexity(probs);
    result.draw(choices);
    tools.draw(shown);
    table.draw(probs, choices);
    means.draw(probs);
    reading.expect(expectation(probs, t));
    const said = spokenResult(choices, t);
    if (shownResult !== null && said !== shownResult) say(said); // at first the reader has done nothing yet
    shownResult = said;
  };
  return { draw };
}

export default explorable({ words: SPEC.words, traits: ["word", "probs", "vocab_size"], build: buildView, rules: RULES, repair });
