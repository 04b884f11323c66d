// The way back through time: the page's answers are Python's, and what the definitions say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  ACTIVATIONS, CLIPS, CUTS, INPUT_SIZES, MATRICES, PRESETS, RULES, STEPS, angleDegrees, factorPerStep, fate, flow, followBack,
  formatLength, length, nearestPlace, normAxis, presetValues, runForward, scaledMatrix, sideOf, verdict,
} from "../../src/d2lrnn/widgets/gradient_flow/index.mjs";
import { decodeLink, encodeLink, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const STORED = JSON.parse(readFileSync(new URL("./gradient_flow_cases.json", import.meta.url), "utf8"));
const WORDS = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/gradient_flow/spec.json", import.meta.url), "utf8")).words;
const NETWORKS = STORED.networks;
const PLAIN = { radius: 0.9, num_steps: 12, activation: "tanh", matrix: "gaussian", input_size: 0.5, clip: 0, truncation: 0 };

function close(actual, expected, message, relative = 1e-8) {
  if (expected === null) return assert.equal(actual, null, message);
  return assert.ok(Math.abs(actual - expected) <= relative * Math.abs(expected) + 1e-300, `${message}: ${actual} is not ${expected}`);
}

test("norms, lengths, angle and what is lost are those of Python's GradientFlow", () => {
  assert.ok(STORED.cases.length >= 18);
  const t = translator("en", WORDS);
  for (const { settings, norms, ...expected } of STORED.cases) {
    const name = JSON.stringify(settings);
    const found = flow(NETWORKS, settings);
    assert.equal(found.norms.length, settings.num_steps);
    norms.forEach((norm, lag) => close(found.norms[lag], norm, `${name} lag ${lag}`));
    close(found.sigma, expected.sigma, `${name} sigma`);
    close(found.meanSlope, expected.mean_slope, `${name} slope`);
    close(found.factor, expected.factor, `${name} factor`);
    for (const key of ["full", "truncated", "arrives"]) close(found.lengths[key], expected[key], `${name} ${key}`);
    // both are differences of nearly equal numbers where hardly anything is cut off
    assert.ok(Math.abs(found.angle - expected.angle) < 1e-6, `${name} angle ${found.angle} ${expected.angle}`);
    assert.ok(Math.abs(found.lost - expected.lost) < 1e-8, `${name} lost`);
    const { fate: key, left } = verdict(found, settings);
    assert.equal(t(key, { lag: settings.num_steps - 1, left: formatLength(left) }), expected.sentence);
  }
});

test("the gradient of W_hh is the slope of the loss, entry by entry", () => {
  const network = NETWORKS.matrices.source;
  for (const activation of ACTIVATIONS) {
    const settings = { ...PLAIN, matrix: "source", activation, radius: 1.1 };
    const W = scaledMatrix(network, settings.radius);
    const loss = (weights) => {
      const { states } = runForward(weights, 3, NETWORKS.inputs, settings);
      return network.gradient.reduce((sum, value, i) => sum + value * states[states.length - 3 + i], 0);
    };
    const { full } = followBack(W, 3, runForward(W, 3, NETWORKS.inputs, settings), network.gradient, 12);
    for (let i = 0; i < 9; i += 1) {
      const moved = (by) => loss(W.map((weight, j) => (j === i ? weight + by : weight)));
      const slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      assert.ok(Math.abs(full[i] - slope) < 1e-6 * Math.max(1, Math.abs(slope)), `${activation} ${i}: ${full[i]} ${slope}`);
    }
    assert.ok(length(full) > 0.01);
  }
});

test("an orthogonal matrix hands on the radius to the power of the lag, and nothing else", () => {
  for (const radius of [0.2, 1, 2]) {
    const { norms, factor, sigma } = flow(NETWORKS, { ...PLAIN, activation: "identity", matrix: "orthogonal", radius, num_steps: 100 });
    norms.forEach((norm, lag) => close(norm, norms[0] * radius ** lag, `lag ${lag}`, 1e-9));
    close(factor, radius, "factor", 1e-9);
    close(sigma, radius, "sigma", 1e-9);
  }
});

test("eigenvalues that travel with a matrix are its own", () => {
  for (const name of MATRICES) {
    const { W, eigenvalues, radius } = NETWORKS.matrices[name];
    const n = W.length;
    assert.equal(eigenvalues.length, n);
    close(radius, Math.max(...eigenvalues.map(([re, im]) => Math.hypot(re, im))), `${name}: radius`);
    // the sums of their powers are the traces of the matrix's powers
    let power = W;
    for (let k = 1; k <= 4; k += 1) {
      const trace = power.reduce((sum, row, i) => sum + row[i], 0);
      const sum = eigenvalues.reduce((total, [re, im]) => total + Math.hypot(re, im) ** k * Math.cos(k * Math.atan2(im, re)), 0);
      assert.ok(Math.abs(trace - sum) < 1e-6 * radius ** k * n, `${name}: trace of power ${k}: ${trace}, ${sum}`);
      power = power.map((row) => W[0].map((_, j) => row.reduce((total, value, i) => total + value * W[i][j], 0)));
    }
  }
  assert.deepEqual(NETWORKS.matrices.shear.eigenvalues.map((z) => sideOf(z)), Array(24).fill("on"));
});

test("a cut keeps the first lags, one that is too long cuts nothing", () => {
  const W = scaledMatrix(NETWORKS.matrices.gaussian, 0.9);
  const way = runForward(W, 24, NETWORKS.inputs, PLAIN);
  const { gradient } = NETWORKS.matrices.gaussian;
  const upTo = (kept) => followBack(W, 24, way, gradient, kept).truncated;
  // lag 0 alone is the outer product of the state before the last step and the gradient there
  const delta = gradient.map((value, j) => value * way.slopes[11 * 24 + j]);
  upTo(1).forEach((value, i) => close(value, way.states[11 * 24 + Math.floor(i / 24)] * delta[i % 24], `entry ${i}`, 1e-12));
  const last = followBack(W, 24, way, gradient, 12);
  assert.deepEqual(last.truncated, last.full);
  assert.ok(length(upTo(3).map((value, i) => value - upTo(2)[i])) > 0.01, "each further lag adds something");
  const found = flow(NETWORKS, { ...PLAIN, truncation: 12 });
  assert.deepEqual([found.cutsOff, found.angle, found.lost], [false, 0, 0]);
  assert.equal(flow(NETWORKS, { ...PLAIN, truncation: 11 }).cutsOff, true);
});

test("clipping bounds the length of what the cut leaves, and only from above", () => {
  const free = flow(NETWORKS, { ...PLAIN, truncation: 4 });
  const clipped = flow(NETWORKS, { ...PLAIN, truncation: 4, clip: free.lengths.truncated / 4 });
  close(clipped.lengths.arrives, free.lengths.truncated / 4, "clipped", 1e-12);
  close(clipped.clipFactor, 0.25, "factor", 1e-12);
  assert.deepEqual([clipped.angle, clipped.lost], [free.angle, free.lost], "clipping turns nothing");
  assert.equal(flow(NETWORKS, { ...PLAIN, clip: 1000 }).clipFactor, 1);
});

test("angles: exact where they are small, none where there is no direction", () => {
  close(angleDegrees([1, 0], [0, 2]), 90, "right", 1e-12);
  close(angleDegrees([3, 0], [-1, 0]), 180, "straight", 1e-12);
  close(angleDegrees([1, 0], [1, 1e-9]), (1e-9 * 180) / Math.PI, "small", 1e-6);
  assert.equal(angleDegrees([0, 0], [1, 0]), null);
});

test("the verdict goes by what is left, and its reason by what did it", () => {
  const reasonOf = (name) => {
    const settings = presetValues(name, NETWORKS);
    const found = verdict(flow(NETWORKS, settings), settings);
    return `${found.fate} ${found.reason}`.replace(/verdict_|reason_/g, "");
  };
  assert.deepEqual(Object.fromEntries(Object.keys(PRESETS).map((name) => [name, reasonOf(name)])), {
    vanishes: "vanishes stretch", level: "lasts radius", explodes: "explodes radius", saturated: "vanishes slopes",
    source: "vanishes stretch", orthogonal: "lasts radius", sheared: "vanishes hump", cut: "fades stretch",
  });
  const dead = { norms: [1, 0.5, 0, 0], meanSlope: 0.1, sigma: 1, factor: 0 };
  assert.deepEqual([verdict(dead, PLAIN).fate, verdict(dead, PLAIN).reason], ["verdict_vanishes", "reason_dead"]);
  assert.deepEqual([0, 1e-3, 0.1, 10, 1e3, 1e4].map(fate), ["vanishes", "fades", "lasts", "lasts", "grows", "explodes"].map((word) => `verdict_${word}`));
  assert.equal(factorPerStep([1, 9, 4, 2, 1]), 0.5);
  assert.equal(factorPerStep([1, 0, 0]), null);
});

test("presets are Python's, and every value of theirs is a place of its slider", () => {
  for (const [name, expected] of Object.entries(STORED.presets)) assert.deepEqual(presetValues(name, NETWORKS), expected);
  assert.deepEqual(Object.keys(PRESETS), Object.keys(STORED.presets));
  for (const { num_steps, input_size, truncation, clip } of Object.values(PRESETS)) {
    for (const [places, value] of [[STEPS, num_steps], [INPUT_SIZES, input_size], [CUTS, truncation], [CLIPS, clip]]) {
      assert.equal(places[nearestPlace(places, value)], value);
    }
  }
  assert.equal(nearestPlace(CUTS, 60), CUTS.indexOf(50), "the nearest by factor, and never none");
  assert.equal(100 / 100, PRESETS.level.radius);
});

test("whatever the controls are set to, no number is lost", () => {
  for (const matrix of MATRICES) for (const activation of ACTIVATIONS) for (const radius of [0.2, 1, 2]) {
    for (const input_size of [1e-8, 10]) for (const num_steps of [2, 100]) for (const truncation of [0, 1, 100]) {
      const settings = { matrix, activation, radius, input_size, num_steps, truncation, clip: 0.01 };
      const found = flow(NETWORKS, settings);
      const name = JSON.stringify(settings);
      assert.ok(found.norms.every((norm) => Number.isFinite(norm) && norm >= 0), name);
      assert.ok([found.lengths.full, found.lengths.arrives, found.meanSlope, found.sigma, found.clipFactor].every(Number.isFinite), name);
      assert.ok(found.lengths.arrives <= 0.01 * (1 + 1e-12), name);
      const axis = normAxis(found.norms);
      assert.ok(axis.ticks.length >= 3 && axis.ticks.length <= 8 && axis.from < axis.to, `${name}: ${axis.ticks}`);
    }
  }
});

test("lengths are written as in Python; the axis rests on whole sixes of powers of ten", () => {
  for (const [value, expected] of STORED.lengths) assert.equal(formatLength(value), expected);
  const rounded = ({ ticks }) => ticks.map((tick) => Math.round(Math.log10(tick)));
  assert.deepEqual(rounded(normAxis([1, 1e-3, 0])), [-6, -3, 0, 3, 6]);
  assert.deepEqual(rounded(normAxis([1, 1e-40])), [-36, -24, -12, 0]);
  const { from, to, format } = normAxis([1, 1e8]);
  close(from, 1e-6, "from");
  close(to, 1e12, "to");
  assert.deepEqual([format(1), format(1e-3), format(1e12)], ["1", "10⁻³", "10¹²"]);
});

test("a link may set what the controls may", () => {
  const link = (state) => decodeLink(encodeLink("GradientFlow", 0, state), "GradientFlow", 0, RULES);
  for (const settings of STORED.cases.map((stored) => stored.settings)) assert.deepEqual(link(settings), settings);
  assert.equal(link({ radius: 3, num_steps: 1, activation: "sin", matrix: [], input_size: 0, clip: -1, truncation: 2.5 }), null);
});
