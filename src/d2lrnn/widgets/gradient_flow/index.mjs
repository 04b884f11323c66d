// A gradient on its way back through a recurrent network: by lag, and added up, cut and clipped.
import { formatPowerOfTen, legend, lineChart } from "../charts.mjs";
import {
  buttonControl, choiceRule, element, explorable, footPanel, numberRule, rangeControl, selectControl, svg,
} from "../ui.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same as Python's GradientFlow --------------------------------------------------------------------------

export const MATRICES = ["gaussian", "orthogonal", "shear", "source"];
export const ACTIVATIONS = ["identity", "tanh", "relu"];

/** Each activation, and its slope as a function of its value. */
const PHI = {
  identity: [(z) => z, () => 1],
  tanh: [Math.tanh, (h) => 1 - h * h],
  relu: [(z) => (z > 0 ? z : 0), (h) => (h > 0 ? 1 : 0)],
};

/** Places of the sliders; 0 stands at the right end and means none. */
export const STEPS = [2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 25, 30, 40, 50, 60, 70, 80, 90, 100];
export const INPUT_SIZES = [1e-8, 1e-4, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
export const CUTS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 0];
export const CLIPS = [0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100, 1000, 0];

const LINEAR = { num_steps: 60, activation: "identity", matrix: "gaussian", input_size: 0.1, clip: 0, truncation: 0 };
export const PRESETS = {
  vanishes: { ...LINEAR, radius: 0.8 },
  level: { ...LINEAR, radius: 1 },
  explodes: { ...LINEAR, radius: 1.2 },
  saturated: { ...LINEAR, radius: 1.2, activation: "tanh", input_size: 1 },
  source: { ...LINEAR, radius: 0.5, matrix: "source", num_steps: 21 }, // 0.5: times that of the source's matrix
  orthogonal: { ...LINEAR, radius: 1, matrix: "orthogonal" },
  sheared: { ...LINEAR, radius: 0.8, matrix: "shear" },
  cut: { ...LINEAR, radius: 0.95, truncation: 5, clip: 2 },
};

/** Values of the controls in a preset. */
export function presetValues(name, networks) {
  const values = { ...PRESETS[name] };
  if (values.matrix === "source") values.radius *= networks.matrices.source.radius;
  return values;
}

export const RULES = {
  radius: numberRule(0.2, 2),
  num_steps: numberRule(2, 100, { whole: true }),
  activation: choiceRule(ACTIVATIONS),
  matrix: choiceRule(MATRICES),
  input_size: numberRule(1e-8, 10),
  clip: numberRule(0, 1000),
  truncation: numberRule(0, 100, { whole: true }),
};

/** Index of the place next to a value; 0 (none) is itself or nothing. */
export function nearestPlace(places, value) {
  if (value === 0) return places.indexOf(0);
  let best = -1;
  places.forEach((place, i) => {
    if (place > 0 && (best < 0 || Math.abs(Math.log(place / value)) < Math.abs(Math.log(places[best] / value)))) best = i;
  });
  return best;
}

/** The matrix scaled to a spectral radius, row by row. */
export function scaledMatrix({ W, radius: drawn }, radius) {
  return Float64Array.from(W.flat(), (weight) => weight * (radius / drawn));
}

/** States before each step and after the last, (numSteps + 1) rows, and the slopes of each step. */
export function runForward(W, n, inputs, { input_size, num_steps, activation }) {
  const [phi, slope] = PHI[activation];
  const states = new Float64Array((num_steps + 1) * n);
  const slopes = new Float64Array(num_steps * n);
  for (let step = 0; step < num_steps; step += 1) {
    const before = step * n;
    for (let j = 0; j < n; j += 1) {
      let sum = input_size * inputs[step][j];
      for (let i = 0; i < n; i += 1) sum += states[before + i] * W[i * n + j];
      const h = phi(sum);
      states[before + n + j] = h;
      slopes[before + j] = slope(h);
    }
  }
  return { states, slopes };
}

/** The gradient `last` of the last state, walked back: its norm by lag, and dW_hh over all lags and over the first `kept`. */
export function followBack(W, n, { states, slopes }, last, kept) {
  const numSteps = slopes.length / n;
  const norms = new Float64Array(numSteps);
  const full = new Float64Array(n * n);
  let truncated = full;
  let gradient = Float64Array.from(last);
  const delta = new Float64Array(n);
  for (let lag = 0; lag < numSteps; lag += 1) {
    const at = (numSteps - 1 - lag) * n;
    norms[lag] = length(gradient);
    for (let j = 0; j < n; j += 1) delta[j] = gradient[j] * slopes[at + j];
    const next = new Float64Array(n);
    for (let i = 0; i < n; i += 1) {
      let sum = 0;
      for (let j = 0; j < n; j += 1) {
        full[i * n + j] += states[at + i] * delta[j];
        sum += delta[j] * W[i * n + j];
      }
      next[i] = sum;
    }
    gradient = next;
    if (lag === kept - 1 && kept < numSteps) truncated = full.slice();
  }
  return { norms, full, truncated };
}

