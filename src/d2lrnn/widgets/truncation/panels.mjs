// The chain with its windows, and beneath it a square for each route of the gradient.
import { dragOn } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { NUM_STEPS, isKept } from "./maths.mjs";

const [WIDTH, LEFT, COLUMN, CHAIN, TOP, ROW] = [366, 24, 13.8, 26, 50, 9.4];
const HEIGHT = TOP + NUM_STEPS * ROW + 6;
const xOf = (i) => LEFT + i * COLUMN; // the left edge of a column
const yOf = (t) => TOP + t * ROW;
const ORIGIN = [214, 158]; // of the two arrows, in the empty half
const REACH = 104;

/** Side of a square: by the logarithm of its route's length, 1 at the longest. */
const sideOf = (share) => ROW * Math.max(0.14, 0.92 * (1 + Math.log10(Math.max(share, 1e-9)) / 3.2));

function arrow(kind, size, degrees) {
  const tip = Math.min(10, size);
  return svg("g", { transform: `translate(${ORIGIN.join(" ")}) rotate(${-degrees})` },
    svg("path", { class: `trunc-arrow-${kind}`, d: `M0 0H${(size - tip * 0.8).toFixed(1)}` }),
    svg("path", { class: `trunc-tip-${kind}`, d: `M${size.toFixed(1)} 0l${-tip} ${tip / 2}v${-tip}z` }));
}

