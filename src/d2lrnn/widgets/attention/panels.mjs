// What the figure draws: a text; above it bars and lines that lead to attention's guess; below it bars and a memory that is handed on.
import { element, fill, formatNumber, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise, unaccented } from "../weights.mjs";
import { CHANGES, columnsOf, EQUAL, lines, MAX_TEXT, PASSAGES, percent, plainLetters, PORT, readable, roundsOf, SHARES, STRONG, sumRounds, WEIGHTS } from "./maths.mjs";

const NAMES = ["attention", "state"];
const MANY = 1000; // letters of a long text

/** A letter in a sentence: the space by its name. */
const named = (character, t) => (character === " " ? t("by_space") : character);

/** A letter of the text, and which one where it stands there more than once. */
function which(text, s, t) {
  const letter = text[s];
  if (text.indexOf(letter) === text.lastIndexOf(letter)) return letter;
  const nth = text.slice(0, s + 1).split(letter).length - 1;
  return t("which", { nth: t(nth < 4 ? `nth_${nth}` : "nth_more", { nth }), letter });
}

/** How often both guesses change without the letter so far back: what the words call `looks` (attention), `holds` (the state), `place`. */
const counted = (back, t) => ({
  max: MAX_TEXT, looks: formatNumber(CHANGES[0][back], 0), holds: formatNumber(CHANGES[1][back], 0), passages: formatNumber(PASSAGES, 0), place: placeOf(back, t), nth: back + 1,
});

/** How many rounds all lines take, their sum, and all circles. */
const rounds = ({ count }) => {
  const [looks, holds] = roundsOf(count).map((row) => row.at(-1));
  return { looks, sums: sumRounds(count), holds };
};

const placeOf = (back, t) => (back === 0 ? t("place_last") : t("place_back", { nth: back + 1 }));

/** An erased letter as a screen reader says it: its place, how thick its line is, and how high its bars are. */
function valueOf({ text, told, count, effects, weights }, t) {
  const [looks, holds] = effects.map((row) => percent(row[told]));
  return t("letter_value", { character: visibleCharacter(text[told]), place: told + 1, count, looks, holds, weight: percent(weights[told]) });
}

