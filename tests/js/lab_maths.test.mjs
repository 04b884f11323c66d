// What the lab's page computes of a report: standings, axes, labels, a reader's own text, what a story came to.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  axes, bestOf, changed, copiedShare, countsKept, followers, hasGap, heat, inspectText, isBlind, isLost, isMemorising, learnedPages, LEAST_LETTERS, letterPlaces, levelPlaces, lines, markPlace, meaningOf, MOST_LETTERS, normAxis, OTHER, OUTCOMES,
  powerName, rarestSign, reached, scales, standing, tellingUnit, thinPlace, unitGrid, unitRest, unitStarts,
} from "../../src/d2lrnn/widgets/training_lab/maths.mjs";
import { createTraining, prepareText, rivals } from "../../src/d2lrnn/widgets/training_lab/lab_training.mjs";
import { inWords, SAMPLES } from "../../src/d2lrnn/widgets/training_lab/samples.mjs";
import { randomSource } from "../../src/d2lrnn/widgets/core.mjs";
import { normalise } from "../../src/d2lrnn/widgets/weights.mjs";

const STORY = normalise(readFileSync(new URL("../../src/d2lrnn/data/the-tide-clock.txt", import.meta.url), "utf8"));
const LEVELS = [27, 15.91, 8.85, 5.41, 3.98, 3.63].map((perplexity, order) => ({ order, perplexity }));

test("a network stands between the rivals that it has beaten and the next one", () => {
  const orders = (perplexity) => Object.values(standing(perplexity, LEVELS)).map((level) => level?.order ?? null);
  assert.deepEqual(orders(30), [null, 0]);
  assert.deepEqual(orders(27), [null, 0]);
  assert.deepEqual(orders(20), [0, 1]);
  assert.deepEqual(orders(5), [3, 4]);
  assert.deepEqual(orders(3), [5, null]);
  assert.deepEqual(orders(Infinity), [null, 0]);
  assert.deepEqual(standing(5, []), { beaten: null, next: null });
  // On a small text a longer n-gram may be worse than a shorter one.
  assert.deepEqual(standing(5, [{ order: 3, perplexity: 4 }, { order: 4, perplexity: 6 }]).next.order, 3);
});

test("a run is lost when it is far worse than it was", () => {
  const report = (ys, perplexity = ys.at(-1)) => ({ train: { xs: ys, ys }, heldout: { xs: ys, ys }, perplexity, steps: 9, tokens: 9 });
  assert.equal(isLost(report([27, 8, 9])), false);
  assert.equal(isLost(report([27, 8, 30])), true);
  assert.equal(isLost(report([27, 8, Infinity])), true);
  assert.equal(bestOf({ ys: [27, Infinity, 8] }), 8);
});

test("a run memorises its text when the rest has been getting worse for long, and its own part has not", () => {
  const run = (train, heldout) => ({
    train: { xs: [1, 2, 4, 8], ys: train }, heldout: { xs: [1, 2, 4, 8], ys: heldout }, perplexity: heldout.at(-1), tokens: 8, steps: 9,
  });
  assert.equal(isMemorising(run([20, 12, 6, 3], [20, 10, 11, 12.5])), true);
  assert.equal(isMemorising(run([20, 1.5, 1.02, 1.27], [20, 1.9, 2.3, 3.3])), true, "its own part went up a little as well");
  assert.equal(isMemorising(run([20, 12, 9, 8.5], [20, 10, 9.5, 9.4])), false, "it learns");
  assert.equal(isMemorising(run([20, 12, 9, 8.5], [20, 10, 9.5, 10.2])), false, "it is no worse than it was, to speak of");
  assert.equal(isMemorising(run([20, 9, 8, 10], [20, 9, 8, 1e7])), false, "it was thrown off, and its own part knows it");
  assert.equal(isMemorising({ ...run([20, 9, 8, 8], [20, 9, 8, 1e7]), tokens: 4.1 }), false, "it was thrown off just now");
  assert.equal(isMemorising({ train: { xs: [], ys: [] }, heldout: { xs: [0], ys: [27] }, perplexity: 27, tokens: 0 }), false);
});

test("settings that are not as they were given are named in order", () => {
  const given = { num_steps: 32, clip: 1, carry: true };
  assert.deepEqual(changed({ num_steps: 1, clip: 1, carry: false }, given, ["num_steps", "clip", "carry"]), ["num_steps", "carry"]);
  assert.deepEqual(changed(given, given, ["num_steps", "clip"]), []);
});

