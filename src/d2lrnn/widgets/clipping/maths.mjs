// Clipping a gradient of two weights: the same as Python's Clipping.

const DEGREES = 180 / Math.PI;

/** The gradient's length, what clipping makes of it, and by how much that turns it. */
export function derive(state) {
  const { g_1, g_2, clip, by } = state;
  const length = Math.hypot(g_1, g_2);
  const factor = length > clip ? clip / length : 1;
  const within = (value) => Math.min(clip, Math.max(-clip, value));
  const clipped = by === "norm" ? [g_1 * factor, g_2 * factor] : [within(g_1), within(g_2)];
  const cross = g_1 * clipped[1] - g_2 * clipped[0];
  const dot = g_1 * clipped[0] + g_2 * clipped[1];
  return {
    ...state, length, factor, clipped, clippedLength: Math.hypot(...clipped),
    angle: by === "norm" ? 0 : Math.abs(Math.atan2(cross, dot)) * DEGREES,
    acts: by === "norm" ? length > clip : Math.max(Math.abs(g_1), Math.abs(g_2)) > clip,
  };
}

/** A number with a true minus sign, and never a minus before a zero. */
export function signed(value, decimals = 1) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) > 0 ? `−${text}` : text;
}
