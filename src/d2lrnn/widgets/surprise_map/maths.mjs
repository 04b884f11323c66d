// The same as Python's SurpriseMap: the bits of every letter, and their totals. No page in here.
import { createReader } from "../core.mjs";
import { encode, loadModel, normalise, unaccented } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

export const MAX_TEXT = SPEC.controls.text.max;
export const STAGES = SPEC.controls.stage.choices;
export const DEFAULT_TEXT = SPEC.controls.text.default;
export const HIGH = 13; // bits of the highest bar that is drawn
const NEAR = 1.6; // so many times as likely as a blind guess, or less, is about as likely
const FAR = 10; // so many times less likely, or more, is far worse
const SAME = 1.1; // so many times as many choices, or fewer, are about as many
export const GRADES = { near: NEAR, far: FAR, same: SAME };
export const NAME = 24; // letters of a text that has one row on a phone, where each bar can be compared with that of before
const ROW = 21; // letters that have room in one row of the narrowest page
export const LABEL = 20; // letters over which the words of the dashed line have room
export const THOUSAND = Math.log2(1000); // bits at the other line
const UNDER = 8.2; // bits of an average from which on its number stands under its mark: over it would be no room
export const LINE = 40; // letters of a text that has one row on a wide page
export const BRIEF = 120; // letters of a text that is cheap: it glides, its lines are of one length, all stages have read it

/** What is read of a typed text: normalised, without accents, signs before its first letter, and whatever follows its last; its first MAX_TEXT characters. */
export function readable(text) {
  const plain = unaccented(text).replace(/^[^a-z]+/i, (run) => (run.trim() === "" ? " " : ""));
  return normalise(plain).slice(0, MAX_TEXT).trimEnd();
}

/**
 * Read a text and note what it costs: { bits, probs }.
 *
 * `bits[i]` is the surprisal of character i + 1 after all before it; `probs[i]` are the probabilities of all signs there.
 * What is `known` of the beginning of the text, as this function has returned it, is not read again.
 */
export function surprises({ model, vocab }, text, known = { bits: [], probs: [], reader: createReader(model) }) {
  const ids = encode(text, vocab);
  const { reader } = known;
  const bits = new Float64Array(Math.max(ids.length - 1, 0));
  bits.set(known.bits);
  const probs = [...known.probs];
  for (let i = probs.length; i + 1 < ids.length; i += 1) {
    probs.push(reader.read(ids[i]).slice());
    bits[i] = -Math.log2(probs[i][ids[i + 1]]);
  }
  return { bits, probs, reader };
}

/** Four guesses, the likeliest first: a sign that is not one of them takes the last place. */
export function guesses(probs, sign) {
  const order = [...probs.keys()].sort((a, b) => probs[b] - probs[a]);
  return order.indexOf(sign) < 4 ? order.slice(0, 4) : [...order.slice(0, 3), sign];
}

/** Totals of some surprisals: { bits, rate, perplexity, bytes }. A coder needs whole bytes. */
export function totals(bits) {
  const sum = bits.reduce((total, b) => total + b, 0);
  const rate = sum / bits.length;
  return { bits: sum, rate, perplexity: 2 ** rate, bytes: Math.ceil(sum / 8) };
}

/** Pieces of a text that a line break must not part: words with the space after them, long ones cut. */
export function pieces(text) {
  return text.match(/[^ ]{1,20} ?| /g) ?? [];
}

/** Bits of the letters that begin a word, of all later letters, and of the spaces: each { count, mean }; NaN is the mean of none. */
export function bitsByPlace(text, bits) {
  const kinds = { first: { count: 0, mean: 0 }, later: { count: 0, mean: 0 }, space: { count: 0, mean: 0 } };
  bits.forEach((cost, i) => {
    const kind = kinds[text[i + 1] === " " ? "space" : text[i] === " " ? "first" : "later"];
    kind.count += 1;
    kind.mean += cost;
  });
  for (const kind of Object.values(kinds)) kind.mean /= kind.count;
  return kinds;
}

/**
 * What is to be said of a text under a network: the part of it that surprises most or least, or how it compares with before.
 *
 * A part is named where there are three letters of it, and where its average stands out from each of the others. After the first steps the spaces come first: they have fallen, and little else.
 */
export function finding({ text, stage, now, before }) {
  if (stage === STAGES[0]) return "untrained";
  const change = compared(before, now);
  if (change > 0) return ["less", "same", "more"][change];
  const { first, later, space } = bitsByPlace(text, now.bits);
  const words = first.count >= 3 && first.mean > 1.1 * Math.max(later.mean, space.mean);
  const spaces = space.count >= 3 && space.mean < 0.9 * Math.min(first.mean, later.mean);
  if (spaces && (!words || stage === STAGES[1])) return "spaces";
  return words ? "words" : "less";
}

/** Does no word come twice? */
export const isVaried = (text) => {
  const words = text.split(" ").filter((word) => word !== "");
  return new Set(words).size === words.length;
};

/** Is it told as more choices than a blind guess has? */
export const isOver = ({ perplexity }, signs) => rounded(perplexity) > SAME * signs;

/** A perplexity as it is told, a number of letters to choose among: "2.4", "21", "710 000". */
export function choices(perplexity) {
  return perplexity < 2.95 ? perplexity.toFixed(1) : grouped(rounded(perplexity));
}

const rounded = (perplexity) => Number(perplexity < 2.95 ? perplexity.toFixed(1) : perplexity < 1000 ? Math.round(perplexity) : perplexity.toPrecision(2));

/** How bits compare with what a blind guess costs: "near", "worse", "far" (far worse), or "" for better. */
export function grade(bits, blind) {
  const times = 2 ** (bits - blind);
  if (times >= FAR) return "far";
  if (times > NEAR) return "worse";
  return times < 1 / NEAR ? "" : "near";
}

