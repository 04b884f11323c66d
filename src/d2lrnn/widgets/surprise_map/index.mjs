// The surprise map: a column behind every letter of a text, as high as its bits, under one network at four stages of its training.
import { element, explorable } from "../ui.mjs";
import { fold, footRow, guidedSteps, motion, nowLine } from "../shape.mjs";
import SPEC from "./spec.json" with { type: "json" };
import { choices, compared, DEFAULT_TEXT, derive, LINE, NAME, percent, reason, repair, STAGES } from "./maths.mjs";
import { blindOf, costTable, mapPanel, sentenceNodes, spoken, tell, textBox, trainingPanel } from "./panels.mjs";

const GLIDE_SECONDS = 0.9; // from one stage of the training to the next
const STAND_MS = 1600; // how long it stands still at each
const OWN = 2; // the step that asks about the reader's own word

function build({ el, t, signal, commit, reset, onReset, say, link, state }) {
  const now = nowLine();
  let timer = 0;
  let playing = null; // the stage that is played, which no trait holds
  let shown = null;
  let isSeen = false; // the opening text without training, which the first step asks about
  let typed = null; // the reader's last text, if it is a name
  const glide = motion({ seconds: GLIDE_SECONDS, signal });

  const stop = () => {
    clearTimeout(timer);
    glide.stop();
    shape.classList.remove("map-glides");
    playing = null;
  };
  const change = (values) => {
    stop();
    commit(values);
    draw(derive({ ...state(), ...values })); // where nothing but the playing has changed, no trait says so
  };
  /** Glide to this stage and from there to all later ones; the last is the one that the traits name. On the way bars and numbers are pale: no network has them. */
  const play = async (i) => {
    const from = STAGES.indexOf(shown.stage);
    playing = STAGES[i];
    shape.classList.add("map-glides");
    draw(derive(state()));
    if (!(await glide.run((share) => training.slide(from + (i - from) * share ** 2 * (3 - 2 * share))))) return;
    shape.classList.remove("map-glides");
    if (i + 1 < STAGES.length) {
      timer = setTimeout(play, STAND_MS, i + 1);
      return;
    }
    playing = null;
    draw(derive(state()));
  };

  const map = mapPanel({ t, signal, onPlace: (place) => change({ place }) });
  const training = trainingPanel({
    t, signal, onStage: (stage) => change({ stage }),
    onPlay: () => {
      if (playing !== null) return change({ stage: playing });
      const next = (STAGES.indexOf(state().stage) + 1) % STAGES.length; // a press moves something at once
      stop();
      playing = shown.stage;
      commit({ stage: STAGES.at(-1) });
      play(next);
    },
  });
  /** What the step about the reader's own text says of it. */
  const ownOutcome = (model) => {
    const { text, before, after } = model;
    if (model.count < 1) return t("text_short");
    const because = reason(before.bits, after.bits);
    const why = text === SPEC.steps[OWN].before.text ? t("known") : because === null ? "" : t(`why_${because.name}`, tell({ ...model, now: after }, because.place, t));
    const about = compared(before, after) === 1 ? t("verdict_same") : "";
    return t("verdict", { text, before: choices(before.perplexity), about, after: choices(after.perplexity), blind: blindOf({ ...model, now: after }, t), why }).trim();
  };
  /** The answer was about another text: of this one the panel tells the result, and judges no guess. */
  const tellAnew = () => {
    for (const button of steps.node.querySelectorAll(".d2lrnn-answers button")) {
      button.classList.remove("d2lrnn-right");
      button.setAttribute("aria-pressed", "false");
    }
    const told = steps.node.querySelector(".d2lrnn-outcome");
    told.classList.add("d2lrnn-past", "map-anew"); // past: the steps leave it alone
    told.textContent = ownOutcome(derive(state()));
  };
  const box = textBox({ t, signal, onText: (text) => {
      // A step about another text closes. The question about the reader's own stays, and its answer tells of each text: names can be compared.
      if (steps.opened() !== OWN && steps.opened() >= 0) steps.ask(-1);
      typed = text.length > 1 && text.length <= NAME ? text : null;
      change({ text, place: 0, ...(steps.isAsking() && { stage: STAGES[0] }) });
      if (steps.opened() === OWN && !steps.isAsking()) tellAnew();
    },
  });
  const costs = costTable(t);
  const more = fold(t("more_costs"), costs.node);
  more.addEventListener("toggle", () => {
    if (more.open) costs.draw(shown);
  }, { signal });
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, onReset, say, signal,
    set: (values) => {
      const asksOwn = values === SPEC.steps[OWN].before;
      change(asksOwn && typed !== null ? { ...values, text: typed } : values);
      if (values.stage === STAGES[0]) more.open = false; // a question: the table has its answer
      if (asksOwn && !matchMedia("(pointer: coarse)").matches) box.focus(); // a phone's keyboard would cover the question
    },
    asked: () => ({ text: state().text }),
    outcome: (i) => {
      const model = derive(state());
      for (const old of steps.node.querySelectorAll(".d2lrnn-right, .map-anew")) old.classList.remove("d2lrnn-right", "map-anew"); // of the name before
      const isNear = compared(model.before, model.after) === 1; // then no answer is wrong
      if (i === OWN) return { verdict: ownOutcome(model), ...(model.count > 0 && !isNear && { right: compared(model.before, model.after) === 0 ? 0 : 1 }) };
      const { letter, context, chance } = tell({ ...model, now: model.after }, model.most, t);
      return { letter, context, chance, p: percent(Math.max(...model.after.probs[model.most - 1])) };
    },
  });
  onReset(() => {
    stop();
    typed = null;
    isSeen = false;
    box.clear();
    map.clear();
    shown = null;
    draw(derive(state()));
  });
  const shape = element("div", { class: "d2lrnn-shape map" },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, map.because, element("div", { class: "map-view" }, map.node, map.detail, training.node, box.node), steps.node, more, footRow({ t, reset, link, say, signal }));
  shape.style.setProperty("--map-glide", `${GLIDE_SECONDS}s`);
  el.append(shape);

  /** After some training, a text of one row is compared with what it was before; the opening text once that has been seen. */
  function withOld(model) {
    const { text, stage, count } = model;
    isSeen ||= text === DEFAULT_TEXT && stage === STAGES[0];
    return { ...model, compares: stage !== STAGES[0] && count > 0 && text.length <= LINE && (isSeen || text !== DEFAULT_TEXT) };
  }
  function draw(given) {
    const model = withOld(playing === null ? given : derive({ ...state(), stage: playing }));
    if (shown !== null && ["text", "stage", "place", "now", "before"].every((name) => shown[name] === model[name])) return training.draw(model, playing !== null); // a long text takes its time
    shown = model;
    now.set(...sentenceNodes(model, t));
    map.draw(model);
    training.draw(model, playing !== null);
    box.draw(model);
    if (more.open) costs.draw(model);
  }
  return { draw, destroy: stop };
}

export default explorable({
  spec: SPEC, data: STAGES.map((stage) => `weights_${stage}`), derive, build, repair, spoken,
});
