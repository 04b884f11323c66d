// What the figure of the next character shows: four writings at once, and the distribution with its cut.
import { dragOn, motion } from "../shape.mjs";
import { element, formatProbability, visibleCharacter } from "../ui.mjs";
import { FREE_COLUMN, IMPROBABLE_BITS, NUM_WRITTEN, TEMPERATURES, beginningShown, countImprobable, findCircle } from "./maths.mjs";

const LETTERS_A_SECOND = 45;
const MORE_WIDE = 3; // columns of the chart for all other letters there
const SHOWN = 10; // the likeliest letters, which a phone shows

/** A letter of a writing, marked where it is improbable. */
export function letterSpan({ character, bits }) {
  return element("span", { class: bits > IMPROBABLE_BITS ? "next-letter next-improbable" : "next-letter" }, character);
}

/** "{marked}: ..." with its mark shown on the word itself. */
function marked(template, word) {
  const [before, after] = template.split("{marked}");
  return [before, element("span", { class: "next-letter next-improbable" }, word), after];
}

export function markedKey(template, word) {
  return element("p", { class: "next-key" }, ...marked(template, word));
}

const textOf = (letters) => letters.map(({ character }) => character).join("");

/**
 * Four columns that write at once, letter by letter. A letter of any of them can be pressed, to look at its bars; the arrow
 * keys and a dragged mouse go along a column. `slider` belongs to the reader's own. `onShown` hears how many letters of that
 * can be seen: what is counted is counted so far.
 */
