// The lab's worker, driven by messages as the page drives it: turns are taken by hand here, and reports collected.
import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import LAB from "../../src/d2lrnn/widgets/training_lab/rules.json" with { type: "json" };

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
  send("begin", { text: TEXT, settings: SETTINGS, speed: "flat" });
  takeTurns(9);
  assert.equal(turns, 0);
  reports.length = 0;
});

test("a fresh run is reported at once: nothing read, the levels to beat, a first text", () => {
  send("begin", { settings: SETTINGS, run: 7 });
  assert.equal(reports.length, 1);
  const { run, steps, tokens, status, levels, heldout, perplexity, diary, sentence, nats, top, states, kernels } = last();
  assert.deepEqual([run, steps, tokens, status, kernels], [7, 0, 0, "paused", "simd"]);
  assert.deepEqual(levels.map(({ order }) => order), [0, 1, 2, 3, 4, 5]);
  assert.ok(Math.abs(heldout.ys[0] / new Set(TEXT).size - 1) < 0.5, `${heldout.ys[0]} before it has learned anything`);
  assert.deepEqual([perplexity, diary.length, diary[0].age, diary[0].pieces.flat().filter((piece) => piece.length).join("").length], [heldout.ys[0], 1, 0, 60]);
  assert.deepEqual([nats.length, top.length, states.length], [sentence.length - 1, sentence.length - 1, 16 * sentence.length]);
  assert.equal(last().written.map(([piece]) => piece).join("").length, 60, "what it writes now");
  assert.equal(last().writtenAt, 0);
  assert.equal(turns, 0, "it waits for the reader");
});

test("it trains turn by turn, reports on its way, and stops at a pause", () => {
  send("begin", { settings: { ...SETTINGS, num_hiddens: 128, num_steps: 64 } });
  reports.length = 0;
  send("go");
  assert.equal(turns, 1);
  takeTurnsUntil(() => reports.length === 2);
  assert.equal(last().status, "running");
  assert.ok(last().steps > reports[0].steps && last().seconds > 0);
  assert.equal(last().tokens, 256 * last().steps);
  send("pause");
  const { steps, status } = last();
  assert.equal(status, "paused");
  takeTurns(5);
  assert.equal(turns, 0);
  send("pause");
  assert.equal(last().steps, steps);
});

