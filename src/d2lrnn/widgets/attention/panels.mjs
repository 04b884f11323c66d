// What the figure draws: one text; strips from its letters up to attention's guess, and down to a memory that is handed on.
import { element, formatNumber, prefersReducedMotion, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise, unaccented } from "../weights.mjs";
import { drop, FAR, FAR_BACK, MAX_TEXT, PASSAGES, percent, readable, strip } from "./maths.mjs";

const NAMES = ["attention", "state"];
const GAP = 0.6; // from the last letter to the guess, in columns

/** How far before the last letter a letter stands, in words; the same of no letter in particular. */
const earlier = (count, t) => t(count < 2 ? `earlier_${count}` : "earlier", { count });
const anyEarlier = (count, t) => t(count < 2 ? `mean_${count}` : "mean_count", { count });

/** A letter in a sentence: the space by its name. */
const named = (character, t, space = "by_space") => (character === " " ? t(space) : character);

/** How much of each guess the replaced letter changes. */
const movedOf = ({ told, effects }) => ({ looks_moved: percent(effects[0][told]), holds_moved: percent(effects[1][told]) });

/** A probability in whole percents. */
const whole = (p) => (p > 0 && p < 0.005 ? "<1%" : p < 1 && p >= 0.995 ? ">99%" : `${Math.round(100 * p)}%`);

