// The inner loops of core.mjs, in plain JavaScript. simd.mjs has the same set in WebAssembly; either stands behind a
// workspace, and the mathematics above them is written once.
//
// Matrices lie row by row in Float32Arrays, each given with the place of its first number where that is not 0.

/** C (n, m) += A (n, k) B (k, m). */
function addProduct(C, c0, A, a0, B, b0, n, k, m) {
  // Four rows and four columns at a time: sixteen sums stay in registers, and a number that was read serves four of them.
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
  for (let i = n4; i < n; i += 1) {
    const a = a0 + i * k;
    for (let j = 0; j < m4; j += 4) {
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      let b = b0 + j;
      for (let p = 0; p < k; p += 1) {
        const u = A[a + p];
        s0 += u * B[b]; s1 += u * B[b + 1]; s2 += u * B[b + 2]; s3 += u * B[b + 3];
        b += m;
      }
      const c = c0 + i * m + j;
      C[c] += s0; C[c + 1] += s1; C[c + 2] += s2; C[c + 3] += s3;
    }
  }
  for (let j = m4; j < m; j += 1) {
    for (let i = 0; i < n; i += 1) {
      let sum = 0;
      for (let p = 0; p < k; p += 1) sum += A[a0 + i * k + p] * B[b0 + p * m + j];
      C[c0 + i * m + j] += sum;
    }
  }
}

/** C (k, m) += transpose of A (n, k) times B (n, m). */
function addTransposedProduct(C, c0, A, a0, B, b0, n, k, m) {
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

/** V = tanh(V) from `start` on. In double precision the exponential leaves digits enough, and costs two thirds of Math.tanh. */
function tanhInPlace(V, start, length) {
  for (let i = start; i < start + length; i += 1) V[i] = 1 - 2 / (Math.exp(2 * V[i]) + 1);
}

/** D *= 1 - H H, number by number: from the gradient after a tanh, whose value is H, to the one before it. */
function backThroughTanh(D, d0, H, h0, length) {
  for (let i = 0; i < length; i += 1) {
    const h = H[h0 + i];
    D[d0 + i] *= 1 - h * h;
  }
}

/**
 * Each row of V (n, m) becomes its softmax. The row's largest number goes into `tops`: taken away first, nothing
 * overflows. The sum of the exponentials goes into `sums`, so that log(sum(exp(row))) = top + log(sum).
 */
function softmaxRows(V, n, m, tops, sums) {
  for (let row = 0; row < n; row += 1) {
    const start = row * m;
    const end = start + m;
    let top = -Infinity;
    for (let i = start; i < end; i += 1) if (V[i] > top) top = V[i];
    let sum = 0;
    for (let i = start; i < end; i += 1) {
      const e = Math.exp(V[i] - top);
      V[i] = e;
      sum += e;
    }
    for (let i = start; i < end; i += 1) V[i] /= sum;
    tops[row] = top;
    sums[row] = sum;
  }
}

/** Row i of `out` (n, m), from `start` on, = row index[i] of W + b: a one-hot vector times W is a row of W. */
function lookUpRows(out, start, W, b, index, n, m) {
  for (let i = 0; i < n; i += 1) {
    const from = index[i] * m;
    const to = start + i * m;
    for (let j = 0; j < m; j += 1) out[to + j] = W[from + j] + b[j];
  }
}

/** Row index[i] of W += row i of D (n, m). */
function addToRows(W, index, D, n, m) {
  for (let i = 0; i < n; i += 1) {
    const to = index[i] * m;
    for (let j = 0; j < m; j += 1) W[to + j] += D[i * m + j];
  }
}

/** sum (m) += all rows of D (n, m). */
function addAllRows(sum, D, n, m) {
  for (let i = 0; i < n; i += 1) for (let j = 0; j < m; j += 1) sum[j] += D[i * m + j];
}

function sumOfSquares(V) {
  let sum = 0;
  for (let i = 0; i < V.length; i += 1) sum += V[i] * V[i];
  return sum;
}

/** V *= factor. */
function scale(V, factor) {
  for (let i = 0; i < V.length; i += 1) V[i] *= factor;
}

/** V += factor U. */
function addScaled(V, factor, U) {
  for (let i = 0; i < V.length; i += 1) V[i] += factor * U[i];
}

/** Adam's moments move towards G and G G by shares of 0.1 and 0.001; V -= step mean / (spread sqrt(square) + 1e-8). */
function adamUpdate(V, G, mean, square, step, spread) {
  for (let i = 0; i < V.length; i += 1) {
    const g = G[i];
    mean[i] += 0.1 * (g - mean[i]);
    square[i] += 0.001 * (g * g - square[i]);
    V[i] -= (step * mean[i]) / (Math.sqrt(square[i]) * spread + 1e-8);
  }
}

/** The plain set: arrays lie anywhere. */
export const PLAIN = {
  name: "plain",
  floats: (length) => new Float32Array(length),
  integers: (length) => new Int32Array(length),
  clear() {},
  addProduct,
  addTransposedProduct,
  tanhInPlace,
  backThroughTanh,
  softmaxRows,
  lookUpRows,
  addToRows,
  addAllRows,
  sumOfSquares,
  scale,
  addScaled,
  adamUpdate,
};
