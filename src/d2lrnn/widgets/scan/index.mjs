// Scan: the states of a linear recurrence, walked by a loop and combined by a parallel scan, one clock for both.
import {
  buttonControl, choiceRule, element, explorable, footPanel, listRule, numberRule, rangeControl, selectControl, svg,
} from "../ui.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same numbers as d2lrnn.study.scan ---------------------------------------------------------------------------

export const MIN_STEPS = 2;
export const MAX_STEPS = 16;
export const MAX_FACTOR = 1.5;
export const MAX_INPUT = 3;
export const METHODS = ["doubling", "two-sweep"];

const ones = Array(MAX_STEPS).fill(1);
const EXAMPLES = {
  sum: { a: ones, x: ones },
  fading: { a: Array(MAX_STEPS).fill(0.9), x: [2, -1, 1, 3, -2, 1, 0, 2, 1, -1, 2, 0, -3, 1, 2, 1] },
  halving: { a: Array(MAX_STEPS).fill(0.5), x: ones },
  gates: {
    a: [1, 1, 0, 1, 1, 0.2, 1, 1, 0, 1, 0.9, 1, 0.1, 1, 1, 0.5],
    x: [1, 0, 2, 0, 1, 3, 0, 0, -1, 2, 0, 1, 2, 0, 0, 1],
  },
  explodes: { a: Array(MAX_STEPS).fill(1.4), x: ones },
};
export const PRESETS = Object.keys(EXAMPLES);

/** Factors and inputs of an example: { a, x }, `numSteps` of each. */
export function presetValues(name, numSteps) {
  const { a, x } = EXAMPLES[name];
  return { a: a.slice(0, numSteps), x: x.slice(0, numSteps) };
}

/** The example with these values; null if they are the reader's own. */
export function presetOf({ a, x }) {
  const equal = (values, others) => values.length === others.length && values.every((value, i) => value === others[i]);
  return PRESETS.find((name) => equal(EXAMPLES[name].a.slice(0, a.length), a) && equal(EXAMPLES[name].x.slice(0, x.length), x)) ?? null;
}

/** More or fewer time steps: an example stays that example; own values are cut, or go on with factor 1 and input 0. */
export function resized({ a, x }, numSteps) {
  const name = presetOf({ a, x });
  if (name !== null) return presetValues(name, numSteps);
  const fit = (values, filling) => Array.from({ length: numSteps }, (_, i) => values[i] ?? filling);
  return { a: fit(a, 1), x: fit(x, 0) };
}

/** The schedule of a scan, as d2lrnn.scan.scan_levels has it: [{ distance, targets }], targets counted from 0. */
export function scanLevels(numSteps, method) {
  const distances = [];
  for (let distance = 1; distance < numSteps; distance *= 2) distances.push(distance);
  const level = (distance, first, every) => {
    const targets = [];
    for (let target = first; target < numSteps; target += every) targets.push(target);
    return { distance, targets };
  };
  if (method === "doubling") return distances.map((distance) => level(distance, distance, 1));
  const up = distances.map((distance) => level(distance, 2 * distance - 1, 2 * distance));
  const down = distances.toReversed().map((distance) => level(distance, 3 * distance - 1, 2 * distance));
  return [...up, ...down].filter(({ targets }) => targets.length > 0);
}

const asFloat64 = (value) => value;

/** The states, one after the other; `round` makes another precision of it (Math.fround: float32). */
export function loopStates(a, x, round = asFloat64) {
  let h = 0;
  return x.map((x_t, t) => (h = round(round(round(a[t]) * h) + round(x_t))));
}

/**
 * What stands at each place before the first level and after each: [{ a, b, from }].
 *
 * Place t holds the affine map of the steps from[t] to t, h -> a[t] h + b[t]. After the last level b are the states.
 */
export function scanTrace(a, x, levels, round = asFloat64) {
  let now = { a: a.map(round), b: x.map(round), from: a.map((_, t) => t) };
  const trace = [now];
  for (const { distance, targets } of levels) {
    const next = { a: [...now.a], b: [...now.b], from: [...now.from] };
    for (const t of targets) {
      const s = t - distance;
      next.a[t] = round(now.a[t] * now.a[s]);
      next.b[t] = round(round(now.a[t] * now.b[s]) + now.b[t]);
      next.from[t] = now.from[s];
    }
    trace.push(next);
    now = next;
  }
  return trace;
}

