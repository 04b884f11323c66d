// Clipping in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { told } from "../../src/d2lrnn/widgets/clipping/index.mjs";
import { brief, derive, FEW, FLAT, goalOf, lossAt, pathFrom, PATIENCE, plateauTo, RATE, runFrom, signed, slopeAt, slopeIn, STEPS } from "../../src/d2lrnn/widgets/clipping/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { cases: CASES, grid: GRID } = read("./clipping_cases.json");
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
  assert.equal(told(of(1.13, 10, false), t), "One step throws the ball onto the plateau: 1\u202f554 steps to the goal. Try slope\u00a0limit\u00a010.");
  assert.equal(told(of(1.05, 10, false), t), "With no limit, the ball reaches the goal in 3 steps, past it and back.");
  const lower = of(1.13, 10, false, MANY); // it would fly out of the picture
  assert.ok(lower.freeEnd === "thrown" && lower.start === 1.05 && told(lower, t).startsWith("The ball starts lower, yet one step throws it onto the plateau: over"));
  assert.ok(told(of(1.13, 10, true, MANY), t).startsWith("The ball starts lower. Slope limited to 10:"));
  assert.equal(told(of(1.02, 10, false), t), "With no limit, the ball reaches the goal in 1 step.");
  assert.equal(told(of(0.7, 10, false), t), "Here the slope is small: with no limit, the ball needs 26 steps to the goal.");
  for (const level of [0, 1, 1.005]) assert.equal(told(of(level, 10, false), t), told(of(level, 10), t));
  assert.equal(told(of(1, 70), t), "The ball is already at the goal.");
  for (const [start, clip, isWorthIt] of [[1.08, 10, false], [1.1, 10, true], [1.13, 70, false], [1.13, 40, false], [1.13, 30, true]]) {
    assert.equal(told(of(start, clip, false), t).includes("Try slope"), isWorthIt, `${start} ${clip}`);
  }
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

test("the goal is where the loss is below 0.005, and the plateau where the slope is below 1", () => {
  assert.ok(SPEC.words.en.plateau.endsWith("slope < {slope}") && FLAT === 1);
  for (const letters of LETTERS) {
    for (const weight of goalOf(letters)) close(lossAt(weight, letters), 0.005);
    const [to, at] = [plateauTo(letters), (weight) => Math.abs(slopeAt(weight, letters))];
    for (let i = 0; i <= 100; i += 1) assert.ok(at((to * i) / 100) < 1.0001);
    assert.ok(at(to) > 0.9999 && at(to + 0.01) > 1 && to < goalOf(letters)[0]);
  }
});

test("with no limit, one step from the wall leads over the valley, and the higher the start, the farther; then it only creeps back", () => {
  let before = 1;
  for (let i = 101; i <= 114; i += 1) {
    const { free, freeEnd } = of(i / 100, 10);
    assert.ok(free[1] < before && free[1] > 0, "in the picture");
    before = free[1];
    assert.ok(free.slice(2).every((weight, k) => weight >= free[k + 1] && weight <= 1), "towards the valley, never beyond it");
    assert.equal(freeEnd, i === 101 || i === 102 ? "rest" : i <= 109 ? "past" : "thrown");
  }
  assert.ok(of(1.13, 10).free.slice(2).every((weight, k, all) => weight - (all[k - 1] ?? of(1.13, 10).free[1]) < 1e-4), "stuck");
});

