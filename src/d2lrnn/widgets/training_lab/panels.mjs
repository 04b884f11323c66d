// The panels of the lab's stage: each makes its elements once and draws a report.
import { linePath } from "../charts.mjs";
import { buttonControl, element, formatNumber, formatProbability, prefersReducedMotion, rangeControl, selectControl, svg, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised, motion, watchWidth, whenSeen } from "../shape.mjs";
import { BELOW_CURVE, glide, paintLiquid } from "./liquid.mjs";
import { axes, followers, hasGap, heat, isMemorising, letterPlaces, levelPlaces, lines, markPlace, meaningOf, normAxis, OTHER, powerName, scales, tellingUnit, thinPlace, unitGrid, unitRest, unitStarts } from "./maths.mjs";
import { corrections, levelName, shortName } from "./words.mjs";

const NARROW = 500; // pixels of a phone's page
const WIDE = 896; // pixels: from here on the curve stands beside the text (style.css)

/** Whether the curve of a lab stands beside its text. */
export const standsBeside = (lab) => lab.clientWidth >= WIDE;

/** As `watchWidth`, for what draws itself as high as it needs: it does so with the next frame, and no watcher finds another size. */
const drawnWidth = (node, { act, signal }) => watchWidth(node, { signal, act: (now) => requestAnimationFrame(() => signal.aborted || act(now)) });

const PER_TICK = 84; // pixels that a number of characters needs along its axis

// ---- the sentence and the state -------------------------------------------------------------------------------------

const WRITING_S = 2;
const BEFORE = 8; // letters that are quoted before the chosen one
const HAN_AND_WIDER = 0x1100; // from here on letters may be as wide as high

const FIRST = 6; // the letter that is chosen at first: the e of "for the"
const CELL = 24; // canvas pixels of a unit in the picture of the network
const DRAINS_S = 0.35; // what the liquid takes for most of its way
const READS_MS = 500; // while it learns, the network reads on by a letter after so long
const [COLUMNS, PHONE_LINES] = [48, 3];
const BAR = 8; // canvas pixels of a letter's bar, and half its height
const HALF = 16;

/**
 * Letter by letter: coloured and underlined by surprisal; touch one, and the network at this letter opens below; `onRead` gets the letters before it, and all.
 * One unit of the hidden state, where it is asked for, stands below with its values: the one that tells most, or the one that
 * is touched.
 */
