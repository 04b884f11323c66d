// Which letters the guesses of attention and of a state depend on: the same as Python's Attention. No page in here.
import { createReader } from "../core.mjs";
import { encode, loadModel, normalise, readSafetensors, unaccented } from "../weights.mjs";
import AVERAGES from "./averages.json" with { type: "json" };
import SPEC from "./spec.json" with { type: "json" };

export const MAX_TEXT = SPEC.controls.text.max;

/** What is read of a typed text: normalised, without accents, its last MAX_TEXT characters. */
export function readable(text) {
  return normalise(unaccented(text)).slice(-MAX_TEXT).trimStart();
}

/** The letters of a typed text that are read as others, up to 12 of them: [["é", "e"]]. */
export function plainLetters(text) {
  const letters = new Set(text.normalize("NFC").toLowerCase());
  return Array.from(letters, (letter) => [letter, normalise(unaccented(letter))]).filter(([letter, plain]) => plain.trim() !== "" && plain !== letter).slice(0, 12);
}

/** The attention layer in a safetensors file: tensors by name, sizes, vocabulary. */
export function loadAttention(view) {
  const { tensors, about } = readSafetensors(view);
  const [vocabSize, width] = tensors["embedding.weight"].shape;
  const numHiddens = tensors["rnn.layer.W_q"].shape[1];
  const [numHeads, reach] = tensors["rnn.layer.b"].shape;
  const values = Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name.split(".").slice(-2).join("."), tensor.values]));
  return { values, vocabSize, width, numHiddens, numHeads, reach, vocab: [...about.vocab], about };
}

/** A row times a matrix that is stored row by row. */
function times(row, W, columns) {
  const product = new Float64Array(columns);
  row.forEach((x, i) => {
    for (let j = 0; j < columns; j += 1) product[j] += x * W[i * columns + j];
  });
  return product;
}

function softmax(scores) {
  const top = Math.max(...scores);
  const shares = scores.map((score) => Math.exp(score - top));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** What the layer expects after these letters, and how much it looks at each: a head by softmax_s(q · k_s / √d + b_{t-s}); `weights` are the mean of the heads. */
export function attend({ values, vocabSize, width, numHiddens, numHeads, reach }, ids) {
  const last = ids.length - 1;
  const size = numHiddens / numHeads;
  const embedded = (index) => values["embedding.weight"].subarray(index * width, (index + 1) * width);
  const made = (name) => (index) => times(embedded(index), values[name], numHiddens);
  const [keys, contents] = ["layer.W_k", "layer.W_v"].map((name) => ids.map(made(name)));
  const q = made("layer.W_q")(ids[last]);
  const out = new Float64Array(numHiddens);
  const looks = Array(ids.length).fill(0);
  for (let h = 0; h < numHeads; h += 1) {
    const weights = softmax(keys.map((k, s) => {
      if (last - s >= reach) return -Infinity;
      let fit = 0;
      for (let j = h * size; j < (h + 1) * size; j += 1) fit += q[j] * k[j];
      return fit / Math.sqrt(size) + values["layer.b"][h * reach + last - s];
    }));
    weights.forEach((weight, s) => {
      looks[s] += weight / numHeads;
      for (let j = h * size; j < (h + 1) * size; j += 1) out[j] += weight * contents[s][j];
    });
  }
  const { "hidden.weight": W, "hidden.bias": b } = values;
  const hidden = Array.from(b, (bias, i) => {
    let sum = bias;
    for (let j = 0; j < numHiddens; j += 1) sum += W[i * numHiddens + j] * out[j]; // torch stores it by outputs
    return Math.max(0, sum);
  });
  const logits = times(hidden, values.W_hq, vocabSize);
  return { probs: softmax(Array.from(logits, (logit, j) => logit + values.b_q[j])), weights: looks };
}

/** What a letter is replaced by: a space, or an e where it is one. */
function otherThan(index, vocab) {
  const [space, e] = encode(" e", vocab);
  return index === space ? e : space;
}

/** What a network with a state expects after these letters: { probs, others }; `others[s]` with letter s replaced. */
export function replaceEach({ model, vocab }, ids) {
  const reader = createReader(model);
  const states = []; // before each letter
  let probs = null;
  for (const index of ids) {
    states.push(reader.state);
    probs = Array.from(reader.read(index));
  }
  const others = ids.map((index, s) => {
    reader.state = states[s];
    let found = reader.read(otherThan(index, vocab));
    for (const later of ids.slice(s + 1)) found = reader.read(later);
    return Array.from(found);
  });
  return { probs, others };
}

/** How different the states of two texts of one length are after each letter: the root mean square over their numbers. */
export function difference({ model }, ids, others) {
  const statesOf = (read) => {
    const reader = createReader(model);
    return read.map((index) => {
      reader.read(index);
      return reader.state;
    });
  };
  const states = statesOf(others);
  return statesOf(ids).map((state, i) => Math.sqrt(state.reduce((sum, value, j) => sum + (value - states[i][j]) ** 2, 0) / state.length));
}

/** How much of a guess moves to other letters: 0 for none of it, 1 for all (the total variation distance). */
export function moved(probs, others) {
  return probs.reduce((sum, p, i) => sum + Math.max(0, p - others[i]), 0);
}

/** A share in whole percents; never a nothing or an all that it is not. */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  return share >= 0.995 && share < 1 ? ">99%" : `${Math.round(100 * share)}%`;
}

