// The numbers of the concatenation identity, the same as those of Python's Concatenation, and where the blocks stand.
import { randomSource } from "../core.mjs";

/** A matrix of numbers with one decimal, from -1 to 1 or up to so many tenths, as a list of rows. */
function matrix(rows, columns, random, tenths = 10) {
  return Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => Math.floor(2 * tenths * random() - tenths + 0.5) / 10));
}

/**
 * X, W_xh, H and W_hh: equal settings, equal numbers. H comes out of tanh, so it stays below 1. Further rows of X and H are drawn
 * last, text by text: the same weights serve all texts.
 */
export function matrices({ batch_size, num_inputs, num_hiddens, seed }) {
  const random = randomSource(seed);
  const mats = {
    X: matrix(1, num_inputs, random), W_xh: matrix(num_inputs, num_hiddens, random),
    H: matrix(1, num_hiddens, random, 9), W_hh: matrix(num_hiddens, num_hiddens, random),
  };
  while (mats.X.length < batch_size) {
    mats.X.push(...matrix(1, num_inputs, random));
    mats.H.push(...matrix(1, num_hiddens, random, 9));
  }
  return mats;
}

/**
 * The products that make the number in row i, column j: { all } in their order, and those of X and of H, each [number,
 * weight, block of the weight, block of the number, the weight that it needs] with "x" or "h" for a block. `swapped`: W_hh stands on top of W_xh;
 * `memory_first`: H stands before X.
 */
export function products({ X, W_xh, H, W_hh }, i, j, swapped = false, memory_first = false) {
  const glued = (x, h, hFirst) => {
    const blocks = [x.map((value, k) => [value, "x", k]), h.map((value, k) => [value, "h", k])];
    return (hFirst ? blocks.reverse() : blocks).flat();
  };
  const [column, line] = [glued(W_xh.map((row) => row[j]), W_hh.map((row) => row[j]), swapped), glued(X[i], H[i], memory_first)];
  const all = line.map(([value, of, place], k) => {
    const [weight, block] = column[k];
    return [value, weight, block, of, (of === "x" ? W_xh : W_hh)[place][j]];
  });
  const from = (block) => all.filter(([, , , of]) => of === block);
  return { all, x: from("x"), h: from("h") };
}

/** The sum of products without any rounding: of numbers with one decimal it has two, and is counted in hundredths. */
export function exactSum(pairs) {
  return pairs.reduce((sum, [u, v]) => sum + Math.round(10 * u) * Math.round(10 * v), 0) / 100;
}

const hundredths = (value) => Math.round(100 * value) / 100;

/** A cell that the result has. */
export function repair(state) {
  return { ...state, row: Math.min(state.row, state.batch_size - 1), column: Math.min(state.column, state.num_hiddens - 1) };
}

/** All that the panels draw: the matrices, and of every number of the result the exact parts { x, h, sum } and what is right. */
export function derive(given) {
  const state = repair(given);
  const [swapped, memory_first] = [state.glued && state.swapped, state.glued && state.memory_first]; // apart, each block meets its own weights
  const added = swapped === memory_first ? 0 : hundredths(state.added); // a repair of what one swap broke
  const mats = matrices(state);
  const parts = mats.X.map((_, i) => mats.W_xh[0].map((__, j) => {
    const own = products(mats, i, j);
    const { all, x, h } = products(mats, i, j, swapped, memory_first);
    return { x: exactSum(x), h: exactSum(h), sum: hundredths(exactSum(all) + added), right: exactSum(own.all) };
  }));
  return { ...state, swapped, memory_first, added, mats, parts, isWrong: parts.flat().some(({ sum, right }) => sum !== right) };
}

// ---- places -----------------------------------------------------------------------------------------------------

const GAP = 10; // between a row and the columns that it meets
const SIGN = 24;
const FRAME = 6; // glued blocks have a frame around them
const LABEL = 22;
const LOOP = 26; // the way of the result back to H, above the labels
const UNIT = { least: 26, good: 36, most: 92 }; // width of a column: all cells are alike
const ROW = { least: 30, most: 43, all: 640 }; // apart: lower than broad, and all of them in sight
const FEW = { apart: 6, glued: 8 }; // so many columns fit on the narrowest phone and never scroll
const TALL = 1.3; // times as high as wide a glued cell may be

/** Glued: the rows side by side, the weights on top of each other, the result where they cross. `left` is where X begins. */
function together({ batch_size: n, num_inputs: d, num_hiddens: h }, unit, row, left) {
  const crossing = [left + (d + h) * unit + GAP, (d + h) * row + GAP];
  return {
    height: crossing[1] + n * row + LABEL + LOOP, X: [left, crossing[1]], H: [left + d * unit, crossing[1]],
    W_xh: [crossing[0], 0], W_hh: [crossing[0], d * row], sum: crossing,
  };
}

const lowered = (blocks, by) => Object.fromEntries(Object.entries(blocks).map(([name, place]) => [name, Array.isArray(place) ? [place[0], place[1] + by] : place]));

