// Scan: the states of a linear recurrence, walked by a loop and combined by a parallel scan, one clock for both.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, rangeControl, selectControl } from "../ui.mjs";
import { METHODS, MIN_STEPS, MAX_STEPS, PRESETS, counts, derive, presetOf, presetValues, repair, formatValue, resized, scanLevels } from "./maths.mjs";
import { colourKey, countsTable, explained, figure, hand, joinOf, lanes, madeAt, sentence, showsFilled, showsNumbers, stepsInWords, trick } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const MANY = 1000; // steps of a long text
const [JOIN, SHOWN_JOIN] = [0.8, 4]; // seconds that two boxes take to become one: in the race, and shown by itself
const GAP = 6; // pixels that stay free above a step on a phone
const REST = 2000; // milliseconds that the scan stands complete, before the loop goes on

/** Milliseconds from one tick to the next: the more there are, the faster; a whole run takes about `all`. */
const intervalFor = (ticks, all) => Math.min(1100, Math.max(140, all / ticks));

/** The first runs stop after rounds 1 and 2, to look at: steps join, then boxes that were joined; the next goes on to the end. */
const lookedAt = ({ levels }) => Math.min(2, levels.length - 1);

/** The words for the box that is lit up: what it joins, or the state that it holds. */
function litKey({ first, from, place, states }) {
  if (first && place - from > 2) return "hint_boxes";
  if (first) return states[0] === null ? "hint_open" : "hint";
  return from < 0 ? "hint_given" : "hint_state";
}

/** The words under the picture: for the box in hand, before the first round, and for what the newest round has joined. */
function hintKeyOf(model, join) {
  const isDense = !showsNumbers(model);
  if (model.cell !== null) return model.cell.level > 0 && madeAt(model.levels, model.cell) < model.cell.level ? "hint_copy" : litKey(join);
  if (!isDense && model.numSteps > 8 && (model.step === 0 || model.done.loop)) return "hint_tap"; // on a phone these boxes hold no numbers
  if (model.step === 0) return isDense ? "hint_dots" : "hint_start";
  return isDense ? "hint_lines" : litKey(join);
}

