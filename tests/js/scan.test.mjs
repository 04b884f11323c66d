// The scan: schedules, states, precisions and counts are Python's to the last bit; the tree is what its definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  MAX_STEPS, METHODS, MIN_STEPS, PRESETS, coneOf, counts, derive, formatDifference, formatValue, kin, largestShares,
  loopStates, numberIn, presetOf, presetValues, repair, resized, scanLevels, scanTrace,
} from "../../src/d2lrnn/widgets/scan/maths.mjs";
import { cellAt, cellText, explained, joinOf, layoutOf, litCell, longestCell, ruleValues, sampleOf, sentence, shortly, stripOf, sumsOf } from "../../src/d2lrnn/widgets/scan/panels.mjs";
import { decodeLink, encodeLink, rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const CASES = JSON.parse(readFileSync(new URL("./scan_cases.json", import.meta.url), "utf8"));
const SPEC = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/scan/spec.json", import.meta.url), "utf8"));
const RULES = rulesOf(SPEC.controls);
const [MAX_FACTOR, MAX_INPUT] = ["a", "x"].map((name) => SPEC.controls[name].of.max);
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const at = (values) => derive({ ...DEFAULTS, ...values });
const t = translator("en", SPEC.words);

/** All lengths and schedules: { numSteps, method, levels }. */
const SCHEDULES = METHODS.flatMap((method) =>
  Array.from({ length: MAX_STEPS - MIN_STEPS + 1 }, (_, i) => i + MIN_STEPS)
    .map((numSteps) => ({ numSteps, method, levels: scanLevels(numSteps, method) })));

function randomNumbers(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Largest difference between loop and scan at the end, in both precisions. */
function largestDifferences(a, x, levels) {
  const differ = (round) => {
    const scan = scanTrace(a, x, levels, round).at(-1).b;
    return loopStates(a, x, round).reduce((most, h, t) => Math.max(most, Math.abs(h - scan[t])), 0);
  };
  return { float64: differ((value) => value), float32: differ(Math.fround) };
}

test("the levels are those of d2lrnn.scan.scan_levels", () => {
  assert.ok(CASES.levels.length >= 2 * 19);
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

test("depths, work and products are those of Python", () => {
  for (const { a, method, depths, work, multiplications } of CASES.states) {
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
  for (const log of [1, 2, 3, 4, 5, 6]) {
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

test("the examples are those of Python and are known again", () => {
  assert.deepEqual(new Set(CASES.presets.map(({ name }) => name)), new Set(PRESETS));
  for (const { name, num_steps, a, x } of CASES.presets) {
    assert.deepEqual(presetValues(name, num_steps), { a, x });
    assert.equal(a.length, num_steps);
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
    assert.ok(text.length <= 7 && !/NaN|Infinity|^−0$/.test(text), text);
  }
  assert.deepEqual([0, 4.44e-16, 2.4e-7, 0.5, 12].map(formatDifference), ["0", "4.4×10⁻¹⁶", "2.4×10⁻⁷", "5.0×10⁻¹", "1.2×10¹"]);
});

test("the figure opens before the first tick, and its headline does not say how the race ends", () => {
  const model = at({});
  assert.deepEqual([model.step, model.level, model.cell, model.states], [0, 0, null, { loop: 1, scan: 1 }]);
  assert.deepEqual([sentence(model)[0], sentence({ ...model, isAsked: true })[0]], ["now_start", "now_question"]);
  assert.deepEqual(presetOf(model), "fading");
});

test("after each tick of doubling the scan has twice as many states, the loop one more", () => {
  for (const numSteps of [8, 13, 64]) {
    for (let step = 0; step < numSteps; step += 1) {
      const { states, joined, done } = at({ ...presetValues("sum", numSteps), step });
      assert.deepEqual(joined, { loop: 0, scan: step === 0 ? 0 : numSteps - states.scan }, "after a round all others are joined");
      assert.deepEqual(states, { loop: step + 1, scan: Math.min(numSteps, 2 ** step) });
      assert.deepEqual(done, { loop: step === numSteps - 1, scan: 2 ** step >= numSteps });
    }
  }
  const keys = [0, 1, 2, 3, 6, 7].map((step) => sentence(at({ step }))[0]);
  assert.deepEqual(keys, ["now_start", "now_first", "now", "now_scan_done", "now_loop_alone", "now_end"]);
  assert.equal(sentence(at({ ...presetValues("sum", 2), step: 1 }))[0], "now_end_few");
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((step) => at({ method: "two-sweep", step }).joined.scan), [0, 3, 2, 1, 0, 0], "of two sweeps every other one");
});

test("the right answers of the steps are right, and the question comes before them", () => {
  const [one, two, three] = SPEC.steps;
  for (const { before, state } of SPEC.steps) {
    assert.equal(before.step, 0);
    assert.deepEqual({ a: state.a, x: state.x }, presetValues("fading", state.x.length));
  }
  const right = ({ right: j }, i) => Number(/\d+/.exec(SPEC.words.en[`step_${i + 1}_answer_${j + 1}`])[0]);
  assert.equal(at(one.state).levels.length, right(one, 0));
  assert.ok(at(one.state).done.scan && !at({ ...one.state, step: one.state.step - 1 }).done.scan);
  assert.equal(at(two.state).levels.length, right(two, 1));
  assert.ok(at(two.state).done.scan && !at({ ...two.state, step: two.state.step - 1 }).done.scan);
  const { work } = counts(64, scanLevels(64, "doubling"), 63).scan;
  assert.equal(work, 321);
  assert.equal(right(three, 2), 320);
  assert.equal(Math.round(work / 63), 5, "about five times as many");
  assert.deepEqual(at(one.state).levels.map(({ distance }) => 2 * distance), [2, 4, 8, 16], "each column joins twice as many steps");
  assert.deepEqual(at(two.state).levels.map(({ distance }) => 2 * distance), [2, 4, 8, 16, 32, 64]);
  assert.match(t("step_1_question"), /^16 steps, .* 15 rounds/);
  assert.deepEqual([one.before.x.length, counts(16, scanLevels(16, "doubling"), 15).loop.turns], [16, 15]);
  assert.match(t("step_2_question"), /^64 steps: .* 63 rounds/);
  assert.equal(counts(64, scanLevels(64, "doubling"), 63).loop.turns, 63);
  for (const { state } of SPEC.steps) {
    const [key, values] = sentence({ ...at(state), isAsked: true });
    assert.equal(t(key, values), `Round ${state.step}: the loop knows ${state.step + 1} of ${state.x.length} states. And the scan?`);
  }
});

test("a cell in hand is one that is filled, and its sum is the one that made it", () => {
  const sums = (values) => sumsOf(joinOf(at(values)), t).join(" and ");
  assert.equal(at({ place: 3, level: -1, step: 1 }).cell, null, "the loop has not come there");
  assert.deepEqual(at({ place: 3, level: -1, step: 2 }).cell, { level: -1, place: 2 });
  assert.deepEqual(at({ place: 3, level: 9, step: 1 }).cell, { level: 1, place: 2 }, "the last level that is reached");
  assert.equal(at({ place: 9 }).cell.place, 7, "the last there is");
  assert.equal(sums({ place: 4, level: -1, step: 3 }), "1.72 × 0.9 + 3 ≈ 4.55");
  assert.equal(sums({ place: 7, level: -1, step: 7 }), "2.884 × 0.9 + 0 ≈ 2.60");
  assert.equal(sums({ place: 2, level: -1, step: 1 }), "2 × 0.9 − 1 = 0.8");
  assert.equal(sums({ place: 5 }), "0.9 × 0.9 = 0.81 and 3 × 0.9 − 2 = 0.7");
  assert.equal(sums({ place: 2 }), "2 × 0.9 − 1 = 0.8", "as the picture shows what joins there");
  const sweeps = { ...presetValues("fading", 9), method: "two-sweep" };
  assert.equal(sums({ ...sweeps, place: 5 }), "0.9 × 0.9 = 0.81 and −2 × 0.9 + 1 = −0.8", "with step 6");
  assert.equal(sums({ ...sweeps, place: 9 }), "", "with none");
  const halving = { ...presetValues("halving", 8), place: 8 };
  assert.equal(sums({ ...halving, step: 2 }), "0.25 × 0.25 ≈ 0.06 and 1.5 × 0.25 + 1.5 ≈ 1.88");
  assert.ok(sums({ ...presetValues("halving", 16), place: 16, step: 3 }).startsWith("0.06 × 0.06 ≈ 0.004 and"));
  assert.equal(sums({ ...halving, step: 3 }), "1.88 × 0.06 + 1.88 ≈ 1.99");
  assert.equal(sums({ a: [1, -0.5, 1, -0.5], x: [-1, 1, 2, 1], place: 4 }), "1 × (−0.5) = −0.5 and 2 × (−0.5) + 1 = 0");
});

test("of 64 steps no two numbers that are added are the same", () => {
  for (const step of [1, 2, 3, 4, 5, 6]) {
    const join = joinOf(explained(at({ ...SPEC.steps[1].state, step })));
    const [start, own] = [join.first ? join.first[1] : join.states[0], join.next[1]];
    assert.notEqual(formatValue(start), formatValue(own), `round ${step}`);
  }
});

test("a sum's result is what its box shows, and what a calculator finds", () => {
  const number = (text) => numberIn(text.replace(/[() ]/g, ""));
  let numSums = 0;
  for (const name of PRESETS) {
    for (const numSteps of [8, 16, 64]) {
      const last = at({ ...presetValues(name, numSteps), step: 63 });
      for (let level = -1; level <= last.levels.length; level += 1) {
        for (let place = 0; place < numSteps; place += numSteps / 8) {
          const join = joinOf({ ...last, cell: { level, place } });
          if (join.from < 0) continue;
          const [a, b] = join.first === undefined ? [null, join.states[2]] : join.both;
          const texts = sumsOf(join, t);
          [a, b].slice(-texts.length).forEach((value, i) => {
            const [, p, q, r, sign, shown] = /^(.+?) × (\S+?)(?: ([+−] \S+))? ([=≈]) (\S+)$/.exec(texts[i]);
            assert.equal(shown, formatValue(value));
            const found = number(p) * number(q) + (r ? number(r) : 0);
            assert.equal(number(formatValue(found)), number(shown), texts[i]);
            if (sign === "=") assert.ok(Math.abs(found - number(shown)) < 1e-9, texts[i]);
            numSums += 1;
          });
        }
      }
    }
  }
  assert.ok(numSums > 500);
  const last = at({ ...presetValues("explodes", 64), step: 63 });
  assert.deepEqual(sumsOf(joinOf({ ...last, cell: { level: 6, place: 63 } }), t), ["118585 × 47435 + 118585 ≈ 5.6×10⁹"]);
  for (const value of [2.26e9, -5e10, 1e-5, -4.2e-9, 12345, -0.81]) assert.ok(Math.abs(number(formatValue(value)) / value - 1) < 0.05, `${value}`);
});

test("the parts of the strip keep apart in any width", () => {
  for (const width of [240, 288, 320, 358, 419, 420, 480, 800]) {
    const { state, box, first, next, last } = stripOf(width);
    assert.ok(state + 8 < first.x && next.x - first.x - box > 8 && next.x + box + 8 < last, `${width}`);
    assert.ok(last + state <= width && first.x < first.times && first.times < first.plus && first.plus < first.x + box, `${width}`);
  }
});

test("the cone of a cell ends at the inputs that it has seen", () => {
  for (const { numSteps, levels } of SCHEDULES.filter((_, i) => i % 7 === 0)) {
    const trace = scanTrace(Array(numSteps).fill(1), Array(numSteps).fill(1), levels);
    trace.forEach(({ from }, level) => {
      for (let place = 0; place < numSteps; place += 3) {
        const { inputs, loop } = coneOf({ levels }, { level, place });
        assert.equal(inputs.size, place - from[place] + 1);
        assert.equal(Math.min(...inputs), from[place]);
        assert.equal(loop.size, 0);
      }
    });
  }
  assert.deepEqual([...coneOf({ levels: [] }, { level: -1, place: 2 }).inputs], [0, 1, 2]);
});

test("the figure stays within its width, columns in order and cells apart; each cell is found where it stands", () => {
  for (const width of [258, 270, 290, 307, 340, 519, 520, 690, 1000]) {
    for (const signs of [6, 13, 18]) {
      for (const { numSteps, levels } of SCHEDULES) {
        const places = layoutOf(width, numSteps, levels.length, signs);
        const { box, cell, mode, boxes, numbers, columns, levels: xs, now, nowBox, height, y } = places;
        const name = `${width} ${signs} ${numSteps} ${mode}: ${xs}`;
        assert.equal(numbers, numSteps <= 16);
        assert.equal(boxes, mode === "pairs" || mode === "stacked");
        const half = cell / 2;
        assert.ok(columns.t + 5 < columns.loop - box / 2 && xs[0] - half > columns.loop + box / 2, name);
        for (let i = 1; i < xs.length; i += 1) assert.ok(xs[i] - xs[i - 1] >= cell + (boxes ? 13 : 5), name);
        assert.ok(xs.at(-1) + half <= (mode === "small" ? now - nowBox / 2 : width) && now + nowBox / 2 <= width, name);
        assert.ok(y.at(-1) < height && height < 560);
        const model = { numSteps, level: levels.length, walked: numSteps - 1 };
        for (const place of [0, numSteps - 1]) {
          assert.deepEqual(cellAt(places, model, columns.loop, y[place]), { level: -1, place });
          xs.forEach((x, level) => assert.deepEqual(cellAt(places, model, x, y[place]), { level, place }));
          const open = (isAsked) => cellAt(places, { ...model, level: 0, levels, isAsked }, xs[1], y[place]);
          if (levels[0].targets.includes(place)) assert.deepEqual(open(false), { level: 0, place }, "a box to come answers for what joins there");
          if (xs[1] - xs[0] > Math.max(50, half) && now - xs[1] > Math.max(50, half)) assert.equal(open(true), null, "but not under a question");
          assert.equal(cellAt(places, { ...model, walked: -1 }, columns.loop, y[place])?.level === -1, false);
        }
        assert.equal(cellAt(places, model, xs[0], 3), null);
      }
    }
  }
});

test("steps are printed in the cells of the first figure, on a phone and in the book", () => {
  const model = at({});
  assert.deepEqual([cellText(0.81, -2), cellText(-1.5, 0)], ["×0.81 −2", "×−1.5 +0"]);
  assert.equal(longestCell(model.trace), "×0.81 +3.91".length);
  assert.equal(layoutOf(690, 8, 3, longestCell(model.trace)).mode, "pairs");
  for (const width of [290, 330, 360]) assert.equal(layoutOf(width, 8, 3, longestCell(model.trace)).mode, "stacked", "on a phone in two lines");
  assert.deepEqual([layoutOf(330, 16, 4, 13).mode, layoutOf(330, 8, 5, 13).mode, layoutOf(258, 8, 3, 13).mode], ["small", "small", "small"]);
  assert.equal(layoutOf(690, 64, 6, 0).mode, "dense");
});

test("the parts of the newest level's last cell light up by themselves", () => {
  assert.deepEqual(litCell(at({})), { level: 0, place: 4 }, "before the first round an example: steps 4 and 5");
  assert.equal(litCell(at(presetValues("fading", 64))), null);
  assert.deepEqual(litCell(at({ step: 1 })), { level: 1, place: 4 }, "two in the middle: the state before them is not known yet");
  assert.deepEqual(litCell(at({ step: 1, method: "two-sweep" })), { level: 1, place: 5 }, "a box that was joined");
  for (const { numSteps, method, levels } of SCHEDULES) {
    levels.forEach(({ targets }, i) => assert.ok(targets.includes(litCell(at({ ...presetValues("sum", numSteps), method, step: i + 1 })).place), "no copy"));
  }
  assert.deepEqual(litCell(at({ ...presetValues("fading", 4), step: 1 })), { level: 1, place: 3 });
  assert.deepEqual(litCell(at({ step: 2 })), { level: 2, place: 7 });
  assert.deepEqual(litCell(at({ step: 3 })), { level: 3, place: 7 });
  assert.deepEqual(litCell(at({ step: 7 })), { level: 3, place: 7 });
  assert.deepEqual([1, 6, 63].map((step) => litCell(at({ ...presetValues("fading", 64), step }))), [1, 6, 6].map((level) => ({ level, place: 63 })), "of many steps the last box");
  assert.deepEqual(litCell(at({ step: 3, place: 2, level: 1 })), { level: 1, place: 1 }, "the cell in hand comes first");
  assert.deepEqual(litCell(at({ step: 3, place: 2 }), { level: 0, place: 4 }), { level: 0, place: 4 }, "and before it the one under the mouse");
  assert.deepEqual(coneOf(at({}), { level: 3, place: 7 }).scan.map((places) => places.size), [8, 4, 2, 1]);
});

test("a link may set what the controls may, and what it sets fits together", () => {
  const link = (state) => decodeLink(encodeLink("Scan", 0, state), "Scan", 0, RULES);
  const good = { a: [0.5, 1, -1.5], x: [3, 0, -3], method: "two-sweep", step: 2, place: 3, level: -1 };
  assert.deepEqual(link(good), good);
  assert.deepEqual(repair(good), good);
  for (const bad of [{ a: [1.6, 1] }, { a: ["1", 1] }, { x: [1, 3.1] }, { a: Array(65).fill(1) }, { x: [null] }, { method: "<b>" }, { step: 64 }, { place: 65 }, { level: -2 }, { step: 1.5 }]) {
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
    const largest = Math.max(1, ...loopStates(a.map(Math.abs), x.map(Math.abs)));
    assert.ok(float64 < 1e-14 * largest * numSteps && float32 < 1e-5 * largest * numSteps, `${float64} ${float32} ${largest}`);
  }
});

test("a difference is a share of the largest state so far", () => {
  const levels = scanLevels(64, "doubling");
  const { a, x } = presetValues("explodes", 64);
  const [{ float64, float32 }, loop] = [largestShares(a, x, levels), loopStates(a, x)];
  const scan = scanTrace(a, x, levels).at(-1).b; // all states grow: each is the largest so far
  assert.equal(float64, Math.max(...loop.map((h, t) => Math.abs(h - scan[t]) / Math.max(h, scan[t]))));
  assert.ok(float64 > 2 ** -54 && float64 < 1e-14 && float32 > 2 ** -25 && float32 < 1e-5, `${float64} ${float32}: no less than the last digit`);
  assert.deepEqual(largestShares([1, 1, 1], [1, 1, 1], scanLevels(3, "doubling")), { float64: 0, float32: 0 });
  assert.deepEqual(largestShares([1, 1], [0, 0], scanLevels(2, "doubling")), { float64: 0, float32: 0 });
});

test("in the card a large number is short where it has no room", () => {
  const [none, all] = [() => false, () => true];
  assert.deepEqual([217.8, -542.03, 47434.5, 118585, -5.6e9, 14.76, 0].map((value) => shortly(value, none)), ["218", "−542", "47435", "1×10⁵", "−6×10⁹", "14.76", "0"]);
  assert.deepEqual([217.8, 118585].map((value) => shortly(value, all)), ["217.8", "1.2×10⁵"]);
});

test("a box is explained by what it was made from; states that nobody knows yet stay open", () => {
  const rule = (values) => ruleValues(explained(at(values)), t);
  const told = { parts: "steps", first: "× 0.9 − 1", next: "× 0.9 + 1", both: "× 0.81 + 0.1", h0: "2" };
  const [key, { both }] = rule({});
  assert.deepEqual([key, both], ["rule_open", "× 0.81 + 0.7"], "at the start an example: steps 4 and 5, and what they make");
  assert.deepEqual(rule(presetValues("fading", 2))[0], "rule_state", "two steps have none to join");
  assert.deepEqual(rule({ place: 3, level: 0 }), ["rule_open", { ...told, h2: "not known yet" }], "two join without the state before them, also where it is known");
  assert.deepEqual(rule({ place: 3, level: 0, step: 2 }), ["rule", { ...told, h2: "1.72" }]);
  assert.deepEqual(rule({ place: 1, level: 0 }), ["rule_given", { h2: "2" }], "nothing stands before the first state");
  const copied = { ...presetValues("fading", 9), method: "two-sweep", step: 1, place: 5, level: 1 };
  assert.deepEqual(rule(copied), ["rule_state", { next: "× 0.9 − 2", before: 4, after: 5, h0: "not known yet", h2: "not known yet" }], "a copy has joined nothing");
  for (const step of [0, 1, 2, 3]) {
    const model = at({ step, place: 8 });
    const known = joinOf(model).states[2] !== null;
    assert.equal(known, step === 3, "state 8");
  }
  for (const { levels, numSteps } of SCHEDULES) {
    const a = Array.from({ length: numSteps }, (_, s) => 0.5 + s / 64);
    const x = a.map((value) => 2 - value);
    const place = levels[0].targets.find((s) => s > levels[0].distance);
    const sample = place === undefined ? null : sampleOf({ a, x, levels, cell: { place } });
    const { step, states: found, done } = at({ a, x, step: 0 });
    const [headline] = sentence({ a, x, step, numSteps, levels, states: found, done });
    assert.equal(headline, levels.length < numSteps - 1 ? "now_start" : "now_start_few", "only then the scan is sooner");
    if (sample === null) assert.equal(levels.length, numSteps - 1, "as many rounds as the loop");
    if (sample === null) continue;
    const first = scanTrace(a, x, levels)[1];
    assert.deepEqual([first.a[sample.later], first.b[sample.later], first.from[sample.later]], [sample.a, sample.b, sample.earlier]);
    const states = loopStates(a, x);
    const [before, after] = [states[sample.earlier - 1], states[sample.later]];
    assert.ok(Math.abs(sample.a * before + sample.b - after) < 1e-12, "both ways lead to the same state");
  }
});
