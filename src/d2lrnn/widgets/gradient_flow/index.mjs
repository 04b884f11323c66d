// A gradient on its way back through a recurrent network: what is left of it at each step, the factor of a step, and what makes it.
import { emphasised, fold, footRow, guidedSteps, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, rangeControl } from "../ui.mjs";
import { derive, formatFactor, formatLength, squeezedText } from "./maths.mjs";
import { chainPanel, planePanel, tanhPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SMALL_INPUTS = 0.1; // of which the second step tells
const INPUT_SIZES = [1e-8, 0.01, 0.03, 0.1, 0.3, 1, 3];
const STEPS = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 29, 40, 50, 60];

/** Index of the place next to a value, by factor. */
function nearestPlace(places, value) {
  const far = places.map((place) => Math.abs(Math.log(place / value)));
  return far.indexOf(Math.min(...far));
}

/** The two halves of the living sentence: keys of words, and their values. */
function sentence({ lag, left, factor, radius, fate, reason, matrix }, t) {
  const why = reason === "predicted" && matrix === "orthogonal" ? "about" : reason; // there all steps are alike
  const steps = lag === 1 ? t("steps_one") : t("steps_many", { count: lag });
  return [
    [`fate_${fate}`, { steps, left: formatLength(left) }],
    [`why_${why}`, { factor: formatFactor(factor), radius: formatFactor(radius), tanh: squeezedText(factor, radius) }],
  ];
}

function spoken(model, t) {
  const [fate, why] = sentence(model, t).map(([key, values]) => t(key, values));
  return t("spoken", { fate, why });
}

/** A slider with its value beside its name. */
function slider({ name, places, text, onChange, signal }) {
  const value = element("b");
  const control = rangeControl({
    label: element("span", { class: "flow-caption" }, name, " ", value), min: 0, max: places.length - 1, signal,
    onInput: (place) => onChange(places[place]),
  });
  return {
    node: control.node,
    set: (current) => {
      value.textContent = text(current);
      control.set(nearestPlace(places, current), text(current));
    },
  };
}

