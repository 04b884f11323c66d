// Clipping: drag the ball and the limit of its steps, and see where ten of them lead; beneath, how a gradient is shortened.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, svg } from "../ui.mjs";
import { derive, signed, slopeAt, STEPS } from "./maths.mjs";
import { planePanel, valleyPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** The living sentence: its keys, and its values. */
function sentence({ start, free, freeEnd, keptEnd, freeLoss, keptLoss, cuts, clip }) {
  const both = freeEnd === "rest" && keptEnd === "rest" ? ["now_both_rest"] : [`now_free_${freeEnd}`, `now_kept_${keptEnd}`];
  const keys = start === 0 ? ["now_none"] : cuts ? both : [`now_same_${keptEnd}`];
  return [keys, { clip: clip.toFixed(1), step: free.length - 1, free: freeLoss.toFixed(2), kept: keptLoss.toFixed(2) }];
}

/** The living sentence in plain words. */
export function told(model, t) {
  const [keys, values] = sentence(model);
  return keys.map((key) => t(key, values)).join(" ");
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
  const show = motion({ seconds: 3, signal });
  let touched = false;
  const set = (values) => {
    touched = true;
    commit(values);
  };
  const now = nowLine();
  const valley = valleyPanel({ t, range: controls.clip, rangeStart: controls.start, onChange: set, signal });
  const plane = planePanel({ t, range: controls.clip, onChange: set, signal });
  const ways = controls.by.choices.map((way) => buttonControl({
    label: [element("b", {}, t(`by_${way}`)), " ", element("span", { class: "clip-note" }, t(`by_${way}_note`))], signal, onPress: () => set({ by: way }),
  }));
  const becomes = element("p", { class: "clip-how-now" });
  const key = (kind) => {
    const words = element("span");
    const mark = svg("svg", { class: "clip-key-mark", viewBox: kind === "start" ? "9 0 16 14" : "0 0 34 14", "aria-hidden": "true" }, ...(kind === "start"
      ? [svg("circle", { class: "clip-start", cx: 17, cy: 7, r: 6 })]
      : [svg("path", { class: `clip-flight clip-arrow-${kind}`, d: "M0 7H28" }), svg("circle", { class: `clip-landed-${kind}`, cx: 28, cy: 7, r: 5 })]));
    return { node: element("span", { class: `clip-key clip-key-${kind}` }, mark, words), words };
  };
  const keys = { start: key("start"), full: key("full"), clipped: key("clipped") };
  keys.full.words.textContent = t("key_free");
  const how = fold(t("how"), element(
    "div", { class: "clip-how" }, plane.node,
    element(
      "div", { class: "clip-how-words" }, element("p", {}, t("how_note")),
      element("div", { class: "clip-choice", role: "group", "aria-label": t("by") }, ...ways), becomes,
    ),
  ));

  const { free, slope } = derive({ ...state(), ...steps[1].before });
  const [first, second, third] = free.map((place) => Math.abs(slopeAt(place)).toFixed(2));
  const outcomes = [{}, { first, second, third }, {}];
  const asked = [
    { slope: slope.toFixed(2) },
    { start: signed(free[0]), landing: signed(free[1]) },
    { far: signed(steps[2].before.start), near: signed(steps[2].state.start) },
  ];
  const mark = (i) => valley.mark({ slopes: i === 1, grows: i === 2 });
  const guided = guidedSteps({
    t, steps, asked: (i) => asked[i], onReset, say, signal,
    set: (values) => {
      mark(-1);
      set(values);
    },
    outcome: (i) => {
      mark(i);
      return outcomes[i];
    },
  });
  onReset(() => {
    mark(-1);
    how.open = false;
    plane.askToDrag();
  });

  el.append(element(
    "div", { class: "d2lrnn-shape clip" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node,
    element("p", { class: "clip-keys" }, ...Object.values(keys).map((entry) => entry.node)),
    valley.node, element("p", { class: "clip-caption" }, t("caption")),
    guided.node, how,
    footRow({ t, reset, link, say, signal }),
  ));
  // once: step after step
  whenSeen(valley.node, {
    act: () => {
      if (!touched) show.run((share) => paint(derive(state()), Math.floor(share * STEPS)));
    },
    signal,
  });

  function paint(model, many) {
    const [parts, values] = sentence(model);
    now.set(...parts.flatMap((part, i) => [i > 0 ? " " : "", ...emphasised(t.raw(part), values)]));
    valley.draw({ ...model, told: told(model, t) }, many);
    keys.start.words.textContent = t("key_start", { slope: model.slope.toFixed(2) });
    keys.clipped.words.textContent = t("key_kept", { clip: model.clip.toFixed(1) });
    plane.draw(model);
    const [what, numbers] = computation(model);
    becomes.replaceChildren(...emphasised(t.raw(what), numbers));
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

export default explorable({ spec: SPEC, derive, build, spoken: told });
