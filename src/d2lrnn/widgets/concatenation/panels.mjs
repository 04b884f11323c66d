// The picture of the concatenation identity: seven blocks that slide, the sum that runs, the code, the last digits.
import { formatPowerOfTen } from "../charts.mjs";
import { dragOn } from "../shape.mjs";
import { buttonControl, element, svg } from "../ui.mjs";
import { MERGED, ROUND, arrange, between, bothWays, digitsOf, frames, gapBetween, heightAt, products, sizeAt } from "./maths.mjs";

export const written = (value, decimals = 2) => value.toFixed(decimals).replace("-", "−").replace(/^−(0\.0+)$/, "$1");
const smallNumber = (value) => (value === 0 ? "0" : formatPowerOfTen(value));

const TIGHT = 32; // px: narrower columns have a narrow font
const EDGE = 4; // px around the blocks, for their frames
const CAPTION = 74; // px that the words below X and H need
const FACTORS = { X: "x", W_xh: "x", H: "h", W_hh: "h" };
const PARTNER = { H: "X", W_hh: "W_xh" };
const TOUCH = 18; // px from its partner a dragged block snaps to it
const PULL = 40; // px from where it was taken it comes off
const RESULTS = ["from_x", "from_h", "sum"];
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The blocks. `onSelect(place)` hears of a chosen { row } or { column } or both, `onHover` of a number of the result that
 * a mouse is over (or null), `onDrag()` of H or W_hh being dragged, and `onDrop(glued)` of where it was let go.
 */
