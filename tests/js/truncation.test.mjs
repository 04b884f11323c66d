// Truncated backpropagation through time in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence, wayBack } from "../../src/d2lrnn/widgets/truncation/index.mjs";
import { NUM_STEPS, angleDegrees, derive, firstKept, isKept, percent } from "../../src/d2lrnn/widgets/truncation/maths.mjs";
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

test("the way back of one loss is what is kept of its row, in numbers and words", () => {
  const t = translator("en", SPEC.words);
  for (const way of SPEC.controls.way.choices) for (const tau of [1, 6, 7, 24]) for (let loss = 0; loss < NUM_STEPS; loss += 1) {
    const kept = Array.from({ length: loss + 1 }, (_, i) => i).filter((i) => isKept(loss, i, tau, way));
    assert.equal(firstKept(loss, tau, way), kept[0]);
    assert.equal(kept.length, loss + 1 - kept[0]);
    const told = wayBack({ tau, way }, loss).map((part) => t(...part)).join(" ");
    assert.ok(kept[0] === 0 ? told.endsWith("None of its routes is lost.") : told.includes(`${kept[0]} `) && told.endsWith("lost."), told);
  }
});

test("the factor of a step back is the mean one of all routes", () => {
  const { sizes, factor } = shown();
  const steps = sizes.flatMap((row) => row.slice(1).map((size, i) => Math.log(row[i] / size)));
  close(factor, Math.exp(steps.reduce((sum, step) => sum + step, 0) / steps.length), "factor");
  const [slow, fast] = [shown({ radius: 0.9 }), shown({ radius: 0.5 })];
  assert.ok(fast.factor < 0.55 && slow.factor > 0.7 && slow.factor < 0.9);
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
