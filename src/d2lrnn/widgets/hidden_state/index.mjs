// The hidden state of a trained network, character by character: cut its memory, or let two texts end alike.
import { legend, linePath, linearTicks, scale } from "../charts.mjs";
import { createReader } from "../core.mjs";
import {
  buttonControl, choiceRule, element, explorable, footPanel, formatNumber, formatProbability, numberRule, rangeControl,
  svg, textRule, visibleCharacter,
} from "../ui.mjs";
import { encode, loadModel, normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same as Python's HiddenState -----------------------------------------------------------------------

/** Characters that are read: each needs a column that can be read on a phone. */
export const MAX_TEXT = 40;
/** Next characters that are shown. */
export const ROWS = 6;
export const MODES = ["cut", "compare"];

/** What is read of a typed text: normalised, its first MAX_TEXT characters. */
export function readable(text) {
  return normalise(text).slice(0, MAX_TEXT);
}

/** The state after every character, from zeros. */
export function statesOf({ model, vocab }, text) {
  const reader = createReader(model);
  return encode(text, vocab).map((index) => {
    reader.read(index);
    return reader.state;
  });
}

/** The same, given the states of the whole text, with the state after `cut` characters set to zeros. */
export function cutStates(network, text, cut, whole) {
  if (text === "") return [];
  return [...whole.slice(0, cut - 1), new Float32Array(network.model.numHiddens), ...statesOf(network, text.slice(cut))];
}

/** Probabilities of the next character, softmax(H W_hq + b_q). Of zeros: what the network says that has read nothing. */
export function oddsOf({ vocabSize, W_hq, b_q }, state) {
  const logits = Array.from(b_q, (b, k) => state.reduce((sum, h, j) => sum + h * W_hq[j * vocabSize + k], b));
  const top = Math.max(...logits);
  const shares = logits.map((logit) => Math.exp(logit - top));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** Euclidean distance of two states. */
export function distance(first, second) {
  return Math.sqrt(first.reduce((sum, value, j) => sum + (value - second[j]) ** 2, 0));
}

/** What two predictions have in common: 1 for equal ones, 0 where each excludes what the other expects. */
export function overlap(p, q) {
  return p.reduce((sum, value, k) => sum + Math.min(value, q[k]), 0);
}

/** How many characters two texts have in common at their ends. */
export function sharedEnding(first, second) {
  let count = 0;
  while (count < Math.min(first.length, second.length) && first.at(-1 - count) === second.at(-1 - count)) count += 1;
  return count;
}

/** Units from the one whose value the character just read explains least to the one it explains best. */
export function orderOf(explained) {
  return [...explained.keys()].sort((a, b) => explained[a] - explained[b] || a - b);
}

/** The characters that either prediction gives most: [{ character, p, q }], ROWS of them. */
export function likeliest(p, q, vocab) {
  return vocab
    .map((character, k) => ({ character, p: p[k], q: q[k] }))
    .sort((a, b) => Math.max(b.p, b.q) - Math.max(a.p, a.q))
    .slice(0, ROWS);
}

/** A place that exists: beyond the end is the end. */
function placeIn(columns, place) {
  return Math.min(place, columns.length);
}

/**
 * Both runs, one above the other: { lanes, texts, distances, since, place }.
 *
 * Mode cut: one text, read with its memory whole and with the state set to zeros after `cut` characters. Mode compare:
 * two texts that end in the same column; where one has not begun, its state is zeros. `since` is the column (from 1)
 * from whose state on both read the same, 0 if that is the start; `place` the column to look at, one that exists.
 */
export function twoRuns(network, { mode, text, second, cut, place }, whole = statesOf(network, text)) {
  const zeros = new Float32Array(network.model.numHiddens);
  const cutAt = Math.min(cut, text.length);
  const other = mode === "cut" ? cutStates(network, text, cutAt, whole) : statesOf(network, second);
  const count = Math.max(whole.length, other.length);
  const lanes = [whole, other].map((states) => [...Array(count - states.length).fill(zeros), ...states]);
  const texts = [text, mode === "cut" ? text : second].map((string) => string.padStart(count, "\0"));
  const distances = lanes[0].map((state, i) => distance(state, lanes[1][i]));
  return {
    lanes, texts, distances,
    since: mode === "cut" ? cutAt : count - sharedEnding(text, second),
    place: placeIn(distances, place),
  };
}

/** What either run has in its memory at the place. */
export function pastsOf({ texts, since, place }, mode) {
  const [whole, other] = texts.map((text) => text.slice(0, place).replace(/^\0+/, ""));
  return [whole, mode === "cut" && place >= since ? other.slice(since) : other];
}

/** How far apart states and predictions are at the place: a key of the words, and its values. */
export function account({ distances, since, place }, mode, [p, q]) {
  const count = distances.length;
  if (count === 0) return ["text_short", {}];
  const values = { distance: formatNumber(distances[place - 1], 1), overlap: Math.round(100 * overlap(p, q)) };
  if (mode === "compare" && since === count) return ["no_shared", values];
  if (place < since) return [mode === "compare" ? "before_shared" : "before_cut", values];
  if (place === since) return [`at_${mode}`, values];
  return [`since_${mode}`, { ...values, count: place - since, peak: formatNumber(since > 0 ? distances[since - 1] : 0, 1) }];
}

export const RULES = {
  mode: choiceRule(MODES),
  text: textRule(MAX_TEXT),
  second: textRule(MAX_TEXT),
  unit: numberRule(0, 127, { whole: true }),
  place: numberRule(1, MAX_TEXT, { whole: true }),
  cut: numberRule(1, MAX_TEXT, { whole: true }),
};

// ---- the figure: letters, two heat maps, two lines, all over the same columns ----------------------------------------

const LEFT = 54;
const RIGHT = 10;
const LETTERS = 20;
const TITLE = 18;
const PLOT = 44;
const WIDEST_COLUMN = 30;

/** Where everything stands in a figure of some width, in pixels. */
export function layoutOf(width, count, mode) {
  const lane = width < 520 ? 96 : 128; // 128 units: on a phone's fine screen half a pixel less each
  const column = Math.min(WIDEST_COLUMN, (width - LEFT - RIGHT) / Math.max(count, 1));
  const lanes = [LETTERS, LETTERS + lane + 5];
  const mapEnd = lanes[1] + lane;
  const lettersEnd = mapEnd + (mode === "compare" ? LETTERS : 4);
  const plots = [lettersEnd + TITLE, lettersEnd + TITLE + PLOT + TITLE];
  return { width, column, lane, lanes, mapEnd, lettersEnd, plots, right: LEFT + column * Math.max(count, 1), height: plots[1] + PLOT + 6 };
}

/** "#0072b2" as three numbers. */
function parseHex(colour) {
  return [1, 3, 5].map((at) => Number.parseInt(colour.trim().slice(at, at + 2), 16));
}

/** Paint states, one pixel a value: blue at -1, the surface at 0, vermillion at +1. */
function paintLane(canvas, states, order, [blue, surface, vermillion]) {
  canvas.width = Math.max(states.length, 1);
  canvas.height = order.length;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  order.forEach((unit, row) => {
    for (let i = 0; i < canvas.width; i += 1) {
      const value = states[i]?.[unit] ?? 0;
      const end = value < 0 ? blue : vermillion;
      const at = 4 * (row * canvas.width + i);
      for (let c = 0; c < 3; c += 1) image.data[at + c] = surface[c] + Math.abs(value) * (end[c] - surface[c]);
      image.data[at + 3] = 255;
    }
  });
  context.putImageData(image, 0, 0);
}

const letter = (character) => (character === "\0" ? "" : visibleCharacter(character));

/** One of the two plots under the maps. */
function plotParts(top, title, [from, to], ticks, format, lines, x, layout) {
  const y = scale([from, to], [top + PLOT, top]);
  const parts = [svg("text", { class: "state-title", x: LEFT, y: top - 6 }, title)];
  for (const tick of ticks) {
    parts.push(svg("path", { class: "d2lrnn-grid", d: `M${LEFT} ${y(tick)}H${layout.right}` }));
    parts.push(svg("text", { class: "d2lrnn-tick", x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, format(tick)));
  }
  for (const { values, kind, place } of lines) {
    const xs = values.map((_, i) => i);
    parts.push(svg("path", { class: `d2lrnn-line d2lrnn-line-${kind}`, d: linePath(xs, values, x, y) }));
    if (place >= 0) parts.push(svg("circle", { class: `state-dot state-dot-${kind}`, cx: x(place), cy: y(values[place]), r: 4 }));
  }
  return parts;
}

/** A value from -1 to 1 with its sign. */
function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return text === "0.00" ? text : `${value < 0 ? "−" : "+"}${text}`;
}

// ---- view -----------------------------------------------------------------------------------------------------------

const TRAITS = ["mode", "text", "second", "unit", "place", "cut"];
const loaded = new WeakMap(); // DataView -> network: several instances on a page share one

function networkIn(view) {
  if (!loaded.has(view)) loaded.set(view, loadModel(view));
  return loaded.get(view);
}

/** The last characters up to a place, as one word to the line breaker, a space at their end made visible. */
function tail(text, end = text.length, most = 8) {
  const start = Math.max(0, end - most);
  const part = text.slice(start, end);
  return `${start > 0 ? "…\u2060" : ""}${(start > 0 ? part.trimStart() || part : part).replace(/ $/, "␣").replaceAll(" ", "\u00a0")}`;
}

/** Call back when the page's theme, or the system's, changes: a canvas does not follow by itself. */
function watchTheme(onChange, signal) {
  const observer = new MutationObserver(onChange);
  const attributeFilter = ["class", "data-theme", "data-jp-theme-light"];
  for (const node of [document.documentElement, document.body]) observer.observe(node, { attributes: true, attributeFilter });
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange, { signal });
}

function oddsRow() {
  const name = element("span", { class: "state-name" });
  const cells = ["whole", "other"].map((kind) => {
    const bar = element("span", { class: `state-bar state-bar-${kind}` });
    const value = element("span", { class: "state-value" });
    return { bar, value, node: element("span", { class: "state-cell" }, element("span", { class: "state-track" }, bar), value) };
  });
  const spoken = element("span", { class: "d2lrnn-hidden" });
  const seen = element("span", { class: "state-seen", "aria-hidden": "true" }, name, ...cells.map(({ node }) => node));
  const set = (character, probabilities, words) => {
    name.textContent = character;
    probabilities.forEach((p, i) => {
      cells[i].bar.style.setProperty("width", `${(100 * p).toFixed(2)}%`);
      cells[i].value.textContent = formatProbability(p);
    });
    spoken.textContent = words;
  };
  return { node: element("li", { class: "state-row" }, spoken, seen), set };
}

function textField(label, onText, signal) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text state-text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const read = (event) => {
    if (!event.isComposing) onText(input.value); // else an input method is still at work
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const set = (text) => {
    if (readable(input.value) !== text) input.value = text;
  };
  return { node: element("label", { class: "d2lrnn-control state-label" }, element("span", {}, label), input), input, set };
}

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const network = networkIn(model.get("weights"));
  const { vocab } = network;
  const explained = model.get("explained");
  const order = orderOf(explained);
  let shown = null;
  let runs = null;
  let whole = null; // the states of the text: a cut elsewhere does not read it again
  let preview = null; // the unit under the pointer
  let layout = null;
  let width = 0;

  const modeButtons = MODES.map((mode) =>
    buttonControl({ label: t(`mode_${mode}`), "data-mode": mode, signal, onPress: () => commit({ mode, place: MAX_TEXT }) }));
  const resetButton = buttonControl({ label: t("reset"), signal, onPress: () => reset() });
  const long = element("p", { class: "state-hint" }, t("text_long", { max: MAX_TEXT }));
  const onText = (name) => () => commit({ [name]: readable(fields[name].input.value), place: MAX_TEXT });
  const fields = {
    text: textField(t("text", { max: MAX_TEXT }), onText("text"), signal),
    second: textField(t("second"), onText("second"), signal),
  };

  const canvases = [0, 1].map(() => element("canvas", { class: "state-canvas", role: "img" }));
  const picture = svg("svg", { class: "state-svg", role: "img" });
  const figure = element("div", { class: "state-figure" }, ...canvases, picture);
  const keys = Object.fromEntries(MODES.map((mode) => [mode, legend([
    { kind: 1, text: t(`lane_${mode}_first`) }, { kind: 2, text: t(`lane_${mode}_second`) },
  ])]));
  const ramp = element("span", { class: "state-ramp", "aria-hidden": "true" }, "−1", element("span", { class: "state-ramp-bar" }), "+1");
  const key = element("div", { class: "state-key" }, ...Object.values(keys), ramp);

  const slider = (name, max, onInput) => {
    const caption = element("span", { class: "state-caption" });
    const range = rangeControl({ label: caption, min: 1, max, signal, onInput });
    const set = (value, text, most = max) => {
      range.input.max = Math.max(most, 1);
      range.input.disabled = most < 1;
      caption.textContent = text;
      range.set(Math.max(value, 1), text);
    };
    return { node: range.node, set, text: () => caption.textContent };
  };
  const unitSlider = slider("unit", order.length, (row) => commit({ unit: order[row - 1] }));
  const placeSlider = slider("place", 1, (place) => commit({ place }));
  const cutSlider = slider("cut", 1, (cut) => commit({ cut }));
  const summary = element("p", { class: "state-summary" });
  const heads = [0, 1].map(() => element("span", {}));
  const rows = Array.from({ length: ROWS }, oddsRow);
  const foot = footPanel({ t, how: t("how", { units: order.length }), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  el.append(element(
    "div", { class: "state" },
    element("div", { class: "state-modes", role: "group", "aria-label": t("modes") }, ...modeButtons),
    element("div", { class: "state-fields" }, fields.text.node, resetButton, fields.second.node), long,
    figure, key,
    element("div", { class: "state-sliders" }, unitSlider.node, placeSlider.node, cutSlider.node),
    summary,
    element("div", { class: "state-odds" },
      element("div", { class: "state-seen state-head", "aria-hidden": "true" }, element("span", {}, t("next")), ...heads),
      element("ol", { class: "state-rows" }, ...rows.map(({ node }) => node))),
    foot.node,
  ));

  const textsRead = () => (shown.mode === "cut" ? shown.text : `${shown.text} / ${shown.second}`);
  const laneName = (i) => t(`lane_${shown.mode}_${i === 0 ? "first" : "second"}`);
  const valuesInWords = (unit) => runs.lanes.map((states, lane) => {
    const values = states.map((state, i) => [runs.texts[lane][i], state[unit]]).filter(([character]) => character !== "\0");
    return `${laneName(lane)}: ${values.map(([character, value]) => `${letter(character)} ${signed(value)}`).join(", ")}`;
  }).join(". ");

  const drawUnitSlider = () => {
    const { lanes, place } = runs;
    const unit = preview ?? shown.unit;
    const [whole, other] = lanes.map((states) => signed(states[place - 1]?.[unit] ?? 0));
    unitSlider.set(order.indexOf(unit) + 1, t("unit", { unit, first: laneName(0), second: laneName(1), whole, other }));
  };
  /** All that a width changes, or a unit. */
  const drawFigure = () => {
    if (width === 0 || shown === null) return;
    const { lanes, texts, distances, since, place } = runs;
    const count = distances.length;
    const unit = preview ?? shown.unit;
    layout = layoutOf(width, count, shown.mode);
    const { column, lane, lanes: tops, mapEnd, lettersEnd, plots, right, height } = layout;
    const x = scale([-0.5, Math.max(count, 1) - 0.5], [LEFT, right]);
    const at = place - 1;
    canvases.forEach((canvas, i) => {
      Object.assign(canvas.style, { left: `${LEFT}px`, top: `${tops[i]}px`, width: `${right - LEFT}px`, height: `${lane}px` });
    });
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("height", height);
    const parts = [];
    const mono = Math.min(16, column * 1.55);
    texts.forEach((text, i) => {
      if (i === 1 && shown.mode === "cut") return;
      const y = i === 0 ? LETTERS - 6 : lettersEnd - 5;
      Array.from(text, (character, j) => parts.push(svg(
        "text", { class: `state-letter${j === at ? " state-letter-here" : ""}`, x: x(j), y, "font-size": mono.toFixed(1), "text-anchor": "middle" }, letter(character),
      )));
    });
    tops.forEach((top, i) => {
      parts.push(svg("rect", { class: "state-frame", x: LEFT, y: top, width: right - LEFT, height: lane }));
      parts.push(svg("text", { class: "d2lrnn-tick", x: LEFT - 6, y: top + lane / 2 + 4, "text-anchor": "end" }, laneName(i)));
      const rowHeight = lane / order.length;
      const y = top + order.indexOf(unit) * rowHeight;
      parts.push(svg("rect", { class: "state-mark", x: LEFT - 3, y: y - 1.5, width: right - LEFT + 6, height: rowHeight + 3 }));
    });
    if (shown.mode === "compare" && since < count) {
      parts.push(svg("rect", { class: "state-shared", x: x(since - 0.5), y: 1, width: right - x(since - 0.5), height: lettersEnd - 2 }));
    } else if (shown.mode === "cut" && count > 0) {
      parts.push(svg("path", { class: "state-cut", d: `M${x(since - 0.5)} 1V${mapEnd + 2}` }));
    }
    if (count > 0) {
      parts.push(svg("rect", { class: "state-here", x: x(at - 0.5), y: tops[0] - 1, width: column, height: mapEnd - tops[0] + 2 }));
      parts.push(svg("path", { class: "state-here-line", d: `M${x(at)} ${lettersEnd + 2}V${plots[0] + PLOT}M${x(at)} ${plots[1]}V${plots[1] + PLOT}` }));
    }
    const most = Math.max(...distances, 1);
    parts.push(...plotParts(plots[0], t("distance_title"), [0, most], linearTicks(most, 2), String, [{ values: distances, kind: 0, place: at }], x, layout));
    const traces = lanes.map((states, i) => ({ values: states.map((state) => state[unit]), kind: i + 1, place: at }));
    parts.push(...plotParts(plots[1], t("unit_title", { unit, explained: Math.round(100 * explained[unit]) }), [-1, 1], [-1, 0, 1], (tick) => String(tick).replace("-", "−"), traces.reverse(), x, layout));
    picture.replaceChildren(...parts);
    picture.setAttribute("aria-label", t("plots_spoken", { unit, values: valuesInWords(unit) }));
  };
  const drawMaps = () => {
    const style = getComputedStyle(figure);
    const colours = ["blue", "surface", "vermillion"].map((name) => parseHex(style.getPropertyValue(`--d2lrnn-${name}`)));
    canvases.forEach((canvas, i) => {
      paintLane(canvas, runs.lanes[i], order, colours);
      canvas.setAttribute("aria-label", t("map_spoken", { lane: laneName(i), units: order.length, text: textsRead() }));
    });
  };
  const drawOdds = () => {
    const at = runs.place - 1;
    const zeros = new Float32Array(order.length);
    const [p, q] = runs.lanes.map((states) => oddsOf(network.model, states[at] ?? zeros));
    likeliest(p, q, vocab).forEach(({ character, p: one, q: two }, i) => {
      const words = t("row", { character: visibleCharacter(character), first: laneName(0), p: formatProbability(one), second: laneName(1), q: formatProbability(two) });
      rows[i].set(visibleCharacter(character), [one, two], words);
    });
    pastsOf(runs, shown.mode).forEach((past, i) => {
      heads[i].textContent = past === "" ? t("head_nothing") : t("head", { context: tail(past) });
    });
    return [p, q];
  };
  const draw = (state) => {
    const before = shown;
    shown = state;
    if (before !== null && before.unit !== state.unit) preview = null; // chosen, it wins over one under a resting pointer
    const changed = (...names) => before === null || names.some((name) => before[name] !== state[name]);
    const reread = changed("mode", "text", "second", "cut");
    if (changed("text")) whole = statesOf(network, state.text);
    if (reread) runs = twoRuns(network, state, whole);
    else runs = { ...runs, place: placeIn(runs.distances, state.place) };
    const count = runs.distances.length;
    for (const button of modeButtons) button.setAttribute("aria-pressed", String(button.dataset.mode === state.mode));
    fields.text.set(state.text);
    fields.second.set(state.second);
    fields.second.node.hidden = keys.compare.hidden = state.mode === "cut";
    cutSlider.node.hidden = keys.cut.hidden = state.mode === "compare";
    long.hidden = !Object.values(fields).some(({ input, node }) => !node.hidden && normalise(input.value).length > MAX_TEXT);
    const looked = runs.texts[0].slice(0, runs.place).replaceAll("\0", "");
    placeSlider.set(runs.place, t("place", { context: tail(looked, looked.length, 6) }), count);
    cutSlider.set(Math.min(state.cut, count), t("cut", { context: tail(state.text, Math.min(state.cut, count), 6) }), state.text.length);
    drawUnitSlider();
    if (reread) drawMaps();
    drawFigure();
    if (reread || changed("place")) summary.textContent = t(...account(runs, state.mode, drawOdds()));
    if (before !== null) say(before.unit === state.unit ? `${summary.textContent} ${rows[0].node.firstChild.textContent}` : unitSlider.text());
  };

  const under = (event) => {
    const box = figure.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const { lane, lanes: tops, column, right } = layout;
    const top = tops.find((y) => py >= y && py < y + lane);
    const count = runs.distances.length;
    return {
      unit: top === undefined || px < 0 || px > right + RIGHT ? null : order[Math.floor(((py - top) / lane) * order.length)],
      place: count > 0 && px >= LEFT && px < right ? Math.floor((px - LEFT) / column) + 1 : null,
    };
  };
  const hover = (unit) => {
    if (unit === preview) return;
    preview = unit;
    drawUnitSlider();
    drawFigure();
  };
  figure.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") hover(under(event).unit); }, { signal });
  figure.addEventListener("pointerleave", () => hover(null), { signal });
  figure.addEventListener("click", (event) => {
    const { unit: here, place } = under(event);
    const unit = preview ?? here; // a click is rounded to whole pixels, and a row is as low as one
    const values = { ...(unit === null ? {} : { unit }), ...(place === null ? {} : { place }) };
    if (Object.keys(values).length) commit(values);
  }, { signal });

  const observer = new ResizeObserver(() => {
    const now = Math.round(figure.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    drawFigure();
  });
  observer.observe(figure);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  watchTheme(() => { if (shown !== null) drawMaps(); }, signal);
  return { draw };
}

/** A link's texts are what is read of them. */
export function repair(state) {
  return { ...state, text: readable(state.text), second: readable(state.second) };
}

export default explorable({ words: SPEC.words, traits: TRAITS, build: buildView, rules: RULES, repair });
