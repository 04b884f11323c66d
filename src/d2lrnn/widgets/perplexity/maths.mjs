// The same numbers as d2lrnn.metrics, and where they stand in the picture. No page in here.
import { formatNumber, visibleCharacter } from "../ui.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** Surprisal -log2 p in bits: 0 where p is 1, infinite where it is 0. */
export function surpriseBits(p) {
  return p > 0 ? 0 - Math.log2(p) : Infinity;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Mean surprisal of the right characters, in bits per character. */
export function meanBits(probs) {
  return mean(probs.map(surpriseBits));
}

/** Perplexity, 2 to the mean surprisal in bits: the geometric mean of the choices 1 / p. */
export function perplexity(probs) {
  return 2 ** meanBits(probs);
}

/** Geometric, arithmetic and harmonic mean of the choices 1 / p. Only the first is the perplexity. */
export function meanChoices(probs) {
  return {
    geometric: perplexity(probs),
    arithmetic: mean(probs.map((p) => 1 / p)),
    harmonic: 1 / mean(probs),
  };
}

/** What a model predicts in a word: each character after the first, with the context before it. */
export function predictions(word) {
  const characters = [...word];
  return characters.slice(1).map((target, i) => ({ context: characters.slice(0, i + 1), target }));
}

export const MIN_CHARACTERS = 2;
export const MAX_CHARACTERS = SPEC.controls.word.max;

/** null if `text` may be the word, else { key, values }: the words that say why not. */
export function wordProblem(text) {
  const characters = [...text];
  if (characters.length < MIN_CHARACTERS || characters.length > MAX_CHARACTERS) {
    return { key: "word_length", values: { min: MIN_CHARACTERS, max: MAX_CHARACTERS, count: characters.length } };
  }
  const control = characters.find((character) => /^[\p{Cc}\p{Cs}]$/u.test(character));
  return control === undefined ? null : { key: "word_control", values: { code: visibleCharacter(control) } };
}

/** Whether a word has characters beyond the default alphabet, a to z and the space, of which `vocabSize` is the size. */
export function exceedsAlphabet(word, vocabSize) {
  return vocabSize === SPEC.controls.vocab_size.default && !/^[a-z ]*$/.test(word);
}

/** Probabilities for another word: they keep their places as far as there are any, the rest is uniform. */
export function carryProbs(probs, count, vocabSize) {
  return Array.from({ length: count }, (_, i) => probs[i] ?? 1 / vocabSize);
}

/** Perplexity of the package's trained network on pages it has not seen, as the lesson measures it. */
export const TRAINED = 3.9;
/** The same of the best table of counts, a 5-gram, as the first lesson measures it. */
export const TABLE = 3.6;

/** The presets, in the order of their probability. */
export const PRESETS = Object.keys(SPEC.presets);

/** The probability of a preset, the same for every character; that of "uniform" is 1 / vocabSize. */
export function presetProb(name, vocabSize) {
  return SPEC.presets[name].p ?? 1 / vocabSize;
}

/** Where a bar may end: hundredths, finer ones near 0 and 1, and the uniform 1 / vocabSize; the least surprise first. */
export function probabilityStops(vocabSize) {
  const hundredths = Array.from({ length: 101 }, (_, i) => i / 100);
  const stops = new Set([...hundredths, 0.001, 0.002, 0.005, 0.995, 0.999, 1 / vocabSize]);
  return [...stops].sort((a, b) => b - a);
}

/** Index of the value next to `wish`; only 0 and 1 themselves stand on the ends, so that a step further always changes p. */
function nearest(values, wish) {
  let best = 1;
  for (let i = 2; i < values.length - 1; i += 1) if (Math.abs(values[i] - wish) < Math.abs(values[best] - wish)) best = i;
  return best;
}

/** Index of the stop next to p. */
export function nearestStop(stops, p) {
  if (p >= 1) return 0;
  return p <= 0 ? stops.length - 1 : nearest(stops, p);
}

const SNAP = 0.005; // of the axis: a bar let go so near its left end stands on 1

/** The stop under a place on the axis, 0 to 1. */
export function stopAt(stops, place) {
  if (place < SNAP) return 0;
  const places = stops.map((p) => axisPosition(surpriseBits(p)));
  let best = 0;
  for (let i = 1; i < places.length; i += 1) if (Math.abs(places[i] - place) < Math.abs(places[best] - place)) best = i;
  return best;
}

/**
 * A node with `choices` equally likely branches: { branches: [{ y, weight }], more }.
 *
 * y runs from -1 to 1; a fractional last branch has its fraction as weight and parts from its neighbour as it grows.
 * At most `limit` branches are drawn; `more` says how many are not.
 */
export function branchLayout(choices, limit = 32) {
  if (choices > limit) {
    const branches = Array.from({ length: limit }, (_, i) => ({ y: (2 * i) / (limit - 1) - 1, weight: 1 }));
    return { branches, more: choices - limit };
  }
  const whole = Math.max(1, Math.floor(choices + 1e-9));
  const fraction = Math.max(0, choices - whole);
  const weights = [...Array(whole).fill(1), ...(fraction > 1e-9 ? [fraction] : [])];
  const spread = Math.min(1, 4 * (choices - 1)); // a small part of a second branch is seen too
  const branches = weights.map((weight, i) => ({
    y: choices > 1 + 1e-9 ? spread * ((2 * Math.min(i, choices - 1)) / (choices - 1) - 1) : 0,
    weight,
  }));
  return { branches, more: 0 };
}

/** The axis is to scale up to this many bits; what is beyond its break ends in an arrow, and infinity stands at its end. */
export const AXIS_BITS = 7;

/** Where `bits` stands on the axis: 0 to 1. */
export function axisPosition(bits) {
  return bits === Infinity ? 1 : Math.min(bits, AXIS_BITS + 0.5) / (AXIS_BITS + 1);
}

/** A count of choices in a sentence: the number that stands large beside it, without zeros at its end. */
export function formatChoices(choices) {
  const text = formatNumber(choices);
  return /^\d+\.\d+$/.test(text) ? String(Number(text)) : text;
}

/** A probability in hundredths: whole ones, or one decimal where that would round, and more for a very small one. */
export function percentage(p) {
  if (p === 0 || p === 1) return `${100 * p}%`;
  if (p > 0.9995) return ">99.9%";
  if (p < 0.0005) return p < 0.00005 ? "<0.01%" : `${(100 * p).toFixed(2)}%`;
  return `${(100 * p).toFixed(Math.abs(100 * p - Math.round(100 * p)) < 1e-9 ? 0 : 1)}%`;
}

/** Among how many letters a blind guess chooses; infinitely many where nobody knows how many there are. */
export function blindChoices(word, vocabSize) {
  return exceedsAlphabet(word, vocabSize) ? Infinity : vocabSize;
}

/** Whether so many choices are more than there are letters: then the probabilities are worse than a blind guess. */
export function isWorseThanBlind(choices, blind) {
  return choices !== Infinity && choices > 1.0005 * blind;
}

/** The key of the sentence that belongs to a perplexity. */
export function sentenceKey(choices, blind = Infinity) {
  if (choices === Infinity) return "sentence_infinite";
  if (choices < 1.0005) return "sentence_certain";
  if (isWorseThanBlind(choices, blind)) return "sentence_worse";
  if (choices > 0.9995 * blind) return "sentence_blind";
  return choices < 1.05 ? "sentence_almost" : "sentence";
}

/** What the figure shows. */
export function derive({ word, probs: given, vocab_size: vocabSize }) {
  // Python sends one trait at a time: for a moment the probabilities may still belong to another word.
  const asked = predictions(word);
  const probs = carryProbs(given, asked.length, vocabSize);
  const rows = asked.map(({ context, target }, i) => ({ context, target, p: probs[i], bits: surpriseBits(probs[i]), choices: 1 / probs[i] }));
  const means = meanChoices(probs);
  const blind = blindChoices(word, vocabSize);
  return { word, probs, vocabSize, blind, rows, means, bits: meanBits(probs), choices: means.geometric };
}
