// One set of kernels against torch: the checks that node makes, and a worker of a real browser as well.
import {
  applyUpdate, carryState, clipGradients, countParameters, createModel, createOptimiser, createWorkspace, fillWindows,
  forward, lossAndGradients, scoreText, totalNats,
} from "../../src/d2lrnn/widgets/core.mjs";
import { cellOf } from "../../src/d2lrnn/widgets/gated.mjs";

export const TOLERANCE = 1e-5;

/** Raise if any number differs by more than a share of the largest one expected. */
export function checkClose(actual, expected, message, tolerance = TOLERANCE) {
  if (actual.length !== expected.length) throw new Error(`${message}: ${actual.length} numbers, expected ${expected.length}`);
  const scale = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-30);
  for (let i = 0; i < expected.length; i += 1) {
    const error = Math.abs(actual[i] - expected[i]) / scale;
    // written so that NaN fails
    if (!(error <= tolerance)) {
      throw new Error(`${message}: [${i}] is ${actual[i]}, expected ${expected[i]} (${error} of the largest)`);
    }
  }
}

/** The model of a case, in the kernels' memory. */
export function modelOf({ sizes: [vocabSize, numHiddens], flat, cell }, kernels) {
  const model = createModel(vocabSize, numHiddens, null, kernels, cellOf(cell));
  model.flat.set(flat);
  return model;
}

/** The state to start from: H, and C where there is one. */
export function setState(workspace, [H, C]) {
  workspace.states.set(H);
  workspace.cells?.set(C);
}

/** Rows of `width` numbers without the ones beyond the vocabulary. */
function narrow(rows, width, vocabSize) {
  return Array.from(rows).filter((_, i) => i % width < vocabSize);
}

/** Probabilities, state, loss and every gradient of a window. */
export function checkWindow(sample, kernels) {
  const [vocabSize, numHiddens, batchSize, numSteps] = sample.sizes;
  kernels.clear();
  const model = modelOf(sample, kernels);
  const workspace = createWorkspace(model, batchSize, numSteps);
  const name = `${kernels.name}, ${sample.cell}, ${sample.sizes} cut ${sample.cut}`;
  setState(workspace, sample.state);
  forward(model, workspace, sample.X);
  checkClose(narrow(workspace.probs, workspace.width, vocabSize), sample.probs, `${name}: probs`);
  checkClose([totalNats(model, workspace, sample.Y) / (batchSize * numSteps)], [sample.loss], `${name}: nats`);
  const loss = lossAndGradients(model, workspace, sample.X, sample.Y, { cut: sample.cut ?? Infinity });
  checkClose([loss], [sample.loss], `${name}: loss`);
  let start = 0;
  for (const [key, view] of Object.entries(workspace.dViews)) {
    checkClose(view, sample.gradients.slice(start, start + view.length), `${name}: d${key}`);
    start += view.length;
  }
  if (start !== countParameters(vocabSize, numHiddens, model.cell)) throw new Error(`${name}: ${start} gradients`);
  carryState(workspace, numHiddens);
  const [H, C] = sample.last;
  checkClose(workspace.states.slice(0, batchSize * numHiddens), H, `${name}: last state`);
  if (C) checkClose(workspace.cells.slice(0, batchSize * numHiddens), C, `${name}: last cell`);
}

/** Losses, norms and weights of three steps, the state carried. */
export function checkTraining(sample, kernels) {
  const [, numHiddens, batchSize, numSteps] = sample.sizes;
  kernels.clear();
  const model = modelOf(sample, kernels);
  const workspace = createWorkspace(model, batchSize, numSteps);
  const optimiser = createOptimiser(sample.kind, model.flat.length, kernels);
  const text = Int32Array.from(sample.ids.flat());
  const width = sample.ids[0].length;
  const X = new Int32Array(batchSize * numSteps);
  const Y = new Int32Array(batchSize * numSteps);
  const name = `${kernels.name}, ${sample.cell}, ${sample.kind}, clip ${sample.max_norm}`;
  sample.losses.forEach((expected, step) => {
    const starts = sample.ids.map((_, i) => i * width + step * numSteps);
    fillWindows(X, Y, text, starts, numSteps);
    const loss = lossAndGradients(model, workspace, X, Y);
    const norm = clipGradients(workspace.grads, sample.max_norm ?? Infinity, kernels);
    applyUpdate(optimiser, model.flat, workspace.grads, sample.learning_rate);
    carryState(workspace, numHiddens);
    checkClose([loss], [expected], `${name}, step ${step}: loss`);
    checkClose([norm], [sample.norms[step]], `${name}, step ${step}: norm`);
  });
  checkClose(model.flat, sample.after, `${name}: weights`);
}

/** All cases of one layer; returns how many were checked. */
export function checkEngine({ windows, training, score }, kernels) {
  for (const sample of windows) checkWindow(sample, kernels);
  for (const sample of training) checkTraining(sample, kernels);
  kernels.clear();
  const exact = scoreText(modelOf(score, kernels), score.ids, { batchSize: 1, warmUp: 0, numSteps: 10 });
  checkClose([exact.nats], [score.nats], `${kernels.name}: a text's nats`);
  return windows.length + training.length + 1;
}
