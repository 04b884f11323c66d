// What comes next: the page's answers are Python's, and writing depends on nothing but what the reader set.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { randomSource, reshapeProbs } from "../../src/d2lrnn/widgets/core.mjs";
import {
  MAX_TEXT, RULES, choices, createPredictor, cuts, draw, rank, readable,
} from "../../src/d2lrnn/widgets/next_character/index.mjs";
import { decodeLink, encodeLink } from "../../src/d2lrnn/widgets/ui.mjs";
import { loadModel } from "../../src/d2lrnn/widgets/weights.mjs";

const CASES = JSON.parse(readFileSync(new URL("./next_character_cases.json", import.meta.url), "utf8"));
const bytes = readFileSync(new URL("../../src/d2lrnn/data/models/trained.safetensors", import.meta.url));
const NETWORK = loadModel(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));

test("text, ranking, both distributions and choices are those of Python's NextCharacter", () => {
  assert.ok(CASES.length >= 8);
  for (const { given, text, settings, ranked, choices: expected } of CASES) {
    assert.equal(readable(given), text);
    const probs = createPredictor(NETWORK)(text);
    const drawn = reshapeProbs(probs, cuts(settings));
    rank(probs, drawn, NETWORK.vocab).slice(0, 6).forEach(({ character, before, after }, i) => {
      const [name, p, q] = ranked[i];
      assert.equal(character, name, `${text} ${i}`);
      assert.ok(Math.abs(before - p) < 1e-5 && Math.abs(after - q) < 1e-5, `${text} ${name}: ${before} ${p}, ${after} ${q}`);
    });
    [choices(probs), choices(drawn)].forEach((value, i) => assert.ok(Math.abs(value / expected[i] - 1) < 1e-4));
  }
});

test("a text that goes on costs only what is new, and gives the same as reading it whole", () => {
  const predict = createPredictor(NETWORK);
  predict("the ti");
  const grown = predict("the tide").slice();
  assert.deepEqual(grown, createPredictor(NETWORK)("the tide"));
  assert.deepEqual(predict("the ti"), createPredictor(NETWORK)("the ti"), "and back again");
  assert.deepEqual(predict(""), createPredictor(NETWORK)(" "), "nothing read counts as a space");
});

test("choices: two to the entropy", () => {
  assert.equal(choices([0.25, 0.25, 0.25, 0.25, 0]), 4);
  assert.equal(choices([1, 0]), 1);
});

test("a draw depends on text, seed and distribution alone, and follows the distribution", () => {
  const vocab = ["a", "b", "c"];
  const drawn = Float64Array.of(0.5, 0, 0.5);
  assert.equal(draw(drawn, vocab, 3, "the tide"), draw(drawn, vocab, 3, "the tide"));
  const counts = { a: 0, b: 0, c: 0 };
  const random = randomSource(1);
  for (let i = 0; i < 4000; i += 1) counts[draw(drawn, vocab, i % 7, `text ${random()}`)] += 1;
  assert.equal(counts.b, 0);
  assert.ok(Math.abs(counts.a - 2000) < 150, JSON.stringify(counts));
});

test("whatever is typed or pasted becomes letters and spaces, at most MAX_TEXT of them", () => {
  assert.equal(readable("<script>alert('é👩')</script>\u0000"), " script alert script ");
  assert.equal(readable("x".repeat(100_000)).length, MAX_TEXT);
  assert.equal(readable(""), "");
});

test("a link may set what the controls may", () => {
  const link = (state) => decodeLink(encodeLink("NextCharacter", 0, state), "NextCharacter", 0, RULES);
  const state = { text: "the tide", temperature: 0.5, top_k: 3, top_p: 0.9, seed: 7 };
  assert.deepEqual(link(state), state);
  assert.equal(link({ temperature: 99, top_k: -1, top_p: 0, seed: 0.5, text: "x".repeat(401) }), null);
});

test("cuts: 0 stands for no bound", () => {
  assert.deepEqual(cuts({ temperature: 1, top_k: 0, top_p: 1 }), { temperature: 1, topK: Infinity, topP: 1 });
  assert.equal(cuts({ temperature: 1, top_k: 3, top_p: 1 }).topK, 3);
});
