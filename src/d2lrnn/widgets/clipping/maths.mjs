// Ten steps down a valley, clipped and not clipped, and the clipping of a gradient of two weights: the same as Python's Clipping.

const DEGREES = 180 / Math.PI;

export const STEPS = 10;
export const EDGE = 4.4; // the picture ends there
const RESTS = 0.005; // such a loss is told as 0.00: the ball is down
const PATIENCE = 1000; // steps after which a ball that is not down is told never to come down

/** An example of a loss of one weight: a valley whose walls get steeper. */
export const lossAt = (x) => x * x * (0.4 + 0.0375 * x * x);
export const slopeAt = (x) => x * (0.8 + 0.15 * x * x);
export const within = (value, max, min = -max) => Math.min(max, Math.max(min, value));

/** The weight before and after each step of learning rate 1, until the ball leaves the picture. */
export function pathFrom(start, limit = Infinity) {
  const path = [start];
  while (path.length <= STEPS && Math.abs(path.at(-1)) <= EDGE) path.push(path.at(-1) - within(slopeAt(path.at(-1)), limit));
  return path;
}

/** How many steps bring the ball down, however many that are; null where it flies out or never comes down. */
export function stepsDown(start, limit = Infinity) {
  let place = start;
  for (let step = 0; step <= PATIENCE; step += 1) {
    if (lossAt(place) < RESTS) return step;
    if (Math.abs(place) > EDGE) return null;
    place -= within(slopeAt(place), limit);
  }
  return null;
}

/** How it ends: "out" of the picture, down at "rest" within the steps that are drawn, "slow" where it needs more, or it still "jumps". */
function endOf(path, down) {
  if (Math.abs(path.at(-1)) > EDGE) return "out";
  if (down === null) return "jumps";
  return down <= STEPS ? "rest" : "slow";
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
