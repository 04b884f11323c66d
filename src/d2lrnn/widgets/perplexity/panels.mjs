// What the figure draws: the number with its fork, the word with a bar for each prediction, three means.
import { buttonControl, element, formatNumber, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised, motion, nowLine } from "../shape.mjs";
import {
  AXIS_BITS, axisPosition, branchLayout, exceedsAlphabet, formatChoices, nearestStop, percentage, PRESETS, presetProb, sentenceKey, stopAt, TABLE, TRAINED, wordProblem,
} from "./maths.mjs";
import SPEC from "./spec.json" with { type: "json" };

const ALPHABET = SPEC.controls.vocab_size.default; // a to z and the space

const percent = (share) => `${(100 * share).toFixed(2)}%`;
const visible = (characters) => characters.map(visibleCharacter).join("");
/** How many letters a character is as wide as: some scripts and pictures take two. */
const widthOf = (character) => [...visibleCharacter(character)].reduce((sum, sign) => sum + (sign.codePointAt(0) >= 0x1100 ? 2 : 1), 0);
/** A context, or its end where it is wider than `room` letters. */
function visibleEnd(characters, room) {
  const widths = characters.map(widthOf);
  const total = widths.reduce((sum, width) => sum + width, 0);
  if (total <= room) return visible(characters);
  let from = 0;
  for (let left = total; left > room - 1; from += 1) left -= widths[from];
  return `…${visible(characters.slice(from))}`;
}
const LONGEST = { wide: 11, narrow: 7 }; // contexts in full
const inWords = (choices, t) => (choices === Infinity ? t("infinite") : formatChoices(choices));

/** The result in words, as the live region says it. */
export function spoken({ choices, blind }, t) {
  const sentence = t(sentenceKey(choices, blind), { choices: formatChoices(choices) });
  return t("spoken", { perplexity: inWords(choices, t), sentence });
}

const PATIENCE = 1500; // milliseconds that a word of one letter or none may take to become one
const LEAVES = 12; // so many branches end in a dot of their own

/** Perplexity as a number, a sentence and a fork. */
export function resultPanel(t) {
  // No <output>: that would be a second live region, which speaks at every step of a drag.
  const number = element("span", { class: "ppl-number" });
  const now = nowLine();
  const fork = svg("svg", { class: "ppl-fork", viewBox: "0 0 300 150", role: "img" });
  const node = element(
    "div", { class: "ppl-result" },
    element("p", { class: "ppl-figure" }, element("span", { class: "ppl-label" }, t("perplexity")), " ", number),
    now.node, fork,
  );

  const draw = ({ choices, blind }) => {
    number.textContent = formatChoices(choices);
    now.set(...emphasised(t.raw(sentenceKey(choices, blind)), { choices: formatChoices(choices) }));
    fork.setAttribute("aria-label", t("branches", { choices: inWords(choices, t) }));
  };
  const paths = [];
  const leaves = [];
  const rest = svg("text", { y: 82, class: "ppl-fork-more" });
  fork.append(svg("circle", { class: "ppl-node", cx: 12, cy: 75, r: 8 }), rest);
  const haveJust = (count, parts, name, given) => {
    while (parts.length > count) parts.pop().remove();
    while (parts.length < count) {
      parts.push(svg(name, given));
      fork.prepend(parts.at(-1));
    }
  };
  /** Where it still moves, the number of branches that are not drawn is not told. */
  const drawFork = (choices, moving = false) => {
    const { branches, more } = branchLayout(choices);
    const right = more ? 216 : 286;
    const spread = 66 * Math.min(1, 0.4 + 0.1 * choices); // few branches stand close
    fork.style.setProperty("--ppl-branch", `${Math.max(1.75, 6 - choices / 2).toFixed(2)}px`);
    haveJust(branches.length, paths, "path", {});
    haveJust(branches.length > LEAVES ? 0 : branches.length, leaves, "circle", { class: "ppl-leaf", cx: right });
    branches.forEach(({ y, weight }, i) => {
      const end = (75 + spread * y).toFixed(2);
      // A little of the last branch shows from the start; it is dashed until it is whole.
      const opacity = (0.25 + 0.75 * weight).toFixed(3);
      paths[i].setAttribute("class", weight < 1 ? "ppl-branch ppl-branch-part" : "ppl-branch");
      paths[i].setAttribute("d", `M12 75C${right / 3} 75 ${right / 2} ${end} ${right} ${end}`);
      paths[i].setAttribute("stroke-opacity", opacity);
      leaves[i]?.setAttribute("cy", end);
      leaves[i]?.setAttribute("r", (weight * Math.min(8, 36 / choices)).toFixed(2));
    });
    rest.setAttribute("x", right + 10);
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
  let waiting = 0; // for the rest of a word that has only begun

  const clear = () => {
    clearTimeout(waiting);
    input.value = shownWord ?? "";
    input.removeAttribute("aria-invalid");
    message.hidden = true;
    onBadWord(false);
  };
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    clearTimeout(waiting);
    const left = event.type === "left";
    if (left && input.value === shownWord) return;
    const problem = wordProblem(input.value);
    if (problem?.key === "word_length" && !left && [...input.value].length < problem.values.min) { // a word that has only begun
      input.removeAttribute("aria-invalid");
      message.hidden = true;
      waiting = setTimeout(() => signal.aborted || read({ type: "left" }), PATIENCE);
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
      value.textContent = name === "uniform" ? `1/${vocabSize}` : percentage(presetProb(name, vocabSize));
      button.disabled = name === "uniform" && beyond;
      button.setAttribute("aria-pressed", String(!button.disabled && probs.every((p) => p === presetProb(name, vocabSize))));
    }
  };
  return { node, draw, clear, replace: (word) => (replaced = word) };
}

