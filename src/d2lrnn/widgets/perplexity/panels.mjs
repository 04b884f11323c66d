// What the figure draws: the number with its fork, the word with a bar for each prediction, three means.
import { buttonControl, element, formatNumber, formatProbability, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised, motion, nowLine } from "../shape.mjs";
import {
  AXIS_BITS, axisPosition, branchLayout, columnProbability, exceedsAlphabet, formatChoices, isWorseThanBlind, nearestStop, PRESETS, presetProb, sentenceKey, stopAt, surpriseBits, TABLE, TRAINED, wordProblem,
} from "./maths.mjs";
import SPEC from "./spec.json" with { type: "json" };

const ALPHABET = SPEC.controls.vocab_size.default; // a to z and the space

const percent = (share) => `${(100 * share).toFixed(2)}%`;
const visible = (characters) => characters.map(visibleCharacter).join("");
/** The end of a context, for a narrow place. */
const visibleEnd = (characters) => (characters.length > 5 ? `…${visible(characters.slice(-4))}` : visible(characters));
const inWords = (value, t) => (value === Infinity ? t("infinite") : formatNumber(value));

/** The result in words, as the live region says it. */
export function spoken({ choices, blind }, t) {
  const sentence = t(sentenceKey(choices, blind), { choices: formatChoices(choices) });
  return t("spoken", { perplexity: inWords(choices, t), sentence });
}

/** Perplexity as a number, a sentence and a fork. */
export function resultPanel(t) {
  // No <output>: that would be a second live region, which speaks at every step of a drag.
  const number = element("div", { class: "ppl-number" });
  const now = nowLine();
  const fork = svg("svg", { class: "ppl-fork", viewBox: "0 0 200 122", role: "img" });
  const node = element(
    "div", { class: "ppl-result" },
    element("div", { class: "ppl-figure" }, element("span", { class: "ppl-label" }, t("perplexity")), number),
    now.node, fork,
  );

  const draw = ({ choices, blind }) => {
    number.textContent = formatNumber(choices);
    now.set(...emphasised(t.raw(sentenceKey(choices, blind)), { choices: formatChoices(choices) }));
    fork.setAttribute("aria-label", t("branches", { choices: choices === Infinity ? t("infinite") : formatChoices(choices) }));
  };
  const paths = [];
  const rest = svg("text", { y: 62, class: "ppl-fork-more" });
  fork.append(svg("circle", { class: "ppl-node", cx: 14, cy: 56, r: 6 }), rest);
  /** Where it still moves, the number of branches that are not drawn is not told. */
  const drawFork = (choices, moving = false) => {
    const { branches, more } = branchLayout(choices);
    const right = more ? 112 : 190;
    const spread = 44 * Math.min(1, 0.2 + 0.13 * choices); // few branches stand close
    fork.style.setProperty("--ppl-branch", `${Math.max(1.75, 4.5 - choices / 3).toFixed(2)}px`);
    while (paths.length > branches.length) paths.pop().remove();
    while (paths.length < branches.length) {
      paths.push(svg("path"));
      fork.prepend(paths.at(-1));
    }
    branches.forEach(({ y, weight }, i) => {
      const end = (56 + spread * y).toFixed(2);
      paths[i].setAttribute("class", weight < 1 ? "ppl-branch ppl-branch-part" : "ppl-branch");
      paths[i].setAttribute("d", `M14 56C64 56 ${right - 84} ${end} ${right} ${end}`);
      // A little of the last branch shows from the start; it is dashed until it is whole.
      paths[i].setAttribute("stroke-opacity", (0.25 + 0.75 * weight).toFixed(3));
    });
    rest.setAttribute("x", right + 8);
    rest.textContent = !more || moving ? "" : more === Infinity ? t("branches_endless") : t("branches_more", { count: formatNumber(more, 0) });
  };
  return { node, draw, drawFork };
}

