// Truncated backpropagation through time in the page: Python's numbers and sentences, and what the definition says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { sentence, spoken } from "../../src/d2lrnn/widgets/truncation/index.mjs";
import { LONG, NUM_LETTERS, OPENS, SHORT, TAUS, canTeach, cutsOf, derive, nearestTau, openPart, partAt, percent, percentKept, sameCut } from "../../src/d2lrnn/widgets/truncation/maths.mjs";
import { rulesOf, translator } from "../../src/d2lrnn/widgets/ui.mjs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { cases } = read("./truncation_cases.json");
const SPEC = read("../../src/d2lrnn/widgets/truncation/spec.json");
const DEFAULTS = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const shown = (settings = {}) => derive({ ...DEFAULTS, ...settings });
const told = (model, t) => {
  const { keys, values } = sentence(model, t);
  return keys.map((key) => t(key, values)).join(" ");
};
const close = (a, b, name) => assert.ok(Math.abs(a - b) <= 1e-8 * Math.max(1, Math.abs(b)), `${name}: ${a} is not ${b}`);

test("reaches, what is cut off and the sentence are those of Python's Truncation", () => {
  const t = translator("en", SPEC.words);
  for (const { settings, reaches, lost, kept, sentence: expected } of cases) {
    const found = shown(settings);
    const name = JSON.stringify(settings);
    assert.deepEqual(found.reaches, reaches, name);
    close(found.lost, lost, `${name} lost`);
    found.kept.forEach((share, i) => close(share, kept[i], `${name} letter ${i + 1}`));
    assert.equal(told(found, t), expected);
  }
});

test("the line has as many letters as the figure has guesses, and every window of it is whole", () => {
  assert.equal([...SPEC.words.en.text].length, NUM_LETTERS);
  for (const tau of TAUS) assert.equal(NUM_LETTERS % tau, 0);
});

test("what teaches of each makes the average that is said", () => {
  for (const way of SPEC.controls.way.choices) for (const factor of [0.5, 0.8, 0.95]) for (const tau of TAUS) {
    const { kept, lost } = shown({ way, factor, tau });
    close(kept.reduce((sum, share) => sum + share, 0) / NUM_LETTERS + lost, 1, `${way} ${tau}`);
  }
});

test("what gets through is the sum of the terms up to the cut", () => {
  const factor = 0.8;
  const { reaches, kept } = shown({ factor, tau: 12 });
  reaches.forEach((reach, i) => {
    const sum = Array.from({ length: reach }, (_, lag) => factor ** lag).reduce((all, term) => all + term, 0);
    close(kept[i], sum * (1 - factor), `letter ${i + 1}`); // of 1 + a + a² + … = 1 / (1 - a)
  });
});

test("whatever the memory, a longer way loses less, and counted from each loss less than in windows", () => {
  const { min, max } = SPEC.controls.factor;
  for (let factor = min; factor <= max + 1e-9; factor += 0.05) {
    const lost = (way) => TAUS.map((tau) => shown({ factor: Math.min(max, factor), tau, way }).lost);
    const [windows, losses] = [lost("windows"), lost("losses")];
    for (const values of [windows, losses]) values.slice(1).forEach((value, i) => assert.ok(value < values[i]));
    assert.equal(windows[0], losses[0]);
    losses.slice(1).forEach((value, i) => assert.ok(value < windows[i + 1]));
  }
});

test("the work: in windows each letter is gone back over once, else once for each loss that reaches it", () => {
  for (const tau of TAUS) {
    const losses = shown({ tau, way: "losses" });
    assert.equal(losses.work, losses.reaches.reduce((sum, reach) => sum + reach, 0));
    const windows = shown({ tau });
    const longest = windows.reaches.filter((reach, i) => i === NUM_LETTERS - 1 || windows.reaches[i + 1] === 1); // of each window
    assert.equal(windows.work, longest.reduce((sum, reach) => sum + reach, 0));
  }
});

