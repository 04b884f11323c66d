// The engine against torch and d2lrnn: core.mjs must agree with what Python computed in float64.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  clipGradients, carryState, countNgrams, createModel, createOptimiser, createReader, createWorkspace,
  fillWindows, forward, gradientNorm, initialise, lossAndGradients, randomSource, randomStarts, resetState,
  reshapeProbs, sampleIndex, scoreText, totalNats,
} from "../../src/d2lrnn/widgets/core.mjs";
import { PLAIN } from "../../src/d2lrnn/widgets/kernels.mjs";
import { createSimdKernels } from "../../src/d2lrnn/widgets/simd.mjs";
import {
  checkClose as assertClose, checkEngine, checkTraining, checkWindow, modelOf as modelIn, setState,
} from "./engine_parity.mjs";
import { countContexts, ngramProbs, scoreNgram } from "./ngrams.mjs";

const CASES = JSON.parse(readFileSync(new URL("./engine_cases.json", import.meta.url), "utf8"));
const KERNELS = [PLAIN, createSimdKernels()];
const modelOf = (sample) => modelIn(sample, PLAIN);

test("node has SIMD, so that both sets of kernels are tested", () => {
  assert.deepEqual(KERNELS.map(({ name }) => name), ["plain", "simd"]);
});

test("a window: probabilities, state, loss and every gradient", () => {
  assert.ok(CASES.windows.length >= 12);
  for (const kernels of KERNELS) for (const sample of CASES.windows) checkWindow(sample, kernels);
});

test("three steps of training: losses, norms and weights, clipped and not", () => {
  assert.deepEqual(CASES.training.map(({ kind }) => kind), ["sgd", "sgd", "adam", "adam"]);
  for (const kernels of KERNELS) for (const sample of CASES.training) checkTraining(sample, kernels);
});

test("the checks see a wrong kernel", () => {
  const [, simd] = KERNELS;
  const kernels = Object.keys(PLAIN).filter((key) => !["name", "floats", "integers", "clear"].includes(key));
  assert.deepEqual(Object.keys(simd).sort(), Object.keys(PLAIN).sort());
  for (const key of kernels) {
    const wrong = (...given) => (key === "sumOfSquares" ? 1.001 * simd[key](...given) : undefined); // does nothing
    assert.throws(() => checkEngine(CASES, { ...simd, [key]: wrong }), Error, key);
  }
});

test("cutting the backward pass changes the gradients of the recurrence and not the loss", () => {
  const [whole, one] = CASES.windows;
  const grads = ({ sizes: [, , batchSize, numSteps], state, X, Y }, cut) => {
    const model = modelOf(whole);
    const workspace = createWorkspace(model, batchSize, numSteps);
    setState(workspace, state);
    return { loss: lossAndGradients(model, workspace, X, Y, { cut }), dW_hh: workspace.dViews.W_hh.slice() };
  };
  assert.deepEqual(one.sizes, whole.sizes);
  assert.equal(grads(whole, 1).loss, grads(whole, Infinity).loss);
  assert.notDeepEqual(grads(whole, 1).dW_hh, grads(whole, Infinity).dW_hh);
  assert.deepEqual(grads(whole, whole.sizes[3]).dW_hh, grads(whole, Infinity).dW_hh);
});

test("gradients against finite differences", () => {
  const sample = CASES.windows[3];
  const [, , batchSize, numSteps] = sample.sizes;
  const model = modelOf(sample);
  const workspace = createWorkspace(model, batchSize, numSteps);
  const lossAt = (i, change) => {
    const before = model.flat[i];
    model.flat[i] = before + change;
    setState(workspace, sample.state);
    const loss = lossAndGradients(model, workspace, sample.X, sample.Y);
    const moved = model.flat[i] - before; // what float32 made of the change
    model.flat[i] = before;
    return { loss, moved };
  };
  setState(workspace, sample.state);
  lossAndGradients(model, workspace, sample.X, sample.Y);
  const grads = workspace.grads.slice();
  for (let i = 0; i < model.flat.length; i += 7) {
    const up = lossAt(i, 0.01);
    const down = lossAt(i, -0.01);
    const slope = (up.loss - down.loss) / (up.moved - down.moved);
    assert.ok(Math.abs(slope - grads[i]) < 1e-3, `parameter ${i}: ${slope} against ${grads[i]}`);
  }
});

test("clipping keeps the direction and leaves a short gradient alone", () => {
  const grads = Float32Array.of(3, 4);
  assert.equal(clipGradients(grads, 10), 5);
  assert.deepEqual([...grads], [3, 4]);
  assert.equal(clipGradients(grads, 1), 5);
  assert.ok(Math.abs(gradientNorm(grads) - 1) < 1e-6 && Math.abs(grads[1] / grads[0] - 4 / 3) < 1e-6);
});

test("a text is scored as in Python, alone or in pieces", () => {
  const model = modelOf(CASES.score);
  const exact = scoreText(model, CASES.score.ids, { batchSize: 1, warmUp: 0, numSteps: 10 });
  assert.equal(exact.numTokens, CASES.score.ids.length - 1);
  assertClose([exact.nats], [CASES.score.nats], "in one piece");
  const pieces = scoreText(model, CASES.score.ids, { batchSize: 4, warmUp: 32, numSteps: 8 });
  assertClose([pieces.nats], [CASES.score.nats], "in four pieces, each warmed up", 1e-4);
  const cold = scoreText(model, CASES.score.ids, { batchSize: 4, warmUp: 0, numSteps: 8 });
  assert.ok(Math.abs(cold.nats - CASES.score.nats) > 1e-3, "cold starts cost something");
});

