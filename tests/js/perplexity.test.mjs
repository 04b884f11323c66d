import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  AXIS_BITS, PRESETS, axisPosition, branchLayout, carryProbs, derive, exceedsAlphabet, formatChoices, meanBits, meanChoices, nearestStop, perplexity,
  percentage, predictions, presetProb, probabilityStops, sentenceKey, stopAt, surpriseBits, TABLE, TRAINED, wordProblem,
} from "../../src/d2lrnn/widgets/perplexity/maths.mjs";
import { RULES, repair } from "../../src/d2lrnn/widgets/perplexity/index.mjs";
import SPEC from "../../src/d2lrnn/widgets/perplexity/spec.json" with { type: "json" };
import { decodeLink, encodeLink } from "../../src/d2lrnn/widgets/ui.mjs";
import { CASES, assertClose } from "./cases.mjs";

test("surprise, mean, perplexity and the three means are those of d2lrnn.metrics", () => {
  assert.ok(CASES.probs.length >= 50);
  for (const { probs, bits, mean_bits, perplexity: expected, means, axis } of CASES.probs) {
    probs.forEach((p, i) => {
      assertClose(surpriseBits(p), bits[i], `bits of ${p}`);
      assertClose(axisPosition(surpriseBits(p)), axis[i], `axis position of ${p}`);
    });
    assertClose(meanBits(probs), mean_bits, `mean of ${probs}`);
    assertClose(perplexity(probs), expected, `perplexity of ${probs}`);
    for (const [kind, value] of Object.entries(means)) assertClose(meanChoices(probs)[kind], value, `${kind} of ${probs}`);
  }
});

test("the cases that the book names", () => {
  const shown = PRESETS.map((name) => perplexity(Array(6).fill(presetProb(name, 27))).toFixed(2));
  assert.deepEqual(shown, ["1.00", "1.25", "5.00", "27.00", "Infinity"]);
  assert.equal(presetProb("uniform", 7), 1 / 7);
  assert.equal(meanChoices([1, 1, 1, 1, 1, 0]).harmonic, 6 / 5);
});

test("the marks of the trained network and of the table are the numbers that the lessons print", () => {
  const lesson = readFileSync(new URL("../../chapters/06_perplexity.ipynb", import.meta.url), "utf8");
  const printed = /"perplexity (\d+\.\d+), \d\.\d+ bits a character\\n"/.exec(lesson);
  assert.equal(Number(printed[1]).toFixed(1), String(TRAINED));
  const first = readFileSync(new URL("../../chapters/01_predicting.ipynb", import.meta.url), "utf8");
  const counted = /"5 +\d\.\d+ +(\d\.\d+)\\n"/.exec(first); // n, on counted text, on new text
  assert.equal(Number(counted[1]).toFixed(1), String(TABLE));
});

test("it opens on a whole number of choices", () => {
  const { word, probs, vocab_size } = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
  assert.equal(derive({ word, probs, vocab_size }).choices, 2);
});

test("the guided steps: what is called right is right", () => {
  const choices = SPEC.steps.map(({ state }) => derive(state).choices);
  const answers = (i) => Array.from({ length: SPEC.steps[i].answers }, (_, j) => SPEC.words.en[`step_${i + 1}_answer_${j + 1}`]);
  SPEC.steps.forEach(({ before, state, right }, i) => {
    assert.notDeepEqual(before, state, "the answer is not shown before it is given");
    const value = answers(i)[right].replace("about ", "");
    assert.ok(value === "infinite" ? choices[i] === Infinity : Math.abs(choices[i] - Number(value)) < 0.05, `${i}: ${choices[i]}`);
  });
  assert.deepEqual(SPEC.steps.map(({ before }) => derive(before).choices), [2, 1, 1]);
  assert.deepEqual(derive(SPEC.steps[0].state).rows.slice(0, 2).map((row) => row.choices), [2, 50]);
  assert.ok(Math.abs(derive(SPEC.steps[1].state).bits - 1 / 6) < 1e-12, "one bit is shared among six letters");
  assert.deepEqual(answers(0), ["26", "10", "50"]);
  SPEC.steps.forEach(({ right, answers: count }, i) => { // each wrong answer is spoken of, with its own number
    for (let j = 0; j < count; j += 1) {
      const said = SPEC.words.en[`step_${i + 1}_yours_${j + 1}`];
      if (j === right) assert.equal(said, undefined);
      else assert.ok(said.startsWith(`${answers(i)[j]} `), said);
    }
  });
  assert.equal(meanChoices(SPEC.steps[2].state.probs).harmonic.toFixed(1), answers(2)[0]);
  assert.ok(Math.abs(derive(SPEC.steps[0].state).means.arithmetic - 26) < 1e-12);
});

