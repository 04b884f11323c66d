// What the lab's page computes: standings, axes, labels, colours, a reader's own text, what a story came to. No page here.
import { formatNumber } from "../ui.mjs";
import { linearTicks, powerTicks, scale, spreadLabels } from "../charts.mjs";

// ---- the network's standing among its rivals ------------------------------------------------------------------------

/** { beaten, next }: the best n-gram below which a perplexity lies, and the worst that it has still to beat; or null. */
export function standing(perplexity, levels) {
  const sorted = [...levels].sort((a, b) => b.perplexity - a.perplexity);
  const ahead = sorted.filter((level) => !(perplexity < level.perplexity));
  const behind = sorted.filter((level) => perplexity < level.perplexity);
  return { beaten: behind.at(-1) ?? null, next: ahead[0] ?? null };
}

/** The smallest finite value of a curve, or Infinity. */
export const bestOf = ({ ys }) => ys.reduce((least, y) => (Number.isFinite(y) && y < least ? y : least), Infinity);

/** Whether a run has been thrown off: far worse than it was, and not because it learns by rote. */
export function isLost(report) {
  const { heldout, perplexity, steps } = report;
  return steps > 0 && !(perplexity <= 2 * bestOf(heldout)) && !isMemorising(report);
}

/** The last score of a run before its cat came. */
export const beforeCat = ({ heldout, catAt }) => around(heldout, catAt).before;

/**
 * By what a run is compared with its rivals: the best that it reached, if that is clearly better than what it has come to; but
 * where it was told to stop at a given update, or was thrown off, what it has come to.
 */
export function reached(report, { isTold = false } = {}) {
  const { heldout, perplexity, steps, status } = report;
  if (isTold || steps === 0 || status === "diverged" || isLost(report)) return perplexity;
  const best = bestOf(heldout);
  return best < 0.99 * perplexity ? best : perplexity;
}

/** Whether a run was worse for a while, by half or more, and has come back. */
export function hasSpiked({ heldout, perplexity }) {
  let best = Infinity;
  let worst = 1;
  for (const y of heldout.ys) {
    best = Math.min(best, y);
    worst = Math.max(worst, y / best);
  }
  return worst >= 1.5 && perplexity <= 1.1 * best;
}

/** Whether a run learns its text by rote: for long now worse on unseen pages, and better on its own than it ever was on those. */
export function isMemorising({ train, heldout, perplexity, tokens }) {
  const best = bestOf(heldout);
  const mine = train.ys.at(-1);
  const isOld = heldout.xs[heldout.ys.indexOf(best)] < 0.8 * tokens; // what throws a run off does so at once
  return isOld && perplexity > 1.1 * best && mine < best && perplexity > 1.5 * mine;
}

/** Whether it is clearly better on the pages that it learns from: then their curve is drawn as well. */
export function hasGap(report) {
  return !isLost(report) && report.train.ys.at(-1) < 0.8 * report.perplexity; // the mean of late updates lags behind an explosion
}

/** The number of letters of the text's alphabet, or Infinity where nobody has counted it. */
const alphabetOf = (levels) => levels.find(({ order }) => order === 0)?.perplexity ?? Infinity;

/** Whether a perplexity is worse than that of guessing blindly: it is above the number of letters. */
export const isBlind = ({ perplexity, levels }) => alphabetOf(levels) < Infinity && !(perplexity <= alphabetOf(levels));

/** The name of the words that say what a perplexity means; null where nothing is scored or counted yet. */
export function meaningOf({ steps, perplexity, levels }) {
  const alphabet = alphabetOf(levels);
  if (steps > 0 && Number.isFinite(perplexity) && perplexity <= alphabet) return "curve_means";
  if (alphabet === Infinity) return null;
  return steps === 0 ? "curve_means" : "curve_wrong"; // the luck of the first weights is not called wrong
}

/** The names of the settings that are not as they were given. */
export const changed = (settings, given, names) => names.filter((name) => settings[name] !== given[name]);

// ---- the chart ------------------------------------------------------------------------------------------------------

const MOST_SHOWN = 400;

/**
 * Both axes of the chart, logarithmic: { x: { from, to, ticks }, y }, for curves and levels; at most `count` ticks along.
 * With `until`, the characters that a run will have read, the one along is linear.
 */
