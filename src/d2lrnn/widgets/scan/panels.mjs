// What Scan shows: one picture with a line for each time step, the loop's column and the levels of the scan; the cell in hand.
import { watchWidth } from "../shape.mjs";
import { element, rangeControl, svg } from "../ui.mjs";
import { ROUNDING, coneOf, counts, formatDifference, formatValue, largestDifferences, scanLevels } from "./maths.mjs";

// ---- where things stand ---------------------------------------------------------------------------------------------

/** Up to so many time steps the cells hold numbers. */
const MOST_NUMBERS = 16;
const TALL = 271; // pixels for the lines of a figure without numbers
const FOOT = 24; // pixels under a figure without numbers: how many boxes a column has filled
const LINE = 18; // pixels from one line of text to the next
const [SIGN, LARGE_SIGN] = [6.9, 7.9]; // pixels of a character in a cell, about
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
  const columns = wide ? { t: 15, loop: 62 } : { t: 7, loop: 42 };
  const box = !numbers ? 22 : wide ? 56 : 44;
  const left = columns.loop + box / 2 + (wide ? 34 : numbers ? 15 : 20);
  const pair = Math.max(52, Math.min(16, signs) * (wide && few ? LARGE_SIGN : SIGN) + 12);
  const room = (short) => (width - 8 - left - short * numLevels) / (numLevels + 1); // for a cell, with lines so short between
  const mode = !numbers ? "dense" : room(16) >= pair ? "pairs" : few && room(14) >= 40 ? "stacked" : "small";
  const boxes = mode === "pairs" || mode === "stacked";
  const whole = width >= (numLevels > 3 ? 300 : 240); // room for a pair at the end
  const nowBox = whole ? Math.min(pair, 104) : 44;
  const cell = { pairs: Math.max(pair, Math.min(1.4 * pair, room(56))), stacked: Math.max(40, Math.min(64, room(20))), small: Math.min(24, (0.5 * (width - nowBox - 20 - left)) / numLevels), dense: Math.min(30, 0.4 * room(0)) }[mode];
  const first = left + cell / 2;
  const last = boxes ? width - 7 - cell / 2 : numbers ? width - nowBox - 20 - cell / 2 : width - Math.max(cell / 2, wide ? 46 : 12); // room for "32 rows up"
  const row = !numbers ? Math.floor(TALL / numSteps) : mode === "stacked" ? 32 : !wide ? (few ? 30 : 19) : few ? 33 : numSteps <= 12 ? 29 : 20; // whole pixels: no moiré
  const [top, foot] = mode === "stacked" ? [41, 4] : [46, numbers ? 7 : FOOT];
  return {
    wide, numbers, mode, boxes, box, cell, columns, row, top, whole, nowBox, now: width - 3 - nowBox / 2, height: top + row * numSteps + foot,
    apart: row > 20 && mode !== "stacked" ? 6 : 4, large: few && wide && mode !== "stacked", levels: Array.from({ length: numLevels + 1 }, (_, level) => first + ((last - first) * level) / numLevels),
    y: Array.from({ length: numSteps }, (_, t) => top + row * (t + 0.5)),
  };
}

/** The cell that stands nearest to a point of the figure, { level, place }; null where none is filled there. */
export function cellAt(places, { numSteps, level, walked }, px, py) {
  const place = Math.floor((py - places.top) / places.row);
  if (place < 0 || place >= numSteps) return null;
  const reached = places.levels.slice(0, level + 1);
  const columns = [[-1, places.columns.loop], ...reached.map((x, i) => [i, x])];
  if (places.mode === "small") columns.push([level, places.now]);
  const [found] = columns.map(([number, x]) => [number, Math.abs(x - px)]).sort((p, q) => p[1] - q[1]);
  if (found[1] > Math.max(50, places.cell / 2) || (found[0] < 0 && place > walked)) return null;
  return { level: found[0], place };
}

/** The newest level's box that is explained: the last; in round 1 two boxes in the middle join, far from any known state. */
function newest({ level, levels, numSteps }) {
  const middle = level === 1 && showsNumbers({ numSteps }) ? levels[0].targets.find((s) => s >= 4) : undefined;
  return { level, place: middle ?? numSteps - 1 };
}

