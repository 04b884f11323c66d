// Trains in a worker of the page, as the training lab does, and says how many characters it read in how many seconds.
// Messages in: { text, units, kernels, seconds, settings }; out: { tokens, seconds }.
import { PLAIN } from "../src/d2lrnn/widgets/kernels.mjs";
import { createTraining, prepareText } from "../src/d2lrnn/widgets/lab_training.mjs";
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
  let seconds = 0;
  while (seconds < data.seconds) {
    if (!run.step()) throw new Error("the run has lost its numbers");
    seconds = (performance.now() - start) / 1000;
  }
  self.postMessage({ tokens: run.report.tokens - before, seconds });
};
