// Gates: what a letter adds to the memory of an LSTM, and how long the forget gates let it last.
import { dragOn, emphasised, fold, footRow, guidedSteps, keepInView, motion, nowLine, whenSeen } from "../shape.mjs";
import { element, explorable, prefersReducedMotion, rangeControl, visibleCharacter } from "../ui.mjs";
import { createNetwork, derive, FOLLOWED, nameOf, readable } from "./maths.mjs";
import { brief, createMap, createStrips, fateOf, plain, shareText, signed } from "./panels.mjs";
import { leftOut, unaccented } from "../weights.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { text: TEXT, bias: BIAS } = SPEC.controls;
const KEPT = 3; // the t of “what” in the text of the steps
const HOLD = 180; // milliseconds: a finger that rests so long on a gate takes hold of it

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

/** Decimals, at least two, with which the printed factors give the printed product. */
export function digitsOf(one, other) {
  for (let digits = 2; digits < 8; digits += 1) {
    if (plain(Number(one.toFixed(digits)) * Number(other.toFixed(digits))) === plain(one * other)) return digits;
  }
  return 8;
}

/** Bits a letter as the number of equally likely letters, the perplexity. */
export function choices(bits, t) {
  const value = 2 ** bits;
  return value > 1000 ? t("over", { share: "1\u202f000" }) : value.toFixed(value < 100 ? 1 : 0);
}

/** A letter's name in words. */
export function spokenName(letters, at, t) {
  const { key, values } = nameOf(letters, at);
  return t(key, { ...values, letter: visibleCharacter(letters[at]), which: t("which").split(" ")[values.which] });
}

const capital = (text) => text.replace(/^./u, (first) => first.toUpperCase());

/** What becomes of what the chosen letter adds, or, without one, how the number fits its rule: { key, values, letter }. */
export function sentence({ letters, at, added, left, unit, above, fits }, t) {
  const letter = letters.length > 0 ? spokenName(letters, Math.max(0, at), t) : "";
  if (letters.length < 2) return { key: "now_short", values: {}, letter };
  const all = letters.length;
  if (at < 0) return unit === FOLLOWED ? { key: "now_rule", values: { above: t("above"), below: t("below"), fits, all }, letter } : { key: "now_unit", values: { unit, above, all }, letter };
  const place = fateOf(letters, at);
  const key = place === at ? "now_last" : letters[place] === " " ? "now_space" : "now_end";
  return { key, values: { added: plain(added[at]), letter: capital(letter), share: shareText(left[place - at], t) }, letter };
}

/** The longest that the sentence gets, whatever letter and gate: { key, values }. */
export function longestSentence(letters, t) {
  const count = letters.length;
  const all = [-1, ...letters.keys()].map((at) => sentence({ letters, at, unit: FOLLOWED, fits: count, added: letters.map(() => -0.99), left: letters.map(() => 0.999) }, t));
  return all.reduce((longest, one) => (t(one.key, one.values).length > t(longest.key, longest.values).length ? one : longest));
}

