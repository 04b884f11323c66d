// Each kernel, plain and in WebAssembly, against its definition, in sizes that leave every kind of rest.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { randomSource } from "../../src/d2lrnn/widgets/core.mjs";
import { PLAIN } from "../../src/d2lrnn/widgets/kernels.mjs";
import { createKernels, createSimdKernels } from "../../src/d2lrnn/widgets/simd.mjs";
import { checkClose } from "./engine_parity.mjs";

const BOTH = [PLAIN, createSimdKernels()];
const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 31, 64];

/** An array of the kernels' own with these numbers. */
function own(kernels, numbers, kind = "floats") {
  const array = kernels[kind](numbers.length);
  array.set(numbers);
  return array;
}

/** A source of arrays of numbers between -most and most. */
function source(seed) {
  const random = randomSource(seed);
  return (kernels, count, most = 0.5) => own(kernels, Array.from({ length: count }, () => most * (2 * random() - 1)));
}

/** Run a check with either set of kernels, from a clean memory. */
function withBoth(check) {
  for (const kernels of BOTH) {
    kernels.clear();
    check(kernels, source(2), kernels.name);
  }
}

test("products of all shapes, anywhere in an array", () => {
  const shapes = [[4, 4, 4], [5, 3, 7], [1, 9, 2], [8, 1, 5], [3, 6, 4], [6, 5, 13], [130, 5, 12], [9, 64, 28]];
  withBoth((kernels, numbers, name) => {
    for (const [n, k, m] of shapes) {
      const [A, B, C] = [n * k + 3, k * m + 5, n * m + 9].map((count) => numbers(kernels, count));
      const expected = Array.from(C);
      for (let i = 0; i < n * m; i += 1) {
        for (let p = 0; p < k; p += 1) expected[7 + i] += A[3 + Math.floor(i / m) * k + p] * B[5 + p * m + (i % m)];
      }
      kernels.addProduct(C, 7, A, 3, B, 5, n, k, m);
      checkClose(C, expected, `${name}: ${n} ${k} ${m}`, 1e-6);

      const E = numbers(kernels, n * m + 2);
      const F = numbers(kernels, k * m + 6);
      const transposed = Array.from(F);
      for (let c = 0; c < k * m; c += 1) {
        for (let p = 0; p < n; p += 1) transposed[4 + c] += A[3 + p * k + Math.floor(c / m)] * E[1 + p * m + (c % m)];
      }
      kernels.addTransposedProduct(F, 4, A, 3, E, 1, n, k, m);
      checkClose(F, transposed, `${name}: transposed ${n} ${k} ${m}`, 1e-6);
    }
  });
});

test("tanh is right to seven digits everywhere, and so is the way back", () => {
  const places = [0, -0, 1e-30, 1e-6, 0.1, 0.6249, 0.6251, 1, 3, 8.9, 9.1, 20, 44, 1e5, Infinity].flatMap((x) => [x, -x]);
  withBoth((kernels, numbers, name) => {
    const V = own(kernels, places);
    kernels.tanhInPlace(V, 0, V.length);
    Float32Array.from(places).forEach((x, i) => {
      const allowed = 2e-7 * Math.min(1, Math.abs(x)) + 2e-16;
      assert.ok(Math.abs(V[i] - Math.tanh(x)) <= allowed, `${name}: tanh(${x}) is ${V[i]}`);
    });
    for (const length of LENGTHS) {
      const [H, D] = [numbers(kernels, length + 2), numbers(kernels, length + 4, 5)];
      const expected = Array.from(D, (d, i) => (i < 3 || i >= length + 3 ? d : d * (1 - H[i - 1] ** 2)));
      kernels.backThroughTanh(D, 3, H, 2, length);
      checkClose(D, expected, `${name}: back, ${length}`, 1e-6);
      const T = numbers(kernels, length + 4, 5);
      const bent = Array.from(T, (x, i) => (i < 3 || i >= length + 3 ? x : Math.tanh(x)));
      kernels.tanhInPlace(T, 3, length);
      checkClose(T, bent, `${name}: tanh of ${length}`, 1e-6);
    }
    const lost = own(kernels, [NaN, 1, NaN]);
    kernels.tanhInPlace(lost, 0, 3);
    assert.deepEqual([...lost].map(Number.isNaN), [true, false, true], name);
  });
});

test("a softmax of rows that are long, steep, or partly impossible", () => {
  withBoth((kernels, numbers, name) => {
    for (const m of LENGTHS) {
      const n = 3;
      const V = numbers(kernels, n * m, 40);
      const logits = Array.from(V);
      const [tops, sums] = [kernels.floats(n), kernels.floats(n)];
      kernels.softmaxRows(V, n, m, tops, sums);
      for (let row = 0; row < n; row += 1) {
        const own = logits.slice(row * m, (row + 1) * m);
        const top = Math.max(...own);
        const sum = own.reduce((total, x) => total + Math.exp(x - top), 0);
        checkClose(V.slice(row * m, (row + 1) * m), own.map((x) => Math.exp(x - top) / sum), `${name}: row of ${m}`, 1e-6);
        checkClose([tops[row], sums[row]], [top, sum], `${name}: its sum`, 1e-6);
      }
    }
    const V = own(kernels, [1, -Infinity, 1, -500, -Infinity, -300, 500, 0, 0, 0, NaN, 0, 0, 0, 0]);
    const [tops, sums] = [kernels.floats(3), kernels.floats(3)];
    kernels.softmaxRows(V, 3, 5, tops, sums);
    assert.deepEqual([...V.subarray(0, 10)], [0.5, 0, 0.5, 0, 0, 0, 1, 0, 0, 0], name);
    assert.ok([...V.subarray(10)].every(Number.isNaN), `${name}: what is lost stays lost`);
  });
});

