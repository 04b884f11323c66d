// The cuts of the windows explorable against those of d2lrnn.windows, and its marks against their definitions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { randomSource } from "../../src/d2lrnn/widgets/core.mjs";
import { decodeLink, encodeLink, rulesOf } from "../../src/d2lrnn/widgets/ui.mjs";
import {
  MAX_TYPED, ROW, cleanTyped, countMinibatches, countRead, cutMinibatch, derive, drawPlaces, epochStarts, limits, lineOf, lineStarts, presetOf,
  repair, segments, shownLines, stretches, tokensNeeded, tokensOf,
} from "../../src/d2lrnn/widgets/windows/maths.mjs";
import SPEC from "../../src/d2lrnn/widgets/windows/spec.json" with { type: "json" };

const PRESETS = SPEC.presets;
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
    assert.equal(countRead(num_tokens, epoch, settings.num_steps, epoch.length), pairs_read);
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

test("stretches that are read, and those that are not, cover every place once", () => {
  for (const { num_tokens, settings: { num_steps }, count, starts } of CASES.cuts) {
    if (count === 0) continue;
    for (let k = 0; k <= count; k += 1) {
      const read = stretches(num_tokens, starts, num_steps, { count: k });
      const not = stretches(num_tokens, starts, num_steps, { count: k, read: false });
      const places = (parts) => parts.flatMap(([from, to]) => numbers(to - from).map((i) => from + i));
      assert.deepEqual([...places(read), ...places(not)].sort((a, b) => a - b), numbers(num_tokens));
      const wanted = new Set(starts.slice(0, k).flat().flatMap((start) => numbers(num_steps).map((i) => start + i)));
      assert.deepEqual(places(read), [...wanted].sort((a, b) => a - b));
    }
  }
});

test("stretches leave out what is read now, or asked for", () => {
  assert.deepEqual(stretches(9, [[0, 4], [2, 5]], 3, { count: 1, without: [[2, 5], [5, 8]] }), [[0, 2]]);
  assert.deepEqual(stretches(9, [[0, 4]], 3, { read: false, without: [[3, 4], [7, 8]] }), [[8, 9]]);
});

test("places that several windows read count once", () => {
  assert.equal(countRead(9, [[0, 4], [2, 5]], 3, 2), 8);
  assert.equal(countRead(9, [[0, 4], [2, 5]], 3, 1), 6);
  assert.equal(countRead(9, [], 3, 0), 0);
});

const tens = (n) => numbers(Math.max(1, Math.ceil(n / 10))).map((line) => 10 * line);

test("lines end behind a space, and only a word that is too long is cut", () => {
  const story = [..."the tide clock i the harbour at low water "];
  for (let columns = 1; columns < 50; columns += 1) {
    const starts = lineStarts(story, columns);
    starts.forEach((start, line) => {
      const text = story.slice(start, starts[line + 1]).join("");
      assert.ok(text.length >= 1 && text.length <= columns);
      if (line + 1 < starts.length) assert.ok(text.endsWith(" ") || !text.includes(" "), text);
      for (let place = start; place < start + text.length; place += 1) assert.equal(lineOf(place, starts), line);
    });
  }
  assert.deepEqual(lineStarts(numbers(35).map(String), 10), tens(35));
  assert.deepEqual(lineStarts([], 10), [0]);
});

test("a stretch in lines, also between two places", () => {
  assert.deepEqual(segments(3, 7, tens(40)), [{ line: 0, left: 3, right: 7 }]);
  assert.deepEqual(segments(8, 23, tens(40)), [
    { line: 0, left: 8, right: 10 }, { line: 1, left: 0, right: 10 }, { line: 2, left: 0, right: 3 },
  ]);
  assert.deepEqual(segments(9.5, 10.25, tens(40)), [{ line: 0, left: 9.5, right: 10 }, { line: 1, left: 0, right: 0.25 }]);
  assert.deepEqual(segments(10, 20, tens(40)), [{ line: 1, left: 0, right: 10 }]);
  assert.deepEqual(segments(4, 4, tens(40)), []);
  assert.deepEqual(segments(2, 12, [0, 4, 9]), [
    { line: 0, left: 2, right: 4 }, { line: 1, left: 0, right: 5 }, { line: 2, left: 0, right: 3 },
  ]);
});

