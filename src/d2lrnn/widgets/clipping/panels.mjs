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
  const edge = svg("circle", { class: "clip-edge", r: 7 });
  const edgeText = svg("text", { class: "clip-text clip-edge-text", "text-anchor": "end" });
  const grip = svg("circle", { class: "clip-grip", r: 9 });
  const hint = svg("text", { class: "clip-text clip-hint", "text-anchor": "middle" }, t("drag"));
  const tip = svg("g", { class: "clip-handle", role: "slider", tabindex: "0", "aria-label": t("tip"), "aria-valuemin": "0", "aria-valuemax": "8.5" }, grip);
  const grid = [];
  for (let i = -6; i <= 6; i += 1) if (i !== 0) grid.push(`M${i * UNIT} ${-HALF}V${HALF}M${-HALF} ${i * UNIT}H${HALF}`);
  const picture = svg(
    "svg", { class: "clip-plane", viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "group" },
    svg("path", { class: "clip-grid", d: grid.join("") }),
    allowed,
    svg("path", { class: "clip-axis", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    svg("text", { class: "clip-text", x: HALF - 4, y: 16, "text-anchor": "end" }, t("axis_1")),
    svg("text", { class: "clip-text", x: -6, y: 12 - HALF, "text-anchor": "end" }, t("axis_2")),
    edge, edgeText, arrows, labels, hint, tip,
  );
  const node = element("div", { class: "clip-picture" }, picture);
  let shown = null;
  let holds = "tip";

  const pointOf = ({ x, y }) => [((2 * x - 1) * HALF) / UNIT, ((1 - 2 * y) * HALF) / UNIT];
  dragOn(picture, {
    axis: "both",
    start: (at) => {
      const [x, y] = pointOf(at);
      const toEdge = Math.hypot(x + shown.clip, y);
      holds = toEdge < 0.8 && toEdge < Math.hypot(x - shown.g_1, y - shown.g_2) ? "edge" : "tip";
      hint.remove();
    },
    move: (at) => {
      const [x, y] = pointOf(at);
      if (holds === "edge") onChange({ clip: rounded(-x, range.max, range.min) });
      else onChange({ g_1: rounded(x, LIMIT), g_2: rounded(y, LIMIT) });
    },
    signal,
  });
  const KEYS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowDown: [0, -STEP], ArrowUp: [0, STEP] };
  tip.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    const [x, y] = KEYS[event.key].map((by) => by * (event.shiftKey ? 10 : 1));
    onChange({ g_1: rounded(shown.g_1 + x, LIMIT), g_2: rounded(shown.g_2 + y, LIMIT) });
  }, { signal });

  const text = (kind, x, y, anchor, words) => svg("text", { class: `clip-text clip-${kind}`, x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, words);
  /** Beyond the tip; beside it where there is no room beyond. */
  const textAtTip = ([x, y], words) => {
    if (Math.abs(y) > 5.4) return text("long", x * UNIT + (x > 0 ? -16 : 16), -y * UNIT + 5, x > 0 ? "end" : "start", words);
    return text("long", within(x * UNIT, HALF - 39), -y * UNIT + (y >= 0 ? -14 : 24), "middle", words);
  };
  /** Beside the clipped arrow, on the side where the gradient is not, unless that is outside the picture. */
  const textAtClipped = ([x, y], size, clockwise, words) => {
    const place = (sign) => ({ nx: (sign * y) / size, ny: (-sign * x) / size, left: x * UNIT + (14 * sign * y) / size });
    const outer = place(clockwise ? 1 : -1);
    const { nx, ny, left } = Math.abs(outer.left) > HALF - 84 && outer.nx * outer.left > 0 ? place(clockwise ? -1 : 1) : outer;
    return text("clipped", left, -y * UNIT - 14 * ny + 5, nx > 0.3 ? "start" : nx < -0.3 ? "end" : "middle", words);
  };

  function draw(model) {
    shown = model;
    const { g_1, g_2, clip, by, clipped, length, clippedLength, angle, acts } = model;
    const r = clip * UNIT;
    allowed.replaceChildren(by === "norm"
      ? svg("circle", { class: "clip-allowed", cx: 0, cy: 0, r })
      : svg("rect", { class: "clip-allowed", x: -r, y: -r, width: 2 * r, height: 2 * r }));
    edge.setAttribute("cx", -r);
    edgeText.setAttribute("x", clip > 4 ? 12 - r : -r - 12);
    edgeText.setAttribute("y", 20);
    edgeText.setAttribute("text-anchor", clip > 4 ? "start" : "end");
    edgeText.textContent = t("theta", { clip: clip.toFixed(1) });

    const parts = [arrow("full", [g_1, g_2], 3)];
    if (acts) parts.push(arrow("clipped", clipped, 6));
    const notes = length > 0 ? [textAtTip([g_1, g_2], t("long", { length: length.toFixed(2) }))] : [];
    const clockwise = g_1 * clipped[1] <= g_2 * clipped[0]; // from the gradient to the clipped arrow
    if (acts) notes.push(textAtClipped(clipped, clippedLength, clockwise, t("clipped_to", { length: clippedLength.toFixed(2) })));
    if (angle >= 0.5) {
      const way = ([x, y], size) => `${((x / Math.hypot(x, y)) * size).toFixed(1)} ${((-y / Math.hypot(x, y)) * size).toFixed(1)}`;
      const size = Math.min(r * 1.3, UNIT * clippedLength) + 14;
      parts.push(svg("path", { class: "clip-arc", d: `M${way([g_1, g_2], size)}A${size} ${size} 0 0 ${Number(clockwise)} ${way(clipped, size)}` }));
      const middle = [g_1 / length + clipped[0] / clippedLength, g_2 / length + clipped[1] / clippedLength];
      const [x, y] = way(middle, size + 16).split(" ").map(Number);
      notes.push(text("angle", x, y + 4, "middle", t("angle", { angle: Math.round(angle) })));
    }
    arrows.replaceChildren(...parts);
    labels.replaceChildren(...notes);
    grip.setAttribute("cx", g_1 * UNIT);
    grip.setAttribute("cy", -g_2 * UNIT);
    hint.setAttribute("x", within(g_1 * UNIT, HALF - 32));
    const isBelow = g_2 < 0 ? g_2 > -4.9 : g_2 > 5.1; // beyond the length, or on the other side where there is no room
    hint.setAttribute("y", -g_2 * UNIT + (isBelow ? 41 : -31));
    tip.setAttribute("aria-valuenow", length.toFixed(2));
    tip.setAttribute("aria-valuetext", t("tip_value", { a: signed(g_1), b: signed(g_2), length: length.toFixed(2) }));
    picture.setAttribute("aria-label", t("picture", {
      a: signed(g_1), b: signed(g_2), length: length.toFixed(2), c: signed(clipped[0], 2), d: signed(clipped[1], 2),
      clipped: clippedLength.toFixed(2), angle: Math.round(angle),
    }));
  }
  return { node, draw, askToDrag: () => labels.after(hint) };
}
