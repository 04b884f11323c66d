// Attention beside a state: weights, changes and predictions are torch's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { attend, derive, loadAttention, MAX_TEXT, readable, repair, replaceEach, shareText, verdictOf } from "../../src/d2lrnn/widgets/attention/maths.mjs";
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

test("weights sum to 1, for each head", () => {
  for (let head = 1; head <= 4; head += 1) {
    const { weights: found, most } = shown({ head });
    assert.ok(Math.abs(found.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9);
    assert.equal(found[most], Math.max(...found));
  }
});

test("what a text loses is named", () => {
  assert.equal(leftOut("Привет, 42 the\nsea!").join(""), "Привет,42!");
  assert.deepEqual(leftOut("The Sea"), []);
});

test("a share is never an all or a nothing that it is not, and has a verdict", () => {
  assert.deepEqual([0, 0.0001, 0.006, 0.25, 0.996, 1].map(shareText), ["0%", "<0.1%", "0.6%", "25%", ">99%", "100%"]);
  assert.deepEqual([0.033, 0.1, 0.45].map(verdictOf), ["forgotten", "fading", "held"]);
});

test("what each keeps: 128 numbers a letter, and 128 numbers", () => {
  assert.deepEqual([shown().kept, shown().state], [128, 128]);
  assert.deepEqual(shown().sizes, [13179, 23451]);
});

test("it rests where attention looks far back, at what the state has forgotten", () => {
  const { text, most, place, weights, changes, perplexities: [attention, state] } = shown();
  assert.deepEqual([text[most], place - 1 - most, shareText(weights[most])], ["d", 17, "33%"]);
  assert.equal(verdictOf(changes[most]), "forgotten");
  assert.ok(state < attention, "and yet the state predicts better");
});

test("the guided steps: what is called right is right", () => {
  const [another, fades, better] = SPEC.steps;
  const book = shown(another.state);
  assert.deepEqual([book.text[book.most], book.most, book.text.length, another.right], ["d", 5, 14, 2]);
  assert.equal(book.text.slice(0, -1), another.before.text);

  const after = (letters) => shown({ ...fades.state, place: 3 + letters }).changes[2];
  assert.ok(t("step_2_question").includes(`${shareText(after(0))} different`));
  assert.equal(`${Math.round(100 * after(8))}%`, t(`step_2_answer_${fades.right + 1}`));
  assert.deepEqual([shown(fades.before).told, shown(fades.state).told], [2, 2], "the d stays marked");
  assert.equal(fades.state.place - fades.before.place, 8);

  const [attention, state] = shown(better.state).perplexities;
  assert.deepEqual([t(`step_3_answer_${better.right + 1}`), state < attention], ["the state", true]);
  assert.match(t.raw("step_3_outcome"), /only 2% of all looking goes 10 or more letters back/); // a Python test finds it
});

test("what is left of attention's guess without the letter that is told", () => {
  const book = shown(SPEC.steps[0].state);
  const [{ character, p }] = book.expects;
  assert.deepEqual([character, shareText(p), shareText(book.without)], [" ", "88%", "77%"]);
  const network = loadModel(WEIGHTS.weights_trained);
  const { probs } = attend(loadAttention(WEIGHTS.weights_attention), encode("we ha  no book", network.vocab));
  assert.equal(book.without, probs[network.vocab.indexOf(" ")]);
});

test("two states differ by 0 to 1, also after one letter or a strange text", () => {
  for (const text of ["a", "r".repeat(20), "zzz qqq", " ", "the tide"]) {
    for (let place = 1; place <= text.length; place += 1) {
      assert.ok(shown({ text, place }).changes.every((change) => change >= 0 && change < 0.8), `${text} ${place}`);
    }
  }
});

test("texts and places are bounded, in links too", () => {
  assert.equal(readable("<b>\u0000".repeat(5000)).length, MAX_TEXT);
  const link = (state) => decodeLink(encodeLink("Attention", 0, state), "Attention", 0, rulesOf(SPEC.controls));
  assert.deepEqual(link({ text: "the sea", place: 3, head: 2, letter: 1 }), { text: "the sea", place: 3, head: 2, letter: 1 });
  assert.equal(link({ text: "x".repeat(37), place: 99, head: 5 }), null);
  assert.deepEqual([shown({ letter: 7 }).told, shown({ place: 6, letter: 7 }).told], [6, shown({ place: 6 }).most]);
  assert.equal(repair({ text: "the sea", place: 3, head: 1, letter: 8 }).letter, 0);
  assert.equal(repair({ text: "The SEA", place: 30, head: 1 }).place, 7);
  assert.equal(shown({ text: "the", place: 30 }).place, 3);
  assert.equal(shown({ text: "", place: 5 }).place, 0);
});
