// Clipping in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { told } from "../../src/d2lrnn/widgets/clipping/index.mjs";
import { derive, EDGE, lossAt, pathFrom, signed, slopeAt, STEPS, stepsDown } from "../../src/d2lrnn/widgets/clipping/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const STEEP = Math.sqrt(8); // beyond it a step that is not clipped ends higher: there the slope is 2 x
const CASES = read("./clipping_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/clipping/spec.json");
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("lengths, parts, angles, paths and sentences are those of Python's Clipping", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, length, clipped, angle, paths, sentence } of CASES) {
    const model = derive({ ...settings, clips: true });
    close(model.length, length);
    close(model.angle, angle);
    model.clipped.forEach((part, i) => close(part, clipped[i]));
    [model.free, model.kept].forEach((path, i) => {
      assert.equal(path.length, paths[i].length);
      path.forEach((x, k) => close(x, paths[i][k]));
    });
    assert.equal(told(model, t), sentence);
  }
});

test("the norm never exceeds the threshold and keeps its direction; no value exceeds it and keeps its sign", () => {
  for (let g_1 = -6; g_1 <= 6; g_1 += 1.5) for (let g_2 = -6; g_2 <= 6; g_2 += 1.5) for (const clip of [0.1, 2, 7]) {
    const [norm, value] = ["norm", "value"].map((by) => derive({ start: 1, g_1, g_2, clip, by }));
    assert.ok(norm.clippedLength <= clip + 1e-12);
    close(g_1 * norm.clipped[1], g_2 * norm.clipped[0]);
    assert.ok(g_1 * norm.clipped[0] + g_2 * norm.clipped[1] >= 0);
    assert.ok(value.clipped.every((part) => Math.abs(part) <= clip) && value.angle >= 0 && value.angle < 45);
    assert.ok(g_1 * value.clipped[0] >= 0 && g_2 * value.clipped[1] >= 0);
    for (const model of [norm, value]) assert.equal(model.acts, model.clippedLength < model.length);
  }
});

test("a number below zero has a true minus sign, one that is written as zero none", () => {
  assert.deepEqual([-0.5, 0.5, -12, 0, -0.04].map((value) => signed(value)), ["−0.5", "0.5", "−12.0", "0.0", "0.0"]);
  assert.equal(signed(-0.04, 2), "−0.04");
});

const of = (start, clip, clips = true) => derive({ start, clip, g_1: 4, g_2: 3, by: "norm", clips });

test("the ball that is not clipped is told alone until steps are clipped", () => {
  const t = translator("en", SPEC.words);
  assert.equal(told(of(2.9, 2, false), t), "With no limit, step 3 throws the ball out of the valley. Now limit its steps.");
  assert.equal(told(of(2.5, 2, false), t), "With no limit, the ball comes down in 3 steps.");
  assert.equal(told(of(2.828427, 2, false), t), "With no limit, the ball needs 15 steps.");
  assert.equal(told(of(STEEP, 2, false), t), "With no limit, the ball still jumps from wall to wall after ten steps.");
  assert.equal(told(of(STEEP, 7), t), "The limit 7.0 cuts no step: the ball still jumps from wall to wall after ten steps.");
  assert.equal(told(of(0, 2, false), t), told(of(0, 2), t));
});

test("the valley: its slope is that of its loss, and no step is longer than the limit", () => {
  for (let x = -EDGE; x <= EDGE; x += 0.13) assert.ok(Math.abs((lossAt(x + 1e-5) - lossAt(x - 1e-5)) / 2e-5 - slopeAt(x)) < 1e-6, `${x}`);
  for (const x of [-2.9, 0, 1.2]) assert.equal(of(x, 2).slope, Math.abs(slopeAt(x)), "what is told is how steep it is");
  const path = pathFrom(2.9, 2);
  assert.equal(path.length, STEPS + 1);
  path.slice(1).forEach((x, i) => {
    assert.ok(Math.abs(x - path[i]) <= 2 + 1e-12);
    close(Math.abs(x - path[i]), Math.min(2, Math.abs(slopeAt(path[i]))));
  });
});

test("not clipped, each jump ends lower within the square root of 8, and higher beyond it", () => {
  assert.ok(Math.abs(slopeAt(STEEP) - 2 * STEEP) < 1e-12, "from there it jumps to the other side, as high");
  for (let x = 0.05; x < 4; x += 0.05) assert.equal(lossAt(x - slopeAt(x)) < lossAt(x), x < STEEP, `${x}`);
  for (let x = EDGE; x < 1e6; x *= 1.1) assert.ok(Math.abs(x - slopeAt(x)) > x, "out for good");
  for (let i = 1; i <= 40; i += 1) {
    const { free, freeEnd } = of(i / 10, 2);
    assert.equal(freeEnd, i / 10 < STEEP ? "rest" : "out");
    if (freeEnd === "out") free.slice(1).forEach((x, k) => assert.ok(x * free[k] < 0 && lossAt(x) > lossAt(free[k]), "from wall to wall, higher each time"));
  }
  assert.equal(of(2.9, 2).free.length - 1, 3);
});

