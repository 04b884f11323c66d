// n-gram models in one piece, from the counts of the engine: what the explorables compute in steps is tested against them.
import { followers } from "../../src/d2lrnn/widgets/core.mjs";

/** Witten and Bell's probabilities of the next token, from an n-gram model of order n: as d2lrnn.NGramLM. */
export function ngramProbs(table, n, context) {
  let probs = new Float64Array(table.vocabSize).fill(1 / table.vocabSize);
  const longest = Math.min(n - 1, context.length);
  for (let length = 0; length <= longest; length += 1) {
    const counts = followers(table, context.slice(context.length - length));
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) break; // then no longer context was seen either
    const types = counts.reduce((sum, count) => sum + (count > 0), 0);
    probs = probs.map((p, index) => (counts[index] + types * p) / (total + types));
  }
  return probs;
}

/** How many different contexts of n - 1 tokens the text has, each followed by something. */
export function countContexts({ codes, order, base }, n) {
  const width = base ** (order - n + 1);
  const step = width / base;
  let contexts = 0;
  let last = -1;
  for (const code of codes) {
    const context = Math.floor(code / width);
    if (code % width < step) continue; // nothing follows
    if (context !== last) contexts += 1;
    last = context;
  }
  return contexts;
}

/** Score a text under the n-gram model: { nats, numTokens }, every token but the first predicted once. */
export function scoreNgram(table, n, ids) {
  const known = new Map(); // a context's probabilities: texts repeat their contexts
  let nats = 0;
  for (let place = 1; place < ids.length; place += 1) {
    const context = Array.from(ids.slice(Math.max(0, place - n + 1), n > 1 ? place : 0));
    const key = context.join();
    if (!known.has(key)) known.set(key, ngramProbs(table, n, context));
    nats -= Math.log(known.get(key)[ids[place]]);
  }
  return { nats, numTokens: ids.length - 1 };
}
