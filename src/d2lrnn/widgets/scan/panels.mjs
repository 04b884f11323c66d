// What Scan shows: one picture with a line for each time step, the loop's column and the levels of the scan; the cell in hand.
import { emphasised, watchWidth } from "../shape.mjs";
import { element, rangeControl, svg } from "../ui.mjs";
import { ROUNDING, coneOf, counts, formatDifference, formatValue, largestShares, numberIn, scanLevels, scientific } from "./maths.mjs";

// ---- where things stand ---------------------------------------------------------------------------------------------

/** Up to so many time steps the cells hold numbers. */
const MOST_NUMBERS = 16;
const TALL = 271; // pixels for the lines of a figure without numbers
const FOOT = 24; // pixels under a figure without numbers: how many boxes a column has filled
const LINE = 18; // pixels from one line of text to the next
const [SMALL_SIGN, SIGN, LARGE_SIGN] = [6.4, 6.9, 7.9]; // pixels of a character in a cell, about
const HEAD_SIGN = 8.4; // of a bold one above a column

/** The two halves of a cell's step, "×0.81" and "+2". */
const halves = (a, b, format) => [`×${format(a)}`, `${b < 0 ? "" : "+"}${format(b)}`];
/** "×0.81 +2", what a cell does to the state before its steps. */
export const cellText = (a, b, format = formatValue) => halves(a, b, format).join(" ");

/** How many characters the longest step has, in all cells. */
export const longestCell = (trace) => Math.max(...trace.flatMap(({ a, b }) => a.map((value, s) => cellText(value, b[s]).length)));

/**
 * Where everything stands in a figure of `width` pixels, where the step of a cell has up to `signs` characters.
 *
 * `mode`: the scan's cells hold their steps in one line ("pairs"), or one number above the other ("stacked"). Where there
 * is no room for either they are small, and one more column, at `now`, holds what the level that is reached holds
 * ("small"). Beyond MOST_NUMBERS time steps nothing is a number ("dense").
 */
export function layoutOf(width, numSteps, numLevels, signs = 13) {
  const wide = width >= 520;
  const numbers = showsNumbers({ numSteps });
  const few = numSteps <= 8;
  const columns = wide ? { t: 15, loop: 62 } : { t: 7, loop: 45 };
  const box = !numbers ? 22 : wide ? 56 : 42;
  const left = columns.loop + box / 2 + (wide ? 34 : numbers ? 13 : 17);
  const pair = Math.max(52, Math.min(16, signs) * (wide && few ? LARGE_SIGN : SIGN) + 12);
  const room = (short) => (width - 8 - left - short * numLevels) / (numLevels + 1); // for a cell, with lines so short between
  const mode = !numbers ? "dense" : room(16) >= pair ? "pairs" : few && room(14) >= 40 ? "stacked" : "small";
  const boxes = mode === "pairs" || mode === "stacked";
  const whole = width >= (numLevels > 3 ? 300 : 240); // room for a pair at the end
  const nowBox = whole ? Math.min(pair, 104) : 44;
  const cell = { pairs: Math.max(pair, Math.min(1.4 * pair, room(56))), stacked: Math.max(40, Math.min(64, room(20))), small: Math.min(24, (0.5 * (width - nowBox - 20 - left)) / numLevels), dense: Math.min(30, 0.4 * room(0)) }[mode];
  const first = left + cell / 2;
  const last = boxes ? width - 7 - cell / 2 : numbers ? width - nowBox - 20 - cell / 2 : width - Math.max(cell / 2, wide ? 46 : 12); // room for "32 rows up"
  const row = !numbers ? Math.floor(TALL / numSteps) : mode === "stacked" ? 32 : !wide ? (few ? 30 : 18) : few ? 33 : numSteps <= 12 ? 29 : 20; // whole pixels: no moiré
  const [top, foot] = mode === "stacked" ? [41, 4] : [wide ? 46 : 42, numbers ? 7 : FOOT];
  return {
    wide, numbers, mode, boxes, box, cell, columns, row, top, whole, nowBox, now: width - 3 - nowBox / 2, height: top + row * numSteps + foot,
    apart: row > 20 && mode !== "stacked" ? 6 : 4, large: few && wide && mode !== "stacked", levels: Array.from({ length: numLevels + 1 }, (_, level) => first + ((last - first) * level) / numLevels),
    y: Array.from({ length: numSteps }, (_, t) => top + row * (t + 0.5)),
  };
}

/**
 * The cell that stands nearest to a point of the figure, { level, place }; null where none is filled there. Before the
 * first round a box that it will fill answers for the later one of both that it is made of.
 */
export function cellAt(places, { numSteps, level, levels, walked, isAsked }, px, py) {
  const place = Math.floor((py - places.top) / places.row);
  if (place < 0 || place >= numSteps) return null;
  const reached = places.levels.slice(0, level + 1);
  const columns = [[-1, places.columns.loop], ...reached.map((x, i) => [i, x])];
  if (places.mode === "small") columns.push([level, places.now]);
  const next = level === 0 && !isAsked && levels[0].targets.includes(place) ? [[0, places.levels[1]]] : [];
  const [found] = [...columns, ...next].map(([number, x]) => [number, Math.abs(x - px)]).sort((p, q) => p[1] - q[1]);
  if (found[1] > Math.max(50, places.cell / 2) || (found[0] < 0 && place > walked)) return null;
  return { level: found[0], place };
}

/** The newest level's box that is explained: the last that was joined; up to round 1 two boxes in the middle join, far from any known state. */
function newest({ level, levels, numSteps }) {
  const middle = level === 0 || (level === 1 && showsNumbers({ numSteps })) ? levels[0].targets.find((s) => s >= 4) : undefined;
  return { level, place: middle ?? (level > 0 ? levels[level - 1].targets.at(-1) : numSteps - 1) };
}

/** The cell whose parts light up: the one under the mouse, the one in hand, or one of the newest level. */
export const litCell = (model, hovered = null) => hovered ?? model.cell ?? (model.level > 0 || showsNumbers(model) ? newest(model) : null);