/** The sentence on top: { template, values }. */
function sentenceOf({ text, told, such, isAsked, mean, order, count, back, before, after }, t) {
  if (text === "" && !mean) return { template: t.raw("now_empty"), values: {} };
  if (mean) return { template: t.raw(isAsked ? "now_asked_mean" : "now_mean"), values: counted(back, t) };
  if (order) return { template: t.raw("now_order"), values: rounds({ count }) };
  const [looks, holds] = before.map(({ character }) => named(character, t));
  if (told < 0) {
    const guessed = t.raw(looks === holds ? "now_asked_same" : "now_asked");
    const values = { looks, holds, such: such < 0 ? t("such_last") : t("such", { letter: which(text, such, t) }) };
    return { template: isAsked ? guessed : `${guessed} ${t.raw("now_press")}`, values };
  }
  const [looksThen, holdsThen] = after.map(({ character }) => named(character, t));
  const changed = [looks !== looksThen && "attention", holds !== holdsThen && "state"].filter(Boolean);
  const without = text[told] === " " ? t("without_space") : t("without", { letter: which(text, told, t) });
  const isSame = looksThen === holdsThen ? "_same" : "";
  return { template: t.raw(`now_${["neither", changed[0], "both"][changed.length]}${isSame}`).replace("{without}", without), values: { looks: looksThen, holds: holdsThen } };
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

/** What an open question shows of the model: the letter that it asks about, beside that of the thickest line, and nothing that answers it. */
export function asking(model, { view, letter }) {
  const mean = view === "mean";
  return { ...model, mean, such: mean ? -1 : letter - 1, rival: mean || letter === 0 ? -1 : model.weights.indexOf(Math.max(...model.weights)) };
}

/** The sizes of both, and the perplexities of two of equal size, by the names that the words give them. */
export function scores({ sizes }) {
  const each = NAMES.flatMap((name, i) => [[`${name}_size`, formatNumber(sizes[i], 0)], [`unsure_${name}`, formatNumber(EQUAL.perplexities[i], 1)]]);
  return { size: formatNumber(EQUAL.size, 0), ...Object.fromEntries(each) };
}

/** What the guided steps ask about and tell. */
export function toldOf(model, t) {
  const many = rounds({ count: MANY });
  const long = { many: formatNumber(MANY, 0), holds_many: formatNumber(many.holds, 0), looks_many: many.looks, sums_many: many.sums };
  const last = counted(0, t);
  return { ...counted(model.back, t), last_looks: last.looks, last_holds: last.holds, by: t(model.by === "e" ? "by_e" : "by_space"), ...(model.order && { ...rounds(model), ...long }) };
}

/** What one of the two does; or what its lines, bars and circles mean, each behind its sign. */
function glossOf(k, { mean, order, told, such, isAsked, weights, looks, effects }, t) {
  const isToldOf = k > 0 && told >= 0; // the colour of its circles is
  if ((isAsked && (k > 0 || such < 0)) || order || isToldOf) return [t(`gloss_${NAMES[k]}${isAsked ? "" : order ? "_order" : "_told"}`)];
  const drawn = k > 0 ? ["bar", "circle"] : isAsked ? ["line"] : ["line", "bar"]; // no bar tells an answer
  const numbers = told < 0 ? {} : { was: percent(weights[told]), is: percent(looks[told]), moves: percent(effects[k][told]) };
  const kinds = told >= 0 ? { line: "_told", bar: "_told" } : mean ? { bar: "_mean" } : {};
  return drawn.map((sign) => element("span", { class: `att-key att-key-${sign}` }, t(`key_${sign}${kinds[sign] ?? ""}`, numbers)));
}

/** One of the two: its name and what it guesses, and a bar for each letter. */
function half(k, t) {
  const name = NAMES[k];
  const guessed = ["letter", "next"].map((which) => {
    const [letter, share] = [element("b"), element("span")];
    const row = element("span", { class: `att-guess-row att-guess-${which}` }, letter, element("i"), share);
    const set = (character, p, said = p === undefined ? "" : percent(p)) => {
      letter.textContent = character === undefined ? "" : visibleCharacter(character);
      share.textContent = said;
      row.style.setProperty("--att-share", (p ?? 0).toFixed(4));
    };
    return { row, set };
  });
  const note = element("span", { class: "att-guess-note" });
  const guess = element("p", { class: `att-guess att-guess-${name}` }, ...guessed.map(({ row }) => row), note);
  const gloss = element("span");
  const title = element("p", { class: `att-name att-name-${name}` }, element("b", {}, t(`name_${name}`)), " ", gloss);
  const bars = element("div", { class: `att-row att-bars att-bars-${name}` });
  const turn = (count, sums = 0) => {
    note.textContent = t(sums > 0 ? "round_sum" : count === 1 ? "round_1" : "round_more", { count, sums });
  };
  const drawGuess = ({ mean, order, isAsked, count, back, before, after }) => {
    const [was, is] = [before[k], after[k]];
    const shown = is ?? was;
    const changed = is !== undefined && is.character !== was.character;
    guess.classList.toggle("att-changed", changed);
    if (mean) {
      guessed[0].set(undefined, undefined, t("times", { count: isAsked ? "?" : formatNumber(CHANGES[k][back], 0), passages: formatNumber(PASSAGES, 0) }));
      guessed[1].set();
      note.textContent = t("times_note");
    } else {
      guessed[0].set(shown?.character, shown?.p);
      guessed[1].set(shown?.second.character, shown?.second.p);
      note.textContent = is === undefined ? t("next") : t(changed ? "was" : "was_as_sure", { letter: visibleCharacter(was.character), share: percent(was.p) });
      if (order && count > 0) turn(roundsOf(count)[k].at(-1), k === 0 ? sumRounds(count) : 0);
    }
  };
  const draw = (model) => {
    const { mean, order, effects, count, told } = model;
    const shares = mean ? SHARES[k] : order ? Array(count).fill(0) : effects[k];
    withCells(bars, shares.length, cell("att-bar")).forEach((bar, s) => {
      bar.style.setProperty("--att-share", shares[s].toFixed(4));
      bar.classList.toggle("att-strong", mean || shares[s] >= STRONG);
      bar.classList.toggle("att-other", told >= 0 && s !== told);
      if (k === 0) bar.textContent = order ? roundsOf(count)[k][s] : "";
    });
    gloss.replaceChildren(...glossOf(k, model, t));
    drawGuess(model);
  };
  return { head: element("div", { class: "att-head" }, title, guess), bars, draw, turn };
}

const cell = (kind) => () => element("span", { class: kind });

/** As many cells in a row as it has letters; those that stay keep their place, so that bars can grow. */
function withCells(row, count, make) {
  while (row.children.length > count) row.lastChild.remove();
  while (row.children.length < count) row.append(make());
  return [...row.children];
}

/** Attention's lines: one from each letter, as thick as attention looks there. That of the erased letter is dashed. */
function lookRow() {
  const node = svg("svg", { class: "att-lines", preserveAspectRatio: "none" });
  const draw = ({ count, told, such, rival, weights }) => {
    node.setAttribute("viewBox", `0 0 ${columnsOf(count)} 1`);
    const paths = withCells(node, count, () => svg("path", { class: "att-line" }));
    lines(count).forEach((d, s) => {
      paths[s].setAttribute("d", d);
      paths[s].style.setProperty("--att-weight", (weights[s] ?? 0).toFixed(4));
      paths[s].classList.toggle("att-such", s === such || s === rival);
      paths[s].classList.toggle("att-told", s === told);
    });
  };
  return { node, draw };
}

/** The memory: a circle for each letter, on the line that hands it on to the guess; as deep in colour as the erased letter changes it; in the order of computing they fill one by one, each with its round. */
function memoryRow() {
  const node = element("div", { class: "att-row att-memory" });
  const draw = ({ count, told, order, differs }) => {
    withCells(node, count, cell("att-bead")).forEach((bead, s) => {
      bead.textContent = order ? s + 1 : "";
      bead.style.setProperty("--att-differs", Math.min(1, differs[s] ?? 0).toFixed(3));
      bead.style.setProperty("--att-after", order ? s + 1 : Math.max(0, told < 0 ? 0 : s - told));
    });
  };
  /** Calls `onTurn(round)` when a circle begins to fill; `isFilling`: whether some still will. */
  const follow = (onTurn, signal) => node.addEventListener("animationstart", ({ target }) => onTurn([...node.children].indexOf(target) + 1), { signal });
  const isFilling = () => node.lastChild.getAnimations().some(({ animationName }) => animationName === "att-fill");
  return { node, draw, follow, isFilling };
}

/**
 * The text between the two networks. Tap a letter or drag along the text to erase a letter (`onLetter(s)`, 0 for none).
 * In the averages its letters are distances, along which a drag moves too.
 */
export function textPanel({ t, signal, onLetter }) {
  const [above, below] = [half(0, t), half(1, t)];
  const [rays, memory] = [lookRow(), memoryRow()];
  memory.follow(below.turn, signal);
  const letters = element("div", { class: "att-row att-letters" });
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" }, rays.node, above.bars, letters, below.bars, memory.node);
  const keys = element("input", { type: "range", class: "att-keys", min: 0, step: 1, "aria-label": t("letter") });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure"), style: `--att-port: ${PORT}` }, above.head, columns, below.head, keys);
  let shown = null;
  let last = -1;
  dragOn(columns, {
    axis: "x", signal,
    start: () => {
      last = -1;
      return shown.count > 0;
    },
    end: () => {
      node.classList.add("att-by-hand"); // without an outline: the hand has seen what it moved
      keys.focus({ preventScroll: true }); // the arrow keys go on from here
    },
    move: ({ x }) => {
      const wide = columnsOf(shown.count);
      const letter = Math.min(shown.count, Math.max(1, Math.floor(x * wide) + 1 - (wide - shown.count)));
      if (letter !== last) onLetter(last < 0 && letter === shown.told + 1 ? 0 : letter); // a tap puts it back
      last = letter;
    },
  });
  for (const kind of ["keydown", "focusout"]) keys.addEventListener(kind, () => node.classList.remove("att-by-hand"), { signal });
  keys.addEventListener("keydown", (event) => { // from no letter a key leads to one; Escape leads back
    const first = event.key === "Home" ? 1 : event.key === "ArrowLeft" && shown.told < 0 ? shown.count : null;
    const letter = event.key === "Escape" && shown.told >= 0 ? 0 : first;
    if (shown.isText && letter !== null && shown.count > 0) {
      event.preventDefault();
      onLetter(letter);
    }
  }, { signal });
  keys.addEventListener("input", () => onLetter(Number(keys.value)), { signal });
  const draw = (model) => {
    const { text, told, such, rival = -1, by, mean, order, back, isAsked, looks } = model;
    const count = mean ? MAX_TEXT : model.count;
    shown = { count, told, isText: !mean };
    node.classList.toggle("att-empty", count === 0);
    node.classList.toggle("att-mean", mean);
    node.classList.toggle("att-order", order);
    node.classList.toggle("att-asks", isAsked);
    const hasLooks = !isAsked || such >= 0; // the question about a line shows how thick they are
    node.style.setProperty("--att-columns", String(columnsOf(count)));
    node.style.setProperty("--att-first", String(columnsOf(count) - count + 1));
    [above, below].forEach((side) => side.draw(model));
    const at = mean ? MAX_TEXT - 1 - back : told;
    const weights = !hasLooks ? [] : mean ? WEIGHTS : looks;
    node.classList.toggle("att-blank", !hasLooks);
    rays.draw({ count, told: at, such, rival, weights });
    memory.draw({ ...model, count });
    if (order && count > 0 && memory.isFilling()) below.turn(0);
    withCells(letters, count, cell("att-letter")).forEach((letter, s) => {
      letter.textContent = mean ? String(MAX_TEXT - s) : visibleCharacter(s === told ? by : text[s]);
      letter.classList.toggle("att-told", s === at);
      letter.classList.toggle("att-such", s === such || s === rival);
      letter.style.setProperty("--att-weight", (weights[s] ?? 0).toFixed(4));
    });
    keys.disabled = count === 0;
    keys.min = mean ? 1 : 0;
    keys.max = Math.max(count, 1);
    keys.value = at + 1;
    keys.setAttribute("aria-valuetext", mean ? placeOf(back, t) : told < 0 ? t("letter_none") : valueOf(model, t));
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
    const plainly = plainLetters(input.value);
    if (plainly.length > 0) hints.push(t("text_plain", { letters: plainly.map(([letter, plain]) => t("text_plain_letter", { letter, plain })).join(", ") }));
    if (out.length > 0) hints.push(t("text_left_out", { characters: [...new Set(out)].slice(0, 12).join(" ") }));
    if (normalise(plain).length > MAX_TEXT) hints.push(t("text_long", { count: readable(input.value).length }));
    hint.textContent = hints.join(" ");
    hint.hidden = hints.length === 0;
    onText(readable(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element("div", { class: "att-tools" },
    element("label", { class: "att-label" }, element("span", {}, t("text")), input), hint);
  const put = (text) => {
    input.value = text;
    hint.hidden = true; // it told of what was typed
  };
  const draw = ({ text }) => {
    if (readable(input.value) !== text) put(text);
  };
  return { node, draw, clear: () => put(readable(input.value)) };
}
