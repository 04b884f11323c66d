// What a trained LSTM keeps and forgets while it reads a text: gates, cell, and what is left of what a letter adds.
//
//   C_t = F_t C_{t-1} + I_t G_t, so of what letter s adds, I_s G_s, the share F_{s+1} ... F_t is left at letter t.
import { LSTM } from "../gated.mjs";
import { encode, loadModel, normalise, unaccented } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

export const KEEPER = 16; // the unit that keeps at spaces
export const FOLLOWED = SPEC.controls.unit.default; // the unit that has a rule
/** The units of the lesson: each has a row among the dozen, whichever is chosen. */
const LESSON = [FOLLOWED, KEEPER, 18];
const LONGEST_LINE = 12; // letters that a phone shows in one line

/** Letters without accents and spaces, at most `longest` of them. */
export const readable = (text, longest = Infinity) => normalise(unaccented(text)).slice(0, longest);

/** Where a phone breaks a text into two lines: after the space nearest the middle; `length` if one line is enough. */
export function breakOf(letters) {
  const { length } = letters;
  if (length <= LONGEST_LINE) return length;
  const spaces = letters.flatMap((letter, t) => (letter === " " && t < length - 1 ? [t + 1] : []));
  const far = (at) => Math.max(at, length - at);
  const best = spaces.reduce((found, at) => (far(at) < far(found) ? at : found), length);
  return far(best) <= 0.7 * length ? best : Math.ceil(length / 2);
}

const sigmoid = (z) => 1 / (1 + Math.exp(-z));

/**
 * A reader of texts: `read(text, bias, held)`, with `bias` added to every forget bias, and the forget gates of unit
 * `held.unit` held at `held.gates`, one for each letter; a negative one is left alone. Equal questions are answered once.
 */
export function createNetwork(view) {
  const { model: { numHiddens: n, W_xh, W_hh, b_x, b_h, W_hq, b_q }, vocab } = loadModel(view, LSTM);
  const width = 4 * n;
  let answers = new Map();

  /** One step: gates I, F, G, O side by side, the new cell and the new state. */
  function step(index, { cell, state }, bias, held) {
    const gates = Float64Array.from({ length: width }, (_, j) => b_x[j] + b_h[j] + W_xh[index * width + j] + (j >= n && j < 2 * n ? bias : 0));
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < width; j += 1) gates[j] += state[i] * W_hh[i * width + j];
    }
    gates.forEach((z, j) => (gates[j] = j >= 2 * n && j < 3 * n ? Math.tanh(z) : sigmoid(z)));
    if (held !== null) gates[n + held.unit] = held.gate;
    const next = cell.map((value, j) => gates[n + j] * value + gates[j] * gates[2 * n + j]);
    return { gates, cell: next, state: next.map((value, j) => gates[3 * n + j] * Math.tanh(value)) };
  }

  /** What comes next, by the state: logits. */
  const expected = (state) => vocab.map((_, k) => state.reduce((sum, value, j) => sum + value * W_hq[j * vocab.length + k], b_q[k]));

  /** { numHiddens, length, bits, gate(kind, t, j), cell(t, j), state(t, j), guesses }: bits a letter, over all letters but the first, and the likeliest letter after each. */
  function compute(text, bias, held) {
    const ids = encode(text, vocab);
    const steps = [];
    let last = { cell: new Float64Array(n), state: new Float64Array(n) };
    ids.forEach((index, t) => {
      const gate = held?.gates[t] ?? -1;
      last = step(index, last, bias, gate < 0 ? null : { unit: held.unit, gate });
      steps.push(last);
    });
    const logits = steps.map(({ state }) => expected(state));
    const nats = logits.slice(0, -1).reduce((sum, row, t) => {
      const top = Math.max(...row);
      return sum + top + Math.log(row.reduce((all, z) => all + Math.exp(z - top), 0)) - row[ids[t + 1]];
    }, 0);
    const block = { input: 0, forget: 1, candidate: 2, output: 3 };
    return {
      numHiddens: n,
      length: ids.length,
      guesses: logits.map((row) => vocab[row.indexOf(Math.max(...row))]),
      bits: ids.length > 1 ? nats / (ids.length - 1) / Math.LN2 : 0,
      gate: (kind, t, j) => steps[t].gates[block[kind] * n + j],
      cell: (t, j) => steps[t].cell[j],
      state: (t, j) => steps[t].state[j],
    };
  }

  return {
    characters: vocab.length,
    read(text, bias, held = null) {
      const key = `${bias} ${held?.unit} ${held?.gates} ${text}`;
      if (!answers.has(key)) {
        if (answers.size > 5) answers = new Map();
        answers.set(key, compute(text, bias, held));
      }
      return answers.get(key);
    },
  };
}

/** What is left at each place of what one unit gets at place `from`: shares, 1 at the place itself. */
export function leftOf(forget, from) {
  const left = [1];
  for (let t = from + 1; t < forget.length; t += 1) left.push(left.at(-1) * forget[t]);
  return left;
}