/** The box that two boxes of one column join into, where a mouse drags one to the other; as long as it isn't filled, the later of both. */
export function dragged({ levels, level }, one, other) {
  if (!one || !other || one.level < 0 || one.level !== other.level || one.place === other.place) return null;
  const place = Math.max(one.place, other.place);
  const next = levels[one.level];
  const isJoin = one.level < level && next.targets.includes(place) && Math.abs(one.place - other.place) === next.distance;
  return { level: one.level + (isJoin ? 1 : 0), place };
}

/** The model whose box in hand is the one that is explained: the reader's, else one of the newest round. */
export const explained = (model) => ({ ...model, cell: model.cell ?? newest(model) });

/** Its boxes hold numbers; else they are dots. */
export const showsNumbers = ({ numSteps }) => numSteps <= MOST_NUMBERS;

/** Told the price of a long race, the reader sees which boxes the scan has filled. */
export const showsFilled = ({ done, numSteps, isPriced }) => isPriced && done.scan && done.loop && !showsNumbers({ numSteps });

// ---- the picture ----------------------------------------------------------------------------------------------------

/** A box without numbers, as thin as its row. */
const bar = (x, y, wide, row) => `M${(x - wide / 2).toFixed(1)} ${y - row / 2}h${wide.toFixed(1)}v${row - Math.max(1, Math.round(0.28 * row))}h${(-wide).toFixed(1)}z`;

/** One that nobody fills, because its numbers are given or copied: a thin line in the middle of its row. */
const wire = (x, y, wide, row) => {
  const thin = Math.max(1, Math.round(0.15 * row));
  return `M${(x - wide / 2).toFixed(1)} ${y - row / 2 + Math.max(1, Math.floor(0.36 * row - thin / 2))}h${wide.toFixed(1)}v${thin}h${(-wide).toFixed(1)}z`;
};

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