/** Euclidean length. */
export function length(vector) {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** Angle in degrees, exact for small ones too; null where one has no direction. */
export function angleDegrees(a, b) {
  const [x, y] = [length(a), length(b)];
  if (x === 0 || y === 0) return null;
  const parts = (sign) => length(a.map((value, i) => value / x + (sign * b[i]) / y));
  return (2 * Math.atan2(parts(-1), parts(1)) * 180) / Math.PI;
}

/** Factor a step over the older half of the lags: a geometric mean; null where nothing is left to compare with. */
export function factorPerStep(norms) {
  const end = norms.length - 1;
  const start = Math.floor(end / 2);
  return norms[start] > 0 ? (norms[end] / norms[start]) ** (1 / (end - start)) : null;
}

/** Everything that the page shows, from the networks that it carries and the controls. */
export function flow(networks, settings) {
  const network = networks.matrices[settings.matrix];
  const n = network.W.length;
  const W = scaledMatrix(network, settings.radius);
  const way = runForward(W, n, networks.inputs, settings);
  const kept = settings.truncation || settings.num_steps;
  const { norms, full, truncated } = followBack(W, n, way, network.gradient, kept);
  const scale = settings.radius / network.radius;
  const lengths = { full: length(full), truncated: length(truncated) };
  const clipFactor = settings.clip > 0 && lengths.truncated > settings.clip ? settings.clip / lengths.truncated : 1;
  return {
    norms: Array.from(norms),
    eigenvalues: network.eigenvalues.map(([re, im]) => [re * scale, im * scale]),
    sigma: network.sigma_max * scale,
    meanSlope: way.slopes.reduce((sum, slope) => sum + slope, 0) / way.slopes.length,
    factor: factorPerStep(norms),
    cutsOff: kept < settings.num_steps,
    lengths: { ...lengths, arrives: lengths.truncated * clipFactor },
    angle: angleDegrees(truncated, full),
    lost: lengths.full > 0 ? length(full.map((value, i) => value - truncated[i])) / lengths.full : null,
    clipFactor,
  };
}

/** The key of the words that say what became of a gradient of which the share `left` is left: it may be far above 1. */
export function fate(left) {
  if (left < 0.1) return left < 0.001 ? "verdict_vanishes" : "verdict_fades";
  if (left > 10) return left > 1000 ? "verdict_explodes" : "verdict_grows";
  return "verdict_lasts";
}

/** What became of the gradient, with the share that is left and the reason: keys of words. */
export function verdict({ norms, meanSlope, sigma, factor }, { radius }) {
  const left = norms.at(-1) / norms[0];
  const peakLag = norms.indexOf(Math.max(...norms));
  const peak = norms[peakLag] / norms[0];
  let reason = "reason_radius";
  if (left === 0) reason = "reason_dead";
  else if (meanSlope < 0.95 && factor !== null) reason = "reason_slopes";
  else if (left < 1 && peak > 4) reason = "reason_hump";
  else if (left < 0.1 && sigma > 1 && radius < 1) reason = "reason_stretch";
  return { fate: fate(left), left, reason, peak, peakLag };
}

/** How many eigenvalues lie inside, on and outside the unit circle. */
export function sideOf([re, im]) {
  const size = Math.hypot(re, im);
  if (Math.abs(size - 1) < 1e-8) return "on";
  return size < 1 ? "inside" : "outside";
}

/** A length over many orders of magnitude: 0, 0.0123, 1230, 4.5×10⁵. */
export function formatLength(value) {
  if (value === 0) return "0";
  if (value >= 0.001 && value < 9999.5) return String(Number(value.toPrecision(3)));
  const [mantissa, exponent] = value.toExponential(1).split("e");
  const raised = exponent.replace("+", "").replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  return `${mantissa}×10${raised}`;
}

/** The logarithmic axis: whole sixes of powers of ten around the values, never less than 10⁻⁶ to 10⁶, so that it rests while a control moves. */
export function normAxis(values) {
  const powers = values.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
  const low = 6 * Math.floor(Math.min(-1, ...powers) / 6);
  const high = 6 * Math.ceil(Math.max(1, ...powers) / 6);
  const step = [3, 6, 12, 24].find((size) => (high - low) / size <= 7) ?? 48;
  const ticks = [];
  for (let power = Math.ceil(low / step) * step; power <= high; power += step) ticks.push(10 ** power);
  return { from: 10 ** low, to: 10 ** high, log: true, ticks, format: (tick) => (tick === 1 ? "1" : formatPowerOfTen(tick)) };
}

// ---- view -----------------------------------------------------------------------------------------------------------------

const SETTINGS = Object.keys(RULES);
const radiusText = (radius) => radius.toFixed(Math.abs(radius * 100 - Math.round(radius * 100)) < 1e-6 ? 2 : 3);
const two = (value) => (value === null ? "–" : value >= 0.005 || value === 0 ? value.toFixed(2) : formatLength(value));

/** A slider with its value beside its name. */
function slider({ label, min, max, text, toValue, toPlace, onValue, signal }) {
  const shown = element("b");
  const caption = element("span", { class: "flow-caption" }, element("span", {}, label), " ", shown);
  const range = rangeControl({ label: caption, min, max, signal, onInput: (place) => onValue(toValue(place)) });
  const set = (value) => {
    shown.textContent = text(value);
    range.set(toPlace(value), text(value));
  };
  return { node: range.node, set };
}

function controlsOf({ t, signal, onChange }) {
  const places = (name, values, text) => slider({
    label: t(name), min: 0, max: values.length - 1, signal, text,
    toValue: (i) => values[i], toPlace: (value) => nearestPlace(values, value), onValue: (value) => onChange({ [name]: value }),
  });
  const choice = (name, options) => selectControl({
    label: t(name), options: options.map(([value, words]) => [value, t(words)]), signal,
    onChange: (value) => onChange({ [name]: value }),
  });
  const lags = (count) => (count === 0 ? t("none") : count === 1 ? t("truncation_lag") : t("truncation_lags", { count }));
  return {
    radius: slider({
      label: t("radius"), min: 20, max: 200, signal, text: radiusText, // hundredths, so that 1 is exactly 1
      toValue: (place) => place / 100, toPlace: (value) => value * 100, onValue: (radius) => onChange({ radius }),
    }),
    num_steps: places("num_steps", STEPS, String),
    input_size: places("input_size", INPUT_SIZES, formatLength),
    activation: choice("activation", [["identity", "activation_identity"], ["tanh", "activation_tanh"], ["relu", "activation_relu"]]),
    matrix: choice("matrix", [
      ["gaussian", "matrix_gaussian"], ["orthogonal", "matrix_orthogonal"], ["shear", "matrix_shear"], ["source", "matrix_source"],
    ]),
    truncation: places("truncation", CUTS, lags),
    clip: places("clip", CLIPS, (clip) => (clip === 0 ? t("none") : String(clip))),
  };
}

const UNIT = 50; // pixels a unit of the complex plane
const HALF = 108;
const SIDES = { inside: "count_inside", on: "count_on", outside: "count_outside" };

/** Eigenvalues in the complex plane, with the unit circle and the circle of the spectral radius. */
function planePanel(t) {
  const rim = svg("circle", { class: "flow-rim", cx: 0, cy: 0, r: UNIT });
  const marks = svg("g");
  const picture = svg(
    "svg", { class: "flow-plane", viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "img" },
    svg("path", { class: "d2lrnn-grid", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    rim, svg("circle", { class: "flow-unit", cx: 0, cy: 0, r: UNIT }), marks,
  );
  const counts = Object.fromEntries(Object.keys(SIDES).map((side) => [side, element("span", { class: `flow-count-${side}` })]));
  const node = element(
    "div", { class: "flow-eigen" },
    element("div", { class: "flow-head" }, t("eigenvalues")), picture,
    element("div", { class: "flow-counts", "aria-hidden": "true" }, ...Object.values(counts)),
  );
  const shape = (side, x, y) => {
    if (side === "outside") return svg("path", { class: "flow-mark flow-outside", d: `M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z` });
    return svg("circle", { class: `flow-mark flow-${side}`, cx: x, cy: y, r: side === "on" ? 4.5 : 4 });
  };
  const draw = (eigenvalues, radius) => {
    const sides = eigenvalues.map(sideOf);
    rim.setAttribute("r", UNIT * radius);
    marks.replaceChildren(...eigenvalues.map(([re, im], i) => shape(sides[i], (UNIT * re).toFixed(2), (-UNIT * im).toFixed(2))));
    const found = Object.fromEntries(Object.keys(counts).map((side) => [side, sides.filter((other) => other === side).length]));
    for (const [side, count] of Object.entries(counts)) {
      count.textContent = t(SIDES[side], { count: found[side] });
      count.hidden = found[side] === 0;
    }
    picture.setAttribute("aria-label", t("plane", { ...found, radius: radiusText(radius) }));
  };
  return { node, draw };
}

const NUMBERS = { sigma: "number_sigma", slope: "number_slope", factor: "number_factor" };

function numbersPanel(t) {
  const values = Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, element("dd")]));
  const entries = Object.entries(values).map(([name, value]) => element("div", {}, element("dt", {}, t(NUMBERS[name])), value));
  // a list with a class is indented by the book's theme
  const node = element("div", { class: "flow-numbers" }, element("dl", {}, ...entries));
  return { node, draw: (texts) => { for (const [name, text] of Object.entries(texts)) values[name].textContent = text; } };
}

