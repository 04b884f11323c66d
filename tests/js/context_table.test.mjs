// The table of contexts against d2lrnn: the story is counted here with JavaScript, the cases were computed by Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  COPIED, LINE_LENGTH, MAX_ORDER, MAX_START, NUM_WRITTEN, SHORTEST_COPY, alongLine, contextOf, copiesWithin, countInSteps,
  createCounts, findCopies, formatShare, predict, ranking, readOf, tidyStart, write, writings,
} from "../../src/d2lrnn/widgets/context_table/maths.mjs";
import { outcomes } from "../../src/d2lrnn/widgets/context_table/index.mjs";
import { aboutCopies, filled, writtenSentence } from "../../src/d2lrnn/widgets/context_table/panels.mjs";
import { countNgrams, randomSource } from "../../src/d2lrnn/widgets/core.mjs";
import { translator } from "../../src/d2lrnn/widgets/ui.mjs";
import { normalise } from "../../src/d2lrnn/widgets/weights.mjs";
import { countContexts, ngramProbs, scoreNgram } from "./ngrams.mjs";

const CASES = JSON.parse(readFileSync(new URL("./context_table_cases.json", import.meta.url), "utf8"));
const SPEC = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/context_table/spec.json", import.meta.url), "utf8"));
const STORY = normalise(readFileSync(new URL("../../src/d2lrnn/data/the-tide-clock.txt", import.meta.url), "utf8"));
const IDS = Int32Array.from(STORY, (character) => CASES.vocab.indexOf(character));
const TRAIN = IDS.subarray(0, CASES.num_train);
const SOURCE = STORY.slice(0, CASES.num_train);
const LINE = STORY.slice(CASES.line_start, CASES.line_start + LINE_LENGTH);

