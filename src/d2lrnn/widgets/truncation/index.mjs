// Truncation: drag the cut, and see which routes of the gradient are kept and what is missing without the others.
import { emphasised, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl } from "../ui.mjs";
import { NUM_STEPS, derive, percent } from "./maths.mjs";
import { routesPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** The living sentence: its key, and its values. */
export function sentence({ tau, way, kept, all, lost, angle }, t) {
  if (kept === all) return ["now_all", { all }];
  const steps = tau === 1 ? t("steps_one") : t("steps_many", { count: tau });
  return [`now_${way}`, { steps, kept, all, lost: percent(lost), angle: Math.round(angle ?? 90) }];
}

/** The question of the second step names what windows lose. */
function withLost(t, lost) {
  const filled = (key, given) => (key === "step_2_question" ? t(key, { lost }) : t(key, given));
  filled.raw = t.raw;
  return filled;
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const show = motion({ seconds: 1.8, signal });
  let touched = false;
  const set = (values) => {
    touched = true;
    commit(values);
  };
  const now = nowLine();
  const routes = routesPanel({ t, onTau: (tau) => set({ tau }), signal });
  const slider = (name, min, max, onInput) => {
    const value = element("b");
    const control = rangeControl({ label: element("span", { class: "trunc-caption" }, name, " ", value), min, max, onInput, signal });
    return {
      node: control.node,
      set: (place, text) => {
        value.textContent = text;
        control.set(place, text);
      },
    };
  };
  const tau = slider(t("tau"), controls.tau.min, controls.tau.max, (place) => set({ tau: place }));
  const radius = slider(t("radius"), 100 * controls.radius.min, Math.round(100 * controls.radius.max), (place) => set({ radius: place / 100 }));
  const ways = controls.way.choices.map((way) => buttonControl({ label: t(`way_${way}`), signal, onPress: () => set({ way }) }));

  const at = (values) => derive({ ...state(), ...values });
  const outcomes = [
    () => {
      const { kept, all } = at(steps[0].state);
      return { kept, all, mean: kept / NUM_STEPS };
    },
    () => ({ lost: percent(at(steps[1].state).lost) }),
    () => ({ lost: percent(at(steps[2].state).lost), before: percent(at(steps[2].before).lost) }),
  ];
  const guided = guidedSteps({
    t: withLost(t, percent(at(steps[1].before).lost)), steps, set, outcome: (i) => outcomes[i](), onReset, say, signal,
  });
  onReset(() => routes.ask(null));

  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    now.node,
    element(
      "div", { class: "trunc-main" },
      routes.node,
      element(
        "div", { class: "trunc-knobs" },
        tau.node,
        element("div", { class: "trunc-choice", role: "group", "aria-label": t("way") },
          element("span", { class: "trunc-caption", "aria-hidden": "true" }, t("way")), ...ways),
        radius.node,
      ),
    ),
    guided.node,
    footRow({ t, reset, link, say, signal }),
  ));
  // once: the cut comes in from the right
  whenSeen(routes.node, {
    act: () => {
      const end = state();
      if (!touched) show.run((share) => paint(derive({ ...end, tau: Math.round(NUM_STEPS + (end.tau - NUM_STEPS) * share) })));
    },
    signal,
  });

  function paint(model) {
    const [key, values] = sentence(model, t);
    now.set(...emphasised(t.raw(key), values));
    routes.draw(model, t("picture", { count: NUM_STEPS, now: t(key, values) }));
    tau.set(model.tau, String(model.tau));
    radius.set(Math.round(100 * model.radius), model.radius.toFixed(2));
    ways.forEach((button, i) => button.setAttribute("aria-pressed", String(controls.way.choices[i] === model.way)));
  }
  const draw = (model) => {
    show.stop();
    paint(model);
  };
  return { draw };
}

export default explorable({ spec: SPEC, data: ["network"], derive, build, spoken: (model, t) => t(...sentence(model, t)) });
