// Windows: how a text is cut into minibatches, in sequence or at random, and which state each row starts from.
import { randomSource } from "../core.mjs";
import {
  buttonControl, choiceRule, element, explorable, footPanel, formatNumber, numberRule, rangeControl, selectControl,
  visibleCharacter,
} from "../ui.mjs";
import { normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same cuts as d2lrnn.windows --------------------------------------------------------------------

export const MAX_BATCH = 6;
export const MAX_STEPS = 32;
export const MIN_LENGTH = 2;
export const MAX_LENGTH = 1200;
export const MAX_TYPED = 1000;
export const MAX_SEED = 9999;
export const SOURCES = ["story", "numbers", "row", "own"];
export const SAMPLINGS = ["sequential", "random", "adjoining"];

/** The row of indices on which the chapter shows windows of five. */
export const ROW = [1, 5, 2, 3, 6, 7, 4, 0, 2, 5, 1];

const BATCH_OF_TWO = { source: "numbers", batch_size: 2, offset: 0 };
const ONE_ROW = { source: "numbers", length: 10, batch_size: 1, num_steps: 4, offset: 0 };

/**
 * Settings of the examples. `ten_random` has a seed whose windows start at 2 and 0, as in the sources; in `d2l_random` no
 * window happens to go on where another of its row stopped.
 */
export const PRESETS = {
  story: { source: "story", length: 240, batch_size: 2, num_steps: 10, sampling: "sequential", offset: 0 },
  five: { source: "row", batch_size: 1, num_steps: 5, sampling: "sequential", offset: 0 },
  ten_random: { ...ONE_ROW, sampling: "random", seed: 68 },
  ten_sequence: { ...ONE_ROW, sampling: "sequential" },
  d2l_random: { ...BATCH_OF_TWO, length: 35, num_steps: 5, sampling: "adjoining", seed: 19 },
  d2l_sequence: { ...BATCH_OF_TWO, length: 35, num_steps: 5, sampling: "sequential" },
  dlfs2: { ...BATCH_OF_TWO, length: 1000, num_steps: 10, sampling: "sequential" },
};

/** The example that has these settings, "" if none has. */
export function presetOf(state) {
  const matches = (name) => Object.entries(PRESETS[name]).every(([key, value]) => state[key] === value);
  return Object.keys(PRESETS).find(matches) ?? "";
}

/** What was typed as the story was prepared, with at most MAX_TYPED characters. */
export function cleanTyped(text) {
  // cut twice: before, so that a long paste costs nothing; after, because a lower-case letter may be longer
  return normalise(text.slice(0, MAX_TYPED)).slice(0, MAX_TYPED);
}

/** The tokens of a source, as texts. */
export function tokensOf({ source, length, own_text }, story) {
  if (source === "numbers") return Array.from({ length }, (_, i) => String(i));
  if (source === "row") return ROW.map(String);
  return [...(source === "own" ? own_text : story.slice(0, length))];
}

/** How long a stream is: a sequential row reads one of `batch_size` equal ones. */
export function streamLength(numTokens, { batch_size, offset }) {
  return Math.floor(Math.max(numTokens - offset, 0) / batch_size);
}

/** Windows that an epoch of adjoining ones can draw from: they must fit at any offset below num_steps. */
const adjoiningWindows = (numTokens, numSteps) => Math.floor((numTokens - numSteps) / numSteps);

/** Minibatches in an epoch; 0 if the text is too short for one. */
export function countMinibatches(numTokens, settings) {
  const { batch_size, num_steps, sampling, offset } = settings;
  if (sampling === "sequential") {
    const length = streamLength(numTokens, settings);
    // The last stream has no neighbour to borrow its last target from.
    const inputs = Math.min(length, numTokens - offset - 1 - (batch_size - 1) * length);
    return Math.floor(Math.max(inputs, 0) / num_steps);
  }
  const windows = sampling === "random" ? Math.floor((numTokens - 1) / num_steps) : adjoiningWindows(numTokens, num_steps);
  return Math.floor(Math.max(windows, 0) / batch_size);
}

/** The least number of tokens that gives one minibatch. */
export function tokensNeeded({ batch_size, num_steps, sampling, offset }) {
  const spare = { sequential: offset, random: 0, adjoining: num_steps - 1 }[sampling];
  return batch_size * num_steps + 1 + spare;
}

/** The first `take` places of a random order of 0 to n - 1 (Fisher and Yates). */
export function drawPlaces(n, take, random) {
  const places = Array.from({ length: n }, (_, i) => i);
  for (let i = 0; i < take; i += 1) {
    const j = i + Math.floor(random() * (n - i));
    [places[i], places[j]] = [places[j], places[i]];
  }
  return places.slice(0, take);
}

/** Where the windows of every minibatch of an epoch start: a list of minibatches, each a list of one start a row. */
export function epochStarts(numTokens, settings) {
  const { batch_size, num_steps, sampling, offset, seed } = settings;
  const count = countMinibatches(numTokens, settings);
  const rows = Array.from({ length: batch_size }, (_, row) => row);
  const minibatches = Array.from({ length: count }, (_, k) => k);
  if (sampling === "sequential") {
    const length = streamLength(numTokens, settings);
    return minibatches.map((k) => rows.map((row) => offset + row * length + k * num_steps));
  }
  if (count === 0) return [];
  const random = randomSource(seed);
  const drawn =
    sampling === "random"
      ? drawPlaces(numTokens - num_steps, count * batch_size, random)
      : drawPlaces(adjoiningWindows(numTokens, num_steps), count * batch_size, random);
  const first = sampling === "adjoining" ? Math.floor(random() * num_steps) : 0;
  const starts = sampling === "adjoining" ? drawn.map((window) => first + window * num_steps) : drawn;
  return minibatches.map((k) => starts.slice(k * batch_size, (k + 1) * batch_size));
}

/** Inputs X and targets Y, one row for each start: Y is one place further along the text. */
export function cutMinibatch(tokens, starts, numSteps) {
  const X = starts.map((start) => tokens.slice(start, start + numSteps));
  const Y = starts.map((start) => tokens.slice(start + 1, start + numSteps + 1));
  return { X, Y };
}

/**
 * What becomes of each token when minibatch `k` (from 0) of an epoch is read: a list of { kind, rows, begins, target }.
 *
 * kind: "now", an input of this minibatch; "memory", read before by the row whose carried state remembers it; "before",
 * read earlier and not remembered; "later", read later in the epoch; "never", no input in the epoch. `rows` are the rows
 * concerned, `begins` those whose window starts here; `target`: here stands a window's last target.
 */
export function markTokens(numTokens, epoch, k, numSteps, carries) {
  const marks = Array.from({ length: numTokens }, () => ({ kind: "never", rows: [], begins: [], target: false }));
  const each = (minibatch, act) =>
    epoch[minibatch].forEach((start, row) => {
      for (let i = start; i < start + numSteps; i += 1) act(marks[i], row);
    });
  for (let other = epoch.length - 1; other > k; other -= 1) each(other, (mark) => (mark.kind = "later"));
  for (let other = 0; other < k && other < epoch.length; other += 1) {
    each(other, (mark, row) => {
      mark.kind = carries ? "memory" : "before";
      if (carries) mark.rows = [row];
    });
  }
  if (epoch[k] === undefined) return marks;
  each(k, (mark, row) => {
    mark.rows = mark.kind === "now" ? [...mark.rows, row] : [row];
    mark.kind = "now";
  });
  epoch[k].forEach((start, row) => {
    marks[start].begins.push(row);
    marks[start + numSteps].target = true;
  });
  return marks;
}

/** How many of the pairs (a token and its successor) an epoch reads at least once. */
export function pairsRead(marks) {
  return marks.reduce((sum, { kind }) => sum + (kind === "never" ? 0 : 1), 0);
}

/** Stretches of equal tokens within [from, to): { from, to, kind, rows, begins, target }; `targets`: end them at targets. */
export function stretches(marks, from = 0, to = marks.length, { targets = true } = {}) {
  const found = [];
  for (let i = from; i < to; i += 1) {
    const { kind, rows, begins } = marks[i];
    const target = targets && marks[i].target;
    const last = found.at(-1);
    const same = last && begins.length === 0 && last.kind === kind && last.target === target && String(last.rows) === String(rows);
    if (same) last.to = i + 1;
    else found.push({ from: i, to: i + 1, kind, rows, begins, target });
  }
  return found;
}

/** What of a long text need not be shown: stretches [from, to) outside all `kept` ones and not shorter than `shortest`. */
export function foldedParts(numTokens, kept, shortest) {
  const parts = [];
  let end = 0;
  for (const [from, to] of [...kept, [numTokens, numTokens]].sort((a, b) => a[0] - b[0])) {
    if (from - end >= shortest) parts.push([end, from]);
    end = Math.max(end, to);
  }
  return parts;
}

/** What must be seen of a long text: its ends, the windows, and, in sequence, where streams begin and tokens are left over. */
export function keptParts(marks, starts, numSteps, margin, edges) {
  const numTokens = marks.length;
  const around = (from, to, more) => [Math.max(0, from - more), Math.min(numTokens, to + more)];
  return [
    around(0, 1, 1),
    around(numTokens - 1, numTokens, 1),
    ...starts.map((start) => around(start, start + numSteps + 1, margin)),
    ...edges.map((place) => around(place, place, 2)),
  ];
}

/** Where, in sequence, a stream begins or an unread stretch begins or ends. */
export function landmarks(marks, streamStarts) {
  const unread = stretches(marks, 0, marks.length, { targets: false }).filter(({ kind }) => kind === "never");
  return [...streamStarts, ...unread.flatMap(({ from, to }) => [from, to])];
}

// ---- links ------------------------------------------------------------------------------------------------------

const whole = { whole: true };

export const RULES = {
  source: choiceRule(SOURCES),
  length: numberRule(MIN_LENGTH, MAX_LENGTH, whole),
  own_text: (value) => (typeof value === "string" && value === cleanTyped(value) ? value : undefined),
  batch_size: numberRule(1, MAX_BATCH, whole),
  num_steps: numberRule(1, MAX_STEPS, whole),
  sampling: choiceRule(SAMPLINGS),
  offset: numberRule(0, MAX_LENGTH, whole),
  seed: numberRule(0, MAX_SEED, whole),
  minibatch: numberRule(1, MAX_LENGTH, whole),
};

const CONTROLS = Object.keys(RULES);

const numTokensOf = ({ source, length, own_text }) => ({ row: ROW.length, own: own_text.length })[source] ?? length;

/** The settings with an offset that still cuts differently, and a minibatch that there is. */
export function repair(state) {
  const kept = Object.fromEntries(CONTROLS.map((name) => [name, state[name]]));
  kept.offset = Math.min(kept.offset, kept.batch_size * kept.num_steps - 1);
  const count = countMinibatches(numTokensOf(kept), kept);
  kept.minibatch = Math.max(1, Math.min(kept.minibatch, count));
  return kept;
}

// ---- view -------------------------------------------------------------------------------------------------------

const LONG = { text: 480, numbers: 90 }; // beyond that, what lies far from the windows is folded
const MARGIN = { text: 30, numbers: 3 };
const SHORTEST_FOLD = { text: 40, numbers: 7 };

const percent = (fraction) => `${(100 * fraction).toFixed(3)}%`;
const classOf = (row) => `win-row-${row}`;

/** Colours of the rows as equal bands, one above the other, so that windows that overlap both show. */
function paint(node, rows) {
  const share = 100 / rows.length;
  const bands = rows.map((row, i) => `var(--win-tint-${row}) ${(i * share).toFixed(2)}% ${((i + 1) * share).toFixed(2)}%`);
  node.style.setProperty("background-image", `linear-gradient(to bottom, ${bands.join(", ")})`);
}

/** A slider whose value stands beside its name. */
function sizeControl({ label, min, max, onInput, signal }) {
  const shown = element("b", { class: "win-value" });
  const caption = element("span", { class: "win-caption" }, element("span", {}, label), " ", shown);
  const range = rangeControl({ label: caption, min, max, onInput, signal });
  const set = (value, limit = max) => {
    range.input.max = limit;
    shown.textContent = value;
    range.set(value, String(value));
  };
  return { node: range.node, set };
}

/** How many characters or numbers: a field for a whole number, taken as soon as it is one. */
function lengthControl({ t, signal, onLength }) {
  const input = element("input", {
    type: "number", min: MIN_LENGTH, max: MAX_LENGTH, step: 1, inputmode: "numeric", class: "d2lrnn-text win-length",
  });
  const label = element("span", {});
  const node = element("label", { class: "d2lrnn-control" }, label, input);
  let shown = "";
  const good = () => RULES.length(Number(input.value)) !== undefined && input.value !== "";
  input.addEventListener("input", () => {
    if (good()) onLength(Number(input.value)); // drawing takes a mark of earlier away
    else input.setAttribute("aria-invalid", "true");
  }, { signal });
  input.addEventListener("change", () => {
    if (good()) return;
    input.value = shown;
    input.removeAttribute("aria-invalid");
  }, { signal });
  const set = (value, source) => {
    label.textContent = t(source === "numbers" ? "length_numbers" : "length_text");
    shown = String(value);
    if (input.value !== shown) input.value = shown;
    input.removeAttribute("aria-invalid");
  };
  return { node, set };
}

/** The reader's own text. It is shown as typed and used as the story was prepared. */
function typedControl({ t, signal, onText, say }) {
  const input = element("textarea", {
    rows: 2, class: "d2lrnn-text win-typed", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const message = element("p", { class: "win-note", hidden: true });
  const node = element("div", { class: "win-own" },
    element("label", { class: "d2lrnn-control" }, element("span", {}, t("own", { max: MAX_TYPED })), input), message);
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const tooLong = input.value.length > MAX_TYPED;
    if (tooLong) input.value = input.value.slice(0, MAX_TYPED);
    message.hidden = !tooLong;
    message.textContent = tooLong ? t("own_cut", { max: MAX_TYPED }) : "";
    if (tooLong) say(message.textContent);
    onText(cleanTyped(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const set = (text, isShown) => {
    node.hidden = !isShown;
    if (cleanTyped(input.value) === text) return;
    input.value = text;
    message.hidden = true;
  };
  return { node, set };
}

/** The whole text on one line, or each stream on a line of its own: there a minibatch is a column. */
function mapPanel(t) {
  const labels = element("div", { class: "win-map-labels", "aria-hidden": "true" });
  const plot = element("div", { class: "win-plot", role: "img" });
  const node = element("div", { class: "win-map" }, labels, plot);

  const lane = (marks, from, to, left, total) => {
    const bar = element("div", { class: "win-lane" });
    for (const part of stretches(marks, from, to, { targets: false })) {
      const box = element("span", { class: `win-part win-${part.kind}` });
      box.style.setProperty("left", percent((left + part.from - from) / total));
      box.style.setProperty("width", percent((part.to - part.from) / total));
      if (part.kind === "now") paint(box, part.rows);
      if (part.kind === "memory") box.classList.add(classOf(part.rows[0]));
      bar.append(box);
    }
    return bar;
  };

  const draw = ({ marks, epoch, k, settings }) => {
    const { batch_size, num_steps, sampling, offset } = settings;
    node.hidden = epoch.length === 0;
    if (node.hidden) return;
    const numTokens = marks.length;
    plot.setAttribute("aria-label", t(sampling === "sequential" ? "map_sequential" : "map_random", {
      rows: batch_size, k: k + 1, count: epoch.length,
    }));
    if (sampling !== "sequential") {
      labels.replaceChildren(element("span", {}, t("whole_text")));
      plot.replaceChildren(lane(marks, 0, numTokens, 0, numTokens));
      return;
    }
    const length = streamLength(numTokens, settings);
    const begins = epoch[0];
    const ends = begins.map((start, row) => (row === batch_size - 1 ? numTokens : start + length));
    const total = offset + numTokens - begins.at(-1); // the last stream has what is left over as well
    labels.replaceChildren(...begins.map((start, row) =>
      element("span", {}, t("row", { row }), " ", element("small", {}, t("from", { place: start })))));
    const lanes = begins.map((start, row) =>
      row === 0 ? lane(marks, 0, ends[0], 0, total) : lane(marks, start, ends[row], offset, total));
    const frame = element("span", { class: "win-frame" });
    frame.style.setProperty("left", percent((offset + k * num_steps) / total));
    frame.style.setProperty("width", percent(num_steps / total));
    plot.replaceChildren(...lanes, frame);
  };
  return { node, draw };
}

/** The text itself, with the windows in it. */
function stripPanel(t) {
  const node = element("div", { class: "win-strip", role: "img" });

  const piece = (part, texts) => {
    const text = element("span", { class: `win-token win-${part.kind}` }, texts);
    if (part.kind === "now") {
      paint(text, part.rows);
      text.classList.add(classOf(part.rows.at(-1)));
    }
    if (part.kind === "memory") text.classList.add(classOf(part.rows[0]));
    if (part.target) text.classList.add("win-target");
    text.prepend(...part.begins.map((row) => element("span", { class: `win-badge ${classOf(row)}` }, String(row))));
    return text;
  };
  const fold = ([from, to], isText) => {
    const words = isText ? t("fold_text", { count: to - from }) : t("fold_numbers", { from, to: to - 1 });
    return element("span", { class: "win-fold" }, words);
  };
  const shownPart = (marks, tokens, from, to, isText) =>
    stretches(marks, from, to).flatMap((part) => {
      const texts = tokens.slice(part.from, part.to);
      if (isText) return [piece(part, texts.join(""))];
      return texts.map((text, i) => piece(i === 0 ? part : { ...part, begins: [] }, text));
    });

  const draw = ({ tokens, marks, epoch, k, settings }) => {
    const isText = settings.source === "story" || settings.source === "own";
    const kind = isText ? "text" : "numbers";
    node.classList.toggle("win-strip-numbers", !isText);
    const starts = epoch[k] ?? [];
    let folded = [];
    if (tokens.length > LONG[kind]) {
      const places = settings.sampling === "sequential" && epoch.length ? landmarks(marks, epoch[0]) : [];
      folded = foldedParts(tokens.length, keptParts(marks, starts, settings.num_steps, MARGIN[kind], places), SHORTEST_FOLD[kind]);
    }
    const parts = [];
    let at = 0;
    for (const [from, to] of [...folded, [tokens.length, tokens.length]]) {
      parts.push(...shownPart(marks, tokens, at, from, isText));
      if (to > from) parts.push(fold([from, to], isText));
      at = to;
    }
    node.replaceChildren(...parts);
    const windows = starts.map((start, row) => t("strip_window", { row, from: start, to: start + settings.num_steps - 1 }));
    node.setAttribute("aria-label", t("strip", { count: tokens.length, windows: windows.join("; ") || t("strip_none") }));
  };
  return { node, draw };
}

/** What the looks of the strip mean; only those that are there. */
function legendPanel(t) {
  const looks = [ // what comes later looks like any text
    ["now", t("legend_now")], ["target", t("legend_target")], ["memory", t("legend_memory")],
    ["before", t("legend_before")], ["never", t("legend_never")],
  ];
  const items = Object.fromEntries(looks.map(([kind, words]) => {
    const sample = element("span", { class: `win-token win-sample win-${kind} win-row-0`, "aria-hidden": "true" });
    if (kind === "now") paint(sample, [0]);
    return [kind, element("span", { class: "win-legend-item" }, sample, words)];
  }));
  const node = element("div", { class: "win-legend" }, ...Object.values(items));
  const draw = ({ marks, epoch }) => {
    const present = new Set(marks.map(({ kind }) => kind));
    for (const [kind] of looks) items[kind].hidden = kind === "target" ? epoch.length === 0 : !present.has(kind);
  };
  return { node, draw };
}

/** Where the state of a row comes from, in words. */
function stateWords(t, { epoch, k, settings }, row) {
  if (settings.sampling === "sequential") {
    return k === 0 ? t("state_begin") : t("state_carried", { row, previous: k });
  }
  if (k === 0) return t("state_random");
  const stopped = epoch[k - 1][row] + settings.num_steps - 1;
  return t("state_torn", { row, stopped, start: epoch[k][row] });
}

/** The arrays X and Y, a target under its input, and the state that each row starts from. */
function arraysPanel(t) {
  const caption = element("p", { class: "win-title" });
  const rows = element("div", { class: "win-rows" });
  const node = element("div", { class: "win-arrays" }, caption, rows);
  // A box that scrolls must be reachable by keyboard; one that does not should not be a stop on the way.
  const observer = new ResizeObserver(() => {
    if (rows.scrollWidth > rows.clientWidth + 1) {
      rows.setAttribute("tabindex", "0");
      rows.setAttribute("role", "region");
      rows.setAttribute("aria-label", t("arrays"));
    } else for (const name of ["tabindex", "role", "aria-label"]) rows.removeAttribute(name);
  });

  const line = (name, texts, isTarget) =>
    element("tr", { class: isTarget ? "win-y" : "win-x" }, element("th", { scope: "row" }, name),
      ...texts.map((text, i) => element("td", { class: isTarget && i === texts.length - 1 ? "win-target" : null }, text)));

  const draw = (cut) => {
    const { tokens, epoch, k, settings } = cut;
    node.hidden = epoch.length === 0;
    if (node.hidden) return;
    const { batch_size, num_steps, sampling } = settings;
    caption.textContent = t("caption", { batch_size, num_steps });
    const { X, Y } = cutMinibatch(tokens.map(visibleToken), epoch[k], num_steps);
    const carried = sampling === "sequential" && k > 0;
    observer.disconnect();
    rows.replaceChildren(...epoch[k].map((_, row) => element("div", { class: classOf(row) },
      element("p", { class: "win-row-head" },
        element("span", { class: "win-name" }, t("row", { row })),
        element("span", { class: carried ? "win-mark win-carried" : "win-mark", "aria-hidden": "true" }, carried ? "→" : "0"),
        element("span", { class: "win-state" }, stateWords(t, cut, row))),
      element("table", { class: "win-table", "aria-label": t("row", { row }) },
        element("tbody", {}, line("X", X[row], false), line("Y", Y[row], true))))));
    observer.observe(rows);
    observer.observe(rows.firstChild.lastChild);
  };
  return { node, draw, destroy: () => observer.disconnect() };
}

const visibleToken = (token) => (token.length === 1 ? visibleCharacter(token) : token);

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const story = model.get("text");
  const body = element("div", { class: "win" });
  let shown = null; // the settings on the screen
  let count = 0;
  let spoken = null;

  const change = (values) => {
    const { offset, minibatch } = repair({ ...shown, ...values });
    commit({ ...values, offset, minibatch });
  };
  const go = (minibatch) => {
    if (minibatch >= 1 && minibatch <= count) commit({ minibatch });
  };

  const sources = [
    ["story", t("source_story")], ["numbers", t("source_numbers")], ["row", t("source_row")], ["own", t("source_own")],
  ];
  const samplings = [
    ["sequential", t("sampling_sequential")], ["random", t("sampling_random")], ["adjoining", t("sampling_adjoining")],
  ];
  const presets = Object.keys(PRESETS).map((name) => [name, t(`preset_${name}`)]);
  const example = selectControl({
    label: t("examples"), options: [["", t("preset_none")], ...presets], signal,
    onChange: (name) => (name === "" ? example.set(presetOf(shown)) : change({ ...PRESETS[name], minibatch: 1 })),
  });
  const source = selectControl({
    label: t("source"), options: sources, signal, onChange: (value) => change({ source: value, minibatch: 1 }),
  });
  const sampling = selectControl({
    label: t("sampling"), options: samplings, signal,
    onChange: (value) => change({ sampling: value, minibatch: 1 }),
  });
  const length = lengthControl({ t, signal, onLength: (value) => change({ length: value }) });
  const typed = typedControl({ t, signal, say, onText: (value) => change({ own_text: value }) });
  const size = (name, max) =>
    sizeControl({ label: t(name), min: 1, max, signal, onInput: (value) => change({ [name]: value }) });
  const batch = size("batch_size", MAX_BATCH);
  const steps = size("num_steps", MAX_STEPS);
  const offset = sizeControl({ label: t("offset"), min: 0, max: 1, signal, onInput: (value) => change({ offset: value }) });
  const draws = buttonControl({
    label: t("draw"), class: "d2lrnn-button win-draw", signal,
    onPress: () => change({ seed: (shown.seed + 1) % (MAX_SEED + 1), minibatch: 1 }),
  });
  const resetButton = buttonControl({ label: t("reset"), class: "d2lrnn-button win-reset", signal, onPress: reset });

  const place = element("span", { class: "win-caption" });
  const along = rangeControl({ label: place, min: 1, max: 1, signal, onInput: go });
  const step = (label, by) => buttonControl({ label: t(label), class: "d2lrnn-button win-step", signal, onPress: () => go(shown.minibatch + by) });
  const [previous, next] = [step("previous", -1), step("next", 1)];
  const trouble = element("p", { class: "d2lrnn-error win-trouble", hidden: true });
  const sums = element("p", { class: "win-sums" });
  const [map, strip, legend, arrays] = [mapPanel(t), stripPanel(t), legendPanel(t), arraysPanel(t)];
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  for (const [name, { node }] of Object.entries({ example, source, sampling, batch, steps })) node.classList.add(`win-${name}`);
  const slot = element("div", { class: "win-slot" }, offset.node, draws);
  body.append(
    element("div", { class: "win-controls" },
      example.node, source.node, element("div", { class: "win-length-box" }, length.node, resetButton), typed.node, sampling.node, batch.node, steps.node, slot),
    trouble,
    element("div", { class: "win-bar" }, previous, along.node, next),
    map.node, strip.node, legend.node, arrays.node, sums, foot.node,
  );
  el.append(body);

  const showBar = (k) => {
    along.input.max = Math.max(1, count);
    place.textContent = count ? t("place", { k: k + 1, count }) : t("place_none");
    along.set(k + 1, place.textContent);
    // Not `disabled`: a button that takes the focus away with it leaves a keyboard nowhere.
    previous.setAttribute("aria-disabled", String(k <= 0));
    next.setAttribute("aria-disabled", String(k >= count - 1));
  };

  const draw = (given) => {
    const tokens = tokensOf(given, story);
    const epoch = epochStarts(tokens.length, given);
    count = epoch.length;
    const k = Math.max(0, Math.min(given.minibatch, count) - 1);
    const settings = { ...given, minibatch: k + 1 };
    shown = settings;
    const marks = markTokens(tokens.length, epoch, k, settings.num_steps, settings.sampling === "sequential");
    const cut = { tokens, marks, epoch, k, settings };

    const isSequential = settings.sampling === "sequential";
    example.set(presetOf(settings));
    source.set(settings.source);
    sampling.set(settings.sampling);
    length.node.hidden = !["story", "numbers"].includes(settings.source);
    length.set(settings.length, settings.source);
    typed.set(settings.own_text, settings.source === "own");
    batch.set(settings.batch_size);
    steps.set(settings.num_steps);
    offset.node.hidden = !isSequential;
    draws.hidden = isSequential;
    offset.set(settings.offset, Math.max(1, settings.batch_size * settings.num_steps - 1, settings.offset));

    showBar(k);
    map.draw(cut);
    strip.draw(cut);
    legend.draw(cut);
    arrays.draw(cut);
    trouble.hidden = count > 0;
    trouble.textContent = count > 0 ? "" : t("too_short", {
      tokens: tokens.length, batch_size: settings.batch_size, num_steps: settings.num_steps, needed: tokensNeeded(settings),
    });
    const pairs = Math.max(0, tokens.length - 1);
    const read = pairsRead(marks);
    sums.textContent = t("sums", {
      count: formatNumber(count, 0), read: formatNumber(read, 0), pairs: formatNumber(pairs, 0), never: formatNumber(pairs - read, 0),
    });
    const words = count === 0 ? trouble.textContent
      : t("spoken", { k: k + 1, count, rows: epoch[k].map((start, row) => t("spoken_row", {
          row, from: start, to: start + settings.num_steps - 1, state: stateWords(t, cut, row),
        })).join(" ") });
    if (spoken !== null && words !== spoken) say(words);
    spoken = words;
  };
  return { draw, destroy: arrays.destroy };
}

export default explorable({ words: SPEC.words, traits: CONTROLS, build: buildView, rules: RULES, repair });