test("a chance has whole hundredths, decimals where those would round, and is never said to be 0 or 1 where it is not", () => {
  const shown = [0, 1e-9, 0.0001, 0.02, 0.25, 0.29, 1, 1 / 27, 0.995, 0.9999].map(percentage);
  assert.deepEqual(shown, ["0%", "<0.01%", "0.01%", "2%", "25%", "29%", "100%", "3.7%", "99.5%", ">99.9%"]);
});

test("no surprise is a plain zero, not a negative one", () => {
  assert.ok(Object.is(surpriseBits(1), 0));
  assert.ok(Object.is(meanBits([1, 1]), 0));
});

test("whole branches, and a part of one", () => {
  assert.deepEqual(branchLayout(3), { branches: [-1, 0, 1].map((y) => ({ y, weight: 1 })), more: 0 });
  assert.deepEqual(branchLayout(1.5), { branches: [{ y: -1, weight: 1 }, { y: 1, weight: 0.5 }], more: 0 });
  assert.equal(branchLayout(100).branches.length, 32);
  assert.equal(branchLayout(100).more, 68);
  assert.equal(branchLayout(Infinity).more, Infinity);
});

test("branches grow without a jump and their weights add up to the choices", () => {
  let before = null;
  for (let choices = 1; choices <= 32; choices += 0.01) {
    const { branches } = branchLayout(choices);
    assertClose(branches.reduce((sum, { weight }) => sum + weight, 0), choices);
    for (const { y } of branches) assert.ok(y >= -1 - 1e-9 && y <= 1 + 1e-9);
    if (before) before.forEach(({ y }, i) => assert.ok(Math.abs(y - branches[i].y) < 0.05, `branch ${i} jumps at ${choices}`));
    before = branches;
  }
});

test("27 is the size of one alphabet: a word beyond it is told so", () => {
  assert.deepEqual(["the sea", "Zoe", "naïve", "a9", "привет"].map((word) => exceedsAlphabet(word, 27)), [false, true, true, true, true]);
  assert.equal(exceedsAlphabet("naïve", 100), false);
});

test("a slider has 0, 1, hundredths and the uniform probability, in order and once", () => {
  for (const vocabSize of [2, 3, 27, 28, 100, 1_000_000]) {
    const stops = probabilityStops(vocabSize);
    for (const p of [0, 0.001, 0.01, 0.2, 0.35, 0.8, 1, 1 / vocabSize]) assert.ok(stops.includes(p), `${p} of ${vocabSize}`);
    for (let i = 1; i < stops.length; i += 1) assert.ok(stops[i] < stops[i - 1]);
  }
});

test("a step along the slider always changes the probability", () => {
  const stops = probabilityStops(27);
  stops.forEach((p, i) => assert.equal(nearestStop(stops, p), i));
  for (const p of [1e-9, 0.0004, 0.1234, 0.9999]) {
    const at = nearestStop(stops, p);
    assert.ok(at > 0 && at < stops.length - 1, `${p} stands on an end`);
    assert.ok(stops[at - 1] > p && p > stops[at + 1]);
  }
});

test("a place on the axis is the probability next to it; the end is impossible", () => {
  const stops = probabilityStops(27);
  stops.forEach((p, i) => {
    const place = axisPosition(surpriseBits(p));
    if (surpriseBits(p) <= AXIS_BITS || p === 0) assert.equal(stopAt(stops, place), place < 0.005 ? 0 : i, `${p}`);
  });
  for (const place of [0, 0.002, 0.0049]) assert.equal(stops[stopAt(stops, place)], 1); // the axis is some 300 pixels long
  assert.equal(stops[stopAt(stops, 1)], 0);
  assert.equal(stops[stopAt(stops, 1 / (AXIS_BITS + 1))], 0.5);
});

