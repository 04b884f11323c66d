// What the figure draws: one text, above it what attention looks back at, below it what a state still holds.
import { buttonControl, element, formatNumber, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise } from "../weights.mjs";
import { MAX_TEXT, readable, shareText, verdictOf } from "./maths.mjs";

const HANDLE = 12; // px from the middle of the last letter read a finger still has it
const MOST = 0.8; // no change of the state in the story is as large (style.css leaves so much room)

/** How far before the last letter read a letter stands, in words. */
function earlier(place, s, t) {
  const count = place - 1 - s;
  return t(count < 2 ? `earlier_${count}` : "earlier", { count });
}

/** The sentence on top, of letter s: { key, values }. */
function sentenceOf({ text, place, weights, changes }, s, t) {
  if (place === 0) return { key: "now_empty", values: {} };
  return {
    key: "now",
    values: {
      last: visibleCharacter(text[place - 1]), weight: shareText(weights[s]), character: visibleCharacter(text[s]),
      earlier: earlier(place, s, t), change: shareText(changes[s]), verdict: t(verdictOf(changes[s])),
    },
  };
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { key, values } = sentenceOf(model, model.told, t);
  return t(key, values);
}

export function sentenceNodes(model, s, t) {
  const { key, values } = sentenceOf(model, s, t);
  return emphasised(t.raw(key), values);
}

/** Which of the two models predicts new text better, and how much: { better, lower, other, higher }. */
export function scoreOf({ perplexities }, t) {
  const [first, second] = ["attention", "state"]
    .map((name, i) => ({ name: t(`name_${name}`), perplexity: perplexities[i] }))
    .sort((a, b) => a.perplexity - b.perplexity);
  return { better: first.name, lower: formatNumber(first.perplexity), other: second.name, higher: formatNumber(second.perplexity) };
}

/** What each expects next. */
export function expectsNodes({ expects, place }, t) {
  if (place === 0) return [];
  const [looking, holding] = expects.map(({ character, p }) => t("expects_letter", { character: visibleCharacter(character), p: shareText(p) }));
  return emphasised(t.raw("expects"), { looking, holding });
}

/** What a guided step tells of the model it has set. */
export function outcomeOf(model, t) {
  const [{ character, p }] = model.expects;
  return {
    ...scoreOf(model, t), state: model.state, weight: shareText(model.weights[model.told]), faded: shareText(model.changes[model.told]),
    by: t(model.text[model.told] === " " ? "by_e" : "by_space"), guess: visibleCharacter(character), p: shareText(p), without: shareText(model.without),
  };
}

/** Behind the fold: what each keeps, and how the two were made. */
export function modelsInWords(model, t) {
  const { place, kept, state, sizes } = model;
  const [attention, network] = sizes.map((size) => formatNumber(size, 0));
  return [
    place > 0 && t("kept", { each: kept, numbers: formatNumber(place * kept, 0), state }),
    t("score", scoreOf(model, t)),
    t("models", { attention_size: attention, state_size: network }),
  ].filter(Boolean).join(" ");
}

/**
 * One column for each letter: how much attention looks at it above, how different the state would be without it below, both on
 * one scale that never changes. Drag the last letter read to read more or less; tap a letter to mark it (`onLetter(s)`),
 * or point at it, to have its numbers.
 */