test("a cut that is dragged goes to the nearest length", () => {
  for (const way of SPEC.controls.way.choices) {
    assert.deepEqual(cutsOf(shown({ way })), [11, 10, 9, 8, 6, 0]);
    assert.deepEqual([15, 12, 7.2, 6.8, 3.1, 2.9, -7].map((place) => nearestTau(place, shown({ way }))), [1, 1, 4, 6, 6, 12, 12]);
  }
  const early = (tau) => shown({ tau, letter: 2 }); // of those with one cut, the next to the one that is held
  assert.deepEqual([0, 0.4, 0.6, 9].map((place) => nearestTau(place, early(6))), [6, 6, 1, 1]);
  assert.deepEqual([0, 1].map((place) => nearestTau(place, early(1))), [2, 1]);
  const far = shown({ way: "losses", letter: 6, tau: 12 }); // six letters left of the line: the handle is at the edge
  assert.deepEqual([-3, -1.6, 0].map((place) => nearestTau(place, far)), [12, 12, 6]);
});

test("the handle is at the cut of the chosen guess", () => {
  for (const way of SPEC.controls.way.choices) for (let letter = 1; letter <= NUM_LETTERS; letter++) TAUS.forEach((tau, i) => {
    const model = shown({ tau, way, letter });
    assert.equal(cutsOf(model)[i], letter - model.reaches[letter - 1]);
    if (cutsOf(model)[i] > -3) assert.equal(nearestTau(cutsOf(model)[i], model), tau, "a tap on its own place changes nothing");
  });
});

test("lengths with the same cut teach the chosen guess the same", () => {
  for (let letter = 1; letter <= NUM_LETTERS; letter++) for (const tau of TAUS) {
    const share = (length) => shown({ tau: length, letter }).kept[letter - 1];
    assert.deepEqual(sameCut(shown({ tau, letter })), TAUS.filter((other) => other !== tau && share(other) === share(tau)));
    assert.deepEqual(sameCut(shown({ tau, letter, way: "losses" })), []);
  }
  assert.deepEqual(sameCut(shown({ letter: 2 })), [2, 3, 4, 12]);
});

test("the pairs are the brackets of the text", () => {
  const { text, next } = SPEC.words.en;
  const line = [...text + next];
  for (const [chosen, opener] of Object.entries(OPENS)) assert.deepEqual([line[opener], line[+chosen + 1]], ["(", ")"]);
  assert.equal(line.filter((letter) => letter === ")").length, Object.keys(OPENS).length);
  assert.deepEqual([SHORT, LONG], [1, NUM_LETTERS - 1]);
});

test("the sentence is of the guess that is chosen, what is spoken also of all twelve", () => {
  const t = translator("en", SPEC.words);
  const [last, past] = ["Cut every 6 letters: “(at noon)” cannot teach the network to remember “(”.", "Cut every 6 letters: 20% of the error at “␣” teaches the network."];
  assert.deepEqual([shown(), shown({ letter: 7 })].map((model) => told(model, t)), [last, past]);
  assert.equal(spoken(shown(), t), `${last} Of its error 74% teaches; on average 51%.`);
  assert.equal(spoken(shown({ letter: 7 }), t), `${past} On average 51%.`);
  const model = shown();
  assert.equal(percentKept(1 - model.kept.reduce((sum, share) => sum + share, 0) / NUM_LETTERS), "51%");
});

test("a closing bracket can teach the opening one where its error gets there", () => {
  for (const way of SPEC.controls.way.choices) for (const tau of TAUS) {
    close(openPart(shown({ way, tau, letter: 2 })), tau >= 2 ? 0.2 * 0.8 : 0, `${way} ${tau} short`);
    close(openPart(shown({ way, tau, letter: NUM_LETTERS })), tau >= 8 ? 0.2 * 0.8 ** 7 : 0, `${way} ${tau} long`);
  }
  assert.deepEqual([0, 1e-9, 0.0099, 0.01, 0.2].map(canTeach), ["cannot", "hardly", "hardly", "can", "can"]);
});

