// The surprise map: bits, totals and bytes are Python's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  bitsByPlace, choices, compared, derive, finding, grade, GRADES, guesses, HIGH, isOver, isVaried, markOf, MAX_TEXT, oneIn, percent, pieces, readable, reason, repair, roomFor, STAGES, surprises, THOUSAND, totals,
} from "../../src/d2lrnn/widgets/surprise_map/maths.mjs";
import SPEC from "../../src/d2lrnn/widgets/surprise_map/spec.json" with { type: "json" };
import { decodeLink, encodeLink, rulesOf } from "../../src/d2lrnn/widgets/ui.mjs";
import { loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./surprise_map_cases.json", import.meta.url), "utf8"));

function weights(stage) {
  const bytes = readFileSync(new URL(`../../src/d2lrnn/data/models/${stage.replace("_", "-")}.safetensors`, import.meta.url));
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const WEIGHTS = Object.fromEntries(STAGES.map((stage) => [`weights_${stage}`, weights(stage)]));
const network = (stage) => loadModel(weights(stage));
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (state) => derive({ ...WEIGHTS, ...DEFAULTS, ...state });

test("bits, rate, perplexity and bytes of every stage are those of Python's SurpriseMap", () => {
  assert.ok(CASES.length >= 16);
  for (const { given, text, stage, bits, rate, perplexity, bytes } of CASES) {
    assert.equal(readable(given), text);
    const found = surprises(network(stage), text);
    assert.equal(found.bits.length, text.length - 1);
    bits.forEach((b, i) => assert.ok(Math.abs(found.bits[i] - b) < 1e-3, `${stage} ${i}: ${found.bits[i]} ${b}`));
    const sum = totals(found.bits);
    assert.ok(Math.abs(sum.rate - rate) < 1e-4 && Math.abs(sum.perplexity / perplexity - 1) < 1e-4);
    assert.equal(sum.bytes, bytes);
  }
});

test("the guesses are the likeliest signs and the one that comes, whose surprise follows from its probability", () => {
  const { model, vocab } = network("trained");
  const text = "the tide clock quixotl";
  const { bits, probs } = surprises({ model, vocab }, text);
  assert.equal(probs.length, text.length - 1);
  const ranks = probs.map((all, i) => {
    const sign = vocab.indexOf(text[i + 1]);
    assert.ok(Math.abs(all.reduce((sum, p) => sum + p, 0) - 1) < 1e-5);
    assert.ok(Math.abs(bits[i] + Math.log2(all[sign])) < 1e-6);
    const shown = guesses(all, sign);
    const rank = 1 + all.filter((p) => p > all[sign]).length;
    assert.ok(shown.includes(sign) && new Set(shown).size === 4);
    const chances = shown.map((index) => all[index]);
    assert.deepEqual(chances, [...chances].sort((a, b) => b - a), "the likeliest first");
    assert.deepEqual(chances.slice(0, 3), [...all].sort((a, b) => b - a).slice(0, 3));
    return rank;
  });
  assert.equal(vocab[guesses(probs[0], 0)[0]], "h", "after t comes h");
  assert.ok(ranks.includes(1) && ranks.includes(4) && ranks.some((rank) => rank > 10));
  assert.deepEqual(guesses([0.1, 0.4, 0.3, 0.05, 0.15], 3), [1, 2, 4, 3]);
  assert.deepEqual(guesses([0.1, 0.4, 0.3, 0.05, 0.15], 0), [1, 2, 4, 0]);
});

test("what is said of “phoebe” holds: after training an “e” is expected after “p”, and the “h” is its one bar that rises", () => {
  const { vocab } = network("trained");
  const [before, after] = ["untrained", "trained"].map((name) => surprises(network(name), "phoebe"));
  assert.equal(vocab[guesses(after.probs[0], 0)[0]], "e");
  assert.deepEqual([...after.bits].map((bits, i) => bits > before.bits[i]), [true, false, false, false, false]);
});

test("a text that goes on is read on from where it ended, with the same result", () => {
  const trained = network("trained");
  const whole = surprises(trained, "the tide clock");
  let known;
  for (const text of ["t", "the", "the tide", "the tide clock"]) known = surprises(trained, text, known);
  assert.deepEqual([known.bits, known.probs], [whole.bits, whole.probs]);
  const typed = ["the t", "the tide clock", "the tide", "the tide clock"].map((text) => shown({ text }).now.bits);
  assert.deepEqual(typed[1], whole.bits);
  assert.deepEqual(typed[3], whole.bits);
});

test("totals: the mean, two to its power, and whole bytes", () => {
  assert.deepEqual(totals([1, 3, 5]), { bits: 9, rate: 3, perplexity: 8, bytes: 2 });
  assert.equal(totals([8]).bytes, 1);
});

test("the room over a letter holds the highest bar of the text at any stage, up to a limit, and is one for all stages", () => {
  for (const stage of STAGES) {
    const rooms = [DEFAULTS.text, "phoebe", "quixotl", "qqqqzzzz"].map((text) => shown({ text, stage }).scale);
    assert.deepEqual(rooms, [8, 8, HIGH, HIGH]);
  }
  assert.equal(shown({ text: "" }).scale, 1);
  assert.ok(Math.max(...shown({ text: "quixotl" }).now.bits) < HIGH, "the made-up word is drawn whole");
  assert.deepEqual(STAGES.map((stage) => ["quixotl", "alexander"].map((text) => shown({ text, stage }).clips)), Array(4).fill([false, true]));
});

test("texts are bounded, and links too", () => {
  assert.equal(readable("<bb>\u0000".repeat(50_000)).length, MAX_TEXT);
  const link = (state) => decodeLink(encodeLink("SurpriseMap", 0, state), "SurpriseMap", 0, rulesOf(SPEC.controls));
  assert.deepEqual(link({ text: "the sea", stage: "half_way", place: 3 }), { text: "the sea", stage: "half_way", place: 3 });
  assert.equal(link({ text: "x".repeat(801), stage: "best", place: -1 }), null);
  assert.deepEqual(repair({ text: "The SEA!", stage: "trained", place: 99 }), { text: "the sea", stage: "trained", place: 0 });
  assert.equal(repair({ text: "", stage: "trained", place: 5 }).place, 0);
  assert.equal(STAGES.length, 4);
});

test("a text of one letter or none has no surprise", () => {
  assert.equal(surprises(network("trained"), "a").bits.length, 0);
  assert.equal(surprises(network("trained"), "").bits.length, 0);
});

test("lines break between words, and the pieces are the text", () => {
  for (const text of ["the tide clock", " a  b ", "x".repeat(50), ""]) {
    assert.equal(pieces(text).join(""), text);
    assert.ok(pieces(text).every((piece) => piece.length <= 21));
  }
});

test("it opens trained, on the highest bar; the five highest are first letters", () => {
  const { text, stage, place, now, blind } = shown({});
  assert.equal(stage, STAGES.at(-1));
  assert.equal(text.slice(place - 1, place + 4), " both");
  assert.ok(now.bits[place - 1] > blind && now.bits[place - 1] === Math.max(...now.bits));
  const highest = [...now.bits.keys()].sort((a, b) => now.bits[b] - now.bits[a]).slice(0, 5);
  assert.ok(highest.every((i) => text[i] === " "));
  assert.equal(finding(shown({})), "words");
});

test("what is said of a text is what its bits say", () => {
  const said = (text) => STAGES.map((stage) => finding(shown({ text, stage, place: 0 })));
  assert.deepEqual(said(DEFAULTS.text), ["untrained", "spaces", "words", "words"]);
  assert.deepEqual(said("quixotl"), ["untrained", "less", "more", "more"]);
  assert.deepEqual(said("ming"), ["untrained", "same", "less", "less"]);
  assert.deepEqual(said("the stair had never been so plain"), ["untrained", "spaces", "words", "words"]);
  assert.deepEqual(said("i shut my eyes i asked the feeling i pushed the rod"), ["untrained", "spaces", "words", "words"]);
  assert.deepEqual([said("phoebe").slice(2), said("alexander").at(-1)], [["more", "less"], "same"]);
  for (const text of [DEFAULTS.text, "i shut my eyes i asked the feeling i pushed the rod"]) for (const stage of STAGES.slice(1)) {
    const model = shown({ text, stage });
    const { first, later, space } = bitsByPlace(text, model.now.bits);
    if (finding(model) === "words") assert.ok(first.mean > later.mean && first.mean > space.mean);
    else assert.ok(space.mean < later.mean && space.mean < first.mean);
  }
  const of = (first, space) => ["first_steps", "trained"].map((stage) => finding({ text: "ab cd ef gh i", stage, before: { perplexity: 29 }, now: { bits: [4, space, first, 4, space, first, 4, space, first, 4, space, first], perplexity: 9 } }));
  assert.deepEqual([of(5, 2), of(3.5, 2), of(5, 4), of(4, 4)], [["spaces", "words"], ["spaces", "spaces"], ["words", "words"], ["less", "less"]]);

  assert.equal(finding(shown({ text: "qqqqzzzz" })), "more");
});

test("before its training every letter is close to a blind guess, whatever the text", () => {
  const letters = network(STAGES[0]).vocab.join("");
  for (const text of [DEFAULTS.text, letters, [...letters].reverse().join(""), "qqqqqqqqqq", "the quick brown fox jumps over the lazy dog", "eeeeaaaaoooo tttt"]) {
    const { now, blind } = shown({ text, stage: STAGES[0] });
    assert.ok(now.bits.every((bits) => grade(bits, blind) === "near"), text);
    assert.equal(grade(now.rate, blind), "near", "and so is their average");
  }
});

test("a place that the text does not have is the letter that costs the trained network most, whatever the stage", () => {
  for (const stage of STAGES) {
    const { after, place, most } = shown({ stage, place: 0 });
    assert.equal(place, most);
    assert.equal(after.bits[most - 1], Math.max(...after.bits));
  }
  const { text, place, most, after, before } = shown({ text: "quixotl", place: 0 });
  assert.deepEqual([text[place], place], ["l", most]);
  assert.ok(after.perplexity > before.perplexity);
  assert.equal(shown({ place: 7 }).place, 7);
  const name = shown({ text: "ann phoebe", place: 99 });
  assert.equal(name.place, name.most);
  for (const text of ["", "a"]) assert.deepEqual([shown({ text }).count, shown({ text }).place], [0, 0]);
});

test("the guided steps: what is called right is right", () => {
  const [without, made, own] = SPEC.steps.map(({ before, state }) => shown({ ...before, ...state }));
  const { first, later, space } = bitsByPlace(without.text, without.now.bits);
  assert.ok(Math.abs(first.mean / later.mean - 1) < 0.1 && Math.abs(space.mean / later.mean - 1) < 0.1 && SPEC.steps[0].right === 1);
  assert.ok(Math.max(...without.now.bits) < 1.25 * Math.min(...without.now.bits), "every letter costs about the same");
  assert.ok(without.now.bits.every((bits) => Math.abs(bits / without.blind - 1) < 0.1), "every bar ends near the dashed line");
  assert.equal(finding(shown(SPEC.steps[0].before)), "words", "the question follows what is seen");
  const lower = without.after.bits.filter((bits, i) => bits < without.now.bits[i]);
  assert.ok(lower.length > 0.8 * without.count, "training made most bars low");
  assert.ok(made.now.rate > 1.2 * made.before.rate && SPEC.steps[1].right === 2);
  const probs = made.now.probs[made.most - 1];
  assert.ok(probs[made.vocab.indexOf(" ")] > 0.5, "it bets on a space");
  assert.equal(compared(own.before, own.now), 0);
  assert.equal(SPEC.steps[2].right, null);
});

test("less, the same or more, as the told numbers of choices say it", () => {
  const of = (perplexity) => ({ perplexity });
  assert.deepEqual([[29, 85.7], [27.11, 26.69], [28, 26], [26, 28], [20, 22.4], [22, 20], [20, 22.6], [22.6, 20], [2.96, 3.4], [29, 21], [23.9, 4.7]].map(([a, b]) => compared(of(a), of(b))), [2, 1, 1, 1, 1, 1, 2, 0, 1, 0, 0]);
  assert.deepEqual([1.04, 2.94, 2.96, 26.82, 428.86, 711_903].map(choices), ["1.0", "2.9", "3", "27", "429", "710\u202f000"]);
});

test("more choices than a blind guess has, as the told numbers say it", () => {
  assert.deepEqual([4, 27, 29.4, 29.6, 86].map((perplexity) => isOver({ perplexity }, 27)), [false, false, false, true, true]);
  const over = (text) => STAGES.map((stage) => isOver(shown({ text, stage }).now, 27));
  assert.deepEqual([over("phoebe"), over("quixotl"), over(DEFAULTS.text)], [[false, false, true, false], [false, false, true, true], [false, false, false, false]]);
});

test("a letter is about as likely as a blind guess, worse or far worse: on both sides of each bound", () => {
  const of = (times) => grade(5 + Math.log2(times), 5);
  assert.deepEqual(GRADES, { near: 1.6, far: 10, same: 1.1 });
  assert.deepEqual([0.01, 0.62, 0.63, 1, 1.59, 1.61, 9.99, 10.01, 1e7].map(of), ["", "", "near", "near", "near", "worse", "worse", "far", "far"]);
});

test("the words of the dashed line have room over the beginning's text, and none over a name", () => {
  assert.equal(shown({}).labels[0], 0);
  for (const text of ["zoe", "qzxj qzxj", "margarethe", "phoebe"]) assert.equal(shown({ text }).labels[0], -1);
});

test("a label stands at the left, or over the first low bars of the first row that are as wide, at all stages in one place", () => {
  const of = (label, text, ...rates) => roomFor(label, { text, rates, limit: 5 });
  assert.equal(of(2, "phoebe", [6, 1, 1, 1, 1], [4.7, 4.8, 4.7, 4.8, 4.7]), 2);
  assert.equal(of(2, "phoebe", [5, 6, 1, 6, 1]), 0);
  assert.equal(of(2, "abcd", [9, 1, 9]), -1);
  assert.equal(of(1, "", []), -1);
  const text = "the red lantern with both my hands";
  assert.deepEqual([21, 22].map((label) => of(label, text, new Float64Array(33))), [0, -1], "“both” has no room in the first row");
  for (const [name, place] of [[text, 0], ["phoebe", 0], ["christopher robin", 0], ["zhang wei", 2], ["qqqqzzzz", -1]]) {
    const labels = STAGES.map((stage) => shown({ text: name, stage }).labels[1]);
    assert.deepEqual(labels, Array(4).fill(place), name);
    if (place < 0) continue;
    const under = Array.from({ length: Math.ceil(Math.min(name.length, 21) / 5) }, (_, i) => place + i).filter((at) => at > 0);
    for (const stage of STAGES) assert.ok(under.every((at) => shown({ text: name, stage }).now.bits[at - 1] <= THOUSAND), `it lies on no bar: ${name}`);
  }
});

test("a reason is one that its bits bear", () => {
  const of = (text) => shown({ text, place: 0 });
  const verdict = ({ before, now }) => compared(before, now);
  assert.deepEqual(["tom", "emma", "alexander", "christopher robin", "zoe anne"].map((text) => verdict(of(text))), [0, 0, 1, 0, 2]);
  assert.equal(reason(of("tom").before.bits, of("tom").now.bits), null, "no letter is a small surprise");
  for (const text of ["emma", "ming", "li", "phoebe", "peter", "alexander", "christopher robin", "john smith", "maria", "david", "quixotl"]) {
    const model = of(text);
    const found = reason(model.before.bits, model.now.bits);
    if (found === null) continue;
    const [was, is] = [model.before, model.now].map(({ bits }) => bits[found.place - 1]);
    assert.ok(found.name === "but" ? verdict(model) < 2 : found.name === ["less", "same", "more"][verdict(model)]);
    assert.ok(found.name === "less" ? is < 2 && is < was : is > was, text);
    if (found.name === "less") assert.ok(Math.max(...model.now.bits) <= model.before.bits[model.most - 1] + Math.log2(GRADES.near), `nothing is said to be learned where a bar rose: ${text}`);
  }
  assert.deepEqual(reason(of("alexander").before.bits, of("alexander").now.bits), { name: "but", place: of("alexander").most });
  assert.deepEqual(reason(of("zhang wei").before.bits, of("zhang wei").now.bits), { name: "but", place: 1 }, "the space is sure, but the “h” is a great surprise");
});

test("a small probability is one in so many", () => {
  assert.deepEqual([0.2, 0.0005, 0.0002, 0.000_013, 0].map(oneIn), [null, "2\u202f000", "5\u202f000", "77\u202f000", null]);
});

test("a probability has two digits that count", () => {
  assert.deepEqual([0.04, 0.6449, 0.0996, 0.0061, 0.994, 0.9999].map(percent), ["4.0%", "64%", "10%", "0.61%", "99%", ">99%"]);
});

test("letters at the beginnings of words and later ones", () => {
  assert.deepEqual(bitsByPlace("ab cd", [1, 9, 5, 3]),
    { first: { count: 1, mean: 5 }, later: { count: 2, mean: 2 }, space: { count: 1, mean: 9 } });
});

test("accents and the signs at the ends leave no letter and no space behind", () => {
  assert.deepEqual(["Zoë", "42!", "Mr. Keld said: 'so'", " the ", "Anna ", "Anna\n", "José\n", `${"x".repeat(499)} y`, "a -- b", "“José”", "Łukasz", "Søren Weiß", "łøđħıßæœþð ŁØĐĦẞÆŒÞÐ"].map(readable), ["zoe", "", "mr keld said so", " the", "anna", "anna", "jose", "x".repeat(499), "a b", "jose", "lukasz", "soren weiss", "lodhissaeoethd lodhssaeoethd"]);
});

test("an average is marked at its height, the highest at the top; its number has one line over it, two, or stands under it", () => {
  assert.deepEqual(markOf(0.26), { at: 0.26, chance: "1.2", lines: 1 });
  assert.deepEqual(markOf(Math.log2(26)), { at: Math.log2(26), chance: "26", lines: 1 });
  assert.deepEqual(markOf(Math.log2(151)), { at: Math.log2(151), chance: "150", lines: 2 });
  assert.deepEqual(markOf(9), { at: 9, chance: "510", lines: 0 });
  assert.deepEqual(markOf(17), { at: HIGH, chance: null, lines: 0 });
});

test("a text is varied where no word comes twice", () => {
  assert.deepEqual(["the red lantern", "the the", "", "a", "at a"].map(isVaried), [true, false, true, true, true]);
});
