// Attention beside a state: which of the letters before does the guess of each depend on?
import { buttonControl, element, explorable } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine, whenSeen } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { derive, MAX_TEXT, repair } from "./maths.mjs";
import { outcomeOf, scores, sentenceNodes, spoken, textPanel, textRow } from "./panels.mjs";

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const models = element("p");
  let model = null;
  const onLetter = (letter) => {
    const isAsked = steps.opened() >= 0 && model.hidden; // then the other letters' strips stay away
    commit({ letter, view: model.mean ? (isAsked ? "mean_hidden" : "mean") : isAsked ? "hidden" : "text" });
  };
  const panel = textPanel({ t, signal, onLetter });
  const arrow = (name, sign, by) => buttonControl({
    label: sign, class: "d2lrnn-button att-arrow", "aria-label": t(name), signal,
    onPress: () => onLetter(model.told < 0 ? model.count : Math.min(Math.max(1, model.told + 1 + by), model.count)),
  });
  const pick = element("div", { class: "att-pick" }, element("span", {}, t("pick")), arrow("before", "‹", -1), arrow("after", "›", 1));
  const own = textRow({
    t, signal,
    onText: (text) => {
      steps.ask(-1); // they ask about other texts
      commit({ text, letter: 0, view: "text" });
    },
  });
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, set: commit, say, signal, onReset,
    outcome: () => outcomeOf(derive(state())),
  });
  onReset(own.clear);
  whenSeen(panel.stage, { act: panel.grow, signal });
  el.append(element("div", { class: "d2lrnn-shape att" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, pick, panel.node, steps.node, own.node,
    fold(t("more_models"), element("p", {}, t("measured", { max: MAX_TEXT })), models), footRow({ t, reset, link, say, signal })));

  function draw(next) {
    model = next;
    pick.hidden = model.count === 0;
    now.set(...sentenceNodes(model, t));
    panel.draw(model);
    own.draw(model);
    models.textContent = t("models", scores(model));
  }
  return { draw };
}

export default explorable({ spec: SPEC, data: ["weights_attention", "weights_trained"], derive, build, repair, spoken });
