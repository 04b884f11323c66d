// The concatenation identity in the page: the numbers of Python's Concatenation, sums that are true, blocks that fit.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  arrange, between, cellsAt, derive, exactSum, frames, gapBetween, loopOf, matrices, products, repair,
} from "../../src/d2lrnn/widgets/concatenation/maths.mjs";
import SPEC from "../../src/d2lrnn/widgets/concatenation/spec.json" with { type: "json" };
import { decodeLink, encodeLink, rulesOf } from "../../src/d2lrnn/widgets/ui.mjs";

const CASES = JSON.parse(readFileSync(new URL("./concatenation_cases.json", import.meta.url), "utf8"));
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const SIZES = [1, 2, 3, 4].flatMap((n) => [1, 2, 3, 4].flatMap((d) => [1, 2, 3, 4].map((h) => (
  { batch_size: n, num_inputs: d, num_hiddens: h }))));

test("matrices are Python's, number by number", () => {
  assert.ok(CASES.length >= 5);
  for (const { settings, matrices: expected } of CASES) assert.deepEqual(matrices(settings), expected);
});

test("a further text leaves the weights and the texts before it as they are", () => {
  for (const batch_size of [2, 3, 4]) {
    const [less, more] = [batch_size - 1, batch_size].map((size) => matrices({ ...DEFAULTS, batch_size: size }));
    assert.deepEqual({ ...more, X: more.X.slice(0, -1), H: more.H.slice(0, -1) }, less);
  }
});

test("the results are Python's, and those of swapped weights too", () => {
  for (const { settings, exact, swapped, memory_first } of CASES) {
    const results = (state) => derive({ ...DEFAULTS, ...settings, row: 0, column: 0, ...state }).parts.flat().map(({ sum }) => sum);
    const near = (found, expected) => found.forEach((sum, place) => assert.ok(Math.abs(sum - expected[place]) < 1e-12));
    near(results({ glued: false, swapped: false }), exact);
    near(results({ glued: true, swapped: false }), exact);
    near(results({ glued: false, swapped: true, memory_first: true }), exact); // apart there is no order
    near(results({ glued: true, swapped: true }), swapped);
    near(results({ glued: true, memory_first: true }), memory_first);
    near(results({ glued: true, swapped: true, memory_first: true }), exact); // the same order on both sides
  }
});

test("swapped weights: which block each number meets, and whether the result is wrong", () => {
  for (const sizes of SIZES) {
    const state = derive({ ...DEFAULTS, ...sizes, glued: true, swapped: true });
    const { x, h } = products(state.mats, 0, 0, true);
    const mixed = [...x.map(([, , kind]) => kind === "h"), ...h.map(([, , kind]) => kind === "x")].filter(Boolean).length;
    assert.equal(mixed, 2 * Math.min(sizes.num_inputs, sizes.num_hiddens), "blue meets orange, whatever the sizes");
    assert.deepEqual([x, h].map((part) => part.map((product) => product[4])), [state.mats.W_xh, state.mats.W_hh].map((rows) => rows.map(([weight]) => weight)), "and its own is named");
    assert.ok(products(state.mats, 0, 0, true, true).all.every(([, weight, , , own]) => weight === own));
    const numbered = Object.fromEntries(Object.entries(state.mats).map(([name, rows], k) => [name, rows.map((row, i) => row.map(() => 10 * k + i))]));
    assert.ok(products(numbered, 0, 0, true).all.every(([, weight, , , own]) => weight !== own), "where the colour fits, the row does not");
    assert.equal(state.isWrong, state.parts.flat().some(({ sum, right }) => sum !== right));
    assert.ok(!derive({ ...state, swapped: false }).isWrong && !derive({ ...state, glued: false }).isWrong);
  }
});

