// How a text is cut into minibatches: the same cuts as those of d2lrnn.windows. No page here.
import { createReader, randomSource } from "../core.mjs";
import { encode, loadModel, normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { controls: CONTROLS, presets: PRESETS, steps: [, , { before: MEETING }] } = SPEC;
export const MAX_TYPED = CONTROLS.own_text.max;

/** The row of indices on which the chapter shows windows of five. */
export const ROW = [1, 5, 2, 3, 6, 7, 4, 0, 2, 5, 1];

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

const numTokensOf = ({ source, length, own_text }) => ({ row: ROW.length, own: own_text.length })[source] ?? length;

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

/** Tokens beyond the inputs and their last target: those that are skipped, or room for the random offset. */
export const tokensSpare = ({ num_steps, sampling, offset }) => ({ sequential: offset, random: 0, adjoining: num_steps - 1 })[sampling];

/** The least number of tokens that gives one minibatch. */
export const tokensNeeded = (settings) => settings.batch_size * settings.num_steps + 1 + tokensSpare(settings);

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

/** Stretches [from, to) of places that the minibatches of an epoch never read. */
export function neverRead(numTokens, epoch, numSteps) {
  const marks = new Uint8Array(numTokens);
  for (const start of epoch.flat()) marks.fill(1, start, start + numSteps);
  const found = [];
  marks.forEach((mark, i) => {
    if (mark === 1) return;
    if (found.at(-1)?.[1] === i) found.at(-1)[1] = i + 1;
    else found.push([i, i + 1]);
  });
  return found;
}

// ---- what a memory is worth ------------------------------------------------------------------------------------

/**
 * What each reader has in its memory when it comes to minibatch k: a stretch [from, to) of places a row, none at the first.
 * In sequence all that it has read; at random its last piece, before which its memory was emptied.
 */
export function memoriesAt({ epoch, carries, num_steps }, k) {
  if (k === 0 || epoch.length === 0) return [];
  return epoch[k].map((start, row) => (carries ? [epoch[0][row], start] : [epoch[k - 1][row], epoch[k - 1][row] + num_steps]));
}

const loaded = new WeakMap(); // DataView -> network: several instances on a page share one

/** The network in a safetensors file, read once, with a reader that goes on where the last text went on. */
export function networkIn(weights) {
  if (!loaded.has(weights)) {
    const { model, vocab } = loadModel(weights);
    loaded.set(weights, { vocab, reader: createReader(model), read: "", state: null });
  }
  return loaded.get(weights);
}

/** The state of a network that has read a text from an empty start. */
function stateAfter(network, text) {
  const { reader, vocab } = network;
  const goesOn = network.state !== null && text.startsWith(network.read);
  if (goesOn) reader.state = network.state;
  else reader.reset();
  for (const index of encode(goesOn ? text.slice(network.read.length) : text, vocab)) reader.read(index);
  [network.read, network.state] = [text, reader.state];
  return network.state;
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** How likely a network that has read `before`, from an empty start, finds each letter of a text after its first. */
export function chancesOf(network, before, text) {
  const { reader, vocab } = network;
  if (before === "") reader.reset();
  else reader.state = stateAfter(network, before);
  const ids = encode(text, vocab);
  return Array.from({ length: ids.length - 1 }, (_, i) => reader.read(ids[i])[ids[i + 1]]);
}

/**
 * The first `count` guesses of reader 1 in its piece of minibatch k: { memory, text, kept, empty }. The text is what is read and the last
 * right letter; kept and empty are lists, the chances of the right letters.
 */
export function guessesIn(network, model, k, count = model.num_steps) {
  const start = model.epoch[k][0];
  const text = model.tokens.slice(start, start + count + 1).join("");
  const [stretch = [0, 0]] = memoriesAt(model, k);
  const memory = model.tokens.slice(...stretch).join("");
  const [kept, empty] = [memory, ""].map((before) => chancesOf(network, before, text));
  return { memory, text, kept, empty };
}

/**
 * A letter and the letters about it: { letters, at, chances, average }. `at` is its place among these, `chances` how likely it is, with an empty memory,
 * where its piece begins at each of the letters before it but the first; random windows begin at each of these as often, so `average` is that of many.
 */
export function meetingOf(network, { tokens, num_steps }, place) {
  const from = place - num_steps - 1;
  const letters = tokens.slice(from, tokens.indexOf(" ", place));
  const at = place - from;
  const chances = Array.from({ length: at }, (_, cut) => (cut === 0 ? null : chancesOf(network, "", tokens.slice(from + cut, place + 1).join("")).at(-1)));
  return { from, letters, at, chances, average: mean(chances.slice(1)) };
}

/** How likely the first letters to guess are, on average, where random windows read them with an empty memory: those of all lines from the second on. */
export const jumpedOf = (network, model) => mean(model.epoch.slice(1).map(([start]) => meetingOf(network, model, start + 1).average));

/** Whether the picture of the third step is shown: it has a cut, and is of one text cut in one way. */
export const meets = (state) => state.cut_at > 0 && state.sampling !== "adjoining"
  && Object.entries(MEETING).every(([name, value]) => ["cut_at", "minibatch", "sampling"].includes(name) || state[name] === value);

/** How likely a network that has read `before`, from an empty start, finds each letter after an index; what it is asked for is kept in a table. */
function tableAfter({ reader, vocab }, before, tables) {
  const table = tables.get(before) ?? { state: null, rows: [] };
  tables.set(before, table);
  return (index) => {
    if (!table.rows[index]) {
      if (table.state === null) {
        reader.reset();
        for (const each of encode(before, vocab)) reader.read(each);
        table.state = reader.state;
      }
      reader.state = table.state;
      table.rows[index] = Float32Array.from(reader.read(index));
    }
    return table.rows[index];
  };
}

/** How likely the first right letter is, on average over all jumps of one reader that can be drawn, but those that go on by chance: { kept, empty }. */
export function jumpsOf(network, { tokens, num_steps, sampling }) {
  const text = tokens.join("");
  const ids = encode(text, network.vocab);
  const starts = Array.from({ length: text.length - num_steps }, (_, i) => i);
  const together = sampling === "random" ? [starts]
    : starts.slice(0, num_steps).map((offset) => starts.filter((start) => start % num_steps === offset).slice(0, adjoiningWindows(text.length, num_steps)));
  const known = network.tables ?? new Map(); // of the text before: one that grows has many of its pieces
  const tables = new Map([...known].filter(([before]) => text.includes(before)));
  network.tables = tables;
  const empty = tableAfter(network, "", tables);
  const sums = { count: 0, kept: 0, empty: 0 };
  for (const group of together) {
    const pairs = new Map(); // each pair of letters is looked up once, however often it stands in the text: [a start, count]
    for (const start of group) {
      const pair = text.slice(start, start + 2);
      pairs.set(pair, [start, (pairs.get(pair)?.[1] ?? 0) + 1]);
    }
    for (const from of group) {
      const kept = tableAfter(network, text.slice(from, from + num_steps), tables);
      const none = [from, from + num_steps].filter((start) => start <= group.at(-1)).map((start) => [start, -1]);
      for (const [start, count] of [...pairs.values(), ...none]) {
        sums.count += count;
        sums.kept += count * kept(ids[start])[ids[start + 1]];
        sums.empty += count * empty(ids[start])[ids[start + 1]];
      }
    }
  }
  return { kept: sums.kept / sums.count, empty: sums.empty / sums.count };
}

/** Whether the pieces can stand under one another as lines: those of one reader of a text, with a guess in each that can be tinted. */
const isInLines = ({ isText, batch_size, num_steps, epoch }) => isText && batch_size === 1 && num_steps > 1 && epoch.length > 0;

/** The guesses in all pieces of a text with one reader, kept until the text is cut otherwise. */
function linesIn(network, model) {
  const { tokens, epoch, num_steps, carries } = model;
  const key = [tokens.join(""), epoch, num_steps, carries].join();
  if (network.lines?.key !== key) network.lines = { key, all: epoch.map((_, k) => guessesIn(network, model, k)) };
  return network.lines.all;
}

/** How surprised a network is by a letter to which it gave this chance, in bits. */
export const surprise = (p) => -Math.log2(p);

/** The mean chances over the lines from the second on, which have a memory to keep, one for each guess: { kept, empty }; null if there is but one line. */
export function averagesOf(lines) {
  const later = lines.slice(1);
  if (later.length === 0) return null;
  const means = (name) => lines[0][name].map((_, i) => mean(later.map((line) => line[name][i])));
  return { kept: means("kept"), empty: means("empty") };
}

/** What is told of first guesses, { kept, empty }: the mean of these lines where the text goes on, else of all jumps, of which these lines are a few. */
function firstsOf(network, model) {
  const { lines, tokens, num_steps, sampling, carries } = model;
  const averages = averagesOf(lines);
  if (averages === null) return null;
  if (carries) {
    network.tables = null;
    return { kept: averages.kept[0], empty: averages.empty[0] };
  }
  const key = [tokens.join(""), num_steps, sampling].join();
  if (network.jumps?.key !== key) network.jumps = { key, firsts: jumpsOf(network, model) };
  return network.jumps.firsts;
}

/** The line, from 1, that tells most: where a memory helps its first guess most, or after a jump misleads it most. */
export function tellingLine({ lines, carries }) {
  if (lines === null) return 1;
  const gains = lines.map(({ kept, empty }) => (carries ? 1 : -1) * (kept[0] - empty[0]));
  return gains.indexOf(Math.max(...gains)) + 1;
}

/** A chance in whole per cent. */
export function percent(p) {
  const value = Math.round(100 * p);
  return value === 0 ? "<1%" : value === 100 ? ">99%" : `${value}%`;
}

const TELLING = 6; // points between two chances as they are shown: less says little

/** Whether two chances, as they are shown, are far enough apart to speak of. */
export const isApart = (a, b) => Math.abs(Math.round(100 * a) - Math.round(100 * b)) >= TELLING;

/** What is the case: begin, on, jump, or a jump that by chance goes on; and whether the memory helps, or would: { move, effect }. */
export function caseOf({ k, carries, epoch, num_steps, guess }) {
  if (k === 0) return { move: "begin", effect: null };
  const move = carries ? "on" : epoch[k][0] === epoch[k - 1][0] + num_steps ? "chance" : "jump";
  if (guess === null) return { move, effect: null };
  const { kept: [kept], empty: [empty] } = guess;
  if (!isApart(kept, empty)) return { move, effect: "same" };
  if (move === "jump") return { move, effect: kept < empty ? "harms" : "not" };
  return { move, effect: kept > empty ? "helps" : "not" };
}

// ---- settings that fit -----------------------------------------------------------------------------------------

/** The largest value of a control with which the text still gives a minibatch, 0 if there is none. */
function largest(name, state, from, to) {
  const numTokens = numTokensOf(state);
  const fits = (value) => tokensNeeded({ ...state, [name]: value }) <= numTokens;
  let value = to;
  while (value > from && !fits(value)) value -= 1;
  return value;
}

/** How far each control may go: { batch_size, num_steps, offset } at most, `length` at least. */
export function limits(state) {
  const at = { ...state, offset: state.sampling === "sequential" ? state.offset : 0 };
  return {
    batch_size: largest("batch_size", at, 1, CONTROLS.batch_size.max),
    num_steps: largest("num_steps", at, 1, CONTROLS.num_steps.max),
    offset: largest("offset", at, 0, at.batch_size * at.num_steps - 1),
    length: Math.max(CONTROLS.length.min, tokensNeeded(at)),
  };
}

/**
 * Settings that the text can be cut with (less offset first, then fewer steps, then fewer rows), an offset that still
 * cuts differently, a minibatch that there is, a cut only where its picture is shown. A text of the reader's own may be too short: it is being typed.
 */
export function repair(given) {
  const state = Object.fromEntries(Object.keys(CONTROLS).map((name) => [name, given[name]]));
  state.own_text = cleanTyped(state.own_text);
  state.offset = Math.min(state.offset, state.batch_size * state.num_steps - 1);
  if (state.source !== "own" && tokensNeeded(state) > numTokensOf(state)) {
    state.offset = largest("offset", state, 0, state.offset);
    state.num_steps = largest("num_steps", state, 1, state.num_steps);
    state.batch_size = largest("batch_size", state, 1, state.batch_size);
  }
  const count = countMinibatches(numTokensOf(state), state);
  state.minibatch = Math.max(1, Math.min(state.minibatch, count));
  if (!meets(state)) state.cut_at = 0;
  return state;
}

/** All that the panels draw. `k` counts minibatches from 0; `epoch` is empty if the text is too short. */
export function derive(state) {
  const tokens = tokensOf(state, state.text);
  const epoch = epochStarts(tokens.length, state);
  const k = Math.max(0, Math.min(state.minibatch, epoch.length) - 1);
  const carries = state.sampling === "sequential";
  const isText = state.source === "story" || state.source === "own";
  const model = { ...state, tokens, epoch, k, carries, isText, isLast: k === epoch.length - 1, meets: meets(state) };
  if (isInLines(model)) {
    const network = networkIn(state.weights);
    const lines = linesIn(network, model);
    return { ...model, lines, guess: lines[k], firsts: firstsOf(network, { ...model, lines }) };
  }
  return { ...model, lines: null, guess: isText && epoch.length > 0 ? guessesIn(networkIn(state.weights), model, k) : null };
}

// ---- the text in lines of equal cells --------------------------------------------------------------------------

/** Where each line starts that has room for so many cells: behind a space, if it has one. */
export function lineStarts(tokens, columns) {
  const starts = [0];
  while (starts.at(-1) + columns < tokens.length) {
    const from = starts.at(-1);
    const space = tokens.lastIndexOf(" ", from + columns - 1);
    starts.push(space >= from ? space + 1 : from + columns);
  }
  return starts;
}

/** The line of a place; beyond the text, the last. */
export const lineOf = (place, starts) => Math.max(0, starts.findLastIndex((start) => start <= place));

/** Where a stretch [from, to) lies in lines with these starts: { line, left, right }, in cells; places may be fractions. */
export function segments(from, to, starts) {
  const found = [];
  for (let line = lineOf(from, starts); line < starts.length && starts[line] < to; line += 1) {
    const left = Math.max(from, starts[line]) - starts[line];
    const right = Math.min(to, starts[line + 1] ?? to) - starts[line];
    if (right > left) found.push({ line, left, right });
  }
  return found;
}

/**
 * The lines of a text that are shown, and those folded between them: { from, to, folded } in lines. All of a short text;
 * of a long one its ends and the lines around the stretches [from, to) that matter.
 */
export function shownLines(starts, stretchesShown, most) {
  const count = starts.length;
  if (count <= most) return [{ from: 0, to: count, folded: false }];
  const kept = new Set([0, count - 1]);
  for (const [from, to] of stretchesShown) {
    for (let line = lineOf(from, starts); line <= lineOf(to, starts); line += 1) kept.add(line);
  }
  const parts = [];
  for (let line = 0; line < count; line += 1) {
    // One line is not worth a fold.
    const folded = !kept.has(line) && (!kept.has(line - 1) || !kept.has(line + 1));
    const last = parts.at(-1);
    if (last && last.folded === folded) last.to = line + 1;
    else parts.push({ from: line, to: line + 1, folded });
  }
  return parts;
}
