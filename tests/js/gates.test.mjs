// What a gate keeps: the page's numbers are Python's, the streams add up to the cell, and the guided steps are true.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/gates/index.mjs";
import { breakOf, createNetwork, derive, halfLife, leftOf, nameOf, readable, rowsOf } from "../../src/d2lrnn/widgets/gates/maths.mjs";
import SPEC from "../../src/d2lrnn/widgets/gates/spec.json" with { type: "json" };
import { translator } from "../../src/d2lrnn/widgets/ui.mjs";

const CASES = JSON.parse(readFileSync(new URL("./gates_cases.json", import.meta.url), "utf8"));
const bytes = readFileSync(new URL("../../src/d2lrnn/data/models/lstm.safetensors", import.meta.url));
const NETWORK = createNetwork(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const at = (values) => derive({ ...DEFAULTS, ...values }, NETWORK);
const t = translator("en", SPEC.words);

function assertClose(actual, expected, message, tolerance = 1e-5) {
  assert.equal(actual.length, expected.length, message);
  actual.forEach((value, i) => {
    const allowed = tolerance * Math.max(1, Math.abs(expected[i]));
    assert.ok(Math.abs(value - expected[i]) <= allowed, `${message}: [${i}] ${value}, ${expected[i]}`);
  });
}

test("gates, cell, state, what is left, surprisal and the sentence are those of torch", () => {
  assert.ok(CASES.length >= 10);
  for (const { given, settings, unit, forget, left, half_life, bits, now, guesses } of CASES) {
    const name = JSON.stringify(given);
    if (given.text !== undefined) assert.equal(readable(given.text, SPEC.controls.text.max), settings.text);
    const model = derive(settings, NETWORK);
    for (const [kind, values] of Object.entries(unit)) assertClose(model[kind], values, `${name}: ${kind}`, 2e-5);
    assertClose(model.letters.map((_, i) => model.order.reduce((sum, j) => sum + model.gateAt(i, j), 0)), forget, name);
    assertClose(model.left, left, `${name}: left`);
    assert.equal(model.count, half_life);
    assertClose([model.bits], [bits], `${name}: bits`);
    assert.equal(model.guesses.slice(1).join(""), guesses, name);
    const { key, values } = sentence(model, t);
    assert.equal(t(key, values), now);
  }
});

test("what the letters wrote, each times what is left of it, adds up to the cell", () => {
  for (const values of [{}, { bias: 3 }, { unit: 6, bias: 2 }, { unit: 3 }, { unit: 29, text: "mr gadd s head upon her knees" }]) {
    const { letters, cell, forget, input, candidate } = at(values);
    const sums = letters.map(() => 0);
    letters.forEach((_, from) => leftOf(forget, from).forEach((share, k) => {
      sums[from + k] += share * input[from] * candidate[from];
    }));
    assertClose(sums, cell, JSON.stringify(values));
  }
});

test("a dozen units in their order, the chosen one among them; what is left is theirs", () => {
  const order = Array.from({ length: 32 }, (_, k) => 31 - k);
  for (const unit of order) {
    const rows = rowsOf(order, unit);
    assert.equal(new Set(rows).size, 12);
    assert.ok(rows.includes(unit));
    assert.deepEqual(rows, [...rows].sort((a, b) => order.indexOf(a) - order.indexOf(b)));
  }
  const { rows, left, strips, order: kept, keptAtSpaces } = at({ bias: 2 });
  assert.deepEqual(rows.find(({ unit }) => unit === 18).left, left);
  assert.deepEqual(strips.map((strip) => strip.left), [left, at({ bias: 2, unit: 16 }).left]);
  assert.deepEqual(at({ unit: 16 }).strips.map(({ unit }) => unit), [16, 18], "beside the keeper stands the forgetter");
  for (const { unit, left: shares } of rows) assert.deepEqual(shares, at({ bias: 2, unit }).left);
  const own = kept.map((j) => at({}).keptAtSpaces(j));
  own.forEach((share, k) => assert.ok(k === 0 || share <= own[k - 1]));
  assert.ok(keptAtSpaces(18) > own[kept.indexOf(18)]);
});

test("half-life: the first letter at which less than half is left", () => {
  assert.deepEqual(leftOf([0.1, 0.5, 0.5, 0.2], 1), [1, 0.5, 0.1]);
  assert.equal(halfLife([0.1, 0.5, 0.5, 0.2], 0), 2);
  assert.equal(halfLife([1, 1, 1], 0), null);
  assert.equal(halfLife([1, 1, 0], 2), null, "nothing follows the last letter");
});

test("letters have names", () => {
  const name = (text, i) => {
    const { key, values } = nameOf([...text], i);
    return t(key, values);
  };
  assert.equal(name("to keep", 1), "the o of “to”");
  assert.equal(name("to keep", 2), "the space after “to”");
  assert.equal(name("to keep", 6), "the p of “keep”");
  assert.equal(name(" to", 0), "the first space");
});

test("a text is broken into two lines for a phone at a space near its middle", () => {
  assert.equal(breakOf([..."a short text"]), 12);
  assert.equal(breakOf([...SPEC.controls.text.default]), 17);
  assert.equal(breakOf(Array(40).fill("a")), 20);
  assert.equal(breakOf([..."a bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]), 20);
});

test("the answers of the guided steps are right", () => {
  const [later, more, units] = SPEC.steps;
  const [early, late] = [later.before, later.state].map((state) => derive(state, NETWORK));
  assert.deepEqual([early.letters[early.at], late.letters[late.at]], ["h", "t"]);
  assert.equal(early.count, 3, "as the question says");
  assert.equal(late.count, 1);
  assert.equal(early.at + early.count, late.at + late.count, "the same space");
  assert.ok(early.letters[early.at + early.count] === " " && later.right === 1);

  const [own, pushed] = [more.before, more.state].map((state) => derive(state, NETWORK));
  own.strips.forEach((strip, k) => assert.ok(pushed.strips[k].count > strip.count, "both keep the number longer"));
  assert.ok(pushed.right < own.right && more.right === 1);

  const asked = derive(units.state, NETWORK);
  const kept = asked.order.map(asked.keptAtSpaces);
  const lose = kept.filter((share) => share < 0.5).length;
  assert.ok(lose > 16 && lose < 24 && units.right === 1, "more than half, not nearly all");
});

test("what the figure and the lesson say", () => {
  const [own, more, less] = [0, 2, -4].map((bias) => at({ bias }));
  assert.deepEqual([own, more, less].map(({ bits }) => (2 ** bits).toFixed(1)), ["3.7", "6.3", "11.3"]);
  assert.deepEqual([own, more, less].map(({ right }) => right), [21, 17, 12]);
  assert.deepEqual([own, more, less].map(({ count }) => count), [3, 12, 1]);
  const { left, forget, keptAtSpaces, letters } = own;
  left.forEach((share, k) => assert.equal(share, k === 0 ? 1 : left[k - 1] * forget[own.at + k], "what is left is what was left, times the gate"));
  assert.ok(keptAtSpaces(18) < 0.1 && keptAtSpaces(16) > 0.95);
  const [, keeper] = own.strips;
  assert.ok(letters.every((letter, i) => letter !== " " || keeper.gates[i] > 0.95), "through every space");
  assert.deepEqual(nameOf(letters, own.at + keeper.count), { key: "letter_of", values: { letter: "i", word: "given" } });
});

test("short and strange texts", () => {
  for (const text of ["", "a", " ", "  ", "zzzz"]) {
    for (const bias of [-4, 0, 4]) {
      const model = at({ text, bias, place: 40 });
      assert.equal(model.at, Math.max(0, text.length - 1));
      assert.ok(Number.isFinite(model.bits) && model.cell.every(Number.isFinite) && model.order.length === 32);
    }
  }
});
