// Attention beside a state: effects and predictions are torch's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { attend, BACK, CHANGES, columnsOf, derive, difference, EQUAL, lines, loadAttention, MAX_TEXT, moved, PASSAGES, PORT, percent, plainLetters, readable, repair, replaceEach, roundsOf, SHARES, sumRounds, WEIGHTS } from "../../src/d2lrnn/widgets/attention/maths.mjs";
import { asking, scores, spoken, toldOf } from "../../src/d2lrnn/widgets/attention/panels.mjs";
import { scanLevels } from "../../src/d2lrnn/widgets/scan/maths.mjs";
import SPEC from "../../src/d2lrnn/widgets/attention/spec.json" with { type: "json" };
import { decodeLink, encodeLink, rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";
import { encode, leftOut, loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./attention_cases.json", import.meta.url), "utf8"));

function weights(name) {
  const bytes = readFileSync(new URL(`../../src/d2lrnn/data/models/${name}.safetensors`, import.meta.url));
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const BYTES = { weights_attention: weights("attention"), weights_trained: weights("trained") };
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (state = {}) => derive({ ...BYTES, ...DEFAULTS, ...state });
const FAR = { text: "head upon her k", letter: 4 }; // the d, far back
const t = translator("en", SPEC.words);

function assertAllClose(found, wanted, message) {
  assert.equal(found.length, wanted.length, message);
  wanted.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 1e-4, `${message} ${i}: ${found[i]} ${value}`));
}

test("effects and predictions are those of torch, and the sentence is Python's", () => {
  const attention = loadAttention(BYTES.weights_attention);
  const network = loadModel(BYTES.weights_trained);
  for (const { given, text, effects, probs, replaced, weights, differs, sentence } of CASES) {
    assert.equal(readable(given), text);
    const ids = encode(text, network.vocab);
    const found = replaceEach(network, ids);
    assertAllClose(attend(attention, ids).probs, probs[0], "attention expects");
    assertAllClose(found.probs, probs[1], "the network expects");
    const model = shown({ text, letter: Math.floor(text.length / 2) });
    effects.forEach((row, k) => assertAllClose(model.effects[k], row, `${text}, effects ${k}`));
    assertAllClose(model.weights, weights, `${text}, attention looks`);
    assertAllClose(model.differs, differs, `${text}, the state differs`);
    model.after.forEach(({ index, p }, k) => {
      assert.ok(Math.abs(p - replaced[k][index]) < 1e-4 && p >= Math.max(...replaced[k]) - 1e-4, `${text}, replaced`);
    });
    assert.equal(spoken(model, t), sentence);
  }
});

test("an effect is a part of the whole", () => {
  assert.deepEqual([moved([0.5, 0.5, 0], [0.5, 0.5, 0]), moved([1, 0], [0, 1]), moved([0.5, 0.5], [0.25, 0.75])], [0, 1, 0.25]);
  for (const text of ["a", "r".repeat(20), "zzz qqq", " ", "the harbour and the sea"]) {
    assert.ok(shown({ text }).effects.flat().every((effect) => effect >= 0 && effect <= 1), text);
  }
});

test("what a text loses is named", () => {
  assert.equal(leftOut("Привет, 42 the\nsea!").join(""), "Привет,42!");
  assert.deepEqual(leftOut("The Sea"), []);
  assert.deepEqual(plainLetters("Zoë’s Été, e\u0301 ß 7²"), [["ë", "e"], ["é", "e"], ["ß", "ss"]]);
});

test("percent is never an all or a nothing that it is not", () => {
  assert.deepEqual([0, 0.0001, 0.006, 0.25, 0.996, 1].map(percent), ["0%", "<1%", "1%", "25%", ">99%", "100%"]);
});

test("a line leads from above its letter’s bar to a place of its own at the guess", () => {
  const ends = lines(4).map((path) => path.match(/-?[\d.]+/g).map(Number)).map((found) => [found.slice(0, 2), found.slice(-2)]);
  assert.deepEqual(ends.map(([from]) => from), [4.5, 5.5, 6.5, 7.5].map((x) => [x, 0.92]), "the letters stand in the last of eight columns; a gap parts lines from the highest bar");
  const box = columnsOf(4) * (1 - PORT);
  ends.forEach(([, [x, y]], s) => assert.ok(y === 0 && Math.abs(x - box - (s + 1) * (8 - box) / 5) < 1e-3));
});

test("weights are a whole; with a letter erased attention looks as at the text that it then reads", () => {
  const sum = (row) => row.reduce((total, weight) => total + weight, 0);
  for (const text of ["a", "in the middle o", "zzz qqq"]) assert.ok(Math.abs(sum(shown({ text }).weights) - 1) < 1e-9, text);
  assert.ok(Math.abs(sum(WEIGHTS) - 1) < 1e-3 && sum(WEIGHTS.slice(-4)) > 0.97, "on average it looks at the last few");
  assert.deepEqual([shown({ letter: 15 }).weights, shown().looks], [shown().weights, shown().weights]);
  for (const [text, letter, read] of [[FAR.text, 13, "head upon he  k"], ["the sea", 4, "theesea"]]) {
    assert.deepEqual(shown({ text, letter }).looks, attend(loadAttention(BYTES.weights_attention), encode(read, loadModel(BYTES.weights_trained).vocab)).weights, read);
  }
  assert.ok(t.raw("measured_2").includes(`the mean of its ${loadAttention(BYTES.weights_attention).numHeads} heads`));
});

test("to look is not to need: without the letter of the thickest line the guess stays", () => {
  const { told: r, weights, effects, before, after } = shown({ ...SPEC.steps[1].state, letter: 13 });
  assert.ok(weights.every((weight, s) => s === r || weight < weights[r]) && effects[0][r] < 0.05);
  assert.deepEqual([before, after].map(([{ character }]) => character), ["n", "n"]);
  assert.ok(after[0].p > after[0].second.p + 0.05, "no near tie");
});

test("the averages stand as the letters of a passage do, the last on the right", () => {
  assert.deepEqual(SHARES.map((row) => [row.length, row.at(-1), row[0]]), CHANGES.map((counts) => [MAX_TEXT, counts[0] / PASSAGES, counts.at(-1) / PASSAGES]));
  assert.ok(WEIGHTS.length === MAX_TEXT && WEIGHTS.at(-1) > WEIGHTS[0]);
});

test("the memory is the same before a replaced letter; soon it differs less and less", () => {
  const { differs, told } = shown(FAR);
  assert.ok(differs.slice(0, told).every((value) => value === 0) && differs.at(-1) < 0.15 * differs[told], String(differs));
  const after = differs.slice(told + 1); // it grows for one letter, then it fades
  assert.ok(after[0] > differs[told] && after.every((value, i) => i === 0 || value < after[i - 1] + 0.005), String(after));
  assert.deepEqual(shown().differs, Array(15).fill(0));
  const { model, vocab } = loadModel(BYTES.weights_trained);
  assert.deepEqual(difference({ model }, encode("tide", vocab), encode("tide", vocab)), [0, 0, 0, 0]);
});

test("both networks' learned numbers", () => {
  assert.deepEqual(shown().sizes, [13179, 23451]);
});

test("it rests on a usual text, whose m only the state needs", () => {
  const { text, told, such, before, effects } = shown();
  assert.deepEqual([told, text[such]], [-1, "m"]);
  assert.deepEqual(before.map(({ character }) => character), ["f", "f"]);
  assert.equal(spoken(shown({ letter: such + 1 }), t), "Without the\u00a0m, the RNN guesses n, attention still f.");
  assert.ok(effects[0][such] < 0.005 && effects[1][such] > 0.3);
  assert.ok(shown({ letter: such + 1 }).differs.at(-1) < 0.2, "a little turns the guess");
});

test("an invitation names the first letter that stands once in the text and changes one guess", () => {
  assert.equal(shown({ text: FAR.text }).such, FAR.letter - 1, "the far d");
  for (const text of [SPEC.controls.text.default, "along the shel", "the harbour"]) {
    const { such } = shown({ text });
    if (such < 0) continue;
    const tips = (s) => {
      const { before, after } = shown({ text, letter: s + 1 });
      return text[s] !== " " && text.indexOf(text[s]) === text.lastIndexOf(text[s]) && before.filter(({ index }, k) => index !== after[k].index).length === 1;
    };
    assert.equal(Array.from(text, (_, s) => tips(s)).indexOf(true), such, text);
  }
  assert.equal(spoken(shown(), t), "Both guess f next. Erase the\u00a0m: press or drag.");
  assert.match(spoken(shown({ text: "a" }), t), / next\. Erase a letter: press or drag\.$/);
});

test("a far letter helps attention to the right letter, and does not move the state's guess", () => {
  const { text, before, after, effects, weights } = shown(FAR);
  assert.deepEqual([before, after].map((both) => both.map(({ character }) => character).join("")), ["ne", "ee"], "the story goes on: knees");
  assert.ok(before[0].p > before[0].second.p + 0.1 && after[0].p > after[0].second.p + 0.2, "no near ties");
  assert.ok(Math.abs(after[1].p - before[1].p) < 0.05);
  const far = effects.map((row) => row.slice(0, 7).map((effect) => effect > 0.1).lastIndexOf(true));
  assert.deepEqual([text[far[0]], far[0]], ["d", 3], "of all far letters only d");
  assert.ok(weights[3] > 0.05 && weights.slice(0, 10).every((weight, s) => s === 3 || weight < 0.005), "a line of its own leads to it");
});

test("the guided steps: what is called right is right", () => {
  const [mean, far, order] = SPEC.steps;
  const outcome = (i, state) => t(`step_${i}_outcome`, toldOf(shown(state), t));
  const { text, letter } = far.state;
  const r = 13;
  const [whole, without, withoutD] = [0, r, letter].map((erased) => shown({ text, letter: erased }));
  const said = ({ character, p }) => `${character} ${percent(p)}`;
  assert.deepEqual([text, text[letter - 1], t(`step_2_answer_${far.right + 1}`)], [FAR.text, "d", "the d"]);
  assert.ok(text[r - 1] === "r" && t("step_2_question").startsWith(`Attention looks most at the r (${percent(whole.weights[r - 1])}), less at the far d (${percent(whole.weights[letter - 1])}).`));
  assert.ok(whole.weights.every((weight, s) => s === r - 1 || weight < whole.weights[r - 1]));
  assert.deepEqual([whole.before[0], without.after[0], withoutD.after[0]].map(said), ["n 55%", "n 52%", "e 63%"]);
  assert.match(outcome(2, far.state), /^The d: n 55% → e 63%\. Without the r, attention still guesses n \(52%\): .* letter 12 from the end, in 9 of 2\u202f223 passages\.$/);
  assert.deepEqual([letter, text.length - letter + 1, CHANGES[0][text.length - letter]], [FAR.letter, 12, 9]);
  assert.equal(spoken(without, t), "Without the\u00a0r, the RNN guesses i, attention still n.");
  assert.equal(spoken(withoutD, t), "Without the\u00a0d, attention’s guess changes: both guess e.");

  assert.ok(shown(mean.state).mean && !shown(mean.before).mean && shown(mean.before).count > BACK, "its letter stands in the text");
  assert.deepEqual([shown(mean.state).back, CHANGES.map((counts) => counts[8]), PASSAGES, t(`step_1_answer_${mean.right + 1}`)], [BACK, [10, 232], 2223, "the RNN’s"]);
  assert.match(outcome(1, mean.state), /^The RNN’s: 232 times against 10\. For the last letter it is the other way round: 1\u202f974 against 2\u202f104\. This attention, about half as big as the RNN, /);
  assert.match(t("step_1_question", toldOf({ ...shown(), back: BACK }, t)), /^In 2\u202f223 new passages we erase letter 9 from the end\./);
  const [looks, holds] = CHANGES;
  assert.ok(looks[0] > holds[0] && looks.slice(5).every((count) => count < PASSAGES / 100), "attention uses the last few letters");
  assert.ok(holds.every((count, back) => back === 0 || (count < holds[back - 1] && count > 0.6 * holds[back - 1])), "the state's memory fades slowly");

  assert.equal(t(`step_3_answer_${order.right + 1}`), "all lines");
  assert.match(outcome(3, order.state), /^All lines\. .* takes 4 more\. The circles wait: 15 rounds\. For 1\u202f000 letters: 1 \+ 10 rounds against 1\u202f000\. So attention can train faster on long texts\.$/);
  assert.equal(spoken(shown(order.state), t), "All lines take 1 round, their sum 4. The circles take 15.");
  SPEC.steps.forEach(({ state }, i) => assert.ok(outcome(i + 1, state).split(" ").length <= 42, `step ${i + 1}: short`));
});

test("each line is in the first round, a circle in the one after that of the circle before it", () => {
  assert.deepEqual([roundsOf(3), roundsOf(0)], [[[1, 1, 1], [1, 2, 3]], [[], []]]);
  assert.equal(spoken(shown({ view: "order", text: "" }), t), "Type a text.");
});

test("the lines are added up in as many rounds as the scan of so many steps has", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 15, 16, 1000].map(sumRounds), [0, 0, 1, 2, 2, 4, 4, 10]);
  for (const count of [2, 3, 8, 15, 16, 64]) assert.equal(sumRounds(count), scanLevels(count, "doubling").length);
});

