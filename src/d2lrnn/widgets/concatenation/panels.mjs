// The picture of the concatenation identity: seven blocks that slide, the sum that runs, the code.
import { dragOn } from "../shape.mjs";
import { buttonControl, element, prefersReducedMotion, svg } from "../ui.mjs";
import { MERGED, arrange, between, cellsAt, frames, gapBetween, loopOf } from "./maths.mjs";

export const written = (value, decimals = 2) => value.toFixed(decimals).replace("-", "−").replace(/^−(0\.0+)$/, "$1");

const SMALL = 13; // px: smaller numbers get a narrow font
const LEAST = 11.5; // still smaller ones nobody reads: the picture scrolls instead
const LARGE = 24;
/** Of factors and of results: they look alike. */
const sizesOfFont = (unit, [one, two]) => {
  const room = (unit < 48 ? 0.97 : 0.9) * (unit - 4); // small cells have no air to give
  const result = Math.min(LARGE, room / two);
  return [Math.min(LARGE, room / one, 1.2 * result), result];
};
const CAPTION = { X: 84, H: 125, W: 84, glued: [175, 190] }; // px of a block whose words have room: X, H, the weights, and both glued (of one row, of more)
const RESULT_CAPTION = 94; // and those below the result
const SIDE = 110; // px at the left of the weights, where their names stand
const FACTORS = { X: "x", W_xh: "x", H: "h", W_hh: "h" };
const PARTNER = { X: "H", H: "X", W_xh: "W_hh", W_hh: "W_xh" };
const TOUCH = 18; // px: farther from its partner a block is apart
const LOW = 15; // px: so far below its table the way back runs
const BEND = 6; // px: the round corner of a line
const PULL = 40; // px from where it was taken it comes off
const RESULTS = ["from_x", "from_h", "sum"];
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The blocks. `onSelect(place)` hears of a chosen { row } or { column } or both, `onHover` of a number of the result that
 * a mouse is over (or null), `onDrag()` of a block being dragged, `onDrop(glued)` of where it was let go, and `onSwap(side)`
 * of a block being carried past its partner: "weights" or "rows".
 */
