// The hidden state, cut and compared: the page's numbers are Python's, and what the definitions say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { createReader } from "../../src/d2lrnn/widgets/core.mjs";
import {
  MAX_TEXT, ROWS, RULES, account, cutStates, distance, layoutOf, likeliest, oddsOf, orderOf, overlap, pastsOf, readable,
  repair, sharedEnding, statesOf, twoRuns,
} from "../../src/d2lrnn/widgets/hidden_state/index.mjs";
import { decodeLink, encodeLink } from "../../src/d2lrnn/widgets/ui.mjs";
import { encode, loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const { cases: CASES, explained, order } = JSON.parse(readFileSync(new URL("./hidden_state_cases.json", import.meta.url), "utf8"));
const bytes = readFileSync(new URL("../../src/d2lrnn/data/models/trained.safetensors", import.meta.url));
const NETWORK = loadModel(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
const SIZE = NETWORK.model.numHiddens;
const close = (a, b, bound, what) => assert.ok(Math.abs(a - b) < bound, `${what}: ${a} ${b}`);

function odds({ lanes, place }) {
  return lanes.map((states) => oddsOf(NETWORK.model, states[place - 1] ?? new Float32Array(SIZE)));
}

test("states, distances, odds and their account are those of Python's HiddenState", () => {
  assert.ok(CASES.length >= 16);
  for (const { given, settings, state, distances, likeliest: rows, overlap: alike, summary, pasts } of CASES) {
    const what = JSON.stringify(given);
    if (given.text !== undefined) assert.equal(readable(given.text), settings.text);
    const runs = twoRuns(NETWORK, settings);
    assert.equal(runs.distances.length, distances.length, what);
    distances.forEach((d, i) => close(runs.distances[i], d, 1e-4, `${what} ${i}`));
    const last = runs.lanes.flatMap((states) => [...(states.at(-1) ?? [])].filter((_, unit) => unit % 9 === 0));
    assert.equal(last.length, state.length);
    state.forEach((value, i) => close(last[i], value, 1e-5, what));
    const [p, q] = odds(runs);
    const found = likeliest(p, q, NETWORK.vocab);
    assert.equal(found.length, ROWS);
    found.forEach(({ character, p: one, q: two }, i) => {
      assert.equal(character, rows[i][0], what);
      close(one, rows[i][1], 1e-5, what);
      close(two, rows[i][2], 1e-5, what);
    });
    close(overlap(p, q), alike, 1e-5, what);
    assert.deepEqual(account(runs, settings.mode, [p, q]), summary, what);
    assert.deepEqual(pastsOf(runs, settings.mode), pasts, what);
  }
});

test("the odds of a state are what the reader of that text predicts", () => {
  const reader = createReader(NETWORK.model);
  const text = "the tide clock";
  const states = statesOf(NETWORK, text);
  encode(text, NETWORK.vocab).forEach((index, i) => {
    const probs = reader.read(index);
    oddsOf(NETWORK.model, states[i]).forEach((p, k) => close(p, probs[k], 1e-6, `${text[i]} ${k}`));
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
  assert.notDeepEqual(cut[3], whole[3]);
  const { distances, since } = twoRuns(NETWORK, { mode: "cut", text: "another", cut: 3, place: 7 });
  assert.equal(since, 3);
  assert.deepEqual(distances.slice(0, 2), [0, 0]);
  close(distances[2], Math.hypot(...whole[2]), 1e-5, "at the cut");
});

test("two texts stand above each other at their ends, and one that has not begun is zeros", () => {
  const runs = twoRuns(NETWORK, { mode: "compare", text: "another", second: "ther", cut: 1, place: 99 });
  assert.deepEqual(runs.texts, ["another", "\0\0\0ther"]);
  assert.deepEqual(runs.lanes[1].slice(0, 3), Array(3).fill(new Float32Array(SIZE)));
  assert.deepEqual(runs.lanes[1].slice(3), statesOf(NETWORK, "ther"));
  assert.equal(runs.since, 3);
  assert.equal(runs.place, 7, "a place beyond the end is the end");
  assert.deepEqual(twoRuns(NETWORK, { mode: "compare", text: "", second: "", cut: 1, place: 1 }).place, 0);
});

test("the preset shows what it is there for: four letters in common, and predictions with next to nothing", () => {
  const { settings } = CASES.find(({ given }) => given.mode === "compare" && Object.keys(given).length === 1);
  const runs = twoRuns(NETWORK, settings);
  assert.equal(sharedEnding(settings.text, settings.second), 4);
  const [p, q] = odds(runs);
  assert.ok(overlap(p, q) < 0.1);
  const best = (probs) => NETWORK.vocab[probs.indexOf(Math.max(...probs))];
  assert.deepEqual([best(p), best(q)], [" ", "e"]);
  const tail = runs.distances.slice(runs.since - 1);
  assert.ok(tail.every((d, i) => i === 0 || d < tail[i - 1]), "each shared letter brings the states nearer");
});

test("distance, overlap, shared ending: by hand", () => {
  assert.equal(distance([3, 0, 1], [0, 4, 1]), 5);
  assert.equal(overlap([0.5, 0.5, 0], [0.25, 0, 0.75]), 0.25);
  assert.deepEqual([["another", "ther"], ["ab", "cd"], ["", "x"], ["aa", "aaa"]].map(([a, b]) => sharedEnding(a, b)), [4, 0, 0, 2]);
  assert.deepEqual(orderOf([0.3, 0.1, 0.3, 0.2]), [1, 3, 0, 2]);
});

test("the rows are every unit once, in Python's order", () => {
  assert.deepEqual(orderOf(explained), order);
  assert.equal(new Set(order).size, SIZE);
});

test("texts are bounded, and a link may set what the controls may", () => {
  assert.equal(readable("<b>\u0000".repeat(50_000)).length, MAX_TEXT);
  const link = (state) => decodeLink(encodeLink("HiddenState", 0, state), "HiddenState", 0, RULES);
  const state = { mode: "compare", text: "the sea", second: "a sea", unit: 127, place: 3, cut: 40 };
  assert.deepEqual(link(state), state);
  assert.equal(link({ mode: "both", text: "x".repeat(41), second: 3, unit: 128, place: 0, cut: 41 }), null);
  assert.deepEqual(repair({ ...state, text: "The SEA!", second: "👩" }), { ...state, text: "the sea ", second: " " });
});

test("the figure fits its width, from one letter to the most, on a phone and off it", () => {
  for (const width of [290, 340, 720]) {
    for (const count of [0, 1, 26, MAX_TEXT]) {
      for (const mode of ["cut", "compare"]) {
        const { right, height, plots, mapEnd, column } = layoutOf(width, count, mode);
        assert.ok(right <= width && column > 5 && mapEnd < plots[0] && plots[1] < height);
      }
    }
  }
});