function paint(picture, width, places, model, t, { lit, isChosen, isNext }) {
  const { columns, box, y, top, row, apart, height, numbers, boxes, mode } = places;
  const { numSteps, levels, level, walked, loop, trace } = model;
  const cone = lit === null ? { loop: new Set(), scan: [], inputs: new Set() } : coneOf(model, lit);
  const parts = [];
  const add = (tag, attributes, ...children) => parts.push(svg(tag, attributes, ...children));
  const lines = strokes(parts);
  /** A text in the middle of `room` pixels, closer together where it would be longer. */
  const text = (content, atX, atY, kind = "", { anchor = "middle", room = Infinity } = {}) => {
    const fit = 1.1 * (places.large ? LARGE_SIGN : places.wide ? SIGN : SMALL_SIGN) * content.length > room ? { textLength: Math.max(1, room).toFixed(0), lengthAdjust: "spacingAndGlyphs" } : {};
    add("text", { class: `scan-text ${kind}`, x: atX.toFixed(1), y: (atY + 4.5).toFixed(1), "text-anchor": anchor, ...fit }, content);
  };
  const sample = lit?.level === 0 ? sampleOf({ ...model, cell: lit }) : null; // what a box of the first column joins to lights up with it
  const opens = !model.isAsked; // the columns to come are seen to be open
  // Where many boxes hold numbers, one that nobody chose shows what it is made of as the strip does, no farther back.
  const back = lit === null || isChosen || !boxes || numSteps <= 8 ? Infinity : trace[lit.level].from[lit.place] === 0 ? 2 : 1;
  const isNear = (i) => i >= lit.level - back;
  const related = (is) => (is ? " scan-kin" : "");
  const frame = (atX, s, w, kind) =>
    add("rect", { class: `scan-cell ${kind}`, x: (atX - w / 2).toFixed(1), y: (y[s] - (row - apart) / 2).toFixed(1), width: w.toFixed(1), height: (row - apart).toFixed(1), rx: 4 });
  /** A cell of the scan: its state, or the step that it still is. */
  const stepCell = (atX, s, w, kind, a, b, isState, whole = true) => {
    frame(atX, s, w, kind);
    const [times, plus] = halves(a, b, formatValue);
    if (isState) text(formatValue(b), atX, y[s], kind, { room: w - 6 });
    else if (mode === "stacked") {
      text(times, atX, y[s] - 6.5, kind, { room: w - 4 });
      text(plus, atX, y[s] + 6.5, kind, { room: w - 4 });
    } else text(whole ? cellText(a, b) : "…", atX, y[s], `scan-step ${kind}`, { room: w - 10 });
  };
  const half = places.cell / 2;
  const small = (atX, s, w, isFree = false) => (isFree ? wire : bar)(atX, y[s] + (numbers ? 2 : 0), w, numbers ? 16 : row);
  const isCopied = (i, s) => i > 0 && i <= level && !levels[i - 1].targets.includes(s);
  const isFilled = showsFilled(model); // there what is given is as thin as a copy

  // heads
  const start = places.levels[0] - half;
  const between = places.levels[1] - places.levels[0];
  picture.style.setProperty("--scan-hop", `${(-0.6 * between).toFixed(1)}px`);
  const doubles = model.method === "doubling"; // then a column says how many steps its boxes join, else how far they reach
  const longest = doubles ? t("joined", { count: numSteps }) : t("apart", { distance: numSteps });
  const needs = HEAD_SIGN * longest.length;
  const roomy = between - Math.max(0, places.levels.at(-1) + needs / 2 - width) >= needs; // the last one is moved inside
  const numbered = doubles ? between >= (places.wide ? 62 : 60) : roomy; // its rounds stand over the columns
  text(t("loop"), columns.loop, 10, "scan-head");
  const inside = (head, i) => Math.min(places.levels[i + 1], width - (HEAD_SIGN * head.length) / 2); // the figure
  text(t("scan"), start, 10, "scan-head", { anchor: "start" });
  if (!numbered && levels.length > 1) text(t(doubles ? "scan_joined" : "scan_distance"), start + 50, 10, "scan-soft", { anchor: "start", room: width - start - 50 }); // what the numbers over the columns mean
  text(t("column_step"), places.wide ? columns.t : 0, 31, "scan-soft", places.wide ? {} : { anchor: "start", room: 23 });
  text(t("column_state"), columns.loop, 31, "scan-soft", places.wide ? {} : { room: 29 });
  if (boxes && (roomy || !doubles)) text(t("column_pair"), places.levels[0], 31, "scan-soft");
  else if (doubles) text(numbered ? t("joined_one") : "1", boxes ? places.levels[0] : start, 31, "scan-soft", boxes ? {} : { anchor: "start" });
  if (mode === "small") text(t(places.whole ? "column_now" : "column_now_short"), places.now, 31, "scan-soft", { room: places.nowBox });
  levels.slice(0, sample !== null && isChosen && opens ? Math.max(1, level) : level).forEach(({ distance }, i) => {
    const kind = i + 1 === level ? "scan-level" : "scan-soft";
    const count = Math.min(2 * distance, numSteps);
    const head = doubles ? (numbered ? t(roomy ? "joined" : "joined_short", { count }) : String(count)) : roomy ? t(distance === 1 ? "apart_one" : "apart", { distance }) : String(distance);
    const over = t("round_head", { round: i + 1 });
    text(head, inside(head, i), 31, kind, { room: between - 5 });
    if (numbered) text(over, inside(over, i), 10, kind, { room: between - 5 });
  });
  for (const [x, w] of isNext && numbers ? [[columns.loop, box], [places.levels[level], places.cell]] : []) { // what comes in stands in its frame from the start
    for (let s = 0; s < numSteps; s += 1) {
      if (x !== columns.loop && isCopied(level, s)) continue;
      if (boxes || x === columns.loop) frame(x, s, w, "scan-slot");
      else lines.add("scan-dot scan-slot", small(x, s, w));
    }
  }
  lines.flush();
  for (let s = 0; s < numSteps; s += 1) {
    if (numbers || s === 0 || s === numSteps - 1 || ((s + 1) % 16 === 0 && (numSteps - 1 - s) * row >= LINE)) text(String(s + 1), columns.t, y[s], "scan-soft");
  }

  // lines first, so that cells stand on top: of the loop, and of the joins of the scan
  if (numbers) {
    for (let s = 1; s < numSteps; s += 1) {
      const when = s === walked ? "scan-now" : s < walked ? "scan-past" : "scan-next-step";
      lines.add(`scan-line scan-chain ${when}${related(cone.loop.has(s))}`, `M${columns.loop} ${(y[s - 1] + (row - apart) / 2).toFixed(1)}v${apart}`);
    }
  }
  levels.slice(0, opens ? levels.length : level).forEach(({ distance, targets }, i) => {
    const when = i >= level ? "scan-next-step" : i + 1 === model.step ? "scan-now" : "scan-past";
    const [from, to] = [places.levels[i] + half, places.levels[i + 1] - half].map((at) => at.toFixed(1));
    for (let s = 0; s < numSteps; s += 1) {
      const isSample = i === 0 && s === sample?.later;
      const isKin = (cone.scan[i + 1]?.has(s) && isNear(i)) || isSample;
      const takes = targets.includes(s);
      if (!isKin && (!takes || !boxes)) continue; // of many joins, and in a narrow figure, those that matter
      const kind = `${when}${related(isKin)}${numbers || i > level - 4 ? "" : " scan-far"}`;
      lines.add(`scan-line ${takes ? "scan-own" : "scan-keep"} ${kind}`, `M${from} ${y[s].toFixed(1)}H${to}`);
      if (takes) lines.add(`scan-line scan-take ${kind}`, `M${from} ${y[s - distance].toFixed(1)}L${to} ${y[s].toFixed(1)}`);
    }
  });
  if (level === 0 && !opens) { // nobody sees how many columns are to come
    const from = places.levels[0] + half + 26;
    const end = mode === "small" ? places.now - places.nowBox / 2 - 26 : width - 8;
    for (const at of y) lines.add("scan-line scan-own", `M${(places.levels[0] + half).toFixed(1)} ${at.toFixed(1)}H${from.toFixed(1)}`);
    add("rect", { class: "scan-cover", x: from.toFixed(1), y: top, width: Math.max(1, end - from).toFixed(1), height: row * numSteps, rx: 10 });
    t(model.isPriced ? "cover_boxes" : "cover_rounds").split("\n").forEach((line, i) => text(line, (from + end) / 2, top + (row * numSteps) / 2 + 22 * (i - 0.5), "scan-cover-sign"));
  }
  lines.flush();
  for (let s = 0; s < numSteps; s += 1) {
    const kind = `${s > walked ? "scan-open" : `scan-state${related(cone.loop.has(s))}${s === walked ? " scan-new-down" : ""}`}${s === 0 ? " scan-given" : ""} scan-aside`;
    if (!numbers) lines.add(`scan-cell scan-dot ${kind}`, small(columns.loop, s, box, isFilled && s === 0));
    else {
      frame(columns.loop, s, box, kind);
      if (s <= walked) text(formatValue(loop[s]), columns.loop, y[s], kind, { room: box - 6 });
    }
  }
  // the scan, as far as it has come, and what is open
  const kindOf = (i, s) => {
    const isJoined = sample !== null && i < 2 && (s === sample.later || (i === 0 && s === sample.earlier));
    const isKin = (cone.scan[i]?.has(s) && isNear(i)) || (i === 0 && cone.inputs.has(s) && isNear(i)) || isJoined;
    const isLast = i === levels.length; // all states
    const isCopy = isCopied(i, s);
    return `${trace[i].from[s] === 0 ? "scan-state" : "scan-part"}${isCopy ? " scan-copy" : ""}${i > 0 && !isCopy ? " scan-made" : ""}${i === 0 && s === 0 ? " scan-given" : ""}${isLast ? " scan-end" : ""}${i === level && level === model.step ? " scan-new" : ""}${i === level && !isChosen ? " scan-aside" : ""}${related(isKin)}`;
  };
  places.levels.slice(0, opens ? levels.length + 1 : level + 1).forEach((x, i) => {
    const { a, b, from } = trace[i];
    for (let s = 0; s < numSteps; s += 1) {
      const isSample = i === 1 && level === 0 && s === sample?.later; // before round 1 a box that the reader chose is joined, and that of the example is marked
      const kind = isSample ? `${isChosen ? `${sample.isState ? "scan-state" : "scan-part"} scan-made` : "scan-open"} scan-sample scan-kin` : i > level ? "scan-open" : kindOf(i, s);
      if (boxes && isCopied(i, s)) { // no box: the number goes on along a line
        const said = from[s] === 0 ? [formatValue(b[s])] : mode === "stacked" ? halves(a[s], b[s], formatValue) : [cellText(a[s], b[s])];
        const room = Math.min(half - 3, 0.5 * (places.large ? LARGE_SIGN : SIGN) * Math.max(...said.map(({ length }) => length)) + 4);
        lines.add(`scan-wire ${kind}`, `M${(places.levels[i - 1] + half).toFixed(1)} ${y[s].toFixed(1)}H${(x - room).toFixed(1)}M${(x + room).toFixed(1)} ${y[s].toFixed(1)}H${(x + half).toFixed(1)}`);
      }
      if (!boxes) lines.add(`scan-cell scan-dot ${kind}`, small(x, s, places.cell, isCopied(i, s) || (isFilled && i === 0)));
      else if (i > level && !(isSample && isChosen)) frame(x, s, places.cell, kind);
      else stepCell(x, s, places.cell, kind, a[s], b[s], from[s] === 0);
    }
  });
  lines.flush();
  if (isFilled && between >= 26) { // how many boxes each column has filled
    const foot = height - 11;
    if (places.wide) text(t("filled"), 0, foot, "scan-soft", { anchor: "start" });
    text(String(numSteps - 1), columns.loop, foot, "scan-level");
    levels.forEach(({ targets }, i) => text(String(targets.length), Math.min(places.levels[i + 1], width - 9), foot, "scan-level scan-filled-count"));
  }
  if (mode === "small") {
    const { a, b, from } = trace[level];
    for (let s = 0; s < numSteps; s += 1) stepCell(places.now, s, places.nowBox, kindOf(level, s).replace(" scan-copy", ""), a[s], b[s], from[s] === 0, places.whole);
  }
  if (lit !== null && (isChosen || (numbers && level > 0))) { // of a dense figure the lines end there
    const atX = lit.level < 0 ? columns.loop : places.levels[lit.level];
    const w = lit.level < 0 ? box : places.cell;
    const [wide, tall] = [w + 8, numbers ? row - 1 : row + 6];
    add("rect", { class: "scan-hand-mark", x: (atX - wide / 2).toFixed(1), y: (y[lit.place] - tall / 2).toFixed(1), width: wide.toFixed(1), height: tall.toFixed(1), rx: 6 });
  }
  const kinds = { "scan-small": !places.wide, "scan-large": places.large, "scan-dense": !numbers, "scan-filled": isFilled, "scan-lit": lit !== null && (numbers || isChosen), "scan-next": isNext };
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("height", height);
  picture.setAttribute("class", ["scan-picture", ...Object.keys(kinds).filter((kind) => kinds[kind])].join(" "));
  const said = { states: walked + 1, steps: numSteps, level, scan_states: model.states.scan };
  picture.setAttribute("aria-label", t(numbers ? "figure" : "figure_large", {
    ...said, loop: loop.slice(0, walked + 1).map(formatValue).join(", "), scan: trace[level].b.map((b, s) => (trace[level].from[s] === 0 ? formatValue(b) : cellText(trace[level].a[s], b))).join(", "),
  }));
  picture.replaceChildren(...parts);
}