test("what is sent back, and what for, is said in twenty words, and an answer in thirty-five", () => {
  const { lead, ...words } = SPEC.words.en;
  assert.ok(lead.split(" ").filter((word) => /^\(?\p{L}/u.test(word)).length <= 20); // ? and ● are marks of the picture
  assert.match(lead, /guesses .*\{ask\}.* error goes back.* teaches.* cuts, fewer states \(●\) are stored/);
  for (const [key, text] of Object.entries(words)) if (key.endsWith("_outcome")) assert.ok(text.split(" ").length <= 34, key); // and Right, or No
});

test("a guided answer's reply reads well after Right and after No: it does not begin with another yes or no", () => {
  for (const [key, text] of Object.entries(SPEC.words.en)) if (key.endsWith("_outcome")) assert.doesNotMatch(text, /^(Yes|No|It can)/, key);
});

test("if more is passed on, more arrives, but each letter gets a smaller part of it", () => {
  const lag = LONG - OPENS[LONG];
  for (const [some, more] of [[0.5, 0.55], [0.8, 0.85], [0.9, 0.95]]) assert.ok(more ** lag > some ** lag && 1 - more < 1 - some);
  assert.ok(partAt(0.95, lag) < partAt(0.8, lag) && partAt(0.8, lag) < partAt(0.9, lag)); // so the opening bracket gets most between
  for (const [some, more] of [[0.5, 0.55], [0.8, 0.85], [0.9, 0.95]]) assert.ok(shown({ factor: more }).lost > shown({ factor: some }).lost);
  assert.match(SPEC.words.en.slower, /more arrives .* cut takes more.* smaller part.* simplification: .* not shared out but multiplied/);
});

test("the price is of the steps back", () => {
  const t = translator("en", SPEC.words);
  const price = (settings) => t("price", shown(settings));
  assert.equal(price({}), "Work: 12 steps back");
  for (const tau of TAUS) assert.equal(price({ tau }), price({}));
  assert.equal(price({ way: "losses" }), "Work: 72 steps back");
});

test("the guided steps: what is said to be right is right", () => {
  const { en } = SPEC.words;
  const [known, wider, faster] = SPEC.steps.map(({ before, state, right }) => ({ before: shown(before), after: shown(state), right }));
  for (const model of [known.before, wider.before]) assert.equal(openPart(model), 0, "a cut is between them");
  assert.ok(openPart(known.after) > 0.1 && known.after.tau === known.before.tau, "none is in the short pair");
  assert.ok(known.right === 2 && en.step_1_answer_3 === "yes, it can");
  assert.ok(wider.after.tau === 2 * wider.before.tau && en.step_2_question.includes("half as often"));
  assert.ok(wider.right === 1 && en.step_2_answer_2 === `about ${Math.round(100 * openPart(wider.after))}%`);
  const [some, least] = [faster.before, faster.after].map(openPart);
  assert.ok(some > 10 * least && least > 0 && least < 0.005); // "almost nothing"
  assert.ok(faster.after.factor === 0.5 && faster.right === 2 && en.step_3_answer_3 === "almost nothing");
  const { kept, chosen } = faster.after;
  assert.ok(1 - 0.5 ** (chosen - OPENS[chosen]) > 0.99 && kept[chosen] > 0.99); // "the letters near the guess take nearly all"
});

test("what the letters take is, without cuts, the error", () => {
  const { kept } = shown();
  const taken = Array.from({ length: 6 }, (_, lag) => partAt(0.8, lag)).reduce((sum, part) => sum + part, 0);
  close(taken, kept[NUM_LETTERS - 1], "six letters");
  for (const each of [0.5, 0.8, 0.95]) { // one scale: the parts, without end, are 100%
    close(Array.from({ length: 2000 }, (_, lag) => partAt(each, lag)).reduce((sum, part) => sum + part, 0), 1, `${each}`);
  }
});

test("whatever the controls are set to, no number is lost", () => {
  const rules = rulesOf(SPEC.controls);
  for (const factor of [0.5, 0.95]) for (const tau of TAUS) for (const way of SPEC.controls.way.choices) {
    assert.ok(rules.tau(tau) === tau && rules.factor(factor) === factor && rules.way(way) === way);
    const found = shown({ factor, tau, way });
    assert.ok([found.lost, found.work, ...found.kept].every(Number.isFinite));
  }
  assert.equal(rules.tau(5), undefined);
});

test("shares have as many places as they need", () => {
  assert.deepEqual([0.05, 0.07, 0.0995].map(percent), ["5%", "7%", "10%"]);
  assert.deepEqual([0.05, 0.01].map(percentKept), ["95%", "99%"]);
  assert.deepEqual([0.5, 0.0996, 0.097, 0.0312, 0.003, 0.0004, 1e-7].map(percent), ["50%", "10%", "9.7%", "3.1%", "0.3%", "0.04%", "<0.01%"]);
  assert.deepEqual([0.5, 0.0996, 0.0312, 0.0004, 1e-7].map(percentKept), ["50%", "90%", "96.9%", "99.96%", ">99.99%"]);
});