const STEPS = [0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 40];
/** How far numbers reach above and below 0, in steps: a small change leaves the scale as it is. */
export function scaleOf(numbers) {
  const reach = (values) => STEPS.find((step) => Math.max(0, ...values) <= step);
  return { up: reach(numbers), down: reach(numbers.map((value) => -value)) };
}

/** Units from the one that keeps most of what it gets at place `from` to the one that keeps least. */
export function orderOfUnits(reading, from) {
  const kept = Array.from({ length: reading.numHiddens }, (_, j) => {
    const forget = Array.from({ length: reading.length }, (_, t) => reading.gate("forget", t, j));
    return leftOf(forget, from).reduce((sum, share) => sum + share, 0);
  });
  return kept.map((_, j) => j).sort((a, b) => kept[b] - kept[a] || a - b);
}

/** A dozen of the units, evenly spread over their order, `units` among them. */
export function rowsOf(order, units, count = 12) {
  const last = order.length - 1;
  const rows = Array.from({ length: count }, (_, k) => Math.round((k * last) / (count - 1)));
  const own = [...new Set(units)].map((unit) => order.indexOf(unit));
  for (const one of own) {
    if (rows.includes(one)) continue;
    const distances = rows.map((row) => (own.includes(row) ? Infinity : Math.abs(row - one)));
    rows[distances.indexOf(Math.min(...distances))] = one;
  }
  return rows.sort((a, b) => a - b).map((row) => order[row]);
}

/** Has the word that is read had a vowel, this letter included? */
export const hasVowel = (letters, at) => letters[at] !== " " && /[aeiou]/.test(letters.slice(letters.lastIndexOf(" ", at) + 1, at + 1).join(""));

/** All that the figure shows, from the values of its traits. */
export function derive({ text, unit, place, bias, gates }, network) {
  const trained = network.read(text, 0);
  const letters = [...text];
  const held = letters.map((_, i) => (gates[i] ?? -1) >= 0);
  const isHeld = held.includes(true);
  const reading = network.read(text, bias, isHeld ? { unit, gates } : null);
  const at = place > letters.length ? 0 : place - 1; // the first letter where there are not so many; -1 for none
  const from = Math.max(0, at); // of which the map tells
  const of = (kind, j = unit, from = reading) => letters.map((_, t) => from.gate(kind, t, j));
  const leftFrom = (factors) => (letters.length ? leftOf(factors, from) : []);
  const [forget, ownForget] = [of("forget"), of("forget", unit, trained)];
  const order = orderOfUnits(network.read(text, bias), from); // that of the rows stays when a unit's gates are held
  const underNext = (guesses) => [null, ...guesses.slice(0, -1)].slice(0, letters.length); // each under the letter that comes
  const [input, candidate] = [of("input"), of("candidate")];
  const added = candidate.map((value, t) => value * input[t]);
  const left = at < 0 ? [] : leftFrom(forget);
  const numbers = (from) => letters.map((_, t) => from.cell(t, unit));
  const [cell, ownCell] = [numbers(reading), numbers(trained)];
  const isTrue = cell.map((value, t) => (value < 0) === hasVowel(letters, t));
  const right = ({ guesses }) => letters.slice(1).filter((letter, t) => guesses[t] === letter).length;
  return {
    text, letters, unit, bias, at, from, forget, ownForget, order, held, isHeld,
    isOwn: bias === 0 && !isHeld,
    left, ownCell,
    above: cell.filter((value) => value >= 0).length,
    isTrue,
    fits: isTrue.filter(Boolean).length,
    kept: cell.map((_, t) => (t > 0 ? cell[t - 1] * forget[t] : 0)),
    scale: scaleOf([...cell, ...ownCell]),
    guesses: underNext(reading.guesses),
    ownGuesses: underNext(trained.guesses),
    right: right(reading),
    ownRight: right(trained),
    input, candidate, cell, added,
    output: of("output"),
    state: letters.map((_, t) => reading.state(t, unit)),
    rows: rowsOf(order, [...LESSON, unit]).map((j) => ({ unit: j, left: leftFrom(of("forget", j)) })),
    characters: network.characters,
    bits: reading.bits,
    ownBits: trained.bits,
    gateAt: (t, j) => reading.gate("forget", t, j),
  };
}

/** How a letter is called: { key, values } of the words; one that its word has twice says `which`, from 0. */
export function nameOf(letters, at) {
  const text = letters.join("");
  if (letters[at] === " ") {
    const word = text.slice(0, at).split(" ").at(-1);
    return word ? { key: "space_after", values: { word } } : { key: "space", values: {} };
  }
  const start = text.lastIndexOf(" ", at) + 1;
  const end = text.indexOf(" ", at);
  const word = text.slice(start, end < 0 ? undefined : end);
  const same = [...word].flatMap((letter, i) => (letter === letters[at] ? [start + i] : []));
  if (same.length > 1) return { key: "letter_again", values: { letter: letters[at], word, which: Math.min(same.indexOf(at), 3) } };
  return { key: "letter_of", values: { letter: letters[at], word } };
}
