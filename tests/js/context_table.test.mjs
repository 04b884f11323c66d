// The table of contexts against d2lrnn: the story is counted here with JavaScript, the cases were computed by Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  COPIED, MAX_LINE, MAX_ORDER, MAX_START, MOST_BARS, NUM_WRITTEN, SHORTEST_COPY, contextOf, copiesWithin, countInSteps,
  createCounts, findCopies, formatShare, lookAt, predict, ranking, readOf, tidy, write, writings,
} from "../../src/d2lrnn/widgets/context_table/maths.mjs";
import { copiedHere } from "../../src/d2lrnn/widgets/context_table/index.mjs";
import { copiedValues, filled, sentenceOf, shorterValues, testedSentence, writtenSentence } from "../../src/d2lrnn/widgets/context_table/panels.mjs";
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

function finish(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const TABLE = finish(countInSteps(TRAIN, MAX_ORDER, CASES.vocab.length));
const COUNTS = createCounts(TABLE, CASES.vocab);
const T = translator("en", SPEC.words);

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
    if (order <= MAX_ORDER) assert.equal(countContexts(TABLE, order), contexts, `n = ${order}`);
    if (![1, 3, 5].includes(order)) continue; // the others cost time and would prove the same; 7 and 8 are not counted here
    const { nats, numTokens } = scoreNgram(TABLE, order, IDS.subarray(CASES.num_train));
    assertClose(Math.exp(nats / numTokens), perplexity, `n = ${order}`);
  }
});

