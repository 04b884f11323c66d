// Runs as a classic script in the lab's worker. Messages in: { kind: "begin", run, text, settings, cat, until, tells }, "go",
// "on", "pause", { kind: "pace", speed }, { kind: "set", changes }, "cat". Message out: the report, whenever there is something new.
import { createTraining, prepareText, rivals } from "./lab_training.mjs";
import { PLAIN } from "../kernels.mjs";
import { createKernels } from "../simd.mjs";
import LAB from "./rules.json" with { type: "json" };

const SLICE_MS = 30; // then the queue of messages is looked at
const REPORT_MS = 90;
const REST_MS = 15; // where the pace leaves nothing to do

/** Whether a reader wants to see every update: around a story's cat. */
const isWatched = (steps) => cat > 0 && speed !== "flat" && steps >= cat - LAB.cat.before && steps < cat + LAB.cat.after;

/** Whether updates come one by one, each of them to be looked at: the first of a slow run. */
const isSingle = (steps) => speed === "slow" && steps <= LAB.singles.count;

/** Updates a second at an age: slow and normal grow with it, so that a logarithmic axis is crossed evenly. */
function paceAt(steps) {
  if (speed === "flat") return Infinity;
  if (isSingle(steps)) return LAB.singles.pace;
  if (isWatched(steps)) return LAB.cat.pace;
  const { least, of_age: ofAge, most } = LAB.paces[speed];
  return Math.min(most, Math.max(least, ofAge * steps));
}

const kernels = createKernels();
let used = kernels; // those of the run at hand
let text = null;
let levels = [];
let training = null;
let run = 0;
let cat = 0; // the update at which the cat comes, 0 for never
let until = 0; // the update at which the run ends, 0 for a free run
let tells = ""; // what of the report ends it sooner, once it is there
let speed = "slow";
let running = false;
let ended = null; // why a run is over: "until", "plateau" or "most"
let due = 0; // updates that the pace allows
let lastWork = 0;
let seconds = 0; // of running, without pauses
let lastReport = 0;
let lastSample = 0;
let written = []; // what it writes now, in pieces
let writtenAt = 0; // the update after which it wrote that
let keptAt = -1; // the update of the last report that has what it wrote just then, for whoever looks back
let scores = 0; // of the held-out text, by schedule
let scoredSteps = 0; // when the last was taken
let best = { perplexity: Infinity, steps: 0 };
let bestMoment = null; // what a reader who looks back at its least score sees

/** Send what there is to show. */
function tell() {
  const { steps, tokens, status, batchSize, train, norms, heldout, longest, catNorm, catAt, diary, counted, spelled } = training.report;
  lastReport = performance.now();
  const isOutdated = steps > 2 * writtenAt; // written at less than half its updates, as in its first seconds
  const kept = keptAt < 0 || steps >= Math.max(1, LAB.apart * keptAt) ? training.sample() : null;
  if (kept) keptAt = steps;
  if (!running || isSingle(steps) || lastReport - lastSample > 1000 * (isOutdated ? LAB.young_sample_seconds : LAB.sample_seconds)) {
    written = kept ?? training.sample();
    writtenAt = steps;
    lastSample = lastReport;
  }
  self.postMessage({
    run, steps, tokens, seconds, batchSize, longest, catNorm, catAt, counted, spelled, written, writtenAt, kept, best: running ? null : bestMoment, levels, ended,
    diary: [...diary],
    kernels: used.name,
    weights: training.model.flat.length,
    status: status === "diverged" ? status : ended ? "ended" : running ? "running" : "paused",
    train: train.points(), norms: norms.points(), heldout: heldout.points(),
    perplexity: heldout.last,
    sentence: training.sentence,
    ...training.read(),
  });
}

/** Score the held-out text, and keep the moment if it is the best so far. */
function evaluate() {
  training.evaluate();
  const { steps, tokens, heldout } = training.report;
  if (bestMoment !== null && !(heldout.last < bestMoment.perplexity)) return;
  bestMoment = { steps, tokens, seconds, perplexity: heldout.last, ...training.read(), written: training.sample(), writtenAt: steps };
}

/** Score the held-out text where the schedule has it: these scores, and not one that a pause adds, decide when a run ends. */
function score() {
  evaluate();
  const { steps, heldout } = training.report;
  scores += 1;
  scoredSteps = steps;
  if (heldout.last < best.perplexity * (1 - LAB.gain)) best = { perplexity: heldout.last, steps };
}