export function axes({ tokens, perUpdate, curves, levels, count = 7, until = 0 }) {
  const from = Math.max(1, perUpdate / 2); // the age 0 stands at the edge
  const to = 10 ** Math.max(6, Math.ceil(Math.log10(Math.max(tokens, 1)) - 1e-9));
  const values = [...curves.flatMap(({ ys }) => ys), ...levels.map((level) => level.perplexity)].filter(Number.isFinite);
  const most = values.reduce((a, b) => Math.max(a, b), 10);
  const least = values.reduce((a, b) => Math.min(a, b), 4);
  const bottom = Math.max(1, 0.9 * least);
  const top = Math.min(1.15 * most, Math.max(MOST_SHOWN, 1.15 * (levels[0]?.perplexity ?? 0))); // beyond, a curve runs along the edge
  const plain = [1, 1.5, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000].filter((tick) => tick >= bottom && tick <= top);
  return {
    x: until ? { from: 0, to: until, ticks: linearTicks(until, count), isLinear: true } : { from, to, ticks: powerTicks(from, to, { count }) },
    y: { from: bottom, to: top, ticks: top > 1000 ? powerTicks(bottom, top, { count: 5 }) : plain },
  };
}

/** The axis of the gradient's length: whole powers of ten around the values. */
export function normAxis(values, clip) {
  const good = [...values, clip].filter((value) => value > 0 && Number.isFinite(value));
  const low = Math.floor(Math.log10(good.reduce((a, b) => Math.min(a, b), 0.1)));
  const high = Math.ceil(Math.log10(good.reduce((a, b) => Math.max(a, b), 10)));
  const [from, to] = [10 ** Math.max(low, -6), 10 ** Math.min(Math.max(high, low + 1), 9)];
  return { from, to, ticks: powerTicks(from, to, { count: 4 }) };
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten as an axis names it: 0.01, 1, 100, 10⁴. */
export function powerName(value) {
  if (value >= 0.01 && value <= 1000) return value < 1 ? String(value) : formatNumber(value, 0);
  const exponent = Math.round(Math.log10(value));
  return `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => RAISED[digit]).join("")}`;
}

const LETTER = 16; // the room of a run's letter

/**
 * Where the letters of earlier runs stand: on their curves, as near to the end as there is room, inside the box, clear of each
 * other. `curves` are lists of { x, y }; [{ x, y }], the middles.
 */
export function letterPlaces(curves, { left, right, top, bottom }) {
  const boxes = [];
  return curves.map((curve) => {
    const tries = curve.map(({ x, y }) => ({
      x: Math.min(right - LETTER / 2, Math.max(left + LETTER / 2, x)), y: Math.min(bottom - LETTER / 2, Math.max(top + LETTER / 2, y)),
    })).reverse();
    const boxOf = ({ x, y }) => ({ left: x - LETTER / 2, right: x + LETTER / 2, top: y - LETTER / 2, bottom: y + LETTER / 2 });
    const isFree = (at) => {
      const box = boxOf(at);
      return boxes.every((other) => box.right <= other.left || box.left >= other.right || box.bottom <= other.top || box.top >= other.bottom);
    };
    const place = tries.find(isFree) ?? tries[0];
    boxes.push(boxOf(place));
    return place;
  });
}

/** Where the words of a mark on a curve stand, { x, y }, their middle and their base line: below or above it, inside the box, where `curves` leave room. */
export function markPlace({ x, y }, curves, { left, right, top, bottom }) {
  const middle = Math.min(right - 34, Math.max(left + 30, x));
  const dense = curves.map((curve) => curve.flatMap((to, i) => { // a steep line has few points
    const from = curve[Math.max(0, i - 1)];
    const parts = Math.min(200, Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4) || 1));
    return Array.from({ length: parts }, (_, k) => ({ x: to.x + (from.x - to.x) * k / parts, y: to.y + (from.y - to.y) * k / parts }));
  }));
  const hits = (place) => dense.reduce((sum, curve) => sum + curve.filter((at) => Math.abs(at.x - place.x) < 44 && at.y > place.y - 15 && at.y < place.y + 6).length, 0);
  const inside = [22, -13, 40, -31].map((off) => y + off).filter((base) => base <= bottom - 6 && base >= top + 13);
  const tries = [0, -46, 46].map((off) => middle + off).filter((at) => at - 30 >= left && at + 34 <= right).flatMap((at) => inside.map((base) => ({ x: at, y: base })));
  const first = { x: middle, y: inside[0] ?? bottom - 6 };
  return tries.reduce((best, place) => (hits(place) < hits(best) ? place : best), first);
}

