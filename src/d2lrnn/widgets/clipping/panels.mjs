// A step on a cliff, whose limit is dragged; and the plane of two weights: the gradient's arrow, and what clipping leaves of it.
import { linePath } from "../charts.mjs";
import { dragOn } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { lossAt, signed, slopeAtPlace } from "./maths.mjs";

const UNIT = 24; // pixels
const HALF = 6.8 * UNIT;
const LIMIT = 6;
const STEP = 0.1;
const SIDEWAYS = "M-2.5 -3.5l-3.5 3.5l3.5 3.5M2.5 -3.5l3.5 3.5l-3.5 3.5";
const STEM = 0.95; // the limit's handle stands so far outside, clear of a short arrow

const within = (value, max, min = -max) => Math.min(max, Math.max(min, value));
const rounded = (value, max, min) => Math.round(10 * within(value, max, min)) / 10;

function arrow(kind, [x, y], thickness) {
  const length = Math.hypot(x, y) * UNIT;
  if (length < 0.5) return svg("circle", { class: `clip-tip-${kind}`, cx: 0, cy: 0, r: 3 });
  const tip = Math.min(3.4 * thickness, 0.6 * length);
  const turn = `rotate(${(-Math.atan2(y, x) * 180) / Math.PI})`;
  return svg("g", { transform: turn },
    svg("path", { class: `clip-arrow-${kind}`, "stroke-width": thickness, d: `M0 0H${(length - tip * 0.8).toFixed(1)}` }),
    svg("path", { class: `clip-tip-${kind}`, d: `M${length.toFixed(1)} 0l${-tip} ${tip / 2}v${-tip}z` }));
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
  const handle = (kind, name, [min, max], sign) => svg(
    "g", { class: `clip-handle clip-handle-${kind}`, role: "slider", tabindex: "0", "aria-label": name, "aria-valuemin": min, "aria-valuemax": max },
    svg("circle", { class: "clip-halo", r: 28 }), svg("circle", { class: "clip-grip", r: sign === null ? 13 : 10 }), ...(sign === null ? [] : [svg("path", { class: "clip-sign", d: sign })]));
  const edge = handle("edge", t("plane_limit"), [range.min, range.max], SIDEWAYS);
  const tip = handle("tip", t("tip"), [0, 8.5], null);
  const grid = [];
  for (let i = -6; i <= 6; i += 1) if (i !== 0) grid.push(`M${i * UNIT} ${-HALF}V${HALF}M${-HALF} ${i * UNIT}H${HALF}`);
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
      const toEdge = Math.hypot(x + shown.clip + STEM, y);
      grabbed = shown.clip + x;
      holds = toEdge < 1.2 && toEdge < Math.hypot(x - shown.g_1, y - shown.g_2) ? "edge" : "tip";
      hint.remove();
    },
    move: (at) => {
      const [x, y] = pointOf(at);
      if (holds === "edge") onChange({ clip: rounded(grabbed - x, range.max, range.min) });
      else onChange({ g_1: rounded(x, LIMIT), g_2: rounded(y, LIMIT) });
    },
    signal,
  });
  const KEYS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowDown: [0, -STEP], ArrowUp: [0, STEP] };
  const keys = (node, map, act) => node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(map, event.key)) return;
    event.preventDefault();
    act(map[event.key], event.shiftKey ? 10 : 1);
  }, { signal });
  keys(tip, KEYS, ([x, y], times) => onChange({ g_1: rounded(shown.g_1 + times * x, LIMIT), g_2: rounded(shown.g_2 + times * y, LIMIT) }));
  const { min, max } = range;
  const BY = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, Home: min - max, End: max - min };
  keys(edge, BY, (by, times) => onChange({ clip: rounded(shown.clip + times * by, max, min) }));

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
    if (Math.abs(y) > 4.8) return [x * UNIT + (x > 0 ? -34 : 34), -y * UNIT + 5, x > 0 ? "end" : "start"];
    const [left, beyond, r] = [within(x * UNIT, HALF - 52), Math.abs(y) * UNIT + 34, clip * UNIT];
    const far = Math.hypot(Math.abs(left) + 50, beyond + 14);
    const near = Math.hypot(Math.max(0, Math.abs(left) - 50), beyond - 4);
    const clear = far > r && near < r && r < 120 ? Math.max(beyond, r + 8) : beyond;
    return [left, y >= 0 ? -clear : clear + 10, "middle"];
  };
  /** Beside the clipped arrow, on the side where the gradient is not, unless that is outside the picture. */
  const textAtClipped = ([x, y], size, clockwise, clip, words) => {
    const away = Math.hypot(x + clip + STEM, y) * UNIT < 45 ? 40 : 14; // clear of the limit's handle
    if (size * UNIT < 30) return text("clipped", clip * UNIT + 10, x > 0 ? (y < 0 ? -10 : 20) : 5, "start", words); // beside what is allowed
    const side = x < 0 ? 1 : -1;
    const place = (sign) => ({ nx: (sign * y) / size, ny: (-sign * x) / size, left: x * UNIT + (away * sign * y) / size });
    const outer = place(clockwise ? 1 : -1);
    const { nx, ny, left } = Math.abs(outer.left) > HALF - 84 && outer.nx * outer.left > 0 ? place(clockwise ? -1 : 1) : outer;
    const flat = Math.abs(nx) <= 0.3; // then the words stand above or beneath: away from the edge's handle, or over a long arrow
    const right = flat ? (side < 0) === (size < 3) : nx > 0;
    const inwards = flat ? (right ? 1 : -1) * (size < 3 ? -17 : 44) : 0;
    return text("clipped", left + inwards, -y * UNIT - away * ny + 5, right ? "start" : "end", words);
  };

  function draw(model) {
    shown = model;
    const { g_1, g_2, clip, by, clipped, length, clippedLength, angle, acts } = model;
    const r = clip * UNIT;
    allowed.replaceChildren(by === "norm"
      ? svg("circle", { class: "clip-allowed", cx: 0, cy: 0, r })
      : svg("rect", { class: "clip-allowed", x: -r, y: -r, width: 2 * r, height: 2 * r }));
    const hold = -r - STEM * UNIT;
    edge.setAttribute("transform", `translate(${hold} 0)`);
    stem.setAttribute("d", `M${-r} 0H${hold}`);
    edge.setAttribute("aria-valuenow", clip);
    edge.setAttribute("aria-valuetext", clip.toFixed(1));
    edgeText.textContent = t("limit_is", { clip: clip.toFixed(1) });
    edgeText.setAttribute("x", Math.min(-r - 4, -20));
    edgeText.setAttribute("y", g_1 < 0 && g_2 < 0 ? -34 : 44); // on the side where the gradient is not
    const parts = [arrow("full", [g_1, g_2], 4)];
    if (acts) parts.push(arrow("clipped", clipped, 6));
    const atTip = placeAtTip(model);
    const notes = length > 0 ? [text("long", ...atTip, t("long", { length: length.toFixed(2) }))] : [];
    const straight = g_1 >= 0 || g_2 >= 0; // then the words stand on the other side of the arrow than those of the limit
    const clockwise = angle === 0 ? straight : g_1 * clipped[1] <= g_2 * clipped[0]; // from the gradient to the clipped arrow
    if (acts) notes.push(textAtClipped(clipped, clippedLength, clockwise, clip, t("clipped_to", { length: clippedLength.toFixed(2) })));
    if (angle >= 4) { // less is not seen
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
    if (isSeen) [...notes, edgeText].forEach(keepInside);
    tip.setAttribute("transform", `translate(${g_1 * UNIT} ${-g_2 * UNIT})`);
    hint.setAttribute("x", within(atTip[0], HALF - 32));
    const beyond = atTip[1] + (g_2 >= 0 ? -21 : 21); // the length
    hint.setAttribute("y", beyond);
    const grip = { x: g_1 * UNIT - 13, y: -g_2 * UNIT - 13, width: 26, height: 26 };
    const fits = beyond > 20 - HALF && beyond < HALF - 10;
    if (isSeen) hideCovered([...notes, ...axes, ...(hint.isConnected && fits ? [hint] : [])], [grip, edgeText.getBBox()]);
    if (!fits) hint.style.display = "none";
    tip.setAttribute("aria-valuenow", length.toFixed(2));
    tip.setAttribute("aria-valuetext", t("tip_value", { a: signed(g_1), b: signed(g_2), length: length.toFixed(2) }));
    picture.setAttribute("aria-label", t("picture", {
      a: signed(g_1), b: signed(g_2), length: length.toFixed(2), c: signed(clipped[0], 2), d: signed(clipped[1], 2),
      clipped: clippedLength.toFixed(2), angle: Math.round(angle),
    }));
  }
  return { node, draw, askToDrag: () => labels.after(hint), place: () => shown && draw(shown) };
}