test("a moment that is kept has what was written just then, whatever is shown meanwhile", () => {
  const text = (pieces) => pieces.map(([piece]) => piece).join("");
  send("begin", { settings: { ...SETTINGS, num_hiddens: 128, num_steps: 64 } });
  send("go");
  takeTurnsUntil(() => reports.length > 6);
  send("pause");
  takeTurns(5);
  const kept = reports.filter(({ kept: line }) => line !== null);
  for (const report of kept) if (report.writtenAt === report.steps) assert.equal(text(report.written), text(report.kept));
  const asked = reports.reduce((all, { steps }) => (all.length === 0 || steps >= Math.max(1, LAB.apart * all.at(-1)) ? [...all, steps] : all), []);
  assert.deepEqual(kept.map(({ steps }) => steps), asked, "those that a figure keeps to look back at");
  const { best, heldout, steps: end } = last();
  assert.ok(reports.every(({ status, best: known }) => (status === "running") === (known === null)), "its best is told where it stands still");
  assert.deepEqual([best.perplexity, best.writtenAt, text(best.written).length], [Math.min(...heldout.ys), best.steps, 60]);
  assert.equal(best.tokens, heldout.xs[heldout.ys.indexOf(best.perplexity)]);
  assert.ok(best.steps <= end && best.nats.length === last().nats.length);
  assert.ok(kept.length > 3 && kept.some(({ steps, writtenAt }) => writtenAt < steps), "some that are kept are newer than what is shown");
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

test("a change of the learning rate acts at the next update", () => {
  send("begin", { settings: { ...SETTINGS, num_hiddens: 64 } });
  send("set", { changes: { learning_rate: 0 } });
  send("go");
  takeTurns(1);
  send("pause");
  const before = last().perplexity;
  assert.equal(before, last().heldout.ys[0], "nothing was learned");
  send("set", { changes: { learning_rate: 0.05 } });
  send("go");
  takeTurns(1);
  send("pause");
  assert.notEqual(last().perplexity, before);
});

test("a run whose numbers are lost says so, and does not start again until it is begun anew", () => {
  send("begin", { settings: { ...SETTINGS, optimizer: "sgd", learning_rate: 1e39, clip: 0 } });
  send("go");
  takeTurnsUntil(() => last().status === "diverged");
  assert.equal(turns, 0);
  send("go");
  assert.equal(turns, 0);
  assert.equal(last().status, "diverged");
  send("begin", { settings: SETTINGS });
  assert.equal(last().status, "paused");
  send("go");
  assert.equal(turns, 1);
  send("pause");
});

test("a story's run ends by itself at its update, and not one later", () => {
  send("begin", { settings: SETTINGS, until: 120 });
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  assert.deepEqual([last().steps, last().ended], [120, "until"]);
  assert.deepEqual(last().diary.map(({ age }) => age), [0, 10, 40, 100]);
  assert.equal(turns, 0);
  send("go");
  assert.equal(turns, 0, "it is over");
});

test("a story that waits for something ends as soon as it is there", () => {
  send("begin", { settings: SETTINGS, until: 120, tells: "diary" }); // there from the first
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  assert.deepEqual([last().steps, last().ended], [1, "until"]);
  send("begin", { settings: SETTINGS, until: 30, tells: "spelled" });
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  assert.deepEqual([last().steps, last().spelled], [30, null], "it never came");
});

test("a run that came to its given end goes on from there, as one that never had an end", () => {
  const train = (until) => {
    send("begin", { settings: SETTINGS, until });
    send("go");
    takeTurnsUntil(() => last().status === "ended");
    if (until) {
      assert.deepEqual([last().steps, last().ended], [until, "until"]);
      reports.length = 0;
      send("on");
      takeTurnsUntil(() => last()?.status === "ended");
    }
    return last();
  };
  const [whole, told] = [train(0), train(120)];
  assert.deepEqual([told.steps, told.ended, told.perplexity], [whole.steps, "plateau", whole.perplexity]);
  send("on");
  assert.equal(turns, 0, "one that ended by itself is over");
});

test("a free run ends when it has stopped improving", () => {
  send("begin", { settings: { ...SETTINGS, learning_rate: 1e-9 } });
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  assert.equal(last().ended, "plateau");
  assert.ok(last().steps > 3000 && last().steps < 3100, `${last().steps}`);
});

test("where a free run ends depends on its updates alone, not on the clock, the pace or pauses", () => {
  const settings = { ...SETTINGS, num_hiddens: 2, cell: "lstm" };
  const train = (isHalting) => {
    send("begin", { settings, speed: "flat" });
    send("go");
    for (let turn = 0; last().status !== "ended"; turn += 1) {
      takeTurns(1);
      if (!isHalting || turn % 3 || last().status === "ended") continue;
      send("pause");
      send("go");
    }
    return last();
  };
  const [whole, halting] = [train(false), train(true)];
  assert.deepEqual([halting.steps, halting.ended, halting.perplexity], [whole.steps, "plateau", whole.perplexity]);
});

test("the first updates are scored one by one, also flat out: a run that explodes is seen to leap", () => {
  send("begin", { settings: SETTINGS, until: 12, speed: "flat" });
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  assert.deepEqual(last().heldout.xs, Array.from({ length: 13 }, (_, i) => 32 * i));
});

test("the cat comes at its update: scored before and after it, its gradient is kept, and the run goes on", () => {
  const settings = { ...SETTINGS, optimizer: "sgd", learning_rate: 0.5, clip: 0 };
  send("begin", { settings, until: 200, cat: 150 });
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  const { heldout, norms, catNorm, catAt } = last();
  assert.equal(catAt, 32 * 150);
  assert.ok(heldout.xs.filter((x) => x >= 32 * 149 && x < 32 * 160).length >= 3);
  assert.ok(heldout.xs.includes(32 * 149), "no climb to the cat from long before");
  assert.ok(norms.ys.includes(catNorm) && catNorm > 1);
});

test("the held-out text is scored once an update: at an age, before a cat, at an end, at a pause", () => {
  for (const [cat, until] of [[301, 302], [0, 100]]) {
    send("begin", { settings: SETTINGS, cat, until, speed: "flat" });
    send("go");
    send("pause");
    for (send("go"); last().status !== "ended"; send("go")) {
      takeTurns(1);
      send("pause");
      send("go");
      send("pause");
    }
    const { xs } = last().heldout;
    assert.ok(xs.every((x, i) => i === 0 || x > xs[i - 1]), `${xs}`);
    assert.ok(xs.includes(32 * 10) && xs.includes(32 * (cat ? 300 : 100)));
  }
});

test("slow is slow at first and quicker with age; flat out is as fast as it goes", async () => {
  send("pace", { speed: "slow" });
  const begin = performance.now();
  send("go");
  while (performance.now() - begin < 1500) {
    takeTurns(1);
    await new Promise((done) => setTimeout(done, 10));
  }
  send("pause");
  const seconds = (performance.now() - begin) / 1000;
  assert.ok(last().steps >= 2 && last().steps <= LAB.singles.pace * seconds + 2, `${last().steps} updates in ${seconds} s`);
  assert.deepEqual(reports.slice(0, 2).map(({ steps }) => steps), [1, 2], "each of the first corrections is told");
  assert.ok(last().seconds > 1 && last().seconds <= seconds + 0.1);
  await new Promise((done) => setTimeout(done, 50)); // a turn that the slow pace has put off
  send("pace", { speed: "flat" });
  send("go");
  takeTurnsUntil(() => last().steps > 50); // a turn follows at once, however slow the machine
  send("pause");
});

test("around a story's cat every update can be seen, but where the reader wants it fast", async () => {
  const begin = (speed) => {
    send("begin", { settings: SETTINGS, cat: 12, until: 2000, speed });
    send("go");
  };
  begin("normal");
  const start = performance.now();
  while (performance.now() - start < 800) {
    takeTurns(1);
    await new Promise((done) => setTimeout(done, 5));
  }
  send("pause");
  const seconds = (performance.now() - start) / 1000;
  await new Promise((done) => setTimeout(done, 50)); // a turn that the pace has put off
  takeTurns(5);
  assert.ok(last().steps >= 2 && last().steps <= LAB.cat.pace * seconds + 2, `${last().steps} updates in ${seconds} s`);
  begin("flat");
  takeTurnsUntil(() => last().steps > 50);
  send("pause");
  takeTurns(5);
});

test("a text of the reader's own is split, counted and learned, in any alphabet", () => {
  const own = "潮水会回来的。潮水会走。".repeat(250);
  send("begin", { text: own, settings: { ...SETTINGS, batch_size: 64, num_steps: 64 }, until: 30 });
  assert.ok(last().batchSize < 64 && last().levels.length === 6 && last().sentence.includes("潮"));
  send("go");
  takeTurnsUntil(() => last().status === "ended");
  assert.ok(last().perplexity < 8);
});

test("a run for which the fast kernels have no room goes on with the plain ones", () => {
  const signs = Array.from({ length: 1000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  const largest = { ...SETTINGS, cell: "lstm", num_hiddens: 256, num_steps: 64, batch_size: 64 };
  send("begin", { text: signs.repeat(10), settings: largest });
  assert.deepEqual([last().steps, last().kernels], [0, "plain"]);
  send("begin", { settings: SETTINGS });
  assert.equal(last().kernels, "simd");
});