/**
 * One prediction: what was read with the letter that came, its probability, its bar. The whole track can be dragged; for
 * keys and screen readers an unseen slider lies over it, which has a place for each probability.
 */
function chartRow({ context, target, stops, onProbability, t, signal }) {
  const input = element("input", { type: "range", class: "ppl-slider", min: 0, max: stops.length - 1, step: 1 });
  const p = element("span", { class: "ppl-p" });
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
      element("bdi", { class: "ppl-context ppl-wide" }, visibleEnd(context, LONGEST.wide)),
      element("bdi", { class: "ppl-context ppl-narrow" }, visibleEnd(context, LONGEST.narrow)),
      element("bdi", { class: "ppl-target" }, visible([target])),
    ),
    p, track,
  );
  input.setAttribute("aria-label", t("slider", { target: visible([target]), context: visible(context) }));
  const set = (stop) => onProbability(stops[stop]);
  input.addEventListener("input", () => set(Number(input.value)), { signal });
  dragOn(track, { axis: "x", signal, move: ({ x }) => set(stopAt(stops, x)), end: () => input.focus({ preventScroll: true }) }); // so that keys go on

  const draw = (row) => {
    track.classList.toggle("ppl-beyond", row.bits > AXIS_BITS);
    input.value = nearestStop(stops, row.p);
    input.setAttribute("aria-valuetext", t("slider_value", { p: percentage(row.p), choices: inWords(row.choices, t) }));
  };
  /** The probability and the choices beside a bar, which are those of its length as it stands. */
  const tell = (probability, choices) => {
    p.textContent = percentage(probability);
    factor.textContent = t("factor", { choices: formatChoices(choices) });
  };
  return { node, draw, tell, place: (share) => track.style.setProperty("--ppl-end", percent(share)) };
}

/**
 * The rows on an axis of choices, with the perplexity as a line through the bars. Once they are made level, what stood
 * above the line lies in the gaps below it: both have the same area, unless a bar is broken (//).
 */