export function stagePanel({ t, signal, onSelect, onHover, onDrag, onDrop, onSwap }) {
  const stage = element("div", { class: "glue-stage" });
  const box = element("div", { class: "glue-box" }, stage);
  const more = element("p", { class: "glue-soft glue-scrolls", hidden: true }, `← ${t("scrolls")}`);
  const node = element("div", { class: "glue-scroll" }, box, more);
  const probe = element("span", { class: "glue-probe", "aria-hidden": "true" });
  const nodes = {}; // name -> block
  let cells = {}; // name -> rows of cells
  let shown = null; // what the cells were made for
  let layout = null;
  let fonts = null; // of factors and of results, apart and glued
  let share = 0;
  const orders = { weights: 0, rows: 0 }; // 1: W_hh stands on top of W_xh, H before X
  let ends = null;
  let lifted = null; // { name, dx, dy, left }: a block in a hand, or on its way back (`left` goes from 1 to 0)

  const placeOf = (name) => {
    const [x, y] = between(layout, name, share);
    const { unit, row } = cellsAt(layout, share);
    const past = { W_xh: shown.num_hiddens, W_hh: -shown.num_inputs, X: shown.num_hiddens, H: -shown.num_inputs }[name] ?? 0; // so many cells when swapped
    return name === "X" || name === "H" ? [x + orders.rows * past * unit, y] : [x, y + orders.weights * past * row];
  };
  const boxOf = (name) => {
    const [x, y] = placeOf(name);
    const [columns, rows] = {
      X: [shown.num_inputs, shown.batch_size], H: [shown.num_hiddens, shown.batch_size],
      W_xh: [shown.num_hiddens, shown.num_inputs], W_hh: [shown.num_hiddens, shown.num_hiddens],
    }[name];
    const [dx, dy] = lifted?.name === name ? [lifted.dx * lifted.left, lifted.dy * lifted.left] : [0, 0];
    const { unit, row } = cellsAt(layout, share);
    return { x: x + dx, y: y + dy, width: columns * unit, height: rows * row };
  };
  /** Whether a table in a hand passes where the name of these weights stands. */
  const isBeside = (name) => {
    if (lifted === null || lifted.name === name || !name.startsWith("W")) return false;
    const { x, ...side } = boxOf(name);
    return gapBetween(boxOf(lifted.name), { ...side, x: x - SIDE, width: SIDE - 1 }) === 0;
  };
  const gapOf = (name) => gapBetween(boxOf(name), boxOf(PARTNER[name]));

  const drag = (name, node) => {
    let from = null;
    dragOn(node, {
      axis: "both", signal,
      start: ({ event }) => {
        from = { x: event.clientX, y: event.clientY, far: false, by: { dx: 0, dy: 0 } };
        return layout !== null;
      },
      move: ({ event }) => {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        from.by = { dx, dy };
        if (!from.far) {
          if (Math.hypot(dx, dy) <= 5) return;
          from.far = true;
          onDrag();
          lifted = null;
          Object.assign(from, { box: boxOf(name), gap: gapOf(name) });
        }
        const { box: { x, y, width, height }, gap } = from;
        const within = (by, at, size, all) => Math.max(-at, Math.min(all - at - size, by));
        lifted = { name, dx: within(dx, x, width, layout.width), dy: within(dy, y, height, layout.height), left: 1 };
        from.near = gap > TOUCH && gapOf(name) <= gap / 2; // let go here, they are glued
        for (const block of [name, PARTNER[name]]) nodes[block].classList.toggle("glue-near", from.near);
        place();
      },
      end: () => {
        for (const block of [name, PARTNER[name]]) nodes[block].classList.remove("glue-near");
        if (!from.far) return;
        const isRow = name === "H" || name === "X";
        const [side, along, across, size] = isRow ? ["rows", "dx", "dy", ["width", "height"]] : ["weights", "dy", "dx", ["height", "width"]];
        const isSecond = (FACTORS[name] === "h") === (orders[side] === 0);
        const isPast = share === 1 && Math.abs(from.by[across]) < from.box[size[1]]
          && (isSecond ? -from.by[along] : from.by[along]) >= boxOf(PARTNER[name])[size[0]] / 2;
        if (isPast) {
          onSwap(side);
          return;
        }
        onDrop(from.gap > TOUCH ? from.near : Math.hypot(from.by.dx, from.by.dy) <= PULL);
      },
    });
    // What was dragged was not pressed. And what the block has captured was meant for a number in it.
    node.addEventListener("click", (event) => {
      if (from?.far) event.stopImmediatePropagation();
      else if (event.target === node) node.getRootNode().elementFromPoint(event.clientX, event.clientY)?.closest(".glue-cell")?.click();
    }, { signal, capture: true });
  };

  for (const name of [...Object.keys(FACTORS), ...RESULTS]) {
    const part = FACTORS[name] ?? "r";
    const label = element("span", { class: "glue-name", "aria-hidden": "true" }, FACTORS[name] ? element("code", {}, name) : "");
    const grid = element("div", { class: "glue-grid" });
    nodes[name] = element("div", { class: `glue-block glue-${part} glue-${name}` }, label, grid);
    if (part !== "r") drag(name, nodes[name]);
  }
  const glue = { rows: element("span", { class: "glue-frame glue-frame-rows", "aria-hidden": "true" }, element("span", { class: "glue-name" })), columns: element("span", { class: "glue-frame glue-frame-columns", "aria-hidden": "true" }, element("span", { class: "glue-name" })) };
  const signs = { plus: element("span", { class: "glue-sign", "aria-hidden": "true" }, "+"), equals: element("span", { class: "glue-sign", "aria-hidden": "true" }, "=") };
  const ties = svg("svg", { class: "glue-ties", "aria-hidden": "true" });
  const back = svg("path", {});
  const next = element("span", { class: "glue-next", "aria-hidden": "true" });
  const loop = element("div", { class: "glue-loop" }, svg("svg", { "aria-hidden": "true" }, back), next);
  stage.append(ties, probe, loop, nodes.X, nodes.H, nodes.W_xh, nodes.W_hh, nodes.from_x, nodes.from_h, nodes.sum, signs.plus, signs.equals, glue.rows, glue.columns);

  /** Each number of X and of H: [block, which of its numbers, which of the whole row]. */
  const numbersOf = ({ num_inputs: d, num_hiddens: h }, isMemoryFirst) => [
    ...Array.from({ length: d }, (_, j) => ["X", j, j + (isMemoryFirst ? h : 0)]), ...Array.from({ length: h }, (_, j) => ["H", j, j + (isMemoryFirst ? 0 : d)]),
  ];
  /** A line from each number of X and H up to the row of weights that it is multiplied by. */
  const tie = () => {
    const boxes = Object.fromEntries(Object.keys(FACTORS).map((name) => [name, boxOf(name)]));
    const { num_inputs: d, num_hiddens: h } = shown;
    const { unit, row } = cellsAt(layout, share);
    const rowsOf = (name) => Array.from({ length: name === "W_xh" ? d : h }, (_, i) => [boxes[name].x, boxes[name].y + (i + 0.5) * row]);
    const rows = (orders.weights === 1 ? ["W_hh", "W_xh"] : ["W_xh", "W_hh"]).flatMap(rowsOf); // swapped, the first number meets the first row
    numbersOf(shown, orders.rows === 1).forEach(([name, j, k], i) => {
      const [x, y] = [boxes[name].x + (j + 0.5) * unit, boxes[name].y];
      const isStraight = x + BEND < rows[k][0] && y > rows[k][1] + BEND; // a block in a hand may be where no line leads on
      ties.children[i].setAttribute("d", !isStraight ? "" : `M${x.toFixed(1)} ${(y - 1).toFixed(1)}V${(rows[k][1] + BEND).toFixed(1)}q0 ${-BEND} ${BEND} ${-BEND}H${(rows[k][0] - 1).toFixed(1)}`);
    });
  };
  const place = () => {
    if (layout === null) return;
    const { unit, row } = cellsAt(layout, share);
    const grown = layout.glued.unit === layout.apart.unit ? 1 : (unit - layout.apart.unit) / (layout.glued.unit - layout.apart.unit);
    const sizes = { unit, row, size: 0, "size-r": 1 };
    for (const name of ["size", "size-r"]) sizes[name] = fonts.apart[sizes[name]] + grown * (fonts.glued[sizes[name]] - fonts.apart[sizes[name]]);
    for (const [name, size] of Object.entries(sizes)) stage.style.setProperty(`--glue-${name}`, `${size.toFixed(2)}px`);
    const move = (node, name) => {
      const { x, y } = FACTORS[name] ? boxOf(name) : Object.fromEntries(placeOf(name).map((value, i) => ["xy"[i], value]));
      node.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
      node.classList.toggle("glue-lifted", lifted?.name === name);
      node.classList.toggle("glue-beside", isBeside(name));
    };
    for (const [name, node] of Object.entries(nodes)) move(node, name);
    tie();
    for (const [name, node] of Object.entries(signs)) move(node, name);
    stage.style.setProperty("--glue-fade", Math.max(0, 1 - share / MERGED).toFixed(2)); // of what is there only apart
    stage.classList.toggle("glue-together", share >= MERGED);
    const isCrossing = orders.weights !== Number(shown.swapped) || orders.rows !== Number(shown.memory_first);
    stage.classList.toggle("glue-done", share === 1 && lifted === null && !isCrossing);
    stage.classList.toggle("glue-crossing", isCrossing);
    stage.classList.toggle("glue-wrong", shown.isWrong);
    fade();
  };
  let width = 0; // what there is for the blocks
  let widthsOfTexts = {}; // at 1 px: measured again only when `width` changes
  const widthOf = (text) => {
    probe.textContent = text;
    const wide = probe.getBoundingClientRect().width / 50;
    probe.textContent = "";
    return wide;
  };
  const measure = () => {
    if (width <= 0 || shown === null) return;
    const sizesIn = (isTight) => {
      stage.classList.toggle("glue-tight", isTight);
      const widths = ["−2.0", shown.hasNegative ? "−2.00" : "2.00"].map((text) => (widthsOfTexts[`${text} ${isTight}`] ??= widthOf(text)));
      layout = arrange(shown, width, Math.ceil(LEAST * widths[1] / 0.97) + 4);
      return Object.fromEntries(["apart", "glued"].map((state) => [state, sizesOfFont(layout[state].unit, widths)]));
    };
    fonts = sizesIn(false);
    if (layout.width > width || Math.min(...fonts.apart, ...fonts.glued) < SMALL) fonts = sizesIn(true);
    stage.style.width = `${layout.width}px`;
    stage.style.height = `${layout.height}px`;
    stage.style.setProperty("--glue-rows", shown.batch_size);
    for (const [name, { x, y, width: wide, height }] of Object.entries(frames(shown, layout))) {
      Object.assign(glue[name].style, { transform: `translate(${x - 3}px, ${y - 3}px)`, width: `${wide + 6}px`, height: `${height + 6}px` });
    }
    stage.classList.toggle("glue-slim", shown.num_hiddens * layout.glued.unit < RESULT_CAPTION); // its words begin where it begins
    for (const [name, columns] of [["X", shown.num_inputs], ["H", shown.num_hiddens]]) {
      const many = Number(shown.batch_size > 1);
      nodes[name].firstChild.replaceChildren(element("code", {}, name), columns * layout.apart.unit >= CAPTION[name] ? ` ${t(`is_${name}${many ? "_many" : ""}`)}` : "");
    }
    for (const [name, rows] of [["W_xh", shown.num_inputs], ["W_hh", shown.num_hiddens]]) {
      const label = nodes[name].firstChild;
      label.replaceChildren(rows * layout.apart.unit >= CAPTION.W ? element("span", { class: "glue-words" }, element("span", {}, t("is_W"), " "), t("is_W_for", { block: name === "W_xh" ? "X" : "H" })) : "", element("code", {}, name));
      label.style.setProperty("--glue-between", `${rows > 1 ? (100 * Math.floor(rows / 2)) / rows : (name === "W_hh") === shown.swapped ? 75 : 25}%`); // between two rows: no line leads there
    }
    const inner = shown.num_inputs + shown.num_hiddens;
    const order = shown.memory_first ? "HX" : "XH";
    const many = shown.batch_size > 1 ? "_many" : "";
    const isBroad = layout.width <= width && inner * layout.glued.unit >= CAPTION.glued[many === "" ? 0 : 1];
    glue.rows.firstChild.replaceChildren(element("code", {}, order), ` ${t("is_glued", { rows: shown.batch_size, columns: inner })}${isBroad ? `, ${t(`is_${order}${many}`)}` : ""}`);
    glue.columns.firstChild.replaceChildren(element("code", {}, "W"), ` ${t("is_glued", { rows: inner, columns: shown.num_hiddens })}`);
    tellNext();
    place();
    const scrolls = layout.width > width;
    if (scrolls) {
      box.setAttribute("tabindex", "0");
      box.scrollLeft = layout.width; // the result first
    } else box.removeAttribute("tabindex");
    more.hidden = !scrolls;
    stage.classList.toggle("glue-scrolled", scrolls);
    fade();
  };
  /**
   * An arrow from the result at this place to its place in H, between the tables and their names, and what it becomes there, in
   * the longest of some `words`. It runs below the last row: of a result above there is none.
   */
  let told = [[], [0, 0]];
  const tellNext = (...given) => {
    if (given.length > 0) told = given;
    if (layout === null) return;
    const [words, [row, column]] = told;
    loop.hidden = row !== shown.batch_size - 1;
    if (loop.hidden) return;
    const { from, to, y } = loopOf(shown, layout, column);
    const low = y + LOW;
    const room = from - to - 2 * BEND;
    const isIn = words.some((text) => { // the longest that fits between the ends, else the shortest beside the arrowhead
      next.textContent = text;
      return next.offsetWidth <= room;
    });
    back.setAttribute("d", `M${from} ${y - 3}V${low - BEND}q0 ${BEND} ${-BEND} ${BEND}H${to + BEND}q${-BEND} 0 ${-BEND} ${-BEND}V${y}m-4 5l4 -5l4 5`);
    Object.assign(next.style, { left: `${isIn ? (from + to) / 2 : to - BEND}px`, top: `${low}px`, translate: `${isIn ? -50 : -100}% -50%` });
  };
  const fade = () => {
    const begin = share === 0 ? Math.min(layout.apart.X[0], layout.apart.plus[0] - 12) : 0; // apart, nothing stands before it
    const goesOn = !more.hidden && box.scrollLeft > begin + 1;
    box.classList.toggle("glue-more", goesOn);
    more.classList.toggle("glue-ghost", share === 0 && !goesOn); // it keeps its room
  };
  box.addEventListener("scroll", fade, { signal, passive: true });
  const observer = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width) return;
    [width, widthsOfTexts] = [contentRect.width, {}];
    measure();
  });
  observer.observe(box);
  signal.addEventListener("abort", () => { observer.disconnect(); ends?.abort(); }, { once: true });

  const fill = (model) => {
    const { mats, parts, glued, batch_size, num_inputs, num_hiddens, seed, swapped, memory_first, isWrong, added } = model;
    const key = [batch_size, num_inputs, num_hiddens, seed, swapped, memory_first, added].join();
    if (shown?.key === key) {
      shown.glued = glued;
      place();
      return;
    }
    ends?.abort();
    ends = new AbortController();
    shown = { key, glued, batch_size, num_inputs, num_hiddens, swapped, memory_first, isWrong, hasNegative: parts.flat().some(({ x, h, sum }) => Math.min(x, h, sum) < 0) };
    cells = {};
    ties.replaceChildren(...["x", "h"].flatMap((kind) => Array.from({ length: kind === "x" ? num_inputs : num_hiddens }, () => svg("path", { class: `glue-tie-${kind}` }))));
    const put = (name, rows, columns, make) => {
      cells[name] = rows;
      const grid = nodes[name].querySelector(".glue-grid");
      grid.style.setProperty("--glue-columns", columns);
      grid.replaceChildren(...rows.flat());
      make?.(grid);
    };
    const cell = (text, attributes = {}) => element("span", { class: "glue-cell", ...attributes }, text);
    const describe = (name, values, decimals) => (grid) => {
      grid.setAttribute("role", "img");
      grid.setAttribute("aria-label", t("matrix", {
        name, rows: values.length, columns: values[0].length,
        values: values.map((line) => line.map((value) => written(value, decimals)).join(", ")).join("; "),
      }));
    };
    for (const name of Object.keys(FACTORS)) {
      const isRow = name === "X" || name === "H";
      const rows = mats[name].map((line, i) => line.map((value, j) => {
        const node = cell(written(value, 1));
        node.addEventListener("click", () => onSelect(isRow ? { row: i } : { column: j }), { signal: ends.signal });
        return node;
      }));
      put(name, rows, mats[name][0].length, describe(name, mats[name], 1));
    }
    for (const [name, part] of [["from_x", "x"], ["from_h", "h"]]) {
      const rows = parts.map((line, i) => line.map((value, j) => {
        const node = cell(written(value[part]));
        node.addEventListener("click", () => onSelect({ row: i, column: j }), { signal: ends.signal });
        return node;
      }));
      put(name, rows, num_hiddens, describe(name === "from_x" ? "X @ W_xh" : "H @ W_hh", parts.map((line) => line.map((value) => value[part])), 2));
    }
    const rows = parts.map((line, i) => line.map((value, j) => {
      const node = buttonControl({
        label: written(value.sum), class: `glue-cell${value.sum === value.right ? "" : " glue-off"}`, role: "radio", signal: ends.signal,
        "data-mark": added === 0 ? null : value.sum === value.right ? "✓" : "✗",
        "aria-label": t("cell", { row: i + 1, column: j + 1, value: written(value.sum) }), onPress: () => onSelect({ row: i, column: j }),
      });
      let isOver = false;
      node.addEventListener("pointermove", ({ pointerType }) => { // a mouse that comes to it, and not the other way round
        if (isOver || pointerType !== "mouse") return;
        isOver = true;
        onHover([i, j]);
      }, { signal: ends.signal });
      node.addEventListener("pointerleave", () => {
        if (isOver) onHover(null);
        isOver = false;
      }, { signal: ends.signal });
      node.addEventListener("keydown", (event) => {
        const step = STEPS[event.key];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        const [row, column] = [i + step[0], j + step[1]];
        if (!cells.sum[row]?.[column]) return;
        onSelect({ row, column });
        cells.sum[row][column].focus();
      }, { signal: ends.signal });
      return node;
    }));
    put("sum", rows, num_hiddens, (grid) => {
      grid.setAttribute("role", "radiogroup");
      grid.setAttribute("aria-label", t("result"));
    });
    measure();
  };

  /** The row and the column of a number light up; `term` is the product that is added now, -1 for none. */
  const light = ([row, column], term = -1) => {
    numbersOf(shown, shown.memory_first).forEach(([, , k], i) => ties.children[i].classList.toggle("glue-now", k === term));
    const marks = (name, i, j) => {
      if (name === "X" || name === "H") return i === row;
      return FACTORS[name] ? j === column : i === row && j === column;
    };
    for (const [name, rows] of Object.entries(cells)) {
      const above = { X: shown.memory_first ? shown.num_hiddens : 0, H: shown.memory_first ? 0 : shown.num_inputs, W_xh: shown.swapped ? shown.num_hiddens : 0, W_hh: shown.swapped ? 0 : shown.num_inputs };
      const first = above[name];
      rows.forEach((line, i) => line.forEach((node, j) => {
        const marked = marks(name, i, j);
        const k = first + (name === "X" || name === "H" ? j : i);
        node.classList.toggle("glue-marked", marked);
        node.classList.toggle("glue-now", Boolean(FACTORS[name]) && marked && k === term);
      }));
    }
  };
  const select = (row, column) => cells.sum.forEach((line, i) => line.forEach((node, j) => {
    const chosen = i === row && j === column;
    node.setAttribute("aria-checked", String(chosen));
    node.tabIndex = chosen ? 0 : -1;
  }));
  return {
    node, fill, light, select, tellNext,
    /** The word below the result, or the number that was added to each. */
    name: (kind, added) => {
      if (added !== 0) {
        nodes.sum.firstChild.replaceChildren(t("each", { added: written(added) }));
        return;
      }
      const sign = { same: "=", chance: "=", wrong: "≠" }[kind];
      nodes.sum.firstChild.replaceChildren(...(sign ? [element("b", {}, sign), " "] : []), t(kind));
    },
    share: () => share, isLifted: () => lifted !== null,
    /** To a share of the whole motion; `home` is how far a block that was in a hand has come to its place. */
    slide: (to, home = 1) => {
      if (to !== share) delete stage.dataset.moved;
      share = to;
      if (home === 1) lifted = null;
      else if (lifted) lifted.left = 1 - home;
      place();
    },
    order: (side) => orders[side],
    /** The blocks of a side to a share of the way past each other. */
    swap: (side, to, home = 1) => {
      if (to !== orders[side]) stage.dataset.moved = side;
      orders[side] = to;
      if (home === 1) lifted = null;
      else if (lifted) lifted.left = 1 - home;
      place();
    },
  };
}

