// Gates: what a letter wrote into the memory of an LSTM's unit, and how long the forget gates let it last.
import { dragOn, emphasised, fold, footRow, guidedSteps, keepInView, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { createNetwork, derive, nameOf, placeOf, readable, TWO_UNITS } from "./maths.mjs";
import { createMap, createStrips, fateOf, plain, signed } from "./panels.mjs";
import { leftOut, unaccented } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { text: TEXT, bias: BIAS, spaces: SPACES, view: VIEW } = SPEC.controls;
const [S_OF_SEA, A_OF_SEA] = [9, 11]; // in the text of the steps

/** One network for each file: several figures of a page share it. */
const networks = new WeakMap();
function networkOf(view) {
  if (!networks.has(view)) networks.set(view, createNetwork(view));
  return networks.get(view);
}

/** A number in a product: brackets around one that is negative. */
const number = (value, digits) => {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) > 0 ? `(−${text})` : text;
};

/** Decimals, at least three, with which the printed numbers give the printed sum. */
export function digitsOf(factors, sum) {
  for (let digits = 3; digits < 8; digits += 1) {
    const [a, b, c, d] = factors.map((value) => Number(value.toFixed(digits)));
    if (plain(a * b + c * d) === plain(sum)) return digits;
  }
  return 8;
}

/** Bits a letter as the number of equally likely letters, the perplexity. */
export function choices(bits, t) {
  const value = 2 ** bits;
  return value > 1000 ? t("over", { share: "1\u202f000" }) : value.toFixed(value < 100 ? 1 : 0);
}

/** A letter's name in words, beside that of the letter at `from`. */
export function spokenName(letters, at, t, from = null) {
  const { key, values } = from === null ? nameOf(letters, at) : placeOf(letters, from, at);
  return t(key, { ...values, letter: visibleCharacter(letters[at]), which: t("which").split(" ")[values.which] });
}

/** What becomes of what a letter adds, or what the unit's number is made of there: { key, values, letter }. */
export function sentence(model, t) {
  const { letters, at, unit, isMemory, forget, cell, input, candidate } = model;
  if (letters.length === 0) return { key: "now_short", values: {}, letter: "" };
  const letter = spokenName(letters, at, t);
  if (letters.length < 2) return { key: "now_short", values: {}, letter };
  if (isMemory) {
    const before = at > 0 ? plain(cell[at - 1]) : "0";
    return { key: "now_memory", values: { letter, unit, before, gate: plain(forget[at]), written: plain(input[at] * candidate[at]), cell: plain(cell[at]) }, letter };
  }
  const written = plain(input[at] * candidate[at]);
  if (at === letters.length - 1) return { key: "now_last", values: { letter, unit, written }, letter };
  const { isEnd, count, share, own } = fateOf(model, t);
  const where = spokenName(letters, at + count, t, at);
  const values = { letter, unit, written, left: share, ...(isEnd ? {} : { where }), ...(own === null ? {} : { own }) };
  return { key: `now_${isEnd ? "end" : "at"}${own === null ? "" : "_own"}`, values, letter };
}

