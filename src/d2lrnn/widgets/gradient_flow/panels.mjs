// The chain of steps, whose beads are the gradient, and the eigenvalues, whose ring can be dragged.
import { formatPowerOfTen, scale } from "../charts.mjs";
import { dragOn, motion } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { VANISHED, formatFactor, formatLength, sideOf } from "./maths.mjs";

const HEIGHT = 252;
const MARGIN = { top: 14, right: 52, bottom: 34, left: 40 };
const INSET = 9; // half of the largest bead, between the last one and the scale
const [FLOOR, CEILING] = [1e-6, 1e4]; // the scale never changes
const TICKS = [1e4, 1e2, 1, 1e-2, 1e-4, 1e-6];

/** How large a bead is, compared with that of the loss: on the same scale as its place. */
function sizeOf(share) {
  const power = Math.log10(Math.min(CEILING, Math.max(FLOOR, share)));
  return 1 + power / (power < 0 ? 8 : 6);
}

/** A bead: a disc; a ring where it has vanished, a speck under the floor of the scale; a diamond where it has exploded, a triangle over the top. */
function bead(share, x, y, base) {
  const size = base * sizeOf(share);
  if (share < FLOOR) return svg("circle", { class: "flow-bead flow-speck", cx: x, cy: y + 7, r: 1.2 });
  if (share > CEILING) return svg("path", { class: "flow-bead flow-exploded", d: `M${x} ${y - 11}l${size} ${1.5 * size}h${-2 * size}z` });
  if (share > 1 / VANISHED) {
    const d = 1.35 * size;
    return svg("path", { class: "flow-bead flow-exploded", d: `M${x} ${y - d}l${d} ${d}l${-d} ${d}l${-d} ${-d}z` });
  }
  const kind = share < VANISHED ? "flow-bead flow-vanished" : "flow-bead";
  return svg("circle", { class: kind, cx: x, cy: y, r: size, opacity: Math.min(1, 1 + Math.log10(share) / 9) });
}

/**
 * The chain, from the loss at the right back in time. `send` lets a pulse run back, under which each bead goes to its
 * place; a pointer, a finger or the arrow keys ask one bead for its length.
 */
