// The loss of the smallest recurrent network, ten steps down it, clipped and not clipped, and the clipping of a gradient of two weights: the same as Python's Clipping.

const DEGREES = 180 / Math.PI;

export const STEPS = 10;
export const RATE = 0.01; // the learning rate
export const LETTERS = 10;
export const MORE_LETTERS = 20; // of a step
const RESTS = 0.005; // such a loss is told as 0.00: the ball is down
export const PATIENCE = 10_000; // steps after which nobody counts on

/** One weight multiplies the state, 1 at first, at every letter; in the end it should be 1 again. */
export const lossAt = (weight, letters = LETTERS) => (weight ** letters - 1) ** 2 / 2;
export const slopeAt = (weight, letters = LETTERS) => letters * weight ** (letters - 1) * (weight ** letters - 1);
export const within = (value, max, min = -max) => Math.min(max, Math.max(min, value));
const after = (weight, limit) => weight - RATE * within(slopeAt(weight), limit);

/** The weight before and after each step. */
export function pathFrom(start, limit = Infinity) {
  const path = [start];
  while (path.length <= STEPS) path.push(after(path.at(-1), limit));
  return path;
}

/** How many steps bring the ball down; null where more than PATIENCE do, or none. */
export function stepsDown(start, limit = Infinity) {
  let weight = start;
  for (let step = 0; step <= PATIENCE; step += 1) {
    if (lossAt(weight) < RESTS) return step;
    weight = after(weight, limit);
  }
  return null;
}

/** Where it is after the steps that are drawn: at "rest" in the valley, still on the "wall", or on the "plateau", where a step may have "thrown" it. */
function endOf(path, down) {
  if (down !== null && down <= STEPS) return "rest";
  if (path.at(-1) > 1) return "wall";
  return path[0] > 1 ? "thrown" : "plateau";
}

/** Both paths, and how they end; the gradient's length, what clipping makes of it, and by how much that turns it. */
export function derive(state) {
  const { start, g_1, g_2, clip, by } = state;
  const [free, kept] = [pathFrom(start), pathFrom(start, clip)];
  const [freeDown, keptDown] = [stepsDown(start), stepsDown(start, clip)];
  const length = Math.hypot(g_1, g_2);
  const factor = length > clip ? clip / length : 1;
  const clipped = by === "norm" ? [g_1 * factor, g_2 * factor] : [within(g_1, clip), within(g_2, clip)];
  const angle = by === "norm" ? 0 : Math.abs(Math.atan2(g_1 * clipped[1] - g_2 * clipped[0], g_1 * clipped[0] + g_2 * clipped[1])) * DEGREES;
  const acts = by === "norm" ? length > clip : Math.max(Math.abs(g_1), Math.abs(g_2)) > clip;
  return {
    ...state, free, kept, freeEnd: endOf(free, freeDown), keptEnd: endOf(kept, keptDown), cuts: free.some((x, i) => x !== kept[i]),
    loss: lossAt(start), slope: Math.abs(slopeAt(start)), freeDown, keptDown,
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
export const slopeIn = (slope) => (Math.abs(slope) < 100 ? String(Number(Math.abs(slope).toPrecision(2))) : Math.abs(slope).toFixed(0));