/** The picture: a tap takes a cell in hand, a mouse over it lights up what it was made from, arrow keys walk from cell to cell. */
export function figure({ t, signal, onCell, onPlace }) {
  const picture = svg("svg", { class: "scan-picture", role: "img" });
  const node = element("div", { class: "scan-figure", tabindex: "0", role: "application", "aria-label": t("figure_keys") }, picture);
  let latest = null;
  let width = 0;
  let places = null;
  let hovered = null;

  /** `isNext`: the model is the round after the one that was drawn, so what it adds comes in by a movement. */
  const draw = (isNext = false) => {
    if (width === 0 || latest === null) return;
    places = layoutOf(width, latest.numSteps, latest.levels.length, showsNumbers(latest) ? longestCell(latest.trace) : 0);
    paint(picture, width, places, latest, t, { lit: litCell(latest, hovered), isChosen: (hovered ?? latest.cell) !== null, isNext });
    const told = litCell(latest); // of which the strip tells; before round 1, of the box to come
    const column = told === null || latest.isAsked ? null : told.level === 0 ? 1 : told.level;
    onPlace(column === null ? null : column < 0 ? places.columns.loop : places.levels[column]);
  };
  watchWidth(node, {
    act: (now) => {
      width = now;
      draw();
    },
    signal,
  });

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
  node.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse") return;
    const cell = under(event);
    node.classList.toggle("scan-answers", cell !== null); // an empty box doesn't
    hover((event.buttons > 0 ? dragged(latest, pressed, cell) : null) ?? cell); // a drag lights up what it will choose
  }, { signal });
  node.addEventListener("pointerleave", () => hover(null), { signal });
  let pressed = null;
  node.addEventListener("pointerdown", (event) => (pressed = under(event)), { signal });
  node.addEventListener("click", (event) => {
    const cell = under(event);
    const join = dragged(latest, pressed, cell);
    hovered = null;
    onCell(join ?? (equal(cell, latest.cell) ? null : cell), true); // a second tap lets it go
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
      const isNext = latest !== null && model.step === latest.step + 1 && model.numSteps === latest.numSteps;
      latest = model;
      const filled = hovered !== null && hovered.level <= model.level && hovered.place < (hovered.level < 0 ? model.states.loop : model.numSteps);
      if (!filled) hovered = null;
      draw(isNext);
    },
  };
}

// ---- the cell in hand -----------------------------------------------------------------------------------------------

