// Clipping: drag the limit of a step on a cliff, and see where it lands; beneath, how the gradient is shortened.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable } from "../ui.mjs";
import { derive, lossAt, signed, stepFrom } from "./maths.mjs";
import { cliffPanel, planePanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** The living sentence: its key, and its values. */
export function sentence({ fate, clip, freeLoss, keptLoss }) {
  return [`now_${fate}`, { clip: clip.toFixed(1), free: freeLoss.toFixed(2), kept: keptLoss.toFixed(2) }];
}

/** What clipping makes of the two parts. */
function computation({ g_1, g_2, clip, by, clipped, length, factor, angle, acts }) {
  const straight = acts && by === "value" && Math.round(angle) === 0;
  return [`how_${by}${acts ? "" : "_short"}${straight ? "_straight" : ""}`, {
    a: signed(g_1), b: signed(g_2), length: length.toFixed(2), clip: clip.toFixed(1), factor: factor.toFixed(2),
    c: signed(clipped[0]), d: signed(clipped[1]), angle: Math.round(angle),
  }];
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const show = motion({ seconds: 1.6, signal });
  let touched = false;
  const touch = () => (touched = true);
  const set = (values) => {
    touch();
    commit(values);
  };
  const now = nowLine();
  const cliff = cliffPanel({ t, range: controls.clip, onChange: set, onTouch: touch, signal });
  const plane = planePanel({ t, range: controls.clip, onChange: set, signal });
  const ways = controls.by.choices.map((way) => buttonControl({
    label: [element("b", {}, t(`by_${way}`)), " ", element("span", { class: "clip-note" }, t(`by_${way}_note`))], signal, onPress: () => set({ by: way }),
  }));
  const told = element("p", { class: "clip-how-now" });
  const sideways = element("p", { class: "clip-note" });
  const how = fold(t("how"), element(
    "div", { class: "clip-how" }, plane.node,
    element(
      "div", { class: "clip-how-words" }, element("p", {}, t("how_note")),
      element("div", { class: "clip-choice", role: "group", "aria-label": t("by") }, ...ways), told, sideways,
    ),
  ));

  const at = (values) => derive({ ...state(), ...values });
  const loss = (values) => at(values).keptLoss.toFixed(2);
  const outcomes = [
    () => ({ before: at(steps[0].before).length.toFixed(2), after: at(steps[0].state).length.toFixed(2), clip: at(steps[0].state).clippedLength.toFixed(2), earlier: loss(steps[0].before), later: loss(steps[0].state) }),
    () => ({}),
    () => {
      const limits = { low: 0.5, middle: 1, high: 5 };
      const found = Object.entries(limits).map(([name, clip]) => [name, loss({ ...steps[2].state, clip })]);
      return { ...Object.fromEntries(found), second: lossAt(stepFrom(at({ ...steps[2].state, clip: limits.low }).kept, limits.low)).toFixed(2) };
    },
  ];
  const asked = { step_2_question: { length: at(steps[1].before).length.toFixed(2) }, step_3_question: { now: loss(steps[2].before) } };
  const words = (key, values) => t(key, { ...asked[key], ...values });
  words.raw = t.raw;
  const guided = guidedSteps({ t: words, steps, set, outcome: (i) => outcomes[i](), onReset, say, signal });
  onReset(() => {
    how.open = false;
    plane.askToDrag();
  });

  el.append(element(
    "div", { class: "d2lrnn-shape clip" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node,
    cliff.node, element("p", { class: "clip-caption" }, t("caption")),
    guided.node, how,
    footRow({ t, reset, link, say, signal }),
  ));
  // once: the limit comes down from the whole step to where it stands
  whenSeen(cliff.node, {
    act: () => {
      const end = state();
      const far = Math.max(end.clip, controls.clip.max);
      if (!touched) show.run((share) => paint(derive({ ...end, clip: share < 1 ? far + share * (end.clip - far) : end.clip })));
    },
    signal,
  });

  function paint(model) {
    const [key, values] = sentence(model);
    now.set(...emphasised(t.raw(key), values));
    cliff.draw(model);
    plane.draw(model);
    told.replaceChildren(...emphasised(t.raw(computation(model)[0]), computation(model)[1]));
    sideways.textContent = model.angle >= 0.5 ? t("how_sideways", { sideways: model.sideways.toFixed(2) }) : "";
    ways.forEach((button, i) => button.setAttribute("aria-pressed", String(controls.by.choices[i] === model.by)));
  }
  let by = "norm";
  const draw = (model) => {
    show.stop();
    if (model.by === "value" && by === "norm") how.open = true; // where it is seen what that means
    by = model.by;
    paint(model);
  };
  how.addEventListener("toggle", () => how.open && plane.place(), { signal }); // words have a size now
  return { draw };
}

export default explorable({ spec: SPEC, derive, build, spoken: (model, t) => t(...sentence(model)) });
