// Perplexity, one word at a time: the reader drags the surprisal of each right next character.
import { element, explorable, rulesOf } from "../ui.mjs";
import { fold, footRow, guidedSteps, whenSeen } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { carryProbs, derive, formatChoices, predictions, presetProb, probabilityStops, wordProblem } from "./maths.mjs";
import { chart, comparePanel, glider, meansPanel, resultPanel, spoken, toolbar } from "./panels.mjs";

/** What a link may set. */
export const RULES = {
  ...rulesOf(SPEC.controls),
  word: (value) => (typeof value === "string" && wordProblem(value) === null ? value : undefined),
};

/** As many probabilities as the word needs. */
export function repair({ word, probs, vocab_size }) {
  return { word, probs: carryProbs(probs, predictions(word).length, vocab_size), vocab_size };
}

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const result = resultPanel(t);
  const table = chart({ t, signal });
  const means = meansPanel(t);
  const glide = glider({ table, result, signal });
  let shown = null;
  let touched = false; // the reader has done something: the figure no longer moves by itself
  let gliding = false; // the next drawing glides; a bar under a finger answers at once
  let answered = false; // it shows the answer of a step

  const change = (slowly, values) => {
    touched = true;
    gliding = slowly;
    tools.clear(); // a word that was refused is given up
    commit(values);
  };
  /** The reader's own hand leaves a question that the figure would answer. */
  const byHand = (slowly, values) => {
    steps.leave();
    change(slowly, values);
  };
  const onProbability = (i, p) => {
    if (shown.probs[i] !== p) byHand(false, { probs: shown.probs.map((q, j) => (j === i ? p : q)) });
  };
  const tools = toolbar({
    t, signal, say,
    onBadWord: (bad) => [result, table].forEach(({ node }) => node.classList.toggle("ppl-stale", bad)),
    onWord: (word) => {
      tools.replace(null);
      byHand(false, { word, probs: carryProbs([], predictions(word).length, shown.vocabSize) });
    },
    onPreset: (name) => byHand(true, { probs: shown.probs.map(() => presetProb(name, shown.vocabSize)) }),
  });
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, onReset, say, signal, set: (values) => {
      if (values.word !== shown.word) tools.replace(values.word);
      answered = SPEC.steps.some(({ state }) => state === values);
      change(true, values);
    },
    outcome: (i, j) => ({
      yours: j === SPEC.steps[i].right ? "" : `${t(`step_${i + 1}_yours_${j + 1}`)} `,
      perplexity: formatChoices(derive(SPEC.steps[i].state).choices),
    }),
  });
  onReset(() => {
    tools.clear();
    tools.replace(null);
    table.still(); // also where no value changes
    touched = gliding = true;
  });
  el.append(element(
    "div", { class: "d2lrnn-shape ppl" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), result.node, table.node, steps.node,
    fold(t("more_known"), comparePanel(t)), fold(t("more_word"), tools.node), fold(t("more_means"), means.node), footRow({ t, reset, link, say, signal }),
  ));
  whenSeen(result.node, { act: () => touched || glide.open(shown), signal });

  const draw = (model) => {
    if (shown?.word !== model.word || shown.vocabSize !== model.vocabSize) {
      table.setWord(model, probabilityStops(model.vocabSize), onProbability);
    }
    shown = model;
    result.draw(model);
    table.draw(model);
    tools.draw(model);
    means.draw(model);
    if (!gliding) glide.jump(model);
    else if (answered) glide.glide(model).then((done) => done && table.prove()); // the bars show it
    else glide.glide(model);
    gliding = answered = false;
  };
  return { draw };
}

export default explorable({ spec: SPEC, rules: RULES, derive, build, repair, spoken });