export function readingPanel({ t, signal, onReset, onRead }) {
  const rareMeans = element("span", { class: "lab-rare", hidden: true });
  const invitation = element("span", {}, " ", t("reading_touch"));
  const readingMeans = element("span", { class: "lab-note" }, t("reading_means"), invitation, rareMeans);
  const page = element("div", { class: "lab-page", role: "slider", tabindex: 0, "aria-label": t("letter"), "aria-valuemin": 2, "aria-valuemax": FIRST + 1, "aria-valuenow": FIRST + 1 });
  const net = netPicture({ t, signal, onUnit: (touched) => touchUnit(touched) });
  const strip = element("span", { class: "lab-note lab-strip-note", role: "slider", tabindex: 0, "aria-label": t("unit_label"), "aria-valuemin": 1 });
  const unitButton = buttonControl({ label: t("states"), "aria-pressed": "false", class: "d2lrnn-button lab-states", signal, onPress: () => latest && chooseUnit(unit < 0 ? tellingUnit(latest) : -1) });
  const name = element("span", { class: "lab-head" }, t("reading"));
  const node = element(
    "div", { class: "lab-reading" },
    element("div", { class: "lab-reading-head" },
      element("p", {}, name, " ", readingMeans), unitButton),
    page, strip, net.node,
  );
  let isTouched = false;
  /** Beside the curve the network has its room, and is seen from the start; elsewhere it is its guess at one letter, until a touch opens it. */
  let isOpen = false;
  const open = () => {
    isOpen = isTouched || standsBeside(node.closest(".lab"));
    net.node.classList.toggle("lab-brief", !isOpen);
    unitButton.hidden = !isOpen;
    invitation.hidden = isOpen;
  };
  unitButton.hidden = true;
  let width = 0;
  let latest = null;
  let before = null; // the report before the correction that is looked at, null where none is
  let shape = ""; // what the lines were built for
  let letters = []; // on a phone two lines of the sentence, elsewhere all of it
  let strips = [];
  let chosen = FIRST; // the letter at which the network is shown
  let readAt = 0; // when it was read
  let unit = -1; // the one whose values are shown, -1 for none

  const build = ({ sentence }, columns) => {
    letters = [];
    const isPhone = node.closest(".lab").clientWidth < NARROW;
    strips = lines(sentence, columns).slice(0, isPhone ? PHONE_LINES : sentence.length).map(([from, to]) => ({
      from, to, share: (to - from) / columns,
      canvas: element("canvas", { class: "lab-strip", "aria-hidden": "true" }), liquid: element("canvas", { class: "lab-liquid", "aria-hidden": "true" }),
    }));
    const rows = strips.map(({ from, to, canvas, liquid, share }) => {
      const row = sentence.slice(from, to).map((letter, i) => {
        const span = element("span", { class: "lab-letter", "data-place": from + i }, letter === " " ? "\u00a0" : letter);
        letters.push(span);
        return span;
      });
      return element(
        "div", { class: "lab-line", style: `width: ${(100 * share).toFixed(3)}%; --lab-letters: ${to - from}`, "aria-hidden": "true" },
        element("div", { class: "lab-letters" }, liquid, ...row), canvas,
      );
    });
    page.style.setProperty("--lab-columns", columns);
    page.replaceChildren(...rows);
    const sharpness = Math.min(2, devicePixelRatio);
    const height = Math.round(sharpness * (strips[0]?.liquid.clientHeight ?? 0));
    for (const { liquid, share } of strips) Object.assign(liquid, { width: Math.round(sharpness * width * share), height });
  };
  let hot = [0, 0, 0];
  const surprise = glide({ seconds: DRAINS_S, signal, draw: (levels) => {
    for (const { from, to, liquid } of strips) {
      const pen = liquid.getContext("2d");
      pen.clearRect(0, 0, liquid.width, liquid.height);
      if (liquid.height > 0) paintLiquid(pen, levels.slice(from, to), { cell: liquid.width / (to - from), height: liquid.height, hot });
    }
  } });

  let inks = null; // looked up before anything changes: a look at a changed page has it laid out
  /** Red, green and blue of the page's colours: of 0, of +1, of −1. */
  const colours = () => {
    const style = getComputedStyle(net.scale);
    hot = getComputedStyle(page).accentColor.match(/[\d.]+/g).slice(0, 3);
    return [style.backgroundColor, style.color, style.borderTopColor].map((colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number));
  };
  const paintStrips = ({ states, sentence }) => {
    const units = states.length / sentence.length;
    const [, most, least] = (inks ??= colours());
    if (unit >= units) unit = -1;
    strip.hidden = unit < 0;
    page.classList.toggle("lab-with-states", unit >= 0);
    unitButton.setAttribute("aria-pressed", String(unit >= 0));
    if (unit < 0) return;
    explainStrip(latest, units);
    for (const { from, to, canvas } of strips) {
      const columns = to - from;
      Object.assign(canvas, { width: BAR * columns, height: 2 * HALF });
      const context = canvas.getContext("2d");
      for (let i = 0; i < columns; i += 1) {
        const value = states[(from + i) * units + unit] / 127;
        context.fillStyle = `rgb(${(value > 0 ? most : least).join(" ")})`;
        context.fillRect(BAR * i + 1, value > 0 ? HALF * (1 - value) : HALF, BAR - 2, HALF * Math.abs(value));
      }
    }
  };

  const explainStrip = ({ sentence, states, steps }, units) => {
    const starts = unitStarts({ sentence, states }, unit);
    const stuck = unitRest({ sentence, states }, unit);
    if (steps === 0) strip.textContent = t("unit_fresh", { unit: unit + 1 }); // what random weights do is no finding
    else if (stuck !== null) strip.textContent = t("unit_stuck", { unit: unit + 1, value: formatNumber(stuck) });
    else if (starts) strip.textContent = t(`unit_starts_${starts}`, { unit: unit + 1 });
    else strip.textContent = t("unit", { unit: unit + 1 });
    strip.setAttribute("aria-valuemax", units);
    strip.setAttribute("aria-valuenow", unit + 1);
    strip.setAttribute("aria-valuetext", strip.textContent);
  };
  const chooseUnit = (wanted) => {
    if (latest === null) return;
    unit = Math.min(Math.max(wanted, -1), latest.states.length / latest.sentence.length - 1);
    paintStrips(latest);
    if (letters.length) explain(latest); // its square has a frame
  };
  /** A square of the memory: its unit's values along the text; touched again, they go. */
  const touchUnit = (touched) => chooseUnit(unit === touched ? -1 : touched);

  const explain = ({ sentence, nats, top, states, forgets, cell }) => {
    const came = sentence[chosen];
    const likely = top[chosen - 1];
    const expected = likely.some(([guess]) => guess === came) ? likely : [...likely.slice(0, -1), [came, Math.exp(-nats[chosen - 1])]];
    const units = states.length / sentence.length;
    letters.forEach((span, i) => span.classList.toggle("lab-here", i === chosen));
    net.draw({
      before: sentence.slice(Math.max(0, chosen - BEFORE), chosen), came, expected,
      state: Array.from({ length: units }, (_, j) => states[(chosen - 1) * units + j] / 127), colours: (inks ??= colours()), forgets, cell,
      unit, was: before && Math.exp(-before.nats[chosen - 1]), now: Math.exp(-nats[chosen - 1]),
    });
    page.setAttribute("aria-valuemax", letters.length);
    page.setAttribute("aria-valuenow", chosen + 1);
    const spoken = expected.map(([guess, p]) => `${visibleCharacter(guess)} ${formatProbability(p)}`).join(", ");
    page.setAttribute("aria-valuetext", t("letter_spoken", { letter: visibleCharacter(came), expected: spoken }));
    onRead(sentence.slice(0, chosen), sentence);
  };

  const show = () => {
    if (latest === null || width === 0) return;
    open();
    inks = colours();
    const { sentence, nats } = latest;
    const isWide = sentence.some((letter) => letter !== OTHER && letter.codePointAt(0) >= HAN_AND_WIDER);
    const now = `${width} ${sentence.join("")}`;
    const isNew = now !== shape;
    if (isNew) build(latest, Math.min(COLUMNS, Math.floor(width / (isWide ? 21 : 13.3))));
    shape = now;
    if (latest.status === "running" && !isTouched && isOpen && !latest.isSingle && !prefersReducedMotion() && performance.now() - readAt > READS_MS) {
      chosen += 1; // it reads on until a letter is touched
      readAt = performance.now();
    }
    if (chosen >= letters.length) chosen = 1;
    surprise.to(letters.map((_, i) => (i === 0 ? 0 : heat(nats[i - 1]))), isNew);
    paintStrips(latest);
    explain(latest);
  };
  drawnWidth(page, { signal, act: (now) => {
    width = now;
    show();
  } });
  // Another theme has other colours, and a canvas does not know.
  const themes = new MutationObserver(() => {
    if (latest === null || width === 0) return;
    shape = ""; // all is drawn anew
    show();
  });
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => themes.disconnect(), { once: true });

  const choose = (place) => {
    if (latest === null || !(place >= 0)) return;
    isTouched = true;
    open();
    chosen = Math.max(1, Math.min(place, letters.length - 1)); // nothing is predicted before the first
    explain(latest);
  };
  const point = (event) => choose(Number(event.target.closest?.("[data-place]")?.dataset.place ?? NaN));
  page.addEventListener("click", point, { signal });
  page.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse" && isOpen) point(event);
  }, { signal });
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 8, PageDown: -8, Home: -Infinity, End: Infinity };
  strip.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    chooseUnit(Math.max(0, unit + steps[event.key]));
  }, { signal });
  const line = () => (strips[0] ? strips[0].to : 1);
  const moves = {
    ArrowLeft: () => chosen - 1, ArrowRight: () => chosen + 1, ArrowUp: () => chosen - line(), ArrowDown: () => chosen + line(),
    Home: () => 0, End: () => Infinity,
  };
  page.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    choose(Math.max(0, moves[event.key]()));
  }, { signal });
  const clear = () => {
    chooseUnit(-1);
    chosen = FIRST;
    isTouched = false;
    show();
  };
  onReset(clear);
  return {
    node, clear,
    draw(report) {
      if (!report.isSingle || report.steps === 0) before = null;
      else if (report.run !== latest?.run) before = null;
      else if (report.steps !== latest.steps) before = report.steps === latest.steps + 1 ? latest : null;
      latest = report;
      name.textContent = t(report.isCopied ? "reading_copied" : "reading");
      rareMeans.textContent = report.hasOther ? ` ${t("other_means", { other: OTHER })}.` : "";
      rareMeans.hidden = !report.hasOther;
      show();
    },
  };
}

