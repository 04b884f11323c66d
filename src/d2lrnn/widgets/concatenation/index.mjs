// The concatenation identity: X W_xh + H W_hh beside [X H] times W_xh over W_hh, product by product.
import { randomSource } from "../core.mjs";
import { formatPowerOfTen } from "../charts.mjs";
import { buttonControl, element, explorable, footPanel, numberRule, rangeControl } from "../ui.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same as Python's Concatenation ------------------------------------------------------------------------

export const MOST = 4;

/** A matrix of two-decimal numbers from -2 to 2, as a list of rows. */
function matrix(rows, columns, random) {
  return Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => Math.round(400 * random() - 200) / 100));
}

/** X (n, d), W_xh (d, h), H (n, h), W_hh (h, h): equal settings, equal numbers. */
export function matrices({ n, d, h, seed }) {
  const random = randomSource(seed);
  return { X: matrix(n, d, random), W_xh: matrix(d, h, random), H: matrix(n, h, random), W_hh: matrix(h, h, random) };
}

/** The products that make the number in row i, column j: those from X and those from H. */
export function products({ X, W_xh, H, W_hh }, i, j) {
  return {
    x: X[i].map((value, k) => [value, W_xh[k][j]]),
    h: H[i].map((value, k) => [value, W_hh[k][j]]),
  };
}

/** The sum of products, left to right, every step rounded with `round` as a computer of that precision does. */
export function sumOf(pairs, round) {
  return pairs.reduce((sum, [u, v]) => round(sum + round(round(u) * round(v))), 0);
}

/** One number of the result, both ways: { x, h, apart, glued }. */
export function bothWays({ x, h }, round) {
  const [fromX, fromH] = [sumOf(x, round), sumOf(h, round)];
  return { x: fromX, h: fromH, apart: round(fromX + fromH), glued: sumOf([...x, ...h], round) };
}

export const ROUND = { float32: Math.fround, float64: (value) => value };

export const RULES = {
  n: numberRule(1, MOST, { whole: true }),
  d: numberRule(1, MOST, { whole: true }),
  h: numberRule(1, MOST, { whole: true }),
  seed: numberRule(0, 9999, { whole: true }),
  row: numberRule(0, MOST - 1, { whole: true }),
  column: numberRule(0, MOST - 1, { whole: true }),
};

/** A cell that the result has. */
export function repair(state) {
  return { ...state, row: Math.min(state.row, state.n - 1), column: Math.min(state.column, state.h - 1) };
}

// ---- view ---------------------------------------------------------------------------------------------------------------

const written = (value) => value.toFixed(2).replace("-", "−").replace(/^−(0\.00)$/, "$1");
const smallNumber = (value) => (value === 0 ? "0" : formatPowerOfTen(value));

/** A block of numbers: `part` is x or h and gives its colour and border; `marked(i, j)` says which cells light up. */
function block(values, { name, part = () => "x", marked, label, press = null, signal }) {
  const rows = values.map((line, i) => line.map((value, j) => {
    const classes = `glue-cell glue-${part(i, j)}${marked(i, j) ? " glue-marked" : ""}`;
    if (press === null) return element("span", { class: classes }, written(value));
    const node = buttonControl({
      label: written(value), class: `${classes} glue-press`, "aria-pressed": String(marked(i, j)),
      "aria-label": press.label(i, j, value), signal, onPress: () => press.on(i, j),
    });
    return node;
  }));
  const grid = element("div", { class: "glue-grid", role: press ? "group" : "img", "aria-label": label }, ...rows.flat());
  grid.style.setProperty("--glue-columns", values[0].length);
  return element("div", { class: "glue-block" }, grid, element("span", { class: "glue-name" }, name));
}

const sign = (text) => element("span", { class: "glue-sign", "aria-hidden": "true" }, text);

