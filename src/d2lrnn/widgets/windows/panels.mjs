// The pieces of one reader as lines of tinted letters; those of several, or of numbers, in their text; a guess with two memories; the arrays X and Y.
import { dragOn, emphasised, watchWidth } from "../shape.mjs";
import { buttonControl, element, visibleCharacter } from "../ui.mjs";
import { averagesOf, cutMinibatch, isApart, lineStarts, memoriesAt, neverRead, percent, segments, shownLines, surprise } from "./maths.mjs";

const LINE = { wide: 38, narrow: 36 }; // a line of the text with room above it for the names of the readers
const NARROW = 400;
const HEAD = { wide: 15, narrow: 15 };
const FOLD = 30;
const MOST_LINES = 14;
const BADGE_WIDTH = { word: 60, number: 18, piece: 66, memory: 80 }; // "reader 1", or "1" where there is no room
const APART = 10; // between tags
const rowClass = (row) => `win-row-${row}`;
/** A text whose spaces carry a sign, drawn so that it keeps their width: a line may begin or end with one. */
const visibleSpaces = (text) => text.split(/( )/).filter(Boolean).map((part) => (part === " " ? element("span", { class: "win-space" }, part) : part));
const visibleToken = (token) => (token.length === 1 ? visibleCharacter(token) : token);

const FAR = 6; // pixels, after which a hand is moving, and it is known where to

/** `dragOn` for hands that may only want to scroll: what begins sideways moves something, and a tap does when it is over. `start(at)`, `move(at)`. */
function dragAcross(node, { start = () => {}, move, signal }) {
  let from = null;
  let isSideways = null; // not known yet
  dragOn(node, {
    signal,
    start: (at) => {
      [from, isSideways] = [at.event, null];
      start(at);
    },
    move: (at) => {
      const [across, along] = ["clientX", "clientY"].map((axis) => Math.abs(at.event[axis] - from[axis]));
      if (Math.max(across, along) > FAR) isSideways ??= across > along;
      if (isSideways) move(at);
    },
  });
  node.addEventListener("click", (event) => {
    if (isSideways !== null) return;
    const { left, width } = node.getBoundingClientRect();
    start({ event });
    move({ x: (event.clientX - left) / width, event });
  }, { signal });
}

/**
 * The text in lines of equal cells; one window for each row, and above it the name of its reader.
 *
 * `draw(model)` lays it out, `paint(frame)` puts the windows where the frame says: one { start, shown } a row (a place, how
 * much the window is to be seen). `onTravel(minibatch)` hears of a window being dragged, `onHold` of it being touched, `onDrop` of the end, `onStep(minibatch)` of a key.
 */
