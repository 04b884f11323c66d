// Trains in a worker of the page, as the training lab does, and says how long so many characters took.
// Messages in: { text, units, kernels, tokens, settings }; out: { tokens, wall_s }.
import { PLAIN } from "../src/d2lrnn/widgets/kernels.mjs";
import { createTraining, prepareText } from "../src/d2lrnn/widgets/training_lab/lab_training.mjs";
import { createSimdKernels } from "../src/d2lrnn/widgets/simd.mjs";

const runs = new Map(); // by contestant and size: a run goes on where it was left, compiled and warm

function runOf({ text, units, kernels, settings }) {
  const key = `${kernels} ${units}`;
  if (!runs.has(key)) {
    const set = kernels === "simd" ? createSimdKernels() : PLAIN;
    runs.set(key, createTraining(prepareText(text), { ...settings, num_hiddens: units }, set));
  }
  return runs.get(key);
}

self.onmessage = ({ data }) => {
  const run = runOf(data);
  const before = run.report.tokens;
  const start = performance.now();
  while (run.report.tokens - before < data.tokens) {
    if (!run.step()) throw new Error("the run has lost its numbers");
  }
  self.postMessage({ tokens: run.report.tokens - before, wall_s: (performance.now() - start) / 1000 });
};