test("a long text is folded where nothing happens, and nowhere else", () => {
  assert.deepEqual(shownLines(tens(95), [[5, 12]], 10), [{ from: 0, to: 10, folded: false }]);
  assert.deepEqual(shownLines(tens(200), [[95, 105]], 10), [
    { from: 0, to: 1, folded: false }, { from: 1, to: 9, folded: true }, { from: 9, to: 11, folded: false },
    { from: 11, to: 19, folded: true }, { from: 19, to: 20, folded: false },
  ]);
  assert.deepEqual(shownLines(tens(200), [[20, 30], [195, 199]], 10).filter(({ folded }) => folded), [{ from: 4, to: 19, folded: true }], "one line is not worth a fold");
  assert.deepEqual(shownLines(tens(0), [], 10), [{ from: 0, to: 1, folded: false }]);
});

test("no control goes further than the text allows", () => {
  const random = randomSource(5);
  const pick = (name) => {
    const { min, max, choices } = SPEC.controls[name];
    return choices ? choices[Math.floor(random() * choices.length)] : min + Math.floor(random() ** 3 * (max + 1 - min));
  };
  for (let i = 0; i < 3000; i += 1) {
    const wild = { own_text: "low tide at four high tide at ten ", text: "x".repeat(1200) };
    for (const name of Object.keys(SPEC.controls)) wild[name] ??= pick(name);
    if (wild.source === "own") continue;
    const state = repair(wild);
    const { epoch, k } = derive({ ...state, text: wild.text });
    assert.ok(epoch.length >= 1 && epoch[k].length === state.batch_size, JSON.stringify(state));
    assert.equal(state.minibatch, k + 1);
    assert.deepEqual(repair(state), state, "what fits stays");
    const most = limits(state);
    for (const name of ["batch_size", "num_steps", "offset"]) {
      const further = { ...state, [name]: most[name] };
      assert.ok(derive({ ...further, text: wild.text }).epoch.length >= 1, `${name} ${JSON.stringify(further)}`);
      assert.ok(state[name] <= Math.max(most[name], 0) || (name === "offset" && state.sampling !== "sequential"), name);
    }
    if (state.source !== "row") assert.ok(derive({ ...state, length: most.length, text: wild.text }).epoch.length >= 1);
  }
  const row = repair({ ...SETTINGS, num_steps: 10, source: "row" });
  assert.deepEqual([row.batch_size, row.num_steps], [2, 5]);
});

test("the right answers of the steps are right", () => {
  const at = (step, more = {}) => derive({ ...SETTINGS, ...step.before, ...more, text: "x".repeat(1200) });
  const words = ({ right }, i) => SPEC.words.en[`step_${i + 1}_answer_${right + 1}`];
  assert.deepEqual(SPEC.steps.map(words), ["less sure", "at about guess 10", "smaller"]);
  const [wrong, long, size] = SPEC.steps;
  const { kept, empty, wrong: misled } = SPEC.first; // measured in chapter 4, which prints them
  assert.ok(kept < empty && empty < misled);
  const differences = long.costs.map((cost) => cost.empty - cost.kept);
  assert.ok(differences.every((difference, i) => (long.costs[i].letter < 10) === difference > 0), "none is left at guess 10");
  const [of8, of32] = size.costs; // measured in chapter 4's closer look, which checks them
  assert.ok(of32.random - of32.sequence < of8.random - of8.sequence);
  for (const step of SPEC.steps) { // at random; both readers jump far, and no piece overlaps the other reader's
    const [before, after] = [at(step), at(step, step.state)];
    assert.ok(!before.carries && !after.carries);
    const { epoch, k, num_steps } = after;
    assert.ok(Math.abs(epoch[k][0] - epoch[k][1]) > num_steps && (k === 0 || Math.abs(epoch[k][0] - epoch[k - 1][0]) > num_steps));
    if (step === wrong) assert.equal(k, before.k + 1, "the answer shows the jump that is asked about");
  }
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

test("a link may set only what there is, and what fits", () => {
  const link = (state) => decodeLink(encodeLink("Windows", 0, state), "Windows", 0, rulesOf(SPEC.controls));
  for (const [name, bad] of [["source", "x"], ["length", 1], ["length", 1201], ["batch_size", 7], ["num_steps", 0],
    ["num_steps", 2.5], ["sampling", ""], ["offset", -1], ["seed", 1e4], ["minibatch", 0], ["own_text", 5], ["own_text", "x".repeat(1001)]]) {
    assert.equal(link({ [name]: bad }), null, `${name} ${bad}`);
  }
  assert.equal(repair({ ...SETTINGS, own_text: "Low <b>TIDE" }).own_text, "low b tide");
  assert.deepEqual(repair({ ...SETTINGS, minibatch: 900, offset: 300, more: 1 }), { ...SETTINGS, minibatch: 2, offset: 9 });
  assert.equal(repair({ ...SETTINGS, source: "own", minibatch: 7 }).minibatch, 1, "no text, no minibatch");
});