const THIN = 124; // pixels of the name of a thin curve

/** Where the name of a thin curve ends, { x, y }: below it, as near to its end as there is room, inside the box, where `others` leave room. */
export function thinPlace(curve, others, { left, bottom }) {
  const isFree = ({ x, y }) => y <= bottom - 4 && x - THIN >= left
    && [curve, ...others].every((each) => each.every((at) => at.x < x - THIN || at.x > x + 4 || at.y < y - 13 || at.y > y + 4));
  const tries = curve.map(({ x, y }) => ({ x: x - 4, y: y + 18 })).reverse();
  return tries.find(isFree) ?? { x: tries[0].x, y: Math.min(bottom - 4, tries[0].y) };
}

/** Rows and columns in which the units of a state are drawn: four times as wide as high. */
export function unitGrid(units) {
  const rows = Math.max(1, Math.round(Math.sqrt(units / 4)));
  return { rows, columns: Math.ceil(units / rows) };
}

/** Where the levels lie and where their names stand, one below the other: [{ order, y, label }]. */
export function levelPlaces(levels, y, { top, bottom, gap = 15 }) {
  const places = spreadLabels(levels.map(({ perplexity }) => y(perplexity)), gap, [top, bottom]);
  return levels.map((level, i) => ({ ...level, y: y(level.perplexity), label: places[i] }));
}

/** Maps of both axes onto a picture. */
export function scales({ x, y }, { left, right, top, bottom }) {
  return {
    x: scale([x.from, x.to], [left, right], { log: !x.isLinear }),
    y: scale([y.from, y.to], [bottom, top], { log: true }),
  };
}

// ---- the sentence ---------------------------------------------------------------------------------------------------

const MOST_BITS = 8;

/** How strongly a letter is coloured, 0 to 1, by its price in nats. */
export const heat = (nats) => Math.min(1, nats / Math.LN2 / MOST_BITS);

/** How a text of letters is broken into lines of at most `columns`, after a space where there is one: [from, to] of each. */
export function lines(letters, columns) {
  const most = Math.max(1, columns);
  const found = [];
  for (let from = 0; from < letters.length;) {
    const end = Math.min(letters.length, from + most);
    const space = end < letters.length ? letters.lastIndexOf(" ", end - 1) : -1;
    const to = space > from ? space + 1 : end;
    found.push([from, to]);
    from = to;
  }
  return found;
}

const HOLDS = 0.8; // the share of its places at which a letter that is named has to keep its side

/** The share of values above zero. */
const shareAbove = (values) => values.filter((value) => value > 0).length / values.length;

/** At which side of zero a unit is after a space, if it is on the other side elsewhere: "high", "low", or null. */
export function unitStarts({ sentence, states }, unit) {
  const units = states.length / sentence.length;
  const values = (isSpace) => sentence.flatMap((letter, i) => ((letter === " ") === isSpace ? [states[i * units + unit] / 127] : []));
  const [begins, inside] = [shareAbove(values(true)), shareAbove(values(false))];
  return begins >= HOLDS && inside <= 1 - HOLDS ? "high" : begins <= 1 - HOLDS && inside >= HOLDS ? "low" : null;
}

