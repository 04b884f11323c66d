// The table of contexts: what followed the last n - 1 letters in the story, whom the model asks where nothing did, and
// what it writes.
import { countNgrams, followers, randomSource, sampleIndex } from "../core.mjs";
import {
  buttonControl, element, explorable, footPanel, formatNumber, formatProbability, numberRule, selectControl, textRule,
  visibleCharacter,
} from "../ui.mjs";
import { normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

// ---- maths: the same numbers as d2lrnn.NGramLM ------------------------------------------------------------------

export const MAX_ORDER = 6;
/** Letters of typed text that are kept; at most the last five of them count. */
export const MAX_PAST = 40;
export const LINE_LENGTH = 36;
export const WRITE_STEP = 60;
export const MAX_WRITTEN = 600;
const MAX_SEED = 9999;
const MOST_DRAWERS = 5000; // kept at hand; then the cabinet starts anew

/**
 * Count as `countNgrams` does, but in steps of a few milliseconds: a generator whose return value is the table.
 *
 * The codes that begin with one symbol are sorted by themselves. Put side by side they are sorted as a whole, because
 * the first digit outweighs all that follow.
 */
export function* countInSteps(ids, order, vocabSize) {
  const { base } = countNgrams([], order, vocabSize); // refuses what does not fit in a number
  const leading = base ** (order - 1);
  const sizes = new Uint32Array(vocabSize);
  for (let i = 0; i < ids.length; i += 1) sizes[ids[i]] += 1;
  const places = new Uint32Array(vocabSize);
  for (let index = 1; index < vocabSize; index += 1) places[index] = places[index - 1] + sizes[index - 1];
  const codes = new Float64Array(ids.length);
  let code = 0; // of the place to the right: its last digit falls off as a new first one is put in front
  for (let i = ids.length - 1; i >= 0; i -= 1) {
    code = (ids[i] + 1) * leading + Math.floor(code / base);
    codes[places[ids[i]]] = code;
    places[ids[i]] += 1;
  }
  for (let index = 0; index < vocabSize; index += 1) {
    yield index / vocabSize;
    codes.subarray(places[index] - sizes[index], places[index]).sort();
  }
  return { codes, order, base, vocabSize };
}

/** A counted text with its vocabulary (one character a token); drawers that were opened stay at hand. */
export function createCabinet(table, vocab) {
  const index = new Map(Array.from(vocab, (character, i) => [character, i]));
  let drawers = new Map();
  /** What followed a context: { context, counts, total, types }. */
  const drawer = (context) => {
    if (drawers.has(context)) return drawers.get(context);
    if (drawers.size >= MOST_DRAWERS) drawers = new Map();
    const counts = followers(table, Array.from(context, (character) => index.get(character)));
    let total = 0;
    let types = 0;
    for (const count of counts) {
      total += count;
      if (count > 0) types += 1;
    }
    const found = { context, counts, total, types };
    drawers.set(context, found);
    return found;
  };
  return { drawer, vocab: [...vocab], index };
}

/** The context that an n-gram model of order n looks at: the last n - 1 characters, or as many as there are. */
export function contextOf(past, n) {
  return n > 1 ? past.slice(-(n - 1)) : "";
}

/**
 * Ask an n-gram model of order n, after Witten and Bell: { probs, chain, uniform, answering }.
 *
 * `chain` holds the drawers from the longest context to the empty one, each with its `weight`, the share that its own
 * frequencies have in the answer; the rest, `uniform`, is dealt out alike to all symbols. `answering` is the longest
 * drawer that is not empty.
 */
export function consult({ drawer, vocab }, n, past) {
  const context = contextOf(past, n);
  const drawers = Array.from({ length: context.length + 1 }, (_, skipped) => drawer(context.slice(skipped)));
  const probs = new Float64Array(vocab.length).fill(1 / vocab.length);
  for (let i = drawers.length - 1; i >= 0; i -= 1) {
    const { counts, total, types } = drawers[i];
    if (total === 0) break; // then no longer context was seen either
    for (let x = 0; x < probs.length; x += 1) probs[x] = (counts[x] + types * probs[x]) / (total + types);
  }
  let uniform = 1;
  const chain = drawers.map((each) => {
    const { total, types } = each;
    const weight = total > 0 ? (uniform * total) / (total + types) : 0;
    if (total > 0) uniform *= types / (total + types);
    return { ...each, weight };
  });
  return { probs, chain, uniform, answering: chain.find(({ total }) => total > 0) };
}

/** Indices of the symbols by falling probability; equal ones in the order of the vocabulary. */
export function ranking(probs) {
  return Array.from(probs.keys()).sort((i, j) => probs[j] - probs[i] || i - j);
}

/**
 * A writer that draws one character after the other: `write(count)` gives what it has written up to that length, as
 * { character, kind }. "found": the character was in the drawer. "absent": it was not, a shorter context advised it.
 * "empty": there was nothing at all in the drawer. Equal arguments, equal text.
 */
export function createWriter(cabinet, n, past, seed) {
  const random = randomSource(seed);
  const written = [];
  let tail = contextOf(past, n);
  const write = (count) => {
    while (written.length < count) {
      const { probs, chain: [own] } = consult(cabinet, n, tail);
      const x = sampleIndex(probs, random());
      const kind = own.total === 0 ? "empty" : own.counts[x] === 0 ? "absent" : "found";
      written.push({ character: cabinet.vocab[x], kind });
      tail = contextOf(tail + cabinet.vocab[x], n);
    }
    return written.slice(0, count);
  };
  return { write };
}

/** Neighbours of one kind together: [{ text, kind }]. */
export function runsOf(written) {
  const runs = [];
  for (const { character, kind } of written) {
    if (runs.at(-1)?.kind === kind) runs.at(-1).text += character;
    else runs.push({ text: character, kind });
  }
  return runs;
}

/** How many contexts of n - 1 symbols are possible. */
export function possibleContexts(vocabSize, n) {
  return vocabSize ** (n - 1);
}

/** Whatever was typed, as the story was prepared, and the end of it: at most MAX_PAST of the letters a to z and spaces. */
export function tidyPast(typed) {
  // Of a long text that was pasted only the end can count; the rest is not even looked at.
  return normalise(typed.slice(-10_000)).slice(-MAX_PAST);
}

/** What stands in the story up to and including `place`, as far back as is kept. */
export function pastAt(text, place) {
  return text.slice(Math.max(0, place + 1 - MAX_PAST), place + 1);
}

/** The place in the line that begins at `start` where a reader of the story has just read `past`; -1 if nowhere. */
export function placeInLine(text, start, past) {
  for (let i = 0; i < LINE_LENGTH; i += 1) if (pastAt(text, start + i) === past) return i;
  return -1;
}

/** A share in percent: 100%, 55%, 1.7%, 0.14%. */
export function formatShare(share) {
  const percent = 100 * share;
  if (percent === 0 || percent === 100) return `${percent}%`;
  if (percent >= 99.5) return ">99%";
  if (percent < 0.01) return "<0.01%";
  return `${percent.toFixed(percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2)}%`;
}

// ---- view -------------------------------------------------------------------------------------------------------

const SHOWN = 8; // bars in sight; the others are folded away
const SLICE_MS = 8;
const FIRST_STOP = 12; // in a line that is newly chosen
/** A whole number, however large, digit by digit. */
const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const visible = (text) => Array.from(text, visibleCharacter).join("");

/** Count the training text a few milliseconds at a time; the last text that was counted is kept for other views. */
let lastCounted = { text: null, cabinet: null };
function countSlowly({ text, numTrain, vocab, signal, onDone }) {
  if (lastCounted.text === text) {
    onDone(lastCounted.cabinet);
    return;
  }
  const index = new Map(Array.from(vocab, (character, i) => [character, i]));
  const ids = Int32Array.from(text.slice(0, numTrain), (character) => index.get(character));
  const steps = countInSteps(ids, MAX_ORDER, vocab.length);
  const work = () => {
    if (signal.aborted) return;
    const start = performance.now();
    let step = steps.next();
    while (!step.done && performance.now() - start < SLICE_MS) step = steps.next();
    if (!step.done) {
      timer = setTimeout(work, 0);
      return;
    }
    lastCounted = { text, cabinet: createCabinet(step.value, vocab) };
    onDone(lastCounted.cabinet);
  };
  let timer = setTimeout(work, 0);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
}

/** The text field; what it shows is left alone as long as it means the same. */
function pastField({ t, signal, onPast }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text ctx-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const node = element("label", { class: "ctx-past" }, element("span", {}, t("past")), input);
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const past = tidyPast(input.value);
    if (input.value.length > 3 * MAX_PAST) input.value = past;
    onPast(past);
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const force = (past) => {
    input.value = past;
    input.scrollLeft = input.scrollWidth; // its end is what counts
  };
  const draw = (past) => {
    if (input.value !== past && tidyPast(input.value) !== past) force(past);
  };
  return { node, draw, force };
}

/** A line of the story, a button a character: stop reading there. One of them takes part in tabbing, arrows move on. */
function storyLine({ t, signal, text, numTrain, starts, onLine, onPlace }) {
  const begins = (start) => `${text.slice(start, start + 20).trim()}…`;
  const options = starts.map((start, i) => [String(i), t(start < numTrain ? "line_counted" : "line_heldout", { text: begins(start) })]);
  const select = selectControl({ label: t("line"), options, signal, onChange: (value) => onLine(Number(value)) });
  const strip = element("div", { class: "ctx-strip", role: "radiogroup", "aria-label": t("strip") });
  const buttons = Array.from({ length: LINE_LENGTH }, (_, i) =>
    buttonControl({ label: "", class: "ctx-cell", role: "radio", signal, onPress: () => onPlace(i) }));
  strip.append(...buttons);
  strip.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target);
    const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: LINE_LENGTH - 1 }[event.key];
    if (at < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.min(Math.max(to, 0), LINE_LENGTH - 1);
    buttons[next].focus();
    onPlace(next);
  }, { signal });
  select.node.classList.add("ctx-line");
  const node = element("div", { class: "ctx-story" }, select.node, strip);
  let shownStart = null;

  const draw = ({ line, past, order }) => {
    const start = starts[line];
    select.set(String(line));
    if (start !== shownStart) {
      shownStart = start;
      buttons.forEach((button, i) => {
        const read = text.slice(start + Math.max(0, i - 5), start + i + 1);
        button.textContent = visibleCharacter(text[start + i]);
        button.classList.toggle("ctx-space", text[start + i] === " ");
        button.setAttribute("aria-label", t("cell", { text: visible(read) }));
      });
    }
    const place = placeInLine(text, start, past);
    const from = place - Math.min(order - 1, past.length) + 1;
    const focused = buttons.indexOf(document.activeElement);
    const tabStop = focused >= 0 ? focused : Math.max(place, 0);
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === place));
      button.classList.toggle("ctx-in", place >= 0 && i >= from && i <= place);
      button.classList.toggle("ctx-next", place >= 0 && i === place + 1);
      button.tabIndex = i === tabStop ? 0 : -1;
    });
    return place < 0 ? null : text[start + place + 1];
  };
  return { node, draw };
}