export function columnsPanel({ t, slider, onLetter, onShown, signal }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  let all = null;
  let length = NUM_WRITTEN;
  let here = 0; // the place that is looked at
  let looked = FREE_COLUMN; // and its column
  let still = TEMPERATURES.map(() => false); // a text that does not change is not written again
  const columns = TEMPERATURES.map((temperature, column) => {
    const count = element("span", { class: "next-count" });
    const box = element("div", { class: "next-written", translate: "no" });
    const press = (letter) => {
      const place = spans[column].indexOf(letter);
      if (place >= 0 && !(column === looked && place === here)) onLetter(column, place);
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
    const keys = element("input", {
      type: "range", class: "next-keys", min: 1, max: NUM_WRITTEN, value: 1,
    });
    keys.addEventListener("input", () => onLetter(column, Number(keys.value) - 1), { signal });
    const number = element("b", {}, String(temperature));
    const note = element("span", { class: "next-note" }, t(`note_${column}`));
    const head = element("div", { class: "next-head" }, element("span", { class: "next-temperature" }, number, " ", note), " ", ...(column === FREE_COLUMN ? [slider, " "] : []), count);
    const node = element("div", { class: `next-column${column === FREE_COLUMN ? " next-chosen" : ""}` }, head, element("div", { class: "next-page" }, box, keys));
    return { node, box, keys, count, number, note };
  });
  let spans = columns.map(() => []);
  const node = element("div", { class: "next-columns" }, ...columns.map((column) => column.node));

  const shownOf = (column) => (still[column] ? NUM_WRITTEN : length);
  const show = (wanted) => {
    length = wanted;
    onShown(shownOf(FREE_COLUMN));
    all.forEach(({ letters }, i) => {
      const there = shownOf(i);
      spans[i].forEach((span, place) => span.classList.toggle("next-to-come", place >= there));
      const circle = findCircle(textOf(letters.slice(0, there)));
      spans[i].forEach((span, place) => {
        const lap = circle !== null && place >= circle.from && place < there;
        span.classList.toggle("next-lap", lap);
        span.classList.toggle("next-lap-start", lap && (place - circle.from) % circle.length === 0);
      });
      const count = countImprobable(letters, there);
      columns[i].count.textContent = circle ? t("lap", { length: circle.length }) : t("improbable", { count });
      columns[i].count.classList.toggle("next-lap-key", circle !== null);
    });
  };
  const mark = () => {
    columns.forEach(({ node, keys }, i) => {
      const isLooked = i === looked;
      node.classList.toggle("next-looked", isLooked);
      spans[i].forEach((span, place) => span.classList.toggle("next-here", isLooked && place === here));
      const place = isLooked ? here : 0;
      const { character, bits } = all[i].letters[place];
      const words = { place: place + 1, character: visibleCharacter(character), p: formatProbability(2 ** -bits) };
      keys.value = place + 1;
      keys.setAttribute("aria-valuetext", t("column_value", words));
    });
  };
  const play = () => pen.run((share) => {
    const wanted = Math.round(share * NUM_WRITTEN);
    if (wanted !== length || wanted === NUM_WRITTEN) show(wanted);
  });
  return {
    node,
    play: () => all !== null && play(),
    shown: () => shownOf(FREE_COLUMN),
    finish: () => {
      pen.stop();
      if (all !== null && length !== NUM_WRITTEN) show(NUM_WRITTEN);
    },
    draw(writings, { text, place, looked: column, isCut }, { animate }) {
      [here, looked] = [place, column];
      columns[FREE_COLUMN].note.textContent = t(isCut ? "note_3_cut" : "note_3");
      if (writings !== all) {
        still = writings.map(({ letters }, i) => animate && textOf(letters) === textOf(all[i].letters));
        all = writings;
        spans = all.map(({ letters }, i) => {
          const made = letters.map(letterSpan);
          columns[i].box.replaceChildren(element("span", { class: "next-begun" }, beginningShown(text)), ...made);
          return made;
        });
        all.forEach(({ temperature }, i) => {
          const { keys, number } = columns[i];
          number.textContent = String(Number(temperature.toFixed(2)));
          keys.setAttribute("aria-label", t(i === FREE_COLUMN ? "column_own" : "column", { temperature: number.textContent }));
        });
        pen.stop();
        show(animate ? 0 : NUM_WRITTEN);
        if (animate) play();
      }
      mark();
    },
  };
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
  const more = element("span", { class: "next-more" }); // on a phone, in place of the letters after the first ten
  const levels = [0.5, 1].map((share) => {
    const level = element("i", { class: "next-level" }, String(share));
    level.style.setProperty("bottom", `${100 * share}%`);
    return level;
  });
  // The low bars can hardly be seen: a bracket over them says what they have together.
  const sum = element("b");
  const together = element("span", { class: "next-together" },
    element("span", { class: "next-together-name" }, ...marked(t.raw("together"), t("unlikely"))), " ", sum);
  const grid = element("span", { class: "next-grid", "aria-hidden": "true" }, ...levels, together);
  const box = element("span", { class: "next-cells", "aria-hidden": "true" }, grid, ...cells.map(({ node }) => node), more, line);
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
    const share = (event.clientX - left) / width;
    if (getComputedStyle(more).display === "none") return size * share;
    const column = share * (SHOWN + MORE_WIDE);
    return column <= SHOWN ? column : SHOWN + ((column - SHOWN) * (size - SHOWN)) / MORE_WIDE;
  };
  /** The letter under a pointer; a phone shows the likeliest only. */
  const cellAt = ({ clientX }) => cells.findIndex(({ node: cell }) => {
    const { left, right } = cell.getBoundingClientRect();
    return clientX >= left && clientX < right;
  });
  dragOn(chart, { axis: "x", start: () => cutting, move: ({ event }) => keep(Math.round(letterAt(event))), signal });
  for (const kind of ["pointermove", "click"]) { // a pointer that cuts does not ask
    chart.addEventListener(kind, (event) => look((cutting ? undefined : shown.rows[cellAt(event)]) ?? shown.row), { signal });
  }
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
  const stand = (part, p) => part.style.setProperty("height", `${(100 * p).toFixed(2)}%`);
  const draw = ({ rows, kept: count, improbable: rare }, came, { cutWords, told, cutting: isCutting }) => {
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
      node.classList.toggle("next-cut", i >= count);
      node.classList.toggle("next-came", character === came);
      node.classList.toggle("next-rare", i >= rows.length - rare.count);
    });
    line.style.setProperty("--all", count / size);
    line.style.setProperty("--few", (count <= SHOWN ? count : SHOWN + ((count - SHOWN) * MORE_WIDE) / (size - SHOWN)) / (SHOWN + MORE_WIDE));
    const isExtra = !cutting && shown.rows.indexOf(shown.row) >= SHOWN; // the letter that came is shown too
    const likely = size - rare.count;
    together.hidden = rare.count === 0;
    together.style.setProperty("--all", likely / size);
    together.style.setProperty("--few", Math.min(likely, SHOWN) / (SHOWN + MORE_WIDE + isExtra));
    together.style.setProperty("bottom", `calc(${(100 * Math.max(0, ...rows.slice(likely).flatMap(({ before, after }) => [before, after]))).toFixed(2)}% + 3px)`);
    const [before, after] = [rare.before, rare.after].map(formatProbability);
    sum.textContent = before === after ? before : `${before} → ${after}`;
    more.textContent = t("more", { count: size - SHOWN - isExtra });
    describe(cutWords, told);
  };
  return { node, draw, lookAway: () => look(shown.row) };
}
