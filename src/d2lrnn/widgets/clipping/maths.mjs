// The loss of the smallest recurrent network, ten steps down it, clipped and not clipped, and the clipping of a gradient of two weights: the same as Python's Clipping.
import SPEC from "./spec.json" with { type: "json" };

const DEGREES = 180 / Math.PI;

export const STEPS = 10;
export const RATE = 0.01; // the learning rate
const { choices, highest: highests } = SPEC.controls.letters;
export const FEW = choices[0]; // letters
const HIGHEST = Object.fromEntries(choices.map((letters, i) => [letters, highests[i]])); // starts for so many letters: a step from higher leads out of the picture
export const RESTS = 0.005; // such a loss is told as 0.00: the ball is at the goal
export const PATIENCE = 10_000; // steps after which nobody counts on
const LAST = 100; // of them

/** One weight multiplies the state, 1 at first, at every letter; in the end it should be 1 again. */
export const lossAt = (weight, letters) => (weight ** letters - 1) ** 2 / 2;
export const slopeAt = (weight, letters) => letters * weight ** (letters - 1) * (weight ** letters - 1);
export const within = (value, max, min = -max) => Math.min(max, Math.max(min, value));
const after = (weight, letters, limit) => weight - RATE * within(slopeAt(weight, letters), limit);

/** The weight before and after each step. */
export function pathFrom(start, letters, limit = Infinity) {
  const path = [start];
  while (path.length <= STEPS) path.push(after(path.at(-1), letters, limit));
  return path;
}

/** The weights of the goal. */
export const goalOf = (letters) => [-1, 1].map((sign) => (1 + sign * Math.sqrt(2 * RESTS)) ** (1 / letters));
export const FLAT = 1; // on the plateau, the slope is below this
/** Where the plateau ends. */
export function plateauTo(letters) {
  let [from, to] = [0, ((letters - 1) / (2 * letters - 1)) ** (1 / letters)]; // up to the steepest place left of the goal
  for (let i = 0; i < 50; i += 1) {
    const middle = (from + to) / 2;
    if (-slopeAt(middle, letters) < FLAT) from = middle;
    else to = middle;
  }
  return from;
}

/** In PATIENCE steps: how many bring the ball to the goal, where it stays; the first that leads up over the valley, from its left to its right; null where none does; the last that the limit cuts; whether the ball rests by luck, exactly at 1, where beside it steps lead out of the goal; and of a ball that does not stay, the widest of its LAST leaps across the goal. */
export function runFrom(start, letters, limit = Infinity) {
  let [weight, down, across, leaves, cut, leap] = [start, null, null, false, null, [1, 1]];
  for (let step = 0; step <= PATIENCE; step += 1) {
    if (lossAt(weight, letters) < RESTS) down ??= step;
    else leaves ||= down !== null;
    if (Math.abs(slopeAt(weight, letters)) > limit) cut = step + 1;
    const next = after(weight, letters, limit);
    if (weight < 1 && next > 1) across ??= step + 1;
    if (step >= PATIENCE - LAST && step < PATIENCE && weight < 1 !== next < 1 && Math.abs(next - weight) > Math.abs(leap[1] - leap[0])) leap = [weight, next];
    if (next === weight) break;
    weight = next;
  }
  const rests = !leaves && down !== null;
  const lucky = rests && RATE * letters ** 2 > 2 && lossAt(1 - RATE * limit, letters) > RESTS && Math.abs(weight - 1) < 1e-9;
  return { down: rests ? down : null, across, cut, lucky, leap: rests || across === null ? null : leap };
}

/** What the ball does: it is at the "goal" from the start; it comes to "rest" there, or goes "past" it first; it is "thrown" over the valley, onto the plateau; in the steps that are drawn it stays on the "wall", or on the "plateau"; or it "swings" across, or does so "late", after them; "uncut" where a limit cuts steps, but none from there on. */
function endOf(path, { down, across, cut }, letters) {
  const [start, [left, right]] = [path[0], goalOf(letters)];
  if (down === 0) return "goal";
  if (down === null && across !== null) return cut !== null && across > cut ? "uncut" : across <= STEPS ? "swings" : "late";
  if (start > 1 && Math.min(...path) < plateauTo(letters)) return "thrown";
  if (path.at(-1) > right) return "wall";
  if (start < 1 && !(down !== null && down <= STEPS)) return "plateau";
  return start > 1 && Math.min(...path) < left ? "past" : "rest"; // from the left, no step is so long
}

/** Both paths, and how they end; the gradient's length, what clipping makes of it, and by how much that turns it. */
export function derive(state) {
  const { letters, g_1, g_2, clip, by } = state;
  const highest = HIGHEST[letters];
  const start = Math.min(state.start, highest);
  const [free, kept] = [Infinity, clip].map((limit) => pathFrom(start, letters, limit));
  const [freeRun, keptRun] = [Infinity, clip].map((limit) => runFrom(start, letters, limit));
  const length = Math.hypot(g_1, g_2);
  const factor = length > clip ? clip / length : 1;
  const clipped = by === "norm" ? [g_1 * factor, g_2 * factor] : [within(g_1, clip), within(g_2, clip)];
  const angle = by === "norm" ? 0 : Math.abs(Math.atan2(g_1 * clipped[1] - g_2 * clipped[0], g_1 * clipped[0] + g_2 * clipped[1])) * DEGREES;
  const acts = by === "norm" ? length > clip : Math.max(Math.abs(g_1), Math.abs(g_2)) > clip;
  return {
    ...state, start, highest, isLower: state.start > highest, free, kept, freeEnd: endOf(free, freeRun, letters), keptEnd: endOf(kept, keptRun, letters), cuts: keptRun.cut !== null, lucky: keptRun.lucky,
    loss: lossAt(start, letters), slope: Math.abs(slopeAt(start, letters)),
    freeDown: freeRun.down, keptDown: keptRun.down, freeAcross: freeRun.across, keptAcross: keptRun.across, freeLeap: freeRun.leap, keptLeap: keptRun.leap,
    length, factor, clipped, clippedLength: Math.hypot(...clipped), angle, acts,
  };
}

/** A number with a true minus sign, and never a minus before a zero. */
export function signed(value, decimals = 1) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) > 0 ? `−${text}` : text;
}

/** A number without zeros at its end. */
export const brief = (value, decimals = 3) => String(Number(value.toFixed(decimals)));

/** How steep, in two digits or as a whole number. */
export function slopeIn(slope) {
  const size = Math.abs(slope);
  if (size > 0 && size < 1e-4) return "< 0.0001";
  return size < 100 ? String(Number(size.toPrecision(2))) : size.toFixed(0);
}
