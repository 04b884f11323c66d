// Truncated backpropagation through time in a small tanh network: the same numbers as Python's Truncation.
import { length, runForward, scaledMatrix, stepBack } from "../gradient_flow/maths.mjs";

export const NUM_STEPS = 24;

/** Whether the loss of step t (from 0) reaches the use of the weight at step i. */
export function isKept(t, i, tau, way) {
  return way === "windows" ? Math.floor(t / tau) === Math.floor(i / tau) : t - i < tau;
}

/** The first step that the loss of step t reaches. */
export function firstKept(t, tau, way) {
  return way === "windows" ? t - (t % tau) : Math.max(0, t - tau + 1);
}

/** Angle in degrees, exact for small ones too; null where one has no direction. */
export function angleDegrees(a, b) {
  const [x, y] = [length(a), length(b)];
  if (x === 0 || y === 0) return null;
  const parts = (sign) => length(a.map((value, i) => value / x + (sign * b[i]) / y));
  return (2 * Math.atan2(parts(-1), parts(1)) * 180) / Math.PI;
}

/**
 * Every route: what the loss of step t adds to the gradient of W_hh by its use at step i is the outer product of the
 * state before step i and the gradient that arrives there.
 */
export function derive(state) {
  const { network, tau, way, radius } = state;
  const n = network.W.length;
  const W = scaledMatrix(network, radius);
  const warmUp = network.inputs.length - NUM_STEPS; // the state that was carried over
  const { states, slopes } = runForward(W, n, network.inputs, { input_size: 1, num_steps: network.inputs.length, activation: "tanh" });
  const before = (i) => states.subarray((warmUp + i) * n, (warmUp + i + 1) * n);
  const arrived = { all: new Float64Array(NUM_STEPS * n), kept: new Float64Array(NUM_STEPS * n) };
  const sizes = [];
  let kept = 0;
  for (let t = 0; t < NUM_STEPS; t += 1) {
    const row = [];
    let gradient = Float64Array.from(network.gradients[t]);
    for (let i = t; i >= 0; i -= 1) {
      const { delta, before: next } = stepBack(W, n, slopes, (warmUp + i) * n, gradient);
      const stays = isKept(t, i, tau, way);
      kept += stays;
      for (let j = 0; j < n; j += 1) {
        arrived.all[i * n + j] += delta[j];
        if (stays) arrived.kept[i * n + j] += delta[j];
      }
      row[i] = length(delta) * length(before(i));
      gradient = next;
    }
    sizes.push(row);
  }
  const gradientOf = (deltas) => {
    const dW = new Float64Array(n * n);
    for (let i = 0; i < NUM_STEPS; i += 1) {
      const h = before(i);
      for (let j = 0; j < n; j += 1) for (let k = 0; k < n; k += 1) dW[j * n + k] += h[j] * deltas[i * n + k];
    }
    return dW;
  };
  const whole = gradientOf(arrived.all);
  const rest = gradientOf(arrived.kept);
  const all = (NUM_STEPS * (NUM_STEPS + 1)) / 2;
  const shrinks = sizes.reduce((sum, row) => sum + Math.log(row[0] / row.at(-1)), 0); // over all - NUM_STEPS steps back
  return {
    tau, way, radius, sizes, factor: Math.exp(shrinks / (all - NUM_STEPS)), largest: Math.max(...sizes.flat()), kept, all,
    lengths: { whole: length(whole), rest: length(rest) },
    angle: kept === all ? 0 : angleDegrees(rest, whole),
    lost: kept === all ? 0 : length(whole.map((value, i) => value - rest[i])) / length(whole),
  };
}

/** 47 %, 3.1 %, 0.04 %. */
export function percent(share) {
  const value = 100 * share;
  if (value === 0) return "0 %";
  return `${value >= 9.95 ? value.toFixed(0) : value >= 0.095 ? value.toFixed(1) : value.toFixed(2)} %`.replace(/^0\.00 /, "under 0.01 ");
}
