// Attention beside a state: which of the letters before does the guess of each depend on?
import { element, explorable } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine, whenSeen } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { derive, MAX_TEXT, repair } from "./maths.mjs";
import { outcomeOf, scores, sentenceNodes, spoken, textPanel, textRow } from "./panels.mjs";

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const models = element("p");
  let closeSteps = () => {};
  const onLetter = (letter) => commit({ letter, view: state().view.startsWith("mean") ? "mean" : "text" });
  const panel = textPanel({ t, signal, onLetter });
  const own = textRow({
    t, signal,
    onText: (text) => {
      closeSteps(); // they ask about other texts
      commit({ text, letter: 0, view: "text" });
    },
  });
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, set: commit, say, signal,
    onReset: (act) => {
      closeSteps = act;
      onReset(act);
    },
    outcome: outcomeOf,
  });
  onReset(own.clear);
  whenSeen(panel.stage, { act: panel.grow, signal });
  el.append(element("div", { class: "d2lrnn-shape att" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, panel.node, steps.node, own.node,
    fold(t("more_models"), element("p", {}, t("measured", { max: MAX_TEXT })), models), footRow({ t, reset, link, say, signal })));

  function draw(model) {
    now.set(...sentenceNodes(model, t));
    panel.draw(model);
    own.draw(model);
    models.textContent = t("models", scores(model));
  }
  return { draw };
}

export default explorable({ spec: SPEC, data: ["weights_attention", "weights_trained"], derive, build, repair, spoken });
