// Truncation: a line of text is cut; a wrong guess shows which letters its message reaches, and the small ones how it is with all.
import { emphasised, fold, footRow, guidedSteps, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { canTeach, derive, firstPart, isOfPair, partAt, percent, percentKept } from "./maths.mjs";
import { linePanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

/** What the guess of the closing bracket can teach, or what is used of another's message, as Python says it: keys, and their values. */
export function sentence(model, t) {
  const { way, tau, chosen } = model;
  const guess = visibleCharacter((t("text") + t("next"))[chosen + 1]);
  const kept = percentKept(1 - model.kept[chosen]);
  return { keys: [tau === 1 ? `${way}_one` : way, isOfPair(model) ? "teach" : "share"], values: { tau, guess, kept, can: t(canTeach(firstPart(model))) } };
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
  const ways = controls.way.choices.map((way) => ({ way, node: buttonControl({ label: "", onPress: () => set({ way }), signal }) }));
  const caption = element("span", { class: "trunc-caption" });
  const memory = rangeControl({
    label: caption, min: 20 * controls.factor.min, max: Math.round(20 * controls.factor.max), onInput: (place) => set({ factor: place / 20 }), signal,
  });
  memory.node.classList.add("trunc-memory");

  const [, wider, faster] = steps.map(({ before, state: after }) => [before, after].map((values) => derive({ ...state(), ...values })));
  const [some, least] = faster.map(({ factor, chosen }) => percent(partAt(factor, chosen)));
  const known = {
    before: percentKept(wider[0].lost), kept: percentKept(wider[1].lost), least: percent(1 - wider[1].kept[0]),
    more: some, less: least, taken: percent(1 - faster[0].factor),
  };
  const guided = guidedSteps({ t: (key, values) => t(key, { ...known, ...values }), state, steps, set, onReset, say, signal });
  const lead = element("p", { class: "d2lrnn-lead" });
  const used = element("p", { class: "trunc-caption trunc-used" });
  const price = element("p", { class: "trunc-caption" });
  const paragraphs = t("counted_text").split("\n").map((text) => element("p", { class: "trunc-caption" }, text));
  const more = fold(t("more"), element(
    "div", { class: "trunc-more" },
    element("div", { class: "trunc-choice" },
      element("div", { class: "d2lrnn-segments trunc-ways", role: "group", "aria-label": t("way") }, ...ways.map(({ node }) => node)), price),
    memory.node, ...paragraphs,
  ));
  guided.node.addEventListener("click", () => paint(derive(state())), { signal }); // the first answer is shown, too
  onReset(() => {
    more.open = false;
    line.fresh();
    paint(derive(state()));
  });
  el.append(element(
    "div", { class: "d2lrnn-shape trunc" },
    lead, now.node,
    element("div", { class: "trunc-figure" }, line.node), used,
    guided.node, more, footRow({ t, reset, link, say, signal }),
  ));

  function paint(model) {
    const { tau, way, factor } = model;
    for (const { way: each, node } of ways) {
      node.textContent = t(each === "windows" && tau === 1 ? "way_windows_one" : `way_${each}`, { tau });
      node.setAttribute("aria-pressed", String(each === way));
    }
    line.draw(model, { isRead: guided.opened() === 0 && !guided.isAsking() });
    const { keys, values } = sentence(model, t);
    now.set(...emphasised(keys.map((key) => t.raw(key)).join(" "), values));
    used.replaceChildren(...emphasised(t.raw(tau === 1 ? "used_one" : way === "windows" ? "used_uneven" : "used"), { tau, average: percentKept(model.lost) }));
    price.replaceChildren(...emphasised(t.raw("price"), model));
    const passed = percent(factor);
    lead.textContent = t("lead", { taken: percent(1 - factor) });
    caption.replaceChildren(...emphasised(t.raw("memory"), { factor: passed }));
    memory.set(Math.round(20 * factor), t("memory", { factor: passed }));
  }
  return { draw: paint };
}

export default explorable({ spec: SPEC, derive, build, spoken });
