// The lab's runs: they learn, they carry or forget, they explode where they should, and their report stays small.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { createModel, initialise, scoreText } from "../../src/d2lrnn/widgets/core.mjs";
import {
  countingLevels, createTrace, createTraining, lanes, prepareText, windowScorer,
} from "../../src/d2lrnn/widgets/training_lab/lab_training.mjs";
import { createKernels } from "../../src/d2lrnn/widgets/simd.mjs";
import { normalise } from "../../src/d2lrnn/widgets/weights.mjs";

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

test("a text is split and numbered as in Python", () => {
  const { vocab, trainIds, heldoutIds } = prepareText("abcab".repeat(5));
  assert.deepEqual(vocab, ["a", "b", "c"]);
  assert.deepEqual([trainIds.length, heldoutIds.length], [23, 2]);
  assert.deepEqual([...trainIds.subarray(0, 5)], [0, 1, 2, 0, 1]);
});

test("a network learns a text that repeats, with its state carried or not, with either optimiser", () => {
  for (const changes of [{}, { carry: false }, { optimizer: "sgd", learning_rate: 1 }]) {
    const training = run(changes, 400);
    const perplexity = training.report.heldout.ys.at(-1);
    assert.ok(perplexity < 2, `${JSON.stringify(changes)}: ${perplexity}`);
    assert.equal(training.report.steps, 400);
    assert.equal(training.report.tokens, 400 * 32);
    assert.match(training.write(40, "the "), /tide|goes|comes/);
  }
});

test("with one step and no state carried it knows one letter, and cannot beat the counts of pairs", () => {
  const bigram = countingLevels(TEXT, [2])[1].perplexity;
  const perplexity = run({ num_steps: 1, batch_size: 64, carry: false }, 1500).report.heldout.ys.at(-1);
  assert.ok(perplexity > 0.97 * bigram && perplexity < 1.1 * bigram, `${perplexity}, counts ${bigram}`);
});

test("equal seeds give equal runs, another seed another one", () => {
  const losses = (seed) => run({ seed }, 20).report.train.ys;
  assert.deepEqual(losses(3), losses(3));
  assert.notDeepEqual(losses(3), losses(4));
});

test("without clipping and with a large step the loss leaps beyond guessing; clipped, it does not", () => {
  const worst = (clip) => Math.max(...run({ optimizer: "sgd", learning_rate: 8, clip }, 200).report.train.ys);
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

test("lanes lie along the text and leave room for the last target", () => {
  const { starts, windows } = lanes(101, 4, 8);
  assert.deepEqual([...starts], [0, 25, 50, 75]);
  assert.equal(windows, 3);
  assert.ok(starts[3] + windows * 8 <= 100);
});

test("a trace of any length stays within four hundred points, keeps their order, and ends with the newest", () => {
  const trace = createTrace();
  for (let i = 1; i <= 10_000; i += 1) {
    trace.add(i, -i);
    assert.equal(trace.xs.at(-1), i);
    assert.ok(trace.xs.length <= 400 && trace.xs.length >= Math.min(i, 200));
  }
  assert.ok(trace.xs.every((x, i) => trace.ys[i] === -x && (i === 0 || x > trace.xs[i - 1])));
  const gaps = new Set(trace.xs.slice(1, -1).map((x, i) => x - trace.xs[i]));
  assert.deepEqual([...gaps], [32]);
});

test("what the lab starts with learns the story in seconds: better than counts of three letters, and in words", () => {
  const story = readFileSync(new URL("../../src/d2lrnn/data/the-tide-clock.txt", import.meta.url), "utf8");
  const text = prepareText(normalise(story));
  const defaults = { ...SETTINGS, num_hiddens: 64, num_steps: 32, batch_size: 16, learning_rate: 0.01 };
  const training = createTraining(text, defaults, createKernels());
  for (let i = 0; i < 700; i += 1) training.step(); // less than a second
  training.evaluate();
  const [trigram] = countingLevels(text, [3]).slice(1);
  assert.ok(training.report.heldout.ys.at(-1) < trigram.perplexity, `${training.report.heldout.ys.at(-1)}`);
  const words = new Set(normalise(story).split(" "));
  const written = training.write(400, "the ").split(" ").slice(1, -1);
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
    assert.ok(training.report.heldout.ys.at(-1) < 27);
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