const GUESSES = 5;

/** The network at one letter, from left to right: what it reads, its units in their colours, what it expects next. */
function netPicture({ t, signal, onUnit }) {
  const past = element("span", { class: "lab-net-past" });
  const letter = element("span", { class: "lab-net-letter" });
  const canvas = element("canvas", { class: "lab-net-units" });
  const memory = element("span", { class: "lab-net-name" });
  const likely = Array.from({ length: GUESSES }, () => {
    const [guess, bar, p] = [element("b"), element("span", { class: "lab-guess-bar" }), element("span", { class: "lab-guess-p" })];
    return { guess, bar, p, node: element("span", { class: "lab-guess" }, guess, bar, p) };
  });
  const guesses = element("div", { class: "lab-guesses" }, ...likely.map((row) => row.node));
  const came = element("span", { class: "lab-net-name" });
  const ramp = element("span", { class: "lab-net-scale" });
  const key = element("span", { class: "lab-net-key" }, "−1", ramp, "+1");
  canvas.addEventListener("click", (event) => { // the slider of a unit does it by key
    const box = canvas.getBoundingClientRect();
    const [column, row] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((share) => Math.min(0.999, Math.max(0, share)));
    const { columns, rows } = unitGrid(count);
    const touched = Math.floor(row * rows) * columns + Math.floor(column * columns);
    if (touched < count) onUnit(touched);
  }, { signal });
  let count = 0; // of the units
  const node = element(
    "div", { class: "lab-net", "aria-hidden": "true" }, // the slider of the letter says it
    element("div", { class: "lab-net-part" },
      element("span", { class: "lab-net-head" }, element("span", { class: "lab-net-name" }, t("net_reads")), element("span", { class: "lab-net-read" }, past, letter)),
      canvas, element("span", { class: "lab-net-head" }, memory, key)),
    element("span", { class: "lab-net-arrow" }, "→"),
    element("div", { class: "lab-net-part lab-net-last" }, came, guesses),
  );
  const draw = ({ before, came: next, expected, state, forgets, cell, unit, was, now, colours: [zero, most, least] }) => {
    past.textContent = forgets ? "" : before.slice(0, -1).join("");
    letter.textContent = visibleCharacter(before.at(-1));
    memory.textContent = t(forgets ? "net_alone" : `net_${cell}`, { units: state.length });
    const letter_ = visibleCharacter(next);
    came.replaceChildren(...(was === null ? emphasised(t.raw(node.classList.contains("lab-brief") ? "net_gave" : "net_expects"), { letter: letter_ }) : emphasised(t.raw("net_corrected"), { letter: letter_, change: t("net_change", { before: (100 * was).toFixed(1), after: (100 * now).toFixed(1) }) })));
    const { columns, rows } = unitGrid(state.length);
    count = state.length;
    if (canvas.width !== CELL * columns || canvas.height !== CELL * rows) Object.assign(canvas, { width: CELL * columns, height: CELL * rows });
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    state.forEach((value, j) => {
      const [left, top] = [CELL * (j % columns), CELL * Math.floor(j / columns)];
      const full = value > 0 ? most : least;
      context.fillStyle = `rgb(${zero.map((part, k) => Math.round(part + Math.abs(value) * (full[k] - part))).join(" ")})`;
      context.beginPath();
      context.roundRect(left + 1, top + 1, CELL - 2, CELL - 2, 4);
      context.fill();
      if (j !== unit) return;
      Object.assign(context, { strokeStyle: getComputedStyle(canvas).color, lineWidth: 3 });
      context.stroke();
    });
    likely.forEach(({ node: row, guess: name, bar, p: share }, i) => {
      row.hidden = i >= expected.length;
      if (row.hidden) return;
      const [guess, p] = expected[i];
      row.classList.toggle("lab-right", guess === next);
      name.textContent = visibleCharacter(guess);
      bar.style.setProperty("--lab-share", p.toFixed(3));
      bar.classList.toggle("lab-was", guess === next && was !== null);
      if (guess === next && was !== null) bar.style.setProperty("--lab-was", was.toFixed(3));
      share.textContent = p < 0.005 ? "" : `${Math.round(100 * p)}%`;
    });
  };
  return { node, draw, scale: ramp };
}

// ---- the curve --------------------------------------------------------------------------------------------------------

/** A number of characters as the axis names it. */
export function characterTick(t, value) {
  return value >= 1e6 ? t("million", { count: value / 1e6 }) : formatNumber(value, 0);
}

/** A number of characters in a sentence. */
export function characterCount(t, value) {
  return value >= 1e6 ? t("million", { count: (value / 1e6).toFixed(1) }) : formatNumber(value, 0);
}

const FLASH_MS = 2000;
const BESIDE_NAME = 84; // pixels: from here on there is room beside the name of the axis up
const ABOVE = 12; // pixels: the line of words above a chart, clear of a knob at its edge
const LEFT = 40; // pixels of an axis’ numbers: "1 000", or "10⁻³"
const [RIGHT, RIGHT_NARROW] = [172, 130]; // the room of the levels' names
const roomOf = (width) => (width < NARROW ? RIGHT_NARROW : RIGHT);
const AT_END = 12; // pixels beside the end of a run that is known: its mark keeps clear of the rivals' names
const [NORMS, REMARK] = [28, 60]; // pixels that the lengths of gradients take of the curve's room, and a remark

