// The memory cut: one text, scissors on it, and how a trained network goes on with its memory whole and cut.
import { emphasised, fold, footRow, guidedSteps, keepInView, motion, nowLine, whenSeen } from "../shape.mjs";
import { element, explorable } from "../ui.mjs";
import { MAX_TEXT, derive, readable, repair, walk } from "./maths.mjs";
import { memoryPanel, percentLeft, sentence, stage, sure, textField } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SECONDS_A_STOP = 0.28;
const LEFT_AT_FIRST = SPEC.controls.text.default.length - SPEC.controls.cut.default;

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  let wanted = 0; // so many letters are left, also in another text
  let latest = null; // the model of the traits, whatever the first walk shows
  const now = nowLine();
  const cutter = stage({ t, signal, onCut: (cut) => commit({ cut }) });
  const field = textField({
    t, readable, max: MAX_TEXT, signal,
    onText: (text) => {
      if (steps.opened() >= 0) steps.ask(-1); // its question is of another text
      commit({ text, cut: Math.max(1, text.length - wanted) }); // as many letters are left
    },
  });
  const memory = memoryPanel({ t, max: SPEC.controls.unit.max, signal, onUnit: (number) => commit({ unit: number }) });
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, onReset, say, signal,
    set: commit,
    outcome: () => {
      const left = ({ distances, cut }) => percentLeft(distances.at(-1), distances[cut - 1]);
      const model = derive(state());
      const [whole, other] = model.guesses;
      return { p: sure(other.p), whole: sure(whole.p), second: `“${whole.second}”`, second_p: sure(whole.secondP), left: left(model) };
    },
  });
  const root = element(
    "div", { class: "d2lrnn-shape cut" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, cutter.node, field.node, steps.node,
    fold(t("numbers"), memory.node), footRow({ t, reset, link, say, signal }),
  );
  el.append(root);

  /** While a step asks, the figure stands where its answer will be, and keeps it to itself. */
  const asked = () => {
    const step = SPEC.steps[steps.opened()];
    return steps.isAsking() && Object.entries(step.before).every(([name, value]) => latest[name] === value) ? step.state : null;
  };
  const show = (model) => {
    const answer = model === latest ? asked() : null;
    const figure = answer ? derive({ ...state(), ...answer }) : model;
    const [key, values] = answer ? ["now_asks", { kept: `“${figure.kept}”` }] : sentence(model);
    now.set(...emphasised(t.raw(key), values));
    cutter.draw(figure, answer !== null);
    memory.draw(figure, answer !== null);
    root.classList.toggle("cut-empty", figure.text === "");
  };

  keepInView(steps.node, { signal });

  // Seen for the first time, the scissors walk a few letters to the cut; any touch, and a pointer that comes near, ends the walk.
  let walker = null;
  const halt = () => {
    walker?.stop();
    walker = null;
  };
  const begin = async () => {
    const { text, cut } = latest;
    if (text.length < 3) return;
    const stops = walk(cut, text.length);
    const mine = (walker = motion({ seconds: SECONDS_A_STOP * stops.length, signal }));
    let last = null;
    await mine.run((share) => {
      const at = share * (stops.length - 1);
      const [from, nearest] = [Math.floor(at), Math.round(at)];
      if (nearest !== last) show(derive({ ...state(), cut: stops[nearest] }));
      last = nearest;
      cutter.placeHandle(stops[from] + (at - from) * ((stops[from + 1] ?? stops[from]) - stops[from]));
    });
    if (walker === mine && !signal.aborted) walker = null;
  };
  const touched = () => {
    if (walker === null) return;
    halt();
    show(latest);
  };
  for (const kind of ["pointerdown", "keydown", "input"]) root.addEventListener(kind, touched, { signal, capture: true });
  root.addEventListener("pointermove", touched, { signal });
  root.addEventListener("click", () => walker === null && show(latest), { signal }); // a step may ask, or tell, now
  whenSeen(cutter.node, { act: begin, signal });

  const draw = (model) => {
    halt();
    if (model.text === "") wanted = LEFT_AT_FIRST;
    else if (latest === null || latest.text === model.text) wanted = model.kept.length || wanted;
    latest = model;
    show(model);
    field.draw(model);
  };
  return { draw };
}

export default explorable({
  spec: SPEC, data: ["weights"], derive, build, repair, spoken: (model, t) => t(...sentence(model)),
});
