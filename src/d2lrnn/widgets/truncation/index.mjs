// Truncation: drag the cut, and see how far back each loss reaches, and how much of the gradient is lost.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl } from "../ui.mjs";
import { derive, percent } from "./maths.mjs";
import { curvePanel, rowsPanel, sample } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** The living sentence: its key, and its values. */
export function sentence({ tau, way, lost }) {
  return [tau === 1 ? "now_one" : `now_${way}`, { tau, lost: percent(lost) }];
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
  const rows = rowsPanel({ t, onTau: (tau) => set({ tau }), signal });
  const curve = curvePanel({ t, onTau: (tau) => set({ tau }), signal });
  const factor = element("b");
  const memory = rangeControl({
    label: element("span", { class: "trunc-caption" }, t("memory"), " ", factor), signal,
    min: 100 * controls.radius.min, max: Math.round(100 * controls.radius.max), onInput: (place) => set({ radius: place / 100 }),
  });
  const wayTexts = controls.way.choices.map(() => element("span"));
  const ways = controls.way.choices.map((way, i) => buttonControl({ label: [sample(way), wayTexts[i]], signal, onPress: () => set({ way }) }));

  const at = (values) => derive({ ...state(), ...values });
  const outcome = (i) => ({ lost: percent(at(steps[i].state).lost), before: percent(at(steps[i].before).lost) });
  const guided = guidedSteps({ t, steps, set, outcome, onReset, say, signal });

  const more = fold(t("counted"), element("p", { class: "trunc-caption" }, t("counted_text")));
  onReset(() => {
    more.open = false;
    curve.clear();
    queueMicrotask(() => signal.aborted || draw(derive(state()))); // with the traits put back; the lines are no trait
  });

  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    now.node,
    element("p", { class: "trunc-caption trunc-lead" }, t("lead")),
    element(
      "div", { class: "trunc-main" },
      element("div", { class: "trunc-cut-rows" },
        element("div", { class: "trunc-choice", role: "group", "aria-label": t("way") }, ...ways),
        rows.node),
      element("p", { class: "trunc-caption trunc-key" }, t("key"),
        element("span", { class: "trunc-kept-text" }, ` ■ ${t("kept")}`), element("span", { class: "trunc-lost-text" }, ` □ ${t("lost")}`)),
      element(
        "div", { class: "trunc-side" },
        element("div", { class: "trunc-chart" }, element("span", { class: "trunc-caption" }, t("curve")), curve.node),
        memory.node,
      ),
    ),
    guided.node,
    more,
    footRow({ t, reset, link, say, signal }),
  ));
  // once: the cut comes in from the left
  whenSeen(rows.node, {
    act: () => {
      const end = state();
      if (!touched) show.run((share) => paint(derive({ ...end, tau: Math.round(1 + (end.tau - 1) * share) })));
    },
    signal,
  });

  function paint(model) {
    const [key, values] = sentence(model);
    const told = t(key, values);
    now.set(...emphasised(t.raw(key), values));
    rows.draw(model, t("picture", { now: told }));
    curve.draw(model, t("curve_picture", { now: told }));
    factor.textContent = t("factor", { factor: model.factor.toFixed(2) });
    memory.set(Math.round(100 * model.radius), factor.textContent);
    ways.forEach((button, i) => {
      const way = controls.way.choices[i];
      wayTexts[i].textContent = t(`way_${way}`, { tau: model.tau });
      button.setAttribute("aria-pressed", String(way === model.way));
    });
  }
  const draw = (model) => {
    show.stop();
    curve.visit(model);
    paint(model);
  };
  return { draw };
}

export default explorable({ spec: SPEC, data: ["network"], derive, build, spoken: (model, t) => t(...sentence(model)) });
