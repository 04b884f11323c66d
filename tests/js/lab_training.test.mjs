// The lab's runs: they learn, they carry or forget, they explode where they should, and their report stays small.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { countNgrams, createModel, initialise, scoreText } from "../../src/d2lrnn/widgets/core.mjs";
import {
  countReal, createTrace, createTraining, knownWords, lanes, markLine, markReal, prepareText, rivals, sentenceIds, windowScorer,
} from "../../src/d2lrnn/widgets/training_lab/lab_training.mjs";
import LAB from "../../src/d2lrnn/widgets/training_lab/rules.json" with { type: "json" };
import { createKernels } from "../../src/d2lrnn/widgets/simd.mjs";
import { normalise } from "../../src/d2lrnn/widgets/weights.mjs";
import { scoreNgram } from "./ngrams.mjs";

const TEXT = prepareText("the tide goes out and the tide comes in ".repeat(60));
const SETTINGS = {
  num_hiddens: 16, num_steps: 8, batch_size: 4, learning_rate: 0.02, optimizer: "adam", clip: 1, carry: true, seed: 0,
};

function run(changes, steps, text = TEXT) {
  const training = createTraining(text, { ...SETTINGS, ...changes });
  let good = true;
  for (let i = 0; good && i < steps; i += 1) good = training.step();
  training.evaluate();
  return training;
}

test("a text is numbered and split as in Python, where a half goes to the even neighbour", () => {
  const { vocab, trainIds, heldoutIds } = prepareText("abcab".repeat(5));
  assert.deepEqual(vocab, ["a", "b", "c"]);
  assert.deepEqual([...trainIds.subarray(0, 5)], [0, 1, 2, 0, 1]);
  assert.equal(heldoutIds.length, 2);
  // round(0.1 n) of Python
  for (const [letters, heldout] of [[14, 1], [15, 2], [16, 2], [25, 2], [35, 4], [45, 4], [105_554, 10_555]]) {
    assert.equal(prepareText("ab".repeat(letters).slice(0, letters)).heldoutIds.length, heldout, `${letters}`);
  }
});

test("any alphabet: a character is one token, however many code units it has", () => {
  const { vocab, trainIds, heldoutIds } = prepareText("潮水😀ä".repeat(10));
  assert.deepEqual(vocab.length, 4);
  assert.equal(trainIds.length + heldoutIds.length, 40);
});

test("rivals are the n-grams of the engine, in one walk", () => {
  const table = countNgrams(TEXT.trainIds, 5, TEXT.vocab.length);
  const found = rivals(TEXT);
  assert.deepEqual(found.map(({ order }) => order), [0, 1, 2, 3, 4, 5]);
  assert.equal(found[0].perplexity, TEXT.vocab.length);
  for (const { order, perplexity } of found.slice(1)) {
    const { nats, numTokens } = scoreNgram(table, order, TEXT.heldoutIds);
    assert.ok(Math.abs(perplexity / Math.exp(nats / numTokens) - 1) < 1e-9, `${order}`);
  }
});