test("of networks of equal size the RNN is said to guess better", () => {
  assert.ok(EQUAL.perplexities[1] < EQUAL.perplexities[0], "lower is better"); // of the record: the Python tests
  assert.match(t("models", scores(shown())), /the RNN has 23\u202f451 learned numbers, attention 13\u202f179\. .* equal size \(about 24\u202f000\), trained alike, the RNN guesses the story better: perplexity 3\.6 against 4\.2,/);
});

test("a question shows the text, and nothing that tells the answer", () => {
  for (const { before } of SPEC.steps) assert.deepEqual([shown(before).mean, shown(before).told], [false, -1]);
  assert.equal(spoken({ ...shown(SPEC.steps[1].before), isAsked: true }, t), "Attention guesses n next, the RNN e.");
  assert.equal(spoken({ ...shown(), isAsked: true }, t), "Both guess f next.");
  assert.equal(spoken(asking({ ...shown(), isAsked: true }, SPEC.steps[0].state), t), "A passage: 16 letters, counted from its end.");
  assert.deepEqual(SPEC.steps.map(({ before, state }) => asking(shown(before), state)).map(({ mean, such, rival }) => [mean, such, rival]), [[true, -1, -1], [false, 3, 12], [false, -1, -1]]);
  assert.match(spoken({ ...shown({ text: "the tide" }), isAsked: true }, t), /^(Both guess .+ next|Attention guesses .+ next, the RNN .+)\.$/);
});