/** The word, and one probability for all its characters. */
export function toolbar({ t, signal, onWord, onBadWord, onPreset, say }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text ppl-word", autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "auto",
  });
  const message = element("p", { class: "ppl-message", hidden: true });
  const note = element("p", { class: "ppl-note", hidden: true });
  let shownWord = null;

  const clear = () => {
    input.value = shownWord ?? "";
    input.removeAttribute("aria-invalid");
    message.hidden = true;
    onBadWord(false);
  };
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const left = event.type === "left";
    if (left && input.value === shownWord) return;
    const problem = wordProblem(input.value);
    if (problem?.key === "word_length" && !left && [...input.value].length < problem.values.min) { // a word that has only begun
      input.removeAttribute("aria-invalid");
      message.hidden = true;
      return;
    }
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
  // a button that was pressed stays in its place until it has acted
  input.addEventListener("blur", () => setTimeout(() => signal.aborted || read({ type: "left" }), 300), { signal });
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
    message, note,
  );

  let replaced = null; // the word that a step put in place of another
  const draw = ({ word, probs, vocabSize }) => {
    if (word !== shownWord) {
      shownWord = word;
      clear();
    }
    const beyond = exceedsAlphabet(word, vocabSize);
    const alike = vocabSize === ALPHABET ? t("word_uniform", { count: vocabSize }) : "";
    note.textContent = beyond ? t("word_alphabet", { count: vocabSize }) : word === replaced ? t("word_step", { word }) : alike;
    note.hidden = note.textContent === "";
    for (const { name, value, button } of presets) {
      value.textContent = name === "uniform" ? `1/${vocabSize}` : String(presetProb(name, vocabSize));
      button.disabled = name === "uniform" && beyond;
      button.setAttribute("aria-pressed", String(!button.disabled && probs.every((p) => p === presetProb(name, vocabSize))));
    }
  };
  return { node, draw, clear, replace: (word) => (replaced = word) };
}

/**
 * One prediction: context and character, p, its bar. The whole track can be dragged; for keys and screen readers an
 * unseen slider lies over it, which has a place for each probability. What stands above the mean of all rows is dark,
 * what is missing below it is pale: both have the same area, unless a bar is broken (//).
 */
function chartRow({ context, target, stops, onTouch, onProbability, t, signal }) {
  const input = element("input", { type: "range", class: "ppl-slider", min: 0, max: stops.length - 1, step: 1 });
  const p = element("span", { class: "ppl-p" });
  const even = element("span", { class: "ppl-even" }); // in its place once the bars are level
  const factor = element("span", { class: "ppl-factor", "aria-hidden": "true" });
  const bar = element("span", { class: "ppl-bar" });
  const track = element(
    "span", { class: "ppl-track" }, bar, element("span", { class: "ppl-above" }), element("span", { class: "ppl-below" }),
    element("span", { class: "ppl-mean" }), element("span", { class: "ppl-grip" }), factor, input,
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
    p, even, track,
  );
  input.setAttribute("aria-label", t("slider", { target: visible([target]), context: visible(context) }));
  const set = (stop) => {
    onTouch();
    onProbability(stops[stop]);
  };
  input.addEventListener("focus", onTouch, { signal });
  input.addEventListener("input", () => set(Number(input.value)), { signal });
  dragOn(track, { axis: "x", signal, move: ({ x }) => set(stopAt(stops, x)), end: () => input.focus({ preventScroll: true }) }); // so that keys go on

  const draw = (row, { bits }) => {
    p.textContent = columnProbability(row.p);
    even.replaceChildren(formatNumber(bits), element("span", { class: "ppl-narrow" }, ` ${t("column_bits")}`));
    track.classList.toggle("ppl-beyond", row.bits > AXIS_BITS);
    input.value = nearestStop(stops, row.p);
    input.setAttribute("aria-valuetext", t("slider_value", { p: formatProbability(row.p), bits: inWords(row.bits, t) }));
  };
  const light = (on) => node.classList.toggle("ppl-touched", on);
  const multiply = (choices) => (factor.textContent = t("factor", { choices: formatChoices(choices) }));
  return { node, draw, light, multiply, place: (share) => track.style.setProperty("--ppl-end", percent(share)) };
}

/**
 * The rows, with their mean as a line through the bars. One row is told in words, its choices too: the one that was touched last, at first the one with most bits.
 */
