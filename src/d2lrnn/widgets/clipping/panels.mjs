// The loss, whose ball and limit are dragged; and the plane of two weights: the gradient's arrow, and what clipping leaves of it.
import { linePath } from "../charts.mjs";
import { dragOn, watchWidth } from "../shape.mjs";
import { element, formatNumber, svg } from "../ui.mjs";
import { brief, FEW, FLAT, goalOf, lossAt, PATIENCE, plateauTo, RATE, runFrom, signed, slopeAt, slopeIn, STEPS, within } from "./maths.mjs";

const UNIT = 2.4; // pixels
const HALF = 72 * UNIT; // the widest limit has room
const LIMIT = 60;
const KNOB = 10; // of the limit's handle in the plane: its radius
const SIDEWAYS = "M-2.5 -3.5l-3.5 3.5l3.5 3.5M2.5 -3.5l3.5 3.5l-3.5 3.5";
const STEM = 9.5; // the limit's handle stands so far outside, clear of a short arrow
const holdAt = (clip) => -Math.min(clip + STEM, 59.5); // and inside the picture

/** Within two ends, and without decimals, or in so many parts of 1. */
const rounded = (value, max, min, parts = 1) => Math.round(parts * within(value, max, min)) / parts;
const HALVES = 2; // of the limit
const FINE = 14; // pixels of a limit: beneath, the hand goes on past the ball, and the limit shrinks ever more slowly
const limitAt = (hand) => (hand < FINE ? FINE * Math.exp(hand / FINE - 1) : hand);
const handOf = (long) => (long < FINE ? FINE * (1 + Math.log(long / FINE)) : long);

function arrow(kind, [x, y], thickness) {
  const length = Math.hypot(x, y) * UNIT;
  if (length < 8) return svg("circle", { class: `clip-tip-${kind}`, cx: 0, cy: 0, r: 4 }); // too short for an arrow
  const tip = Math.min(3.4 * thickness, 0.6 * length);
  const turn = `rotate(${(-Math.atan2(y, x) * 180) / Math.PI})`;
  return svg("g", { transform: turn },
    svg("path", { class: `clip-arrow-${kind}`, "stroke-width": thickness, d: `M0 0H${(length - tip * 0.8).toFixed(1)}` }),
    svg("path", { class: `clip-tip-${kind}`, d: `M${length.toFixed(1)} 0l${-tip} ${tip / 2}v${-tip}z` }));
}

/** A handle that is dragged, and a slider for keys and screen readers: a circle, pale around `parts`. */
function handle(kind, name, [min, max], halo, ...parts) {
  return svg(
    "g", { class: `clip-handle clip-handle-${kind}`, role: "slider", tabindex: "0", "aria-label": name, "aria-valuemin": min, "aria-valuemax": max },
    svg("circle", { class: "clip-halo", r: halo }), ...parts);
}

const knob = (r) => svg("circle", { class: "clip-grip", r });
const sideways = () => svg("path", { class: "clip-sign", d: SIDEWAYS });

/** What the keys change a value between two ends by. */
const byKey = ({ min, max }, step) =>
  ({ ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, Home: min - max, End: max - min });

/** `act` gets what `map` has for a key that is pressed on `node`, and 10 with Shift, else 1. */
function onKeys(node, { map, act, signal }) {
  node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(map, event.key)) return;
    event.preventDefault();
    act(map[event.key], event.shiftKey ? 10 : 1);
  }, { signal });
}

