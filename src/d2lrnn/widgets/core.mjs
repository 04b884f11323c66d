// A character language model that trains in the page: tanh recurrence, softmax with cross-entropy, backpropagation
// through time by hand, clipping, SGD and Adam; n-gram counts with Witten-Bell smoothing; sampling.
//
// Pure: typed arrays in, typed arrays out, no DOM. The same mathematics as d2lrnn's RNNLM, clip_gradients, torch.optim
// and NGramLM, proven equal on shared cases. Matrices are stored row by row; a sequence is stored time first, so that
// the rows of one step lie side by side.

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

// ---- matrix products --------------------------------------------------------------------------------------------
// Four rows and four columns at a time: sixteen sums stay in registers, and a number that was read serves four of them.

/** C (n, m) += A (n, k) B (k, m); each with the offset of its first number. */
export function addProduct(C, c0, A, a0, B, b0, n, k, m) {
  const n4 = n - (n % 4);
  const m4 = m - (m % 4);
  for (let i = 0; i < n4; i += 4) {
    const r0 = a0 + i * k;
    const r1 = r0 + k;
    const r2 = r1 + k;
    const r3 = r2 + k;
    for (let j = 0; j < m4; j += 4) {
      let s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
      let s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
      let b = b0 + j;
      for (let p = 0; p < k; p += 1) {
        const v0 = B[b], v1 = B[b + 1], v2 = B[b + 2], v3 = B[b + 3];
        const u0 = A[r0 + p], u1 = A[r1 + p], u2 = A[r2 + p], u3 = A[r3 + p];
        s00 += u0 * v0; s01 += u0 * v1; s02 += u0 * v2; s03 += u0 * v3;
        s10 += u1 * v0; s11 += u1 * v1; s12 += u1 * v2; s13 += u1 * v3;
        s20 += u2 * v0; s21 += u2 * v1; s22 += u2 * v2; s23 += u2 * v3;
        s30 += u3 * v0; s31 += u3 * v1; s32 += u3 * v2; s33 += u3 * v3;
        b += m;
      }
      let c = c0 + i * m + j;
      C[c] += s00; C[c + 1] += s01; C[c + 2] += s02; C[c + 3] += s03;
      c += m;
      C[c] += s10; C[c + 1] += s11; C[c + 2] += s12; C[c + 3] += s13;
      c += m;
      C[c] += s20; C[c + 1] += s21; C[c + 2] += s22; C[c + 3] += s23;
      c += m;
      C[c] += s30; C[c + 1] += s31; C[c + 2] += s32; C[c + 3] += s33;
    }
  }
  const edge = (i, j) => {
    let sum = 0;
    for (let p = 0; p < k; p += 1) sum += A[a0 + i * k + p] * B[b0 + p * m + j];
    C[c0 + i * m + j] += sum;
  };
  for (let i = 0; i < n4; i += 1) for (let j = m4; j < m; j += 1) edge(i, j);
  for (let i = n4; i < n; i += 1) for (let j = 0; j < m; j += 1) edge(i, j);
}