/** The highest point of a curve, as far as `to`: { x, y }. */
function highestOf({ xs, ys }, to) {
  return ys.reduce((most, y, i) => (xs[i] <= to && !(y <= most.y) ? { x: xs[i], y } : most), { x: 0, y: 0 });
}

/** Where a cat lay on the keyboard: a line through the chart, and its name. */
function catMark(x, { top, bottom }, name) {
  return [
    svg("path", { class: "lab-cat", d: `M${x} ${top}V${bottom}` }),
    svg("text", { class: "d2lrnn-level-text lab-cat-name", x: x - 5, y: top + 9, "text-anchor": "end" }, name),
  ];
}

const LAYERS = 20; // of the liquid; together they are as dense as it is at their height (a gradient would need a name in the page)

/** The liquid below a line of points, denser the higher it stands in the box: paths. */
function liquidBelow(points, { top, bottom }) {
  const density = (height) => {
    const upper = BELOW_CURVE.findIndex(([at]) => at >= height);
    const [[from, thin], [to, thick]] = BELOW_CURVE.slice(upper - 1, upper + 1);
    return thin + ((height - from) / (to - from)) * (thick - thin);
  };
  return Array.from({ length: LAYERS }, (_, k) => {
    const level = bottom - (k / LAYERS) * (bottom - top);
    const [below, here] = [k === 0 ? 0 : density((k - 0.5) / LAYERS), density((k + 0.5) / LAYERS)];
    const line = points.map(([x, y]) => `${x.toFixed(1)} ${Math.min(y, level).toFixed(1)}`).join("L");
    return svg("path", { class: "lab-fill", "fill-opacity": (1 - (1 - here) / (1 - below)).toFixed(4), d: `M${line}V${level}H${points[0][0].toFixed(1)}Z` });
  });
}

