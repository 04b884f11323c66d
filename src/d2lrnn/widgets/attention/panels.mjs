// What the figure draws: one text, above it how much of attention's guess each letter changes, below it of the state's.
import { element, formatNumber, prefersReducedMotion, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise } from "../weights.mjs";
import { MAX_TEXT, readable, shareText } from "./maths.mjs";

const GROW_MS = 50; // from one bar to the next, when the figure is first seen
const NAMES = ["attention", "state"];

/** How far before the last letter a letter stands, in words. */
function earlier(text, s, t) {
  const count = text.length - 1 - s;
  return t(count < 2 ? `earlier_${count}` : "earlier", { count });
}

/** A letter in a sentence: the space by its name. */
const named = (character, t, space = "by_space") => (character === " " ? t(space) : character);

/** The sentence on top: { key, values }. */
function sentenceOf({ text, told, by, before, after }, t) {
  if (text === "") return { key: "now_empty", values: {} };
  const [looks, holds] = before.map(({ character }) => named(character, t));
  if (told < 0) return { key: looks === holds ? "now_same" : "now_none", values: { looks, holds } };
  const [looksThen, holdsThen] = after.map(({ character }) => named(character, t));
  const changed = [looks !== looksThen && "attention", holds !== holdsThen && "state"].filter(Boolean);
  return {
    key: `now_${["neither", changed[0], "both"][changed.length]}`,
    values: {
      by: t(by === "e" ? "by_e" : "by_space"), character: named(text[told], t, "space"), earlier: earlier(text, told, t),
      looks: looksThen, holds: holdsThen,
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

/** How much of each guess the replaced letter changes. */
const movedOf = ({ told, effects }) => ({ looks_moved: shareText(effects[0][told]), holds_moved: shareText(effects[1][told]) });

/** What a guided step tells of the model it has set. */
export function outcomeOf(model, t) {
  return model.told < 0 ? {} : { ...sentenceOf(model, t).values, ...movedOf(model) };
}

/** What one of the two guesses: as the text is written, and then with a letter replaced. */
function guessRow(name, t) {
  const [before, after] = ["before", "after"].map(() => {
    const letter = element("b", { class: "att-guess-letter" });
    const share = element("span", { class: "att-guess-share" });
    return { node: element("span", { class: "att-guess" }, letter, share), letter, share };
  });
  const arrow = element("span", { class: "att-arrow" }, "→");
  const node = element("p", { class: `att-row att-row-${name}` },
    element("b", { class: "att-name" }, t(`name_${name}`)), element("span", { class: "att-guesses" }, t("guesses")), before.node, arrow, after.node);
  const draw = (was, is) => {
    for (const [view, guess] of [[before, was], [after, is]]) {
      view.node.hidden = guess === undefined;
      if (guess === undefined) continue;
      view.letter.textContent = visibleCharacter(guess.character);
      view.share.textContent = shareText(guess.p);
    }
    arrow.hidden = is === undefined;
    node.classList.toggle("att-changed", is !== undefined && is.character !== was.character);
  };
  return { node, draw };
}

/**
 * One column for each letter: how much of attention's guess it changes above, how much of the state's below, on one scale.
 * Tap a letter or drag along the text to replace a letter (`onLetter(s)`, 0 for none).
 */
export function textPanel({ t, signal, onLetter }) {
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "att-keys", min: 0, step: 1, "aria-label": t("letter") });
  const rows = NAMES.map((name) => guessRow(name, t));
  const ticks = ["up", "down"].flatMap((side) => [1, 0.5].map((share) => {
    const tick = element("span", { class: `att-tick att-tick-${side}` }, shareText(share));
    tick.style.setProperty("--att-at", String(share));
    return tick;
  }));
  const stage = element("div", { class: "att-stage" }, element("div", { class: "att-scale", "aria-hidden": "true" }, ...ticks), columns, keys);
  const tip = element("p", { class: "att-tip" });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") }, rows[0].node, stage, rows[1].node, tip);
  let views = [];
  let shown = null;
  let last = -1;
  dragOn(columns, {
    axis: "x", signal,
    start: () => {
      last = -1;
      return views.length > 0;
    },
    move: ({ x }) => {
      const letter = Math.min(views.length, Math.floor(x * views.length) + 1);
      if (letter !== last) onLetter(last < 0 && letter === shown.told + 1 ? 0 : letter); // a tap puts it back
      last = letter;
    },
  });
  keys.addEventListener("input", () => onLetter(Number(keys.value)), { signal });
  /** The numbers of the replaced letter keep off the bars beside theirs, and inside the figure. */
  const drawTold = ({ effects, told }) => {
    const wide = columns.clientWidth;
    views.forEach(({ column, values }, i) => {
      column.classList.toggle("att-told", i === told);
      values.forEach((value, k) => {
        value.textContent = i === told ? shareText(effects[k][i]) : "";
        if (i !== told || wide === 0) return;
        const each = wide / views.length;
        const half = value.offsetWidth / 2;
        const reach = Math.ceil(half / each);
        const beside = Math.max(...effects[k].slice(Math.max(0, i - reach), i + reach + 1));
        value.style.setProperty("--att-clear", String(beside - effects[k][i]));
        const middle = (i + 0.5) * each;
        value.style.setProperty("--att-shift", `${Math.max(half - middle, Math.min(0, wide - middle - half)).toFixed(1)}px`);
      });
    });
  };
  const draw = (model) => {
    const { text, told, by, effects, bars, before, after } = model;
    rows.forEach((row, k) => row.draw(before[k], after[k]));
    node.classList.toggle("att-empty", text === "");
    tip.textContent = told < 0 ? t("tip") : t("tip_told", movedOf(model));
    if (shown?.text !== text) {
      views = Array.from(text, () => {
        const values = NAMES.map(() => element("span", { class: "att-value" }));
        const both = values.map((value, k) => element("span", { class: `att-bar att-bar-${k === 0 ? "up" : "down"}` }, value));
        const letter = element("span", { class: "att-letter" });
        const column = element("span", { class: "att-column" }, element("span", { class: "att-half" }, both[0]), letter,
          element("span", { class: "att-half" }, both[1]));
        return { column, both, values, letter };
      });
      columns.replaceChildren(...views.map(({ column }) => column));
      columns.style.setProperty("--att-count", String(Math.max(1, text.length)));
    }
    shown = model;
    views.forEach(({ column, both, letter }, s) => {
      letter.textContent = visibleCharacter(s === told ? by : text[s]);
      const seen = bars || s === told;
      column.classList.toggle("att-seen", seen);
      both.forEach((bar, k) => bar.style.setProperty("--att-share", (seen ? effects[k][s] : 0).toFixed(4)));
    });
    keys.disabled = text === "";
    keys.max = Math.max(text.length, 1);
    keys.value = told + 1;
    keys.setAttribute("aria-valuetext", told < 0 ? t("letter_none") : t("letter_value", {
      character: visibleCharacter(text[told]), place: told + 1, count: text.length,
    }));
    drawTold(model);
  };
  /** The bars grow, from the last letter back. */
  const grow = () => {
    if (prefersReducedMotion()) return;
    views.forEach(({ both }, s) => both.forEach((bar) => bar.animate([{ height: 0 }, {}], {
      duration: 350, delay: GROW_MS * (views.length - s), easing: "ease-out", fill: "backwards",
    })));
  };
  return { node, stage, draw, grow };
}

/** Where attention looks from the last letter: a strip of bars for each head. */
export function headStrips({ t, numHeads }) {
  const strips = Array.from({ length: numHeads }, () => element("span", { class: "att-small", "aria-hidden": "true" }));
  const node = element("div", { class: "att-heads" }, element("p", {}, t("heads")),
    ...strips.map((strip, i) => element("div", { class: "att-head" }, element("span", {}, t("head", { head: i + 1 })), strip)));
  const draw = ({ text, heads }) => strips.forEach((strip, i) => {
    node.hidden = text === "";
    strip.replaceChildren(...Array.from(text, (character, s) => {
      const bar = element("i");
      bar.style.setProperty("height", `${(heads[i][s] * 2).toFixed(3)}rem`);
      return element("span", {}, bar, element("span", {}, visibleCharacter(character)));
    }));
  });
  return { node, draw };
}

/** The reader's own text. */
export function textRow({ t, signal, onText }) {
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
  const node = element("div", { class: "att-tools" },
    element("label", { class: "att-label" }, element("span", {}, t("text")), input), hint);
  const draw = ({ text }) => {
    if (readable(input.value) !== text) input.value = text;
  };
  return { node, draw, clear: () => (hint.hidden = true) };
}