function finish(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const TABLE = finish(countInSteps(TRAIN, MAX_ORDER, CASES.vocab.length));
const COUNTS = createCounts(TABLE, CASES.vocab);
const WALK = alongLine(COUNTS, LINE);

function assertClose(actual, expected, message, tolerance = 1e-9) {
  const error = Math.abs(actual - expected) / Math.max(Math.abs(expected), 1e-30);
  assert.ok(error <= tolerance, `${message}: ${actual} is not ${expected}`);
}

test("counting in steps is counting", () => {
  assert.equal(STORY.length, CASES.text_length);
  assert.deepEqual(TABLE, countNgrams(TRAIN, MAX_ORDER, CASES.vocab.length));
  let seed = 1;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (const [length, order, size] of [[0, 3, 4], [1, 6, 27], [2, 5, 3], [50, 1, 5], [300, 4, 3]]) {
    const ids = Int32Array.from({ length }, () => random(size));
    assert.deepEqual(finish(countInSteps(ids, order, size)), countNgrams(ids, order, size), `${length} ${order} ${size}`);
  }
  assert.throws(() => countInSteps([0, 1], 40, 27).next(), RangeError);
});

test("counting comes in many steps, each of which knows how far it is", () => {
  const steps = [...countInSteps(TRAIN, 6, 27)];
  assert.equal(steps.length, 27);
  assert.ok(steps.every((share, i) => share >= 0 && share < 1 && (i === 0 || share > steps[i - 1])));
});

test("contexts and held-out perplexities of the story are those that Python sends", () => {
  for (const { order, contexts, perplexity } of CASES.levels) {
    assert.equal(countContexts(TABLE, order), contexts, `n = ${order}`);
    if (![1, 3, 5].includes(order)) continue; // the others cost time and would prove the same
    const { nats, numTokens } = scoreNgram(TABLE, order, IDS.subarray(CASES.num_train));
    assertClose(Math.exp(nats / numTokens), perplexity, `n = ${order}`);
  }
});

test("every context of the chain, its weight, and every probability is as in Python", () => {
  assert.ok(CASES.places.length >= 10);
  for (const { order, past, chain, probs, ranking: ranked } of CASES.places) {
    const answer = predict(COUNTS, order, past);
    const name = `n = ${order}, "${past}"`;
    assert.deepEqual(
      answer.chain.map(({ context, total, types }) => [context, total, types]),
      chain.map(({ context, count, different }) => [context, count, different]), name,
    );
    answer.chain.forEach(({ weight }, i) => assertClose(weight, chain[i].weight, `${name}: weight ${i}`));
    answer.probs.forEach((p, i) => assertClose(p, probs[i], `${name}: ${CASES.vocab[i]}`));
    assert.equal(ranking(answer.probs).map((x) => CASES.vocab[x]).join(""), ranked, name);
  }
});

test("probabilities are the weighted frequencies of the chain, sum to 1, and equal the engine's", () => {
  for (const { order, past } of CASES.places) {
    const { probs, chain, uniform, answering } = predict(COUNTS, order, past);
    assertClose(probs.reduce((sum, p) => sum + p), 1, "sum");
    assertClose(chain.reduce((sum, { weight }) => sum + weight, uniform), 1, "weights");
    probs.forEach((p, x) => {
      const mixed = chain.reduce((sum, { weight, counts, total }) => sum + (total && (weight * counts[x]) / total), uniform / 27);
      assertClose(p, mixed, `${order} ${past} ${x}`);
    });
    assert.deepEqual([...probs], [...ngramProbs(TABLE, order, Array.from(contextOf(past, order), (c) => CASES.vocab.indexOf(c)))]);
    assert.equal(answering, chain.find(({ total }) => total > 0));
    assert.ok(chain.every(({ total }, i) => i === 0 || total >= chain[i - 1].total), "a shorter context is never rarer");
  }
});

test("all six write what Python writes, and what is copied is what Python finds copied", () => {
  for (const [seed, numbers] of Object.entries(CASES.random)) {
    const random = randomSource(Number(seed));
    for (const expected of numbers) assertClose(random(), expected, `seed ${seed}`, 1e-11);
  }
  assert.ok(CASES.starts.some(({ copies }) => copies.flat().length > 5));
  for (const { start, seed, writings: texts, copies } of CASES.starts) {
    const found = writings(COUNTS, SOURCE, start, seed);
    assert.deepEqual(found.map(({ text }) => text), texts, `"${start}" ${seed}`);
    assert.deepEqual(found.map(({ copies: own }) => own.map(({ from, length }) => [from, from + length])), copies);
    for (const { n, text, copies: own, copied } of found) {
      assert.equal(text.length, NUM_WRITTEN);
      assert.equal(text, write(COUNTS, n, start, seed, 200).slice(0, NUM_WRITTEN), "writing on keeps what was written");
      for (const { from, length, at } of own) assert.equal(SOURCE.slice(at, at + length), text.slice(from, from + length));
      assertClose(copied * NUM_WRITTEN + 1, own.reduce((sum, { length }) => sum + length, 1), "share");
    }
  }
});

test("copies: the longest first, none shorter than the bound, no letter twice", () => {
  const source = "abcdefghijklmnop xyz";
  const shown = (text, shortest) => findCopies(text, source, shortest).map(({ from, length, at }) => [from, length, at]);
  assert.deepEqual(shown("..bcdefg..xyz..", 3), [[2, 6, 1], [10, 3, 17]]);
  assert.deepEqual(shown("abcdcdefghi", 4), [[0, 4, 0], [4, 7, 2]]);
  assert.deepEqual(shown("xyzabc", 4), []);
  assert.deepEqual(shown("", 4), []);
  const all = [{ n: 1, copies: [] }, { n: 5, copies: [{ from: 3, length: 30, at: 7 }] }];
  assert.deepEqual(copiesWithin(all[1].copies, 3 + SHORTEST_COPY), [{ from: 3, length: SHORTEST_COPY, at: 7 }]);
});

test("along the line: who has seen what comes before, and the probability, as in Python; it opens where all five letters are known", () => {
  assert.equal(LINE, SPEC.presets.sizes.line);
  assert.deepEqual(WALK.map(({ letter, order }) => ({ letter, order })), CASES.walk.map(({ letter, order }) => ({ letter, order })));
  WALK.forEach(({ p }, i) => assertClose(-Math.log2(p), CASES.walk[i].bits, `letter ${i}`));
  const { min, max, default: first } = SPEC.controls.place;
  assert.ok(SOURCE.includes(LINE.slice(0, min)), "above the first letters stand as many blocks as there are letters before");
  assert.deepEqual([WALK[0].place, WALK.at(-1).place], [min, max]);
  assert.equal(WALK[first - min].order, MAX_ORDER);
  for (const { past, order, answering, followed, letter } of WALK) {
    const known = past.slice(past.length - order + 1);
    assert.equal(answering.context, known);
    assert.ok(SOURCE.slice(0, -1).includes(known) && (order === MAX_ORDER || !SOURCE.slice(0, -1).includes(past.slice(-order))));
    assert.equal(followed, SOURCE.includes(known + letter));
  }
});

test("each n expects what its own prediction ranks first; one that never saw its context answers as the next shorter one", () => {
  for (const { past, letter, p, expected, rows } of WALK) {
    rows.forEach((row, i) => {
      const { probs, chain } = predict(COUNTS, i + 1, past);
      const [first] = ranking(probs);
      assert.deepEqual([row.n, row.context, row.total], [i + 1, contextOf(past, i + 1), chain[0].total]);
      assert.deepEqual(row.expected, { letter: CASES.vocab[first], p: probs[first] });
      assert.equal(row.p, probs[CASES.vocab.indexOf(letter)]);
      if (row.total === 0) assert.deepEqual([row.p, row.expected], [rows[i - 1].p, rows[i - 1].expected]);
    });
    assert.deepEqual([rows.at(-1).p, rows.at(-1).expected], [p, expected]);
  }
});

test("what is copied on average is so; who copies most is not who predicts best, whatever was drawn", () => {
  const { start, lines, shares } = COPIED;
  assert.equal(start, SPEC.controls.start.default);
  const sums = Array(MAX_ORDER).fill(0);
  for (let seed = 0; seed < lines; seed += 1) {
    writings(COUNTS, SOURCE, start, seed).forEach(({ copied }, i) => { sums[i] += copied; });
  }
  assert.deepEqual(sums.map((sum) => sum / lines), shares);
  assert.ok(Math.max(...shares) === shares.at(-1), "the words of the fold say so");
  const t = translator("en", SPEC.words);
  assert.match(t("about_copied", aboutCopies()), /Over 20 texts that go on from “the tide ”, the 6-gram copies 57% on average/);
  const said = (seed) => filled(...writtenSentence(writings(COUNTS, SOURCE, start, seed), CASES.levels, t));
  assert.equal(said(SPEC.controls.seed.default), "Copied most from the story here: the 6-gram (67%). Guesses new text best: the 5-gram.");
  const none = Array.from({ length: MAX_ORDER }, (_, i) => ({ n: i + 1, copied: 0 }));
  assert.equal(filled(...writtenSentence(none, CASES.levels, t)), "No model copied 10 letters in a row here. Guesses new text best: the 5-gram.");
});

test("the right answers of the guided steps are right, and their outcomes say so", () => {
  const [sure, wrong, best] = SPEC.steps;
  const t = translator("en", SPEC.words);
  const at = ({ place }) => WALK[place - SPEC.controls.place.min];
  const word = at(sure.state);
  assert.deepEqual([word.past, word.letter, word.order, word.answering.context], ["titio", "n", 4, "tio"]);
  assert.ok(word.p > 0.99 && t(`step_1_answer_${sure.right + 1}`) === "more than 99%");
  assert.ok(!SOURCE.includes("titio") && !SOURCE.includes("petition"));
  assert.equal(word.answering.types, 1, "n each time");

  const { past, letter, order, followed, p } = at(wrong.state);
  assert.deepEqual([past, letter, order, followed], ["ll th", "o", MAX_ORDER, false]);
  assert.ok(p < 0.01 && t(`step_2_answer_${wrong.right + 1}`) === "less than 1%");

  const { order: lowest } = CASES.levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));
  assert.equal(t(`step_3_answer_${best.right + 1}`), `the ${lowest}-gram`);

  const told = outcomes(t, { steps: WALK });
  assert.deepEqual(told[0], { p: ">99%", seen: "tio", times: "18 times" });
  assert.deepEqual(told[1], { p: formatShare(p), context: "ll th", times: "47 times" });
  assert.deepEqual(told[2], { gain: "1.2", loss: "1.7", worse: 27 });
});

