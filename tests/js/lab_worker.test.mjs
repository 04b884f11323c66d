// The lab's worker, driven by messages as the page drives it: turns are taken by hand here, and reports collected.
import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";

const TEXT = "the tide goes out and the tide comes in ".repeat(60);
const SETTINGS = {
  num_hiddens: 16, num_steps: 8, batch_size: 4, learning_rate: 0.02, optimizer: "adam", clip: 1, carry: true, seed: 0,
};

const reports = [];
let turns = 0; // asked for and not yet taken
let port;
globalThis.self = { postMessage: (report) => reports.push(structuredClone(report)) };
const { MessageChannel: known } = globalThis;
globalThis.MessageChannel = class {
  port1 = (port = {});
  port2 = { postMessage: () => { turns += 1; } };
};
await import("../../src/d2lrnn/widgets/training_lab/lab_worker.mjs");
globalThis.MessageChannel = known;

const send = (kind, rest = {}) => self.onmessage({ data: { kind, ...rest } });
const last = () => reports.at(-1);

function takeTurns(count) {
  for (let i = 0; i < count && turns > 0; i += 1) {
    turns -= 1;
    port.onmessage();
  }
}

/** Take turns until the reports are as wanted; each lasts some 30 milliseconds. */
function takeTurnsUntil(wanted) {
  for (let i = 0; !wanted(); i += 1) {
    assert.ok(i < 1000 && turns === 1, `after ${i} turns ${turns} are due`);
    takeTurns(1);
  }
}

beforeEach(() => {
  send("begin", { text: TEXT, settings: SETTINGS });
  takeTurns(9);
  assert.equal(turns, 0);
  reports.length = 0;
});

test("a fresh run is reported at once: nothing read, the levels to beat, a first text", () => {
  send("begin", { settings: SETTINGS });
  assert.equal(reports.length, 1);
  const { steps, tokens, status, levels, heldout, sample, kernels } = last();
  assert.deepEqual([steps, tokens, status, kernels, sample.length], [0, 0, "paused", "simd", 120]);
  assert.deepEqual(levels.map(({ order }) => order), [0, 1, 2, 3, 5]);
  assert.ok(Math.abs(heldout.ys[0] / new Set(TEXT).size - 1) < 0.5, `${heldout.ys[0]} before it has learned anything`);
  assert.equal(turns, 0, "it waits for the reader");
});

test("it trains turn by turn, reports on its way, and stops at a pause", () => {
  send("go");
  assert.equal(turns, 1);
  takeTurnsUntil(() => reports.length === 2);
  assert.equal(last().status, "running");
  assert.ok(last().steps > reports[0].steps && last().seconds > 0);
  assert.equal(last().tokens, 32 * last().steps);
  send("pause");
  const { steps, status } = last();
  assert.equal(status, "paused");
  takeTurns(5);
  assert.equal(turns, 0);
  send("pause");
  assert.equal(last().steps, steps);
});

test("however often it is started, stopped and begun anew, one turn is due", () => {
  for (let i = 0; i < 20; i += 1) {
    send("begin", { settings: { ...SETTINGS, seed: i } });
    send("go");
    send("pause");
    send("go");
  }
  assert.equal(turns, 1);
  takeTurns(1);
  assert.equal(turns, 1);
  send("pause");
});

test("one step is one update, and ends a run that goes on", () => {
  send("go");
  send("step");
  assert.deepEqual([last().steps, last().status], [1, "paused"]);
  takeTurns(3);
  send("step");
  assert.equal(last().steps, 2);
  assert.equal(last().heldout.ys.length, 3);
});

test("a change of the learning rate acts at the next update", () => {
  send("set", { changes: { learning_rate: 0 } });
  send("step");
  send("step");
  const [first, second] = last().heldout.ys.slice(-2);
  assert.equal(first, second);
  send("set", { changes: { learning_rate: 0.05 } });
  send("step");
  assert.notEqual(last().heldout.ys.at(-1), second);
});

test("a run whose numbers are lost says so, and does not start again until it is begun anew", () => {
  send("begin", { settings: { ...SETTINGS, optimizer: "sgd", learning_rate: 1e39, clip: 0 } });
  send("go");
  takeTurnsUntil(() => last().status === "diverged");
  assert.equal(turns, 0);
  send("go");
  send("step");
  assert.equal(turns, 0);
  assert.equal(last().status, "diverged");
  send("begin", { settings: SETTINGS });
  assert.equal(last().status, "paused");
  send("go");
  assert.equal(turns, 1);
  send("pause");
});