test("rows are looked up and added to, by index", () => {
  withBoth((kernels, numbers, name) => {
    for (const m of LENGTHS) {
      const index = own(kernels, [2, 0, 2, 3], "integers");
      const [W, b, out, D, sum] = [4 * m, m, 5 * m, 4 * m, m].map((count) => numbers(kernels, count));
      const looked = Array.from(out, (x, i) => (i < m ? x : W[index[Math.floor(i / m) - 1] * m + (i % m)] + b[i % m]));
      kernels.lookUpRows(out, m, W, b, index, 4, m);
      checkClose(out, looked, `${name}: looked up, ${m}`, 1e-6);
      const grown = Array.from(W);
      const total = Array.from(sum);
      D.forEach((d, i) => {
        grown[index[Math.floor(i / m)] * m + (i % m)] += d;
        total[i % m] += d;
      });
      kernels.addToRows(W, index, D, 4, m);
      kernels.addAllRows(sum, D, 4, m);
      checkClose(W, grown, `${name}: added, ${m}`, 1e-6);
      checkClose(sum, total, `${name}: summed, ${m}`, 1e-6);
    }
  });
});

test("one vector: length, scale, sum and Adam's step", () => {
  withBoth((kernels, numbers, name) => {
    for (const length of LENGTHS) {
      const [V, U, mean] = [length, length, length].map((count) => numbers(kernels, count));
      const square = own(kernels, Array.from(numbers(kernels, length), Math.abs));
      checkClose([kernels.sumOfSquares(V)], [V.reduce((sum, x) => sum + x * x, 0)], `${name}: squares of ${length}`, 1e-6);
      const scaled = Array.from(V, (x) => 0.3 * x);
      kernels.scale(V, 0.3);
      checkClose(V, scaled, `${name}: scaled ${length}`, 1e-6);
      const added = Array.from(V, (x, i) => x - 2 * U[i]);
      kernels.addScaled(V, -2, U);
      checkClose(V, added, `${name}: added ${length}`, 1e-6);
      const expected = Array.from(V, (x, i) => {
        const m = 0.9 * mean[i] + 0.1 * U[i];
        const v = 0.999 * square[i] + 0.001 * U[i] ** 2;
        return { m, v, x: x - (0.02 * m) / (Math.sqrt(v) * 3 + 1e-8) };
      });
      kernels.adamUpdate(V, U, mean, square, 0.02, 3);
      checkClose(V, expected.map(({ x }) => x), `${name}: Adam, ${length}`, 1e-6);
      checkClose(mean, expected.map(({ m }) => m), `${name}: mean, ${length}`, 1e-6);
      checkClose(square, expected.map(({ v }) => v), `${name}: square, ${length}`, 1e-6);
    }
    const long = own(kernels, [3e25, 4e25, 0, 0, 0]);
    assert.ok(Math.abs(Math.sqrt(kernels.sumOfSquares(long)) / 5e25 - 1) < 1e-6, `${name}: a square beyond a float32`);
    assert.ok(Number.isNaN(kernels.sumOfSquares(own(kernels, [1, 2, 3, 4, NaN]))), name);
  });
});

test("the kernels' memory: zeros, no overlap, taken back, and an end", () => {
  const kernels = createSimdKernels();
  const [a, b, c] = [kernels.floats(5), kernels.integers(3), kernels.floats(2)];
  a.fill(1);
  b.fill(2);
  c.fill(3);
  assert.deepEqual([[...a], [...b], [...c]], [[1, 1, 1, 1, 1], [2, 2, 2], [3, 3]]);
  kernels.clear();
  const again = kernels.floats(5);
  assert.equal(again.byteOffset, a.byteOffset);
  assert.deepEqual([...again], [0, 0, 0, 0, 0]);
  assert.ok(a.byteOffset >= 1024 && a.byteOffset % 16 === 0, "the stack lies below");
  assert.throws(() => kernels.floats(1e8), /no room/);
});

test("where there is no WebAssembly, none is allowed, or there is no memory, the plain set stands in", () => {
  assert.equal(createKernels().name, "simd");
  const known = globalThis.WebAssembly;
  const refusing = { Module: class { constructor() { throw new known.CompileError("refused"); } } };
  const { Module, Instance } = known;
  const poor = { Module, Instance, Memory: class { constructor() { throw new RangeError("no memory"); } } };
  for (const other of [undefined, refusing, poor]) {
    try {
      globalThis.WebAssembly = other;
      assert.equal(createKernels(), PLAIN);
    } finally {
      globalThis.WebAssembly = known;
    }
  }
});

test("the code is small", () => {
  const { wasm } = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/kernels.wasm.json", import.meta.url), "utf8"));
  assert.ok(wasm.length < 14_000, `${wasm.length} characters`);
});
