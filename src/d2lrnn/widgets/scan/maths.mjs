// The scan, as pure mathematics: the same numbers as d2lrnn.study.scan and as Python's Scan.
import SPEC from "./spec.json" with { type: "json" };

export const MIN_STEPS = 2;
export const MAX_STEPS = SPEC.controls.a.max;
export const METHODS = SPEC.controls.method.choices;
export const PRESETS = Object.keys(SPEC.presets);

const repeated = (values, numSteps) => Array.from({ length: numSteps }, (_, i) => values[i % values.length]);

/** Factors and inputs of an example: { a, x }, `numSteps` of each; a short list goes round. */
export function presetValues(name, numSteps) {
  const { a, x } = SPEC.presets[name];
  return { a: repeated(a, numSteps), x: repeated(x, numSteps) };
}

/** The example with these values; null if they are the reader's own. */
export function presetOf({ a, x }) {
  const equal = (values, others) => values.length === others.length && values.every((value, i) => value === others[i]);
  return PRESETS.find((name) => {
    const example = presetValues(name, a.length);
    return equal(example.a, a) && equal(example.x, x);
  }) ?? null;
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

/**
 * Largest difference between loop and scan at the end, in both precisions, as a share of the largest state that the loop has
 * had by then: { float64, float32 }; 0 where all are 0.
 */
export function largestShares(a, x, levels) {
  const share = (round) => {
    const loop = loopStates(a, x, round);
    const scan = scanTrace(a, x, levels, round).at(-1).b;
    let top = 0;
    return loop.reduce((most, h, t) => {
      top = Math.max(top, Math.abs(h));
      return h === scan[t] ? most : Math.max(most, Math.abs(h - scan[t]) / Math.max(top, Math.abs(scan[t])));
    }, 0);
  };
  return { float64: share(asFloat64), float32: share(Math.fround) };
}

/** What both have done after `step` parallel steps: { turns, work, products } for { loop, scan }. */
export function counts(numSteps, levels, step) {
  const turns = Math.min(step, numSteps - 1);
  const made = levels.slice(0, step);
  const work = made.reduce((sum, { targets }) => sum + targets.length, 0);
  // A cell that holds a state needs no factor: it is one product, any other two.
  let from = Array.from({ length: numSteps }, (_, t) => t);
  let products = 0;
  for (const { distance, targets } of made) {
    const next = [...from];
    for (const t of targets) {
      next[t] = from[t - distance];
      products += next[t] === 0 ? 1 : 2;
    }
    from = next;
  }
  return { loop: { turns, work: turns, products: turns }, scan: { turns: made.length, work, products } };
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

/** What a cell was made from: places of the loop, places of each level of the scan, and of the inputs. */
export function coneOf({ levels }, { level, place }) {
  if (level < 0) {
    const chain = new Set(Array.from({ length: place + 1 }, (_, t) => t));
    return { loop: chain, scan: [], inputs: chain };
  }
  const scan = kin(levels, level, place);
  return { loop: new Set(), scan, inputs: scan[0] };
}

export const ROUNDING = 1e-9;

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A positive number with so many digits after the point: 2.3×10⁹. */
export function scientific(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits).split("e");
  return `${mantissa}×10${[...exponent.replace("+", "")].map((sign) => (sign === "-" ? "⁻" : RAISED[sign])).join("")}`;
}

/** The number that a text of these shows. */
export const numberIn = (text) => Number(text.replace("−", "-").replace(/×10(.+)/, (_, raised) => `e${[...raised].map((sign) => (sign === "⁻" ? "-" : RAISED.indexOf(sign))).join("")}`));

/** A number for a small box: two places, more where it is tiny, fewer where it is large or short. */
export function formatValue(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size >= 99_999.5) return sign + scientific(size, 1);
  if (Number.isInteger(size)) return sign + size;
  const short = size >= 0.005 && size < 99.995 && Math.abs(size - Math.round(size * 100) / 100) < ROUNDING;
  if (short) return sign + Number(size.toFixed(2));
  if (size < 0.0005) return sign + scientific(size, 0);
  // Two numbers that differ by rounding alone, one a little below a half and one at it, are to look equal.
  const near = size + ROUNDING;
  return sign + near.toFixed(near < 0.005 ? 3 : near < 99.995 ? 2 : near < 999.95 ? 1 : 0);
}

/** A small difference: 0, or 2.2×10⁻¹⁶. */
export const formatDifference = (value) => (value === 0 ? "0" : scientific(value, 1));

/** As many factors as inputs; a tick and a place that there are. */
export function repair(state) {
  const numSteps = Math.min(state.a.length, state.x.length);
  if (numSteps < MIN_STEPS) return repair({ ...state, ...presetValues("fading", 8) });
  return {
    ...state, a: state.a.slice(0, numSteps), x: state.x.slice(0, numSteps),
    step: Math.min(state.step, numSteps - 1), place: Math.min(state.place, numSteps),
  };
}

/**
 * Everything that is shown follows from the state alone.
 *
 * `walked`: the last place that the loop has reached; `level`: the last level of the scan; `states`: how many states
 * either has; `joined`: how many more places hold several steps; `cell`: the one in hand, { level, place } with level -1
 * for the loop, null where it is still empty.
 */
export function derive(state) {
  const { a, x, method, step, place, level: wished } = repair(state);
  const numSteps = a.length;
  const levels = scanLevels(numSteps, method);
  const walked = Math.min(step, numSteps - 1);
  const level = Math.min(step, levels.length);
  const trace = scanTrace(a, x, levels);
  const held = { level: Math.min(wished, level), place: place - 1 };
  const empty = held.place < 0 || (held.level < 0 && held.place > walked);
  return {
    a, x, method, step: walked, numSteps, levels, level, walked, loop: loopStates(a, x), trace, cell: empty ? null : held,
    states: { loop: walked + 1, scan: trace[level].from.filter((from) => from === 0).length },
    joined: { loop: 0, scan: trace[level].from.filter((from, place) => from > 0 && from < place).length },
    done: { loop: walked === numSteps - 1, scan: level === levels.length },
  };
}
