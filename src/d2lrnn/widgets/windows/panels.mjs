// The text with its windows, what a first guess costs, and, folded away, the arrays X and Y.
import { dragOn, emphasised, watchWidth } from "../shape.mjs";
import { buttonControl, element, visibleCharacter } from "../ui.mjs";
import { countRead, cutMinibatch, lineStarts, segments, shownLines, stretches } from "./maths.mjs";

const LINE = { wide: 45, narrow: 36 }; // a line of the text with room above it for the names of the readers
const NARROW = 400;
const HEAD = { wide: 19, narrow: 15 };
const FOLD = 30;
const MOST_LINES = 14;
const BADGE_WIDTH = { word: 60, number: 18 }; // "reader 1", or "1" where there is no room
const APART = 10; // between tags
const rowClass = (row) => `win-row-${row}`;
/** A text whose spaces carry a dot: a line may begin or end with one. */
const visibleSpaces = (text) => text.split(/( )/).filter(Boolean).map((part) => (part === " " ? element("span", { class: "win-space" }, part) : part));
/** What was read before minibatch k and is not being read now. */
const readBefore = ({ tokens, epoch, num_steps }, k) => stretches(
  tokens.length, epoch, num_steps, { count: k, without: (epoch[k] ?? []).map((start) => [start, start + num_steps]) },
);
/** What each reader has read before minibatch k and keeps in its memory: a stretch for each row, in sequence only. */
const keptBefore = ({ epoch, carries }, k) => (carries && k > 0 ? epoch[k].map((start, row) => [epoch[0][row], start]) : []);
const visibleToken = (token) => (token.length === 1 ? visibleCharacter(token) : token);

/** Whether the readers have kept what they read before. */
const isKept = ({ carries, k }) => carries && k > 0;

/**
 * The text in lines of equal cells; one window for each row, and above it the name of its reader.
 *
 * `draw(model)` lays it out, `paint(frame)` puts the windows where the frame says: one { start, shown } a row (a place, how
 * much the window is to be seen). `onTravel(minibatch)` hears of a window being dragged, `onDrop` of the end.
 */
