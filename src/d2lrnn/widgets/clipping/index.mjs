// Clipping: drag a gradient out of the circle, or the circle, and see what is left of it.
import { emphasised, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable } from "../ui.mjs";
import { derive, signed } from "./maths.mjs";
import { planePanel, stepPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** The living sentence: its key, and its values. */
export function sentence({ g_1, g_2, clip, by, clipped, length, factor, angle, acts }) {
  const straight = acts && by === "value" && Math.round(angle) === 0;
  return [`now_${by}${acts ? "" : "_short"}${straight ? "_straight" : ""}`, {
    a: signed(g_1), b: signed(g_2), length: length.toFixed(2), clip: clip.toFixed(1), factor: factor.toFixed(2),
    c: signed(clipped[0]), d: signed(clipped[1]), angle: Math.round(angle),
  }];
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const show = motion({ seconds: 1.4, signal });
  let touched = false;
  const set = (values) => {
    touched = true;
    commit(values);
  };
  const now = nowLine();
  const plane = planePanel({ t, range: controls.clip, onChange: set, signal });
  const step = stepPanel({ t });
  const ways = controls.by.choices.map((way) => buttonControl({
    label: [element("b", {}, t(`by_${way}`)), " ", element("span", { class: "clip-note" }, t(`by_${way}_note`))], signal, onPress: () => set({ by: way }),
  }));

  const at = (i) => derive({ ...state(), ...steps[i].state });
  const outcomes = [
    () => ({
      before: derive({ ...state(), ...steps[0].before }).length.toFixed(2), after: at(0).length.toFixed(2), clip: at(0).clippedLength.toFixed(2),
    }),
    () => ({ angle: Math.round(at(1).angle) }),
    () => ({ length: at(2).length.toFixed(2), clip: at(2).clip.toFixed(1) }),
  ];
  const guided = guidedSteps({ t, steps, set, outcome: (i) => outcomes[i](), onReset, say, signal });
  onReset(plane.askToDrag);

  el.append(element(
    "div", { class: "d2lrnn-shape clip" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node,
    element(
      "div", { class: "clip-main" },
      plane.node, step.node,
      element("div", { class: "clip-choice", role: "group", "aria-label": t("by") }, ...ways),
    ),
    guided.node,
    footRow({ t, reset, link, say, signal }),
  ));
  // once: a gradient that grows beyond the circle
  whenSeen(plane.node, {
    act: () => {
      const end = state();
      if (!touched) show.run((share) => paint(derive({ ...end, g_1: share * end.g_1, g_2: share * end.g_2 })));
    },
    signal,
  });

  function paint(model) {
    const [key, values] = sentence(model);
    now.set(...emphasised(t.raw(key), values));
    plane.draw(model);
    step.draw(model);
    ways.forEach((button, i) => button.setAttribute("aria-pressed", String(controls.by.choices[i] === model.by)));
  }
  const draw = (model) => {
    show.stop();
    paint(model);
  };
  return { draw };
}

export default explorable({ spec: SPEC, derive, build, spoken: (model, t) => t(...sentence(model)) });
