// What a layer of attention and a state look back at: the same as Python's Attention. No page in here.
import { createReader } from "../core.mjs";
import { encode, loadModel, normalise, readSafetensors } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

export const MAX_TEXT = SPEC.controls.text.max;

/** What is read of a typed text: normalised, its first MAX_TEXT characters. */
export function readable(text) {
  return normalise(text).slice(0, MAX_TEXT);
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

/**
 * What the layer looks back at from the last of these letters, and what it expects next: { heads, probs }.
 *
 * `heads[h][s]` is the weight of letter s in head h, softmax_s(q · k_s / √d + b_{t-s}).
 */
export function attend({ values, vocabSize, width, numHiddens, numHeads, reach }, ids) {
  const last = ids.length - 1;
  const size = numHiddens / numHeads;
  const embedded = (index) => values["embedding.weight"].subarray(index * width, (index + 1) * width);
  const made = (name) => (index) => times(embedded(index), values[name], numHiddens);
  const [keys, contents] = ["layer.W_k", "layer.W_v"].map((name) => ids.map(made(name)));
  const q = made("layer.W_q")(ids[last]);
  const out = new Float64Array(numHiddens);
  const heads = Array.from({ length: numHeads }, (_, h) => {
    const weights = softmax(keys.map((k, s) => {
      if (last - s >= reach) return -Infinity;
      let fit = 0;
      for (let j = h * size; j < (h + 1) * size; j += 1) fit += q[j] * k[j];
      return fit / Math.sqrt(size) + values["layer.b"][h * reach + last - s];
    }));
    weights.forEach((weight, s) => {
      for (let j = h * size; j < (h + 1) * size; j += 1) out[j] += weight * contents[s][j];
    });
    return weights;
  });
  const { "hidden.weight": W, "hidden.bias": b } = values;
  const hidden = Array.from(b, (bias, i) => {
    let sum = bias;
    for (let j = 0; j < numHiddens; j += 1) sum += W[i * numHiddens + j] * out[j]; // torch stores it by outputs
    return Math.max(0, sum);
  });
  const logits = times(hidden, values.W_hq, vocabSize);
  return { heads, probs: softmax(Array.from(logits, (logit, j) => logit + values.b_q[j])) };
}

/** What a letter is replaced by: a space, or an e where it is one. */
function otherThan(index, vocab) {
  const [space, e] = encode(" e", vocab);
  return index === space ? e : space;
}

/**
 * What is left of each letter in the state after the last of these: { traces, probs, others }.
 * A trace is how far apart the states with and without the letter are now, as a share of what that was when the letter
 * had just been read; `others[s]` are the probabilities with letter s replaced.
 */
export function replaceEach({ model, vocab }, ids) {
  const reader = createReader(model);
  const states = [reader.state]; // before each letter, and after the last
  let probs = null;
  for (const index of ids) {
    probs = Array.from(reader.read(index));
    states.push(reader.state);
  }
  const apart = (place) => Math.hypot(...reader.state.map((h, j) => h - states[place][j]));
  const others = [];
  const traces = ids.map((index, s) => {
    reader.state = states[s];
    let found = reader.read(otherThan(index, vocab));
    const first = apart(s + 1);
    for (const later of ids.slice(s + 1)) found = reader.read(later);
    others.push(Array.from(found));
    return apart(ids.length) / first;
  });
  return { traces, probs, others };
}

/** A share in words: 33%, 0.6%; never a nothing or an all that it is not. */
export function shareText(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share >= 0.995 && share < 1) return ">99%";
  return `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;
}

const loaded = new WeakMap(); // DataView -> network: several figures on a page share one

function once(view, load) {
  if (!loaded.has(view)) loaded.set(view, load(view));
  return loaded.get(view);
}

/** The letter that comes next most likely. */
function guessOf(probs, vocab) {
  const index = probs.indexOf(Math.max(...probs));
  return { index, character: vocab[index], p: probs[index] };
}

/** How many numbers a model in a safetensors file has learned. */
function sizeOf(view) {
  return Object.values(readSafetensors(view).tensors).reduce((sum, { values }) => sum + values.length, 0);
}

/** What the figure shows after `place` letters of the text. */
export function derive({ text, place: wished, head, letter, weights_attention, weights_trained }) {
  const attention = once(weights_attention, (view) => ({ ...loadAttention(view), size: sizeOf(view) }));
  const network = once(weights_trained, (view) => ({ ...loadModel(view), size: sizeOf(view) }));
  const perplexities = [attention, network].map(({ about }) => Number(about.heldout_perplexity));
  const place = Math.min(Math.max(wished, 1), text.length);
  const told = letter > 0 && letter <= place ? letter - 1 : -1; // the letter that is replaced
  const shown = { text, place, head, told, perplexities, state: network.model.numHiddens, sizes: [attention.size, network.size] };
  if (place === 0) return { ...shown, heads: [], weights: [], traces: [], by: "", before: [], after: [] };
  const ids = encode(text.slice(0, place), network.vocab);
  const { heads, probs } = attend(attention, ids);
  const { traces, probs: stateProbs, others } = replaceEach(network, ids);
  const other = told < 0 ? -1 : otherThan(ids[told], network.vocab);
  const guesses = (looking, holding) => [guessOf(looking, attention.vocab), guessOf(holding, network.vocab)];
  return {
    ...shown, heads, weights: heads[head - 1], traces, by: network.vocab[other] ?? "", before: guesses(probs, stateProbs),
    after: told < 0 ? [] : guesses(attend(attention, ids.map((index, s) => (s === told ? other : index))).probs, others[told]),
  };
}

/** A link's text is what is read of it, and the letter is one of it. */
export function repair(state) {
  const text = readable(state.text);
  return { ...state, text, place: Math.min(state.place, text.length), letter: state.letter > text.length ? 0 : state.letter };
}
