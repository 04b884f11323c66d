// The scan: schedules, states, precisions and counts are Python's to the last bit; the tree is what its definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  MAX_FACTOR, MAX_INPUT, MAX_STEPS, METHODS, MIN_STEPS, PRESETS, RULES, counts, formatDifference, formatValue, inputWeights,
  kin, largestDifferences, layout, loopStates, presetOf, presetValues, repair, resized, scanLevels, scanTrace,
} from "../../src/d2lrnn/widgets/scan/index.mjs";
import { decodeLink, encodeLink } from "../../src/d2lrnn/widgets/ui.mjs";

const CASES = JSON.parse(readFileSync(new URL("./scan_cases.json", import.meta.url), "utf8"));

/** All lengths and schedules: { numSteps, method, levels }. */
const SCHEDULES = METHODS.flatMap((method) =>
  Array.from({ length: MAX_STEPS - MIN_STEPS + 1 }, (_, i) => i + MIN_STEPS)
    .map((numSteps) => ({ numSteps, method, levels: scanLevels(numSteps, method) })));

function randomNumbers(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

test("the levels are those of d2lrnn.scan.scan_levels", () => {
  assert.equal(CASES.levels.length, SCHEDULES.length);
  for (const { num_steps, method, levels } of CASES.levels) {
    const found = scanLevels(num_steps, method).map(({ distance, targets }) => [distance, targets.map((t) => [t - distance, t])]);
    assert.deepEqual(found, levels, `${method} ${num_steps}`);
  }
});

test("states by loop and scan, in both precisions, and all levels are those of Python, bit for bit", () => {
  assert.ok(CASES.states.length >= 30);
  for (const { a, x, method, loop, scan, loop32, scan32, differences, trace } of CASES.states) {
    const levels = scanLevels(a.length, method);
    assert.deepEqual(loopStates(a, x), loop);
    assert.deepEqual(loopStates(a, x, Math.fround), loop32);
    assert.deepEqual(scanTrace(a, x, levels).at(-1).b, scan);
    assert.deepEqual(scanTrace(a, x, levels, Math.fround).at(-1).b, scan32);
    assert.deepEqual(scanTrace(a, x, levels).map(({ a: factors, b }) => ({ a: factors, b })), trace);
    assert.deepEqual(largestDifferences(a, x, levels), differences);
  }
  assert.ok(CASES.states.some(({ differences }) => differences.float32 > 1e-7), "some round differently");
});

test("weights, depths, work and products are those of Python, and the weights add up to the state", () => {
  for (const { a, x, method, place, loop, weights, depths, work, multiplications } of CASES.states) {
    const found = inputWeights(a, place - 1);
    assert.equal(found.length, place);
    const close = (value, expected) => assert.ok(Math.abs(value - expected) <= 1e-12 * Math.max(1, Math.abs(expected)), `${value} ${expected}`);
    found.forEach((weight, s) => close(weight, weights[s]));
    close(found.reduce((sum, weight, s) => sum + weight * x[s], 0), loop[place - 1]);
    const { loop: byLoop, scan: byScan } = counts(a.length, scanLevels(a.length, method), a.length - 1);
    assert.deepEqual([byLoop.turns, byLoop.work, byLoop.products], [depths.loop, work.loop, multiplications.loop]);
    assert.deepEqual([byScan.turns, byScan.work, byScan.products], [depths.scan, work.scan, multiplications.scan]);
  }
});

test("what is combined adjoins, and at the end every place reaches back to the first", () => {
  for (const { numSteps, levels, method } of SCHEDULES) {
    const trace = scanTrace(Array(numSteps).fill(1), Array(numSteps).fill(1), levels);
    levels.forEach(({ distance, targets }, i) => {
      for (const t of targets) assert.equal(trace[i].from[t], t - distance + 1, `${method} ${numSteps}, level ${i + 1}, ${t}`);
    });
    assert.ok(trace.at(-1).from.every((from) => from === 0));
    for (const { b, from } of trace) b.forEach((count, t) => assert.equal(count, t - from[t] + 1, "ones count the inputs"));
    assert.ok(levels.length <= numSteps - 1, "never deeper than the loop");
  }
});

test("depth and work have the closed forms of the chapter", () => {
  for (const log of [1, 2, 3, 4]) {
    const numSteps = 2 ** log;
    const total = (method) => counts(numSteps, scanLevels(numSteps, method), numSteps).scan;
    assert.deepEqual([total("doubling").turns, total("doubling").work], [log, numSteps * log - numSteps + 1]);
    assert.deepEqual([total("two-sweep").turns, total("two-sweep").work], [2 * log - 1, 2 * numSteps - 2 - log]);
  }
  for (const { numSteps, levels, method } of SCHEDULES) {
    if (method === "doubling") assert.equal(levels.length, Math.ceil(Math.log2(numSteps)));
    const before = counts(numSteps, levels, 0);
    assert.deepEqual(before, { loop: { turns: 0, work: 0, products: 0 }, scan: { turns: 0, work: 0, products: 0 } });
  }
});

test("the cells behind a cell are those whose inputs it holds, and no others", () => {
  for (const { numSteps, levels } of SCHEDULES) {
    const { from } = scanTrace(Array(numSteps).fill(1), Array(numSteps).fill(1), levels).at(-1);
    for (let place = 0; place < numSteps; place += 1) {
      const found = kin(levels, levels.length, place);
      assert.equal(found.length, levels.length + 1);
      const expected = Array.from({ length: place - from[place] + 1 }, (_, i) => from[place] + i);
      assert.deepEqual([...found[0]].sort((p, q) => p - q), expected);
      assert.deepEqual([...found.at(-1)], [place]);
    }
    assert.deepEqual(kin(levels, 0, 0), [new Set([0])]);
  }
});

test("the chapter's example by hand: the last of eight pairs", () => {
  const { a, x } = presetValues("halving", 8);
  const pairs = scanTrace(a, x, scanLevels(8, "doubling")).map((now) => [now.a[7], now.b[7]]);
  assert.deepEqual(pairs, [[1 / 2, 1], [1 / 4, 3 / 2], [1 / 16, 15 / 8], [1 / 256, 255 / 128]]);
});

test("a factor of 0 forgets everything before it", () => {
  assert.deepEqual(inputWeights([1, 0.5, 0, 2, 3], 4), [0, 0, 6, 3, 1]);
});

test("the examples are those of Python and are known again", () => {
  assert.deepEqual(new Set(CASES.presets.map(({ name }) => name)), new Set(PRESETS));
  for (const { name, num_steps, a, x } of CASES.presets) {
    assert.deepEqual(presetValues(name, num_steps), { a, x });
    if (num_steps > 2) assert.equal(presetOf({ a, x }), name);
  }
  assert.equal(presetOf({ a: [1, 1, 1], x: [1, 1, 2] }), null);
});

test("another number of time steps: an example stays itself, own values are cut or go on", () => {
  assert.deepEqual(resized(presetValues("gates", 8), 16), presetValues("gates", 16));
  assert.deepEqual(resized({ a: [0.3, 0.7], x: [2, 3] }, 3), { a: [0.3, 0.7, 1], x: [2, 3, 0] });
  assert.deepEqual(resized({ a: [0.3, 0.7, 0.1], x: [2, 3, 1] }, 2), { a: [0.3, 0.7], x: [2, 3] });
});

test("numbers as text are those of Python and fit their box", () => {
  for (const [value, text] of CASES.numbers) assert.equal(formatValue(value), text, `${value}`);
  const random = randomNumbers(5);
  for (let i = 0; i < 5000; i += 1) {
    const text = formatValue((random() - 0.5) * 10 ** (8 * random() - 4));
    assert.ok(text.length <= 6 && !/NaN|Infinity|^−0$/.test(text), text);
  }
  assert.deepEqual([0, 4.44e-16, 2.4e-7, 0.5, 12].map(formatDifference), ["0", "4.4×10⁻¹⁶", "2.4×10⁻⁷", "5.0×10⁻¹", "1.2×10¹"]);
});

test("the figure stays within its width, columns in order and cells apart", () => {
  for (const width of [290, 307, 340, 519, 520, 690, 1000]) {
    for (const { numSteps, levels } of SCHEDULES) {
      const { box, boxes, columns, levels: places, now, height, y } = layout(width, numSteps, levels.length);
      const gap = boxes ? box + 20 : 10;
      const order = [0, columns.t, columns.a, columns.x, columns.loop - box / 2, columns.loop + box / 2];
      order.forEach((at, i) => i > 0 && assert.ok(at > order[i - 1], `${width}: ${order}`));
      assert.ok(places[0] - (boxes ? box / 2 : 5) > columns.loop + box / 2);
      for (let i = 1; i < places.length; i += 1) assert.ok(places[i] - places[i - 1] >= gap, `${width} ${numSteps}: ${places}`);
      assert.ok(boxes ? places.at(-1) + box / 2 <= width : places.at(-1) + 5 < now - box / 2 && now + box / 2 <= width);
      assert.ok(y.at(-1) < height);
    }
  }
});

test("a link may set what the controls may, and what it sets fits together", () => {
  const link = (state) => decodeLink(encodeLink("Scan", 0, state), "Scan", 0, RULES);
  const good = { a: [0.5, 1, -1.5], x: [3, 0, -3], method: "two-sweep", step: 2, place: 3 };
  assert.deepEqual(link(good), good);
  assert.deepEqual(repair(good), good);
  for (const bad of [{ a: [1.6, 1] }, { a: ["1", 1] }, { x: [1, 3.1] }, { a: Array(17).fill(1) }, { x: [null] }, { method: "<b>" }, { step: 16 }, { place: 0 }, { step: 1.5 }]) {
    assert.equal(link(bad), null, JSON.stringify(bad));
  }
  assert.deepEqual(repair({ ...good, a: [0.5, 1] }), { ...good, a: [0.5, 1], x: [3, 0], step: 1, place: 2 });
  assert.deepEqual(repair({ ...good, a: [] }), { ...good, ...presetValues("fading", 8) });
});

test("ten thousand random states within the bounds: finite, and loop and scan agree", () => {
  const random = randomNumbers(3);
  for (let round = 0; round < 10_000; round += 1) {
    const numSteps = MIN_STEPS + Math.floor(random() * (MAX_STEPS - MIN_STEPS + 1));
    const a = Array.from({ length: numSteps }, () => (2 * random() - 1) * MAX_FACTOR);
    const x = Array.from({ length: numSteps }, () => (2 * random() - 1) * MAX_INPUT);
    const levels = scanLevels(numSteps, METHODS[round % 2]);
    const { float64, float32 } = largestDifferences(a, x, levels);
    assert.ok(float64 < 1e-11 && float32 < 1e-2, `${float64} ${float32}`);
  }
});
