// GRU and LSTM for core.mjs: layers with the equations, gate order and biases of torch's nn.GRU and nn.LSTM, so of
// d2lrnn.GRU and d2lrnn.LSTM. Model and workspace are made by core's functions: createModel(27, 64, null, kernels, LSTM).
//
// The blocks of the gates stand side by side in the columns of W_xh, W_hh and of two biases, b_x and b_h.
import { fillOrthogonal, repeat, TANH, transpose } from "./core.mjs";

/** The parameters of a layer with so many blocks. */
const shapesOf = (blocks) => (vocabSize, numHiddens) => [
  ["W_xh", [vocabSize, blocks * numHiddens]],
  ["W_hh", [numHiddens, blocks * numHiddens]],
  ["b_x", [blocks * numHiddens]],
  ["b_h", [blocks * numHiddens]],
];

/** Recurrent weights orthogonal, block by block; biases 0. */
function startBlocks({ numHiddens, W_hh, b_x, b_h }, random, orthogonal, blocks) {
  b_x.fill(0);
  b_h.fill(0);
  if (!orthogonal) return;
  for (let k = 0; k < blocks; k += 1) fillOrthogonal(W_hh, numHiddens, random, blocks * numHiddens, k * numHiddens);
}

/** V *= 1/2 in columns from..to of `n` rows: sigmoid(v) = (1 + tanh(v / 2)) / 2, so that one kernel serves all gates. */
function halve(V, start, n, width, from, to) {
  for (let i = 0; i < n; i += 1) {
    const row = start + i * width;
    for (let j = row + from; j < row + to; j += 1) V[j] *= 0.5;
  }
}

/**
 * I, F, O = sigmoid(x W_xh + b_x + H W_hh + b_h), G = tanh(...); C_t = F C_{t-1} + I G; H_t = O tanh(C_t).
 *
 * Blocks in torch's order I, F, G, O. After `forward` the workspace's `gates` hold their values, rows of 4 numHiddens,
 * and `cells` hold C, the first the one to start from.
 */
export const LSTM = {
  name: "lstm",
  shapes: shapesOf(4),

  /** The forget gate starts with a bias of 1, as in d2lrnn.LSTM. */
  start(model, random, orthogonal) {
    startBlocks(model, random, orthogonal, 4);
    model.b_x.fill(1, model.numHiddens, 2 * model.numHiddens);
  },

  buffers({ numHiddens }, { batchSize, numSteps, gradients, kernels: { floats } }) {
    const rows = numSteps * batchSize;
    return {
      gates: floats(rows * 4 * numHiddens),
      cells: floats((rows + batchSize) * numHiddens),
      squashed: floats(rows * numHiddens), // tanh(C)
      bias: floats(4 * numHiddens),
      dCells: gradients ? floats(batchSize * numHiddens) : null,
      W_hhT: gradients ? floats(4 * numHiddens * numHiddens) : null,
    };
  },

  forward({ numHiddens: n, W_xh, W_hh, b_x, b_h }, workspace) {
    const { batchSize, numSteps, kernels, inputs, states, gates, cells, squashed, bias } = workspace;
    const width = 4 * n;
    const size = batchSize * n;
    for (let j = 0; j < width; j += 1) bias[j] = b_x[j] + b_h[j];
    kernels.lookUpRows(gates, 0, W_xh, bias, inputs, numSteps * batchSize, width);
    for (let t = 0; t < numSteps; t += 1) {
      const now = t * batchSize * width;
      const before = t * size; // in states and cells; the new ones stand one step further
      kernels.addProduct(gates, now, states, before, W_hh, 0, batchSize, n, width);
      halve(gates, now, batchSize, width, 0, 2 * n);
      halve(gates, now, batchSize, width, 3 * n, width);
      kernels.tanhInPlace(gates, now, batchSize * width);
      for (let i = 0; i < batchSize; i += 1) {
        for (let j = 0; j < n; j += 1) {
          const at = now + i * width + j;
          const cell = before + i * n + j;
          gates[at] = 0.5 + 0.5 * gates[at];
          gates[at + n] = 0.5 + 0.5 * gates[at + n];
          gates[at + 3 * n] = 0.5 + 0.5 * gates[at + 3 * n];
          squashed[cell] = cells[cell + size] = gates[at + n] * cells[cell] + gates[at] * gates[at + 2 * n];
        }
      }
      kernels.tanhInPlace(squashed, before, size);
      for (let i = 0; i < batchSize; i += 1) {
        const shown = now + i * width + 3 * n;
        const row = before + i * n;
        for (let j = 0; j < n; j += 1) states[size + row + j] = gates[shown + j] * squashed[row + j];
      }
    }
  },

  backward({ vocabSize, numHiddens: n, W_hh }, workspace, cut) {
    const { batchSize, numSteps, kernels, inputs, states, gates, cells, squashed, dStates, dCells, W_hhT, dViews } = workspace;
    const width = 4 * n;
    const size = batchSize * n;
    const rows = numSteps * batchSize;
    transpose(W_hhT, W_hh, n, width);
    dCells.fill(0);
    for (let t = numSteps - 1; t >= 0; t -= 1) {
      const now = t * batchSize * width;
      const before = t * size;
      for (let i = 0; i < batchSize; i += 1) {
        for (let j = 0; j < n; j += 1) {
          const at = now + i * width + j;
          const cell = before + i * n + j;
          const I = gates[at], F = gates[at + n], G = gates[at + 2 * n], O = gates[at + 3 * n];
          const h = squashed[cell];
          const dH = dStates[cell];
          const dC = dCells[i * n + j] + dH * O * (1 - h * h);
          // From here on `gates` hold the gradients before the sigmoids and the tanh.
          gates[at] = dC * G * I * (1 - I);
          gates[at + n] = dC * cells[cell] * F * (1 - F);
          gates[at + 2 * n] = dC * I * (1 - G * G);
          gates[at + 3 * n] = dH * h * O * (1 - O);
          dCells[i * n + j] = dC * F;
        }
      }
      if (t > 0 && t % cut !== 0) kernels.addProduct(dStates, before - size, gates, now, W_hhT, 0, batchSize, width, n);
      else dCells.fill(0);
    }
    kernels.addTransposedProduct(dViews.W_hh, 0, states, 0, gates, 0, rows, n, width);
    kernels.addToRows(dViews.W_xh, inputs, gates, rows, width);
    kernels.addAllRows(dViews.b_h, dViews.W_xh, vocabSize, width); // each row of `gates` went into one of these
    dViews.b_x.set(dViews.b_h);
  },
};

