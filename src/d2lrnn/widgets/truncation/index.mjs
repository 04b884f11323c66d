// Truncation: a line of text is cut; one guess shows which letters its correction reaches, and each how much of it is left.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { NUM_LETTERS, countedOut, derive, percent, percentKept } from "./maths.mjs";
import { linePanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const CHOSEN = 10; // the end of the word that begins at the first cut, the one that is dragged: what is cut off lies before it
const AFTER_A_CUT = 6; // in windows of 6

/** What is cut off on average, as Python says it: a key, and its values. */
export function sentence({ tau, way, lost }) {
  return [tau === 1 && way === "windows" ? "mean_windows_one" : `mean_${way}`, { tau, lost: percent(lost) }];
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  let chosen = CHOSEN;
  let picked = false; // by the reader
  let ghost = null; // the figure as it was before a step's answer
  const set = (values) => {
    ghost = null;
    if (!picked) chosen = CHOSEN;
    commit(values);
    paint(derive(state())); // also where the values are those that stand
  };
  const unpick = () => {
    picked = false;
    chosen = CHOSEN;
  };
  const choose = (place) => {
    picked = true;
    chosen = place;
    paint(derive(state()));
  };
  const now = nowLine();
  const line = linePanel({ t, onTau: (tau) => tau !== state().tau && set({ tau }), onLetter: choose, signal });
  const counted = element("p", { class: "trunc-caption trunc-counted" });
  const ways = controls.way.choices.map((way) => ({ way, node: buttonControl({ label: "", onPress: () => set({ way }), signal }) }));
  const caption = element("span", { class: "trunc-caption" });
  const memory = rangeControl({
    label: caption, min: 20 * controls.factor.min, max: Math.round(20 * controls.factor.max), onInput: (place) => set({ factor: place / 20 }), signal,
  });
  memory.node.classList.add("trunc-memory");

  const at = (values) => derive({ ...state(), ...values });
  const outcome = (i) => {
    const [before, after] = [at(steps[i].before), at(steps[i].state)];
    if (i === 0) chosen = AFTER_A_CUT;
    else ghost = before;
    paint(derive(state()));
    const [least, most] = [AFTER_A_CUT, AFTER_A_CUT - 1].map((place) => percentKept(1 - after.kept[place]));
    return {
      least, most, lost: percent(after.lost), before: percent(before.lost), each: after.work,
    };
  };
  const guided = guidedSteps({ t, state, steps, set: (values) => { unpick(); set(values); }, outcome, onReset, say, signal });
  const switched = element("div", { class: "d2lrnn-segments trunc-ways", role: "group", "aria-label": t("way") }, ...ways.map(({ node }) => node));
  const { lost: long, work: shared } = at({ ...steps[0].before, tau: NUM_LETTERS }); // one window
  const whole = { long: percent(long), shared };
  const more = fold(t("more"), element("div", { class: "trunc-more" }, memory.node, counted, ...t("counted_text", whole).split("\n").map((text) => element("p", { class: "trunc-caption" }, text))));
  onReset(() => {
    more.open = false;
    unpick();
    ghost = null;
    line.fresh();
    paint(derive(state()));
  });

  const figure = element("div", { class: "trunc-figure" }, line.node, switched);
  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    element("p", { class: "d2lrnn-lead" }, t("lead")),
    now.node,
    figure,
    guided.node,
    more,
    footRow({ t, reset, link, say, signal }),
  ));

  function paint(model) {
    const { tau, way, factor } = model;
    for (const { way: each, node } of ways) {
      node.textContent = t(`way_${each}`, { tau });
      node.setAttribute("aria-pressed", String(each === way));
    }
    const missed = line.draw(model, chosen, ghost?.kept ?? null);
    const reach = model.reaches[chosen];
    const about = { letter: visibleCharacter(line.text[chosen]), lost: percent(1 - model.kept[chosen]), kept: percentKept(1 - model.kept[chosen]), missed, ...countedOut(factor, reach) };
    now.set(...emphasised(t.raw(missed === "" ? "now" : "now_missed"), about));
    now.node.classList.toggle("trunc-misses", missed !== "");
    counted.replaceChildren(...emphasised(t.raw("counted"), about));
    caption.replaceChildren(...emphasised(t.raw("memory"), { factor }), ghost === null || ghost.factor === factor ? "" : t("memory_was", { factor: ghost.factor }));
    memory.set(Math.round(20 * factor), t("memory", { factor }));
  }
  return { draw: paint };
}

export default explorable({ spec: SPEC, derive, build, spoken: (model, t) => t(...sentence(model)) });
