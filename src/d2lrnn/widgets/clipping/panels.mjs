// The plane of two weights: the gradient's arrow, whose tip is dragged, and what clipping leaves of it.
import { dragOn } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { signed } from "./maths.mjs";

const UNIT = 24; // pixels
const HALF = 6.8 * UNIT;
const LIMIT = 6;
const STEP = 0.1;

const within = (value, max, min = -max) => Math.min(max, Math.max(min, value));
const rounded = (value, max, min) => Math.round(10 * within(value, max, min)) / 10;

function arrow(kind, [x, y], thickness) {
  const length = Math.hypot(x, y) * UNIT;
  if (length < 0.5) return svg("circle", { class: `clip-tip-${kind}`, cx: 0, cy: 0, r: 3 });
  const tip = Math.min(3.4 * thickness, length);
  const turn = `rotate(${(-Math.atan2(y, x) * 180) / Math.PI})`;
  return svg("g", { transform: turn },
    svg("path", { class: `clip-arrow-${kind}`, "stroke-width": thickness, d: `M0 0H${(length - tip * 0.8).toFixed(1)}` }),
    svg("path", { class: `clip-tip-${kind}`, d: `M${length.toFixed(1)} 0l${-tip} ${tip / 2}v${-tip}z` }));
}

/** `onChange` gets new values of the controls, by dragging the tip or the edge of what is allowed, or by the arrow keys. */
export function planePanel({ t, range, onChange, signal }) {
  const allowed = svg("g");
  const arrows = svg("g");
  const labels = svg("g");
  const axes = ["axis_1", "axis_2"].map((name) => svg("text", { class: "clip-text clip-axis-text", "text-anchor": "end" }, t(name)));
  const edgeText = svg("text", { class: "clip-text clip-edge-text" });
  const hint = svg("text", { class: "clip-text clip-hint", "text-anchor": "middle" }, t("drag"));
  const handle = (kind, name, [min, max], sign) => svg(
    "g", { class: `clip-handle clip-handle-${kind}`, role: "slider", tabindex: "0", "aria-label": name, "aria-valuemin": min, "aria-valuemax": max },
    svg("circle", { class: "clip-halo", r: 23 }), svg("circle", { class: "clip-grip", r: 10 }), svg("path", { class: "clip-sign", d: sign }));
  const sideways = "M-2.5 -3.5l-3.5 3.5l3.5 3.5M2.5 -3.5l3.5 3.5l-3.5 3.5";
  const upAndDown = "M-2 -4l2 -2.5l2 2.5M-2 4l2 2.5l2 -2.5M-4 -2l-2.5 2l2.5 2M4 -2l2.5 2l-2.5 2";
  const edge = handle("edge", t("threshold"), [range.min, range.max], sideways);
  const tip = handle("tip", t("tip"), [0, 8.5], upAndDown);
  const grid = [];
  for (let i = -6; i <= 6; i += 1) if (i !== 0) grid.push(`M${i * UNIT} ${-HALF}V${HALF}M${-HALF} ${i * UNIT}H${HALF}`);
  const picture = svg(
    "svg", { class: "clip-plane", viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "group" },
    svg("path", { class: "clip-grid", d: grid.join("") }),
    allowed,
    svg("path", { class: "clip-axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    ...axes, edge, edgeText, arrows, labels, hint, tip,
  );
  const node = element("div", { class: "clip-picture" }, picture);
  let shown = null;
  let holds = "tip";
  let side = -1; // of the origin on which the edge is held: not the gradient's

  const pointOf = ({ x, y }) => [((2 * x - 1) * HALF) / UNIT, ((1 - 2 * y) * HALF) / UNIT];
  dragOn(picture, {
    axis: "both",
    start: (at) => {
      const [x, y] = pointOf(at);
      const toEdge = Math.hypot(x - side * shown.clip, y);
      holds = toEdge < 1 && toEdge < Math.hypot(x - shown.g_1, y - shown.g_2) ? "edge" : "tip";
      hint.remove();
    },
    move: (at) => {
      const [x, y] = pointOf(at);
      if (holds === "edge") onChange({ clip: rounded(side * x, range.max, range.min) });
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

  const text = (kind, x, y, anchor, words) => svg("text", { class: `clip-text clip-${kind}`, x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, words);
  /** Beyond the tip; beside it where there is no room beyond. */
  const textAtTip = ([x, y], words) => {
    if (Math.abs(y) > 4.9) return text("long", x * UNIT + (x > 0 ? -27 : 27), -y * UNIT + 5, x > 0 ? "end" : "start", words);
    return text("long", within(x * UNIT, HALF - 39), -y * UNIT + (y >= 0 ? -28 : 38), "middle", words);
  };
  /** Beside the clipped arrow, on the side where the gradient is not, unless that is outside the picture. */
  const textAtClipped = ([x, y], size, clockwise, words) => {
    const place = (sign) => ({ nx: (sign * y) / size, ny: (-sign * x) / size, left: x * UNIT + (14 * sign * y) / size });
    const outer = place(clockwise ? 1 : -1);
    const { nx, ny, left } = Math.abs(outer.left) > HALF - 84 && outer.nx * outer.left > 0 ? place(clockwise ? -1 : 1) : outer;
    const flat = Math.abs(nx) <= 0.3; // then the words stand above or beneath: away from the edge's handle, or over a long arrow
    const right = flat ? (side < 0) === (size < 3) : nx > 0;
    const inwards = flat ? (right ? 1 : -1) * (size < 3 ? -17 : 44) : 0;
    return text("clipped", left + inwards, -y * UNIT - 14 * ny + 5, right ? "start" : "end", words);
  };

  function draw(model) {
    shown = model;
    const { g_1, g_2, clip, by, clipped, length, clippedLength, angle, acts } = model;
    const r = clip * UNIT;
    allowed.replaceChildren(by === "norm"
      ? svg("circle", { class: "clip-allowed", cx: 0, cy: 0, r })
      : svg("rect", { class: "clip-allowed", x: -r, y: -r, width: 2 * r, height: 2 * r }));
    side = g_1 < 0 ? 1 : -1;
    edge.setAttribute("transform", `translate(${side * r} 0)`);
    edge.setAttribute("aria-valuenow", clip);
    edge.setAttribute("aria-valuetext", clip.toFixed(1));
    const inside = clip > 3.6; // no room between the edge and the border
    edgeText.setAttribute("x", side * (r + (inside ? -26 : 26)));
    edgeText.setAttribute("y", 4.5);
    edgeText.setAttribute("text-anchor", (side < 0) === inside ? "start" : "end");
    axes[0].setAttribute("x", -side * (HALF - 6)); // where neither edge nor gradient is
    axes[0].setAttribute("y", g_2 < 0 ? -8 : 17);
    axes[0].setAttribute("text-anchor", side < 0 ? "end" : "start");
    axes[1].setAttribute("x", -7);
    axes[1].setAttribute("y", g_2 > 0 ? HALF - 8 : 17 - HALF);
    edgeText.textContent = t("theta", { clip: clip.toFixed(1) });

    const parts = [arrow("full", [g_1, g_2], 3)];
    if (acts) parts.push(arrow("clipped", clipped, 6));
    const notes = length > 0 ? [textAtTip([g_1, g_2], t("long", { length: length.toFixed(2) }))] : [];
    const clockwise = g_1 * clipped[1] <= g_2 * clipped[0]; // from the gradient to the clipped arrow
    if (acts) notes.push(textAtClipped(clipped, clippedLength, clockwise, t("clipped_to", { length: clippedLength.toFixed(2) })));
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
    tip.setAttribute("transform", `translate(${g_1 * UNIT} ${-g_2 * UNIT})`);
    hint.setAttribute("x", within(g_1 * UNIT, HALF - 32));
    hint.setAttribute("y", -g_2 * UNIT + (g_2 >= 0 ? -45 : 55)); // beyond the length
    hint.style.display = Math.abs(g_2) <= 4.1 ? "" : "none";
    tip.setAttribute("aria-valuenow", length.toFixed(2));
    tip.setAttribute("aria-valuetext", t("tip_value", { a: signed(g_1), b: signed(g_2), length: length.toFixed(2) }));
    picture.setAttribute("aria-label", t("picture", {
      a: signed(g_1), b: signed(g_2), length: length.toFixed(2), c: signed(clipped[0], 2), d: signed(clipped[1], 2),
      clipped: clippedLength.toFixed(2), angle: Math.round(angle),
    }));
  }
  return { node, draw, askToDrag: () => labels.after(hint) };
}