/** Held-out perplexity against characters read, the rivals as levels, earlier runs pale behind it, one of which may be `picked`. */
export function curvePanel({ t, signal, onReset, onBack, onStep }) {
  const picture = svg("svg", { class: "d2lrnn-chart lab-chart", role: "img" });
  const box = element("div", { class: "d2lrnn-chart-box" }, picture);
  // The column of the rivals' names: a touched one says what it counts at the letter that is read.
  const names = element("div", { class: "lab-rivals", role: "slider", tabindex: 0, "aria-label": t("rival_label"), "aria-valuemin": 0 });
  // Over a run that stands still: its moments, to look back at.
  const ages = element("div", { class: "lab-back", role: "slider", tabindex: 0, "aria-label": t("age_label"), "aria-valuemin": 0, hidden: true });
  box.append(names, ages);
  const ngram = element("p", { class: "lab-note lab-ngram" });
  const means = element("span", { class: "lab-note lab-means" });
  const value = element("b", { class: "lab-now-value" });
  means.append(value);
  let meaning; // the words around the value
  const node = element(
    "div", { class: "lab-curve" },
    element("p", { class: "lab-curve-head" }, element("span", {}, element("span", { class: "lab-head" }, t("curve_head")), " ", means)),
    box, ngram,
  );
  let latest = null;
  let width = 0;
  drawnWidth(box, { signal, act: (now) => {
    width = now;
    if (latest) paint({ ...latest, isBeside: standsBeside(node.closest(".lab")) });
  } });

  let inSight = []; // the rivals, from the highest to the lowest
  let touched = -1; // the order of one
  let read = { before: [], pages: null };
  const tellRival = () => {
    const level = latest?.report.levels.find(({ order }) => order === touched);
    ngram.replaceChildren(...(level ? emphasised(...rivalWords(t, { ...level, ...read })) : [latest?.hint || t("ngram")]));
    names.setAttribute("aria-valuenow", Math.max(0, touched));
    names.setAttribute("aria-valuetext", ngram.textContent);
  };
  const touch = (order) => {
    touched = order;
    tellRival();
    if (latest && width > 0) paint(latest);
  };
  names.addEventListener("click", (event) => {
    const y = event.clientY - box.getBoundingClientRect().top;
    const near = inSight.reduce((best, level) => (Math.abs(level.label - y) < Math.abs(best.label - y) ? level : best), inSight[0]);
    if (near) touch(near.order === touched ? -1 : near.order);
  }, { signal });
  names.addEventListener("keydown", (event) => {
    const at = inSight.findIndex(({ order }) => order === touched);
    const places = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: inSight.length - 1 };
    if (!Object.hasOwn(places, event.key) || inSight.length === 0) return;
    event.preventDefault();
    touch(inSight[Math.min(Math.max(0, places[event.key]), inSight.length - 1)].order);
  }, { signal });
  onReset(() => touch(-1));
  let along = null; // the axis of letters read, where the slider lies
  dragOn(ages, { move: ({ x }) => onBack(along.isLinear ? along.from + x * (along.to - along.from) : along.from * (along.to / along.from) ** x), signal });
  ages.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -8, PageUp: 8, Home: -Infinity, End: Infinity };
    if (!Object.hasOwn(by, event.key)) return;
    event.preventDefault();
    onStep(by[event.key]);
  }, { signal });

  const paint = ({ report, back, moments, ghosts, picked, tokens, flash, now, until, catAt, isLow, isBeside, isCopied, hasRemark }) => {
    const nameOf = width < NARROW ? shortName : levelName;
    const { train, heldout, perplexity, levels, perUpdate } = report;
    const isFresh = report.steps === 0; // by the luck of the first weights it may lie below guessing: no number yet
    const height = isBeside ? 234 - (isLow ? NORMS : 0) - (hasRemark ? REMARK : 0) : (width < 360 ? 182 : 206) - (isLow ? 44 : 0);
    const box = { left: LEFT, right: width - roomOf(width), top: 24, bottom: height - 34 };
    const range = axes({
      tokens, perUpdate, levels, until,
      curves: [{ heldout, train }, ...ghosts].flatMap((run) => [run.heldout, run.train]), // earlier runs keep their axes
      count: Math.max(2, Math.floor((box.right - box.left) / PER_TICK)),
    });
    const end = box.right - (until > 0 ? AT_END : 0);
    const { x, y } = scales(range, { ...box, right: end });
    along = range.x;
    const shown = back ?? report;
    ages.hidden = moments === 0;
    Object.assign(ages.style, { left: `${box.left}px`, width: `${end - box.left}px`, top: `${box.top}px`, height: `${box.bottom - box.top}px` });
    ages.setAttribute("aria-valuemax", report.steps);
    ages.setAttribute("aria-valuenow", shown.steps);
    ages.setAttribute("aria-valuetext", t("now_back", { corrections: corrections(t, shown.steps), perplexity: formatNumber(shown.perplexity) }));
    const parts = [];
    const add = (tag, attributes, ...text) => parts.push(svg(tag, attributes, ...text));
    let last = Infinity;
    for (const value of range.y.ticks) {
      if (last - y(value) < 16) continue;
      last = y(value);
      add("text", { class: "d2lrnn-tick", x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, formatNumber(value, Number.isInteger(value) ? 0 : 1));
    }
    add("path", { class: "d2lrnn-grid", d: `M${box.left} ${box.bottom}H${box.right}` });
    for (const value of range.x.ticks) {
      add("path", { class: "d2lrnn-grid", d: `M${x(value)} ${box.bottom}v4` });
      const isLast = x(value) > box.right - 20; // it keeps clear of the rivals' names
      add("text", { class: "d2lrnn-tick", x: x(value) + (isLast ? 4 : 0), y: box.bottom + 17, "text-anchor": isLast ? "end" : "middle" }, characterTick(t, value));
    }
    add("text", { class: "d2lrnn-axis", x: box.right, y: height - 2, "text-anchor": "end" }, t("characters"));
    add("text", { class: "d2lrnn-axis", x: 0, y: ABOVE }, t("perplexity"));
    if (catAt) parts.push(...catMark(x(catAt), box, t("cat_mark")));
    const places = levelPlaces(levels, y, { top: box.top + 4, bottom: box.bottom, gap: isLow ? 15 : 16 });
    inSight = places;
    names.setAttribute("aria-valuemax", levels.length - 1);
    Object.assign(names.style, { left: `${box.right + 6}px`, width: `${width - box.right - 6}px`, height: `${box.bottom + 8}px` });
    if (places[0]?.label >= 26) add("text", { class: "d2lrnn-axis", x: box.right + 11, y: ABOVE }, t("rivals"));
    for (const level of places) {
      const state = level.order === flash?.order ? " lab-flash" : "";
      const isBeaten = shown.steps > 0 && shown.perplexity < level.perplexity; // as it is at the moment that is looked at
      add("path", { class: `d2lrnn-level${isBeaten ? " lab-passed" : ""}${state}`, d: `M${box.left} ${level.y}H${box.right}L${box.right + 8} ${level.label}`});
      const kind = isBeaten ? " lab-beaten" : level.order === report.nextOrder ? " lab-next" : "";
      const mark = level.order === touched ? " lab-touched" : "";
      add("text", { class: `d2lrnn-level-text${kind}${mark}${state}`, x: box.right + 11, y: level.label + 4}, `${isBeaten ? "✓ " : ""}${nameOf(t, level)}`);
    }
    const ends = []; // of the earlier runs
    for (const ghost of ghosts) {
      const xs = ghost.heldout.xs.filter((value) => value <= range.x.to).map((value) => Math.max(value, range.x.from));
      const ys = ghost.heldout.ys.slice(0, xs.length).map((value) => (value <= range.y.to ? value : range.y.to)); // one that exploded runs along the edge
      add("path", { class: `lab-ghost lab-ghost-${ghost.place}${ghost.letter === picked ? " lab-picked" : ""}`, d: linePath(xs, ys, x, y) });
      const points = xs.map((value, i) => ({ x: x(value), y: y(ys[i]) })).filter(({ y: at }) => Number.isFinite(at));
      if (points.length) ends.push({ points, letter: ghost.letter });
    }
    const gap = hasGap(report) && !isCopied ? [[train.xs, train.ys]] : []; // copied pages are not unseen: a gap says nothing
    for (const [along, up] of gap) add("path", { class: "lab-train", d: linePath(along, up, x, y) });
    const xs = heldout.xs.map((value) => Math.max(value, range.x.from)); // what it was before the first letter: at the edge
    const ys = heldout.ys.map((value) => Math.min(value, range.y.to)); // a lost one has no gap
    const path = linePath(xs, ys, x, y);
    const [cx, cy] = [x(xs.at(-1)), y(Math.min(perplexity, range.y.to))];
    if (ys.every(Number.isFinite)) { // what was, and at its tip how much is left to drain: the same liquid as on the page
      const was = xs.map((value, i) => [x(value), y(ys[i])]);
      parts.unshift(...liquidBelow(was, box), svg("g", { class: "lab-left" }, ...liquidBelow([[cx, cy], [box.right, cy]], box)));
    }
    add("path", { class: "lab-heldout", d: path });
    if (flash) add("circle", { class: "lab-burst", cx, cy, r: 8 });
    add("circle", { class: "lab-glow", cx, cy, r: isFresh ? 10 : 14 });
    add("circle", { class: "lab-now-dot", cx, cy, r: 6 });
    if (moments > 0) { // it can be dragged back
      const [bx, by] = [x(Math.max(shown.tokens, range.x.from)), y(Math.min(shown.perplexity, range.y.to))];
      add("path", { class: "lab-back-mark", d: `M${bx} ${box.top}V${box.bottom}` });
      add("circle", { class: "lab-back-knob", cx: bx, cy: by, r: 10 });
      add("path", { class: "lab-back-arrows", d: `M${bx - 2.5} ${by - 3.5}l-3.5 3.5l3.5 3.5M${bx + 2.5} ${by - 3.5}l3.5 3.5l-3.5 3.5` });
    }
    if (isFresh && !catAt && ghosts.length === 0) { // where it has to go
      add("path", { class: "lab-down", d: `M${cx} ${cy + 16}V${box.bottom - 9}m-5 -6l5 6l5 -6` });
      add("text", { class: "d2lrnn-axis", x: cx + 12, y: cy + 22 }, t(width < NARROW ? "starts_here" : "starts_wide"));
    }
    const marks = letterPlaces(ends.map(({ points }) => points), box);
    const best = report.reached;
    const curves = [[xs, heldout.ys], ...gap].map(([along, up]) => along.map((value, i) => ({ x: x(value), y: y(Math.min(up[i], range.y.to)) })));
    for (const thin of curves.slice(1)) {
      const at = thinPlace(thin, curves.slice(0, 1), box);
      add("text", { class: "d2lrnn-axis lab-thin", x: at.x, y: at.y, "text-anchor": "end" }, t("thin"));
      curves.push([0, 40, 80, 120].map((back) => ({ x: at.x - back, y: at.y - 4 }))); // other words keep clear of these
    }
    const worst = heldout.ys.reduce((most, value) => (value > most ? value : most), 0);
    if (worst > range.y.to) { // its top is cut: how high it was stands above
      const at = Math.max(BESIDE_NAME, x(xs[heldout.ys.indexOf(worst)]));
      add("text", { class: "d2lrnn-axis", x: at, y: ABOVE, "text-anchor": at > (box.left + box.right) / 2 ? "end" : "start" }, `↑ ${formatNumber(worst)}`);
    }
    const tops = ghosts.map((ghost) => ({ letter: ghost.letter, ...highestOf(ghost.heldout, range.x.to) })).filter((top) => top.y > range.y.to);
    if (tops.length > 0 && worst <= range.y.to) { // so is that of an earlier run
      const top = tops.reduce((a, b) => (b.y > a.y ? b : a));
      const at = Math.max(BESIDE_NAME, x(Math.max(top.x, range.x.from)), catAt ? x(catAt) + 4 : 0);
      add("text", { class: "d2lrnn-axis lab-ghost-top", x: at, y: ABOVE, "text-anchor": at > box.right - 80 ? "end" : "start" }, t("ghost_top", { letter: top.letter, perplexity: formatNumber(top.y) }));
    }
    if ((report.status === "ended" || isMemorising(report)) && best !== perplexity) { // it was better than at its end
      const at = heldout.ys.indexOf(best);
      const mark = markPlace({ x: x(xs[at]), y: y(best) }, curves, box);
      add("circle", { class: "lab-best", cx: x(xs[at]), cy: y(best), r: 5 });
      add("text", { class: "d2lrnn-level-text lab-next lab-best-value", x: mark.x, y: mark.y, "text-anchor": "middle" }, t("best", { perplexity: formatNumber(best) }));
    }
    marks.forEach((place, i) => {
      add("circle", { class: "lab-ghost-disc", cx: place.x, cy: place.y, r: 8 });
      add("text", { class: "d2lrnn-level-text lab-ghost-letter", x: place.x, y: place.y + 4, "text-anchor": "middle" }, ends[i].letter);
    });
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("height", height);
    picture.setAttribute("aria-label", t(isFresh ? "chart_fresh" : "chart", {
      perplexity: formatNumber(perplexity), characters: formatNumber(tokens, 0),
      levels: levels.map((level) => `${levelName(t, level)} ${formatNumber(level.perplexity)}`).join(", "),
    }));
    picture.replaceChildren(...parts);
    if (flash && !prefersReducedMotion()) flare(flash.since - now);
  };
  /** The bell: the level that was beaten flares up. Elements are new at every report, the flare goes on. */
  const flare = (delay) => {
    picture.querySelector(".lab-burst").animate([{ transform: "scale(1)", opacity: 1 }, { transform: "scale(6)", opacity: 0 }], { duration: FLASH_MS / 2, delay, easing: "ease-out", fill: "forwards" });
    for (const part of picture.querySelectorAll(".lab-flash")) {
      const from = part.localName === "path" ? { stroke: "var(--d2lrnn-blue)", strokeWidth: "9px" } : { opacity: 0 };
      part.animate([from, {}], { duration: FLASH_MS, delay, easing: "ease-out" });
    }
  };
  return {
    node,
    draw(data) {
      const isOther = latest?.report.levels.length !== data.report.levels.length; // those of another text
      const isHinted = latest?.hint !== data.hint;
      latest = data;
      if (isOther || isHinted) tellRival();
      const key = meaningOf({ ...data.report, ...data.back });
      if (key !== meaning) {
        const [before, after] = key ? t.raw(key).split("{value}") : [""];
        means.replaceChildren(before, value, after ?? "");
        meaning = key;
      }
      const { steps, perplexity } = data.back ?? data.report;
      const shown = steps > 0 ? formatNumber(perplexity) : formatNumber(perplexity, 1); // the luck of the first weights is not looked at closely
      if (value.textContent !== shown) value.textContent = shown;
      if (width > 0) paint(data);
    },
    /** A rival that was touched is let go. */
    clear: () => touched >= 0 && touch(-1),
    /** The letters that the network has read, and the pages in which a rival counts. */
    read(before, pages) {
      if (pages !== read.pages) touched = -1; // another text
      read = { before, pages };
      names.hidden = pages === null;
      tellRival();
    },
  };
}

