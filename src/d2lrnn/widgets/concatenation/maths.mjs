// The numbers of the concatenation identity, the same as those of Python's Concatenation, and where the blocks stand.
import { randomSource } from "../core.mjs";

/** A matrix of numbers with one decimal, from -1 to 1 or up to so many tenths, as a list of rows. */
function matrix(rows, columns, random, tenths = 10) {
  return Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => Math.floor(2 * tenths * random() - tenths + 0.5) / 10));
}

/** X, W_xh, H and W_hh: equal settings, equal numbers. H comes out of tanh, so it stays below 1. */
export function matrices({ batch_size, num_inputs, num_hiddens, seed }) {
  const random = randomSource(seed);
  return {
    X: matrix(batch_size, num_inputs, random), W_xh: matrix(num_inputs, num_hiddens, random),
    H: matrix(batch_size, num_hiddens, random, 9), W_hh: matrix(num_hiddens, num_hiddens, random),
  };
}

/**
 * The products that make the number in row i, column j: those from X and those from H, each [number, weight, "x" or "h"]
 * with the block that the weight is from. `swapped`: W_hh stands on top of W_xh by mistake.
 */
export function products({ X, W_xh, H, W_hh }, i, j, swapped = false) {
  const blocks = [W_xh.map((line) => [line[j], "x"]), W_hh.map((line) => [line[j], "h"])];
  const weights = (swapped ? blocks.reverse() : blocks).flat();
  const all = [...X[i], ...H[i]].map((value, k) => [value, ...weights[k]]);
  return { x: all.slice(0, X[i].length), h: all.slice(X[i].length) };
}

/** The sum of products without any rounding: of numbers with one decimal it has two, and is counted in hundredths. */
export function exactSum(pairs) {
  return pairs.reduce((sum, [u, v]) => sum + Math.round(10 * u) * Math.round(10 * v), 0) / 100;
}

/** How many numbers of [X H] meet a weight of the other block if the weights are swapped: the first and the last ones. */
export const countMixed = ({ num_inputs: d, num_hiddens: h }) => 2 * Math.min(d, h);

/** The glued table of weights: one row for each number of [X H], one column for each number of the result. */
export const tableSize = (d, h) => ({ rows: d + h, columns: h, weights: (d + h) * h });

/** A cell that the result has. */
export function repair(state) {
  return { ...state, row: Math.min(state.row, state.batch_size - 1), column: Math.min(state.column, state.num_hiddens - 1) };
}

/** All that the panels draw: the matrices, and of every number of the result the exact parts { x, h, sum } and what is right. */
export function derive(given) {
  const state = repair(given);
  const swapped = state.glued && state.swapped; // apart, each block meets its own weights
  const mats = matrices(state);
  const parts = mats.X.map((_, i) => mats.W_xh[0].map((__, j) => {
    const own = products(mats, i, j);
    const { x, h } = products(mats, i, j, swapped);
    return { x: exactSum(x), h: exactSum(h), sum: exactSum([...x, ...h]), right: exactSum([...own.x, ...own.h]) };
  }));
  return { ...state, swapped, mats, parts, isWrong: parts.flat().some(({ sum, right }) => sum !== right) };
}

// ---- places -----------------------------------------------------------------------------------------------------

const GAP = 10; // between a row and the columns that it meets
const SIGN = 24;
const FRAME = 6; // glued blocks have a frame around them
const LABEL = 20;
const ROW = { wide: 40, narrow: 28, least: 30, most: 40 }; // height of a row; glued from least to most
const UNIT = { least: 22, wide: 28, most: 44, glued: 56 }; // width of a column of X and H
const BROAD = 1.25; // narrow columns of weights and results are broader: results have two decimals
const EVEN = 36; // px from which all columns are alike

const within = (value, { least, most }) => Math.max(least, Math.min(most, value));

/** [unit, broad] of `plain` columns and `results` columns, broader where they are narrow, that fill a width. */
function columnsIn(width, plain, results, bounds) {
  const even = width / (plain + results);
  const unit = even >= EVEN ? within(even, bounds) : within(width / (plain + BROAD * results), bounds);
  return [unit, even >= EVEN ? unit : BROAD * unit];
}

/** The glued blocks in cells of one size, in the middle of `total`. */
function together({ batch_size: n, num_inputs: d, num_hiddens: h }, [unit, broad], row, total) {
  const left = (total - (d + h) * unit - h * broad - GAP) / 2;
  const crossing = [left + (d + h) * unit + GAP, (d + h) * row + GAP];
  const middle = [crossing[0] + h * broad / 2, crossing[1]];
  return {
    unit, broad, row, height: (d + h + n) * row + GAP + LABEL, X: [left, crossing[1]], H: [left + d * unit, crossing[1]],
    W_xh: [crossing[0], 0], W_hh: [crossing[0], d * row], from_x: crossing, from_h: crossing, sum: crossing, plus: middle, equals: middle,
  };
}

/** The same arrangement in the middle of `height`. */
function centred(blocks, height) {
  const lower = (height - blocks.height) / 2;
  return Object.fromEntries(Object.entries(blocks).map(([name, place]) => [name, Array.isArray(place) ? [place[0], place[1] + lower] : place]));
}

/**
 * Where the blocks stand, in pixels: the weights above, the rows at the left, the result where they cross.
 *
 * `width` is what there is. Gives { width, height, isWide, apart, near, glued }: the last three are { unit, broad, row, X,
 * W_xh, H, W_hh, from_x, from_h, sum, plus, equals }, each block [x, y]. Apart they stand side by side where there is room,
 * else one below the other; `near` is glued in cells that are no larger than apart. The height is the same in all three.
 */
