// Clipping in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence } from "../../src/d2lrnn/widgets/clipping/index.mjs";
import { derive, lossAt, placeOf, signed } from "../../src/d2lrnn/widgets/clipping/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const CASES = read("./clipping_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/clipping/spec.json");
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("lengths, parts, angles and sentences are those of Python's Clipping", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, length, clipped, angle, sentence: expected } of CASES) {
    const model = derive(settings);
    close(model.length, length);
    close(model.angle, angle);
    model.clipped.forEach((part, i) => close(part, clipped[i]));
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
  const step = (g_1, clip = 2) => derive({ g_1, g_2: 0, clip, by: "norm" });
  for (let length = 0.1; length <= 8.4; length += 0.1) {
    assert.ok(Math.abs(slopeAt(placeOf(length)) - length) < 1e-4 * length, `${length}`);
    const { from, free, kept } = step(length);
    close(free, from - length);
    close(kept, from - Math.min(length, 2));
    if (length > 4.4) assert.ok(lossAt(free) > lossAt(from), `${length}`);
    assert.ok(lossAt(kept) < lossAt(from), `${length}`);
  }
  assert.ok(slopeAt(step(0).from) < 0.005);
  const tiny = step(0.25); // on the plateau, and it stays there
  assert.ok(tiny.from > 1 && lossAt(tiny.free) > 0.95 * lossAt(tiny.from) && lossAt(tiny.from) > 10 * lossAt(-0.5));
});

test("a step that is turned has no place on the line along the gradient", () => {
  assert.equal(derive({ g_1: 4.8, g_2: 1, clip: 1, by: "value" }).kept, null);
  for (const by of ["norm", "value"]) {
    const { from, kept, clippedLength } = derive({ g_1: 4, g_2: 4, clip: 1, by });
    close(from - kept, clippedLength);
  }
});

test("the guided steps: what is said to be right is right", () => {
  const [twice, each, tiny] = SPEC.steps;
  const [before, after] = [derive(twice.before), derive(twice.state)];
  close(after.length, 2 * before.length);
  close(after.clippedLength, before.clippedLength);
  after.clipped.forEach((part, i) => close(part, before.clipped[i]));
  assert.equal(twice.right, 1);
  const turned = derive(each.state);
  assert.ok(derive(each.before).angle === 0 && turned.angle > 30 && turned.clipped[0] === turned.clipped[1] && each.right === 1);
  assert.ok(!derive(tiny.state).acts && tiny.right === 2);
});

test("signs are true ones, and zero has none", () => {
  assert.deepEqual([signed(-1.25), signed(-0.01), signed(0.04), signed(2, 2)], ["−1.3", "0.0", "0.0", "2.00"]);
});

test("a link may set what the controls may", () => {
  const rules = rulesOf(SPEC.controls);
  for (const { settings } of CASES) for (const [name, value] of Object.entries(settings)) assert.equal(rules[name](value), value);
});
