// Truncated backpropagation through time in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/truncation/index.mjs";
import { NUM_LOSSES, WAYS, derive, percent, reachesOf } from "../../src/d2lrnn/widgets/truncation/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { network, cases } = read("./truncation_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/truncation/spec.json");
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (settings = {}) => derive({ ...DEFAULTS, ...settings, network });
const close = (a, b, name) => assert.ok(Math.abs(a - b) <= 1e-8 * Math.max(1, Math.abs(b)), `${name}: ${a} is not ${b}`);

test("reaches, what is lost and the sentence are those of Python's Truncation", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, reaches, lost, by_reach: byReach, sentence: expected } of cases) {
    const found = shown(settings);
    const name = JSON.stringify(settings);
    assert.deepEqual(found.reaches.windows, reaches, name);
    for (const way of WAYS) close(found.lost[way], lost[way], `${name} lost ${way}`);
    found.byReach.forEach((share, i) => close(share, byReach[i], `${name} reach ${i + 1}`));
    assert.equal(t(...sentence(found)), expected);
  }
});

test("in windows the rows reach 1, 2, ... steps; from each loss all reach the same", () => {
  assert.deepEqual(reachesOf(5, "windows"), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
  assert.deepEqual(reachesOf(5, "losses"), Array(NUM_LOSSES).fill(5));
});

test("a window loses the mean square of what its losses lose", () => {
  for (const radius of [0.5, 0.9, 1.1]) for (const tau of [1, 6, 12]) {
    const { lost, byReach } = shown({ radius, tau });
    const squares = reachesOf(tau, "windows").slice(0, tau).map((reach) => byReach[reach - 1] ** 2);
    close(lost.windows ** 2, squares.reduce((sum, square) => sum + square, 0) / tau, `windows of ${tau}`);
    assert.equal(lost.losses, byReach[tau - 1]);
  }
});

test("whatever the memory, each further step leaves less missing, and from each loss less than in windows", () => {
  const { min, max } = SPEC.controls.radius;
  const falls = (values) => values.slice(1).forEach((value, i) => assert.ok(value < values[i]));
  for (let radius = min; radius <= max + 1e-9; radius += 0.1) {
    const found = Array.from({ length: NUM_LOSSES }, (_, i) => shown({ radius, tau: i + 1 }));
    falls(found[0].sizes);
    for (const way of WAYS) falls(found.map(({ lost }) => lost[way]));
    assert.equal(found[0].lost.windows, found[0].lost.losses);
    found.slice(1).forEach(({ lost }) => assert.ok(lost.windows > lost.losses));
  }
});

test("the work: in windows each step is gone back once, else once for each loss that reaches it", () => {
  for (const tau of [1, 5, 12]) {
    const { work, reaches } = shown({ tau });
    assert.equal(work.losses, reaches.losses.reduce((sum, reach) => sum + reach, 0));
    const longest = reaches.windows.filter((reach, i) => i === NUM_LOSSES - 1 || reaches.windows[i + 1] === 1); // of each window
    assert.equal(work.windows, longest.reduce((sum, reach) => sum + reach, 0));
  }
});

test("the factor of a step back is the mean one of the columns, and more memory raises it", () => {
  const { sizes, factor } = shown();
  close(sizes[0] * factor ** (NUM_LOSSES - 1), sizes.at(-1), "factor");
  const factors = [0.5, 0.7, 0.9, 1.1].map((radius) => shown({ radius }).factor);
  assert.deepEqual(factors, [...factors].sort((a, b) => a - b));
});

test("the guided steps: what is said to be right is right", () => {
  const { en } = SPEC.words;
  const [longer, price, shorter] = SPEC.steps.map(({ before, state, right }) => ({ before: shown(before), after: shown(state), right }));
  assert.ok(Math.abs(longer.after.lost.windows - 0.4) < 0.03 && longer.right === 2 && en.step_1_answer_3 === "About 40 %");
  assert.ok(en.step_1_question.includes(percent(longer.before.lost.windows)));
  const { lost, work } = price.after;
  assert.ok(Math.abs(lost.losses / lost.windows - 0.5) < 0.05, "half as much");
  assert.ok(work.losses === 6 * work.windows && price.right === 2 && en.step_2_answer_3 === "6 times");
  for (const way of WAYS) assert.ok(shorter.after.lost[way] < 0.6 * shorter.before.lost[way]);
  assert.equal(shorter.right, 0);
  for (const { factor } of [shorter.before, shorter.after]) assert.ok(en.step_3_question.includes(factor.toFixed(2)));
});

test("whatever the controls are set to, no number is lost", () => {
  const rules = rulesOf(SPEC.controls);
  for (const radius of [0.5, 1.1]) for (const tau of [1, 7, 12]) {
    assert.ok(rules.tau(tau) === tau && rules.radius(radius) === radius);
    const found = shown({ radius, tau });
    assert.ok([...Object.values(found.lost), found.factor, ...found.byReach, ...found.sizes].every(Number.isFinite));
  }
});

test("shares have as many places as they need", () => {
  assert.deepEqual([0.5, 0.0996, 0.0312, 0.0004, 0.00001].map(percent), ["50 %", "10 %", "3.1 %", "0.04 %", "under 0.01 %"]);
});