/** C (k, m) += transpose of A (n, k) times B (n, m). */
export function addTransposedProduct(C, c0, A, a0, B, b0, n, k, m) {
  const k4 = k - (k % 4);
  const m4 = m - (m % 4);
  for (let i = 0; i < k4; i += 4) {
    for (let j = 0; j < m4; j += 4) {
      let s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
      let s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
      let a = a0 + i;
      let b = b0 + j;
      for (let p = 0; p < n; p += 1) {
        const u0 = A[a], u1 = A[a + 1], u2 = A[a + 2], u3 = A[a + 3];
        const v0 = B[b], v1 = B[b + 1], v2 = B[b + 2], v3 = B[b + 3];
        s00 += u0 * v0; s01 += u0 * v1; s02 += u0 * v2; s03 += u0 * v3;
        s10 += u1 * v0; s11 += u1 * v1; s12 += u1 * v2; s13 += u1 * v3;
        s20 += u2 * v0; s21 += u2 * v1; s22 += u2 * v2; s23 += u2 * v3;
        s30 += u3 * v0; s31 += u3 * v1; s32 += u3 * v2; s33 += u3 * v3;
        a += k;
        b += m;
      }
      let c = c0 + i * m + j;
      C[c] += s00; C[c + 1] += s01; C[c + 2] += s02; C[c + 3] += s03;
      c += m;
      C[c] += s10; C[c + 1] += s11; C[c + 2] += s12; C[c + 3] += s13;
      c += m;
      C[c] += s20; C[c + 1] += s21; C[c + 2] += s22; C[c + 3] += s23;
      c += m;
      C[c] += s30; C[c + 1] += s31; C[c + 2] += s32; C[c + 3] += s33;
    }
  }
  const edge = (i, j) => {
    let sum = 0;
    for (let p = 0; p < n; p += 1) sum += A[a0 + p * k + i] * B[b0 + p * m + j];
    C[c0 + i * m + j] += sum;
  };
  for (let i = 0; i < k4; i += 1) for (let j = m4; j < m; j += 1) edge(i, j);
  for (let i = k4; i < k; i += 1) for (let j = 0; j < m; j += 1) edge(i, j);
}

/** B (m, n) = transpose of A (n, m). */
function transpose(B, A, n, m) {
  for (let i = 0; i < n; i += 1) for (let j = 0; j < m; j += 1) B[j * n + i] = A[i * m + j];
}

// ---- the model --------------------------------------------------------------------------------------------------

/** Names and shapes of the parameters, in the order of the flat array. */
export function parameterShapes(vocabSize, numHiddens) {
  return [
    ["W_xh", [vocabSize, numHiddens]],
    ["W_hh", [numHiddens, numHiddens]],
    ["b_h", [numHiddens]],
    ["W_hq", [numHiddens, vocabSize]],
    ["b_q", [vocabSize]],
  ];
}

/** How many numbers the model learns. */
export function countParameters(vocabSize, numHiddens) {
  return parameterShapes(vocabSize, numHiddens).reduce((sum, [, shape]) => sum + shape.reduce((a, b) => a * b), 0);
}

/** Named views into one flat array of parameters or gradients. */
function viewsOf(flat, vocabSize, numHiddens) {
  let start = 0;
  const views = {};
  for (const [name, shape] of parameterShapes(vocabSize, numHiddens)) {
    const size = shape.reduce((a, b) => a * b);
    views[name] = flat.subarray(start, start + size);
    start += size;
  }
  return views;
}

/** A model over a flat Float32Array of parameters (zeros if left out): { vocabSize, numHiddens, flat, W_xh, ... }. */
export function createModel(vocabSize, numHiddens, flat = new Float32Array(countParameters(vocabSize, numHiddens))) {
  const expected = countParameters(vocabSize, numHiddens);
  if (flat.length !== expected) {
    throw new RangeError(`a model of ${vocabSize} symbols and ${numHiddens} units has ${expected} parameters, not ${flat.length}`);
  }
  return { vocabSize, numHiddens, flat, ...viewsOf(flat, vocabSize, numHiddens) };
}

/** Start afresh: all uniform within ±1/√numHiddens, as torch does, and W_hh orthogonal if asked for. */
export function initialise(model, seed, { orthogonal = true } = {}) {
  const random = randomSource(seed);
  const { numHiddens, flat, W_hh } = model;
  const bound = 1 / Math.sqrt(numHiddens);
  for (let i = 0; i < flat.length; i += 1) flat[i] = bound * (2 * random() - 1);
  if (orthogonal) fillOrthogonal(W_hh, numHiddens, random);
  return model;
}

