// What the lab says on top of a run: a key for each case, and the values of its words.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { rivalWords } from "../../src/d2lrnn/widgets/training_lab/panels.mjs";
import { changes, sentenceKey, sentenceValues } from "../../src/d2lrnn/widgets/training_lab/words.mjs";
import { translator } from "../../src/d2lrnn/widgets/ui.mjs";

const SPEC = JSON.parse(readFileSync(new URL("../../src/d2lrnn/widgets/training_lab/spec.json", import.meta.url), "utf8"));
const t = translator("en", SPEC.words);
const LEVELS = [27, 15.9, 8.85, 5.41, 3.98, 3.63].map((perplexity, order) => ({ order, perplexity }));
/** A report of a run whose unseen pages had these perplexities, and its own pages these. */
const reportOf = (ys, train = ys, rest = {}) => ({
  steps: 1000, status: "running", catAt: 0, ended: null, levels: LEVELS, tokens: 100 * ys.length, perplexity: ys.at(-1),
  heldout: { xs: ys.map((_, i) => 100 * (i + 1)), ys }, train: { xs: train.map((_, i) => 100 * (i + 1)), ys: train }, ...rest,
});
const tell = (report, { clip = 1, isCopied = false, copied = 0, isGruNext = false } = {}) =>
  t(sentenceKey(report, { clip, isCopied, isGruNext }), sentenceValues(t, report, copied));

test("a run that has not begun has read nothing", () => {
  assert.equal(tell(reportOf([26], [NaN], { steps: 0 })), "Press Start, and watch its noise turn into words.");
});

test("a rival that is touched says what it counts after the letters that were read", () => {
  const pages = "then the thin man that ran";
  const said = (order, before, among = pages) => {
    const [template, values] = rivalWords(t, { order, perplexity: order === 0 ? 27 : 5.41, before: [...before], pages: among });
    return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  };
  assert.equal(said(3, "a th"), "Looking 2 letters back (a 3-gram): after th, e 50%, a 25%. Doubt 5.41.");
  assert.equal(said(2, "a th"), "Looking 1 letter back (a 2-gram): after h, e 50%, a 25%. Doubt 5.41.");
  assert.equal(said(2, "man "), "Looking 1 letter back (a 2-gram): after \u2423, t 60%, m 20%. Doubt 5.41.");
  assert.equal(said(1, "th"), "Counting letters (a 1-gram): \u2423 19%, t 19%. Doubt 5.41.");
  assert.equal(said(0, "th"), "Blind guessing: each of 27 letters is as likely.");
  assert.equal(said(3, "zz"), "Looking 2 letters back (a 3-gram): zz was not seen, so it looks at fewer letters.");
  assert.equal(said(3, "ra", "ran ra"), "Looking 2 letters back (a 3-gram): after ra, n 100%. Doubt 5.41.");
  assert.equal(said(5, "th"), "Looking 4 letters back (a 5-gram): too few letters stand before this one.");
});

test("a run is told by its rivals, while it goes on and at its end", () => {
  assert.equal(tell(reportOf([26, 10])), "It beats counting letters. Next: looking 1 letter back.");
  assert.equal(tell(reportOf([26, 4.1], [26, 4], { status: "ended", ended: "plateau" })), "Its doubt fell from 26.0 letters to 4.10. It beats looking 2 letters back, but not 3.");
  assert.equal(tell(reportOf([26, 3.5], [26, 3.4], { status: "ended", ended: "until" })), "Stopped at 3.50: it beats every rival, even looking 4 letters back.");
  assert.equal(tell(reportOf([26, 3.9, 4.1], [26, 4, 4], { status: "ended", ended: "plateau" })), "Its doubt fell from 26.0 letters to 4.10 (best 3.90). It beats looking 2 letters back, but not 3.", "as it is, and its best");
  const [end, story] = ["plateau", "until"].map((ended) => reportOf([26, 4.1], [26, 4], { status: "ended", ended }));
  assert.deepEqual([end, story].map((report) => tell(report, { isGruNext: true })), [
    "Its doubt fell from 26.0 letters to 4.10. Can a GRU beat looking 3 letters back?",
    "Stopped at 4.10: it beats looking 2 letters back, but not 3.",
  ]);
  assert.equal(tell(reportOf([26, 7], [26, 7], { status: "paused" })), "Paused. Its doubt fell from 26.0 letters to 7.00. It beats looking 1 letter back.");
  assert.equal(tell(reportOf([26, 5])), "It beats looking 2 letters back. Next: 3 letters back.");
  assert.equal(tell(reportOf([26, 8], [26, 8], { levels: [] })), "Doubt 8.00 after 1\u202f000 corrections.");
  assert.equal(tell(reportOf([26, 8], [26, 8], { levels: [], steps: 1 })), "Doubt 8.00 after 1 correction.");
});

