// The memory cut: the page's numbers are Python's, what the definitions say, and what the words claim.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { createReader } from "../../src/d2lrnn/widgets/core.mjs";
import {
  MAX_GUESS, MAX_TEXT, cutStates, derive, distance, guessFrom, lastWord, networkIn, probsOf, readable, repair, statesOf, walk,
} from "../../src/d2lrnn/widgets/hidden_state/maths.mjs";
import { DEPTH, FULL, LEFT, UNSURE, brief, cutAt, layoutOf, percentLeft, sentence, shown, sure, threadOf, wordOf } from "../../src/d2lrnn/widgets/hidden_state/panels.mjs";
import { decodeLink, encodeLink, fill, rulesOf } from "../../src/d2lrnn/widgets/ui.mjs";
import { encode } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./hidden_state_cases.json", import.meta.url), "utf8"));
const SPEC = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/hidden_state/spec.json", import.meta.url), "utf8"));
const WORDS = SPEC.words.en;
const bytes = readFileSync(new URL("../../src/d2lrnn/data/models/trained.safetensors", import.meta.url));
const WEIGHTS = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const NETWORK = networkIn(WEIGHTS);
const SIZE = NETWORK.model.numHiddens;
const close = (a, b, bound, what) => assert.ok(Math.abs(a - b) < bound, `${what}: ${a} ${b}`);
const defaults = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
const at = (settings) => derive({ ...defaults, ...settings, weights: WEIGHTS });

test("states, distances, probabilities and guesses are those of Python's HiddenState", () => {
  assert.ok(CASES.length >= 12);
  for (const { given, settings, state, distances, probs, guesses, kept } of CASES) {
    const what = JSON.stringify(given);
    if (given.text !== undefined) assert.equal(readable(given.text), settings.text);
    const model = at(settings);
    assert.equal(model.distances.length, distances.length, what);
    distances.forEach((d, i) => close(model.distances[i], d, 1e-4, `${what} ${i}`));
    const last = model.states.flatMap((states) => [...(states.at(-1) ?? [])].filter((_, unit) => unit % 9 === 0));
    assert.equal(last.length, state.length);
    state.forEach((value, i) => close(last[i], value, 1e-5, what));
    model.states.forEach((states, run) => {
      probsOf(NETWORK.model, states.at(-1) ?? new Float32Array(SIZE)).forEach((p, k) => close(p, probs[run][k], 1e-5, what));
      close(model.guesses[run].p, Math.max(...probs[run]), 1e-5, what);
    });
    assert.deepEqual(model.guesses.map(({ written }) => written), guesses, what);
    assert.equal(model.kept, kept);
  }
});

test("the probabilities of a state are what the reader of that text predicts", () => {
  const reader = createReader(NETWORK.model);
  const text = "the tide clock";
  const states = statesOf(NETWORK, text);
  encode(text, NETWORK.vocab).forEach((index, i) => {
    const probs = reader.read(index);
    probsOf(NETWORK.model, states[i]).forEach((p, k) => close(p, probs[k], 1e-6, `${text[i]} ${k}`));
  });
});

test("a cut text is the same up to the cut, zeros at it, and from then on a text that begins there", () => {
  const [whole, fresh] = [statesOf(NETWORK, "another"), statesOf(NETWORK, "ther")];
  const cut = cutStates(NETWORK, "another", 3, whole);
  const reader = createReader(NETWORK.model);
  encode("another", NETWORK.vocab).forEach((index, i) => {
    reader.read(index);
    if (i === 2) reader.state = new Float32Array(SIZE);
    assert.deepEqual(cut[i], reader.state, `after ${i + 1}`);
  });
  assert.deepEqual(cut.slice(3), fresh);
  const { distances, forgotten, kept } = at({ text: "another", cut: 3 });
  assert.deepEqual([forgotten, kept], ["ano", "ther"]);
  assert.deepEqual(distances.slice(0, 2), [0, 0]);
  close(distances[2], Math.hypot(...whole[2]), 1e-5, "at the cut");
});

test("accents are left out: the letter under them is read", () => {
  assert.deepEqual(["Zoë", "über"].map(readable), ["zoe", "uber"]);
});

test("of a long text the last letters are read, from the beginning of a word", () => {
  assert.equal(readable("the tide clock keeps time and then there was another"), "keeps time and then there was another");
  assert.equal(readable("one two".padStart(MAX_TEXT + 4, "x ")).length <= MAX_TEXT, true);
  assert.equal(readable(`a ${"x".repeat(MAX_TEXT)}`), "x".repeat(MAX_TEXT), "the cut falls between two words");
  assert.deepEqual(["in 1789!", "in 1789! ", "the ", "don't", "?"].map(readable), ["in", "in", "the ", "don t", ""], "a sign at the end is nothing");
  assert.equal(readable("x".repeat(60)), "x".repeat(MAX_TEXT), "one long word is cut");
  assert.equal(readable(`${"x".repeat(60)} `).length, MAX_TEXT, "a space at the end begins no word");
});

