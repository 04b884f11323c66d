// N-gram models of a story, n = 1 to 6: what followed their context, what each writes, and what of that is copied.
// The same numbers as d2lrnn.NGramLM.
import { countNgrams, followers, randomSource, sampleIndex } from "../core.mjs";
import { normalise } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SIZES = SPEC.presets.sizes;
export const MAX_ORDER = SIZES.max_order;
/** Letters of a typed beginning that are kept; at most the last five of them count. */
export const MAX_START = SPEC.controls.start.max;
/** Letters of the line that is read. */
export const MAX_LINE = SPEC.controls.line.max;
/** Letters whose counts stand in sight. */
export const MOST_BARS = 5;
/** How much each model writes. */
export const NUM_WRITTEN = SIZES.num_written;
/** Fewer letters in a row are no copy: they come together by themselves. */
export const SHORTEST_COPY = SIZES.shortest_copy;
/** What each model copies on average over several lines; a test computes it again. */
export const COPIED = SPEC.presets.copied;
const MOST_CONTEXTS = 2000; // kept at hand; then all are forgotten

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

/** A counted text with its vocabulary, one character a token: `after(context)` is { context, counts, total, types }. */
export function createCounts(table, vocab) {
  const index = new Map(Array.from(vocab, (character, i) => [character, i]));
  let known = new Map();
  const after = (context) => {
    if (known.has(context)) return known.get(context);
    if (known.size >= MOST_CONTEXTS) known = new Map();
    const counts = followers(table, Array.from(context, (character) => index.get(character)));
    let total = 0;
    let types = 0;
    for (const count of counts) {
      total += count;
      if (count > 0) types += 1;
    }
    const found = { context, counts, total, types };
    known.set(context, found);
    return found;
  };
  return { after, vocab: [...vocab], index };
}

/** The context that an n-gram model looks at: the last n - 1 characters, or as many as there are. */
export function contextOf(past, n) {
  return n > 1 ? past.slice(-(n - 1)) : "";
}

/** The prediction of the n-gram model, after Witten and Bell: from the empty context up, each mixes its own counts in. */
export function predict({ after, vocab }, n, past) {
  const context = contextOf(past, n);
  const probs = new Float64Array(vocab.length).fill(1 / vocab.length);
  for (let skipped = context.length; skipped >= 0; skipped -= 1) {
    const { counts, total, types } = after(context.slice(skipped));
    if (total === 0) break; // then no longer context was seen either
    for (let x = 0; x < probs.length; x += 1) probs[x] = (counts[x] + types * probs[x]) / (total + types);
  }
  return probs;
}

/** Indices of the symbols by falling probability or count; equal ones in the order of the vocabulary. */
export function ranking(probs) {
  return [...probs.keys()].sort((i, j) => probs[j] - probs[i] || i - j);
}

/** What the n-gram model writes after `start`: each character drawn from its prediction. Equal arguments, equal text. */
export function write(counts, n, start, seed, length) {
  const random = randomSource(seed);
  let text = "";
  let context = contextOf(start, n);
  for (let i = 0; i < length; i += 1) {
    const x = sampleIndex(predict(counts, n, context), random());
    text += counts.vocab[x];
    context = contextOf(context + counts.vocab[x], n);
  }
  return text;
}

/** The longest beginning of text.slice(from) that stands in `source`: { length, at }; length 0 if it is below `shortest`. */
function longestFrom(text, from, source, shortest) {
  let best = { length: 0, at: -1 };
  if (from + shortest > text.length) return best;
  const first = text.slice(from, from + shortest);
  for (let at = source.indexOf(first); at >= 0; at = source.indexOf(first, at + 1)) {
    let length = shortest;
    while (from + length < text.length && source[at + length] === text[from + length]) length += 1;
    if (length > best.length) best = { length, at };
  }
  return best;
}

/**
 * Stretches of a text that stand so in `source`, from left to right: [{ from, length, at }], at least `shortest` long.
 *
 * First the longest one, then on both sides of it again: no letter counts twice.
 */
export function findCopies(text, source, shortest = SHORTEST_COPY) {
  const longest = Array.from(text, (_, from) => longestFrom(text, from, source, shortest));
  const within = (start, end) => {
    let best = { length: 0 };
    for (let from = start; from < end; from += 1) {
      const length = Math.min(longest[from].length, end - from);
      if (length > best.length) best = { from, length, at: longest[from].at };
    }
    if (best.length < shortest) return [];
    return [...within(start, best.from), best, ...within(best.from + best.length, end)];
  };
  return within(0, text.length);
}