/** The sentence on top: { key, values }. */
function sentenceOf(model, t) {
  const { text, told, by, such, mean, hidden, count, before, after } = model;
  if (mean) {
    if (told >= 0) return { key: "now_mean_told", values: { earlier: anyEarlier(count - 1 - told, t), ...movedOf(model) } };
    return { key: hidden ? "now_mean_asked" : "now_mean", values: {} };
  }
  if (text === "") return { key: "now_empty", values: {} };
  const [looks, holds] = before.map(({ character }) => named(character, t));
  if (told < 0) return { key: looks !== holds ? "now_none" : hidden ? "now_asked" : "now_same", values: { looks, holds, such: such === "" ? t("such_last") : t("such", { letter: such }) } };
  const [looksThen, holdsThen] = after.map(({ character }) => named(character, t));
  const changed = [looks !== looksThen && "attention", holds !== holdsThen && "state"].filter(Boolean);
  return {
    key: `now_${["neither", changed[0], "both"][changed.length]}`,
    values: { character: named(text[told], t, "space"), by: by === " " ? t("by_space") : t("by_e"), looks: looksThen, holds: holdsThen },
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

/** In what share of the passages a far letter changes the guess of attention (0) or the state (1). */
const farShare = (k) => `${Math.round((100 * FAR[k]) / PASSAGES)}%`;

/** What the guided steps tell. */
export const outcomeOf = ({ told, effects }) => ({ looks: farShare(0), holds: farShare(1), ...(told >= 0 && { moved: percent(effects[0][told]) }) });

/** One of the two: its name, its strips, and what it guesses. */
function half(name, pathOf, t) {
  const picture = svg("svg", { class: "att-strips", preserveAspectRatio: "none" });
  const box = element("b", { class: "att-guess-letter" });
  const note = element("span", { class: "att-guess-note" });
  const guess = element("p", { class: `att-guess att-guess-${name}` }, box, note);
  const gloss = element("span");
  const title = element("p", { class: `att-name att-name-${name}` }, element("b", {}, t(`name_${name}`)), " ", gloss);
  const value = element("span", { class: `att-value att-value-${name}` });
  const far = element("span", { class: `att-far att-far-${name}` });
  let paths = [];
  const draw = ({ count, told, mean, hidden }, effects, was, is) => {
    if (paths.length !== count) {
      paths = Array.from({ length: count }, () => svg("path"));
      picture.replaceChildren(...paths);
      picture.setAttribute("viewBox", `0 0 ${count + GAP} 1`);
    }
    gloss.textContent = t(name === "state" && told >= 0 ? "gloss_state_told" : `gloss_${name}`);
    picture.classList.toggle("att-off", hidden && told < 0); // threads only
    picture.classList.toggle("att-some", told >= 0);
    paths.forEach((path, s) => {
      path.setAttribute("d", pathOf(hidden && s !== told ? 0 : effects[s], s, count + GAP));
      path.classList.toggle("att-lit", s === told);
    });
    far.textContent = mean && !hidden && told < 0 ? t("far", { share: farShare(NAMES.indexOf(name)) }) : "";
    value.textContent = told < 0 ? "" : percent(effects[told]);
    box.textContent = was === undefined ? t("guess") : visibleCharacter((is ?? was).character);
    box.style.setProperty("--att-sure", was === undefined ? "0" : (is ?? was).p.toFixed(3));
    guess.classList.toggle("att-any", was === undefined);
    const changed = is !== undefined && is.character !== was.character;
    guess.classList.toggle("att-changed", changed);
    const past = is === undefined ? t("guess") : t(changed ? "was" : "still", { letter: visibleCharacter(was.character) });
    note.replaceChildren(...(was === undefined ? [] : [element("b", {}, whole((is ?? was).p)), element("span", {}, past)]));
  };
  return { picture, guess, title, value, far, draw };
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

/**
 * The text between the two: strips from its letters up to attention's guess and down to the state's memory, on one scale.
 * Tap a letter or drag along the text to replace a letter (`onLetter(s)`, 0 for none).
 */
export function textPanel({ t, signal, onLetter }) {
  const letters = element("div", { class: "att-letters" });
  const [above, below] = NAMES.map((name, k) => half(name, [strip, drop][k], t));
  const memory = memoryRow();
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" }, above.picture, letters, below.picture, memory.node, above.far, below.far, above.value, below.value);
  const keys = element("input", { type: "range", class: "att-keys", min: 0, step: 1, "aria-label": t("letter") });
  const stage = element("div", { class: "att-stage" }, above.title, columns, above.guess, below.guess, below.title, keys);
  const tip = element("p", { class: "att-tip" });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") }, stage, tip);
  let cells = [];
  let shown = null;
  let last = -1;
  dragOn(columns, {
    axis: "x", signal,
    start: () => {
      last = -1;
      return cells.length > 0;
    },
    end: () => keys.focus({ preventScroll: true }), // the arrow keys go on from here
    move: ({ x }) => {
      const letter = Math.min(cells.length, Math.floor(x * (cells.length + GAP)) + 1);
      if (letter !== last) onLetter(last < 0 && letter === shown.told + 1 ? 0 : letter); // a tap puts it back
      last = letter;
    },
  });
  keys.addEventListener("input", () => onLetter(Number(keys.value)), { signal });
  const draw = (model) => {
    const { text, told, by, effects, before, after, mean, hidden, count } = model;
    shown = model;
    node.classList.toggle("att-empty", count === 0);
    if (cells.length !== count) {
      cells = Array.from({ length: count }, () => element("span", { class: "att-letter" }));
      letters.replaceChildren(...cells);
      stage.style.setProperty("--att-count", String(Math.max(1, count)));
    }
    cells.forEach((cell, s) => {
      cell.textContent = mean ? String(count - 1 - s) : visibleCharacter(s === told ? by : text[s]);
      cell.classList.toggle("att-told", s === told);
      cell.classList.toggle("att-is-far", mean && count - 1 - s >= FAR_BACK);
    });
    columns.style.setProperty("--att-far", ((count - FAR_BACK) / (count + GAP)).toFixed(4));
    columns.style.setProperty("--att-at", ((told + 0.5) / (count + GAP)).toFixed(4));
    [above, below].forEach((side, k) => side.draw(model, effects[k], before[k], after[k]));
    memory.draw(model);
    tip.textContent = told < 0 ? t(hidden ? "tip_asked" : mean ? "tip_mean" : "tip") : t(mean ? "tip_mean_told" : "tip_told");
    node.classList.toggle("att-mean", mean);
    keys.disabled = count === 0;
    keys.max = Math.max(count, 1);
    keys.value = told + 1;
    const place = () => (mean ? earlier(count - 1 - told, t)
      : t("letter_value", { character: visibleCharacter(text[told]), place: told + 1, count }));
    keys.setAttribute("aria-valuetext", told < 0 ? t("letter_none") : place());
  };
  /** The strips unfold, from the last letter back. */
  const grow = () => {
    if (prefersReducedMotion()) return;
    for (const { picture } of [above, below]) {
      picture.animate([{ clipPath: "inset(0 0 0 100%)" }, { clipPath: "inset(0)" }], { duration: 1200, easing: "ease-in-out" });
    }
  };
  return { node, stage, draw, grow };
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
  const draw = ({ text, mean }) => {
    const read = mean ? "" : text; // the averages are of no text
    if (readable(input.value) !== read) input.value = read;
  };
  return { node, draw, clear: () => (hint.hidden = true) };
}
