// A gradient on its way back through a small recurrent network: the same numbers as Python's GradientFlow.

/** Each activation, and its slope as a function of its value. */
const PHI = {
  linear: [(z) => z, () => 1],
  tanh: [Math.tanh, (h) => 1 - h * h],
};

/** By so much of its length the gradient may differ, and still be about the same. */
export const STAYS = 0.2;
/** Below this share of its first length the gradient has vanished; above its reciprocal it has exploded. */
export const VANISHED = 0.01;

/** The matrix scaled to a spectral radius, row by row. */
export function scaledMatrix({ W, radius: drawn }, radius) {
  return Float64Array.from(W.flat(), (weight) => weight * (radius / drawn));
}

/** States before each step and after the last, (numSteps + 1) rows, and the slopes of each step. */
export function runForward(W, n, inputs, { input_size, num_steps, activation }) {
  const [phi, slope] = PHI[activation];
  const states = new Float64Array((num_steps + 1) * n);
  const slopes = new Float64Array(num_steps * n);
  for (let step = 0; step < num_steps; step += 1) {
    const before = step * n;
    for (let j = 0; j < n; j += 1) {
      let sum = input_size * inputs[step][j];
      for (let i = 0; i < n; i += 1) sum += states[before + i] * W[i * n + j];
      const h = phi(sum);
      states[before + n + j] = h;
      slopes[before + j] = slope(h);
    }
  }
  return { states, slopes };
}

/** One step back: times the slopes of the step that begins at `at`, then times the transposed matrix. */
export function stepBack(W, n, slopes, at, gradient) {
  const delta = gradient.map((value, j) => value * slopes[at + j]);
  const before = new Float64Array(n);
  for (let i = 0; i < n; i += 1) {
    let sum = 0;
    for (let j = 0; j < n; j += 1) sum += delta[j] * W[i * n + j];
    before[i] = sum;
  }
  return { delta, before };
}

/** Euclidean length. */
export function length(vector) {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** The gradient of the last loss by lag: how many steps back. */
export function messagesByLag(W, n, slopes, last) {
  const numSteps = slopes.length / n;
  const messages = [];
  let gradient = Float64Array.from(last);
  for (let lag = 0; lag < numSteps; lag += 1) {
    messages.push(gradient);
    gradient = stepBack(W, n, slopes, (numSteps - 1 - lag) * n, gradient).before;
  }
  return messages;
}

/** The key of the words for how it ends, by the share of its length and the mean factor a step: it stays where a step does. */
export function fate(left, factor) {
  if (left < VANISHED) return "vanishes";
  if (left > 1 / VANISHED) return "explodes";
  if (Math.abs(left - 1) < 5e-4) return "keeps";
  if (Math.abs(factor - 1) < 0.01 && Math.abs(left - 1) <= STAYS) return "stays";
  return left < 1 ? "shrinks" : "grows";
}

/** Why: exactly or nearly as the spectral radius predicts, by the slopes of tanh, or in too few steps to say. */
export function reason({ shares, factor, radius, num_steps, activation }) {
  const isExact = shares.every((share, k) => Math.abs(share / radius ** k - 1) < 1e-9);
  if (isExact && Number(formatFactor(radius)) === radius) return "exact"; // also as it is written
  const asPredicted = num_steps > 10 && Math.abs(factor / radius - 1) <= 0.03;
  if (activation === "linear") return asPredicted ? "predicted" : "short";
  if (asPredicted) return "near_zero";
  return factor < 0.97 * radius ? "slopes" : "tanh_short";
}

/** What tanh multiplies a step by, with as many places as it needs so that it times the radius is the factor, as both are written. */
export function squeezedText(factor, radius) {
  const value = factor / radius;
  const isRight = (text) => formatFactor(Number(formatFactor(radius)) * Number(text)) === formatFactor(factor);
  return [formatFactor(value), ...[3, 4, 5].map((places) => value.toFixed(places))].find(isRight) ?? formatFactor(value);
}

/** Whether an eigenvalue lies inside, on or outside the unit circle. */
export function sideOf([re, im]) {
  const size = Math.hypot(re, im);
  if (Math.abs(size - 1) < 1e-8) return "on";
  return size < 1 ? "inside" : "outside";
}

/** Everything that the page shows. */
export function derive(state) {
  const { networks, ...settings } = state;
  const network = networks.matrices[settings.matrix];
  const n = network.W.length;
  const W = scaledMatrix(network, settings.radius);
  const { states, slopes } = runForward(W, n, networks.inputs, settings);
  const messages = messagesByLag(W, n, slopes, network.gradient);
  const norms = messages.map(length);
  const angles = messages.map(([first, second]) => (180 / Math.PI) * Math.atan2(second, first)); // of the first two numbers, in degrees
  const shares = norms.map((norm) => norm / norms[0]);
  const lag = settings.num_steps - 1;
  const left = shares[lag];
  const factor = left ** (1 / lag);
  const scale = settings.radius / network.radius;
  const eigenvalues = network.eigenvalues.map(([re, im]) => [re * scale, im * scale]);
  return {
    ...settings, lag, left, factor, norms, shares, angles, eigenvalues, lastState: states.subarray(settings.num_steps * n),
    fate: fate(left, factor), reason: reason({ ...settings, shares, factor }),
  };
}

/** A length over many orders of magnitude, with two digits that count, next to 1 three: 0, 0.012, 1.02, 0.00007, 450 000, 4.5×10⁶. */
export function formatLength(value) {
  if (value === 0) return "0";
  if (value >= 1e-6 && value < 999999.5) return Number(value.toPrecision(value >= 0.995 && value < 1.05 ? 3 : 2)).toLocaleString("en", { maximumFractionDigits: 8 }).replace(/,/g, "\u202f");
  const [mantissa, exponent] = value.toExponential(1).split("e");
  const raised = exponent.replace("+", "").replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  return `${mantissa}×10${raised}`;
}

/** Two decimals; three below 0.1 and next to 1, so that what is not 1 does not look like it. */
export function formatFactor(value) {
  if (value > 0 && value < 0.005) return formatLength(value);
  const exact = Math.abs(value * 100 - Math.round(value * 100)) < 1e-6;
  const decimals = exact || (value >= 0.1 && Math.abs(value - 1) > 0.02) ? 2 : 3;
  return (Math.round(value * 10 ** decimals + 1e-9) / 10 ** decimals).toFixed(decimals); // 0.745 becomes 0.75
}
