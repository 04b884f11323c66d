// What HiddenState shows: the text under the scissors over the thread of memory, the two guesses, the 128 numbers, a text field.
import { legend, linePath, scale } from "../charts.mjs";
import { dragOn, watchWidth } from "../shape.mjs";
import { element, formatNumber, rangeControl, svg, visibleCharacter } from "../ui.mjs";
import { isPlain } from "../weights.mjs";

// ---- where things stand ---------------------------------------------------------------------------------------------

export const LEFT = 6;
const WIDEST_COLUMN = 40;
const HANDLE = 60; // the scissors' height (style.css), and air under them
const LETTERS = 40;
export const THREAD = HANDLE + LETTERS + 22; // the height of the memory that remembers everything
export const FULL = 74; // how far a difference of 100% hangs under it
export const DEPTH = 86; // and the largest: one that has no room shrinks the whole

/**
 * How wide a column is, and where the text ends, in pixels.
 *
 * A column for each letter and one for what comes next. The state that has read `j` letters stands at their right edge.
 */
export function layoutOf(width, count) {
  const column = Math.min((width - 2 * LEFT) / (count + 1), WIDEST_COLUMN);
  return { column, end: LEFT + column * count, right: LEFT + column * (count + 1) };
}

/** The cut that stands nearest to a place, given as a share of the stage's width: 1 to `count`. */
export function cutAt(share, width, count) {
  const { column } = layoutOf(width, count);
  return Math.min(count, Math.max(1, Math.round((share * width - LEFT) / column)));
}

/** The thread of the cut memory from the cut on: [x, how far under the other]; the first is 100%, at FULL, as long as none hangs lower than DEPTH. */
export function threadOf({ distances, cut }, { column }) {
  const apart = distances.slice(cut - 1);
  const most = Math.max(...apart);
  const unit = most > 0 ? Math.min(FULL / apart[0], DEPTH / most) : 0;
  return apart.map((distance, i) => [LEFT + column * (cut + i), unit * distance]);
}

// ---- words ----------------------------------------------------------------------------------------------------------

/** A text with a space at either end made visible. */
export function shown(text) {
  return text.replace(/^ | $/g, "␣");
}

/** The word under way and what the network adds, as far as it can be shown. */
export function wordOf({ stem, written }, most = 16) {
  return { stem: stem.length > most ? `…${stem.slice(1 - most)}` : stem, written: written.replace(" ", "␣") };
}

/** The beginning and the end of a long text: where it was cut, and where it ends. */
export function brief(text, most = 14) {
  const half = Math.floor((most - 1) / 2);
  return text.length > most ? `${text.slice(0, half).trimEnd()}…${text.slice(-half - 1).trimStart()}` : text;
}

/** What is left of the difference at the cut: "100%", "43%", "1%". */
export function percentLeft(distance, peak) {
  const percent = peak > 0 ? (100 * distance) / peak : 0;
  return percent > 0 && percent < 0.5 ? "<1%" : `${formatNumber(percent, 0)}%`;
}

/** A probability in everyday words: "78%", never "100%" of what is not certain. */
export function sure(p) {
  return p > 0.995 ? ">99%" : `${formatNumber(100 * p, 0)}%`;
}

/** Whose likeliest character has less expects nothing: it is unsure. */
export const UNSURE = 0.2;

/** The sentence on top: a key of the words, and its values. */
export function sentence({ text, kept, guesses }) {
  if (text === "") return ["now_empty", {}];
  const [whole, other] = guesses.map(({ p, written }) => ({ p, letter: named(written[0]) }));
  const values = { kept: `“${brief(shown(kept))}”` };
  if (kept === "") return ["now_nothing", {}];
  if (other.p < UNSURE) return ["now_unsure", values];
  if (whole.letter !== other.letter) return ["now_differ", { ...values, other: other.letter, whole: whole.letter }];
  return ["now_same", { ...values, letter: other.letter }];
}

export const named = (letter) => (letter === " " ? "a space" : letter);

// ---- tools ----------------------------------------------------------------------------------------------------------

/** "#0072b2" as three numbers. */
function parseHex(colour) {
  return [1, 3, 5].map((at) => Number.parseInt(colour.trim().slice(at, at + 2), 16));
}

const SHARED = 0.22; // how strong the grey of a value of 1 is

