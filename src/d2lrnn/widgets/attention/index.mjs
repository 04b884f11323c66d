// Attention beside a state: what each looks back at in one text.
import { element, explorable, formatNumber, prefersReducedMotion } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine, whenSeen } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { changeText, derive, repair, weightText } from "./maths.mjs";
import { expected, headsInWords, lookPanel, sentenceNodes, spoken, toolbar } from "./panels.mjs";

const LETTER_MS = 140; // how long the reading rests on a letter

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const models = element("p");
  let touched = false; // the reader has done something: the figure no longer reads by itself
  let timer = 0;
  let reading = null; // the letter that the playing has come to, which no trait holds

  const stop = () => {
    clearTimeout(timer);
    reading = null;
  };
  const change = (values) => {
    touched = true;
    stop();
    commit(values);
    draw(derive({ ...state(), ...values })); // where nothing but the playing has changed, no trait says so
  };
  /** Read the text from its first letter to the place that the traits name. */
  const play = () => {
    stop();
    const next = (place) => {
      const { place: end, text } = state();
      reading = place < Math.min(end, text.length) ? place : null;
      draw(derive(state()));
      if (reading !== null) timer = setTimeout(next, LETTER_MS, place + 1);
    };
    next(1);
  };

  const look = lookPanel({ t, signal, onPlace: (place) => change({ place }) });
  const tools = toolbar({
    t, signal, numHeads: SPEC.controls.head.max,
    onHead: (head) => change({ head }),
    onText: (text) => change({ text, place: text.length }),
    onPlay: () => {
      change({ place: state().text.length });
      play();
    },
  });
  const steps = guidedSteps({
    t, steps: SPEC.steps, onReset, say, signal, set: change,
    outcome: () => {
      const model = derive(state());
      const { most, weights, changes, place } = model;
      return {
        weight: weightText(weights[most] ?? 0), moved: changeText(changes[most] ?? 0), near: changeText(changes[place - 2] ?? 0),
        heads: headsInWords(model, t),
      };
    },
  });
  onReset(() => {
    touched = true;
    stop();
    tools.clear();
    draw(derive(state()));
  });
  el.append(element("div", { class: "d2lrnn-shape att" },
    now.node, look.node, tools.node, steps.node, fold(t("more_models"), models), footRow({ t, reset, link, say, signal })));
  whenSeen(look.node, { act: () => touched || prefersReducedMotion() || play(), signal });

  function draw(given) {
    const model = reading === null ? given : derive({ ...state(), place: reading });
    now.set(...sentenceNodes(model, t));
    look.draw(model);
    tools.draw(model);
    const [attention, network] = model.perplexities.map((perplexity) => formatNumber(perplexity));
    const [looking, holding] = expected(model, t);
    models.textContent = [model.place > 0 && t("expects", { looking, holding }), t("models", { attention, state: network })]
      .filter(Boolean).join(" ");
  }
  return { draw, destroy: stop };
}

export default explorable({ spec: SPEC, data: ["weights_attention", "weights_trained"], derive, build, repair, spoken });
