// What HiddenState shows: the sentence under the scissors, the map of the difference, its length, the two guesses, one unit.
import { legend, linePath, scale } from "../charts.mjs";
import { dragOn } from "../shape.mjs";
import { element, formatNumber, formatProbability, rangeControl, svg, visibleCharacter } from "../ui.mjs";
import { leftOut } from "../weights.mjs";

// ---- where things stand ---------------------------------------------------------------------------------------------

export const LEFT = 14;
const RIGHT = 34; // numbers stand beside the ends of their curves
const WIDEST_COLUMN = 56;
const NARROWEST_PLOT = 280; // a short text has wide columns, so that the captions have room
const WIDE = 640; // from here on the long captions have room
const NARROWEST_KEY = 330; // under it the key's words are short
const HANDLE = 44;
const LETTERS = 34;
const CAPTION = 20;
const MAP = 128;
const GUESSES = 36; // a letter and a bar
const PLOT = 44;

/**
 * Where everything stands in two pictures of some width, in pixels: the text with its guesses, and the memory.
 *
 * One column for each letter and one for the guess. Under a letter stands the state that the letter finds, which has
 * read what is to its left; so the difference begins right of the cut, and the last column is the state that guesses.
 */
export function layoutOf(width, count) {
  const room = width - LEFT - RIGHT;
  const column = Math.min(room / (count + 1), Math.max(WIDEST_COLUMN, NARROWEST_PLOT / (count + 1)));
  const guesses = HANDLE + LETTERS + CAPTION;
  const wide = width >= WIDE;
  const plot = CAPTION + MAP + (wide ? 0 : CAPTION) + CAPTION + 12; // on a narrow page the key has a line of its own
  return {
    column, wide, right: LEFT + column * (count + 1),
    letters: HANDLE + 22, guesses, guessesEnd: guesses + GUESSES, // in the upper picture
    map: CAPTION, mapEnd: CAPTION + MAP, plot, plotEnd: plot + PLOT, // in the lower one
  };
}

/** The cut that stands nearest to a place, given as a share of the stage's width: 1 to `count`. */
export function cutAt(share, width, count) {
  const { column } = layoutOf(width, count);
  return Math.min(count, Math.max(1, Math.round((share * width - LEFT) / column)));
}

// ---- words ----------------------------------------------------------------------------------------------------------

/** The whole numbers from one to another. */
export function between(from, to) {
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => Math.min(from, to) + i);
}

/** A text with a space at either end made visible. */
export function shown(text) {
  return text.replace(/^ | $/g, "␣");
}

/** The word under way and what the network adds, as far as it can be shown. */
export function wordOf({ stem, written }, most = 16) {
  return { stem: stem.length > most ? `…${stem.slice(1 - most)}` : stem, written: written.replace(" ", "␣") };
}

/** A distance: one decimal, two where it is small. */
export function short(distance) {
  if (distance > 0 && distance < 0.005) return "<0.01";
  return formatNumber(distance, distance < 0.095 ? 2 : 1);
}

/** What is left of the difference at the cut: "100%", "43%", "1%". */
export function percentLeft(distance, peak) {
  const percent = peak > 0 ? (100 * distance) / peak : 0;
  return percent > 0 && percent < 0.5 ? "<1%" : `${formatNumber(percent, 0)}%`;
}

/** Whose likeliest character has less expects nothing: it is unsure. */
export const UNSURE = 0.2;

/** The sentence on top: a key of the words, and its values. */
export function sentence({ text, kept, guesses }) {
  if (text === "") return ["now_empty", {}];
  const [whole, other] = guesses.map(({ written, p }) => ({ letter: written[0], p }));
  const values = { kept: shown(kept), other: named(other), p: formatProbability(other.p) };
  if (kept === "") return ["now_nothing", values];
  if (other.p < UNSURE) return ["now_unsure", values];
  const both = { ...values, whole: named(whole), q: formatProbability(whole.p) };
  if (whole.letter !== other.letter) return ["now_differ", both];
  if (whole.p - other.p > 0.1) return ["now_less", both];
  return other.p - whole.p > 0.03 ? ["now_more", both] : ["now_same", values];
}

const named = ({ letter }) => (letter === " " ? "a space" : letter);

// ---- the sentence, the scissors, the map, the distance ---------------------------------------------------------------

/** "#0072b2" as three numbers. */
function parseHex(colour) {
  return [1, 3, 5].map((at) => Number.parseInt(colour.trim().slice(at, at + 2), 16));
}