/** Paint one pixel a value: up to the cut the memory that both share, in grey; then how far the two are apart, or nothing while a step asks. */
function paint(canvas, { states: [whole, other], numHiddens, cut }, asking, [surface, vermillion, soft]) {
  canvas.width = whole.length + 1; // before the first letter both are zeros
  canvas.height = numHiddens;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, numHiddens);
  for (let i = 0; i < canvas.width; i += 1) {
    for (let unit = 0; unit < numHiddens; unit += 1) {
      const shared = i < cut;
      const state = i > 0 ? whole[i - 1][unit] : 0;
      const apart = shared || i === 0 || asking ? 0 : Math.abs(state - other[i - 1][unit]);
      const end = shared ? soft : vermillion;
      const at = 4 * (unit * canvas.width + i);
      const strength = shared ? SHARED * Math.abs(state) : Math.min(1, apart);
      for (let c = 0; c < 3; c += 1) image.data[at + c] = surface[c] + strength * (end[c] - surface[c]);
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

/** Call back when the page's theme, or the system's, changes: a canvas does not follow by itself. */
function watchTheme(onChange, signal) {
  const observer = new MutationObserver(onChange);
  const attributeFilter = ["class", "data-theme", "data-jp-theme-light"];
  for (const node of [document.documentElement, document.body]) observer.observe(node, { attributes: true, attributeFilter });
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange, { signal });
}

// ---- the text, the scissors, the thread ------------------------------------------------------------------------------

const SCISSORS = [
  "M8.4 6.8 16.2 23M15.6 6.8 7.8 23", // blades
  "M7.2 1.2a2.9 2.9 0 1 1 0 5.8 2.9 2.9 0 1 1 0-5.8M16.8 1.2a2.9 2.9 0 1 1 0 5.8 2.9 2.9 0 1 1 0-5.8", // rings
];

function scissors() {
  return svg("svg", { viewBox: "0 0 24 24", width: 34, height: 34, "aria-hidden": "true" },
    ...SCISSORS.map((d) => svg("path", { d, class: "cut-icon" })));
}

/** The text with the scissors on it, over the thread of memory that they cut: drag anywhere, or use the arrow keys. */
export function stage({ t, onCut, signal }) {
  const picture = svg("svg", { class: "cut-picture", role: "img" });
  const handle = element(
    "div", { class: "cut-handle", role: "slider", tabindex: "0", "aria-label": t("handle"), "aria-valuemin": 1 }, scissors(),
  );
  const drag = element("span", { class: "cut-drag", "aria-hidden": "true" }, t("drag"));
  const node = element("div", { class: "cut-stage" }, picture, drag, handle);
  const cards = guessCards({ t });
  const figure = element("div", { class: "cut-figure" }, node, cards.node);
  let latest = null;
  let width = 0;
  let asking = false; // a step asks what the figure would tell

  const move = ({ x }) => {
    const { text: { length }, cut } = latest;
    const aim = cutAt(x, width, length);
    if (length > 0 && aim !== cut) onCut(aim);
  };
  // A finger that only scrolls past leaves the cut alone: it drags the scissors and the letters, and taps elsewhere.
  const start = ({ event }) => event.pointerType !== "touch" || event.clientY - node.getBoundingClientRect().top < HANDLE + LETTERS;
  const end = () => handle.focus({ preventScroll: true }); // so that the arrow keys go on from there
  dragOn(node, { axis: "x", start, move, end, signal });
  node.addEventListener("click", (event) => {
    const box = node.getBoundingClientRect();
    if (event.detail > 0) move({ x: (event.clientX - box.left) / box.width });
  }, { signal });
  handle.addEventListener("keydown", (event) => {
    const { cut, text: { length } } = latest;
    const aims = {
      ArrowLeft: cut - 1, ArrowDown: cut - 1, ArrowRight: cut + 1, ArrowUp: cut + 1, PageDown: cut - 5, PageUp: cut + 5, Home: 1, End: length,
    };
    if (!Object.hasOwn(aims, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const aim = Math.min(length, Math.max(1, aims[event.key]));
    if (length > 0 && aim !== cut) onCut(aim);
  }, { signal });

  const drawFigure = () => {
    const { text, cut, distances, guesses, forgotten } = latest;
    const count = text.length;
    const layout = layoutOf(width, count);
    const { column, end: last } = layout;
    const edge = LEFT + cut * column;
    const parts = [];
    const add = (tag, attributes, ...children) => parts.push(svg(tag, attributes, ...children));
    const size = Math.min(36, 1.6 * column).toFixed(1);
    add("rect", { class: "cut-next-box", x: (last + 1).toFixed(1), y: HANDLE, width: (column - 2).toFixed(1), height: LETTERS, rx: 4 }); // not a part of the text
    [...text, "?"].forEach((character, j) => {
      if (character === " ") return;
      const kind = j === count ? " cut-next-letter" : j < cut ? " cut-forgotten" : "";
      add("text", { class: `cut-letter${kind}`, x: LEFT + (j + 0.5) * column, y: HANDLE + 31, "font-size": size, "text-anchor": "middle" }, character);
    });
    const height = THREAD + DEPTH + 38;
    if (count > 0) {
      const points = asking ? [[edge, DEPTH]] : threadOf(latest, layout);
      const y = (depth) => THREAD + depth;
      points.slice(1).forEach(([x, depth], i) => { // a strip for each letter, the paler the smaller the difference
        const [from, before] = points[i];
        const strength = (0.06 + (0.3 * (depth + before)) / 2 / DEPTH).toFixed(3);
        add("path", { class: "cut-strip", "fill-opacity": strength, d: `M${from} ${THREAD}V${y(before)}L${x} ${y(depth)}V${THREAD}Z` });
      });
      if (asking) add("text", { class: "cut-letter", x: (edge + last) / 2, y: THREAD + DEPTH / 2 + 10, "font-size": 28, "text-anchor": "middle" }, "?");
      add("path", { class: "cut-whole", d: `M${LEFT} ${THREAD}H${last}` });
      add("path", { class: "cut-cut", d: `M${edge} ${HANDLE - 4}V${THREAD}` });
      add("path", { class: "cut-drop", d: `M${edge} ${THREAD}V${y(points[0][1])}` });
      add("path", { class: "cut-other", d: points.map(([x, depth], i) => `${i === 0 ? "M" : "L"}${x} ${y(depth)}`).join("") });
      const ends = points.length > 1 ? [points[0], points.at(-1)] : points;
      ends.forEach(([x, depth]) => add("circle", { class: "cut-dot", cx: x, cy: y(depth), r: 4 }));
      add("text", { class: "cut-label cut-label-whole", x: edge > 96 ? LEFT : edge + 8, y: THREAD - 8 }, t("memory")); // clear of the cut
      const left = distances.slice(cut - 1).map((distance) => percentLeft(distance, distances[cut - 1]));
      const share = (at, y, anchor, text = left.at(-1)) => add("text", { class: "cut-label cut-share", x: at, y, "text-anchor": anchor }, text);
      if (points.length > 1) {
        const depth = points.at(-1)[1];
        if (depth < 24) share(last - 4, y(depth) + 20, "middle");
        else if (width - last > 44) share(last + 8, y(depth) - 7, "start");
        else share(last + 14, y(depth) - 9, "end");
      }
      const [deepest] = [...points.keys()].sort((a, b) => points[b][1] - points[a][1]);
      if (left[deepest] !== left[0] && deepest < points.length - 1) share(points[deepest][0], y(points[deepest][1]) + 16, "middle", left[deepest]);
      const words = t("emptied");
      const half = 3.6 * words.length; // about half its width
      const anchor = edge < half ? "start" : edge > width - half ? "end" : "middle";
      add("text", { class: "cut-label", x: { start: LEFT, middle: edge, end: width - 2 }[anchor], y: height - 6, "text-anchor": anchor }, words);
    }
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("height", height);
    picture.replaceChildren(...parts);
    picture.setAttribute("aria-label", count === 0 ? t("stage_empty") : t("stage", {
      text, forgotten, whole: told(guesses[0]), other: asking ? "?" : told(guesses[1]),
      shares: asking ? "?" : distances.slice(cut - 1).map((distance) => percentLeft(distance, distances[cut - 1])).join(", "),
    }));
    placeHandle(cut);
  };
  const told = ({ stem, written, p }) => t("guess", { word: `${stem}${written}`.trimEnd(), letter: named(written[0]), sure: sure(p) });
  const placeHandle = (at) => {
    const { column } = layoutOf(width, latest.text.length);
    const left = LEFT + at * column;
    handle.style.setProperty("left", `${left - 28}px`);
    drag.classList.toggle("cut-drag-right", left < 140);
    drag.style.setProperty("left", `${left}px`);
  };
  const draw = (model, isAsking) => {
    latest = model;
    asking = isAsking;
    const { text, cut, forgotten, kept } = model;
    handle.hidden = drag.hidden = text === "";
    handle.setAttribute("aria-valuemax", Math.max(1, text.length));
    handle.setAttribute("aria-valuenow", Math.max(1, cut));
    handle.setAttribute("aria-valuetext", t(kept === "" ? "cut_value_nothing" : "cut_value", { forgotten, kept: shown(kept) }));
    cards.draw(model, asking);
    if (width > 0) drawFigure();
  };
  watchWidth(node, {
    act: (now) => {
      width = now;
      if (latest) drawFigure();
    },
    signal,
  });
  return { node: figure, draw, placeHandle: (at) => width > 0 && placeHandle(at) };
}

// ---- the two guesses ------------------------------------------------------------------------------------------------

const MOST_QUOTED = 10; // letters that have room beside the guess

/** What either run writes next, in words: the guesses begin in one column. */
function guessCards({ t }) {
  const cards = ["whole", "other"].map((kind) => {
    const caption = element("b");
    const stem = element("span", { class: "cut-stem" });
    const first = element("span", { class: "cut-written cut-first" });
    const written = element("span", { class: "cut-written" });
    const word = element("p", { class: "cut-word" }, stem, first, written);
    const next = element("span");
    const name = element("p", { class: "cut-caption" }, caption, " ", next);
    return { caption, stem, first, written, word, next, node: element("div", { class: `cut-card cut-card-${kind}` }, name, word) };
  });
  const node = element("div", { class: "cut-cards" }, ...cards.map((card) => card.node));
  const draw = ({ text, kept, guesses }, isAsking) => {
    const captions = [t("whole"), kept === "" ? t("cut_nothing") : kept.length > MOST_QUOTED ? t("cut_long", { kept: brief(shown(kept)) }) : t("cut", { kept: shown(kept) })];
    const words = guesses.map((guess, i) => {
      const { stem, written } = wordOf(guess, 12);
      if (text === "") return { stem: "", written: "" };
      return { stem, written: isAsking && i === 1 ? "?" : written };
    });
    const longest = (of) => Math.max(...words.map(of));
    node.style.setProperty("--cut-stem", longest(({ stem }) => stem.length));
    node.style.setProperty("--cut-letters", Math.max(8, longest(({ stem }) => stem.length) + longest(({ written }) => written.length)));
    cards.forEach((card, i) => {
      const { p, written: [letter] } = guesses[i];
      const isKept = isAsking && i === 1;
      card.word.classList.toggle("cut-asked", isKept);
      card.caption.textContent = captions[i];
      card.stem.textContent = words[i].stem;
      card.first.textContent = words[i].written.slice(0, 1);
      card.written.textContent = words[i].written.slice(1);
      card.next.textContent = isKept ? t("next_asks") : t("next", { letter: named(letter), sure: sure(p) });
    });
  };
  return { node, draw };
}

// ---- the numbers of the memory, folded ------------------------------------------------------------------------------

const MAP = 128;
const TRACE = 96;

/** A value from -1 to 1 with its sign. */
function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return text === "0.00" ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/**
 * Every number of the memory, a row each, and the values of one of them in both runs.
 *
 * In the map a column is the state that the letter there finds: it has read what is to its left, so the difference begins
 * right of the cut, and the last column is the state that guesses. The curves have their points where a letter ends, as the
 * thread under the large text.
 */
export function memoryPanel({ t, onUnit, max, signal }) {
  const canvas = element("canvas", { class: "cut-map", role: "img", "aria-label": t("map") });
  const mark = svg("svg", { class: "cut-mark-over", width: 12, height: MAP, "aria-hidden": "true" });
  const value = element("b");
  const range = rangeControl({
    label: element("span", {}, t("unit"), " ", value), min: 0, max, signal, onInput: onUnit,
  });
  const picture = svg("svg", { class: "cut-picture", role: "img", height: TRACE + 30 });
  const box = element("div", {}, picture);
  const node = element(
    "div", { class: "cut-memory" }, element("p", { class: "cut-hint" }, t("map")), element("div", { class: "cut-map-box" }, canvas, mark),
    range.node, box, legend([{ kind: 1, text: t("unit_whole") }, { kind: 2, text: t("unit_cut") }]),
    element("p", { class: "cut-hint" }, t("share")),
  );
  let latest = null;
  let asking = false;
  let width = 0;
  let read = null; // the theme's colours, once they are there: to ask for them lays out the page
  const colours = () => {
    if (read !== null) return read;
    const style = getComputedStyle(node);
    const found = ["surface", "vermillion", "soft"].map((name) => parseHex(style.getPropertyValue(`--d2lrnn-${name}`)));
    if (found.flat().every(Number.isFinite)) read = found;
    return found;
  };
  const paintTraces = () => {
    const { text, states, unit, cut } = latest;
    const { column, right } = layoutOf(width, text.length); // under the large text
    canvas.style.setProperty("width", `${right - LEFT}px`);
    mark.style.setProperty("left", `${right + 2}px`);
    mark.replaceChildren(svg("path", { class: "cut-mark", d: `M1 ${unit + 0.5}l9 -5v10Z` }));
    const x = (j) => LEFT + j * column;
    const y = scale([-1, 1], [TRACE, 16]);
    const parts = [];
    for (const tick of [-1, 0, 1]) {
      parts.push(svg("path", { class: "d2lrnn-grid", d: `M${LEFT} ${y(tick)}H${right}` }));
      parts.push(svg("text", { class: "d2lrnn-tick", x: right + LEFT - 1, y: y(tick) - 3, "text-anchor": "end" }, String(tick).replace("-", "−")));
    }
    const xs = Array.from({ length: text.length + 1 }, (_, j) => j);
    [...text].forEach((character, j) => {
      if (character === " ") return;
      const size = Math.min(15, 1.55 * column).toFixed(1);
      parts.push(svg("text", { class: "cut-letter", x: x(j + 0.5), y: TRACE + 20, "font-size": size, "text-anchor": "middle" }, character));
    });
    if (text !== "") parts.push(svg("path", { class: "cut-cut", d: `M${x(cut)} 2V${TRACE + 26}` }));
    states.forEach((run, i) => {
      if (i === 1 && asking) return;
      const from = i === 1 ? cut : 0; // before the cut the two are one
      parts.push(svg("path", { class: `d2lrnn-line d2lrnn-line-${i + 1}`, d: linePath(xs.slice(from), [0, ...run.map((state) => state[unit])].slice(from), x, y) }));
    });
    picture.setAttribute("viewBox", `0 0 ${width} ${TRACE + 30}`);
    const inWords = (run) => run.map((state, j) => `${visibleCharacter(text[j])} ${signed(state[unit])}`).join(", ");
    picture.setAttribute("aria-label", t("unit_plot", { unit, whole: inWords(states[0]), other: asking ? "?" : inWords(states[1]) }));
    picture.replaceChildren(...parts);
  };
  watchWidth(box, {
    act: (now) => {
      width = now;
      if (latest) paintTraces();
    },
    signal,
  });
  canvas.addEventListener("click", ({ clientY }) => {
    const { top, height } = canvas.getBoundingClientRect();
    onUnit(Math.min(max, Math.max(0, Math.floor(((clientY - top) / height) * (max + 1)))));
  }, { signal });
  watchTheme(() => {
    read = null;
    if (latest) paint(canvas, latest, asking, colours());
  }, signal);
  const draw = (model, isAsking) => {
    latest = model;
    asking = isAsking;
    value.textContent = model.isMost && !asking && model.text !== "" ? t("unit_most", { unit: model.unit }) : String(model.unit);
    range.set(model.unit, t("unit_value", { unit: model.unit, units: model.numHiddens }));
    paint(canvas, model, asking, colours());
    if (width > 0) paintTraces();
  };
  return { node, draw };
}

// ---- a text of one's own --------------------------------------------------------------------------------------------

/** A field for a text; its handler gets what is typed once an input method is done. */
export function textField({ t, onText, readable, max, signal }) {
  const input = element("input", {
    type: "text", class: "d2lrnn-text cut-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const long = element("p", { class: "cut-hint", hidden: true }, t("text_long", { max }));
  const lost = element("p", { class: "cut-hint", hidden: true }, t("text_lost"));
  const node = element("div", { class: "cut-field" }, element("label", { class: "cut-label-row" }, t("text"), input), long, lost);
  const read = (event) => {
    if (!event.isComposing) onText(readable(input.value)); // else an input method is still at work
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const draw = ({ text }) => {
    if (readable(input.value) !== text) input.value = text;
    long.hidden = [...input.value].length <= max;
    lost.hidden = isPlain(input.value);
  };
  return { node, draw };
}