/** The unit that tells most of what was read: after the commonest letter (a space, mostly) it is on one side of zero, after others on the other, and differs most. */
export function tellingUnit({ sentence, states }) {
  const units = states.length / sentence.length;
  const count = (letter) => sentence.filter((each) => each === letter).length;
  const common = [...new Set(sentence)].reduce((best, letter) => (count(letter) > count(best) ? letter : best));
  const mean = (values) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
  const gap = (unit) => {
    const values = (isCommon) => sentence.flatMap((letter, i) => ((letter === common) === isCommon ? [states[i * units + unit]] : []));
    const commons = values(true);
    const [there, elsewhere] = [mean(commons), mean(values(false))];
    const above = shareAbove(commons);
    const isClear = there * elsewhere < 0 && (above >= HOLDS || above <= 1 - HOLDS);
    return Math.abs(there - elsewhere) / (isClear ? 1 : 1000);
  };
  return Array.from({ length: units }, (_, unit) => gap(unit)).reduce((best, value, unit, all) => (value > all[best] ? unit : best), 0);
}

/** The value at which a unit stands still through the sentence, to one digit; null where it moves. */
export function unitRest({ sentence, states }, unit) {
  const units = states.length / sentence.length;
  const values = sentence.map((_, i) => states[i * units + unit] / 127);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return most - least < 0.05 ? Math.round(5 * (least + most)) / 10 : null;
}

// ---- what a rival counts --------------------------------------------------------------------------------------------

/** The pages of a text that are learned from: all but the last tenth. */
export function learnedPages(text) {
  const letters = Array.from(text);
  return letters.slice(0, letters.length - Math.round(letters.length / 10)).join("");
}

/** How many counts the best rival keeps: of all different runs of 1 to `most` letters. */
export function countsKept(pages, most) {
  const letters = Array.from(pages);
  let kept = 0;
  for (let length = 1; length <= most; length += 1) {
    const runs = new Set();
    for (let at = 0; at + length <= letters.length; at += 1) runs.add(letters.slice(at, at + length).join(""));
    kept += runs.size;
  }
  return kept;
}

const isLow = (code) => code >= 0xdc00 && code < 0xe000; // the second half of a letter that has two

/** What follows a context there: { total, top }, the commonest letters with their shares. */
export function followers(pages, context, most = 2) {
  const counts = new Map();
  let total = 0;
  for (let at = pages.indexOf(context); at >= 0 && at + context.length < pages.length; at = pages.indexOf(context, at + 1)) {
    const code = pages.codePointAt(at + context.length);
    if (isLow(code)) continue;
    counts.set(code, (counts.get(code) ?? 0) + 1);
    total += 1;
  }
  const order = [...counts].sort(([a, m], [b, n]) => n - m || a - b).slice(0, most);
  return { total, top: order.map(([code, count]) => [String.fromCodePoint(code), count / total]) };
}

// ---- the reader's own text ------------------------------------------------------------------------------------------

export const LEAST_LETTERS = 700; // its last tenth is longer than the longest window: there is something to score
export const FEW_UNSEEN = 200; // with fewer unseen letters a perplexity is a rough one
export const MOST_LETTERS = 200_000;
export const MOST_SIGNS = 1000;
const RARE = 3; // a sign that stands in the text fewer times is read as OTHER
export const OTHER = "□";

/** Whether a code unit is white space or a control character; a regular expression takes three times as long. */
function isWhite(code) {
  if (code < 0x1680) return code <= 0x20 || (code >= 0x7f && code <= 0xa0);
  return code === 0x1680 || (code >= 0x2000 && code <= 0x200a) || [0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff].includes(code);
}

/**
 * A text that a reader brings, made ready: { text, letters, blanks, rest, unseen, signs, different, rare, problem }.
 *
 * Every run of white space becomes one space, `blanks` counts what goes; the text is cut at MOST_LETTERS, `rest` counts what
 * is left of it; rare signs become one, `rare` has them: of `different` ones `signs` are left. `unseen` letters are held out.
 * `problem` is null, or "short" or "alike": then there is nothing to train on.
 */
