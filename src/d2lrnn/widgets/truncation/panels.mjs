// A row for each loss, as long as it reaches back, with what it loses; beside it that loss of gradient against τ.
import { dragOn } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { NUM_LOSSES, percent } from "./maths.mjs";

const text = (kind, x, y, words, anchor = "middle") => svg("text", { class: `trunc-text ${kind}`, x, y, "text-anchor": anchor }, words);
const within = (value) => Math.min(NUM_LOSSES, Math.max(1, Math.round(value)));
const KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -NUM_LOSSES, End: NUM_LOSSES };

const [WIDTH, LEFT, CELL, TOP, BARS, BAR] = [400, 42, 22, 66, 318, 42];
const [RULER, BOTTOM] = [17, TOP + NUM_LOSSES * CELL];
const xOf = (step) => LEFT + step * CELL; // the right edge of a step
const yOf = (row) => TOP + row * CELL;

/** `onTau` gets the τ that the edge is dragged to. */
export function rowsPanel({ t, onTau, signal }) {
  const bands = svg("g");
  const squares = Array.from({ length: NUM_LOSSES ** 2 }, () => svg("rect"));
  const names = svg("g");
  const bars = svg("g");
  const edge = svg("path", { class: "trunc-edge" });
  const tauText = text("trunc-strong", 0, RULER + 5, "", "start");
  const grip = svg("g", { class: "trunc-handle", role: "slider", tabindex: "0", "aria-label": t("tau_slider"), "aria-valuemin": 1, "aria-valuemax": NUM_LOSSES },
    svg("circle", { class: "trunc-grip", r: 13 }),
    svg("path", { class: "trunc-sign", d: "M-3 -4l-4 4l4 4M3 -4l4 4l-4 4" }));
  const ends = [1, NUM_LOSSES].map((step) => text("", xOf(step - 0.5), TOP - 8, String(step)));
  const picture = svg("svg", { class: "trunc-picture", viewBox: `0 0 ${WIDTH} ${BOTTOM + 3}`, role: "group" },
    bands, ...squares, names, edge, ...ends, text("", xOf(NUM_LOSSES / 2), TOP - 8, t("columns")), text("", LEFT - 6, TOP - 8, t("row"), "end"),
    text("trunc-lost-text", BARS, TOP - 8, t("lost"), "start"), bars, tauText, grip);
  let tau = 1;

  dragOn(picture, { move: ({ x }) => onTau(within((x * WIDTH - LEFT) / CELL)), signal });
  grip.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    onTau(within(tau + KEYS[event.key]));
  }, { signal });

  function draw(model, description) {
    ({ tau } = model);
    const { reaches, way, sizes, curves } = model;
    squares.forEach((square, k) => {
      const [row, step] = [Math.floor(k / NUM_LOSSES), k % NUM_LOSSES];
      const side = (CELL - 5) * Math.min(1, Math.sqrt(sizes[step])); // its area is the strength
      square.setAttribute("class", step < reaches[row] ? "trunc-square trunc-kept" : "trunc-square trunc-cut");
      square.setAttribute("x", (xOf(step + 0.5) - side / 2).toFixed(2));
      square.setAttribute("y", (yOf(row + 0.5) - side / 2).toFixed(2));
      square.setAttribute("width", side.toFixed(2));
      square.setAttribute("height", side.toFixed(2));
    });
    bands.replaceChildren(...reaches.map((reach, row) => {
      const odd = way === "windows" && Math.floor(row / tau) % 2 === 1;
      return svg("rect", { class: odd ? "trunc-band trunc-odd" : "trunc-band", x: LEFT, y: yOf(row) + 0.75, width: reach * CELL, height: CELL - 1.5 });
    }));
    const starts = reaches.map((_, row) => row).filter((row) => row > 0 && way === "windows" && row % tau === 0);
    names.replaceChildren(
      ...reaches.map((_, row) => text("", LEFT - 8, yOf(row + 0.5) + 5, String(row + 1), "end")),
      ...starts.map((row) => svg("path", { class: "trunc-start", d: `M${LEFT - 30} ${yOf(row)}H${xOf(NUM_LOSSES)}` })),
    );
    bars.replaceChildren(...reaches.flatMap((reach, row) => {
      const share = curves.losses[reach - 1];
      return [
        svg("rect", { class: "trunc-bar", x: BARS, y: yOf(row) + 4, width: Math.max(1, share * BAR).toFixed(2), height: CELL - 8 }),
        text("trunc-share", BARS + share * BAR + 4, yOf(row + 0.5) + 5, percent(share).replace("under ", "<"), "start"),
      ];
    }));
    edge.setAttribute("d", `M${LEFT} ${RULER}H${xOf(tau)}M${LEFT} ${RULER - 6}v12M${xOf(tau)} ${RULER}V${TOP - 22}M${xOf(tau)} ${TOP - 3}V${BOTTOM}`);
    grip.setAttribute("transform", `translate(${xOf(tau)} ${RULER})`);
    grip.setAttribute("aria-valuenow", tau);
    tauText.setAttribute("x", xOf(tau) + 19);
    tauText.textContent = t("tau", { tau });
    grip.setAttribute("aria-valuetext", tauText.textContent);
    picture.setAttribute("aria-label", description);
  }
  return { node: element("div", { class: "trunc-rows" }, picture), draw };
}