test("with an end in sight the axis along is linear: a cat in the middle stands in the middle", () => {
  const found = axes({ tokens: 5, perUpdate: 512, curves: [], levels: LEVELS, until: 512 * 600 });
  const { x } = scales(found, { left: 0, right: 100, top: 0, bottom: 50 });
  assert.ok(Math.abs(x(512 * 300) - 50) < 1e-9 && x(0) === 0);
  assert.ok(found.x.ticks.length > 2 && found.x.ticks.every((tick) => tick <= 512 * 600));
});

test("a unit that knows where words begin is on one side of zero after a space, and on the other elsewhere", () => {
  const spaced = [..."to go on up so"];
  const startsOf = (value) => unitStarts({ sentence: spaced, states: Int8Array.from(spaced.flatMap((letter) => [0, value(letter)])) }, 1);
  assert.deepEqual([startsOf((letter) => (letter === " " ? 90 : -90)), startsOf((letter) => (letter === " " ? -9 : 90))], ["high", "low"]);
  assert.equal(startsOf((letter) => (" o".includes(letter) ? 90 : -90)), null, "it is high after other letters as well");
});

test("both axes are logarithmic, hold what is drawn, and stay put while a run goes on", () => {
  const curve = { xs: [0, 512, 4000], ys: [27, 20, 9] };
  const early = axes({ tokens: 512, perUpdate: 512, curves: [curve], levels: LEVELS });
  const later = axes({ tokens: 900_000, perUpdate: 512, curves: [curve], levels: LEVELS });
  assert.deepEqual(early, later);
  assert.deepEqual([early.x.from, early.x.to], [256, 1e6]);
  assert.equal(axes({ tokens: 1_000_001, perUpdate: 512, curves: [curve], levels: LEVELS }).x.to, 1e7);
  assert.ok(early.y.from < 3.63 && early.y.to > 27);
  const { x, y } = scales(early, { left: 0, right: 100, top: 0, bottom: 50 });
  assert.ok(Math.abs(x(1000) - x(100) - (x(100_000) - x(10_000))) < 100 && x(1e6) === 100);
  assert.ok(Math.abs(y(4) - y(8) - (y(8) - y(16))) < 1e-9, "equal factors, equal distances");
  const lost = axes({ tokens: 512, perUpdate: 512, curves: [{ xs: [1], ys: [1e9] }, { xs: [1], ys: [Infinity] }], levels: LEVELS });
  assert.ok(lost.y.to <= 400, "a curve that is thrown off runs along the edge");
  assert.ok(axes({ tokens: 1, perUpdate: 1, curves: [{ xs: [0], ys: [3000] }], levels: [{ order: 0, perplexity: 2900 }] }).y.to > 2900);
  for (const { from, to, ticks } of [early.x, early.y, lost.y]) assert.ok(ticks.length > 2 && ticks.every((tick) => tick >= from && tick <= to));
});

test("the longest gradient is on its axis, and so is the bound", () => {
  const { from, to } = normAxis([0.2, 7, 1.6e6], 1);
  assert.ok(from <= 0.1 && to >= 1.6e6);
  assert.ok(normAxis([], 0).to > normAxis([], 0).from);
});

test("powers of ten are named shortly, and ticks along are as few as there is room for", () => {
  assert.deepEqual([1e-6, 0.01, 0.1, 1, 1000, 1e4, 1e9].map(powerName), ["10⁻⁶", "0.01", "0.1", "1", "1\u202f000", "10⁴", "10⁹"]);
  const ticks = (count) => axes({ tokens: 2e7, perUpdate: 512, curves: [], levels: LEVELS, count }).x.ticks;
  assert.deepEqual(ticks(3), [1e3, 1e5, 1e7]);
  assert.equal(ticks(7).length, 6);
});

test("letters of earlier runs stay in the box, apart, and clear of what is there", () => {
  const box = { left: 0, right: 300, top: 0, bottom: 200 };
  const level = (y) => Array.from({ length: 30 }, (_, i) => ({ x: 10 * i, y }));
  const places = letterPlaces([level(100), level(100), level(-5), level(199)], box);
  for (const { x, y } of places) assert.ok(x >= 8 && x <= 292 && y >= 8 && y <= 192, `${x}, ${y}`);
  places.forEach((a, i) => places.slice(i + 1).forEach((b) => assert.ok(Math.abs(a.x - b.x) >= 16 || Math.abs(a.y - b.y) >= 16)));
  assert.deepEqual(places.map(({ y }) => y), [100, 100, 8, 192], "on their curves, but for the edge");
});

