// What the figure draws: a text twice. Above, lines from all letters to attention's guess; below, a memory that is handed on.
import { buttonControl, element, fill, formatNumber, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise, unaccented } from "../weights.mjs";
import { CHANGES, columnsOf, curve, lines, MAX_TEXT, PASSAGES, percent, plainLetters, PORT, readable, trail } from "./maths.mjs";

const NAMES = ["attention", "state"];

/** A letter in a sentence: the space by its name. */
const named = (character, t) => (character === " " ? t("by_space") : character);

/** A letter of the text, and which one where it stands there more than once. */
function which(text, s, t) {
  const letter = text[s];
  if (text.indexOf(letter) === text.lastIndexOf(letter)) return letter;
  const nth = text.slice(0, s + 1).split(letter).length - 1;
  return t("which", { nth: t(nth < 4 ? `nth_${nth}` : "nth_more", { nth }), letter });
}

/** What is told of an erased letter: how much attention looked at it, how much of its trail is left, and how likely the first two guesses were and are. */
function shares({ told, differs, weighed, before, after }) {
  if (!(told >= 0)) return {};
  const likely = Object.fromEntries([["was", before], ["is", after]].flatMap(([when, guesses]) => guesses.flatMap(({ p, second }, k) => [
    [`${["looks", "holds"][k]}_${when}`, percent(p)], [`${["looks", "holds"][k]}_next_${when}`, percent(second.p)],
  ])));
  return { ...likely, left: percent(differs.at(-1) / differs[told]), weight: percent(weighed[told]) };
}

/** Whether the memory differs more at the end than at the erased letter, in whole percents. */
const hasGrown = ({ told, differs }) => Math.round(100 * differs.at(-1) / differs[told]) > 100;

/** How often both guesses change without the letter so far back: what the words call `looks` (attention), `holds` (the state), `place`. */
const counted = (back, t) => ({
  looks: formatNumber(CHANGES[0][back], 0), holds: formatNumber(CHANGES[1][back], 0), passages: formatNumber(PASSAGES, 0), place: placeOf(back, t),
});

const placeOf = (back, t) => (back === 0 ? t("place_last") : t("place_back", { back }));

