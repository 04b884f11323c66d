// The kernels in WebAssembly SIMD, where the browser has it: kernels.c, compiled, and the memory that it works on.
import { PLAIN } from "./kernels.mjs";
import CODE from "./kernels.wasm.json" with { type: "json" };

const PAGES = 1024; // 64 MB, half as much again as the largest run (an LSTM) needs; a page that is never touched takes no memory

/** The running module; null without WebAssembly or its SIMD, under a policy that forbids it, or without the memory. */
function start() {
  try {
    // Compiled on the spot: these few kilobytes take a millisecond or two, in a worker.
    const module = new WebAssembly.Module(Uint8Array.from(atob(CODE.wasm), (character) => character.charCodeAt(0)));
    const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
    return { memory, wasm: new WebAssembly.Instance(module, { env: { memory } }).exports };
  } catch {
    return null;
  }
}

/**
 * A set of kernels with a memory of its own, or null where there can be none.
 *
 * Every array given to them has to come from their `floats` and `integers`; `clear` takes all of those back.
 */
export function createSimdKernels() {
  const started = start();
  if (started === null) return null;
  const { memory, wasm } = started;
  const first = (wasm.__heap_base.value + 15) & ~15;
  let next = first;
  /** `length` zeros of four bytes each. */
  const allocate = (Kind, length) => {
    const end = next + 4 * length;
    if (end > memory.buffer.byteLength) throw new RangeError(`the kernels' memory has no room for ${length} more numbers`);
    const array = new Kind(memory.buffer, next, length).fill(0);
    next = (end + 15) & ~15;
    return array;
  };
  const at = (V, start = 0) => V.byteOffset + 4 * start;
  return {
    name: "simd",
    floats: (length) => allocate(Float32Array, length),
    integers: (length) => allocate(Int32Array, length),
    clear: () => { next = first; },
    addProduct: (C, c0, A, a0, B, b0, n, k, m) => wasm.addProduct(at(C, c0), at(A, a0), at(B, b0), n, k, m),
    addTransposedProduct: (C, c0, A, a0, B, b0, n, k, m) =>
      wasm.addTransposedProduct(at(C, c0), at(A, a0), at(B, b0), n, k, m),
    tanhInPlace: (V, start, length) => wasm.tanhInPlace(at(V, start), length),
    backThroughTanh: (D, d0, H, h0, length) => wasm.backThroughTanh(at(D, d0), at(H, h0), length),
    softmaxRows: (V, n, m, tops, sums) => wasm.softmaxRows(at(V), n, m, at(tops), at(sums)),
    lookUpRows: (out, start, W, b, index, n, m) => wasm.lookUpRows(at(out, start), at(W), at(b), at(index), n, m),
    addToRows: (W, index, D, n, m) => wasm.addToRows(at(W), at(index), at(D), n, m),
    addAllRows: (sum, D, n, m) => wasm.addAllRows(at(sum), at(D), n, m),
    sumOfSquares: (V) => wasm.sumOfSquares(at(V), V.length),
    scale: (V, factor) => wasm.scale(at(V), factor, V.length),
    addScaled: (V, factor, U) => wasm.addScaled(at(V), factor, at(U), V.length),
    adamUpdate: (V, G, mean, square, step, spread) =>
      wasm.adamUpdate(at(V), at(G), at(mean), at(square), step, spread, V.length),
  };
}

/** The fastest kernels that this browser can have. */
export function createKernels() {
  return createSimdKernels() ?? PLAIN;
}