/** The choice of n, each with its held-out perplexity; the lowest is marked. */
function orderButtons({ t, signal, levels, onOrder }) {
  const lowest = Math.min(...levels.map(({ perplexity }) => perplexity));
  const buttons = levels.map(({ order, perplexity }) => {
    const isLowest = perplexity === lowest;
    const label = [
      element("span", { class: "ctx-n" }, String(order)),
      element("span", { class: "ctx-ppl" }, formatNumber(perplexity), isLowest ? " ▾" : ""),
    ];
    return buttonControl({
      label, signal, class: `d2lrnn-button ctx-order${isLowest ? " ctx-lowest" : ""}`, onPress: () => onOrder(order),
      "aria-label": t(isLowest ? "order_lowest" : "order", { order, perplexity: formatNumber(perplexity) }),
    });
  });
  const node = element(
    "div", { class: "ctx-orders" },
    element("p", { class: "ctx-caption", "aria-hidden": "true" }, t("orders")),
    element("div", { class: "ctx-order-row", role: "group", "aria-label": t("orders") }, ...buttons),
  );
  const draw = (order) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(levels[i].order === order)));
  return { node, draw };
}

/** A context as the plate of a drawer. */
function plate(context, t) {
  if (context === "") return element("span", { class: "ctx-plate ctx-plate-none" }, t("no_letters"));
  return element("bdi", { class: "ctx-plate" }, ...Array.from(context, (character) => element("span", {}, visibleCharacter(character))));
}

