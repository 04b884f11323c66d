// What the figure draws: one text, above it what attention looks back at, below it what a state still holds.
import { buttonControl, element, formatNumber, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise } from "../weights.mjs";
import { MAX_TEXT, readable, shareText } from "./maths.mjs";

const HANDLE = 12; // px from the middle of the last letter read a finger still has it
const FULL = 0.5; // a whole trace, in heights of a whole look
const MOST = 1.6; // no trace grows larger (style.css leaves so much room)
const NAMES = ["attention", "state"];

/** How far before the last letter read a letter stands, in words. */
function earlier(place, s, t) {
  const count = place - 1 - s;
  return t(count < 2 ? `earlier_${count}` : "earlier", { count });
}

/** The sentence on top: { key, values }. */
function sentenceOf({ text, place, told, by, before, after }, t) {
  if (place === 0) return { key: "now_empty", values: {} };
  const [looks, holds] = before.map(({ character }) => visibleCharacter(character));
  if (told < 0) return { key: "now_none", values: { looks, holds } };
  const [looksThen, holdsThen] = after.map(({ character }) => visibleCharacter(character));
  const changed = [looks !== looksThen && "attention", holds !== holdsThen && "state"].filter(Boolean);
  return {
    key: `now_${["neither", changed[0], "both"][changed.length]}`,
    values: {
      by: t(by === "e" ? "by_e" : "by_space"), character: visibleCharacter(text[told]), earlier: earlier(place, told, t),
      looks, holds, looks_then: looksThen, holds_then: holdsThen,
    },
  };
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { key, values } = sentenceOf(model, t);
  return t(key, values);
}

export function sentenceNodes(model, t) {
  const { key, values } = sentenceOf(model, t);
  return emphasised(t.raw(key), values);
}

/** The perplexities and sizes of both, by the names that the words give them. */
export function scores({ perplexities, sizes }) {
  return Object.fromEntries(NAMES.flatMap((name, i) => [
    [`${name}_perplexity`, formatNumber(perplexities[i])], [`${name}_size`, formatNumber(sizes[i], 0)],
  ]));
}

/** What a guided step tells of the model it has set. */
export function outcomeOf(model, t) {
  const { told, after, traces, state } = model;
  const [looks, holds] = after.map(({ p }) => shareText(p));
  return {
    ...sentenceOf(model, t).values, ...scores(model), state,
    ...(told >= 0 && { looks_p: looks, holds_p: holds, left: shareText(traces[told]) }),
  };
}

/** What each guesses: as it is written, and with a letter replaced. */
export function guessTable({ t }) {
  const cell = (name) => {
    const letter = element("b", { class: "att-guess-letter" });
    const bar = element("span", { class: `att-guess-bar att-guess-${name}` });
    const share = element("span", { class: "att-guess-share" });
    return { node: element("td", {}, element("span", { class: "att-guess" }, letter, bar, share)), letter, bar, share };
  };
  const rows = ["before", "after"].map(() => ({ label: element("th", { scope: "row" }), cells: NAMES.map(cell) }));
  const node = element("table", { class: "att-guesses" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, t("guess")),
      ...NAMES.map((name) => element("th", { scope: "col", class: `att-title-${name}` }, t(`name_${name}`))))),
    element("tbody", {}, ...rows.map(({ label, cells }) => element("tr", {}, label, ...cells.map((each) => each.node)))));
  const draw = ({ text, told, by, before, after }) => {
    rows[0].label.textContent = t("guess_before");
    rows[1].label.textContent = told < 0 ? t("guess_none") : t("guess_after", { character: visibleCharacter(text[told]), by: visibleCharacter(by) });
    [before, after].forEach((guesses, i) => rows[i].cells.forEach(({ node: td, letter, bar, share }, k) => {
      const guess = guesses[k];
      letter.textContent = guess ? visibleCharacter(guess.character) : "?";
      share.textContent = guess ? shareText(guess.p) : "";
      bar.style.setProperty("--att-share", guess ? guess.p.toFixed(4) : "0");
      td.classList.toggle("att-guess-new", i === 1 && guess !== undefined && guess.character !== before[k].character);
    }));
  };
  return { node, draw };
}

/**
 * One column for each letter: how much attention looks at it above, how much of it is left in the state below, on scales that
 * never change. Drag the last letter read to read more or less; tap a letter to replace it (`onLetter(s)`, 0 for none).
 */