/** `onChange` gets new values of the controls, by dragging the tip or the edge of what is allowed, or by the arrow keys. */
export function planePanel({ t, range, onChange, signal }) {
  const allowed = svg("g");
  const arrows = svg("g", { "pointer-events": "none" });
  const labels = svg("g");
  const axes = [["axis_1", HALF - 6, 17], ["axis_2", -7, 19 - HALF]].map(([name, x, y]) => svg(
    "text", { class: "clip-text clip-axis-text", "text-anchor": "end", x, y }, t(name)));
  const edgeText = svg("text", { class: "clip-text clip-edge-text", "text-anchor": "end" });
  const stem = svg("path", { class: "clip-stem" });
  const hint = svg("text", { class: "clip-text clip-hint", "text-anchor": "middle" }, t("drag"));
  const { min, max } = range;
  const edge = handle("edge", t("plane_limit"), [min, max], 28, knob(KNOB), sideways());
  const tip = handle("tip", t("tip"), [0, 85], 28, knob(13));
  const grid = [];
  for (let i = -7; i <= 7; i += 1) if (i !== 0) grid.push(`M${10 * i * UNIT} ${-HALF}V${HALF}M${-HALF} ${10 * i * UNIT}H${HALF}`);
  const picture = svg(
    "svg", { class: "clip-plane", viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "group" },
    svg("path", { class: "clip-grid", d: grid.join("") }),
    allowed,
    svg("path", { class: "clip-axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    ...axes, stem, edge, edgeText, tip, arrows, labels, hint,
  );
  const node = element("div", { class: "clip-picture" }, picture);
  let shown = null;
  let holds = "tip";
  let grabbed = 0; // where the limit was when it was taken, beyond the pointer

  const pointOf = ({ x, y }) => [((2 * x - 1) * HALF) / UNIT, ((1 - 2 * y) * HALF) / UNIT];
  dragOn(picture, {
    axis: "both",
    start: (at) => {
      const [x, y] = pointOf(at);
      const toEdge = Math.hypot(x - holdAt(shown.clip), y);
      grabbed = shown.clip + x;
      holds = toEdge < 12 && toEdge < Math.hypot(x - shown.g_1, y - shown.g_2) ? "edge" : "tip";
      hint.remove();
    },
    move: (at) => {
      const [x, y] = pointOf(at);
      if (holds === "edge") onChange({ clip: rounded(grabbed - x, max, min, HALVES) });
      else onChange({ g_1: rounded(x, LIMIT), g_2: rounded(y, LIMIT) });
    },
    signal,
  });
  onKeys(tip, {
    map: { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] },
    act: ([x, y], times) => onChange({ g_1: rounded(shown.g_1 + times * x, LIMIT), g_2: rounded(shown.g_2 + times * y, LIMIT) }),
    signal,
  });
  onKeys(edge, { map: byKey(range, 1 / HALVES), act: (by, times) => onChange({ clip: rounded(shown.clip + times * by, max, min, HALVES) }), signal });

  const keepInside = (label) => {
    const box = label.getBBox();
    const move = (at, size) => Math.max(0, 4 - HALF - at) - Math.max(0, at + size + 4 - HALF);
    label.setAttribute("x", Number(label.getAttribute("x")) + move(box.x, box.width));
    label.setAttribute("y", Number(label.getAttribute("y")) + move(box.y, box.height));
  };
  /** Of labels that would lie on each other, or on what is `taken`, the earlier ones are shown. */
  const hideCovered = (all, taken) => all.forEach((label) => {
    label.style.display = "";
    const box = label.getBBox();
    const meets = (other) => box.x < other.x + other.width + 2 && other.x < box.x + box.width + 2
      && box.y < other.y + other.height && other.y < box.y + box.height;
    if (taken.some(meets)) label.style.display = "none";
    else taken.push(box);
  });
  const text = (kind, x, y, anchor, words) => svg("text", { class: `clip-text clip-${kind}`, x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, words);
  /** Beyond the tip, beside it where there is no room beyond, and never across the limit: [x, y, anchor]. */
  const placeAtTip = ({ g_1: x, g_2: y, clip }) => {
    if (Math.abs(y) > 48) return [x * UNIT + (x > 0 ? -34 : 34), -y * UNIT + 5, x > 0 ? "end" : "start"];
    const [left, beyond, r] = [within(x * UNIT, HALF - 52), Math.abs(y) * UNIT + 34, clip * UNIT];
    const far = Math.hypot(Math.abs(left) + 50, beyond + 14);
    const near = Math.hypot(Math.max(0, Math.abs(left) - 50), beyond - 4);
    const clear = far > r && near < r && r < 120 ? Math.max(beyond, r + 8) : beyond;
    return [left, y >= 0 ? -clear : clear + 10, "middle"];
  };
  /** Beside the clipped arrow, on the side where the gradient is not, unless that is outside the picture. */
  const textAtClipped = ([x, y], size, clockwise, clip, words) => {
    const away = Math.hypot(x - holdAt(clip), y) * UNIT < 45 ? 40 : 14; // clear of the limit's handle
    if (size * UNIT < 30) return text("clipped", clip * UNIT + 10, y < 0 ? -10 : 40, "start", words); // beside what is allowed, clear of the axis' name
    const side = x < 0 ? 1 : -1;
    const place = (sign) => ({ nx: (sign * y) / size, ny: (-sign * x) / size, left: x * UNIT + (away * sign * y) / size });
    const outer = place(clockwise ? 1 : -1);
    const { nx, ny, left } = Math.abs(outer.left) > HALF - 84 && outer.nx * outer.left > 0 ? place(clockwise ? -1 : 1) : outer;
    const flat = Math.abs(nx) <= 0.3; // then the words stand above or beneath: away from the edge's handle, or over a long arrow
    const right = flat ? (side < 0) === (size < 30) : nx > 0;
    const inwards = flat ? (right ? 1 : -1) * (size < 30 ? -17 : 44) : 0;
    return text("clipped", left + inwards, -y * UNIT - away * ny + 5, right ? "start" : "end", words);
  };

  function draw(model) {
    shown = model;
    const { g_1, g_2, clip, by, clipped, length, clippedLength, angle, acts } = model;
    const r = clip * UNIT;
    allowed.replaceChildren(by === "norm"
      ? svg("circle", { class: "clip-allowed", cx: 0, cy: 0, r })
      : svg("rect", { class: "clip-allowed", x: -r, y: -r, width: 2 * r, height: 2 * r }));
    const hold = holdAt(clip) * UNIT;
    edge.setAttribute("transform", `translate(${hold} 0)`);
    stem.setAttribute("d", `M${-r} 0H${hold}`);
    edge.setAttribute("aria-valuenow", clip);
    edge.setAttribute("aria-valuetext", brief(clip));
    edgeText.textContent = t("plane_limit_is", { clip: brief(clip) });
    edgeText.setAttribute("x", Math.max(Math.min(-r - 4, -20), -124));
    edgeText.setAttribute("y", g_1 < 0 && g_2 < 0 ? -34 : 44); // on the side where the gradient is not
    const parts = [arrow("full", [g_1, g_2], 4)];
    if (acts) parts.push(arrow("clipped", clipped, 6));
    const atTip = placeAtTip(model);
    const notes = length > 0 ? [text("long", ...atTip, t("long", { length: length.toFixed(1) }))] : [];
    const straight = g_1 >= 0 || g_2 >= 0; // then the words stand on the other side of the arrow than those of the limit
    const clockwise = angle === 0 ? straight : g_1 * clipped[1] <= g_2 * clipped[0]; // from the gradient to the clipped arrow
    if (acts) notes.push(textAtClipped(clipped, clippedLength, clockwise, clip, t("clipped_to", { length: clippedLength.toFixed(1) })));
    if (angle >= 12) { // less has no room between the arrows
      const way = ([x, y], size) => `${((x / Math.hypot(x, y)) * size).toFixed(1)} ${((-y / Math.hypot(x, y)) * size).toFixed(1)}`;
      const size = Math.min(r * 1.3, UNIT * clippedLength) + 14;
      parts.push(svg("path", { class: "clip-arc", d: `M${way([g_1, g_2], size)}A${size} ${size} 0 0 ${Number(clockwise)} ${way(clipped, size)}` }));
      const middle = [g_1 / length + clipped[0] / clippedLength, g_2 / length + clipped[1] / clippedLength];
      const [x, y] = way(middle, size + 16).split(" ").map(Number);
      notes.push(text("angle", x, y + 4, "middle", t("angle", { angle: Math.round(angle) })));
    }
    arrows.replaceChildren(...parts);
    labels.replaceChildren(...notes);
    const isSeen = picture.getBoundingClientRect().width > 0; // not folded
    const cut = notes.find((note) => note.classList.contains("clip-clipped"));
    const { x: from, y: above, width: wide, height: tall } = isSeen && cut ? cut.getBBox() : new DOMRect(HALF);
    if (Math.hypot(hold - within(hold, from + wide, from), within(0, above + tall, above)) < KNOB + 4) { // at the limit's handle
      cut.setAttribute("x", r + 10);
      cut.setAttribute("text-anchor", "start");
    }
    if (isSeen) [...notes, edgeText].forEach(keepInside);
    tip.setAttribute("transform", `translate(${g_1 * UNIT} ${-g_2 * UNIT})`);
    hint.setAttribute("x", within(atTip[0], HALF - 32));
    const beyond = atTip[1] + (g_2 >= 0 ? -21 : 21); // the length
    hint.setAttribute("y", beyond);
    const grip = { x: g_1 * UNIT - 13, y: -g_2 * UNIT - 13, width: 26, height: 26 };
    const fits = beyond > 20 - HALF && beyond < HALF - 10;
    if (isSeen) hideCovered([...notes, ...axes, ...(hint.isConnected && fits ? [hint] : [])], [grip, edgeText.getBBox()]);
    if (!fits) hint.style.display = "none";
    tip.setAttribute("aria-valuenow", length.toFixed(1));
    tip.setAttribute("aria-valuetext", t("tip_value", { a: signed(g_1, 0), b: signed(g_2, 0), length: length.toFixed(1) }));
    picture.setAttribute("aria-label", t("picture", {
      a: signed(g_1, 0), b: signed(g_2, 0), length: length.toFixed(1), c: signed(clipped[0]), d: signed(clipped[1]),
      clipped: clippedLength.toFixed(1), angle: Math.round(angle),
    }));
  }
  return { node, draw, askToDrag: () => labels.after(hint), place: () => shown && draw(shown) };
}

const [FROM, TO] = [-0.06, 1.22]; // the weights in the picture
const DEPTHS = [0, 10, 24, 40]; // pixels beneath the loss where its ground gets darker
const HIGH = { narrow: 260, wide: 332 }; // of the picture of the loss
const TANGENT = 26; // pixels to either side of its place
const WIDE = 480; // from this width on
const STRIPS = { narrow: 62, wide: 78 }; // of the strip under it
const [NAME, OVER] = [16, 24]; // pixels from its top to its name's foot; and over its highest bar, for names and counts
const BELOW = 40; // of the choice of letters
const BASE = 50; // pixels beneath the valley, for words
const AXIS = 17; // of them, for the axis
const [SKY, TOP] = [80, 6]; // above the highest place of the ball, for the limit's handle; and no flight goes higher
const LIFT = 36; // pixels from the first step's arrow up to the limit's handle
const SEEN = 4; // pixels: a shorter step is a dot alone
const LINE = 17; // pixels from one line of words to the next
const LETTER = 0.59; // of the size of bold words, at most, on average
const FLANK = 0.85; // weights from here on: words stand beneath the valley
const NAMED = { at: 0.8, long: 70, onWall: 1.045 }; // the weight beneath which the loss of fewer letters is named, pixels of its name, and, where there is room, the weight beside which it is named
const COUNT = 3.5; // of the size of those words: half as wide as they are
const TOTAL = 32; // and as the longest count in the strip
const MARK = 120; // pixels of a marked slope
const PLATEAU = 134; // pixels: up to here stands its name
const GAP = 14; // pixels from the goal's words to the ball's weight
const CENTS = 100; // of the ball's weight

/** Why one clips: ten steps down a loss, as they are and clipped. The ball is dragged, and so is the limit: a gate that cuts the arrow of its first step. */
export function lossPanel({ t, range, rangeStart, lettersChoice, onChange, signal }) {
  let width = 0;
  let [high, stripHigh] = [HIGH.wide, STRIPS.wide]; // of the part above the strip, and of the strip
  let shown = null;
  let [freeSteps, keptSteps] = [STEPS, STEPS]; // that are drawn
  let holds = null;
  let grabbed = 0;
  let row = { of: "", bars: [] }; // how many steps every limit needs, once one has been tried for this ball
  const curve = svg("path", { class: "clip-curve" });
  const ground = DEPTHS.map(() => svg("path", { class: "clip-ground" }));
  const plateau = svg("path", { class: "clip-plateau" });
  const plateauText = svg("text", { class: "clip-text clip-axis-text" }, t("plateau", { slope: FLAT }));
  const [free, kept, counts] = [svg("g"), svg("g"), svg("g")];
  const loss = svg("text", { class: "clip-text", y: 14 });
  const axis = svg("g");
  const goal = svg("path", { class: "clip-goal" });
  const fewer = svg("g"); // letters: their loss beside that of more
  const swing = svg("g"); // a leap across the goal, of a ball that never rests there
  const marks = svg("g"); // of an answered step: the slope where the ball that is not clipped lands
  let isMarked = false;
  let isAsked = false; // a question hides how many steps it takes
  let isMoving = false; // and so does a motion, until it ends
  let isHidden = false; // while a question waits, the row may not answer it
  let isOpening = true; // nothing tells yet where the other steps lead
  const strip = svg("g");
  const gate = svg("path", { class: "clip-gate" });
  const [limitText, slopeText] = ["limit", "step"].map((kind) => svg("text", { class: `clip-text clip-${kind}-text` }));
  const ball = handle("ball", t("ball"), [rangeStart.min, rangeStart.max], 22, svg("circle", { class: "clip-start", r: 11 }), sideways());
  const limit = handle("limit", t("threshold"), [range.min, range.max], 22, knob(13), sideways());
  const picture = svg("svg", { class: "clip-valley", role: "group" },
    ...ground, plateau, goal, curve, loss, plateauText, axis, strip, fewer, marks, free, kept, swing, gate, limitText, slopeText, limit, ball, counts);
  const node = element("div", { class: "clip-valley-box" }, picture, lettersChoice);

  const x = (weight) => ((weight - FROM) * width) / (TO - FROM);
  const y = (value) => high - BASE - (value * (high - BASE - SKY)) / lossAt(rangeStart.max, FEW);
  const weightAt = (left) => FROM + ((TO - FROM) * left) / width;
  const fontSize = () => (width < 448 ? 13 : 14); // as in style.css
  const stepOf = (size) => Number((size * RATE).toPrecision(3)); // as it is told
  const downhill = () => (shown.start < 1 ? 1 : -1);
  const unit = () => x(RATE) - x(0); // pixels of a limit of 1
  /** Where a hand holds the limit. */
  const handAt = () => x(shown.start) + downhill() * handOf(shown.clip * unit());
  /** The limit's handle: straight over the place that no first step can pass, a small limit's beyond it, where the hand is; at the picture's edge where that is outside. */
  const gateAt = () => ({
    left: within(handAt(), width - 16, 16),
    passes: within(x(shown.start) + downhill() * shown.clip * unit(), width - 16, 16),
    top: Math.min(y(shown.loss), y(0.5)) - LIFT,
  });
  /** Whether the limit leaves the first step as it is. */
  const isIdleNow = () => shown.slope <= shown.clip;
  const mark = (now) => {
    isMarked = now;
    paint();
  };
  const landing = (now) => shown.start - RATE * within(slopeAt(shown.start, shown.letters), now);
  const ballNow = () => `${shown.letters} ${shown.start}`;
  const moveBall = (weight) => {
    mark(false);
    onChange({ start: rounded(weight, shown.highest, rangeStart.min, CENTS) });
  };
  const moveLimit = (clip) => {
    const { start, letters } = shown;
    if (row.of !== ballNow()) row = { of: ballNow(), bars: Array.from({ length: (range.max - range.min) * HALVES + 1 }, (_, i) => {
      const now = range.min + i / HALVES;
      return [landing(now), runFrom(start, letters, now).down];
    }) };
    onChange({ clip: rounded(clip, range.max, range.min, HALVES) });
  };
  dragOn(picture, {
    start: (at) => {
      const [left, top] = [at.x * width, at.y * (high + stripHigh + BELOW)];
      const [knobAt, ballAt] = [gateAt(), { left: x(shown.start), top: y(shown.loss) }];
      const [toLimit, toBall] = [knobAt, ballAt].map((place) => Math.hypot(left - place.left, top - place.top));
      const isUp = top < knobAt.top + LIFT / 2 || top > high; // the limit's half of the sky, or the strip
      holds = (Math.min(toLimit, toBall) < 30 ? toLimit <= toBall : isUp) ? "limit" : "ball";
      const off = (holds === "ball" ? ballAt : knobAt).left - left;
      const ahead = holds === "ball" || (downhill() > 0 && handAt() > knobAt.left) ? 0 : handAt() - knobAt.left; // of the handle at an edge, unless it comes from far outside
      grabbed = Math.abs(off) < 26 ? off + ahead : 0; // pressed far from it: it comes
    },
    move: (at) => {
      const left = at.x * width + grabbed;
      if (holds === "ball") moveBall(weightAt(left));
      else if (downhill() < 0 || left < width - 16 || gateAt().left < width - 16) moveLimit(limitAt(downhill() * (left - x(shown.start))) / unit());
    },
    end: () => { holds = null; },
    signal,
  });
  onKeys(limit, { map: byKey(range, 1 / HALVES), act: (by, times) => moveLimit(shown.clip + times * by), signal });
  onKeys(ball, { map: byKey(rangeStart, 1 / CENTS), act: (by, times) => moveBall(shown.start + times * by), signal });

  const number = (value) => value.toFixed(1);
  /** The loss, from the left edge to a weight or to where it is so many pixels over the picture; with as many points for any number of letters, so that one line can become the other. */
  const lossLine = (letters, end = Infinity, over = 0) => {
    const top = (lossAt(rangeStart.max, FEW) * (high - BASE + over)) / (high - BASE - SKY);
    const to = Math.min(end, (1 + Math.sqrt(2 * top)) ** (1 / letters));
    const weights = Array.from({ length: 801 }, (_, i) => FROM + ((to - FROM) * i) / 800);
    return linePath(weights, weights.map((weight) => lossAt(weight, letters)), x, y);
  };
  /** A short line along the loss, as steep as it is there. */
  const tangent = (weight) => {
    const [along, up] = [x(1) - x(0), slopeAt(weight, shown.letters) * (y(0) - y(1))];
    const [dx, dy] = [along, -up].map((part) => (TANGENT * part) / Math.hypot(along, up));
    return `M${number(x(weight) - dx)} ${number(y(lossAt(weight, shown.letters)) - dy)}l${number(2 * dx)} ${number(2 * dy)}`;
  };
  /** The first step: an arrow as long as it is, from the ball, and a fall onto the loss. */
  function firstStep(kind, from, to) {
    const [way, tip] = [Math.sign(to[0] - from[0]), kind === "full" ? 11 : 15];
    const neck = number(to[0] - way * Math.min(tip, Math.abs(to[0] - from[0])) * 0.8);
    return [
      svg("path", { class: `clip-drop clip-drop-${kind}`, d: `M${number(to[0])} ${number(from[1])}V${number(to[1])}` }),
      svg("path", { class: `clip-flight clip-arrow-${kind} clip-first`, d: `M${from.map(number).join(" ")}H${neck}` }),
      svg("path", { class: `clip-head clip-tip-${kind}`, d: `M${number(to[0])} ${number(from[1])}l${-way * tip} ${tip / 2}v${-tip}z` }),
    ];
  }
  /** So many steps of a path after the `first` ones, to where each lands; under the last one, in the ground, how many, unless it is on the wall or at the goal. */
  function trail(kind, path, lift, steps, isNumbered, first = 0) {
    const parts = [];
    const at = (i) => [x(path[i]), y(lossAt(path[i], shown.letters))];
    for (let i = first + 1; i <= steps; i += 1) {
      const [from, to] = [at(i - 1), at(i)];
      const size = Math.abs(to[0] - from[0]);
      if (size >= SEEN && i === 1) parts.push(...firstStep(kind, from, to));
      else if (size >= SEEN) {
        const highest = TOP - Math.sqrt(Math.max(0, (from[1] - TOP) * (to[1] - TOP))); // of the control point
        const top = Math.max(highest, Math.min(from[1], to[1]) - lift * size);
        parts.push(svg("path", {
          class: `clip-flight clip-arrow-${kind}`,
          d: `M${from.map(number).join(" ")}Q${number((from[0] + to[0]) / 2)} ${number(top)} ${to.map(number).join(" ")}`,
        }));
      }
      const isClose = i > 1 && Math.hypot(to[0] - from[0], to[1] - from[1]) < SEEN; // pale edges would run together
      parts.push(svg("circle", { class: `clip-landed-${kind}${isClose ? " clip-close" : ""}`, cx: number(to[0]), cy: number(to[1]), r: 5 }));
    }
    if (isNumbered && path[steps] < goalOf(shown.letters)[0]) {
      const [[left, top], half] = [at(steps), COUNT * fontSize()];
      const told = isOpening && Math.abs(left - x(path[1])) < 1 ? 1 : steps; // all in one place
      const isFree = shown.letters === FEW ? path[steps] < FLANK : left + half < x(NAMED.at) - NAMED.long;
      counts.append(svg("text", {
        class: "clip-text clip-count", "text-anchor": "middle", x: number(within(left, x(goalOf(shown.letters)[0]) - (width < WIDE ? 4 : 10) - half, isFree ? half : PLATEAU + half)), y: number(isFree ? top + 24 : high - BASE + 21),
      }, t("after", { steps: t(told === 1 ? "steps_one" : "steps_many", { count: told }) })));
    }
    return parts;
  }

  /** Where a leap across the goal starts and ends, and a double arrow between, under the valley. */
  function toAndFro(kind, leap) {
    const [middle, half] = [(x(leap[0]) + x(leap[1])) / 2, Math.abs(x(leap[0]) - x(leap[1])) / 2];
    const [level, reach] = [high - BASE + 18, Math.max(6, half)]; // shorter, it would be no arrow
    const [from, to, tip] = [middle - reach, middle + reach, Math.min(9, reach)];
    const head = (at, way) => `M${number(at)} ${level}l${number(way * tip)} ${number(0.6 * tip)}v${number(-1.2 * tip)}z`;
    return [
      ...half < reach ? [] : leap.map((weight) => svg("path", { class: `clip-drop clip-drop-${kind}`, d: `M${number(x(weight))} ${number(y(lossAt(weight, shown.letters)))}V${level}` })),
      svg("path", { class: `clip-swing clip-arrow-${kind}`, d: `M${number(from + tip)} ${level}H${number(to - tip)}` }),
      svg("path", { class: `clip-tip-${kind}`, d: head(from, 1) + head(to, -1) }),
      ...leap.map((weight) => svg("circle", { class: `clip-swung clip-arrow-${kind}`, cx: number(x(weight)), cy: number(y(lossAt(weight, shown.letters))), r: 6 })),
    ];
  }

  /** The room that a path takes after its first step. */
  function roomOf(path, lift) {
    const [lefts, tops] = [path.slice(1).map(x), path.slice(1).map((weight) => y(lossAt(weight, shown.letters)))];
    const far = Math.max(...lefts.slice(1).map((left, i) => Math.abs(left - lefts[i])));
    return { from: Math.min(...lefts), to: Math.max(...lefts), top: Math.min(...tops) - (lift * far) / 2, bottom: Math.max(...tops) };
  }

  /** The words of the limit, beside its handle, and those of the slope, beyond the first step and the limit: shorter or elsewhere where they would meet something. */
  function placeWords() {
    const { left, passes, top } = gateAt();
    const { start, clip, clips, slope, free: path, kept: keptPath, loss: height } = shown;
    const [size, isLeft, tip, isIdle] = [fontSize(), downhill() < 0, x(path[1]), isIdleNow()];
    const around = (at, to, r) => ({ from: at - r, to: at + r, top: to - r, bottom: to + r });
    const taken = [around(left, top, 16), { from: 0, to: 130, top: 0, bottom: 18 }, { from: Math.min(left, passes) - 4, to: Math.max(left, passes) + 4, top, bottom: y(height) }, around(x(start), y(height), 14), roomOf(path, 0.42)];
    if (clips) taken.push(roomOf(keptPath, 0.2));
    for (const landed of clips ? [path[1], keptPath[1]] : [path[1]]) taken.push({ from: x(landed) - 4, to: x(landed) + 4, top: y(height), bottom: y(lossAt(landed, shown.letters)) });
    taken.push({ from: 0, to: width, top: y(0.5) - 3, bottom: high });
    const ground = y(lossAt(path[1], shown.letters));
    const side = markSide();
    if (isMarked) taken.push({ from: tip + (side < 0 ? -TANGENT - MARK : TANGENT), to: tip + (side < 0 ? -TANGENT : TANGENT + MARK), top: Math.max(y(height) + 2, ground - 40), bottom: high }, { from: tip - TANGENT, to: tip + TANGENT, top: ground - 5, bottom: high });
    const meets = (a, b) => a.from < b.to && b.from < a.to && a.top < b.bottom && b.top < a.bottom;
    /** At the first of their places where they meet nothing; at the `best` ones rather on more lines than elsewhere on one. */
    const put = (text, words, best, placesOf) => {
      const lists = [[words.join(" ")], words, words.flatMap((line) => line.split(/ (?==)/)), words].map((lines, k) => {
        const needs = Math.max(...lines.map((line) => line.length)) * LETTER * size;
        const most = x(isLeft ? start : 1.03) - needs; // clear of the wall
        return placesOf(needs, most, 8 * (lines.length - 1), k === 3).map(([from, middle, anchor = "start"]) => {
          const baseline = middle + 5 - ((lines.length - 1) * LINE) / 2;
          return { lines, baseline, anchor, most, from, to: from + needs, top: baseline - size, bottom: baseline + (lines.length - 1) * LINE + 4 };
        });
      });
      const found = [...lists.slice(0, 2).flatMap((all) => all.slice(0, best)), ...lists.flat()].find((place) => place.from >= 4 && place.from <= place.most && place.top >= 0 && !taken.some((other) => meets(place, other)));
      text.setAttribute("text-anchor", found?.anchor ?? "start");
      text.replaceChildren(...(found?.lines ?? []).map((line, i, { length }) => svg(
        "tspan", { x: number(found[found.anchor === "end" ? "to" : "from"]), y: number(found.baseline + i * LINE) }, found.anchor === "end" ? `${i > 0 ? " " : ""}${line}` : `${line}${i < length - 1 ? " " : ""}`))); // a space where it moves nothing
      if (found) taken.push(found);
    };
    const wordings = (kind, digits) => [t(kind, { size: digits }), t("step_is", { rate: RATE, step: String(stepOf(digits)) })];
    put(limitText, isIdle ? [t("limit_is", { size: clip }), t("limit_idle")] : clips ? wordings("limit_is", clip) : t("limit_off").split(/(?<=:) /), 0, (needs, most) =>
      [[Math.min(most, left - 28 - needs), top, "end"], [left + 28, top], [within(left - needs / 2, most, 4), top - 31]]);
    if (slope === 0) {
      slopeText.replaceChildren();
      return;
    }
    const [level, row] = [y(height), top + LIFT - 15];
    put(slopeText, slope * RATE < 1e-4 ? [t("slope_there", { slope: slopeIn(slope) })] : wordings("slope_is", slopeIn(slope)), 1, (needs, most, lift, isLast) => {
      const inner = isLeft ? Math.max(tip, left) + 20 : x(start) - needs / 2;
      const short = [[(isLeft ? Math.min(tip, left) - 20 : x(start) - 20) - needs, row - lift, "end"], [4, row - lift], [inner, row - lift]];
      const under = [tip + 10, level + 16 + lift];
      return [...!isLeft ? [] : [[tip - 10 - needs, level, "end"], under], ...short, ...isLast ? [31, 57].map((far) => [within(inner, most, 4), top - far]) : []];
    });
  }

  /** Where the slope is told that a step marks: right of its place, left where the limited ball falls there, or nowhere. */
  function markSide() {
    const [landed, falls] = [shown.free[1], shown.kept[1]].map(x);
    if (!shown.clips || falls < landed + TANGENT || falls > landed + TANGENT + MARK) return 1;
    return landed > TANGENT + MARK ? -1 : 0;
  }

  /** Beneath the ground, the weights: the goal, the ball's, those where its first step lands; and the others where they have room. */
  function drawAxis() {
    const { start, clip, clips, slope, free: path, kept: keptPath, freeDown } = shown;
    const taken = [];
    /** Words as near to their place as the picture and, `aside`, the goal's words allow; none where others stand. */
    const put = (kind, words, left, { tick = left, aside = 0, ends = false } = {}) => {
      const text = svg("text", { class: `clip-text clip-axis-text clip-at-${kind}`, "text-anchor": "middle", y: high - 3 }, words);
      axis.append(text);
      const half = text.getComputedTextLength() / 2;
      const clear = aside === 0 ? left - (ends ? half - 2 : 0) : taken[0].at + aside * (taken[0].half + half + GAP);
      const at = within(aside > 0 ? Math.max(left, clear) : Math.min(left, clear), width - half, half);
      const isFree = !taken.some((other) => Math.abs(other.at - at) < other.half + half + 4);
      if (!isFree) text.remove();
      else {
        taken.push({ at, half });
        text.setAttribute("x", number(at));
        if (tick !== null) axis.append(svg("path", { class: `clip-tick clip-tick-${kind}`, d: `M${number(tick)} ${high - AXIS}v4` }));
      }
      return isFree;
    };
    axis.replaceChildren();
    put("goal", t("goal", { weight: 1 }), x(1), { tick: null, ends: start > 1 }); // the post is its tick; the ball's weight has room at its right
    if (start !== 1) put("start", brief(start), x(start), { aside: start > 1 ? 1 : -1 });
    if (slope * RATE >= 1e-4 && freeDown !== 0) {
      const lands = (size) => brief(start + downhill() * stepOf(size), 4); // so that the numbers in the picture add up
      const size = Number(slopeIn(slope));
      if (clips) put("clipped", lands(Math.min(clip, size)), x(keptPath[1]));
      put("full", lands(size), x(path[1]));
    }
    for (const weight of [0, 0.5]) put("other", String(weight), x(weight));
    [0.75, 0.65, 0.25].some((weight) => put("name", t("weight_axis"), x(weight), { tick: null }));
  }

  /** How many steps it takes to the goal, under the place where the first one lands: for no limit, for this one, and faintly for all; grey where none of them is enough. */
  function drawStrip() {
    const { clip, clips, free: path, freeDown, keptDown } = shown;
    const floor = high + stripHigh;
    const tall = (down) => 3 + ((stripHigh - OVER) * Math.log10(Math.max(1, down ?? PATIENCE))) / Math.log10(PATIENCE);
    const wide = Math.max(2, x(RATE / HALVES) - x(0) + 0.5); // no seams between them
    const bars = (kind, all) => (all.length === 0 ? [] : [svg("path", {
      class: `clip-bar clip-bar-${kind}`, d: all.map(([to, down]) => `M${number(x(to) - wide / 2)} ${floor}v${number(-tall(down))}h${number(wide)}V${floor}z`).join(""),
    })]);
    const isApart = !clips || Math.abs(x(landing(clip)) - x(path[1])) > 2 * TOTAL;
    const isOne = clips && freeDown === keptDown && !isApart;
    const count = (kind, to, down, side) => svg("text", { // close to another, each on its own side
      class: `clip-text clip-count-${kind}`, "text-anchor": isApart || isOne ? "middle" : side < 0 ? "end" : "start", x: number(isApart || isOne ? Math.max(TOTAL, x(to)) : x(to) + 3 * side), y: number(floor - tall(down) - 4),
    }, down === null ? `> ${formatNumber(PATIENCE, 0)}` : formatNumber(down, 0));
    const all = row.of === ballNow() && !isMoving && !isHidden ? row.bars : [];
    const [enough, never] = [all.filter(([, down]) => down !== null), all.filter(([, down]) => down === null)];
    strip.replaceChildren(
      svg("path", { class: "clip-floor", d: `M0 ${floor}H${width}` }),
      ...bars("never", never), ...bars("all", enough),
      ...isAsked || (isMoving && !clips) ? [] : [...bars("full", [[path[1], freeDown]]), ...isOne ? [] : [count("full", path[1], freeDown, downhill())]],
      ...clips && !isMoving ? [...bars("clipped", [[landing(clip), keptDown]]), count("clipped", landing(clip), keptDown, -downhill())] : [],
    );
    const [name, told] = ["clip-strip-name", "clip-never-text"].map((kind) => svg("text", { class: `clip-text clip-axis-text ${kind}`, y: high + NAME }));
    strip.append(name, told);
    // the name: clear of the counts, which may stand as high
    const counts = [...strip.querySelectorAll(".clip-count-full, .clip-count-clipped")].map((text) => text.getBBox()).filter((box) => box.y < high + NAME + 4);
    const place = (words) => {
      name.textContent = words;
      const [long, edge] = [name.getComputedTextLength(), width < WIDE ? 6 : 12];
      return [edge, width - edge - long, (width - long) / 2].find((from) => counts.every((box) => box.x > from + long + 8 || box.x + box.width + 8 < from));
    };
    name.setAttribute("x", number(place(t("steps_strip")) ?? place(t("steps_strip_short")) ?? 0));
    // and what the grey bars mean, in the widest stretch of them that no other bar divides
    const runs = all.reduce((found, [to, down]) => {
      const goesOn = down === null && !(clips && to === landing(clip));
      return goesOn ? [...found.slice(0, -1), [...found.at(-1), x(to)]] : [...found, []];
    }, [[]]).filter((run) => run.length > 0).map((run) => [run[0], run.at(-1)]);
    const [from, to] = runs.sort((a, b) => Math.abs(b[1] - b[0]) - Math.abs(a[1] - a[0]))[0] ?? [0, 0];
    told.textContent = t("steps_more", { count: formatNumber(PATIENCE, 0) });
    told.setAttribute("x", number((from + to) / 2));
    told.setAttribute("y", number(floor - tall(null) / 2 + 4));
    if (Math.abs(to - from) < told.getComputedTextLength() + 16) told.remove();
  }

  function paint() {
    if (width === 0 || shown === null) return;
    const { start, letters, clip, clips, slope } = shown;
    picture.dataset.clips = String(clips);
    curve.setAttribute("d", lossLine(letters));
    ground.forEach((part, i) => {
      part.setAttribute("d", `${lossLine(letters, Infinity, DEPTHS[i])}H${width}V${high - AXIS - DEPTHS[i]}H0Z`);
      part.setAttribute("transform", `translate(0 ${DEPTHS[i]})`);
    });
    plateau.setAttribute("d", `${lossLine(letters, plateauTo(letters))}V${high - AXIS}H0Z`);
    [loss, plateauText].forEach((text) => text.setAttribute("x", width < WIDE ? 6 : 12));
    plateauText.setAttribute("y", high - AXIS - 7);
    const leap = clips ? shown.keptLeap : shown.freeLeap;
    const [isSwinging, [from, to]] = [leap !== null && !isMoving, goalOf(letters)];
    goal.setAttribute("d", `M${number(x(from))} ${number(y(0))}H${number(x(to))}V${isSwinging ? y(0) + 9 : high - AXIS}H${number(x(from))}Z`); // the double arrow stands beneath
    picture.dataset.swings = String(isSwinging);
    loss.textContent = t("loss_axis", { letters: String(letters).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]) });
    drawAxis();

    // a ball that is down stays there; where both go the same way, the clipped one is drawn
    const differ = shown.free.findIndex((weight, i) => weight !== shown.kept[i]);
    const shared = !clips ? 0 : differ < 0 ? STEPS : differ - 1;
    counts.replaceChildren();
    swing.replaceChildren(...!isSwinging ? [] : toAndFro(clips ? "clipped" : "full", leap));
    const ofFree = slope === 0 ? [] : trail("full", shown.free, 0.42, Math.min(freeSteps, shown.freeDown ?? STEPS), !clips && leap === null, shared);
    const ofKept = slope === 0 || !clips ? [] : trail("clipped", shown.kept, 0.2, Math.min(keptSteps, shown.keptDown ?? STEPS), leap === null);
    free.replaceChildren(...ofFree);
    kept.replaceChildren(...ofKept);

    const named = width < WIDE ? NAMED.at : NAMED.onWall;
    fewer.replaceChildren(...letters === FEW ? [] : [
      svg("path", { class: "clip-fewer", d: lossLine(FEW) }),
      svg("text", { class: "clip-text clip-fewer-text", "text-anchor": width < WIDE ? "end" : "start", x: number(x(named) + (width < WIDE ? -2 : 12)), y: number(y(lossAt(named, FEW)) + (width < WIDE ? 18 : 5)) }, t("letters_many", { letters: FEW })),
    ]);
    const [landed, side] = [shown.free[1], markSide()];
    marks.replaceChildren(...!isMarked ? [] : [
      svg("path", { class: "clip-tangent", d: tangent(landed) }),
      ...side === 0 ? [] : [svg("text", {
        class: "clip-text clip-slope-text", "text-anchor": side > 0 ? "start" : "end", x: number(x(landed) + side * (TANGENT + 4)), y: number(y(lossAt(landed, letters)) - 10),
      }, t("slope_there", { slope: slopeIn(slopeAt(landed, letters)) }))],
    ]);

    const { left, passes, top } = gateAt();
    const foot = Math.min(y(shown.loss), y(lossAt(weightAt(passes), letters)));
    gate.setAttribute("d", `M${number(passes)} ${number(foot)}V${number(top + LIFT - 8)}L${number(left)} ${number(top)}`);
    picture.dataset.idle = String(isIdleNow());
    limit.setAttribute("transform", `translate(${number(left)} ${number(top)})`);
    limit.setAttribute("aria-valuenow", clip);
    limit.setAttribute("aria-valuetext", brief(clip));
    placeWords();
    drawStrip();

    ball.setAttribute("transform", `translate(${number(x(start))} ${number(y(shown.loss))})`);
    ball.setAttribute("aria-valuemax", shown.highest);
    ball.setAttribute("aria-valuenow", start);
    const at = { start: brief(start), loss: shown.loss.toFixed(2), slope: slopeIn(slope) };
    ball.setAttribute("aria-valuetext", t("ball_value", at));
    picture.setAttribute("aria-label", t("picture_valley", { ...at, told: shown.told }));
  }
  watchWidth(node, {
    act: (now) => {
      if (now < 120) return;
      width = now;
      [high, stripHigh] = [HIGH, STRIPS].map((sizes) => sizes[width < WIDE ? "narrow" : "wide"]);
      picture.setAttribute("viewBox", `0 0 ${width} ${high + stripHigh + BELOW}`);
      picture.setAttribute("height", high + stripHigh + BELOW);
      paint();
    },
    signal,
  });
  return {
    node,
    /** Whether an answered step marks, until the ball is moved, the slope where the ball lands. */
    mark,
    /** The row comes again when a limit is tried. */
    forget: () => { row.of = ""; },
    /** A model with what the living sentence tells of it, and so many of its steps, not clipped and clipped; or the first step alone. */
    draw: (model, freeMany, keptMany, waits, moves, opens, hides) => {
      [shown, freeSteps, keptSteps, isAsked, isMoving, isOpening, isHidden] = [model, waits ? 1 : freeMany, keptMany, waits, moves, opens, hides];
      paint();
    },
  };
}