test("a guess ends with the word, or after so many letters, and begins with the likeliest character", () => {
  for (const { settings } of CASES) {
    for (const { written } of at(settings).guesses) {
      assert.ok(written.length >= 1 && written.length <= MAX_GUESS);
      assert.ok(!written.slice(0, -1).includes(" "), written);
      assert.ok(written.endsWith(" ") || written.length === MAX_GUESS, written);
    }
  }
  const state = statesOf(NETWORK, "ther").at(-1);
  const probs = probsOf(NETWORK.model, state);
  assert.equal(guessFrom(NETWORK, state).written[0], NETWORK.vocab[probs.indexOf(Math.max(...probs))]);
  assert.deepEqual(["and ther", "", "so ", "x"].map(lastWord), ["ther", "", "", "x"]);
});

test("the second guess is the likeliest but one, and the number that differs most is found", () => {
  for (const { settings } of CASES.filter((one) => one.settings.text !== "")) {
    const model = at({ ...settings, unit: -1 });
    model.guesses.forEach(({ p, second, secondP }, i) => {
      const probs = probsOf(NETWORK.model, model.states[i].at(-1));
      const sorted = [...probs].sort((a, b) => b - a);
      assert.deepEqual([p, secondP], sorted.slice(0, 2));
      assert.equal(probs[NETWORK.vocab.indexOf(second)], secondP);
    });
    const apart = Array.from(model.states[0].at(-1), (value, j) => Math.abs(value - model.states[1].at(-1)[j]));
    assert.ok(apart.every((value) => value <= apart[model.unit]) && model.isMost);
    assert.deepEqual([at({ ...settings, unit: 5 }).unit, at({ ...settings, unit: 5 }).isMost], [5, false], "a chosen number stays");
  }
});

test("the figure opens on the two guesses of the chapter", () => {
  const { guesses, text, cut } = at({});
  assert.deepEqual([text.slice(0, cut), text.slice(cut)], ["and then there was ano", "ther"]);
  assert.deepEqual(guesses.map((guess) => Object.values(wordOf(guess)).join("")), ["another␣", "there␣"]);
  const [key, values] = sentence(at({}));
  assert.equal(key, "now_differ");
  assert.equal(fill(WORDS[key], values), "With only “ther” in memory, it guesses e, not a space.");
  assert.deepEqual(guesses.map(({ p }) => sure(p)), ["94%", "78%"]);
});

test("the right answers of the steps are right", () => {
  const [one, two, three] = SPEC.steps.map(({ state }) => at(state));
  assert.deepEqual([one.kept, two.kept, three.kept], ["other", "had ever", "there was another"]);
  assert.equal(one.guesses[1].written, " ");
  assert.ok(one.guesses[1].p > one.guesses[0].p + 0.03, "surer than with everything");
  assert.ok(one.guesses[1].p > 0.95 && one.distances.at(-1) > 2);
  assert.deepEqual(two.guesses.map(({ written }) => written), [" ", "y "], "the space is also what comes in the text");
  assert.ok(two.guesses.every(({ p }) => p > 0.5) && two.kept.length === 8 && two.distances.at(-1) < 0.2 * two.distances[two.cut - 1]);
  const shareOf = ({ distances, cut }) => distances.at(-1) / distances[cut - 1];
  assert.ok(shareOf(one) > shareOf(two) && one.guesses[0].written === one.guesses[1].written, "the larger difference changes nothing");
  const left = three.distances.at(-1) / three.distances[three.cut - 1];
  const answers = [0.5, 0.1, 0.01];
  const nearest = answers.map((share) => Math.abs(Math.log(left / share)));
  assert.equal(nearest.indexOf(Math.min(...nearest)), SPEC.steps[2].right);
  assert.equal(three.kept.length, 17);
  assert.deepEqual(SPEC.steps.map(({ right }) => right), [1, 1, 2]);
  assert.deepEqual(SPEC.steps.map(({ before }) => at(before).kept), ["ther", "ever", "ther"], "the question comes before the answer is shown");
});

test("whatever the cut, the sentence has all its values", () => {
  for (const { settings } of CASES) {
    for (let cut = 1; cut <= MAX_TEXT; cut += 1) {
      const model = at({ ...settings, cut });
      const [key, values] = sentence(model);
      assert.ok(!/NaN|undefined/.test(fill(WORDS[key], values)));
      assert.equal(key === "now_unsure", model.kept !== "" && model.guesses[1].p < UNSURE);
      assert.equal(key === "now_nothing", model.text !== "" && cut >= model.text.length);
      const [whole, other] = model.guesses;
      if (key === "now_differ") assert.ok(whole.written[0] !== other.written[0] && values.other !== values.whole);
      if (key === "now_same") assert.ok(whole.written[0] === other.written[0]);
    }
  }
  assert.deepEqual(sentence(at({ text: "" })), ["now_empty", {}]);
  assert.equal(sentence(at({ cut: 21 }))[0], "now_same");
  assert.deepEqual(sentence(at({ text: "xl", cut: 1 })), ["now_unsure", { kept: "“l”" }]);
});

