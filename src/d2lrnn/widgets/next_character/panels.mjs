// What the figure of the next character shows: a writing, others to compare with, and the distribution with its cut.
import { dragOn, motion } from "../shape.mjs";
import { element, visibleCharacter } from "../ui.mjs";
import { FREE_COLUMN, IMPROBABLE_BITS, NUM_WRITTEN, TEMPERATURES, beginningShown, findCircle, percentage } from "./maths.mjs";

const LETTERS_A_SECOND = 45;
const SHOWN = 10; // the likeliest letters; the others are one bar until the reader cuts or asks for them

/** A letter of a writing, marked where it is improbable. */
export function letterSpan({ character, bits }) {
  const improbable = bits > IMPROBABLE_BITS ? " next-improbable" : "";
  return element("span", { class: `next-letter${improbable}${character === " " ? " next-blank" : ""}` }, character);
}

/** "{marked}: ..." with its mark shown on the word itself. */
export function markedKey(template, word) {
  const [before, after] = template.split("{marked}");
  return element("p", { class: "next-key" }, before, element("span", { class: "next-letter next-improbable" }, word), after);
}

const textOf = (letters) => letters.map(({ character }) => character).join("");

/** What is written again and again is underlined, from the second time on; of the first `length` letters. Whether there is any. */
function markLaps(spans, letters, length) {
  const circle = findCircle(textOf(letters.slice(0, length)));
  spans.forEach((span, place) => span.classList.toggle("next-lap", circle !== null && place < length && place >= circle.from + circle.length));
  return circle !== null;
}

/**
 * The reader's text, which writes itself letter by letter. Each letter can be pressed, to look at its bars; the arrow keys
 * and a dragged mouse go along. `onShown` hears how many letters can be seen.
 */
export function textPanel({ t, onLetter, onShown, signal }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  let letters = null;
  let spans = [];
  let length = NUM_WRITTEN;
  let here = 0; // the place that is looked at
  const box = element("div", { class: "next-written", translate: "no" });
  const press = (letter) => {
    const place = spans.indexOf(letter);
    if (place >= 0 && place !== here) onLetter(place);
  };
  // A mouse drags along the letters; a finger that moves scrolls the page, and one that taps presses.
  dragOn(box, {
    axis: "x", start: ({ event }) => event.pointerType !== "touch", signal,
    move: ({ event }) => press(box.getRootNode().elementFromPoint(event.clientX, event.clientY)),
  });
  box.addEventListener("click", (event) => {
    press(event.target);
    keys.focus({ preventScroll: true }); // the arrow keys go on from here
  }, { signal });
  // The keys' way along the letters: a slider that cannot be seen, over them. What they say stays text.
  const keys = element("input", { type: "range", class: "next-keys", min: 1, max: NUM_WRITTEN, value: 1 });
  keys.addEventListener("input", () => onLetter(Number(keys.value) - 1), { signal });
  const node = element("div", { class: "next-page" }, box, keys);

  const show = (wanted) => {
    length = wanted;
    onShown(length);
    spans.forEach((span, place) => span.classList.toggle("next-to-come", place >= length));
    markLaps(spans, letters, length);
  };
  const play = () => pen.run((share) => {
    const wanted = Math.round(share * NUM_WRITTEN);
    if (wanted !== length || wanted === NUM_WRITTEN) show(wanted);
  });
  return {
    node,
    play: () => letters !== null && play(),
    shown: () => length,
    finish: () => {
      pen.stop();
      if (letters !== null && length !== NUM_WRITTEN) show(NUM_WRITTEN);
    },
    draw(writing, { text, place }, { animate, isAgain }) {
      here = place;
      if (writing.letters !== letters || isAgain) {
        letters = writing.letters;
        spans = letters.map(letterSpan);
        box.replaceChildren(element("span", { class: "next-begun" }, beginningShown(text)), ...spans);
        keys.setAttribute("aria-label", t("text", { temperature: String(Number(writing.temperature.toFixed(2))) }));
        pen.stop();
        show(animate ? 0 : NUM_WRITTEN);
        if (animate) play();
      }
      spans.forEach((span, i) => span.classList.toggle("next-here", i === place));
      const { character, bits } = letters[place];
      keys.value = place + 1;
      keys.setAttribute("aria-valuetext", t("text_value", { place: place + 1, character: visibleCharacter(character), p: percentage(2 ** -bits) }));
    },
  };
}