export function stagePanel({ t, signal, onSelect, onHover, onDrag, onDrop }) {
  const stage = element("div", { class: "glue-stage" });
  const box = element("div", { class: "glue-box" }, stage);
  const probe = element("span", { class: "glue-probe", "aria-hidden": "true" }, "−2.0");
  const nodes = {}; // name -> block
  let cells = {}; // name -> rows of cells
  let shown = null; // what the cells were made for
  let layout = null;
  let ratios = [1, 1]; // of the font, and of the narrow one
  let share = 0;
  let ends = null;
  let lifted = null; // { name, dx, dy, left }: a block in a hand, or on its way back (`left` goes from 1 to 0)

  const boxOf = (name) => {
    const [x, y] = between(layout, name, share);
    const [columns, rows] = {
      X: [shown.num_inputs, shown.batch_size], H: [shown.num_hiddens, shown.batch_size],
      W_xh: [shown.num_hiddens, shown.num_inputs], W_hh: [shown.num_hiddens, shown.num_hiddens],
    }[name];
    const isRow = name === "X" || name === "H";
    const size = sizeAt(layout, share);
    const [dx, dy] = lifted?.name === name ? [lifted.dx * lifted.left, lifted.dy * lifted.left] : [0, 0];
    return { x: x + dx, y: y + dy, width: columns * (isRow ? size.unit : size.broad), height: rows * size.row };
  };
  const gapOf = (name) => gapBetween(boxOf(name), boxOf(PARTNER[name]));

  const drag = (name, node) => {
    let from = null;
    dragOn(node, {
      axis: "both", signal,
      start: ({ event }) => {
        from = { x: event.clientX, y: event.clientY, far: false, done: false, pull: 0 };
        return layout !== null;
      },
      move: ({ event }) => {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        if (from.done) return;
        from.pull = Math.hypot(dx, dy);
        if (!from.far) {
          if (from.pull <= 5) return;
          from.far = true;
          onDrag();
          lifted = null;
          Object.assign(from, { box: boxOf(name), gap: gapOf(name) });
        }
        const { box: { x, y, width, height }, gap } = from;
        const within = (by, at, size, all) => Math.max(-at, Math.min(all - at - size, by));
        lifted = { name, dx: within(dx, x, width, layout.width), dy: within(dy, y, height, stage.clientHeight), left: 1 };
        place();
        if (gap > TOUCH && gapOf(name) <= TOUCH) {
          from.done = true;
          onDrop(true);
        }
      },
      end: () => {
        if (!from.far || from.done) return;
        onDrop(from.gap > TOUCH ? gapOf(name) <= from.gap / 2 : from.pull <= PULL);
      },
    });
    // What was dragged was not pressed.
    node.addEventListener("click", (event) => from?.far && event.stopImmediatePropagation(), { signal, capture: true });
  };

  for (const name of [...Object.keys(FACTORS), ...RESULTS]) {
    const part = FACTORS[name] ?? "r";
    const label = element("span", { class: "glue-name", "aria-hidden": "true" }, FACTORS[name] ? name : t(name));
    const grid = element("div", { class: "glue-grid" });
    nodes[name] = element("div", { class: `glue-block glue-${part} glue-${name}` }, label, grid);
    if (part === "h") drag(name, nodes[name]);
  }
  const glue = { rows: element("span", { class: "glue-frame", "aria-hidden": "true" }), columns: element("span", { class: "glue-frame", "aria-hidden": "true" }) };
  const signs = { plus: element("span", { class: "glue-sign", "aria-hidden": "true" }, "+"), equals: element("span", { class: "glue-sign", "aria-hidden": "true" }, "=") };
  stage.append(probe, nodes.X, nodes.H, nodes.W_xh, nodes.W_hh, nodes.from_x, nodes.from_h, nodes.sum, signs.plus, signs.equals, glue.rows, glue.columns);

  const place = () => {
    if (layout === null) return;
    const size = sizeAt(layout, share);
    for (const [name, value] of Object.entries(size)) stage.style.setProperty(`--glue-${name}`, `${value.toFixed(2)}px`);
    // Numbers leave a margin in their cells, whatever the font.
    const isTight = size.unit < TIGHT;
    stage.classList.toggle("glue-tight", isTight);
    stage.style.setProperty("--glue-size", `${Math.min(17, 0.94 * (size.unit - 4) / ratios[Number(isTight)]).toFixed(2)}px`);
    const move = (node, name) => {
      const { x, y } = FACTORS[name] ? boxOf(name) : Object.fromEntries(between(layout, name, share).map((value, i) => ["xy"[i], value]));
      node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      node.classList.toggle("glue-lifted", lifted?.name === name);
    };
    for (const [name, node] of Object.entries(nodes)) move(node, name);
    for (const [name, node] of Object.entries(signs)) {
      move(node, name);
      node.style.opacity = Math.max(0, 1 - share / MERGED);
    }
    for (const name of ["from_x", "from_h"]) nodes[name].style.opacity = Math.max(0, 1 - share / MERGED);
    stage.classList.toggle("glue-together", share >= MERGED);
    stage.classList.toggle("glue-held", lifted !== null);
    stage.classList.toggle("glue-done", share === 1 && lifted === null);
    nodes.sum.firstChild.textContent = t(share >= MERGED ? "product" : "sum");
    stage.style.height = `${heightAt(layout, share)}px`;
  };
  const measure = () => {
    const width = box.clientWidth - 2 * EDGE;
    if (width <= 0 || shown === null) return;
    layout = arrange(shown, width);
    stage.style.width = `${layout.width}px`;
    stage.style.setProperty("--glue-rows", shown.batch_size);
    ratios = [false, true].map((isTight) => { // the width of a number with one decimal, at 1 px
      stage.classList.toggle("glue-tight", isTight);
      return probe.getBoundingClientRect().width / 100;
    });
    for (const [name, { x, y, width: wide, height }] of Object.entries(frames(shown, layout))) {
      Object.assign(glue[name].style, { transform: `translate(${x - 3}px, ${y - 3}px)`, width: `${wide + 6}px`, height: `${height + 6}px` });
    }
    const { apart: { X: [left], unit }, near } = layout;
    const hasRoom = (name) => name === "X" && width > 500 && shown.num_hiddens > 2 // it may be wider than its block
      && left + shown.num_inputs * unit / 2 >= CAPTION / 2 - EDGE && (shown.num_inputs + shown.num_hiddens) * near.unit / 2 > CAPTION + EDGE;
    for (const [name, columns] of [["X", shown.num_inputs], ["H", shown.num_hiddens]]) {
      nodes[name].firstChild.replaceChildren(element("code", {}, name), columns * Math.min(unit, near.unit) >= CAPTION || hasRoom(name) ? ` ${t(`is_${name}`)}` : "");
    }
    place();
    if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  };
  const observer = new ResizeObserver(measure);
  observer.observe(box);
  signal.addEventListener("abort", () => { observer.disconnect(); ends?.abort(); }, { once: true });

  const fill = (model) => {
    const { mats, parts, batch_size, num_inputs, num_hiddens, seed } = model;
    const key = [batch_size, num_inputs, num_hiddens, seed].join();
    if (shown?.key === key) return;
    ends?.abort();
    ends = new AbortController();
    shown = { key, batch_size, num_inputs, num_hiddens };
    cells = {};
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
      put(name, rows, num_hiddens, describe(t(name), parts.map((line) => line.map((value) => value[part])), 2));
    }
    const rows = parts.map((line, i) => line.map((value, j) => {
      const node = buttonControl({
        label: written(value.sum), class: "glue-cell", role: "radio", signal: ends.signal,
        "aria-label": t("cell", { row: i + 1, column: j + 1, value: written(value.sum) }), onPress: () => onSelect({ row: i, column: j }),
      });
      node.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && onHover([i, j]), { signal: ends.signal });
      node.addEventListener("pointerleave", () => onHover(null), { signal: ends.signal });
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
    const marks = (name, i, j) => {
      if (name === "X" || name === "H") return i === row;
      return FACTORS[name] ? j === column : i === row && j === column;
    };
    for (const [name, rows] of Object.entries(cells)) {
      const first = FACTORS[name] === "h" ? shown.num_inputs : 0;
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
    node: box, fill, light, select, share: () => share, isLifted: () => lifted !== null,
    /** To a share of the whole motion; `home` is how far a block that was in a hand has come to its place. */
    slide: (to, home = 1) => {
      share = to;
      if (home === 1) lifted = null;
      else if (lifted) lifted.left = 1 - home;
      place();
    },
  };
}

/**
 * The sum of one number, term by term: two rows, or one. `show(pairs, values, glued)` lists the terms,
 * `run(count)` adds the first of them; glued or taken apart, `move(share)` carries each term from its old place to its new one.
 */
export function sumPanel({ t }) {
  const node = element("div", { class: "glue-terms", "aria-hidden": "true" });
  let lines = []; // [{ terms, values, total }]

  const line = (name, pairs, part, sums = null) => {
    const terms = pairs.map(([u, v], k) => element(
      "span", { class: `glue-term glue-${part(k)}` }, element("span", {}, written(u, 1)), element("span", {}, `×${written(v, 1)}`),
    ));
    const total = element("b", {});
    const equals = element("span", {});
    const all = terms.map((term, k) => (k === 0 ? term : element("span", { class: "glue-plus" }, "+ ", term)));
    const groups = sums === null ? all : ["x", "h"].map((kind) => element( // a bracket below says what they make
      "span", { class: `glue-group glue-${kind}`, "data-sum": written(sums[kind]) }, ...all.filter((_, k) => part(k) === kind),
    ));
    return {
      pairs, terms, total, equals,
      node: element("p", {}, element("span", { class: "glue-soft" }, name), " ", ...groups, element("span", { class: "glue-total" }, equals, " ", total)),
    };
  };
  const run = (count, sum, isRunning) => {
    let before = 0;
    for (const { pairs, terms, total, equals } of lines) {
      const added = Math.max(0, Math.min(pairs.length, count - before));
      terms.forEach((term, k) => {
        term.classList.toggle("glue-later", k >= added);
        term.classList.toggle("glue-now", isRunning && before + k === count - 1);
      });
      equals.textContent = added === pairs.length ? "=" : t("so_far");
      total.textContent = added === 0 ? "…" : written(sum(pairs.slice(0, added)));
      before += pairs.length;
    }
  };
  let before = null; // glued or not
  let ways = []; // [term, dx, dy]: from where it comes
  const termsNow = () => lines.flatMap(({ terms }) => terms);
  const placesNow = () => {
    const at = node.getBoundingClientRect();
    return termsNow().map((term) => term.getBoundingClientRect()).map(({ left, top }) => [left - at.left, top - at.top]);
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
  const show = (pairs, values, glued) => {
    const old = before !== null && before !== glued ? placesNow() : [];
    list(pairs, values, glued);
    before = glued;
    const places = old.length > 0 ? placesNow() : [];
    ways = old.length > 0 && old.length === places.length ? termsNow().map((term, i) => [term, old[i][0] - places[i][0], old[i][1] - places[i][1]]) : [];
  };
  const list = ({ x, h }, values, glued) => {
    if (glued) {
      lines = [line(t("one_sum"), [...x, ...h], (k) => (k < x.length ? "x" : "h"), values)];
      lines[0].node.classList.add("glue-one");
    } else {
      lines = [line(t("from_x"), x, () => "x"), line(t("from_h"), h, () => "h")];
    }
    node.replaceChildren(...lines.map((each) => each.node));
  };
  return { node, show, run, move };
}

/**
 * One step of the network: X and H meet weights, the bias is added, tanh makes the new H. `move(share)` glues it. Its H can be
 * dragged to X and away: `onDrag(share)` hears how far, `onDrop(share)` of the end.
 */
export function stepPicture({ t, signal, onDrag, onDrop }) {
  const picture = svg("svg", { class: "glue-step", viewBox: "0 -5 340 104", role: "img" });
  const part = (name, x, width, label) => {
    const node = svg("g", { class: `glue-part glue-part-${name}` },
      svg("rect", { x, y: 0, width, height: 28, rx: 4 }), svg("text", { x: x + width / 2, y: 19 }, label));
    picture.append(node);
    return Object.assign((y) => node.setAttribute("transform", `translate(0 ${y})`), { node });
  };
  const line = (d = "", kind = "glue-arrow") => {
    const node = svg("path", { class: kind, d });
    picture.append(node);
    return (to) => node.setAttribute("d", to);
  };
  const arrow = (x, y, toX, toY) => {
    const [dx, dy] = [toX - x, toY - y];
    const [ux, uy] = [dx / Math.hypot(dx, dy), dy / Math.hypot(dx, dy)];
    const head = [-1, 1].map((side) => `${toX - 6 * ux - 4.5 * side * uy} ${toY - 6 * uy + 4.5 * side * ux}`);
    return `M${x} ${y}L${toX} ${toY}M${head[0]}L${toX} ${toY}L${head[1]}`;
  };
  const frame = svg("rect", { class: "glue-layer", x: 60, y: -3, width: 137, height: 78, rx: 6 });
  const layer = svg("text", { class: "glue-small", x: 128, y: 88 });
  picture.append(frame, layer, svg("text", { class: "glue-small", x: 302, y: 88, "text-anchor": "end" }, t("next")));
  let share = 0;
  const rows = [[2, 10, "X", "W_xh", "x"], [44, 38, "H", "W_hh", "h"]].map(([apart, glued, name, weights, kind]) => ({
    apart, glued, places: [part(kind, 4, 32, name), part(kind, 66, 72, `× ${weights}`)], arrows: [line(), line()],
  }));
  const far = 36; // of the picture's 340
  for (const { node } of rows[1].places) {
    let from = null;
    dragOn(node, {
      axis: "both", signal,
      start: ({ event }) => {
        from = { y: event.clientY, share, scale: picture.clientWidth / 340, moved: false };
      },
      move: ({ event }) => {
        const way = (from.y - event.clientY) / (far * from.scale);
        if (!from.moved && Math.abs(event.clientY - from.y) <= 3) return;
        from.moved = true;
        onDrag(Math.max(0, Math.min(1, from.share + way)));
      },
      end: () => from.moved && onDrop(share),
    });
  }
  const loop = line();
  picture.append(svg("circle", { cx: 176, cy: 38, r: 11 }), svg("text", { x: 176, y: 43.5 }, "+"), svg("text", { class: "glue-bias", x: 176, y: 11 }, "b_h"));
  line(arrow(176, 15, 176, 26));
  line(arrow(189, 38, 207, 38));
  part("tanh", 209, 52, "tanh")(24);
  picture.append(svg("text", { class: "glue-small", x: 235, y: 17 }, t("then")));
  line(arrow(262, 38, 280, 38));
  part("new", 282, 56, t("new"))(24);
  const move = (to) => {
    share = to;
    for (const { apart, glued, places, arrows } of rows) {
      const y = apart + share * (glued - apart);
      for (const put of places) put(y);
      const middle = y + 14 + share * (38 - glued - 14); // two arrows become one
      arrows[0](arrow(38, middle, 63, middle));
      arrows[1](arrow(140, middle, 176 - 12 * Math.cos((1 - share) * 0.75), 38 + Math.sign(apart - glued) * 12 * Math.sin((1 - share) * 0.75)));
    }
    loop(`M310 53V94H20V${75 - 6 * share}m-4.5 6l4.5 -6l4.5 6`);
    const isOne = share === 1;
    frame.style.opacity = Number(isOne);
    layer.textContent = t(isOne ? "layer" : "layers");
    layer.classList.toggle("glue-one-layer", isOne);
    picture.setAttribute("aria-label", t(isOne ? "diagram_glued" : "diagram_apart"));
  };
  return { node: picture, move };
}

/** The line of code that computes what stands above; `light` marks the names of the part that is added now. */
export function codePanel() {
  const node = element("code", { class: "glue-code" });
  let names = [];
  let shown = null;
  const show = (glued) => {
    if (shown === glued) return;
    shown = glued;
    const name = (text) => element("span", { class: `glue-${FACTORS[text]}` }, text);
    names = Object.fromEntries(Object.keys(FACTORS).map((text) => [text, name(text)]));
    const { X, H, W_xh, W_hh } = names;
    if (glued) node.replaceChildren("torch.cat((", X, ", ", H, "), 1) @ ", element("wbr"), "torch.cat((", W_xh, ", ", W_hh, "), 0)");
    else node.replaceChildren(X, " @ ", W_xh, " + ", H, " @ ", W_hh);
  };
  const light = (part) => {
    for (const [name, each] of Object.entries(names)) each.classList.toggle("glue-now", FACTORS[name] === part);
  };
  return { node, show, light };
}

/** Two numbers as a computer of that precision has them; where their digits part they stand out. */
const digitNodes = (values, kind) => digitsOf(values, kind === "float32" ? 9 : 17).map((parts) => parts.map(([text, differs]) => (
  differs ? element("b", { class: "glue-differs" }, text) : text)));

/** The chosen number in float32, found both ways, one above the other. */
export function digitsPanel({ t }) {
  const node = element("div", { class: "glue-digits", hidden: true });
  const draw = ({ mats, parts, row, column }) => {
    const { apart, glued } = bothWays(products(mats, row, column), ROUND.float32);
    const names = [t("column_apart"), t("column_glued")];
    const line = (name, ...digits) => element("p", {}, element("span", { class: "glue-soft" }, name), " ", ...digits);
    node.replaceChildren(...digitNodes([apart, glued], "float32").map((digits, i) => line(names[i], ...digits)), line(t("exactly"), written(parts[row][column].sum)));
  };
  return { node, draw };
}

/** What a computer of either precision finds both ways. */
export function roundingPanel({ t }) {
  const words = element("p", {});
  const table = element("table", { class: "glue-table" });
  const draw = ({ mats, row, column }) => {
    words.textContent = t("rounding", { row: row + 1, column: column + 1 });
    const pairs = products(mats, row, column);
    const body = Object.entries(ROUND).map(([kind, round]) => {
      const { apart, glued } = bothWays(pairs, round);
      const gap = Math.abs(apart - glued);
      const cells = digitNodes([apart, glued], kind);
      return element("tr", {}, element("th", { scope: "row" }, kind), ...cells.map((digits) => element("td", {}, ...digits)),
        element("td", {}, gap === 0 ? t("equal") : smallNumber(gap)));
    });
    const head = ["precision", "column_apart", "column_glued", "difference"].map((key) => element("th", { scope: "col" }, t(key)));
    table.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  };
  return { node: element("div", { class: "glue-rounding" }, words, table), draw };
}

export const asPower = smallNumber;
