// The text with its windows and the bags of state, and, folded away, the arrays X and Y.
import { dragOn, emphasised } from "../shape.mjs";
import { buttonControl, element, svg, visibleCharacter } from "../ui.mjs";
import { coverage, cutMinibatch, lacksAnswer, segments, shownLines, stretches } from "./maths.mjs";

const LINE = { wide: 44, narrow: 41 }; // a line of the text with room above it for badges and bags
const NARROW = 400;
const HEAD = 22;
const TAG_TOP = 3;
const FOLD = 30;
const MOST_LINES = 14;
const BADGE_WIDTH = { word: 64, number: 18 }; // "reader 1", or "1" where there is no room
const bagWidth = (read) => 29 + 8 * String(read).length;
const APART = 4; // between tags
const rowClass = (row) => `win-row-${row}`;
/** A text whose spaces carry a dot: a line may begin or end with one. */
const visibleSpaces = (text) => text.split(/( )/).filter(Boolean).map((part) => (part === " " ? element("span", { class: "win-space" }, part) : part));
const visibleToken = (token) => (token.length === 1 ? visibleCharacter(token) : token);

/** So many letters, or numbers. */
const unit = (t, { isText }, count) => {
  if (isText) return t(count === 1 ? "text_one" : "text_many");
  return t(count === 1 ? "numbers_one" : "numbers_many");
};

/** The state of a row as a bag: full or empty. */
export function bagPicture() {
  return svg("svg", { class: "win-sack", viewBox: "0 0 14 15", "aria-hidden": "true" }, svg("path", {
    d: "M4.5 1h5L8.3 4.2C11.5 6 13 8.7 13 11c0 2.4-1.6 3-3 3H4c-1.4 0-3-.6-3-3 0-2.3 1.5-5 4.7-6.8Z",
  }));
}

/**
 * The text in lines of equal cells; one window for each row, and above it a tag: who reads, and its bag.
 *
 * `draw(model)` lays it out, `paint(frame)` puts the windows where the frame says: one { start, read, shown, poured } a
 * row (a place, how much is in its bag, how much the window is to be seen, how much of the bag has been poured out). `onTravel(minibatch)` hears of a window being dragged, `onDrop` of the end.
 */