test("the words of a mark keep clear of the curve, and inside the box", () => {
  const box = { left: 30, right: 300, top: 12, bottom: 200 };
  const flat = (y) => Array.from({ length: 90 }, (_, i) => ({ x: 30 + 3 * i, y }));
  assert.deepEqual(markPlace({ x: 150, y: 100 }, [], box), { x: 150, y: 122 });
  assert.deepEqual(markPlace({ x: 150, y: 100 }, [flat(118)], box), { x: 150, y: 87 }, "another curve runs below");
  assert.deepEqual(markPlace({ x: 150, y: 100 }, [[{ x: 150, y: 100 }, { x: 150, y: 300 }]], box).y, 87, "a steep line between two points is met as well");
  assert.ok(markPlace({ x: 298, y: 198 }, [], box).y <= 194 && markPlace({ x: 298, y: 198 }, [], box).x <= 266);
});

test("the name of the thin curve stands below it, inside the box and clear of both curves", () => {
  const box = { left: 30, right: 300, top: 12, bottom: 200 };
  const falling = Array.from({ length: 90 }, (_, i) => ({ x: 30 + 3 * i, y: 20 + 2 * i }));
  const at = thinPlace(falling, [], box);
  assert.ok(at.y <= 196 && at.x > 200 && at.x < 297, `${at.x}, ${at.y}: as near to the end as there is room`);
  const flat = falling.map(({ x }) => ({ x, y: 150 }));
  assert.deepEqual(thinPlace(flat, [], box), { x: 293, y: 168 });
  assert.deepEqual(thinPlace(flat, [flat.map(({ x }) => ({ x, y: 165 }))], box), { x: 293, y: 168 }, "nowhere is there room");
});

test("a cat types the rarest sign, the last of the vocabulary", () => {
  for (const text of [STORY, "the tide goes out", "潮水会回来的。潮水会走。"]) assert.equal(rarestSign(text), prepareText(text).vocab.at(-1));
});

test("a state is drawn four times as wide as high", () => {
  assert.deepEqual([2, 8, 64, 96, 256].map((units) => Object.values(unitGrid(units))), [[1, 2], [1, 8], [4, 16], [5, 20], [8, 32]]);
});

test("the pages that it learns from have a curve of their own where it is clearly better on them", () => {
  const has = (mine, perplexity) => hasGap({ train: { xs: [1], ys: [mine] }, perplexity });
  assert.deepEqual([has(9, 8), has(8, 8), has(3.5, 4), has(3, 4), has(NaN, 27)], [false, false, false, true, false]);
  const lost = { train: { xs: [1], ys: [8] }, heldout: { xs: [300, 301], ys: [8, 2.7e6] }, perplexity: 2.7e6, steps: 301, tokens: 301 };
  assert.equal(hasGap(lost), false, "a mean that lags behind an explosion is no overfitting");
  const rote = { train: { xs: [1, 9], ys: [12, 1.24] }, heldout: { xs: [1, 2, 9], ys: [30, 10, 669] }, perplexity: 669, steps: 900, tokens: 9 };
  assert.deepEqual([isLost(rote), hasGap(rote), reached(rote)], [false, true, 10], "far worse by rote: told by its best, and its own pages are drawn");
});

test("a run is compared by its best, but where it was told to stop or is lost by what it has come to", () => {
  const run = (ys, rest = {}) => ({ train: { ys }, heldout: { xs: ys.map((_, i) => i), ys }, perplexity: ys.at(-1), tokens: ys.length, steps: 9, status: "ended", ...rest });
  assert.equal(reached(run([27, 4, 4.2])), 4);
  assert.equal(reached(run([27, 4, 4.01])), 4.01, "as good as its best");
  assert.equal(reached(run([27, 4, 4.2]), { isTold: true }), 4.2);
  assert.equal(reached(run([27, 4, 9])), 9, "it was thrown off");
  assert.equal(reached(run([27, 4, 4.2], { status: "diverged" })), 4.2);
  assert.equal(reached(run([27, 26.2], { steps: 0 })), 26.2);
});

test("what a perplexity means is said once it is known, and never of an alphabet that nobody has counted", () => {
  const levels = [{ order: 0, perplexity: 27 }];
  for (const perplexity of [26.1, 27.1]) assert.equal(meaningOf({ steps: 0, perplexity, levels }), "curve_means");
  assert.equal(meaningOf({ steps: 9, perplexity: 8.2, levels }), "curve_means");
  assert.equal(meaningOf({ steps: 9, perplexity: Infinity, levels }), "curve_wrong");
  assert.deepEqual([27.1, 27].map((perplexity) => meaningOf({ steps: 9, perplexity, levels })), ["curve_wrong", "curve_means"]);
  assert.deepEqual([27.1, 27, NaN].map((perplexity) => isBlind({ perplexity, levels })), [true, false, true]);
  assert.equal(isBlind({ perplexity: 900, levels: [] }), false);
  assert.equal(meaningOf({ steps: 9, perplexity: 8.2, levels: [] }), "curve_means");
  for (const [steps, perplexity] of [[0, 26], [9, Infinity], [9, NaN]]) assert.equal(meaningOf({ steps, perplexity, levels: [] }), null);
});

