// The concatenation identity in the page: the numbers of Python's Concatenation, in both precisions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { ROUND, RULES, bothWays, matrices, products, repair, sumOf } from "../../src/d2lrnn/widgets/concatenation/index.mjs";
import { decodeLink, encodeLink } from "../../src/d2lrnn/widgets/ui.mjs";

const CASES = JSON.parse(readFileSync(new URL("./concatenation_cases.json", import.meta.url), "utf8"));

test("matrices are Python's, number by number", () => {
  assert.ok(CASES.length >= 5);
  for (const { settings, matrices: expected } of CASES) assert.deepEqual(matrices(settings), expected);
});

test("both ways give Python's result: exactly in float32, to 1e-12 in float64", () => {
  for (const { settings: { n, h, ...rest }, exact, float32 } of CASES) {
    const mats = matrices({ n, h, ...rest });
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < h; j += 1) {
        const pairs = products(mats, i, j);
        const wide = bothWays(pairs, ROUND.float64);
        assert.ok(Math.abs(wide.apart - exact[i * h + j]) < 1e-12 && Math.abs(wide.glued - exact[i * h + j]) < 1e-12);
        const { apart, glued } = bothWays(pairs, ROUND.float32);
        assert.deepEqual([apart, glued], float32[i * h + j]);
      }
    }
  }
});

test("in float32 the two ways sometimes part, by rounding alone", () => {
  let parted = 0;
  let all = 0;
  for (let seed = 0; seed < 50; seed += 1) {
    const mats = matrices({ n: 4, d: 4, h: 4, seed });
    for (let i = 0; i < 4; i += 1) {
      for (let j = 0; j < 4; j += 1) {
        const { apart, glued } = bothWays(products(mats, i, j), ROUND.float32);
        all += 1;
        parted += apart !== glued;
        assert.ok(Math.abs(apart - glued) < 1e-5);
      }
    }
  }
  assert.ok(parted > all / 20 && parted < all, `${parted} of ${all}`);
});

test("sums are rounded at every step", () => {
  assert.equal(sumOf([[1, 1], [2 ** -25, 1], [2 ** -25, 1]], ROUND.float32), 1);
  assert.ok(sumOf([[1, 1], [2 ** -25, 1], [2 ** -25, 1]], ROUND.float64) > 1);
});

test("a link sets sizes within bounds, and the cell is one that there is", () => {
  const link = (state) => decodeLink(encodeLink("Concatenation", 0, state), "Concatenation", 0, RULES);
  assert.deepEqual(link({ n: 2, d: 4, h: 1, seed: 7 }), { n: 2, d: 4, h: 1, seed: 7 });
  assert.equal(link({ n: 5, d: 0, h: 1.5, row: -1 }), null);
  assert.deepEqual(repair({ n: 1, d: 2, h: 2, seed: 0, row: 3, column: 3 }), { n: 1, d: 2, h: 2, seed: 0, row: 0, column: 1 });
});
