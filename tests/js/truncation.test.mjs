// Truncated backpropagation through time in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/truncation/index.mjs";
import { NUM_LOSSES, derive, percent, reachesOf } from "../../src/d2lrnn/widgets/truncation/maths.mjs";
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
    assert.deepEqual(found.reaches, reaches, name);
    close(found.lost, lost, `${name} lost`);
    found.curves.losses.forEach((share, i) => close(share, byReach[i], `${name} reach ${i + 1}`));
    assert.equal(t(...sentence(found)), expected);
  }
});

test("in windows the rows reach 1, 2, ... steps; from each loss all reach the same", () => {
  assert.deepEqual(reachesOf(5, "windows"), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
  assert.deepEqual(reachesOf(5, "losses"), Array(NUM_LOSSES).fill(5));
});

test("a window loses the mean square of what its losses lose", () => {
  for (const radius of [0.5, 0.9, 1.1]) {
    const { curves } = shown({ radius });
    assert.equal(curves.windows[0], curves.losses[0]);
    curves.windows.forEach((share, i) => {
      const squares = reachesOf(i + 1, "windows").slice(0, i + 1).map((reach) => curves.losses[reach - 1] ** 2);
      close(share ** 2, squares.reduce((sum, square) => sum + square, 0) / squares.length, `windows of ${i + 1}`);
    });
  }
});

test("whatever the memory, each further step leaves less missing, and from each loss less than in windows", () => {
  const { min, max } = SPEC.controls.radius;
  for (let radius = min; radius <= max + 1e-9; radius += 0.1) {
    const { curves, sizes } = shown({ radius });
    for (const falling of [curves.windows, curves.losses, sizes]) falling.slice(1).forEach((value, i) => assert.ok(value < falling[i]));
    curves.windows.slice(1).forEach((share, i) => assert.ok(share > curves.losses[i + 1]));
  }
});

test("the factor of a step back is the mean one of the columns, and more memory raises it", () => {
  const { sizes, factor } = shown();
  close(sizes[0] * factor ** (NUM_LOSSES - 1), sizes.at(-1), "factor");
  const factors = [0.5, 0.7, 0.9, 1.1].map((radius) => shown({ radius }).factor);
  assert.deepEqual(factors, [...factors].sort((a, b) => a - b));
});

test("the guided steps: what is said to be right is right", () => {
  const [longer, each, shorter] = SPEC.steps.map(({ before, state, right }) => ({ share: shown(state).lost / shown(before).lost, right }));
  assert.ok(longer.share > 0.65 && longer.share < 0.9 && longer.right === 2);
  assert.ok(each.share > 0.45 && each.share < 0.55 && each.right === 2);
  assert.ok(shorter.share < 0.6 && shorter.right === 0);
  const { en } = SPEC.words;
  assert.ok(Math.abs(shown(SPEC.steps[0].state).lost - 0.4) < 0.03 && en.step_1_answer_3 === "About 40 %");
  assert.equal(en.step_2_answer_3, `Half: ${percent(shown(SPEC.steps[1].state).lost)}`);
  const [before, after] = [SPEC.steps[2].before, SPEC.steps[2].state].map((settings) => shown(settings));
  for (const i of [1, 2]) assert.ok(en[`step_${i}_question`].includes(percent(before.lost)));
  assert.ok(en.step_2_answer_2.includes(percent(before.lost)) && en.step_3_answer_1.includes(percent(before.lost)));
  for (const { factor } of [before, after]) assert.ok(en.step_3_question.includes(factor.toFixed(2)));
});

test("whatever the controls are set to, no number is lost", () => {
  const rules = rulesOf(SPEC.controls);
  for (const way of SPEC.controls.way.choices) for (const radius of [0.5, 1.1]) for (const tau of [1, 7, 12]) {
    assert.ok(rules.tau(tau) === tau && rules.radius(radius) === radius && rules.way(way) === way);
    const found = shown({ way, radius, tau });
    assert.ok([found.lost, found.factor, ...found.curves.windows, ...found.curves.losses, ...found.sizes].every(Number.isFinite));
  }
});

test("shares have as many places as they need", () => {
  assert.deepEqual([0.5, 0.0996, 0.0312, 0.0004, 0.00001].map(percent), ["50 %", "10 %", "3.1 %", "0.04 %", "under 0.01 %"]);
});
