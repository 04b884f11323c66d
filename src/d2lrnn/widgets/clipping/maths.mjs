// The loss of the smallest recurrent network, ten steps down it, clipped and not clipped, and the clipping of a gradient of two weights: the same as Python's Clipping.
import SPEC from "./spec.json" with { type: "json" };

const DEGREES = 180 / Math.PI;

export const STEPS = 10;
export const RATE = 0.01; // the learning rate
const { choices, highest: highests } = SPEC.controls.letters;
export const FEW = choices[0]; // letters
const HIGHEST = Object.fromEntries(choices.map((letters, i) => [letters, highests[i]])); // starts for so many letters: a step from higher leads out of the picture
const RESTS = 0.005; // such a loss is told as 0.00: the ball is down
export const PATIENCE = 10_000; // steps after which nobody counts on

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

/** How many steps bring the ball down, where it stays; null where it is not down after PATIENCE. */
export function stepsDown(start, letters, limit = Infinity) {
  let [weight, down] = [start, null];
  for (let step = 0; step <= PATIENCE; step += 1) {
    if (lossAt(weight, letters) < RESTS) down ??= step;
    else if (down !== null) return null;
    const next = after(weight, letters, limit);
    if (next === weight) break;
    weight = next;
  }
  return down;
}

/** Where it is after the steps that are drawn: at "rest" in the valley, still on the "wall", or on the "plateau", where a step may have "thrown" it; or it "swings" across the valley. */
function endOf(path, down) {
  if (down !== null && down <= STEPS) return "rest";
  if (path.some((weight, i) => weight > 1 && path[i - 1] < 1)) return "swings";
  if (path.at(-1) > 1) return "wall";
  return path[0] > 1 ? "thrown" : "plateau";
}

/** Both paths, and how they end; the gradient's length, what clipping makes of it, and by how much that turns it. */
export function derive(state) {
  const { letters, g_1, g_2, clip, by } = state;
  const highest = HIGHEST[letters];
  const start = Math.min(state.start, highest);
  const [free, kept] = [Infinity, clip].map((limit) => pathFrom(start, letters, limit));
  const [freeDown, keptDown] = [Infinity, clip].map((limit) => stepsDown(start, letters, limit));
  const length = Math.hypot(g_1, g_2);
  const factor = length > clip ? clip / length : 1;
  const clipped = by === "norm" ? [g_1 * factor, g_2 * factor] : [within(g_1, clip), within(g_2, clip)];
  const angle = by === "norm" ? 0 : Math.abs(Math.atan2(g_1 * clipped[1] - g_2 * clipped[0], g_1 * clipped[0] + g_2 * clipped[1])) * DEGREES;
  const acts = by === "norm" ? length > clip : Math.max(Math.abs(g_1), Math.abs(g_2)) > clip;
  return {
    ...state, start, highest, free, kept, freeEnd: endOf(free, freeDown), keptEnd: endOf(kept, keptDown), cuts: free.some((x, i) => x !== kept[i]),
    loss: lossAt(start, letters), slope: Math.abs(slopeAt(start, letters)), freeDown, keptDown,
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
