// GRU and LSTM of gated.mjs against torch, by finite differences, and in the functions that take any layer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  carryState, countParameters, createModel, createOptimiser, createReader, createWorkspace, forward, initialise,
  lossAndGradients, resetState, scoreText, TANH,
} from "../../src/d2lrnn/widgets/core.mjs";
import { cellOf, GRU, LSTM } from "../../src/d2lrnn/widgets/gated.mjs";
import { PLAIN } from "../../src/d2lrnn/widgets/kernels.mjs";
import { createSimdKernels } from "../../src/d2lrnn/widgets/simd.mjs";
import { checkClose, checkEngine, modelOf, setState } from "./engine_parity.mjs";

const CASES = JSON.parse(readFileSync(new URL("./engine_cases.json", import.meta.url), "utf8"));
const KERNELS = [PLAIN, createSimdKernels()];
const CELLS = [GRU, LSTM];

test("states, loss, every gradient, three steps of training and a score as in torch", () => {
  for (const kernels of KERNELS) for (const { name } of CELLS) assert.equal(checkEngine(CASES[name], kernels), 9);
});

test("the checks see a wrong layer", () => {
  const wrong = {
    gru: (flat) => { flat[flat.length - 1 - 7 * 8 - 7] += 0.01; }, // the second bias of the candidate
    lstm: (flat) => { flat[0] += 0.01; },
  };
  for (const { name } of CELLS) {
    const cases = structuredClone(CASES[name]);
    wrong[name](cases.windows[0].flat);
    assert.throws(() => checkEngine(cases, PLAIN), /of the largest/);
  }
});

test("gradients against finite differences", () => {
  for (const { name } of CELLS) {
    const sample = CASES[name].windows[2]; // the whole window, sizes that leave rests
    const [, , batchSize, numSteps] = sample.sizes;
    assert.equal(sample.cut, null);
    const model = modelOf(sample, PLAIN);
    const workspace = createWorkspace(model, batchSize, numSteps);
    const lossNow = () => {
      setState(workspace, sample.state);
      return lossAndGradients(model, workspace, sample.X, sample.Y);
    };
    lossNow();
    const grads = workspace.grads.slice();
    for (let i = 0; i < model.flat.length; i += 5) {
      const before = model.flat[i];
      const [up, down] = [0.01, -0.01].map((change) => {
        model.flat[i] = before + change;
        return { at: model.flat[i], loss: lossNow() };
      });
      model.flat[i] = before;
      const slope = (up.loss - down.loss) / (up.at - down.at);
      assert.ok(Math.abs(slope - grads[i]) < 1e-3, `${name}, parameter ${i}: ${slope} against ${grads[i]}`);
    }
  }
});

test("a cut after every step still lets the state go forward", () => {
  for (const { name } of CELLS) {
    const sample = CASES[name].windows[0];
    const [, , batchSize, numSteps] = sample.sizes;
    const model = modelOf(sample, PLAIN);
    const workspace = createWorkspace(model, batchSize, numSteps);
    const at = (cut) => {
      setState(workspace, sample.state);
      const loss = lossAndGradients(model, workspace, sample.X, sample.Y, { cut });
      return { loss, dW_hh: workspace.dViews.W_hh.slice() };
    };
    assert.equal(at(1).loss, at(Infinity).loss);
    assert.notDeepEqual(at(1).dW_hh, at(Infinity).dW_hh);
    assert.deepEqual(at(numSteps).dW_hh, at(Infinity).dW_hh);
  }
});

test("a fresh layer starts as the package's does", () => {
  for (const [cell, blocks] of [[GRU, 3], [LSTM, 4]]) {
    const n = 12;
    const width = blocks * n;
    const model = initialise(createModel(5, n, null, PLAIN, cell), 4);
    for (let k = 0; k < blocks; k += 1) {
      for (let i = 0; i < n; i += 1) {
        for (let j = 0; j < n; j += 1) {
          let dot = 0;
          for (let p = 0; p < n; p += 1) dot += model.W_hh[i * width + k * n + p] * model.W_hh[j * width + k * n + p];
          assert.ok(Math.abs(dot - (i === j ? 1 : 0)) < 1e-6);
        }
      }
    }
    const ones = cell === LSTM ? n : 0; // the forget gate's
    assert.equal(model.b_x.reduce((sum, b) => sum + b), ones);
    assert.ok(model.b_x.every((b, j) => b === (ones && j >= n && j < 2 * n ? 1 : 0)) && model.b_h.every((b) => b === 0));
    assert.ok(Math.max(...model.W_xh.map(Math.abs)) <= 1 / Math.sqrt(n));
    assert.deepEqual(initialise(createModel(5, n, null, PLAIN, cell), 4).flat, model.flat);
    const plain = initialise(createModel(5, n, null, PLAIN, cell), 4, { orthogonal: false });
    assert.ok(Math.max(...plain.W_hh.map(Math.abs)) <= 1 / Math.sqrt(n));
  }
});

test("a reader's state, of an LSTM H and C, moves on and can be set; a window carried on equals one long window", () => {
  for (const cell of CELLS) {
    const model = initialise(createModel(7, 6, null, PLAIN, cell), 1);
    const long = createWorkspace(model, 1, 4, { gradients: false });
    forward(model, long, [1, 2, 3, 4]);
    const reader = createReader(model);
    const probs = [1, 2, 3, 4].map((index) => reader.read(index).slice());
    checkClose(probs.flatMap((p) => [...p]), [...long.probs], "letter by letter", 1e-6);

    reader.reset();
    for (const index of [1, 2]) reader.read(index);
    const state = reader.state;
    assert.equal(state.length, cell === LSTM ? 12 : 6);
    assert.deepEqual(reader.read(3).slice(), probs[2]);
    reader.state = state;
    assert.deepEqual(reader.read(3).slice(), probs[2]);
    reader.state = new Float32Array(state.length);
    assert.deepEqual(reader.read(1).slice(), probs[0]);

    const half = createWorkspace(model, 1, 2, { gradients: false });
    forward(model, half, [1, 2]);
    carryState(half, 6);
    forward(model, half, [3, 4]);
    assert.deepEqual(half.probs, long.probs.slice(14));
    resetState(half, 6);
    forward(model, half, [1, 2]);
    assert.deepEqual(half.probs, long.probs.slice(0, 14));
  }
});

test("a text in pieces that are read side by side", () => {
  for (const { name } of CELLS) {
    const model = modelOf(CASES[name].score, PLAIN);
    const pieces = scoreText(model, CASES[name].score.ids, { batchSize: 4, warmUp: 32, numSteps: 8 });
    checkClose([pieces.nats], [CASES[name].score.nats], `${name} in four pieces, each warmed up`, 1e-4);
  }
});

test("the kernels' memory holds the largest run that the lab offers", () => {
  const [, simd] = KERNELS;
  for (const cell of CELLS) {
    simd.clear();
    const model = createModel(120, 256, null, simd, cell);
    createOptimiser("adam", model.flat.length, simd);
    createWorkspace(model, 64, 64);
    createWorkspace(model, 32, 32, { gradients: false });
  }
  simd.clear();
});

test("parameters are counted as in the chapter on gates; an unknown layer is refused", () => {
  assert.equal(countParameters(27, 71, GRU), 23_244);
  assert.equal(countParameters(27, 61, LSTM), 23_634);
  assert.deepEqual(["tanh", "gru", "lstm"].map(cellOf), [TANH, GRU, LSTM]);
  assert.throws(() => cellOf("rnn"), /no layer "rnn"; there are tanh, gru and lstm/);
});
