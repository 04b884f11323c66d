// What a gate keeps: the page's numbers are Python's, the streams add up to the cell, and the guided steps are true.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { choices, digitsOf, longestSentence, sentence, spokenName } from "../../src/d2lrnn/widgets/gates/index.mjs";
import { breakOf, createNetwork, derive, leftOf, nameOf, readable, rowsOf, scaleOf } from "../../src/d2lrnn/widgets/gates/maths.mjs";
import { arithmetic, brief, fateOf, shareText, short } from "../../src/d2lrnn/widgets/gates/panels.mjs";
import SPEC from "../../src/d2lrnn/widgets/gates/spec.json" with { type: "json" };
import { translator } from "../../src/d2lrnn/widgets/ui.mjs";

const CASES = JSON.parse(readFileSync(new URL("./gates_cases.json", import.meta.url), "utf8"));
const bytes = readFileSync(new URL("../../src/d2lrnn/data/models/lstm.safetensors", import.meta.url));
const NETWORK = createNetwork(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
/** The h of “the” is followed, if no other letter is named. */
const at = (values) => derive({ ...DEFAULTS, place: 7, ...values }, NETWORK);
const t = translator("en", SPEC.words);
/** After how many letters less than half of it is left; null if the text ends before. */
const halfLife = (forget, from) => {
  const count = leftOf(forget, from).findIndex((share) => share < 0.5);
  return count < 0 ? null : count;
};
/** The gates held at the spaces of the default text, and only there. */
const AT_SPACES = (gate) => Array.from(SPEC.controls.text.default, (letter) => (letter === " " ? gate : -1));

function assertClose(actual, expected, message, tolerance = 1e-5) {
  assert.equal(actual.length, expected.length, message);
  actual.forEach((value, i) => {
    const allowed = tolerance * Math.max(1, Math.abs(expected[i]));
    assert.ok(Math.abs(value - expected[i]) <= allowed, `${message}: [${i}] ${value}, ${expected[i]}`);
  });
}

test("gates, cell, state, what is left, surprisal and the sentence are those of torch", () => {
  assert.ok(CASES.length >= 10);
  for (const { given, settings, unit, forget, left, half_life, bits, now, guesses } of CASES) {
    const name = JSON.stringify(given);
    if (given.text !== undefined) assert.equal(readable(given.text, SPEC.controls.text.max), settings.text);
    const model = derive(settings, NETWORK);
    for (const [kind, values] of Object.entries(unit)) assertClose(model[kind], values, `${name}: ${kind}`, 2e-5);
    assertClose(model.letters.map((_, i) => model.order.reduce((sum, j) => sum + model.gateAt(i, j), 0)), forget, name);
    assertClose(model.left, left, `${name}: left`);
    assert.equal(model.letters.length && model.at >= 0 ? halfLife(model.forget, model.at) : null, half_life);
    assertClose([model.bits], [bits], `${name}: bits`);
    assert.equal(model.guesses.slice(1).join(""), guesses, name);
    const { key, values } = sentence(model, t);
    assert.equal(t(key, values), now);
  }
});

test("what the letters wrote, each times what is left of it, adds up to the cell", () => {
  for (const values of [{}, { bias: 3 }, { unit: 6, bias: 2 }, { unit: 3 }, { unit: 29, text: "mr gadd s head upon her knees" }]) {
    const { letters, cell, forget, input, candidate } = at(values);
    const sums = letters.map(() => 0);
    letters.forEach((_, from) => leftOf(forget, from).forEach((share, k) => {
      sums[from + k] += share * input[from] * candidate[from];
    }));
    assertClose(sums, cell, JSON.stringify(values));
  }
});

test("a dozen units in their order, those of the lesson and the chosen one among them; what is left is theirs", () => {
  const order = Array.from({ length: 32 }, (_, k) => 31 - k);
  for (const [k, unit] of order.entries()) {
    const both = [unit, order[(k + 1) % 32], unit];
    const rows = rowsOf(order, both);
    assert.equal(new Set(rows).size, 12);
    assert.ok(both.every((one) => rows.includes(one)));
    assert.deepEqual(rows, [...rows].sort((a, b) => order.indexOf(a) - order.indexOf(b)));
  }
  const leftBy = (unit) => at({ bias: 2, unit }).left;
  const { rows, left, order: kept, letters, at: place } = at({ bias: 2 });
  for (const { unit, left: shares } of rows) assert.deepEqual(shares, leftBy(unit));
  const sums = kept.map((unit) => leftBy(unit).reduce((sum, share) => sum + share, 0));
  sums.forEach((sum, k) => assert.ok(k === 0 || sum <= sums[k - 1], "those that keep more come first"));
  assert.equal(left.length, letters.length - place);
});

test("a unit between two rows takes the place of the nearest", () => {
  const order = Array.from({ length: 34 }, (_, k) => k);
  const even = Array.from({ length: 12 }, (_, k) => 3 * k);
  assert.deepEqual(rowsOf(order, [0]), even);
  assert.deepEqual(rowsOf(order, [16]), even.map((row) => (row === 15 ? 16 : row)));
  assert.deepEqual(rowsOf(order, [17]), even.map((row) => (row === 18 ? 17 : row)));
  assert.deepEqual(rowsOf(order, [16, 13, 14]), [0, 3, 6, 9, 13, 14, 16, 21, 24, 27, 30, 33], "and all stay in their order");
});

test("a row that is chosen leaves all others where they are", () => {
  const unitsOf = (values) => at(values).rows.map(({ unit }) => unit);
  for (const gates of [[], AT_SPACES(1), AT_SPACES(0)]) {
    const rows = unitsOf({ gates });
    assert.ok([29, 16, 18].every((unit) => rows.includes(unit)));
    for (const unit of rows) assert.deepEqual(unitsOf({ gates, unit }), rows, `${gates}, ${unit}`);
  }
});

test("half-life: the first letter at which less than half is left", () => {
  assert.deepEqual(leftOf([0.1, 0.5, 0.5, 0.2], 1), [1, 0.5, 0.1]);
  assert.equal(halfLife([0.1, 0.5, 0.5, 0.2], 0), 2);
  assert.equal(halfLife([1, 1, 1], 0), null);
  assert.equal(halfLife([1, 1, 0], 2), null, "nothing follows the last letter");
});

test("letters have names", () => {
  const name = (text, i) => {
    const { key, values } = nameOf([...text], i);
    return t(key, values);
  };
  const spoken = (text, i) => spokenName([...text], i, t);
  assert.deepEqual([5, 6].map((i) => spoken("to keep", i - 1)), ["the first e of “keep”", "the second e of “keep”"]);
  assert.deepEqual([0, 2, 4].map((i) => spoken("zzzzz", i)), ["the first z of “zzzzz”", "the third z of “zzzzz”", "the later z of “zzzzz”"]);
  assert.equal(name("to keep", 1), "the o of “to”");
  assert.equal(name("to keep", 2), "the space after “to”");
  assert.equal(name("to keep", 6), "the p of “keep”");
  assert.equal(name(" to", 0), "the first space");
});

test("a text is broken into two lines for a phone at a space near its middle", () => {
  assert.equal(breakOf([..."a short text"]), 12);
  assert.equal(breakOf([...SPEC.controls.text.default]), 9, "two even lines");
  assert.deepEqual(["the tide clock", "somewhere the sea keeps", "abcdef abcdef"].map((text) => breakOf([...text])), [9, 10, 7]);
  assert.equal(breakOf([..."kept what it had been given to keep"]), 17);
  assert.equal(breakOf(Array(40).fill("a")), 20);
  assert.equal(breakOf([..."a bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]), 20);
});

test("the answers of the guided steps are right", () => {
  const [one, more, all] = SPEC.steps;
  const atSpaces = ({ letters }, values) => values.filter((_, i) => letters[i] === " ");
  const answer = (step, k) => t(`step_${k}_answer_${step.right + 1}`);

  const own = derive(one.before, NETWORK);
  for (const { before } of [one, more, all]) assert.deepEqual(derive(before, NETWORK).forget, own.forget);
  assert.deepEqual([own.letters[own.at], own.at, own.right], ["h", 6, 12], "the h of the; 12 are right");
  const shares = ({ left }) => left.slice(0, 3).map((share) => shareText(share, t));
  assert.ok(t("step_1_question").startsWith(`At the next space the gate is ${brief(own.forget[8])}.`), "what is seen");
  assert.equal(t("step_1_answer_1"), `still ${shares(own)[2]}`);
  const lifted = derive(one.state, NETWORK);
  assert.deepEqual(lifted.held.flatMap((is, i) => (is ? [i] : [])), [8]);
  assert.deepEqual([lifted.letters[8], lifted.forget[8], shares(lifted)], [" ", 1, ["100%", "48%", "48%"]], "all that the e had let through");
  assert.equal(answer(one, 1), shares(lifted)[2]);
  assert.ok(own.cell[7] < 0 && own.added[7] < 0 && own.forget[8] < lifted.forget[8], "the minus of the e, which is kept too");
  assert.ok(Math.abs(lifted.cell[8] - lifted.cell[7] - own.added[8]) < 1e-9 && lifted.cell[8] < own.cell[8], "so the number falls");
  assert.deepEqual([lifted.right, own.right - lifted.right], [11, 1], "it costs a guess");

  const kept = derive(more.state, NETWORK);
  assert.deepEqual(more.state.gates, AT_SPACES(1).slice(0, 13));
  assert.deepEqual(atSpaces(kept, kept.forget), [1, 1, 1]);
  assert.deepEqual([kept.right, kept.letters.length - 1, answer(more, 2)], [7, 17, "fewer"]);
  assert.equal(kept.guesses.slice(9, 12).join(""), "ttv", "for sea: no vowel");
  const isBelow = own.letters.map((_, i) => /[aeiou]/.test(own.text.slice(0, i + 1).split(" ").at(-1)));
  assert.deepEqual(own.cell.map((value) => value < 0), isBelow, "above 0 until a word's first vowel, then below 0");
  const afterSpaces = [own, kept].map((model) => atSpaces(model, model.cell).map((value) => value.toFixed(1)));
  assert.deepEqual(afterSpaces, [["1.0", "1.0", "0.9"], ["0.2", "0.4", "-0.1"]], "about 1 after each space, or what old vowels leave of it");
  for (const space of [4, 8, 12]) assert.ok(kept.letters[space] === " " && kept.kept[space] < 0 && kept.cell[space] < own.cell[space] - 0.5, "the minus of the vowel stays");
  const against = ({ isTrue, letters, fits }) => [isTrue.flatMap((is, i) => (is ? [] : [letters[i]])).join(""), fits];
  assert.deepEqual([own, lifted, kept].map(against), [["", 18], ["", 18], ["t kp", 14]]);
  assert.equal(kept.guesses.slice(0, 9).join(""), own.guesses.slice(0, 9).join(""), "in the words after the next space");

  const letters = own.letters.map((letter) => letter !== " ");
  assert.deepEqual(all.state.gates, letters.map((is) => (is ? 0 : -1)));
  assert.equal(letters.filter(Boolean).length, 15, "all 15 letters");
  const shut = derive(all.state, NETWORK);
  assert.deepEqual([shut.right, answer(all, 3), shut.guesses.slice(13).join("")], [9, "fewer", "tn pe"], "for keeps");
  assert.equal(shut.guesses.slice(9, 12).join(""), "tta", "for sea");
  shut.cell.forEach((value, i) => letters[i] && assert.equal(value, shut.added[i], "inside words only what the letter just read adds"));
  assert.deepEqual(against(shut), ["tkp", 15], "what was before is forgotten: a vowel at t and p, none at k");
  assert.deepEqual([3, 13, 16].map((i) => [own.cell[i] < 0, shut.cell[i] < 0]), [[true, false], [false, true], [true, false]]);
  assert.ok(letters.every((is, i) => !is || shut.kept[i] === 0));
  assert.ok(own.forget.some((gate) => gate > 0.9) && own.forget.some((gate) => gate < 0.1), "keep at some letters, forget at others");
});

test("the sentence says what is left at the next space, or at the end; the gates that are held are marked", () => {
  const said = (values) => {
    const { key, values: words } = sentence(at(values), t);
    return t(key, words);
  };
  assert.equal(said({}), "The h of “the” adds 0.83; 6% is left at the next space.");
  assert.equal(said({ place: 0 }), "Unit 29: above 0 until a word’s first vowel, then below 0: true at 18 of 18.");
  assert.equal(said({ place: 0, gates: AT_SPACES(1) }), "Unit 29: above 0 until a word’s first vowel, then below 0: true at 14 of 18.");
  assert.equal(said({ place: 0, unit: 16 }), "Unit 16 is above 0 at 18 of 18 places.");
  assert.match(said({ place: 8 }), /^The e of “the” adds −0\.96; /);
  assert.match(said({ unit: 16 }), /; >99% is left at the next space\.$/, "the other of the pair");
  assert.match(said({ unit: 16, place: 14 }), /; 9\d% is left at the end\.$/);
  assert.match(said({ place: 18 }), /; no letter follows\.$/);
  assert.equal(said({ text: "z" }), t("now_short"));
  assert.deepEqual([["a b c", 0], ["a b c", 1], ["a b c", 4], ["abc", 0]].map(([text, from]) => fateOf([...text], from)), [1, 3, 4, 2]);
  const [own, kept, pushed] = [{}, { gates: AT_SPACES(1) }, { bias: 4 }].map(at);
  const marked = ({ held }) => held.flatMap((is, i) => (is ? [i] : []));
  assert.deepEqual([own, kept, pushed].map(marked), [[], [4, 8, 12], []]);
  for (const model of [kept, pushed]) assert.deepEqual(model.ownForget, own.forget, "as learned");
  assert.deepEqual([0, 1, 8, 18, 19, 40].map((place) => at({ place }).at), [-1, 0, 7, 17, 0, 0], "no such letter: the first");
});

test("a share is never an all or a nothing that it is not", () => {
  assert.deepEqual([1, 0.995, 0.99, 0.126, 0.01, 0.004, 0].map((share) => shareText(share, t)), ["100%", ">99%", "99%", "13%", "1%", "<1%", "0%"]);
});

test("a gate is written as nothing or all only where it is that", () => {
  assert.deepEqual([0, 0.0004, 0.13, 0.5, 0.998, 1].map((gate) => brief(gate)), ["0", ".00", ".13", ".50", "1.0", "1"]);
});

test("a number is written with its sign wherever it is not 0", () => {
  assert.deepEqual([0.96, -0.04, 0.033, -0.004, 0, -0.0001].map(short), ["1.0", "−0.04", "0.03", "−0.004", "0.0", "0.0"]);
});

test("the printed terms give the printed number, or it says that they nearly do", () => {
  assert.deepEqual(arithmetic(at({}), 4), { old: "−0.75", gate: ".01", added: "0.99", equals: "=", sum: "0.98" });
  assert.deepEqual(arithmetic(at({}), 0), { old: "0", gate: ".25", added: "0.03", equals: "=", sum: "0.03" });
  const seen = new Set();
  for (const values of [{}, { bias: 4 }, { gates: AT_SPACES(0.9) }, { text: "my dog is happy today" }]) {
    for (let unit = 0; unit < 32; unit += 1) {
      const model = at({ ...values, unit });
      model.letters.forEach((_, i) => {
        const { old, gate, added, equals, sum } = arithmetic(model, i);
        const [a, f, b, c] = [old, gate, added, sum].map((text) => Number(text.replace("−", "-")));
        assert.ok(Math.abs(model.cell[i] - c) <= 0.0051 && Math.abs((i ? model.cell[i - 1] : 0) - a) <= 0.0051);
        const far = Math.abs(a * f + b - c); // from rounding: 0.005 is a tie
        assert.ok(equals === "=" ? far < 0.005 + 1e-9 : far > 0.005 - 1e-9, `${old} × ${gate} + ${added} ${equals} ${sum}`);
        seen.add(equals);
      });
    }
  }
  assert.equal(seen.size, 2, "both occur");
});

test("what the push of the gates does, as the words say", () => {
  assert.match(t("chain"), /at \+4 a gate of 0\.5 becomes 0\.98, at −4 it becomes 0\.02\.$/);
  assert.deepEqual([4, -4].map((z) => (1 / (1 + Math.exp(-z))).toFixed(2)), ["0.98", "0.02"]);
});

test("a perplexity has no decimals that say nothing", () => {
  assert.deepEqual([0, 1.77, 7, 21.3].map((bits) => choices(bits, t)), ["1.0", "3.4", "128", ">1\u202f000"]);
});

test("what the figure and the lesson say", () => {
  const [own, more, less] = [0, 4, -4].map((bias) => at({ bias }));
  assert.deepEqual([own, more, less].map(({ bits }) => (2 ** bits).toFixed(1)), ["3.4", "14.7", "18.2"]);
  assert.deepEqual([own, more, less].map(({ right }) => right), [12, 5, 6]);
  assert.deepEqual([0, 4, -4].map((bias) => halfLife(at({ unit: 18, bias, place: 1 }).forget, 0)), [4, 8, 1]);
  const { left, forget, letters } = own;
  left.forEach((share, k) => assert.equal(share, k === 0 ? 1 : left[k - 1] * forget[own.at + k], "what is left is what was left, times the gate"));
  const keeper = at({ unit: 16 });
  letters.forEach((letter, i) => letter === " " && assert.ok(forget[i] < 0.15 && keeper.forget[i] > 0.99));
  assert.ok(keeper.left.at(-1) > 0.9, "to the end");
  assert.ok(keeper.forget[6] < 0.2, "at the h of “the” unit 16 forgets");
  const forgot = at({ unit: 16, gates: AT_SPACES(0) });
  assert.deepEqual(forgot.guesses.flatMap((guess, i) => (guess === own.guesses[i] ? [] : [i])), [11], "one guess changes");
  assert.deepEqual([forgot.text.slice(0, 11), own.guesses[11], forgot.guesses[11]], ["what the se", "a", "e"]);
  const atSpaces = (values) => values.filter((_, i) => letters[i] === " ");
  for (const values of [own.cell, own.added]) assert.ok(atSpaces(values).every((value) => Math.abs(value - 1) < 0.1), "a space adds about 1, and the unit then holds about 1");
  const sea = at({ place: 11 });
  assert.ok(sea.left[1] < 0.5 && sea.letters[11] === "a", "unit 29 forgets at a letter too");
  const [first, second] = at({ unit: 18, place: 14 }).forget.slice(14);
  assert.deepEqual([first, second].map((gate) => gate.toFixed(2)), ["1.00", "0.02"], "the two e's of keeps");
});

test("gates of a unit are held where they are set, and only there", () => {
  const own = at({});
  for (const gate of [0, 0.25, 1]) {
    const model = at({ gates: AT_SPACES(gate) });
    assert.deepEqual(model.letters.flatMap((letter, i) => (letter === " " ? [model.forget[i]] : [])), Array(3).fill(gate));
    assertClose(model.forget.slice(0, 4), own.forget.slice(0, 4), "before the first space nothing changes");
    assert.deepEqual([model.isOwn, model.isHeld], [false, true]);
  }
  assert.deepEqual([own.isOwn, at({ bias: 1 }).isOwn, at({ bias: 1 }).isHeld], [true, false, false]);
  assert.deepEqual(at({}).forget, own.forget, "the weights are as they were");
  assert.ok(at({ text: "sea", gates: [-1, -1, -1, 1] }).isOwn, "a gate after the end");
  assert.deepEqual(derive({ ...DEFAULTS, gates: AT_SPACES(-1) }, NETWORK).forget, own.forget, "all left alone");
});

test("the printed product is the printed number that a letter adds", () => {
  const printed = (value, digits = 2) => value.toFixed(digits).replace(/^-(0\.0+)$/, "$1");
  for (const text of ["my dog is happy today", SPEC.controls.text.default]) {
    for (let unit = 0; unit < 32; unit += 1) {
      const { input, candidate, added } = at({ text, unit });
      added.forEach((sum, i) => {
        const [a, b] = [input[i], candidate[i]].map((value) => Number(value.toFixed(digitsOf(input[i], candidate[i]))));
        assert.equal(printed(a * b), printed(sum), `${text}, ${unit}, ${i}`);
      });
    }
  }
});

test("a number is the old one times the gate, and what is added; the scale holds all that is drawn, and stays where little changes", () => {
  for (const values of [{}, { unit: 16 }, { unit: 16, gates: AT_SPACES(0) }, { gates: AT_SPACES(1) }, { bias: 4 }, { place: 9 }]) {
    const { cell, forget, kept, added, ownCell, scale } = at(values);
    assertClose(cell.map((_, i) => (i ? cell[i - 1] * forget[i] : 0) + added[i]), cell, JSON.stringify(values));
    assertClose(kept.map((part, i) => part + added[i]), cell, JSON.stringify(values));
    assert.ok([...cell, ...kept, ...ownCell].every((value) => -scale.down <= value && value <= scale.up), JSON.stringify(values));
  }
  assert.deepEqual(at({}).ownCell, at({ gates: AT_SPACES(1) }).ownCell);
  assert.deepEqual([[1.3, -1.2], [1.4, -1.3], [7.6, 0.3], [], [-0.6]].map(scaleOf), [
    { up: 1.5, down: 1.5 }, { up: 1.5, down: 1.5 }, { up: 8, down: 0 }, { up: 0, down: 0 }, { up: 0, down: 1 },
  ]);
  assert.ok(scaleOf([40]).up === 40 && scaleOf([-40]).down === 40, "40 letters, each adds less than 1");
});

test("the room of the sentence is that of its longest form", () => {
  for (const text of [SPEC.controls.text.default, "kept what it had been given to keep", "quick"]) {
    const { key, values } = longestSentence([...text], t);
    const longest = t(key, values).length;
    for (const unit of [29, 16]) {
      for (let place = 0; place <= text.length; place += 1) {
        const one = sentence(at({ text, unit, place }), t);
        assert.ok(t(one.key, one.values).length <= longest);
      }
    }
  }
});

test("short and strange texts", () => {
  assert.equal(readable("Zoë läuft"), "zoe lauft");
  for (const text of ["", "a", " ", "  ", "zzzz"]) {
    for (const bias of [-4, 0, 4]) {
      const model = at({ text, bias, place: 40 });
      assert.equal(model.at, 0);
      assert.ok(Number.isFinite(model.bits) && model.cell.every(Number.isFinite) && model.order.length === 32);
    }
  }
});
