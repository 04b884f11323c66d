// One run of training, as the lab's worker drives it: settings and a text in, a report of numbers and letters out.
import {
  applyUpdate, carryState, clipGradients, countNgrams, createModel, createOptimiser, createReader, createWorkspace,
  fillWindows, forward, initialise, lossAndGradients, randomSource, randomStarts, reshapeProbs, resetState,
  restartOptimiser, sampleIndex, scoreNgram, scoreText, surpriseNats,
} from "../core.mjs";
import { PLAIN } from "../kernels.mjs";

/** Share of the text, at its end, that training never sees. */
export const HELDOUT_SHARE = 0.1;
const MOST_POINTS = 400;

/** A text as indices: { vocab, trainIds, heldoutIds }, the vocabulary by falling frequency as d2lrnn.Vocab. */
export function prepareText(text) {
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const vocab = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
  const index = new Map(vocab.map((character, i) => [character, i]));
  const ids = Int32Array.from(text, (character) => index.get(character));
  // Rounded down to what is kept, as in d2lrnn.load_text.
  const numTrain = ids.length - Math.floor(ids.length * HELDOUT_SHARE);
  return { vocab, trainIds: ids.subarray(0, numTrain), heldoutIds: ids.subarray(numTrain) };
}

/** Held-out perplexities of models that only count, the lines to fall below. */
export function countingLevels({ vocab, trainIds, heldoutIds }, orders = [1, 2, 3, 5]) {
  const table = countNgrams(trainIds, Math.max(...orders), vocab.length);
  const perplexityOf = ({ nats, numTokens }) => Math.exp(nats / numTokens);
  return [
    { order: 0, perplexity: vocab.length },
    ...orders.map((order) => ({ order, perplexity: perplexityOf(scoreNgram(table, order, heldoutIds)) })),
  ];
}

/** Where the sequences of a batch begin when each carries its state on: evenly along the text. */
export function lanes(numTokens, batchSize, numSteps) {
  const length = Math.floor((numTokens - 1) / batchSize);
  const windows = Math.max(1, Math.floor(length / numSteps));
  return { starts: Int32Array.from({ length: batchSize }, (_, i) => i * length), windows };
}

/** A list of points that halves its density whenever it is full, so that a run of any length fits; the newest is its last. */
export function createTrace() {
  const xs = [];
  const ys = [];
  let every = 1;
  let seen = 0;
  let passing = false; // whether the last point stands there only until the next
  return {
    xs,
    ys,
    add(x, y) {
      seen += 1;
      if (passing) {
        xs.pop();
        ys.pop();
      }
      xs.push(x);
      ys.push(y);
      passing = seen % every !== 0;
      if (passing || xs.length < MOST_POINTS) return;
      for (let i = 0; i < xs.length / 2; i += 1) {
        xs[i] = xs[2 * i + 1];
        ys[i] = ys[2 * i + 1];
      }
      xs.length = ys.length = MOST_POINTS / 2;
      every *= 2;
    },
  };
}

/**
 * A run of training.
 *
 * `settings`: num_hiddens, num_steps, batch_size, carry, seed fix its shape; learning_rate, optimizer, clip (0: none) may be
 * set anew while it runs, with `set`. With `carry` each sequence goes on where its last window ended and keeps its
 * state; without, every window starts anywhere, from zero, and the held-out text is read in windows from zero too.
 *
 * The run takes over the kernels' memory: one set serves one run at a time.
 */
