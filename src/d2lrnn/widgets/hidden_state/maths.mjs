// The memory cut, as pure mathematics: the same as Python's HiddenState.
import { createReader } from "../core.mjs";
import { encode, loadModel, normalise, unaccented } from "../weights.mjs";

/** Characters that are read: each needs a column that can be read on a phone. */
export const MAX_TEXT = 40;
/** A guess ends with a space, or after so many letters. */
export const MAX_GUESS = 12;

const loaded = new WeakMap(); // DataView -> network: several instances on a page share one

/** The network in a safetensors file, read once. */
export function networkIn(weights) {
  if (!loaded.has(weights)) loaded.set(weights, loadModel(weights));
  return loaded.get(weights);
}

/** What is read of a typed text: normalised, without accents or signs at its end, its last MAX_TEXT characters, from the beginning of a word where there is one. */
export function readable(text) {
  const plain = unaccented(text);
  const all = /[^a-z\s]\s*$/i.test(plain) ? normalise(plain).trimEnd() : normalise(plain);
  const from = all.length - MAX_TEXT;
  if (from <= 0) return all;
  const space = all.indexOf(" ", from - 1);
  return all.slice(space < 0 || space === all.length - 1 ? from : space + 1);
}

/** The state after every character, from zeros. */
export function statesOf({ model, vocab }, text) {
  const reader = createReader(model);
  return encode(text, vocab).map((index) => {
    reader.read(index);
    return reader.state;
  });
}

/** The same, given the states of the whole text, with the state after `cut` characters set to zeros. */
export function cutStates(network, text, cut, whole) {
  if (text === "") return [];
  return [...whole.slice(0, cut - 1), new Float32Array(network.model.numHiddens), ...statesOf(network, text.slice(cut))];
}

/** Probabilities of the next character, softmax(H W_hq + b_q). Of zeros: what the network says that has read nothing. */
export function probsOf({ vocabSize, W_hq, b_q }, state) {
  const logits = Array.from(b_q, (b, k) => state.reduce((sum, h, j) => sum + h * W_hq[j * vocabSize + k], b));
  const top = Math.max(...logits);
  const shares = logits.map((logit) => Math.exp(logit - top));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** How the network goes on from a state, always with the likeliest character, to the end of the word: { written, p }, and the first character that comes second: { second, secondP }. */
export function guessFrom({ model, vocab }, state) {
  const reader = createReader(model);
  reader.state = state;
  let probs = probsOf(model, state);
  const [[, p], [second, secondP]] = [...probs.entries()].sort(([, a], [, b]) => b - a);
  let written = "";
  while (written.length < MAX_GUESS && !written.endsWith(" ")) {
    const best = probs.indexOf(Math.max(...probs));
    written += vocab[best];
    probs = reader.read(best);
  }
  return { written, p, second: vocab[second], secondP };
}

/** Euclidean distance of two states. */
export function distance(first, second) {
  return Math.sqrt(first.reduce((sum, value, j) => sum + (value - second[j]) ** 2, 0));
}

/** The number in which two states differ most. */
export function mostApart(first, second) {
  const apart = Array.from(first, (value, j) => Math.abs(value - second[j]));
  return apart.indexOf(Math.max(...apart));
}

/** The word that is under way at the end of a text; "" after a space. */
export function lastWord(text) {
  return text.slice(text.lastIndexOf(" ") + 1);
}

/**
 * One text, read with its memory whole and with the state set to zeros after `cut` characters.
 *
 * `unit` is the number that is shown: the chosen one, or, where it is -1, the one that differs most at the end (`isMost`).
 * `states`, `distances`: after each character; before the cut nothing differs. `guesses`: how either goes on from the
 * end, { stem, written, p }: the word under way, what the network writes, the probability of its first character.
 */
export function derive({ text, cut, unit, weights }) {
  const network = networkIn(weights);
  const numHiddens = network.model.numHiddens;
  const cutAt = Math.min(cut, text.length);
  const whole = statesOf(network, text);
  const other = cutStates(network, text, cutAt, whole);
  const kept = text.slice(cutAt);
  const zeros = new Float32Array(numHiddens);
  const guesses = [[text, whole], [kept, other]].map(([read, states]) => ({
    stem: lastWord(read), ...guessFrom(network, states.at(-1) ?? zeros),
  }));
  return {
    text, cut: cutAt, unit: unit < 0 ? mostApart(whole.at(-1) ?? zeros, other.at(-1) ?? zeros) : unit, isMost: unit < 0, numHiddens, forgotten: text.slice(0, cutAt), kept, guesses,
    states: [whole, other], distances: whole.map((state, i) => distance(state, other[i])),
  };
}

/** A link's text is what is read of it. */
export function repair(state) {
  return { ...state, text: readable(state.text) };
}

/** The way of the scissors when they are first seen: from a few letters behind the cut, where less is left, to the cut. */
export function walk(cut, count) {
  const from = cut < count ? Math.min(count, cut + 4) : Math.max(1, cut - 4);
  return Array.from({ length: Math.abs(from - cut) + 1 }, (_, i) => from + i * Math.sign(cut - from));
}