/** The tile under a finger, or the nearest. */
function nearest(tiles, { clientX, clientY }) {
  const far = tiles.map((tile) => {
    const { left, right } = tile.getBoundingClientRect();
    const { top, bottom } = tile.closest(".gates-part").getBoundingClientRect(); // with the units under its line
    return Math.hypot(clientX - (left + right) / 2, 4 * Math.max(top - clientY, clientY - bottom, 0));
  });
  return far.indexOf(Math.min(...far));
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const now = nowLine();
  const picture = createStrips(t);
  const units = createMap(t);
  let model = null;

  const biasValue = element("b", {});
  const bias = rangeControl({
    label: element("span", {}, t("bias"), " ", biasValue),
    min: BIAS.min, max: BIAS.max, step: 0.5, signal, onInput: (value) => change({ bias: value }),
  });
  const biasRow = element(
    "div", { class: "gates-bias" }, bias.node,
    element("div", { class: "gates-ends", "aria-hidden": "true" }, element("span", {}, t("sooner")), element("span", {}, t("longer"))),
  );
  const change = (values) => {
    guided.leave(); // a question that this would answer
    commit(values);
  };
  const switchOf = (choices, name, { words, act, spoken = () => null }) => {
    const buttons = choices.map((choice) => buttonControl({ label: words(choice), "aria-label": spoken(choice), signal, onPress: () => act({ [name]: choice }) }));
    return { buttons, press: (chosen) => choices.forEach((choice, k) => buttons[k].setAttribute("aria-pressed", String(choice === chosen))) };
  };
  const row = (kind, label, buttons) => element("div", { class: `gates-choice ${kind}`, role: "group", "aria-label": label }, element("span", { "aria-hidden": "true" }, label), ...buttons);
  const two = switchOf(TWO_UNITS, "unit", { words: String, spoken: (unit) => t("unit", { unit }), act: commit });
  let other = null; // the last unit from the fold or a link: it keeps a button
  const third = buttonControl({ label: [], signal, onPress: () => other !== null && commit({ unit: other }) });
  onReset(() => (other = null));
  const spaces = switchOf(SPACES.choices, "spaces", { words: (choice) => t(`spaces_${choice}`), act: change });
  const views = switchOf(VIEW.choices, "view", { words: (choice) => t(`view_${choice}`), act: change });
  const turning = row("gates-turning", t("turn"), spaces.buttons);
  const viewing = row("gates-views", t("view"), views.buttons);
  const shown = element("p", { class: "gates-shown" });
  const perplexity = element("p", { class: "gates-perplexity" });
  const text = element("input", { type: "text", class: "d2lrnn-text", spellcheck: "false", autocomplete: "off" });
  const lost = element("p", { class: "gates-caption", hidden: true });
  text.addEventListener("input", () => {
    const count = leftOut(unaccented(text.value)).length;
    const all = readable(text.value).length;
    const told = [all > TEXT.max && t("text_cut", { count: TEXT.max, all }), count > 0 && t("text_lost", { count })].filter(Boolean);
    lost.textContent = told.join(" ");
    lost.hidden = told.length === 0;
    change({ text: readable(text.value, TEXT.max), place: 1 });
  }, { signal });
  onReset(() => (lost.hidden = true));
  const more = fold(
    t("more"), element("div", { class: "gates-showing" }, row("gates-two", t("unit_row"), [...two.buttons, third]), viewing), units.mapBox, element("label", { class: "d2lrnn-control gates-text" }, element("span", {}, t("another_text")), text), lost, shown, element("p", { class: "gates-shown" }, t("chain")), perplexity,
  );

  // ---- the picture is the control: along it for a letter, down the map for a unit ----
  const setPlace = (place) => {
    const inside = Math.min(Math.max(1, place), Math.max(1, model.letters.length));
    if (inside !== model.at + 1) commit({ place: inside });
  };
  const setRow = (row) => {
    const { unit } = model.rows[Math.min(Math.max(0, row), model.rows.length - 1)];
    if (unit !== model.unit) commit({ unit });
  };
  const arrow = (name, sign, by) => buttonControl({
    label: sign, class: "d2lrnn-button gates-arrow", "aria-label": t(name), signal, onPress: () => setPlace(model.at + 1 + by),
  });
  const pick = row("gates-pick", t("pick"), [arrow("earlier", "‹", -1), arrow("later", "›", 1)]);
  const trying = element("div", { class: "gates-trying" }, pick, turning, biasRow);
  dragOn(picture.reader, { move: ({ event }) => setPlace(nearest(picture.tiles(), event) + 1), signal });
  dragOn(units.map, { axis: "y", move: ({ y }) => setRow(Math.floor(y * model.rows.length)), signal });
  const keys = (node, steps) => node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    steps[event.key]();
  }, { signal });
  const here = () => model.at + 1;
  keys(picture.reader, {
    ArrowRight: () => setPlace(here() + 1), ArrowUp: () => setPlace(here() + 1),
    ArrowLeft: () => setPlace(here() - 1), ArrowDown: () => setPlace(here() - 1),
    Home: () => setPlace(1), End: () => setPlace(model.letters.length),
  });
  const rowNow = () => model.rows.findIndex(({ unit }) => unit === model.unit);
  keys(units.map, {
    ArrowDown: () => setRow(rowNow() + 1), ArrowRight: () => setRow(rowNow() + 1),
    ArrowUp: () => setRow(rowNow() - 1), ArrowLeft: () => setRow(rowNow() - 1),
    Home: () => setRow(0), End: () => setRow(model.rows.length - 1),
  });

  // ---- guided steps ----
  const outcome = (i, j) => {
    if (SPEC.steps[i].state.bias === BIAS.max && j === 0) commit({ bias: BIAS.min }); // the push that was chosen is shown
    const network = networkOf(state().weights);
    const { letters, right, ownRight, guesses } = derive(state(), network);
    return {
      now: right, all: letters.length - 1, own: ownRight, guess: guesses.slice(S_OF_SEA, A_OF_SEA + 1).join(""),
      shut: derive({ ...state(), bias: BIAS.min }, network).right, open: derive({ ...state(), bias: BIAS.max }, network).right,
    };
  };
  // No outcome speaks of the letter that is chosen.
  const guided = guidedSteps({ t, state: () => ({ ...state(), place: 0 }), steps: SPEC.steps, set: commit, outcome, onReset, say, signal });
  keepInView(guided.node, { signal });

  el.append(element(
    "div", { class: "d2lrnn-shape gates", role: "group", "aria-label": t("title") },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, picture.node, trying, guided.node, more, footRow({ t, reset, link, say, signal }),
  ));

  // ---- once seen, what is left runs from left to right as the text is read ----
  const { run } = motion({ seconds: 2.4, signal });
  whenSeen(picture.node, {
    act: () => run((part) => {
      if (part < 1) picture.node.style.setProperty("--read", (part * model.letters.length).toFixed(2));
      else picture.node.style.removeProperty("--read");
    }),
    signal,
  });

  function draw(next) {
    model = next;
    const { key, values, letter } = sentence(model, t);
    now.set(...emphasised(t.raw(key).replace("{unit}", values.unit), values));
    picture.draw(model, { name: letter, now: t(key, values) });
    units.draw(model, letter);
    const { letters, at, unit, forget, input, candidate, cell, characters } = model;
    if (letters.length < 2) more.open = true; // the field for another text stands there
    trying.hidden = letters.length < 2;
    const { bits, ownBits } = model;
    two.press(unit);
    if (!TWO_UNITS.includes(unit)) other = unit;
    third.hidden = other === null;
    third.textContent = other === null ? "" : String(other);
    third.setAttribute("aria-label", other === null ? "" : t("unit", { unit: other }));
    third.setAttribute("aria-pressed", String(unit === other));
    spaces.press(model.spaces);
    turning.hidden = !model.hasSpaces;
    views.press(model.isMemory ? "memory" : "left");
    perplexity.hidden = letters.length < 2;
    const blind = 2 ** bits > characters ? [" ", t("blind", { characters })] : model.isOwn ? [] : [" ", t("as_trained", { own: choices(ownBits, t) })];
    perplexity.replaceChildren(...emphasised(t.raw("choices"), { choices: choices(bits, t) }), ...blind);
    shown.hidden = letters.length === 0;
    if (!shown.hidden) {
      const factors = [forget[at], at > 0 ? cell[at - 1] : 0, input[at], candidate[at]];
      const digits = digitsOf(factors, cell[at]);
      const [keeps, before, adds, written] = factors.map((value) => number(value, digits));
      shown.textContent = t("shown", { letter, unit, forget: keeps, before: at > 0 ? before : "0", input: adds, candidate: written, cell: plain(cell[at]) });
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