export function textPanel({ t, signal, onTravel, onDrop }) {
  const lines = element("div", { class: "win-lines", role: "img" });
  const trails = element("div", { class: "win-layer win-trails", "aria-hidden": "true" });
  const windows = element("div", { class: "win-layer win-windows" });
  const probe = element("span", { class: "win-probe", "aria-hidden": "true" }, "0".repeat(20));
  const node = element("div", { class: "win-text" }, probe, trails, lines, windows);
  let model = null;
  let layout = null; // { columns, cell, tops: line -> y }
  let frame = null;
  let width = 0;
  let lineHeight = LINE.wide;
  let trailed = [0, false];
  const rows = [];

  // ---- geometry ----
  const measure = () => {
    const width = node.clientWidth;
    lineHeight = width < NARROW ? LINE.narrow : LINE.wide;
    const character = probe.getBoundingClientRect().width / 20;
    if (model === null || width === 0 || character === 0) return false;
    const { tokens, epoch, k, num_steps, isText } = model;
    const cell = isText ? character : Math.max(28, character * (String(tokens.length).length + 1.2));
    const columns = Math.max(1, Math.floor(width / cell));
    const near = epoch.slice(Math.max(0, k - 1), k + 2).flat().map((start) => [start, start + num_steps + 1]);
    const parts = shownLines(tokens.length, columns, near, MOST_LINES);
    const tops = new Map();
    let y = 0;
    const drawn = [];
    for (const { from, to, folded } of parts) {
      if (folded) {
        const [first, last] = [from * columns, Math.min(tokens.length, to * columns)];
        const words = isText ? t("fold_text", { count: last - first }) : t("fold_numbers", { from: first, to: last - 1 });
        const fold = element("div", { class: "win-fold" }, words);
        fold.style.top = `${y + 8}px`;
        drawn.push(fold);
        y += FOLD;
        continue;
      }
      for (let line = from; line < to; line += 1) {
        tops.set(line, y);
        const texts = tokens.slice(line * columns, (line + 1) * columns);
        const row = element("div", { class: "win-line" }, ...(isText ? visibleSpaces(texts.join("")) : texts.map((text) => element("span", {}, text))));
        row.style.top = `${y + HEAD}px`;
        const number = element("span", { class: "win-number" }, String(line * columns));
        number.style.top = row.style.top;
        drawn.push(row, number);
        y += lineHeight;
      }
    }
    node.style.height = `${y + 4}px`;
    node.style.setProperty("--win-cell", `${cell}px`);
    layout = { columns, cell, tops };
    lines.replaceChildren(...drawn);
    return true;
  };
  const boxes = (from, to) => segments(from, to, layout.columns).filter(({ line }) => layout.tops.has(line));
  const set = (box, { line, left, right }) => {
    box.style.left = `${left * layout.cell}px`;
    box.style.width = `${(right - left) * layout.cell}px`;
    box.style.top = `${layout.tops.get(line) + HEAD}px`;
  };
  /** The token under a pointer; of what is folded, the next that is shown. */
  const placeAt = (x, y) => {
    const wanted = y * node.clientHeight - lineHeight / 2;
    const [line] = [...layout.tops].reduce((best, each) => (Math.abs(each[1] - wanted) < Math.abs(best[1] - wanted) ? each : best));
    return line * layout.columns + Math.min(layout.columns, (x * node.clientWidth) / layout.cell);
  };

  // ---- what was read, and at the end what never was ----
  const drawTrails = (k, isOver) => {
    const { epoch, num_steps, carries, tokens } = model;
    const { once, again } = coverage(tokens.length, epoch, num_steps, k);
    const parts = [];
    const add = (from, to, kind) => boxes(from, to).forEach((part) => {
      const box = element("span", { class: `win-trail ${kind}` });
      set(box, part);
      parts.push(box);
    });
    for (const [from, to] of once) add(from, to, "win-once");
    for (const [from, to] of again) add(from, to, "win-again");
    if (carries) for (const start of (epoch[0] ?? []).slice(1)) add(start, start + 1, "win-cut");
    if (isOver) for (const [from, to] of stretches(tokens.length, epoch, num_steps, { read: false })) add(from, to, "win-never");
    trails.replaceChildren(...parts);
  };

  // ---- the windows ----
  const makeRow = (row) => {
    const nodes = {
      parts: [], row,
      target: element("span", { class: "win-target" }),
      badge: element("span", { class: "win-badge" }),
      bag: element("span", { class: "win-bag" }, bagPicture(), element("span", {}), element("span", { class: "win-drops" })),
    };
    nodes.tag = element("span", { class: "win-tag", "aria-hidden": "true" }, nodes.badge, nodes.bag);
    nodes.all = element("div", { class: `win-window ${rowClass(row)}` }, nodes.target, nodes.tag);
    for (let i = 0; i < 4; i += 1) nodes.bag.lastChild.append(element("i", {}));
    return nodes;
  };
  /** Whether the tags have room for "reader 1", all on one line. */
  const isRoomForWords = () => model.batch_size * (BADGE_WIDTH.word + bagWidth(1000) + APART) <= layout.columns * layout.cell;
  /** One row; its tag comes back as { piece, line, x, width } to be put beside the others. */
  const paintRow = (nodes, { start, read, shown, poured = 0 }) => {
    const end = start + model.num_steps;
    const parts = boxes(start, end);
    while (nodes.parts.length < parts.length) {
      const part = element("span", { class: "win-part", "data-row": nodes.row });
      nodes.parts.push(part);
      nodes.all.prepend(part);
    }
    nodes.parts.forEach((part, i) => {
      part.hidden = i >= parts.length;
      if (i < parts.length) set(part, parts[i]);
    });
    for (const piece of [...nodes.parts, nodes.target]) piece.style.opacity = shown;
    const words = isRoomForWords();
    nodes.badge.textContent = words ? t("row", { reader: nodes.row + 1 }) : nodes.row + 1;
    const [target] = boxes(end, end + 1);
    nodes.target.hidden = !target;
    if (target) set(nodes.target, target);
    nodes.bag.classList.toggle("win-full", read > 0);
    nodes.bag.children[1].textContent = read;
    const pouring = poured > 0 && poured < 1;
    const tipped = Math.min(1, 4 * poured, 6 * (1 - poured));
    nodes.bag.firstChild.style.transform = pouring ? `rotate(${135 * tipped}deg) scale(${1 + 0.5 * tipped})` : "";
    nodes.bag.firstChild.style.fillOpacity = pouring ? 1 - poured : "";
    [...nodes.bag.lastChild.children].forEach((drop, i) => { // they fall one after the other
      const fallen = 1.6 * poured - 0.2 - 0.12 * i;
      drop.style.opacity = pouring && fallen > 0 && fallen < 1 ? 1 - fallen : 0;
      drop.style.transform = `translate(${3 * i - 4}px, ${34 * Math.max(0, fallen) ** 2}px)`;
    });
    nodes.tag.hidden = parts.length === 0;
    if (parts.length === 0) return [];
    const widest = parts.reduce((best, part) => (part.right - part.left > best.right - best.left ? part : best));
    const width = (words ? BADGE_WIDTH.word : BADGE_WIDTH.number) + bagWidth(read);
    return [{ piece: nodes.tag, line: widest.line, x: widest.left * layout.cell, width }];
  };
  const move = (piece, x, y) => { piece.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`; };
  /** Tags of a line side by side: each as near to its place as the others let it. */
  const sideBySide = (items) => {
    const widest = layout.columns * layout.cell;
    for (const line of new Set(items.map((item) => item.line))) {
      const row = items.filter((item) => item.line === line).sort((a, b) => a.x - b.x);
      let least = 0;
      for (const item of row) {
        item.x = Math.max(item.x, least);
        least = item.x + item.width + APART;
      }
      let most = widest + APART;
      for (const item of row.reverse()) {
        item.x = Math.min(item.x, most - item.width - APART);
        most = item.x;
        move(item.piece, item.x, layout.tops.get(line) + TAG_TOP);
      }
    }
  };
  const paint = (next) => {
    frame = next;
    if (layout === null) return;
    while (rows.length < frame.length) {
      rows.push(makeRow(rows.length));
      windows.append(rows.at(-1).all);
    }
    while (rows.length > frame.length) rows.pop().all.remove();
    sideBySide(frame.flatMap((each, row) => paintRow(rows[row], each)));
  };

  // ---- dragging: the window travels through the epoch ----
  let held = null;
  dragOn(windows, {
    axis: "both", signal,
    start: ({ x, y, event }) => {
      const piece = event.target.closest?.("[data-row]");
      if (!piece || layout === null || model.epoch.length === 0) return false;
      const row = Number(piece.dataset.row);
      held = { row, shift: placeAt(x, y) - model.epoch[model.k][row] };
      return true;
    },
    move: ({ x, y }) => {
      const place = placeAt(x, y) - held.shift;
      const { epoch } = model;
      const far = (j) => Math.abs(epoch[j][held.row] - place);
      onTravel(epoch.reduce((best, _, j) => (far(j) < far(best) ? j : best), 0) + 1);
    },
    end: () => {
      held = null;
      onDrop();
    },
  });

  const observer = new ResizeObserver(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    if (!measure()) return;
    drawTrails(...trailed);
    if (frame) paint(frame);
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });

  const draw = (given) => {
    model = given;
    const { tokens, epoch, k, num_steps } = model;
    const reads = (epoch[k] ?? []).map((start, row) => t("strip_window", { reader: row + 1, from: start, to: start + num_steps - 1 }));
    lines.setAttribute("aria-label", t("strip", { count: tokens.length, windows: reads.join("; ") || t("strip_none") }));
    node.classList.toggle("win-numbers", !model.isText);
    measure();
  };
  return {
    node, draw, paint,
    trails: (k, isOver) => {
      trailed = [k, isOver];
      if (layout !== null) drawTrails(k, isOver);
    },
  };
}

/** Where the state of a row comes from, in words. */
export function stateWords(t, { epoch, k, carries, num_steps }, row) {
  if (carries) return k === 0 ? t("state_begin") : t("state_carried", { previous: k });
  if (k === 0) return t("state_random");
  return t("state_torn", { stopped: epoch[k - 1][row] + num_steps - 1, start: epoch[k][row] });
}

/** The arrays X and Y, a target under its input, and the state that each row starts from. */
export function arraysPanel({ t, signal }) {
  const shape = element("span", {});
  const more = element("span", { class: "win-scrolls", hidden: true }, ` · ${t("caption_more")} →`);
  const caption = element("p", { class: "win-title" }, shape, more);
  const rows = element("div", { class: "win-arrays-rows" });
  const node = element("div", { class: "win-arrays" }, caption, rows);
  // A box that scrolls must be reachable by keyboard; one that does not should not be a stop on the way.
  const fade = () => rows.classList.toggle("win-more", rows.scrollLeft + rows.clientWidth < rows.scrollWidth - 1);
  rows.addEventListener("scroll", fade, { signal, passive: true });
  const tell = () => {
    const isWide = rows.scrollWidth > rows.clientWidth + 1;
    more.hidden = !isWide;
    fade();
    if (isWide) {
      rows.setAttribute("tabindex", "0");
      rows.setAttribute("role", "region");
      rows.setAttribute("aria-label", t("arrays"));
    } else for (const name of ["tabindex", "role", "aria-label"]) rows.removeAttribute(name);
  };
  const observer = new ResizeObserver(() => requestAnimationFrame(tell)); // the next frame: it changes what is observed
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });

  const line = (name, texts, isTarget) =>
    element("tr", { class: isTarget ? "win-y" : "win-x" }, element("th", { scope: "row" }, name),
      ...texts.map((text, i) => element("td", { class: isTarget && i === texts.length - 1 ? "win-last" : null }, text)));

  const draw = (model) => {
    const { tokens, epoch, k, batch_size, num_steps, carries } = model;
    node.hidden = epoch.length === 0;
    if (node.hidden) return;
    shape.textContent = t("caption", { batch_size, num_steps });
    const { X, Y } = cutMinibatch(tokens, epoch[k], num_steps);
    observer.disconnect();
    rows.replaceChildren(...epoch[k].map((_, row) => element("div", { class: rowClass(row) },
      element("p", { class: "win-row-head" },
        element("span", { class: "win-name" }, t("row", { reader: row + 1 })),
        element("span", { class: carries && k > 0 ? "win-bag-small win-full" : "win-bag-small", "aria-hidden": "true" }, bagPicture()),
        element("span", { class: "win-state" }, stateWords(t, model, row))),
      element("table", { class: "win-table", "aria-label": t("row", { reader: row + 1 }) }, element(
        "tbody", {}, line("X", X[row].map(visibleToken), false), line("Y", Y[row].map(visibleToken), true),
      )))));
    observer.observe(rows);
    observer.observe(rows.firstChild.lastChild);
  };
  return { node, draw };
}

/** What the looks on the text mean; only those that are there. */
export function legendPanel({ t }) {
  const sample = (kind) => element("span", { class: `win-sample ${kind}`, "aria-hidden": "true" });
  const [memory, never] = [element("span", {}), element("span", {})];
  const items = {
    bag: element("span", { class: "win-legend-item win-row-0" }, element("span", { class: "win-bag-small win-full", "aria-hidden": "true" }, bagPicture()), memory),
    cut: element("span", { class: "win-legend-item" }, sample("win-cut"), t("legend_cut")),
    once: element("span", { class: "win-legend-item" }, sample("win-once"), t("legend_once")),
    again: element("span", { class: "win-legend-item" }, sample("win-again"), t("legend_again")),
    never: element("span", { class: "win-legend-item" }, sample("win-never"), never),
  };
  const node = element("div", { class: "win-legend" }, element("span", { class: "win-hint" }, t("hint")), ...Object.values(items));
  const draw = (model) => {
    const { tokens, epoch, k, carries, isLast, batch_size, num_steps } = model;
    const { once, again } = coverage(tokens.length, epoch, num_steps, k);
    items.bag.hidden = epoch.length === 0;
    memory.textContent = t("legend_bag", { unit: unit(t, model, num_steps) });
    items.cut.hidden = !carries || epoch.length === 0 || batch_size === 1;
    never.textContent = t(lacksAnswer(model) ? "legend_never_answer" : "legend_never");
    items.once.hidden = once.length === 0;
    items.again.hidden = again.length === 0;
    items.never.hidden = !isLast || epoch.length === 0;
  };
  return { node, draw };
}

/**
 * The whole text as a strip for each order, at the same minibatch: what is read now, what was read before once and more than
 * once, at the end what never. Beside it the memory that each reader has by then.
 */
export function mapPanel({ t, signal, onOrder }) {
  const strips = Object.fromEntries(["sequential", "random"].map((order) => {
    const button = buttonControl({ label: t(`order_${order}`), signal, onPress: () => onOrder(order) });
    const picture = svg("svg", { class: "win-strip", preserveAspectRatio: "none", role: "img" });
    const never = element("div", { class: "win-layer" });
    const words = element("span", { class: "win-count" });
    const node = element("div", { class: "win-order" }, button, element("div", { class: "win-map" },
      element("div", { class: "win-strip-box" }, picture, never), words));
    return [order, { button, picture, never, words, node }];
  }));
  const node = element("div", { class: "win-orders", role: "group", "aria-label": t("reading") },
    element("p", { class: "win-whole", "aria-hidden": "true" }, t("whole")), strips.sequential.node, strips.random.node);
  const boxes = (list) => list.map(([from, to]) => `M${from} 0h${to - from}v1h${from - to}z`).join("");
  const draw = (model) => {
    const { tokens, orders, k, num_steps, carries } = model;
    for (const [order, { button, picture, never, words, node: strip }] of Object.entries(strips)) {
      const epoch = orders[order];
      const inParts = order === "sequential";
      const count = Math.min(k + 1, epoch.length);
      const { rows, read } = coverage(tokens.length, epoch, num_steps, count);
      const memory = count === 0 ? 0 : inParts ? count * num_steps : num_steps;
      const before = coverage(tokens.length, epoch, num_steps, count - 1);
      const isOver = count > 0 && count === epoch.length;
      const isChosen = (order === "sequential") === carries;
      button.setAttribute("aria-pressed", String(isChosen));
      strip.classList.toggle("win-other", !isChosen);
      picture.setAttribute("viewBox", `0 0 ${Math.max(1, tokens.length)} 1`);
      picture.replaceChildren(
        ...["once", "again"].map((kind) => svg("path", { class: `win-${kind}`, d: boxes(before[kind]) })),
        ...rows.map((list, row) => svg("path", { class: `win-shown ${rowClass(row)}`, d: boxes(list.slice(-1)) })),
      );
      never.replaceChildren(...(isOver ? stretches(tokens.length, epoch, num_steps, { read: false }) : []).map(([from, to]) => {
        const box = element("span", { class: "win-never" });
        box.style.left = `${(100 * from) / tokens.length}%`;
        box.style.width = `${(100 * (to - from)) / tokens.length}%`;
        return box;
      }), ...(inParts ? (epoch[0] ?? []).slice(1) : []).map((start) => {
        const line = element("span", { class: "win-cut" });
        line.style.left = `${(100 * start) / tokens.length}%`;
        return line;
      }));
      const held = emphasised(t.raw("memory").replaceAll("{unit}", unit(t, model, memory)), { memory });
      const told = isOver ? emphasised(t.raw("never_read"), { never: tokens.length - read }) : [t(`memory_${order}`)];
      words.replaceChildren(element("span", {}, ...held), element("span", {}, ...told));
      picture.setAttribute("aria-label", t("map", { order: t(`order_${order}`), read: [...words.children].map((part) => part.textContent).join(", ") }));
    }
  };
  return { node, draw };
}
