// Truncated backpropagation through time in a small tanh network: the same numbers as Python's Truncation.
import { runForward, scaledMatrix, stepBack } from "../gradient_flow/maths.mjs";

export const NUM_LOSSES = 12;
/** The two ways to cut: start again every τ steps, or go back τ steps from each loss. */
export const WAYS = ["windows", "losses"];

/** How many steps, its own included, each of the losses reaches. */
export function reachesOf(tau, way) {
  return Array.from({ length: NUM_LOSSES }, (_, row) => (way === "windows" ? (row % tau) + 1 : tau));
}

/** The n gradients of a state's units, one for each, on their way back from step t: by lag, after the slope of tanh. */
function backFrom(t, W, n, slopes) {
  const lags = Array.from({ length: t + 1 }, () => new Float64Array(n * n));
  for (let unit = 0; unit < n; unit += 1) {
    let gradient = new Float64Array(n);
    gradient[unit] = 1;
    for (let lag = 0; lag <= t; lag += 1) {
      const { delta, before } = stepBack(W, n, slopes, (t - lag) * n, gradient);
      lags[lag].set(delta, unit * n);
      gradient = before;
    }
  }
  return lags;
}

const dot = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
};

/**
 * Squared lengths, on average over the last losses of the text and over loss gradients of independent normal numbers:
 * `each[lag]` of what the use of W_hh `lag` steps back adds, `rest[lag]` of all that comes from there and further back.
 */
function squaresByLag(network, radius) {
  const n = network.W.length;
  const numSteps = network.inputs.length;
  const W = scaledMatrix(network, radius);
  const { states, slopes } = runForward(W, n, network.inputs, { input_size: 1, num_steps: numSteps, activation: "tanh" });
  const before = Array.from({ length: numSteps }, (_, i) => states.subarray(i * n, (i + 1) * n));
  const each = new Float64Array(NUM_LOSSES);
  const rest = new Float64Array(NUM_LOSSES + 1);
  for (let t = numSteps - NUM_LOSSES; t < numSteps; t += 1) {
    const lags = backFrom(t, W, n, slopes);
    let sum = 0;
    for (let lag = t; lag >= 0; lag -= 1) {
      const product = (other) => dot(before[t - lag], before[t - other]) * dot(lags[lag], lags[other]);
      const own = product(lag);
      sum += own;
      for (let other = lag + 1; other <= t; other += 1) sum += 2 * product(other);
      if (lag < NUM_LOSSES) each[lag] += own;
      if (lag <= NUM_LOSSES) rest[lag] += sum;
    }
  }
  return { each, rest };
}

let known = { network: null, radius: 0, squares: null }; // the cut moves more often than the memory
function squaresOf(network, radius) {
  if (known.network !== network || known.radius !== radius) known = { network, radius, squares: squaresByLag(network, radius) };
  return known.squares;
}

/** Every number of the page. Shares are of lengths: what is missing by what there is. */
export function derive({ network, tau, radius }) {
  const { each, rest } = squaresOf(network, radius);
  const sizes = Array.from(each, (square) => Math.sqrt(square / each[0]));
  const byReach = Array.from(rest.subarray(1), (square) => Math.sqrt(square / rest[0]));
  const squares = byReach.slice(0, tau).reduce((sum, share) => sum + share * share, 0);
  return {
    tau, radius, sizes, byReach,
    reaches: Object.fromEntries(WAYS.map((way) => [way, reachesOf(tau, way)])),
    lost: { windows: Math.sqrt(squares / tau), losses: byReach[tau - 1] }, // a window's losses reach 1, 2, ... steps
    work: { windows: NUM_LOSSES, losses: NUM_LOSSES * tau }, // a window goes back once for all its losses
    factor: sizes.at(-1) ** (1 / (NUM_LOSSES - 1)),
  };
}

/** 47 %, 3.1 %, 0.04 %. */
export function percent(share) {
  const value = 100 * share;
  return `${value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toFixed(1) : value.toFixed(2)} %`.replace(/^0\.00 /, "under 0.01 ");
}