const REACH = 78; // pixels of the longest arrow

/** The gradient of W_hh: whole, after the cut, after clipping; two arrows in the plane that they span, and three rows. */
function arrivesPanel(t) {
  const rows = [["full", "row_full"], ["cut", "row_cut"], ["arrives", "row_arrives"]].map(([name, words]) => {
    const value = element("b");
    const note = element("span", { class: "flow-note" });
    const swatch = svg(
      "svg", { class: "flow-swatch", viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" },
      svg("path", { class: `d2lrnn-line flow-arrow-${name}`, d: "M1 4H27" }),
    );
    const node = element("div", { class: "flow-row" }, swatch, element("span", {}, t(words)), value, note);
    return { node, set: (text, remark) => { value.textContent = text; note.textContent = remark; } };
  });
  const arrows = svg("svg", { class: "flow-arrows", role: "img" });
  const node = element(
    "div", { class: "flow-arrives" },
    element("div", { class: "flow-head" }, t("arrives_title")),
    element("div", { class: "flow-arrives-body" }, element("div", { class: "flow-rows" }, ...rows.map((row) => row.node)), arrows),
  );
  const arrow = (kind, size, degrees) => {
    const [x, y] = [Math.cos(degrees * Math.PI / 180), -Math.sin(degrees * Math.PI / 180)];
    const at = (along, aside) => `${(along * x - aside * y).toFixed(1)} ${(along * y + aside * x).toFixed(1)}`;
    const tip = Math.min(8, size / 2);
    const head = svg("path", { class: `flow-tip flow-tip-${kind}`, d: `M${at(size, 0)}L${at(size - tip, tip / 2)}L${at(size - tip, -tip / 2)}z` });
    return [svg("path", { class: `d2lrnn-line flow-arrow-${kind}`, d: `M0 0L${at(size, 0)}` }), head];
  };
  const draw = ({ lengths, angle, lost, cutsOff, clipFactor }, clip) => {
    const cutNote = !cutsOff ? t("cut_none")
      : angle === null ? t("cut_zero")
        : t("cut_some", { angle: angle < 0.05 ? "0" : angle.toFixed(angle < 9.95 ? 1 : 0), lost: percent(lost) });
    const clipNote = clip === 0 ? t("clip_none") : clipFactor === 1 ? t("clip_short") : t("clip_some", { factor: formatLength(clipFactor) });
    rows[0].set(formatLength(lengths.full), "");
    rows[1].set(formatLength(lengths.truncated), cutNote);
    rows[2].set(formatLength(lengths.arrives), clipNote);
    const longest = Math.max(lengths.full, lengths.truncated);
    // the whole gradient points to the right; there is room to the left only where the other one points there
    const left = cutsOff && angle > 90 ? -REACH : 0;
    arrows.setAttribute("viewBox", `${left - 6} ${-REACH - 6} ${REACH - left + 12} ${REACH + 14}`);
    const parts = [svg("path", { class: "d2lrnn-grid", d: `M${left - 4} 0H${REACH + 4}` })];
    if (longest > 0) {
      if (lengths.full > 0) parts.push(...arrow("full", (REACH * lengths.full) / longest, 0));
      if (cutsOff && angle !== null) parts.push(...arrow("cut", (REACH * lengths.truncated) / longest, angle));
      if (clipFactor < 1) parts.push(...arrow("arrives", (REACH * lengths.arrives) / longest, cutsOff ? angle ?? 0 : 0));
      parts.push(svg("circle", { class: "flow-origin", cx: 0, cy: 0, r: 3 }));
    }
    arrows.replaceChildren(...parts);
    arrows.setAttribute("aria-label", t("arrows", { cut: cutNote, length: formatLength(lengths.arrives), clip: clipNote }));
  };
  return { node, draw };
}

function percent(share) {
  const value = 100 * share;
  return value > 0 && value < 0.1 ? `${formatLength(value)} %` : `${value.toFixed(value < 9.95 ? 1 : 0)} %`;
}

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const networks = model.get("networks");
  const presets = Object.fromEntries(Object.keys(PRESETS).map((name) => [name, presetValues(name, networks)]));
  let shown = null;
  let told = null;

  const examples = selectControl({
    label: t("example"), signal,
    options: [...Object.keys(PRESETS), "own"].map((name) => [name, t(`preset_${name}`)]),
    onChange: (name) => (name === "own" ? draw(shown) : commit(presets[name])),
  });
  const resetButton = buttonControl({ label: t("reset"), class: "d2lrnn-button flow-reset", signal, onPress: reset });
  const controls = controlsOf({ t, signal, onChange: commit });
  const sentence = element("b");
  const reason = element("span");
  const chart = lineChart({ height: 195, signal });
  const key = legend([
    { kind: 1, text: t("line_norm") }, { kind: 2, text: t("line_guide") },
    { kind: 3, text: t("line_cut") }, { kind: 4, text: t("line_beyond") },
  ]);
  const plane = planePanel(t);
  const numbers = numbersPanel(t);
  const arrives = arrivesPanel(t);
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  examples.node.classList.add("flow-example");
  controls.radius.node.classList.add("flow-radius");
  const group = (name, ...names) => element("div", { class: `flow-controls ${name}` }, ...names.map((each) => controls[each].node));
  el.append(element(
    "div", { class: "flow" },
    element("div", { class: "flow-bar" }, examples.node, resetButton),
    element("p", { class: "flow-verdict" }, sentence, " ", reason),
    element(
      "div", { class: "flow-main" },
      element("div", { class: "flow-chart" }, element("div", { class: "flow-head" }, t("norm")), chart.node, key),
      controls.radius.node,
      element("div", { class: "flow-matrix" }, plane.node, numbers.node),
      group("flow-network", "matrix", "activation", "num_steps", "input_size"),
    ),
    arrives.node,
    group("flow-cuts", "truncation", "clip"),
    foot.node,
  ));

  function draw(state) {
    shown = state;
    for (const [name, control] of Object.entries(controls)) control.set(state[name]);
    const same = (name) => SETTINGS.every((setting) => presets[name][setting] === state[setting]);
    examples.set(Object.keys(presets).find(same) ?? "own");

    const result = flow(networks, state);
    const { norms, eigenvalues, sigma, meanSlope, factor, cutsOff } = result;
    const found = verdict(result, state);
    const lag = state.num_steps - 1;
    sentence.textContent = t(found.fate, { lag, left: formatLength(found.left) });
    reason.textContent = t(found.reason, {
      radius: radiusText(state.radius), sigma: two(sigma), slope: two(meanSlope), factor: two(factor),
      peak: formatLength(found.peak), lag: found.peakLag,
    });

    const xs = norms.map((_, i) => i);
    const guide = norms.map((_, i) => norms[0] * state.radius ** i);
    const y = normAxis([...norms, ...guide]);
    const last = cutsOff ? state.truncation - 1 : lag;
    const lines = [{ xs: xs.slice(0, last + 1), ys: norms.slice(0, last + 1), kind: 1 }, { xs, ys: guide, kind: 2 }];
    if (cutsOff) {
      lines.push({ xs: xs.slice(last), ys: norms.slice(last), kind: 4 });
      lines.push({ xs: [last + 0.5, last + 0.5], ys: [y.from, y.to], kind: 3 });
    }
    const description = t("chart", {
      first: formatLength(norms[0]), last: formatLength(norms[lag]), lag, radius: radiusText(state.radius),
    });
    chart.draw({ x: { to: lag, label: t("lag") }, y, lines, description });
    key.children[2].hidden = key.children[3].hidden = !cutsOff;
    plane.draw(eigenvalues, state.radius);
    numbers.draw({ sigma: two(sigma), slope: two(meanSlope), factor: two(factor) });
    arrives.draw(result, state.clip);

    const spoken = t("spoken", { verdict: sentence.textContent, reason: reason.textContent });
    if (told !== null && spoken !== told) say(spoken);
    told = spoken;
  }
  return { draw };
}

export default explorable({ words: SPEC.words, traits: SETTINGS, build: buildView, rules: RULES });
