// The text with its pieces, the first guess in a piece with two memories, and, folded away, the arrays X and Y.
import { dragOn, watchWidth } from "../shape.mjs";
import { buttonControl, element, visibleCharacter } from "../ui.mjs";
import { caseOf, cutMinibatch, lineStarts, memoriesAt, neverRead, percent, segments, shownLines } from "./maths.mjs";

const LINE = { wide: 45, narrow: 36 }; // a line of the text with room above it for the names of the readers
const NARROW = 400;
const HEAD = { wide: 19, narrow: 15 };
const FOLD = 30;
const MOST_LINES = 14;
const BADGE_WIDTH = { word: 60, number: 18, piece: 66, memory: 80 }; // "reader 1", or "1" where there is no room
const APART = 10; // between tags
const rowClass = (row) => `win-row-${row}`;
/** A text whose spaces carry a dot: a line may begin or end with one. */
const visibleSpaces = (text) => text.split(/( )/).filter(Boolean).map((part) => (part === " " ? element("span", { class: "win-space" }, part) : part));
const visibleToken = (token) => (token.length === 1 ? visibleCharacter(token) : token);

/**
 * The text in lines of equal cells; one window for each row, and above it the name of its reader.
 *
 * `draw(model)` lays it out, `paint(frame)` puts the windows where the frame says: one { start, shown } a row (a place, how
 * much the window is to be seen). `onTravel(minibatch)` hears of a window being dragged, `onDrop` of the end, `onStep(minibatch)` of a key.
 */