/** Largest difference between loop and scan at the end, in both precisions: { float64, float32 }. */
export function largestDifferences(a, x, levels) {
  const differ = (round) => {
    const loop = loopStates(a, x, round);
    const scan = scanTrace(a, x, levels, round).at(-1).b;
    return loop.reduce((most, h, t) => Math.max(most, Math.abs(h - scan[t])), 0);
  };
  return { float64: differ(asFloat64), float32: differ(Math.fround) };
}

/** What both have done after `step` parallel steps: { turns, work, products } for { loop, scan }. */
export function counts(numSteps, levels, step) {
  const turns = Math.min(step, numSteps - 1);
  const made = levels.slice(0, step);
  const work = made.reduce((sum, { targets }) => sum + targets.length, 0);
  // Nobody asks for the factors of the last level, so that its combinations are one product each.
  const products = 2 * work - (made.length === levels.length ? levels.at(-1).targets.length : 0);
  return { loop: { turns, work: turns, products: turns }, scan: { turns: made.length, work, products } };
}

/** Weights of the inputs 0 to `place` in the state at `place`: the product of the factors after each. */
export function inputWeights(a, place) {
  const weights = [1];
  for (let t = place; t > 0; t -= 1) weights.unshift(weights[0] * a[t]);
  return weights;
}

/** The cells from which the one at (`level`, `place`) is made: one set of places for each level up to it. */
export function kin(levels, level, place) {
  const found = [new Set([place])];
  for (let number = level; number > 0; number -= 1) {
    const { distance, targets } = levels[number - 1];
    const before = new Set(found[0]);
    for (const t of found[0]) if (targets.includes(t)) before.add(t - distance);
    found.unshift(before);
  }
  return found;
}

const ROUNDING = 1e-9;

/** A number for a small box: two places, more where it is tiny, fewer where it is large or short. */
export function formatValue(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (Number.isInteger(size)) return sign + size;
  const short = size >= 0.005 && size < 99.995 && Math.abs(size - Math.round(size * 100) / 100) < ROUNDING;
  if (short) return sign + Number(size.toFixed(2));
  if (size < 0.0005) return sign + size.toExponential(0);
  // Two numbers that differ by rounding alone, one a little below a half and one at it, are to look equal.
  const near = size + ROUNDING;
  return sign + near.toFixed(near < 0.005 ? 3 : near < 99.995 ? 2 : near < 999.95 ? 1 : 0);
}

const raised = (text) => [...text].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");

/** A small difference: 0, or 2.2×10⁻¹⁶. */
export function formatDifference(value) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(1).replace("e+", "e").split("e");
  return `${mantissa}×10${raised(exponent)}`;
}

/**
 * Where everything stands in a figure of `width` pixels.
 *
 * Where there is room, the cells of all levels are boxes with their numbers; else they are dots, and one more column
 * holds the numbers of the level that is reached.
 */
export function layout(width, numSteps, numLevels) {
  const wide = width >= 520;
  const box = wide ? 48 : 40;
  const columns = wide ? { t: 12, a: 72, x: 122, loop: 172 } : { t: 8, a: 47, x: 79, loop: 105 };
  const left = columns.loop + box / 2 + (wide ? 40 : 18);
  const boxes = (width - left - (numLevels + 1) * box) / numLevels >= 24;
  const [first, last] = boxes ? [left + box / 2, width - 1 - box / 2] : [left + 2, width - box - 12];
  const levels = Array.from({ length: numLevels + 1 }, (_, level) => first + ((last - first) * level) / numLevels);
  const row = wide ? 30 : 25;
  const top = 44;
  return {
    wide, box, boxes, columns, levels, row, top, now: width - 1 - box / 2, height: top + row * numSteps + 4,
    y: Array.from({ length: numSteps }, (_, t) => top + row * (t + 0.5)),
  };
}

// ---- links ------------------------------------------------------------------------------------------------------------

