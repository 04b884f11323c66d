// Clipping in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/clipping/index.mjs";
import { derive, lossAt, placeOf, signed, slopeAtPlace, stepFrom } from "../../src/d2lrnn/widgets/clipping/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const CASES = read("./clipping_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/clipping/spec.json");
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("lengths, parts, angles and sentences are those of Python's Clipping", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, length, clipped, angle, losses, sentence: expected } of CASES) {
    const model = derive(settings);
    close(model.length, length);
    close(model.angle, angle);
    model.clipped.forEach((part, i) => close(part, clipped[i]));
    [model.loss, model.freeLoss, model.keptLoss].forEach((loss, i) => close(loss, losses[i]));
    assert.equal(t(...sentence(model)), expected);
  }
});

test("the norm never exceeds the threshold and keeps its direction; no value exceeds it and keeps its sign", () => {
  for (let g_1 = -6; g_1 <= 6; g_1 += 1.5) for (let g_2 = -6; g_2 <= 6; g_2 += 1.5) for (const clip of [0.5, 2, 5]) {
    const [norm, value] = ["norm", "value"].map((by) => derive({ g_1, g_2, clip, by }));
    assert.ok(norm.clippedLength <= clip + 1e-12);
    close(g_1 * norm.clipped[1], g_2 * norm.clipped[0]);
    assert.ok(g_1 * norm.clipped[0] + g_2 * norm.clipped[1] >= 0);
    assert.ok(value.clipped.every((part) => Math.abs(part) <= clip) && value.angle < 45);
    assert.ok(g_1 * value.clipped[0] >= 0 && g_2 * value.clipped[1] >= 0);
    for (const model of [norm, value]) assert.equal(model.acts, model.clippedLength < model.length);
  }
});

test("the example: its slope is the gradient's length; a long step makes the loss rise, a clipped one makes it fall", () => {
  const slopeAt = (u) => (lossAt(u + 1e-5) - lossAt(u - 1e-5)) / 2e-5;
  for (let u = -8; u < 3; u += 0.13) assert.ok(Math.abs(slopeAt(u) - slopeAtPlace(u)) < 1e-4, `${u}`);
  const step = (g_1, clip = 2) => derive({ g_1, g_2: 0, clip, by: "norm" });
  assert.ok(Math.abs(slopeAt(-1e-4) - slopeAt(1e-4)) < 0.01, "smooth");
  for (let length = 0.1; length <= 8.4; length += 0.1) {
    assert.ok(Math.abs(slopeAt(placeOf(length)) - length) < 1e-4 * length, `${length}`);
    assert.ok(Math.abs(slopeAtPlace(placeOf(length)) - length) < 1e-9, `${length}`);
    const { from, free, kept, loss, freeLoss, keptLoss } = step(length);
    close(free, from - length);
    close(kept, from - Math.min(length, 2));
    if (length > 4.7) assert.ok(freeLoss > loss, `${length}`);
    assert.ok(keptLoss < loss, `${length}`);
  }
  assert.ok(slopeAt(step(0).from) < 0.005);
  const tiny = step(0.25); // on the plateau, and it stays there
  assert.ok(tiny.from > 1 && tiny.freeLoss > 0.95 * tiny.loss && tiny.loss > 10 * lossAt(-0.74));
});

test("a turned step goes partly along the gradient and partly sideways, where the example is flat", () => {
  for (const [g_1, g_2] of [[4.8, 1], [-6, 0.3], [2, -5]]) {
    const { from, kept, sideways, clippedLength, angle } = derive({ g_1, g_2, clip: 1, by: "value" });
    close(Math.hypot(from - kept, sideways), clippedLength);
    close(Math.atan2(sideways, from - kept), (angle * Math.PI) / 180);
  }
  for (const by of ["norm", "value"]) {
    const { from, kept, clippedLength, sideways } = derive({ g_1: 4, g_2: 4, clip: 1, by });
    close(from - kept, clippedLength);
    close(sideways, 0);
  }
  assert.equal(derive({ g_1: 0, g_2: 0, clip: 1, by: "value" }).fate, "none");
});

test("the sentence tells the numbers that it names", () => {
  const found = new Set();
  for (let g_1 = -6; g_1 <= 6; g_1 += 0.75) for (const g_2 of [-6, -0.3, 0, 0.02, 3]) for (const clip of [0.5, 1, 2, 5]) for (const by of ["norm", "value"]) {
    const { fate, acts, loss, freeLoss, keptLoss, kept, free, length } = derive({ g_1, g_2, clip, by });
    found.add(fate);
    if (fate === "saves") assert.ok(acts && freeLoss > loss && keptLoss < loss && free < -0.74, "over the valley");
    if (fate === "still") assert.ok(acts && freeLoss > loss && keptLoss >= loss - 0.005);
    if (fate === "both") assert.ok(acts && freeLoss <= loss && keptLoss < loss);
    if (fate.startsWith("within")) assert.ok(!acts && kept - free < 1e-12 && length > 0);
  }
  assert.deepEqual([...found].sort(), ["both", "none", "saves", "still", "within_falls", "within_rises", "within_same"].sort());
});

test("the guided steps: what is said to be right is right", () => {
  const [twice, tiny, which] = SPEC.steps;
  const [before, after] = [derive(twice.before), derive(twice.state)];
  close(after.length, 2 * before.length);
  close(after.clippedLength, before.clippedLength);
  after.clipped.forEach((part, i) => close(part, before.clipped[i]));
  assert.equal(twice.right, 1);
  assert.ok(after.loss < before.loss && after.keptLoss > before.keptLoss + 0.1 && after.kept < before.kept && before.kept < -0.74, "further up the other side");
  assert.ok(!derive(tiny.state).acts && tiny.right === 2);
  const once = derive({ ...which.state, clip: 0.5 });
  close(stepFrom(once.from, 0.5), once.kept);
  assert.ok(lossAt(stepFrom(once.kept, 0.5)) < once.keptLoss - 0.5, "a second step brings it down");
  const limits = [0.5, 1, 5].map((clip) => derive({ ...which.state, clip }).keptLoss);
  assert.equal(limits.indexOf(Math.min(...limits)), which.right);
  assert.ok(which.state.clip === 1 && limits[1] - lossAt(-0.74) < 0.05 && derive(which.before).keptLoss > limits[1]);
});

test("signs are true ones, and zero has none", () => {
  assert.deepEqual([signed(-1.25), signed(-0.01), signed(0.04), signed(2, 2)], ["−1.3", "0.0", "0.0", "2.00"]);
});

test("a link may set what the controls may", () => {
  const rules = rulesOf(SPEC.controls);
  for (const { settings } of CASES) for (const [name, value] of Object.entries(settings)) assert.equal(rules[name](value), value);
});
