// Line charts for explorables: scales and paths as pure functions, and one chart that redraws itself when its width changes.
import { element, formatNumber, svg } from "./ui.mjs";

// ---- maths ----------------------------------------------------------------------------------------------------------

/** A map from [from, to] to [start, end], linear or logarithmic; what lies outside is clamped to the ends. */
export function scale([from, to], [start, end], { log = false } = {}) {
  const f = log ? Math.log : (x) => x;
  const [a, b] = [f(from), f(to)];
  return (value) => {
    const share = (f(Math.min(Math.max(value, Math.min(from, to)), Math.max(from, to))) - a) / (b - a || 1);
    return start + share * (end - start);
  };
}

/** Round places on a linear axis that begins at 0: at most `count` steps of 1, 2 or 5 times a power of ten. */
export function linearTicks(to, count = 5) {
  if (!(to > 0)) return [0];
  const rough = to / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9));
  return Array.from({ length: Math.floor(to / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** Powers of ten (or of `base`) within [from, to], thinned out to at most `count`. */
export function powerTicks(from, to, { base = 10, count = 7 } = {}) {
  const low = Math.ceil(Math.log(from) / Math.log(base) - 1e-9);
  const high = Math.floor(Math.log(to) / Math.log(base) + 1e-9);
  const every = Math.max(1, Math.ceil((high - low + 1) / count));
  const ticks = [];
  for (let power = low; power <= high; power += every) ticks.push(base ** power);
  return ticks;
}

/** An SVG path through the points; it breaks where a value is missing or not finite. */
export function linePath(xs, ys, x, y) {
  let path = "";
  let pen = false;
  for (let i = 0; i < ys.length; i += 1) {
    if (!Number.isFinite(ys[i])) {
      pen = false;
      continue;
    }
    path += `${pen ? "L" : "M"}${x(xs[i]).toFixed(1)} ${y(ys[i]).toFixed(1)}`;
    pen = true;
  }
  return path;
}

/** Indices of at most `most` of `length` points, evenly spread, first and last among them. */
export function thinned(length, most) {
  if (length <= most) return Array.from({ length }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (length - 1)) / (most - 1)));
}

/** Places for labels that wish to stand at `wishes` (from top to bottom) but need `gap` between each other. */
export function spreadLabels(wishes, gap, [top, bottom]) {
  const order = wishes.map((wish, i) => ({ wish, i })).sort((a, b) => a.wish - b.wish);
  let last = top - gap;
  for (const label of order) last = label.at = Math.max(label.wish, last + gap);
  let limit = bottom + gap;
  for (const label of order.reverse()) limit = label.at = Math.min(label.at, limit - gap);
  const places = [];
  for (const { i, at } of order) places[i] = at;
  return places;
}

// ---- view -----------------------------------------------------------------------------------------------------------

const MARGIN = { top: 10, right: 8, left: 44 };
const TICK_ROW = 22;
const LABEL_ROW = 17;

/**
 * A chart with lines over a linear x axis.
 *
 * `draw` takes { x: { to, label }, y: { from, to, log, ticks, label }, lines: [{ xs, ys, kind }], levels: [{ value, text }],
 * description }: `kind` is a number from 1 to 4, which CSS turns into a colour and a dash; levels are dashed horizontals
 * with their names at the right.
 */
export function lineChart({ height = 220, signal }) {
  const picture = svg("svg", { class: "d2lrnn-chart", role: "img", height });
  const node = element("div", { class: "d2lrnn-chart-box" }, picture);
  let latest = null;
  let width = 0;

  const draw = (data) => {
    latest = data;
    if (width > 0) paint(picture, width, height, data);
  };
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    if (latest) paint(picture, width, height, latest);
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  return { node, draw };
}

function paint(picture, width, height, { x: xAxis, y: yAxis, lines, levels = [], description }) {
  const right = width - MARGIN.right;
  const bottom = height - TICK_ROW - (xAxis.label ? LABEL_ROW : 0);
  const x = scale([xAxis.from ?? 0, xAxis.to], [MARGIN.left, right]);
  const y = scale([yAxis.from, yAxis.to], [bottom, MARGIN.top], { log: yAxis.log });
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("aria-label", description);
  const parts = [];
  for (const tick of yAxis.ticks) {
    parts.push(svg("path", { class: "d2lrnn-grid", d: `M${MARGIN.left} ${y(tick)}H${right}` }));
    parts.push(svg("text", { class: "d2lrnn-tick", x: MARGIN.left - 6, y: y(tick) + 4, "text-anchor": "end" }, (yAxis.format ?? tickText)(tick)));
  }
  for (const tick of xAxis.ticks ?? linearTicks(xAxis.to, width < 500 ? 4 : 8)) {
    parts.push(svg("path", { class: "d2lrnn-grid", d: `M${x(tick)} ${bottom}v4` }));
    parts.push(svg("text", { class: "d2lrnn-tick", x: x(tick), y: bottom + 17, "text-anchor": x(tick) > right - 20 ? "end" : tick === 0 ? "start" : "middle" }, tickText(tick)));
  }
  const places = spreadLabels(levels.map(({ value }) => y(value) - 4), 14, [MARGIN.top + 8, bottom - 2]);
  levels.forEach(({ value, text }, i) => {
    parts.push(svg("path", { class: "d2lrnn-level", d: `M${MARGIN.left} ${y(value)}H${right}` }));
    parts.push(svg("text", { class: "d2lrnn-level-text", x: right, y: places[i], "text-anchor": "end" }, text));
  });
  for (const { xs, ys, kind } of lines) {
    parts.push(svg("path", { class: `d2lrnn-line d2lrnn-line-${kind}`, d: linePath(xs, ys, x, y) }));
  }
  if (xAxis.label) parts.push(svg("text", { class: "d2lrnn-axis", x: right, y: height - 4, "text-anchor": "end" }, xAxis.label));
  picture.replaceChildren(...parts);
}

function tickText(tick) {
  if (tick === 0) return "0";
  if (tick >= 1e6 || tick < 1e-3) return formatPowerOfTen(tick);
  return tick >= 1000 ? formatNumber(tick, 0) : String(Number(tick.toPrecision(4)));
}

/** 10⁻⁴, 3×10⁶: for axes over many powers. */
export function formatPowerOfTen(value) {
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = String(Math.abs(exponent)).replace(/\d/g, (digit) => digits[digit]);
  const mantissa = Number((value / 10 ** exponent).toPrecision(2));
  return `${mantissa === 1 ? "" : `${mantissa}×`}10${exponent < 0 ? "⁻" : ""}${raised}`;
}

/** What the colours and dashes of a chart's lines stand for. */
export function legend(entries) {
  const items = entries.map(({ kind, text }) =>
    element("span", { class: "d2lrnn-legend-item" }, svg(
      "svg", { class: "d2lrnn-legend-line", viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" },
      svg("path", { class: `d2lrnn-line d2lrnn-line-${kind}`, d: "M1 4H27" }),
    ), text));
  return element("div", { class: "d2lrnn-legend" }, ...items);
}