/** Ticks that go on by themselves: `run(from, to)` in about `all` milliseconds, the `first` after so many, `stop()`; after a tick that `rests` they wait. */
function clock({ onTick, onState, rests, signal }) {
  let timer = 0;
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
    onState(false);
  };
  const run = (from, to, { all = 8000, first = Infinity } = {}) => {
    clearTimeout(timer);
    const interval = intervalFor(to - from, all);
    const next = (tick) => {
      timer = setTimeout(() => {
        onTick(tick);
        if (tick < to) next(tick + 1);
        else stop();
      }, (tick - 1 > from ? interval : Math.min(first, interval)) + (tick - 1 > from && rests(tick - 1) ? REST : 0));
    };
    onState(true);
    if (from < to) next(from + 1);
    else stop();
  };
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  document.addEventListener("visibilitychange", () => document.hidden && timer && stop(), { signal });
  return { run, stop, running: () => timer !== 0 };
}

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  let shown = null;
  let seen = 0; // rounds, at most; from the first on there is a slider over them
  let isRunning = false;
  let follows = false; // since a run, the card tells of the newest column, whichever box is in hand
  let isAnswer = false; // the run shows what was guessed, which its words wait for
  let isPriced = false; // the picture shows the price of the scan
  let told = ""; // under the picture, but for what to do next
  let editing = false; // "your own" is chosen, and nothing changed yet
  const now = nowLine();
  const ticking = clock({
    signal, onTick: (step) => commit({ step }),
    onState: (on) => {
      isRunning = on;
      label();
    },
    rests: (step) => step === shown.levels.length,
  });
  /** Whatever the reader sets ends a run. */
  const set = (values) => {
    isAnswer = false;
    ticking.stop();
    commit(values);
  };
  /** A race that is run shows how many boxes it fills, which its question asks. */
  const leavePrice = () => {
    if (steps.opened() !== 2 || !steps.isAsking()) return;
    steps.leave();
    draw(shown);
  };
  /** The card tells of the box in hand again. */
  const hold = () => {
    if (!follows) return;
    follows = false;
    draw(shown);
  };
  /** Another race is not the one that a step asks or tells about. */
  const change = (values) => {
    if (steps.opened() >= 0) steps.ask(-1);
    set(values);
  };

  const label = () => {
    const goesOn = !isRunning && shown.step > 0 && !shown.done.loop;
    runButton.textContent = t(isRunning ? "pause" : goesOn ? "go_on" : "run");
    const waits = goesOn && shown.step <= lookedAt(shown) && shown.method === "doubling"; // there all that joined joins again
    root.classList.toggle("scan-waits", waits);
    root.classList.toggle("scan-plays", isRunning && isAnswer);
    // The boxes of a longer race are too small for a finger.
    const rests = shown.cell === null && (shown.step === 0 || shown.done.loop);
    const next = shown.cell !== null && !isRunning ? "tap_next" : waits ? "press_on" : "tap";
    hint.textContent = !showsNumbers(shown) || rests ? told : `${told} ${t(next, { run: runButton.textContent })}`;
  };
  const runButton = buttonControl({
    label: t("run"), class: "d2lrnn-button scan-run", signal,
    onPress: () => {
      if (ticking.running()) return ticking.stop();
      isAnswer = false;
      follows = true;
      leavePrice();
      const from = shown.done.loop ? 0 : shown.step;
      if (from !== shown.step) commit({ step: from });
      ticking.run(from, seen < lookedAt(shown) ? seen + 1 : shown.numSteps - 1, { first: 250 }); // answered at once
    },
  });
  const at = element("b");
  const tickRange = rangeControl({
    label: element("span", { class: "scan-slider-label" }, t("at"), " ", at), min: 0, max: 1, signal,
    onInput: (step) => {
      leavePrice();
      set({ step });
    },
  });
  const length = element("b");
  const lengthRange = rangeControl({
    label: element("span", { class: "scan-slider-label" }, t("length"), " ", length), min: MIN_STEPS, max: MAX_STEPS, signal,
    onInput: (numSteps) => change({ ...resized(shown, numSteps), step: 0, place: 0 }),
  });

  const showHand = (act = () => {}) => requestAnimationFrame(() => { // it has been drawn
    if (!inHand.node.hidden) inHand.node.scrollIntoView({ block: "nearest", behavior: "instant" });
    act();
  });
  const picture = figure({
    t, signal,
    onPlace: (x) => {
      rule.node.classList.toggle("scan-points", x !== null);
      if (x !== null) rule.node.style.setProperty("--scan-at", `${x.toFixed(1)}px`);
    },
    onCell: (cell, tapped = false) => {
      hold();
      commit(cell === null ? { place: 0 } : { level: cell.level, place: cell.place + 1 });
      if (!tapped || cell === null) return;
      showJoin();
      showHand();
    },
  });
  const inHand = hand({
    t, signal, controls: SPEC.controls,
    onNumber: (name, value) => {
      hold();
      set({ [name]: shown[name].map((old, i) => (i === shown.cell?.place ? value : old)) });
    },
  });

  const example = selectControl({
    label: t("example"), options: [...PRESETS, "own"].map((name) => [name, t(`example_${name}`)]), signal,
    onChange: (name) => {
      editing = name === "own";
      if (!editing) return change(presetValues(name, shown.numSteps));
      hold();
      commit({ level: 0, place: Math.max(1, shown.cell?.place ?? 1) + 1 }); // sliders appear; the factor of step 1 meets a state of zero
      showHand(inHand.focus);
    },
  });
  const ownHint = element("p", { hidden: true }, t("own_hint"));
  const method = selectControl({
    label: t("method"), options: METHODS.map((name) => [name, t(`method_${name}`)]), signal,
    onChange: (name) => change({ method: name }),
  });
  const books = countsTable({ t });
  const more = fold(t("more_title"), element(
    "div", { class: "scan-more" }, lengthRange.node, example.node, method.node, ownHint, books.node, element("p", {}, t("why")),
  ));

  /** To look at a box changes nothing. */
  const watched = () => {
    const { a, x, method, step } = state();
    return { a, x, method, step };
  };
  const steps = guidedSteps({
    t, state: watched, steps: SPEC.steps, onReset, say, signal,
    set: (values) => {
      // A long race would end seconds after the guess.
      const walks = values.step > 0 && values.step < 10 && !prefersReducedMotion();
      editing = false;
      set({ ...values, place: 0, step: walks ? 0 : values.step });
      isAnswer = walks;
      if (walks) ticking.run(0, values.step, { all: 3000, first: 250 });
    },
    outcome: (i, j) => {
      const numSteps = SPEC.steps[i].state.x.length;
      const levels = scanLevels(numSteps, "doubling");
      const { work } = counts(numSteps, levels, levels.length).scan;
      const missed = j === SPEC.steps[i].right ? "" : t(`step_${i + 1}_missed_${j + 1}`, { first: levels[0].targets.length, second: levels[1].targets.length });
      return {
        missed, ticks: levels.length, work, times: Math.round(work / (numSteps - 1)),
        many: MANY, loop_many: MANY - 1, ticks_many: scanLevels(MANY, "doubling").length,
      };
    },
  });
  steps.node.querySelector(".d2lrnn-outcome").dataset.watch = t("watch"); // until the picture has shown it (style.css)
  onReset(() => {
    ticking.stop();
    editing = false;
    follows = false;
    seen = 0;
    more.open = false;
  });
  steps.node.addEventListener("click", ({ target }) => target.closest(".d2lrnn-step-title") && steps.opened() < 0 && ticking.stop(), { signal });

  const rule = trick({ t, signal });
  const race = lanes({ t });
  const hint = element("p", { class: "d2lrnn-lead scan-hint" });

  const raced = element("div", { class: "scan-race" }, element("div", { class: "scan-controls" }, runButton, race.node, tickRange.node), rule.node, picture.node);
  const key = colourKey({ t });
  const play = element("div", { class: "scan-play" }, now.node, raced, element("div", { class: "scan-below" }, key, hint, inHand.node));
  // An open step is seen together with the headline and the picture, and where there is room also with the join above them.
  const bring = () => {
    const isSheet = getComputedStyle(steps.node).position === "sticky"; // on a phone
    if (steps.opened() < 0 || signal.aborted) return;
    const above = parseFloat(getComputedStyle(play).scrollMarginTop);
    const { top } = play.getBoundingClientRect();
    if (!isSheet && top >= above && steps.node.querySelector(".d2lrnn-step").getBoundingClientRect().bottom <= innerHeight) return;
    const fits = (part) => !isSheet || key.getBoundingClientRect().bottom - part.getBoundingClientRect().top + above <= innerHeight - steps.node.offsetHeight - GAP;
    [play, now.node, raced].find(fits)?.scrollIntoView({ block: "start", behavior: prefersReducedMotion() ? "instant" : "smooth" }); // else the race alone, as the steps bring it
  };
  steps.node.addEventListener("click", () => requestAnimationFrame(bring), { signal });

  const root = element(
    "div", { class: "d2lrnn-shape scan" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), play, steps.node, more, footRow({ t, reset, link, say, signal }),
  );
  el.append(root);

  const joins = motion({ seconds: JOIN, signal });
  const shownJoin = motion({ seconds: SHOWN_JOIN, signal });
  const showJoin = () => {
    joins.stop();
    shownJoin.run(rule.move);
  };
  whenSeen(rule.node, { act: () => shown.step === 0 && showJoin(), signal });
  rule.node.addEventListener("click", showJoin, { signal });

  steps.node.addEventListener("click", () => draw(shown), { signal });

  const draw = (model) => {
    joins.stop();
    shownJoin.stop();
    const isFirst = !isAnswer && model.step === seen + 1 && model.step <= lookedAt(model) && shown !== null;
    const isNext = shown !== null && model.level === shown.level + 1 && model.step === shown.step + 1 && model.cell === null;
    shown = model;
    shown.isAsked = steps.isAsking();
    isPriced = steps.opened() === 2 || (isPriced && steps.opened() < 0 && model.done.loop); // also that of another scan
    shown.isPriced = isPriced;
    seen = Math.max(seen, model.step);
    root.classList.toggle("scan-started", seen > 0);
    root.classList.toggle("scan-priced", isPriced);
    root.classList.toggle("scan-sweeps", model.method !== "doubling");
    const [key, values] = sentence(shown);
    now.set(...emphasised(t.raw(key), values));
    length.textContent = String(model.numSteps);
    lengthRange.set(model.numSteps, t("length_value", { count: model.numSteps }));
    at.textContent = model.step;
    tickRange.input.max = model.numSteps - 1;
    tickRange.set(model.step, at.textContent);
    const followed = follows ? { ...shown, cell: null } : shown;
    rule.draw(explained(followed));
    if (isNext && isFirst) shownJoin.run(rule.move);
    else if (isNext && !isAnswer && model.numSteps <= 8) joins.run(rule.move); // a longer race is too fast for it
    const join = joinOf(explained(followed));
    const isFilled = showsFilled(model) && !shown.isAsked;
    const hintKey = isFilled ? "hint_filled" : hintKeyOf(followed, join);
    const filled = model.levels.map(({ targets }) => targets.length);
    told = t(hintKey, {
      steps: hintKey === "hint_dots" ? model.numSteps : stepsInWords(join.from + 1, join.place, t), before: join.from + 1, after: join.place + 1, h: formatValue(model.loop[0]),
      first: join.middle - join.from, next: join.place - join.middle, both: join.place - join.from,
      sum: filled.join(" + "), work: filled.reduce((all, one) => all + one, 0), loop: model.numSteps - 1,
    });
    label();
    hint.classList.toggle("scan-price", isFilled);
    example.set(editing ? "own" : presetOf(model) ?? "own");
    ownHint.hidden = example.input.value !== "own";
    method.set(model.method);
    race.draw(model);
    picture.draw(followed);
    inHand.draw(model);
    books.draw(model);
  };
  return { draw };
}

export default explorable({ spec: SPEC, derive, build, repair, spoken: (model, t) => t(...sentence(model)) });