const CHART = { width: 250, height: 178, left: 58, right: 240, top: 12, bottom: 140 };
const chartX = (tau) => CHART.left + ((tau - 1) / (NUM_LOSSES - 1)) * (CHART.right - CHART.left);
const chartY = (share) => CHART.bottom - Math.min(1, share) * (CHART.bottom - CHART.top);

/** The line of a way in the chart, for its button. */
export const sample = (way) => svg("svg", { class: "trunc-sample", viewBox: "0 0 30 8", "aria-hidden": "true" },
  svg("path", { class: `trunc-line trunc-line-${way}`, d: "M0 4H30" }));

/** What is lost against τ, a line for each way, as far as τ has been moved; `onTau` gets the τ that is pressed or dragged to. */
export function curvePanel({ t, onTau, signal }) {
  const { width, height, left, right, bottom } = CHART;
  const levels = [0, 0.5, 1].flatMap((share) => [
    svg("path", { class: "d2lrnn-grid", d: `M${left} ${chartY(share)}H${right}` }), text("", left - 6, chartY(share) + 5, `${100 * share} %`, "end"),
  ]);
  const ticks = [1, 6, 12].map((tau) => text("", chartX(tau), bottom + 17, String(tau)));
  const lines = svg("g", { class: "trunc-lines" });
  const visited = {}; // of each way, the least and the largest τ so far
  const mark = svg("g");
  const picture = svg("svg", { class: "trunc-curve", viewBox: `0 0 ${width} ${height}`, role: "img" },
    ...levels, ...ticks, text("", (left + right) / 2, bottom + 34, t("curve_axis")), lines, mark);
  dragOn(picture, { move: ({ x }) => onTau(within(1 + ((x * width - left) / (right - left)) * (NUM_LOSSES - 1))), signal });

  const visit = ({ tau, way }) => {
    const [least, most] = visited[way] ?? [tau, tau];
    visited[way] = [Math.min(least, tau), Math.max(most, tau)];
  };
  const clear = () => Object.keys(visited).forEach((way) => delete visited[way]);
  function draw({ tau, way, curves, lost }, description) {
    lines.replaceChildren(...Object.entries(visited).flatMap(([name, [least, most]]) => {
      const points = curves[name].map((share, i) => `${chartX(i + 1).toFixed(1)} ${chartY(share).toFixed(1)}`).slice(least - 1, most);
      const [cx, cy] = points[0].split(" ");
      return [
        svg("path", { class: `trunc-line trunc-line-${name} ${name === way ? "trunc-active" : ""}`, d: `M${points.join("L")}` }),
        ...(least === most ? [svg("circle", { class: "trunc-visited", cx, cy, r: 4 })] : []),
      ];
    }));
    mark.replaceChildren(svg("circle", { class: "trunc-point", cx: chartX(tau), cy: chartY(lost), r: 6 }));
    picture.setAttribute("aria-label", description);
  }
  return { node: picture, draw, visit, clear };
}