/** A random rotation or reflection: normal rows, made orthonormal one after the other (Gram and Schmidt, twice). */
function fillOrthogonal(W, n, random) {
  const rows = Array.from({ length: n }, () => Float64Array.from({ length: n }, () => normal(random)));
  const dot = (u, v) => u.reduce((sum, x, i) => sum + x * v[i], 0);
  rows.forEach((row, i) => {
    for (let pass = 0; pass < 2; pass += 1) {
      for (let j = 0; j < i; j += 1) {
        const along = dot(row, rows[j]);
        for (let p = 0; p < n; p += 1) row[p] -= along * rows[j][p];
      }
    }
    const length = Math.sqrt(dot(row, row));
    for (let p = 0; p < n; p += 1) W[i * n + p] = row[p] /= length;
  });
}

// ---- forward and backward through time ----------------------------------------------------------------------------

/**
 * Buffers for windows of one size, made once and used for every step.
 *
 * `states` holds numSteps + 1 states, the first the one to start from; `probs` the predictions after the softmax.
 */
export function createWorkspace({ vocabSize, numHiddens }, batchSize, numSteps) {
  const rows = numSteps * batchSize;
  const grads = new Float32Array(countParameters(vocabSize, numHiddens));
  return {
    batchSize,
    numSteps,
    states: new Float32Array((rows + batchSize) * numHiddens),
    probs: new Float32Array(rows * vocabSize),
    logNorms: new Float32Array(rows),
    dStates: new Float32Array(rows * numHiddens),
    W_hhT: new Float32Array(numHiddens * numHiddens),
    W_hqT: new Float32Array(vocabSize * numHiddens),
    grads,
    dViews: viewsOf(grads, vocabSize, numHiddens),
  };
}

/** Forget: the state to start from becomes zero. */
export function resetState(workspace, numHiddens) {
  workspace.states.fill(0, 0, workspace.batchSize * numHiddens);
}

/** Carry on: the state to start from becomes the last one of the window just read. */
export function carryState({ states, batchSize, numSteps }, numHiddens) {
  const size = batchSize * numHiddens;
  states.copyWithin(0, numSteps * size, (numSteps + 1) * size);
}

/**
 * Read a window: H_t = tanh(x_t W_xh + H_{t-1} W_hh + b_h), logits H_t W_hq + b_q, softmax.
 *
 * `X` holds indices, time first (numSteps * batchSize). Fills `states` from the second on, and `probs`.
 */
export function forward(model, workspace, X) {
  const { vocabSize, numHiddens, W_xh, W_hh, b_h, W_hq, b_q } = model;
  const { batchSize, numSteps, states, probs, logNorms } = workspace;
  const size = batchSize * numHiddens;
  for (let t = 0; t < numSteps; t += 1) {
    const here = (t + 1) * size;
    for (let i = 0; i < batchSize; i += 1) {
      const row = X[t * batchSize + i] * numHiddens; // a one-hot vector times W_xh is a row of W_xh
      const out = here + i * numHiddens;
      for (let j = 0; j < numHiddens; j += 1) states[out + j] = W_xh[row + j] + b_h[j];
    }
    addProduct(states, here, states, t * size, W_hh, 0, batchSize, numHiddens, numHiddens);
    for (let i = here; i < here + size; i += 1) states[i] = Math.tanh(states[i]);
  }
  const rows = numSteps * batchSize;
  for (let i = 0; i < rows; i += 1) probs.set(b_q, i * vocabSize);
  addProduct(probs, 0, states, size, W_hq, 0, rows, numHiddens, vocabSize);
  for (let i = 0; i < rows; i += 1) logNorms[i] = softmaxInPlace(probs, i * vocabSize, vocabSize);
}

/** Logits become probabilities; returns log(sum(exp(logits))). The largest is taken away first: nothing overflows. */
export function softmaxInPlace(values, start, length) {
  let largest = -Infinity;
  for (let i = start; i < start + length; i += 1) if (values[i] > largest) largest = values[i];
  let sum = 0;
  for (let i = start; i < start + length; i += 1) {
    const e = Math.exp(values[i] - largest);
    values[i] = e;
    sum += e;
  }
  for (let i = start; i < start + length; i += 1) values[i] /= sum;
  return largest + Math.log(sum);
}

