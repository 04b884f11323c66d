// The cuts of the windows explorable against those of d2lrnn.windows, and its marks against their definitions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { randomSource } from "../../src/d2lrnn/widgets/core.mjs";
import {
  MAX_TYPED, PRESETS, ROW, RULES, cleanTyped, countMinibatches, cutMinibatch, drawPlaces, epochStarts, foldedParts,
  keptParts, landmarks, markTokens, pairsRead, presetOf, repair, stretches, tokensNeeded, tokensOf,
} from "../../src/d2lrnn/widgets/windows/index.mjs";

const CASES = JSON.parse(readFileSync(new URL("./windows_cases.json", import.meta.url), "utf8"));
const SETTINGS = {
  source: "numbers", length: 35, own_text: "", batch_size: 2, num_steps: 5, sampling: "sequential", offset: 0, seed: 0,
  minibatch: 1,
};
const numbers = (n) => Array.from({ length: n }, (_, i) => i);

test("as many minibatches as in Python, and the same shortest text", () => {
  let short = 0;
  for (const { num_tokens, settings, count, needed } of CASES.cuts) {
    assert.equal(countMinibatches(num_tokens, settings), count, JSON.stringify({ num_tokens, settings }));
    assert.equal(tokensNeeded(settings), needed, JSON.stringify(settings));
    assert.equal(countMinibatches(needed, settings), 1);
    assert.equal(countMinibatches(needed - 1, settings), 0);
    short += count === 0;
  }
  assert.ok(short >= 5 && CASES.cuts.length - short >= 20);
});

test("X and Y are those of SequentialWindows and RandomWindows, from the same starts", () => {
  for (const { num_tokens, settings, count, ids, starts, X, Y, pairs_read } of CASES.cuts) {
    if (count === 0) continue;
    const epoch = settings.sampling === "sequential" ? epochStarts(num_tokens, settings) : starts;
    assert.deepEqual(epoch, starts);
    epoch.forEach((given, k) => assert.deepEqual(cutMinibatch(ids, given, settings.num_steps), { X: X[k], Y: Y[k] }));
    for (const k of [0, count - 1]) {
      const marks = markTokens(num_tokens, epoch, k, settings.num_steps, settings.sampling === "sequential");
      assert.equal(pairsRead(marks), pairs_read);
    }
  }
});

test("random draws are those that Python makes with the same seed", () => {
  for (const { num_tokens, settings, starts } of CASES.draws) {
    assert.deepEqual(epochStarts(num_tokens, settings), starts);
  }
});

test("a draw takes places once each, and any order can come", () => {
  const orders = new Set();
  for (let seed = 0; seed < 300; seed += 1) {
    const places = drawPlaces(4, 3, randomSource(seed));
    assert.equal(new Set(places).size, 3);
    assert.ok(places.every((place) => Number.isInteger(place) && place >= 0 && place < 4));
    orders.add(String(places));
  }
  assert.equal(orders.size, 24);
  assert.deepEqual(drawPlaces(5, 5, randomSource(7)).sort(), [0, 1, 2, 3, 4]);
});

test("windows drawn anywhere leave room for their last target and reach both ends; adjoining ones never overlap", () => {
  const places = new Set();
  const offsets = new Set();
  for (let seed = 0; seed < 200; seed += 1) {
    for (const start of epochStarts(35, { ...SETTINGS, sampling: "random", seed }).flat()) places.add(start);
    const starts = epochStarts(35, { ...SETTINGS, sampling: "adjoining", seed }).flat();
    assert.equal(new Set(starts.map((start) => start % 5)).size, 1);
    assert.equal(new Set(starts).size, 6);
    assert.ok(Math.max(...starts) + 5 < 35);
    offsets.add(starts[0] % 5);
  }
  assert.deepEqual([...places].sort((a, b) => a - b), numbers(30));
  assert.equal(offsets.size, 5);
});

test("the examples of the sources", () => {
  const epochOf = (name) => {
    const state = { ...SETTINGS, ...PRESETS[name] };
    const tokens = tokensOf(state, "x".repeat(500)).map(Number);
    return epochStarts(tokens.length, state).map((starts) => cutMinibatch(tokens, starts, state.num_steps).X);
  };
  assert.deepEqual(epochOf("five"), [[[1, 5, 2, 3, 6]], [[7, 4, 0, 2, 5]]]);
  assert.deepEqual(epochOf("ten_random"), [[[2, 3, 4, 5]], [[0, 1, 2, 3]]]);
  assert.deepEqual(epochOf("ten_sequence"), [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]);
  assert.deepEqual(epochOf("d2l_sequence").map((X) => X.map((row) => row[0])), [[0, 17], [5, 22], [10, 27]]);
  const random = epochOf("d2l_random");
  assert.deepEqual(random.flat().map((row) => row[0]).sort((a, b) => a - b), [3, 8, 13, 18, 23, 28]);
  assert.deepEqual(epochOf("dlfs2").map((X) => X.map((row) => row[0])), CASES.batch_of_two);
  assert.equal(countMinibatches(1001, { ...SETTINGS, ...PRESETS.dlfs2 }), 50);
  for (const name of Object.keys(PRESETS)) assert.equal(presetOf({ ...SETTINGS, ...PRESETS[name] }), name);
  assert.equal(presetOf({ ...SETTINGS, ...PRESETS.dlfs2, num_steps: 11 }), "");
});

