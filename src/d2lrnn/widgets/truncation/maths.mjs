// Truncated backpropagation through time, in plain numbers: each step back keeps the same share of the gradient.
export const NUM_LOSSES = 12;
/** The two ways to cut: start again every τ steps, or go back τ steps from each loss. */
export const WAYS = ["windows", "losses"];

/** How many steps, its own included, each of the losses reaches. */
export function reachesOf(tau, way) {
  return Array.from({ length: NUM_LOSSES }, (_, row) => (way === "windows" ? (row % tau) + 1 : tau));
}

/** Every number of the page. The past has no end: cut after j steps, a loss loses factor ** j of the sum of its terms. */
export function derive({ tau, factor }) {
  const sizes = Array.from({ length: NUM_LOSSES }, (_, lag) => factor ** lag);
  const byReach = sizes.map((size) => size * factor);
  const sum = byReach.slice(0, tau).reduce((total, share) => total + share, 0);
  return {
    tau, factor, sizes, byReach,
    reaches: Object.fromEntries(WAYS.map((way) => [way, reachesOf(tau, way)])),
    lost: { windows: sum / tau, losses: byReach[tau - 1] }, // a window's losses reach 1, 2, ... steps
    work: { windows: NUM_LOSSES, losses: NUM_LOSSES * tau }, // a window goes back once for all its losses
  };
}

/** 47 %, 3.1 %, 0.04 %. */
export function percent(share) {
  const value = 100 * share;
  return `${value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toFixed(1) : value.toFixed(2)} %`;
}