export const RULES = {
  a: listRule(numberRule(-MAX_FACTOR, MAX_FACTOR), MAX_STEPS),
  x: listRule(numberRule(-MAX_INPUT, MAX_INPUT), MAX_STEPS),
  method: choiceRule(METHODS),
  step: numberRule(0, MAX_STEPS - 1, { whole: true }),
  place: numberRule(1, MAX_STEPS, { whole: true }),
};

/** As many factors as inputs; a step and a place that there are. */
export function repair(state) {
  const numSteps = Math.min(state.a.length, state.x.length);
  if (numSteps < MIN_STEPS) return repair({ ...state, ...presetValues("fading", 8) });
  const { step, place } = state;
  return {
    ...state, a: state.a.slice(0, numSteps), x: state.x.slice(0, numSteps),
    step: Math.min(step, numSteps - 1), place: Math.min(place, numSteps),
  };
}

// ---- view -------------------------------------------------------------------------------------------------------------

const INTERVAL_MS = 900;

const sub = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
/** A number that stands after a sign. */
const term = (value) => (value < 0 ? `(${formatValue(value)})` : formatValue(value));

/** Everything that is shown follows from the state alone. */
function derive(state) {
  const { a, x, method, step, place } = repair(state);
  const numSteps = a.length;
  const levels = scanLevels(numSteps, method);
  return {
    a, x, method, step, numSteps, levels, place: place - 1, level: Math.min(step, levels.length),
    loop: loopStates(a, x), trace: scanTrace(a, x, levels), kin: kin(levels, Math.min(step, levels.length), place - 1),
  };
}

/** Slider, buttons and clock of the parallel steps. */
function stepper({ t, signal, onStep, current }) {
  const value = element("b");
  const label = element("span", { class: "scan-caption" }, element("span", {}, t("step")), value);
  let timer = 0;
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
    runButton.textContent = t("run");
  };
  const walk = () => {
    timer = setTimeout(() => {
      const next = current().step + 1;
      onStep(next);
      if (next < current().count) walk();
      else stop();
    }, INTERVAL_MS);
  };
  const run = () => {
    if (timer) return stop();
    onStep(0);
    runButton.textContent = t("pause");
    walk();
  };
  const by = (change) => () => {
    stop();
    const step = current().step + change;
    if (step >= 0 && step <= current().count) onStep(step);
  };
  const range = rangeControl({ label, min: 0, max: 1, signal, onInput: (step) => { stop(); onStep(step); } });
  const runButton = buttonControl({ label: t("run"), class: "d2lrnn-button scan-run", signal, onPress: run });
  document.addEventListener("visibilitychange", () => document.hidden && timer && stop(), { signal });
  const node = element(
    "div", { class: "scan-stepper" }, range.node,
    element(
      "div", { class: "scan-buttons" },
      buttonControl({ label: t("previous"), signal, onPress: by(-1) }),
      buttonControl({ label: t("next"), class: "d2lrnn-button scan-next", signal, onPress: by(1) }), runButton,
    ),
  );
  const draw = ({ step, numSteps }) => {
    const text = t("step_of", { step, count: numSteps - 1 });
    value.textContent = text;
    range.input.max = numSteps - 1;
    range.set(step, text);
  };
  return { node, draw, stop, destroy: () => clearTimeout(timer) };
}

/** Turns, work and products of both, so far and in all; the bars of the turns share one scale. */
function countsTable(t) {
  const columns = ["turns", "work", "products"];
  const row = (name) => {
    const bar = element("span", { class: "scan-bar" });
    const track = element("span", { class: "scan-track" }, bar);
    const numbers = columns.map(() => element("span", { class: "scan-number" }));
    const done = element("span", { class: "scan-done" }, t("done"));
    const cells = columns.map((_, i) => element("td", {}, numbers[i], ...(i === 0 ? [" ", done, track] : [])));
    return { name, bar, track, numbers, done, node: element("tr", {}, element("th", { scope: "row" }, t(name)), ...cells) };
  };
  const rows = ["loop", "scan"].map(row);
  const heads = columns.map((name) => element("th", { scope: "col" }, t(`column_${name}`)));
  const node = element(
    "table", { class: "scan-counts" },
    element("thead", {}, element("tr", {}, element("td"), ...heads)), element("tbody", {}, ...rows.map((each) => each.node)),
  );
  const draw = ({ numSteps, levels, step }) => {
    const now = counts(numSteps, levels, step);
    const all = counts(numSteps, levels, numSteps - 1);
    for (const { name, bar, track, numbers, done } of rows) {
      columns.forEach((column, i) => {
        numbers[i].textContent = t("count", { done: now[name][column], all: all[name][column] });
      });
      done.hidden = now[name].turns < all[name].turns;
      track.style.setProperty("width", `${(100 * all[name].turns) / (numSteps - 1)}%`);
      bar.style.setProperty("width", `${(100 * now[name].turns) / all[name].turns}%`);
    }
  };
  return { node, draw };
}