/**
 * Whether a score is due: evenly on a logarithmic axis, at a share of the training's work at most, but for what is `free`. It
 * goes by updates, never by the clock. Work is counted in letters read, times weights; an update reads forwards and back: three times.
 */
function isScoreDue() {
  const { steps, tokens } = training.report;
  const { factor, share, free } = LAB.scores;
  const most = 3 * share * tokens + free / training.model.flat.length;
  return steps >= factor * scoredSteps && scores * training.scoreTokens <= most;
}

// The next slice comes by message: a timer that sets itself anew waits four milliseconds each time.
const turns = new MessageChannel();
let turnIsDue = false;
turns.port1.onmessage = () => {
  turnIsDue = false;
  if (running) work();
};

/** Let messages in, then go on. There is one turn at most, however often a reader starts and stops. */
function takeTurn() {
  if (turnIsDue) return;
  turnIsDue = true;
  if (due >= 1) turns.port2.postMessage(null);
  else setTimeout(() => turns.port1.onmessage(), REST_MS);
}

/** Why the run is over, or null: a free one ends when it has not improved by LAB.gain while its age doubled. */
function end() {
  const { steps } = training.report;
  if (until) return steps >= until || training.report[tells] ? "until" : null;
  if (steps >= LAB.most_updates) return "most";
  return steps > LAB.young && steps > 2 * best.steps ? "plateau" : null;
}

/** One update with all that belongs to its age; false once the numbers are lost. */
function update() {
  const { report } = training;
  if (report.steps + 1 === cat) training.letCat();
  if (!training.step()) return false;
  const { steps, spelled } = report;
  if (spelled && spelled.seconds === undefined) spelled.seconds = seconds;
  const isAge = LAB.ages.includes(steps);
  const isNear = cat && steps >= cat - 1 && (steps < cat + 40 || steps % 5 === 0); // what the cat did is seen update by update
  if (isAge || isNear || steps === until || isScoreDue()) score();
  if (isAge) training.note();
  return true;
}

/** Train for a slice of time, as much as the pace allows. */
function work() {
  const start = performance.now();
  const passed = Math.min(start - lastWork, 100) / 1000;
  lastWork = start;
  seconds += passed;
  const pace = paceAt(training.report.steps);
  due = pace === Infinity ? Infinity : Math.min(due + pace * passed, 0.25 * pace + 1);
  let good = true;
  let worked = false;
  while (good && due >= 1 && ended === null && performance.now() - start < SLICE_MS) {
    good = update();
    due = isWatched(training.report.steps) ? Math.min(due - 1, 1) : due - 1;
    worked = true;
    ended = end();
  }
  if (!good || ended) {
    running = false;
    if (ended) evaluate();
    tell();
    return;
  }
  if (worked && (isSingle(training.report.steps) || performance.now() - lastReport > REPORT_MS)) tell();
  takeTurn();
}

/** A run with the fast kernels; a very large one, for which they have no room, with the plain ones. */
function createRun(settings) {
  used = kernels;
  try {
    return createTraining(text, settings, kernels);
  } catch (error) {
    if (!(error instanceof RangeError) || kernels === PLAIN) throw error;
    used = PLAIN;
    return createTraining(text, settings, PLAIN);
  }
}

const actions = {
  begin({ text: source, settings, run: id = 0, cat: comes = 0, until: last = 0, tells: what = "", speed: pace = speed }) {
    const isNew = source !== undefined;
    if (isNew) {
      text = prepareText(source);
      levels = [];
    }
    [run, cat, until, tells, speed] = [id, comes, last, what, pace];
    running = false;
    ended = null;
    due = seconds = scores = scoredSteps = 0;
    keptAt = -1;
    bestMoment = null;
    best = { perplexity: Infinity, steps: 0 };
    training = createRun(settings);
    score();
    training.note();
    if (isNew) levels = rivals(text);
    tell();
  },
  go() {
    if (running || ended || training.report.status === "diverged") return;
    running = true;
    lastWork = performance.now();
    due = Math.max(due, 1);
    takeTurn();
  },
  /** A run that came to its given end goes on without one. */
  on() {
    if (ended !== "until") return;
    [until, tells, ended] = [0, "", null];
    actions.go();
  },
  pause() {
    if (!running) return;
    running = false;
    evaluate();
    tell();
  },
  pace({ speed: pace }) {
    speed = pace;
    due = Math.min(due, 1);
  },
  set({ changes }) {
    training.set(changes);
  },
  cat() {
    training.letCat();
  },
};

self.onmessage = ({ data }) => actions[data.kind](data);