test("what is clipped never leaves the picture, and the sentence tells how it ends", () => {
  const found = new Set();
  for (let i = -40; i <= 40; i += 1) for (let k = 1; k <= 70; k += 1) {
    const { start, kept, keptEnd, keptDown, freeEnd, cuts, clip } = of(i / 10, k / 10);
    const keptLoss = lossAt(kept.at(-1));
    assert.ok(kept.every((x) => Math.abs(x) < EDGE) && kept.length === STEPS + 1, `${start} ${clip}`);
    assert.equal(keptEnd === "rest", keptLoss < 0.005);
    assert.equal(keptEnd === "rest", keptDown !== null && keptDown <= STEPS);
    if (keptEnd === "rest") kept.forEach((x, step) => assert.equal(lossAt(x) < 0.005, step >= keptDown, "down, it stays"));
    if (keptEnd === "slow") assert.ok(start * kept.at(-1) > 0 && keptLoss < lossAt(start));
    if (keptEnd === "slow") assert.ok(keptDown > STEPS && keptDown <= 39);
    if (keptEnd === "jumps") assert.ok(kept.at(-1) * kept.at(-2) < 0 && Math.abs(kept.at(-1)) > 2 && clip > 5);
    if (freeEnd === "out") assert.ok(cuts);
    found.add(cuts ? `${freeEnd} ${keptEnd}` : `same ${keptEnd}`);
  }
  assert.deepEqual([...found].sort(), ["out jumps", "out rest", "out slow", "rest rest", "rest slow", "same rest"]);
  assert.deepEqual([of(2.828427, 7).keptEnd, of(2.828427, 7).cuts], ["slow", false], "a link may set what the ball does not");
});

test("the guided steps: what is said to be right is right", () => {
  const [why, large, small] = SPEC.steps;
  const words = SPEC.words.en;
  for (const [step, name] of [[large, "step_2"], [small, "step_3"]]) {
    assert.ok(words[name].includes(` ${step.state.clip}?`) && words[`${name}_question`].includes(`limit of ${step.state.clip}?`));
    assert.ok(words[`${name}_question`].includes(`a limit of ${step.before.clip}, the ball comes down`));
    assert.deepEqual([step.before, step.state].map(({ start, clips }) => [start, clips]), [[2.9, true], [2.9, true]]);
    assert.equal(of(step.before.start, step.before.clip).keptDown, 2);
  }
  const jumping = of(large.state.start, large.state.clip);
  assert.deepEqual([jumping.keptEnd, jumping.keptDown, jumping.freeEnd, large.right], ["jumps", null, "out", 2]);
  let place = large.state.start; // for good: after a while it lands where it landed before
  for (let step = 0; step < 200; step += 1) place -= Math.max(-7, Math.min(7, slopeAt(place)));
  const again = place - Math.max(-7, Math.min(7, slopeAt(place)));
  assert.ok(place * again < 0 && Math.abs(again - Math.max(-7, Math.min(7, slopeAt(again))) - place) < 1e-9);
  for (let clip = 0.1; clip < 7; clip += 0.1) { // the valley is 5.8 wide where the ball starts
    const { keptEnd } = of(large.state.start, clip);
    assert.equal(["rest", "slow"].includes(keptEnd), clip < 2 * large.state.start - 0.01, `${clip}: ${keptEnd}`);
  }
  assert.deepEqual([of(small.state.start, small.state.clip).keptEnd, stepsDown(2.9, 0.1), small.right], ["slow", 28, 0]);

  const { free } = of(why.state.start, why.state.clip);
  const slopes = free.slice(0, 3).map((place) => Math.abs(slopeAt(place)));
  assert.deepEqual(slopes.map((size) => size.toFixed(1)), ["6.0", "6.8", "11.0"]);
  slopes.forEach((size, i) => assert.ok(Math.abs(Math.abs(free[i + 1] - free[i]) - size) < 1e-9, "a step as long as the slope"));
  assert.ok(why.right === 1 && slopes[1] > slopes[0] && slopes[2] > slopes[1]);

  assert.ok(free.slice(1).every((x, i) => lossAt(x) > lossAt(free[i])), "each lands higher");
});

test("signs are true ones, and zero has none", () => {
  assert.deepEqual([signed(-1.25), signed(-0.01), signed(0.04), signed(2, 2)], ["−1.3", "0.0", "0.0", "2.00"]);
});

test("a link may set what the controls may", () => {
  const rules = rulesOf(SPEC.controls);
  for (const { settings } of CASES) for (const [name, value] of Object.entries(settings)) assert.equal(rules[name](value), value);
});