test("a gap is told as a gap, and no more than is known of copies", () => {
  const rote = reportOf([20, 5, 5.5, 6, 6.5, 7], [20, 5, 4, 3, 2.5, 2]);
  assert.equal(tell(rote), "It learned its pages by heart: doubt 2.00 there, 7.00 on new ones.");
  const much = reportOf([20, 5, 10, 60, 300, 669], [20, 5, 4, 3, 2, 1.24]);
  assert.equal(tell(much), "By heart: doubt 1.24 on its pages, but 669.0 on new ones, worse than blind.", "however large");
  assert.equal(tell(rote, { isCopied: true, copied: 0.5 }), "Doubt 7.00. It may memorise: 50% of its test pages are copies.");
});

test("a run that is thrown off says by what, and what helps", () => {
  assert.equal(tell(reportOf([26, 8, 300])), "Thrown off: doubt 300.0, worse than blind. Lower the learning rate.");
  assert.equal(tell(reportOf([26, 8, 300]), { clip: 0 }), "Thrown off: doubt 300.0, worse than blind. Clip, or lower the learning rate.");
  assert.equal(tell(reportOf([26, 8, 300], [26, 8, 9], { catAt: 250 })), "The cat threw it off: its doubt rose from 8.00 to 300.0, worse than blind.");
  assert.equal(tell(reportOf([26, 8, 25])), "Thrown off: its doubt rose from 8.00 to 25.00. Lower the learning rate.", "not above the 27 letters");
  assert.equal(tell(reportOf([26, 8, 25]), { clip: 0 }), "Thrown off: its doubt rose from 8.00 to 25.00. Clip, or lower the learning rate.");
  assert.equal(tell(reportOf([26, 8, 25], [26, 8, 9], { catAt: 250 })), "The cat threw it off: its doubt rose from 8.00 to 25.00.");
  assert.equal(tell(reportOf([26, 15, 28], [26, 15, 28], { status: "ended", ended: "plateau" })), "It came to 28.00 (best 15.00): it does not beat blind guessing.", "whatever it once was");
  assert.equal(tell(reportOf([26, 8], [26, 8], { status: "diverged" })), "Its numbers are lost. Clip the push or lower the learning rate.");
});

test("settings that differ are named", () => {
  const given = { clip: 1, carry: true, optimizer: "adam", seed: 0 };
  assert.deepEqual(changes(t, { clip: 0, carry: false, optimizer: "sgd", seed: 3 }, given, Object.keys(given)), ["no clipping", "memory not kept", "SGD", "seed 3"]);
  assert.deepEqual(changes(t, given, given, Object.keys(given)), []);
});

test("one correction guesses at as many places as there are passages times letters", () => {
  const { num_steps, batch_size } = SPEC.controls;
  const values = { letters: num_steps.default * batch_size.default, passages: batch_size.default, steps: num_steps.default };
  assert.equal(t("correction", values), "One correction (an update): it guesses at 512 places, 16 passages × 32 letters; then its weights move a little.");
});