/** The cell whose parts light up: the one under the mouse, the one in hand, or one of the newest level. */
export const litCell = (model, hovered = null) => hovered ?? model.cell ?? (model.level > 0 ? newest(model) : null);

/** The box that two boxes of one column join into, where a mouse drags one to the other; as long as it isn't filled, the later of both. */
export function dragged({ levels, level }, one, other) {
  if (!one || !other || one.level < 0 || one.level !== other.level || one.place === other.place) return null;
  const place = Math.max(one.place, other.place);
  const next = levels[one.level];
  const isJoin = one.level < level && next.targets.includes(place) && Math.abs(one.place - other.place) === next.distance;
  return { level: one.level + (isJoin ? 1 : 0), place };
}

/**
 * The model whose box in hand is the one that is explained: the reader's, else one of the newest round. At the start it is an
 * example, the box of step 3, with the states that the steps make.
 */
export function explained(model) {
  const isExample = model.cell === null && model.level === 0;
  return { ...model, isExample, cell: model.cell ?? (isExample ? { level: 0, place: Math.min(2, model.numSteps - 1) } : newest(model)) };
}

/** Its boxes hold numbers; else they are dots. */
export const showsNumbers = ({ numSteps }) => numSteps <= MOST_NUMBERS;

/** Told the price of a long race, the reader sees which boxes the scan has filled. */
export const showsFilled = ({ done, numSteps, isPriced }) => isPriced && done.scan && done.loop && !showsNumbers({ numSteps });

// ---- the picture ----------------------------------------------------------------------------------------------------