test("a unit that stands still through the sentence is said to", () => {
  const sentence = [..."abcabc"];
  const states = Int8Array.from(sentence.flatMap((_, i) => [-127, 20 * i]));
  assert.deepEqual([unitRest({ sentence, states }, 0), unitRest({ sentence, states }, 1)], [-1, null]);
});

test("what unseen pages copy is measured in passages that stand word for word in the pages before", () => {
  const dice = randomSource(3);
  const noise = (length) => Array.from({ length }, () => "abcdefgh"[Math.floor(8 * dice())]).join("");
  const text = noise(9000);
  const page = noise(1000);
  assert.equal(copiedShare(text + page), 0);
  assert.equal(copiedShare(text + text.slice(500, 1500)), 1);
  assert.equal(copiedShare(text + page.slice(0, 700) + text.slice(40, 340)), 0.3);
  const every = (size) => Array.from({ length: 1000 / size }, (_, i) => `${text.slice(i * size, i * size + size - 1)}!`).join("");
  assert.equal(copiedShare(text + every(20)), 0, "shorter passages recur in any text");
  assert.ok(Math.abs(copiedShare(text + every(100)) - 0.99) < 0.005, "a letter in a hundred is new");
  assert.equal(copiedShare("the tide goes out and comes in ".repeat(5000)), 1);
  assert.ok(copiedShare(STORY) < 0.05, `the book's own story: ${copiedShare(STORY)}`);
  assert.equal(copiedShare("ab"), 0);
});

test("texts at hand are long enough, and numbers are told in words", () => {
  assert.deepEqual([0, 13, 20, 42, 100, 999].map(inWords), ["zero", "thirteen", "twenty", "forty-two", "one hundred", "nine hundred and ninety-nine"]);
  for (const [name, make] of Object.entries(SAMPLES)) {
    const { problem, rest, blanks } = inspectText(make());
    assert.deepEqual([problem, rest, blanks], [null, 0, 0], name);
    assert.ok(copiedShare(make()) < 0.1, `${name}: ${copiedShare(make())}`);
  }
});

test("the shortest text of a reader's own can be learned and scored with any settings", () => {
  const dice = randomSource(5);
  const text = prepareText(Array.from({ length: LEAST_LETTERS }, () => "abcdef "[Math.floor(7 * dice())]).join(""));
  for (const carry of [true, false]) {
    const settings = { num_hiddens: 8, num_steps: 64, batch_size: 64, carry, seed: 0, learning_rate: 0.01, clip: 1, optimizer: "adam" };
    const training = createTraining(text, settings);
    for (let i = 0; i < 3; i += 1) assert.ok(training.step());
    training.evaluate();
    assert.ok(Number.isFinite(training.report.heldout.last) && training.read().nats.every(Number.isFinite));
    assert.ok(rivals(text).every(({ perplexity }) => Number.isFinite(perplexity)));
  }
});

test("names of rivals keep their distance", () => {
  const { y } = scales(axes({ tokens: 1, perUpdate: 1, curves: [], levels: LEVELS }), { left: 0, right: 1, top: 10, bottom: 150 });
  const places = levelPlaces(LEVELS, y, { top: 10, bottom: 150 }).map(({ label }) => label);
  assert.ok(places.every((place, i) => place >= 10 && place <= 150 && (i === 0 || place - places[i - 1] > 14.99)));
});

test("a sentence is broken after a space where there is one, and a letter's colour grows with its price", () => {
  const broken = (text, columns) => lines([...text], columns).map(([a, b]) => text.slice(a, b));
  assert.deepEqual(broken("the tide is in", 9), ["the tide ", "is in"]);
  assert.deepEqual(broken("the tide is in", 8), ["the ", "tide is ", "in"]);
  assert.deepEqual(broken("the tide", 8), ["the tide"]);
  assert.deepEqual(broken("lighthouse at", 6), ["lighth", "ouse ", "at"]);
  assert.equal(broken("tide", 0).join(""), "tide");
  assert.deepEqual([heat(0), heat(4 * Math.LN2), heat(1e9)], [0, 0.5, 1]);
});