test("a ball on either side: what clipping makes of it, and the sentence tells how it ends", () => {
  const found = new Set();
  for (let i = 0; i <= 114; i += 2) for (let k = 1; k <= 140; k += 3) {
    const { start, free, kept, keptEnd, keptDown, freeDown, freeEnd, cuts, clip } = of(i / 100, k / 2);
    assert.ok(kept.every((weight) => weight >= 0 && weight <= Math.max(1, start)) && kept.length === STEPS + 1, `${start} ${clip}`);
    const low = start > 1 ? Math.min(...kept) : 1;
    assert.equal(keptEnd === "thrown", low < plateauTo(FEW), "however soon it comes back");
    assert.equal(keptEnd === "past", low >= plateauTo(FEW) && low < goalOf(FEW)[0]);
    assert.equal(keptEnd === "goal", lossAt(start, FEW) < 0.005);
    assert.equal(keptEnd === "rest", keptEnd !== "goal" && low >= goalOf(FEW)[0] && lossAt(kept.at(-1), FEW) < 0.005);
    if (keptDown !== null && keptDown <= STEPS) kept.forEach((weight, step) => assert.equal(lossAt(weight, FEW) < 0.005, step >= keptDown, "down, it stays"));
    if (keptEnd === "wall") assert.ok(clip < 2 && keptDown <= 27 && cuts, "safe but slow");
    for (const [end, path] of [[keptEnd, kept], [freeEnd, free]]) if (end === "thrown") assert.ok(path[1] < plateauTo(FEW), "by the first step");
    if (keptEnd === "thrown") assert.ok(clip > 30 && start > 1.09);
    if (keptEnd === "plateau") assert.ok(kept.every((weight) => Math.abs(slopeAt(weight, FEW)) < 3), "where the slope is small");
    if (start < 0.9 && start > 0 && clip >= 3) assert.ok(!cuts && keptDown === freeDown, "on the plateau, a limit changes nothing");
    found.add(cuts ? `${freeEnd} ${keptEnd}` : `same ${keptEnd}`);
  }
  assert.deepEqual([...found].sort(), [
    "past past", "past rest", "past wall", "plateau plateau", "rest plateau", "rest rest", "same goal", "same past", "same plateau", "same rest", "same thrown",
    "thrown past", "thrown rest", "thrown thrown", "thrown wall",
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
      assert.equal(["rest", "past", "goal"].includes(end), down !== null && down <= STEPS && !(start > 1 && Math.min(...path) < plateauTo(MANY)));
      if (down !== null && down <= STEPS) lows.forEach((low, step) => assert.equal(low, step >= down, "down, it stays"));
      if (end === "swings") assert.ok(down === null && Math.min(...path) < 1 && Math.max(...path.slice(1)) > 1);
      if (end === "wall") assert.ok(path.every((weight) => weight > 1));
      if (end === "thrown") assert.ok(path[0] > 1 && Math.min(...path) < plateauTo(MANY));
    }
    if (i % 100 !== 0) found.add(`now_free_${freeEnd}`).add(`now_${cuts ? "kept" : "same"}_${keptEnd}`);
  }
  for (const key of found) assert.ok(key in SPEC.words.en, key);
  for (const key of ["free_swings", "free_thrown", "kept_rest", "free_late", "kept_swings", "kept_thrown", "kept_late", "kept_uncut", "same_swings", "same_late"]) assert.ok(found.has(`now_${key}`), key);
  assert.equal(runFrom(0.5, MANY).down, null);
});

test("on a fine grid, the way of the clipped ball is told as Python tells it", () => {
  for (const { letters, clip, starts, ends } of GRID) {
    const found = starts.map((start) => {
      const { cuts, keptEnd, keptDown, keptAcross } = of(start, clip, true, letters);
      return `${cuts ? "kept" : "same"}_${keptEnd} ${keptDown ?? "-"} ${keptAcross ?? "-"}`;
    });
    assert.deepEqual(found, ends, `${letters} letters, limit ${clip}`);
  }
});

test("on a fine grid, the reason that is told is true of all the steps that are computed", () => {
  const t = translator("en", SPEC.words);
  const ways = new Set();
  for (const letters of LETTERS) for (let i = 0; i <= 100 * SPEC.controls.letters.highest[LETTERS.indexOf(letters)]; i += 1) for (const clip of [Infinity, 0.5, 1.5, 5, 10, 25, 60]) {
    const start = i / 100;
    const isAlone = clip === Infinity;
    const model = of(start, isAlone ? 10 : clip, !isAlone, letters);
    const [text, leap] = [told(model, t), isAlone ? model.freeLeap : model.keptLeap];
    const place = `${letters} letters, start ${start}, limit ${clip}: ${text}`;
    const [walk, slopes] = [[start], []]; // all the way
    while (walk.length <= PATIENCE) {
      slopes.push(slopeAt(walk.at(-1), letters));
      walk.push(walk.at(-1) - RATE * Math.max(-clip, Math.min(clip, slopes.at(-1))));
    }
    const isOut = (weight) => lossAt(weight, letters) >= 0.005;
    const ups = [...walk.keys()].filter((step) => walk[step - 1] < 1 && walk[step] > 1);
    const came = walk.findIndex((weight) => !isOut(weight));
    const stays = came >= 0 && !walk.slice(came).some(isOut);
    const way = ["is level", "already at", "to and fro", "flies over the valley|throws the ball onto", "slope is small", "only small steps", "past it and back", "reaches the goal in", "the ball needs"]
      .find((words) => new RegExp(words).test(text));
    ways.add(way);
    assert.equal(leap !== null, way === "to and fro", place);
    if (leap !== null) {
      const to = walk.findLastIndex((weight, step) => weight === leap[1] && walk[step - 1] === leap[0]);
      assert.ok(to > PATIENCE - 100 && to <= PATIENCE && leap.some(isOut) && (leap[0] - 1) * (leap[1] - 1) < 0, place);
    }
    if (way === "is level" || way === "already at") {
      assert.ok(way === "is level" ? walk.at(-1) === start && start === 0 : !walk.some(isOut), place);
      continue;
    }
    assert.equal(text.includes("cuts no step:"), !isAlone && slopes.every((slope) => Math.abs(slope) <= clip), place);
    const count = text.match(/ (over )?([\d\u202f]+) steps?(?: to the goal|, past it and back)?\./);
    if (way === "to and fro") {
      const late = text.match(/from step ([\d\u202f]+) on/);
      assert.ok(!stays && ups.length > 2 && count === null, place);
      const isUncut = !slopes.slice(ups[0] - 1).some((slope) => Math.abs(slope) > clip) && slopes.some((slope) => Math.abs(slope) > clip);
      assert.equal(text.includes("cuts no step there"), isUncut, place);
      assert.equal(late === null ? null : Number(late[1].replace("\u202f", "")), ups[0] > STEPS || isUncut ? ups[0] : null, place);
      continue;
    }
    assert.ok(stays || ups.length === 0, place);
    assert.equal(count[1] === undefined, stays, place);
    if (stays) assert.equal(Number(count[2].replace("\u202f", "")), came, place);
    const drawn = walk.slice(0, STEPS + 1);
    const beyond = start > 1 ? (weight) => weight < goalOf(letters)[0] : (weight) => weight > goalOf(letters)[1];
    if (way.startsWith("flies over")) assert.ok(start > 1 && walk[1] < plateauTo(letters), place);
    else assert.ok(start < 1 || Math.min(...drawn) >= plateauTo(letters), place);
    if (["past it and back", "reaches the goal in"].includes(way)) assert.equal(drawn.some(beyond), way === "past it and back", place);
    if (way === "slope is small") assert.ok(start < 1 && !(came <= STEPS && stays) && Math.abs(slopes[0]) < 1.1 && slopes.every((slope) => Math.abs(slope) < 3), place);
    if (way === "only small steps") assert.ok(walk[STEPS] > 1 && slopes.slice(0, STEPS).every((slope) => slope > clip) && clip < 2, place);
    if (way === "reaches the goal in") assert.ok(came <= STEPS, place);
    if (way === "the ball needs") assert.ok(start < 1 && came > STEPS && slopes.some((slope) => Math.abs(slope) > clip), place);
  }
  assert.equal(ways.size, 9);
});

