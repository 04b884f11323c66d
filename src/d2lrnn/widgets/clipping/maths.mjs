// Clipping a gradient of two weights: the same as Python's Clipping.

const DEGREES = 180 / Math.PI;

/** An example of a loss, along the gradient's direction: a wide valley beside a cliff. */
export const lossAt = (u) => 2.5 * Math.log1p(Math.exp(4 * u)) + 0.1 * u * u;
/** Its slope, which only grows. */
export const slopeAt = (u) => 10 / (1 + Math.exp(-4 * u)) + 0.2 * u;

/** Where the example's slope is as long as a gradient. */
export function placeOf(slope) {
  let [low, high] = [-3, 3];
  for (let i = 0; i < 50; i += 1) {
    const middle = (low + high) / 2;
    if (slopeAt(middle) < slope) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The gradient's length, what clipping makes of it, by how much that turns it, and where a step of learning rate 1 leads. */
export function derive(state) {
  const { g_1, g_2, clip, by } = state;
  const length = Math.hypot(g_1, g_2);
  const factor = length > clip ? clip / length : 1;
  const within = (value) => Math.min(clip, Math.max(-clip, value));
  const clipped = by === "norm" ? [g_1 * factor, g_2 * factor] : [within(g_1), within(g_2)];
  const cross = g_1 * clipped[1] - g_2 * clipped[0];
  const dot = g_1 * clipped[0] + g_2 * clipped[1];
  const from = placeOf(length);
  return {
    ...state, from, free: from - length, kept: from - (length > 0 ? dot / length : 0), length, factor, clipped, clippedLength: Math.hypot(...clipped),
    angle: by === "norm" ? 0 : Math.abs(Math.atan2(cross, dot)) * DEGREES,
    acts: by === "norm" ? length > clip : Math.max(Math.abs(g_1), Math.abs(g_2)) > clip,
  };
}

/** A number with a true minus sign, and never a minus before a zero. */
export function signed(value, decimals = 1) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) > 0 ? `−${text}` : text;
}
