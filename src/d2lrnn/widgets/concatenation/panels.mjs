// The picture of the concatenation identity: seven blocks that slide, the sum that runs, the code, the last digits.
import { formatPowerOfTen } from "../charts.mjs";
import { dragOn } from "../shape.mjs";
import { buttonControl, element } from "../ui.mjs";
import { MERGED, ROUND, arrange, between, bothWays, heightAt, products } from "./maths.mjs";

export const written = (value, decimals = 2) => value.toFixed(decimals).replace("-", "−").replace(/^−(0\.0+)$/, "$1");
const smallNumber = (value) => (value === 0 ? "0" : formatPowerOfTen(value));

const FACTORS = { X: "x", W_xh: "x", H: "h", W_hh: "h" };
const RESULTS = ["from_x", "from_h", "sum"];
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * The blocks. `onSelect(place)` hears of a chosen { row } or { column } or both, `onHover` of a number of the result that
 * a mouse is over (or null), `onDrag(share)` of H or W_hh being dragged, and `onDrop()` of its end.
 */
export function stagePanel({ t, signal, onSelect, onHover, onDrag, onDrop }) {
  const stage = element("div", { class: "glue-stage" });
  const box = element("div", { class: "glue-box" }, stage);
  const nodes = {}; // name -> block
  let cells = {}; // name -> rows of cells
  let shown = null; // what the cells were made for
  let layout = null;
  let share = 0;
  let ends = null;

  const drag = (name, node) => {
    let from = null;
    dragOn(node, {
      axis: "both", signal,
      start: ({ event }) => {
        from = { x: event.clientX, y: event.clientY, way: Math.max(0, (share - MERGED) / (1 - MERGED)), far: false };
        return layout !== null;
      },
      move: ({ event }) => {
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        from.far ||= Math.hypot(dx, dy) > 5;
        if (!from.far) return;
        const [vx, vy] = [0, 1].map((i) => layout.glued[name][i] - layout.apart[name][i]);
        const way = Math.min(1, Math.max(0, from.way + (dx * vx + dy * vy) / (vx * vx + vy * vy || 1)));
        onDrag(MERGED + way * (1 - MERGED));
      },
      end: () => from.far && onDrop(),
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
  const signs = { plus: element("span", { class: "glue-sign", "aria-hidden": "true" }, "+"), equals: element("span", { class: "glue-sign", "aria-hidden": "true" }, "=") };
  stage.append(nodes.X, nodes.H, nodes.W_xh, nodes.W_hh, nodes.from_x, nodes.from_h, nodes.sum, signs.plus, signs.equals);

  const place = () => {
    if (layout === null) return;
    const move = (node, name) => {
      const [x, y] = between(layout, name, share);
      node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    };
    for (const [name, node] of Object.entries(nodes)) move(node, name);
    for (const [name, node] of Object.entries(signs)) {
      move(node, name);
      node.style.opacity = Math.max(0, 1 - share / MERGED);
    }
    for (const name of ["from_x", "from_h"]) nodes[name].style.opacity = Math.max(0, Math.min(1, 1.4 - 1.4 * share / MERGED));
    stage.classList.toggle("glue-together", share >= MERGED);
    stage.style.height = `${heightAt(layout, share)}px`;
  };
  const measure = () => {
    const width = box.clientWidth;
    if (width === 0 || shown === null) return;
    layout = arrange(shown, width);
    stage.style.width = `${layout.width}px`;
    stage.style.setProperty("--glue-unit", `${layout.unit}px`);
    stage.style.setProperty("--glue-broad", `${layout.broad}px`);
    stage.style.setProperty("--glue-row", `${layout.row}px`);
    stage.style.setProperty("--glue-rows", shown.batch_size);
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
    node: box, fill, light, select, share: () => share,
    slide: (to) => {
      share = to;
      place();
    },
  };
}

/** The sum of one number, term by term: `show(pairs, glued)` lists the terms, `run(count)` adds the first of them. */
export function sumPanel({ t }) {
  const node = element("div", { class: "glue-terms", "aria-hidden": "true" });
  let lines = []; // [{ terms, values, total }]
  let ending = null;

  const line = (name, pairs, part) => {
    const terms = pairs.map(([u, v], k) => element(
      "span", { class: `glue-term glue-${part(k)}` }, `${written(u, 1)} · ${v < 0 ? `(${written(v, 1)})` : written(v, 1)}`,
    ));
    const total = element("b", {});
    const plus = terms.flatMap((term, k) => (k === 0 ? [term] : [element("span", {}, "+"), term]));
    return { pairs, terms, total, node: element("p", {}, element("span", { class: "glue-soft" }, name), " ", ...plus, element("span", { class: "glue-total" }, "= ", total)) };
  };
  const run = (count, sum, isRunning) => {
    let before = 0;
    for (const { pairs, terms, total } of lines) {
      const added = Math.max(0, Math.min(pairs.length, count - before));
      terms.forEach((term, k) => {
        term.classList.toggle("glue-later", k >= added);
        term.classList.toggle("glue-now", isRunning && before + k === count - 1);
      });
      total.textContent = added === 0 ? "…" : written(sum(pairs.slice(0, added)));
      before += pairs.length;
    }
    ending?.classList.toggle("glue-later", count < before);
  };
  const show = ({ x, h }, values, glued) => {
    if (glued) {
      lines = [line(t("one_sum"), [...x, ...h], (k) => (k < x.length ? "x" : "h"))];
      ending = null;
      node.replaceChildren(lines[0].node);
      return;
    }
    lines = [line(t("from_x"), x, () => "x"), line(t("from_h"), h, () => "h")];
    const second = values.h < 0 ? `(${written(values.h)})` : written(values.h);
    ending = element("p", {}, element("span", { class: "glue-soft" }, t("sum")), ` ${written(values.x)} + ${second} = `, element("b", {}, written(values.sum)));
    node.replaceChildren(...lines.map((each) => each.node), ending);
  };
  return { node, show, run };
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

/** What a computer of either precision finds both ways. */
export function roundingPanel({ t }) {
  const words = element("p", {});
  const table = element("table", { class: "glue-table" });
  const draw = ({ mats, row, column }) => {
    words.textContent = t("rounding", { row: row + 1, column: column + 1 });
    const pairs = products(mats, row, column);
    const body = Object.entries(ROUND).map(([kind, round]) => {
      const { apart, glued } = bothWays(pairs, round);
      const digits = kind === "float32" ? 9 : 17;
      const gap = Math.abs(apart - glued);
      const cells = [apart, glued].map((value) => value.toPrecision(digits).replace("-", "−"));
      return element("tr", {}, element("th", { scope: "row" }, t(kind)), ...cells.map((text) => element("td", {}, text)),
        element("td", {}, gap === 0 ? t("equal") : smallNumber(gap)));
    });
    const head = ["precision", "column_apart", "column_glued", "difference"].map((key) => element("th", { scope: "col" }, t(key)));
    table.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  };
  return { node: element("div", { class: "glue-rounding" }, words, table), draw };
}

export const asPower = smallNumber;