export function chainPanel({ t, steps, onTouch, signal }) {
  const grid = svg("g");
  const layer = svg("g");
  const asked = svg("g", { class: "flow-asked" });
  const pulse = svg("g", { class: "flow-pulse" }, svg("circle", { class: "flow-glow" }), svg("circle", { class: "flow-spark" }));
  const picture = svg("svg", { class: "flow-beads", height: HEIGHT, "aria-hidden": "true" }, grid, layer, asked, pulse);
  const probe = element("div", {
    class: "flow-probe", role: "slider", tabindex: "0", "aria-label": t("chain_probe"), "aria-valuemin": "0",
  }, picture);
  const node = element("div", { class: "flow-chain", role: "group" }, probe);
  const run = motion({ seconds: 2.2, signal });
  let model = null;
  let width = 0;
  let reach = 1; // the share of the chain that the pulse has passed
  let lag = null; // the bead that is asked

  const y = scale([FLOOR, CEILING], [HEIGHT - MARGIN.bottom, MARGIN.top], { log: true });
  const right = () => width - MARGIN.right;
  const xOf = (k) => right() - ((right() - MARGIN.left - INSET) * k) / model.lag;
  // a bead rises or sinks while the pulse runs over it and the next few
  const passed = (k) => {
    const share = Math.min(1, Math.max(0, (reach * (model.lag + 4) - k) / 4));
    return share * share * (3 - 2 * share);
  };
  const placeOf = (k) => y(1) + passed(k) * (y(model.shares[k]) - y(1));

  function paintGrid() {
    const [l, r] = [MARGIN.left, right()];
    const zone = (kind, from, to) => svg("rect", { class: `flow-zone-${kind}`, x: l, y: y(from), width: r - l, height: y(to) - y(from) });
    const parts = [zone("exploded", CEILING, 1 / VANISHED), zone("vanished", VANISHED, FLOOR)];
    for (const tick of TICKS) {
      parts.push(svg("path", { class: tick === 1 ? "flow-level" : "d2lrnn-grid", d: `M${l} ${y(tick)}H${r}` }));
      parts.push(svg("text", { class: "d2lrnn-tick", x: l - 6, y: y(tick) + 4, "text-anchor": "end" }, tick === 1 ? "1" : formatPowerOfTen(tick)));
    }
    const foot = HEIGHT - 6;
    parts.push(
      svg("text", { class: "flow-label flow-hot", x: r - 6, y: y(CEILING) + 16, "text-anchor": "end" }, t("zone_explodes")),
      svg("text", { class: "flow-label", x: r - 6, y: y(FLOOR) - 8, "text-anchor": "end" }, t("zone_vanishes")),
      svg("text", { class: "d2lrnn-axis", x: l, y: foot }, t("far", { steps: steps(model.lag) })),
      svg("text", { class: "d2lrnn-axis", x: r, y: foot, "text-anchor": "end" }, t("back")),
      svg("path", { class: "flow-level", d: `M${r} ${y(1)}h10` }),
      svg("rect", { class: "flow-loss", x: r + 9, y: y(1) - 12, width: 40, height: 24, rx: 5 }),
      svg("text", { class: "flow-loss-text", x: r + 29, y: y(1) + 4, "text-anchor": "middle" }, t("loss")),
    );
    grid.replaceChildren(...parts);
  }

  function paintBeads() {
    const base = Math.min(6, Math.max(2.4, (0.46 * (right() - MARGIN.left - INSET)) / model.lag));
    const [beads, points] = [[], []];
    for (let k = model.lag; k >= 0; k -= 1) {
      const [x, at] = [xOf(k), placeOf(k)];
      points.push(`${x.toFixed(1)} ${at.toFixed(1)}`);
      if (passed(k) > 0) beads.push(bead(model.shares[k], x, at, base));
      else beads.push(svg("circle", { class: "flow-unlit", cx: x, cy: at, r: Math.min(2, base / 2) }));
    }
    const parts = [svg("path", { class: "flow-string", d: `M${points.join("L")}` }), ...beads];
    const end = placeOf(model.lag);
    // the far end's length stands where the chain does not run: under it where it sinks, over it where it rises
    const above = model.left > 1 ? end > MARGIN.top + 24 : end > y(FLOOR) - 24;
    if (reach === 1) {
      const place = model.left > 1 && !above ? end + 20 : end + (above ? -11 : 20);
      parts.push(svg("text", { class: "flow-end", x: MARGIN.left + 4, y: place }, formatLength(model.left)));
    }
    layer.replaceChildren(...parts);
    const at = Math.min(model.lag, reach * model.lag);
    const near = Math.floor(at);
    const between = at - near;
    const share = model.shares[near] ** (1 - between) * model.shares[Math.min(model.lag, near + 1)] ** between;
    const size = 9 * sizeOf(share);
    pulse.classList.toggle("flow-hot", share > 1 / VANISHED);
    pulse.setAttribute("transform", `translate(${xOf(at).toFixed(1)} ${y(share).toFixed(1)})`);
    pulse.firstChild.setAttribute("r", (2.2 * size).toFixed(1));
    pulse.lastChild.setAttribute("r", size.toFixed(1));
    pulse.style.display = reach === 1 ? "none" : "";
  }

  function paintAsked() {
    const shown = lag ?? 0;
    picture.classList.toggle("flow-asking", lag !== null);
    probe.setAttribute("aria-valuemax", model.lag);
    probe.setAttribute("aria-valuenow", shown);
    probe.setAttribute("aria-valuetext", t("probe", { steps: steps(shown), left: formatLength(model.shares[shown]) }));
    if (lag === null) {
      asked.replaceChildren();
      return;
    }
    const [x, at] = [xOf(lag), y(model.shares[lag])];
    const anchor = x < MARGIN.left + 70 ? "start" : x > right() - 70 ? "end" : "middle";
    const words = svg("text", { class: "flow-asked-text", x, y: at > y(1e-4) || at < y(1) - 8 ? Math.max(12, at - 18) : at + 28, "text-anchor": anchor });
    words.textContent = probe.getAttribute("aria-valuetext");
    asked.replaceChildren(
      svg("path", { class: "flow-plumb", d: `M${x} ${y(1)}V${at}` }), svg("circle", { class: "flow-halo", cx: x, cy: at, r: 8.5 }), words,
    );
  }

  function paint() {
    if (width === 0 || model === null) return;
    paintGrid();
    paintBeads();
    paintAsked();
  }

  const ask = (next) => {
    lag = next;
    if (width > 0) paintAsked();
  };
  const askAt = ({ clientX }) => {
    const along = (right() - (clientX - picture.getBoundingClientRect().left)) / (right() - MARGIN.left - INSET);
    ask(Math.min(model.lag, Math.max(0, Math.round(along * model.lag))));
  };
  const KEYS = { ArrowLeft: 1, ArrowDown: 1, ArrowRight: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  probe.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    ask(Math.min(model.lag, Math.max(0, (lag ?? 0) + KEYS[event.key])));
  }, { signal });
  probe.addEventListener("pointermove", (event) => event.pointerType === "mouse" && askAt(event), { signal });
  probe.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && ask(null), { signal });
  dragOn(probe, { start: onTouch, move: ({ event }) => askAt(event), signal });

  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now < 120) return;
    width = now;
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    paint();
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });

  const stop = () => {
    run.stop();
    reach = 1;
  };
  return {
    node,
    ask,
    stop,
    draw: (next, description) => {
      stop();
      model = next;
      if (lag !== null) lag = Math.min(lag, model.lag);
      node.setAttribute("aria-label", description);
      paint();
    },
    send: () => {
      if (model === null || width === 0) return;
      run.run((share) => {
        reach = share;
        paintBeads();
      });
    },
  };
}

