// Attention beside a state: weights, changes and predictions are torch's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { attend, derive, loadAttention, MAX_TEXT, readable, repair, replaceEach, shareText } from "../../src/d2lrnn/widgets/attention/maths.mjs";
import { outcomeOf, spoken } from "../../src/d2lrnn/widgets/attention/panels.mjs";
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
  for (const { given, text, place, heads, traces, probs, replaced, sentence } of CASES) {
    assert.equal(readable(given), text);
    const ids = encode(text.slice(0, place), network.vocab);
    const looked = attend(attention, ids);
    const found = replaceEach(network, ids);
    heads.forEach((row, h) => assertAllClose(looked.heads[h], row, `${text} ${place}, head ${h + 1}`));
    assertAllClose(looked.probs, probs[0], "attention expects");
    assertAllClose(found.probs, probs[1], "the network expects");
    assertAllClose(found.traces, traces, `${text} ${place}, traces`);
    const model = shown({ text, place, letter: Math.floor(place / 2) });
    model.after.forEach(({ index, p }, k) => {
      assert.ok(Math.abs(p - replaced[k][index]) < 1e-4 && p >= Math.max(...replaced[k]) - 1e-4, `${text} ${place}, replaced`);
    });
    assert.equal(spoken(model, t), sentence);
  }
});

test("weights sum to 1, for each head", () => {
  for (let head = 1; head <= 4; head += 1) {
    const { weights: found } = shown({ head });
    assert.ok(Math.abs(found.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9);
  }
});

test("what a text loses is named", () => {
  assert.equal(leftOut("Привет, 42 the\nsea!").join(""), "Привет,42!");
  assert.deepEqual(leftOut("The Sea"), []);
});

test("a share is never an all or a nothing that it is not", () => {
  assert.deepEqual([0, 0.0001, 0.006, 0.25, 0.996, 1].map(shareText), ["0%", "<0.1%", "0.6%", "25%", ">99%", "100%"]);
});

test("the state's size, and both networks' learned numbers", () => {
  assert.equal(shown().state, 128);
  assert.deepEqual(shown().sizes, [13179, 23451]);
});

test("it rests where a far letter decides attention's guess, and not the state's", () => {
  const { text, place, told, before, after } = shown();
  assert.deepEqual([told, after], [-1, []]);
  assert.deepEqual(before.map(({ character, p }) => [character, shareText(p)]), [["k", "70%"], ["k", "85%"]]);
  assert.deepEqual([text[14], place - 1 - 14], ["q", 9]);
  const flips = Array.from({ length: 16 }, (_, s) => shown({ letter: s + 1 }).after.map(({ character }) => character).join(""));
  assert.deepEqual(flips, [..."k".repeat(14)].map(() => "kk").concat("ek", "kk"), "of all far letters only q");
});

test("the guided steps: what is called right is right", () => {
  const [far, fades, better] = SPEC.steps;
  const { before, after } = shown(far.state);
  assert.deepEqual([before, after].map((both) => both.map(({ character }) => character)), [["k", "k"], ["e", "k"]]);
  assert.equal(t(`step_1_answer_${far.right + 1}`), "attention’s");
  assert.match(t("step_1_outcome", outcomeOf(shown(far.state), t)), /now guesses e \(47%\), the state still k \(88%\)/);
  assert.match(t.raw("step_1_outcome"), /only 2% of all looking goes 10 or more letters back/); // a Python test finds it

  const after8 = shown(fades.state);
  assert.deepEqual([shown(fades.before).told, after8.told, after8.text[2]], [2, 2, "d"], "the d stays marked");
  assert.deepEqual([fades.state.place - fades.before.place, shown(fades.before).traces[2]], [8, 1]);
  assert.ok(after8.traces[2] < 0.2 && t(`step_2_answer_${fades.right + 1}`) === "less than a fifth");

  const [attention, state] = shown(better.state).perplexities;
  assert.deepEqual([t(`step_3_answer_${better.right + 1}`), state < attention], ["the state", true]);
});

test("what is left of a letter is whole at first, and never more than the figure has room for", () => {
  for (const text of ["a", "r".repeat(20), "zzz qqq", " ", "the tide", "the harbour and the sea"]) {
    for (let place = 1; place <= text.length; place += 1) {
      const { traces } = shown({ text, place });
      assert.equal(traces.at(-1), 1);
      assert.ok(traces.every((trace) => trace >= 0 && trace < 1.6), `${text} ${place} ${Math.max(...traces)}`);
    }
  }
});

test("texts and places are bounded, in links too", () => {
  assert.equal(readable("<b>\u0000".repeat(5000)).length, MAX_TEXT);
  const link = (state) => decodeLink(encodeLink("Attention", 0, state), "Attention", 0, rulesOf(SPEC.controls));
  assert.deepEqual(link({ text: "the sea", place: 3, head: 2, letter: 1 }), { text: "the sea", place: 3, head: 2, letter: 1 });
  assert.equal(link({ text: "x".repeat(37), place: 99, head: 5 }), null);
  assert.deepEqual([shown({ letter: 7 }).told, shown({ place: 6, letter: 7 }).told], [6, -1]);
  assert.equal(repair({ text: "the sea", place: 3, head: 1, letter: 8 }).letter, 0);
  assert.equal(repair({ text: "The SEA", place: 30, head: 1 }).place, 7);
  assert.equal(shown({ text: "the", place: 30 }).place, 3);
  assert.equal(shown({ text: "", place: 5 }).place, 0);
});
