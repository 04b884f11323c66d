// The concatenation identity: X W_xh + H W_hh, glued into [X H] times W_xh over W_hh, and taken apart again.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, rangeControl } from "../ui.mjs";
import { derive, exactSum, products, repair, tableSize } from "./maths.mjs";
import { codePanel, scalePanel, stagePanel, sumPanel, written } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SLIDE_SECONDS = 1.6;
const SWAP_SECONDS = 0.7;
const HOME = 4; // times as fast a block that was let go returns
const TERMS_SECONDS = 0.6; // until the terms of the sum are in their new places
const SUM_SECONDS = 1.4;
const REAL = { num_inputs: 27, num_hiddens: 100 }; // of question 3
const SIZES = ["batch_size", "num_inputs", "num_hiddens"];
const ease = (share) => (share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share));

/** Which of the words tell of it. */
function kindOf({ glued, swapped, parts }, [row, column]) {
  const { sum, right } = parts[row][column];
  if (!swapped) return glued ? "glued" : "apart";
  return sum === right ? "chance" : "swapped";
}

/** The values of the templates that tell of one number of the result. */
function told({ parts, mats }, [row, column]) {
  const { x, h, sum, right } = parts[row][column];
  return {
    row: row + 1, column: column + 1, x: written(x), h: written(h), value: written(sum), right_value: written(right), count: mats.W_xh.length + mats.W_hh.length,
  };
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  let model = null; // where all goes
  let shown = null; // where all stands: what is told, until the blocks have landed somewhere else
  let carried = Promise.resolve(true); // the terms have come to their new places
  let hovered = null;
  let looked = null; // the number on which the lights are
  let touched = false;
  const slider = motion({ seconds: SLIDE_SECONDS, signal });
  const swapper = motion({ seconds: SWAP_SECONDS, signal });
  const carrier = motion({ seconds: TERMS_SECONDS, signal }); // of the terms: they arrive whether or not a block has to move

  const now = nowLine();
  const sum = sumPanel({ t });
  const code = codePanel();
  const stage = stagePanel({
    t, signal,
    onSelect: (place) => {
      hovered = null;
      commit(place);
      if (runner === null && Object.entries(place).every(([name, value]) => model[name] === value)) runSum();
    },
    onHover: (place) => {
      hovered = place;
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
      if (glued === model.glued) slide();
      else commit({ glued, swapped: false });
    },
    onSwap: () => commit({ swapped: !model.swapped }),
  });

  // ---- the sum runs ----
  let runner = null;
  const lightTerm = (count) => {
    const { mats, num_inputs, swapped } = shown;
    const pairs = products(mats, ...looked, swapped);
    const all = pairs.x.length + pairs.h.length;
    const running = count > 0 && count <= all && runner !== null;
    sum.run(count, exactSum, running);
    stage.light(looked, running ? count - 1 : -1);
    code.light(running ? (count - 1 < num_inputs ? "x" : "h") : null);
  };
  const isAsking = () => steps.opened() >= 0 && steps.node.querySelector(".d2lrnn-outcome").hidden;
  const runSum = () => {
    runner?.stop();
    if (isAsking()) return; // nothing moves below an open question
    const all = shown.mats.W_xh.length + shown.mats.W_hh.length;
    const mine = motion({ seconds: SUM_SECONDS, signal });
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
  /** Turn to the hovered or else the chosen number: sentence, sum and code tell of where all stands. */
  const look = () => {
    looked = hovered ?? [shown.row, shown.column];
    now.set(...emphasised(t.raw(`now_${kindOf(shown, looked)}`), told(shown, looked)));
    const areMoving = sum.show(products(shown.mats, ...looked, shown.swapped), shown.parts[looked[0]][looked[1]], shown.glued);
    if (areMoving) carried = carrier.run((share) => sum.move(share === 1 ? 1 : ease(share)));
    code.show(shown.glued, shown.swapped);
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
  /** One way at a time: glued, the blocks slide and then the weights pass each other; taken apart, the other way round. */
  const slide = async () => {
    const moves = [slideBlocks, passWeights];
    for (const move of model.glued ? moves : moves.reverse()) {
      if (!await move()) return false;
      land();
    }
    return true;
  };
  /** Where the blocks have landed, sentence, label, result and sum change together. */
  const land = () => {
    const [glued, swapped] = [stage.share() === 1, stage.order() === 1];
    if (stage.share() % 1 !== 0 || stage.order() % 1 !== 0) return; // turned round on the way
    if (glued === shown.glued && swapped === shown.swapped) return;
    turn(derive({ ...model, glued, swapped }));
  };
  const turn = (next) => {
    shown = next;
    stage.fill(shown);
    for (const { node } of [now, sum]) node.style.minHeight = "";
    look();
  };
  const slideBlocks = () => {
    const [from, to] = [stage.share(), model.glued ? 1 : 0];
    if (from === to && (!stage.isLifted() || stage.order() !== Number(model.swapped))) {
      slider.stop();
      return true;
    }
    return slider.run((share) => {
      const home = Math.min(1, HOME * share);
      const at = share === 1 ? to : from + share * (to - from);
      stage.slide(at, ease(home));
    });
  };
  const passWeights = () => {
    const [from, to] = [stage.order(), Number(model.swapped)];
    if (from === to) {
      swapper.stop();
      return true;
    }
    return swapper.run((share) => stage.swap(share === 1 ? to : from + ease(share) * (to - from), ease(share)));
  };

  // ---- controls ----
  const glue = buttonControl({
    label: t("glue"), class: "d2lrnn-button glue-button", signal, onPress: () => commit({ glued: !state().glued, swapped: false }),
  });
  const swap = buttonControl({ label: t("swap"), class: "d2lrnn-button glue-swap", signal, onPress: () => commit({ swapped: !state().swapped }) });
  const hint = element("span", { class: "glue-soft glue-hint" });
  const numbers = buttonControl({ label: t("numbers"), signal, onPress: () => commit({ seed: (state().seed + 1) % (SPEC.controls.seed.max + 1) }) });
  const sizes = Object.fromEntries(SIZES.map((name) => {
    const value = element("b", {});
    const { min, max } = SPEC.controls[name];
    const range = rangeControl({
      label: element("span", {}, t(name), " ", value), min, max, signal, onInput: (size) => commit(repair({ ...state(), [name]: size })),
    });
    return [name, { node: range.node, set: (size) => { value.textContent = String(size); range.set(size, String(size)); } }];
  }));
  const scale = scalePanel({ t });
  const steps = guidedSteps({
    t, steps: SPEC.steps, onReset, say, signal, set: commit,
    outcome: (i) => { // its values; it also draws the table of question 3
      const { batch_size: n, num_inputs: d, num_hiddens: h } = state();
      scale.draw(i === 2 ? REAL : null);
      return [{}, { count: d + h, all: n * h * (d + h) }, tableSize(REAL.num_inputs, REAL.num_hiddens)][i];
    },
  });
  steps.node.querySelector(".d2lrnn-step").append(scale.node);
  onReset(() => {
    hovered = null;
  });
  const root = element(
    "div", { class: "d2lrnn-shape glue" },
    element("p", { class: "d2lrnn-lead" }, t("lead")),
    now.node,
    element("div", { class: "glue-view" }, element("div", { class: "glue-act" }, glue, swap, hint, numbers), element("div", { class: "glue-made" }, stage.node, sum.node)),
    steps.node,
    fold(t("fold"), element("div", { class: "glue-sizes" }, ...SIZES.map((name) => sizes[name].node)), code.node, element("p", { class: "glue-soft" }, t("code"))),
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
  whenSeen(stage.node, { signal, act: () => !touched && !prefersReducedMotion() && runSum() });

  const keyOf = ({ glued, swapped, row, column }) => [glued, swapped, row, column].join();
  const draw = (given) => {
    const first = model === null;
    const isOther = !first && [...SIZES, "seed"].some((name) => given[name] !== model[name]);
    const isElsewhere = !first && keyOf(given) !== keyOf(model);
    const isRunning = runner !== null && isElsewhere && given.glued === model.glued && given.swapped === model.swapped && looked.join() === [given.row, given.column].join();
    model = given;
    if (first || isOther) { // other numbers stand where they belong at once
      slider.stop();
      swapper.stop();
      settleTerms();
      shown = model;
      stage.fill(model);
      stage.swap(Number(model.swapped));
      stage.slide(model.glued ? 1 : 0);
    } else shown = { ...shown, row: model.row, column: model.column };
    stage.select(model.row, model.column);
    if (hovered && (hovered[0] >= model.batch_size || hovered[1] >= model.num_hiddens)) hovered = null;
    glue.textContent = t(model.glued ? "unglue" : "glue");
    swap.textContent = t(model.swapped ? "swap_back" : "swap");
    swap.hidden = !model.glued;
    hint.textContent = t(model.glued ? "hint_glued" : "hint_apart");
    for (const name of SIZES) sizes[name].set(model[name]);
    const asked = SPEC.steps[steps.opened()]?.before;
    if (asked && [...SIZES, "seed"].some((name) => asked[name] !== model[name])) { // it asked of other numbers
      steps.ask(-1);
    }
    const slid = first ? null : slide();
    if (isRunning) return; // a mouse was over this number before it was pressed
    turn(shown);
    if (isElsewhere) slid.then(async (arrived) => arrived && await carried && runSum());
  };
  return { draw };
}

export default explorable({
  spec: SPEC, derive, repair, build,
  spoken: (model, t) => t({ apart: "spoken_apart", glued: "spoken_glued" }[kindOf(model, [model.row, model.column])] ?? "spoken_swapped", told(model, [model.row, model.column])),
});