/**
 * R, Z = sigmoid(x W_xh + b_x + H W_hh + b_h), N = tanh(x W_xn + b_xn + R (H W_hn + b_hn)); H_t = (1 - Z) N + Z H_{t-1}.
 *
 * Blocks in torch's order R, Z, N. After `forward` the workspace's `gates` hold their values, rows of 3 numHiddens.
 */
export const GRU = {
  name: "gru",
  shapes: shapesOf(3),
  start: (model, random, orthogonal) => startBlocks(model, random, orthogonal, 3),

  buffers({ numHiddens }, { batchSize, numSteps, gradients, kernels: { floats } }) {
    const size = numSteps * batchSize * 3 * numHiddens;
    return {
      gates: floats(size),
      recurrent: floats(size), // H W_hh + b_h
      W_hhT: gradients ? floats(3 * numHiddens * numHiddens) : null,
    };
  },

  forward({ numHiddens: n, W_xh, W_hh, b_x, b_h }, { batchSize, numSteps, kernels, inputs, states, gates, recurrent }) {
    const width = 3 * n;
    const size = batchSize * n;
    kernels.lookUpRows(gates, 0, W_xh, b_x, inputs, numSteps * batchSize, width);
    recurrent.set(b_h);
    repeat(recurrent, width);
    for (let t = 0; t < numSteps; t += 1) {
      const before = t * size;
      kernels.addProduct(recurrent, t * batchSize * width, states, before, W_hh, 0, batchSize, n, width);
      for (let i = 0; i < batchSize; i += 1) {
        const row = (t * batchSize + i) * width;
        for (let j = row; j < row + 2 * n; j += 1) gates[j] = 0.5 * (gates[j] + recurrent[j]);
        kernels.tanhInPlace(gates, row, 2 * n);
        for (let j = row; j < row + 2 * n; j += 1) gates[j] = 0.5 + 0.5 * gates[j];
        for (let j = row; j < row + n; j += 1) gates[j + 2 * n] += gates[j] * recurrent[j + 2 * n];
        kernels.tanhInPlace(gates, row + 2 * n, n);
        const state = before + i * n;
        for (let j = 0; j < n; j += 1) {
          const Z = gates[row + n + j];
          states[size + state + j] = (1 - Z) * gates[row + 2 * n + j] + Z * states[state + j];
        }
      }
    }
  },

  backward({ vocabSize, numHiddens: n, W_hh }, workspace, cut) {
    const { batchSize, numSteps, kernels, inputs, states, gates, recurrent, dStates, W_hhT, dViews } = workspace;
    const width = 3 * n;
    const size = batchSize * n;
    const rows = numSteps * batchSize;
    transpose(W_hhT, W_hh, n, width);
    for (let t = numSteps - 1; t >= 0; t -= 1) {
      const before = t * size;
      const passes = t > 0 && t % cut !== 0;
      for (let i = 0; i < batchSize; i += 1) {
        const row = (t * batchSize + i) * width;
        for (let j = 0; j < n; j += 1) {
          const at = row + j;
          const R = gates[at], Z = gates[at + n], N = gates[at + 2 * n];
          const state = before + i * n + j;
          const dH = dStates[state];
          const dN = dH * (1 - Z) * (1 - N * N);
          // From here on `gates` hold the gradients on the input's side, `recurrent` those on the state's side.
          gates[at] = dN * recurrent[at + 2 * n] * R * (1 - R);
          gates[at + n] = dH * (states[state] - N) * Z * (1 - Z);
          gates[at + 2 * n] = dN;
          recurrent[at] = gates[at];
          recurrent[at + n] = gates[at + n];
          recurrent[at + 2 * n] = dN * R;
          if (passes) dStates[state - size] += dH * Z;
        }
      }
      if (passes) kernels.addProduct(dStates, before - size, recurrent, t * batchSize * width, W_hhT, 0, batchSize, width, n);
    }
    kernels.addTransposedProduct(dViews.W_hh, 0, states, 0, recurrent, 0, rows, n, width);
    kernels.addAllRows(dViews.b_h, recurrent, rows, width);
    kernels.addToRows(dViews.W_xh, inputs, gates, rows, width);
    kernels.addAllRows(dViews.b_x, dViews.W_xh, vocabSize, width); // each row of `gates` went into one of these
  },
};

/** The layer of that name: "tanh", "gru" or "lstm". */
export function cellOf(name) {
  const cell = [TANH, GRU, LSTM].find((one) => one.name === name);
  if (cell === undefined) throw new RangeError(`there is no layer "${name}"; there are tanh, gru and lstm`);
  return cell;
}