/** The sentence on top: { template, values }. */
function sentenceOf({ text, told, such, isAsked, mean, back, before, after }, t) {
  if (text === "" && !mean) return { template: t.raw("now_empty"), values: {} };
  if (mean) return { template: t.raw("now_mean"), values: counted(back, t) };
  const [looks, holds] = before.map(({ character }) => named(character, t));
  if (told < 0 && isAsked) return { template: t.raw(looks === holds ? "now_asked_same" : "now_asked"), values: { looks, holds } };
  if (told < 0) {
    return { template: t.raw(looks === holds ? "now_same" : "now_none"), values: { looks, holds, such: such < 0 ? t("such_last") : t("such", { letter: which(text, such, t) }) } };
  }
  const [looksThen, holdsThen] = after.map(({ character }) => named(character, t));
  const changed = [looks !== looksThen && "attention", holds !== holdsThen && "state"].filter(Boolean);
  const without = text[told] === " " ? t("without_space") : t("without", { letter: which(text, told, t) });
  const isSame = looksThen === holdsThen ? "_same" : "";
  return { template: t.raw(`now_${[`neither${isSame}`, changed[0], `both${isSame}`][changed.length]}`).replace("{without}", without), values: { looks: looksThen, holds: holdsThen } };
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
export const toldOf = (model, t) => ({ ...counted(model.back, t), ...shares(model), rarely: formatNumber(CHANGES[0].at(-1), 0) });

const THIN = 0.1; // a line of less of the attention looks thin

/** One of the two: its name, the text, and what it guesses. */
function half(name, t) {
  const guessed = ["letter", "next"].map((which) => {
    const [letter, share] = [element("b"), element("span")];
    const row = element("span", { class: `att-guess-row att-guess-${which}` }, letter, element("i"), share);
    const set = (guess) => {
      letter.textContent = guess === undefined ? "" : visibleCharacter(guess.character);
      share.textContent = guess === undefined ? "" : percent(guess.p);
      row.style.setProperty("--att-share", (guess?.p ?? 0).toFixed(4));
    };
    return { row, set };
  });
  const note = element("span", { class: "att-guess-note" });
  const guess = element("p", { class: `att-guess att-guess-${name}` }, ...guessed.map(({ row }) => row), note);
  const gloss = element("span");
  const title = element("p", { class: `att-name att-name-${name}` }, element("b", {}, t(`name_${name}`)), " ", gloss);
  const letters = element("div", { class: "att-letters" });
  let cells = [];
  /** What is told beside the name: before a letter is erased, and then what that did. */
  const glossOf = (model, changed) => {
    const { text, told, such, weights, weighed } = model;
    if (told < 0) {
      const marks = name === "attention" && such >= 0;
      return marks ? t("gloss_attention_such", { letter: which(text, such, t), weight: percent(weights[such]) }) : t(`gloss_${name}`);
    }
    if (name === "state") return t(hasGrown(model) ? "gloss_state_more" : "gloss_state_told", shares(model));
    return t(changed && weighed[told] < THIN ? "gloss_attention_tipped" : "gloss_attention_told", shares(model));
  };
  const draw = (model, was, is) => {
    const { text, count, told, such, by } = model;
    if (cells.length !== count) {
      cells = Array.from({ length: count }, () => element("span", { class: "att-letter" }));
      letters.replaceChildren(...cells);
    }
    cells.forEach((cell, s) => {
      cell.textContent = visibleCharacter(s === told ? by : text[s]);
      cell.classList.toggle("att-told", s === told);
      cell.classList.toggle("att-such", s === such);
    });
    const changed = is !== undefined && is.character !== was.character;
    gloss.textContent = glossOf(model, changed);
    guessed[0].set(is ?? was);
    guessed[1].set((is ?? was)?.second);
    guess.classList.toggle("att-changed", changed);
    note.textContent = is === undefined ? "" : t(changed ? "was" : "was_as_sure", { letter: visibleCharacter(was.character), share: percent(was.p) });
  };
  return { head: element("div", { class: "att-head" }, title, guess), letters, draw };
}

/** Attention's lines, as thick as it looks at the letters: dark, that of the letter to try; dashed, that of the erased letter as it was. */
function lookRow() {
  const node = svg("svg", { class: "att-lines", preserveAspectRatio: "none" });
  const draw = ({ count, told, such, weights, weighed }) => {
    node.setAttribute("viewBox", `0 0 ${columnsOf(count)} 1`);
    const was = told < 0 ? [] : [svg("path", { class: "att-lost", d: lines(weighed)[told].edges })];
    node.replaceChildren(...lines(weights).flatMap(({ line, band }, s) => [
      svg("path", { class: s === such ? "att-line att-dark" : "att-line", d: line }), svg("path", { class: s === such ? "att-band att-dark" : "att-band", d: band }),
    ]), ...was);
  };
  return { node, draw };
}

/** The memory: a circle for each letter, on the line that hands it on to the guess; and the trail of an erased letter. */
function memoryRow() {
  const path = svg("path", {});
  const picture = svg("svg", { class: "att-trail", preserveAspectRatio: "none" }, path);
  const node = element("div", { class: "att-memory" });
  let beads = [];
  const draw = ({ count, told, differs }) => {
    if (beads.length !== count) {
      beads = Array.from({ length: count }, () => element("span", { class: "att-bead" }));
      node.replaceChildren(picture, ...beads);
      picture.setAttribute("viewBox", `0 0 ${columnsOf(count)} 2`);
    }
    path.setAttribute("d", trail(differs, told));
    beads.forEach((bead, s) => {
      bead.style.setProperty("--att-differs", Math.min(1, differs[s]).toFixed(3));
      bead.style.setProperty("--att-after", Math.max(0, told < 0 ? 0 : s - told));
    });
  };
  return { node, draw };
}

/** How often each guess changes, by how far back the erased letter stands: drag along it (`onLetter`). */
function chart({ t, signal, onBack }) {
  const picture = svg("svg", { class: "att-curves", viewBox: `0 0 ${MAX_TEXT} 1`, preserveAspectRatio: "none" },
    ...["state", "attention"].map((name) => { // the lower one on top
      const path = curve(CHANGES[NAMES.indexOf(name)]);
      return svg("g", { class: `att-curve-${name}` }, svg("path", { class: "att-area", d: `${path}V1H0.5Z` }), svg("path", { d: path }));
    }));
  const mark = element("i", { class: "att-mark" });
  const found = NAMES.map(() => element("b"));
  const read = element("p", { class: "att-read" }, ...NAMES.map((name, k) => element("span", { class: `att-share-${name}` }, `${t(`name_${name}`)} `, found[k])));
  const dots = NAMES.map((name) => element("i", { class: `att-dot att-dot-${name}` }));
  const cells = Array.from({ length: MAX_TEXT }, (_, s) => element("span", { class: "att-cell" }, String(MAX_TEXT - 1 - s)));
  const plot = element("div", { class: "att-plot" },
    ...[1, 0.5].map((share) => element("span", { class: "att-rule", style: `--att-share: ${share}` }, percent(share))), picture, mark, ...dots);
  const stage = element("div", { class: "att-averages-stage", "aria-hidden": "true" }, read, plot, element("div", { class: "att-cells" }, ...cells),
    element("p", { class: "att-ends" }, element("span", {}, t("end_far")), element("span", {}, t("end_last"))));
  const node = element("div", { class: "att-averages" }, element("p", { class: "att-averages-title" }, t("averages")), stage, buttonControl({ label: t("back"), signal, onPress: onBack }));
  const draw = ({ back }) => {
    stage.style.setProperty("--att-at", String((MAX_TEXT - back - 0.5) / MAX_TEXT));
    NAMES.forEach((_, k) => {
      const share = CHANGES[k][back] / PASSAGES;
      found[k].textContent = percent(share);
      dots[k].style.setProperty("--att-share", share.toFixed(4));
    });
    cells.forEach((cell, s) => cell.classList.toggle("att-told", s === MAX_TEXT - 1 - back));
  };
  return { node, stage, draw };
}

/**
 * The text twice, once for each network. Tap a letter or drag along the text to erase a letter (`onLetter(s)`, 0 for none).
 * In its place the averages, along which a drag moves too, and the way back from them (`onBack`).
 */
export function textPanel({ t, signal, onLetter, onBack }) {
  const [above, below] = NAMES.map((name) => half(name, t));
  const [rays, memory] = [lookRow(), memoryRow()];
  const rows = [[rays.node, above.letters], [memory.node, below.letters]].map((parts, k) => element("div", { class: `att-columns att-columns-${NAMES[k]}`, "aria-hidden": "true" }, ...parts));
  const keys = element("input", { type: "range", class: "att-keys", min: 0, step: 1, "aria-label": t("letter") });
  const stage = element("div", { class: "att-stage" }, above.head, rows[0], below.head, rows[1]);
  const averages = chart({ t, signal, onBack });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure"), style: `--att-port: ${PORT}` }, stage, averages.node, keys);
  let shown = null;
  let last = -1;
  const end = () => {
    node.classList.add("att-by-hand"); // without an outline: the hand has seen what it moved
    keys.focus({ preventScroll: true }); // the arrow keys go on from here
  };
  for (const row of rows) {
    dragOn(row, {
      axis: "x", signal,
      start: () => {
        last = -1;
        return shown.count > 0;
      },
      end,
      move: ({ x }) => {
        const columns = columnsOf(shown.count);
        const letter = Math.min(shown.count, Math.max(1, Math.floor(x * columns) + 1 - (columns - shown.count)));
        if (letter !== last) onLetter(last < 0 && letter === shown.told + 1 ? 0 : letter); // a tap puts it back
        last = letter;
      },
    });
  }
  dragOn(averages.stage, { axis: "x", signal, end, move: ({ x }) => onLetter(Math.min(MAX_TEXT, Math.floor(x * MAX_TEXT) + 1)) });
  for (const kind of ["keydown", "focusout"]) keys.addEventListener(kind, () => node.classList.remove("att-by-hand"), { signal });
  keys.addEventListener("input", () => onLetter(Number(keys.value)), { signal });
  const draw = (model) => {
    const { text, told, before, after, mean, back, count } = model;
    shown = model;
    node.classList.toggle("att-empty", count === 0 && !mean);
    node.classList.toggle("att-mean", mean);
    stage.style.setProperty("--att-columns", String(columnsOf(count)));
    stage.style.setProperty("--att-first", String(columnsOf(count) - count + 1));
    [above, below].forEach((side, k) => side.draw(model, before[k], after[k]));
    rays.draw(model);
    memory.draw(model);
    averages.draw(model);
    keys.disabled = count === 0 && !mean;
    keys.min = mean ? 1 : 0;
    keys.max = mean ? MAX_TEXT : Math.max(count, 1);
    keys.value = mean ? MAX_TEXT - back : told + 1;
    keys.setAttribute("aria-valuetext", mean ? placeOf(back, t) : told < 0 ? t("letter_none") : t("letter_value", { character: visibleCharacter(text[told]), place: told + 1, count }));
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
  const draw = ({ text }) => {
    if (readable(input.value) !== text) input.value = text;
  };
  return { node, draw, clear: () => (hint.hidden = true) };
}