/**
 * The sum of one number, term by term: in two rows, or in one. `show(pairs, values, glued, added)` lists the terms (and what
 * else was added), `run(count)` adds the first of them; glued or taken apart, `move(share)` carries each term from its old
 * place to its new one: `show` says whether that is to be done.
 */
export function sumPanel({ t }) {
  const rows = element("div", { class: "glue-rows" });
  const node = element("div", { class: "glue-terms", "aria-hidden": "true" }, rows);
  let lines = []; // [{ pairs, terms }]

  const line = (pairs, part, value, { name = null, sums = null, added = 0 } = {}) => {
    const terms = pairs.map(([u, v, kind, , own], k) => element(
      "span", { "data-own": v === own ? null : t("needs", { weight: written(own, 1) }), class: `glue-term glue-${part(k)}${v === own ? "" : " glue-wrongly"}${kind === part(k) ? "" : " glue-mixed"}` }, element("span", {}, written(u, 1)), element("span", {}, ` × ${written(v, 1)}`), // its frame is its bracket
    ));
    const total = element("b", {}, written(value));
    const all = terms.map((term, k) => (k === 0 ? term : element("span", { class: "glue-plus" }, "+ ", term)));
    const groups = sums === null ? all : [part(0), part(pairs.length - 1)].map((kind) => element( // a bracket below says what they make
      "span", { class: `glue-group glue-${kind}` }, ...all.filter((_, k) => part(k) === kind), element("b", { class: "glue-part" }, written(sums[kind])),
    ));
    const label = name === null ? [] : [element("span", { class: "glue-soft" }, name), " "];
    const sum = element("span", { class: "glue-total" }, added === 0 ? "" : `+ ${written(added)} `, "= ", total);
    return { pairs, terms, node: element("p", {}, ...label, ...groups, sum) };
  };
  const run = (count, isRunning) => {
    let before = 0;
    for (const { pairs, terms } of lines) {
      const added = Math.max(0, Math.min(pairs.length, count - before));
      terms.forEach((term, k) => {
        term.classList.toggle("glue-later", k >= added);
        term.classList.toggle("glue-now", isRunning && before + k === count - 1);
      });
      before += pairs.length;
    }
  };
  let before = null; // glued or not
  let ways = []; // [term, dx, dy]: from where it comes
  const movers = () => lines.flatMap(({ terms }) => terms);
  const middle = (each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  };
  const placesNow = () => {
    const at = node.getBoundingClientRect();
    return movers().map(middle).map(([x, y]) => [x - at.left, y - at.top]);
  };
  const move = (share) => {
    // First along its own row, then into the other, and back the same way: no term lies on another.
    const early = (end) => Math.min(1, share / end);
    const late = (begin) => Math.max(0, (share - begin) / (1 - begin));
    const [along, across] = before ? [early(0.6), late(0.6)] : [late(0.4), early(0.4)];
    for (const [term, dx, dy] of ways) term.style.transform = share === 1 ? "" : `translate(${dx * (1 - along)}px, ${dy * (1 - across)}px)`;
    if (share === 1) ways = [];
    node.classList.toggle("glue-moving", ways.length > 0);
  };
  const show = (pairs, values, glued, added) => {
    const old = before !== null && before !== glued ? placesNow() : [];
    list(pairs, values, glued, added);
    before = glued;
    node.classList.toggle("glue-many", pairs.all.length > 6);
    const places = old.length > 0 ? placesNow() : [];
    ways = old.length > 0 && old.length === places.length ? movers().map((term, i) => [term, old[i][0] - places[i][0], old[i][1] - places[i][1]]) : [];
    const areMoving = ways.length > 0 && !prefersReducedMotion();
    move(areMoving ? 0 : 1); // new terms have no way behind them
    return areMoving;
  };
  const list = ({ all, x, h }, values, glued, added) => {
    const one = line(all, (k) => all[k][3], values.sum, { sums: values, added });
    const two = [line(x, () => "x", values.x, { name: t("from_x") }), line(h, () => "h", values.h, { name: t("from_h") })];
    lines = glued ? [one] : two;
    // The way that is not shown keeps its room, so that nothing below jumps.
    rows.replaceChildren(...[[glued, one.node], [!glued, ...two.map((each) => each.node)]].map(([isShown, ...rows], i) => element(
      "div", { class: `${i === 0 ? "glue-one" : "glue-two"}${isShown ? "" : " glue-ghost"}` }, ...rows,
    )));
  };
  return { node, show, run, move };
}