test("n-grams: probabilities, contexts and held-out score as in Python", () => {
  const { vocab_size, ids, held_out, contexts, num_contexts, orders } = CASES.ngram;
  const table = countNgrams(ids, 6, vocab_size);
  assert.equal(orders.length, 6);
  for (const { order, probs, nats } of orders) {
    contexts.forEach((context, i) => assertClose(ngramProbs(table, order, context), probs[i], `${order}: ${context}`, 1e-10));
    assertClose([scoreNgram(table, order, held_out).nats], [nats], `${order}: held out`, 1e-10);
    assert.equal(countContexts(table, order), num_contexts[order - 1], `${order}: contexts`);
  }
  assert.throws(() => countNgrams(ids, 40, vocab_size), RangeError);
});

test("temperature, top-k and top-p as in Python", () => {
  for (const { probs, temperature, topK, topP, expected } of CASES.reshape) {
    const settings = { temperature, topK: topK ?? undefined, topP: topP ?? undefined };
    assertClose(reshapeProbs(Float64Array.from(probs), settings), expected, JSON.stringify(settings), 1e-10);
  }
});

test("sampling follows the distribution", () => {
  const random = randomSource(3);
  const counts = [0, 0, 0];
  for (let i = 0; i < 20_000; i += 1) counts[sampleIndex(Float64Array.of(0.5, 0, 0.5), random())] += 1;
  assert.equal(counts[1], 0);
  assert.ok(Math.abs(counts[0] - 10_000) < 300, `${counts}`);
  assert.equal(sampleIndex(Float64Array.of(0.5, 0.5, 0), 1), 1);
});

test("a reader's state moves on token by token, and can be set", () => {
  const model = initialise(createModel(7, 8), 1);
  const reader = createReader(model);
  const probs = [1, 2, 3].map((index) => reader.read(index).slice());
  const workspace = createWorkspace(model, 1, 3);
  forward(model, workspace, [1, 2, 3]);
  assertClose(probs.flatMap((p) => [...p]), [...workspace.probs], "probs", 1e-6);
  const state = reader.state;
  const next = reader.read(4).slice();
  reader.state = state;
  assert.deepEqual(reader.read(4).slice(), next);
  reader.state = new Float32Array(8);
  assert.notDeepEqual(reader.read(4).slice(), next);
});

test("an orthogonal start, equal for equal seeds", () => {
  const model = initialise(createModel(5, 12), 4);
  const gram = new Float32Array(144);
  PLAIN.addTransposedProduct(gram, 0, model.W_hh, 0, model.W_hh, 0, 12, 12, 12);
  for (let i = 0; i < 144; i += 1) assert.ok(Math.abs(gram[i] - (i % 13 === 0 ? 1 : 0)) < 1e-6);
  assert.deepEqual(initialise(createModel(5, 12), 4).flat, model.flat);
  assert.notDeepEqual(initialise(createModel(5, 12), 5).flat, model.flat);
  assert.ok(Math.max(...model.W_xh.map(Math.abs)) <= 1 / Math.sqrt(12));
});

test("windows hold the text and its successor, wherever they start", () => {
  const ids = Int32Array.from({ length: 20 }, (_, i) => i);
  const starts = randomStarts(new Int32Array(200), 20, 6, randomSource(1));
  assert.equal(Math.min(...starts), 0);
  assert.equal(Math.max(...starts), 13); // 13 + 6 = 19, the last target
  const X = new Int32Array(12);
  const Y = new Int32Array(12);
  fillWindows(X, Y, ids, [0, 13], 6);
  assert.deepEqual([...X], [0, 13, 1, 14, 2, 15, 3, 16, 4, 17, 5, 18]);
  assert.deepEqual([...Y], [...X].map((index) => index + 1));
});

test("a surprise beyond what a float32 probability can say", () => {
  const model = createModel(3, 2);
  model.b_q.set([500, 0, -300]);
  const workspace = createWorkspace(model, 1, 2);
  forward(model, workspace, [0, 1]);
  assert.deepEqual([...workspace.probs.subarray(0, 3)], [1, 0, 0]);
  assert.equal(totalNats(model, workspace, [2, 1]), 1300);
  assert.equal(totalNats(model, workspace, [0, 0]), 0);
});

test("wrong sizes and names are refused", () => {
  assert.throws(() => createModel(5, 6, new Float32Array(3)), /101 parameters, not 3|parameters, not 3/);
  assert.throws(() => createOptimiser("rmsprop", 3), /no optimiser "rmsprop"/);
  const simd = createSimdKernels();
  assert.throws(() => createModel(5000, 5000, null, simd), /no room/);
});

test("a zero state after a reset", () => {
  const model = initialise(createModel(5, 4), 1);
  const workspace = createWorkspace(model, 2, 3);
  forward(model, workspace, [0, 1, 2, 3, 4, 0]);
  carryState(workspace, 4);
  assert.ok(workspace.states.subarray(0, 8).some((h) => h !== 0));
  resetState(workspace, 4);
  assert.ok(workspace.states.subarray(0, 8).every((h) => h === 0));
});

test("a top-p of 1 keeps every token, however the sum of the likelier ones is rounded", () => {
  const probs = [1 - 1e-9, ...Array.from({ length: 26 }, (_, i) => 1e-18 / (i + 1))];
  assert.ok(reshapeProbs(probs, { topP: 1 }).every((p) => p > 0));
});