export function textPanel({ t, signal, onTravel, onDrop }) {
  const lines = element("div", { class: "win-lines", role: "img" });
  const trails = element("div", { class: "win-layer win-trails", "aria-hidden": "true" });
  const veils = element("div", { class: "win-layer", "aria-hidden": "true" }); // over what was never read
  const windows = element("div", { class: "win-layer win-windows" });
  const probe = element("span", { class: "win-probe", "aria-hidden": "true" }, "0".repeat(20));
  const node = element("div", { class: "win-text" }, probe, trails, lines, veils, windows);
  let model = null;
  let layout = null; // { columns, cell, starts: of the lines, tops: line -> y }
  let frame = null;
  let lineHeight = LINE.wide;
  let head = HEAD.wide;
  let trailed = [0, false];
  let isNew = true; // another model than that of the trails
  const rows = [];

  // ---- geometry ----
  const measure = () => {
    const width = node.clientWidth;
    [lineHeight, head] = [LINE, HEAD].map((size) => size[width < NARROW ? "narrow" : "wide"]);
    node.classList.toggle("win-narrow", width < NARROW);
    const character = probe.getBoundingClientRect().width / 20;
    if (model === null || width === 0 || character === 0) return false;
    const { tokens, epoch, k, num_steps, isText } = model;
    const cell = isText ? character : Math.max(28, character * (String(tokens.length).length + 1.2));
    const columns = Math.max(1, Math.floor(width / cell));
    const near = epoch.slice(Math.max(0, k - 1), k + 2).flat().map((start) => [start, start + num_steps + 1]);
    const starts = lineStarts(tokens, columns);
    const parts = shownLines(starts, near, MOST_LINES);
    const tops = new Map();
    let y = 0;
    const drawn = [];
    for (const { from, to, folded } of parts) {
      if (folded) {
        const [first, last] = [starts[from], starts[to] ?? tokens.length];
        const words = isText ? t("fold_text", { count: last - first }) : t("fold_numbers", { from: first, to: last - 1 });
        const fold = element("div", { class: "win-fold" }, words);
        fold.style.top = `${y + 8}px`;
        drawn.push(fold);
        y += FOLD;
        continue;
      }
      for (let line = from; line < to; line += 1) {
        tops.set(line, y);
        const texts = tokens.slice(starts[line], starts[line + 1]);
        const row = element("div", { class: "win-line" }, ...(isText ? visibleSpaces(texts.join("")) : texts.map((text) => element("span", {}, text))));
        row.style.top = `${y + head}px`;
        drawn.push(row);
        y += lineHeight;
      }
    }
    node.style.height = `${y + 4}px`;
    node.style.setProperty("--win-cell", `${cell}px`);
    layout = { columns, cell, starts, tops };
    lines.replaceChildren(...drawn);
    return true;
  };
  const boxes = (from, to) => segments(from, to, layout.starts).filter(({ line }) => layout.tops.has(line));
  const set = (box, { line, left, right }) => {
    box.style.left = `${left * layout.cell}px`;
    box.style.width = `${(right - left) * layout.cell}px`;
    box.style.top = `${layout.tops.get(line) + head}px`;
  };
  /** The token under a pointer; of what is folded, the next that is shown. */
  const placeAt = (x, y) => {
    const wanted = y * node.clientHeight - lineHeight / 2;
    const [line] = [...layout.tops].reduce((best, each) => (Math.abs(each[1] - wanted) < Math.abs(best[1] - wanted) ? each : best));
    const most = (layout.starts[line + 1] ?? model.tokens.length) - layout.starts[line];
    return layout.starts[line] + Math.min(most, (x * node.clientWidth) / layout.cell);
  };

  // ---- what was read, and at the end what never was ----
  const drawTrails = (k, isOver) => {
    const { epoch, num_steps, tokens } = model;
    const boxesOf = (found, kind) => found.flatMap(([from, to]) => boxes(from, to)).map((part) => {
      const box = element("span", { class: `win-trail ${kind}` });
      set(box, part);
      return box;
    });
    trails.replaceChildren(...(model.carries
      ? keptBefore(model, k).flatMap((kept, row) => boxesOf([kept], `win-kept ${rowClass(row)}`))
      : boxesOf(readBefore(model, k), "win-once")));
    const never = isOver ? stretches(tokens.length, epoch, num_steps, { read: false }) : [];
    veils.replaceChildren(...boxesOf(never, "win-never"));
  };

  // ---- the windows ----
  const makeRow = (row) => {
    const nodes = {
      parts: [], row,
      target: element("span", { class: "win-target" }),
      tag: element("span", { class: "win-tag", "aria-hidden": "true" }),
    };
    nodes.all = element("div", { class: `win-window ${rowClass(row)}` }, nodes.target, nodes.tag);
    return nodes;
  };
  /** Whether the tags have room for "reader 1", all on one line. */
  const isRoomForWords = () => model.batch_size * (BADGE_WIDTH.word + APART) <= layout.columns * layout.cell;
  /** One row; its tag comes back as { piece, line, x, width } to be put beside the others. */
  const paintRow = (nodes, { start, shown }) => {
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
    for (const piece of [...nodes.parts, nodes.target, nodes.tag]) piece.style.opacity = shown;
    const words = isRoomForWords();
    nodes.tag.textContent = words ? t("row", { reader: nodes.row + 1 }) : nodes.row + 1;
    const [target] = boxes(end, end + 1);
    nodes.target.hidden = !target;
    if (target) set(nodes.target, target);
    nodes.tag.hidden = parts.length === 0;
    if (parts.length === 0) return [];
    const [first] = parts; // a window is named where it begins
    return [{ piece: nodes.tag, line: first.line, x: first.left * layout.cell, width: words ? BADGE_WIDTH.word : BADGE_WIDTH.number }];
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
        move(item.piece, item.x, layout.tops.get(line));
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

  watchWidth(node, { signal, act: () => {
    if (!measure()) return;
    drawTrails(...trailed);
    if (frame) paint(frame);
  } });

  const draw = (given) => {
    model = given;
    isNew = true;
    const { tokens, epoch, k, num_steps } = model;
    const reads = (epoch[k] ?? []).map((start, row) => t("strip_window", { reader: row + 1, from: start, to: start + num_steps - 1 }));
    lines.setAttribute("aria-label", t("strip", { count: tokens.length, windows: reads.join("; ") || t("strip_none") }));
    node.classList.toggle("win-numbers", !model.isText);
    measure();
  };
  return {
    node, draw, paint,
    trails: (k, isOver) => {
      if (k === trailed[0] && isOver === trailed[1] && !isNew) return; // nothing new is made while it glides
      isNew = false;
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
  let frame = 0;
  const tellSoon = () => { // in the next frame: it changes what is observed
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(tell);
  };
  const observer = new ResizeObserver(tellSoon);
  observer.observe(rows);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });

  const line = (name, texts, isTarget) =>
    element("tr", { class: isTarget ? "win-y" : "win-x" }, element("th", { scope: "row" }, name),
      ...texts.map((text, i) => element("td", { class: isTarget && i === texts.length - 1 ? "win-last" : null }, text)));

  const draw = (model) => {
    const { tokens, epoch, k, num_steps } = model;
    node.hidden = epoch.length === 0;
    if (node.hidden) return;
    shape.textContent = t("caption", { unit: t(model.isText ? "text_one" : "numbers_one") });
    const { X, Y } = cutMinibatch(tokens, epoch[k], num_steps);
    rows.replaceChildren(...epoch[k].map((_, row) => element("div", { class: rowClass(row) },
      element("p", { class: "win-row-head" },
        element("span", { class: "win-name" }, t("row", { reader: row + 1 })),
        element("span", { class: "win-state" }, stateWords(t, model, row))),
      element("table", { class: "win-table", "aria-label": t("row", { reader: row + 1 }) }, element(
        "tbody", {}, line("X", X[row].map(visibleToken), false), line("Y", Y[row].map(visibleToken), true),
      )))));
    tellSoon();
  };
  return { node, draw };
}

/** What the looks on the text mean; only those that are there. */
export function legendPanel({ t }) {
  const sample = (kind) => element("span", { class: `win-sample ${kind}`, "aria-hidden": "true" });
  const never = element("span", {});
  const items = {
    kept: element("span", { class: "win-legend-item" }),
    once: element("span", { class: "win-legend-item" }, sample("win-once"), t("legend_once")),
    never: element("span", { class: "win-legend-item" }, sample("win-never"), never),
  };
  const node = element("div", { class: "win-legend" }, element("span", { class: "win-hint" }, t("hint")), ...Object.values(items));
  const draw = (model) => {
    const { tokens, epoch, k, isLast, num_steps } = model;
    never.textContent = t("legend_never", { never: tokens.length - countRead(tokens.length, epoch, num_steps, k + 1) }); // windows at random may overlap
    node.firstChild.hidden = k > 0 || epoch.length === 0; // there the legend has its place
    items.kept.replaceChildren(...Array.from({ length: model.batch_size }, (_, row) => sample(`win-kept ${rowClass(row)}`)), t("legend_kept"));
    items.kept.hidden = keptBefore(model, k).length === 0;
    items.once.hidden = model.carries || readBefore(model, k).length === 0;
    items.never.hidden = !isLast || epoch.length === 0;
  };
  return { node, draw };
}

/**
 * How unsure a guess is, measured: a row each, its bar from 0 to `most` letters. `draw(model, step)` shows the first guess in
 * a piece, and which row is the case now; the wrong memory's only once `step` is 0 or was. Of a step with costs of its own:
 * the bar is for an empty start, its mark for a memory that is kept.
 */
export function costPanel({ t, first, of, steps }) {
  const title = element("p", { class: "win-title" });
  const rows = element("div", { class: "win-costs" });
  const node = element("div", { class: "win-cost" }, title, rows);
  const line = ({ name, share, mark, value, kind = "" }) => {
    const bar = element("span", { class: "win-cost-bar" });
    bar.style.width = `${100 * share}%`;
    const track = element("span", { class: "win-cost-track", "aria-hidden": "true" }, bar);
    if (mark !== undefined) {
      const tick = element("span", { class: "win-cost-mark" });
      tick.style.left = `${100 * mark}%`;
      track.append(tick);
    }
    return element("div", { class: `win-cost-one ${kind}` }, element("span", {}, name), track, element("span", { class: "win-cost-value" }, ...value));
  };
  const firstRows = (model, isKnown, isWrong) => {
    const now = isWrong ? "wrong" : isKept(model) ? "kept" : "empty";
    return Object.entries(first).map(([name, value]) => (name === "wrong" && !isKnown
      ? line({ name: t(`cost_${name}`), share: 0, value: [element("b", {}, t("cost_unknown"))], kind: "win-unknown" })
      : line({ name: t(`cost_${name}`), share: value / of, value: emphasised(t.raw("cost_value"), { value }), kind: name === now ? "win-case" : "" })));
  };
  const ownRows = ({ costs, most }) => costs.map((cost) => {
    const { empty: bar = cost.random, kept: mark = cost.sequence } = cost;
    const name = cost.letter ? t("cost_letter", cost) : t("cost_steps", cost);
    return line({ name, share: bar / most, mark: mark / most, value: emphasised(t.raw("cost_against"), { bar, mark }), kind: "win-case" });
  });
  const sample = (kind, words) => element("span", { class: "win-cost-key" }, element("span", { class: kind, "aria-hidden": "true" }), words);
  const titleOf = (step) => [element("span", { class: "win-cost-words" }, t("cost_title_step")), sample("win-cost-bar", t(`cost_bar_${step + 1}`)), sample("win-cost-mark", t(`cost_mark_${step + 1}`))];
  const draw = (model, step, isKnown) => {
    node.hidden = !model.isText || model.epoch.length === 0; // it was measured on letters
    const own = steps[step]?.costs;
    title.replaceChildren(...(own ? titleOf(step) : [t("cost_title")]));
    rows.replaceChildren(...(own ? ownRows(steps[step]) : firstRows(model, isKnown, step === 0 && !isKept(model))));
  };
  return { node, draw };
}

/** The two orders to choose from. */
export function orderPanel({ t, signal, onOrder }) {
  const buttons = Object.fromEntries(["sequential", "random"].map((order) => [
    order, buttonControl({ label: t(`order_${order}`), signal, onPress: () => onOrder(order) }),
  ]));
  const node = element("div", { class: "d2lrnn-segments win-orders", role: "group", "aria-label": t("reading") }, ...Object.values(buttons));
  const draw = ({ carries }) => {
    for (const [order, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String((order === "sequential") === carries));
  };
  return { node, draw };
}