/** The column of letters under a finger, or the nearest. */
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
  const longest = element("p", { class: "gates-longest", "aria-hidden": "true" }); // not seen: it keeps the room of the longest sentence
  const picture = createStrips({ t, signal, onBack: () => {
    change({ gates: [], bias: 0 });
  } });
  const units = createMap(t);
  let model = null;
  let evidence = -1; // the answered step of which the picture shows the evidence, until a letter is chosen or something changed

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
    evidence = -1;
    commit(values);
  };
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
    take(null);
    change({ text: readable(text.value, TEXT.max), place: 0, gates: [] });
  }, { signal });
  onReset(() => {
    lost.hidden = true;
    take(null);
    pointTo(null);
  });
  const moreUnits = fold(t("more_units"), units.mapBox);
  const more = fold(
    t("more"), biasRow, element("label", { class: "d2lrnn-control gates-text" }, element("span", {}, t("another_text")), text), lost, shown, element("p", { class: "gates-shown" }, t("chain")), perplexity,
  );

  // ---- the picture is the control: along it for a letter, down the map for a unit ----
  const setPlace = (place) => {
    const inside = Math.min(Math.max(0, place), Math.max(1, model.letters.length));
    const isShown = evidence >= 0;
    evidence = -1;
    if (inside !== model.at + 1) commit({ place: inside });
    else if (isShown) draw(model);
  };
  const setUnit = (unit) => {
    if (unit === model.unit) return;
    evidence = -1;
    guided.ask(-1); // its question or outcome is about the gates of another unit
    commit({ unit, gates: [] }); // held gates are those of one unit
  };
  const setRow = (row) => setUnit(model.rows[Math.min(Math.max(0, row), model.rows.length - 1)].unit);
  const hold = (place, value) => {
    if (guided.isAsking()) refuse();
    else change({ gates: model.letters.map((_, i) => (i === place ? Math.round(100 * Math.min(1, Math.max(0, value))) / 100 : model.held[i] ? model.forget[i] : -1)) });
  };
  /** A gate that moves would give the answer away. */
  const refuse = () => {
    guided.urge();
    draw(model); // the slider of the keys goes back
  };
  let hand = null; // the gate that is dragged and its value before, or null for a letter
  let from = null; // where a hand came down that has not moved yet: a tap chooses a letter, a swipe scrolls the page
  let wait = null; // for a finger that rests on a gate
  let taken = null; // the gate that a finger moves, or would move
  const take = (i) => {
    clearTimeout(wait);
    taken = i;
    picture.take(i);
  };
  signal.addEventListener("abort", () => clearTimeout(wait), { once: true });
  picture.lines.addEventListener("pointercancel", () => {
    from = null;
    take(null);
  }, { signal });
  // A finger that moves at once scrolls the page, on a gate too.
  picture.lines.addEventListener("touchmove", (event) => {
    if (hand !== null && taken === hand.at && event.cancelable) event.preventDefault();
  }, { passive: false, signal });
  dragOn(picture.lines, {
    signal,
    start: ({ event }) => {
      const at = nearest(picture.tiles(), event);
      hand = event.target.closest(".gates-grip") && { at, value: model.forget[at], y: event.clientY };
      from = event;
      if (hand === null || event.pointerType === "mouse") return;
      if (taken === at) take(at); // it was tapped or moved before
      else {
        take(null);
        wait = setTimeout(take, HOLD, at);
      }
    },
    move: ({ event }) => {
      if (from !== null) {
        const [along, across] = [event.clientX - from.clientX, event.clientY - from.clientY].map(Math.abs);
        if (hand !== null && event.pointerType !== "mouse" && taken !== hand.at) {
          if (Math.hypot(along, across) < 6) return;
          clearTimeout(wait);
          hand = null;
        }
        if (hand === null ? along < Math.max(6, across) : Math.hypot(along, across) < 6) return;
        from = null;
      }
      if (hand === null) {
        setPlace(nearest(picture.tiles(), event) + 1);
        return;
      }
      picture.point(hand.at);
      hold(hand.at, hand.value + (hand.y - event.clientY) / picture.travel(hand.at));
    },
    end: () => {
      if (from !== null) {
        const tapped = nearest(picture.tiles(), from);
        if (hand === null || from.pointerType === "mouse") take(null);
        else take(hand.at);
        setPlace(tapped === model.at ? 0 : tapped + 1); // a tap on the letter that is followed lets it go
        hand = null;
      }
      picture.node.classList.add("is-by-hand"); // without an outline: the hand has seen what it moved
      picture[hand === null ? "letterKeys" : "gateKeys"].focus({ preventScroll: true }); // the arrow keys go on from here
    },
  });
  dragOn(units.map, { axis: "y", move: ({ y }) => setRow(Math.floor(y * model.rows.length)), signal });
  for (const kind of ["keydown", "focusout"]) picture.node.addEventListener(kind, () => picture.node.classList.remove("is-by-hand"), { signal });
  const keys = (node, steps) => node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    steps[event.key]();
  }, { signal });
  for (const slider of [picture.letterKeys, picture.gateKeys]) keys(slider, { Escape: () => setPlace(0) });
  picture.letterKeys.addEventListener("input", () => setPlace(Number(picture.letterKeys.value)), { signal });
  picture.gateKeys.addEventListener("input", () => hold(picture.pointed(), Number(picture.gateKeys.value)), { signal });
  const pointTo = (i) => {
    picture.point(i === null ? null : Math.min(Math.max(0, i), model.letters.length - 1));
    draw(model);
  };
  keys(picture.gateKeys, {
    ArrowRight: () => pointTo(picture.pointed() + 1), ArrowLeft: () => pointTo(picture.pointed() - 1),
  });
  const rowNow = () => model.rows.findIndex(({ unit }) => unit === model.unit);
  keys(units.map, {
    ArrowDown: () => setRow(rowNow() + 1), ArrowRight: () => setRow(rowNow() + 1),
    ArrowUp: () => setRow(rowNow() - 1), ArrowLeft: () => setRow(rowNow() - 1),
    Home: () => setRow(0), End: () => setRow(model.rows.length - 1),
  });

  // ---- guided steps ----
  const outcome = (i) => {
    const { place } = SPEC.steps[i].state;
    const { letters, left, right, ownRight, ownForget } = derive({ ...state(), place }, networkOf(state().weights));
    evidence = SPEC.steps[i].isOfRule ? i : -1;
    draw(model); // it may be as it was: then nothing else draws it
    return { keeps: brief(ownForget[KEPT]), forgets: brief(ownForget[KEPT + 1]), share: left.length > 2 ? shareText(left[2], t) : "", now: right, all: letters.length - 1, own: ownRight };
  };
  // No outcome speaks of the letter that is chosen.
  const guided = guidedSteps({ t, state: () => ({ ...state(), place: 0 }), steps: SPEC.steps, set: commit, outcome, onReset, say, signal });
  keepInView(guided.node, { signal });

  el.append(element(
    "div", { class: "d2lrnn-shape gates", role: "group", "aria-label": t("title") },
    element("p", { class: "d2lrnn-lead" }, t("lead")), element("div", { class: "gates-now" }, now.node, longest), picture.node, guided.node, moreUnits, more, footRow({ t, reset, link, say, signal }),
  ));

  // ---- once seen, what is left runs from left to right as the text is read ----
  const { run } = motion({ seconds: 2.4, signal });
  whenSeen(picture.node, {
    act: async () => {
      await run((part) => {
        if (part < 1) picture.node.style.setProperty("--read", (part * model.letters.length).toFixed(2));
        else picture.node.style.removeProperty("--read");
      });
      if (!signal.aborted && !prefersReducedMotion()) picture.nod();
    },
    signal,
  });

  function draw(next) {
    model = next;
    const told = sentence(model, t);
    const { letter } = told;
    const step = SPEC.steps[evidence];
    const isEvident = step !== undefined && Object.entries(step.state).every(([name, value]) => String(state()[name]) === String(value));
    const { key, values } = isEvident ? { key: `now_step_${evidence + 1}`, values: { fits: model.fits, all: model.letters.length } } : told;
    now.set(...emphasised(t.raw(key), values));
    now.node.classList.toggle("is-rule", key === "now_rule");
    now.node.classList.toggle("is-step", isEvident);
    const { letters, from: at, unit, input, candidate, added, characters } = model;
    const isShort = letters.length < 2;
    const { key: longestKey, values: longestValues } = isShort ? told : longestSentence(letters, t);
    longest.replaceChildren(...emphasised(t.raw(longestKey), longestValues));
    picture.draw(model, { name: letter, now: t(key, values), nameAt: (i) => spokenName(model.letters, i, t), isEvidence: isEvident });
    units.draw(model, letter);
    moreUnits.hidden = isShort;
    if (isShort || model.bias !== 0) more.open = true; // the field for another text stands there, and the push
    const { bits, ownBits } = model;
    perplexity.hidden = isShort;
    const blind = 2 ** bits > characters ? [" ", t("blind", { characters })] : model.isOwn ? [] : [" ", t("as_trained", { own: choices(ownBits, t) })];
    perplexity.replaceChildren(...emphasised(t.raw("choices"), { choices: choices(bits, t) }), ...blind);
    shown.hidden = letters.length === 0;
    if (!shown.hidden) {
      const digits = digitsOf(input[at], candidate[at]);
      shown.textContent = t("shown", { letter, unit, input: input[at].toFixed(digits), candidate: number(candidate[at], digits), added: plain(added[at]) });
    }
    biasValue.textContent = model.isOwn ? t("bias_own") : signed(model.bias, 1);
    bias.set(model.bias, model.isOwn ? t("bias_own") : t("bias_text", { bias: signed(model.bias, 1) }));
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