export function textPanel({ t, signal, onHold, onTravel, onDrop, onStep }) {
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
  /** Where the windows will stand at last: they can be held there at once, also while they are still on their way. */
  const holds = element("div", { class: "win-holds" });
  windows.prepend(holds);
  const drawHolds = () => {
    const { epoch, k, num_steps } = model;
    holds.replaceChildren(...(epoch[k] ?? []).flatMap((start, row) => boxes(start, start + num_steps).map((part) => {
      const box = element("span", { class: "win-hold", "data-row": row });
      set(box, part);
      return box;
    })));
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
    const longest = Math.max(...parts.map(({ left, right }) => right - left));
    while (nodes.parts.length < parts.length) {
      const part = element("span", { class: "win-part", "data-row": nodes.row });
      nodes.parts.push(part);
      nodes.all.prepend(part);
    }
    nodes.parts.forEach((part, i) => {
      part.hidden = i >= parts.length;
      if (i < parts.length) set(part, parts[i]);
      part.classList.toggle("win-grip", i < parts.length && parts[i].right - parts[i].left === longest);
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
      onHold(); // it stands where it goes
      windows.classList.add("win-held");
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
      windows.classList.remove("win-held");
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
    drawHolds();
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
    windows.setAttribute("aria-valuemax", Math.max(1, epoch.length));
    windows.setAttribute("aria-valuenow", k + 1);
    windows.setAttribute("aria-valuetext", placeWords(t, model));
    if (measure()) drawHolds();
  };
  /** Nothing is kept of a text that is not shown. */
  const clear = () => {
    [model, layout, frame] = [null, null, null];
    for (const each of [lines, trails, veils, holds]) each.replaceChildren();
    while (rows.length > 0) rows.pop().all.remove();
  };
  return {
    node, draw, paint, clear,
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

/** What a window is called: a line, where the pieces are shown as lines. */
const unitOf = (t, { lines }) => t(lines === null ? "unit_piece" : "unit_line");

/** Where the state of a row comes from, in words: of lines with the memory that is switched on, else as is usual with this order. */
export function stateWords(t, model, row) {
  const { epoch, k, carries, num_steps, lines, memory, isText } = model;
  const piece = unitOf(t, model);
  if (k === 0) return t(carries ? "state_begin" : "state_random", { piece });
  const isKept = lines === null ? carries : memory === "kept";
  const key = carries ? (isKept ? "carried" : "emptied") : isKept ? "jumped" : "torn";
  return t(`state_${key}`, { piece, previous: k, unit: t(isText ? "text_one" : "numbers_one"), stopped: epoch[k - 1][row] + num_steps - 1, start: epoch[k][row] });
}

/** `act` in the next frame, once: what is measured there is laid out anyhow. */
function soon(act, signal) {
  let frame = 0;
  signal.addEventListener("abort", () => cancelAnimationFrame(frame), { once: true });
  return () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      act();
    });
  };
}

/** The arrays X and Y, a target under its input, and the state that each row starts from. */
export function arraysPanel({ t, signal }) {
  const shape = element("span", {});
  const more = element("span", { class: "win-scrolls", hidden: true }, ` · ${t("caption_more")} →`);
  const caption = element("p", { class: "win-title" }, shape, more);
  const rows = element("div", { class: "win-arrays-rows" });
  const node = element("div", { class: "win-arrays" }, caption, rows);
  // A box that scrolls must be reachable by keyboard; one that does not should not be a stop on the way.
  const tell = () => {
    const { scrollLeft, clientWidth, scrollWidth } = rows;
    const isWide = scrollWidth > clientWidth + 1;
    more.hidden = !isWide;
    rows.classList.toggle("win-more", scrollLeft + clientWidth < scrollWidth - 1);
    if (isWide) {
      rows.setAttribute("tabindex", "0");
      rows.setAttribute("role", "region");
      rows.setAttribute("aria-label", t("arrays"));
    } else for (const name of ["tabindex", "role", "aria-label"]) rows.removeAttribute(name);
  };
  const tellSoon = soon(tell, signal);
  rows.addEventListener("scroll", tellSoon, { signal, passive: true });
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
    const [one, many] = model.isText ? ["text_one", "text_many"] : ["numbers_one", "numbers_many"];
    const piece = unitOf(t, model);
    const isGiven = model.lines !== null && model.carries && !model.isLast; // the last answer begins the next line
    const last = t(isGiven ? "caption_given" : "caption_last", { piece, next: k + 2 });
    shape.textContent = [t("caption", { unit: t(one), units: t(many) }), last, ...(model.batch_size > 1 ? [t("caption_readers")] : [])].join(" ");
    const { X, Y } = cutMinibatch(tokens, epoch[k], num_steps);
    rows.replaceChildren(...epoch[k].map((_, row) => {
      const name = t(model.batch_size > 1 ? "row" : "row_alone", { reader: row + 1, piece, k: k + 1 });
      return element("div", { class: rowClass(row) },
        element("p", { class: "win-row-head" }, element("span", { class: "win-name" }, name), element("span", { class: "win-state" }, stateWords(t, model, row))),
        element("table", { class: "win-table", "aria-label": name }, element(
          "tbody", {}, line("X", X[row].map(visibleToken), false), line("Y", Y[row].map(visibleToken), true),
        )));
    }));
    tellSoon();
  };
  return { node, draw };
}

const SEEN = 12; // letters that are written out, with those of the memory
const tail = (text, most) => (text.length <= most ? text : most < 2 ? "…" : `…${text.slice(1 - most)}`);

