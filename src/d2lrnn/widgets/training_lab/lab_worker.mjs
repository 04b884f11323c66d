// Runs as a classic script in the lab's worker. Messages in: { kind: "begin", text, settings }, "go", "step", "pause",
// { kind: "set", changes }. Message out: the report, whenever there is something new to show.
import { countingLevels, createTraining, prepareText } from "./lab_training.mjs";
import { createKernels } from "../simd.mjs";

const SLICE_MS = 30; // then the queue of messages is looked at
const REPORT_MS = 120;
const WRITE_MS = 900;
const SAMPLE_LENGTH = 120;

const kernels = createKernels();
let text = null;
let levels = null;
let training = null;
let running = false;
let seconds = 0; // of training, without pauses
let lastReport = 0;
let lastWriting = 0;
let heldoutCost = 0; // seconds that scoring the held-out text takes
let lastHeldout = 0; // seconds of training at the last one
let sample = "";

/** Send what there is to show. */
function tell() {
  const { steps, tokens, status, train, norms, heldout } = training.report;
  lastReport = performance.now();
  self.postMessage({
    steps,
    tokens,
    seconds,
    sample,
    levels,
    kernels: kernels.name,
    status: status === "diverged" ? status : running ? "running" : "paused",
    train: { xs: train.xs, ys: train.ys },
    norms: { xs: norms.xs, ys: norms.ys },
    heldout: { xs: heldout.xs, ys: heldout.ys },
  });
}

function evaluate() {
  const start = performance.now();
  training.evaluate();
  heldoutCost = (performance.now() - start) / 1000;
  lastHeldout = seconds;
}

// The next slice comes by message: a timer that sets itself anew waits four milliseconds each time.
const turns = new MessageChannel();
let turnIsDue = false;
turns.port1.onmessage = () => {
  turnIsDue = false;
  if (running) work();
};

/** Let messages in, then go on. There is one turn at most, however often a reader starts and stops. */
function takeTurn() {
  if (turnIsDue) return;
  turnIsDue = true;
  turns.port2.postMessage(null);
}

/** Train for a slice of time. */
function work() {
  const start = performance.now();
  let good = true;
  while (good && performance.now() - start < SLICE_MS) good = training.step();
  seconds += (performance.now() - start) / 1000;
  if (!good) {
    running = false;
    tell();
    return;
  }
  // Scoring the held-out text costs a quarter of the time while the curve is steep, later a tenth.
  if (seconds - lastHeldout > Math.max(0.12, (seconds < 8 ? 3 : 9) * heldoutCost)) evaluate();
  if (performance.now() - lastWriting > WRITE_MS) {
    sample = training.write(SAMPLE_LENGTH, "the ");
    lastWriting = performance.now();
  }
  if (performance.now() - lastReport > REPORT_MS) tell();
  takeTurn();
}

const actions = {
  begin({ text: source, settings }) {
    if (source !== undefined) {
      text = prepareText(source);
      levels = countingLevels(text);
    }
    training = createTraining(text, settings, kernels);
    running = false;
    seconds = lastHeldout = 0;
    sample = training.write(SAMPLE_LENGTH, "the ");
    evaluate();
    tell();
  },
  go() {
    if (running || training.report.status === "diverged") return;
    running = true;
    takeTurn();
  },
  step() {
    running = false;
    if (training.report.status === "diverged") return;
    const start = performance.now();
    training.step();
    seconds += (performance.now() - start) / 1000;
    evaluate();
    sample = training.write(SAMPLE_LENGTH, "the ");
    tell();
  },
  pause() {
    running = false;
    tell();
  },
  set({ changes }) {
    training.set(changes);
  },
};

self.onmessage = ({ data }) => actions[data.kind](data);