/** What a rival says at a letter: the words and their values. */
export function rivalWords(t, { order, perplexity, before, pages }) {
  if (order === 0) return [t.raw("ngram_0"), { letters: formatNumber(perplexity, 0) }];
  const name = levelName(t, { order }).replace(/^./, (first) => first.toUpperCase());
  if (before.length < order - 1) return [t.raw("ngram_begins"), { name, order }];
  const context = before.slice(before.length - order + 1);
  const { total, top } = followers(pages, context.join(""));
  const seen = { name, order, perplexity: formatNumber(perplexity), context: context.map(visibleCharacter).join("") };
  if (total === 0) return [t.raw("ngram_unseen"), seen];
  const shares = top.map(([letter, share]) => t("ngram_share", { letter: visibleCharacter(letter), percent: Math.round(100 * share) })).join(", ");
  return order === 1 ? [t.raw("ngram_1"), { ...seen, top: shares }] : [t.raw("ngram_counts"), { ...seen, top: shares }];
}

/** The length of each gradient, and the bound at which it is clipped. */
export function normPanel({ t, signal }) {
  const picture = svg("svg", { class: "d2lrnn-chart", role: "img" });
  const box = element("div", { class: "d2lrnn-chart-box" }, picture);
  const head = element("span", { class: "lab-head" });
  const means = element("span", { class: "lab-note" }, t("norm_means"));
  const node = element("div", { class: "lab-norms" }, element("p", {}, head, " ", means), box);
  let latest = null;
  let width = 0;
  drawnWidth(box, { signal, act: (now) => {
    width = now;
    if (latest) paint(latest);
  } });
  const paint = ({ report: { norms, perUpdate, levels, longest }, tokens, clip, until, catAt }) => {
    const height = 82;
    const place = { left: LEFT, right: width - roomOf(width), top: 8, bottom: height - 8 };
    const { x: along } = axes({ tokens, perUpdate, curves: [], levels, until });
    const up = normAxis(norms.ys, clip);
    const { x, y } = scales({ x: along, y: up }, { ...place, right: place.right - (until > 0 ? AT_END : 0) });
    const parts = up.ticks.flatMap((value) => [
      svg("path", { class: "d2lrnn-grid", d: `M${place.left} ${y(value)}H${place.right}` }),
      svg("text", { class: "d2lrnn-tick", x: place.left - 6, y: y(value) + 4, "text-anchor": "end" }, powerName(value)),
    ]);
    if (catAt) parts.push(...catMark(x(catAt), place, t("cat_mark")));
    if (clip > 0) {
      parts.push(
        svg("path", { class: "d2lrnn-level", d: `M${place.left} ${y(clip)}H${place.right + 8}` }),
        svg("text", { class: "d2lrnn-level-text lab-next", x: place.right + 11, y: y(clip) + 4 }, t("clip_level", { clip })),
      );
    }
    parts.push(svg("path", { class: "lab-norm", d: linePath(norms.xs, norms.ys, x, y) }));
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("height", height);
    picture.setAttribute("aria-label", t("norm_chart", { longest: formatNumber(longest) }));
    picture.replaceChildren(...parts);
  };
  return {
    node,
    draw(data, isShown) {
      node.hidden = !isShown;
      latest = data;
      head.textContent = t(data.clip > 0 ? "norm_clipped" : "norm");
      means.hidden = data.clip > 0; // the longer name has the line to itself
      if (width > 0) paint(data);
    },
  };
}