export function textPanel({ t, signal, onTravel, onDrop, onStep }) {
  const lines = element("div", { class: "win-lines", role: "img" });
  const trails = element("div", { class: "win-layer win-trails", "aria-hidden": "true" });
  const veils = element("div", { class: "win-layer", "aria-hidden": "true" }); // over what was never read
  const windows = element("div", { class: "win-layer win-windows", role: "slider", tabindex: 0, "aria-label": t("piece"), "aria-valuemin": 1 });
  const memory = element("span", { class: "win-tag win-tag-memory", "aria-hidden": "true" }, t("tag_memory"));
  windows.append(memory);
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

  // ---- what is in a memory, and at the end what never was read ----
  const drawTrails = (k, isOver) => {
    const { epoch, num_steps, tokens } = model;
    const boxesOf = ([from, to], kind) => boxes(from, to).map((part) => {
      const box = element("span", { class: `win-trail ${kind}` });
      set(box, part);
      return box;
    });
    trails.replaceChildren(...memoriesAt(model, k).flatMap((stretch, row) => boxesOf(stretch, `win-kept ${rowClass(row)}`)));
    veils.replaceChildren(...(isOver ? neverRead(tokens.length, epoch, num_steps).flatMap((stretch) => boxesOf(stretch, "win-never")) : []));
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
    const isAlone = model.batch_size === 1;
    nodes.tag.textContent = isAlone ? t("tag_piece") : words ? t("row", { reader: nodes.row + 1 }) : nodes.row + 1;
    const [target] = boxes(end, end + 1);
    nodes.target.hidden = !target;
    if (target) set(nodes.target, target);
    nodes.tag.hidden = parts.length === 0;
    if (parts.length === 0) return [];
    const [first] = parts; // a window is named where it begins
    return [{ piece: nodes.tag, line: first.line, x: first.left * layout.cell, width: BADGE_WIDTH[isAlone ? "piece" : words ? "word" : "number"] }];
  };
  /** The name of what one reader has in its memory, where that begins. */
  const paintMemory = () => {
    const [stretch] = model.batch_size === 1 ? memoriesAt(model, trailed[0]) : [];
    const [first] = stretch ? boxes(...stretch) : [];
    memory.hidden = !first;
    memory.textContent = t(model.carries ? "tag_memory" : "tag_old");
    return first ? [{ piece: memory, line: first.line, x: first.left * layout.cell, width: BADGE_WIDTH.memory }] : [];
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
    sideBySide([...frame.flatMap((each, row) => paintRow(rows[row], each)), ...paintMemory()]);
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

  node.addEventListener("click", (event) => { // a place in the text: the piece there, or the nearest
    if (event.target.closest(".win-windows") || layout === null || model.epoch.length === 0) return;
    const box = node.getBoundingClientRect();
    const place = placeAt((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    const far = (j) => Math.min(...model.epoch[j].map((start) => Math.max(start - place, place - start - model.num_steps, 0)));
    onStep(model.epoch.reduce((best, _, j) => (far(j) < far(best) ? j : best), 0) + 1);
  }, { signal });

  windows.addEventListener("keydown", (event) => {
    const { k, epoch: { length: count } } = model;
    const places = { ArrowLeft: k, ArrowDown: k, ArrowRight: k + 2, ArrowUp: k + 2, Home: 1, End: count };
    if (!Object.hasOwn(places, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (count > 0) onStep(Math.min(count, Math.max(1, places[event.key])));
  }, { signal });

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
    node.classList.toggle("win-alone", model.batch_size === 1);
    windows.setAttribute("aria-valuemax", Math.max(1, epoch.length));
    windows.setAttribute("aria-valuenow", k + 1);
    windows.setAttribute("aria-valuetext", placeWords(t, model));
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

/** Which piece it is, and at the end how much was never read. */
export function placeWords(t, { tokens, epoch, k, num_steps, isLast, isText }) {
  if (epoch.length === 0) return t("place_none");
  const never = isLast ? neverRead(tokens.length, epoch, num_steps).reduce((sum, [from, to]) => sum + to - from, 0) : 0;
  const [one, many] = isText ? ["text_one", "text_many"] : ["numbers_one", "numbers_many"];
  const unit = t(never === 1 ? one : many);
  return t(never > 0 ? "place_over" : "place", { k: k + 1, count: epoch.length, never, unit });
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

const SEEN = 11; // letters of a memory that are written out

/** The first guess in a piece, with the memory kept and emptied: what was read, and how likely the right letter is. `isAsked`: a question is open. */
export function guessPanel({ t }) {
  const title = element("p", {});
  const lines = Object.fromEntries(["kept", "empty"].map((name) => {
    const seen = element("span", { class: "win-seen" });
    const bar = element("span", { class: "win-chance-bar" });
    const value = element("b", { class: "win-chance" });
    const mark = element("span", { class: "win-mark" });
    const track = element("span", { class: "win-chance-track", "aria-hidden": "true" }, bar, mark);
    return [name, { seen, bar, mark, value, node: element("div", { class: "win-guess" }, element("span", { class: "win-guess-name" }, t(name)), seen, track, value) }];
  }));
  const soFar = element("p", { class: "win-so-far" });
  const node = element("div", { class: "win-guesses" }, title, ...Object.values(lines).map((line) => line.node), soFar);
  const draw = (model, isAsked) => {
    const { guess, batch_size } = model;
    node.hidden = guess === null; // there is no network for numbers
    if (guess === null) return;
    const { memory, letter, right } = guess;
    title.textContent = t(batch_size === 1 ? "guess" : "guess_many");
    node.classList.toggle("win-alone", batch_size === 1);
    const isTold = !isAsked && caseOf(model).effect !== "same";
    const average = !isAsked && model.soFar?.count > 1 ? model.soFar : null; // of one piece: the bars say it
    soFar.textContent = average === null ? "" : t("so_far", { count: average.count, kept: percent(average.kept), empty: percent(average.empty) });
    for (const [name, line] of Object.entries(lines)) {
      const before = name === "kept" ? memory : "";
      const shown = before.length > SEEN ? `…${before.slice(1 - SEEN)}` : before;
      line.seen.replaceChildren(element("span", { class: "win-remembered" }, ...visibleSpaces(shown)), element("b", { class: "win-read" }, ...visibleSpaces(letter)), element("b", { class: "win-right" }, visibleCharacter(right)));
      line.value.textContent = isAsked ? t("unknown") : percent(guess[name]);
      line.bar.style.width = isAsked ? "0" : `${(100 * guess[name]).toFixed(2)}%`;
      line.mark.hidden = average === null;
      if (average !== null) line.mark.style.left = `${(100 * average[name]).toFixed(2)}%`;
      line.node.classList.toggle("win-best", isTold && guess[name] === Math.max(guess.kept, guess.empty));
    }
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
