// Truncation: a line of text is cut; one guess shows which letters its message reaches, and each how much of it arrives.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { NUM_LETTERS, countedOut, derive, percentKept } from "./maths.mjs";
import { linePanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const LAST = NUM_LETTERS - 1; // the guess that is shown, unless another is touched
const AFTER_A_CUT = 6; // in windows of 6

/** What arrives of one guess's message, as Python says it: a key, and its values. */
export function sentence({ tau, way, lost, kept }, place = LAST) {
  return [`mean_${way}${tau === 1 ? "_one" : ""}`, { tau, kept: percentKept(1 - kept[place]), average: percentKept(lost) }];
}

/** The same where it is not known which guess is chosen. */
export function spoken(model) {
  const [key, values] = sentence(model);
  return [key === "mean_windows" ? "all_windows" : key, values];
}

/** What a choice of cuts asks for. */
export const price = ({ tau, work }) => [tau === 1 ? "price_one" : "price", { tau, work }];

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  let picked = null; // a guess, by the reader or by an answer
  let ghost = null; // the figure as it was before a step's answer
  const set = (values) => {
    ghost = null;
    commit(values);
    paint(derive(state())); // also where the values are those that stand
  };
  const unpick = () => {
    picked = null;
  };
  const choose = (place) => {
    picked = place;
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
    if (i === 0) picked = AFTER_A_CUT;
    else ghost = before;
    paint(derive(state()));
    const [least, most] = [AFTER_A_CUT, AFTER_A_CUT - 1].map((place) => percentKept(1 - after.kept[place]));
    return {
      least, most, kept: percentKept(after.lost), before: percentKept(before.lost), shared: before.work, each: after.work,
    };
  };
  const guided = guidedSteps({ t, state, steps, set: (values) => { unpick(); set(values); }, outcome, onReset, say, signal });
  const cost = element("p", { class: "trunc-price" });
  const switched = element(
    "div", { class: "trunc-choice" },
    element("div", { class: "d2lrnn-segments trunc-ways", role: "group", "aria-label": t("way") }, ...ways.map(({ node }) => node)), cost,
  );
  const { lost: long, work: shared } = at({ ...steps[0].before, tau: NUM_LETTERS }); // twice as far apart
  const whole = { long: percentKept(long), shared };
  const more = fold(t("more"), element("div", { class: "trunc-more" }, memory.node, counted, ...t("counted_text", whole).split("\n").map((text) => element("p", { class: "trunc-caption" }, text))));
  guided.node.addEventListener("click", () => { if (guided.opened() === 2) more.open = true; }, { signal }); // there is what it changes
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
    const chosen = picked ?? LAST;
    for (const { way: each, node } of ways) {
      node.textContent = t(each === "windows" && tau === 1 ? "way_windows_one" : `way_${each}`, { tau });
      node.setAttribute("aria-pressed", String(each === way));
    }
    line.draw(model, chosen, ghost?.kept ?? null);
    const reach = model.reaches[chosen];
    const about = { letter: visibleCharacter(line.text[chosen]), kept: percentKept(1 - model.kept[chosen]), ...countedOut(factor, reach) };
    const [key, values] = sentence(model, chosen);
    now.set(...emphasised(t.raw(key), values));
    const [costs, spent] = price(model);
    cost.replaceChildren(...emphasised(t.raw(costs), spent));
    counted.replaceChildren(...emphasised(t.raw("counted"), about));
    caption.replaceChildren(...emphasised(t.raw("memory"), { factor }), ghost === null || ghost.factor === factor ? "" : t("memory_was", { factor: ghost.factor }));
    memory.set(Math.round(20 * factor), t("memory", { factor }));
  }
  return { draw: paint };
}

export default explorable({ spec: SPEC, derive, build, spoken: (model, t) => t(...spoken(model)) });
