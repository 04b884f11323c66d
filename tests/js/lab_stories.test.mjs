// The lab's stories: what each claims is what happens, with SIMD and without, and not with one seed only. The longest of the tests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import LAB from "../../src/d2lrnn/widgets/training_lab/rules.json" with { type: "json" };
import { heat } from "../../src/d2lrnn/widgets/training_lab/maths.mjs";
import { createTraining, prepareText, rivals } from "../../src/d2lrnn/widgets/training_lab/lab_training.mjs";
import { PLAIN } from "../../src/d2lrnn/widgets/kernels.mjs";
import { createKernels } from "../../src/d2lrnn/widgets/simd.mjs";
import { normalise } from "../../src/d2lrnn/widgets/weights.mjs";

const STORY = prepareText(normalise(readFileSync(new URL("../../src/d2lrnn/data/the-tide-clock.txt", import.meta.url), "utf8")));
const SPEC = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/training_lab/spec.json", import.meta.url), "utf8"));

/** A story's run: held-out perplexity before the cat, the worst in forty updates from it on (every fourth is scored), at the end; the longest gradient before and at it. */
function tell({ state, cat = 0, until }, changes, kernels) {
  const training = createTraining(STORY, { ...state, ...changes }, kernels);
  const { report } = training;
  const found = { before: NaN, worst: 0, usual: 0, long: 0, spelled: null };
  const norms = { before: [], after: [] };
  for (let i = 1; i <= until; i += 1) {
    if (i === cat) {
      training.evaluate();
      found.before = report.heldout.last;
      found.usual = report.longest;
      training.letCat();
    }
    if (!training.step()) break;
    if (i === cat) found.long = report.catNorm;
    else if (i > 100) norms[i < cat ? "before" : "after"].push(report.norms.last);
    if (cat && i >= cat && i < cat + 40 && (i - cat) % 4 === 0) {
      training.evaluate();
      found.worst = Math.max(found.worst, report.heldout.last);
    }
  }
  training.evaluate();
  const middle = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];
  return { ...found, end: report.heldout.last, spelled: report.spelled, pulls: [middle(norms.before), middle(norms.after)] };
}

test("in the ten seconds after the corrections that come one by one the sentence pales: its surprisal falls by two fifths", () => {
  const { least, of_age: ofAge, most } = LAB.paces[SPEC.controls.speed.default];
  let updates = LAB.singles.count;
  for (let i = 0; i < 1000; i += 1) updates += Math.min(most, Math.max(least, ofAge * updates)) / 100;
  const first = Object.fromEntries(Object.entries(SPEC.controls).map(([name, control]) => [name, control.default]));
  const training = createTraining(STORY, first, createKernels());
  const colour = () => training.read().nats.map(heat).reduce((sum, value, _, all) => sum + value / all.length, 0);
  const fresh = colour();
  for (let i = 1; i < updates; i += 1) training.step();
  assert.ok(fresh > 0.5 && colour() < 0.6 * fresh, `from ${fresh} to ${colour()} in ${Math.floor(updates)} updates`);
});

test("story 1: three in five of its words are real after a few hundred updates, and it ends below the 3-gram", () => {
  const kernels = createKernels();
  for (const seed of [0, 1, 2]) {
    const { spelled, end } = tell(SPEC.steps[0], { seed }, kernels);
    assert.ok(spelled !== null && spelled.steps >= 100 && spelled.steps <= 900, `seed ${seed}: ${JSON.stringify(spelled)}`);
    assert.ok(end < rivals(STORY)[3].perplexity, `seed ${seed}: ${end}`);
  }
  assert.equal(SPEC.steps[0].right, 1);
});

test("where the lab's first run comes to rest above the 4-gram, a GRU of as many units passes it; the 5-gram stays ahead", () => {
  const [four, five] = rivals(STORY).slice(4).map(({ perplexity }) => perplexity);
  const { state } = SPEC.steps[0];
  assert.ok(tell({ state, until: 4000 }, {}, createKernels()).end > four);
  for (const seed of [0, 1]) {
    const { end } = tell({ state, until: 2500 }, { seed, cell: "gru" }, createKernels());
    assert.ok(end < four && end > 3.8 && end > five, `seed ${seed}: ${end}`);
  }
  const { end } = tell({ state, until: 3500 }, { cell: "lstm" }, createKernels());
  assert.ok(end < 4.05 && end > 3.8 && end > five, `LSTM: ${end}`);
});

test("story 2: one long gradient ruins a healthy network, and clipping alone saves it", () => {
  const alike = STORY.vocab.length;
  for (const [kernels, seed] of [[createKernels(), 0], [createKernels(), 1], [createKernels(), 2], [PLAIN, 0]]) {
    const story = SPEC.steps[1];
    const free = tell(story, { seed }, kernels);
    const clipped = tell(story, { ...story.then, seed }, kernels);
    const told = `seed ${seed}, ${kernels.name}: ${JSON.stringify({ free, clipped })}`;
    assert.ok(free.before < 8.85 && clipped.before < 8.85, `healthy before: ${told}`);
    assert.ok(free.long > 2 * free.usual && free.usual < 3, `one long gradient: ${told}`);
    assert.ok(free.long > 10 * free.pulls[0], `ten times as long as usual: ${told}`);
    assert.ok(free.pulls[1] > 2 * free.pulls[0] && clipped.pulls[1] < 1.5 * clipped.pulls[0], `its own stay long, clipped they do not: ${told}`);
    assert.ok(free.worst > alike, `thrown off: ${told}`);
    assert.ok(free.end > 1.5 * free.before, `not back at the end: ${told}`);
    assert.ok(clipped.worst < 1.3 * clipped.before && clipped.end < clipped.before, `saved: ${told}`);
  }
  assert.deepEqual(SPEC.steps[1].then, { clip: 1 });
  assert.equal(SPEC.steps[1].right, 2);
});

test("story 3: without memory it comes to rest at the 2-gram", () => {
  const { end } = tell(SPEC.steps[2], {}, createKernels());
  const [, one, two] = rivals(STORY).map(({ perplexity }) => perplexity);
  assert.ok(end > 0.99 * two && end < 1.08 * two && end < one, `${end}, 2-gram ${two}`);
  assert.equal(SPEC.steps[2].right, 1);
});