const [LEFT, RIGHT] = [-8.6, 3.35]; // the places that are drawn: the longest step stays inside
const HIGHEST = 10.2; // loss
const BOTTOM = -0.74; // the valley's lowest place
const PLACES = Array.from({ length: 240 }, (_, i) => LEFT + (i * (RIGHT - LEFT)) / 239);
const [BASE, RULER] = [30, 46]; // pixels: beneath the valley, for words; and for the limit's handle
const FLIGHT_TOP = 8; // no flight goes higher
const WORDS = 130; // pixels of a label
const SKY = 50; // above what the limit lets through: words
const LINE = 18;

/** Why one clips: one step downhill on an example of a loss, as it is and clipped. The limit is dragged, and so is the ball. */
export function cliffPanel({ t, range, onChange, onTouch, signal }) {
  let width = 0;
  let high = 240; // of the part above the ruler
  let shown = null;
  let holds = "limit";
  let grabbed = 0;
  const curve = svg("path", { class: "clip-curve" });
  const ground = svg("path", { class: "clip-ground" });
  const reach = svg("rect", { class: "clip-reach" });
  const fence = svg("path", { class: "clip-fence" });
  const bar = svg("path", { class: "clip-bar" });
  const flights = svg("g");
  const labels = svg("g");
  const axis = svg("text", { class: "clip-text clip-axis-text", x: 8 }, t("cliff_loss"));
  const across = svg("text", { class: "clip-text clip-axis-text", "text-anchor": "end" }, t("cliff_weight"));
  const here = [svg("text", { class: "clip-text clip-here", "text-anchor": "end" }), svg("text", { class: "clip-text clip-here", "text-anchor": "end" })];
  const limitText = svg("text", { class: "clip-text clip-limit-text", "text-anchor": "end" });
  const handle = (kind, name, ...parts) => svg("g", { class: `clip-handle clip-handle-${kind}`, role: "slider", tabindex: "0", "aria-label": name }, ...parts);
  const ball = handle("ball", t("ball"), svg("circle", { class: "clip-halo", r: 22 }), svg("circle", { class: "clip-start", r: 8 }));
  ball.setAttribute("aria-valuemin", "0");
  ball.setAttribute("aria-valuemax", "8.49");
  const limit = handle("limit", t("threshold"), svg("circle", { class: "clip-halo", r: 22 }), svg("circle", { class: "clip-grip", r: 12 }), svg("path", { class: "clip-sign", d: SIDEWAYS }));
  limit.setAttribute("aria-valuemin", range.min);
  limit.setAttribute("aria-valuemax", range.max);
  const picture = svg("svg", { class: "clip-cliff", role: "group" }, ground, reach, curve, axis, across, fence, bar, flights, labels, ...here, limit, limitText, ball);
  const node = element("div", { class: "clip-cliff-box" }, picture);

  const x = (u) => ((u - LEFT) * width) / (RIGHT - LEFT);
  const y = (loss) => high - BASE - (loss * (high - BASE - 6)) / HIGHEST;
  const placeAt = (share) => LEFT + share * (RIGHT - LEFT);

  /** The ball at a place: a gradient that long, and where it pointed. */
  const moveBall = (u) => {
    const length = slopeAtPlace(Math.max(0.01, u));
    const [a, b] = shown.length > 0 ? [shown.g_1 / shown.length, shown.g_2 / shown.length] : [0.8, 0.6];
    const longest = LIMIT / Math.max(Math.abs(a), Math.abs(b));
    const size = Math.min(length, longest, 8.4);
    onChange({ g_1: Math.round(100 * size * a) / 100, g_2: Math.round(100 * size * b) / 100 });
  };
  dragOn(picture, {
    start: (at) => {
      onTouch();
      const tall = picture.getBoundingClientRect().height;
      const [left, top] = [at.x * width, at.y * tall];
      const toBall = Math.hypot(left - x(shown.from), top - y(shown.loss));
      holds = toBall < 26 && top < high ? "ball" : "limit";
      const place = placeAt(at.x);
      grabbed = holds === "ball" ? shown.from - place : shown.from - shown.clip - place;
      if (holds === "limit" && Math.abs(grabbed) * (width / (RIGHT - LEFT)) > 30) grabbed = 0; // pressed far from it: it comes
    },
    move: (at) => {
      const place = placeAt(at.x) + grabbed;
      if (holds === "ball") moveBall(place);
      else onChange({ clip: rounded(shown.from - place, range.max, range.min) });
    },
    signal,
  });
  const keys = (target, map, act) => target.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(map, event.key)) return;
    event.preventDefault();
    act(map[event.key], event.shiftKey ? 10 : 1);
  }, { signal });
  const [less, more] = [range.min - range.max, range.max - range.min];
  keys(limit, { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, Home: less, End: more },
    (by, times) => onChange({ clip: rounded(shown.clip + times * by, range.max, range.min) }));
  keys(ball, { ArrowLeft: -0.05, ArrowDown: -0.05, ArrowRight: 0.05, ArrowUp: 0.05, Home: -9, End: 9 }, (by, times) => moveBall(Math.min(3, shown.from + times * by)));

  /** A step as an arc from the ball to where it lands. */
  function flight(kind, to, lift) {
    const [start, end] = [shown.from, to].map((u) => [x(u), y(lossAt(u))]);
    const highest = FLIGHT_TOP - Math.sqrt(Math.max(0, (start[1] - FLIGHT_TOP) * (end[1] - FLIGHT_TOP))); // of the control point
    const top = [(start[0] + end[0]) / 2, Math.max(highest, Math.min(start[1], end[1]) - lift)];
    const round = (values) => values.map((value) => value.toFixed(1)).join(" ");
    return svg("g", {},
      svg("path", { class: `clip-flight clip-arrow-${kind}`, d: `M${round(start)}Q${round(top)} ${round(end)}` }),
      svg("circle", { class: `clip-landed-${kind}`, cx: end[0].toFixed(1), cy: end[1].toFixed(1), r: kind === "full" ? 6 : 7 }));
  }

  /** Words beneath a landing, on the side where the curve leaves room; high on the cliff they stand in the open. */
  function landing(kind, to, words) {
    const room = (width < 448 ? 7.6 : 8.2) * words.length + 6;
    const [at, top] = [x(to), y(lossAt(to))];
    if (to >= BOTTOM && lossAt(to) > 3.6) return { kind, words, left: at - 14, anchor: "end", top: top + 5, isFree: true };
    if (to >= BOTTOM) {
      const left = Math.min(at + 10, width - room);
      return { kind, words, left, anchor: "start", top: left < at + 6 ? Math.max(top + 26, high - 27) : top + 26 };
    }
    const left = Math.max(at - 8, room);
    const drop = (left - at + 8) * ((y(lossAt(to + 0.5)) - top) / (x(0.5) - x(0))); // it slid under the curve
    return { kind, words, left, anchor: "end", top: top + 21 + drop };
  }

  function paint() {
    if (width === 0 || shown === null) return;
    const { from, free, kept, clip, by, length, acts, loss, freeLoss, keptLoss } = shown;
    const floor = high - 1;
    const path = linePath(PLACES, PLACES.map(lossAt), x, y);
    curve.setAttribute("d", path);
    ground.setAttribute("d", `${path}V${floor}H0Z`);
    axis.setAttribute("y", high - 10);
    across.setAttribute("x", width - 4);
    across.setAttribute("y", high + RULER - 3);
    across.style.display = width < 330 ? "none" : ""; // the limit's words may need the room
    const edge = x(from - clip);
    for (const [name, value] of Object.entries({ x: edge, y: SKY, width: x(from) - edge, height: high - SKY })) reach.setAttribute(name, value.toFixed(1));
    reach.style.display = by === "norm" ? "" : "none";
    const middle = high + RULER / 2;
    fence.setAttribute("d", by === "norm" ? `M${edge.toFixed(1)} ${SKY}V${middle}` : "");
    bar.setAttribute("d", `M${edge.toFixed(1)} ${middle}H${x(from).toFixed(1)}M${x(from).toFixed(1)} ${middle - 7}v14`);
    limit.setAttribute("transform", `translate(${edge.toFixed(1)} ${middle})`);
    limit.setAttribute("aria-valuenow", clip);
    limit.setAttribute("aria-valuetext", clip.toFixed(1));
    limitText.textContent = t("limit_is", { clip: clip.toFixed(1) });
    const isTight = edge < 134; // then its words stand beneath the bar
    limitText.setAttribute("x", (isTight ? edge + 26 : edge - 28).toFixed(1));
    limitText.setAttribute("y", middle + (isTight ? 20 : 5));
    limitText.setAttribute("text-anchor", isTight ? "start" : "end");

    const lift = (to) => (10 + 11 * Math.min(6, from - to)) * (high / 240);
    const isOne = !acts;
    const parts = length > 0 ? [flight(isOne ? "clipped" : "full", free, lift(free))] : [];
    if (acts) parts.push(flight("clipped", kept, lift(kept) / 2));
    flights.replaceChildren(...parts);
    const full = landing(isOne ? "kept" : "free", free, t(isOne ? "lands_both" : "lands_free", { loss: freeLoss.toFixed(2) }));
    const notes = length > 0 ? [full] : [];
    if (acts) {
      const other = landing("kept", kept, t("lands_kept", { loss: keptLoss.toFixed(2) }));
      notes.push(other);
      const meet = full.anchor === other.anchor && !full.isFree && !other.isFree && Math.abs(full.left - other.left) < WORDS && Math.abs(full.top - other.top) < LINE;
      if (full.isFree && other.isFree && full.top - other.top < LINE) other.top = full.top - LINE;
      if (meet) { // the one that lies lower goes further down
        const [upper, lower] = full.anchor === "end" ? [full, other] : [other, full];
        lower.top = Math.max(lower.top, upper.top + LINE);
      }
    }
    labels.replaceChildren(...notes.map(({ kind, words, left, anchor, top }) => svg(
      "text", { class: `clip-text clip-lands-${kind}`, x: left.toFixed(1), y: Math.min(top, high - 5).toFixed(1), "text-anchor": anchor }, words)));
    ball.setAttribute("transform", `translate(${x(from).toFixed(1)} ${y(loss).toFixed(1)})`);
    ball.setAttribute("aria-valuenow", length.toFixed(2));
    ball.setAttribute("aria-valuetext", t("ball_value", { length: length.toFixed(2), loss: loss.toFixed(2) }));
    const said = [t("here_loss", { loss: loss.toFixed(2) }), t("here_slope", { length: length.toFixed(2) })];
    here.forEach((line, i) => {
      line.textContent = said[i];
      line.setAttribute("x", width - 4);
      line.setAttribute("y", 18 + 19 * i);
    });
    const told = length > 0 ? notes.map(({ words }) => words).join("; ") : t("now_none");
    picture.setAttribute("aria-label", t("cliff_picture", { start: loss.toFixed(2), told }));
  }
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now < 120) return;
    width = now;
    high = width < 480 ? 208 : 250;
    picture.setAttribute("viewBox", `0 0 ${width} ${high + RULER}`);
    picture.setAttribute("height", high + RULER);
    paint();
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  return {
    node,
    draw: (model) => {
      shown = model;
      paint();
    },
  };
}