/** All models from the same start with the same random numbers: [{ n, text, copies, copied }], `copied` a share. */
export function writings(counts, source, start, seed) {
  return Array.from({ length: MAX_ORDER }, (_, i) => {
    const text = write(counts, i + 1, start, seed, NUM_WRITTEN);
    const copies = findCopies(text, source);
    return { n: i + 1, text, copies, copied: copies.reduce((sum, { length }) => sum + length, 0) / NUM_WRITTEN };
  });
}

/** What is copied of the first `length` letters of a writing. */
export function copiesWithin(copies, length) {
  return copies
    .map((copy) => ({ ...copy, length: Math.min(copy.length, length - copy.from) }))
    .filter((copy) => copy.length >= SHORTEST_COPY);
}

/**
 * What the story has at one letter of a line, for the n-gram in hand and for all of them:
 * { letter, n, context, total, hits, bars, others, rank, apart, rows, guesses }.
 *
 * `rows` holds for n = 1 to MAX_ORDER the context, how often it is followed by something (`total`) and how often by this
 * letter (`hits`); null where the line has too few letters before. `guesses` are the probabilities that the models then give it,
 * none of them 0. `n` is the one asked for, or the longest that the place
 * allows. `bars` are the letters that followed most often, [{ letter, count }], the real one always among them; `others`
 * is { types, count } of all that are left. `rank` is the real one's place among all that followed, 0 if it never did, and
 * `apart` tells that others which are not in sight stand between it and the bars before it. null for a place that the line does not have.
 */
export function lookAt(table, { line, place, order }) {
  const { after, vocab, index } = table;
  if (place >= line.length) return null;
  const letter = line[place];
  const x = index.get(letter);
  const rows = Array.from({ length: MAX_ORDER }, (_, i) => {
    if (i > place) return null;
    const { context, total, counts } = after(line.slice(place - i, place));
    return { n: i + 1, context, total, hits: counts[x] };
  });
  const n = Math.min(order, place + 1);
  const { context, total, hits } = rows[n - 1];
  const { counts, types } = after(context);
  const followed = ranking(counts).filter((i) => counts[i] > 0);
  const most = followed.slice(0, MOST_BARS);
  if (total > 0 && !most.includes(x)) most.splice(MOST_BARS - 1, 1, x);
  const bars = most.map((i) => ({ letter: vocab[i], count: counts[i] }));
  const inSight = bars.reduce((sum, { count }) => sum + count, 0);
  const others = { types: types - bars.filter(({ count }) => count > 0).length, count: total - inSight };
  const rank = followed.indexOf(x) + 1;
  const apart = others.types > 0 && (rank === 0 || rank > MOST_BARS);
  const guesses = rows.map((row) => row && predict(table, row.n, row.context)[x]);
  return { letter, n, context, total, hits, bars, others, rank, apart, rows, guesses };
}

/** Whatever was typed, as the story was prepared, and the end of it: at most `max` of the letters a to z and spaces, from where a word begins if one does in the first half. */
export function tidy(typed, max) {
  // Of a long text that was pasted only the end can count; the rest is not even looked at.
  const all = normalise(typed.slice(-10_000));
  const end = all.slice(-max);
  const space = end.indexOf(" ");
  const isCut = all.length > max && all.at(-max - 1) !== " ";
  return isCut && space >= 0 && space < max / 2 ? end.slice(space + 1) : end;
}

/** What became of a typed text: { text, length, cut, changed }; `length` is that of all its letters and spaces. */
export function readOf(typed, max) {
  const all = normalise(typed);
  return { text: tidy(typed, max), length: all.length, cut: all.length > max, changed: all !== typed.toLowerCase() };
}

/** A share in percent: 100%, 55%, 1.7%, 0.14%. */
export function formatShare(share) {
  const percent = 100 * share;
  if (percent === 0 || percent === 100) return `${percent}%`;
  if (percent >= 99.5) return ">99%";
  if (percent < 0.01) return "<0.01%";
  return `${percent.toFixed(percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2)}%`;
}