/** The first place over which a label as wide as so many letters has room in the first row of a text, where no bar is higher than `limit`; or -1. Place 0 has no bar. */
export function roomFor(label, { text, rates, limit }) {
  const [first, ...more] = pieces(text);
  let end = first?.length ?? 0;
  for (const { length } of more) {
    if (end + length > ROW) break;
    end += length;
  }
  for (let from = 0, at = 0; at < end; at += 1) {
    if (at > 0 && rates.some((bits) => bits[at - 1] > limit)) from = at + 1;
    if (at + 1 - from >= label) return from;
  }
  return -1;
}

/** An average as it is marked: { at, chance, lines }; its number stands in so many lines over the mark, or under it (0). `chance` is null where it is less than the highest bar says. */
export function markOf(mean) {
  const chance = mean > HIGH ? null : oneIn(2 ** -mean) ?? choices(2 ** mean);
  return { at: Math.min(mean, HIGH), chance, lines: mean > UNDER ? 0 : chance.length > 2 && !chance.includes(".") ? 2 : 1 };
}

/** Is a text less of a surprise than before (0), about the same (1) or more (2), as the numbers that are told say it? */
export function compared(before, after) {
  const [was, is] = [before, after].map(({ perplexity }) => rounded(perplexity));
  if (Math.max(was, is) <= SAME * Math.min(was, is)) return 1;
  return is < was ? 0 : 2;
}

/**
 * What the bits of the letters, before the training and after it, say about a verdict: { name, place }, the letter that tells; or null.
 *
 * Most letters cost less, but one clearly more: that one, whether the text costs less or the same. Less, else: a letter that is now hardly a surprise. More: the letter that costs most.
 */
export function reason(before, after) {
  const verdict = compared(totals(before), totals(after));
  const most = after.indexOf(Math.max(...after));
  const isHigher = after[most] > before[most] + Math.log2(NEAR);
  if (verdict === 2) return isHigher ? { name: "more", place: most + 1 } : null;
  if (isHigher) return after.filter((bits, i) => bits < before[i]).length > after.length / 2 ? { name: "but", place: most + 1 } : null;
  const least = after.indexOf(Math.min(...after));
  return verdict === 0 && after[least] < 2 ? { name: "less", place: least + 1 } : null;
}

/** A small probability as "1 in so many", with two digits that count: the so many as text, or null. */
export function oneIn(p) {
  return p > 0 && p < 0.01 ? grouped(Number((1 / p).toPrecision(2))) : null;
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A probability with two digits that count, so that its bits follow from what is read: "64%", "4.0%", "0.61%". */
export function percent(p) {
  return p >= 0.995 ? ">99%" : `${(100 * p).toPrecision(2)}%`;
}

const loaded = new WeakMap();
const lately = new WeakMap(); // network -> { text, result }: the last text that it read

/** The network in a file's bytes. */
export function networkIn(view) {
  if (!loaded.has(view)) loaded.set(view, loadModel(view));
  return loaded.get(view);
}

function readBy(network, text) {
  const last = lately.get(network);
  if (last?.text !== text) {
    const known = last && text.startsWith(last.text) ? last.read : undefined; // a reader who types writes on
    const read = surprises(network, text, known);
    const { bits, probs } = read;
    lately.set(network, { text, read, result: { ...totals(bits), bits, probs } });
  }
  return lately.get(network).result;
}

/**
 * What the figure shows: the text read by the network at this stage, and before its training.
 *
 * `most` is the letter that costs the trained network most; a place that the text does not have is that one. `count` is the number of letters that are guessed, all but the first. `scale` is the room over
 * a letter in bits, the same at all stages, HIGH at most; `clips` whether at some stage a bar is higher; `blind` what each letter costs a blind guess; `labels` where those of the lines have room, a fifth of a row for the short one; `marks` are the averages at those stages.
 */
export function derive(state) {
  const network = (stage) => networkIn(state[`weights_${stage}`]);
  const { text, stage } = state;
  const now = readBy(network(stage), text);
  const count = now.bits.length;
  const before = readBy(network(STAGES[0]), text);
  const after = readBy(network(STAGES.at(-1)), text);
  const largest = (values) => values.indexOf(Math.max(...values)) + 1;
  const most = largest(after.bits);
  const blind = Math.log2(network(stage).vocab.length);
  const read = count < BRIEF ? STAGES : [STAGES[0], stage, STAGES.at(-1)];
  const rates = read.map((name) => readBy(network(name), text).bits);
  const highest = Math.max(1, ...rates.flatMap((bits) => [...bits]));
  return {
    text, stage, count, now, before, after,
    scale: Math.min(HIGH, Math.ceil(highest)), clips: highest > HIGH,
    most, blind,
    marks: rates.flatMap((bits) => Object.values(bitsByPlace(text, bits))).filter(({ count: n }) => n > 0).map(({ mean }) => markOf(mean)),
    labels: [
      roomFor(LABEL, { text, rates: [before.bits, after.bits], limit: blind + Math.log2(NEAR) }),
      roomFor(Math.ceil(Math.min(text.length, ROW) / 5), { text, rates, limit: THOUSAND }),
    ],
    place: state.place >= 1 && state.place <= count ? state.place : most,
    vocab: network(stage).vocab,
    updates: Object.fromEntries(STAGES.map((name) => [name, Number(network(name).about.num_steps)])),
    at: (name) => readBy(network(name), text),
  };
}

/** A link's text is what is read of it, and the letter is one of it. */
export function repair(state) {
  const text = readable(state.text);
  return { ...state, text, place: state.place < text.length ? state.place : 0 };
}
