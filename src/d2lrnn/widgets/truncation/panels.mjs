// A way to cut: a row for each loss, as far as it reaches back; below, what is lost and what it costs.
import { dragOn } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { NUM_LOSSES, percent } from "./maths.mjs";

const [LEFT, TOP, CELL] = [46, 32, 22];
const BOTTOM = TOP + NUM_LOSSES * CELL;
const WIDTH = LEFT + NUM_LOSSES * CELL + 4;
const MOST_WORK = NUM_LOSSES ** 2;
const xOf = (step) => LEFT + step * CELL; // the right edge of a step
const yOf = (row) => TOP + row * CELL;
const text = (x, y, words, more = {}) => svg("text", { class: "trunc-text", x, y, "text-anchor": "middle", ...more }, words);

/** A name, a value, and below them a bar. */
function fact(kind, name) {
  const value = element("b");
  const bar = element("span", { class: "trunc-bar" });
  const node = element("div", { class: `trunc-fact trunc-fact-${kind}` }, element("span", {}, name), value, element("span", { class: "trunc-track" }, bar));
  return { node, set: (words, share) => {
    value.textContent = words;
    bar.style.width = `${(100 * share).toFixed(2)}%`;
  } };
}

/** `onTau` gets the τ that the cut is dragged to. */
export function wayPanel({ t, way, onTau, signal }) {
  const bands = svg("g");
  const squares = Array.from({ length: NUM_LOSSES ** 2 }, () => svg("rect"));
  const starts = svg("g");
  const ways = svg("g");
  const edge = svg("path", { class: "trunc-edge" });
  const middle = (TOP + BOTTOM) / 2;
  const picture = svg("svg", { class: "trunc-picture", viewBox: `0 0 ${WIDTH} ${BOTTOM + 4}`, role: "img" },
    bands, ways, ...squares, starts, edge,
    text(xOf(0.5), TOP - 9, "1"), text(xOf(NUM_LOSSES / 2), TOP - 9, t("columns")), text(xOf(NUM_LOSSES - 0.5), TOP - 9, String(NUM_LOSSES)),
    text(LEFT - 31, yOf(0.5) + 6, "1"), text(LEFT - 31, yOf(NUM_LOSSES - 0.5) + 6, String(NUM_LOSSES)),
    text(LEFT - 28, middle, t("row"), { transform: `rotate(-90 ${LEFT - 28} ${middle})` }));
  const title = element("div", { class: "trunc-title" });
  const [lost, work] = [fact("lost", t("lost")), fact("work", t("work"))];
  dragOn(picture, { move: ({ x }) => onTau(Math.min(NUM_LOSSES, Math.max(1, Math.round((x * WIDTH - LEFT) / CELL)))), signal });

  function draw({ tau, sizes, reaches: { [way]: reaches }, lost: { [way]: share }, work: { [way]: steps } }) {
    squares.forEach((square, k) => {
      const [row, step] = [Math.floor(k / NUM_LOSSES), k % NUM_LOSSES];
      const side = (CELL - 5) * Math.min(1, Math.sqrt(sizes[step])); // its area is the strength
      square.setAttribute("class", step < reaches[row] ? "trunc-square trunc-kept" : "trunc-square trunc-cut");
      square.setAttribute("x", (xOf(step + 0.5) - side / 2).toFixed(2));
      square.setAttribute("y", (yOf(row + 0.5) - side / 2).toFixed(2));
      square.setAttribute("width", side.toFixed(2));
      square.setAttribute("height", side.toFixed(2));
    });
    bands.replaceChildren(...reaches.map((reach, row) => svg("rect", { class: "trunc-band", x: LEFT, y: yOf(row) + 0.75, width: reach * CELL, height: CELL - 1.5 })));
    const rows = reaches.map((_, row) => row).filter((row) => row > 0 && way === "windows" && row % tau === 0);
    starts.replaceChildren(...rows.map((row) => svg("path", { class: "trunc-start", d: `M${LEFT - 8} ${yOf(row)}H${xOf(NUM_LOSSES)}` })));
    // back in time is up: a window has one way for all its losses; else each loss has its own, along its row
    const ends = reaches.map((_, row) => row).filter((row) => way === "losses" || row === NUM_LOSSES - 1 || reaches[row + 1] === 1);
    ways.replaceChildren(...ends.map((row) => svg("path", { class: "trunc-arrow", d: way === "losses"
      ? `M${LEFT + 2} ${yOf(row + 0.5)}H${xOf(reaches[row]) - 1}m-5 -4l5 4l-5 4`
      : `M${LEFT - 9} ${yOf(row + 1) - 4}V${yOf(row + 1 - reaches[row]) + 4}m-4 6l4 -6l4 6` })));
    edge.setAttribute("d", `M${xOf(tau)} ${TOP - 4}V${BOTTOM + 2}`);
    title.textContent = t(`way_${way}`, { tau });
    lost.set(percent(share), Math.min(1, share));
    work.set(t("work_steps", { work: steps }), steps / MOST_WORK);
    picture.setAttribute("aria-label", t("picture", { way: title.textContent, lost: percent(share), work: steps }));
  }
  return { node: element("div", { class: `trunc-way trunc-${way}` }, title, picture, lost.node, work.node), draw };
}