/** A row of buttons of which one is pressed. */
function choice({ name, word, options, onChange, signal }) {
  const buttons = options.map((option) => buttonControl({ label: word(option), signal, onPress: () => onChange(option) }));
  const node = element(
    "div", { class: "flow-choice" },
    element("span", { class: "flow-head", "aria-hidden": "true" }, name),
    element("div", { class: "d2lrnn-segments", role: "group", "aria-label": name }, ...buttons),
  );
  return { node, set: (value) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i] === value))) };
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const count = (lag) => (lag === 1 ? t("steps_one") : t("steps_many", { count: lag }));
  let touched = false;
  const set = (values) => {
    touched = true;
    commit(values);
  };
  /** What a reader sets: it closes a question that it answers. */
  const act = (values) => {
    const asked = steps[guided.opened()];
    if (asked && Object.keys(values).some((name) => asked.before[name] !== asked.state[name])) guided.leave();
    set(values);
  };
  const now = nowLine();
  const chain = chainPanel({ t, ...SPEC.presets, steps: count, signal });
  const plane = planePanel({ t, range: controls.radius, onRadius: (radius) => act({ radius }), signal });
  const squash = tanhPanel({ t });
  const factor = element("p", { class: "flow-factor" });
  const radius = rangeControl({
    label: element("span", { class: "d2lrnn-hidden" }, t("radius")), signal,
    min: 100 * controls.radius.min, max: 100 * controls.radius.max, onInput: (place) => act({ radius: place / 100 }),
  });

  const marks = element("div", { class: "flow-marks", "aria-hidden": "true" }, ...["less", "one", "more_than"].map((name) => element("span", {}, t(`mark_${name}`, { least: controls.radius.min, most: controls.radius.max }))));
  const activation = choice({
    name: t("activation"), word: (option) => t(`activation_${option}`), options: controls.activation.choices, signal,
    onChange: (value) => act({ activation: value }),
  });
  const matrix = choice({
    name: t("matrix"), word: (option) => t(`matrix_${option}`), options: controls.matrix.choices, signal,
    onChange: (value) => act({ matrix: value }),
  });
  const length = slider({ name: t("num_steps"), places: STEPS, text: String, onChange: (num_steps) => set({ num_steps }), signal });
  const inputs = slider({ name: t("input_size"), places: INPUT_SIZES, text: (size) => formatLength(size).replace("1.0×", ""), onChange: (input_size) => set({ input_size }), signal });

  const at = (values) => derive({ ...state(), ...values });
  const outcomes = [
    () => {
      const { left, lag } = at(steps[0].state);
      return { large: formatLength(left), lag };
    },
    () => {
      const { factor: each, radius: weights } = at(steps[1].state);
      const small = formatLength(at({ ...steps[1].state, input_size: SMALL_INPUTS }).left);
      return { radius: formatFactor(weights), tanh: squeezedText(each, weights), size: SMALL_INPUTS, small };
    },
    (chosen) => {
      const { left, eigenvalues } = at({ ...steps[2].state, activation: "tanh", input_size: 1 });
      return { why: t(`step_3_why_${chosen + 1}`, { count: eigenvalues.length }), squeezed: formatLength(left) };
    },
  ];
  const guided = guidedSteps({
    t, state, steps, asked: () => ({ left: formatLength(at(steps[2].before).left) }), outcome: (i, chosen) => outcomes[i](chosen), onReset, say, signal, set,
  });
  onReset(() => {
    inside.open = false;
    chain.forget();
  });

  const inputsPart = element("div", {}, inputs.node, element("p", {}, t("inputs_note")));
  const terms = element("p", { class: "flow-terms" });
  const inside = fold(t("inside"), element(
    "div", { class: "flow-inside" },
    terms, plane.node, element("div", { class: "flow-choices" }, matrix.node, activation.node, squash.node, inputsPart, length.node),
  ));
  const control = element("div", { class: "flow-control" }, factor, radius.node, marks);
  const root = element(
    "div", { class: "d2lrnn-shape flow" },
    element("p", { class: "d2lrnn-lead" }, t("lead")),
    now.node,
    element(
      "div", { class: "flow-main" },
      element("div", { class: "flow-title flow-chain-title" }, t("chain_title"), ...["chain_hint", "chain_hint_touch"].map((word) => element("span", { class: `flow-hint flow-${word}` }, t(word)))),
      chain.node,
      control,
    ),
    guided.node,
    inside,
    footRow({ t, reset, link, say, signal }),
  );
  el.append(root);

  // Seen for the first time, the message runs back; nothing else moves.
  whenSeen(chain.node, { signal, act: () => touched || prefersReducedMotion() || chain.send() });
  for (const kind of ["pointerdown", "keydown"]) {
    el.addEventListener(kind, () => (touched = true), { signal, capture: true });
  }

  function draw(model) {
    const [fate, why] = sentence(model, t);
    now.set(...emphasised(t.raw(fate[0]), fate[1]));
    factor.replaceChildren(...emphasised(t.raw(why[0]), why[1]));
    chain.draw(model, t("chain", { fate: t(...fate), why: t(...why) }));
    terms.textContent = t("terms", { count: model.eigenvalues.length });
    plane.draw(model);
    const squashes = model.activation === "tanh";
    squash.node.style.display = squashes ? "" : "none";
    if (squashes) squash.draw(model);
    radius.set(100 * model.radius, formatFactor(model.radius));
    activation.set(model.activation);
    matrix.set(model.matrix);
    length.set(model.num_steps);
    inputs.set(model.input_size);
    inputsPart.hidden = model.activation === "linear"; // without tanh it changes nothing
  }
  return { draw };
}

export default explorable({ spec: SPEC, data: ["networks"], derive, build, spoken });
