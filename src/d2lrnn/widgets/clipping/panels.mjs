// The plane of two weights: the gradient's arrow, whose tip is dragged, and what clipping leaves of it.
import { linePath } from "../charts.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { element, fill, svg } from "../ui.mjs";
import { lossAt, signed } from "./maths.mjs";

const UNIT = 24; // pixels
const HALF = 6.8 * UNIT;
const LIMIT = 6;
const STEP = 0.1;
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
  const axes = [["axis_1", HALF - 6, 17], ["axis_2", -7, 17 - HALF]].map(([name, x, y]) => svg(
    "text", { class: "clip-text clip-axis-text", "text-anchor": "end", x, y }, t(name)));
  const edgeText = svg("text", { class: "clip-text clip-edge-text", "text-anchor": "end" });
  const stem = svg("path", { class: "clip-stem" });
  const hint = svg("text", { class: "clip-text clip-hint", "text-anchor": "middle" }, t("drag"));
  const handle = (kind, name, [min, max], sign) => svg(
    "g", { class: `clip-handle clip-handle-${kind}`, role: "slider", tabindex: "0", "aria-label": name, "aria-valuemin": min, "aria-valuemax": max },
    svg("circle", { class: "clip-halo", r: 28 }), svg("circle", { class: "clip-grip", r: sign === null ? 13 : 10 }), ...(sign === null ? [] : [svg("path", { class: "clip-sign", d: sign })]));
  const sideways = "M-2.5 -3.5l-3.5 3.5l3.5 3.5M2.5 -3.5l3.5 3.5l-3.5 3.5";
  const edge = handle("edge", t("threshold"), [range.min, range.max], sideways);
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
    [...notes, edgeText].forEach(keepInside);
    tip.setAttribute("transform", `translate(${g_1 * UNIT} ${-g_2 * UNIT})`);
    hint.setAttribute("x", within(atTip[0], HALF - 32));
    const beyond = atTip[1] + (g_2 >= 0 ? -21 : 21); // the length
    hint.setAttribute("y", beyond);
    const grip = { x: g_1 * UNIT - 13, y: -g_2 * UNIT - 13, width: 26, height: 26 };
    const fits = beyond > 20 - HALF && beyond < HALF - 10;
    hideCovered([...notes, ...axes, ...(hint.isConnected && fits ? [hint] : [])], [grip, edgeText.getBBox()]);
    if (!fits) hint.style.display = "none";
    tip.setAttribute("aria-valuenow", length.toFixed(2));
    tip.setAttribute("aria-valuetext", t("tip_value", { a: signed(g_1), b: signed(g_2), length: length.toFixed(2) }));
    picture.setAttribute("aria-label", t("picture", {
      a: signed(g_1), b: signed(g_2), length: length.toFixed(2), c: signed(clipped[0], 2), d: signed(clipped[1], 2),
      clipped: clippedLength.toFixed(2), angle: Math.round(angle),
    }));
  }
  return { node, draw, askToDrag: () => labels.after(hint) };
}

const WIDE = 330;
const HIGH = 152;
const TOP = 10; // no flight goes higher
const x = (u) => WIDE - 8 - (4 - u) * 25.2; // the longest step stays inside
const y = (loss) => HIGH - 12 - (loss * (HIGH - 20)) / 7.6;
const PLACES = Array.from({ length: 251 }, (_, i) => 4 - i * 0.05);

/** A step as an arc from one place of the curve to another. */
function flight(kind, from, to, lift) {
  const [start, end] = [from, to].map((u) => [x(u), y(lossAt(u))]);
  const highest = TOP - Math.sqrt(Math.max(0, (start[1] - TOP) * (end[1] - TOP))); // of the control point: the arc's top is at TOP
  const top = [(start[0] + end[0]) / 2, Math.max(highest, Math.min(start[1], end[1]) - lift)];
  const round = (values) => values.map((value) => value.toFixed(1)).join(" ");
  const turn = (Math.atan2(end[1] - top[1], end[0] - top[0]) * 180) / Math.PI;
  const size = Math.min(9, Math.hypot(end[0] - start[0], end[1] - start[1]));
  return svg("g", {},
    svg("path", { class: `clip-flight clip-arrow-${kind}`, d: `M${round(start)}Q${round(top)} ${round(end)}` }),
    svg("path", { class: `clip-tip-${kind}`, d: `M0 0l${-size} ${size * 0.55}v${-size * 1.1}z`, transform: `translate(${round(end)}) rotate(${turn.toFixed(1)})` }));
}

/** Why one clips: where a step leads on an example of a loss, as it is and clipped. */
export function stepPanel({ t }) {
  const steps = svg("g");
  const dot = svg("circle", { class: "clip-start", r: 5.5 });
  const note = (name, left, top) => svg("text", { class: "clip-text clip-axis-text", x: left, y: top }, t(name));
  const slope = [svg("text", { class: "clip-text clip-here" }), svg("text", { class: "clip-text clip-axis-text" }, t("why_slope_is"))];
  const picture = svg(
    "svg", { class: "clip-loss", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" },
    svg("path", { class: "clip-axis", d: `M8 ${HIGH - 8}H${WIDE - 4}M8 8V${HIGH - 8}` }),
    note("why_loss", 14, 62), note("why_along", 14, HIGH - 15),
    svg("path", { class: "clip-curve", d: linePath(PLACES, PLACES.map(lossAt), x, y) }),
    steps, dot, ...slope,
  );
  const told = element("div", { class: "clip-told" });
  const node = element("div", { class: "clip-why" },
    element("p", { class: "clip-caption" }, t("why")), element("p", { class: "clip-note" }, t("why_step")), picture, told);

  const sentence = (which, from, to, angle) => {
    if (to === null) return [t.raw("why_turned"), { which: t(`which_${which}`), angle: Math.round(angle) }];
    const [before, after] = [lossAt(from), lossAt(to)];
    return [t.raw(after > before ? "why_rises" : "why_falls"), { which: t(`which_${which}`), before: before.toFixed(2), after: after.toFixed(2) }];
  };
  function draw({ from, free, kept, acts, length, angle }) {
    const rows = acts ? [["full", "free", free], ["clipped", "kept", kept]] : [["full", "step", free]];
    const lift = (to) => 10 + 16 * Math.min(6, from - to);
    const flights = length > 0 ? rows.filter(([, , to]) => to !== null) : [];
    steps.replaceChildren(...flights.map(([kind, , to]) => flight(kind, from, to, kind === "full" ? lift(to) : lift(to) / 2)));
    const [left, top] = [x(from), y(lossAt(from))];
    dot.setAttribute("cx", left.toFixed(1));
    dot.setAttribute("cy", top.toFixed(1));
    slope[0].textContent = t("why_slope", { length: length.toFixed(2) });
    slope.forEach((line, i) => {
      line.setAttribute("x", Math.min(left + 12, WIDE - 88).toFixed(1));
      line.setAttribute("y", (Math.min(top + 22, HIGH - 36) + 15 * i).toFixed(1));
    });
    const said = rows.map(([kind, which, to]) => [kind, sentence(which, from, to, angle)]);
    told.replaceChildren(...(length > 0
      ? said.map(([kind, [template, values]]) => element("p", { class: `clip-row clip-row-${kind}` }, element("span", {}, ...emphasised(template, values))))
      : [element("p", {}, t("why_none"))]));
    const words = length > 0 ? said.map(([, [template, values]]) => fill(template, values)).join("; ") : t("why_none");
    picture.setAttribute("aria-label", t("why_picture", { told: words }));
  }
  return { node, draw };
}
