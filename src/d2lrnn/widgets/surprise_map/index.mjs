// The surprise map: every letter of a text coloured by its bits, under one network at four stages of its training.
import { element, explorable, formatNumber, prefersReducedMotion } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine, whenSeen } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { derive, meansByPlace, repair, STAGES } from "./maths.mjs";
import { costTable, mapPanel, sentenceNodes, spoken, textBox, trainingPanel } from "./panels.mjs";

const STAGE_MS = 900; // how long the training stands still at each of its stages

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  let touched = false; // the reader has done something: the figure no longer plays by itself
  let timer = 0;
  let playing = null; // the stage that is played, which no trait holds
  let shown = null;

  const stop = () => {
    clearTimeout(timer);
    playing = null;
  };
  const change = (values) => {
    touched = true;
    stop();
    commit(values);
    draw(derive({ ...state(), ...values })); // where nothing but the playing has changed, no trait says so
  };
  /** Show all stages one after the other; then the one that the traits name. */
  const play = () => {
    stop();
    const next = (i) => {
      playing = STAGES[i] ?? null;
      draw(derive(state()));
      if (playing !== null) timer = setTimeout(next, STAGE_MS, i + 1);
    };
    next(0);
  };

  const map = mapPanel({ t, signal, onPlace: (place) => change({ place }) });
  const training = trainingPanel({
    t, signal, onStage: (stage) => change({ stage }),
    onPlay: () => {
      change({ stage: STAGES.at(-1) });
      play();
    },
  });
  const box = textBox({ t, signal, onText: (text) => change({ text, place: 0 }) });
  const costs = costTable(t);
  const more = fold(t("more_costs"), costs.node);
  more.addEventListener("toggle", () => more.open && costs.draw(shown), { signal });
  const steps = guidedSteps({
    t, steps: SPEC.steps, onReset, say, signal, set: change,
    outcome: () => {
      const model = derive(state());
      const none = { first: "–", later: "–", space: "–", first_choices: "–", before: "–", after: "–" };
      if (model.count < 1) return { ...none, text: model.text, verdict: t("text_short") };
      const after = model.at(STAGES.at(-1));
      const { first, later, space } = meansByPlace(model.text, after.bits);
      const surprised = after.perplexity > model.before.perplexity ? "verdict_more" : "verdict_less";
      return {
        ...none, text: model.text,
        ...(first && later && space && {
          first: formatNumber(first), later: formatNumber(later), space: formatNumber(space),
          first_choices: formatNumber(2 ** first, 0),
        }),
        before: formatNumber(model.before.perplexity), after: formatNumber(after.perplexity), verdict: t(surprised),
      };
    },
  });
  onReset(() => {
    touched = true;
    stop();
    box.clear();
    draw(derive(state()));
  });
  el.append(element("div", { class: "d2lrnn-shape map" },
    now.node, map.node, training.node, box.node, steps.node, more, footRow({ t, reset, link, say, signal })));
  whenSeen(map.node, { act: () => touched || prefersReducedMotion() || play(), signal });

  function draw(given) {
    const model = playing === null ? given : derive({ ...state(), stage: playing });
    shown = model;
    now.set(...sentenceNodes(model, t));
    map.draw(model);
    training.draw(model);
    box.draw(model);
    if (more.open) costs.draw(model);
  }
  return { draw, destroy: stop };
}

export default explorable({
  spec: SPEC, data: STAGES.map((stage) => `weights_${stage}`), derive, build, repair, spoken,
});
