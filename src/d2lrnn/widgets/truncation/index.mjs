// Truncation: a line of text is cut; a guess shows which letters its error teaches, and rows in the fold how it is with all.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { OPENS, SHORT, canTeach, derive, openPart, percent, percentKept } from "./maths.mjs";
import { linePanel, rowsPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** What a pair of brackets can teach, or what teaches of another guess's error, as Python says it: keys, and their values. */
export function sentence(model, t) {
  const { way, tau, chosen } = model;
  const text = t("text") + t("next");
  const [guess, pair] = [visibleCharacter(text[chosen + 1]), text.slice(OPENS[chosen], chosen + 2)];
  const kept = percentKept(1 - model.kept[chosen]);
  return { keys: [tau === 1 ? `${way}_one` : way, chosen in OPENS ? "teach" : "share"], values: { tau, guess, pair, kept, can: t(canTeach(openPart(model))) } };
}

/** The sentence, and the numbers that the picture shows. */
export function spoken(model, t) {
  const { keys, values } = sentence(model, t);
  const now = keys.map((key) => t(key, values)).join(" ");
  return t(`spoken_${keys[1]}`, { ...values, now, average: percentKept(model.lost) });
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const set = (values) => {
    commit(values);
    paint(derive(state())); // also where the values are those that stand
  };
  const now = nowLine();
  const line = linePanel({
    t, signal, onTau: (tau) => tau !== state().tau && set({ tau }), onLetter: (place) => place + 1 !== state().letter && set({ letter: place + 1 }),
  });
  const rows = rowsPanel({ t });
  const ways = controls.way.choices.map((way) => ({ way, node: buttonControl({ label: "", onPress: () => set({ way }), signal }) }));
  const caption = element("span", { class: "trunc-caption" });
  const memory = rangeControl({
    label: caption, min: 20 * controls.factor.min, max: Math.round(20 * controls.factor.max), onInput: (place) => set({ factor: place / 20 }), signal,
  });
  memory.node.classList.add("trunc-memory");
  memory.node.append(element("span", { class: "trunc-ends", "aria-hidden": "true" }, ...[controls.factor.min, controls.factor.max].map((end) => element("span", {}, percent(end)))));

  const [near, far, faded] = steps.map(({ state: after }) => derive({ ...state(), ...after }));
  const known = {
    near: near.tau, far: far.tau, taken: percent(1 - far.factor),
    more: percent(openPart(far)), less: percent(openPart(faded)), kept: percentKept(1 - faded.kept[faded.chosen]),
  };
  const guided = guidedSteps({ t: (key, values) => t(key, { ...known, ...values }), state, steps, set, onReset, say, signal });
  const fading = element("p", { class: "trunc-caption trunc-fading" });
  const [price, mean] = [0, 1].map(() => element("p", { class: "trunc-caption" }));
  const more = fold(t("more"), element(
    "div", { class: "trunc-more" },
    element("div", { class: "trunc-choice" },
      element("div", { class: "d2lrnn-segments trunc-ways", role: "group", "aria-label": t("way") }, ...ways.map(({ node }) => node)), price),
    memory.node, element("p", { class: "trunc-caption" }, t("slower")), mean, rows.node, element("p", { class: "trunc-caption" }, t("counted_text")),
  ));
  guided.node.addEventListener("click", () => paint(derive(state())), { signal }); // the first answer is shown, too
  onReset(() => {
    more.open = false;
    line.fresh();
    paint(derive(state()));
  });
  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    element("p", { class: "d2lrnn-lead" }, ...emphasised(t.raw("lead"), { ask: "?" })), now.node,
    element("div", { class: "trunc-figure" }, line.node, fading),
    guided.node, more, footRow({ t, reset, link, say, signal }),
  ));

  function paint(model) {
    const { tau, way, factor } = model;
    for (const { way: each, node } of ways) {
      node.textContent = t(each === "windows" && tau === 1 ? "way_windows_one" : `way_${each}`, { tau });
      node.setAttribute("aria-pressed", String(each === way));
    }
    rows.draw(model);
    line.draw(model, { isRead: model.chosen === SHORT && guided.opened() === 0 && !guided.isAsking() });
    const { keys, values } = sentence(model, t);
    now.set(...emphasised(keys.map((key) => t.raw(key)).join(" "), values));
    const shares = { taken: percent(1 - factor), factor: percent(factor) };
    fading.replaceChildren(...emphasised(t.raw("fading"), shares));
    mean.replaceChildren(...emphasised(t.raw("mean"), { average: percentKept(model.lost) }));
    price.replaceChildren(...emphasised(t.raw("price"), model));
    caption.replaceChildren(...emphasised(t.raw("memory"), shares));
    memory.set(Math.round(20 * factor), t("memory", shares));
  }
  return { draw: paint };
}

export default explorable({ spec: SPEC, derive, build, spoken });