/** `onTau` gets where the first window is dragged to; a pointer or a finger on a row says how far its loss goes back. */
export function routesPanel({ t, onTau, signal }) {
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
  const beads = Array.from({ length: NUM_STEPS }, (_, i) => svg("circle", { class: "trunc-bead", cx: xOf(i + 0.5), cy: CHAIN, r: 3.6 }));
  const row = svg("rect", { class: "trunc-row", x: LEFT - 2, height: ROW, rx: 2 });
  const told = svg("text", { class: "trunc-text trunc-told", x: WIDTH - 4, y: TOP - 2, "text-anchor": "end" });
  const arrows = svg("g");
  const line = svg("path", { class: "trunc-line" });
  const handle = svg("g", { class: "trunc-handle" }, line,
    svg("circle", { class: "trunc-grip", cx: 0, cy: CHAIN, r: 9 }),
    svg("path", { class: "trunc-sign", d: `M-2 ${CHAIN - 3.5}l-3.5 3.5l3.5 3.5M2 ${CHAIN - 3.5}l3.5 3.5l-3.5 3.5` }));
  const number = (i, at) => svg("text", { class: "trunc-text", x: at[0], y: at[1], "text-anchor": "middle" }, String(i));
  const numbers = [1, 12, 24].flatMap((i) => [number(i, [xOf(i - 0.5), 10]), number(i, [LEFT - 13, yOf(i - 0.5) + 4])]);
  const key = (kind, x) => [
    svg("rect", { class: `trunc-square trunc-${kind}`, x, y: yOf(2) - 9, width: 9, height: 9 }),
    svg("text", { class: "trunc-text", x: x + 15, y: yOf(2) }, t(kind)),
  ];
  const picture = svg(
    "svg", { class: "trunc-picture", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" },
    bands, row, svg("path", { class: "trunc-string", d: `M${xOf(0.5)} ${CHAIN}H${xOf(NUM_STEPS - 0.5)}` }), ...beads, grid, ...numbers,
    ...key("kept", 230), ...key("cut", 292), arrows, told, handle,
  );
  const node = element("div", { class: "trunc-routes" }, element("p", { class: "trunc-head" }, t("head")), picture);
  let shown = null;

  const columnAt = (x) => (x * WIDTH - LEFT) / COLUMN;
  dragOn(picture, {
    start: ({ y }) => y * HEIGHT < TOP, // on the chain; beneath it a finger asks a row
    move: ({ x }) => {
      const place = Math.round(columnAt(x));
      const tau = shown.way === "windows" ? place : NUM_STEPS - place;
      onTau(Math.min(NUM_STEPS, Math.max(1, tau)));
    },
    signal,
  });

  const ask = (loss) => {
    const asked = loss !== null && loss >= 0 && loss < NUM_STEPS;
    row.style.display = asked ? "" : "none";
    let first = loss;
    if (asked) {
      while (first > 0 && isKept(loss, first - 1, shown.tau, shown.way)) first -= 1;
      row.setAttribute("y", yOf(loss));
      row.setAttribute("width", (loss + 1) * COLUMN + 4);
    }
    told.textContent = !asked ? "" : first === loss ? t("row_own", { step: loss + 1 }) : t("row", { step: loss + 1, first: first + 1 });
    beads.forEach((bead, i) => bead.classList.toggle("trunc-reached", asked && i >= first && i <= loss));
  };
  const askAt = ({ clientY }) => {
    const box = picture.getBoundingClientRect();
    ask(box.height > 0 ? Math.floor((((clientY - box.top) / box.height) * HEIGHT - TOP) / ROW) : null);
  };
  for (const kind of ["pointermove", "pointerdown"]) picture.addEventListener(kind, (event) => shown && askAt(event), { signal });
  picture.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && ask(null), { signal });
  ask(null);

  function draw(model, description) {
    shown = model;
    const { tau, way } = model;
    const parts = [];
    if (way === "windows") {
      for (let first = 0, odd = false; first < NUM_STEPS; first += tau, odd = !odd) {
        const count = Math.min(tau, NUM_STEPS - first);
        const kind = odd ? "trunc-band trunc-odd" : "trunc-band";
        parts.push(svg("rect", { class: kind, x: xOf(first) + 0.75, y: CHAIN - 12, width: count * COLUMN - 1.5, height: 24, rx: 6 }));
        parts.push(svg("rect", { class: kind, x: xOf(first) + 0.75, y: yOf(first), width: count * COLUMN - 1.5, height: count * ROW, rx: 3 }));
      }
    } else {
      parts.push(svg("rect", { class: "trunc-band", x: xOf(NUM_STEPS - tau) + 0.75, y: CHAIN - 12, width: tau * COLUMN - 1.5, height: 24, rx: 6 }));
      const points = [[0, 0], [1, 0]];
      for (let i = 1; i < NUM_STEPS; i += 1) points.push([i, i], [i + 1, i]);
      points.push([NUM_STEPS, NUM_STEPS]);
      for (let i = NUM_STEPS; i > tau; i -= 1) points.push([i - tau, i], [i - tau, i - 1]);
      points.push([0, Math.min(tau, NUM_STEPS)]);
      parts.push(svg("path", { class: "trunc-band", d: `M${points.map(([x, y]) => `${xOf(x)} ${yOf(y)}`).join("L")}z` }));
    }
    bands.replaceChildren(...parts);
    for (const { row: loss, i, square } of squares) {
      const side = sideOf(model.sizes[loss][i] / model.largest);
      const kept = isKept(loss, i, tau, way);
      square.setAttribute("class", kept ? "trunc-square trunc-kept" : "trunc-square trunc-cut");
      square.setAttribute("x", (xOf(i + 0.5) - side / 2).toFixed(2));
      square.setAttribute("y", (yOf(loss + 0.5) - side / 2).toFixed(2));
      square.setAttribute("width", side.toFixed(2));
      square.setAttribute("height", side.toFixed(2));
    }
    line.setAttribute("d", `M0 ${CHAIN}V${way === "windows" ? yOf(tau) : CHAIN + 14}`);
    handle.setAttribute("transform", `translate(${way === "windows" ? xOf(tau) : xOf(NUM_STEPS - tau)} 0)`);

    const longest = Math.max(model.lengths.whole, model.lengths.rest);
    const found = [arrow("whole", (REACH * model.lengths.whole) / longest, 0)];
    const text = (kind, x, y, words, anchor = "start") => svg("text", { class: `trunc-text ${kind}`, x, y, "text-anchor": anchor }, words);
    found.push(text("", ORIGIN[0] + REACH, ORIGIN[1] + 16, t("whole"), "end"));
    if (model.angle !== null && model.kept < model.all) {
      const size = (REACH * model.lengths.rest) / longest;
      const turn = (model.angle * Math.PI) / 180;
      found.push(arrow("rest", size, model.angle));
      found.push(text("", Math.min(WIDTH - 58, ORIGIN[0] + size * Math.cos(turn) + 6), ORIGIN[1] - size * Math.sin(turn) - 6, t("rest")));
      const words = t("angle", { angle: Math.round(model.angle) });
      if (model.angle < 16) { // no room between the two
        found.push(text("trunc-angle", ORIGIN[0] + REACH + 6, ORIGIN[1] + 4, words));
      } else {
        const [x, y] = [34 * Math.cos(turn), -34 * Math.sin(turn)];
        found.push(svg("path", { class: "trunc-arc", d: `M${ORIGIN[0] + 34} ${ORIGIN[1]}A34 34 0 0 0 ${(ORIGIN[0] + x).toFixed(1)} ${(ORIGIN[1] + y).toFixed(1)}` }));
        found.push(text("trunc-angle", ORIGIN[0] + 41 * Math.cos(turn / 2), ORIGIN[1] - 41 * Math.sin(turn / 2) + 4, words));
      }
    }
    arrows.replaceChildren(...found);
    picture.setAttribute("aria-label", description);
  }
  return { node, draw, ask };
}