export function chart({ t, signal }) {
  const ticks = [...Array(AXIS_BITS).keys(), Infinity].map((bits) => {
    const tick = element("span", { class: "ppl-tick" }, bits === Infinity ? "∞" : String(2 ** bits));
    tick.style.setProperty("left", percent(axisPosition(bits)));
    return tick;
  });
  const cut = element("span", { class: "ppl-tick" }, "//"); // beyond it the axis is not to scale
  cut.style.setProperty("left", percent(axisPosition(AXIS_BITS)));
  const head = element("p", { class: "ppl-hint" }, ...emphasised(t.raw("hint"), { who: t("hint_who"), bold: t("hint_bold") }));
  const first = element("bdi", { class: "ppl-first" });
  const known = element("span", { class: "ppl-given" }, ...t.raw("given").split(/(\{first\})/).map((part) => (part === "{first}" ? first : part)));
  const axis = element("div", { class: "ppl-row", "aria-hidden": "true" }, known,
    element("span", { class: "ppl-axis-title" }, t("axis")), element("span", { class: "ppl-axis" }, ...ticks, cut));
  const rows = element("div", { class: "ppl-rows" });
  const flag = element("span", { class: "ppl-flag" });
  const lay = buttonControl({ label: "", class: "d2lrnn-button ppl-lay", signal, onPress: () => level(!isLevel) });
  const leveled = element("span", { class: "ppl-done" });
  const key = element("p", { class: "ppl-key" }, lay, " ", leveled);
  const notToScale = element("p", { class: "ppl-key ppl-none" }, t("key_broken"));
  const node = element(
    "div", { class: "ppl-chart" },
    head, axis, rows, element("div", { class: "ppl-row" }, element("span", { class: "ppl-flag-track" }, flag)), element("div", { class: "ppl-keys" }, key, notToScale),
  );
  let views = [];
  let model = null;

  const stream = motion({ seconds: 1.2, signal });
  const hold = motion({ seconds: 2.2, signal });
  let isLevel = false;
  let flow = 0; // how much of what sticks out has gone into the gaps
  const setFlow = (share) => {
    flow = share;
    node.style.setProperty("--ppl-flow", share.toFixed(3));
    node.classList.toggle("ppl-flowing", share > 0);
    node.classList.toggle("ppl-level", share === 1);
    views.forEach((view, i) => {
      const { p, choices, bits } = model.rows[i];
      const moved = 2 ** (bits + share * (model.bits - bits)); // on an axis of bits the product of all stays what it is
      if (share > 0) view.tell(1 / moved, moved);
      else view.tell(p, choices);
    });
  };
  const setLevel = (on) => {
    isLevel = on;
    lay.textContent = t(on ? "key_back" : "key_level");
  };
  const showPieces = (on) => node.classList.toggle("ppl-pieces", on);
  const still = () => {
    hold.stop();
    stream.stop();
    showPieces(false);
    setLevel(false);
    setFlow(0);
  };
  const canLevel = () => !key.classList.contains("ppl-none");
  /** What sticks out goes into the gaps and stays, or goes back: both have the same area. */
  const level = async (on) => {
    if (!canLevel()) return;
    hold.stop();
    showPieces(true);
    const from = flow;
    setLevel(on);
    const done = await stream.run((share) => setFlow(from + (Number(on) - from) * share * share * (3 - 2 * share)));
    if (done && !on) showPieces(false);
  };
  /** The answer of a step: the choices that are multiplied stand by their bars, and after a while the bars are level. */
  const prove = async () => {
    showPieces(canLevel());
    if (await hold.run(() => {})) level(true);
  };
  const setWord = (given, stops, onProbability) => {
    views = given.rows.map((row, i) => chartRow({ ...row, stops, t, signal, onProbability: (p) => onProbability(i, p) }));
    rows.replaceChildren(...views.map((view) => view.node));
    first.textContent = visible(given.rows[0].context);
  };
  const draw = (given) => {
    model = given;
    const { rows: shown, bits, choices } = model;
    still();
    views.forEach((view, i) => view.draw(shown[i]));
    leveled.replaceChildren(...emphasised(t.raw("key_done"), { product: product(formatChoices(choices), shown.length) }));
    const scaled = bits <= AXIS_BITS; // else the mean stands beyond the scale
    const broken = shown.some((row) => row.bits > AXIS_BITS); // such a bar is not drawn as long as it is
    const unequal = shown.some((row) => Math.abs(row.bits - bits) > 0.01);
    node.classList.toggle("ppl-to-scale", scaled);
    notToScale.classList.toggle("ppl-none", !broken);
    cut.classList.toggle("ppl-none", !broken);
    key.classList.toggle("ppl-none", broken || !unequal);
    flag.textContent = t("flag", { perplexity: inWords(choices, t) });
  };
  const place = (ends, mean) => {
    views.forEach((view, i) => view.place(ends[i]));
    node.style.setProperty("--ppl-mean", percent(mean));
  };
  return { node, setWord, draw, place, prove, still: () => model && still() };
}

/** "10 × 10 × …": so many times the same. */
const product = (choices, count) => [...Array(Math.min(count, count > 3 ? 2 : 3)).fill(choices), ...(count > 3 ? ["…"] : [])].join(" × ");

/** Perplexities to compare with, from the best on. */
export function comparePanel(t) {
  const known = [["certain", 1], ["table", TABLE], ["trained", TRAINED], ["blind", ALPHABET]];
  return element("dl", { class: "ppl-known" }, ...known.map(([name, value]) => element("div", {}, element("dt", {}, String(value)), element("dd", {}, t(`known_${name}`)))));
}

/** The three means of the choices, of which only one is the perplexity. */
export function meansPanel(t) {
  const kinds = ["harmonic", "geometric", "arithmetic"];
  const values = Object.fromEntries(kinds.map((kind) => [kind, element("dd")]));
  const entries = kinds.map((kind) => element("div", { class: `ppl-mean-${kind}` }, element("dt", {}, t(kind)), values[kind]));
  const alike = element("p", { class: "ppl-note" }, t("means_alike"));
  const title = element("p");
  const mean = element("span");
  const power = element("sup");
  const result = element("b");
  const inBits = element("p", { class: "ppl-bits" }, mean, " ", element("span", {}, "2", power), " ", result);
  const node = element("div", { class: "ppl-means" }, title, element("dl", {}, ...entries), alike, inBits);
  const draw = ({ means, probs, bits, choices }) => {
    const given = formatNumber(bits);
    mean.textContent = t("bits", { bits: given });
    power.textContent = given;
    result.textContent = `${Math.abs(2 ** Number(given) - choices) < 1e-9 * choices ? "=" : "≈"} ${formatNumber(choices)}`;
    inBits.hidden = bits === Infinity;
    for (const kind of kinds) values[kind].textContent = formatNumber(means[kind]);
    title.textContent = t("means_title", { count: probs.length });
    alike.classList.toggle("ppl-none", choices === Infinity || probs.some((p) => p !== probs[0]));
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