export function chart({ t, signal }) {
  const ticks = [...Array(AXIS_BITS).keys(), Infinity].map((bits) => {
    const tick = element("span", { class: "ppl-tick" }, bits === Infinity ? "∞" : String(bits));
    tick.style.setProperty("left", percent(axisPosition(bits)));
    return tick;
  });
  const cut = element("span", { class: "ppl-tick" }, "//"); // beyond it the axis is not to scale
  cut.style.setProperty("left", percent((AXIS_BITS + 0.25) / (AXIS_BITS + 1)));
  const leveled = element("span", { class: "ppl-done" });
  const head = element("p", { class: "ppl-hint" },
    element("span", { class: "ppl-undone" }, ...emphasised(t.raw("hint"), { who: t("hint_who") }), " ", element("span", { class: "ppl-keys" }, t("hint_keys"))), leveled);
  const caption = element("div", { class: "ppl-row", "aria-hidden": "true" }, element(
    "span", { class: "ppl-axis-caption" },
    element("span", {}, t("axis_likelier")), element("span", { class: "ppl-axis-title" }, t("axis_bits")), element("span", {}, t("axis_less")),
  ));
  const axis = element("div", { class: "ppl-row", "aria-hidden": "true" },
    element("span", { class: "ppl-column-p ppl-undone" }, t("column_p")), element("span", { class: "ppl-column-p ppl-done" }, t("column_bits")), element("span", { class: "ppl-axis" }, ...ticks, cut));
  const rows = element("div", { class: "ppl-rows" });
  const flagBits = element("span");
  const flagName = element("span", { class: "ppl-wide" }, t("flag_name"));
  const flagBase = element("span", {}, "2");
  const flagPower = element("sup");
  const flagSign = element("span");
  const flagResult = element("b");
  const flag = element("div", { class: "ppl-flag" }, flagBits, flagName, flagBase, flagPower, flagSign, flagResult);
  const detail = element("p", { class: "ppl-detail" });
  const withSwatches = (template) => template.split(/\{(\w+)\}/).map(
    (part, i) => (i % 2 ? element("span", { class: `ppl-swatch ppl-swatch-${part}`, role: "img", "aria-label": t(`swatch_${part}`) }) : part));
  const lay = buttonControl({ label: "", class: "d2lrnn-button ppl-lay", signal, onPress: () => level(!isLevel) });
  const key = element("p", { class: "ppl-key" }, lay, " ", element("span", { class: "ppl-key-words" },
    element("span", { class: "ppl-undone" }, ...withSwatches(t.raw("key"))), element("span", { class: "ppl-done" }, ...withSwatches(t.raw("key_done")))));
  const notToScale = element("p", { class: "ppl-key", hidden: true }, ...withSwatches(t.raw("key_broken")));
  // Two perplexities to compare with, where they stand on the axis.
  const mark = (name, value, values) => {
    const each = element("span", { class: `ppl-mark ppl-mark-${name}` },
      element("span", { class: "ppl-wide" }, t(`mark_${name}`, values)), element("span", { class: "ppl-narrow" }, t(`mark_${name}_short`, values)));
    each.style.setProperty("--ppl-at", percent(axisPosition(surpriseBits(1 / value))));
    return each;
  };
  const marks = element("div", { class: "ppl-row ppl-marks" }, element("span", { class: "ppl-marks-track" },
    mark("trained", TRAINED, { table: TABLE, trained: TRAINED }), " ", mark("better", Math.sqrt(TRAINED * ALPHABET)), " ", mark("blind", ALPHABET, { blind: ALPHABET })));
  const node = element(
    "div", { class: "ppl-chart" },
    head, caption, axis, rows,
    element("div", { class: "ppl-row" }, element("span", { class: "ppl-flag-track" }, flag)), marks,
    key, notToScale, detail,
  );
  let views = [];
  let touched = null;
  let model = null;

  const tell = () => {
    const { vocabSize, blind } = model;
    const most = model.rows.reduce((best, row, i) => (row.bits > model.rows[best].bits ? i : best), 0);
    const at = touched ?? most;
    views.forEach((view, i) => view.light(i === at));
    const { context, target, p, bits, choices } = model.rows[at];
    const finite = isWorseThanBlind(choices, blind) ? "detail_worse" : blind === Infinity ? "detail_other" : "detail";
    detail.replaceChildren(...emphasised(t.raw(bits === Infinity ? "detail_infinite" : finite), {
      blind: String(blind), others: String(vocabSize - 1), left: columnProbability(1 - p),
      context: visible(context), target: visible([target]), p: columnProbability(p), bits: formatNumber(bits), choices: formatChoices(choices),
    }));
  };
  const stream = motion({ seconds: 1.2, signal });
  const hold = motion({ seconds: 2.2, signal });
  let isLevel = false;
  let flow = 0; // how much of what sticks out has gone into the gaps
  const setFlow = (share) => {
    flow = share;
    node.style.setProperty("--ppl-flow", share.toFixed(3));
  };
  const setLevel = (on) => {
    isLevel = on;
    node.classList.toggle("ppl-level", on);
    lay.textContent = t(on ? "key_back" : "key_level");
    views.forEach((view, i) => view.multiply(on ? model.choices : model.rows[i].choices));
  };
  const still = () => {
    hold.stop();
    stream.stop();
    node.classList.remove("ppl-factors");
    setLevel(false);
    setFlow(0);
  };
  const canLevel = () => !key.hidden && !key.classList.contains("ppl-none");
  /** What sticks out goes into the gaps and stays, or goes back: both have the same area. */
  const level = (on) => {
    if (!canLevel()) return;
    hold.stop();
    node.classList.add("ppl-factors");
    const from = flow;
    setLevel(on);
    stream.run((share) => setFlow(from + (Number(on) - from) * share * share * (3 - 2 * share)));
  };
  /** The answer of a step: the choices that are multiplied stand by their bars, and after a while the bars are level. */
  const prove = async () => {
    node.classList.toggle("ppl-factors", canLevel());
    if (await hold.run(() => {})) level(true);
  };
  const touch = (i) => {
    touched = i;
    tell();
  };
  const setWord = (given, stops, onProbability) => {
    touched = null;
    views = given.rows.map((row, i) => chartRow({
      ...row, stops, t, signal, onTouch: () => touch(i), onProbability: (p) => onProbability(i, p),
    }));
    rows.replaceChildren(...views.map((view) => view.node));
  };
  const draw = (given) => {
    model = given;
    const { word, vocabSize, rows: shown, bits, choices } = model;
    still();
    views.forEach((view, i) => view.draw(shown[i], model));
    leveled.replaceChildren(...emphasised(t.raw("hint_level"), { all: t("hint_all"), bits: formatNumber(bits) }));
    tell();
    const scaled = bits <= AXIS_BITS; // else the mean stands beyond the scale
    const broken = scaled && shown.some((row) => row.bits > AXIS_BITS); // such a bar is not drawn as long as it is
    const unequal = shown.some((row) => Math.abs(row.bits - bits) > 0.01);
    node.classList.toggle("ppl-to-scale", scaled);
    notToScale.hidden = !broken;
    key.hidden = broken;
    key.classList.toggle("ppl-none", !scaled || !unequal);
    marks.classList.toggle("ppl-none", vocabSize !== ALPHABET || exceedsAlphabet(word, vocabSize)); // they count a to z and the space
    flagBits.textContent = t(bits === Infinity ? "flag_infinite" : "flag", { bits: formatNumber(bits) });
    for (const part of [flagName, flagBase, flagPower, flagSign, flagResult]) part.hidden = bits === Infinity;
    flagPower.textContent = formatNumber(bits);
    flagSign.textContent = Math.abs(2 ** Number(formatNumber(bits)) - choices) < 1e-9 * choices ? " = " : " ≈ ";
    flagResult.textContent = formatNumber(choices);
  };
  const place = (ends, mean) => {
    views.forEach((view, i) => view.place(ends[i]));
    node.style.setProperty("--ppl-mean", percent(mean));
  };
  return { node, setWord, draw, place, prove, calm: () => (touched = null) };
}