/** What the same network writes at the fixed temperatures, with the same dice. */
export function comparePanel(t) {
  const rows = TEMPERATURES.map((temperature, column) => ({ temperature, column })).filter(({ column }) => column !== FREE_COLUMN).map(({ temperature, column }) => {
    const box = element("span", { class: "next-other", translate: "no" });
    const again = element("span", { class: "next-again next-lap" }, t("circle"));
    const name = element("span", {}, element("b", {}, String(temperature)), " ", t(`note_${column}`), " ", again);
    return { column, box, again, node: element("p", { class: "next-row" }, name, " ", box) };
  });
  const node = element("div", { class: "next-rows" }, ...rows.map((row) => row.node));
  const draw = (all, text) => rows.forEach(({ column, box, again }) => {
    const { letters } = all[column];
    const spans = letters.map(letterSpan);
    box.replaceChildren(element("span", { class: "next-begun" }, beginningShown(text)), ...spans);
    again.hidden = !markLaps(spans, letters, NUM_WRITTEN);
  });
  return { node, draw };
}

/**
 * The letters by falling probability; what lies right of the line is cut off. The line is a slider from 1 letter to all
 * of them: drag it, or use the arrow keys. It is there while the reader cuts (`cutting`).
 */
export function cutPanel({ t, size, onKeep, onLook, signal }) {
  const cells = Array.from({ length: size }, () => {
    const outline = element("i", { class: "next-outline" });
    const bar = element("i", { class: "next-bar" });
    const name = element("span", { class: "next-name" });
    return { node: element("span", { class: "next-cell" }, element("span", { class: "next-track" }, bar, outline), name), outline, bar, name };
  });
  const line = element("span", { class: "next-line" });
  const rareSum = element("span", { class: "next-rare-sum" });
  const fewer = element("span", { class: "next-fewer" }, t("fewer"));
  // All other letters together; pressed, it shows each of them.
  const rest = { outline: element("i", { class: "next-outline" }), bar: element("i", { class: "next-bar" }) };
  const more = element("span", { class: "next-more-name" });
  const together = element("span", { class: "next-more" }, element("span", { class: "next-track" }, rest.bar, rest.outline), more);
  const levels = [0.5, 1].map((share) => {
    const level = element("i", { class: "next-level" }, percentage(share));
    level.style.setProperty("bottom", `${100 * share}%`);
    return level;
  });
  const grid = element("span", { class: "next-grid", "aria-hidden": "true" }, ...levels);
  const box = element("span", { class: "next-cells", "aria-hidden": "true" }, grid, ...cells.map(({ node }) => node), together, rareSum, fewer, line);
  const chart = element("div", { class: "next-chart" }, box);
  const node = element("div", { class: "next-bars" }, chart);
  let cutting = false;
  let kept = size;
  let shown = null; // rows, and the one whose probability is told while the pointer is elsewhere
  const look = (row) => {
    const isOther = row !== shown.row; // one mark at a time
    cells.forEach(({ node }, i) => node.classList.toggle("next-look", isOther && shown.rows[i] === row));
    chart.classList.toggle("next-looking", isOther);
    onLook(row);
  };
  const keep = (wanted) => {
    const count = Math.min(size, Math.max(1, wanted));
    if (count !== kept) onKeep(count);
  };
  // The chart takes a finger beside the bars too, where the line's knob stands out.
  const letterAt = (event) => {
    const { left, width } = box.getBoundingClientRect();
    return (size * (event.clientX - left)) / width;
  };
  /** The letter under a pointer, if it is shown. */
  const cellAt = ({ clientX }) => cells.findIndex(({ node: cell }) => {
    const { left, right } = cell.getBoundingClientRect();
    return clientX >= left && clientX < right;
  });
  dragOn(chart, { axis: "x", start: () => cutting, move: ({ event }) => keep(Math.round(letterAt(event))), signal });
  for (const kind of ["pointermove", "click"]) { // a pointer that cuts does not ask
    chart.addEventListener(kind, (event) => look((cutting || together.contains(event.target) ? undefined : shown.rows[cellAt(event)]) ?? shown.row), { signal });
  }
  for (const [part, isOpen] of [[together, true], [fewer, false]]) part.addEventListener("click", () => chart.classList.toggle("next-all", isOpen), { signal });
  chart.addEventListener("pointerleave", () => look(shown.row), { signal });
  chart.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: kept - 1, ArrowDown: kept - 1, ArrowRight: kept + 1, ArrowUp: kept + 1, Home: 1, End: size, PageDown: kept - 5, PageUp: kept + 5 }[event.key];
    if (!cutting || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keep(to);
  }, { signal });
  const describe = (cutWords, told) => {
    const values = { "aria-valuemin": 1, "aria-valuemax": size, "aria-valuenow": kept, "aria-valuetext": cutWords, tabindex: 0 };
    for (const [name, value] of Object.entries(values)) {
      if (cutting) chart.setAttribute(name, value);
      else chart.removeAttribute(name);
    }
    chart.setAttribute("role", cutting ? "slider" : "img");
    chart.setAttribute("aria-label", cutting ? t("cut_label", { now: cutWords }) : told);
  };
  const isRare = (p) => -Math.log2(p) > IMPROBABLE_BITS;
  const stand = (part, p) => part.style.setProperty("height", `${(100 * p).toFixed(2)}%`);
  const draw = ({ rows, kept: count, improbable }, came, { cutWords, told, cutting: isCutting }) => {
    kept = count;
    cutting = isCutting;
    chart.classList.toggle("next-cutting", cutting);
    shown = { rows, row: rows.find(({ character }) => character === came) };
    look(shown.row);
    rows.forEach(({ character, before, after }, i) => {
      const { node, outline, bar, name } = cells[i];
      stand(outline, before);
      stand(bar, after);
      name.textContent = visibleCharacter(character);
      node.classList.toggle("next-rare", isRare(before));
      node.classList.toggle("next-cut", i >= count);
      node.classList.toggle("next-came", character === came);
    });
    line.style.setProperty("--all", count / size);
    const others = rows.slice(SHOWN).filter((row) => row !== shown.row); // the letter that came is shown by itself
    const sum = (name) => others.reduce((all, row) => all + row[name], 0);
    stand(rest.outline, sum("before"));
    stand(rest.bar, sum("after"));
    const whereWide = (text) => element("span", { class: "next-wide" }, text);
    more.replaceChildren(whereWide(`${others.length} `), t("others"), " ", whereWide(`${t("together")} `), element("b", {}, percentage(sum("after"))));
    more.classList.toggle("next-rare", others.every(({ before }) => isRare(before)));
    const sumOf = (name, swatch) => element("span", {}, element("span", { class: swatch }), element("b", {}, percentage(improbable[name])));
    const parts = {
      "{marked}": element("span", { class: "next-letter next-improbable" }, t("marked")),
      "{before}": sumOf("before", "next-swatch next-swatch-own"), "{after}": sumOf("after", "next-swatch"),
    };
    rareSum.replaceChildren(...t.raw("unlikely_bar").split(/(\{\w+\})/).filter(Boolean).map((part) => parts[part] ?? part));
    describe(cutWords, told);
  };
  return { node, draw, close: () => { chart.classList.remove("next-all"); look(shown.row); } };
}