/** The drawer: its label, what was in it, and the odds of what comes next. A bar is a button that adds its letter. */
function drawerPanel({ t, signal, onAppend }) {
  const label = element("div", { class: "ctx-label" });
  const fill = element("p", { class: "ctx-fill" });
  const rows = [];
  const makeRow = (rank) => {
    const letter = element("span", { class: "ctx-letter" });
    const own = element("span", { class: "ctx-own" });
    const advice = element("span", { class: "ctx-advice" });
    const p = element("span", { class: "ctx-p" });
    const seen = element("span", { class: "ctx-seen" });
    const button = buttonControl({
      label: [letter, element("span", { class: "ctx-track" }, own, advice), p, seen],
      class: "ctx-bar", signal, onPress: () => onAppend(rank),
    });
    rows.push({ button, letter, own, advice, p, seen });
    return button;
  };
  const head = element(
    "div", { class: "ctx-head", "aria-hidden": "true" },
    element("span", {}, t("column_next")), element("span", { class: "ctx-head-p" }, t("column_probability")),
    element("span", { class: "ctx-head-seen" }, t("column_count")),
  );
  const keyOwn = element("span");
  const key = element(
    "p", { class: "ctx-key" },
    element("span", {}, element("i", { class: "ctx-own" }), keyOwn),
    element("span", {}, element("i", { class: "ctx-advice" }), t("key_advice")),
  );
  const bars = element("div", { class: "ctx-bars", role: "group", "aria-label": t("bars") });
  const rest = element("div", { class: "ctx-bars", role: "group", "aria-label": t("bars_rest") });
  const more = element("details", { class: "ctx-more" }, element("summary", {}), rest);
  const came = element("p", { class: "ctx-came" });
  const node = element("section", { class: "ctx-drawer" }, label, fill, head, bars, came, key, more);

  const draw = ({ answer, vocab, order, past, next }) => {
    const { probs, chain: [asked], answering } = answer;
    if (rows.length === 0) {
      vocab.forEach((_, rank) => (rank < SHOWN ? bars : rest).append(makeRow(rank)));
      more.firstChild.textContent = t("more", { count: vocab.length - SHOWN });
    }
    label.replaceChildren(plate(asked.context, t));
    const empty = asked.total === 0;
    fill.classList.toggle("ctx-never", empty);
    fill.textContent = [
      past.length < order - 1 ? t("too_young", { count: past.length, wanted: order - 1 }) : "",
      empty ? t("never_seen", { context: answering.context === "" ? t("no_letters") : visible(answering.context) })
        : t(asked.total === 1 ? "seen_once" : "seen", { times: count(asked.total), types: asked.types }),
    ].join(" ").trim();
    keyOwn.textContent = answering.context === "" ? t("key_own_none") : t("key_own", { context: visible(answering.context) });
    const ranked = ranking(probs);
    const share = answering.total + answering.types;
    ranked.forEach((x, rank) => {
      const row = rows[rank];
      const own = answering.counts[x] / share;
      const isNext = vocab[x] === next;
      row.letter.textContent = visibleCharacter(vocab[x]);
      row.own.style.setProperty("width", `${(100 * own).toFixed(2)}%`);
      row.advice.style.setProperty("width", `${(100 * (probs[x] - own)).toFixed(2)}%`);
      row.p.textContent = formatProbability(probs[x]);
      row.seen.textContent = count(answering.counts[x]);
      row.button.classList.toggle("ctx-is-next", isNext);
      const character = vocab[x] === " " ? t("space") : vocab[x];
      row.button.setAttribute("aria-label", t(isNext ? "bar_next" : "bar", {
        character, p: row.p.textContent, count: row.seen.textContent,
      }));
    });
    came.textContent = "";
    if (next !== null) {
      const x = vocab.indexOf(next);
      const kind = empty ? "came_empty" : asked.counts[x] === 0 ? "came_absent" : "came_found";
      came.textContent = t(kind, { character: visibleCharacter(next), p: formatProbability(probs[x]) });
    }
    return ranked;
  };
  return { node, draw };
}