/** The three means of the choices, of which only one is the perplexity. */
export function meansPanel(t) {
  const kinds = ["harmonic", "geometric", "arithmetic"];
  const values = Object.fromEntries(kinds.map((kind) => [kind, element("dd")]));
  const entries = kinds.map((kind) => element("div", { class: `ppl-mean-${kind}` }, element("dt", {}, t(kind)), values[kind]));
  const alike = element("p", { class: "ppl-note" }, t("means_alike"));
  const title = element("p");
  const node = element("div", { class: "ppl-means" }, title, element("dl", {}, ...entries), alike);
  const draw = ({ means, probs }) => {
    for (const kind of kinds) values[kind].textContent = formatNumber(means[kind]);
    title.textContent = t("means_title", { count: probs.length });
    alike.classList.toggle("ppl-none", probs.some((p) => p !== probs[0]));
  };
  return { node, draw };
}

const FORK_BITS = 5.2; // a glide opens the fork so far at most: 32 branches and more look alike

/** Bars, their mean and the fork glide from where they stand to where a model has them, or jump there. */
export function glider({ table, result, signal }) {
  const run = motion({ seconds: 0.7, signal });
  const flat = { ends: [], mean: 0, fork: 0 };
  let shown = flat;
  const target = ({ rows, bits }) => ({
    ends: rows.map((row) => axisPosition(row.bits)), mean: axisPosition(bits), fork: Math.min(bits, FORK_BITS),
  });
  const put = (place) => {
    shown = place;
    table.place(place.ends, place.mean);
    result.drawFork(2 ** place.fork, true);
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
    return done;
  };
  return { jump, glide, open: (model) => glide(model, flat) };
}