const isWhole = (value, text) => Math.abs(value - numberIn(text)) < ROUNDING;
/** A state as its box shows it; "≈" where it has more digits. */
const stateText = (value) => (isWhole(value, formatValue(value)) ? "" : "≈") + formatValue(value);
/** A number in a sum: as its box shows it, or with more decimals. */
function fine(value, places) {
  const size = Math.abs(value);
  if (places === 2 || size === 0 || (places < 5 && size < 0.01)) return formatValue(value);
  const isPlain = size >= 0.0005 && size < 1e7;
  return (value < 0 ? "−" : "") + (isPlain ? Number(size.toFixed(size < 1000 ? places : places - 3)) : scientific(size, places - 2));
}
/** A number that stands after a sign. */
const term = (text) => (text.startsWith("−") ? `(${text})` : text);
const added = (text) => (text.startsWith("−") ? `− ${text.slice(1)}` : `+ ${text}`);
/** A sum in words, all as the boxes show it, but with so many more digits that a calculator finds the result. */
function sumText(key, [p, q, r = 0], result, t) {
  const shown = formatValue(result);
  const all = [2, 3, 4, 5, 6, 7, 8].map((places) => [p, q, r].map((value) => fine(value, places)));
  const texts = all.find((some) => {
    const [one, other, rest] = some.map(numberIn);
    return numberIn(formatValue(one * other + rest)) === numberIn(shown);
  }) ?? all.at(-1);
  const isExact = isWhole(result, shown) && [p, q, r].every((value, i) => isWhole(value, texts[i]));
  return t(key, { p: texts[0], q: term(texts[1]), r: added(texts[2]), equal: isExact ? "=" : "≈", result: shown });
}
/** The level at which a box was filled: from there on it is copied. */
export function madeAt(levels, { level, place }) {
  let made = level;
  while (made > 0 && !levels[made - 1].targets.includes(place)) made -= 1;
  return made;
}

/** A step in words: "× 0.9 + 2". */
export const stepText = (a, b) => `× ${term(formatValue(a))} ${added(formatValue(b))}`;

/** What the step in hand joins to in the scan's first round: places and step, { earlier, later, isState, a, b }; null where it joins nothing. */
export function sampleOf({ a, x, levels: [{ distance, targets }], cell: { place } }) {
  const later = [place, place + distance].find((s) => targets.includes(s));
  if (later === undefined || place === 0) return null; // the first state is known without a join
  const earlier = later - distance;
  return { earlier, later, isState: earlier === 0, a: a[later] * a[earlier], b: a[later] * x[earlier] + x[later] };
}

/**
 * How the box in hand was made: { first, next, both }, two boxes that join in one, and the states before, between and behind
 * them, null where nobody knows them yet. A box that holds a state was made from one: { next, states }; where that one was
 * joined, `parts` tells how. Both have { from, middle, place }, of the three states, -1 for the state of zero before the first.
 */
export function joinOf(model) {
  const { a, x, loop, levels, level: reached, walked, trace, cell: { level: column, place } } = model;
  const at = (level, t) => [trace[level].a[t], trace[level].b[t]];
  const state = (t) => (t < 0 ? 0 : t <= walked || trace[reached].from[t] === 0 ? loop[t] : null);
  const single = (next, from, parts = null) => ({ next, states: [state(from), null, state(place)], from, middle: from, place, parts });
  const double = (first, next, both, from, middle, last) => ({ first, next, both, states: [from, middle, last].map(state), from, middle, place: last });
  const level = madeAt(levels, { level: column, place });
  if (level > 0) {
    const other = place - levels[level - 1].distance;
    const from = trace[level].from[place] - 1;
    const own = { level: level - 1, place };
    if (from < 0) return single(at(level - 1, place), other, madeAt(levels, own) > 0 ? joinOf({ ...model, cell: own }) : null);
    return double(at(level - 1, other), at(level - 1, place), at(level, place), from, other, place);
  }
  const sample = column !== 0 ? null : sampleOf({ a, x, levels, cell: { place } });
  const own = single([a[place], x[place]], place - 1);
  if (sample === null) return own;
  if (sample.isState) return { ...own, states: [loop[0], null, loop[place]] }; // shown before the first round, as any join is
  const { earlier, later } = sample;
  return double(at(0, earlier), at(0, later), [sample.a, sample.b], earlier - 1, earlier, later);
}

/** How the box in hand was made, in words: the key of the words, and its values. */
export function ruleValues(model, t) {
  const join = joinOf(model);
  const { first, next, both, from, place, states: [h0, , h2] } = join;
  const [known0, known2] = [h0, h2].map((h) => (h === null ? t("unknown") : formatValue(h)));
  if (from < 0) return ["rule_given", { h2: known2 }];
  if (first === undefined) return ["rule_state", { next: stepText(...next), before: from + 1, after: place + 1, h0: known0, h2: known2 }];
  return [h0 === null || h2 === null ? "rule_open" : "rule", { parts: t(place - from > 2 ? "parts_boxes" : "parts_steps"), first: stepText(...first), next: stepText(...next), both: stepText(...both), h0: known0, h2: known2 }];
}

/** How the numbers of a box were computed: [for "×", for "+"] of a box of two, or [the state], where it is known. */
export function sumsOf({ first, next: [a2, b2], both, states: [h0, , h2] }, t) {
  if (first === undefined) return h0 === null || h2 === null ? [] : [sumText("join_plus", [h0, a2, b2], h2, t)];
  return [sumText("join_times", [first[0], a2], both[0], t), sumText("join_plus", [first[1], a2, b2], both[1], t)];
}

/** Places `from` to `to` in words: "steps 5–8". */
export const stepsInWords = (from, to, t) => (from === to ? t("steps_one", { to: to + 1 }) : t("steps", { from: from + 1, to: to + 1 }));

/** A stretch of a motion as a share of its own, slow at both ends. */
function within(share, from, to) {
  const part = Math.min(1, Math.max(0, (share - from) / (to - from)));
  return part * part * (3 - 2 * part);
}

