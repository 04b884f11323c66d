// What charts of explorables share: scales, ticks, paths and places of labels as pure functions, and a legend.
import { element, svg } from "./ui.mjs";

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

/** What the colours and dashes of a chart's lines stand for. */
export function legend(entries) {
  const items = entries.map(({ kind, text }) =>
    element("span", { class: "d2lrnn-legend-item" }, svg(
      "svg", { class: "d2lrnn-legend-line", viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" },
      svg("path", { class: `d2lrnn-line d2lrnn-line-${kind}`, d: "M1 4H27" }),
    ), text));
  return element("div", { class: "d2lrnn-legend" }, ...items);
}