/** The figure: a line for each time step; the loop's column, and the levels of the scan. */
function figure({ t, signal, onPlace }) {
  const picture = svg("svg", { class: "scan-picture", role: "img" });
  const node = element("div", { class: "scan-figure" }, picture);
  let latest = null;
  let width = 0;
  let places = null;
  const draw = (shown) => {
    latest = shown;
    if (width === 0) return;
    places = layout(width, shown.numSteps, shown.levels.length);
    paint(picture, width, places, shown, t);
  };
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    if (latest) draw(latest);
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  picture.addEventListener("click", (event) => {
    const at = event.clientY - picture.getBoundingClientRect().top - places.top;
    const place = Math.floor(at / places.row);
    if (place >= 0 && place < latest.numSteps) onPlace(place + 1);
  }, { signal });
  return { node, draw };
}

function paint(picture, width, places, shown, t) {
  const { columns, box, y, top, row, height } = places;
  const { a, x, numSteps, levels, step, level, place, loop, trace } = shown;
  const parts = [];
  const add = (tag, attributes, ...children) => parts.push(svg(tag, attributes, ...children));
  const text = (string, atX, atY, kind = "", anchor = "middle") =>
    add("text", { class: `scan-text ${kind}`, x: atX.toFixed(1), y: (atY + 4.5).toFixed(1), "text-anchor": anchor }, string);
  const cell = (atX, atY, kind, string) => {
    add("rect", { class: `scan-cell ${kind}`, x: (atX - box / 2).toFixed(1), y: atY - row / 2 + 3, width: box, height: row - 6, rx: 4 });
    if (string !== null) text(string, atX, atY, kind);
  };

  add("rect", { class: "scan-here", x: 0, y: top + row * place, width, height: row, rx: 4 });
  // heads
  text(t("loop"), columns.loop, 10, "scan-head");
  text(t("scan_distance"), places.levels[0] - (places.boxes ? box / 2 : 4), 10, "scan-head", "start");
  text("t", columns.t, 30, "scan-soft");
  text(t("column_a"), columns.a, 30, "scan-soft", "end");
  text(t("column_x"), columns.x, 30, "scan-soft", "end");
  text(t("column_h"), columns.loop, 30, "scan-soft");
  if (places.boxes) text(t("column_start"), places.levels[0], 30, level === 0 ? "scan-level" : "scan-soft");
  else text(t("column_now"), places.now, 30, "scan-soft");
  levels.forEach(({ distance }, i) => {
    const here = i + 1 === level && step <= levels.length;
    text(String(distance), places.levels[i + 1], 30, here ? "scan-level" : "scan-soft");
    if (here) add("path", { class: "scan-mark", d: `M${(places.levels[i + 1] - 6).toFixed(1)} 41h12` });
  });
  // the loop
  const walked = Math.min(step, numSteps - 1);
  for (let s = 0; s < numSteps; s += 1) {
    text(String(s + 1), columns.t, y[s], "scan-soft");
    text(formatValue(a[s]), columns.a, y[s], "scan-given", "end");
    text(formatValue(x[s]), columns.x, y[s], "scan-given", "end");
    if (s > 0) {
      const when = s === walked ? "scan-now" : s < walked ? "scan-past" : "scan-later";
      add("path", { class: `scan-line scan-take ${when}`, d: `M${columns.loop} ${y[s - 1] + row / 2 - 3}v6` });
    }
    if (s <= walked) cell(columns.loop, y[s], s === place ? "scan-state scan-kin" : "scan-state", formatValue(loop[s]));
    else cell(columns.loop, y[s], "scan-open", null);
  }
  // the scan: lines first, so that cells stand on top
  const half = places.boxes ? box / 2 : 5;
  levels.forEach(({ distance, targets }, i) => {
    const [from, to] = [places.levels[i] + half, places.levels[i + 1] - half].map((at) => at.toFixed(1));
    const when = i + 1 === level && step <= levels.length ? "scan-now" : i < level ? "scan-past" : "scan-later";
    for (let s = 0; s < numSteps; s += 1) {
      const taking = targets.includes(s);
      const related = i < level && shown.kin[i + 1].has(s) ? "scan-kin" : "";
      add("path", { class: `scan-line ${taking ? "scan-own" : "scan-keep"} ${when} ${related}`, d: `M${from} ${y[s]}H${to}` });
      if (taking) add("path", { class: `scan-line scan-take ${when} ${related}`, d: `M${from} ${y[s - distance]}L${to} ${y[s]}` });
    }
  });
  trace.forEach(({ b, from }, i) => {
    for (let s = 0; s < numSteps; s += 1) {
      const open = i > level;
      const related = !open && shown.kin[i].has(s) ? " scan-kin" : "";
      const kind = (open ? "scan-open" : from[s] === 0 ? "scan-state" : "scan-part") + related;
      if (places.boxes) cell(places.levels[i], y[s], kind, open ? null : formatValue(b[s]));
      else add("circle", { class: `scan-cell scan-dot ${kind}`, cx: places.levels[i].toFixed(1), cy: y[s], r: 4.5 });
    }
  });
  const now = trace[level];
  if (!places.boxes) {
    for (let s = 0; s < numSteps; s += 1) {
      const kind = now.from[s] === 0 ? "scan-state" : "scan-part";
      cell(places.now, y[s], s === place ? `${kind} scan-kin` : kind, formatValue(now.b[s]));
    }
  }
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("height", height);
  picture.setAttribute("class", places.wide ? "scan-picture" : "scan-picture scan-small");
  picture.setAttribute("aria-label", t("figure", {
    step, count: numSteps - 1, states: walked + 1, steps: numSteps, level, levels: levels.length,
    loop: loop.slice(0, walked + 1).map(formatValue).join(", "), scan: now.b.map(formatValue).join(", "),
  }));
  picture.replaceChildren(...parts);
}