function buildView({ el, t, signal, commit, reset, say, link }) {
  let spoken = null;
  const slider = (name) => {
    const value = element("b", {});
    const range = rangeControl({
      label: element("span", {}, t(name), " ", value), min: 1, max: MOST, signal,
      onInput: (size) => commit(repair({ ...shown, [name]: size })),
    });
    return { node: range.node, set: (size) => { value.textContent = String(size); range.set(size, String(size)); } };
  };
  let shown = null;
  const sliders = { n: slider("n"), d: slider("d"), h: slider("h") };
  const numbers = buttonControl({ label: t("numbers"), signal, onPress: () => commit({ seed: (shown.seed + 1) % 10_000 }) });
  const resetButton = buttonControl({ label: t("reset"), signal, onPress: () => reset() });
  const apart = element("div", { class: "glue-line" });
  const glued = element("div", { class: "glue-line" });
  const terms = element("div", { class: "glue-terms" });
  const table = element("table", { class: "glue-table" });
  const work = element("p", { class: "glue-work" });
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  el.append(element(
    "div", { class: "glue" },
    element("div", { class: "glue-tools" }, ...Object.values(sliders).map(({ node }) => node)),
    element("div", { class: "glue-buttons" }, numbers, resetButton),
    apart, glued, terms, table, work, foot.node,
  ));
  let ends = null; // the cells of the last drawing: their listeners end with it

  const drawBlocks = (state, mats, results) => {
    const { n, d, h, row, column } = state;
    const name = (text, values) => t("matrix", { name: text, rows: values.length, columns: values[0].length });
    const cells = ends.signal;
    const inRow = (i) => i === row;
    const inColumn = (_, j) => j === column;
    const press = {
      label: (i, j, value) => t("cell", { row: i + 1, column: j + 1, value: written(value) }),
      on: (i, j) => commit({ row: i, column: j }),
    };
    const result = (way) => block(results[way], {
      name: "", part: () => "r", marked: (i, j) => i === row && j === column, label: t("result", { way: t(way) }), press, signal: cells,
    });
    const { X, W_xh, H, W_hh } = mats;
    const glue = X.map((line, i) => [...line, ...H[i]]);
    const stack = [...W_xh, ...W_hh];
    apart.replaceChildren(
      block(X, { name: "X", marked: inRow, label: name("X", X) }), sign("×"),
      block(W_xh, { name: "W_xh", marked: inColumn, label: name("W_xh", W_xh) }), sign("+"),
      block(H, { name: "H", part: () => "h", marked: inRow, label: name("H", H) }), sign("×"),
      block(W_hh, { name: "W_hh", part: () => "h", marked: inColumn, label: name("W_hh", W_hh) }), sign("="), result("apart"),
    );
    glued.replaceChildren(
      block(glue, { name: "[X H]", part: (_, j) => (j < d ? "x" : "h"), marked: inRow, label: name("[X H]", glue) }), sign("×"),
      block(stack, { name: "[W_xh; W_hh]", part: (i) => (i < d ? "x" : "h"), marked: inColumn, label: name("[W_xh; W_hh]", stack) }),
      sign("="), result("glued"),
    );
    work.textContent = t("work", { products: d + h, all: n * (d + h) * h });
  };
  const termsOf = (pairs, part) => pairs.map(([u, v]) =>
    element("span", { class: `glue-term glue-${part}` }, `${written(u)} · ${v < 0 ? `(${written(v)})` : written(v)}`));

  const draw = (state) => {
    const focused = el.contains(document.activeElement) && document.activeElement.matches(".glue-press")
      ? document.activeElement.closest(".glue-line") : null;
    shown = state;
    ends?.abort();
    ends = new AbortController();
    const mats = matrices(state);
    const exact = mats.X.map((_, i) => mats.W_xh[0].map((_, j) => bothWays(products(mats, i, j), ROUND.float64)));
    drawBlocks(state, mats, {
      apart: exact.map((line) => line.map((cell) => cell.apart)), glued: exact.map((line) => line.map((cell) => cell.glued)),
    });
    // Drawn anew, the cells must not lose a reader who walks through them by keyboard.
    if (focused) focused.querySelector('.glue-press[aria-pressed="true"]')?.focus();
    const { row, column } = state;
    const pairs = products(mats, row, column);
    const here = exact[row][column];
    terms.replaceChildren(
      element("b", {}, t("terms", { row: row + 1, column: column + 1 })),
      element("div", {}, element("span", { class: "glue-soft" }, t("x_part")), " ", ...termsOf(pairs.x, "x")),
      element("div", {}, element("span", { class: "glue-soft" }, t("h_part")), " ", ...termsOf(pairs.h, "h")),
      element("div", {}, t("sum_apart", { x: written(here.x), h: written(here.h), value: written(here.apart) })),
      element("div", {}, t("sum_glued", { count: pairs.x.length + pairs.h.length, value: written(here.glued) })),
    );
    const lines = Object.entries(ROUND).map(([kind, round]) => {
      const { apart: a, glued: b } = bothWays(pairs, round);
      const digits = kind === "float32" ? 9 : 17;
      const gap = Math.abs(a - b);
      return { kind, gap, node: element(
        "tr", {}, element("th", { scope: "row" }, t(kind)), element("td", {}, a.toPrecision(digits)), element("td", {}, b.toPrecision(digits)),
        element("td", {}, gap === 0 ? t("equal") : smallNumber(gap)),
      ) };
    });
    table.replaceChildren(
      element("thead", {}, element("tr", {}, ...["precision", "column_apart", "column_glued", "difference"].map((key) =>
        element("th", { scope: "col" }, t(key))))),
      element("tbody", {}, ...lines.map(({ node }) => node)),
    );
    for (const [name, control] of Object.entries(sliders)) control.set(state[name]);
    const words = t("spoken", { row: row + 1, column: column + 1, value: written(here.apart), difference: smallNumber(lines[0].gap) });
    if (spoken !== null && spoken !== words) say(words);
    spoken = words;
  };
  return { draw, destroy: () => ends?.abort() };
}

export default explorable({
  words: SPEC.words, traits: ["n", "d", "h", "seed", "row", "column"], build: buildView, rules: RULES, repair,
});