export function lookPanel({ t, now, signal, onPlace, onLetter }) {
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "att-keys", min: 1, step: 1, "aria-label": t("place") });
  const marks = element("input", { type: "range", class: "att-keys att-marks", min: 1, step: 1, "aria-label": t("letter") });
  const [above, below] = ["attention", "state"].map((name) => element("p", { class: "att-title" },
    element("b", { class: `att-title-${name}` }, t(`${name}_title`)), " ", element("span", {}, t.raw(`${name}_axis`))));
  const ticks = [["up", 1], ["up", 0.5], ["down", 0.5]].map(([side, share]) => {
    const tick = element("span", { class: `att-tick att-tick-${side}` }, shareText(share));
    tick.style.setProperty("--att-at", String(share));
    return tick;
  });
  const stage = element("div", { class: "att-stage" }, element("div", { class: "att-scale", "aria-hidden": "true" }, ...ticks), columns, keys, marks);
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") },
    above, stage, below, element("p", { class: "att-tip", "aria-hidden": "true" }, t("tip")));
  let views = [];
  let shown = null;
  let pointed = -1; // the letter under the mouse

  let reads = false; // or marks
  let last = -1;
  const placeAt = (x) => Math.min(views.length, Math.floor(x * views.length) + 1);
  dragOn(columns, {
    axis: "x", signal,
    start: ({ x }) => {
      if (views.length === 0) return false;
      const away = (x * views.length - (shown.place - 0.5)) * (columns.clientWidth / views.length);
      reads = away > -HANDLE || placeAt(x) >= shown.place; // what is not read yet has no numbers: read it
      last = -1;
      return true;
    },
    move: ({ x }) => {
      const place = placeAt(x);
      if (reads && place !== shown.place) onPlace(place);
      if (!reads && place !== last && place <= shown.place) onLetter(place);
      last = place;
    },
  });
  marks.addEventListener("input", () => onLetter(Number(marks.value)), { signal });
  keys.addEventListener("input", () => onPlace(Number(keys.value)), { signal });
  const point = (s) => {
    pointed = s;
    if (shown !== null) drawTold();
  };
  columns.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") point(views.findIndex(({ column }) => column.contains(event.target)));
  }, { signal });
  columns.addEventListener("pointerleave", () => point(-1), { signal });

  const drawTold = () => {
    const { place, weights, changes, told } = shown;
    const s = pointed >= 0 && pointed < place ? pointed : told;
    const wide = columns.clientWidth;
    views.forEach(({ column, weight, change }, i) => {
      column.classList.toggle("att-told", i === s);
      weight.textContent = i === s ? shareText(weights[i]) : "";
      change.textContent = i === s ? shareText(changes[i]) : "";
      if (i !== s || wide === 0) return;
      // Numbers keep off the bars beside theirs, and inside the figure.
      const each = wide / views.length;
      for (const [node, values] of [[weight, weights], [change, changes]]) {
        const half = node.offsetWidth / 2;
        const reach = Math.ceil(half / each - 0.5);
        const beside = Math.max(...values.slice(Math.max(0, i - reach), i + reach + 1));
        node.style.setProperty("--att-clear", String(beside - values[i]));
        const middle = (i + 0.5) * each;
        node.style.setProperty("--att-shift", `${Math.max(half - middle, Math.min(0, wide - middle - half)).toFixed(1)}px`);
      }
    });
    now.set(...sentenceNodes(shown, s, t));
  };
  const draw = (model) => {
    const { text, place, head, weights, changes } = model;
    if (shown?.text !== text) {
      views = Array.from(text, (character) => {
        const [weight, change] = ["weight", "change"].map(() => element("span", { class: "att-value" }));
        const up = element("span", { class: "att-bar att-bar-up" }, weight);
        const down = element("span", { class: "att-bar att-bar-down" }, change);
        const letter = element("span", { class: "att-letter" }, character === " " ? "␣" : character);
        const column = element("span", { class: "att-column" }, element("span", { class: "att-half" }, up), letter,
          element("span", { class: "att-half" }, down));
        return { column, up, down, weight, change };
      });
      columns.replaceChildren(...views.map(({ column }) => column));
      columns.style.setProperty("--att-count", String(Math.max(1, text.length)));
      pointed = -1;
    }
    shown = model;
    const share = (values, s, most = 1) => (s < place ? Math.min(most, values[s]) : 0).toFixed(4);
    views.forEach(({ column, up, down }, s) => {
      column.classList.toggle("att-read", s < place);
      column.classList.toggle("att-last", s === place - 1);
      up.style.setProperty("--att-share", share(weights, s));
      down.style.setProperty("--att-share", share(changes, s, MOST));
    });
    above.lastChild.textContent = t("attention_axis", { head });
    keys.disabled = place === 0;
    keys.max = Math.max(text.length, 1);
    keys.value = Math.max(place, 1);
    keys.setAttribute("aria-valuetext", place === 0 ? t("now_empty") : t("place_value", {
      character: visibleCharacter(text[place - 1]), place, count: text.length,
    }));
    marks.disabled = place === 0;
    marks.max = Math.max(place, 1);
    marks.value = model.told + 1;
    marks.setAttribute("aria-valuetext", place === 0 ? t("now_empty") : t("place_value", {
      character: visibleCharacter(text[model.told]), place: model.told + 1, count: place,
    }));
    drawTold();
  };
  return { node, draw };
}

/** All heads, small: each button shows where its head looks, and enlarges it. */
export function headButtons({ t, signal, numHeads, onHead }) {
  const views = Array.from({ length: numHeads }, (_, i) => {
    const bars = element("span", { class: "att-small", "aria-hidden": "true" });
    const button = buttonControl({
      label: [element("span", {}, t("head", { head: i + 1 })), bars], class: "d2lrnn-button att-head", signal, onPress: () => onHead(i + 1),
    });
    return { button, bars };
  });
  const node = element("div", { class: "att-heads", role: "group", "aria-label": t("heads") },
    element("p", {}, t("heads")), ...views.map(({ button }) => button));
  const draw = ({ text, place, head, heads }) => views.forEach(({ button, bars }, i) => {
    button.setAttribute("aria-pressed", String(i + 1 === head));
    bars.replaceChildren(...Array.from(text, (_, s) => {
      const bar = element("i");
      bar.style.setProperty("height", `${s < place ? (100 * heads[i][s]).toFixed(1) : 0}%`);
      return bar;
    }));
  });
  return { node, draw };
}

/** The reader's own text, and reading it letter by letter. */
export function textRow({ t, signal, onText, onPlay }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text att-text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const hint = element("p", { class: "att-hint", hidden: true });
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const out = leftOut(input.value);
    const hints = [];
    if (out.length > 0) hints.push(t("text_left_out", { count: out.length, characters: [...new Set(out)].slice(0, 12).join(" ") }));
    if (normalise(input.value).length > MAX_TEXT) hints.push(t("text_long", { max: MAX_TEXT }));
    hint.textContent = hints.join(" ");
    hint.hidden = hints.length === 0;
    onText(readable(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element(
    "div", { class: "att-tools" },
    element("label", { class: "att-label" }, element("span", {}, t("text")), input),
    buttonControl({ label: t("play"), class: "d2lrnn-button att-play", signal, onPress: onPlay }), hint,
  );
  const draw = ({ text }) => {
    if (readable(input.value) !== text) input.value = text;
  };
  return { node, draw, clear: () => (hint.hidden = true) };
}
