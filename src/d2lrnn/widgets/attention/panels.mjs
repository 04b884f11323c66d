// What the figure draws: a text twice. Above, lines from all letters to attention's guess; below, a memory that is handed on.
import { buttonControl, element, fill, formatNumber, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise, unaccented } from "../weights.mjs";
import { CHANGES, curve, lines, MAX_TEXT, PASSAGES, percent, PORT, readable, trail } from "./maths.mjs";

const NAMES = ["attention", "state"];
const GAP = 0.6; // from the last letter to the guess, in columns

/** A letter in a sentence: the space by its name. */
const named = (character, t) => (character === " " ? t("by_space") : character);

/** How often both guesses change without the letter so far back: what the words call `looks` (attention), `holds` (the state), `place`. */
const counted = (back, t) => ({
  looks: CHANGES[0][back], holds: CHANGES[1][back], passages: formatNumber(PASSAGES, 0), place: placeOf(back, t),
});

const placeOf = (back, t) => (back === 0 ? t("place_last") : t("place_back", { back }));

/** The sentence on top: { template, values }. */
function sentenceOf({ text, told, such, isAsked, mean, back, before, after }, t) {
  if (text === "" && !mean) return { template: t.raw("now_empty"), values: {} };
  if (mean) return { template: t.raw("now_mean"), values: counted(back, t) };
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
export const toldOf = ({ back }, t) => counted(back, t);

/** One of the two: its name, the text, and what it guesses. */
function half(name, t) {
  const box = element("b", { class: "att-guess-letter" });
  const [sure, note] = [element("span"), element("span")];
  const guess = element("p", { class: `att-guess att-guess-${name}` }, box, element("span", { class: "att-guess-note" }, sure, note));
  const gloss = element("span");
  const title = element("p", { class: `att-name att-name-${name}` }, element("b", {}, t(`name_${name}`)), " ", gloss);
  const letters = element("div", { class: "att-letters" });
  let cells = [];
  const draw = ({ text, count, told, such, by, differs }, was, is) => {
    if (cells.length !== count) {
      cells = Array.from({ length: count }, () => element("span", { class: "att-letter" }));
      letters.replaceChildren(...cells);
    }
    cells.forEach((cell, s) => {
      cell.textContent = s === told ? by.trim() : visibleCharacter(text[s]); // a space leaves the box empty
      cell.classList.toggle("att-told", s === told);
      cell.classList.toggle("att-such", s === such);
    });
    const left = told < 0 ? 0 : differs.at(-1) / differs[told];
    gloss.textContent = t(`gloss_${name}${told < 0 ? "" : left < 1 ? "_told" : "_all"}`, { left: percent(left) });
    box.textContent = was === undefined ? "" : visibleCharacter((is ?? was).character);
    const changed = is !== undefined && is.character !== was.character;
    guess.classList.toggle("att-changed", changed);
    sure.textContent = was === undefined ? "" : t("sure", { share: percent((is ?? was).p) });
    note.textContent = is === undefined ? "" : t(changed ? "was" : "was_as_sure", { letter: visibleCharacter(was.character), share: percent(was.p) });
  };
  return { guess, title, letters, draw };
}

/** Attention's lines, as thick as it looks at the letters; and dashed, that of the erased letter as it was. */
function lookRow() {
  const node = svg("svg", { class: "att-lines", preserveAspectRatio: "none" });
  const draw = ({ count, told, weights, weighed }) => {
    node.setAttribute("viewBox", `0 0 ${count + GAP} 1`);
    const was = told < 0 ? [] : [svg("path", { class: "att-lost", d: lines(weighed, count + GAP)[told].band })];
    node.replaceChildren(...lines(weights, count + GAP).flatMap(({ line, band }) => [
      svg("path", { class: "att-line", d: line }), svg("path", { class: "att-band", d: band }),
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
      picture.setAttribute("viewBox", `0 0 ${count + GAP} 2`);
    }
    path.setAttribute("d", trail(differs, told, count + GAP));
    node.style.setProperty("--att-from", String(Math.max(0, told)));
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
  const shares = NAMES.map(() => element("b"));
  const read = element("p", { class: "att-read" }, ...NAMES.map((name, k) => element("span", { class: `att-share-${name}` }, `${t(`name_${name}`)} `, shares[k])));
  const dots = NAMES.map((name) => element("i", { class: `att-dot att-dot-${name}` }));
  const cells = Array.from({ length: MAX_TEXT }, () => element("span", { class: "att-cell" }));
  const plot = element("div", { class: "att-plot" },
    ...[1, 0.5, 0].map((share) => element("span", { class: "att-rule", style: `--att-share: ${share}` }, percent(share))), picture, mark, ...dots, read);
  const stage = element("div", { class: "att-averages-stage", "aria-hidden": "true" }, plot, element("div", { class: "att-cells" }, ...cells),
    element("p", { class: "att-ends" }, element("span", {}, t("end_far")), element("span", {}, t("end_last"))));
  const node = element("div", { class: "att-averages" }, element("p", { class: "att-averages-title" }, t("averages")), stage, buttonControl({ label: t("back"), signal, onPress: onBack }));
  const draw = ({ back }) => {
    stage.style.setProperty("--att-at", String((MAX_TEXT - back - 0.5) / MAX_TEXT));
    NAMES.forEach((_, k) => {
      const share = CHANGES[k][back] / PASSAGES;
      shares[k].textContent = percent(share);
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
  const stage = element("div", { class: "att-stage" }, above.title, rows[0], above.guess, below.title, rows[1], below.guess);
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
        const letter = Math.min(shown.count, Math.floor(x * (shown.count + GAP)) + 1);
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
    stage.style.setProperty("--att-count", String(Math.max(1, count)));
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
