// Attention beside a state: what each guesses, and which earlier letter matters for it.
import { element, explorable, prefersReducedMotion } from "../ui.mjs";
import { fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { derive, repair } from "./maths.mjs";
import { guessTable, headButtons, lookPanel, outcomeOf, scores, sentenceNodes, spoken, textRow } from "./panels.mjs";

const LETTER_MS = 140; // how long the reading rests on a letter

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  const guesses = guessTable({ t });
  const models = element("p");
  let timer = 0;
  let reading = null; // the letter that the playing has come to, which no trait holds
  let closeSteps = () => {};

  const stop = () => {
    clearTimeout(timer);
    reading = null;
  };
  const change = (values) => {
    stop();
    commit(values);
    draw(derive({ ...state(), ...values })); // where nothing but the playing has changed, no trait says so
  };
  /** Read the text from a letter, the first, to the place that the traits name. */
  const play = (from = 1) => {
    stop();
    const next = (place) => {
      const { place: end, text } = state();
      reading = place < Math.min(end, text.length) ? place : null;
      draw(derive(state()));
      if (reading !== null) timer = setTimeout(next, LETTER_MS, place + 1);
    };
    next(from);
  };

  const look = lookPanel({ t, signal, onPlace: (place) => change({ place }), onLetter: (letter) => change({ letter }) });
  const heads = headButtons({ t, signal, numHeads: SPEC.controls.head.max, onHead: (head) => change({ head }) });
  const own = textRow({
    t, signal,
    onText: (text) => {
      closeSteps(); // they ask about other texts
      change({ text, place: text.length, letter: 0 });
    },
    onPlay: () => {
      change({ place: state().text.length });
      play();
    },
  });
  const steps = guidedSteps({
    t, steps: SPEC.steps, say, signal,
    set: (values) => {
      change(values);
      if (values === SPEC.steps[1].state && !prefersReducedMotion()) play(SPEC.steps[1].before.place); // see it fade
    },
    onReset: (act) => {
      closeSteps = act;
      onReset(act);
    },
    outcome: () => outcomeOf(derive(state()), t),
  });
  onReset(() => {
    stop();
    own.clear();
    draw(derive(state()));
  });
  el.append(element("div", { class: "d2lrnn-shape att" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, guesses.node, look.node, steps.node, own.node, fold(t("more_models"), heads.node, models), footRow({ t, reset, link, say, signal })));

  function draw(given) {
    const model = reading === null ? given : derive({ ...state(), place: reading });
    now.set(...sentenceNodes(model, t));
    guesses.draw(model);
    look.draw(model, reading !== null);
    heads.draw(model);
    own.draw(model);
    models.textContent = t("models", scores(model));
  }
  return { draw, destroy: stop };
}

export default explorable({ spec: SPEC, data: ["weights_attention", "weights_trained"], derive, build, repair, spoken });
