// The chain of steps with its windows and one loss's way back, beneath it a square for each route of the gradient.
import { dragOn } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { NUM_STEPS, firstKept, isKept } from "./maths.mjs";

const [WIDTH, LEFT, COLUMN, ROW] = [366, 40, 13.4, 9.4];
const [RULER, RULER_END, NUMBERS, CHAIN, TOP] = [20, 42, 50, 65, 94];
const HEIGHT = TOP + NUM_STEPS * ROW + 4;
const xOf = (i) => LEFT + i * COLUMN; // the left edge of a column
const yOf = (t) => TOP + t * ROW;
const ORIGIN = [174, TOP + 72]; // of the arrows, in the empty half
const REACH = 96;

/** Side of a square: by the logarithm of its route's length, 1 at the longest. */
const sideOf = (share) => ROW * Math.max(0.14, 0.92 * (1 + Math.log10(Math.max(share, 1e-9)) / 3.2));

const text = (kind, x, y, words, anchor = "middle") => svg("text", { class: `trunc-text ${kind}`, x, y, "text-anchor": anchor }, words);

function arrow(kind, [x, y], [toX, toY]) {
  const size = Math.hypot(toX - x, toY - y);
  const tip = Math.min(10, size);
  const turn = (Math.atan2(toY - y, toX - x) * 180) / Math.PI;
  return svg("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${turn.toFixed(2)})` },
    svg("path", { class: `trunc-arrow trunc-arrow-${kind}`, d: `M0 0H${(size - tip * 0.8).toFixed(1)}` }),
    svg("path", { class: `trunc-tip-${kind}`, d: `M${size.toFixed(1)} 0l${-tip} ${tip / 2}v${-tip}z` }));
}

/** Kept and lost part of the gradient, end to end, beside the whole one. */
function arrows({ lengths, angle, lost, kept, all }, t, percent) {
  const [x, y] = ORIGIN;
  const end = [x + REACH, y];
  const found = [arrow("whole", ORIGIN, end), text("", x + REACH / 2, y + 16, t("whole"))];
  if (kept === all) return found;
  const size = (REACH * lengths.rest) / lengths.whole;
  const turn = (angle * Math.PI) / 180;
  const tip = [x + size * Math.cos(turn), y - size * Math.sin(turn)];
  found.push(arrow("lost", tip, end), arrow("rest", ORIGIN, tip));
  const flat = angle < 25; // then the words of the lost part stand beside its tip
  found.push(text("trunc-kept-text", tip[0] + (flat ? 4 : 0), tip[1] - 8, `■ ${t("kept")}`, flat ? "end" : "middle"));
  const [textX, textY] = [Math.max((tip[0] + end[0]) / 2, end[0] - 18) + 16, (tip[1] + y) / 2 - 4];
  found.push(text("trunc-lost-text", textX, textY, `□ ${t("lost")}`, "start"), text("trunc-lost-text", textX, textY + 16, percent(lost).replace("under", "<"), "start"));
  return found;
}

/** The outline of the squares of a window that begins at column `first`. */
function stairs(first, count) {
  let path = `M${xOf(first) + 0.75} ${yOf(first)}`;
  for (let i = 0; i < count; i += 1) path += `H${xOf(first + i + 1) - 0.75}V${yOf(first + i + 1)}`;
  return `${path}H${xOf(first) + 0.75}z`;
}