/** A box without numbers, as thin as its row. */
const bar = (x, y, wide, row) => `M${(x - wide / 2).toFixed(1)} ${y - row / 2}h${wide.toFixed(1)}v${row - Math.max(1, Math.round(0.28 * row))}h${(-wide).toFixed(1)}z`;

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
    const fit = 1.1 * (places.large ? LARGE_SIGN : SIGN) * content.length > room ? { textLength: Math.max(1, room).toFixed(0), lengthAdjust: "spacingAndGlyphs" } : {};
    add("text", { class: `scan-text ${kind}`, x: atX.toFixed(1), y: (atY + 4.5).toFixed(1), "text-anchor": anchor, ...fit }, content);
  };
  const sample = level === 0 && boxes && model.cell?.level === 0 ? sampleOf(model) : null; // before the first round: what the box in hand joins to
  const isHeld = lit !== null && lit === model.cell;
  const opens = !model.isAsked; // the columns to come are seen to be open
  const related = (is) => (is ? " scan-kin" : "");
  // Behind a box that the reader chose all else steps back; behind the scan's last box only its earlier columns do.
  const ofLoop = lit !== null && !isChosen ? " scan-aside" : "";
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
  const small = (atX, s, w) => bar(atX, y[s] + (numbers ? 2 : 0), w, numbers ? 16 : row);

  // heads
  const start = places.levels[0] - half;
  const between = places.levels[1] - places.levels[0];
  picture.style.setProperty("--scan-hop", `${(-0.6 * between).toFixed(1)}px`);
  const doubles = model.method === "doubling"; // then a column says how many steps its boxes join, else how far they reach
  const longest = doubles ? t("joined", { count: numSteps }) : t("apart", { distance: numSteps });
  const needs = HEAD_SIGN * longest.length;
  const roomy = between - Math.max(0, places.levels.at(-1) + needs / 2 - width) >= needs; // the last one is moved inside
  const numbered = doubles ? between >= (places.wide ? 62 : 54) : roomy; // its rounds stand over the columns
  text(t("loop"), columns.loop, 10, "scan-head");
  const inside = (head, i) => Math.min(places.levels[i + 1], width - (HEAD_SIGN * head.length) / 2); // the figure
  text(t(numbered || levels.length < 2 || doubles ? "scan" : "scan_distance"), start, 10, "scan-head", { anchor: "start" });
  if (doubles && !numbered && levels.length > 1) text(t("scan_joined"), Math.max(start + 116, (places.levels[1] + places.levels.at(-1)) / 2), 10, "scan-soft");
  text(t("column_step"), places.wide ? columns.t : 0, 31, "scan-soft", { anchor: places.wide ? "middle" : "start" });
  if (places.wide) text(t("column_state"), columns.loop, 31, "scan-soft"); // a narrow figure has room for one of both
  if (boxes && (roomy || !doubles)) text(t("column_pair"), places.levels[0], 31, "scan-soft");
  else if (doubles) text(numbered ? t("joined_one") : "1", boxes ? places.levels[0] : start, 31, "scan-soft", boxes ? {} : { anchor: "start" });
  if (mode === "small") text(t("column_now"), places.now, 31, "scan-soft");
  levels.slice(0, sample === null ? level : 1).forEach(({ distance }, i) => {
    const kind = i + 1 === level ? "scan-level" : "scan-soft";
    const count = Math.min(2 * distance, numSteps);
    const head = doubles ? (numbered ? t(roomy ? "joined" : "joined_short", { count }) : String(count)) : roomy ? t(distance === 1 ? "apart_one" : "apart", { distance }) : String(distance);
    const over = t("round_head", { round: i + 1 });
    text(head, inside(head, i), 31, kind, { room: between - 5 });
    if (numbered) text(over, inside(over, i), 10, kind, { room: between - 5 });
  });
  for (let s = 0; s < numSteps; s += 1) {
    if (numbers || s === 0 || s === numSteps - 1 || ((s + 1) % 16 === 0 && (numSteps - 1 - s) * row >= LINE)) text(String(s + 1), columns.t, y[s], "scan-soft");
  }

  // lines first, so that cells stand on top: of the loop, and of the joins of the scan
  if (numbers) {
    for (let s = 1; s < numSteps; s += 1) {
      const when = s === walked ? "scan-now" : s < walked ? "scan-past" : "scan-next-step";
      lines.add(`scan-line scan-chain ${when}${ofLoop}${related(cone.loop.has(s))}`, `M${columns.loop} ${(y[s - 1] + (row - apart) / 2).toFixed(1)}v${apart}`);
    }
  }
  levels.slice(0, opens ? levels.length : level).forEach(({ distance, targets }, i) => {
    const when = i >= level ? "scan-next-step" : i + 1 === model.step ? "scan-now" : "scan-past";
    const [from, to] = [places.levels[i] + half, places.levels[i + 1] - half].map((at) => at.toFixed(1));
    for (let s = 0; s < numSteps; s += 1) {
      const isSample = i === 0 && s === sample?.later;
      const isKin = cone.scan[i + 1]?.has(s) || (isSample && isHeld);
      const takes = targets.includes(s);
      if (!takes && !isKin) continue;
      const kind = `${isSample ? "scan-now" : when}${related(isKin)}`;
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
    const kind = `${s > walked ? "scan-open" : `scan-state${related(cone.loop.has(s))}${s === walked ? " scan-new-down" : ""}`}${s === 0 ? " scan-given" : ""}${ofLoop}`;
    if (!numbers) lines.add(`scan-cell scan-dot ${kind}`, small(columns.loop, s, box));
    else {
      frame(columns.loop, s, box, kind);
      if (s <= walked) text(formatValue(loop[s]), columns.loop, y[s], kind, { room: box - 6 });
    }
  }
  // the scan, as far as it has come, and what is open
  const kindOf = (i, s) => {
    const isJoined = i === 0 && isHeld && (s === sample?.earlier || s === sample?.later);
    const isKin = cone.scan[i]?.has(s) || (i === 0 && cone.inputs.has(s)) || isJoined;
    const isLast = i === levels.length; // all states
    const isCopy = i > 0 && !levels[i - 1].targets.includes(s);
    return `${trace[i].from[s] === 0 ? "scan-state" : "scan-part"}${isCopy ? " scan-copy" : ""}${i > 0 && !isCopy ? " scan-made" : ""}${i === 0 && s === 0 ? " scan-given" : ""}${isLast ? " scan-end" : ""}${i === level && level === model.step ? " scan-new" : ""}${i === level && i > 0 && !isChosen ? " scan-aside" : ""}${related(isKin)}`;
  };
  places.levels.slice(0, opens ? levels.length + 1 : level + 1).forEach((x, i) => {
    const { a, b, from } = trace[i];
    for (let s = 0; s < numSteps; s += 1) {
      const isSample = i === 1 && s === sample?.later;
      const kind = isSample ? `${sample.isState ? "scan-state" : "scan-part"} scan-made scan-sample${related(isHeld)}` : i > level ? "scan-open" : kindOf(i, s);
      if (!boxes) lines.add(`scan-cell scan-dot ${kind}`, small(x, s, places.cell));
      else if (i > level && !isSample) frame(x, s, places.cell, kind);
      else stepCell(x, s, places.cell, kind, a[s], b[s], from[s] === 0);
    }
  });
  lines.flush();
  if (showsFilled(model) && between >= 26) { // how many boxes each column has filled
    const foot = height - 11;
    if (places.wide) text(t("filled"), 0, foot, "scan-soft", { anchor: "start" });
    text(String(numSteps - 1), columns.loop, foot, "scan-level");
    levels.forEach(({ targets }, i) => text(String(targets.length), Math.min(places.levels[i + 1], width - 9), foot, "scan-level scan-filled-count"));
  }
  if (mode === "small") {
    const { a, b, from } = trace[level];
    for (let s = 0; s < numSteps; s += 1) stepCell(places.now, s, places.nowBox, kindOf(level, s).replace(" scan-copy", ""), a[s], b[s], from[s] === 0, places.whole);
  }
  if (lit !== null && (numbers || isChosen)) { // of a dense figure the lines end there
    const atX = lit.level < 0 ? columns.loop : places.levels[lit.level];
    const w = lit.level < 0 ? box : places.cell;
    const [wide, tall] = [w + 8, numbers ? row - 1 : row + 6];
    add("rect", { class: "scan-hand-mark", x: (atX - wide / 2).toFixed(1), y: (y[lit.place] - tall / 2).toFixed(1), width: wide.toFixed(1), height: tall.toFixed(1), rx: 6 });
  }
  const kinds = { "scan-small": !places.wide, "scan-large": places.large, "scan-dense": !numbers, "scan-filled": showsFilled(model), "scan-lit": lit !== null && (numbers || isChosen), "scan-next": isNext };
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
export function figure({ t, signal, onCell }) {
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

/** A number with four decimals, so that a reader who checks the sum finds it right. */
function fine(value) {
  const size = Math.abs(value);
  if (size >= 100 || (size > 0 && size < 0.01)) return formatValue(value);
  return (value < 0 ? "−" : "") + Number(size.toFixed(4));
}
/** A number that stands after a sign. */
const term = (value) => (value < 0 ? `(${fine(value)})` : fine(value));
/** "=" where all numbers are shown in full, else "≈". */
const equals = (...values) => (values.every((value) => Math.abs(value - Number(value.toFixed(4))) < ROUNDING && Math.abs(value) < 100) ? "=" : "≈");

/** A number of three digits: so many that a sum of them looks right. */
const digits = (value) => (Math.abs(value) >= 100 || Math.abs(value) < 0.0005 ? formatValue(value) : String(Number((value * (1 + ROUNDING)).toPrecision(3))).replace("-", "−"));
/** Of a state; "≈" where it has more. */
const stateText = (value) => (Math.abs(value - Number(digits(value).replace("−", "-"))) < ROUNDING ? "" : "≈") + digits(value);
/** The level at which a box was filled: from there on it is copied. */
function madeAt(levels, { level, place }) {
  let made = level;
  while (made > 0 && !levels[made - 1].targets.includes(place)) made -= 1;
  return made;
}

/** A step in words: "× 0.9 + 2". */
export const stepText = (a, b) => `× ${term(a)} ${b < 0 ? "−" : "+"} ${fine(Math.abs(b))}`;

/** What the step in hand joins to in the scan's first round: places and step, { earlier, later, isState, a, b }; null where it joins nothing. */
export function sampleOf({ a, x, levels: [{ distance, targets }], cell: { place } }) {
  const later = [place, place + distance].find((s) => targets.includes(s));
  if (later === undefined || place === 0) return null; // the first state is known without a join
  const earlier = later - distance;
  return { earlier, later, isState: earlier === 0, a: a[later] * a[earlier], b: a[later] * x[earlier] + x[later] };
}

/**
 * How the box in hand was made: { first, next, both }, two boxes that join in one, and the states before, between and behind
 * them, null where nobody knows them yet. A box that holds a state was made from one: { next, states }. Both have
 * { from, middle, place }, of the three states, -1 for the state of zero before the first.
 */
export function joinOf({ a, x, loop, levels, level: reached, walked, trace, isExample, cell: { level: column, place } }) {
  const at = (level, t) => [trace[level].a[t], trace[level].b[t]];
  const state = (t) => (t < 0 ? 0 : isExample || t <= walked || trace[reached].from[t] === 0 ? loop[t] : null);
  const single = (next, from) => ({ next, states: [state(from), null, state(place)], from, middle: from, place });
  const double = (first, next, both, from, middle, last) => ({ first, next, both, states: [from, middle, last].map(state), from, middle, place: last });
  const level = madeAt(levels, { level: column, place });
  if (level > 0) {
    const other = place - levels[level - 1].distance;
    const from = trace[level].from[place] - 1;
    return from < 0 ? single(at(level - 1, place), other) : double(at(level - 1, other), at(level - 1, place), at(level, place), from, other, place);
  }
  const sample = column !== 0 ? null : sampleOf({ a, x, levels, cell: { place } });
  if (sample === null || sample.isState) return single([a[place], x[place]], place - 1);
  const { earlier, later } = sample;
  return double(at(0, earlier), at(0, later), [sample.a, sample.b], earlier - 1, earlier, later);
}

/** How the box in hand was made, in words: the key of the words, and its values. */
export function ruleValues(model, t) {
  const { first, next, both, from, place, states: [h0, , h2] } = joinOf(model);
  const [known0, known2] = [h0, h2].map((h) => (h === null ? t("unknown") : fine(h)));
  if (from < 0) return ["rule_given", { h2: known2 }];
  if (first === undefined) return ["rule_state", { next: stepText(...next), before: from + 1, after: place + 1, h0: known0, h2: known2 }];
  return [h0 === null || h2 === null ? "rule_open" : "rule", { first: stepText(...first), next: stepText(...next), both: stepText(...both), h0: known0, h2: known2 }];
}

const added = (b) => `${b < 0 ? "−" : "+"} ${fine(Math.abs(b))}`;

/** The two numbers of a box of two, computed: { times, plus }. */
function joinSums({ first: [a1, b1], next: [a2, b2], both: [a, b] }, t) {
  return {
    times: t("join_times", { a1: fine(a1), a2: term(a2), a: fine(a), equal_a: equals(a1, a2, a) }),
    plus: t("join_plus", { b1: fine(b1), a2: term(a2), plus_b2: added(b2), b: fine(b), equal_b: equals(a2, b1, b2, b) }),
  };
}

/** What a box makes of the state before it. */
const stateSum = ({ next: [a, b], states: [h1, , h2] }, t) =>
  t("join_state", { a: fine(a), h1: term(h1), plus_b: added(b), h2: fine(h2), equal: equals(a, h1, b, h2) });

/** Places `from` to `to` in words: "steps 5–8". */
export const stepsInWords = (from, to, t) => (from === to ? t("steps_one", { to: to + 1 }) : t("steps", { from: from + 1, to: to + 1 }));

/** How a box was made, large: a state goes through two boxes, and through the one that they melt into; both ways lead to the same. Below, its sums. */
export function trick({ t }) {
  const part = (kind) => element("span", { class: `trick-${kind}` });
  const arrow = () => element("span", { class: "trick-arrow" }, "→");
  const [first, next, both] = ["box", "box", "box trick-both"].map(part);
  const [before, between, after, ...again] = Array.from({ length: 5 }, () => part("state"));
  const arrows = Array.from({ length: 4 }, arrow);
  const flies = [part("fly"), part("fly")]; // the two boxes on their way
  both.append(element("span", {}), ...flies);
  const oneWay = element("div", { class: "trick-way" }, again[0], arrow(), both, arrow(), again[1]);
  const lines = [element("p", {}), element("p", {})];
  const ways = element(
    "div", { class: "trick-ways" },
    element("div", { class: "trick-way" }, before, arrows[0], first, arrows[1], between, arrows[2], next, arrows[3], after), oneWay,
  );
  const node = element("div", { class: "scan-trick", role: "img" }, ways, element("div", { class: "trick-sums" }, ...lines));
  const draw = (model) => {
    const join = joinOf(model);
    const { from, middle, place } = join;
    const isState = join.first === undefined; // one box, from one known state to the next
    const isGiven = from < 0; // and not even that
    const joined = isState ? null : joinSums(join, t);
    const label = t(...ruleValues(model, t));
    node.setAttribute("aria-label", isState ? label : `${label} ${t("cell_sums", joined)}`);
    [first, arrows[1], between, arrows[2], oneWay].forEach((e) => (e.hidden = isState));
    [before, arrows[0], next, arrows[3]].forEach((e) => (e.hidden = isGiven));
    const [h0, h1, h2] = join.states.map((h, i) => (isState && i === 1 ? "" : h === null ? "?" : stateText(h)));
    [[before, h0, from], [between, h1, middle], [after, h2, place], [again[0], h0], [again[1], h2]].forEach(([state, h, s]) => {
      state.textContent = h;
      state.dataset.name = s === undefined ? "" : t("state_name", { t: s + 1 }); // once is enough
      state.classList.toggle("trick-unknown", h === "?");
    });
    const box = (e, pair, start, end, fly = null) => {
      e.dataset.name = stepsInWords(start + 1, end, t);
      (e.firstElementChild ?? e).textContent = cellText(...pair, digits);
      [e, fly].forEach((one) => one?.classList.toggle("trick-joined", end - start > 1));
      if (fly !== null) fly.dataset.text = e.textContent;
    };
    if (!isState) box(first, join.first, from, middle, flies[0]);
    box(next, join.next, middle, place, flies[1]);
    if (!isState) box(both, join.both, from, place);
    const sums = isGiven ? [] : !isState ? ["times", "plus"].map((name) => [element("span", {}, t(name)), joined[name]]) : h0 === "?" || h2 === "?" ? [] : [[stateSum(join, t)]];
    lines.forEach((line, i) => line.replaceChildren(...(sums[i] ?? [])));
    node.style.setProperty("--sum-longest", Math.max(...lines.map((line) => line.textContent.length)));
    const [one, two] = [isState ? "" : first.textContent, next.textContent];
    node.style.setProperty("--signs", [one, two, h0, h1, h2].join("").length);
  };
  /** The two boxes come down and melt into one: a share of 1 is the end. */
  const melt = (share) => node.style.setProperty("--melt", share.toFixed(3));
  return { node, draw, melt };
}

/** How the cell in hand was made: lines of text. */
export function cellInWords({ a, x, loop, trace, levels, cell: { level, place } }, t) {
  const span = (from, to) => (from === to ? t("span_one", { to: to + 1 }) : t("span", { from: from + 1, to: to + 1 }));
  if (level < 0) {
    const h = loop[place];
    if (place === 0) return [t("cell_loop_start", { h: fine(h) })];
    const before = loop[place - 1];
    return [t("cell_loop", {
      t: place + 1, before: place, a: fine(a[place]), h_before: term(before), x: term(x[place]), h: fine(h),
      equals: equals(a[place], before, x[place], h),
    })];
  }
  const now = trace[level];
  const [a3, b3] = [now.a[place], now.b[place]];
  const step = stepText(a3, b3);
  const rounded = formatValue(a3) !== fine(a3) || formatValue(b3) !== fine(b3);
  const isState = now.from[place] === 0;
  const made = { span: span(now.from[place], place), step: rounded ? t("cell_rounded", { step }) : step };
  if (level === 0) {
    if (isState) return [t("cell_loop_start", { h: fine(b3) })];
    const sample = sampleOf({ a, x, levels, cell: { place } });
    const other = sample?.later === place ? sample.earlier : sample?.later;
    const key = sample === null ? "cell_own" : sample.isState ? "cell_own_state" : "cell_own_join";
    return [t(key, { ...made, ...(sample === null ? {} : { other: other + 1 }) })];
  }
  const { distance, targets } = levels[level - 1];
  const state = { b: fine(b3), t: place + 1 };
  if (!targets.includes(place)) return [isState ? t("cell_kept_state", state) : t("cell_kept", made)];
  const before = trace[level - 1];
  const s = place - distance;
  const [a1, b1, a2, b2] = [before.a[s], before.b[s], before.a[place], before.b[place]];
  if (isState) {
    return [t("cell_state", { t: place + 1, before: s + 1, steps: stepsInWords(s + 1, place, t), sum: stateSum({ next: [a2, b2], states: [b1, null, b3] }, t) })];
  }
  return [
    t("cell_pair", made),
    t("cell_sums", joinSums({ first: [a1, b1], next: [a2, b2], both: [a3, b3] }, t)),
  ];
}

/** The cell in hand: how it was made, and the two numbers of its time step; hidden while there is none. */
export function hand({ t, signal, controls, onNumber }) {
  const lines = element("div");
  const slider = (name, step) => {
    const label = element("span", { class: "scan-slider-label" });
    const { min, max } = controls[name].of;
    const range = rangeControl({ label, min, max, step, signal, onInput: (value) => onNumber(name, value) });
    return { name, label, range };
  };
  const sliders = [slider("a", 0.1), slider("x", 0.5)];
  const numbers = element("div", { class: "scan-sliders" }, ...sliders.map(({ range }) => range.node));
  const node = element("div", { class: "scan-hand" }, lines, numbers);
  const draw = (model) => {
    node.hidden = model.cell === null;
    if (model.cell === null) {
      for (const { range } of sliders) range.set(0, "0"); // as it was before there was one
      return;
    }
    const { level, place } = model.cell;
    numbers.hidden = level !== 0; // the two numbers of a step belong to its own box
    sliders[0].range.node.hidden = place === 0; // it multiplies a state of zero
    lines.replaceChildren(...cellInWords(model, t).map((line) => element("p", {}, line)));
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
  const draw = ({ a, x, method, numSteps, levels, loop, done }) => {
    const [few, many] = [8, 64].map((length) => scanLevels(length, method).length);
    growth.textContent = t("growth", { loop_8: 7, loop_64: 63, scan_8: few, scan_64: many });
    const now = counts(numSteps, levels, numSteps); // at the end
    for (const { name, cells } of rows) columns.forEach((column, i) => (cells[i].textContent = now[name][column]));
    const { float64, float32 } = largestDifferences(a, x, levels);
    const top = Math.max(...loop.map(Math.abs));
    const key = float64 > 0 ? "equal_rounding" : float32 > 0 ? "equal_float64" : "equal_exact";
    equal.hidden = !(done.loop && done.scan);
    equal.textContent = t(key, { float64: formatDifference(float64 / top), float32: formatDifference(float32 / top), largest: formatValue(top) });
  };
  return { node: element("div", {}, node, growth, equal), draw };
}

/** The race as two lanes: how many states the loop has, how many the scan, and who is home. */
export function lanes({ t }) {
  const lane = (name) => {
    const [fill, count] = [element("span", { class: "scan-fill" }), element("b", {})];
    const node = element("div", { class: "scan-lane" }, element("span", {}, t(name)), element("span", { class: "scan-track" }, fill), count);
    return { name, node, fill, count };
  };
  const both = ["loop", "scan"].map(lane);
  const node = element("div", { class: "scan-lanes", "aria-hidden": "true" }, ...both.map((one) => one.node)); // the headline says it
  const draw = ({ numSteps, states, done, levels }) => {
    const rounds = { loop: numSteps - 1, scan: levels.length };
    node.style.setProperty("--steps", numSteps);
    node.classList.toggle("scan-many", !showsNumbers({ numSteps }));
    for (const { name, node: one, fill, count } of both) {
      one.classList.toggle("scan-home", done[name]);
      fill.style.setProperty("--known", states[name]);
      count.textContent = !done[name] ? t("known", { known: states[name], steps: numSteps }) : t(rounds[name] === 1 ? "finished_one" : "finished", { rounds: rounds[name] });
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
  return [done.scan ? "now_scan_done" : "now", values];
}