/** A chance; while it is to be found (null), a "?" that switches its memory on. */
function chanceOf({ t, memory, signal, onSwitch }) {
  const node = element("b", { class: "win-chance" });
  const ask = buttonControl({ label: t("unknown"), class: "d2lrnn-button win-unknown", "aria-label": t(`unknown_${memory}`), signal, onPress: () => onSwitch(memory) });
  const set = (p) => {
    if (p !== null) node.textContent = percent(p);
    else if (!node.contains(ask)) node.replaceChildren(ask);
  };
  return { node, set };
}

/** The first guesses on average, with the memory kept and emptied; of which lines, or after jumps that of the lines in sight. `draw(model, isHidden)`: whether the other memory is not told yet. */
export function firstsPanel({ t, signal, onSwitch, onAgain }) {
  const title = element("p", { class: "win-firsts-title" });
  const bars = Object.fromEntries(["kept", "empty"].map((memory) => {
    const bar = element("span", { class: "win-chance-bar" });
    const value = chanceOf({ t, memory, signal, onSwitch });
    return [memory, { bar, value, node: element("div", { class: `win-first win-of-${memory}` }, element("span", { class: "win-guess-name" }, t(memory)),
      element("span", { class: "win-chance-track", "aria-hidden": "true" }, bar), value.node) }];
  }));
  const these = element("p", { class: "win-these" });
  const again = buttonControl({ label: t("again"), class: "d2lrnn-button win-again", signal, onPress: onAgain });
  const node = element("div", { class: "win-firsts" }, title, these, again, ...Object.values(bars).map((each) => each.node));
  const draw = ({ firsts, lines, carries, memory }, isHidden) => {
    node.hidden = firsts === null;
    if (node.hidden) return;
    title.textContent = t(carries ? "firsts_on" : "firsts_jump");
    node.classList.toggle("win-jumps", !carries);
    these.textContent = carries ? t(`firsts_lines_${lines.length === 2 ? "one" : "many"}`, { last: lines.length })
      : t("firsts_these", { p: percent(averagesOf(lines)[memory][0]) });
    for (const [name, { bar, value, node: row }] of Object.entries(bars)) {
      const isUnknown = isHidden && name !== memory;
      value.set(isUnknown ? null : firsts[name]);
      bar.style.width = isUnknown ? "0" : `${(100 * firsts[name]).toFixed(2)}%`;
      row.classList.toggle("win-strong", name === memory);
    }
  };
  return { node, draw };
}

/**
 * A guess in a piece, with the memory kept and emptied: what was read, and how likely the right letter is. Where the pieces are no lines, all guesses
 * of the piece stand below it (`every`), to be chosen. The row that is stronger is the better one; of lines, that of the memory that is switched on.
 * `draw(model, isHidden, at)`: whether the other memory is not told yet; a new piece begins with guess `at`.
 */
