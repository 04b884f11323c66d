// What the figure draws: a text twice. Above, lines from all letters to attention's guess; below, a memory that is handed on.
import { buttonControl, element, fill, formatNumber, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise, unaccented } from "../weights.mjs";
import { FAR, line, MAX_TEXT, PASSAGES, percent, readable } from "./maths.mjs";

const NAMES = ["attention", "state"];
const GAP = 0.6; // from the last letter to the guess, in columns

/** A letter in a sentence: the space by its name. */
const named = (character, t) => (character === " " ? t("by_space") : character);

/** In how many passages a far letter changes the guess: what the words call `looks` (attention), `holds` (the state) and `passages`. */
const farCounts = () => ({ looks: FAR[0], holds: FAR[1], passages: formatNumber(PASSAGES, 0) });

/** The sentence on top: { template, values }. */
function sentenceOf({ text, told, such, isAsked, mean, before, after }, t) {
  if (text === "" && !mean) return { template: t.raw("now_empty"), values: {} };
  if (mean) return { template: t.raw("now_mean"), values: farCounts() };
  const [looks, holds] = before.map(({ character }) => named(character, t));
  if (told < 0 && isAsked) return { template: t.raw(looks === holds ? "now_asked_same" : "now_asked"), values: { looks, holds } };
  if (told < 0) {
    return { template: t.raw(looks === holds ? "now_same" : "now_none"), values: { looks, holds, such: such < 0 ? t("such_last") : t("such", { letter: text[such] }) } };
  }
  const [looksThen, holdsThen] = after.map(({ character }) => named(character, t));
  const changed = [looks !== looksThen && "attention", holds !== holdsThen && "state"].filter(Boolean);
  const without = text[told] === " " ? t("without_space") : t("without", { letter: text[told] });
  return { template: t.raw(`now_${["neither", changed[0], "both"][changed.length]}`).replace("{without}", without), values: { looks: looksThen, holds: holdsThen } };
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { template, values } = sentenceOf(model, t);
  return fill(template, values);
}

export function sentenceNodes(model, t) {
  const { template, values } = sentenceOf(model, t);
  return emphasised(template, values);
}

/** The perplexities and sizes of both, by the names that the words give them. */
export function scores({ perplexities, sizes }) {
  return Object.fromEntries(NAMES.flatMap((name, i) => [
    [`${name}_perplexity`, formatNumber(perplexities[i])], [`${name}_size`, formatNumber(sizes[i], 0)],
  ]));
}

/** What the guided steps ask about and tell. */
export const toldOf = farCounts;

/** One of the two: its name, the text, and what it guesses. */
function half(name, t) {
  const box = element("b", { class: "att-guess-letter" });
  const [sure, note] = [element("span"), element("span")];
  const guess = element("p", { class: `att-guess att-guess-${name}` }, box, element("span", { class: "att-guess-note" }, sure, note));
  const gloss = element("span");
  const title = element("p", { class: `att-name att-name-${name}` }, element("b", {}, t(`name_${name}`)), " ", gloss);
  const letters = element("div", { class: "att-letters" });
  let cells = [];
  const draw = ({ text, count, told, such, by }, was, is) => {
    if (cells.length !== count) {
      cells = Array.from({ length: count }, () => element("span", { class: "att-letter" }));
      letters.replaceChildren(...cells);
    }
    cells.forEach((cell, s) => {
      cell.textContent = s === told ? by.trim() : visibleCharacter(text[s]); // a space leaves the box empty
      cell.classList.toggle("att-told", s === told);
      cell.classList.toggle("att-such", s === such);
    });
    gloss.textContent = t(told >= 0 ? `gloss_${name}_told` : `gloss_${name}`);
    box.textContent = was === undefined ? "" : visibleCharacter((is ?? was).character);
    const changed = is !== undefined && is.character !== was.character;
    guess.classList.toggle("att-changed", changed);
    sure.textContent = was === undefined ? "" : t("sure", { share: percent((is ?? was).p) });
    note.textContent = is === undefined ? "" : t(changed ? "was" : "was_as_sure", { letter: visibleCharacter(was.character), share: percent(was.p) });
  };
  return { guess, title, letters, draw };
}

/** Attention's lines, from all letters to the guess; once a letter is erased, as thick as the guess depends on theirs. */
function lines() {
  const node = svg("svg", { class: "att-lines", preserveAspectRatio: "none" });
  let paths = [];
  const draw = ({ count, told, effects }) => {
    if (paths.length !== count) {
      paths = Array.from({ length: count }, (_, s) => svg("path", { d: line(s, count + GAP) }));
      node.replaceChildren(...paths);
      node.setAttribute("viewBox", `0 0 ${count + GAP} 1`);
    }
    node.classList.toggle("att-some", told >= 0);
    paths.forEach((path, s) => {
      path.classList.toggle("att-lit", s === told);
      path.style.setProperty("--att-effect", told >= 0 ? effects[0][s].toFixed(3) : "0");
    });
  };
  return { node, draw };
}