const UNIT = 56; // pixels a unit of the complex plane
const HALF = 98;

/** Eigenvalues in the complex plane with the unit circle. The ring is the spectral radius: it can be dragged, and so can an eigenvalue. */
export function planePanel({ t, range, onRadius, signal }) {
  const ring = svg("circle", { class: "flow-ring", cx: 0, cy: 0 });
  const marks = svg("g");
  const grip = svg("circle", { class: "flow-grip", r: 8 });
  const label = svg("text", { class: "flow-ring-text" });
  const picture = svg(
    "svg", { class: "flow-plane", viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "img" },
    svg("path", { class: "d2lrnn-grid", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    svg("circle", { class: "flow-unit", cx: 0, cy: 0, r: UNIT }),
    svg("path", { class: "flow-unit", d: `M${2 - HALF} ${HALF - 8}h14` }),
    svg("text", { class: "flow-label", x: 20 - HALF, y: HALF - 4 }, t("unit_circle")),
    ring, marks, grip, label,
  );
  const node = element("div", { class: "flow-eigen" }, element("div", { class: "flow-head" }, t("plane_title")), picture);
  let shown = null;
  let grabbed = 1; // distance of what is dragged from the centre, as a share of the radius

  const distance = ({ x, y }) => Math.hypot(2 * x - 1, 2 * y - 1) * (HALF / UNIT);
  dragOn(node.lastChild, {
    axis: "both",
    start: (at) => {
      const [re, im] = [(2 * at.x - 1) * (HALF / UNIT), (1 - 2 * at.y) * (HALF / UNIT)];
      const near = shown.eigenvalues.map((z) => [Math.hypot(z[0] - re, z[1] - im), Math.hypot(...z) / shown.radius])
        .filter(([, share]) => share > 0.35).sort((a, b) => a[0] - b[0])[0];
      grabbed = near && near[0] < 10 / UNIT ? near[1] : 1;
    },
    move: (at) => {
      const wished = distance(at) / grabbed;
      const magnet = Math.abs(wished - 1) < 0.025 ? 1 : Math.round(100 * wished) / 100;
      onRadius(Math.min(range.max, Math.max(range.min, magnet)));
    },
    signal,
  });

  const mark = (z) => {
    const [x, y] = [(UNIT * z[0]).toFixed(2), (-UNIT * z[1]).toFixed(2)];
    const side = sideOf(z);
    if (side === "outside") return svg("path", { class: "flow-mark flow-outside", d: `M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z` });
    return svg("circle", { class: `flow-mark flow-${side}`, cx: x, cy: y, r: 4 });
  };
  return {
    node,
    draw: (model) => {
      shown = model;
      const at = UNIT * model.radius * Math.SQRT1_2;
      ring.setAttribute("r", UNIT * model.radius);
      grip.setAttribute("cx", at);
      grip.setAttribute("cy", -at);
      const outside = model.radius < 1.3; // room for the number beyond the ring
      label.setAttribute("x", outside ? at + 12 : at - 12);
      label.setAttribute("y", -at + (outside ? -6 : 4));
      label.setAttribute("text-anchor", outside ? "start" : "end");
      label.textContent = formatFactor(model.radius);
      marks.replaceChildren(...model.eigenvalues.map(mark));
      const count = (side) => model.eigenvalues.filter((z) => sideOf(z) === side).length;
      picture.setAttribute("aria-label", t("plane", {
        inside: count("inside"), on: count("on"), outside: count("outside"), radius: formatFactor(model.radius),
      }));
    },
  };
}
