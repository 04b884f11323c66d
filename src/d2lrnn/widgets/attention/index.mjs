// Attention beside a state: how far back do their guesses reach?
import { element, explorable } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { BACK, derive, MAX_TEXT, REACHES, repair } from "./maths.mjs";
import { scores, sentenceNodes, spoken, textPanel, textRow, toldOf } from "./panels.mjs";

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const models = element("p");
  const measured = [1, 2, 3].map((i) => element("p", {}, t(`measured_${i}`, { max: MAX_TEXT, near: REACHES[0], far: REACHES[1] })));
  const panel = textPanel({
    t, signal,
    onLetter: (letter) => {
      steps.leave(); // a letter erased would tell the answer
      commit({ letter, ...(state().view === "order" && { view: "text" }) });
    },
    onBack: () => {
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
  const show = () => {
    const step = SPEC.steps[steps.opened()];
    model.isAsked = steps.isAsking(); // an open question alone asks
    const asked = step?.state.view === "mean" ? model.count - 1 - BACK : step?.state.letter - 1; // the letter of the question
    const shown = model.isAsked ? { ...model, such: asked } : model;
    lead.textContent = t(model.mean ? "lead_mean" : model.order ? "lead_order" : model.isAsked ? "lead_asked" : model.told >= 0 ? "lead_told" : "lead", toldOf(model, t));
    now.set(...sentenceNodes(shown, t));
    panel.draw(shown);
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