test("every sum that is printed is true, digit by digit", () => {
  const hundredths = (text) => BigInt(text.replace(".", ""));
  for (let seed = 0; seed < 60; seed += 1) {
    const { mats, parts } = derive({ ...DEFAULTS, ...SIZES[seed], seed });
    parts.forEach((line, i) => line.forEach(({ x, h, sum }, j) => {
      const printed = [x, h, sum].map((value) => hundredths(value.toFixed(2)));
      assert.equal(printed[0] + printed[1], printed[2]);
      const pairs = products(mats, i, j);
      const added = [...pairs.x, ...pairs.h].reduce((total, [u, v]) => total + hundredths(u.toFixed(1)) * hundredths(v.toFixed(1)), 0n);
      assert.equal(added, printed[2], "entries have one decimal, so the sum of their products has two");
    }));
  }
});

test("H could have come out of tanh, and the first result would not saturate it", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const { mats } = derive({ ...DEFAULTS, ...SIZES[seed], seed });
    assert.ok(mats.H.flat().every((value) => Math.abs(value) < 1));
    assert.ok([mats.X, mats.W_xh, mats.W_hh].flat(2).every((value) => Math.abs(value) <= 1));
  }
  assert.ok(derive(DEFAULTS).parts[0].every(({ sum }) => Math.abs(sum) < 1.5));
});

test("in the sum that is told of first, a number is found by its value: it never meets its like, and no weight comes twice", () => {
  const { mats: { X, W_xh, H, W_hh }, row, column } = derive(DEFAULTS);
  const weights = [...W_xh, ...W_hh].map((line) => line[column]);
  const numbers = [...X[row], ...H[row]];
  assert.deepEqual([new Set(weights).size, new Set(numbers).size], [5, 5]);
  for (const order of [[false, false], [true, false], [false, true]]) {
    const { all } = products({ X, W_xh, H, W_hh }, row, column, ...order);
    assert.ok(all.every(([value, weight, , , own]) => value !== weight && value !== own));
  }
});

test("a sum is exact", () => {
  assert.equal(exactSum([[0.1, 0.2], [-0.3, 0.1]]), -0.01);
});

test("the right answers of the steps are right", () => {
  const [work, one, both] = SPEC.steps;
  const words = SPEC.words.en;
  const all = (step, answered = true) => derive({ ...DEFAULTS, ...step.before, ...(answered ? step.state : {}) });
  const { row, column, mats: { X, W_xh, H, W_hh }, batch_size: n, num_inputs: d, num_hiddens: h } = all(work);
  // n h d multiplications for X W_xh and n h h for H W_hh, or n h (d + h) for the glued product
  const counted = [false, true].map((answered) => all(work, answered).mats).map(({ X, W_xh, H, W_hh }) => (
    X.length * (W_xh.length * W_xh[0].length + H[0].length * W_hh[0].length)));
  assert.deepEqual([n * h * (d + h), ...counted], [15, 15, 15]);
  assert.equal(words[`step_1_answer_${work.right + 1}`], "15 again");
  assert.match(words.work, /\{results\} × \{count\} = \{all\}/);
  assert.deepEqual([n * h, d + h], [3, 5], "results, products of each");
  assert.deepEqual([n * d * h, n * h * h], [6, 9], "as its question says");
  // [X H] times W_xh above W_hh is the sum of the two products; with W_hh above, another; with H first as well, the same
  const sum = (line, weights) => exactSum(line.map((value, k) => [value, weights[k][column]]));
  const sums = [[X, H, W_xh, W_hh], [X, H, W_hh, W_xh], [H, X, W_hh, W_xh]].map(([a, b, above, below]) => sum([...a[row], ...b[row]], [...above, ...below]));
  assert.deepEqual(sums, [1.03, 0.76, 1.03]);
  assert.deepEqual([work, one, both].map((step) => all(step).parts[row][column].sum), sums);
  assert.deepEqual([one, both].map((step) => all(step, false).parts[row][column].sum), sums.slice(0, 2));
  assert.deepEqual([words[`step_2_answer_${one.right + 1}`], words[`step_3_answer_${both.right + 1}`]], ["another number", "swap X and H"]);
  // one number added to all results repairs only one of them
  const lacking = all(both, false).parts[row].map((result) => (result.right - result.sum).toFixed(2));
  assert.equal(words.step_3_answer_2, `add ${lacking[column]}`);
  assert.equal(new Set(lacking).size, 3, "as its question says, all three are wrong");
  const tried = derive({ ...DEFAULTS, ...both.before, added: Number(lacking[column]) });
  assert.deepEqual(tried.parts[row].map((part) => part.sum), [0.37, 1.03, -0.12]);
  for (const order of [{ swapped: false }, { memory_first: true }, { glued: false }]) { // nothing is wrong, so nothing is repaired
    const { added, isWrong } = derive({ ...tried, ...order });
    assert.deepEqual([added, isWrong], [0, false]);
  }
  assert.equal(derive({ ...DEFAULTS, ...both.before, added: 0.325 }).added, 0.33, "of a link: as exact as what it is added to");
  assert.deepEqual([tried.isWrong, tried.parts[row].map((part) => part.sum === part.right)], [true, [false, true, false]]);
});

