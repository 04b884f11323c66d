// Attention beside a state: weights, changes and predictions are torch's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { attend, changeText, derive, loadAttention, MAX_TEXT, mostOf, readable, repair, replaceEach, weightText } from "../../src/d2lrnn/widgets/attention/maths.mjs";
import { spoken } from "../../src/d2lrnn/widgets/attention/panels.mjs";
import SPEC from "../../src/d2lrnn/widgets/attention/spec.json" with { type: "json" };
import { decodeLink, encodeLink, rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";
import { encode, leftOut, loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./attention_cases.json", import.meta.url), "utf8"));

function weights(name) {
  const bytes = readFileSync(new URL(`../../src/d2lrnn/data/models/${name}.safetensors`, import.meta.url));
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const WEIGHTS = { weights_attention: weights("attention"), weights_trained: weights("trained") };
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (state = {}) => derive({ ...WEIGHTS, ...DEFAULTS, ...state });
const t = translator("en", SPEC.words);

function assertAllClose(found, wanted, message) {
  assert.equal(found.length, wanted.length, message);
  wanted.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 1e-4, `${message} ${i}: ${found[i]} ${value}`));
}

test("weights, changes and predictions are those of torch, and the sentence is Python's", () => {
  const attention = loadAttention(WEIGHTS.weights_attention);
  const network = loadModel(WEIGHTS.weights_trained);
  for (const { given, text, place, heads, changes, probs, sentence } of CASES) {
    assert.equal(readable(given), text);
    const ids = encode(text.slice(0, place), network.vocab);
    const looked = attend(attention, ids);
    const replaced = replaceEach(network, ids);
    heads.forEach((row, h) => assertAllClose(looked.heads[h], row, `${text} ${place}, head ${h + 1}`));
    assertAllClose(looked.probs, probs[0], "attention expects");
    assertAllClose(replaced.probs, probs[1], "the network expects");
    assertAllClose(replaced.changes, changes, `${text} ${place}, changes`);
    assert.equal(spoken(shown({ text, place }), t), sentence);
  }
});

test("weights sum to 1, for each head and their mean", () => {
  for (let head = 0; head <= 4; head += 1) {
    const { weights: found, most } = shown({ head });
    assert.ok(Math.abs(found.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9);
    assert.equal(found[most], Math.max(...found));
  }
});

test("what a text loses is named", () => {
  assert.equal(leftOut("Привет, 42 the\nsea!").join(""), "Привет,42!");
  assert.deepEqual(leftOut("The Sea"), []);
});

test("a weight is never a 1 or a 0 that it is not", () => {
  assert.deepEqual([0.0001, 0.006, 0.00996, 1.25].map(changeText), ["<0.001", "0.006", "0.01", "1.25"]);
  assert.deepEqual([0, 0.001, 0.25, 0.996, 1].map(weightText), ["0.00", "<0.01", "0.25", ">0.99", "1.00"]);
});

test("what each keeps: 128 numbers a letter, and 128 numbers", () => {
  assert.deepEqual([shown().kept, shown().state], [128, 128]);
});

test("the guided steps: what is called right is right", () => {
  const [far, fades, heads] = SPEC.steps.map(({ state }) => shown(state));
  assert.deepEqual([far.text[far.most], far.place - 1 - far.most, SPEC.steps[0].right], ["d", 17, 2]);
  assert.ok(fades.changes[fades.most] < 0.01 && SPEC.steps[1].right === 0);
  const most = heads.heads.map(mostOf);
  assert.ok(new Set(most).size === 4 && SPEC.steps[2].right === 1, `${most}`);
  for (const { before } of SPEC.steps.slice(0, 2)) assert.equal(shown(before).read, "and");
});

test("texts and places are bounded, in links too", () => {
  assert.equal(readable("<b>\u0000".repeat(5000)).length, MAX_TEXT);
  const link = (state) => decodeLink(encodeLink("Attention", 0, state), "Attention", 0, rulesOf(SPEC.controls));
  assert.deepEqual(link({ text: "the sea", place: 3, head: 2 }), { text: "the sea", place: 3, head: 2 });
  assert.equal(link({ text: "x".repeat(37), place: 99, head: 5 }), null);
  assert.equal(repair({ text: "The SEA", place: 30, head: 0 }).place, 7);
  assert.equal(shown({ text: "the", place: 30 }).place, 3);
  assert.equal(shown({ text: "", place: 5 }).place, 0);
});