test("characters are code points", () => {
  assert.deepEqual(predictions("a👩b"), [
    { context: ["a"], target: "👩" },
    { context: ["a", "👩"], target: "b" },
  ]);
  assert.equal(wordProblem("👩👩"), null);
});

test("a word has 2 to 12 printable characters", () => {
  for (const word of ["ab", "machine", "a b", "perplexities", "שלום", "</script>", "  "]) assert.equal(wordProblem(word), null, word);
  for (const word of ["", "a", "👩", "thirteen char"]) assert.equal(wordProblem(word).key, "word_length");
  assert.equal(wordProblem("x".repeat(100_000)).values.count, 100_000);
  assert.deepEqual(wordProblem("a\u0007b"), { key: "word_control", values: { code: "U+0007" } });
  assert.equal(wordProblem("a\ud800b").key, "word_control");
});

test("probabilities keep their places in another word", () => {
  assert.deepEqual(derive({ word: "abcd", probs: [0.5], vocab_size: 4 }).probs, [0.5, 0.25, 0.25]);
  assert.deepEqual(carryProbs([0.5, 0.25], 3, 4), [0.5, 0.25, 0.25]);
  assert.deepEqual(carryProbs([0, 1, 0.5], 2, 27), [0, 1]);
});

test("counts of choices in a sentence are those of Python", () => {
  for (const { choices, text } of CASES.sentences) assert.equal(formatChoices(choices), text, `${choices}`);
  assert.equal(formatChoices(Infinity), "∞");
  assert.deepEqual([1, 1.0004, 1.01, 1.06, 2, Infinity].map((choices) => sentenceKey(choices)), ["certain", "certain", "almost", "", "", "infinite"].map((kind) => (kind ? `sentence_${kind}` : "sentence")));
  assert.deepEqual([26.9, 27, 27.1, Infinity].map((choices) => sentenceKey(choices, 27)), ["sentence", "sentence_blind", "sentence_worse", "sentence_infinite"]);
});

test("ten thousand random moves: never NaN, and harmonic <= geometric <= arithmetic", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const stops = probabilityStops(27);
  for (let round = 0; round < 10_000; round += 1) {
    const probs = Array.from({ length: 1 + Math.floor(random() * 11) }, () => stops[Math.floor(random() * stops.length)]);
    const { harmonic, geometric, arithmetic } = meanChoices(probs);
    for (const value of [harmonic, geometric, arithmetic, meanBits(probs)]) assert.ok(value >= 0, `${probs}: ${value}`);
    assert.ok(harmonic <= geometric * (1 + 1e-12) && geometric <= arithmetic * (1 + 1e-12), `${probs}`);
    const position = axisPosition(meanBits(probs));
    assert.ok(position >= 0 && position <= 1);
    for (const { y, weight } of branchLayout(geometric).branches) assert.ok(Number.isFinite(y) && weight > 0 && weight <= 1);
  }
  assert.ok(axisPosition(1e3) < 1 && axisPosition(Infinity) === 1);
});

test("a link may set what the sliders may, and what it sets fits together", () => {
  const link = (state) => decodeLink(encodeLink("Perplexity", 0, state), "Perplexity", 0, RULES);
  assert.deepEqual(link({ word: "sea", probs: [0.5, 0.02], vocab_size: 27 }), { word: "sea", probs: [0.5, 0.02], vocab_size: 27 });
  assert.equal(link({ word: "x", probs: [2], vocab_size: 1 }), null);
  assert.deepEqual(repair({ word: "sea", probs: [0.5], vocab_size: 4 }), { word: "sea", probs: [0.5, 0.25], vocab_size: 4 });
  assert.deepEqual(repair({ word: "se", probs: [0.5, 0.1], vocab_size: 4 }).probs, [0.5]);
});
