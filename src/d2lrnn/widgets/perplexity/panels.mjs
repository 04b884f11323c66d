// What the figure draws: the number with its fork, the word with a bar for each prediction, three means.
import { buttonControl, element, formatNumber, formatProbability, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised, motion, nowLine } from "../shape.mjs";
import {
  AXIS_BITS, axisPosition, branchLayout, formatChoices, nearestStop, PRESETS, presetProb, sentenceKey, stopAt, wordProblem,
} from "./maths.mjs";

const percent = (share) => `${(100 * share).toFixed(2)}%`;
const visible = (characters) => characters.map(visibleCharacter).join("");
/** The end of a context, for a narrow place. */
const visibleEnd = (characters) => (characters.length > 5 ? `…${visible(characters.slice(-4))}` : visible(characters));
const inWords = (value, t) => (value === Infinity ? t("infinite") : formatNumber(value));

/** The result in words, as the live region says it. */
export function spoken({ choices }, t) {
  const sentence = t(sentenceKey(choices), { choices: formatChoices(choices) });
  return t("spoken", { perplexity: inWords(choices, t), sentence });
}

/** Perplexity as a number, a sentence and a fork. */
export function resultPanel(t) {
  // No <output>: that would be a second live region, which speaks at every step of a drag.
  const number = element("div", { class: "ppl-number" });
  const now = nowLine();
  const fork = svg("svg", { class: "ppl-fork", viewBox: "0 0 200 128", role: "img" });
  const node = element(
    "div", { class: "ppl-result" },
    element("div", { class: "ppl-figure" }, element("span", { class: "ppl-label" }, t("perplexity")), number),
    now.node,
    fork,
  );

  const draw = ({ choices }) => {
    number.textContent = formatNumber(choices);
    now.set(...emphasised(t.raw(sentenceKey(choices)), { choices: formatChoices(choices) }));
    fork.setAttribute("aria-label", t("branches", { choices: choices === Infinity ? t("infinite") : formatChoices(choices) }));
  };
  const paths = [];
  const rest = svg("text", { y: 62, class: "ppl-fork-more" });
  const part = svg("text", { x: 190, class: "ppl-fork-part", "text-anchor": "end" });
  fork.append(svg("circle", { class: "ppl-node", cx: 14, cy: 56, r: 6 }), rest, part);
  const drawFork = (choices) => {
    const { branches, more } = branchLayout(choices);
    const right = more ? 112 : 190;
    while (paths.length > branches.length) paths.pop().remove();
    while (paths.length < branches.length) {
      paths.push(svg("path"));
      fork.prepend(paths.at(-1));
    }
    branches.forEach(({ y, weight }, i) => {
      const end = (56 + 50 * y).toFixed(2);
      paths[i].setAttribute("class", weight < 1 ? "ppl-branch ppl-branch-part" : "ppl-branch");
      paths[i].setAttribute("d", `M14 56C64 56 ${right - 84} ${end} ${right} ${end}`);
      // A little of the last branch shows from the start; it is dashed until it is whole.
      paths[i].setAttribute("stroke-opacity", (0.25 + 0.75 * weight).toFixed(3));
    });
    const { y, weight } = branches.at(-1);
    part.setAttribute("y", (56 + 50 * y + 18).toFixed(2));
    part.textContent = weight < 0.995 ? t("branches_part", { part: formatNumber(weight) }) : "";
    rest.setAttribute("x", right + 8);
    rest.textContent = more ? t("branches_more", { count: more === Infinity ? "∞" : formatNumber(more, 0) }) : "";
  };
  return { node, draw, drawFork };
}

