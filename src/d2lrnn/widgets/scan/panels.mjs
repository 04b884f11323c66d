// What Scan shows: one picture with a line for each time step, the loop's column and the levels of the scan; the cell in hand.
import { element, rangeControl, svg } from "../ui.mjs";
import { coneOf, counts, formatDifference, formatValue, largestDifferences } from "./maths.mjs";

// ---- where things stand ---------------------------------------------------------------------------------------------

/** Up to so many time steps the cells hold numbers. */
export const MOST_NUMBERS = 16;
const TALL = 400; // pixels for the lines of a figure without numbers

/**
 * Where everything stands in a figure of `width` pixels.
 *
 * Where there is room, the cells of all levels are boxes with their numbers (`boxes`). On a phone they are dots, and one
 * more column, at `now`, holds the numbers of the level that is reached. Beyond MOST_NUMBERS time steps all cells are
 * dots, and nothing is a number (`numbers` is false).
 */
export function layoutOf(width, numSteps, numLevels) {
  const numbers = numSteps <= MOST_NUMBERS;
  const wide = width >= 520;
  const box = numbers ? (wide ? 48 : 40) : 12;
  let columns = wide ? { t: 12, a: 72, x: 122, loop: 172 } : { t: 8, a: 47, x: 79, loop: 105 };
  if (!numbers) columns = { t: 12, a: 12, x: 12, loop: wide ? 96 : 64 };
  const left = columns.loop + box / 2 + (wide ? 40 : 18) + (numbers ? 0 : 16);
  const boxes = numbers && (width - left - (numLevels + 1) * box) / numLevels >= 24;
  const last = boxes ? width - 6 - box / 2 : numbers ? width - box - 17 : width - 12;
  const first = boxes ? left + box / 2 : left + 2;
  const levels = Array.from({ length: numLevels + 1 }, (_, level) => first + ((last - first) * level) / numLevels);
  const row = numbers ? (wide && numSteps <= 12 ? 30 : 25) : TALL / numSteps;
  const top = 46;
  return {
    wide, numbers, box, boxes, columns, levels, row, top, now: width - 6 - box / 2, height: top + row * numSteps + 4,
    dot: Math.min(4.5, 0.4 * row), y: Array.from({ length: numSteps }, (_, t) => top + row * (t + 0.5)),
  };
}

/** The cell that stands nearest to a point of the figure, { level, place }; null where none is filled there. */
export function cellAt(places, { numSteps, level, walked }, px, py) {
  const place = Math.floor((py - places.top) / places.row);
  if (place < 0 || place >= numSteps) return null;
  const reached = places.levels.slice(0, level + 1);
  const columns = [[-1, places.columns.loop], ...reached.map((x, i) => [i, x])];
  if (places.numbers && !places.boxes && level > 0) columns.push([level, places.now]);
  const [found] = columns.map(([number, x]) => [number, Math.abs(x - px)]).sort((p, q) => p[1] - q[1]);
  if (found[1] > 40 || (found[0] < 0 && place > walked)) return null;
  return { level: found[0], place };
}

// ---- the picture ----------------------------------------------------------------------------------------------------