// ---- the diary --------------------------------------------------------------------------------------------------------

/** A line of text in its pieces, words of its text in bold. A network that is lost may write spaces alone: they are seen. */
function inPieces(pieces) {
  const isBlank = pieces.every(([piece]) => piece.trim() === "");
  return pieces.map(([piece, isReal]) => element(isReal ? "b" : "span", {}, isBlank ? piece.replaceAll(" ", visibleCharacter(" ")) : piece));
}

const MOST_NOTED = 999; // a larger perplexity has no room in the diary

/** A perplexity as the diary notes it. */
const noted = (perplexity) => (perplexity <= MOST_NOTED ? formatNumber(perplexity, 1) : `${MOST_NOTED}+`);

/** What it writes now, large; `count` stands beside its name, and below what it wrote before it had read anything. */
export function writingPanel({ t, count, signal }) {
  const head = element("span", { class: "lab-head" }, t("writes_head"));
  const text = element("p", { class: "lab-writes-text lab-diary-text" });
  const first = element("span", {});
  const before = element("p", { class: "lab-before" }, t("writes_before"), " ", first);
  const blue = element("span", { class: "lab-note lab-blue" });
  const node = element("div", { class: "lab-writes" }, element("p", { class: "lab-writes-head" }, head, blue, count), text, before);
  let latest = null;
  let legend = "";
  const draw = ({ written, writtenAt, steps, diary }, isOwn, hasOther) => {
    before.style.visibility = writtenAt > 0 && diary.length ? "" : "hidden"; // its room is there from the start
    first.textContent = (diary[0]?.pieces ?? []).map(([piece]) => piece).join("");
    const rare = hasOther ? t("other_means", { other: OTHER }) : "";
    const means = steps === 0 ? [] : [
      element("span", { class: "lab-long" }, `${t("writes_blue", { text: t(isOwn ? "own" : "the_story") })} ${t("writes_long")}${rare && `; ${rare}`}`),
      element("span", { class: "lab-short" }, t(isOwn ? "writes_short_own" : "writes_short")),
    ];
    const key = `${isOwn} ${steps === 0} ${rare}`;
    if (key !== legend) blue.replaceChildren(...means);
    legend = key;
    if (written === latest) return;
    latest = written;
    text.replaceChildren(...(written.length ? inPieces(written) : [t("writes_nothing")]));
  };
  // When it is first seen, it is written from left to right.
  const writes = motion({ seconds: WRITING_S, signal });
  const uncover = (share) => { text.style.clipPath = share < 1 ? `inset(0 ${100 * (1 - share)}% 0 0)` : ""; };
  whenSeen(text, { signal, act: () => writes.run(uncover) });
  return { node, draw };
}