const SHARED = 0.22; // how strong the grey of a value of 1 is

/**
 * Paint one pixel a value: up to the cut the memory that both share, in grey; then the difference, blue at -1 and below,
 * the surface at 0, vermillion at +1 and above, or nothing while a step asks.
 */
function paint(canvas, { states: [whole, other], numHiddens, cut }, asking, [blue, surface, vermillion, soft]) {
  canvas.width = whole.length + 1; // before the first letter both are zeros
  canvas.height = numHiddens;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, numHiddens);
  for (let i = 0; i < canvas.width; i += 1) {
    for (let unit = 0; unit < numHiddens; unit += 1) {
      const shared = i < cut;
      const state = i > 0 ? whole[i - 1][unit] : 0;
      const value = shared || i === 0 || asking ? 0 : state - other[i - 1][unit];
      const end = shared ? soft : value < 0 ? blue : vermillion;
      const at = 4 * (unit * canvas.width + i);
      const strength = shared ? SHARED * Math.abs(state) : Math.min(1, Math.abs(value));
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

/** Call back with the width of a node, now and when it changes. */
function watchWidth(node, onWidth, signal) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    onWidth(width);
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

const SCISSORS = [
  "M8.4 6.8 16.2 23M15.6 6.8 7.8 23", // blades
  "M7.2 1.2a2.9 2.9 0 1 1 0 5.8 2.9 2.9 0 1 1 0-5.8M16.8 1.2a2.9 2.9 0 1 1 0 5.8 2.9 2.9 0 1 1 0-5.8", // rings
];

function scissors() {
  return svg("svg", { viewBox: "0 0 24 24", width: 26, height: 26, "aria-hidden": "true" },
    ...SCISSORS.map((d) => svg("path", { d, class: "cut-icon" })));
}

/** The text with the scissors on it, over the map of the difference and its length: drag anywhere, or use the arrow keys. */
export function stage({ t, onCut, signal }) {
  const [upper, lower] = [true, false].map((isUpper) => svg("svg", { class: "cut-picture", ...(isUpper ? { role: "img" } : { "aria-hidden": "true" }) }));
  const canvas = element("canvas", { class: "cut-map", "aria-hidden": "true" });
  const handle = element(
    "div", { class: "cut-handle", role: "slider", tabindex: "0", "aria-label": t("handle"), "aria-valuemin": 1 }, scissors(),
  );
  const drag = element("span", { class: "cut-drag", "aria-hidden": "true" }, t("drag"));
  const runs = ["whole", "cut"].map((run) => element("span", { class: `cut-key-${run}` }));
  const key = element("span", { class: "cut-key", "aria-hidden": "true" }, ...runs);
  const captions = ["guesses", "map", "distance"].map(() => element("span", { class: "cut-title", "aria-hidden": "true" }));
  const node = element("div", { class: "cut-stage" }, upper, captions[0], drag, handle);
  const memory = element("div", { class: "cut-memory" }, canvas, lower, captions[1], captions[2], key);
  let latest = null;
  let width = 0;
  let marked = false;
  let asking = false; // a step asks what the figure would tell
  let revealed = false; // the last step is answered: every guess is shown
  const tried = new Set(); // the cuts that the reader has seen: what the others give is still to find out

  let dragged = false; // not a jump to where the pointer went down
  const move = ({ x }) => {
    if (latest.text === "") return;
    const [from, cut] = [latest.cut, cutAt(x, width, latest.text.length)];
    if (dragged && !asking) for (const passed of between(from, cut)) tried.add(passed);
    dragged = true;
    if (cut !== from) onCut(cut);
  };
  // A finger that only scrolls past leaves the cut alone: it drags the scissors and the letters, and taps elsewhere.
  const start = ({ event }) => {
    dragged = false;
    return mayDrag(event);
  };
  const mayDrag = (event) => event.pointerType !== "touch" || event.currentTarget === node && event.clientY - node.getBoundingClientRect().top < HANDLE + LETTERS;
  const end = () => handle.focus({ preventScroll: true }); // so that the arrow keys go on from there
  for (const part of [node, memory]) {
    dragOn(part, { axis: "x", start, move, end, signal });
    part.addEventListener("click", (event) => {
      const box = part.getBoundingClientRect();
      dragged = false;
      if (event.detail > 0) move({ x: (event.clientX - box.left) / box.width });
    }, { signal });
  }
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

  const colours = () => {
    const style = getComputedStyle(node);
    return ["blue", "surface", "vermillion", "soft"].map((name) => parseHex(style.getPropertyValue(`--d2lrnn-${name}`)));
  };

  const drawFigure = () => {
    const { text, cut, distances, numHiddens, unit, options } = latest;
    const count = text.length;
    const layout = layoutOf(width, count);
    const { column, wide, right, guesses, guessesEnd, map, mapEnd, plot, plotEnd } = layout;
    const x = (j) => LEFT + (j + 0.5) * column;
    const edge = LEFT + cut * column;
    let parts = [];
    const add = (tag, attributes, ...children) => parts.push(svg(tag, attributes, ...children));
    const letters = Math.min(24, 1.6 * column).toFixed(1);
    [...text].forEach((character, j) => {
      if (character === " ") return;
      add("text", { class: `cut-letter${j < cut ? " cut-forgotten" : ""}`, x: x(j), y: layout.letters, "font-size": letters, "text-anchor": "middle" }, character);
    });
    add("text", { class: "cut-letter cut-next-letter", x: x(count), y: layout.letters, "font-size": letters, "text-anchor": "middle" }, "?");
    ["guesses", "map", "distance"].forEach((key, i) => {
      captions[i].textContent = t(wide ? `${key}_long` : key, { units: numHiddens });
      captions[i].style.setProperty("left", `${LEFT}px`);
      captions[i].style.setProperty("top", `${[guesses, map, plot - 4][i] - 20}px`);
    });
    const cutLine = (...pieces) => { // it stops where a caption stands
      if (count > 0) add("path", { class: "cut-cut", d: pieces.map(([from, to]) => `M${edge} ${from}V${to}`).join("") });
    };
    const finish = (picture, height) => {
      picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
      picture.setAttribute("height", height);
      picture.replaceChildren(...parts);
      parts = [];
    };
    // what every cut would give
    if (count > 0) {
      const size = Math.min(17, 1.25 * column).toFixed(1);
      const [foot, bar] = [guessesEnd, Math.min(10, 0.6 * column)];
      const box = Math.min(26, Math.max(column, 12));
      add("path", { class: "cut-track", d: `M${LEFT + column / 2} ${foot + 0.5}H${right}` });
      add("rect", { class: "cut-here", x: edge - box / 2, y: guesses - 1, width: box, height: GUESSES + 2, rx: 2 });
      options.forEach(({ letter, p }, j) => {
        if (j === 0) return; // nothing is cut
        const middle = LEFT + j * column; // on the cut itself
        const hidden = asking || !isSeen(j);
        const kind = hidden || p < UNSURE ? "unsure" : letter === options[0].letter ? "same" : "differs";
        const sign = hidden && j !== cut ? "" : hidden || p < UNSURE ? "?" : visibleCharacter(letter);
        add("text", { class: `cut-option cut-option-${kind}`, x: middle, y: guesses + 14, "font-size": size, "text-anchor": "middle" }, sign);
        if (!hidden) add("rect", { class: `cut-chance cut-chance-${kind}`, x: middle - bar / 2, y: foot - 17 * p, width: bar, height: 17 * p });
      });
    }
    cutLine([HANDLE - 6, guesses - CAPTION]);
    finish(upper, guessesEnd + 4);
    // the map
    add("rect", { class: "cut-frame", x: LEFT, y: map, width: right - LEFT, height: MAP });
    if (asking) add("text", { class: "cut-letter", x: (edge + right) / 2, y: map + MAP / 2 + 8, "font-size": 24, "text-anchor": "middle" }, "?");
    if (marked && count > 0) {
      const y = map + unit + 0.5;
      add("path", { class: "cut-mark", d: `M${edge - 9} ${y - 5}L${edge - 2} ${y}L${edge - 9} ${y + 5}Z` });
      add("path", { class: "cut-mark-line", d: `M${edge} ${y - 2}H${right}M${edge} ${y + 2}H${right}` });
    }
    if (edge - LEFT > 150) {
      add("text", { class: "d2lrnn-tick cut-none", x: edge - 12, y: map + MAP / 2 + 4, "text-anchor": "end" }, t("none"));
    }
    // the distance
    const besideCut = edge - LEFT > 34; // the first number stands left of the cut, or over the curve
    const most = (besideCut ? 1 : 1.4) * Math.max(1.05 * (distances[cut - 1] ?? 1), ...distances);
    const y = scale([0, most], [plotEnd, plot]);
    add("path", { class: "d2lrnn-grid", d: `M${LEFT} ${y(0)}H${right}` });
    if (count > 0 && !asking) {
      const values = distances.slice(cut - 1);
      const xs = values.map((_, i) => cut + i);
      const line = linePath(xs, values, x, y);
      add("path", { class: "cut-area", d: `${line}L${x(count)} ${plotEnd}L${x(cut)} ${plotEnd}Z` });
      add("path", { class: "cut-zero", d: `M${LEFT} ${y(0)}H${edge}` });
      add("path", { class: "cut-line", d: line });
      for (const i of values.length > 1 ? [0, values.length - 1] : [0]) {
        add("circle", { class: "cut-dot", cx: x(xs[i]), cy: y(values[i]), r: 3.5 });
        const first = i === 0 && values.length > 1;
        const before = i === 0 && besideCut;
        const place = before ? { x: edge - 8, y: y(values[i]) + 5, "text-anchor": "end" }
          : !first && values[i] < 0.2 * most ? { x: right, y: y(values[i]) - 9, "text-anchor": "end" } // over a curve that is low there
            : first ? { x: x(xs[i]) + 8, y: y(Math.max(...values.slice(0, 4))) - 5 }
              : { x: x(xs[i]) + 8, y: y(values[i]) + 5 };
        add("text", { class: "cut-value", ...place }, percentLeft(values[i], values[0]));
      }
    }
    cutLine([map, mapEnd], [plot - 2, plotEnd]);
    finish(lower, plotEnd + 6);
    upper.setAttribute("aria-label", count === 0 ? t("stage_empty") : t("stage", {
      text, forgotten: latest.forgotten,
      guesses: options.map(({ letter, p }, j) => (asking || !isSeen(j) ? "?" : `${visibleCharacter(letter)} ${formatProbability(p)}`)).join(", "),
      distances: asking ? "?" : distances.slice(cut - 1).map(short).join(", "),
    }));
    ["whole_larger", "cut_larger"].forEach((words, i) => (runs[i].textContent = t(width < NARROWEST_KEY ? words : `${words}_long`)));
    key.style.setProperty("top", `${wide ? map - 20 : mapEnd + 4}px`);
    key.style.setProperty(wide ? "right" : "left", `${wide ? Math.max(0, width - right) : LEFT}px`);
    key.style.removeProperty(wide ? "left" : "right");
    for (const [name, value] of Object.entries({ left: LEFT, top: map, width: right - LEFT, height: MAP })) {
      canvas.style.setProperty(name, `${value}px`);
    }
    placeHandle(cut);
  };
  const placeHandle = (at) => {
    const { column } = layoutOf(width, latest.text.length);
    const left = LEFT + at * column;
    handle.style.setProperty("left", `${left - 22}px`);
    drag.classList.toggle("cut-drag-right", left < 140);
    drag.style.setProperty("left", `${left}px`);
  };
  const isSeen = (cut) => revealed || cut === latest.cut || tried.has(cut);
  const draw = (model, isAsking) => {
    if (latest?.text !== model.text) tried.clear();
    latest = model;
    asking = isAsking;
    const { text, cut, forgotten, kept } = model;
    const values = { forgotten, kept: shown(kept) };
    handle.hidden = drag.hidden = text === "";
    handle.setAttribute("aria-valuemax", Math.max(1, text.length));
    handle.setAttribute("aria-valuenow", Math.max(1, cut));
    handle.setAttribute("aria-valuetext", t(kept === "" ? "cut_value_nothing" : "cut_value", values));
    paint(canvas, model, asking, colours());
    if (width > 0) drawFigure();
  };
  watchWidth(node, (now) => {
    width = now;
    if (latest) drawFigure();
  }, signal);
  watchTheme(() => latest && paint(canvas, latest, asking, colours()), signal);
  const mark = (on) => {
    marked = on;
    if (latest && width > 0) drawFigure();
  };
  const reveal = (all) => {
    revealed = all;
    if (!all) tried.clear();
    if (latest && width > 0) drawFigure();
  };
  return { node, memory, draw, mark, remember: () => asking || tried.add(latest.cut), reveal, placeHandle: (at) => width > 0 && placeHandle(at) };
}

// ---- the two guesses ------------------------------------------------------------------------------------------------

/** What either run writes next, in words. */
export function guessCards({ t }) {
  const cards = ["whole", "other"].map((kind) => {
    const caption = element("p", { class: "cut-caption" });
    const stem = element("span", { class: "cut-stem" });
    const written = element("span", { class: "cut-written" });
    const word = element("p", { class: "cut-word" }, stem, written);
    return { caption, stem, written, word, node: element("div", { class: `cut-card cut-card-${kind}` }, caption, word) };
  });
  const draw = ({ text, kept, guesses }, isAsking) => {
    const captions = [t("whole"), kept === "" ? t("cut_nothing") : t("cut", { kept: shown(kept) })];
    cards.forEach((card, i) => {
      const isKept = isAsking && i === 1;
      const unsure = isKept || guesses[i].p < UNSURE;
      const word = wordOf(guesses[i], 12);
      const { stem, written } = text === "" ? { stem: "", written: "" } : { ...word, written: unsure ? "?" : word.written };
      card.word.classList.toggle("cut-unsure", unsure);
      card.caption.textContent = captions[i];
      card.stem.textContent = stem;
      card.written.textContent = written;
      card.word.style.setProperty("--cut-letters", Math.max(8, stem.length + written.length));
    });
  };
  return { node: element("div", { class: "cut-cards" }, ...cards.map(({ node }) => node)), draw };
}

// ---- one unit -------------------------------------------------------------------------------------------------------

const TRACE = 90;

/** A value from -1 to 1 with its sign. */
function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return text === "0.00" ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** The values of one unit in both runs, over the letters. */
export function unitPanel({ t, onUnit, max, signal }) {
  const value = element("b");
  const range = rangeControl({
    label: element("span", { class: "cut-slider-label" }, t("unit"), " ", value), min: 0, max, signal, onInput: onUnit,
  });
  const picture = svg("svg", { class: "cut-picture", role: "img", height: TRACE + 30 });
  const box = element("div", {}, picture);
  const node = element(
    "div", { class: "cut-unit" }, element("p", { class: "cut-hint" }, t("unit_note")), range.node, box,
    legend([{ kind: 1, text: t("unit_whole") }, { kind: 2, text: t("unit_cut") }]),
  );
  let latest = null;
  let width = 0;
  const paintTraces = () => {
    const { text, states, unit, cut } = latest;
    const { column, right } = layoutOf(width, text.length);
    const x = (j) => LEFT + (j + 0.5) * column;
    const y = scale([-1, 1], [TRACE, 8]);
    const parts = [];
    for (const tick of [-1, 0, 1]) {
      parts.push(svg("path", { class: "d2lrnn-grid", d: `M${LEFT} ${y(tick)}H${right}` }));
      parts.push(svg("text", { class: "d2lrnn-tick", x: right + 6, y: y(tick) + 4 }, String(tick).replace("-", "−")));
    }
    const xs = Array.from({ length: text.length + 1 }, (_, j) => j);
    [...text].forEach((character, j) => {
      if (character === " ") return;
      const size = Math.min(15, 1.55 * column).toFixed(1);
      parts.push(svg("text", { class: "cut-letter", x: x(j), y: TRACE + 20, "font-size": size, "text-anchor": "middle" }, character));
    });
    if (text !== "") parts.push(svg("path", { class: "cut-cut", d: `M${LEFT + cut * column} 2V${TRACE + 26}` }));
    states.forEach((run, i) => {
      parts.push(svg("path", { class: `d2lrnn-line d2lrnn-line-${i + 1}`, d: linePath(xs, [0, ...run.map((state) => state[unit])], x, y) }));
    });
    picture.setAttribute("viewBox", `0 0 ${width} ${TRACE + 30}`);
    const inWords = (run) => run.map((state, j) => `${visibleCharacter(text[j])} ${signed(state[unit])}`).join(", ");
    picture.setAttribute("aria-label", t("unit_plot", { unit, whole: inWords(states[0]), other: inWords(states[1]) }));
    picture.replaceChildren(...parts);
  };
  watchWidth(box, (now) => {
    width = now;
    if (latest) paintTraces();
  }, signal);
  const draw = (model) => {
    latest = model;
    value.textContent = String(model.unit);
    range.set(model.unit, t("unit_value", { unit: model.unit, units: model.numHiddens }));
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
  const lost = element("p", { class: "cut-hint", hidden: true });
  const node = element("div", { class: "cut-field" }, element("label", { class: "cut-label" }, t("text"), input), long, lost);
  const read = (event) => {
    if (!event.isComposing) onText(readable(input.value)); // else an input method is still at work
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const draw = ({ text }) => {
    if (readable(input.value) !== text) input.value = text;
    long.hidden = [...input.value].length <= max;
    const count = leftOut(input.value).length;
    lost.textContent = t("text_lost", { count });
    lost.hidden = count === 0;
  };
  return { node, draw };
}