/** The word, and one probability for all its characters. */
export function toolbar({ t, signal, onWord, onBadWord, onPreset, say }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text ppl-word", autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "auto",
  });
  const message = element("p", { class: "ppl-message", hidden: true });
  let shownWord = null;

  const clear = () => {
    input.value = shownWord ?? "";
    input.removeAttribute("aria-invalid");
    message.hidden = true;
    onBadWord(false);
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
    message.textContent = t("word_kept", { problem: t(problem.key, problem.values), word: visible([...shownWord]) });
    onBadWord(true);
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
  const node = element(
    "div", { class: "ppl-tools" },
    element("label", { class: "ppl-word-label" }, element("span", {}, t("word")), input),
    element("span", { class: "ppl-presets-label", "aria-hidden": "true" }, t("presets")),
    element("div", { class: "ppl-presets", role: "group", "aria-label": t("presets") }, ...presets.map(({ button }) => button)),
    message,
  );

  const draw = ({ word, probs, vocabSize }) => {
    if (word !== shownWord) {
      shownWord = word;
      clear();
    }
    for (const { name, value, button } of presets) {
      value.textContent = name === "uniform" ? `1/${vocabSize}` : String(presetProb(name, vocabSize));
      button.setAttribute("aria-pressed", String(probs.every((p) => p === presetProb(name, vocabSize))));
    }
  };
  return { node, draw, clear };
}

/**
 * One prediction: context and character, p, its bar, bits, choices. The whole track can be dragged; for keys and screen
 * readers an unseen slider lies over it, which has a place for each probability.
 */
function chartRow({ context, target, stops, onProbability, t, signal }) {
  const input = element("input", { type: "range", class: "ppl-slider", min: 0, max: stops.length - 1, step: 1 });
  const p = element("span", { class: "ppl-p" });
  const bar = element("span", { class: "ppl-bar" });
  const bits = element("span", { class: "ppl-bits" });
  const choices = element("span", { class: "ppl-choices" });
  const track = element(
    "span", { class: "ppl-track" }, element("span", { class: "ppl-mean" }), bar, element("span", { class: "ppl-grip" }), input,
  );
  const node = element(
    "div", { class: "ppl-row" },
    element(
      "span", { class: "ppl-prediction", "aria-hidden": "true" },
      element("bdi", { class: "ppl-context ppl-wide" }, visible(context)),
      element("bdi", { class: "ppl-context ppl-narrow" }, visibleEnd(context)),
      element("span", { class: "ppl-arrow" }, "→"),
      element("bdi", { class: "ppl-target" }, visible([target])),
    ),
    p, track, bits, choices,
  );
  input.setAttribute("aria-label", t("slider", { target: visible([target]), context: visible(context) }));
  input.addEventListener("input", () => onProbability(stops[Number(input.value)]), { signal });
  dragOn(track, { axis: "x", signal, move: ({ x }) => onProbability(stops[stopAt(stops, x)]) });

  const draw = (row) => {
    p.textContent = formatProbability(row.p);
    bits.textContent = formatNumber(row.bits);
    choices.textContent = formatNumber(row.choices);
    bar.classList.toggle("ppl-bar-beyond", row.bits > AXIS_BITS);
    input.value = nearestStop(stops, row.p);
    input.setAttribute("aria-valuetext", t("slider_value", { p: formatProbability(row.p), bits: inWords(row.bits, t) }));
  };
  return { node, draw, place: (share) => track.style.setProperty("--ppl-end", percent(share)) };
}