/** Surprise of the token `index` in row `row` after `forward`, in nats. */
export function surpriseNats(model, { probs, states, logNorms, batchSize }, row, index) {
  const { vocabSize, numHiddens, W_hq, b_q } = model;
  const p = probs[row * vocabSize + index];
  if (p > 1e-30) return -Math.log(p);
  // Below that a float32 probability becomes 0 and its logarithm infinite, while the logit itself is an ordinary number.
  let logit = b_q[index];
  const state = (row + batchSize) * numHiddens;
  for (let j = 0; j < numHiddens; j += 1) logit += states[state + j] * W_hq[j * vocabSize + index];
  return logNorms[row] - logit;
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
  const { vocabSize, numHiddens, W_hh, W_hq } = model;
  const { batchSize, numSteps, states, probs, dStates, W_hhT, W_hqT, grads, dViews } = workspace;
  const rows = numSteps * batchSize;
  const size = batchSize * numHiddens;
  forward(model, workspace, X);
  const loss = totalNats(model, workspace, Y) / rows;

  const dLogits = probs; // the same memory: softmax minus one-hot, a share of the mean each
  for (let i = 0; i < rows; i += 1) dLogits[i * vocabSize + Y[i]] -= 1;
  for (let i = 0; i < rows * vocabSize; i += 1) dLogits[i] /= rows;
  transpose(W_hqT, W_hq, numHiddens, vocabSize);
  transpose(W_hhT, W_hh, numHiddens, numHiddens);
  dStates.fill(0);
  addProduct(dStates, 0, dLogits, 0, W_hqT, 0, rows, vocabSize, numHiddens);
  for (let t = numSteps - 1; t >= 0; t -= 1) {
    const here = t * size;
    // What comes from the right is already added; through the tanh, dStates becomes the gradient before it.
    for (let i = 0; i < size; i += 1) {
      const h = states[size + here + i];
      dStates[here + i] *= 1 - h * h;
    }
    if (t > 0 && t % cut !== 0) addProduct(dStates, here - size, dStates, here, W_hhT, 0, batchSize, numHiddens, numHiddens);
  }

  grads.fill(0);
  const { W_xh: dW_xh, W_hh: dW_hh, b_h: db_h, W_hq: dW_hq, b_q: db_q } = dViews;
  addTransposedProduct(dW_hh, 0, states, 0, dStates, 0, rows, numHiddens, numHiddens); // all steps at once
  addTransposedProduct(dW_hq, 0, states, size, dLogits, 0, rows, numHiddens, vocabSize);
  for (let i = 0; i < rows; i += 1) {
    const row = X[i] * numHiddens;
    for (let j = 0; j < numHiddens; j += 1) {
      const d = dStates[i * numHiddens + j];
      dW_xh[row + j] += d;
      db_h[j] += d;
    }
    for (let j = 0; j < vocabSize; j += 1) db_q[j] += dLogits[i * vocabSize + j];
  }
  return loss;
}

// ---- one step of training -------------------------------------------------------------------------------------------

/** Length of all gradients together, as one vector. */
export function gradientNorm(grads) {
  let sum = 0;
  for (let i = 0; i < grads.length; i += 1) sum += grads[i] * grads[i];
  return Math.sqrt(sum);
}

/** Shorten all gradients together if their length exceeds `maxNorm`; returns the length before. */
export function clipGradients(grads, maxNorm) {
  const norm = gradientNorm(grads);
  if (norm > maxNorm) {
    const factor = maxNorm / norm;
    for (let i = 0; i < grads.length; i += 1) grads[i] *= factor;
  }
  return norm;
}