export function inspectText(given) {
  const kept = [];
  const counts = new Map();
  let blanks = 0;
  let rest = 0;
  for (const letter of given) {
    if (kept.length === MOST_LETTERS) {
      rest += 1;
      continue;
    }
    const sign = isWhite(letter.charCodeAt(0)) ? " " : letter;
    if (sign === " " && kept.at(-1) === " ") {
      blanks += 1;
      continue;
    }
    kept.push(sign);
    counts.set(sign, (counts.get(sign) ?? 0) + 1);
  }
  const order = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
  const rare = order.filter((sign, i) => counts.get(sign) < RARE || i >= MOST_SIGNS);
  const out = new Set(rare);
  const text = rare.length > 1 ? kept.map((sign) => (out.has(sign) ? OTHER : sign)).join("") : kept.join("");
  const signs = counts.size - (rare.length > 1 ? rare.length - 1 : 0);
  const problem = kept.length < LEAST_LETTERS ? "short" : signs < 5 ? "alike" : null;
  return { text, letters: kept.length, blanks, rest, unseen: Math.round(kept.length / 10), signs, different: counts.size, rare: rare.length > 1 ? rare : [], problem };
}

const PASSAGE = 30; // letters; shorter ones recur in any text

/**
 * The share of a text's unseen pages, its last tenth, that is copied: letters in passages of PASSAGE letters or more
 * that also stand, word for word, in the pages before.
 */
export function copiedShare(text) {
  const cut = Math.round(0.9 * text.length);
  const isCopied = new Uint8Array(text.length - cut);
  const passage = (from) => text.slice(from, from + PASSAGE);
  const places = new Map(); // of unseen passages, by a number that equal ones share
  eachPassage(text, cut, text.length, (number, i) => places.set(number, [...(places.get(number) ?? []), i]));
  eachPassage(text, 0, cut, (number, i) => {
    const known = places.get(number);
    if (known === undefined) return;
    const others = known.filter((place) => passage(place) !== passage(i));
    for (const place of known) if (!others.includes(place)) isCopied.fill(1, place - cut, place - cut + PASSAGE);
    places.set(number, others); // one that stands there a hundred times is marked once
    if (others.length === 0) places.delete(number);
  });
  return isCopied.reduce((sum, one) => sum + one, 0) / Math.max(1, isCopied.length);
}

/** `act(number, i)` for each passage that begins at i and ends before `to`; the number rolls along, 31 a letter, modulo 2^32. */
function eachPassage(text, from, to, act) {
  const first = Array.from({ length: PASSAGE }).reduce((product) => Math.imul(product, 31), 1);
  let number = 0;
  for (let i = from; i < to; i += 1) {
    number = (Math.imul(number, 31) + text.charCodeAt(i)) | 0;
    if (i - from >= PASSAGE) number = (number - Math.imul(first, text.charCodeAt(i - PASSAGE))) | 0;
    if (i - from >= PASSAGE - 1) act(number, i - PASSAGE + 1);
  }
}

/** The rarest sign of a text, which a cat on the keyboard types: the last of the vocabulary. */
export function rarestSign(text) {
  const counts = new Map();
  for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  return [...counts.keys()].reduce((rarest, sign) => (counts.get(sign) < counts.get(rarest) || (counts.get(sign) === counts.get(rarest) && sign > rarest) ? sign : rarest));
}

// ---- stories --------------------------------------------------------------------------------------------------------

/** The last score of a curve before a place, and the least and the largest from there on. */
function around({ xs, ys }, place) {
  let before = NaN;
  let least = Infinity;
  let worst = 0;
  xs.forEach((x, i) => {
    if (x < place) before = ys[i];
    else [least, worst] = [Math.min(least, ys[i] ?? Infinity), Math.max(worst, ys[i] ?? Infinity)];
  });
  return { before, least, worst };
}

const show = (value) => formatNumber(value);

/** What each story came to, as the values of its words; `reports` are the last ones of its runs. */
export const OUTCOMES = [
  ([{ spelled: { steps, real, words, pieces } }]) => ({
    steps: formatNumber(steps, 0), real, words,
    different: new Set(pieces.filter(([, isReal]) => isReal).map(([piece]) => piece.toLowerCase())).size,
  }),
  ([free, clipped = free], levels, cat) => { // between its runs there is the first alone
    const after = ({ heldout, tokens, steps }) => around(heldout, cat * tokens / steps);
    const { least, worst } = after(free);
    return { least: show(least), most: show(worst), clipped: show(after(clipped).worst), letters: formatNumber(alphabetOf(levels), 0) };
  },
  ([report], levels) => ({
    perplexity: show(report.perplexity),
    bigram: show(levels.find(({ order }) => order === 2)?.perplexity ?? NaN),
  }),
];