/** The memory: a circle for each letter, on the line that hands it on to the guess; the darker, the more it differs. */
function memoryRow() {
  const node = element("div", { class: "att-memory" });
  let beads = [];
  const draw = ({ count, told, differs }) => {
    if (beads.length !== count) {
      beads = Array.from({ length: count }, () => element("span", { class: "att-bead" }));
      node.replaceChildren(...beads);
    }
    beads.forEach((bead, s) => {
      bead.style.setProperty("--att-differs", Math.min(1, differs[s]).toFixed(3));
      bead.style.setProperty("--att-after", Math.max(0, told < 0 ? 0 : s - told));
    });
  };
  return { node, draw };
}

/** In how many passages a far letter changes each guess: two bars. */
function bars({ t, signal, onBack }) {
  const bar = (name, k) => element("div", { class: `att-bar att-bar-${name}` },
    element("b", {}, t(`name_${name}`)),
    element("span", { class: "att-bar-line" }, element("i", { style: `--att-share: ${(FAR[k] / Math.max(...FAR)).toFixed(4)}` }),
      element("b", {}, t("bar", { count: FAR[k], share: percent(FAR[k] / PASSAGES) }))));
  return element("div", { class: "att-bars" }, element("p", {}, t("bars")), ...NAMES.map(bar), buttonControl({ label: t("back"), signal, onPress: onBack }));
}

/**
 * The text twice, once for each network. Tap a letter or drag along the text to erase a letter (`onLetter(s)`, 0 for none).
 * In its place the averages, and the way back from them (`onBack`).
 */
export function textPanel({ t, signal, onLetter, onBack }) {
  const [above, below] = NAMES.map((name) => half(name, t));
  const [rays, memory] = [lines(), memoryRow()];
  const rows = [[rays.node, above.letters], [memory.node, below.letters]].map((parts, k) => element("div", { class: `att-columns att-columns-${NAMES[k]}`, "aria-hidden": "true" }, ...parts));
  const keys = element("input", { type: "range", class: "att-keys", min: 0, step: 1, "aria-label": t("letter") });
  const stage = element("div", { class: "att-stage" }, above.title, rows[0], above.guess, below.title, rows[1], below.guess, keys);
  const averages = bars({ t, signal, onBack });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") }, stage, averages);
  let shown = null;
  let last = -1;
  for (const row of rows) {
    dragOn(row, {
      axis: "x", signal,
      start: () => {
        last = -1;
        return shown.count > 0;
      },
      end: () => {
        stage.classList.add("att-by-hand"); // without an outline: the hand has seen what it moved
        keys.focus({ preventScroll: true }); // the arrow keys go on from here
      },
      move: ({ x }) => {
        const letter = Math.min(shown.count, Math.floor(x * (shown.count + GAP)) + 1);
        if (letter !== last) onLetter(last < 0 && letter === shown.told + 1 ? 0 : letter); // a tap puts it back
        last = letter;
      },
    });
  }
  for (const kind of ["keydown", "focusout"]) keys.addEventListener(kind, () => stage.classList.remove("att-by-hand"), { signal });
  keys.addEventListener("input", () => onLetter(Number(keys.value)), { signal });
  const draw = (model) => {
    const { text, told, before, after, mean, count } = model;
    shown = model;
    node.classList.toggle("att-empty", count === 0 && !mean);
    node.classList.toggle("att-mean", mean);
    stage.style.setProperty("--att-count", String(Math.max(1, count)));
    [above, below].forEach((side, k) => side.draw(model, before[k], after[k]));
    rays.draw(model);
    memory.draw(model);
    keys.disabled = count === 0 || mean;
    keys.max = Math.max(count, 1);
    keys.value = told + 1;
    keys.setAttribute("aria-valuetext", told < 0 ? t("letter_none") : t("letter_value", { character: visibleCharacter(text[told]), place: told + 1, count }));
  };
  return { node, draw };
}

/** The reader's own text. */
export function textRow({ t, signal, onText }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text att-text", placeholder: t("text_any"), autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const hint = element("p", { class: "att-hint", hidden: true });
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const plain = unaccented(input.value);
    const out = leftOut(plain);
    const hints = [];
    if (out.length > 0) hints.push(t("text_left_out", { count: out.length, characters: [...new Set(out)].slice(0, 12).join(" ") }));
    if (normalise(plain).length > MAX_TEXT) hints.push(t("text_long", { max: MAX_TEXT }));
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
