// Truncation: a line of text is cut; one guess shows which letters its message reaches, and each how much of it arrives.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { NUM_LETTERS, derive, partAt, percent, percentKept } from "./maths.mjs";
import { linePanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** What arrives of the chosen guess's message, as Python says it: a key, and its values. */
export function sentence({ tau, way, lost, kept, chosen }) {
  return [`mean_${way}${tau === 1 ? "_one" : ""}`, { tau, kept: percentKept(1 - kept[chosen]), average: percentKept(lost) }];
}

/** The same of all guesses, for who does not see which one is chosen. */
export function spoken(model) {
  const [key, values] = sentence(model);
  return [key === "mean_windows" ? "all_windows" : key, values];
}

/** What the first three letters back take of a message. */
export const partsOf = (factor) => Object.fromEntries(["first", "second", "third"].map((name, lag) => [name, percent(partAt(factor, lag))]));

/** The word just beyond the cut of the chosen guess, or its beginning. */
export const lastBeyond = ({ reaches, chosen }, t) =>
  `${t("earlier")} ${t("text")}`.slice(0, chosen - NUM_LETTERS - reaches[chosen] + 1).trimEnd().split(" ").at(-1);

const FAR = 5; // from the last letter of “sunset” to its first

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  let ghost = null; // the figure as it was before a step's answer
  const set = (values) => {
    ghost = null;
    commit(values);
    paint(derive(state())); // also where the values are those that stand
  };
  const choose = (place) => {
    if (place + 1 === state().letter) return;
    commit({ letter: place + 1 });
    paint(derive(state()));
  };
  const now = nowLine();
  const lead = element("p", { class: "d2lrnn-lead" });
  const line = linePanel({ t, onTau: (tau) => tau !== state().tau && set({ tau }), onLetter: choose, signal });
  const counted = element("p", { class: "trunc-caption trunc-counted" });
  const lost = element("p", { class: "trunc-caption trunc-lost" });
  const ways = controls.way.choices.map((way) => ({ way, node: buttonControl({ label: "", onPress: () => set({ way }), signal }) }));
  const caption = element("span", { class: "trunc-caption" });
  const memory = rangeControl({
    label: caption, min: 20 * controls.factor.min, max: Math.round(20 * controls.factor.max), onInput: (place) => set({ factor: place / 20 }), signal,
  });
  memory.node.classList.add("trunc-memory");

  const at = (values) => derive({ ...state(), ...values });
  const outcome = (i) => {
    const [before, after] = [at(steps[i].before), at(steps[i].state)];
    ghost = before;
    if (i === 2) more.open = true; // there is what it has changed
    return {
      least: percentKept(1 - after.kept[after.chosen]), kept: percentKept(after.lost), before: percentKept(before.lost), shared: before.work, each: after.work,
      less: percent(partAt(after.factor, FAR)), more: percent(partAt(before.factor, FAR)),
    };
  };
  const guided = guidedSteps({ t, state, steps, set, outcome, onReset, say, signal });
  const cost = element("p", { class: "trunc-price" });
  const switched = element(
    "div", { class: "trunc-choice" },
    element("div", { class: "d2lrnn-segments trunc-ways", role: "group", "aria-label": t("way") }, ...ways.map(({ node }) => node)), cost, element("p", { class: "trunc-caption trunc-worth" }, t("worth")),
  );
  const paragraphs = t("counted_text").split("\n").map((text) => element("p", { class: "trunc-caption" }, text));
  const more = fold(t("more"), element("div", { class: "trunc-more" }, memory.node, counted, ...paragraphs));
  guided.node.addEventListener("click", () => paint(derive(state())), { signal }); // one step asks about the work
  onReset(() => {
    more.open = false;
    ghost = null;
    line.fresh();
    paint(derive(state()));
  });

  const figure = element("div", { class: "trunc-figure" }, line.node, switched);
  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    lead,
    now.node,
    lost,
    figure,
    guided.node,
    more,
    footRow({ t, reset, link, say, signal }),
  ));

  function paint(model) {
    const { tau, way, factor, chosen } = model;
    for (const { way: each, node } of ways) {
      node.textContent = t(each === "windows" && tau === 1 ? "way_windows_one" : `way_${each}`, { tau });
      node.setAttribute("aria-pressed", String(each === way));
    }
    line.draw(model, ghost?.kept ?? null, guided.opened() === 1);
    const reach = model.reaches[chosen];
    const about = { letter: visibleCharacter(line.text[chosen]), kept: percentKept(1 - model.kept[chosen]), reach, ...partsOf(factor) };
    const [key, values] = sentence(model);
    now.set(...emphasised(t.raw(key), values));
    cost.replaceChildren(...emphasised(t.raw("price"), model));
    const passed = percent(factor);
    lead.textContent = t("lead", { taken: percent(1 - factor) });
    lost.replaceChildren(...emphasised(t.raw("beyond"), { last: lastBeyond(model, t) }));
    counted.replaceChildren(...emphasised(t.raw(reach === 1 ? "counted_one" : "counted"), about));
    caption.replaceChildren(...emphasised(t.raw("memory"), { factor: passed }), ghost === null || ghost.factor === factor ? "" : t("memory_was", { factor: percent(ghost.factor) }));
    memory.set(Math.round(20 * factor), t("memory", { factor: passed }));
  }
  return { draw: paint };
}

export default explorable({ spec: SPEC, derive, build, spoken: (model, t) => t(...spoken(model)) });