/** What the loop does at this step, and how the cell in hand is combined. */
function handPanel(t) {
  const lines = { loop: element("div"), scan: element("div") };
  const titles = { loop: element("p", { class: "scan-title" }), scan: element("p", { class: "scan-title" }) };
  const node = element(
    "div", { class: "scan-hands" },
    ...["loop", "scan"].map((name) => element("div", { class: "scan-hand" }, titles[name], lines[name])),
  );
  const span = (from, to) => (from === to ? t("span_one", { to: to + 1 }) : t("span", { from: from + 1, to: to + 1 }));

  const loopLines = ({ a, x, loop, step, numSteps }) => {
    if (step === 0) return [t("loop_start", { h: formatValue(loop[0]) })];
    const s = Math.min(step, numSteps - 1);
    const numbers = { a: formatValue(a[s]), h_before: term(loop[s - 1]), x: term(x[s]), h: formatValue(loop[s]) };
    return [t("loop_law", { t: sub(s + 1), before: sub(s) }), t("loop_numbers", numbers)];
  };
  const scanLines = ({ levels, level, step, place, trace }) => {
    const after = trace[level];
    const reached = after.from[place] === 0;
    const state = reached ? [t("is_state", { b: formatValue(after.b[place]), t: sub(place + 1) })] : [];
    const { distance, targets } = level > 0 ? levels[level - 1] : { distance: 0, targets: [] };
    if (!targets.includes(place) || step > levels.length) {
      const pair = { a: formatValue(after.a[place]), b: formatValue(after.b[place]), span: span(after.from[place], place) };
      return [t("keeps", pair), ...state];
    }
    const before = trace[level - 1];
    const s = place - distance;
    return [
      t("law"),
      t("law_pair", {
        earlier: span(before.from[s], s), a: formatValue(before.a[s]), b: formatValue(before.b[s]),
        later: span(before.from[place], place), a2: formatValue(before.a[place]), b2: formatValue(before.b[place]),
      }),
      t("law_result", {
        a2: formatValue(before.a[place]), a: term(before.a[s]), b: term(before.b[s]), b2: term(before.b[place]),
      }),
      t("law_span", {
        a3: formatValue(after.a[place]), b3: formatValue(after.b[place]), span: span(after.from[place], place),
      }),
      ...state,
    ];
  };
  const scanTitle = ({ levels, level, step, place }) => {
    const waited = step - levels.length;
    if (waited > 1) return t("hand_scan_done", { t: place + 1, count: waited });
    if (waited === 1) return t("hand_scan_done_one", { t: place + 1 });
    return level === 0 ? t("hand_scan_start", { t: place + 1 }) : t("hand_scan", { t: place + 1, level });
  };
  const draw = (shown) => {
    titles.loop.textContent = t(shown.step === shown.numSteps - 1 ? "hand_loop_done" : "hand_loop");
    titles.scan.textContent = scanTitle(shown);
    const made = scanLines(shown);
    lines.loop.replaceChildren(...loopLines(shown).map((line) => element("p", {}, line)));
    lines.scan.replaceChildren(...made.map((line) => element("p", {}, line)));
    return made.join(" ");
  };
  return { node, draw };
}