test("the context is the last n - 1 letters, or as many as there are", () => {
  assert.deepEqual([1, 2, 5, 6].map((n) => contextOf("abcd", n)), ["", "d", "abcd", "abcd"]);
  assert.equal(contextOf("", 6), "");
});

test("typed text becomes letters and spaces, and not many", () => {
  for (const { typed, start } of CASES.typed) assert.equal(tidyStart(typed), start, typed);
  const long = tidyStart("the tide </script>👩 ".repeat(6000));
  assert.equal(long.length, MAX_START);
  assert.match(long, /^[a-z ]+$/);
  assert.equal(tidyStart(`${"a".repeat(50)}bc`), `${"a".repeat(38)}bc`, "the end is kept");
});

test("a note can say whether a typed text was cut or changed", () => {
  const of = (typed) => Object.values(readOf(typed));
  assert.deepEqual(of("The sea"), ["the sea", 7, false, false]);
  assert.deepEqual(of("Mr. Keld "), ["mr keld ", 8, false, true]);
  assert.deepEqual(of("a".repeat(50)), ["a".repeat(MAX_START), 50, true, false]);
  assert.deepEqual(of(`${"a".repeat(50)}!!`), [`${"a".repeat(MAX_START - 1)} `, 51, true, true]);
  assert.deepEqual(of(""), ["", 0, false, false]);
});

test("shares are never rounded to all or nothing", () => {
  const shares = [0, 1, 0.9999, 0.5542, 0.01651, 0.001378, 0.00001].map(formatShare);
  assert.deepEqual(shares, ["0%", "100%", ">99%", "55%", "1.7%", "0.14%", "<0.01%"]);
});
