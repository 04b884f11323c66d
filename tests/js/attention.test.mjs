// Attention beside a state: weights, effects and predictions are torch's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { attend, derive, loadAttention, MAX_TEXT, moved, readable, repair, replaceEach, shareText } from "../../src/d2lrnn/widgets/attention/maths.mjs";
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

test("weights, effects and predictions are those of torch, and the sentence is Python's", () => {
  const attention = loadAttention(WEIGHTS.weights_attention);
  const network = loadModel(WEIGHTS.weights_trained);
  for (const { given, text, heads, effects, probs, replaced, sentence } of CASES) {
    assert.equal(readable(given), text);
    const ids = encode(text, network.vocab);
    const looked = attend(attention, ids);
    const found = replaceEach(network, ids);
    heads.forEach((row, h) => assertAllClose(looked.heads[h], row, `${text}, head ${h + 1}`));
    assertAllClose(looked.probs, probs[0], "attention expects");
    assertAllClose(found.probs, probs[1], "the network expects");
    const model = shown({ text, letter: Math.floor(text.length / 2) });
    effects.forEach((row, k) => assertAllClose(model.effects[k], row, `${text}, effects ${k}`));
    model.after.forEach(({ index, p }, k) => {
      assert.ok(Math.abs(p - replaced[k][index]) < 1e-4 && p >= Math.max(...replaced[k]) - 1e-4, `${text}, replaced`);
    });
    assert.equal(spoken(model, t), sentence);
  }
});

test("weights sum to 1, for each head; an effect is a part of the whole", () => {
  for (const row of shown().heads) assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9);
  assert.deepEqual([moved([0.5, 0.5, 0], [0.5, 0.5, 0]), moved([1, 0], [0, 1]), moved([0.5, 0.5], [0.25, 0.75])], [0, 1, 0.25]);
  for (const text of ["a", "r".repeat(20), "zzz qqq", " ", "the harbour and the sea"]) {
    assert.ok(shown({ text }).effects.flat().every((effect) => effect >= 0 && effect <= 1), text);
  }
});

test("what a text loses is named", () => {
  assert.equal(leftOut("Привет, 42 the\nsea!").join(""), "Привет,42!");
  assert.deepEqual(leftOut("The Sea"), []);
});

test("a share is never an all or a nothing that it is not", () => {
  assert.deepEqual([0, 0.0001, 0.006, 0.25, 0.996, 1].map(shareText), ["0%", "<0.1%", "0.6%", "25%", ">99%", "100%"]);
});

test("both networks' learned numbers", () => {
  assert.deepEqual(shown().sizes, [13179, 23451]);
});

test("it rests where a far letter decides attention's guess, and not the state's", () => {
  const { text, told, before, after, effects } = shown();
  assert.deepEqual([told, after], [-1, []]);
  assert.deepEqual(before.map(({ character, p }) => [character, shareText(p)]), [["k", "70%"], ["k", "85%"]]);
  assert.deepEqual([text[14], text.length - 1 - 14], ["q", 9]);
  const far = effects.map((row) => row.slice(0, 16).map((effect) => effect > 0.1).lastIndexOf(true));
  assert.deepEqual(far, [14, -1], "of all far letters only q");
});

test("the guided steps: what is called right is right", () => {
  const [far, nearer, mean] = SPEC.steps;
  const guessed = (state) => ["before", "after"].map((when) => shown(state)[when].map(({ character }) => character).join(""));
  assert.deepEqual([guessed(far.state), t(`step_1_answer_${far.right + 1}`)], [["kk", "ek"], "attention’s"]);
  assert.deepEqual([far.state.text[far.state.letter - 1], far.state.text.length - far.state.letter], ["q", 9]);
  assert.match(t("step_1_outcome", outcomeOf(shown(far.state), t)), /Without the q, attention guesses e\. .* only 2\.3% of its guess/);

  assert.deepEqual([guessed(nearer.state), t(`step_2_answer_${nearer.right + 1}`)], [["hh", "h "], "the state’s"]);
  assert.deepEqual([nearer.state.text.indexOf("with") + 2, nearer.state.text.length - nearer.state.letter], [nearer.state.letter, 6]);
  assert.match(t("step_2_outcome", outcomeOf(shown(nearer.state), t)), /65% of its guess changes\. .*\(0\.3%\)/);

  assert.equal(t(`step_3_answer_${mean.right + 1}`), "the state’s"); // a Python test finds the averages
  assert.equal(mean.state.text.length - mean.state.letter, 5);
});

test("texts and letters are bounded, in links too", () => {
  assert.equal(readable("<b>\u0000".repeat(5000)).length, MAX_TEXT);
  assert.equal(readable("a the red lantern with bot now"), "red lantern with bot now", "no space in front");
  assert.equal(readable("and the red lantern with bot"), "the red lantern with bot");
  const link = (state) => decodeLink(encodeLink("Attention", 0, state), "Attention", 0, rulesOf(SPEC.controls));
  assert.deepEqual(link({ text: "the sea", letter: 1, bars: false }), { text: "the sea", letter: 1, bars: false });
  assert.equal(link({ text: "x".repeat(25), letter: 99 }), null);
  assert.deepEqual([shown({ letter: 7 }).told, shown({ text: "the", letter: 7 }).told], [6, -1]);
  assert.equal(repair({ text: "the sea", letter: 8 }).letter, 0);
  assert.equal(repair({ text: "The SEA", letter: 0 }).text, "the sea");
  assert.deepEqual(shown({ text: "" }).effects, [[], []]);
});
