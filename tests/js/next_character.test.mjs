// What comes next: the page writes what Python writes, and a cut keeps what it says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { reshapeProbs } from "../../src/d2lrnn/widgets/core.mjs";
import { cutValue, nowValues, nowWords, outcomes } from "../../src/d2lrnn/widgets/next_character/index.mjs";
import {
  FREE_COLUMN, MAX_TEXT, NUM_WRITTEN, TEMPERATURES, beginningShown, countImprobable, countKept, cutOf, distributionAt, findCircle, percentage, ranking, readable, topPFor,
  worked, write, writings,
} from "../../src/d2lrnn/widgets/next_character/maths.mjs";
import { translator } from "../../src/d2lrnn/widgets/ui.mjs";
import { loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const read = (file) => readFileSync(new URL(file, import.meta.url));
const CASES = JSON.parse(read("./next_character_cases.json"));
const SPEC = JSON.parse(read("../../src/d2lrnn/widgets/next_character/spec.json"));
const bytes = read("../../src/d2lrnn/data/models/trained.safetensors");
const NETWORK = loadModel(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
const DEFAULT = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const textOf = ({ letters }) => letters.map(({ character }) => character).join("");

test("text, ranking, both distributions and the four writings are those of Python's NextCharacter", () => {
  assert.ok(CASES.length >= 8);
  for (const { given, text, ranked, written, ...state } of CASES) {
    assert.equal(readable(given), text);
    const all = writings(NETWORK, { text, ...state });
    assert.deepEqual(all.map(textOf), written, given);
    const { rows, kept, improbable } = distributionAt(NETWORK, all[1], 0, cutOf(state));
    const rare = rows.filter(({ before }) => before < 1 / 16);
    assert.equal(improbable.count, rare.length);
    for (const name of ["before", "after"]) assert.ok(Math.abs(improbable[name] - rare.reduce((sum, row) => sum + row[name], 0)) < 1e-6);
    ranked.forEach(([name, p, q], i) => {
      const { character, before, after } = rows[i];
      assert.equal(character, name, `${text} ${i}`);
      assert.ok(Math.abs(before - p) < 1e-5 && Math.abs(after - q) < 1e-5, `${text} ${name}: ${before} ${p}, ${after} ${q}`);
    });
    assert.equal(kept, rows.filter(({ after }) => after > 0).length);
  }
});

test("a letter's surprisal is the model's own, whatever it was drawn from, and the reader's own text alone is cut", () => {
  const uncut = writings(NETWORK, { ...DEFAULT, temperature: 1.5 });
  writings(NETWORK, { ...DEFAULT, temperature: 1.5, kind: "top-k", top_k: 4 }).forEach(({ letters }, column) => {
    assert.equal(letters.length, NUM_WRITTEN);
    for (const { index, bits, probs } of letters) {
      assert.ok(Math.abs(2 ** -bits - probs[index]) < 1e-6);
      assert.ok(column !== FREE_COLUMN || ranking(probs).indexOf(index) < 4);
    }
    assert.equal(textOf({ letters }) === textOf(uncut[column]), column !== FREE_COLUMN);
  });
  const [greedy] = writings(NETWORK, DEFAULT);
  assert.ok(greedy.letters.every(({ index, probs }) => ranking(probs)[0] === index));
});

test("another text has other dice", () => {
  const dice = (text) => write(NETWORK, text, 2, {}, DEFAULT.seed, 12).map(({ index }) => index);
  assert.notDeepEqual(dice("the tide "), dice("the time "));
  const picked = (text) => writings(NETWORK, { ...DEFAULT, text }).slice(1).map(textOf); // at 0 there are no dice
  picked("the tide ").forEach((written, i) => assert.notEqual(written.slice(-40), picked("tide ")[i].slice(-40)));
});

test("nothing read yet counts as a space", () => {
  const text = (start) => textOf({ letters: write(NETWORK, start, 1, {}, 4) });
  assert.equal(text(""), text(" "));
  assert.notEqual(text(""), text("q"));
});

test("a circle: the shortest lap that fits twice, if enough of it was written", () => {
  const lap = " and the sea had been";
  assert.deepEqual(findCircle(`he was.${lap}${lap} an`), { from: 7, length: lap.length });
  assert.equal(findCircle(`he was.${lap} and the s`), null, "not yet twice");
  assert.deepEqual(findCircle("ab".repeat(15)), { from: 0, length: 2 });
  assert.equal(findCircle("it is a well"), null, "two equal letters are no circle");
  assert.equal(findCircle(""), null);
});

test("what the figure opens with: a circle at 0, and more improbable letters the hotter it is", () => {
  const all = writings(NETWORK, DEFAULT);
  const counts = all.map(({ letters }) => countImprobable(letters));
  const hotter = all.map((_, i) => i).sort((i, j) => TEMPERATURES[i] - TEMPERATURES[j]);
  assert.deepEqual(hotter.map((i) => counts[i]), [...counts].sort((a, b) => a - b));
  assert.notEqual(findCircle(textOf(all[0])), null);
  assert.deepEqual(all.slice(1).map((each) => findCircle(textOf(each))), [null, null, null]);
  assert.deepEqual(nowValues(all[FREE_COLUMN].letters), { count: counts[FREE_COLUMN], all: NUM_WRITTEN, isCircle: false, lap: 0 });
  assert.deepEqual([["now"], ["now_circle"]], [[FREE_COLUMN], [0]].map(([column]) => [nowWords(nowValues(all[column].letters))]));
  const first = all[2].letters.findIndex(({ bits }) => bits > 4);
  assert.deepEqual([first, first + 1].map((length) => nowValues(all[2].letters.slice(0, length)).count), [0, 1]);
  assert.equal(nowWords(nowValues(all[2].letters.slice(0, first + 1))), "now_one");
  const [{ index, probs }] = all[FREE_COLUMN].letters;
  assert.ok(probs[index] > 0.4, "its bar uses the room");
  assert.equal(ranking(probs)[0], index, "the letter that is looked at is the tallest bar: what its temperature does to it is what it does to the text");
});

test("one column has the reader's temperature, and what is known is not written again", () => {
  assert.equal(TEMPERATURES[FREE_COLUMN], SPEC.controls.temperature.default);
  const all = writings(NETWORK, DEFAULT);
  const warmer = writings(NETWORK, { ...DEFAULT, temperature: 1.5 }, all);
  warmer.forEach((each, column) => assert.equal(each === all[column], column !== FREE_COLUMN));
  assert.equal(textOf(warmer[FREE_COLUMN]), textOf(all[TEMPERATURES.indexOf(1.5)]));
  writings(NETWORK, { ...DEFAULT, seed: 3 }, all).slice(1).forEach((each, i) => assert.notEqual(textOf(each), textOf(all[i + 1])));
  for (const temperature of [0, 0.1, 2]) assert.equal(textOf(writings(NETWORK, { ...DEFAULT, temperature })[FREE_COLUMN]).length, NUM_WRITTEN);
});

test("a bound for top-p keeps as many letters as were asked for", () => {
  for (const { letters } of writings(NETWORK, DEFAULT).slice(1)) {
    for (const { probs } of letters.slice(0, 20)) {
      const sorted = Array.from(probs).sort((a, b) => b - a);
      for (let count = 1; count <= probs.length; count += 1) {
        const top_p = topPFor(probs, count);
        assert.ok(top_p >= 0.05 && top_p <= 1);
        const said = cutValue({ kind: "top-p", top_p }, () => "all");
        assert.ok(top_p === 1 ? said === "all" : Number(said) < 1, `${said}: what is below 1 is not called 1`);
        const sum = sorted.slice(0, count).reduce((a, b) => a + b, 0);
        if (sum > 0.06 && sum < 0.9999) assert.equal(countKept(reshapeProbs(probs, { topP: top_p })), count, `${count}: ${top_p}`);
      }
    }
  }
  assert.equal(topPFor([0.5, 0.25, 0.25], 3), 1);
  assert.equal(topPFor([0.5, 0.25, 0.25], 1), 0.49);
});

test("the right answers of the guided steps are right, and their outcomes say so", () => {
  const t = translator("en", SPEC.words);
  const [, hottest, three] = outcomes(NETWORK, DEFAULT);
  const rolled = [SPEC.steps[0].before, SPEC.steps[0].state].map((given) => writings(NETWORK, { ...DEFAULT, ...given }));
  assert.notEqual(SPEC.steps[0].before.seed, SPEC.steps[0].state.seed);
  assert.equal(textOf(rolled[0][FREE_COLUMN]), textOf(rolled[1][FREE_COLUMN]));
  assert.notEqual(findCircle(textOf(rolled[1][FREE_COLUMN])), null, "it goes round in a circle");
  assert.equal(t(`step_1_answer_${SPEC.steps[0].right + 1}`), "nothing");
  const [, { letters: own }] = writings(NETWORK, DEFAULT);
  assert.ok(three.now < three.before / 5, "hardly any");
  for (const step of SPEC.steps) {
    for (const given of [step.before, step.state]) {
      const { index, probs } = writings(NETWORK, { ...DEFAULT, ...given })[FREE_COLUMN].letters[given.place];
      assert.equal(ranking(probs)[0], index, "the boxed letter is the tallest bar");
    }
  }
  assert.equal(t(`step_3_answer_${SPEC.steps[2].right + 1}`), "hardly any");
  assert.deepEqual(hottest, { before: "27%", after: "57%", own: 3, hot: 41, all: NUM_WRITTEN });
  assert.equal(t(`step_2_answer_${SPEC.steps[1].right + 1}`), "about half of all");
  const hot = distributionAt(NETWORK, writings(NETWORK, { ...DEFAULT, ...SPEC.steps[1].state })[FREE_COLUMN], 0, {});
  assert.ok(hot.rows.slice(-hot.improbable.count).every(({ before, after }) => after > before), "each of the unlikely grows");
  for (const { probs } of writings(NETWORK, DEFAULT).flatMap(({ letters }) => letters)) {
    for (const temperature of [0.1, 0.7, 1.5, 2]) {
      const drawn = reshapeProbs(probs, { temperature });
      ranking(probs).reduce((i, j) => (assert.ok(drawn[i] >= drawn[j], "no temperature changes the order"), j));
    }
  }
  const { probs } = own[0];
  const { raised, sum } = worked(probs, probs[own[0].index], 0.7);
  assert.ok(Math.abs(raised / sum - reshapeProbs(probs, { temperature: 0.7 })[own[0].index]) < 1e-6);
});

test("whatever is typed or pasted becomes letters and spaces, at most MAX_TEXT of them", () => {
  assert.equal(readable("<script>alert('é👩')</script>\u0000"), " script alert e script ");
  assert.equal(readable("x".repeat(100_000)).length, MAX_TEXT);
  assert.equal(readable(""), "");
});

test("a writing stands behind the text that it goes on from, behind the end of a long one", () => {
  for (const text of ["in paris", "the tide of ", ""]) assert.equal(beginningShown(text), text);
  assert.equal(beginningShown("what the sea keeps"), "…e sea keeps");
  assert.equal(readable("Zoë"), "zoe");
});

test("cuts: one of the two, and both cut nothing at the end of their range", () => {
  assert.deepEqual(cutOf({ kind: "top-k", top_k: 3, top_p: 0.5 }), { topK: 3 });
  assert.deepEqual(cutOf({ kind: "top-p", top_k: 3, top_p: 0.5 }), { topP: 0.5 });
  const { probs } = writings(NETWORK, DEFAULT)[1].letters[0];
  for (const cut of [{ topK: SPEC.controls.top_k.max }, { topP: SPEC.controls.top_p.max }]) assert.equal(countKept(reshapeProbs(probs, cut)), 27);
  assert.equal(NUM_WRITTEN, SPEC.controls.place.max + 1);
});

test("a chance in hundredths has two digits that count, and is never said to be 0 or 1 where it is not", () => {
  const shown = [0, 1e-9, 0.0001, 0.0061, 0.037, 0.4486, 0.5, 0.9999, 1].map(percentage);
  assert.deepEqual(shown, ["0%", "<0.01%", "0.01%", "0.61%", "3.7%", "45%", "50%", ">99%", "100%"]);
});