/** The line of code that computes what stands above, and what its words mean; `light` marks the names of the part that is added now. */
export function codePanel({ t }) {
  const line = element("code", { class: "glue-code" });
  const means = [false, true].map((isGlued) => element("p", { class: "glue-soft" }, t(isGlued ? "code_glued" : "code_apart")));
  const node = element("div", { class: "glue-coded" }, line, element("div", { class: "glue-means" }, ...means.map((each) => element("div", {}, each))));
  let names = [];
  let shown = null;
  const show = ({ glued, swapped, memory_first, added }) => {
    const key = [glued, swapped, memory_first, added].join();
    if (shown === key) return;
    shown = key;
    const name = (text) => element("span", { class: `glue-${FACTORS[text]}` }, text);
    names = Object.fromEntries(Object.keys(FACTORS).map((text) => [text, name(text)]));
    const { X, H, W_xh, W_hh } = names;
    const cat = (x, h, hFirst, axis) => ["torch.cat((", hFirst ? h : x, ", ", hFirst ? x : h, `), ${axis})`];
    means.forEach((each, i) => each.parentNode.classList.toggle("glue-ghost", glued !== (i === 1))); // it keeps its room
    if (glued) line.replaceChildren(...cat(X, H, memory_first, 1), " @ ", element("wbr"), ...cat(W_xh, W_hh, swapped, 0));
    else line.replaceChildren(X, " @ ", W_xh, " + ", H, " @ ", W_hh);
    if (added !== 0) line.append(` + ${written(added)}`);
  };
  const light = (part) => {
    for (const [name, each] of Object.entries(names)) each.classList.toggle("glue-now", FACTORS[name] === part);
  };
  return { node, show, light };
}
