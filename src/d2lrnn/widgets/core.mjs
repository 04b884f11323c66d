// A character language model that trains in the page: tanh recurrence (GRU and LSTM: gated.mjs), softmax with
// cross-entropy, backpropagation through time by hand, clipping, SGD and Adam; n-gram counts with Witten-Bell
// smoothing; sampling.
//
// Pure: typed arrays in, typed arrays out, no DOM. The same mathematics as d2lrnn's RNNLM, clip_gradients, torch.optim
// and NGramLM, proven equal on shared cases. Matrices are stored row by row; a sequence is stored time first, so that
// the rows of one step lie side by side. The inner loops are kernels, plain ones or those in WebAssembly.
import { PLAIN } from "./kernels.mjs";

// ---- random numbers ---------------------------------------------------------------------------------------------

/** A seeded source of uniform numbers in [0, 1) (mulberry32): equal seeds, equal numbers, on every machine. */
export function randomSource(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let z = Math.imul(a ^ (a >>> 15), a | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

/** A normally distributed number, from two uniform ones (Box and Muller). */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

// ---- the model --------------------------------------------------------------------------------------------------

/**
 * The tanh layer, H_t = tanh(x_t W_xh + H_{t-1} W_hh + b_h); GRU and LSTM have the same interface.
 *
 * `shapes` are its parameters; `start` gives those that `initialise` drew the values a layer starts from; `buffers` are
 * arrays of its own in a workspace; `forward` fills `states` from the second on; `backward` takes `dStates`, the
 * gradients that come from the predictions, through time and adds the layer's gradients to `dViews`.
 */
export const TANH = {
  name: "tanh",
  shapes: (vocabSize, numHiddens) => [["W_xh", [vocabSize, numHiddens]], ["W_hh", [numHiddens, numHiddens]], ["b_h", [numHiddens]]],

  start({ numHiddens, W_hh }, random, orthogonal) {
    if (orthogonal) fillOrthogonal(W_hh, numHiddens, random);
  },

  buffers: ({ numHiddens }, { gradients, kernels }) => (gradients ? { W_hhT: kernels.floats(numHiddens * numHiddens) } : {}),

  forward({ numHiddens, W_xh, W_hh, b_h }, { batchSize, numSteps, kernels, inputs, states }) {
    const size = batchSize * numHiddens;
    kernels.lookUpRows(states, size, W_xh, b_h, inputs, numSteps * batchSize, numHiddens);
    for (let t = 0; t < numSteps; t += 1) {
      const here = (t + 1) * size;
      kernels.addProduct(states, here, states, t * size, W_hh, 0, batchSize, numHiddens, numHiddens);
      kernels.tanhInPlace(states, here, size);
    }
  },

  backward({ vocabSize, numHiddens, W_hh }, { batchSize, numSteps, kernels, inputs, states, dStates, W_hhT, dViews }, cut) {
    const rows = numSteps * batchSize;
    const size = batchSize * numHiddens;
    transpose(W_hhT, W_hh, numHiddens, numHiddens);
    for (let t = numSteps - 1; t >= 0; t -= 1) {
      const here = t * size;
      // What comes from the right is already added; through the tanh, dStates becomes the gradient before it.
      kernels.backThroughTanh(dStates, here, states, size + here, size);
      if (t > 0 && t % cut !== 0) {
        kernels.addProduct(dStates, here - size, dStates, here, W_hhT, 0, batchSize, numHiddens, numHiddens);
      }
    }
    kernels.addTransposedProduct(dViews.W_hh, 0, states, 0, dStates, 0, rows, numHiddens, numHiddens); // all steps at once
    kernels.addToRows(dViews.W_xh, inputs, dStates, rows, numHiddens);
    kernels.addAllRows(dViews.b_h, dViews.W_xh, vocabSize, numHiddens); // each row of dStates went into one of these
  },
};

/** Names and shapes of the parameters, in the order of the flat array. */
export function parameterShapes(vocabSize, numHiddens, cell = TANH) {
  return [...cell.shapes(vocabSize, numHiddens), ["W_hq", [numHiddens, vocabSize]], ["b_q", [vocabSize]]];
}

/** How many numbers the model learns. */
export function countParameters(vocabSize, numHiddens, cell = TANH) {
  return parameterShapes(vocabSize, numHiddens, cell).reduce((sum, [, shape]) => sum + shape.reduce((a, b) => a * b), 0);
}

/** Named views into one flat array of parameters or gradients. */
function viewsOf(flat, vocabSize, numHiddens, cell) {
  let start = 0;
  const views = {};
  for (const [name, shape] of parameterShapes(vocabSize, numHiddens, cell)) {
    const size = shape.reduce((a, b) => a * b);
    views[name] = flat.subarray(start, start + size);
    start += size;
  }
  return views;
}

/**
 * A model over a flat Float32Array of parameters (zeros if left out): { vocabSize, numHiddens, flat, W_xh, ... }.
 *
 * `kernels` compute with it; a flat array that is given has to be one of theirs. `cell` is its layer: TANH, or GRU or
 * LSTM of gated.mjs.
 */
export function createModel(vocabSize, numHiddens, flat = null, kernels = PLAIN, cell = TANH) {
  const expected = countParameters(vocabSize, numHiddens, cell);
  flat ??= kernels.floats(expected);
  if (flat.length !== expected) {
    throw new RangeError(`a model of ${vocabSize} symbols and ${numHiddens} units has ${expected} parameters, not ${flat.length}`);
  }
  return { vocabSize, numHiddens, kernels, cell, flat, ...viewsOf(flat, vocabSize, numHiddens, cell) };
}

/** Start afresh, as the package does: all uniform within ±1/√numHiddens, W_hh orthogonal (if asked for), gates' biases fixed. */
export function initialise(model, seed, { orthogonal = true } = {}) {
  const random = randomSource(seed);
  const { numHiddens, flat, cell } = model;
  const bound = 1 / Math.sqrt(numHiddens);
  for (let i = 0; i < flat.length; i += 1) flat[i] = bound * (2 * random() - 1);
  cell.start(model, random, orthogonal);
  return model;
}

/**
 * A random rotation or reflection: normal rows, made orthonormal one after the other (Gram and Schmidt, twice).
 *
 * It fills the columns from `first` on of a matrix W (n, width).
 */
export function fillOrthogonal(W, n, random, width = n, first = 0) {
  const rows = Array.from({ length: n }, () => Float64Array.from({ length: n }, () => normal(random)));
  const dot = (u, v) => {
    let sum = 0;
    for (let p = 0; p < n; p += 1) sum += u[p] * v[p];
    return sum;
  };
  rows.forEach((row, i) => {
    for (let pass = 0; pass < 2; pass += 1) {
      for (let j = 0; j < i; j += 1) {
        const along = dot(row, rows[j]);
        for (let p = 0; p < n; p += 1) row[p] -= along * rows[j][p];
      }
    }
    const length = Math.sqrt(dot(row, row));
    for (let p = 0; p < n; p += 1) W[i * width + first + p] = row[p] /= length;
  });
}

// ---- forward and backward through time ----------------------------------------------------------------------------

// From so many rows on it pays to widen the output layer to whole fours of symbols, by ones of probability 0.
const MANY_ROWS = 16;

/**
 * Buffers for windows of one size, made once and used for every step.
 *
 * `states` holds numSteps + 1 states, the first the one to start from, and so do the `cells` of an LSTM; `probs` the
 * predictions after the softmax, rows of `width` numbers. Without `gradients` the window can be read, not learned from.
 */
export function createWorkspace(model, batchSize, numSteps, { gradients = true, kernels = model.kernels } = {}) {
  const { vocabSize, numHiddens, cell } = model;
  const { floats, integers } = kernels;
  const rows = numSteps * batchSize;
  const width = rows < MANY_ROWS ? vocabSize : Math.ceil(vocabSize / 4) * 4;
  const wide = width > vocabSize;
  const workspace = {
    batchSize,
    numSteps,
    width,
    kernels,
    inputs: integers(rows),
    states: floats((rows + batchSize) * numHiddens),
    probs: floats(rows * width),
    tops: floats(rows),
    sums: floats(rows),
    W_wide: wide ? floats(numHiddens * width) : null,
    b_wide: wide ? floats(width).fill(-Infinity) : null,
    ...cell.buffers(model, { batchSize, numSteps, gradients, kernels }),
  };
  if (!gradients) return workspace;
  const grads = floats(countParameters(vocabSize, numHiddens, cell));
  const dViews = viewsOf(grads, vocabSize, numHiddens, cell);
  return {
    ...workspace,
    dStates: floats(rows * numHiddens),
    W_outT: floats(width * numHiddens),
    dW_wide: wide ? floats(numHiddens * width) : null,
    db_wide: wide ? floats(width) : null,
    grads,
    dViews,
  };
}

/** Copy a matrix of n rows into one with longer or shorter rows; what does not fit is left out. */
function copyRows(to, toWidth, from, fromWidth, n) {
  const width = Math.min(toWidth, fromWidth);
  for (let i = 0; i < n; i += 1) for (let j = 0; j < width; j += 1) to[i * toWidth + j] = from[i * fromWidth + j];
}

/** Fill an array with the numbers at its beginning, over and over. */
export function repeat(values, length) {
  for (let done = length; done < values.length; done *= 2) values.copyWithin(done, 0, Math.min(done, values.length - done));
}

/** B (m, n) = transpose of A (n, m). */
export function transpose(B, A, n, m) {
  for (let i = 0; i < n; i += 1) for (let j = 0; j < m; j += 1) B[j * n + i] = A[i * m + j];
}

/** Forget: the state to start from becomes zero. */
export function resetState({ states, cells, batchSize }, numHiddens) {
  states.fill(0, 0, batchSize * numHiddens);
  cells?.fill(0, 0, batchSize * numHiddens);
}

/** Carry on: the state to start from becomes the last one of the window just read. */
export function carryState({ states, cells, batchSize, numSteps }, numHiddens) {
  const size = batchSize * numHiddens;
  states.copyWithin(0, numSteps * size, (numSteps + 1) * size);
  cells?.copyWithin(0, numSteps * size, (numSteps + 1) * size);
}

/**
 * Read a window: the states H_t of the layer, logits H_t W_hq + b_q, softmax.
 *
 * `X` holds indices, time first (numSteps * batchSize). Fills `states` from the second on, and `probs`.
 */
export function forward(model, workspace, X) {
  const { vocabSize, numHiddens, cell, W_hq, b_q } = model;
  const { batchSize, numSteps, width, kernels, inputs, states, probs, tops, sums, W_wide, b_wide } = workspace;
  const rows = numSteps * batchSize;
  const size = batchSize * numHiddens;
  inputs.set(X);
  cell.forward(model, workspace);
  if (W_wide) {
    copyRows(W_wide, width, W_hq, vocabSize, numHiddens);
    b_wide.set(b_q);
  }
  probs.set(b_wide ?? b_q);
  repeat(probs, width);
  kernels.addProduct(probs, 0, states, size, W_wide ?? W_hq, 0, rows, numHiddens, width);
  kernels.softmaxRows(probs, rows, width, tops, sums);
}

/** Surprise of the token `index` in row `row` after `forward`, in nats. */
export function surpriseNats(model, { probs, width, states, tops, sums, batchSize }, row, index) {
  const { vocabSize, numHiddens, W_hq, b_q } = model;
  const p = probs[row * width + index];
  if (p > 1e-30) return -Math.log(p);
  // Below that a float32 probability becomes 0 and its logarithm infinite, while the logit itself is an ordinary number.
  let logit = b_q[index];
  const state = (row + batchSize) * numHiddens;
  for (let j = 0; j < numHiddens; j += 1) logit += states[state + j] * W_hq[j * vocabSize + index];
  return tops[row] + Math.log(sums[row]) - logit;
}

/** Total surprise of the right tokens after `forward`, in nats. */
export function totalNats(model, workspace, Y) {
  let nats = 0;
  for (let row = 0; row < workspace.numSteps * workspace.batchSize; row += 1) nats += surpriseNats(model, workspace, row, Y[row]);
  return nats;
}

/**
 * Loss of a window (mean nats a token) and its gradients, into `workspace.grads`; `forward` is included.
 *
 * With `cut`, the backward pass lets nothing through between steps cut, 2 cut, ... and the step before them: the state
 * still goes forward, but is a constant there. Without it every loss reaches back to the beginning of the window.
 */
export function lossAndGradients(model, workspace, X, Y, { cut = Infinity } = {}) {
  const { vocabSize, numHiddens, cell, W_hq } = model;
  const { batchSize, numSteps, width, kernels, states, probs, dStates, W_outT, W_wide } = workspace;
  const { grads, dW_wide, db_wide, dViews: { W_hq: dW_hq, b_q: db_q } } = workspace;
  const rows = numSteps * batchSize;
  const size = batchSize * numHiddens;
  forward(model, workspace, X);
  const loss = totalNats(model, workspace, Y) / rows;

  const dLogits = probs; // the same memory: softmax minus one-hot, a share of the mean each
  for (let i = 0; i < rows; i += 1) dLogits[i * width + Y[i]] -= 1;
  kernels.scale(dLogits, 1 / rows);
  transpose(W_outT, W_wide ?? W_hq, numHiddens, width);
  dStates.fill(0);
  kernels.addProduct(dStates, 0, dLogits, 0, W_outT, 0, rows, width, numHiddens);
  grads.fill(0);
  cell.backward(model, workspace, cut);
  dW_wide?.fill(0);
  db_wide?.fill(0);
  kernels.addTransposedProduct(dW_wide ?? dW_hq, 0, states, size, dLogits, 0, rows, numHiddens, width);
  kernels.addAllRows(db_wide ?? db_q, dLogits, rows, width);
  if (dW_wide) {
    copyRows(dW_hq, vocabSize, dW_wide, width, numHiddens);
    copyRows(db_q, vocabSize, db_wide, width, 1);
  }
  return loss;
}

// ---- one step of training -------------------------------------------------------------------------------------------

/** Length of all gradients together, as one vector. */
export function gradientNorm(grads, kernels = PLAIN) {
  return Math.sqrt(kernels.sumOfSquares(grads));
}

/** Shorten all gradients together if their length exceeds `maxNorm`; returns the length before. */
export function clipGradients(grads, maxNorm, kernels = PLAIN) {
  const norm = gradientNorm(grads, kernels);
  if (norm > maxNorm) kernels.scale(grads, maxNorm / norm);
  return norm;
}

/** An optimiser for `size` parameters: "sgd" remembers nothing, "adam" two moments. */
export function createOptimiser(kind, size, kernels = PLAIN) {
  return restartOptimiser({ kernels, m: kernels.floats(size), v: kernels.floats(size) }, kind);
}

/** Forget all moments and go on as this kind. */
export function restartOptimiser(optimiser, kind) {
  if (kind !== "sgd" && kind !== "adam") throw new RangeError(`there is no optimiser "${kind}"; there are sgd and adam`);
  optimiser.kind = kind;
  optimiser.steps = 0;
  optimiser.m.fill(0);
  optimiser.v.fill(0);
  return optimiser;
}

/** Update the parameters once: theta -= lr * gradient, or Adam's step with betas 0.9 and 0.999 and eps 1e-8. */
export function applyUpdate(optimiser, flat, grads, learningRate) {
  const { kernels, kind, m, v } = optimiser;
  if (kind === "sgd") {
    kernels.addScaled(flat, -learningRate, grads);
    return;
  }
  optimiser.steps += 1;
  const step = learningRate / (1 - 0.9 ** optimiser.steps);
  const spread = 1 / Math.sqrt(1 - 0.999 ** optimiser.steps);
  kernels.adamUpdate(flat, grads, m, v, step, spread);
}

// ---- windows of a text ------------------------------------------------------------------------------------------

/** Fill X and Y (time first) with windows that start at `starts`; Y is one step ahead. */
export function fillWindows(X, Y, ids, starts, numSteps) {
  const batchSize = starts.length;
  for (let i = 0; i < batchSize; i += 1) {
    for (let t = 0; t < numSteps; t += 1) {
      X[t * batchSize + i] = ids[starts[i] + t];
      Y[t * batchSize + i] = ids[starts[i] + t + 1];
    }
  }
}

/** Where windows start: at random, anywhere that leaves room for numSteps inputs and the last target. */
export function randomStarts(starts, numTokens, numSteps, random) {
  for (let i = 0; i < starts.length; i += 1) starts[i] = Math.floor(random() * (numTokens - numSteps));
  return starts;
}

/**
 * Score a text: { nats, numTokens }, every token but the first predicted once.
 *
 * The text is read as `batchSize` pieces side by side, each from a zero state and each with `warmUp` tokens before it
 * that are read but not scored: one long reading would give every product a single row. A `workspace` that is given
 * is one of that size.
 */
export function scoreText(model, ids, { batchSize = 32, warmUp = 64, numSteps = 32, workspace = null } = {}) {
  const { numHiddens } = model;
  const numTokens = ids.length - 1;
  const share = Math.ceil(numTokens / batchSize);
  workspace ??= createWorkspace(model, batchSize, numSteps, { gradients: false });
  resetState(workspace, numHiddens);
  const X = new Int32Array(numSteps * batchSize);
  let nats = 0;
  for (let start = -warmUp; start < share; start += numSteps) {
    for (let t = 0; t < numSteps; t += 1) {
      for (let i = 0; i < batchSize; i += 1) X[t * batchSize + i] = ids[i * share + start + t] ?? 0;
    }
    forward(model, workspace, X);
    for (let t = 0; t < numSteps; t += 1) {
      for (let i = 0; i < batchSize; i += 1) {
        const place = start + t; // within the piece
        const target = i * share + place + 1;
        if (place < 0 || place >= share || target > numTokens) continue;
        nats += surpriseNats(model, workspace, t * batchSize + i, ids[target]);
      }
    }
    carryState(workspace, numHiddens);
    // The first piece has nothing before it: its state stays zero until its text begins.
    if (start + numSteps <= 0) {
      workspace.states.fill(0, 0, numHiddens);
      workspace.cells?.fill(0, 0, numHiddens);
    }
  }
  return { nats, numTokens };
}

// ---- writing ------------------------------------------------------------------------------------------------------

/**
 * The distribution that is sampled from, out of the model's probabilities: temperature, then top-k, then top-p.
 *
 * Temperature 0 takes the likeliest token. Ties go to the smaller index, and top-p keeps a token as long as those
 * before it have not reached it, so that the first always stays: as d2lrnn.next_token_probs.
 */
export function reshapeProbs(probs, { temperature = 1, topK = Infinity, topP = 1 } = {}) {
  const order = Array.from(probs.keys()).sort((i, j) => probs[j] - probs[i] || i - j);
  const shaped = new Float64Array(probs.length);
  if (temperature === 0) {
    shaped[order[0]] = 1;
    return shaped;
  }
  const top = Math.log(probs[order[0]]);
  let sum = 0;
  for (const i of order.slice(0, topK)) {
    shaped[i] = Math.exp((Math.log(probs[i]) - top) / temperature);
    sum += shaped[i];
  }
  let before = 0;
  let kept = 0;
  for (const i of order) {
    const p = shaped[i] / sum;
    shaped[i] = topP === 1 || before < topP ? p : 0; // the sum of all, rounded, may be 1 before the last
    kept += shaped[i];
    before += p;
  }
  return shaped.map((p) => p / kept);
}

/** Draw an index from a distribution with one uniform number. */
export function sampleIndex(probs, uniform) {
  let rest = uniform;
  for (let i = 0; i < probs.length; i += 1) {
    rest -= probs[i];
    if (rest < 0) return i;
  }
  return probs.findLastIndex((p) => p > 0); // sums may end a rounding error below 1
}

/**
 * A reader of one text: `read(index)` moves the state on and returns the next token's probabilities.
 *
 * `state` can be kept and set again; `reset` forgets. The state of an LSTM is H, followed by C.
 */
export function createReader(model) {
  // Readers come and go: their buffers are no part of the memory of other kernels.
  const workspace = createWorkspace(model, 1, 1, { gradients: false, kernels: PLAIN });
  const { numHiddens } = model;
  const X = new Int32Array(1);
  return {
    read(index) {
      X[0] = index;
      forward(model, workspace, X);
      carryState(workspace, numHiddens);
      return workspace.probs;
    },
    reset: () => resetState(workspace, numHiddens),
    get state() {
      const { states, cells } = workspace;
      return Float32Array.of(...states.subarray(0, numHiddens), ...(cells?.subarray(0, numHiddens) ?? []));
    },
    set state(values) {
      workspace.states.set(values.slice(0, numHiddens), 0);
      workspace.cells?.set(values.slice(numHiddens), 0);
    },
  };
}

// ---- counts: the opponents ------------------------------------------------------------------------------------------

/**
 * Count all n-grams of a text at once, for n from 1 to `order`.
 *
 * The tokens from each place on, `order` of them, are written as the digits of one number, and the numbers are sorted:
 * everything that begins alike lies side by side, so that a context of any length is a stretch found by bisection.
 */
export function countNgrams(ids, order, vocabSize) {
  const base = vocabSize + 1; // digit 0 stands for "the text is over"
  if (base ** order > Number.MAX_SAFE_INTEGER) throw new RangeError(`n-grams of ${order} over ${vocabSize} symbols do not fit in a number`);
  const codes = new Float64Array(ids.length);
  for (let i = 0; i < ids.length; i += 1) {
    let code = 0;
    for (let p = 0; p < order; p += 1) code = code * base + (i + p < ids.length ? ids[i + p] + 1 : 0);
    codes[i] = code;
  }
  return { codes: codes.sort(), order, base, vocabSize };
}

/** The first place in a sorted array whose number is at least `code`. */
function bisect(codes, code) {
  let low = 0;
  let high = codes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (codes[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How often each token followed a context (an array of indices, shorter than the order). */
export function followers({ codes, order, base, vocabSize }, context) {
  const width = base ** (order - context.length);
  const start = context.reduce((code, index) => code * base + index + 1, 0) * width;
  const step = width / base;
  const counts = new Float64Array(vocabSize);
  let from = bisect(codes, start + step); // the context at the very end of the text has no follower
  for (let index = 0; index < vocabSize && from < codes.length && codes[from] < start + width; index += 1) {
    const to = bisect(codes, start + (index + 2) * step);
    counts[index] = to - from;
    from = to;
  }
  return counts;
}
