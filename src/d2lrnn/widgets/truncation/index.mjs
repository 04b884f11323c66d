// Truncation: drag the cut, and see which routes of the gradient are kept and how much is lost with the others.
import { emphasised, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl } from "../ui.mjs";
import { NUM_STEPS, derive, firstKept, percent } from "./maths.mjs";
import { routesPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const FIRST_LOSS = 14; // the one whose way back is shown at first, counted from 0

/** The living sentence: its key, and its values. */
export function sentence({ tau, way, kept, all, lost }, t) {
  if (kept === all) return ["now_all", { all }];
  const steps = tau === 1 ? t("steps_one") : t("steps_many", { count: tau });
  return [`now_${way}`, { steps, kept, all, lost: percent(lost) }];
}

/** What becomes of the routes of one loss: keys and values of two sentences. */
export function wayBack({ tau, way }, loss) {
  const first = firstKept(loss, tau, way);
  const lost = first === 0 ? ["back_none", {}] : [first === 1 ? "back_lost_one" : "back_lost", { from: 1, to: first }];
  return [[first === loss ? "back_own" : "back", { step: loss + 1, first: first + 1 }], lost];
}

/** The questions of the second and third step name what is the case before. */
function withNumbers(t, numbers) {
  const filled = (key, given) => t(key, /^step_\d_question$/.test(key) ? numbers() : given);
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
  const told = element("p", { class: "trunc-told" });
  let loss = FIRST_LOSS;
  let shown = null;
  const routes = routesPanel({ t, percent, onTau: (tau) => set({ tau }), onLoss: pick, signal });
  const radiusValue = element("b");
  const factor = element("span", { class: "trunc-caption" });
  const radius = rangeControl({
    label: element("span", { class: "trunc-caption" }, t("radius"), " ", radiusValue), signal,
    min: 100 * controls.radius.min, max: Math.round(100 * controls.radius.max), onInput: (place) => set({ radius: place / 100 }),
  });
  const ways = controls.way.choices.map((way) => buttonControl({ label: t(`way_${way}`), signal, onPress: () => set({ way }) }));

  const at = (values) => derive({ ...state(), ...values });
  const outcomes = [
    () => ({ mean: at(steps[0].state).kept / NUM_STEPS }),
    () => ({ lost: percent(at(steps[1].state).lost) }),
    () => ({ lost: percent(at(steps[2].state).lost), before: percent(at(steps[2].before).lost) }),
  ];
  const numbers = () => ({ lost: percent(at(steps[1].before).lost), factor: at(steps[2].before).factor.toFixed(2) });
  const guided = guidedSteps({ t: withNumbers(t, numbers), steps, set, outcome: (i) => outcomes[i](), onReset, say, signal });
  onReset(() => pick(FIRST_LOSS));

  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    now.node, told,
    element(
      "div", { class: "trunc-main" },
      routes.node,
      element(
        "div", { class: "trunc-knobs" },
        element("div", { class: "trunc-choice", role: "group", "aria-label": t("way") },
          element("span", { class: "trunc-caption", "aria-hidden": "true" }, t("way")), ...ways),
        element("div", {}, radius.node, factor),
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
    shown = model;
    const [key, values] = sentence(model, t);
    now.set(...emphasised(t.raw(key), values));
    const parts = wayBack(model, loss);
    told.replaceChildren(...parts.flatMap(([part, given]) => [...emphasised(t.raw(part), given), " "]));
    routes.draw(model, loss, t("picture", { count: NUM_STEPS, now: t(key, values) }), parts.map(([part, given]) => t(part, given)).join(" "));
    radius.set(Math.round(100 * model.radius), model.radius.toFixed(2));
    radiusValue.textContent = model.radius.toFixed(2);
    factor.textContent = t("factor", { factor: model.factor.toFixed(2) });
    ways.forEach((button, i) => button.setAttribute("aria-pressed", String(controls.way.choices[i] === model.way)));
  }
  function pick(next) {
    if (next === loss) return;
    loss = next;
    if (shown) paint(shown);
  }
  const draw = (model) => {
    show.stop();
    paint(model);
  };
  return { draw };
}

export default explorable({ spec: SPEC, data: ["network"], derive, build, spoken: (model, t) => t(...sentence(model, t)) });