/** The inputs of the state in hand with their weights; solid where they have reached the scan's cell. */
function weightsPanel(t) {
  const title = element("p", { class: "scan-made" });
  const list = element("ol", { class: "scan-weights" });
  const node = element("div", {}, title, element("p", { class: "scan-hint" }, t("made_of_hint")), list);
  const draw = ({ a, loop, place, level, trace }) => {
    title.textContent = t("made_of", { t: sub(place + 1), h: formatValue(loop[place]) });
    const from = trace[level].from[place];
    const weights = inputWeights(a, place);
    const longest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1);
    list.replaceChildren(...weights.map((weight, s) => {
      const bar = element("span", { class: weight < 0 ? "scan-weight-bar scan-weight-negative" : "scan-weight-bar" });
      bar.style.setProperty("width", `${((100 * Math.abs(weight)) / longest).toFixed(1)}%`);
      const waiting = s < from ? [element("span", { class: "d2lrnn-hidden" }, " ", t("not_yet"))] : [];
      const name = t("weight", { weight: formatValue(weight), t: sub(s + 1) });
      return element("li", { class: s < from ? "scan-waiting" : "" }, name, ...waiting, bar);
    }));
  };
  return { node, draw };
}

/** What the suggested experiment shows. */
function expectation(t) {
  const work = (levels) => levels.reduce((sum, { targets }) => sum + targets.length, 0);
  const [eight, sixteen] = [8, 16].map((numSteps) => scanLevels(numSteps, "doubling"));
  const sweeps = scanLevels(16, "two-sweep");
  return t("expect", {
    loop_8: 7, loop_16: 15, levels_8: eight.length, levels_16: sixteen.length, work_8: work(eight), work_16: work(sixteen),
    sweeps_16: sweeps.length, sweep_work_16: work(sweeps),
  });
}