test("distance, shares, and how a text is shown: by hand", () => {
  assert.equal(distance([3, 0, 1], [0, 4, 1]), 5);
  assert.deepEqual(["ano", "a b", " by", "so "].map(shown), ["ano", "a b", "␣by", "so␣"]);
  assert.deepEqual(["ther", "there was another", "x".repeat(12)].map((text) => brief(text)), ["ther", "there…another", "x".repeat(12)]);
  assert.deepEqual([0.051, 0.779, 0.994, 0.9951].map(sure), ["5%", "78%", "99%", ">99%"]);
  assert.deepEqual([[8, 8], [3.9, 9], [0.01, 9], [0, 9]].map(([at, peak]) => percentLeft(at, peak)), ["100%", "43%", "<1%", "0%"]);
});

test("texts are bounded, and a link may set what the controls may", () => {
  assert.equal(readable("<b>\u0000".repeat(50_000)).length, MAX_TEXT - 1, "less the space at the end");
  assert.equal(SPEC.controls.text.max, MAX_TEXT);
  assert.equal(SPEC.controls.cut.max, MAX_TEXT);
  assert.equal(SPEC.controls.unit.max, SIZE - 1);
  assert.ok(WORDS.numbers.includes(` ${SIZE} `));
  const rules = rulesOf(SPEC.controls);
  const link = (state) => decodeLink(encodeLink("HiddenState", 0, state), "HiddenState", 0, rules);
  const state = { text: "the sea", cut: 40, unit: 127 };
  assert.deepEqual(link(state), state);
  assert.equal(link({ text: "x".repeat(41), unit: 128, cut: 41 }), null);
  assert.deepEqual(decodeLink("#explore=HiddenState&cut=21", "HiddenState", 0, rules), { cut: 21 });
  assert.deepEqual(repair({ ...state, text: "The SEA!" }), { ...state, text: "the sea" });
});

test("the stage fits its width, and a place on it is the cut that stands there", () => {
  for (const width of [290, 340, 720]) {
    for (const count of [0, 1, 26, MAX_TEXT]) {
      const { right, end, column } = layoutOf(width, count);
      assert.ok(end < right && right <= width && column > 5);
      for (let cut = 1; cut <= count; cut += 1) assert.equal(cutAt((LEFT + cut * column) / width, width, count), cut);
      if (count > 0) assert.deepEqual([cutAt(0, width, count), cutAt(1, width, count)], [1, count]);
    }
  }
});

test("the cut thread hangs in proportion to the difference, from the cut to the end of the text", () => {
  const layout = layoutOf(470, 26);
  for (const cut of [1, 9, 22, 26]) {
    const model = at({ cut });
    const thread = threadOf(model, layout);
    const most = Math.max(...model.distances);
    assert.equal(thread.length, 27 - cut);
    close(thread[0][0], LEFT + cut * layout.column, 1e-9, "it begins at the cut");
    close(thread.at(-1)[0], layout.end, 1e-9, "and ends with the text");
    const unit = Math.min(FULL / model.distances[cut - 1], DEPTH / most);
    assert.equal(cut > 1 || most > model.distances[0], true);
    thread.forEach(([, depth], i) => close(depth, unit * model.distances[cut - 1 + i], 1e-9, `${cut} ${i}`));
    assert.ok(thread.every(([, depth]) => depth >= 0 && depth <= DEPTH));
  }
  assert.deepEqual(threadOf({ distances: [0], cut: 1 }, layout).map(([, depth]) => depth), [0]);
});

test("the first walk begins a few letters from the cut and ends on it, in a second and a half", () => {
  for (const [cut, count] of [[22, 26], [1, 5], [26, 26], [3, 40], [40, 40]]) {
    const stops = walk(cut, count);
    assert.equal(stops.at(-1), cut);
    assert.ok(stops.length >= Math.min(2, count) && stops.length <= 5);
    assert.ok(stops.every((stop, i) => stop >= 1 && stop <= count && (i === 0 || Math.abs(stop - stops[i - 1]) === 1)));
  }
  assert.deepEqual(walk(22, 26), [26, 25, 24, 23, 22]);
  const { cut } = SPEC.steps[0].state;
  assert.ok(!walk(22, 26).includes(cut), "the first step's answer is not shown");
});