test("each order of numbers has its own order of products, and the same products if both sides have the same", () => {
  for (const sizes of SIZES) {
    const { mats } = derive({ ...DEFAULTS, ...sizes });
    const [own, both] = [products(mats, 0, 0), products(mats, 0, 0, true, true)];
    assert.deepEqual(both.all, [...own.h, ...own.x]);
    assert.deepEqual(own.all, [...own.x, ...own.h]);
    assert.ok(own.all.every(([, , weight, number]) => weight === number));
    assert.ok(!derive({ ...DEFAULTS, ...sizes, glued: true, swapped: true, memory_first: true }).isWrong);
  }
});

const NAMES = ["X", "H", "W_xh", "W_hh", "sum"];

test("the blocks fit where they stand and never lie on each other", () => {
  for (const width of [200, 262, 330, 420, 560, 690, 900]) {
    for (const sizes of SIZES) {
      const layout = arrange(sizes, width);
      const { batch_size: n, num_inputs: d, num_hiddens: h } = sizes;
      const boxesAt = ({ unit, row }) => ({
        X: [d * unit, n * row], H: [h * unit, n * row], W_xh: [h * unit, d * row], W_hh: [h * unit, h * row], sum: [h * unit, n * row],
      });
      for (const [i, state] of ["apart", "glued"].entries()) {
        const { unit, row } = layout[state];
        assert.deepEqual(cellsAt(layout, i), { unit, row });
        assert.ok(unit >= 26 && row >= 30 && (unit >= 36 || layout.width === width || state === "apart"), "numbers can be read");
        const boxes = boxesAt(layout[state]);
        const shown = state === "apart" ? { ...boxes, from_x: boxes.sum, from_h: boxes.sum } : boxes;
        const placed = Object.entries(shown).map(([name, size]) => [...layout[state][name], ...size]);
        for (const [x, y, wide, high] of placed) {
          assert.ok(x >= -0.01 && y >= -0.01 && x + wide <= layout.width + 0.01 && y + high <= layout.height + 0.01, JSON.stringify({ width, sizes, state }));
        }
        placed.forEach(([x, y, wide, high], i) => placed.slice(0, i).forEach(([x2, y2, wide2, high2]) => {
          const apart = x + wide <= x2 + 0.01 || x2 + wide2 <= x + 0.01 || y + high <= y2 + 0.01 || y2 + high2 <= y + 0.01;
          assert.ok(apart, JSON.stringify({ width, sizes, state }));
        }));
      }
      assert.equal(Math.min(...NAMES.map((name) => layout.apart[name][1])), 0, "no band above the tables");
      for (let share = 0; share <= 1; share += 0.02) { // nor on the way
        const placed = Object.entries(boxesAt(cellsAt(layout, share))).map(([name, size]) => [...between(layout, name, share), ...size]);
        placed.forEach(([x, y, wide, high], i) => placed.slice(0, i).forEach(([x2, y2, wide2, high2]) => {
          const over = [Math.min(x + wide, x2 + wide2) - Math.max(x, x2), Math.min(y + high, y2 + high2) - Math.max(y, y2)];
          assert.ok(Math.min(...over) < 0.01, JSON.stringify({ width, sizes, share, over }));
        }));
        assert.ok(placed.every(([, y, , high]) => y >= -0.01 && y + high <= layout.height + 0.01), JSON.stringify({ width, sizes, share }));
      }
      // Glued, H stands at the right of X, W_hh below W_xh, and the result where rows and columns cross.
      const { X, H, W_xh, W_hh, sum, unit, row } = layout.glued;
      assert.ok(Math.abs(X[0] + d * unit - H[0]) < 1e-9 && X[1] === H[1] && W_xh[0] === W_hh[0] && Math.abs(W_xh[1] + d * row - W_hh[1]) < 1e-9);
      assert.deepEqual(sum, [W_xh[0], X[1]]);
      assert.deepEqual([0, 1].map((share) => between(layout, "H", share)), [layout.apart.H, H]);
    }
  }
  const phone = arrange(DEFAULTS, 357);
  assert.ok(phone.glued.W_xh[1] < 8 && phone.glued.row > 1.4 * phone.apart.row && phone.apart.unit > 48, "on a phone both fill their room");
  const largest = { batch_size: 4, num_inputs: 4, num_hiddens: 4 };
  assert.equal(arrange(largest, 331).width, 331, "nor the largest on a phone of 360 pixels");
  assert.ok(arrange(DEFAULTS, 262).width === 262, "the first sizes need not scroll on the narrowest phone");
});

