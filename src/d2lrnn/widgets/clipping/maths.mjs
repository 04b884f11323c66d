// Clipping a gradient of two weights: the same as Python's Clipping.

const DEGREES = 180 / Math.PI;

const STEEPEST = 9; // more than the longest gradient
const [FOOT, TOP] = [0.3, 0.4]; // how soon the cliff is flat, in the valley and on the plateau
const WALL = 1.3; // how steep the valley's other side becomes
const FLAT = 3; // as good as flat

/** An example of a loss, along the gradient's direction: a wide valley, a cliff, and a plateau above it. Sideways it stays the same. */
export const lossAt = (u) => (u < 0
  ? WALL * (Math.hypot(1, u) - 1) + STEEPEST * FOOT * Math.exp(u / FOOT)
  : STEEPEST * (FOOT + TOP * (1 - Math.exp(-u / TOP))));
/** Where on the cliff or the plateau the example's slope is as long as a gradient. */
export const placeOf = (slope) => Math.min(FLAT, TOP * Math.log(STEEPEST / slope));
/** How steep it is there; in the valley, negative where it goes down to the right. */
export const slopeAtPlace = (u) => (u < 0 ? (WALL * u) / Math.hypot(1, u) + STEEPEST * Math.exp(u / FOOT) : STEEPEST * Math.exp(-u / TOP));
/** Where a step of learning rate 1, clipped by its norm, leads from a place. */
export const stepFrom = (u, clip) => u - Math.min(clip, Math.max(-clip, slopeAtPlace(u)));

/** What the sentence on top says: how the step as it is ends, and the clipped one. */
function fateOf({ length, acts, loss, freeLoss, keptLoss }) {
  const [start, free, kept] = [loss, freeLoss, keptLoss].map((value) => value.toFixed(2));
  if (length === 0) return "none";
  if (!acts) return start === free ? "within_same" : freeLoss > loss ? "within_rises" : "within_falls";
  if (freeLoss <= loss) return "both";
  return Number(kept) < Number(start) ? "saves" : "still";
}

/** The gradient's length, what clipping makes of it, by how much that turns it, and where a step of learning rate 1 leads, along the gradient and sideways. */
export function derive(state) {
  const { g_1, g_2, clip, by } = state;
  const length = Math.hypot(g_1, g_2);
  const factor = length > clip ? clip / length : 1;
  const within = (value) => Math.min(clip, Math.max(-clip, value));
  const clipped = by === "norm" ? [g_1 * factor, g_2 * factor] : [within(g_1), within(g_2)];
  const cross = g_1 * clipped[1] - g_2 * clipped[0];
  const dot = g_1 * clipped[0] + g_2 * clipped[1];
  const angle = by === "norm" ? 0 : Math.abs(Math.atan2(cross, dot)) * DEGREES;
  const clippedLength = Math.hypot(...clipped);
  const acts = by === "norm" ? length > clip : Math.max(Math.abs(g_1), Math.abs(g_2)) > clip;
  const from = placeOf(length);
  const free = from - length;
  const kept = length > 0 ? from - dot / length : from;
  const model = {
    ...state, from, free, kept, length, factor, clipped, clippedLength, angle, acts, sideways: length > 0 ? Math.abs(cross) / length : 0,
    loss: lossAt(from), freeLoss: lossAt(free), keptLoss: lossAt(kept),
  };
  return { ...model, fate: fateOf(model) };
}

/** A number with a true minus sign, and never a minus before a zero. */
export function signed(value, decimals = 1) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) > 0 ? `−${text}` : text;
}