const WIDTHS = { ".": 0.5, "×": 1.4, "≈": 1.4, "+": 1.4, "−": 1.4 }; // in digits; a raised one is narrow
/** How many digits wide a number is, about. */
export const wideOf = (content) => [...content].reduce((sum, sign) => sum + (WIDTHS[sign] ?? (RAISED_SIGNS.includes(sign) ? 0.7 : 1)), 0);
const RAISED_SIGNS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A number as its box shows it; where there is no room (`fits`), whole or with one digit. */
export function shortly(value, fits) {
  const shown = formatValue(value);
  const size = Math.abs(value);
  if (size < 99.995 || fits(shown)) return shown;
  return (value < 0 ? "−" : "") + (size < 99_999.5 ? Math.round(size) : scientific(size, 0));
}

/** The states beside a join: as long as the one behind it isn't known, the one before it doesn't enter. */
const entering = ({ states: [h0, h1, h2] }) => (h0 === null || h2 === null ? [null, null, null] : [h0, h1, h2]);

/** Where the parts of the strip stand, `width` pixels wide: two states, two boxes between them with a place for "×" and one for "+", three rows. */
export function stripOf(width) {
  const wide = width >= 420;
  const [state, arrow] = [0.13 * width, wide ? 24 : 12];
  const box = (width - 2 - 2 * state - 3 * arrow) / 2;
  const boxAt = (x) => ({ x, width: box, times: x + 0.29 * box, plus: x + 0.73 * box });
  const first = boxAt(1 + state + arrow);
  const next = boxAt(first.x + box + arrow);
  const rows = wide ? { top: 33, track: 68, foot: 104, height: 120, half: 14 } : { top: 31, track: 59, foot: 87, height: 101, half: 13 };
  return { wide, state, box, first, next, last: next.x + box + arrow, ...rows };
}

/**
 * How a box was made, large: two boxes, and under them the one that they make. The "×" of both are multiplied; the number that the
 * first adds rides below the "×" of the next and meets what that adds; no state is needed. A box that holds a state: one state goes through one box.
 */
