// The table of contexts against d2lrnn: the story is counted here with JavaScript, the cases were computed by Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  MAX_ORDER, MAX_PAST, RULES, consult, contextOf, countInSteps, createCabinet, createWriter, formatShare, pastAt,
  placeInLine, possibleContexts, ranking, runsOf, tidyPast,
} from "../../src/d2lrnn/widgets/context_table/index.mjs";
import { countContexts, countNgrams, ngramProbs, randomSource, scoreNgram } from "../../src/d2lrnn/widgets/core.mjs";
import { normalise } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./context_table_cases.json", import.meta.url), "utf8"));
const STORY = normalise(readFileSync(new URL("../../src/d2lrnn/data/the-tide-clock.txt", import.meta.url), "utf8"));
const IDS = Int32Array.from(STORY, (character) => CASES.vocab.indexOf(character));
const TRAIN = IDS.subarray(0, CASES.num_train);

function finish(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const TABLE = finish(countInSteps(TRAIN, MAX_ORDER, CASES.vocab.length));
const CABINET = createCabinet(TABLE, CASES.vocab);

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

test("every drawer of the chain, its weight, and every probability is as in Python", () => {
  assert.ok(CASES.places.length >= 10);
  for (const { order, past, chain, probs, ranking: ranked } of CASES.places) {
    const answer = consult(CABINET, order, past);
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
    const { probs, chain, uniform, answering } = consult(CABINET, order, past);
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

test("it writes the same letters as Python from the same seed, and other letters from another", () => {
  for (const [seed, numbers] of Object.entries(CASES.random)) {
    const random = randomSource(Number(seed));
    for (const expected of numbers) assertClose(random(), expected, `seed ${seed}`, 1e-11);
  }
  for (const { order, past, seed, written } of CASES.places) {
    const text = createWriter(CABINET, order, past, seed).write(80).map(({ character }) => character).join("");
    assert.equal(text, written, `n = ${order}, "${past}"`);
  }
  const [one, other] = [3, 4].map((seed) => runsOf(createWriter(CABINET, 5, "the ", seed).write(80)));
  assert.notDeepEqual(one, other);
});

test("writing on keeps what was written; fewer letters are its beginning", () => {
  const writer = createWriter(CABINET, 4, "the ", 1);
  const first = writer.write(60);
  const longer = writer.write(120);
  assert.deepEqual(longer.slice(0, 60), first);
  assert.deepEqual(writer.write(30), first.slice(0, 30));
  assert.deepEqual(createWriter(CABINET, 4, "the ", 1).write(120), longer);
  assert.deepEqual(writer.write(0), []);
});

test("a letter's kind says what its drawer held", () => {
  const train = STORY.slice(0, CASES.num_train);
  const kinds = { found: 0, absent: 0, empty: 0 };
  let past = "truthf";
  for (const { character, kind } of createWriter(CABINET, 6, past, 2).write(300)) {
    const context = past.slice(-5);
    const expected = train.slice(0, -1).includes(context) ? (train.includes(context + character) ? "found" : "absent") : "empty";
    assert.equal(kind, expected, `"${context}" ${character}`);
    kinds[kind] += 1;
    past += character;
  }
  assert.ok(kinds.found > 200 && kinds.absent > 3 && kinds.empty > 3, JSON.stringify(kinds));
  assert.ok(createWriter(CABINET, 1, "", 0).write(200).every(({ kind }) => kind === "found"));
});

test("runs hold neighbours of one kind together", () => {
  const written = [["a", "found"], ["b", "found"], ["c", "empty"], ["d", "found"]];
  const runs = runsOf(written.map(([character, kind]) => ({ character, kind })));
  assert.deepEqual(runs, [{ text: "ab", kind: "found" }, { text: "c", kind: "empty" }, { text: "d", kind: "found" }]);
  assert.deepEqual(runsOf([]), []);
});

test("the context is the last n - 1 letters, or as many as there are", () => {
  assert.deepEqual([1, 2, 5, 6].map((n) => contextOf("abcd", n)), ["", "d", "abcd", "abcd"]);
  assert.equal(contextOf("", 6), "");
  assert.deepEqual([1, 2, 6].map((n) => possibleContexts(27, n)), [1, 27, 14348907]);
});

test("typed text becomes letters and spaces, and not many", () => {
  for (const { typed, past } of CASES.typed) assert.equal(tidyPast(typed), past, typed);
  const long = tidyPast("the tide </script>👩 ".repeat(6000));
  assert.equal(long.length, MAX_PAST);
  assert.match(long, /^[a-z ]+$/);
  assert.equal(tidyPast(`${"a".repeat(50)}bc`), `${"a".repeat(38)}bc`, "the end is kept");
});

test("places in a line are found again by what was read up to them", () => {
  const [start] = CASES.lines;
  assert.equal(pastAt(STORY, start + 26), CASES.past);
  assert.equal(placeInLine(STORY, start, CASES.past), 26);
  for (const line of CASES.lines) {
    for (const place of [0, 13, 35]) assert.equal(placeInLine(STORY, line, pastAt(STORY, line + place)), place);
  }
  assert.equal(placeInLine(STORY, start, "the r"), -1);
  assert.equal(placeInLine(STORY, start, ""), -1);
  assert.equal(pastAt(STORY, 3), STORY.slice(0, 4));
});

test("shares are never rounded to all or nothing", () => {
  const shares = [0, 1, 0.9999, 0.5542, 0.01651, 0.001378, 0.00001].map(formatShare);
  assert.deepEqual(shares, ["0%", "100%", ">99%", "55%", "1.7%", "0.14%", "<0.01%"]);
});

test("a link sets what the table may have and nothing else", () => {
  assert.equal(RULES.order(6), 6);
  for (const order of [0, 7, 2.5, "3", null, NaN]) assert.equal(RULES.order(order), undefined);
  assert.equal(RULES.past("x  y"), "x  y");
  assert.equal(RULES.past("<I>É"), " i ");
  for (const past of [5, null, "a".repeat(41)]) assert.equal(RULES.past(past), undefined);
  assert.deepEqual([RULES.num_written(600), RULES.num_written(601), RULES.seed(-1)], [600, undefined, undefined]);
});