/** One line an age, kept; its room is there from the start. Where a story counts words, `page` is the page that is counted. */
export function diaryPanel({ t, ages }) {
  const rows = ages.map((age) => {
    const perplexity = element("span", { class: "lab-diary-value" });
    const text = element("span", { class: "lab-diary-text" });
    const node = element(
      "li", { class: "lab-diary-row" },
      element("span", { class: "lab-diary-age" }, formatNumber(age, 0)), perplexity, text,
    );
    return { age, node, perplexity, text };
  });
  const head = element("p", { class: "lab-head" });
  const text = element("p", { class: "lab-page-text" });
  const page = element("div", { class: "lab-counted" }, head, text);
  const node = element(
    "div", { class: "lab-ages" },
    element("p", { class: "lab-diary-row lab-diary-top" },
      element("span", { class: "lab-diary-age" }, t("diary_updates")), element("span", { class: "lab-diary-value" }, t("diary_perplexity"))),
    element("ol", { class: "lab-diary-rows" }, ...rows.map((row) => row.node)),
  );
  let shown = null; // the age and the words of the page, as one text
  /** The page of noise has long words and takes the most lines: later ones keep its room, so that nothing below moves. */
  const showPage = ({ steps, real, words, pieces }) => {
    const key = `${steps} ${pieces.map(([piece]) => piece).join("")}`;
    if (shown === key) return;
    shown = key;
    head.textContent = t("page", { corrections: corrections(t, steps), real, words });
    if (steps === 0) text.style.minHeight = "";
    text.replaceChildren(...inPieces(pieces));
    text.style.minHeight = `${text.getBoundingClientRect().height}px`;
  };
  const draw = ({ diary, counted }, { isWhole, until }) => {
    page.hidden = !(isWhole && counted);
    if (!page.hidden) showPage(counted);
    for (const row of rows) {
      const line = diary.find(({ age }) => age === row.age);
      row.node.hidden = until > 0 && row.age > until;
      row.perplexity.textContent = line && line.age > 0 ? noted(line.perplexity ?? Infinity) : "";
      if (line && row.pieces === line.pieces) continue;
      row.pieces = line?.pieces;
      row.text.replaceChildren(...(line ? inPieces(line.pieces) : ["\u00a0"])); // a line of room
    }
  };
  return { node, page, draw };
}

// ---- what changes the network -------------------------------------------------------------------------------------------

/** Index of the place next to a value. */
function nearest(places, value) {
  return places.reduce((best, place, i) => (Math.abs(place - value) < Math.abs(places[best] - value) ? i : best), 0);
}

/** A slider over a list of places, with its value beside its name. */
function placesControl({ label, places, format, onPlace, signal }) {
  const shown = element("span", { class: "lab-value" });
  const name = element("span", {}, label);
  const caption = element("span", { class: "lab-caption" }, name, " ", shown);
  const range = rangeControl({ label: caption, min: 0, max: places.length - 1, signal, onInput: (i) => onPlace(places[i]) });
  const set = (value) => {
    shown.textContent = format(value);
    range.set(nearest(places, value), format(value));
  };
  return { node: range.node, name, set };
}

/** The controls of the network: `knobs` stand in sight, `node` is folded; some act at once, others start it again. */
export function networkPanel({ t, controls: spec, signal, onChange, onCat }) {
  const cells = spec.cell.choices.map((name) =>
    buttonControl({ label: t(`cell_${name}`), "data-cell": name, signal, onPress: () => onChange({ cell: name }) }));
  const slider = (name) =>
    placesControl({ label: t(name), places: spec[name].places, format: String, signal, onPlace: (value) => onChange({ [name]: value }) });
  /** A control with a few words that say what it is. */
  const explained = (name, control) => {
    control.node.append(element("span", { class: "lab-note" }, t(`about_${name}`)));
    return control;
  };
  const choice = (name) => selectControl({
    label: t(name), options: spec[name].choices.map((value) => [value, t(`${name}_${value}`)]), signal,
    onChange: (value) => onChange({ [name]: value }),
  });
  const none = 20; // "none" stands at the right end of the clip's slider, after the largest bound
  const clip = placesControl({
    label: t("clip"), places: spec.clip.places.map((place) => place || none), signal,
    format: (value) => (value === none ? t("clip_none") : String(value)),
    onPlace: (value) => onChange({ clip: value === none ? 0 : value }),
  });
  const carry = selectControl({
    label: t("carry"), options: [["yes", t("carry_yes")], ["no", t("carry_no")]], signal,
    onChange: (value) => onChange({ carry: value === "yes" }),
  });
  const sliders = Object.fromEntries(["learning_rate", "num_hiddens", "num_steps", "batch_size", "seed"].map((name) => [name, slider(name)]));
  const choices = { optimizer: choice("optimizer") };
  const cat = buttonControl({ label: t("cat"), signal, onPress: onCat });
  const group = (title, ...controls) =>
    element("fieldset", { class: "lab-group" }, element("legend", {}, title), ...controls.map((control) => control.node));
  const correction = element("p", { class: "lab-note" });
  const node = element(
    "div", { class: "lab-controls" },
    group(t("acts_now"), explained("learning_rate", sliders.learning_rate), explained("clip", clip), explained("optimizer", choices.optimizer), { node: cat }),
    group(t("acts_anew"), explained("num_steps", sliders.num_steps), explained("batch_size", sliders.batch_size), carry, explained("seed", sliders.seed)),
    correction, ...[t("paces"), t("ends"), t("uncounted")].map((words) => element("p", { class: "lab-note" }, words)),
  );
  const gloss = element("p", { class: "lab-note" });
  const knobs = element(
    "div", { class: "lab-knobs" },
    element("span", { class: "d2lrnn-segments lab-choice", role: "group", "aria-label": t("cell") }, ...cells), gloss, sliders.num_hiddens.node,
  );
  const draw = (state) => {
    for (const button of cells) button.setAttribute("aria-pressed", String(button.dataset.cell === state.cell));
    for (const [name, control] of Object.entries({ ...sliders, ...choices })) control.set(state[name]);
    clip.set(state.clip || none);
    carry.set(state.carry ? "yes" : "no");
    const letters = state.batch_size * state.num_steps;
    correction.textContent = letters === 1 ? t("correction_one") : t("correction", { letters: formatNumber(letters, 0), passages: state.batch_size, steps: state.num_steps });
  };
  return {
    node,
    knobs,
    draw,
    /** What the layer does with its memory, if it has one. */
    tell(cell, forgets) {
      const about = t(forgets ? "about_none" : `about_${cell}`);
      if (gloss.textContent !== about) gloss.textContent = about;
      const units = t(forgets ? "units_alone" : "num_hiddens");
      if (sliders.num_hiddens.name.textContent !== units) sliders.num_hiddens.name.textContent = units;
    },
    /** Once a run is over, a cat has nothing to lie on. */
    end(isOver) {
      cat.disabled = isOver;
      cat.textContent = t(isOver ? "cat_over" : "cat");
    },
  };
}