test("marks in sequence: the row that reads now, what it remembers, what comes, what is left over", () => {
  const epoch = epochStarts(21, { ...SETTINGS, num_steps: 3 }); // streams of ten from 0 and 10, three minibatches
  const marks = markTokens(21, epoch, 1, 3, true);
  const kinds = marks.map(({ kind, rows }) => `${kind}${kind === "later" || kind === "never" ? "" : rows}`);
  const stream = (row) => [...Array(3).fill(`memory${row}`), ...Array(3).fill(`now${row}`), ...Array(3).fill("later"), "never"];
  assert.deepEqual(kinds, [...stream(0), ...stream(1), "never"]);
  assert.deepEqual(marks.map(({ begins }, i) => [i, begins]).filter(([, begins]) => begins.length), [[3, [0]], [13, [1]]]);
  assert.deepEqual(numbers(21).filter((i) => marks[i].target), [6, 16]);
});

test("marks at random: overlapping windows show both rows, nothing is remembered, now goes before read", () => {
  const marks = markTokens(10, [[1, 6], [2, 4], [0, 1]], 1, 3, false);
  assert.deepEqual(marks.map(({ kind }) => kind), [
    "later", "before", "now", "now", "now", "now", "now", "before", "before", "never",
  ]);
  assert.deepEqual(marks[4].rows, [0, 1]);
  assert.deepEqual(marks[5].rows, [1]);
  assert.deepEqual(numbers(10).filter((i) => marks[i].target), [5, 7]);
  assert.deepEqual(markTokens(3, [], 0, 3, true).map(({ kind }) => kind), ["never", "never", "never"]);
});

test("stretches join what looks alike and cover every place once", () => {
  for (const { num_tokens, settings, count, starts } of CASES.cuts) {
    if (count === 0) continue;
    const marks = markTokens(num_tokens, starts, count - 1, settings.num_steps, settings.sampling === "sequential");
    for (const options of [{}, { targets: false }]) {
      const found = stretches(marks, 0, num_tokens, options);
      assert.deepEqual(found.flatMap(({ from, to }) => numbers(to - from).map((i) => from + i)), numbers(num_tokens));
      for (const { from, to, kind, rows } of found) {
        for (let i = from; i < to; i += 1) assert.deepEqual([marks[i].kind, marks[i].rows], [kind, rows]);
      }
    }
    const begun = stretches(marks).filter(({ begins }) => begins.length).map(({ from }) => from);
    assert.deepEqual(begun, [...new Set(starts.at(-1))].sort((a, b) => a - b));
  }
});

test("a long text is folded far from everything that matters, and nowhere else", () => {
  assert.deepEqual(foldedParts(100, [[0, 2], [40, 55], [50, 60], [98, 100]], 5), [[2, 40], [60, 98]]);
  assert.deepEqual(foldedParts(100, [[0, 2], [40, 60], [45, 50], [98, 100]], 5), [[2, 40], [60, 98]]);
  assert.deepEqual(foldedParts(10, [[0, 2], [6, 10]], 5), []);
  assert.deepEqual(foldedParts(10, [], 5), [[0, 10]]);
  const state = { ...SETTINGS, ...PRESETS.dlfs2 };
  const epoch = epochStarts(1000, state);
  const marks = markTokens(1000, epoch, 1, 10, true);
  const kept = keptParts(marks, epoch[1], 10, 3, landmarks(marks, epoch[0]));
  const hidden = new Set(foldedParts(1000, kept, 7).flatMap(([from, to]) => numbers(to - from).map((i) => from + i)));
  const shown = numbers(1000).filter((i) => !hidden.has(i));
  for (const i of [0, 7, 10, 19, 20, 489, 490, 499, 500, 510, 520, 989, 990, 999]) assert.ok(shown.includes(i), String(i));
  assert.ok(shown.length < 90, `${shown.length} are shown`);
});

test("tokens of each source", () => {
  const story = "the tide clock";
  assert.deepEqual(tokensOf({ ...SETTINGS, source: "story", length: 4 }, story), ["t", "h", "e", " "]);
  assert.deepEqual(tokensOf({ ...SETTINGS, length: 11 }, story).slice(-2), ["9", "10"]);
  assert.deepEqual(tokensOf({ ...SETTINGS, source: "row" }, story), ROW.map(String));
  assert.deepEqual(tokensOf({ ...SETTINGS, source: "own", own_text: "" }, story), []);
});

test("typed text is bounded and becomes a to z and space", () => {
  assert.equal(cleanTyped("Low TIDE, at 4!"), "low tide at ");
  assert.equal(cleanTyped("<img src=x>👩\u0000\u202e"), " img src x ");
  assert.equal(cleanTyped(""), "");
  assert.equal(cleanTyped("x".repeat(100_000)).length, MAX_TYPED);
  assert.ok(cleanTyped("İ".repeat(MAX_TYPED)).length <= MAX_TYPED, "its lower case is longer than itself");
});

test("a link may set only what there is", () => {
  assert.equal(RULES.own_text("low tide"), "low tide");
  for (const text of ["Low tide", "a  b", "<b>", "x".repeat(1001), 5, null]) assert.equal(RULES.own_text(text), undefined);
  for (const [name, bad] of [["source", "x"], ["length", 1], ["length", 1201], ["batch_size", 7], ["num_steps", 0],
    ["num_steps", 2.5], ["sampling", ""], ["offset", -1], ["seed", 1e4], ["minibatch", 0]]) {
    assert.equal(RULES[name](bad), undefined, `${name} ${bad}`);
  }
  assert.deepEqual(repair({ ...SETTINGS, minibatch: 900, offset: 300, more: 1 }), { ...SETTINGS, minibatch: 2, offset: 9 });
  assert.equal(repair({ ...SETTINGS, source: "own", minibatch: 7 }).minibatch, 1, "no text, no minibatch");
  assert.equal(repair({ ...SETTINGS, source: "row", minibatch: 7 }).minibatch, 1);
});