test("the averages are told in words, by how far back the letter stands", () => {
  const { told, mean } = shown({ view: "mean", letter: 5 });
  assert.deepEqual([told, mean], [-1, true]);
  for (const text of ["the sea", ""]) {
    assert.equal(spoken(shown({ view: "mean", text }), t), "Letter 9: the RNN’s guess changes 232 times, attention’s 10.");
    assert.match(spoken(shown({ view: "mean", text, letter: 16 }), t), /^Letter 1: the RNN’s guess changes 1\u202f974 times, attention’s 2\u202f104\.$/);
  }
});

test("texts and letters are bounded, in links too", () => {
  assert.equal(readable("<b>\u0000".repeat(5000)).length, MAX_TEXT);
  assert.equal(readable("Zoë läuft"), "zoe lauft");
  assert.equal(readable("a lamp lantern with bo"), "lantern with bo", "no space in front");
  assert.equal(readable("red lantern with bot"), "lantern with bot");
  const link = (state) => decodeLink(encodeLink("Attention", 0, state), "Attention", 0, rulesOf(SPEC.controls));
  assert.deepEqual(link({ text: "the sea", letter: 1, view: "mean" }), { text: "the sea", letter: 1, view: "mean" });
  assert.equal(link({ text: "x".repeat(17), letter: 99 }), null);
  assert.deepEqual([shown({ letter: 7 }).told, shown({ text: "the", letter: 7 }).told], [6, -1]);
  assert.equal(repair({ text: "the sea", letter: 8, view: "text" }).letter, 0);
  assert.equal(repair({ text: "the sea", letter: 16, view: "mean" }).letter, 16, "of a passage of the averages");
  assert.equal(repair({ text: "The SEA", letter: 0 }).text, "the sea");
  assert.deepEqual(shown({ text: "" }).effects, [[], []]);
  assert.equal(shown({ letter: 7, view: "order" }).told, -1, "nothing is erased there");
});