function buildView({ el, t, signal, commit, reset, say, link }) {
  let shown = null; // what is on the screen
  const steps = stepper({
    t, signal, onStep: (step) => commit({ step }), current: () => ({ step: shown.step, count: shown.numSteps - 1 }),
  });
  /** Whatever the reader sets ends a run. */
  const set = (values) => {
    steps.stop();
    commit(values);
  };
  const setNumber = (name, value) => set({ [name]: shown[name].map((old, i) => (i === shown.place ? value : old)) });

  const exampleNames = [...PRESETS, "own"].map((name) => [name, t(`example_${name}`)]);
  const example = selectControl({
    label: t("example"), options: exampleNames, signal,
    onChange: (name) => (name === "own" ? drawControls() : set(presetValues(name, shown.numSteps))),
  });
  const method = selectControl({
    label: t("method"), options: METHODS.map((name) => [name, t(`method_${name}`)]), signal,
    onChange: (name) => set({ method: name }),
  });
  const caption = (name) => {
    const value = element("b");
    return { value, label: element("span", { class: "scan-caption" }, element("span", {}, t(name)), value) };
  };
  const length = caption("length");
  const lengthRange = rangeControl({
    label: length.label, min: MIN_STEPS, max: MAX_STEPS, signal,
    onInput: (numSteps) => {
      const atEnd = shown.place === shown.numSteps - 1; // who looks at the last time step goes on looking at the last
      set({
        ...resized(shown, numSteps), step: Math.min(shown.step, numSteps - 1),
        place: atEnd ? numSteps : Math.min(shown.place + 1, numSteps),
      });
    },
  });
  const look = caption("look");
  const lookRange = rangeControl({ label: look.label, min: 1, max: 2, signal, onInput: (place) => commit({ place }) });
  const numberSlider = (name, bound, step) => {
    const label = element("span");
    const value = element("b");
    const range = rangeControl({
      label: element("span", { class: "scan-caption" }, label, value), min: -bound, max: bound, step, signal,
      onInput: (number) => setNumber(name, number),
    });
    return { label, value, range };
  };
  const factor = numberSlider("a", MAX_FACTOR, 0.1);
  const input = numberSlider("x", MAX_INPUT, 0.5);
  const resetButton = buttonControl({ label: t("reset"), class: "d2lrnn-button scan-reset", signal, onPress: () => { steps.stop(); reset(); } });

  const table = countsTable(t);
  const picture = figure({ t, signal, onPlace: (place) => commit({ place }) });
  const hands = handPanel(t);
  const weights = weightsPanel(t);
  const equal = element("p", { class: "scan-equal" });
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(expectation(t));
  el.append(element(
    "div", { class: "scan" },
    element("div", { class: "scan-settings" }, example.node, method.node, lengthRange.node, resetButton),
    steps.node, table.node, picture.node,
    element("div", { class: "scan-chosen" }, lookRange.node, factor.range.node, input.range.node),
    hands.node, weights.node, equal, foot.node,
  ));

  const drawControls = () => {
    const { a, x, numSteps, place } = shown;
    example.set(presetOf(shown) ?? "own");
    method.set(shown.method);
    length.value.textContent = `T = ${numSteps}`;
    lengthRange.set(numSteps, t("length_value", { count: numSteps }));
    const at = t("place_value", { t: place + 1 });
    look.value.textContent = at;
    lookRange.input.max = numSteps;
    lookRange.set(place + 1, at);
    for (const [slider, values, word] of [[factor, a, "factor"], [input, x, "input"]]) {
      slider.label.textContent = t(word, { t: sub(place + 1) });
      slider.value.textContent = formatValue(values[place]);
      slider.range.set(values[place], formatValue(values[place]));
    }
  };
  const drawEqual = ({ a, x, levels, loop }) => {
    const { float64, float32 } = largestDifferences(a, x, levels);
    const largest = formatValue(Math.max(...loop.map(Math.abs)));
    equal.textContent = float64 === 0 && float32 === 0
      ? t("equal_exact")
      : t("equal_rounding", { float64: formatDifference(float64), float32: formatDifference(float32), largest });
  };
  const spoken = ({ step, numSteps, level, levels }) =>
    t(level === levels.length ? "spoken_done" : "spoken", {
      step, count: numSteps - 1, states: step + 1, steps: numSteps, level, levels: levels.length,
    });

  const draw = (state) => {
    const before = shown;
    shown = derive(state);
    drawControls();
    steps.draw(shown);
    table.draw(shown);
    picture.draw(shown);
    const inHand = hands.draw(shown);
    weights.draw(shown);
    drawEqual(shown);
    if (before === null) return; // the reader has done nothing yet
    say(before.place === shown.place ? spoken(shown) : inHand);
  };
  return { draw, destroy: steps.destroy };
}

export default explorable({
  words: SPEC.words, traits: ["a", "x", "method", "step", "place"], build: buildView, rules: RULES, repair,
});