test("with a large alphabet the longest rivals are left out, and nothing breaks", () => {
  const signs = Array.from({ length: 3000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  const found = rivals(prepareText(signs.repeat(2)));
  assert.ok(found.length >= 4 && found.length < 6 && found.every(({ perplexity }) => perplexity > 1));
});

test("a network learns a text that repeats, with its state carried or not, with either optimiser", () => {
  for (const changes of [{}, { carry: false }, { optimizer: "sgd", learning_rate: 1 }]) {
    const training = run(changes, 400);
    const perplexity = training.report.heldout.last;
    assert.ok(perplexity < 2, `${JSON.stringify(changes)}: ${perplexity}`);
    assert.equal(training.report.steps, 400);
    assert.equal(training.report.tokens, 400 * 32);
    assert.match(training.write(40), /tide|goes|comes/);
  }
});

test("with one step and no state carried it knows one letter, and cannot beat the counts of pairs", () => {
  const bigram = rivals(TEXT)[2].perplexity;
  const perplexity = run({ num_steps: 1, batch_size: 64, carry: false }, 1500).report.heldout.last;
  assert.ok(perplexity > 0.97 * bigram && perplexity < 1.1 * bigram, `${perplexity}, counts ${bigram}`);
});

test("equal seeds give equal runs, another seed another one", () => {
  const losses = (seed) => run({ seed }, 20).report.train.points().ys;
  assert.deepEqual(losses(3), losses(3));
  assert.notDeepEqual(losses(3), losses(4));
});

test("without clipping and with a large step the loss leaps beyond guessing; clipped, it does not", () => {
  const worst = (clip) => Math.max(...run({ optimizer: "sgd", learning_rate: 8, clip }, 200).report.train.points().ys);
  assert.ok(worst(0) > 10 * TEXT.vocab.length, `unclipped ${worst(0)}`);
  assert.ok(worst(0.1) < 2 * TEXT.vocab.length, `clipped ${worst(0.1)}`);
});

test("a run whose numbers are lost stops and says so", () => {
  const training = createTraining(TEXT, SETTINGS);
  training.step();
  training.model.W_hq.fill(NaN);
  assert.equal(training.step(), false);
  assert.equal(training.report.status, "diverged");
  assert.equal(training.report.steps, 1);
});

test("learning rate, clipping and optimiser change on the way", () => {
  const still = run({}, 10);
  const before = still.model.flat.slice();
  still.set({ learning_rate: 0 });
  still.step();
  assert.deepEqual(still.model.flat, before);
  still.set({ learning_rate: 0.5, optimizer: "sgd", clip: 1e-3 });
  still.step();
  const moved = Math.hypot(...still.model.flat.map((w, i) => w - before[i]));
  assert.ok(Math.abs(moved - 0.5e-3) < 1e-5, `one clipped step of SGD is learning rate times bound: ${moved}`);
});

test("lanes divide the text as d2lrnn.SequentialWindows does", () => {
  assert.deepEqual([...lanes(101, 4, 8).starts], [0, 25, 50, 75]);
  assert.deepEqual([...lanes(100, 4, 8).starts], [0, 25, 50, 75]); // all tokens are divided, not all but the last target
  assert.equal(lanes(100, 4, 8).windows, 3);
  assert.equal(lanes(96, 4, 8).windows, 2); // the last stream has 24 tokens, and its last target lies beyond
  assert.equal(lanes(97, 4, 8).windows, 3);
});

test("a short text gets fewer sequences at once", () => {
  const training = createTraining(prepareText("the tide goes out ".repeat(112)), { ...SETTINGS, num_steps: 64, batch_size: 64 });
  assert.ok(training.report.batchSize < 64 && training.report.batchSize > 20);
  assert.ok(training.step());
  assert.equal(training.report.tokens, 64 * training.report.batchSize);
});

test("a curve of any length stays small, keeps its order and its newest value, and loses no spike", () => {
  const trace = createTrace();
  for (let i = 1; i <= 100_000; i += 1) {
    const spike = i === 77_777 ? 1e6 : i === 88_888 ? 1e-6 : 1 + (i % 7);
    trace.add(512 * i, spike);
    if (i % 1000) continue;
    const { xs, ys } = trace.points();
    assert.ok(xs.length <= 4 * 50 * 8, `${xs.length}`);
    assert.ok(xs.every((x, k) => k === 0 || x > xs[k - 1]));
    assert.equal(xs.at(-1), 512 * i);
    assert.equal(ys.at(-1), trace.last);
  }
  const { xs, ys } = trace.points();
  assert.equal(ys[xs.indexOf(512 * 77_777)], 1e6);
  assert.equal(ys[xs.indexOf(512 * 88_888)], 1e-6);
});

test("a leap is drawn where it is: what was measured just before it stays, though later values of the bin are smaller", () => {
  const trace = createTrace();
  const values = [[230, 7.8], [299, 7.6], [300, 8.74], [301, 8.2], [305, 7.5], [309, 7.55]]; // the clipped run of the cat's story
  for (const [step, y] of values) trace.add(512 * step, y);
  const { xs, ys } = trace.points();
  assert.equal(ys[xs.indexOf(512 * 300) - 1], 7.6);
});

test("the sentence begins with a word, and reading it gives a price, five guesses and a state for every letter", () => {
  const training = run({}, 300);
  assert.equal(training.sentence.length, LAB.sentence);
  const { nats, top, states } = training.read();
  assert.deepEqual([nats.length, top.length, states.length], [LAB.sentence - 1, LAB.sentence - 1, 16 * LAB.sentence]);
  assert.ok(nats.every((price) => price >= 0 && price < 70) && states.some((value) => value < 0));
  for (const [i, guesses] of top.entries()) {
    assert.ok(guesses.length === 5 && guesses.every(([, p], k) => p <= (guesses[k - 1]?.[1] ?? 1)));
    const given = guesses.find(([letter]) => letter === training.sentence[i + 1])?.[1];
    if (given !== undefined) assert.ok(Math.abs(-Math.log(given) - nats[i]) < 1e-6);
  }
  assert.deepEqual(training.read(), training.read());
  const spaced = prepareText("ab cd ".repeat(500));
  assert.equal([...sentenceIds(spaced)].map((id) => spaced.vocab[id]).join("").trimStart().length, LAB.sentence);
});

test("equal weights write the same, a diary keeps what was written, and lost numbers write nothing", () => {
  const training = run({}, 100);
  assert.equal(training.write(50), training.write(50));
  training.note();
  assert.deepEqual(training.report.diary.map(({ age, pieces }) => [age, pieces.map(([piece]) => piece).join("").length]), [[100, 60]]);
  training.model.W_hq.fill(NaN);
  assert.equal(training.write(50), "");
  assert.ok(training.read().nats.every(Number.isFinite) && training.read().top.flat().every(([, p]) => p === 0));
});

test("a line of the diary says which of its words are real", () => {
  const words = new Set(["tide", "meer"]);
  assert.deepEqual(markReal("tidx a tide, Meer", words).filter(([, isReal]) => isReal).map(([piece]) => piece), ["tide", "Meer"]);
  assert.deepEqual(markReal("", words), []);
});

test("in a line a word that an edge cuts is not real: one that goes on before it or after it", () => {
  const words = new Set(["the", "tide"]);
  const real = (text, length, before) => {
    const pieces = markLine(text, length, words, before);
    assert.equal(pieces.map(([piece]) => piece).join(""), Array.from(text).slice(0, length).join(""));
    return pieces.map(([piece, isReal]) => (isReal ? piece.toUpperCase() : piece)).join("");
  };
  assert.equal(real("the tide tide", 12, "The "), "THE TIDE tid");
  assert.equal(real("the tide thea", 12, "the "), "THE TIDE the", "the next letter goes on with it");
  assert.equal(real("the tide the ", 12, "the "), "THE TIDE THE");
  assert.equal(real("the tide the", 12, "the "), "THE TIDE THE", "nothing follows");
  assert.equal(real("the tide the ", 12, "ba"), "the TIDE THE", "it goes on with what was given");
  assert.equal(real("", 12, "the "), "");
});

test("what it writes now and the page that is counted mark the same words", () => {
  const training = createTraining(prepareText(`go. ${Array.from({ length: 300 }, (_, i) => `the ${["tide", "boat", "gull"][i % 3]} ${String.fromCharCode(97 + i % 26, 97 + i % 7, 98 + i % 20)} comes in`).join(" ")}`), SETTINGS);
  do training.step(); while (training.report.steps < 1000 && !(training.report.counted?.steps === training.report.steps && training.report.counted.real > 9));
  const letters = (pieces) => pieces.flatMap(([piece, isReal]) => Array.from(piece, (letter) => (isReal ? letter.toUpperCase() : letter))).join("");
  const [line, page] = [letters(training.sample()), letters(training.report.counted.pieces)];
  const last = line.lastIndexOf(" "); // a word that goes on after the line is marked on the page alone
  assert.equal(line.slice(0, last), page.slice(0, last));
  assert.match(line.slice(0, last), /[A-Z]{3,}/);
});

test("a word counts from three letters on: shorter ones come about by chance", () => {
  assert.deepEqual([...knownWords("ii the tide and the am am once")].sort(), ["and", "once", "the", "tide"]);
});

test("its words are counted at the same ages in every run, however often it is scored", () => {
  const text = prepareText(Array.from({ length: 400 }, (_, i) => `the ${["tide", "boat", "gull"][i % 3]} number${String.fromCharCode(97 + i % 26, 97 + i % 7)} comes`).join(" "));
  const counts = (isWatched) => {
    const training = createTraining(text, SETTINGS);
    const found = [];
    for (let i = 0; i < 60; i += 1) {
      training.step();
      if (isWatched) training.evaluate();
      if (training.report.counted) found.push({ ...training.report.counted });
    }
    return found;
  };
  assert.equal(counts(false)[0].steps, LAB.looks.first);
  assert.deepEqual(counts(true), counts(false));
});

test("the thin curve is a mean of late steps, and lags behind by less than a third of the run", () => {
  for (const steps of [15, 40, 100]) {
    const before = run({}, Math.floor((2 / 3) * steps)).report.heldout.last;
    const { train } = run({}, steps).report;
    assert.ok(train.last < before, `after ${steps}: ${train.last}, ${before} a third before`);
  }
});

test("a word counts as real if the text has it", () => {
  const words = new Set(["tide", "clock"]);
  const counted = (page) => {
    const { pieces, ...counts } = countReal(page, words);
    assert.equal(pieces.map(([piece]) => piece).join(""), page);
    assert.equal(pieces.filter(([, isReal]) => isReal).length, counts.real, "what is marked is what is counted");
    return counts;
  };
  assert.deepEqual(counted("xx the tide clok clock is cl"), { real: 2, words: 4 });
  assert.deepEqual(counted("tide the clock"), { real: 0, words: 1 }, "an edge may cut a word");
  assert.deepEqual(counted(" tide the clock "), { real: 2, words: 3 }, "not where a space stands there");
  assert.deepEqual(counted("tide"), { real: 0, words: 0 });
  const after = (before) => countReal("tide the clock", words, before).real;
  assert.deepEqual(["the ", "the", ""].map(after), [1, 0, 0], "its first word is whole where a space stands before it");
});

test("GRU and LSTM train in the lab as well", () => {
  for (const cell of ["gru", "lstm"]) {
    const training = run({ cell }, 300);
    assert.ok(training.report.heldout.last < 3, cell);
    assert.equal(training.read().states.length, 16 * LAB.sentence);
  }
});

test("what the lab starts with learns the story in seconds: better than counts of three letters, and in words", () => {
  const story = readFileSync(new URL("../../src/d2lrnn/data/the-tide-clock.txt", import.meta.url), "utf8");
  const text = prepareText(normalise(story));
  const defaults = { ...SETTINGS, num_hiddens: 64, num_steps: 32, batch_size: 16, learning_rate: 0.01 };
  const training = createTraining(text, defaults, createKernels());
  for (let i = 0; i < 700; i += 1) training.step(); // less than a second
  training.evaluate();
  const trigram = rivals(text)[3];
  assert.ok(training.report.heldout.last < trigram.perplexity, `${training.report.heldout.last}`);
  const words = new Set(normalise(story).split(" "));
  const written = training.write(400).split(" ").slice(1, -1);
  const known = written.filter((word) => words.has(word)).length;
  assert.ok(known > 0.5 * written.length, `${known} of ${written.length} are words of the story: ${written.join(" ")}`);
});

test("one set of kernels serves run after run, and holds the largest that the lab offers", () => {
  const kernels = createKernels();
  const letters = prepareText("abcdefghijklmnopqrstuvwxyz ".repeat(400));
  for (const carry of [true, false, true]) {
    const largest = { ...SETTINGS, num_hiddens: 256, num_steps: 64, batch_size: 64, carry };
    const training = createTraining(letters, largest, kernels);
    assert.ok(training.step());
    training.set({ optimizer: "sgd" });
    training.set({ optimizer: "adam" });
    training.evaluate();
    assert.ok(training.report.heldout.last < 27);
  }
});

test("scored in windows every whole window counts once", () => {
  const model = initialise(createModel(TEXT.vocab.length, 8), 1);
  const ids = TEXT.trainIds.subarray(0, 1000);
  const { nats, numTokens } = windowScorer(model, ids, 7)();
  assert.equal(numTokens, 994);
  let sum = 0;
  for (let start = 0; start < 994; start += 7) {
    sum += scoreText(model, ids.subarray(start, start + 8), { batchSize: 1, warmUp: 0 }).nats;
  }
  assert.ok(Math.abs(nats / sum - 1) < 1e-5);
});