export function trick({ t, signal }) {
  const picture = svg("svg", { class: "trick-picture" });
  const drawn = element("div", { class: "trick-drawn" }, picture);
  const says = element("p", { class: "trick-says" });
  const sums = ["×", "+"].map((sign) => ({ sign, text: element("span", {}) }));
  const signed = sums.flatMap(({ sign, text }) => [element("span", {}, `${sign}:`), text]);
  const both = element("p", { class: "trick-sums" });
  const node = element("div", { class: "scan-trick", role: "img" }, drawn, element("div", { class: "trick-words" }, says, both));
  let [join, width, ride] = [null, 0, null];

  const paint = () => {
    if (width === 0 || join === null) return;
    const places = stripOf(width);
    const { state, box, first, next, last, top, track, foot, half } = places;
    const shown = join.parts ?? join; // of the box that a state goes through, the making
    const isDouble = shown.first !== undefined;
    const { from, middle, place } = shown;
    const [h0, , h2] = isDouble ? entering(shown) : shown.states;
    const sign = places.wide ? 10 : 8.5; // pixels of a character, about
    const text = (kind, content, x, y, { room = Infinity, anchor = "middle" } = {}) => {
      const bold = /state|result/.test(kind) ? 1.1 : 1;
      const whole = Math.min(1, room / (bold * sign * wideOf(content)));
      const fit = Math.max(0.75, whole); // smaller; closer together only where it would be too small // smaller, not squeezed
      return svg("text", { class: kind, x: x.toFixed(1), y: (y + 5 * fit).toFixed(1), "text-anchor": anchor, ...(fit < 1 && { style: `font-size: ${fit.toFixed(3)}em` }), ...(whole < fit && { textLength: Math.max(1, Math.round(room)), lengthAdjust: "spacingAndGlyphs" }) }, content);
    };
    const frame = (kind, x, y, wide, high = 2 * half) => svg("rect", { class: kind, x: x.toFixed(1), y: y - high / 2, width: wide.toFixed(1), height: high, rx: 5 });
    const path = (d, kind = "") => svg("path", { class: `trick-line ${kind}`, d });
    /** A line with a head, to the right or down. */
    const to = (x, y, end, kind, down = false) => path(down ? `M${x} ${y}V${end}m-3.5 -5l3.5 5l3.5 -5` : `M${x} ${y}H${end}m-5 -3.5l5 3.5l-5 3.5`, kind);
    const room = Math.max(10, 0.42 * box - 8); // for a number
    const format = (value) => shortly(value, (content) => sign * (wideOf(content) + 1.4) <= room);
    const wing = (content) => (Math.min(room, sign * wideOf(content)) + 6) / 2;
    const chip = (content, x, y, kind = "") => svg("g", { class: `trick-chip ${kind}`, transform: `translate(${x.toFixed(1)} ${y})` }, frame("", -wing(content), 0, 2 * wing(content), 22), text("", content, 0, 0, { room }));
    const parts = [];
    const stateAt = (h, s, x, y, anchor) => {
      const known = h === null ? "?" : [stateText(h), `≈${shortly(h, () => false)}`].find((content, i) => i === 1 || sign * wideOf(content) <= state - 6 || Math.abs(h) < 99.995);
      parts.push(frame(`trick-state-box${h === null ? " trick-unknown" : ""}`, x, y, state), text("trick-state", known, x + state / 2, y, { room: state - 6 }));
      if (s !== null) parts.push(text("trick-name", t("state_name", { t: s + 1 }), { start: 0, middle: x + state / 2, end: width }[anchor], y - half - 11, { anchor }));
    };
    const boxOf = (start, end, x, y, wide, kind = "") => parts.push(frame(`trick-box${end - start > 1 ? " trick-joined" : ""}${kind}`, x, y, wide));
    const numbersAt = ([a, b], { times, plus }, y, kind, rooms = [room, room]) => halves(a, b, format).map((content, i) => text(kind, content, [times, plus][i], y, { room: rooms[i] }));
    const nameAt = (start, end, x, y) => parts.push(text("trick-name", stepsInWords(start + 1, end, t), x, y));
    ride = null;
    if (!isDouble) {
      const y = places.height / 2;
      if (from >= 0) { // the first state is given
        stateAt(h0, from, 1, y, "start");
        parts.push(to(1 + state + 3, y, first.x - 3), to(next.x + box + 3, y, last - 3));
        boxOf(middle, place, first.x, y, next.x + box - first.x);
        nameAt(middle, place, (first.x + next.x + box) / 2, y);
        parts.push(...numbersAt(shown.next, { times: first.times, plus: next.plus }, y, "trick-op"));
      }
      stateAt(h2, place, from < 0 ? 1 : last, y, from < 0 ? "start" : "end");
    } else {
      stateAt(h0, from, 1, top, "start");
      stateAt(h2, place, last, top, "end");
      stateAt(h0, null, 1, foot, "start");
      stateAt(h2, null, last, foot, "end");
      boxOf(from, middle, first.x, top, box);
      boxOf(middle, place, next.x, top, box);
      boxOf(from, place, first.x, foot, next.x + box - first.x, " trick-both");
      nameAt(from, middle, first.x + box / 2, top - half - 11);
      nameAt(middle, place, next.x + box / 2, top - half - 11);
      nameAt(from, place, (first.x + next.x + box) / 2, foot);
      for (const y of [top, foot]) parts.push(to(1 + state + 3, y, first.x - 3), to(next.x + box + 3, y, last - 3));
      const [[, b1], [a2], [, b]] = [shown.first, shown.next, shown.both];
      const [start, through, end] = [b1, a2 * b1, b].map((value) => halves(1, value, format)[1]);
      const trail = [
        path(`M${first.plus} ${top + 11}V${track}`, "trick-ride"), to(first.plus, track, next.times - wing(through) - 1, "trick-ride"),
        to(next.times, top + 10, track - 13, "trick-ride", true),
        path(`M${next.times + wing(through)} ${track}H${next.plus}`, "trick-ride"), to(next.plus, top + 10, foot - 13, "trick-ride", true),
      ];
      const [times1, plus1, times2, plus2] = [...numbersAt(shown.first, first, top, "trick-op"), ...numbersAt(shown.next, next, top, "trick-op")];
      const [times, plus] = numbersAt(shown.both, { times: first.times, plus: next.plus }, foot, "trick-result", [Math.max(10, 0.56 * box - 8), room]);
      const stops = [chip(start, first.plus, top), chip(through, next.times, track, "trick-through"), chip(end, next.plus, foot)];
      const riders = [start, through, end].map((content) => chip(content, 0, 0, "trick-rider"));
      stops.forEach((stop, i) => i !== 1 && stop.lastChild.remove()); // the numbers stand there themselves
      parts.push(...trail, ...stops, times1, plus1, times2, plus2, times, plus, ...riders);
      const away = wing(through) + Math.max(wing(start), wing(end)) + 2;
      ride = { places, away, trail, stops, times1, plus1, times2, plus2, times, plus, riders };
    }
    picture.setAttribute("viewBox", `0 0 ${width} ${places.height}`);
    picture.setAttribute("height", places.height);
    picture.setAttribute("class", `trick-picture${places.wide ? " trick-wide" : ""}`);
    picture.replaceChildren(...parts);
    move(1);
  };
  watchWidth(drawn, { act: (now) => {
    width = now;
    paint();
  }, signal });

  /** Both "×" make one; then the added number rides to the next "×", and from there to the next "+". A share of 1 is the end. */
  const move = (share) => {
    if (ride === null) return;
    const { places: { first, next, top, track, foot }, away, trail, stops, times1, plus1, times2, plus2, times, plus, riders } = ride;
    const show = (part, opacity) => part.setAttribute("opacity", Number(opacity));
    const isRiding = share > 0.26 && share < 0.97;
    const [drop, go, on, land] = [[0.27, 0.36], [0.36, 0.54], [0.64, 0.78], [0.86, 0.97]].map(([from, to]) => within(share, from, to));
    const at = [first.plus + go * (next.times - first.plus) + on * (next.plus - next.times), top + drop * (track - top) + land * (foot - track)];
    const now = share < 0.58 ? 0 : share < 0.82 ? 1 : 2; // multiplied, added to
    riders.forEach((rider, i) => {
      show(rider, isRiding && i === now);
      rider.setAttribute("transform", `translate(${at.map((value) => value.toFixed(1)).join(" ")})`);
    });
    const left = (x, y) => (!isRiding ? share >= 0.97 : Math.hypot(at[0] - x, at[1] - y) > away ? 0.4 : 0); // a place that it has left is pale
    show(plus1, isRiding ? left(first.plus, top) : 1);
    show(stops[0], share >= 0.97);
    show(stops[1], share > 0.64 && left(next.times, track));
    show(times, share >= 0.16);
    [0.97, 0.97, 0.6, 0.97, 0.97].forEach((when, i) => show(trail[i], share >= when));
    [stops[2], plus].forEach((part) => show(part, share >= 0.97));
    const [isFactor, isTimes, isPlus] = [[0.04, 0.26], [0.54, 0.64], [0.78, 0.86]].map(([from, to]) => share >= from && share < to); // what is computed now
    [[times1, isFactor], [times2, isFactor || isTimes], [plus2, isPlus], [sums[0].text, isFactor], [sums[1].text, isTimes || isPlus]].forEach(([part, is]) => part.classList.toggle("trick-rider", is));
  };

  const draw = (model) => {
    join = joinOf(model);
    const { first, from, place } = join;
    const isDouble = (join.parts ?? join).first !== undefined;
    const [h0, , h2] = isDouble && first !== undefined ? entering(join) : join.states;
    const [label, made] = [t(...ruleValues(model, t)), sumsOf(join, t)];
    node.setAttribute("aria-label", first === undefined ? label : `${label} ${t("cell_sums", { times: made[0], plus: made[1] })}`);
    both.hidden = !isDouble;
    both.replaceChildren(...(first === undefined ? made : signed));
    if (first !== undefined) sums.forEach(({ text }, i) => (text.textContent = made[i]));
    const [known0, known2] = [h0, h2].map((h) => (h === null ? "?" : stateText(h)));
    const isOpen = h0 === null || h2 === null;
    const joins = place - from > 2 ? "says_open_boxes" : "says_open";
    const key = !isDouble ? (from < 0 ? "says_given" : isOpen ? "says_waits" : null) : isOpen ? joins : "says_same";
    node.classList.toggle("scan-unknown", h0 === null);
    says.classList.toggle("trick-sum", key === null);
    says.replaceChildren(...(key === null ? made : emphasised(t.raw(key), { h0: known0, h2: known2 })));
    paint();
  };
  return { node, draw, move };
}