test("two blocks touch, or are so many pixels apart", () => {
  const box = { x: 10, y: 10, width: 20, height: 20 };
  assert.equal(gapBetween(box, { x: 30, y: 15, width: 5, height: 5 }), 0);
  assert.equal(gapBetween(box, { x: 15, y: 15, width: 50, height: 5 }), 0);
  assert.equal(gapBetween(box, { x: 36, y: 10, width: 5, height: 5 }), 6);
  assert.equal(gapBetween({ x: 33, y: 34, width: 5, height: 5 }, box), 5);
});

test("a link sets sizes within bounds, and the cell is one that there is", () => {
  const link = (state) => decodeLink(encodeLink("Concatenation", 0, state), "Concatenation", 0, rulesOf(SPEC.controls));
  const good = { batch_size: 2, num_inputs: 4, num_hiddens: 1, seed: 7, glued: true };
  assert.deepEqual(link(good), good);
  assert.equal(link({ batch_size: 5, num_inputs: 0, num_hiddens: 1.5, row: -1, glued: 1 }), null);
  assert.deepEqual(repair({ batch_size: 1, num_hiddens: 2, row: 3, column: 3 }), { batch_size: 1, num_hiddens: 2, row: 0, column: 1 });
});

test("each result goes back to its place in H, between the tables and their names, wherever H stands", () => {
  const sizes = { batch_size: 2, num_inputs: 2, num_hiddens: 3 };
  const layout = arrange(sizes, 700);
  const { X, H, sum, unit, row } = layout.glued;
  for (const [memory_first, begin] of [[false, H[0]], [true, X[0]]]) {
    for (const column of [0, 1, 2]) {
      const { from, to, y } = loopOf({ ...sizes, memory_first }, layout, column);
      assert.ok(Math.abs(from - sum[0] - (column + 0.5) * unit) < 1e-9 && Math.abs(to - begin - (column + 0.5) * unit) < 1e-9);
      assert.ok(y > sum[1] + 2 * row && y < sum[1] + 2 * row + 10);
    }
  }
});

test("the frames of the glued matrices hold both blocks", () => {
  const sizes = { batch_size: 2, num_inputs: 2, num_hiddens: 3 };
  const layout = arrange(sizes, 700);
  const { rows, columns } = frames(sizes, layout);
  assert.ok(Math.abs(rows.x + rows.width - layout.glued.H[0] - 3 * layout.glued.unit) < 1e-9);
  assert.ok(Math.abs(columns.y + columns.height - layout.glued.W_hh[1] - 3 * layout.glued.row) < 1e-9);
});
