// Truncation: two ways to cut the way back, side by side: how far each loss reaches, what is lost, and what it costs.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { element, explorable, rangeControl } from "../ui.mjs";
import { WAYS, derive, percent } from "./maths.mjs";
import { wayPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** The living sentence: its key, and its values. */
export function sentence({ tau, lost }) {
  const windows = percent(lost.windows);
  return tau === 1 ? ["now_one", { tau, windows }] : ["now", { tau, windows, losses: percent(lost.losses) }];
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const show = motion({ seconds: 1.5, signal });
  let touched = false;
  const set = (values) => {
    touched = true;
    commit(values);
  };
  const now = nowLine();
  const panels = WAYS.map((way) => wayPanel({ t, way, onTau: (tau) => set({ tau }), signal }));
  const range = ({ min, max, onInput }) => {
    const label = element("span", { class: "trunc-caption" });
    return { ...rangeControl({ label, min, max, onInput, signal }), label };
  };
  const cut = range({ min: controls.tau.min, max: controls.tau.max, onInput: (tau) => set({ tau }) });
  const memory = range({
    min: 20 * controls.factor.min, max: Math.round(20 * controls.factor.max), onInput: (place) => set({ factor: place / 20 }),
  });
  memory.node.classList.add("trunc-memory");
  const sum = element("p", { class: "trunc-caption trunc-sum" });

  const at = (values) => derive({ ...state(), ...values });
  const outcome = (i) => {
    const { tau, lost, work } = at(steps[i].state);
    return [{ lost: percent(lost.windows) }, { more: tau, each: work.losses, shared: work.windows }, { windows: percent(lost.windows), losses: percent(lost.losses) }][i];
  };
  const guided = guidedSteps({ t, steps, set, outcome, onReset, say, signal });
  const more = fold(t("counted"), element("p", { class: "trunc-caption" }, t("counted_text")));
  onReset(() => (more.open = false));

  const ways = element("div", { class: "trunc-ways" }, ...panels.map((panel) => panel.node));
  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    now.node,
    element("p", { class: "trunc-caption trunc-lead" }, t("lead")),
    element(
      "div", { class: "trunc-main" },
      cut.node,
      ways,
      element("p", { class: "trunc-caption trunc-key" }, t("key"), " ",
        element("span", { class: "trunc-kept-text" }, `■ ${t("kept")}`), " ", element("span", { class: "trunc-lost-text" }, `□ ${t("lost")}`)),
      sum,
      memory.node,
    ),
    guided.node,
    more,
    footRow({ t, reset, link, say, signal }),
  ));
  // once: the cut comes in from the left
  whenSeen(ways, {
    act: () => {
      const end = state();
      if (!touched) show.run((share) => paint(derive({ ...end, tau: Math.round(1 + (end.tau - 1) * share) })));
    },
    signal,
  });

  function paint(model) {
    const [key, values] = sentence(model);
    now.set(...emphasised(t.raw(key), values));
    panels.forEach((panel) => panel.draw(model));
    const named = (control, word, filled, place) => {
      control.label.replaceChildren(...emphasised(t.raw(word), filled));
      control.set(place, t(word, filled));
    };
    named(cut, "tau", { tau: model.tau }, model.tau);
    named(memory, "memory", { factor: model.factor }, Math.round(20 * model.factor));
    const { tau, factor } = model;
    const product = t(tau === 2 ? "product_2" : "product", { factor, tau });
    sum.replaceChildren(...emphasised(t.raw(tau === 1 ? "sum_one" : "sum"), { tau, product, lost: percent(model.lost.losses) }));
  }
  const draw = (model) => {
    show.stop();
    paint(model);
  };
  return { draw };
}

export default explorable({ spec: SPEC, data: [], derive, build, spoken: (model, t) => t(...sentence(model)) });