/** Who is asked, from the longest context down to the one who knows nothing, and how much each says in the answer. */
function chainPanel(t) {
  const body = element("tbody");
  const heads = ["chain_context", "chain_seen", "chain_types", "chain_weight"];
  const node = element(
    "section", { class: "ctx-chain" },
    element(
      "table", {},
      element("caption", { class: "ctx-caption" }, t("chain")),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, t(head))))),
      body,
    ),
  );
  const weightCell = (weight) => {
    const bar = element("span", { class: "ctx-weight-bar" });
    bar.style.setProperty("width", `${(100 * weight).toFixed(2)}%`);
    return element(
      "td", { class: "ctx-weight" },
      element("span", { class: "ctx-weight-text" }, formatShare(weight)), element("span", { class: "ctx-weight-track" }, bar),
    );
  };
  const draw = ({ chain, uniform, answering }, vocabSize) => {
    const rows = chain.map((each) => {
      const header = element("th", { scope: "row" }, plate(each.context, t));
      if (each.total === 0) {
        return element("tr", { class: "ctx-row-never" }, header, element("td", { colspan: 2 }, t("chain_never")), weightCell(0));
      }
      return element(
        "tr", { class: each === answering ? "ctx-row-answers" : null }, header,
        element("td", {}, count(each.total)), element("td", {}, String(each.types)), weightCell(each.weight),
      );
    });
    const last = element("tr", {}, element("th", { scope: "row", colspan: 3 }, t("chain_uniform", { size: vocabSize })), weightCell(uniform));
    body.replaceChildren(...rows, last);
  };
  return { node, draw };
}