export function lookPanel({ t, signal, onPlace, onLetter }) {
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "att-keys", min: 1, step: 1, "aria-label": t("place") });
  const marks = element("input", { type: "range", class: "att-keys att-marks", min: 0, step: 1, "aria-label": t("letter") });
  const [above, below] = NAMES.map((name) => element("p", { class: "att-title" },
    element("b", { class: `att-title-${name}` }, t(`${name}_title`)), " ", element("span", {}, t.raw(`${name}_axis`))));
  const ticks = [["up", 1], ["up", 0.5], ["down", 1], ["down", 0.5]].map(([side, share]) => {
    const tick = element("span", { class: `att-tick att-tick-${side}` }, shareText(share));
    tick.style.setProperty("--att-at", String(side === "up" ? share : FULL * share));
    return tick;
  });
  const stage = element("div", { class: "att-stage" }, element("div", { class: "att-scale", "aria-hidden": "true" }, ...ticks), columns, keys, marks);
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") },
    above, stage, below, element("p", { class: "att-tip", "aria-hidden": "true" }, t("tip")));
  let views = [];
  let shown = null;
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
      if (!reads && place !== last && place <= shown.place) onLetter(last < 0 && place === shown.told + 1 ? 0 : place);
      last = place;
    },
  });
  marks.addEventListener("input", () => onLetter(Number(marks.value)), { signal });
  keys.addEventListener("input", () => onPlace(Number(keys.value)), { signal });
  const drawTold = ({ weights, traces, told }) => {
    const wide = columns.clientWidth;
    views.forEach(({ column, weight, trace }, i) => {
      column.classList.toggle("att-told", i === told);
      weight.textContent = i === told ? shareText(weights[i]) : "";
      trace.textContent = i === told ? shareText(traces[i]) : "";
      if (i !== told || wide === 0) return;
      // Numbers keep off the bars beside theirs, and inside the figure.
      const each = wide / views.length;
      for (const [node, values, unit] of [[weight, weights, 1], [trace, traces, FULL]]) {
        const half = node.offsetWidth / 2;
        const reach = Math.ceil(half / each);
        const beside = Math.max(...values.slice(Math.max(0, i - reach), i + reach + 1));
        node.style.setProperty("--att-clear", String(unit * (beside - values[i])));
        const middle = (i + 0.5) * each;
        node.style.setProperty("--att-shift", `${Math.max(half - middle, Math.min(0, wide - middle - half)).toFixed(1)}px`);
      }
    });
  };
  const draw = (model, reading) => {
    const { text, place, head, weights, traces, told } = model;
    node.classList.toggle("att-reading", reading);
    if (shown?.text !== text) {
      views = Array.from(text, (character) => {
        const [weight, trace] = NAMES.map(() => element("span", { class: "att-value" }));
        const up = element("span", { class: "att-bar att-bar-up" }, weight);
        const down = element("span", { class: "att-bar att-bar-down" }, trace);
        const letter = element("span", { class: "att-letter" }, character === " " ? "␣" : character);
        const column = element("span", { class: "att-column" }, element("span", { class: "att-half" }, up), letter,
          element("span", { class: "att-half" }, down));
        return { column, up, down, weight, trace };
      });
      columns.replaceChildren(...views.map(({ column }) => column));
      columns.style.setProperty("--att-count", String(Math.max(1, text.length)));
    }
    shown = model;
    const share = (values, s) => (s < place ? values[s] : 0);
    views.forEach(({ column, up, down }, s) => {
      column.classList.toggle("att-read", s < place);
      column.classList.toggle("att-last", s === place - 1);
      up.style.setProperty("--att-share", share(weights, s).toFixed(4));
      down.style.setProperty("--att-share", (FULL * Math.min(MOST, share(traces, s))).toFixed(4));
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
    marks.value = told + 1;
    marks.setAttribute("aria-valuetext", told < 0 ? t("letter_none") : t("place_value", {
      character: visibleCharacter(text[told]), place: told + 1, count: place,
    }));
    drawTold(model);
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
    if (normalise(input.value).length > MAX_TEXT) hints.push(t("text_long", { max: MAX_TEXT, end: readable(input.value).slice(-8).trimStart() }));
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
