// Truncated backpropagation through time in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/truncation/index.mjs";
import { NUM_LOSSES, WAYS, derive, percent, reachesOf } from "../../src/d2lrnn/widgets/truncation/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { cases } = read("./truncation_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/truncation/spec.json");
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (settings = {}) => derive({ ...DEFAULTS, ...settings });
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

test("a window loses the plain mean of what its losses lose; kept and lost are the whole", () => {
  for (const factor of [0.5, 0.8, 0.95]) for (const tau of [1, 6, 12]) {
    const { lost, byReach, sizes } = shown({ factor, tau });
    const shares = reachesOf(tau, "windows").slice(0, tau).map((reach) => byReach[reach - 1]);
    close(lost.windows, shares.reduce((sum, share) => sum + share, 0) / tau, `windows of ${tau}`);
    const kept = sizes.slice(0, tau).reduce((sum, size) => sum + size, 0) * (1 - factor); // of 1 + a + a² + … = 1 / (1 - a)
    close(kept + lost.losses, 1, "kept + lost");
  }
});

test("whatever the memory, each further step leaves less missing, and from each loss less than in windows", () => {
  const { min, max } = SPEC.controls.factor;
  const falls = (values) => values.slice(1).forEach((value, i) => assert.ok(value < values[i]));
  for (let factor = min; factor <= max + 1e-9; factor += 0.05) {
    const found = Array.from({ length: NUM_LOSSES }, (_, i) => shown({ factor: Math.min(max, factor), tau: i + 1 }));
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

test("the guided steps: what is said to be right is right", () => {
  const { en } = SPEC.words;
  const [longer, price, shorter] = SPEC.steps.map(({ before, state, right }) => ({ before: shown(before), after: shown(state), right }));
  assert.ok(percent(longer.after.lost.windows) === en[`step_1_answer_${longer.right + 1}`]);
  assert.ok(en.step_1_question.includes(percent(longer.before.lost.windows)));
  const { lost, work } = price.after;
  assert.ok(en.step_2_question.includes(percent(lost.losses)));
  assert.ok(work.losses === 6 * work.windows && price.right === 2 && en.step_2_answer_3 === "6 times");
  for (const way of WAYS) assert.ok(shorter.after.lost[way] < 0.6 * shorter.before.lost[way]);
  assert.equal(shorter.right, 0);
  for (const { factor } of [shorter.before, shorter.after]) assert.ok(en.step_3_question.includes(`${factor}`));
});

test("whatever the controls are set to, no number is lost", () => {
  const rules = rulesOf(SPEC.controls);
  for (const factor of [0.5, 0.95]) for (const tau of [1, 7, 12]) {
    assert.ok(rules.tau(tau) === tau && rules.factor(factor) === factor);
    const found = shown({ factor, tau });
    assert.ok([...Object.values(found.lost), ...found.byReach, ...found.sizes].every(Number.isFinite));
  }
});

test("shares have as many places as they need", () => {
  assert.deepEqual([0.5, 0.0996, 0.0312, 0.0004].map(percent), ["50 %", "10 %", "3.1 %", "0.04 %"]);
});
