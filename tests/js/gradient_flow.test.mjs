// The way back through time: the page's answers are Python's, and what the definitions say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  STAYS, VANISHED, derive, fate, formatFactor, formatLength, length, messagesByLag, reason, runForward, scaledMatrix, sideOf, squeezedText,
  stepBack,
} from "../../src/d2lrnn/widgets/gradient_flow/maths.mjs";
import { decodeLink, encodeLink, rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const STORED = read("./gradient_flow_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/gradient_flow/spec.json");
const NETWORKS = STORED.networks;
const MATRICES = SPEC.controls.matrix.choices;
const RULES = rulesOf(SPEC.controls);
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (settings = {}) => derive({ ...DEFAULTS, ...settings, networks: NETWORKS });

function close(actual, expected, message, relative = 1e-8) {
  assert.ok(Math.abs(actual - expected) <= relative * Math.abs(expected) + 1e-300, `${message}: ${actual} is not ${expected}`);
}

test("lengths, factor and what is said of them are those of Python's GradientFlow", () => {
  assert.ok(STORED.cases.length >= 15);
  const t = translator("en", SPEC.words);
  for (const { settings, norms, factor, sentence } of STORED.cases) {
    const name = JSON.stringify(settings);
    const found = shown(settings);
    assert.equal(found.norms.length, settings.num_steps);
    norms.forEach((norm, lag) => close(found.norms[lag], norm, `${name} lag ${lag}`));
    close(found.factor, factor, `${name} factor`);
    const steps = found.lag === 1 ? t("steps_one") : t("steps_many", { count: found.lag });
    assert.equal(t(`fate_${found.fate}`, { steps, left: formatLength(found.left) }), sentence);
  }
});

test("a step back is the slope of the loss with respect to the state before", () => {
  const network = NETWORKS.matrices.random;
  const n = network.W.length;
  for (const activation of ["linear", "tanh"]) {
    const settings = { num_steps: 4, activation, input_size: 0.5 };
    const W = scaledMatrix(network, 1.1);
    const { slopes } = runForward(W, n, NETWORKS.inputs, settings);
    const { before } = stepBack(W, n, slopes, 3 * n, Float64Array.from(network.gradient));
    // the loss of one more step from a state that is pushed a little
    const { states } = runForward(W, n, NETWORKS.inputs, { ...settings, num_steps: 3 });
    const start = states.slice(3 * n);
    const phi = { linear: (z) => z, tanh: Math.tanh }[activation];
    const loss = (state) => network.gradient.reduce((sum, value, j) => {
      let z = 0.5 * NETWORKS.inputs[3][j];
      for (let i = 0; i < n; i += 1) z += state[i] * W[i * n + j];
      return sum + value * phi(z);
    }, 0);
    for (let i = 0; i < n; i += 1) {
      const moved = (by) => loss(start.map((value, k) => (k === i ? value + by : value)));
      const slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      assert.ok(Math.abs(before[i] - slope) < 1e-8, `${activation} ${i}: ${before[i]} ${slope}`);
    }
  }
});

test("an orthogonal matrix hands on the radius to the power of the lag, and nothing else", () => {
  for (const radius of [0.2, 1, 1.6]) {
    const { norms, factor } = shown({ matrix: "orthogonal", radius, num_steps: 60 });
    norms.forEach((norm, lag) => close(norm, norms[0] * radius ** lag, `lag ${lag}`, 1e-9));
    close(factor, radius, "factor", 1e-9);
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
  assert.deepEqual(NETWORKS.matrices.orthogonal.eigenvalues.map((z) => sideOf(z)), Array(24).fill("on"));
  assert.equal(shown({ radius: 1.2 }).eigenvalues.filter((z) => sideOf(z) === "outside").length > 0, true);
  assert.deepEqual(new Set(shown({ radius: 0.99 }).eigenvalues.map(sideOf)), new Set(["inside"]));
});

test("what becomes of it is said by the length; it keeps it only where a step does", () => {
  assert.deepEqual([[1e-9, 0.5], [0.5, 0.9], [1.0001, 1], [1.005, 1.005], [2.5, 2.5], [101, 1.2]].map(([left, factor]) => fate(left, factor)),
    ["vanishes", "shrinks", "keeps", "stays", "grows", "explodes"]);
  // two steps: what it grows by is not what the spectral radius says
  const two = shown({ radius: 1.6, num_steps: 2 });
  assert.deepEqual([two.fate, two.reason, two.lag], ["grows", "short", 1]);
  assert.ok(two.factor > 1.8 && two.radius === 1.6);
  assert.equal(shown({ radius: 0.2, num_steps: 2 }).fate, "shrinks");
  // radius below 1, and yet the first step makes it longer: it grows, over this short way
  assert.deepEqual([shown({ num_steps: 2 }).fate, shown({ num_steps: 2 }).reason], ["grows", "short"]);
});

test("about the same is within a fifth, and both languages have the same bounds", () => {
  assert.deepEqual(STORED.bounds, { stays: STAYS, vanished: VANISHED });
  assert.equal(STAYS, 0.2);
  assert.deepEqual([[0.81, 0.995], [0.79, 0.995], [1.19, 1.003], [1.21, 1.003]].map(([left, factor]) => fate(left, factor)), ["stays", "shrinks", "stays", "grows"]);
});

test("a product comes out as it is written", () => {
  for (let radius = 0.2; radius <= 1.6; radius += 0.01) {
    const { factor, radius: weights } = shown({ activation: "tanh", radius: Number(radius.toFixed(2)) });
    const product = Number(formatFactor(weights)) * Number(squeezedText(factor, weights));
    assert.equal(formatFactor(product), formatFactor(factor), `${weights}`);
  }
});

test("the reason: the spectral radius, exactly or about, the slopes of tanh, or too few steps to say", () => {
  const of = (settings) => shown(settings).reason;
  assert.equal(of({}), "predicted");
  assert.equal(of({ radius: 1.2 }), "predicted");
  assert.equal(of({ num_steps: 4 }), "short");
  assert.equal(of({ radius: 1.2, activation: "tanh" }), "slopes");
  assert.equal(of({ radius: 1.2, activation: "tanh", input_size: 1e-8 }), "near_zero");
  assert.equal(reason({ shares: [1, 1.5], factor: 1.5, radius: 1.2, num_steps: 2, activation: "tanh" }), "tanh_short");
  for (const radius of [0.2, 0.57, 1, 1.6]) for (const num_steps of [2, 29, 60]) assert.equal(of({ matrix: "orthogonal", radius, num_steps }), "exact");
  assert.equal(of({ matrix: "orthogonal", radius: 0.8123 }), "predicted", "0.81 is not exactly its factor");
  assert.equal(of({ matrix: "orthogonal", radius: 1, activation: "tanh" }), "slopes");
});

test("the guided steps: what is said to be right is right", () => {
  const [radius, tanh, orthogonal] = SPEC.steps;
  const before = shown(radius.before);
  assert.ok(Math.abs(before.left - 1) < 0.2, "about its length");
  const exploded = shown(radius.state);
  assert.ok(exploded.left > 100 && radius.right === 2 && exploded.lag === 28);
  assert.ok(exploded.left / 1.2 ** 28 > 0.95 && exploded.left < 1.2 ** 28, "nearly all of it grows so");
  assert.equal(shown().left.toPrecision(2), (0.8 ** shown().lag).toPrecision(2), "the first number is about 0.8 multiplied 28 times");
  assert.equal(shown(tanh.before).fate, "explodes");
  const damped = shown(tanh.state);
  assert.deepEqual([damped.fate, damped.reason, damped.radius, tanh.right], ["vanishes", "slopes", 1.2, 2]);
  assert.ok(damped.lastState.filter((h) => 1 - h * h < 0.25).length >= 12, "many units stand where tanh is flat");
  const small = shown({ activation: "tanh", radius: 1.2, input_size: 0.1 });
  assert.equal(formatLength(small.left), "1.8");
  assert.equal(squeezedText(damped.factor, damped.radius), "0.59");
  assert.ok(small.left > 1 && small.left > damped.left, "with smaller inputs, more passes");
  assert.ok(shown(orthogonal.before).left < 0.06, "it visibly fades");
  for (let radius = 0.2; radius < 1.6; radius += 0.01) { // the other answers
    const wandering = shown({ ...orthogonal.before, radius: Number(radius.toFixed(2)) });
    assert.ok(wandering.fate !== "keeps" && wandering.shares.some((share) => Math.abs(share - 1) > 0.1));
  }
  for (let radius = 0.2; radius < 0.895; radius += 0.01) assert.ok(shown({ ...orthogonal.before, radius }).left < shown(orthogonal.before).left, "smaller ones leave less");
  assert.ok(Math.abs(shown({ ...orthogonal.before, radius: 1 }).left - 1) < 0.1, "larger ones can keep it roughly");
  shown(orthogonal.state).shares.forEach((share) => close(share, 1, "kept at each step", 1e-9));
  assert.equal(orthogonal.right, 1);
  const squashed = shown({ ...orthogonal.state, activation: "tanh" });
  const ones = messagesByLag(Float64Array.from({ length: 24 * 24 }, () => 1), 24, new Float64Array(24 * 29).fill(1), NETWORKS.matrices.random.gradient).map(length);
  for (let k = 2; k < 29; k += 1) close(ones[k] / ones[k - 1], 24, "weights that are all 1, from the second step on", 1e-12);
  assert.ok(squashed.fate === "vanishes" && squashed.reason === "slopes", "weights that only turn do not save it from tanh");
});

test("single steps differ where the weights are random, and are alike where they turn", () => {
  const steps = (settings) => shown(settings).shares.slice(1).map((share, k, shares) => share / (k === 0 ? 1 : shares[k - 1]));
  assert.equal(formatFactor(steps({})[0]), "1.019", "the first step grows, though it is 0.80 on average");
  assert.ok(Math.min(...steps({})) < 0.75);
  steps({ matrix: "orthogonal", radius: 0.8123 }).forEach((step) => close(step, 0.8123, "a step", 1e-9));
  const { angles, shares } = shown({ matrix: "orthogonal", radius: 1 });
  assert.equal(angles.length, shares.length);
  assert.ok(new Set(angles.map((angle) => angle.toFixed(3))).size === angles.length, "it only turns");
});

test("whatever the controls are set to, no number is lost", () => {
  for (const matrix of MATRICES) for (const activation of ["linear", "tanh"]) for (const radius of [0.2, 1, 1.6]) {
    for (const input_size of [1e-8, 3]) for (const num_steps of [2, 60]) {
      const settings = { matrix, activation, radius, input_size, num_steps };
      const found = shown(settings);
      assert.ok(found.norms.every((norm) => Number.isFinite(norm) && norm > 0), JSON.stringify(settings));
      assert.ok([found.left, found.factor].every(Number.isFinite), JSON.stringify(settings));
    }
  }
});

test("lengths are written as in Python, factors with two decimals or three", () => {
  for (const [value, expected] of STORED.lengths) assert.equal(formatLength(value), expected);
  assert.deepEqual([0.8, 1.2, 0.796, 0.745, 0.9954, 1, 0.0123, 0.05, 1e-4].map(formatFactor),
    ["0.80", "1.20", "0.80", "0.75", "0.995", "1.00", "0.012", "0.05", "0.0001"]);
  assert.equal(length([3, 4]), 5);
  assert.equal(messagesByLag(Float64Array.of(0.5), 1, Float64Array.of(1, 1, 1), [2]).map(length).join(), "2,1,0.5");
});

test("a link may set what the controls may", () => {
  const link = (state) => decodeLink(encodeLink("GradientFlow", 0, state), "GradientFlow", 0, RULES);
  for (const { settings } of STORED.cases) assert.deepEqual(link(settings), settings);
  assert.equal(link({ radius: 3, num_steps: 1, activation: "sin", matrix: [], input_size: 0 }), null);
  assert.deepEqual(decodeLink("#explore=GradientFlow&radius=1.2&activation=tanh", "GradientFlow", 0, RULES), { radius: 1.2, activation: "tanh" });
});