export function createTraining({ vocab, trainIds, heldoutIds }, settings, kernels = PLAIN) {
  const { num_hiddens: numHiddens, num_steps: numSteps, batch_size: batchSize, carry, seed } = settings;
  const vocabSize = vocab.length;
  kernels.clear();
  const model = initialise(createModel(vocabSize, numHiddens, null, kernels), seed);
  const workspace = createWorkspace(model, batchSize, numSteps);
  const random = randomSource(seed + 1);
  const X = new Int32Array(batchSize * numSteps);
  const Y = new Int32Array(batchSize * numSteps);
  const lane = lanes(trainIds.length, batchSize, numSteps);
  const starts = carry ? lane.starts : new Int32Array(batchSize);
  let { learning_rate: learningRate, clip } = settings;
  const optimiser = createOptimiser(settings.optimizer, model.flat.length, kernels);
  const score = carry ? textScorer(model, heldoutIds) : windowScorer(model, heldoutIds, numSteps);
  let window = 0;
  let smooth = 0; // mean nats of late steps, each counting 3% less than the one after it
  let weight = 0;
  const report = {
    steps: 0, tokens: 0, status: "running", train: createTrace(), norms: createTrace(), heldout: createTrace(),
  };

  /** One update; false once the numbers are lost. */
  function step() {
    if (carry) {
      if (window === lane.windows) window = 0;
      if (window === 0) resetState(workspace, numHiddens);
      const from = Int32Array.from(starts, (start) => start + window * numSteps);
      fillWindows(X, Y, trainIds, from, numSteps);
      window += 1;
    } else {
      resetState(workspace, numHiddens);
      fillWindows(X, Y, trainIds, randomStarts(starts, trainIds.length, numSteps, random), numSteps);
    }
    const loss = lossAndGradients(model, workspace, X, Y);
    const norm = clipGradients(workspace.grads, clip > 0 ? clip : Infinity, kernels);
    if (!Number.isFinite(loss) || !Number.isFinite(norm)) {
      report.status = "diverged";
      return false;
    }
    applyUpdate(optimiser, model.flat, workspace.grads, learningRate);
    if (carry) carryState(workspace, numHiddens);
    report.steps += 1;
    report.tokens += batchSize * numSteps;
    smooth = 0.97 * smooth + 0.03 * loss;
    weight = 0.97 * weight + 0.03;
    report.train.add(report.tokens, Math.exp(smooth / weight));
    report.norms.add(report.tokens, norm);
    return true;
  }

  /** Score the held-out text and note it in the report. */
  function evaluate() {
    const { nats, numTokens } = score();
    report.heldout.add(report.tokens, Math.exp(nats / numTokens));
  }

  /** `length` characters written by the model as it is now, from `seedText` on. */
  function write(length, seedText, temperature = 0.7) {
    const reader = createReader(model);
    let probs;
    for (const character of seedText) probs = reader.read(Math.max(0, vocab.indexOf(character)));
    let text = "";
    for (let i = 0; i < length; i += 1) {
      if (!carry && i % numSteps === 0) reader.state = new Float32Array(numHiddens); // it never learned to go on
      const index = sampleIndex(reshapeProbs(probs, { temperature }), random());
      text += vocab[index];
      probs = reader.read(index);
    }
    return text;
  }

  return {
    report,
    model,
    step,
    evaluate,
    write,
    set(changes) {
      if (changes.learning_rate !== undefined) learningRate = changes.learning_rate;
      if (changes.clip !== undefined) clip = changes.clip;
      if (changes.optimizer !== undefined && changes.optimizer !== optimiser.kind) restartOptimiser(optimiser, changes.optimizer);
    },
  };
}

/** A function that scores a text as one reading, with buffers made once. */
function textScorer(model, ids) {
  const [batchSize, numSteps] = [32, 32];
  const workspace = createWorkspace(model, batchSize, numSteps, { gradients: false });
  return () => scoreText(model, ids, { batchSize, numSteps, workspace });
}

/** A function that scores a text in windows that each start from a zero state, side by side. */
export function windowScorer(model, ids, numSteps) {
  const { numHiddens } = model;
  const count = Math.floor((ids.length - 1) / numSteps);
  const batchSize = Math.min(count, Math.max(1, Math.floor(1024 / numSteps)));
  const workspace = createWorkspace(model, batchSize, numSteps, { gradients: false });
  const X = new Int32Array(batchSize * numSteps);
  const Y = new Int32Array(batchSize * numSteps);
  return () => {
    let nats = 0;
    for (let first = 0; first < count; first += batchSize) {
      const used = Math.min(batchSize, count - first);
      // The last batch is filled up with its first window; what is added that way is not counted.
      const starts = Int32Array.from({ length: batchSize }, (_, i) => (first + (i < used ? i : 0)) * numSteps);
      fillWindows(X, Y, ids, starts, numSteps);
      resetState(workspace, numHiddens);
      forward(model, workspace, X);
      for (let t = 0; t < numSteps; t += 1) {
        for (let i = 0; i < used; i += 1) {
          const row = t * batchSize + i;
          nats += surpriseNats(model, workspace, row, Y[row]);
        }
      }
    }
    return { nats, numTokens: count * numSteps };
  };
}