export function guessPanel({ t, signal, onChoose }) {
  const title = element("p", { class: "win-guess-title" });
  const lines = Object.fromEntries(["kept", "empty"].map((name) => {
    const seen = element("span", { class: "win-seen" });
    const bar = element("span", { class: "win-chance-bar" });
    const value = element("b", { class: "win-chance" });
    const track = element("span", { class: "win-chance-track", "aria-hidden": "true" }, bar);
    const label = element("span", { class: "win-guess-name" });
    return [name, { label, seen, bar, value, node: element("div", { class: `win-guess win-of-${name}` }, label, seen, track, value) }];
  }));
  const letters = element("div", { class: "win-letters", role: "slider", tabindex: 0, "aria-label": t("letter"), "aria-valuemin": 1 });
  const tap = element("span", { class: "win-tap", "aria-hidden": "true" }, t("tap"));
  const node = element("div", { class: "win-guesses" }, title, tap, ...Object.values(lines).map((line) => line.node));
  const every = element("div", { class: "win-every" }, element(
    "p", { class: "win-letters-title" }, t("letters"), ...["kept", "empty"].map((name) => element("span", { class: `win-key win-key-${name}` }, t(name))),
  ), letters);
  let model = null;
  let isHidden = false;
  let chosen = 0;
  const columns = [];
  let told = ""; // the piece that was told last

  const isNothingHidden = () => !isHidden || model.k === 0; // before the first line there is none, whatever is kept
  /** What is told of a guess in the lines that is no rule: the first line; a memory that misleads where the text goes on, or helps after a jump, against the average of these lines. */
  const exception = () => {
    const { k, guess, carries } = model;
    if (k === 0) return [t("guess_line_one")];
    const [kept, empty] = [guess.kept[chosen], guess.empty[chosen]];
    const helps = kept > empty;
    const { kept: { [chosen]: usual }, empty: { [chosen]: other } } = averagesOf(model.lines);
    return isHidden || !isApart(kept, empty) || carries === helps || helps === usual > other ? [] : [t(carries ? "guess_misleads" : "guess_helps")];
  };
  const writeTitle = () => {
    const isLine = model.lines !== null;
    const note = isLine ? exception() : [];
    tap.hidden = !isLine || note.length > 0; // who has tapped knows
    const words = isLine ? emphasised(t.raw("guess_line").replace("{line}", model.k + 1), { right: visibleCharacter(model.guess.text[chosen + 1]) })
      : [t(chosen === 0 ? "guess_many" : "guess_next_many", { n: chosen + 1 })];
    title.replaceChildren(...words, ...note.map((line) => `. ${line}`));
  };
  const write = () => {
    const { guess } = model;
    const { memory, text } = guess;
    writeTitle();
    const isTold = isApart(guess.kept[chosen], guess.empty[chosen]);
    const read = tail(text.slice(0, chosen + 1), SEEN);
    for (const [name, line] of Object.entries(lines)) {
      const remembered = memory === "" || read.length >= SEEN ? "" : tail(memory, SEEN - read.length);
      const before = element("span", { class: "win-remembered" }, ...(name === "kept" ? visibleSpaces(remembered) : []));
      line.seen.replaceChildren(before, element("b", { class: "win-read" }, ...visibleSpaces(read)), element("b", { class: "win-right" }, visibleCharacter(text[chosen + 1])));
      line.label.textContent = t(model.lines === null ? name : `memory_${name}`);
      line.value.textContent = isNothingHidden() || name === model.memory ? percent(guess[name][chosen]) : "";
      line.bar.style.width = `${(100 * guess[name][chosen]).toFixed(2)}%`; // of lines, it is not shown
      const other = name === "kept" ? "empty" : "kept";
      const isStrong = model.lines === null ? isTold && guess[name][chosen] > guess[other][chosen] : name === model.memory;
      line.node.classList.toggle("win-strong", isStrong);
    }
    columns.forEach((column, i) => {
      column.classList.toggle("win-chosen", i === chosen);
      for (const [j, name] of ["kept", "empty"].entries()) column.children[j].style.height = `${(100 * guess[name][i]).toFixed(2)}%`;
    });
    letters.setAttribute("aria-valuemax", columns.length);
    letters.setAttribute("aria-valuenow", chosen + 1);
    letters.setAttribute("aria-valuetext", t("letter_told", {
      letter: visibleCharacter(text[chosen]), n: chosen + 1, count: columns.length, kept: percent(guess.kept[chosen]), empty: percent(guess.empty[chosen]),
    }));
  };
  const draw = (given, isOtherHidden, at = 0) => {
    [model, isHidden] = [given, isOtherHidden];
    const { guess, lines: asLines, k, num_steps } = model;
    node.hidden = guess === null; // there is no network for numbers
    every.hidden = guess === null || asLines !== null;
    node.classList.toggle("win-jumps", asLines !== null && !model.carries);
    if (guess === null) {
      [chosen, told] = [0, ""];
      return;
    }
    const key = JSON.stringify([guess.memory, guess.text, k]);
    if (key !== told) chosen = at;
    told = key;
    while (columns.length > num_steps) columns.pop().remove();
    while (columns.length < num_steps) {
      columns.push(element("span", { class: "win-letter", "aria-hidden": "true" }, element("i", {}), element("i", {}), element("b", {})));
      letters.append(columns.at(-1));
    }
    columns.forEach((column, i) => column.lastChild.replaceChildren(...visibleSpaces(guess.text[i])));
    write();
  };
  const choose = (letter) => {
    const next = Math.min(columns.length - 1, Math.max(0, letter));
    if (next === chosen) return;
    chosen = next;
    write();
    onChoose();
  };
  dragAcross(letters, { signal, move: ({ x }) => choose(Math.floor(x * columns.length)) });
  letters.addEventListener("keydown", (event) => {
    const places = { ArrowLeft: chosen - 1, ArrowDown: chosen - 1, ArrowRight: chosen + 1, ArrowUp: chosen + 1, Home: 0, End: columns.length - 1 };
    if (!Object.hasOwn(places, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(places[event.key]);
  }, { signal });
  return { node, every, draw, choose, chosen: () => chosen };
}

// ---- one reader: its pieces as lines ----

const PAST = 4; // letters of a memory that stand before its line
const MOST_BITS = 8; // of surprise, in the strongest tint: more looks the same
const levelOf = (bits) => Math.min(1, bits / MOST_BITS).toFixed(4);

/**
 * The pieces as lines of letters, each tinted by how surprised the network is by it; before a line what it has in its memory. The first letter of a line is read, and the guess after the last belongs to a letter that is not in the line. `onChoose(k, guess)` hears of a letter.
 */
export function linesPanel({ t, signal, onChoose }) {
  const page = element("div", { class: "win-page", role: "slider", tabindex: 0, "aria-label": t("lines"), "aria-valuemin": 1 });
  const heads = element("p", { class: "win-heads", "aria-hidden": "true" }, element("span", { class: "win-head-memory" }, t("head_memory")), element("span", { class: "win-head-read" }, t("head_read")), element("span", { class: "win-head-first" }, element("b", {}, t("head_first")), element("span", { class: "win-legend" }, t("head_legend"))));
  const node = element("div", { class: "win-block" }, heads, page);
  const rows = [];
  let model = null;
  let chosen = 0;

  const cells = (count) => Array.from({ length: count }, (_, i) => element("span", { class: i === 0 ? "win-cell win-framed" : "win-cell" })); // the first guesses
  /** As many lines, and as many letters in each, as there are. */
  const lay = () => {
    const { lines, num_steps } = model;
    if (rows.length > 0 && rows[0].letters.length !== num_steps - 1) while (rows.length > 0) rows.pop().node.remove();
    while (rows.length > lines.length) rows.pop().node.remove();
    while (rows.length < lines.length) {
      const parts = { past: element("span", { class: "win-past", "data-nothing": t("memory_nothing") }), given: element("span", { class: "win-given" }), letters: cells(num_steps - 1) };
      rows.push({ ...parts, node: element("div", { class: "win-piece", "aria-hidden": "true", "data-line": rows.length }, parts.past, parts.given, ...parts.letters) });
      page.append(rows.at(-1).node);
    }
    node.style.setProperty("--win-columns", num_steps);
    node.classList.toggle("win-long", num_steps > 16);
  };
  const fade = soon(() => node.classList.toggle("win-below", page.scrollTop + page.clientHeight < page.scrollHeight - 2), signal);
  page.addEventListener("scroll", fade, { signal, passive: true });
  const mark = () => {
    const { k, lines, guess, num_steps } = model;
    rows.forEach((row, i) => {
      row.node.classList.toggle("win-piece-chosen", i === k);
      row.letters.forEach((letter, n) => letter.classList.toggle("win-here", i === k && n === chosen));
    });
    page.setAttribute("aria-valuemax", lines.length * (num_steps - 1));
    page.setAttribute("aria-valuenow", k * (num_steps - 1) + chosen + 1);
    const { text } = guess;
    page.setAttribute("aria-valuetext", t("line_told", {
      line: k + 1, n: chosen + 1, letter: visibleCharacter(text[chosen]), right: visibleCharacter(text[chosen + 1]), p: percent(guess[model.memory][chosen]),
    }));
  };
  const draw = (given, at) => {
    [model, chosen] = [given, at];
    lay();
    const { lines, memory: now } = model;
    node.classList.toggle("win-jumps", !model.carries);
    lines.forEach(({ memory: past, text, ...chances }, k) => {
      const row = rows[k];
      row.past.replaceChildren(...(now === "kept" ? visibleSpaces(past.slice(-PAST)) : []));
      row.given.replaceChildren(...visibleSpaces(text[0]));
      row.letters.forEach((letter, n) => {
        if (letter.textContent !== text[n + 1]) letter.replaceChildren(...visibleSpaces(text[n + 1]));
        letter.style.setProperty("--win-level", levelOf(surprise(chances[now][n])));
      });
    });
    mark();
    fade();
  };
  const choose = (k, n) => {
    onChoose(k, n);
    const row = rows[k]?.node;
    if (page.scrollHeight > page.clientHeight + 1) row?.scrollIntoView({ block: "nearest" }); // a long text scrolls
  };
  page.addEventListener("click", ({ target }) => {
    const row = target.closest(".win-piece");
    if (row) choose(Number(row.dataset.line), Math.max(0, rows[row.dataset.line].letters.indexOf(target.closest(".win-cell"))));
  }, { signal });
  page.addEventListener("keydown", (event) => {
    const letters = model.num_steps - 1;
    const last = model.lines.length * letters - 1;
    const at = model.k * letters + chosen;
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - letters, ArrowDown: at + letters, Home: 0, End: last };
    if (!Object.hasOwn(places, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = places[event.key];
    if (next >= 0 && next <= last) choose(Math.floor(next / letters), next % letters);
  }, { signal });
  return { node, draw };
}

// ---- one letter, and where its line may begin ----

/**
 * A letter and those before it; below each of these how likely the letter is where its line begins there, with an empty memory. One cut can be moved along.
 * `draw({ letters, at, chances, average, ways, afterJumps }, cut, { isAll, isFixed })`: where the line begins, or whether every beginning gets its turn, and whether the
 * cut stays, the other chances unseen. Below, what all such letters get in three ways, and why a first guess after a jump gets less. `onCut(cut)` hears of another.
 */
export function cutsPanel({ t, signal, onCut }) {
  const page = element("div", { class: "win-met-page", role: "slider", tabindex: 0, "aria-label": t("cuts"), "aria-valuemin": 1 });
  const caption = element("p", { class: "win-met-caption" });
  const hint = element("span", { "aria-hidden": "true" });
  const ways = Object.fromEntries(["empty", "jump", "kept"].map((way) => {
    const [bar, value] = [element("span", { class: "win-chance-bar" }), element("b", {})];
    return [way, { bar, value, node: element("div", { class: `win-way win-of-${way}` }, element("span", {}, t(`way_${way}`)),
      element("span", { class: "win-chance-track", "aria-hidden": "true" }, bar), value) }];
  }));
  const note = element("p", { class: "win-met-caption" });
  const waysNode = element("div", { class: "win-ways" }, element("p", {}, t("ways")), ...Object.values(ways).map((way) => way.node), note);
  const node = element("div", { class: "win-met" },
    element("p", { class: "win-met-head" }, element("span", {}, t("cuts_head")), hint), page, caption, waysNode);
  const cutNode = element("i", { class: "win-cut" });
  const mark = element("b", { class: "win-chance" });
  const level = element("span", { class: "win-met-level", "aria-hidden": "true" }, mark, element("small", {}, t("cuts_average")));
  let met = null;
  let cut = 0;
  let isAll = false;
  let isFixed = false;
  let columns = [];

  const lay = () => {
    columns = met.letters.map((letter, i) => ({
      letter: element("span", { class: i === met.at ? "win-cell win-framed" : "win-met-letter" }, ...visibleSpaces(letter)),
      track: element("span", { class: "win-met-track" }), bar: element("i", {}), value: element("span", { class: "win-met-value" }),
    }));
    const chart = columns.slice(1, met.at);
    for (const { track, bar } of chart) track.append(bar);
    page.style.setProperty("--win-columns", columns.length);
    for (const [i, { letter }] of columns.entries()) letter.style.gridColumn = i + 1;
    for (const [i, { track, value }] of chart.entries()) track.style.gridColumn = value.style.gridColumn = i + 2;
    page.replaceChildren(...columns.map(({ letter }) => letter), ...chart.flatMap(({ track, value }) => [track, value]), level, cutNode);
    page.setAttribute("aria-valuemax", met.at - 1);
    caption.textContent = t("cuts_caption", { letter: met.letters[met.at] });
    note.textContent = t("ways_note", { p: percent(met.afterJumps) });
    for (const [way, { bar, value }] of Object.entries(ways)) {
      bar.style.width = `${(100 * met.ways[way]).toFixed(2)}%`;
      value.textContent = percent(met.ways[way]);
    }
  };
  const draw = (given, at, how) => {
    [met, cut, isAll, isFixed] = [given, at, how.isAll, how.isFixed];
    if (columns.length === 0) lay();
    node.classList.toggle("win-fixed", isFixed);
    waysNode.hidden = isFixed;
    const chance = isAll ? met.average : met.chances[cut];
    columns.slice(0, met.at).forEach(({ letter, track, bar, value }, i) => {
      const p = met.chances[i];
      const isLit = isAll || i === cut;
      const isSeen = isLit || !isFixed;
      letter.classList.toggle("win-known", !isAll && i >= cut);
      letter.classList.toggle("win-met-turn", isAll && i > 0);
      track.classList.toggle("win-met-lit", isLit);
      value.classList.toggle("win-met-chosen", !isAll && i === cut);
      bar.style.height = isSeen ? `${(100 * p).toFixed(2)}%` : "0";
      value.textContent = isSeen ? percent(p).replace("%", "") : "";
    });
    page.classList.toggle("win-met-all", isAll); // these cuts are alike
    hint.textContent = t(isAll ? "cuts_drag_any" : "cuts_drag");
    columns[met.at].letter.style.setProperty("--win-level", levelOf(surprise(chance)));
    page.style.setProperty("--win-at", cut);
    level.style.setProperty("--win-p", chance.toFixed(4));
    level.style.setProperty("--win-from", isAll ? 1 : cut);
    level.lastChild.hidden = !isAll;
    mark.textContent = percent(chance);
    page.setAttribute("aria-disabled", String(isFixed));
    page.setAttribute("aria-valuenow", cut);
    const told = met.letters[cut] === met.letters[met.at] ? "cut_told_same" : "cut_told";
    page.setAttribute("aria-valuetext", t(isAll ? "cut_told_all" : told, { first: visibleCharacter(met.letters[cut]), letter: met.letters[met.at], p: percent(chance) }));
  };
  const choose = (next) => {
    const kept = Math.min(met.at - 1, Math.max(1, next));
    if (!isFixed && (kept !== cut || isAll)) onCut(kept);
  };
  const letterAt = ({ clientX }) => {
    const { left, width } = page.getBoundingClientRect();
    return ((clientX - left) / width) * columns.length;
  };
  let shift = 0;
  dragAcross(page, {
    signal,
    // who takes the cut itself moves it as far as the hand; else a letter is a place for it
    start: ({ event }) => { shift = Math.abs(letterAt(event) - cut) < 0.5 && event.type !== "click" ? letterAt(event) - cut - 0.5 : 0; },
    move: ({ event }) => choose(Math.floor(letterAt(event) - shift)),
  });
  page.addEventListener("keydown", (event) => {
    const places = { ArrowLeft: cut - 1, ArrowDown: cut - 1, ArrowRight: cut + 1, ArrowUp: cut + 1, Home: 1, End: met.at - 1 };
    if (!Object.hasOwn(places, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(places[event.key]);
  }, { signal });
  return { node, draw };
}

/** Choices side by side, of which one holds: { value: label }. `draw(value, isFixed)` says which (null: none), and whether it stays; `onChoose(value)` hears of a press. */
export function choicePanel({ name, choices, kind, signal, onChoose }) {
  const buttons = Object.entries(choices).map(([value, label]) => [value, buttonControl({ label, signal, onPress: () => onChoose(value) })]);
  const node = element("div", { class: `d2lrnn-segments ${kind}`, role: "group", "aria-label": name }, ...buttons.map(([, button]) => button));
  const draw = (chosen, isFixed = false) => {
    for (const [value, button] of buttons) {
      button.setAttribute("aria-pressed", String(value === chosen));
      button.disabled = isFixed && value !== chosen;
    }
  };
  const focus = (chosen) => buttons.find(([value]) => value === chosen)[1].focus({ preventScroll: true });
  return { node, draw, focus };
}