const loaded = new WeakMap(); // DataView -> network: several figures on a page share one

function once(view, load) {
  if (!loaded.has(view)) loaded.set(view, load(view));
  return loaded.get(view);
}

/** The letter that comes next most likely, and the one after it. */
function guessOf(probs, vocab) {
  const [first, second] = probs.map((p, index) => ({ index, character: vocab[index], p })).sort((a, b) => b.p - a.p);
  return { ...first, second };
}

/** How many numbers a model in a safetensors file has learned. */
function sizeOf(view) {
  return Object.values(readSafetensors(view).tensors).reduce((sum, { values }) => sum + values.length, 0);
}

/** In how many passages of new text the guess changes with the letter so far back erased: attention's, the state's. */
export const CHANGES = AVERAGES.changes;
export const PASSAGES = AVERAGES.passages;
export const WEIGHTS = AVERAGES.weights.toReversed(); // how much attention looks at the letters of a passage, on average, the last on the right
export const REACHES = AVERAGES.reaches; // how far back a guess reaches in the middle one of these passages
export const EQUAL = AVERAGES.equal; // the perplexities of two others of equal size
export const BACK = SPEC.controls.letter.back; // the distance that the averages show at first

/** Which letter to try (-1: none): the first that stands once in the text and changes one of the two guesses. */
export function tellingLetter(text, read, vocab) {
  return Array.from(text).findIndex((letter, s) => letter !== " " && text.indexOf(letter) === text.lastIndexOf(letter)
    && read.filter(({ probs, others }) => guessOf(probs, vocab).index !== guessOf(others[s], vocab).index).length === 1);
}

export const STRONG = SPEC.controls.letter.strong; // a guess needs a letter that moves so much of it

/** In which round a computer can do each line, and each circle: no line needs another, a circle needs the one before it. */
export const roundsOf = (count) => [Array(count).fill(1), Array.from({ length: count }, (_, s) => s + 1)];

/** In how many rounds the lines are added up: pairs, then pairs of pairs. */
export const sumRounds = (count) => (count > 1 ? Math.ceil(Math.log2(count)) : 0);

/** What the figure shows: what each guesses after the text, and how much of it changes with each letter erased. */
export function derive({ text, letter, view, weights_attention, weights_trained }) {
  const attention = once(weights_attention, (bytes) => ({ ...loadAttention(bytes), size: sizeOf(bytes) }));
  const network = once(weights_trained, (bytes) => ({ ...loadModel(bytes), size: sizeOf(bytes) }));
  const mean = view === "mean";
  const count = text.length;
  const order = view === "order";
  const told = view === "text" && letter > 0 && letter <= count ? letter - 1 : -1; // the letter that is erased
  const back = told >= 0 ? count - 1 - told : mean && letter > 0 ? MAX_TEXT - letter : BACK;
  const shown = { text, told, mean, order, back, count, sizes: [attention.size, network.size], by: "", such: -1, before: [], after: [], differs: Array(count).fill(0) };
  if (text === "") return { ...shown, effects: [[], []], weights: [], looks: [] };
  const { vocab } = network;
  const ids = encode(text, vocab);
  const replaced = (s) => ids.map((index, i) => (i === s ? otherThan(index, vocab) : index));
  const whole = attend(attention, ids);
  const each = ids.map((_, s) => attend(attention, replaced(s)));
  const read = [{ probs: whole.probs, others: each.map(({ probs }) => probs) }, replaceEach(network, ids)];
  return {
    ...shown, by: told < 0 ? "" : vocab[otherThan(ids[told], vocab)], such: told < 0 && view === "text" ? tellingLetter(text, read, vocab) : -1,
    effects: read.map(({ probs, others }) => others.map((other) => moved(probs, other))),
    weights: whole.weights,
    looks: told < 0 ? whole.weights : each[told].weights, // at what it now reads
    before: read.map(({ probs }) => guessOf(probs, vocab)),
    ...(told >= 0 && { after: read.map(({ others }) => guessOf(others[told], vocab)), differs: difference(network, ids, replaced(told)) }),
  };
}

/** A link's text is what is read of it, and the letter is one of it. */
export function repair(state) {
  const text = readable(state.text);
  return { ...state, text, letter: state.view !== "mean" && state.letter > text.length ? 0 : state.letter };
}

/** The letters of a passage, in the averages: how often each guess changes, the last letter on the right. */
export const SHARES = CHANGES.map((counts) => counts.map((count) => count / PASSAGES).reverse());

export const PORT = 0.4; // how much of the columns the box of the guess covers, from the right

/** How many columns the picture has, at least; the letters stand in the last ones. */
export const columnsOf = (count) => Math.max(8, count);

/** Attention's lines from above the bars of all letters (column s; the bars end at y = 1) to their places at the box of the guess (y = 0): SVG paths. */
export function lines(count) {
  const columns = columnsOf(count);
  return Array.from({ length: count }, (_, s) => {
    const from = columns - count + s + 0.5;
    const to = Number((columns * (1 - PORT * (1 - (s + 1) / (count + 1)))).toFixed(4));
    return `M${from} 0.92C${from} 0.4 ${to} 0.6 ${to} 0`;
  });
}
