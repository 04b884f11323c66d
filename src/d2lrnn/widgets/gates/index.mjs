// Gates: what a letter wrote into the memory of an LSTM's unit, and how long the forget gates let it last.
import { dragOn, emphasised, fold, footRow, guidedSteps, keepInView, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, rangeControl, visibleCharacter } from "../ui.mjs";
import { createNetwork, derive, nameOf, placeOf, readable } from "./maths.mjs";
import { createMap, createStrips, fateOf, memories, plain, signed } from "./panels.mjs";
import { leftOut, unaccented } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { text: TEXT, bias: BIAS } = SPEC.controls;
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

/** What becomes of a letter in both units, in words: { key, values, letter }. */
export function sentence({ letters, at, unit, other, strips, isMemory, turns }, t) {
  if (letters.length === 0) return { key: "now_short", values: {}, letter: "" };
  const letter = spokenName(letters, at, t);
  if (letters.length < 2) return { key: "now_short", values: {}, letter };
  if (at === letters.length - 1) return { key: "now_last", values: { letter }, letter };
  if (isMemory) {
    return { key: "now_memory", values: { ...memories(letters, strips), unit, turned: t(`if_${turns[0].opposite}`) }, letter };
  }
  const [first, second] = strips.map((strip, k) => {
    const { key, count, share } = fateOf(strip, t);
    const where = spokenName(letters, at + count, t, at);
    return t(`now_${key}`, { letter: k === 0 ? letter : t("it"), left: share, where });
  });
  return { key: "now", values: { first, second, unit, other }, letter };
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
    commit({ ...values, view: "left" });
  };
  const trained = buttonControl({ label: t("turn_none"), signal, onPress: () => change({ turned: "none", bias: 0 }) });
  const turns = ["first", "second"].map((which) => buttonControl({ label: [], signal, onPress: () => change({ turned: which }) }));
  const why = element("p", { class: "gates-caption" }, t("turn_why"));
  const turning = element("div", { class: "gates-turning", role: "group" }, element("span", {}, t("turn")), ...turns, trained);
  const trying = element("div", { class: "gates-trying" }, turning, why);
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
    change({ text: readable(text.value, TEXT.max), place: state().place });
  }, { signal });
  onReset(() => (lost.hidden = true));
  const more = fold(
    t("more"), units.mapBox, element("label", { class: "d2lrnn-control gates-text" }, element("span", {}, t("another_text")), text), lost, shown, biasRow, perplexity,
  );

  // ---- the picture is the control: along it for a letter, down the map for a unit ----
  const setPlace = (place) => {
    const inside = Math.min(Math.max(1, place), Math.max(1, model.letters.length));
    if (inside !== state().place || model.isMemory) commit({ place: inside, view: "left" });
  };
  const setRow = (row) => {
    const { unit } = model.rows[Math.min(Math.max(0, row), model.rows.length - 1)];
    if (unit !== state().unit || model.isMemory) commit({ unit, view: "left" });
  };
  const arrow = (name, sign, by) => buttonControl({
    label: sign, class: "d2lrnn-button gates-arrow", "aria-label": t(name), signal, onPress: () => setPlace(model.at + 1 + by),
  });
  const pick = element("div", { class: "gates-pick" }, element("span", {}, t("pick")), arrow("earlier", "‹", -1), arrow("later", "›", 1));
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
  const row = () => model.rows.findIndex(({ unit }) => unit === model.unit);
  keys(units.map, {
    ArrowDown: () => setRow(row() + 1), ArrowRight: () => setRow(row() + 1),
    ArrowUp: () => setRow(row() - 1), ArrowLeft: () => setRow(row() - 1),
    Home: () => setRow(0), End: () => setRow(model.rows.length - 1),
  });

  // ---- guided steps ----
  const outcome = () => {
    const network = networkOf(state().weights);
    const { letters, right, ownRight, guesses } = derive(state(), network);
    return {
      now: right, all: letters.length - 1, own: ownRight, guess: guesses.slice(S_OF_SEA, A_OF_SEA + 1).join(""),
      opened: derive({ ...state(), bias: BIAS.max }, network).right,
    };
  };
  const guided = guidedSteps({ t, state, steps: SPEC.steps, set: commit, outcome, onReset, say, signal });
  keepInView(guided.node, { signal });

  el.append(element(
    "div", { class: "d2lrnn-shape gates", role: "group", "aria-label": t("title") },
    element("p", { class: "d2lrnn-lead" }, t("lead")), now.node, pick, picture.node, trying, guided.node, more, footRow({ t, reset, link, say, signal }),
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
    now.set(...(key === "now" ? emphasised(t.raw("now_picture"), { letter }) : [t(key, values)])); // the picture tells the rest
    picture.draw(model, { name: letter, now: t(key, values) });
    units.draw(model, letter);
    const { letters, at, unit, forget, input, candidate, cell, characters } = model;
    if (letters.length < 2) more.open = true; // the field for another text stands there
    trying.hidden = letters.length < 2;
    const { bits, ownBits } = model;
    trained.setAttribute("aria-pressed", String(model.isOwn));
    why.style.visibility = model.isOwn ? "hidden" : ""; // its line stays free
    why.textContent = t(model.bias === 0 ? "turn_why" : "pushed", { bias: signed(model.bias, 1) });
    turning.hidden = model.turns[0].opposite === null;
    model.turns.forEach(({ unit: j, opposite, isTurned }, k) => {
      turns[k].textContent = t(opposite === 1 ? "turn_keep" : "turn_forget", { unit: j });
      turns[k].setAttribute("aria-pressed", String(isTurned));
    });
    perplexity.hidden = letters.length < 2;
    const blind = 2 ** bits > characters ? [" ", t("blind", { characters })] : model.isOwn ? [] : [" ", t("choices_own", { own: choices(ownBits, t) })];
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