/** For every n: contexts that are possible, contexts that were seen, and the held-out perplexity. */
function levelsPanel({ t, levels, vocabSize }) {
  const lowest = Math.min(...levels.map(({ perplexity }) => perplexity));
  const largest = Math.max(...levels.map(({ perplexity }) => perplexity));
  const rows = levels.map(({ order, contexts, perplexity }) => {
    const possible = possibleContexts(vocabSize, order);
    const bar = element("span", { class: "ctx-level-bar" });
    bar.style.setProperty("width", `${((100 * perplexity) / largest).toFixed(2)}%`);
    const isLowest = perplexity === lowest;
    return element(
      "tr", { class: isLowest ? "ctx-level-lowest" : null },
      element("th", { scope: "row" }, String(order)),
      element("td", {}, count(possible)),
      element("td", {}, count(contexts)),
      element("td", {}, formatShare(contexts / possible)),
      element(
        "td", { class: "ctx-level-ppl" },
        element("span", {}, formatNumber(perplexity), isLowest ? element("b", {}, ` ▾ ${t("lowest")}`) : ""), bar,
      ),
    );
  });
  const heads = ["level_n", "level_possible", "level_seen", "level_share", "level_perplexity"];
  const node = element(
    "section", { class: "ctx-levels" },
    element(
      "table", {},
      element("caption", { class: "ctx-caption" }, t("levels")),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, t(head))))),
      element("tbody", {}, ...rows),
    ),
  );
  const draw = (order) => rows.forEach((row, i) => {
    row.classList.toggle("ctx-level-now", levels[i].order === order);
    if (levels[i].order === order) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  });
  return { node, draw };
}