/** `onTau` gets the τ that the ruler is dragged to, `onLoss` the loss that is pointed at. */
export function routesPanel({ t, percent, onTau, onLoss, signal }) {
  const bands = svg("g");
  const squares = [];
  const grid = svg("g");
  for (let row = 0; row < NUM_STEPS; row += 1) {
    for (let i = 0; i <= row; i += 1) {
      const square = svg("rect");
      squares.push({ row, i, square });
      grid.append(square);
    }
  }
  const beads = Array.from({ length: NUM_STEPS }, (_, i) => svg("circle", { cx: xOf(i + 0.5), cy: CHAIN, r: 3.8 }));
  const ways = svg("g"); // of the one loss, along the chain
  const row = svg("rect", { class: "trunc-row", x: LEFT - 3, height: ROW + 2, rx: 3, role: "slider", tabindex: "0", "aria-label": t("row_slider"), "aria-valuemin": 1, "aria-valuemax": NUM_STEPS });
  const numbers = svg("g");
  const vectors = svg("g", { class: "trunc-vectors" });
  const span = svg("path", { class: "trunc-span" });
  const tauText = text("trunc-strong", 0, RULER + 4.5, "");
  const grip = svg("g", { class: "trunc-handle", role: "slider", tabindex: "0", "aria-label": t("tau_slider"), "aria-valuemin": 1, "aria-valuemax": NUM_STEPS },
    svg("circle", { class: "trunc-grip", r: 12 }),
    svg("path", { class: "trunc-sign", d: "M-3 -4l-4 4l4 4M3 -4l4 4l-4 4" }));
  const picture = svg(
    "svg", { class: "trunc-picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group" },
    bands, svg("path", { class: "trunc-string", d: `M${xOf(0.5)} ${CHAIN}H${xOf(NUM_STEPS - 0.5)}` }), ways, ...beads, grid, row,
    numbers, text("", LEFT - 6, CHAIN + 4, t("step"), "end"),
    svg("text", { class: "trunc-text", transform: `translate(10 ${yOf(NUM_STEPS / 2)}) rotate(-90)`, "text-anchor": "middle" }, t("row_axis")),
    vectors, span, tauText, grip,
  );
  const node = element("div", { class: "trunc-routes" }, picture);
  let shown = null;
  let loss = 0;

  const within = (value, max) => Math.min(max, Math.max(1, value));
  const stepAt = ({ x, y }) => within(y * HEIGHT < TOP ? Math.ceil((x * WIDTH - LEFT) / COLUMN) : Math.ceil((y * HEIGHT - TOP) / ROW), NUM_STEPS);
  let holds = "tau";
  dragOn(picture, {
    start: ({ y }) => { holds = y * HEIGHT < RULER_END ? "tau" : "loss"; },
    move: (at) => {
      if (holds === "loss") return onLoss(stepAt(at) - 1);
      const place = Math.round((at.x * WIDTH - LEFT) / COLUMN);
      return onTau(within(shown.way === "windows" ? place : loss + 1 - place, NUM_STEPS));
    },
    signal,
  });
  picture.addEventListener("pointermove", ({ pointerType, buttons, clientX, clientY }) => {
    if (pointerType !== "mouse" || buttons > 0 || shown === null) return;
    const box = picture.getBoundingClientRect();
    const [x, y] = [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
    if (y * HEIGHT >= RULER_END) onLoss(stepAt({ x, y }) - 1);
  }, { signal });
  const BY = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -NUM_STEPS, End: NUM_STEPS };
  const keys = (handle, act) => handle.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(BY, event.key)) return;
    event.preventDefault();
    act(event.key);
  }, { signal });
  keys(grip, (key) => onTau(within(shown.tau + BY[key], NUM_STEPS)));
  keys(row, (key) => onLoss(within(loss + 1 + BY[key] * (/Up|Down/.test(key) ? -1 : 1), NUM_STEPS) - 1)); // down is a later row

  function drawBands({ tau, way }) {
    const parts = [];
    const onChain = (kind, first, count) => svg("rect", { class: kind, x: xOf(first) + 0.75, y: CHAIN - 11, width: count * COLUMN - 1.5, height: 22, rx: 6 });
    if (way === "windows") {
      for (let first = 0, odd = false; first < NUM_STEPS; first += tau, odd = !odd) {
        const count = Math.min(tau, NUM_STEPS - first);
        const kind = odd ? "trunc-band trunc-odd" : "trunc-band";
        parts.push(onChain(kind, first, count), svg("path", { class: kind, d: stairs(first, count) }));
      }
    } else {
      const first = firstKept(loss, tau, way);
      parts.push(onChain("trunc-band", first, loss + 1 - first));
      let path = `M${xOf(0)} ${yOf(0)}`;
      for (let i = 0; i < NUM_STEPS; i += 1) path += `H${xOf(i + 1)}V${yOf(i + 1)}`;
      for (let i = NUM_STEPS; i > tau; i -= 1) path += `H${xOf(i - tau)}V${yOf(i - 1)}`;
      parts.push(svg("path", { class: "trunc-band", d: `${path}H${xOf(0)}z` }));
    }
    bands.replaceChildren(...parts);
  }

  function drawRuler({ tau, way }) {
    const [from, to] = way === "windows" ? [0, tau] : [Math.max(0, loss + 1 - tau), loss + 1];
    const at = way === "windows" ? to : from;
    grip.setAttribute("transform", `translate(${xOf(at)} ${RULER})`);
    grip.setAttribute("aria-valuenow", tau);
    grip.setAttribute("aria-valuetext", `τ = ${tau}`);
    const beside = xOf(to) + (way === "windows" ? 18 : 7);
    const right = beside < WIDTH - 60; // else the words stand on the line
    const left = at === to ? xOf(to) - 18 : xOf(to) - 7;
    span.setAttribute("d", `M${xOf(from)} ${RULER - 6}v12m0 -6H${right ? xOf(to) : Math.max(xOf(from), left - 50)}M${xOf(to)} ${RULER - 6}v12`);
    tauText.setAttribute("x", right ? beside : left);
    tauText.setAttribute("text-anchor", right ? "start" : "end");
    tauText.textContent = t("tau", { tau });
  }

  function drawWay(first) {
    const parts = [];
    if (first > 0) parts.push(svg("path", { class: "trunc-way-lost", d: `M${xOf(first)} ${CHAIN}H${xOf(0.5)}` }));
    if (first < loss) {
      parts.push(svg("path", { class: "trunc-way", d: `M${xOf(loss + 0.5)} ${CHAIN}H${xOf(first + 0.5)}` }));
    }
    ways.replaceChildren(...parts);
    beads.forEach((bead, i) => {
      const kind = i === loss ? "loss" : i > loss ? "later" : i >= first ? "reached" : "unreached";
      bead.setAttribute("class", `trunc-bead trunc-${kind}`);
      bead.setAttribute("r", i === loss ? 5.5 : 3.8);
    });
    row.setAttribute("y", yOf(loss) - 1);
    row.setAttribute("width", (loss + 1) * COLUMN + 6);
    row.setAttribute("aria-valuenow", loss + 1);
    const ends = [0, NUM_STEPS - 1].filter((i) => Math.abs(i - loss) > 1);
    numbers.replaceChildren(
      ...ends.flatMap((i) => [text("", xOf(i + 0.5), NUMBERS, String(i + 1)), text("", LEFT - 7, yOf(i + 0.5) + 4, String(i + 1), "end")]),
      text("trunc-strong", xOf(loss + 0.5), NUMBERS, String(loss + 1)), text("trunc-strong", LEFT - 7, yOf(loss + 0.5) + 4, String(loss + 1), "end"),
      text("trunc-strong", Math.max(xOf(loss + 0.5), LEFT + 12), CHAIN + 23, t("loss")),
    );
  }

  /** `told` says what becomes of the routes of the one loss. */
  function draw(model, chosen, description, told) {
    shown = model;
    loss = chosen;
    drawBands(model);
    for (const { row: at, i, square } of squares) {
      const side = sideOf(model.sizes[at][i] / model.largest);
      square.setAttribute("class", isKept(at, i, model.tau, model.way) ? "trunc-square trunc-kept" : "trunc-square trunc-cut");
      square.setAttribute("x", (xOf(i + 0.5) - side / 2).toFixed(2));
      square.setAttribute("y", (yOf(at + 0.5) - side / 2).toFixed(2));
      square.setAttribute("width", side.toFixed(2));
      square.setAttribute("height", side.toFixed(2));
    }
    drawWay(firstKept(loss, model.tau, model.way));
    drawRuler(model);
    vectors.replaceChildren(...arrows(model, t, percent));
    row.setAttribute("aria-valuetext", told);
    picture.setAttribute("aria-label", description);
  }
  return { node, draw };
}