export function arrange(sizes, width) {
  const { batch_size: n, num_inputs: d, num_hiddens: h } = sizes;
  const wideFixed = 2 * GAP + 2 * SIGN;
  const isWide = (width - wideFixed) / (d + h + BROAD * 3 * h) >= UNIT.wide;
  const [a, b] = isWide ? columnsIn(width - wideFixed, d + h, 3 * h, UNIT) : columnsIn(width - GAP - SIGN, Math.max(d, h), h, UNIT);
  const r = isWide ? ROW.wide : ROW.narrow;
  const large = columnsIn(width - GAP - FRAME, d + h, h, { least: UNIT.least, most: UNIT.glued });
  const needed = isWide ? (d + h) * a + 3 * h * b + wideFixed : Math.max(d, h) * a + h * b + GAP + SIGN;
  const total = Math.max(width, needed, (d + h) * large[0] + h * large[1] + GAP + FRAME);
  const apart = isWide ? abreast(sizes, a, b, r, (total - needed) / 2) : stacked(sizes, a, b, r, (total - needed) / 2);
  const high = within((apart.height - GAP - LABEL) / (d + h + n), ROW); // as high as the picture is when apart
  const all = { apart, near: together(sizes, a < large[0] ? [a, b] : large, Math.min(r, high), total), glued: together(sizes, large, high, total) };
  const height = Math.max(...Object.values(all).map((blocks) => blocks.height));
  return { width: total, height, isWide, ...Object.fromEntries(Object.entries(all).map(([name, blocks]) => [name, centred(blocks, height)])) };
}

/** Apart, side by side. */
function abreast({ batch_size: n, num_inputs: d, num_hiddens: h }, a, b, r, begin) {
  const y = Math.max(d, h) * r + GAP; // of the rows
  const first = begin + d * a + GAP;
  const second = first + h * b + SIGN;
  return {
    unit: a, broad: b, row: r,
    height: y + n * r + LABEL, X: [begin, y], W_xh: [first, y - GAP - d * r], from_x: [first, y], plus: [first + h * b + SIGN / 2, y],
    H: [second, y], W_hh: [second + h * a + GAP, y - GAP - h * r], from_h: [second + h * a + GAP, y],
    equals: [second + h * a + GAP + h * b + SIGN / 2, y], sum: [second + h * a + GAP + h * b + SIGN, y],
  };
}

/** Apart, one below the other. */
function stacked({ batch_size: n, num_inputs: d, num_hiddens: h }, a, b, r, begin) {
  const edge = begin + Math.max(d, h) * a; // the rows end here
  const column = edge + GAP;
  const [y1, y2] = [d * r + GAP, (d + n + h) * r + 2 * GAP + LABEL + 4];
  const y3 = y2 + n * r + LABEL + 4;
  return {
    unit: a, broad: b, row: r,
    height: y3 + n * r + LABEL, X: [edge - d * a, y1], W_xh: [column, 0], from_x: [column, y1], plus: [column + h * b + SIGN / 2, y1],
    H: [edge - h * a, y2], W_hh: [column, y2 - GAP - h * r], from_h: [column, y2], equals: [column - GAP - SIGN / 2, y3], sum: [column, y3],
  };
}

// The whole motion, in shares of it: the partial results fade, all blocks come on their lines, H slides to X, W_hh slides
// to W_xh, and the glued blocks grow. So no block ever lies on another.
export const MERGED = 0.12;
const ON_LINE = 0.36;
const ROWS_MEET = 0.62;
const ALL_MEET = 0.88;
const RESULTS = ["from_x", "from_h"];

function during(share, from, to) {
  const part = Math.max(0, Math.min(1, (share - from) / (to - from)));
  return part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part);
}

const mix = (from, to, part) => (part === 1 ? to : from + part * (to - from));

/** The place of a block between apart (share 0) and glued (1). */
export function between({ isWide, apart, near, glued }, name, share) {
  if (RESULTS.includes(name)) return apart[name];
  const last = name === "X" || name === "H" ? during(share, ON_LINE, ROWS_MEET) : during(share, ROWS_MEET, ALL_MEET);
  const first = during(share, MERGED, ON_LINE);
  const parts = isWide ? [last, first] : [first, last];
  return parts.map((part, i) => mix(mix(apart[name][i], near[name][i], part), glued[name][i], during(share, ALL_MEET, 1)));
}

/** The size of the cells on the way: { unit, broad, row }. */
export function sizeAt({ apart, near, glued }, share) {
  return Object.fromEntries(["unit", "broad", "row"].map((name) => [
    name, mix(mix(apart[name], near[name], during(share, 0, MERGED)), glued[name], during(share, ALL_MEET, 1))]));
}

/** Where [X H] and the weights on top of each other stand once glued: { rows, columns }, each { x, y, width, height }. */
export function frames({ batch_size: n, num_inputs: d, num_hiddens: h }, { glued }) {
  const { unit, broad, row } = glued;
  const box = ([x, y], width, height) => ({ x, y, width, height });
  return { rows: box(glued.X, (d + h) * unit, n * row), columns: box(glued.W_xh, h * broad, (d + h) * row) };
}

/** The distance in pixels between two boxes { x, y, width, height }; 0 where they touch. */
export function gapBetween(a, b) {
  const away = (at, size) => Math.max(0, b[at] - a[at] - a[size], a[at] - b[at] - b[size]);
  return Math.hypot(away("x", "width"), away("y", "height"));
}
