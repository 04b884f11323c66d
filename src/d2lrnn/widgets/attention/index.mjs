// Attention beside a state: how far back do their guesses reach?
import { buttonControl, element, explorable } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { BACK, derive, MAX_TEXT, REACHES, repair } from "./maths.mjs";
import { asking, scores, sentenceNodes, spoken, textPanel, textRow, toldOf } from "./panels.mjs";

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const models = element("p");
  const measured = [1, 2, 3].map((i) => element("p", {}, t(`measured_${i}`, { max: MAX_TEXT, near: REACHES[0], far: REACHES[1] })));
  const panel = textPanel({
    t, signal,
    onLetter: (letter) => {
      if (steps.isAsking()) wait();
      else commit({ letter, view: model.mean ? "mean" : "text" });
    },
  });
  const wayBack = buttonControl({
    label: t("back"), signal,
    onPress: () => {
      steps.ask(-1); // its outcome tells of the chart
      commit({ view: "text", letter: 0 });
    },
  });
  const own = textRow({
    t, signal,
    onText: (text) => {
      steps.ask(-1); // they ask about other texts
      commit({ text, letter: 0, view: "text" });
    },
  });
  const averaged = () => (state().view === "mean" ? { ...state(), letter: 0 } : state()); // a drag along the averages belongs to their step
  const lead = element("p", { class: "d2lrnn-lead" });
  const steps = guidedSteps({ t, state: averaged, steps: SPEC.steps, set: commit, say, signal, onReset, asked: () => toldOf({ ...model, back: BACK }, t), outcome: () => toldOf(derive(state()), t) });
  let model = null;
  let shown = null; // the model, or what a question shows of it
  const show = () => {
    model.isAsked = steps.isAsking(); // an open question alone asks
    shown = model.isAsked ? asking(model, SPEC.steps[steps.opened()].state) : model;
    lead.textContent = t(shown.isAsked ? "lead_asked" : model.mean ? "lead_mean" : model.order ? "lead_order" : model.told >= 0 ? "lead_told" : "lead", toldOf(model, t));
    if (shown.mean && !shown.isAsked) lead.append(" ", wayBack);
    now.node.style.setProperty("--att-count", model.count);
    now.set(...sentenceNodes(shown, t));
    panel.draw(shown);
  };
  /** A letter erased would give the answer away. */
  const wait = () => {
    steps.urge();
    show(); // the slider of the keys goes back
  };
  steps.node.addEventListener("click", show, { signal });
  onReset(() => {
    own.clear();
    show(); // a step closes, even where nothing else changes
  });
  el.append(element("div", { class: "d2lrnn-shape att" },
    lead, now.node, panel.node, steps.node, own.node,
    fold(t("more_models"), ...measured, models), footRow({ t, reset, link, say, signal })));

  function draw(found) {
    model = found;
    show();
    own.draw(model);
    models.textContent = t("models", scores(model));
  }
  return { draw };
}

export default explorable({ spec: SPEC, data: ["weights_attention", "weights_trained"], derive, build, repair, spoken });