/** What the model of this n writes, with the places marked where its drawer did not help. */
function writingPanel({ t, signal, onMore, onOther }) {
  const title = element("b");
  const more = buttonControl({ label: t("write_on"), signal, onPress: onMore });
  const other = buttonControl({ label: t("write_other"), signal, onPress: onOther });
  const sample = element("p", { class: "ctx-sample", tabindex: 0, role: "group", "aria-label": t("sample") });
  const note = (kind) => {
    const words = element("span");
    return { node: element("span", {}, element("span", { class: `ctx-${kind}` }, "abc"), words), words };
  };
  const absent = note("absent");
  const empty = note("empty");
  const key = element("p", { class: "ctx-key" }, absent.node, empty.node);
  const node = element("section", { class: "ctx-writing" }, element("div", { class: "ctx-writing-bar" }, title, more, other), sample, key);
  let writer = { key: null, write: null };

  let shownLength = null;

  const draw = ({ cabinet, order, past, seed, num_written: length }) => {
    const wanted = JSON.stringify([order, contextOf(past, order), seed]);
    if (writer.key !== wanted || writer.cabinet !== cabinet) {
      writer = { key: wanted, cabinet, ...createWriter(cabinet, order, past, seed) };
    }
    const written = writer.write(length);
    title.textContent = t("writes", { order });
    const runs = runsOf(written).map(({ text, kind }) => (kind === "found" ? text : element("span", { class: `ctx-${kind}` }, text)));
    sample.replaceChildren(element("span", { class: "ctx-sample-past" }, past), ...runs);
    const many = (kind) => ({ count: written.filter((each) => each.kind === kind).length, all: length });
    absent.words.textContent = t("written_absent", many("absent"));
    empty.words.textContent = t("written_empty", many("empty"));
    more.setAttribute("aria-disabled", String(length >= MAX_WRITTEN));
    if (shownLength !== null && length > shownLength) sample.scrollTop = sample.scrollHeight; // what is new stands below
    shownLength = length;
    return written.slice(-WRITE_STEP).map(({ character }) => character).join("");
  };
  return { node, draw };
}