/**
 * Where the blocks stand, in pixels: the weights above, the rows at the left, the result where they cross.
 *
 * `width` is what there is, `least` the narrowest cell whose digits can be read. Gives { width, height, apart, glued }: the last two are { X, W_xh, H, W_hh,
 * sum }, and apart also from_x, from_h, plus and equals, each block [x, y], and the size of a cell, { unit, row }. Apart they stand one
 * below the other, as numbers that are added do, and cells are as large as either state has room for.
 */
export function arrange(sizes, width, least = UNIT.least) {
  const { batch_size: n, num_inputs: d, num_hiddens: h } = sizes;
  const unitIn = (room, columns, few) => (room / columns < (columns > few ? least : UNIT.least) ? Math.max(UNIT.good, least + 2) : Math.min(UNIT.most, room / columns)); // else it scrolls
  const unit = unitIn(width - GAP - FRAME, d + 2 * h, FEW.glued);
  const needed = (d + 2 * h) * unit + GAP + FRAME;
  const total = Math.max(width, needed);
  const rows = Math.max(d, h);
  const large = unitIn(width - GAP - SIGN, rows + h, FEW.apart);
  const over = total - (rows + h) * large - GAP - SIGN; // where it scrolls, the result is at the right
  const low = Math.max(ROW.least, Math.min(ROW.most, 0.6 * large, ROW.all / (d + h + 3 * n)));
  const apart = stacked(sizes, large, low, (total > width ? over : over / 2) + SIGN + rows * large);
  const row = Math.max(low, Math.min(TALL * unit, (apart.height - GAP - LABEL - LOOP) / (n + d + h))); // glued, the cells fill the height
  const glued = together(sizes, unit, row, (total - needed) / 2 + FRAME / 2);
  return {
    width: total, height: apart.height, apart: { ...apart, unit: large, row: low }, glued: { ...lowered(glued, (apart.height - glued.height) / 2), unit, row },
  };
}

/** Apart, one below the other; the rows end at `edge`. */
function stacked({ batch_size: n, num_inputs: d, num_hiddens: h }, u, r, edge) {
  const column = edge + GAP;
  const [y1, y2] = [d * r + GAP, (d + n + h) * r + 2 * GAP + LABEL + 2];
  const y3 = y2 + n * r + LABEL + 2;
  return {
    height: y3 + n * r + LABEL, X: [edge - d * u, y1], W_xh: [column, 0], from_x: [column, y1], plus: [edge - h * u - SIGN / 2, y2],
    H: [edge - h * u, y2], W_hh: [column, y2 - GAP - h * r], from_h: [column, y2], equals: [column - GAP - SIGN / 2, y3], sum: [column, y3],
  };
}

// The motion, in shares of it: X steps aside, then X and W_xh come down, and the cells take the size that they have glued.
// No block ever lies on another.
export const MERGED = 0.15;
const WAY = { x: [0.05, 0.5], y: [0.3, 1] };

/** Slow, fast, slow: speed and its change are 0 at both ends. */
function during(share, [from, to]) {
  const part = Math.max(0, Math.min(1, (share - from) / (to - from)));
  return part ** 3 * (part * (6 * part - 15) + 10);
}

/** The place of a block between apart (share 0) and glued (1); what is not there when glued stays. */
export function between({ apart, glued }, name, share) {
  if (glued[name] === undefined) return apart[name];
  return Object.values(WAY).map((way, i) => {
    const part = during(share, way);
    return part === 1 ? glued[name][i] : apart[name][i] + part * (glued[name][i] - apart[name][i]);
  });
}

/** The width of a cell and its height, { unit, row }, on the way between apart (share 0) and glued (1). */
export function cellsAt({ apart, glued }, share) {
  const at = (name, way) => apart[name] + during(share, way) * (glued[name] - apart[name]);
  return { unit: at("unit", WAY.x), row: at("row", WAY.y) };
}

/** Where [X H] and the weights on top of each other stand once glued: { rows, columns }, each { x, y, width, height }. */
export function frames({ batch_size: n, num_inputs: d, num_hiddens: h }, { glued }) {
  const { unit, row } = glued;
  const box = ([x, y], width, height) => ({ x, y, width, height });
  return { rows: box(glued.X, (d + h) * unit, n * row), columns: box(glued.W_xh, h * unit, (d + h) * row) };
}

/** The way of a result back to its place in H, which begins and ends below the tables: { from, to, y }. */
export function loopOf({ batch_size: n, num_inputs: d, memory_first }, { glued: { X, sum, unit, row } }, column) {
  return { from: sum[0] + (column + 0.5) * unit, to: X[0] + ((memory_first ? 0 : d) + column + 0.5) * unit, y: X[1] + n * row + FRAME };
}

/** The distance in pixels between two boxes { x, y, width, height }; 0 where they touch. */
export function gapBetween(a, b) {
  const away = (at, size) => Math.max(0, b[at] - a[at] - a[size], a[at] - b[at] - b[size]);
  return Math.hypot(away("x", "width"), away("y", "height"));
}