/** What an optimiser remembers: nothing for "sgd", two moments for "adam". */
export function createOptimiser(kind, size) {
  if (kind === "sgd") return { kind };
  if (kind === "adam") return { kind, steps: 0, m: new Float32Array(size), v: new Float32Array(size) };
  throw new RangeError(`there is no optimiser "${kind}"; there are sgd and adam`);
}

/** Update the parameters once: theta -= lr * gradient, or Adam's step with betas 0.9 and 0.999 and eps 1e-8. */
export function applyUpdate(optimiser, flat, grads, learningRate) {
  if (optimiser.kind === "sgd") {
    for (let i = 0; i < flat.length; i += 1) flat[i] -= learningRate * grads[i];
    return;
  }
  const { m, v } = optimiser;
  optimiser.steps += 1;
  const step = learningRate / (1 - 0.9 ** optimiser.steps);
  const scale = 1 / Math.sqrt(1 - 0.999 ** optimiser.steps);
  for (let i = 0; i < flat.length; i += 1) {
    const g = grads[i];
    m[i] += 0.1 * (g - m[i]);
    v[i] += 0.001 * (g * g - v[i]);
    flat[i] -= (step * m[i]) / (Math.sqrt(v[i]) * scale + 1e-8);
  }
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
 * that are read but not scored: one long reading would give every product a single row.
 */
export function scoreText(model, ids, { batchSize = 32, warmUp = 64, numSteps = 32 } = {}) {
  const { vocabSize, numHiddens } = model;
  const numTokens = ids.length - 1;
  const share = Math.ceil(numTokens / batchSize);
  const workspace = createWorkspace(model, batchSize, numSteps);
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
    if (start + numSteps <= 0) workspace.states.fill(0, 0, numHiddens);
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
    shaped[i] = before < topP ? p : 0;
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

/** A reader of one text: `read(index)` moves the state on and returns the next token's probabilities. */
export function createReader(model) {
  const workspace = createWorkspace(model, 1, 1);
  const { numHiddens } = model;
  const X = new Int32Array(1);
  return {
    read(index) {
      X[0] = index;
      forward(model, workspace, X);
      carryState(workspace, numHiddens);
      return workspace.probs;
    },
    get state() {
      return workspace.states.slice(0, numHiddens);
    },
    set state(values) {
      workspace.states.set(values, 0);
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

/** Witten and Bell's probabilities of the next token, from an n-gram model of order n: as d2lrnn.NGramLM. */
export function ngramProbs(table, n, context) {
  let probs = new Float64Array(table.vocabSize).fill(1 / table.vocabSize);
  const longest = Math.min(n - 1, context.length);
  for (let length = 0; length <= longest; length += 1) {
    const counts = followers(table, context.slice(context.length - length));
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) break; // then no longer context was seen either
    const types = counts.reduce((sum, count) => sum + (count > 0), 0);
    probs = probs.map((p, index) => (counts[index] + types * p) / (total + types));
  }
  return probs;
}

/** How many different contexts of n - 1 tokens the text has, each followed by something. */
export function countContexts({ codes, order, base }, n) {
  const width = base ** (order - n + 1);
  const step = width / base;
  let contexts = 0;
  let last = -1;
  for (const code of codes) {
    const context = Math.floor(code / width);
    if (code % width < step) continue; // nothing follows
    if (context !== last) contexts += 1;
    last = context;
  }
  return contexts;
}

/** Score a text under the n-gram model: { nats, numTokens }, every token but the first predicted once. */
export function scoreNgram(table, n, ids) {
  const known = new Map(); // a context's probabilities: texts repeat their contexts
  let nats = 0;
  for (let place = 1; place < ids.length; place += 1) {
    const context = Array.from(ids.slice(Math.max(0, place - n + 1), n > 1 ? place : 0));
    const key = context.join();
    if (!known.has(key)) known.set(key, ngramProbs(table, n, context));
    nats -= Math.log(known.get(key)[ids[place]]);
  }
  return { nats, numTokens: ids.length - 1 };
}