test("a ball is lucky where it rests at 1 alone, and a little beside would not stay", () => {
  const found = new Set();
  for (const letters of LETTERS) for (let i = 90; i <= 105; i += 1) for (let k = 1; k <= 20; k += 1) {
    const { start, keptDown, lucky } = of(i / 100, k / 2, true, letters);
    if (keptDown === 0 || !lucky) continue;
    for (const by of [0.002, 0.0007]) assert.equal(runFrom(start + by, letters, k / 2).down, null, `${start} ${k / 2}`);
    found.add(`${letters} ${start} ${k / 2}`);
  }
  for (const limit of [1, 5]) assert.ok(found.has(`${MANY} 1.05 ${limit}`));
  assert.ok(![...found].some((one) => one.startsWith(FEW) || one.endsWith(" 0.5")));
});

test("the guided steps: what is said to be right is right", () => {
  const [jump, large, letters] = SPEC.steps;
  const words = SPEC.words.en;
  assert.equal(FEW, LETTERS[0]);
  for (const { before, state } of [jump, large]) assert.deepEqual([before.start, before.clip, before.letters, state.start, state.letters], [1.13, 10, FEW, 1.13, FEW]);

  const { free } = of(jump.state.start, jump.state.clip);
  assert.ok(jump.right === 1 && free[1].toFixed(2) === "0.41" && free.at(-1) - free[1] < 0.001 && free.length === 11);
  assert.deepEqual([slopeAt(free[0], FEW), slopeAt(free[1], FEW)].map(slopeIn), ["72", "0.0033"]);

  assert.ok(words.step_2.includes(` ${large.state.clip}?`) && words.step_2_question.includes(`limit of ${large.state.clip}?`));
  assert.ok(words.step_2_question.includes(`a limit of ${large.before.clip}, the ball reaches the goal`));
  assert.deepEqual([10, 60, SPEC.controls.clip.min].map((clip) => of(1.13, clip).keptDown), [3, 208, 25]);
  const needs = Array.from({ length: 140 }, (_, i) => of(1.13, (i + 1) / 2).keptDown);
  assert.ok(Math.min(...needs) === 1 && needs[26] === 1 && needs[139] === 1078, "the fewest at 13.5, where the first step ends at the goal");
  const thrown = of(large.state.start, large.state.clip);
  assert.ok(thrown.keptEnd === "thrown" && thrown.kept[1] < 1 && large.right === 2);

  const [short, long] = [letters.before, letters.state].map((state) => derive({ ...of(1, 10), ...state }));
  assert.deepEqual([short.letters, long.letters, short.start, short.clip, short.clips, long.clips], [FEW, MANY, long.start, long.clip, false, false]);
  assert.deepEqual([short.freeDown, short.keptDown, long.freeDown, long.keptDown], [3, 9, null, 10]);
  assert.ok(long.freeEnd === "thrown" && letters.right === 2 && words.step_3_question.includes(`${FEW} letters`) && long.start < large.state.start && words.step_3_question.includes(`${MANY}?`));
  assert.ok(words.step_3.includes("Twice") && MANY === 2 * FEW);
  assert.deepEqual([short, long].map(({ slope }) => slopeIn(slope)), ["9.8", "84"]);
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