/** What the colours of the boxes mean. */
export const colourKey = ({ t }) => element("p", { class: "scan-key" }, ...["known", "joined", "step", "copied"].map((name) => element("span", { class: `scan-key-${name}` }, t(`key_${name}`))));

/** The two numbers of a time step, for its box in hand; hidden while there is none. */
export function hand({ t, signal, controls, onNumber }) {
  const slider = (name, step) => {
    const label = element("span", { class: "scan-slider-label" });
    const { min, max } = controls[name].of;
    const range = rangeControl({ label, min, max, step, signal, onInput: (value) => onNumber(name, value) });
    return { name, label, range };
  };
  const sliders = [slider("a", 0.1), slider("x", 0.5)];
  const node = element("div", { class: "scan-hand" }, ...sliders.map(({ range }) => range.node));
  const draw = (model) => {
    node.hidden = model.cell?.level !== 0;
    if (node.hidden) {
      for (const { range } of sliders) range.set(0, "0"); // as it was before there was one
      return;
    }
    const { place } = model.cell;
    sliders[0].range.node.hidden = place === 0; // it multiplies a state of zero
    for (const { name, label, range } of sliders) {
      const value = model[name][place];
      label.textContent = t(name === "a" ? "factor" : place === 0 ? "first" : "input", { step: place + 1, value: formatValue(value) });
      range.set(value, formatValue(value));
    }
  };
  return { node, draw, focus: () => sliders[0].range.input.focus({ preventScroll: true }) };
}

// ---- the books ------------------------------------------------------------------------------------------------------

/** Depth, combinations and multiplications of both, at the end. */
export function countsTable({ t }) {
  const columns = ["turns", "work", "products"];
  const rows = ["loop", "scan"].map((name) => ({ name, cells: columns.map(() => element("td", {})) }));
  const node = element(
    "table", { class: "scan-counts" },
    element("thead", {}, element("tr", {}, element("td", {}), ...columns.map((name) => element("th", { scope: "col" }, t(`column_${name}`))))),
    element("tbody", {}, ...rows.map(({ name, cells }) => element("tr", {}, element("th", { scope: "row" }, t(name)), ...cells))),
  );
  const growth = element("p", { class: "scan-growth" });
  const equal = element("p", { class: "scan-equal" });
  const draw = ({ a, x, method, numSteps, levels, done }) => {
    const [few, many] = [8, 64].map((length) => scanLevels(length, method).length);
    growth.textContent = t("growth", { loop_8: 7, loop_64: 63, scan_8: few, scan_64: many });
    const now = counts(numSteps, levels, numSteps); // at the end
    for (const { name, cells } of rows) columns.forEach((column, i) => (cells[i].textContent = now[name][column]));
    const { float64, float32 } = largestShares(a, x, levels);
    const key = float64 > 0 ? "equal_rounding" : float32 > 0 ? "equal_float64" : "equal_exact";
    equal.hidden = !(done.loop && done.scan);
    equal.textContent = t(key, { float64: formatDifference(float64), float32: formatDifference(float32) });
  };
  return { node: element("div", {}, node, growth, equal), draw };
}

/** The race as two lanes: how many states the loop has, how many the scan, and who is home. */
export function lanes({ t }) {
  const lane = (name) => {
    const [fill, count] = [element("span", { class: "scan-fill" }), element("b", {})];
    const node = element("div", { class: "scan-lane" }, element("span", {}, t(name)), element("span", { class: "scan-track" }, element("span", { class: "scan-fill scan-fill-joined" }), fill), count);
    return { name, node, count };
  };
  const both = ["loop", "scan"].map(lane);
  const node = element("div", { class: "scan-lanes", "aria-hidden": "true" }, ...both.map((one) => one.node)); // the headline says it
  const draw = ({ numSteps, states, joined, done, levels }) => {
    const rounds = { loop: numSteps - 1, scan: levels.length };
    node.style.setProperty("--steps", numSteps);
    node.classList.toggle("scan-many", !showsNumbers({ numSteps }));
    for (const { name, node: one, count } of both) {
      one.classList.toggle("scan-home", done[name]);
      one.style.setProperty("--known", states[name]);
      one.style.setProperty("--joined", joined[name]);
      count.textContent = !done[name] ? t(joined[name] > 0 ? "known_joined" : "known", { known: states[name], joined: joined[name], steps: numSteps }) : t(rounds[name] === 1 ? "finished_one" : "finished", { rounds: rounds[name] });
    }
  };
  return { node, draw };
}

/** The sentence on top: a key of the words, and its values. */
export function sentence({ step, numSteps, levels, states, done, isAsked = false }) {
  const values = { ticks: step, steps: numSteps, loop: states.loop, scan: states.scan, levels: levels.length, joins: levels[0].targets.length };
  const isFew = levels.length >= numSteps - 1;
  if (step > 0 && isAsked) return ["now_asks", values]; // the reader may look, and tells it
  if (step === 0 && isAsked) return ["now_question", values];
  if (step === 0) return [isFew ? "now_start_few" : "now_start", values];
  if (done.loop && done.scan) return [isFew ? "now_end_few" : "now_end", values];
  if (step === 1 && !done.scan && values.joins > 1) return ["now_first", values];
  return [!done.scan ? "now" : step === levels.length ? "now_scan_done" : "now_loop_alone", values];
}
