// Clipping in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { told } from "../../src/d2lrnn/widgets/clipping/index.mjs";
import { brief, derive, FEW, lossAt, pathFrom, RATE, signed, slopeAt, slopeIn, stepsDown, STEPS } from "../../src/d2lrnn/widgets/clipping/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const CASES = read("./clipping_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/clipping/spec.json");
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("lengths, parts, angles, paths, numbers of steps and sentences are those of Python's Clipping", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, length, clipped, angle, paths, steps_down, sentence } of CASES) {
    const model = derive({ ...settings, clips: true });
    close(model.length, length);
    close(model.angle, angle);
    model.clipped.forEach((part, i) => close(part, clipped[i]));
    [model.free, model.kept].forEach((path, i) => {
      assert.equal(path.length, paths[i].length);
      path.forEach((x, k) => close(x, paths[i][k]));
    });
    assert.deepEqual([model.freeDown, model.keptDown], steps_down);
    assert.equal(told(model, t), sentence);
  }
});

test("the norm never exceeds the threshold and keeps its direction; no value exceeds it and keeps its sign", () => {
  for (let g_1 = -60; g_1 <= 60; g_1 += 15) for (let g_2 = -60; g_2 <= 60; g_2 += 15) for (const clip of [0.5, 20, 70]) {
    const [norm, value] = ["norm", "value"].map((by) => derive({ start: 1, letters: FEW, g_1, g_2, clip, by }));
    assert.ok(norm.clippedLength <= clip + 1e-9);
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

const { choices: LETTERS } = SPEC.controls.letters;
const MANY = LETTERS[1];
const of = (start, clip, clips = true, letters = FEW) => derive({ start, letters, clip, g_1: 40, g_2: 30, by: "norm", clips });

test("the ball that is not clipped is told alone until steps are clipped", () => {
  const t = translator("en", SPEC.words);
  assert.equal(told(of(1.13, 10, false), t), "No limit: the ball flies over the valley and needs 1\u202f554 steps down. Try limit 10.");
  assert.equal(told(of(1.05, 10, false), t), "With no limit, the ball comes down in 3 steps.");
  assert.equal(told(of(0.7, 10, false), t), "Here the slope is small: with no limit, the ball needs 26 steps.");
  for (const level of [0, 1]) assert.equal(told(of(level, 10, false), t), told(of(level, 10), t));
});

test("the loss is that of a state multiplied by one weight at every letter, its slope is that of the loss, and no step is longer than the limit lets it", () => {
  for (const letters of LETTERS) for (let weight = -0.06; weight <= 1.14; weight += 0.03) {
    let state = 1;
    for (let letter = 0; letter < letters; letter += 1) state *= weight;
    close(lossAt(weight, letters), 0.5 * (state - 1) ** 2);
    const slope = (lossAt(weight + 1e-6, letters) - lossAt(weight - 1e-6, letters)) / 2e-6;
    assert.ok(Math.abs(slope - slopeAt(weight, letters)) < 1e-5 * Math.max(1, Math.abs(slope)), `${weight}`);
  }
  for (const letters of LETTERS) {
    const path = pathFrom(1.13, letters, 10);
    assert.equal(path.length, STEPS + 1);
    path.slice(1).forEach((weight, i) => close(Math.abs(weight - path[i]), RATE * Math.min(10, Math.abs(slopeAt(path[i], letters)))));
  }
});

test("with no limit, one step from the wall leads over the valley, and the higher the start, the farther; then it only creeps back", () => {
  let before = 1;
  for (let i = 101; i <= 114; i += 1) {
    const { free, freeEnd } = of(i / 100, 10);
    assert.ok(free[1] < before && free[1] > 0, "in the picture");
    before = free[1];
    assert.ok(free.slice(2).every((weight, k) => weight >= free[k + 1] && weight <= 1), "towards the valley, never beyond it");
    assert.equal(freeEnd, i <= 108 ? "rest" : "thrown");
  }
  assert.ok(of(1.13, 10).free.slice(2).every((weight, k, all) => weight - (all[k - 1] ?? of(1.13, 10).free[1]) < 1e-4), "stuck");
});

test("a ball on either side: what clipping makes of it, and the sentence tells how it ends", () => {
  const found = new Set();
  for (let i = 0; i <= 114; i += 2) for (let k = 1; k <= 140; k += 3) {
    const { start, kept, keptEnd, keptDown, freeDown, freeEnd, cuts, clip } = of(i / 100, k / 2);
    assert.ok(kept.every((weight) => weight >= 0 && weight <= Math.max(1, start)) && kept.length === STEPS + 1, `${start} ${clip}`);
    assert.equal(keptEnd === "rest", lossAt(kept.at(-1), FEW) < 0.005);
    if (keptEnd === "rest") kept.forEach((weight, step) => assert.equal(lossAt(weight, FEW) < 0.005, step >= keptDown, "down, it stays"));
    if (keptEnd === "wall") assert.ok(clip < 2 && keptDown <= 27 && cuts, "safe but slow");
    if (keptEnd === "thrown") assert.ok(clip > 28 && start > 1.08 && kept[1] < 0.81 && (keptDown ?? Infinity) > STEPS);
    if (keptEnd === "plateau") assert.ok(kept.every((weight) => Math.abs(slopeAt(weight, FEW)) < 3), "where the slope is small");
    if (start < 0.9 && start > 0 && clip >= 3) assert.ok(!cuts && keptDown === freeDown, "on the plateau, a limit changes nothing");
    found.add(cuts ? `${freeEnd} ${keptEnd}` : `same ${keptEnd}`);
  }
  assert.deepEqual([...found].sort(), [
    "plateau plateau", "rest plateau", "rest rest", "rest wall", "same plateau", "same rest", "same thrown", "thrown rest", "thrown thrown", "thrown wall",
  ]);
});

test("for 20 letters every step stays in the picture; where the ball does not rest, it is not said to be down", () => {
  const found = new Set();
  for (let i = 0; i <= 114; i += 3) for (let k = 1; k <= 140; k += 6) {
    const { start, highest, free, freeEnd, freeDown, kept, keptEnd, keptDown, cuts } = of(i / 100, k / 2, true, MANY);
    assert.equal(start, Math.min(i / 100, highest));
    for (const [path, end, down] of [[free, freeEnd, freeDown], [kept, keptEnd, keptDown]]) {
      assert.ok(path.every((weight) => weight >= 0 && weight <= Math.max(start, 1.06)), `${i} ${k}`);
      const lows = path.map((weight) => lossAt(weight, MANY) < 0.005);
      assert.equal(end === "rest", down !== null && down <= STEPS);
      if (end === "rest") lows.forEach((low, step) => assert.equal(low, step >= down, "down, it stays"));
      if (end === "swings") assert.ok(down === null && Math.min(...path) < 1 && Math.max(...path.slice(1)) > 1);
      if (end === "wall") assert.ok(path.every((weight) => weight > 1));
      if (end === "thrown") assert.ok(path[0] > 1 && path.at(-1) < 1);
    }
    if (i % 100 !== 0) found.add(`now_free_${freeEnd}`).add(`now_${cuts ? "kept" : "same"}_${keptEnd}`);
  }
  for (const key of found) assert.ok(key in SPEC.words.en, key);
  for (const key of ["free_swings", "free_thrown", "kept_rest", "kept_swings", "kept_thrown", "same_swings"]) assert.ok(found.has(`now_${key}`), key);
  assert.equal(stepsDown(0.5, MANY), null);
});

test("the guided steps: what is said to be right is right", () => {
  const [jump, large, letters] = SPEC.steps;
  const words = SPEC.words.en;
  assert.ok(words.how_note.includes(`slope × ${RATE}`.replaceAll(" ", "\u00a0")) && FEW === LETTERS[0]);
  for (const { before, state } of [jump, large]) assert.deepEqual([before.start, before.clip, before.letters, state.start, state.letters], [1.13, 10, FEW, 1.13, FEW]);

  const { free } = of(jump.state.start, jump.state.clip);
  assert.ok(jump.right === 1 && free[1].toFixed(2) === "0.41" && free.at(-1) - free[1] < 0.001 && free.length === 11);
  assert.deepEqual([slopeAt(free[0], FEW), slopeAt(free[1], FEW)].map(slopeIn), ["72", "0.0033"]);

  assert.ok(words.step_2.includes(` ${large.state.clip}?`) && words.step_2_question.includes(`limit of ${large.state.clip}?`));
  assert.ok(words.step_2_question.includes(`a limit of ${large.before.clip}, the ball comes down`));
  assert.deepEqual([10, 60, SPEC.controls.clip.min].map((clip) => of(1.13, clip).keptDown), [3, 208, 25]);
  const thrown = of(large.state.start, large.state.clip);
  assert.ok(thrown.keptEnd === "thrown" && thrown.kept[1] < 1 && large.right === 2);

  const [short, long] = [letters.before, letters.state].map((state) => derive({ ...of(1, 10), ...state }));
  assert.deepEqual([short.letters, long.letters, short.start, short.clip, short.clips, long.clips], [FEW, MANY, long.start, long.clip, false, true]);
  assert.deepEqual([short.freeDown, short.keptDown, long.freeDown, long.keptDown], [3, 9, null, 10]);
  assert.ok(long.freeEnd === "thrown" && letters.right === 2 && words.step_3_question.includes(`${FEW} letters`) && words.step_3_question.includes(`${MANY}?`));
  assert.ok(words.step_3_outcome.includes("w²⁰ is w¹⁰ squared") && MANY === 2 * FEW);
  assert.deepEqual([short, long].map(({ slope }) => slopeIn(slope)), ["9.8", "84"]);
  for (let weight = 0.1; weight < 0.85; weight += 0.05) assert.ok(Math.abs(slopeAt(weight, MANY)) < Math.abs(slopeAt(weight, FEW)), "a flatter plateau");
  for (let weight = 1.01; weight < 1.14; weight += 0.01) assert.ok(slopeAt(weight, MANY) > slopeAt(weight, FEW), "a steeper wall");
});

test("numbers are short", () => {
  assert.deepEqual([0.5, 10, 0.1, 0.345, 1.13].map((value) => brief(value)), ["0.5", "10", "0.1", "0.345", "1.13"]);
  assert.deepEqual([71.93, -0.00334, 2146.2, 0, -4e-12].map(slopeIn), ["72", "0.0033", "2146", "0", "< 0.0001"]);
});

test("signs are true ones, and zero has none", () => {
  assert.deepEqual([signed(-1.25), signed(-0.01), signed(0.04), signed(2, 2)], ["−1.3", "0.0", "0.0", "2.00"]);
});

test("a link may set what the controls may", () => {
  const rules = rulesOf(SPEC.controls);
  for (const { settings } of CASES) for (const [name, value] of Object.entries(settings)) assert.equal(rules[name](value), value);
});
