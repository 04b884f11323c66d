// Truncated backpropagation through time in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/truncation/index.mjs";
import { NUM_STEPS, angleDegrees, derive, isKept, percent } from "../../src/d2lrnn/widgets/truncation/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { network, cases } = read("./truncation_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/truncation/spec.json");
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (settings = {}) => derive({ ...DEFAULTS, ...settings, network });
const close = (a, b, name) => assert.ok(Math.abs(a - b) <= 1e-8 * Math.max(1, Math.abs(b)), `${name}: ${a} is not ${b}`);

test("what is kept, what is missing, angle and sentence are those of Python's Truncation", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, kept, lost, angle, lengths, sentence: expected } of cases) {
    const found = shown(settings);
    const name = JSON.stringify(settings);
    assert.equal(found.kept, kept, name);
    close(found.lost, lost, `${name} lost`);
    assert.ok(Math.abs(found.angle - angle) < 1e-6, `${name} angle`);
    close(found.lengths.whole, lengths[0], `${name} whole`);
    close(found.lengths.rest, lengths[1], `${name} rest`);
    assert.equal(t(...sentence(found, t)), expected);
  }
});

test("windows keep their own routes, each loss its last ones, and both agree at the ends", () => {
  for (const tau of [1, 24]) assert.equal(shown({ tau }).lost, shown({ tau, way: "losses" }).lost);
  assert.equal(shown({ tau: 1 }).kept, NUM_STEPS);
  assert.equal(shown({ tau: 24 }).kept, (NUM_STEPS * (NUM_STEPS + 1)) / 2);
  assert.deepEqual([isKept(6, 5, 6, "windows"), isKept(6, 5, 6, "losses"), isKept(6, 0, 6, "losses"), isKept(11, 6, 6, "windows")],
    [false, true, false, true]);
  for (const tau of [2, 3, 4, 6, 8, 12]) assert.equal(shown({ tau }).kept, (NUM_STEPS * (tau + 1)) / 2, "(tau + 1)/2 uses for each loss");
});

test("a further step from each loss leaves less missing where the gradient fades", () => {
  for (const radius of [0.5, 0.9]) {
    const missing = [1, 2, 4, 8, 16, 23].map((tau) => shown({ tau, radius, way: "losses" }).lost);
    assert.deepEqual(missing, [...missing].sort((a, b) => b - a));
    assert.ok(missing.at(-1) < 0.02);
  }
});

test("the guided steps: what is said to be right is right", () => {
  const [back, each, shorter] = SPEC.steps;
  assert.equal(shown(back.state).kept / NUM_STEPS, 6.5);
  assert.equal(back.right, 1);
  assert.ok(shown(each.state).lost < shown(each.before).lost / 2 && each.right === 2);
  assert.ok(shown(shorter.state).lost < 0.6 * shown(shorter.before).lost && shorter.right === 0);
});

test("whatever the controls are set to, no number is lost", () => {
  const rules = rulesOf(SPEC.controls);
  for (const way of SPEC.controls.way.choices) for (const radius of [0.5, 1.1]) for (const tau of [1, 7, 24]) {
    assert.ok(rules.tau(tau) === tau && rules.radius(radius) === radius && rules.way(way) === way);
    const found = shown({ way, radius, tau });
    assert.ok([found.lost, found.angle, found.largest, ...found.sizes.flat()].every(Number.isFinite));
  }
});

test("angles are exact, shares have as many places as they need", () => {
  assert.ok(Math.abs(angleDegrees([1, 0], [0, 2]) - 90) < 1e-12 && angleDegrees([0, 0], [1, 0]) === null);
  assert.deepEqual([0, 0.5, 0.0996, 0.0312, 0.0004, 0.00001].map(percent), ["0 %", "50 %", "10 %", "3.1 %", "0.04 %", "under 0.01 %"]);
});