const circle = (x, y, r) => `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

/** Collects lines and dots by kind, so that the largest figure is a few dozen paths. */
function strokes(parts) {
  const kinds = new Map();
  const add = (kind, d) => kinds.set(kind, (kinds.get(kind) ?? "") + d);
  const flush = () => {
    for (const [kind, d] of kinds) parts.push(svg("path", { class: kind, d }));
    kinds.clear();
  };
  return { add, flush };
}

function paint(picture, width, places, model, t, { lit, rows }) {
  const { columns, box, y, top, row, height, numbers, boxes, dot } = places;
  const { a, x, numSteps, levels, level, walked, loop, trace } = model;
  const cone = lit === null ? { loop: new Set(), scan: [], inputs: new Set() } : coneOf(model, lit);
  const parts = [];
  const add = (tag, attributes, ...children) => parts.push(svg(tag, attributes, ...children));
  const lines = strokes(parts);
  const text = (string, atX, atY, kind = "", anchor = "middle") =>
    add("text", { class: `scan-text ${kind}`, x: atX.toFixed(1), y: (atY + 4.5).toFixed(1), "text-anchor": anchor }, string);
  const related = (is) => (is ? " scan-kin" : "");
  const cell = (atX, s, kind, string) => {
    if (numbers) {
      add("rect", { class: `scan-cell ${kind}`, x: (atX - box / 2).toFixed(1), y: y[s] - row / 2 + 3, width: box, height: row - 6, rx: 4 });
      if (string !== null) text(string, atX, y[s], kind);
    } else lines.add(`scan-cell scan-dot ${kind}`, circle(atX, y[s], dot));
  };

  // heads
  const start = places.levels[0] - (boxes ? box / 2 : 4);
  text(t("loop"), columns.loop, 10, "scan-head");
  text(t(level === 0 ? "scan" : "scan_distance"), start, 10, "scan-head", "start");
  if (numbers) text(t("law"), 0, 10, "scan-given", "start");
  text("t", columns.t, 31, "scan-soft");
  if (numbers) {
    text(t("column_a"), columns.a, 31, "scan-soft", "end");
    text(t("column_x"), columns.x, 31, "scan-soft", "end");
  }
  text(t("column_h"), columns.loop, 31, "scan-soft");
  if (boxes) text(t("column_start"), places.levels[0], 31, "scan-soft");
  if (numbers && !boxes && level > 0) text(t("column_now"), places.now, 31, "scan-soft");
  levels.slice(0, level).forEach(({ distance }, i) => {
    text(String(distance), places.levels[i + 1], 31, i + 1 === level ? "scan-level" : "scan-soft");
  });
  if (level === 0) text(t("empty"), (places.levels[0] + box / 2 + width) / 2, top + (row * numSteps) / 2, "scan-soft scan-empty");

  // given
  for (let s = 0; s < rows; s += 1) {
    if (numbers || s === 0 || s === numSteps - 1 || (s + 1) % 16 === 0) text(String(s + 1), columns.t, y[s], "scan-soft");
    if (!numbers) continue;
    const kind = cone.inputs.has(s) ? "scan-given scan-kin" : "scan-given";
    text(formatValue(a[s]), columns.a, y[s], kind, "end");
    text(formatValue(x[s]), columns.x, y[s], kind, "end");
  }
  // the loop: lines first, so that cells stand on top
  for (let s = 1; s < rows; s += 1) {
    const when = s === walked ? "scan-now" : s < walked ? "scan-past" : "scan-later";
    const [from, to] = numbers ? [y[s - 1] + row / 2 - 3, 6] : [y[s - 1], row];
    lines.add(`scan-line scan-take ${when}${related(cone.loop.has(s))}`, `M${columns.loop} ${from.toFixed(1)}v${to}`);
  }
  lines.flush();
  for (let s = 0; s < rows; s += 1) {
    const kind = s > walked ? "scan-open" : `scan-state${related(cone.loop.has(s))}`;
    cell(columns.loop, s, kind, s > walked ? null : formatValue(loop[s]));
  }
  lines.flush();
  // the scan, as far as it has come
  const half = boxes ? box / 2 : dot + 0.5;
  levels.slice(0, level).forEach(({ distance, targets }, i) => {
    const [from, to] = [places.levels[i] + half, places.levels[i + 1] - half].map((at) => at.toFixed(1));
    const when = i + 1 === level ? "scan-now" : "scan-past";
    const takes = new Set(targets);
    for (let s = 0; s < numSteps; s += 1) {
      const kind = `${when}${related(cone.scan[i + 1]?.has(s))}`;
      lines.add(`scan-line ${takes.has(s) ? "scan-own" : "scan-keep"} ${kind}`, `M${from} ${y[s].toFixed(1)}H${to}`);
      if (takes.has(s)) lines.add(`scan-line scan-take ${kind}`, `M${from} ${y[s - distance].toFixed(1)}L${to} ${y[s].toFixed(1)}`);
    }
  });
  lines.flush();
  trace.slice(0, level + 1).forEach(({ b, from }, i) => {
    for (let s = 0; s < rows; s += 1) {
      const kind = `${from[s] === 0 ? "scan-state" : "scan-part"}${related(cone.scan[i]?.has(s))}`;
      if (boxes) cell(places.levels[i], s, kind, formatValue(b[s]));
      else lines.add(`scan-cell scan-dot ${kind}`, circle(places.levels[i], y[s], dot));
    }
  });
  lines.flush();
  if (numbers && !boxes && level > 0) {
    for (let s = 0; s < numSteps; s += 1) {
      const kind = `${trace[level].from[s] === 0 ? "scan-state" : "scan-part"}${related(cone.scan[level]?.has(s))}`;
      cell(places.now, s, kind, formatValue(trace[level].b[s]));
    }
  }
  if (lit !== null) {
    const atX = lit.level < 0 ? columns.loop : places.levels[lit.level];
    const [w, h] = numbers && (boxes || lit.level < 0) ? [box + 8, row - 1] : [2 * dot + 9, 2 * dot + 9];
    add("rect", { class: "scan-hand-mark", x: (atX - w / 2).toFixed(1), y: (y[lit.place] - h / 2).toFixed(1), width: w, height: h, rx: 6 });
  }
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("height", height);
  picture.setAttribute("class", `scan-picture${places.wide ? "" : " scan-small"}${numbers ? "" : " scan-dense"}${lit === null ? "" : " scan-lit"}`);
  const said = { states: walked + 1, steps: numSteps, level, scan_states: model.states.scan };
  picture.setAttribute("aria-label", t(numbers ? "figure" : "figure_large", {
    ...said, loop: loop.slice(0, walked + 1).map(formatValue).join(", "), scan: trace[level].b.map(formatValue).join(", "),
  }));
  picture.replaceChildren(...parts);
}

/** The picture: a tap takes a cell in hand, a mouse over it lights up what it was made from, arrow keys walk from cell to cell. */
export function figure({ t, signal, onCell }) {
  const picture = svg("svg", { class: "scan-picture", role: "img" });
  const node = element("div", { class: "scan-figure", tabindex: "0", role: "application", "aria-label": t("figure_keys") }, picture);
  let latest = null;
  let width = 0;
  let places = null;
  let hovered = null;
  let rows = Infinity; // how many lines have appeared

  const draw = () => {
    if (width === 0 || latest === null) return;
    places = layoutOf(width, latest.numSteps, latest.levels.length);
    paint(picture, width, places, latest, t, { lit: hovered ?? latest.cell, rows: Math.min(rows, latest.numSteps) });
  };
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    draw();
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });

  const under = (event) => {
    const frame = picture.getBoundingClientRect();
    return places === null ? null : cellAt(places, latest, event.clientX - frame.left, event.clientY - frame.top);
  };
  const hover = (cell) => {
    if (JSON.stringify(cell) === JSON.stringify(hovered)) return;
    hovered = cell;
    draw();
  };
  const equal = (p, q) => p !== null && q !== null && p.level === q.level && p.place === q.place;
  node.addEventListener("pointermove", (event) => event.pointerType === "mouse" && hover(under(event)), { signal });
  node.addEventListener("pointerleave", () => hover(null), { signal });
  node.addEventListener("click", (event) => {
    const cell = under(event);
    hovered = null;
    onCell(equal(cell, latest.cell) ? null : cell); // a second tap lets it go
  }, { signal });
  const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return onCell(null);
    if (!Object.hasOwn(MOVES, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const { cell, level, walked, numSteps } = latest;
    if (cell === null) return onCell({ level, place: numSteps - 1 });
    const [dx, dy] = MOVES[event.key];
    const column = Math.min(level, Math.max(-1, cell.level + dx));
    const place = Math.min(column < 0 ? walked : numSteps - 1, Math.max(0, cell.place + dy));
    onCell({ level: column, place });
  }, { signal });
  return {
    node,
    draw: (model) => {
      latest = model;
      rows = Infinity;
      const filled = hovered !== null && hovered.level <= model.level && hovered.place < (hovered.level < 0 ? model.states.loop : model.numSteps);
      if (!filled) hovered = null;
      draw();
    },
    /** The lines appear one after the other, as far as this share of them. */
    reveal: (share) => {
      const now = share >= 1 ? Infinity : Math.floor(share * latest.numSteps);
      if (now === rows) return;
      rows = now;
      draw();
    },
  };
}

// ---- the cell in hand -----------------------------------------------------------------------------------------------

const sub = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
/** A number with four decimals, so that a reader who checks the sum finds it right. */
function fine(value) {
  const size = Math.abs(value);
  if (size >= 100 || (size > 0 && size < 0.01)) return formatValue(value);
  return (value < 0 ? "−" : "") + Number(size.toFixed(4));
}
/** A number that stands after a sign. */
const term = (value) => (value < 0 ? `(${fine(value)})` : fine(value));
/** "=" where all numbers are shown in full, else "≈". */
const equals = (...values) => (values.every((value) => Math.abs(value - Number(value.toFixed(4))) < 1e-9 && Math.abs(value) < 100) ? "=" : "≈");

/** How the cell in hand was made: lines of text. */
export function cellInWords({ a, x, loop, trace, levels, cell: { level, place } }, t) {
  const span = (from, to) => (from === to ? t("span_one", { to: to + 1 }) : t("span", { from: from + 1, to: to + 1 }));
  if (level < 0) {
    const h = loop[place];
    if (place === 0) return [t("cell_loop_start", { h: fine(h) })];
    const before = loop[place - 1];
    return [t("cell_loop", {
      t: sub(place + 1), before: sub(place), a: fine(a[place]), h_before: term(before), x: term(x[place]), h: fine(h),
      equals: equals(a[place], before, x[place], h),
    })];
  }
  const now = trace[level];
  const pair = { span: span(now.from[place], place), a: fine(now.a[place]), b: fine(now.b[place]) };
  const state = now.from[place] === 0 ? [t("cell_state", { b: pair.b, t: sub(place + 1) })] : [];
  if (level === 0) return [t("cell_own", pair), ...state];
  const { distance, targets } = levels[level - 1];
  if (!targets.includes(place)) return [t("cell_kept", pair), ...state];
  const before = trace[level - 1];
  const s = place - distance;
  const given = [before.a[s], before.b[s], before.a[place], before.b[place]];
  const [a1, b1, a2, b2] = given.map(fine);
  return [t("cell_pair", { ...pair, a1, b1, a2, b2, equals: equals(...given, now.a[place], now.b[place]) }), ...state];
}

/** The cell in hand: how it was made, and the two numbers of its time step; hidden while there is none. */
export function hand({ t, signal, controls, onNumber }) {
  const lines = element("div", { class: "scan-lines" });
  const slider = (name, step) => {
    const label = element("span", { class: "scan-slider-label" });
    const { min, max } = controls[name].of;
    const range = rangeControl({ label, min, max, step, signal, onInput: (value) => onNumber(name, value) });
    return { name, label, range };
  };
  const sliders = [slider("a", 0.1), slider("x", 0.5)];
  const node = element("div", { class: "scan-hand" }, lines, element("div", { class: "scan-sliders" }, ...sliders.map(({ range }) => range.node)));
  const draw = (model) => {
    node.hidden = model.cell === null;
    if (model.cell === null) {
      for (const { range } of sliders) range.set(0, "0"); // as it was before there was one
      return;
    }
    const { place } = model.cell;
    lines.replaceChildren(...cellInWords(model, t).map((line) => element("p", {}, line)));
    for (const { name, label, range } of sliders) {
      const value = model[name][place];
      label.textContent = t(name === "a" ? "factor" : "input", { t: sub(place + 1), value: formatValue(value) });
      range.set(value, formatValue(value));
    }
  };
  return { node, draw };
}

// ---- the books ------------------------------------------------------------------------------------------------------

/** Depth, combinations and multiplications of both, so far. */
export function countsTable({ t }) {
  const columns = ["turns", "work", "products"];
  const rows = ["loop", "scan"].map((name) => ({ name, cells: columns.map(() => element("td", {})) }));
  const node = element(
    "table", { class: "scan-counts" },
    element("thead", {}, element("tr", {}, element("td", {}), ...columns.map((name) => element("th", { scope: "col" }, t(`column_${name}`))))),
    element("tbody", {}, ...rows.map(({ name, cells }) => element("tr", {}, element("th", { scope: "row" }, t(name)), ...cells))),
  );
  const equal = element("p", {});
  const draw = ({ a, x, numSteps, levels, step, loop, done }) => {
    const now = counts(numSteps, levels, step);
    for (const { name, cells } of rows) columns.forEach((column, i) => (cells[i].textContent = now[name][column]));
    const { float64, float32 } = largestDifferences(a, x, levels);
    const key = float64 > 0 ? "equal_rounding" : float32 > 0 ? "equal_float64" : "equal_exact";
    const largest = formatValue(Math.max(...loop.map(Math.abs)));
    equal.hidden = !(done.loop && done.scan);
    equal.textContent = t(key, { float64: formatDifference(float64), float32: formatDifference(float32), largest });
  };
  return { node: element("div", {}, node, equal), draw };
}

/** The sentence on top: a key of the words, and its values. */
export function sentence({ step, numSteps, states, done }) {
  const values = { ticks: step, steps: numSteps, loop: states.loop, scan: states.scan };
  if (step === 0) return ["now_start", values];
  if (done.loop && done.scan) return [step === 1 ? "now_end_one" : "now_end", values];
  return [done.scan ? "now_scan_done" : step === 1 ? "now_one" : "now", values];
}
