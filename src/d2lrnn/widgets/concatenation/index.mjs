// The concatenation identity: X W_xh + H W_hh, glued into [X H] times W_xh over W_hh, and taken apart again.
import { formatPowerOfTen } from "../charts.mjs";
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, rangeControl } from "../ui.mjs";
import { countDifferent, derive, exactSum, products, repair, wrongOrder } from "./maths.mjs";
import { codePanel, digitsPanel, stagePanel, sumPanel, written } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SLIDE_SECONDS = 2.4;
const HOME = 5; // times as fast a block that was let go returns
const TERM_SECONDS = 0.4;
const SIZES = ["batch_size", "num_inputs", "num_hiddens"];
const ease = (share) => (share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share));

/** The values of the templates that tell of one number of the result. */
function told({ parts, mats }, [row, column]) {
  const { x, h, sum } = parts[row][column];
  return {
    row: row + 1, column: column + 1, x: written(x), h: written(h), value: written(sum), count: mats.W_xh.length + mats.W_hh.length,
  };
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  let model = null;
  let hovered = null;
  let looked = null; // the number on which the lights are
  let touched = false;
  const slider = motion({ seconds: SLIDE_SECONDS, signal });

  const now = nowLine();
  const sum = sumPanel({ t });
  const code = codePanel();
  const digits = digitsPanel({ t });
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
      sum.move(1);
    },
    onDrop: (glued) => {
      if (glued === model.glued) slide();
      else commit({ glued });
    },
  });

  // ---- the sum runs ----
  let runner = null;
  const lightTerm = (count) => {
    const { mats, num_inputs } = model;
    const pairs = products(mats, ...looked);
    const all = pairs.x.length + pairs.h.length;
    const running = count > 0 && count <= all && runner !== null;
    sum.run(count, exactSum, running);
    stage.light(looked, running ? count - 1 : -1);
    code.light(running ? (count - 1 < num_inputs ? "x" : "h") : null);
  };
  const runSum = () => {
    runner?.stop();
    const all = model.mats.W_xh.length + model.mats.W_hh.length;
    const mine = motion({ seconds: TERM_SECONDS * (all + 1), signal });
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
  /** Turn to the hovered or else the chosen number. */
  const look = () => {
    looked = hovered ?? [model.row, model.column];
    now.set(...emphasised(t.raw(model.glued ? "now_glued" : "now_apart"), told(model, looked)));
    sum.show(products(model.mats, ...looked), model.parts[looked[0]][looked[1]], model.glued);
    code.show(model.glued);
    if (hovered) keepHeight();
    runner?.stop();
    runner = null;
    lightTerm(Infinity);
  };

  // ---- the blocks slide ----
  const slide = () => {
    const [from, to] = [stage.share(), model.glued ? 1 : 0];
    if (from === to && !stage.isLifted()) {
      slider.stop();
      return Promise.resolve(true);
    }
    return slider.run((share) => {
      const home = Math.min(1, HOME * share);
      const at = share === 1 ? to : from + share * (to - from);
      stage.slide(at, ease(home));
      sum.move(share === 1 ? 1 : ease(share));
    });
  };

  // ---- controls ----
  const glue = buttonControl({
    label: t("glue"), class: "d2lrnn-button glue-button", signal, onPress: () => commit({ glued: !state().glued }),
  });
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
  const steps = guidedSteps({
    t, steps: SPEC.steps, onReset, say, signal,
    set: (values) => {
      digits.node.hidden = values !== SPEC.steps[2].state;
      commit(values);
    },
    outcome: () => {
      const { row, column, ...rest } = derive(state());
      const cells = rest.batch_size * rest.num_hiddens;
      const values = told(rest, [row, column]);
      const { different, largest } = countDifferent(rest, "float32");
      return {
        ...values, cells, all: cells * values.count, wrong: written(wrongOrder(rest.mats, row, column)), different, largest: largest === 0 ? 0 : formatPowerOfTen(largest),
      };
    },
  });
  steps.node.querySelector(".d2lrnn-step").append(digits.node);
  onReset(() => {
    hovered = null;
    digits.node.hidden = true;
  });
  const root = element(
    "div", { class: "d2lrnn-shape glue" },
    element("p", { class: "d2lrnn-lead" }, t("lead")),
    now.node,
    element("div", { class: "glue-view" }, element("div", { class: "glue-act" }, glue, hint), stage.node, sum.node),
    steps.node,
    fold(t("fold"), code.node, element("div", { class: "glue-sizes" }, ...SIZES.map((name) => sizes[name].node)), numbers),
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

  const keyOf = ({ glued, row, column }) => [glued, row, column].join();
  const draw = (given) => {
    const first = model === null;
    const isElsewhere = !first && keyOf(given) !== keyOf(model);
    const isRunning = runner !== null && isElsewhere && given.glued === model.glued && looked.join() === [given.row, given.column].join();
    model = given;
    stage.fill(model);
    stage.select(model.row, model.column);
    if (hovered && (hovered[0] >= model.batch_size || hovered[1] >= model.num_hiddens)) hovered = null;
    glue.textContent = t(model.glued ? "unglue" : "glue");
    hint.textContent = t(model.glued ? "hint_glued" : "hint_apart");
    for (const name of SIZES) sizes[name].set(model[name]);
    digits.draw(model);
    const asked = SPEC.steps[steps.opened()]?.before;
    if (asked && [...SIZES, "seed"].some((name) => asked[name] !== model[name])) { // it asked of other numbers
      steps.ask(-1);
      digits.node.hidden = true;
    }
    if (first) {
      stage.slide(model.glued ? 1 : 0);
    }
    const slid = first ? null : slide();
    if (isRunning) return; // a mouse was over this number before it was pressed
    for (const { node } of [now, sum]) node.style.minHeight = "";
    look();
    if (hovered) keepHeight();
    if (isElsewhere) slid.then((arrived) => arrived && runSum());
  };
  return { draw };
}

export default explorable({
  spec: SPEC, derive, repair, build,
  spoken: (model, t) => t(model.glued ? "spoken_glued" : "spoken_apart", told(model, [model.row, model.column])),
});
