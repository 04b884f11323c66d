// The surprise map: bits, totals and bytes are Python's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { MAX_TEXT, RULES, STAGES, level, pieces, readable, repair, surprises, totals } from "../../src/d2lrnn/widgets/surprise_map/index.mjs";
import { decodeLink, encodeLink } from "../../src/d2lrnn/widgets/ui.mjs";
import { loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./surprise_map_cases.json", import.meta.url), "utf8"));

function network(stage) {
  const bytes = readFileSync(new URL(`../../src/d2lrnn/data/models/${stage.replace("_", "-")}.safetensors`, import.meta.url));
  return loadModel(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

test("bits, rate, perplexity and bytes of every stage are those of Python's SurpriseMap", () => {
  assert.ok(CASES.length >= 16);
  for (const { given, text, stage, bits, rate, perplexity, bytes } of CASES) {
    assert.equal(readable(given), text);
    const found = surprises(network(stage), text);
    assert.equal(found.bits.length, text.length - 1);
    bits.forEach((b, i) => assert.ok(Math.abs(found.bits[i] - b) < 1e-3, `${stage} ${i}: ${found.bits[i]} ${b}`));
    const sum = totals(found.bits);
    assert.ok(Math.abs(sum.rate - rate) < 1e-4 && Math.abs(sum.perplexity / perplexity - 1) < 1e-4);
    assert.equal(sum.bytes, bytes);
  }
});

test("what it expected are the three likeliest, and the surprise follows from its probability", () => {
  const { model, vocab } = network("trained");
  const { bits, tops } = surprises({ model, vocab }, "the tide");
  for (const top of tops) {
    assert.equal(top.length, 3);
    assert.ok(top[0][1] >= top[1][1] && top[1][1] >= top[2][1]);
  }
  const [index, p] = tops[0][0];
  if (vocab[index] === "h") assert.ok(Math.abs(bits[0] + Math.log2(p)) < 1e-6);
  assert.equal(vocab[tops[0][0][0]], "h", "after t comes h");
});

test("totals: the mean, two to its power, and whole bytes", () => {
  assert.deepEqual(totals([1, 3, 5]), { bits: 9, rate: 3, perplexity: 8, bytes: 2 });
  assert.equal(totals([8]).bytes, 1);
});

test("the scale ends at eight bits", () => {
  assert.deepEqual([level(0), level(4), level(8), level(30), level(Infinity)], [0, 0.5, 1, 1, 1]);
});

test("texts are bounded, and links too", () => {
  assert.equal(readable("<b>\u0000".repeat(50_000)).length, MAX_TEXT);
  const link = (state) => decodeLink(encodeLink("SurpriseMap", 0, state), "SurpriseMap", 0, RULES);
  assert.deepEqual(link({ text: "the sea", stage: "half_way", place: 3 }), { text: "the sea", stage: "half_way", place: 3 });
  assert.equal(link({ text: "x".repeat(801), stage: "best", place: 0 }), null);
  assert.deepEqual(repair({ text: "The SEA!", stage: "trained", place: 99 }), { text: "the sea ", stage: "trained", place: 7 });
  assert.equal(repair({ text: "", stage: "trained", place: 5 }).place, 1);
  assert.equal(STAGES.length, 4);
});

test("a text of one letter or none has no surprise", () => {
  assert.deepEqual(surprises(network("trained"), "a").tops, []);
  assert.equal(surprises(network("trained"), "").bits.length, 0);
});

test("lines break between words, and the pieces are the text", () => {
  for (const text of ["the tide clock", " a  b ", "x".repeat(50), ""]) {
    assert.equal(pieces(text).join(""), text);
    assert.ok(pieces(text).every((piece) => piece.length <= 21));
  }
});
