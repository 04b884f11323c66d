// The concatenation identity: X W_xh + H W_hh, glued into [X H] times W_xh over W_hh, and taken apart again.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, rangeControl } from "../ui.mjs";
import { derive, products, repair } from "./maths.mjs";
import { codePanel, stagePanel, sumPanel, written } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SLIDE_SECONDS = 0.9;
const SWAP_SECONDS = 0.7;
const HOME = 4; // times as fast a block that was let go returns
const TERMS_SECONDS = 0.6; // until the terms of the sum are in their new places
const SUM_SECONDS = 1.4;
const FIRST_SECONDS = 3; // the first time, one sees which number meets which
const SIDES = { weights: "swapped", rows: "memory_first" }; // what may stand the other way round when glued, and its trait
const IN_ORDER = { swapped: false, memory_first: false };
const SIZES = ["batch_size", "num_inputs", "num_hiddens"];
const ease = (share) => (share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share));

/** Which of the words tell of it. */
function kindOf({ glued, swapped, memory_first, parts, added }, [row, column]) {
  if (added !== 0) return "added";
  const { sum, right } = parts[row][column];
  if (swapped === memory_first) return swapped ? "both" : glued ? "glued" : "apart";
  return sum === right ? "chance" : "swapped";
}

/** The values of the templates that tell of one number of the result. */
function told({ parts, mats, added }, [row, column]) {
  const { x, h, sum, right } = parts[row][column];
  const [count, results] = [mats.W_xh.length + mats.W_hh.length, parts.length * parts[0].length];
  return {
    row: row + 1, column: column + 1, x: written(x), h: written(h), value: written(sum), right_value: written(right),
    count, results, all: count * results, bias: added === 0 ? "0" : written(added), memory: written(Math.tanh(sum)),
    added: written(added), wrong: parts.flat().filter((part) => part.sum !== part.right).length,
  };
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const change = (values) => commit({ ...values, added: 0 }); // what was tried was tried on other results
  let model = null; // where all goes, and what is told, at once
  let carried = Promise.resolve(true); // the terms have come to their new places
  let hovered = null;
  let looked = null; // the number on which the lights are
  let touched = false;
  let isMeeting = false; // the tables are on their way, and nothing is told yet
  const slider = motion({ seconds: SLIDE_SECONDS, signal });
  const swapper = motion({ seconds: SWAP_SECONDS, signal });
  const carrier = motion({ seconds: TERMS_SECONDS, signal }); // of the terms: they arrive whether or not a block has to move

  const now = nowLine();
  const sum = sumPanel({ t });
  const code = codePanel({ t });
  const [work, pressed] = ["glue-soft glue-work", "glue-soft"].map((name) => element("p", { class: name }));
  const stage = stagePanel({
    t, signal,
    onSelect: (place) => {
      hovered = null;
      commit(place);
      if (runner === null && Object.entries(place).every(([name, value]) => model[name] === value)) runSum();
    },
    onHover: (place) => {
      hovered = place;
      if (isMeeting) return;
      const before = looked?.join();
      look();
      if (place !== null && looked.join() !== before) runSum();
    },
    onDrag: () => {
      slider.stop();
      swapper.stop();
      settleTerms();
    },
    onDrop: (glued) => {
      if (glued === model.glued) meet(slide());
      else change({ glued, ...IN_ORDER });
    },
    onSwap: (side) => swap(SIDES[side]),
  });
  /** While a question waits for its guess, the swap that it asks about waits too; where that is what one of its answers says, it is this answer. */
  const swap = (name) => {
    const asked = steps.isAsking() ? SPEC.steps[steps.opened()] : null;
    const isIt = asked && asked.before[name] !== asked.state[name] && state()[name] === asked.before[name];
    if (!isIt) change({ [name]: !state()[name] });
    else if (asked === SPEC.steps.at(-1)) steps.node.querySelectorAll(".d2lrnn-answers button")[asked.right].click();
    else {
      steps.urge();
      slide(); // a block that was carried goes back
    }
  };

  // ---- the sum runs ----
  let runner = null;
  const pairsNow = () => products(model.mats, ...looked, model.swapped, model.memory_first);
  const lightTerm = (count) => {
    const { all } = pairsNow();
    const running = count > 0 && count <= all.length && runner !== null;
    sum.run(count, running);
    stage.light(looked, running ? count - 1 : -1);
    code.light(running ? all[count - 1][3] : null);
  };
  const runSum = (seconds = SUM_SECONDS) => {
    runner?.stop();
    if (steps.isAsking()) return; // nothing moves below an open question
    const all = model.mats.W_xh.length + model.mats.W_hh.length;
    const mine = motion({ seconds, signal });
    runner = mine;
    let last = -1;
    mine.run((share) => {
      const count = Math.min(all, Math.floor(share * (all + 1)) + 1);
      if (share === 1) runner = null;
      else if (count === last) return;
      last = count;
      lightTerm(count);
    });
  };
  // Under a mouse that moves over numbers, nothing may jump: what has become high stays high.
  const keepHeight = () => {
    for (const { node } of [now, sum]) node.style.minHeight = `${node.offsetHeight}px`;
  };
  /** Turn to the hovered or else the chosen number: sentence, sum and code tell of it. */
  const look = () => {
    if (isMeeting) return; // it is told when the tables have met
    looked = hovered ?? [model.row, model.column];
    const values = told(model, looked);
    now.set(...emphasised(t.raw(`now_${kindOf(model, looked)}`), values));
    pressed.replaceChildren(...emphasised(t.raw(model.isWrong ? "pressed_wrong" : "pressed"), values));
    stage.name(!model.glued ? "sum" : model.isWrong ? "wrong" : model.swapped === model.memory_first ? "same" : "chance", model.added);
    stage.tellNext(["next", "next_short"].map((key) => t(key, values)), looked);
    const areMoving = sum.show(pairsNow(), model.parts[looked[0]][looked[1]], model.glued, model.added);
    work.replaceChildren(...emphasised(t.raw(values.results === 1 ? "work_one" : "work"), values));
    if (areMoving) carried = carrier.run((share) => sum.move(share === 1 ? 1 : ease(share)));
    code.show(model);
    if (hovered) keepHeight();
    runner?.stop();
    runner = null;
    lightTerm(Infinity);
  };

  const settleTerms = () => {
    carrier.stop();
    carried = Promise.resolve(true);
    sum.move(1);
  };

  // ---- the blocks slide ----
  /** One way at a time: glued, the blocks slide and then those of a side pass each other; taken apart, the other way round. */
  const slide = async () => {
    const moves = [slideBlocks, () => pass("weights"), () => pass("rows")];
    for (const move of model.glued ? moves : moves.reverse()) {
      if (!await move()) return false;
    }
    return true;
  };
  const slideBlocks = () => {
    const [from, to] = [stage.share(), model.glued ? 1 : 0];
    if (from === to && (!stage.isLifted() || Object.entries(SIDES).some(([side, name]) => stage.order(side) !== Number(model[name])))) {
      slider.stop();
      return true;
    }
    return slider.run((share) => {
      const home = Math.min(1, HOME * share);
      const at = share === 1 ? to : from + share * (to - from);
      stage.slide(at, ease(home));
    });
  };
  const pass = (side) => {
    const [from, to] = [stage.order(side), Number(model[SIDES[side]])];
    if (from === to) {
      swapper.stop();
      return true;
    }
    return swapper.run((share) => stage.swap(side, share === 1 ? to : from + ease(share) * (to - from), ease(share)));
  };

  /** What is told of tables that meet, or part, waits until they have; then the sum runs. */
  const meet = async (slid) => {
    if (!await slid || !isMeeting) return false;
    isMeeting = false;
    now.node.style.minHeight = "";
    look();
    return true;
  };

  // ---- controls ----
  const glue = buttonControl({
    label: t("glue"), class: "d2lrnn-button glue-button", signal, onPress: () => change({ glued: !state().glued, ...IN_ORDER }),
  });
  const swaps = Object.entries(SIDES).map(([side, name]) => buttonControl({
    label: t(side === "rows" ? "swap_rows" : "swap"), class: `d2lrnn-button glue-swap glue-swap-${side}`, signal, onPress: () => swap(name),
  }));
  const hint = element("span", { class: "glue-soft glue-hint" });
  const numbers = buttonControl({ label: t("numbers"), signal, onPress: () => change({ seed: (state().seed + 1) % (SPEC.controls.seed.max + 1) }) });
  const sizes = Object.fromEntries(SIZES.map((name) => {
    const value = element("b", {});
    const { min, max } = SPEC.controls[name];
    const range = rangeControl({
      label: element("span", {}, t(name), " ", value), min, max, signal, onInput: (size) => keepPlace(range.node, () => change(repair({ ...state(), [name]: size }))),
    });
    return [name, { node: range.node, set: (size) => { value.textContent = String(size); range.set(size, String(size)); } }];
  }));
  /** The picture above grows with its tables: what a hand is on stays under it, and so does the end of the picture. */
  const keepPlace = (node, act) => {
    const { top } = node.getBoundingClientRect();
    act();
    queueMicrotask(() => scrollBy({ top: node.getBoundingClientRect().top - top, behavior: "instant" })); // it has been drawn
  };
  // A wrong answer to the last question is tried: the tables stay as they are, and its number may be added to every result.
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, onReset, say, signal, set: commit,
    outcome: (i, j) => {
      const { before, right: rightAnswer } = SPEC.steps[i];
      const asked = derive({ ...state(), ...before, added: 0 });
      const place = [asked.row, asked.column];
      const { sum, right } = asked.parts[place[0]][place[1]];
      const tried = derive({ ...asked, added: right - sum });
      if (i === SPEC.steps.length - 1 && j !== rightAnswer) commit({ memory_first: before.memory_first, added: j === 1 ? tried.added : 0 });
      const answered = derive(state());
      const [[number, weight, , , own]] = products(answered.mats, ...place, answered.swapped, answered.memory_first).all;
      const [first, second] = tried.parts[asked.row].filter((_, column) => column !== asked.column).map((part) => written(part.sum));
      const values = {
        ...told(answered, place), first, second, value_before: written(sum), right_answer: t(`step_${i + 1}_answer_${rightAnswer + 1}`),
        number: written(number, 1), weight: written(weight, 1), own: written(own, 1),
      };
      return { ...values, why: t(`step_${i + 1}_why_${j + 1}`, values) };
    },
  });
  onReset(() => {
    hovered = null;
  });
  const root = element(
    "div", { class: "d2lrnn-shape glue" },
    element("p", { class: "d2lrnn-lead" }, t("lead")),
    now.node,
    element("div", { class: "glue-view" }, element("div", { class: "glue-act" }, glue, ...swaps, hint), element("div", { class: "glue-made" }, stage.node, sum.node)),
    steps.node,
    fold(t("fold"), element("div", { class: "glue-sizes" }, ...SIZES.map((name) => sizes[name].node)), element("div", {}, numbers), code.node, work, pressed),
    footRow({ t, reset, link, say, signal }),
  );
  el.append(root);
  for (const kind of ["pointerdown", "keydown"]) {
    root.addEventListener(kind, () => {
      if (!touched && runner !== null) look();
      touched = true;
    }, { signal, capture: true });
  }

  // Seen for the first time: the sum runs, term by term, and stops at a touch.
  whenSeen(stage.node, { signal, act: () => !touched && !prefersReducedMotion() && runSum(FIRST_SECONDS) });

  const keyOf = ({ glued, swapped, memory_first, row, column }) => [glued, swapped, memory_first, row, column].join();
  const draw = (given) => {
    const first = model === null;
    const isOther = !first && [...SIZES, "seed"].some((name) => given[name] !== model[name]);
    const isElsewhere = !first && keyOf(given) !== keyOf(model);
    const isInOrder = ({ swapped, memory_first }) => !swapped && !memory_first;
    const waits = !first && !isOther && isInOrder(given) && isInOrder(model) && stage.share() !== Number(given.glued);
    const isRunning = runner !== null && isElsewhere && ["glued", ...Object.values(SIDES)].every((name) => given[name] === model[name]) && looked.join() === [given.row, given.column].join();
    model = given;
    stage.fill(model);
    if (first || isOther) { // other numbers stand where they belong at once
      slider.stop();
      swapper.stop();
      settleTerms();
      for (const [side, name] of Object.entries(SIDES)) stage.swap(side, Number(model[name]));
      stage.slide(model.glued ? 1 : 0);
    }
    stage.select(model.row, model.column);
    if (hovered && (hovered[0] >= model.batch_size || hovered[1] >= model.num_hiddens)) hovered = null;
    glue.textContent = t(model.glued ? "unglue" : "glue");
    for (const [i, name] of Object.values(SIDES).entries()) {
      swaps[i].hidden = !model.glued;
      swaps[i].setAttribute("aria-pressed", String(model[name]));
    }
    hint.textContent = t(model.glued ? "hint_glued" : "hint_apart");
    for (const name of SIZES) sizes[name].set(model[name]);
    const asked = SPEC.steps[steps.opened()];
    const isMoved = asked === SPEC.steps.at(-1) && model.glued && !model.swapped; // the weights for H, which must stay on top
    if (asked && (isMoved || [...SIZES, "seed"].some((name) => asked.before[name] !== model[name]))) steps.ask(-1); // it asked of something else
    isMeeting = waits;
    const slid = first ? null : slide();
    if (isRunning && !waits) return; // a mouse was over this number before it was pressed
    for (const { node } of [now, sum]) node.style.minHeight = "";
    if (waits) {
      runner?.stop();
      runner = null;
      lightTerm(Infinity);
      now.node.style.minHeight = `${now.node.offsetHeight}px`;
      now.set(t("now_moving"));
      meet(slid).then(async (met) => met && await carried && runSum());
      return;
    }
    look();
    if (isElsewhere) slid.then(async (arrived) => arrived && await carried && runSum());
  };
  return { draw };
}

export default explorable({
  spec: SPEC, derive, repair, build,
  spoken: (model, t) => t({ apart: "spoken_apart", glued: "spoken_glued", both: "spoken_both", added: "spoken_added" }[kindOf(model, [model.row, model.column])] ?? "spoken_swapped", told(model, [model.row, model.column])),
});
