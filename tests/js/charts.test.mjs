// Scales, ticks and paths of the charts.
import assert from "node:assert/strict";
import test from "node:test";

import { linePath, linearTicks, powerTicks, scale, spreadLabels } from "../../src/d2lrnn/widgets/charts.mjs";

test("scales map ends to ends, clamp, and may be logarithmic", () => {
  const linear = scale([0, 10], [100, 0]);
  assert.deepEqual([linear(0), linear(2.5), linear(10), linear(12), linear(-1)], [100, 75, 0, 0, 100]);
  const log = scale([1, 100], [0, 10], { log: true });
  assert.ok(Math.abs(log(10) - 5) < 1e-12 && log(0.1) === 0 && Math.abs(log(1e9) - 10) < 1e-12);
  assert.equal(scale([3, 3], [0, 10])(3), 0);
});

test("ticks are round and few", () => {
  assert.deepEqual(linearTicks(1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(linearTicks(700, 4), [0, 200, 400, 600]);
  assert.deepEqual(linearTicks(0), [0]);
  assert.deepEqual(linearTicks(NaN), [0]);
  for (const to of [3, 17, 99, 1234, 5e6]) assert.ok(linearTicks(to).length <= 7);
  assert.deepEqual(powerTicks(0.01, 100), [0.01, 0.1, 1, 10, 100]);
  assert.ok(powerTicks(1e-30, 1e10).length <= 7);
  assert.deepEqual(powerTicks(1, 32, { base: 2 }), [1, 2, 4, 8, 16, 32]);
});

test("a line breaks where a value is missing", () => {
  const same = (v) => v;
  assert.equal(linePath([0, 1, 2, 3], [5, 6, NaN, 7], same, same), "M0.0 5.0L1.0 6.0M3.0 7.0");
  assert.equal(linePath([0, 1], [Infinity, undefined], same, same), "");
});

test("labels keep their distance and stay inside", () => {
  assert.deepEqual(spreadLabels([10, 50], 14, [0, 100]), [10, 50]);
  const places = spreadLabels([95, 10, 96, 97], 14, [0, 100]);
  const sorted = [...places].sort((a, b) => a - b);
  assert.ok(sorted.every((place, i) => i === 0 || place - sorted[i - 1] >= 14 - 1e-9));
  assert.ok(Math.max(...places) <= 100 && places[1] === 10);
});
