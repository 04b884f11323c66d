// The package's small models, read from their files: the same predictions as in Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { createReader, scoreText } from "../../src/d2lrnn/widgets/core.mjs";
import { encode, halfToNumber, isPlain, loadModel, normalise, readSafetensors } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./engine_cases.json", import.meta.url), "utf8")).pretrained;

function fileOf(stage) {
  const bytes = readFileSync(new URL(`../../src/d2lrnn/data/models/${stage}.safetensors`, import.meta.url));
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

test("every stage predicts as in Python", () => {
  assert.equal(CASES.length, 4);
  for (const { stage, text, vocab, ids, probs, state, nats } of CASES) {
    const loaded = loadModel(fileOf(stage));
    assert.equal(loaded.vocab.join(""), vocab);
    assert.deepEqual(encode(normalise(text), loaded.vocab), ids);
    const reader = createReader(loaded.model);
    let last;
    for (const index of ids) last = reader.read(index);
    probs.forEach((p, i) => assert.ok(Math.abs(last[i] - p) < 1e-5, `${stage}: p[${i}] ${last[i]} ${p}`));
    state.forEach((h, i) => assert.ok(Math.abs(reader.state[i] - h) < 1e-5, `${stage}: h[${i}]`));
    const score = scoreText(loaded.model, ids, { batchSize: 1, warmUp: 0 });
    assert.ok(Math.abs(score.nats / nats - 1) < 1e-5, `${stage}: ${score.nats} nats, expected ${nats}`);
  }
});

test("a text is plain if every character is read as it is: no accents, no signs", () => {
  assert.deepEqual(["The Sea\n", "", " ", "Zoë", "Zoe\u0308", "ﬁn", "42", "sea!", "Привет"].map(isPlain), [true, true, true, false, false, true, false, false, false]);
});

test("half precision", () => {
  const halves = [[0x3c00, 1], [0xc000, -2], [0x3555, 0.333251953125], [0x0001, 2 ** -24], [0x03ff, 1023 * 2 ** -24], [0x7bff, 65504], [0, 0]];
  for (const [bits, value] of halves) assert.equal(halfToNumber(bits), value);
  assert.equal(halfToNumber(0xfc00), -Infinity);
  assert.ok(Number.isNaN(halfToNumber(0x7e00)));
});

function madeOf(header, size) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const view = new DataView(new ArrayBuffer(8 + text.length + size));
  view.setBigUint64(0, BigInt(text.length), true);
  new Uint8Array(view.buffer).set(text, 8);
  return view;
}

test("a tensor in single precision is read too, one of another type is refused", () => {
  const view = madeOf({ b: { dtype: "F32", shape: [2], data_offsets: [0, 8] } }, 8);
  view.setFloat32(view.byteLength - 8, 1.5, true);
  view.setFloat32(view.byteLength - 4, -3, true);
  assert.deepEqual([...readSafetensors(view).tensors.b.values], [1.5, -3]);
  assert.throws(() => readSafetensors(madeOf({ b: { dtype: "I64", shape: [1], data_offsets: [0, 8] } }, 8)), /type I64/);
});

test("a file whose shapes or vocabulary do not fit is refused", () => {
  const shapes = { W_xh: [2, 1], W_hh: [1, 1], b_h: [1], W_hq: [1, 2], b_q: [2] };
  const header = (vocab, change = {}) => {
    let start = 0;
    const entries = Object.entries({ ...shapes, ...change }).map(([name, shape]) => {
      const size = 4 * shape.reduce((a, b) => a * b);
      const entry = [name, { dtype: "F32", shape, data_offsets: [start, start + size] }];
      start += size;
      return entry;
    });
    return { __metadata__: { vocab }, ...Object.fromEntries(entries) };
  };
  assert.equal(loadModel(madeOf(header("ab"), 64)).model.numHiddens, 1);
  assert.throws(() => loadModel(madeOf(header("abc"), 64)), /3 characters for 2 rows/);
  assert.throws(() => loadModel(madeOf(header("ab", { b_h: [2] }), 64)), /b_h has shape 2, expected 1/);
});

test("text is normalised as in Python, whatever it holds", () => {
  assert.equal(normalise("Mr. Keld said: 'KINDLY do not tap.'"), "mr keld said kindly do not tap ");
  assert.equal(normalise("<b>é👩 \u0000</b>"), " b b ");
  assert.throws(() => encode("é", ["a"]), /"é" is not in the vocabulary/);
});
