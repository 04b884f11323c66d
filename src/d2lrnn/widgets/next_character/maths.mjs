// What a trained network writes at several temperatures, and the distributions that it draws from: as d2lrnn.decoding.
import { createReader, randomSource, reshapeProbs, sampleIndex } from "../core.mjs";
import { encode, normalise, unaccented } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SIZES = SPEC.presets.sizes;
export const TEMPERATURES = SIZES.temperatures;
/** The column whose temperature the reader sets. */
export const FREE_COLUMN = SIZES.free_column;
export const NUM_WRITTEN = SIZES.num_written;
export const MAX_TEXT = SPEC.controls.text.max;
/** A letter of fewer bits is not called improbable. */
export const IMPROBABLE_BITS = SIZES.improbable_bits;
const BEGINNING_SHOWN = 12; // letters of it before what is written
const SHORTEST_TAIL = 24; // letters that go round, before we call it a circle

/** What is read of a typed text: normalised, without accents, its last MAX_TEXT characters. */
export function readable(text) {
  return normalise(unaccented(text.slice(-10_000))).slice(-MAX_TEXT);
}

/** What stands before a writing: the text that it goes on from, of a long one the end. */
export function beginningShown(text) {
  return text.length > BEGINNING_SHOWN ? `…${text.slice(1 - BEGINNING_SHOWN)}` : text;
}

/** The cut as `reshapeProbs` takes it: one of the two, the other does nothing. */
export function cutOf({ kind, top_k, top_p }) {
  return kind === "top-k" ? { topK: top_k } : { topP: top_p };
}

/**
 * What the network writes after `text`: [{ character, index, probs, bits }], `bits` the surprisal for the model itself,
 * whatever the letter was drawn from. Nothing read yet counts as a space: a word may begin. Each text has its own dice.
 */
export function write({ model, vocab }, text, temperature, cut, seed, length = NUM_WRITTEN) {
  const reader = createReader(model);
  let probs = null;
  const given = text === "" ? " " : text;
  for (const index of encode(given, vocab)) probs = reader.read(index);
  const ofTheText = Array.from(given).reduce((sum, character, i) => sum + (i + 1) * character.codePointAt(0), 0);
  const random = randomSource((seed + ofTheText) % (SPEC.controls.seed.max + 1));
  return Array.from({ length }, () => {
    const own = probs.slice(0, vocab.length);
    const index = sampleIndex(reshapeProbs(own, { temperature, ...cut }), random());
    probs = reader.read(index);
    return { character: vocab[index], index, probs: own, bits: Math.max(0, -Math.log2(own[index])) };
  });
}

/** Indices of the letters by falling probability; equal ones in the order of the vocabulary. */
export function ranking(probs) {
  return Array.from(probs.keys()).sort((i, j) => probs[j] - probs[i] || i - j);
}

/** What a temperature makes of a probability: its power, and the sum of the powers of all that may come. */
export function worked(probs, own, temperature) {
  const power = (p) => p ** (1 / temperature);
  const sum = Array.from(probs).reduce((all, p) => all + power(p), 0);
  return { raised: power(own), sum };
}

/** How many letters can be drawn. */
export function countKept(drawn) {
  return drawn.reduce((count, p) => count + (p > 0), 0);
}

/**
 * A bound for top-p that keeps just `count` letters of a distribution: of few digits, if there is one. As every bound
 * is at least `least`, a first letter below that can't be kept alone.
 */
export function topPFor(probs, count, least = SPEC.controls.top_p.min) {
  if (count >= probs.length) return 1;
  const sorted = Array.from(probs).sort((a, b) => b - a);
  const low = sorted.slice(0, count - 1).reduce((sum, p) => sum + p, 0);
  const high = Math.min(1, low + sorted[count - 1]);
  const inside = high - 0.01 * (high - low); // the sum of the letters may come out a little lower
  const found = Array.from({ length: 11 }, (_, i) => 10 ** (i + 2)).map((digits) => Math.floor(inside * digits) / digits).find((p) => p > low);
  return Math.max(least, found ?? (low + high) / 2);
}

/** Where a text begins to go round, { from, length }, with the shortest lap that fits at least twice; null if it does not. */
export function findCircle(text) {
  for (let length = 1; 2 * length <= text.length; length += 1) {
    let from = text.length - length;
    while (from > 0 && text[from - 1] === text[from - 1 + length]) from -= 1;
    if (text.length - from >= Math.max(2 * length, SHORTEST_TAIL)) return { from, length };
  }
  return null;
}

/** A probability in hundredths, with two digits that count: 45%, 0.61%; never 0 or 100 where it is not. */
export function percentage(p) {
  if (p === 0 || p === 1) return `${100 * p}%`;
  if (p < 0.00005) return "<0.01%";
  return p > 0.995 ? ">99%" : `${Number((100 * p).toPrecision(p < 0.0005 ? 1 : 2))}%`;
}

/** How many letters are improbable. */
export function countImprobable(letters) {
  return letters.filter(({ bits }) => bits > IMPROBABLE_BITS).length;
}

/** The four temperatures of a state. */
export function temperaturesOf({ temperature = TEMPERATURES[FREE_COLUMN] }) {
  return TEMPERATURES.map((fixed, column) => (column === FREE_COLUMN ? temperature : fixed));
}

/** The four writings of a state, the reader's own with the cut; what `known` already holds with the same key is taken from there. */
export function writings(network, { text, seed, ...state }, known = []) {
  return temperaturesOf(state).map((temperature, column) => {
    const cut = column === FREE_COLUMN ? cutOf(state) : {};
    const key = JSON.stringify([text, seed, cut, temperature]);
    return known.find((each) => each.key === key) ?? { key, temperature, letters: write(network, text, temperature, cut, seed) };
  });
}

/**
 * The distribution at a place of a writing: letters by falling probability, [{ character, before, after }], how many are kept,
 * and what the improbable ones have together: { count, before, after }.
 */
export function distributionAt({ vocab }, { temperature, letters }, place, cut) {
  const { probs } = letters[place];
  const drawn = reshapeProbs(probs, { temperature, ...cut });
  const order = ranking(probs);
  const rows = order.map((i) => ({ character: vocab[i], before: probs[i], after: drawn[i] }));
  const rare = rows.filter(({ before }) => -Math.log2(before) > IMPROBABLE_BITS);
  const together = (name) => rare.reduce((sum, row) => sum + row[name], 0);
  return { rows, kept: countKept(drawn), improbable: { count: rare.length, before: together("before"), after: together("after") } };
}
