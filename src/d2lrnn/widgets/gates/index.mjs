// Gates: what a letter wrote into the memory of an LSTM's unit, and how long the forget gates let it last.
import { dragOn, emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { createNetwork, derive, nameOf, readable } from "./maths.mjs";
import { createMap, createPicture, shareText, signed } from "./panels.mjs";
import { leftOut } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { text: TEXT, bias: BIAS } = SPEC.controls;

/** One network for each file: several figures of a page share it. */
const networks = new WeakMap();
function networkOf(view) {
  if (!networks.has(view)) networks.set(view, createNetwork(view));
  return networks.get(view);
}

/** A number in a product: three decimals, so that the sum can be checked, brackets around one that is negative. */
const number = (value) => (value < -0.0005 ? `(−${Math.abs(value).toFixed(3)})` : Math.abs(value).toFixed(3));

/** A number that stands alone. */
const plain = (value) => signed(value).replace("+", "");

/** Bits a letter as the number of equally likely letters, the perplexity. */
const choices = (bits) => (2 ** bits).toFixed(1);

/** What the sentence says: { key, values, letter }. */
export function sentence({ letters, at, unit, count, left }, t) {
  if (letters.length === 0) return { key: "now_short", values: {}, letter: "" };
  const { key, values: named } = nameOf(letters, at);
  const letter = t(key, { ...named, letter: visibleCharacter(letters[at]) });
  if (letters.length < 2) return { key: "now_short", values: {}, letter };
  if (at === letters.length - 1) return { key: "now_last", values: { unit, letter }, letter };
  const steps = count ?? letters.length - 1 - at;
  const many = steps === 1 ? t("one_letter") : t("letters", { count: steps });
  const values = { unit, letter, left: shareText(left[steps], t), count: many };
  return { key: count === null ? "now_kept" : "now_gone", values, letter };
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const now = nowLine();
  const picture = createPicture(t);
  const units = createMap(t);
  let model = null;

  const biasValue = element("b", {});
  const bias = rangeControl({
    label: element("span", {}, t("bias"), " ", biasValue),
    min: BIAS.min, max: BIAS.max, step: 0.5, signal, onInput: (value) => commit({ bias: value }),
  });
  const cost = element("p", { class: "gates-cost" }); // hidden while a question is open (style.css)
  const biasRow = element(
    "div", { class: "gates-bias" }, bias.node,
    element("div", { class: "gates-ends", "aria-hidden": "true" }, element("span", {}, t("sooner")), element("span", {}, t("longer"))),
    cost,
  );
  const shown = element("p", { class: "gates-shown" });
  const text = element("input", { type: "text", class: "d2lrnn-text", maxlength: TEXT.max, spellcheck: "false", autocomplete: "off" });
  const lost = element("p", { class: "gates-caption", hidden: true });
  text.addEventListener("input", () => {
    const count = leftOut(text.value).length;
    lost.textContent = t("text_lost", { count });
    lost.hidden = count === 0;
    commit({ text: readable(text.value, TEXT.max), place: state().place });
  }, { signal });
  onReset(() => (lost.hidden = true));
  const more = fold(
    t("more"), units.mapBox, element("label", { class: "d2lrnn-control gates-text" }, element("span", {}, t("another_text")), text), lost, shown,
  );

  // ---- the picture is the control: along it for a letter, down the map for a unit ----
  const setPlace = (place) => {
    const inside = Math.min(Math.max(1, place), Math.max(1, model.letters.length));
    if (inside !== state().place) commit({ place: inside });
  };
  const setRow = (row) => {
    const { unit } = model.rows[Math.min(Math.max(0, row), model.rows.length - 1)];
    if (unit !== state().unit) commit({ unit });
  };
  const arrow = (name, sign, by) => buttonControl({
    label: sign, class: "d2lrnn-button gates-arrow", "aria-label": t(name), signal, onPress: () => setPlace(model.at + 1 + by),
  });
  const pick = element("div", { class: "gates-pick" }, element("span", {}, t("pick")), arrow("earlier", "‹", -1), arrow("later", "›", 1));
  dragOn(picture.time, { move: ({ x }) => setPlace(Math.floor(x * model.letters.length) + 1), signal });
  dragOn(units.map, { axis: "y", move: ({ y }) => setRow(Math.floor(y * model.rows.length)), signal });
  const keys = (node, steps) => node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    steps[event.key]();
  }, { signal });
  const here = () => model.at + 1;
  keys(picture.time, {
    ArrowRight: () => setPlace(here() + 1), ArrowUp: () => setPlace(here() + 1),
    ArrowLeft: () => setPlace(here() - 1), ArrowDown: () => setPlace(here() - 1),
    Home: () => setPlace(1), End: () => setPlace(model.letters.length),
  });
  const row = () => model.rows.findIndex(({ unit }) => unit === model.unit);
  keys(units.map, {
    ArrowDown: () => setRow(row() + 1), ArrowRight: () => setRow(row() + 1),
    ArrowUp: () => setRow(row() - 1), ArrowLeft: () => setRow(row() - 1),
    Home: () => setRow(0), End: () => setRow(model.rows.length - 1),
  });

  // ---- guided steps ----
  const outcome = (i) => {
    const { letters, at, count, forget, ownForget, bits, ownBits, keptAtSpaces } = derive(state(), networkOf(state().weights));
    if (i === 0) {
      const space = letters.indexOf(" ", at);
      const odds = (ownForget[space] / (1 - ownForget[space])) * Math.exp(state().bias);
      return {
        count: t("letters", { count }), before: ownForget[space].toFixed(2), gate: forget[space].toFixed(2), alone: (odds / (1 + odds)).toFixed(2),
      };
    }
    if (i === 1) return { own: choices(ownBits), choices: choices(bits) };
    const { key, values } = nameOf(letters, at + count);
    const spaces = letters.slice(at, at + count).filter((letter) => letter === " ").length;
    return { keeps: shareText(keptAtSpaces(16), t), lets: shareText(keptAtSpaces(18), t), spaces, letter: t(key, values) };
  };
  const guided = guidedSteps({ t, steps: SPEC.steps, set: commit, outcome, onReset, say, signal });

  el.append(element(
    "div", { class: "d2lrnn-shape gates", role: "group", "aria-label": t("title") },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, pick, picture.timeBox, biasRow, guided.node, more, footRow({ t, reset, link, say, signal }),
  ));

  // ---- once seen, what is left runs from left to right as the text is read ----
  const { run } = motion({ seconds: 2.4, signal });
  whenSeen(picture.timeBox, {
    act: () => run((part) => {
      picture.water.style.clipPath = part < 1 ? `inset(0 ${100 - 100 * part}% 0 0)` : "";
    }),
    signal,
  });

  function draw(next) {
    model = next;
    const { key, values, letter } = sentence(model, t);
    now.set(...emphasised(t.raw(key), values));
    picture.draw(model, { name: letter, now: now.node.textContent });
    units.draw(model, letter);
    const { letters, at, unit, forget, input, candidate, cell, characters } = model;
    if (letters.length < 2) more.open = true; // the field for another text stands there
    cost.hidden = letters.length < 2;
    const costs = { choices: choices(model.bits), own: choices(model.ownBits) };
    cost.replaceChildren(
      ...emphasised(t.raw(model.bias === 0 ? "cost_own" : "cost_bias"), costs), " ",
      t(2 ** model.bits > characters ? "cost_worse" : "cost_blind", { characters }),
    );
    shown.hidden = letters.length === 0;
    if (!shown.hidden) {
      shown.textContent = t("shown", {
        letter, unit, forget: forget[at].toFixed(3), before: at > 0 ? number(cell[at - 1]) : "0", input: input[at].toFixed(3), candidate: number(candidate[at]),
        cell: plain(cell[at]),
      });
    }
    biasValue.textContent = model.bias === 0 ? t("bias_own") : signed(model.bias, 1);
    bias.set(model.bias, model.bias === 0 ? t("bias_own") : t("bias_text", { bias: signed(model.bias, 1) }));
    if (readable(text.value, TEXT.max) !== model.text) {
      text.value = model.text;
      lost.hidden = true;
    }
  }
  return { draw };
}

export default explorable({
  spec: SPEC,
  data: ["weights"],
  derive: (state) => derive(state, networkOf(state.weights)),
  repair: (state) => ({ ...state, text: readable(state.text, TEXT.max) }),
  spoken: (model, t) => {
    const { key, values } = sentence(model, t);
    return t(key, values);
  },
  build,
});