test("a rival that looks back a letter keeps a count of each letter and of each pair", () => {
  assert.equal(countsKept("abab", 2), 4); // a, b, ab, ba
});

test("a text of the reader's own: too short, all alike, cut, rare signs, any alphabet", () => {
  assert.equal(inspectText("the tide").problem, "short");
  assert.equal(inspectText("z".repeat(5000)).problem, "alike");
  assert.equal(inspectText("").problem, "short");
  const good = inspectText(`The  tide\r\n\tgoes out. ${"it comes in again, ".repeat(LEAST_LETTERS / 15)}é%`);
  assert.equal(good.problem, null);
  assert.ok(good.text.startsWith(`${OTHER}${"he tide goes out".slice(0, 0)}`) && !/[\r\n\t]|  /.test(good.text));
  assert.ok(good.rare.includes("é") && good.rare.includes("%") && good.text.endsWith(OTHER.repeat(2)));
  assert.equal(new Set(good.text).size, good.signs);
  const one = inspectText(`${"it comes in again, ".repeat(200)}é`);
  assert.deepEqual(one.rare, [], "one rare sign alone is not worth a sign of its own");
  assert.ok(one.text.endsWith("é"));
  const long = inspectText("ab cd ".repeat(MOST_LETTERS));
  assert.deepEqual([long.rest, long.letters, long.problem], [5 * MOST_LETTERS, MOST_LETTERS, null]);
  for (const white of "\t\n\r\u0000\u0085\u00a0\u2003\u2028\u3000\ufeff") {
    assert.ok(inspectText(`a${white}${white}b`.repeat(3)).text === "a ba ba b", `U+${white.charCodeAt(0).toString(16)}`);
  }
  const chinese = inspectText("潮水会回来的。潮水会走。".repeat(250));
  assert.deepEqual([chinese.problem, chinese.signs, chinese.rest, chinese.unseen], [null, 8, 0, 300]);
  assert.equal(inspectText(" a \n b  c").blanks, 3);
  assert.equal(inspectText("👩‍💻🙂 ab".repeat(500)).problem, null);
});

test("the unit that tells most is the one that differs most after the commonest letter", () => {
  const sentence = [..."a b a c a"];
  const states = Int8Array.from(sentence.flatMap((letter) => [letter === "a" ? 40 : -40, letter === " " ? 100 : -100, letter === "b" ? 127 : -127]));
  assert.equal(tellingUnit({ sentence, states }), 1);
  assert.equal(tellingUnit({ sentence: ["x"], states: Int8Array.from([3, 4]) }), 1, "a text of one letter has one too");
});

test("what a story came to is read off its runs", () => {
  const report = (ys, rest) => ({ heldout: { xs: ys.map((_, i) => 512 * (298 + i)), ys }, tokens: 512 * 600, steps: 600, perplexity: ys.at(-1), ...rest });
  const told = OUTCOMES[1]([report([8, 7.7, 3e7, 2e6]), report([8, 7.6, 8.7, 6.6])], LEVELS, 300);
  assert.deepEqual(told, { least: "2.0×10⁶", most: "3.0×10⁷", clipped: "8.70", letters: "27" });
  assert.equal(OUTCOMES[1]([report([8, 7.7, 3e3, 20])], LEVELS, 300).least, "20.00", "between the runs");
  const spelled = { steps: 251, real: 37, words: 73, pieces: [..."sea the qox The tide do".split(/( )/)].map((piece, i) => [piece, i > 0 && piece.length > 2 && piece !== "qox"]) };
  assert.deepEqual(OUTCOMES[0]([report([4.8], { spelled })]), { steps: "251", real: 37, words: 73, different: 2 });
  assert.deepEqual(OUTCOMES[2]([report([9.01])], LEVELS), { perplexity: "9.01", bigram: "8.85" });
});

test("a rival counts in the pages that are learned from, in letters of any alphabet", () => {
  assert.equal(learnedPages("abcdefghij".repeat(2)), "abcdefghijabcdefgh");
  assert.equal(learnedPages("😀😁".repeat(10)), "😀😁".repeat(9));
  assert.deepEqual(followers("abacab", "a"), { total: 3, top: [["b", 2 / 3], ["c", 1 / 3]] });
  assert.deepEqual(followers("aaa", "aa"), { total: 1, top: [["a", 1]] });
  assert.deepEqual(followers("😀😁😀😁😀", "", 1), { total: 5, top: [["😀", 0.6]] });
  assert.deepEqual(followers("😀😁😀😁😀", "😀"), { total: 2, top: [["😁", 1]] });
  assert.deepEqual(followers("abc", "z"), { total: 0, top: [] });
});
