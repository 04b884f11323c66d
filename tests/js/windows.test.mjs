// The cuts of the windows explorable against those of d2lrnn.windows, and its marks against their definitions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { randomSource } from "../../src/d2lrnn/widgets/core.mjs";
import { decodeLink, encodeLink, rulesOf } from "../../src/d2lrnn/widgets/ui.mjs";
import {
  MAX_TYPED, ROW, averagesOf, caseOf, chancesOf, cleanTyped, countMinibatches, cutMinibatch, derive, drawPlaces, epochStarts, guessesIn, jumpedOf, limits, lineOf, lineStarts, mean, meetingOf, meets, memoriesAt,
  networkIn, neverRead, percent, presetOf, repair, segments, shownLines, surprise, tokensNeeded, tokensOf,
} from "../../src/d2lrnn/widgets/windows/maths.mjs";
import SPEC from "../../src/d2lrnn/widgets/windows/spec.json" with { type: "json" };

const PRESETS = SPEC.presets;
const CASES = JSON.parse(readFileSync(new URL("./windows_cases.json", import.meta.url), "utf8"));
const MODEL = readFileSync(new URL("../../src/d2lrnn/data/models/trained.safetensors", import.meta.url));
const WEIGHTS = new DataView(MODEL.buffer, MODEL.byteOffset, MODEL.byteLength);
const STORY = CASES.story;
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (settings = {}) => derive({ ...DEFAULTS, ...settings, text: STORY, weights: WEIGHTS });
const SETTINGS = {
  source: "numbers", length: 35, own_text: "", batch_size: 2, num_steps: 5, sampling: "sequential", offset: 0, seed: 0,
  memory: "empty", minibatch: 1, cut_at: 0,
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
    const never = neverRead(num_tokens, epoch, settings.num_steps).reduce((sum, [from, to]) => sum + to - from, 0);
    assert.equal(num_tokens - never, pairs_read);
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

test("what is never read is the rest of what is", () => {
  for (const { num_tokens, settings: { num_steps }, count, starts } of CASES.cuts) {
    if (count === 0) continue;
    const read = new Set(starts.flat().flatMap((start) => numbers(num_steps).map((i) => start + i)));
    const places = neverRead(num_tokens, starts, num_steps).flatMap(([from, to]) => numbers(to - from).map((i) => from + i));
    assert.deepEqual(places, numbers(num_tokens).filter((place) => !read.has(place)));
  }
  assert.deepEqual(neverRead(9, [[0, 4]], 3), [[3, 4], [7, 9]]);
  assert.deepEqual(neverRead(3, [], 3), [[0, 3]]);
});

test("a memory is of all that was read where a reader goes on, of its last piece where it jumps", () => {
  const epoch = [[0, 20], [5, 25], [10, 30]];
  const at = (carries, k) => memoriesAt({ epoch, carries, num_steps: 5 }, k);
  assert.deepEqual([at(true, 0), at(false, 0)], [[], []]);
  assert.deepEqual(at(true, 2), [[0, 10], [20, 30]]);
  assert.deepEqual(at(false, 2), [[5, 10], [25, 30]]);
  assert.deepEqual(memoriesAt({ epoch: [], carries: true, num_steps: 5 }, 0), []);
});

test("the guesses are those of Python, whatever was read before", () => {
  for (const { settings, ...python } of [...CASES.guesses, ...CASES.guesses.toReversed()]) {
    const { guess } = shown(settings);
    for (const name of ["kept", "empty"]) {
      assert.equal(guess[name].length, python[name].length);
      guess[name].forEach((chance, i) => assert.ok(Math.abs(chance - python[name][i]) < 1e-5, JSON.stringify({ settings, name, i, chance })));
    }
  }
  assert.ok(CASES.guesses.length > 20);
  for (const source of ["numbers", "row"]) assert.equal(shown({ source }).guess, null);
  assert.equal(shown({ source: "own", own_text: "" }).guess, null);
});

test("the averages are those of Python, over the lines that have one before them, and over all jumps", () => {
  for (const { settings, ...python } of CASES.averages) {
    const { lines, carries, firsts } = shown(settings);
    const averages = averagesOf(lines);
    for (const name of ["kept", "empty"]) {
      averages[name].forEach((chance, i) => assert.ok(Math.abs(chance - python[name][i]) < 1e-5, JSON.stringify({ settings, name, i, chance })));
      if (carries) assert.equal(firsts[name], averages[name][0], "what is told of lines that read on");
    }
  }
  for (const { settings, ...python } of [...CASES.jumps, ...CASES.jumps]) { // twice: the second time from what is kept
    const { firsts } = shown(settings);
    for (const name of ["kept", "empty"]) assert.ok(Math.abs(firsts[name] - python[name]) < 1e-5, JSON.stringify({ settings, firsts }));
  }
  assert.equal(CASES.jumps.length, 6);
  assert.deepEqual([0.5, 1 / 8].map(surprise), [1, 3]);
  assert.equal(CASES.averages.length, 4);
  for (const settings of [{ source: "numbers" }, { batch_size: 2 }, { num_steps: 1 }, { source: "own", own_text: "" }]) assert.equal(shown(settings).lines, null);
  for (const sampling of ["sequential", "random"]) assert.equal(shown({ source: "own", own_text: "low tide at four", sampling }).firsts, null, "one piece has none before it");
});

test("the lines are those of what is cut, also when that comes back", () => {
  for (const settings of [{}, { sampling: "random" }, { num_steps: 5 }, { source: "own" }, {}, { memory: "kept", minibatch: 4 }]) {
    const { lines, guess, k, ...model } = shown(settings);
    assert.deepEqual(lines, model.epoch.map((_, each) => guessesIn(networkIn(WEIGHTS), model, each)));
    assert.equal(guess, lines[k]);
  }
});

test("a text is guessed letter by letter, and a guess has the same chance however many follow", () => {
  const network = networkIn(WEIGHTS);
  const all = chancesOf(network, "the ", "tide");
  assert.equal(all.length, 3);
  assert.deepEqual(chancesOf(network, "the ", "ti"), all.slice(0, 1));
  assert.deepEqual(chancesOf(network, "the t", "ide"), all.slice(1));
  const model = shown({ num_steps: 10 });
  const { memory, text, kept, empty } = guessesIn(network, model, 1, 3);
  assert.deepEqual([memory, text, kept, empty], ["the tide c", "lock", ...["kept", "empty"].map((name) => shown({ num_steps: 10, minibatch: 2 }).guess[name].slice(0, 3))]);
});

test("the case is named by what is shown", () => {
  assert.deepEqual(caseOf(shown({ minibatch: 5 })), { move: "on", effect: "helps" });
  assert.deepEqual(caseOf(shown({ minibatch: 1 })), { move: "begin", effect: null });
  assert.deepEqual(caseOf(shown({ minibatch: 3 })), { move: "on", effect: "same" }, "19 and 14 per cent");
  assert.deepEqual(caseOf(shown({ minibatch: 12 })), { move: "on", effect: "not" });
  assert.deepEqual(caseOf(shown({ sampling: "random", minibatch: 2 })), { move: "jump", effect: "harms" });
  assert.deepEqual(caseOf(shown({ source: "numbers" })), { move: "on", effect: null });
  assert.deepEqual(caseOf({ ...shown({ sampling: "random" }), epoch: [[3], [13]], k: 1, num_steps: 10 }).move, "chance");
  assert.deepEqual([0, 0.004, 0.006, 0.5, 0.994, 0.996].map(percent), ["<1%", "<1%", "1%", "50%", "99%", ">99%"]);
  for (let seed = 0; seed < 20; seed += 1) for (let minibatch = 2; minibatch <= 12; minibatch += 1) {
    const model = shown({ sampling: "random", seed, minibatch });
    const { move, effect } = caseOf(model);
    const [kept, empty] = [model.guess.kept[0], model.guess.empty[0]].map(percent);
    const key = `now_${move}_${effect}`;
    assert.ok(Object.hasOwn(SPEC.words.en, key), key);
    const apart = Math.abs(parseInt(kept.replace(/\D/g, ""), 10) - parseInt(empty.replace(/\D/g, ""), 10));
    assert.ok(SPEC.words.en.measured_little.includes("“Changes little”: less than 6 points apart."));
    assert.equal(effect === "same", apart < 6, `${kept} ${empty}`);
    if (effect !== "same") assert.equal(["now_chance_helps", "now_jump_not"].includes(key), model.guess.kept[0] > model.guess.empty[0]);
  }
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
  const epochOf = (state) => epochStarts(tokensOf(state, "x".repeat(1200)).length, state); // a network that reads it all takes a minute
  for (let i = 0; i < 3000; i += 1) {
    const wild = { own_text: "low tide at four high tide at ten ", text: "x".repeat(1200) };
    for (const name of Object.keys(SPEC.controls)) wild[name] ??= pick(name);
    if (wild.source === "own") continue;
    const state = repair(wild);
    const epoch = epochOf(state);
    assert.equal(epoch[state.minibatch - 1]?.length, state.batch_size, JSON.stringify(state));
    if (i % 100 === 0) assert.deepEqual([derive({ ...state, text: wild.text, weights: WEIGHTS })].map((model) => [model.epoch, model.k + 1]), [[epoch, state.minibatch]]);
    assert.deepEqual(repair(state), state, "what fits stays");
    const most = limits(state);
    for (const name of ["batch_size", "num_steps", "offset"]) {
      const further = { ...state, [name]: most[name] };
      assert.ok(epochOf(further).length >= 1, `${name} ${JSON.stringify(further)}`);
      assert.ok(state[name] <= Math.max(most[name], 0) || (name === "offset" && state.sampling !== "sequential"), name);
    }
    if (state.source !== "row") assert.ok(epochOf({ ...state, length: most.length }).length >= 1);
  }
  const row = repair({ ...SETTINGS, num_steps: 10, source: "row" });
  assert.deepEqual([row.batch_size, row.num_steps], [2, 5]);
});

test("the right answers of the steps are right", () => {
  const words = ({ right }, i) => SPEC.words.en[`step_${i + 1}_answer_${right + 1}`];
  assert.deepEqual(SPEC.steps.map(words), ["higher", "lower", "jump"]);
  const [on, jump, other] = SPEC.steps.map(({ state }) => shown(state));
  for (const [model, better, worse] of [[on, "kept", "empty"], [jump, "empty", "kept"]]) {
    const [good, bad] = [better, worse].map((name) => mean(model.lines.slice(1).map((line) => surprise(line[name][0]))));
    assert.ok(model.firsts[better] > 1.2 * model.firsts[worse] && good < bad - 1, "in chances, and in the lines that are seen");
    assert.ok(model.guess[better][0] > 2 * model.guess[worse][0], "and in the line that is shown");
    assert.equal(caseOf(model).move, model === on ? "on" : "jump");
  }
  for (const { before, state } of SPEC.steps.slice(0, 2)) assert.deepEqual({ ...before, memory: "kept" }, state, "the memory alone is changed");
  const { lines } = shown(SPEC.steps[0].before);
  const glows = lines[0].empty.map((_, i) => mean(lines.slice(1).map((line) => surprise(line.empty[i]))));
  assert.ok(glows.slice(1, -1).every((bits) => bits < glows[0]), "with an empty memory no guess is as surprised as the first");
  assert.ok(on.tokens[on.epoch[on.k][0] - 1] !== " ", "the new piece begins within a word");
  // the draw shown first is a typical one: near what all jumps give, and no jump that goes on by chance
  assert.equal(jump.seed, DEFAULTS.seed);
  for (const name of ["kept", "empty"]) assert.ok(Math.abs(averagesOf(jump.lines)[name][0] - jump.firsts[name]) < 0.01);
  assert.deepEqual(other.epoch, jump.epoch, "the third step shows the jumps of the second");
  assert.ok(jump.guess.empty[0] > 2 * jump.guess.kept[0]);
  for (let minibatch = 2; minibatch <= 12; minibatch += 1) assert.equal(caseOf(shown({ ...SPEC.steps[1].state, minibatch })).move, "jump");
  // the third step: a letter that reading on guesses from one letter alone
  const before = shown(SPEC.steps[2].before);
  assert.deepEqual({ ...SPEC.steps[2].before, sampling: "random", seed: other.seed }, { ...SPEC.steps[2].state, offset: 0 }, "the order alone is changed");
  const [start] = before.epoch[before.k];
  const { from, letters, at, chances, average } = meetingOf(networkIn(WEIGHTS), before, start + 1);
  assert.equal(letters.join(""), "the tide clock");
  assert.deepEqual([letters[at], from + at], ["c", start + 1]);
  assert.equal(chances[start - from], before.guess.empty[0]);
  assert.equal(at - (start - from), 1, "reading on shows one letter before it, all other beginnings more");
  const cuts = Array.from({ length: before.num_steps }, (_, i) => i + 1);
  assert.deepEqual(chances, [null, ...cuts.map((cut) => chancesOf(networkIn(WEIGHTS), "", letters.slice(cut, at + 1).join("")).at(-1))]);
  assert.ok(cuts.every((cut) => chances[cut] >= chances[start - from]), "nowhere is it guessed worse");
  assert.ok(Math.abs(average - cuts.reduce((sum, cut) => sum + chances[cut], 0) / cuts.length) < 1e-12 && average > 20 * chances[start - from]);
  assert.ok(cuts.every((cut) => from + cut + other.num_steps < other.tokens.length), "each of these can be drawn");
  const counts = new Map(); // and is, as often as another
  for (let seed = 0; seed < 3000; seed += 1) for (const place of epochStarts(other.tokens.length, { ...other, seed }).flat()) counts.set(place, (counts.get(place) ?? 0) + 1);
  const times = cuts.map((cut) => counts.get(from + cut));
  for (const count of times) assert.ok(Math.abs(count / mean(times) - 1) < 0.25, JSON.stringify(times)); // some 300 each
});

test("the first letters to guess, read on and jumped to, are those of Python", () => {
  const model = shown(SPEC.steps[2].before);
  const found = { ...model.firsts, jump: jumpedOf(networkIn(WEIGHTS), model) };
  for (const [way, p] of Object.entries(CASES.framed)) assert.ok(Math.abs(found[way] - p) < 1e-5, way);
});

test("a cut is kept where its picture is shown, and nowhere else", () => {
  const { before, state } = SPEC.steps[2];
  for (const there of [before, state, { ...before, minibatch: 5 }, { ...before, cut_at: 3 }]) {
    const all = { ...DEFAULTS, ...there };
    assert.ok(meets(all) && shown(there).meets);
    assert.deepEqual(repair(all), all);
  }
  for (const away of [{ source: "row" }, { length: 134 }, { batch_size: 2 }, { num_steps: 10 }, { sampling: "adjoining" }, { offset: 1 }, { memory: "kept" }]) {
    assert.equal(repair({ ...DEFAULTS, ...before, ...away }).cut_at, 0, JSON.stringify(away));
    assert.ok(!shown({ ...before, ...away }).meets);
  }
  assert.ok(!meets(DEFAULTS) && SPEC.steps.slice(0, 2).every((step) => step.before.cut_at === 0 && step.state.cut_at === 0));
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
    ["num_steps", 2.5], ["sampling", ""], ["offset", -1], ["seed", 1e4], ["minibatch", 0], ["cut_at", 12], ["memory", "x"], ["own_text", 5], ["own_text", "x".repeat(1001)]]) {
    assert.equal(link({ [name]: bad }), null, `${name} ${bad}`);
  }
  assert.equal(repair({ ...SETTINGS, own_text: "Low <b>TIDE" }).own_text, "low b tide");
  assert.deepEqual(repair({ ...SETTINGS, minibatch: 900, offset: 300, more: 1 }), { ...SETTINGS, minibatch: 2, offset: 9 });
  assert.equal(repair({ ...SETTINGS, source: "own", minibatch: 7 }).minibatch, 1, "no text, no minibatch");
});
