// Attention beside a state: a letter is erased; whose guess changes?
import { element, explorable } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { BACK, derive, MAX_TEXT, repair } from "./maths.mjs";
import { scores, sentenceNodes, spoken, textPanel, textRow, toldOf } from "./panels.mjs";

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const models = element("p");
  const panel = textPanel({
    t, signal, onLetter: (letter) => commit({ letter }),
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
  const averaged = () => (state().view === "mean" ? { ...state(), letter: 0 } : state()); // a drag along the averages is what step 3 asks for
  const steps = guidedSteps({ t, state: averaged, steps: SPEC.steps, set: commit, say, signal, onReset, asked: () => toldOf({ back: BACK }, t), outcome: () => toldOf(derive(state()), t) });
  let model = null;
  const show = () => {
    const step = SPEC.steps[steps.opened()];
    const isMean = step?.state.view === "mean"; // this question is about no letter of the text: none is to be pressed
    model.isAsked = isMean || steps.isAsking(); // an open question alone asks
    const shown = isMean ? { ...model, such: -1 } : model;
    now.set(...sentenceNodes(shown, t));
    panel.draw(shown);
  };
  steps.node.addEventListener("click", show, { signal });
  onReset(() => {
    own.clear();
    show(); // a step closes, even where nothing else changes
  });
  el.append(element("div", { class: "d2lrnn-shape att" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, panel.node, steps.node, own.node,
    fold(t("more_models"), element("p", {}, t("measured", { max: MAX_TEXT })), models), footRow({ t, reset, link, say, signal })));

  function draw(found) {
    model = found;
    show();
    own.draw(model);
    models.textContent = t("models", scores(model));
  }
  return { draw };
}

export default explorable({ spec: SPEC, data: ["weights_attention", "weights_trained"], derive, build, repair, spoken });