/** What a link may set. */
export const RULES = {
  order: numberRule(1, MAX_ORDER, { whole: true }),
  past: (value) => (textRule(MAX_PAST)(value) === undefined ? undefined : /^[a-z ]*$/.test(value) ? value : tidyPast(value)),
  line: numberRule(0, 99, { whole: true }),
  seed: numberRule(0, MAX_SEED, { whole: true }),
  num_written: numberRule(0, MAX_WRITTEN, { whole: true }),
};

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const [text, numTrain, vocab, levels, starts] = ["text", "num_train", "vocab", "levels", "lines"].map((name) => model.get(name));
  const body = element("div", { class: "ctx" });
  const waiting = element("p", { class: "ctx-waiting" }, t("counting"));
  let cabinet = null;
  let shown = null; // the state on the screen
  let ranked = []; // indices of the vocabulary by falling probability
  let spoken = null;
  let askedForMore = false;

  const field = pastField({ t, signal, onPast: (past) => commit({ past }) });
  const story = storyLine({
    t, signal, text, numTrain, starts,
    // Another line: stop at the same place in it, so that there is something to see at once.
    onLine: (line) => {
      const place = placeInLine(text, starts[shown.line], shown.past);
      commit({ line, past: pastAt(text, starts[line] + (place < 0 ? FIRST_STOP : place)) });
    },
    onPlace: (place) => commit({ past: pastAt(text, starts[shown.line] + place) }),
  });
  const orders = orderButtons({ t, signal, levels, onOrder: (order) => commit({ order }) });
  const drawer = drawerPanel({
    t, signal, onAppend: (rank) => commit({ past: (shown.past + cabinet.vocab[ranked[rank]]).slice(-MAX_PAST) }),
  });
  const chain = chainPanel(t);
  const table = levelsPanel({ t, levels, vocabSize: vocab.length });
  const writing = writingPanel({
    t, signal,
    onMore: () => {
      if (shown.num_written >= MAX_WRITTEN) {
        say(t("write_full", { count: MAX_WRITTEN }));
        return;
      }
      askedForMore = true;
      commit({ num_written: Math.min(shown.num_written + WRITE_STEP, MAX_WRITTEN) });
    },
    onOther: () => {
      askedForMore = true;
      commit({ seed: (shown.seed + 1) % (MAX_SEED + 1) });
    },
  });
  const resetButton = buttonControl({
    label: t("reset"), class: "d2lrnn-button ctx-reset", signal,
    onPress: () => { reset(); field.force(model.get("past")); },
  });
  const foot = footPanel({ t, how: t("how", { max: MAX_PAST }), experiment: t("try"), link, say, signal });
  foot.expect(expectation(t, levels, vocab.length));
  body.append(
    element("div", { class: "ctx-tools" }, field.node, resetButton),
    story.node, orders.node, waiting,
    element("div", { class: "ctx-main" }, drawer.node, element("div", { class: "ctx-side" }, chain.node, writing.node)),
    table.node, foot.node,
  );
  el.append(body);

  const draw = (state) => {
    // A link or Python may name a line that there is not.
    shown = { ...state, line: Math.min(state.line, starts.length - 1) };
    const { order, past } = shown;
    field.draw(past);
    orders.draw(order);
    table.draw(order);
    const next = story.draw(shown);
    if (cabinet === null) return;
    const answer = consult(cabinet, order, past);
    ranked = drawer.draw({ answer, vocab: cabinet.vocab, order, past, next });
    chain.draw(answer, vocab.length);
    const news = writing.draw({ ...shown, cabinet });
    const words = spokenResult(t, answer, ranked, cabinet.vocab, order);
    if (askedForMore) say(t("spoken_writing", { text: news.trim() }));
    else if (spoken !== null && words !== spoken) say(words); // at first the reader has done nothing yet
    askedForMore = false;
    spoken = words;
  };
  body.classList.add("ctx-busy");
  field.force(model.get("past"));
  countSlowly({
    text, numTrain, vocab, signal,
    onDone: (counted) => {
      cabinet = counted;
      waiting.remove();
      body.classList.remove("ctx-busy");
      if (shown !== null) draw(shown);
    },
  });
  return { draw };
}

/** The drawer and the three likeliest letters in a sentence. */
function spokenResult(t, { probs, chain: [asked], answering }, ranked, vocab, order) {
  const name = (character) => (character === " " ? t("space") : character);
  const best = ranked.slice(0, 3).map((x) => `${name(vocab[x])} ${formatProbability(probs[x])}`).join(", ");
  const context = asked.context === "" ? t("no_letters") : visible(asked.context);
  if (asked.total > 0) return t("spoken", { order, context, times: count(asked.total), best });
  return t("spoken_never", { order, context, shorter: answering.context === "" ? t("no_letters") : visible(answering.context), best });
}

/** What the suggested experiment shows, with the numbers of the text at hand. */
function expectation(t, levels, vocabSize) {
  const best = levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));
  const last = levels.at(-1);
  const possible = possibleContexts(vocabSize, last.order);
  return t("expect", {
    best: best.order, lowest: formatNumber(best.perplexity), last: last.order, perplexity: formatNumber(last.perplexity),
    letters: last.order - 1, possible: count(possible), seen: count(last.contexts), share: formatShare(last.contexts / possible),
  });
}

export default explorable({
  words: SPEC.words, traits: ["order", "past", "line", "seed", "num_written"], build: buildView, rules: RULES,
});