test("every probability is as in Python and in the engine, and all sum to 1", () => {
  assert.ok(CASES.places.length >= 10);
  for (const { order, past, probs: expected, ranking: ranked } of CASES.places) {
    const probs = predict(COUNTS, order, past);
    const name = `n = ${order}, "${past}"`;
    assertClose(probs.reduce((sum, p) => sum + p), 1, name);
    probs.forEach((p, i) => assertClose(p, expected[i], `${name}: ${CASES.vocab[i]}`));
    assert.equal(ranking(probs).map((x) => CASES.vocab[x]).join(""), ranked, name);
    assert.deepEqual([...probs], [...ngramProbs(TABLE, order, Array.from(contextOf(past, order), (c) => CASES.vocab.indexOf(c)))]);
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

test("what followed a letter's context, for every n, is what Python counts", () => {
  assert.ok(CASES.looks.length >= 8);
  for (const { line, place, order, rows, counts } of CASES.looks) {
    const look = lookAt(COUNTS, { line, place, order });
    const name = `${line} ${place} ${order}`;
    assert.deepEqual(look.rows.filter(Boolean), rows, name);
    look.guesses.forEach((guess, i) => guess === null || assert.equal(guess, predict(COUNTS, i + 1, line.slice(0, place))[CASES.vocab.indexOf(line[place])]));
    assert.ok(look.guesses.every((guess, i) => (look.rows[i] === null ? guess === null : guess > 0)), "no letter gets 0%");
    assert.equal(look.rows.length, MAX_ORDER);
    assert.equal(look.rows.filter((row) => row === null).length, Math.max(0, MAX_ORDER - place - 1), "too few letters before");
    assert.equal(look.n, Math.min(order, place + 1));
    const { context, total, hits } = rows[look.n - 1];
    assert.deepEqual([look.letter, look.context, look.total, look.hits], [line[place], context, total, hits]);
    assert.equal(total, Object.values(counts).reduce((sum, count) => sum + count, 0));
    for (const { letter, count } of look.bars) assert.equal(count, counts[letter] ?? 0, `${name}: ${letter}`);
    assert.equal(look.others.count + look.bars.reduce((sum, { count }) => sum + count, 0), total);
    assert.equal(look.others.types, Object.keys(counts).filter((letter) => !look.bars.some((bar) => bar.letter === letter)).length);
    assert.ok(look.bars.length <= MOST_BARS && look.bars.some(({ letter }) => letter === line[place]) === total > 0);
    assert.ok(look.bars.every(({ count }, i) => i === 0 || count <= look.bars[i - 1].count), "the most frequent first");
  }
  assert.equal(lookAt(COUNTS, { line: "", place: 0, order: 3 }), null);
  assert.equal(lookAt(COUNTS, { line: "ab", place: 2, order: 3 }), null);
});

test("a letter of a lower rank than the bars in sight stands apart and says its place", () => {
  const of = (line, place, order) => {
    const { bars, rank, apart } = lookAt(COUNTS, { line, place, order });
    return [bars.map(({ letter, count }) => `${letter}${count}`).join(" "), rank, apart];
  };
  assert.deepEqual(of("tho", 2, 3), ["e1941 a368  264 i221 o77", 6, true]); // r, 90 times, is not in sight
  assert.deepEqual(of("the", 2, 3), ["e1941 a368  264 i221 r90", 1, false]);
  assert.deepEqual(of("a petition of all those", 20, 6), ["e30 a7 r7 i3 o0", 0, false], "no other is left");
  assert.deepEqual(of("thz", 2, 3).slice(1), [0, true]);
});

test("the sentence says how often the story has the context, and then the letter", () => {
  const said = (line, place, order) => sentenceOf(lookAt(COUNTS, { line, place, order }), T);
  assert.equal(said("there was", 8, 6), "We counted “re␣wa” 42 times. “s” followed 40 times.");
  assert.equal(said("petition", 7, 4), "We counted “tio” 18 times. “n” followed each time.");
  assert.equal(said("petition", 7, 6), "We never counted “titio”. A shorter context gives “n” >99%.");
  assert.equal(said("all those", 6, 6), "We counted “ll␣th” 47 times. But “o” never followed.");
  assert.equal(said("a cat", 1, 1), "We counted 94\u202f999 letters and spaces. “␣” came 19\u202f975 times.");
  assert.equal(said("", 0, 6), "Type a text. The figure looks up every letter of it.");
  assert.equal(sentenceOf(lookAt(COUNTS, { line: "petition", place: 7, order: 4 }), T, true), "We counted “tio” 18 times.");
});

test("what is copied on average is so, and the words say it beside what is copied here", () => {
  const { start, lines, shares } = COPIED;
  assert.equal(start, SPEC.controls.start.default);
  const sums = Array(MAX_ORDER).fill(0);
  for (let seed = 0; seed < lines; seed += 1) {
    writings(COUNTS, SOURCE, start, seed).forEach(({ copied }, i) => { sums[i] += copied; });
  }
  assert.deepEqual(sums.map((sum) => sum / lines), shares);
  assert.ok(Math.max(...shares) === shares.at(-1), "the words of the fold say so");
  assert.match(T("about_copied", copiedValues()), /over 20 texts from “the tide”, looking 5 letters back copies 57% on average, 4 back 46%, 2 back 7\.7%/);
  const said = (seed, from = start) => filled(...writtenSentence(writings(COUNTS, SOURCE, from, seed), from, T));
  assert.equal(said(SPEC.controls.seed.default), "The longest, 5 back, copied 67%; 57% in 20 texts from “the tide”.");
  assert.match(said(3, "low tide"), /^The longest, 5 back, copied \d+% from the story\.$/);
});

test("the test says which model is least unsure in new text", () => {
  assert.equal(filled(...testedSentence(CASES.levels, 5, T)), "In new text, looking 4 letters back is best: like guessing among 3.6 letters.");
  assert.equal(filled(...testedSentence(CASES.levels, 3, T)), "Looking 2 back is like guessing among 5.4 letters. Best is 4 back: 3.6.");
  const scores = CASES.levels.map(({ perplexity }) => perplexity);
  assert.equal(scores.length, SPEC.presets.sizes.max_tested);
  const { small, larger } = SPEC.presets.networks; // the lessons that are named say so
  const lesson = (name) => readFileSync(new URL(`../../chapters/${name}.ipynb`, import.meta.url), "utf8");
  const [printed, said] = [/"perplexity (\d+\.\d+), /.exec(lesson("06_perplexity"))[1], /reaches perplexity (\d+\.\d+) /.exec(lesson("05_character_lm"))[1]];
  assert.deepEqual([printed, said].map((score) => Number(Number(score).toFixed(1))), [small, larger]);
  assert.ok(larger < Math.min(...scores) && Math.min(...scores) < small);
  assert.ok(scores.every((score, i) => i === 0 || score < scores[i - 1] === i < 5), "down to the 5-gram, then up");
});

test("the right answers of the guided steps are right, and their outcomes say so", () => {
  const [phrase, best, copy] = SPEC.steps;
  const { context, letter, total, hits } = lookAt(COUNTS, phrase.before);
  assert.deepEqual([context, letter, total, hits], ["ll th", "o", 47, 0]);
  assert.equal(T(`step_1_answer_${phrase.right + 1}`), "never");
  assert.deepEqual(lookAt(COUNTS, phrase.before).rows.slice(0, 6).map((row) => row.hits > 0), [true, true, true, true, false, false], "3 letters back it did follow");
  const values = shorterValues(COUNTS, phrase.before, T);
  assert.equal(filled(T.raw("step_1_outcome"), values).match(/But .*?\./)[0], `But after “␣th”, the last 3 letters, it followed ${lookAt(COUNTS, { ...phrase.before, order: 4 }).hits} times.`);

  const shares = lookAt(COUNTS, best.before).rows.map((row) => row.hits / row.total);
  assert.equal(Math.max(...shares), shares[5], "here the longest context is best");
  const { order: lowest } = CASES.levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));
  assert.equal(T(`step_2_answer_${best.right + 1}`), `${lowest - 1} letters`);
  assert.match(T("step_2_question"), /10\u202f555 letters/);
  assert.equal(STORY.length - SOURCE.length, 10_555);
  for (const { order, unseen } of CASES.levels) {
    if (![1, 5, 6].includes(order)) continue; // the others cost time and would prove the same
    let never = 0;
    for (let i = SOURCE.length; i < STORY.length; i += 1) if (!SOURCE.includes(STORY.slice(i - order + 1, i + 1))) never += 1;
    assert.equal(unseen, never, `n = ${order}`);
  }
  assert.deepEqual([6, 5].map((order) => CASES.levels[order - 1].unseen), [1981, 883]);
  assert.ok(CASES.levels.every(({ unseen }, i) => i === 0 || unseen > CASES.levels[i - 1].unseen), "longer contexts were more often never seen");
  assert.deepEqual(best.state, { view: "test", order: lowest });

  const here = writings(COUNTS, SOURCE, copy.before.start, copy.before.seed).map(({ copied }) => copied);
  assert.ok(here[5] > 0.5 && COPIED.shares[5] > 0.5);
  assert.equal(T(`step_3_answer_${copy.right + 1}`), "more than half");

  assert.equal(copiedHere(COUNTS, SOURCE), formatShare(here[5]));
  assert.equal(T("step_3_outcome", { ...copiedValues(), here: copiedHere(COUNTS, SOURCE) }), "57% on average, 67% here: so much stands in pieces of 10 or more that the story has too (underlined).");
  for (const { before: { line } } of [phrase, best]) {
    assert.ok(STORY.slice(SOURCE.length).includes(line), "a new text");
    assert.ok(line.length <= MAX_LINE);
  }
});

test("the context is the last n - 1 letters, or as many as there are", () => {
  assert.deepEqual([1, 2, 5, 6].map((n) => contextOf("abcd", n)), ["", "d", "abcd", "abcd"]);
  assert.equal(contextOf("", 6), "");
});

test("typed text becomes letters and spaces, and not many", () => {
  for (const { typed, start } of CASES.typed) assert.equal(tidy(typed, MAX_START), start, typed);
  const long = tidy("the tide </script>👩 ".repeat(6000), MAX_START);
  assert.ok(long.length > MAX_START / 2 && long.length <= MAX_START);
  assert.match(long, /^(the|tide|script)( +(the|tide|script))* *$/, "from where a word begins");
  assert.equal(tidy("a story about the long grey harbour", 24), "the long grey harbour");
  assert.equal(tidy("we went down to the harbour wall", 24), "down to the harbour wall");
  assert.equal(tidy(`${"a".repeat(50)}bc`, MAX_START), `${"a".repeat(38)}bc`, "the end is kept");
});

test("a note can say whether a typed text was cut or changed", () => {
  const of = (typed) => Object.values(readOf(typed, MAX_START));
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