/** The rows, with their mean as a line through the bars; bits on the upper axis, choices on the lower. */
export function chart({ t, signal }) {
  const axis = (labels, title) => {
    const ticks = labels.map((label, bits) => {
      const tick = element("span", { class: "ppl-tick" }, label);
      tick.style.setProperty("left", percent(axisPosition(bits > AXIS_BITS ? Infinity : bits)));
      return tick;
    });
    return element("div", { class: "ppl-row ppl-axis-row", "aria-hidden": "true" },
      element("span", { class: "ppl-axis-title" }, title), element("span", { class: "ppl-axis" }, ...ticks));
  };
  const range = Array.from({ length: AXIS_BITS + 1 }, (_, i) => i);
  const head = element(
    "div", { class: "ppl-row ppl-head" },
    element("span", { class: "ppl-head-row" }, t("column_row")),
    element("span", { class: "ppl-head-p" }, t("column_p")),
    element("span", { class: "ppl-head-track" }, t("column_surprise")),
    element("span", { class: "ppl-head-bits" }, t("column_bits")),
    element("span", { class: "ppl-head-choices" }, t("column_choices")),
  );
  const rows = element("div", { class: "ppl-rows" });
  const flagBits = element("span");
  const flagPower = element("sup");
  const flagResult = element("b");
  const flag = element("div", { class: "ppl-flag" }, flagBits, flagPower, " = ", flagResult);
  const node = element(
    "div", { class: "ppl-chart" },
    head, axis([...range.map(String), "∞"], t("column_bits")), rows,
    axis([...range.map((bits) => String(2 ** bits)), "∞"], t("axis_choices")),
    element("div", { class: "ppl-row ppl-flag-row" }, element("span", { class: "ppl-flag-track" }, flag)),
  );
  let views = [];

  const setWord = (model, stops, onProbability) => {
    views = model.rows.map((row, i) => chartRow({ ...row, stops, t, signal, onProbability: (p) => onProbability(i, p) }));
    rows.replaceChildren(...views.map((view) => view.node));
  };
  const draw = ({ rows: shown, bits, choices }) => {
    views.forEach((view, i) => view.draw(shown[i]));
    node.classList.toggle("ppl-mean-beyond", bits > AXIS_BITS);
    flagBits.textContent = t("flag", { bits: formatNumber(bits) });
    flagPower.textContent = formatNumber(bits);
    flagResult.textContent = formatNumber(choices);
  };
  const place = (ends, mean) => {
    views.forEach((view, i) => view.place(ends[i]));
    node.style.setProperty("--ppl-mean", percent(mean));
  };
  return { node, setWord, draw, place };
}

/** The three means of the choices, of which only one is the perplexity. */
export function meansPanel(t) {
  const kinds = ["harmonic", "geometric", "arithmetic"];
  const values = Object.fromEntries(kinds.map((kind) => [kind, element("dd")]));
  const entries = kinds.map((kind) => element("div", { class: `ppl-mean-${kind}` }, element("dt", {}, t(kind)), values[kind]));
  const node = element("div", { class: "ppl-means" }, element("p", {}, t("means_title")), element("dl", {}, ...entries));
  return { node, draw: ({ means }) => kinds.forEach((kind) => (values[kind].textContent = formatNumber(means[kind]))) };
}

const FORK_BITS = 5.2; // a glide opens the fork so far at most: 32 branches and more look alike

/** Bars, their mean and the fork glide from where they stand to where a model has them, or jump there. */
export function glider({ table, result, signal }) {
  const run = motion({ seconds: 0.7, signal });
  let shown = { ends: [], mean: 0, fork: 0 };
  const target = ({ rows, bits }) => ({
    ends: rows.map((row) => axisPosition(row.bits)), mean: axisPosition(bits), fork: Math.min(bits, FORK_BITS),
  });
  const put = (place) => {
    shown = place;
    table.place(place.ends, place.mean);
    result.drawFork(2 ** place.fork);
  };
  const jump = (model) => {
    run.stop();
    put(target(model));
    result.drawFork(model.choices);
  };
  const glide = async (model, from = shown) => {
    const to = target(model);
    const between = (a, b, share) => a + (b - a) * share;
    const done = await run.run((share) => {
      const eased = 1 - (1 - share) ** 3;
      put({
        ends: to.ends.map((end, i) => between(from.ends[i] ?? 0, end, eased)),
        mean: between(from.mean, to.mean, eased), fork: between(from.fork, to.fork, eased),
      });
    });
    if (done) result.drawFork(model.choices);
  };
  return { jump, glide, open: (model) => glide(model, { ends: [], mean: 0, fork: 0 }), stop: run.stop };
}
