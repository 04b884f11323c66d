// The chain of steps, whose beads are the gradient and whose far end is dragged, and the eigenvalues, whose ring can be dragged.
import { scale } from "../charts.mjs";
import { dragOn, motion, watchWidth } from "../shape.mjs";
import { element, svg } from "../ui.mjs";
import { VANISHED, formatFactor, formatLength, sideOf } from "./maths.mjs";

const HEIGHT = { narrow: 264, wide: 312 };
const MARGIN = { top: 24, right: 48, bottom: 46, left: 70 }; // the names of the zones stand outside, where no bead comes
const INSET = 16; // the ring about the last bead, clear of the scale
const WIDE = 420; // width of the chain, for its words
const SHORT = 330; // and where there is room for a few alone
const WORDS_AT = MARGIN.left + 38; // beside the ring about the last bead
const NEAR = 56; // pixels between two ends whose words could meet
const GHOST_WORDS = 132;
const BEAD = 5; // radius of a bead of size 1
const SECONDS = 0.7; // from one curve to the next
const [FLOOR, CEILING] = [1e-6, 1e6]; // the scale never changes
const TICKS = [1e6, 1e4, 1e2, 1, 1e-2, 1e-4, 1e-6];
const tickText = (tick) => tick.toLocaleString("en", { maximumFractionDigits: 6 });
const clamped = (share) => Math.min(CEILING, Math.max(FLOOR, share));
const isOff = (share) => share < FLOOR || share > CEILING;

/** Larger where the message is larger, by its power of ten: half of `half` to one and a half. */
const halfOf = (share, half) => half * (1 + Math.log10(clamped(share)) / 12);

/** A bead: a dot, open where the message has vanished, a diamond where it has exploded; off the scale a triangle that points there. */
function bead(share, x, y, half) {
  if (share < FLOOR) return svg("path", { class: "flow-bead flow-off flow-vanished", d: `M${x} ${y}l${half} ${-1.6 * half}h${-2 * half}z` });
  if (share > CEILING) return svg("path", { class: "flow-bead flow-off flow-exploded", d: `M${x} ${y}l${half} ${1.6 * half}h${-2 * half}z` });
  if (share > 1 / VANISHED) return svg("path", { class: "flow-bead flow-exploded", d: `M${x} ${y - half}l${half} ${half}l${-half} ${half}l${-half} ${-half}z` });
  return svg("circle", { class: `flow-bead${share < VANISHED ? " flow-vanished" : ""}`, cx: x, cy: y, r: half });
}

/**
 * The chain, from the loss at the right back in time. `send` lets a pulse run back, past the beads; `move` lets them go from the curve before to this one.
 * A pointer, a finger or the arrow keys ask one bead for its length.
 */
export function chainPanel({ t, steps, range, onRadius, signal }) {
  const grid = svg("g");
  const layer = svg("g");
  const asked = svg("g", { class: "flow-asked" });
  const pulse = svg("g", { class: "flow-pulse" }, svg("circle", { class: "flow-glow" }), svg("circle", { class: "flow-spark" }));
  const picture = svg("svg", { class: "flow-beads", "aria-hidden": "true" }, grid, layer, asked, pulse);
  const probe = element("div", {
    class: "flow-probe", role: "slider", tabindex: "0", "aria-label": t("chain_probe"), "aria-valuemin": "0",
  }, picture);
  const grip = element("div", { class: "flow-grip", "aria-hidden": "true" });
  const node = element("div", { class: "flow-chain", role: "group" }, probe, grip);
  const pulsing = motion({ seconds: 2, signal });
  const moving = motion({ seconds: SECONDS, signal });
  let model = null;
  let width = 0;
  let high = HEIGHT.wide;
  let y = null; // of a share
  let reach = 1; // the share of the chain that the pulse has passed
  let come = 1; // how far the beads have come from the curve before, and where they come from
  let from = null;
  let lag = null; // the bead that is asked
  let last = null; // the model that stands, the one that stood when the reader began to move something, and its curve that stays as a ghost
  let base = null;
  let ghost = null;
  let held = false;
  let moved = -Infinity; // when it was last drawn anew

  const isNarrow = () => width < WIDE;
  const right = () => width - MARGIN.right;
  const xOf = (k) => right() - ((right() - MARGIN.left - INSET) * k) / model.lag;

  const onScale = (share) => y(clamped(share));
  const off = (k) => isOff(model.shares[k]);
  const shareAt = (k) => (come === 1 ? model.shares[k] : clamped(from[k]) ** (1 - come) * clamped(model.shares[k]) ** come);

  function paintGrid() {
    const [l, r] = [MARGIN.left, right()];
    const zone = (kind, from, to) => svg("rect", { class: `flow-zone-${kind}`, x: l, y: y(from), width: r - l, height: y(to) - y(from) });
    const parts = [zone("exploded", CEILING, 1 / VANISHED), zone("vanished", VANISHED, FLOOR)];
    for (const tick of TICKS) {
      parts.push(svg("path", { class: tick === 1 ? "flow-level" : "d2lrnn-grid", d: `M${l} ${y(tick)}H${r}` }));
      parts.push(svg("text", { class: "d2lrnn-tick", x: l - 6, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick)));
    }
    const foot = high - 8;
    const middle = y(1);
    const zoneAt = isNarrow() ? width - 2 : r; // room for a long number on the same line
    const name = (k, anchor, x) => svg("text", { class: "flow-cell-name", x, y: foot, "text-anchor": anchor }, t("cell", { step: model.num_steps - k }));
    parts.push(
      svg("text", { class: "flow-label flow-hot", x: zoneAt, y: MARGIN.top - 8, "text-anchor": "end" }, t("zone_explodes")),
      svg("text", { class: "flow-label", x: zoneAt, y: y(FLOOR) + 15, "text-anchor": "end" }, t("zone_vanishes")),
      svg("path", { class: "flow-wire", d: `M${r} ${middle}h10` }),
      svg("rect", { class: "flow-loss", x: r + 10, y: middle - 12, width: 36, height: 24, rx: 5 }),
      svg("text", { class: "flow-loss-text", x: r + 28, y: middle + 4, "text-anchor": "middle" }, t("loss")),
      svg("text", { class: "flow-step", x: (l + r) / 2, y: foot, "text-anchor": "middle" }, t(width < SHORT ? "back_short" : "back")),
      name(model.lag, "start", l), name(0, "end", r + 8),
    );
    grid.replaceChildren(...parts);
  }

  /** A curve as a path: no line along the edge of the scale, where nothing is measured. */
  const lineOf = (shares) => {
    const points = [];
    shares.forEach((share, k) => {
      if (k > 0 && isOff(share) && isOff(shares[k - 1])) return;
      points.push(`${points.length > 0 ? "L" : "M"}${xOf(k).toFixed(1)} ${onScale(share).toFixed(1)}`);
    });
    return points.join("");
  };
  /** A length at the end of a curve, with a mark where it is off the scale. */
  const lengthOf = (share) => (isOff(share) ? t(share < 1 ? "off_scale_low" : "off_scale", { length: formatLength(share) }) : formatLength(share));

  /** The curve before, pale, so that two can be compared. */
  function ghostLine() {
    if (ghost === null || ghost.lag !== model.lag) return [];
    if (off(model.lag) && (model.left < 1 ? ghost.left < FLOOR : ghost.left > CEILING)) return []; // both end off the scale
    const line = svg("path", { class: "flow-ghost", d: lineOf(ghost.shares) });
    const place = ghostPlace(ghost.shares.map(onScale));
    return place === null ? [line] : [line, svg("text", { class: "flow-ghost-text", ...place }, t("before", { length: lengthOf(ghost.left) }))];
  }

  /** Where its words stand: beside the curve, as far left as no bead and no other words lie there; null if nowhere. */
  function ghostPlace(at) {
    const own = model.shares.map(onScale);
    const told = endPlace()[0];
    const toldTo = WORDS_AT + endWide();
    for (let x = WORDS_AT; x < right() - GHOST_WORDS; x += 12) {
      const over = (heights) => heights.filter((_, k) => xOf(k) > x - 10 && xOf(k) < x + GHOST_WORDS + 10);
      const isFree = (height) => height > MARGIN.top + 12 && height < y(FLOOR) - 4 && over(own).every((bead) => bead < height - 18 || bead > height + 12)
        && (x > toldTo || Math.abs(height - told) > 24);
      const [above, below] = [Math.min(...over(at)) - 9, Math.max(...over(at)) + 20];
      const height = (at.at(-1) < own.at(-1) ? [above, below] : [below, above]).find(isFree);
      if (height !== undefined) return { x, y: height };
    }
    return null;
  }

  function paintBeads() {
    const half = Math.min(BEAD, Math.max(2, 0.45 * ((right() - MARGIN.left - INSET) / model.lag)));
    const shares = model.shares.map((_, k) => shareAt(k));
    const beads = shares.map((share, k) => bead(share, xOf(k), onScale(share), halfOf(share, half))).reverse();
    layer.replaceChildren(svg("path", { class: `flow-area${shares[model.lag] > 1 / VANISHED ? " flow-hot" : ""}`, d: `M${xOf(0)} ${y(1)}${shares.map((share, k) => `L${xOf(k).toFixed(1)} ${onScale(share).toFixed(1)}`).join("")}L${xOf(model.lag)} ${y(1)}z` }), ...ghostLine(), svg("path", { class: "flow-string", d: lineOf(shares) }), ...beads, ...(come === 1 ? [endLabel()] : []));
    grip.style.left = `${xOf(model.lag)}px`;
    grip.style.top = `${onScale(shares[model.lag])}px`;
    paintPulse();
  }

  function paintPulse() {
    const at = reach * model.lag;
    const near = Math.floor(at);
    const between = at - near;
    const share = model.shares[near] ** (1 - between) * model.shares[Math.min(model.lag, near + 1)] ** between;
    const size = halfOf(share, 6);
    pulse.classList.toggle("flow-hot", share > 1 / VANISHED);
    pulse.setAttribute("transform", `translate(${xOf(at).toFixed(1)} ${onScale(share).toFixed(1)})`);
    pulse.firstChild.setAttribute("r", (2.2 * size).toFixed(1));
    pulse.lastChild.setAttribute("r", size.toFixed(1));
    pulse.style.display = reach === 1 ? "none" : "";
  }

  /** The far end's length, beside its bead, on the side that the chain leaves free; where that is taken, outside the scale. */
  function endLabel() {
    const [at, words] = endPlace();
    return svg("text", { class: "flow-end", x: WORDS_AT, y: at }, words);
  }

  const endWide = () => 16 + (isNarrow() ? 10.5 : 12.5) * lengthOf(model.left).length;

  function endPlace() {
    const [end, rises] = [y(model.left), model.left > 1];
    const words = lengthOf(model.left);
    const outside = rises ? MARGIN.top - 6 : y(FLOOR) + 20;
    if (off(model.lag)) { // clear of the beads above or below it
      const beads = model.shares.map(y).filter((_, k) => xOf(k) < WORDS_AT + endWide());
      return [rises ? Math.min(y(1) + 28, Math.max(...beads) + 30) : Math.max(y(1) - 12, Math.min(...beads) - 15), words];
    }
    const before = ghost?.lag === model.lag ? onScale(ghost.left) : -Infinity;
    const above = Math.abs(before - end) > NEAR ? rises : before > end; // beside another curve: on the side away from it
    const beside = above ? end - 16 : end + (isNarrow() ? 25 : 29);
    const taken = beside < MARGIN.top + 18 || beside > y(FLOOR) - 4 || Math.abs(beside - 7 - before) < 17;
    return [taken ? outside : beside, words];
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
    const [isHigh, isLow] = [at < MARGIN.top + 34, at > y(1e-4)];
    const beside = at < y(1) - 8 ? at - 18 : at + 28;
    const words = svg("text", { class: "flow-asked-text", x, y: isHigh ? y(1) + 20 : isLow ? y(1) - 10 : beside, "text-anchor": anchor });
    words.textContent = probe.getAttribute("aria-valuetext");
    asked.replaceChildren(
      svg("path", { class: "flow-plumb", d: `M${x} ${y(FLOOR)}V${at}` }), svg("circle", { class: "flow-halo", cx: x, cy: at, r: 8.5 }), words,
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
  // The far end goes where the pointer goes: its height says the factor of a step, exactly so in a linear network.
  let begun = null;
  dragOn(grip, {
    axis: "both",
    start: ({ event }) => {
      ask(null);
      begun = { at: event.clientY, height: y(model.left), radius: model.radius };
    },
    move: ({ event }) => {
      const moved = event.clientY - begun.at;
      if (Math.abs(moved) < 1) return;
      const height = Math.min(y(FLOOR), Math.max(y(CEILING), begun.height + moved));
      const wished = FLOOR * (CEILING / FLOOR) ** ((y(FLOOR) - height) / (y(FLOOR) - y(CEILING)));
      const step = (wished / model.left) ** ((model.activation === "linear" ? 1 : 0.5) / model.lag);
      const exact = off(model.lag) && (wished <= FLOOR || wished >= CEILING) ? model.radius : model.radius * step;
      const radius = Math.abs(exact - 1) < 0.008 ? 1 : Math.round(100 * exact) / 100;
      onRadius(Math.min(range.max, Math.max(range.min, radius)));
    },
    signal,
  });
  dragOn(probe, { move: ({ event }) => askAt(event), signal });

  watchWidth(node, { signal, act: (now) => {
    if (now < 120) return;
    width = now;
    high = HEIGHT[isNarrow() ? "narrow" : "wide"];
    y = scale([FLOOR, CEILING], [high - MARGIN.bottom, MARGIN.top], { log: true });
    picture.setAttribute("viewBox", `0 0 ${width} ${high}`);
    picture.setAttribute("height", high);
    paint();
  } });

  const stop = () => {
    pulsing.stop();
    moving.stop();
    reach = come = 1;
  };
  return {
    node,
    ask,
    stop,
    draw: (next, description) => {
      stop();
      if (!held && performance.now() - moved > 1000) base = last; // keys pressed one after another are one move
      const isOther = base !== null && (["activation", "matrix", "input_size"].some((key) => base[key] !== next[key]) || Math.abs(base.radius - next.radius) > 0.02);
      if (isOther) ghost = base;
      last = next;
      moved = performance.now();
      from = model?.lag === next.lag ? model.shares : null;
      model = next;
      if (lag !== null) lag = Math.min(lag, model.lag);
      node.setAttribute("aria-label", description);
      paint();
    },
    /** From here on: what stands now is what the next curve is compared with. */
    compare: () => {
      ghost = null;
      base = last = model;
      paint();
    },
    /** A pointer is put down, or lifted: what stood when it was put down is what the next curve is compared with. */
    hold: (isDown) => {
      held = isDown;
      if (isDown) base = last;
    },
    forget: () => {
      ghost = base = last = null;
    },
    send: () => {
      if (model === null || width === 0) return;
      pulsing.run((share) => {
        reach = share;
        paintPulse();
      });
    },
    move: () => {
      if (model === null || width === 0 || from === null) return;
      moving.run((share) => {
        come = share;
        paintBeads();
      });
    },
  };
}

const SQUASH = { width: 200, height: 92, unit: 30, high: 36, thick: 8 }; // tanh: pixels of a number, of tanh, of the slope 1

/** tanh as a band as thick as its slope, which is what it lets through; once it acts, the units of the last step on it. */
export function tanhPanel({ t }) {
  const { width, height, unit, high, thick } = SQUASH;
  const at = (z) => [width / 2 + unit * z, height / 2 - high * Math.tanh(z)];
  const zs = Array.from({ length: 65 }, (_, i) => (i - 32) / 10);
  const edge = (side) => zs.map((z) => {
    const slope = 1 - Math.tanh(z) ** 2;
    const turn = Math.hypot(unit, high * slope); // along the normal of the curve
    const [x, y] = at(z);
    const half = side * (0.75 + (thick * slope) / 2);
    return `${(x + (half * high * slope) / turn).toFixed(1)} ${(y + (half * unit) / turn).toFixed(1)}`;
  });
  const band = svg("path", { class: "flow-band", d: `M${edge(1).join("L")}L${edge(-1).reverse().join("L")}z` });
  const dots = svg("g");
  const words = (x, y, anchor, lines) => lines.map((line, i) => svg("text", { class: "flow-squash-text", x, y: y + 15 * i, "text-anchor": anchor }, line));
  const [low, top] = [-1, 1].map((h) => height / 2 - high * h);
  const told = svg("g", { class: "flow-passes" }, ...words(92, 28, "end", [t("steep"), t("steep_passes")]), ...words(width - 2, 32, "end", [t("flat"), t("flat_passes")]));
  const name = svg("g", {}, ...words(width - 40, 48, "end", [t("squash_name")]));
  const node = svg(
    "svg", { class: "flow-squash", viewBox: `0 0 ${width} ${height}`, role: "img" },
    svg("path", { class: "flow-level", d: `M0 ${low}H${width}M0 ${top}H${width}` }), ...words(2, top + 4, "start", ["1"]), ...words(width - 2, low + 4, "end", ["−1"]),
    band, name, told, dots,
  );
  return {
    node,
    draw: ({ lastState, activation }) => {
      const acts = activation === "tanh";
      told.style.display = acts ? "" : "none";
      name.style.display = acts ? "none" : "";
      node.setAttribute("aria-label", acts ? `${t("squash")} ${t("squash_dots")}` : t("squash"));
      dots.replaceChildren(...(acts ? Array.from(lastState, (h) => {
        const [cx, cy] = at(Math.max(-3.2, Math.min(3.2, Math.atanh(h))));
        return svg("circle", { class: "flow-unit-dot", cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3 });
      }) : []));
    },
  };
}

const TURN = { width: 200, height: 92, middle: 36, long: 21, count: 8, apart: 24, angle: 40 }; // degrees a step

/** What a turn does: at each of some beads, from the right back in time, an arrow as long as the factor leaves it. */
export function turnPanel({ t }) {
  const { width, height, middle, long, count, apart, angle } = TURN;
  const arrows = svg("g");
  const words = svg("text", { class: "flow-squash-text", x: width / 2, y: height - 8, "text-anchor": "middle" });
  const node = svg("svg", { class: "flow-turn", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "xMidYMin slice", role: "img" }, arrows, words);
  return {
    node,
    draw: ({ radius }) => {
      const most = Math.max(1, radius ** (count - 1));
      arrows.replaceChildren(...Array.from({ length: count }, (_, k) => {
        const x = width - 16 - apart * k;
        const size = Math.max(0.5, (long * radius ** k) / most);
        const head = Math.min(5, size / 3);
        const way = `M0 0h${size.toFixed(1)}m${-head} ${-head}l${head} ${head}l${-head} ${head}`;
        return svg("g", { transform: `translate(${x} ${middle})` }, svg("path", { class: "flow-arrow", d: way, transform: `rotate(${-90 - angle * k})` }), svg("circle", { class: "flow-unit-dot", r: 3 }));
      }));
      const value = { count, radius: formatFactor(radius) };
      node.setAttribute("aria-label", t("turn", value));
      words.textContent = t("turn_step", value);
    },
  };
}

const UNIT = 56; // pixels a unit of the complex plane
const HALF = 98;
const GRIP = (63 / 180) * Math.PI; // where the ring is held: no dot lies there
const STEM = 20; // pixels that the handle stands outside the ring

/** Eigenvalues in the complex plane with the unit circle. The ring is the spectral radius: it can be dragged, and so can an eigenvalue. */
export function planePanel({ t, range, onRadius, signal }) {
  const ring = svg("circle", { class: "flow-ring", cx: 0, cy: 0 });
  const stem = svg("path", { class: "flow-stem" });
  const marks = svg("g");
  const picture = svg(
    "svg", { class: "flow-plane", viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "img" },
    svg("path", { class: "d2lrnn-grid", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    svg("circle", { class: "flow-unit", cx: 0, cy: 0, r: UNIT }),
    ring, stem, marks,
  );
  const caption = element("div", { class: "flow-head" });
  const value = element("b", { class: "flow-ring-value" });
  // the picture's own text is read as a whole, so its handle stands beside it
  const handle = element("div", { class: "flow-handle", role: "slider", tabindex: "0", "aria-label": t("ring"), "aria-valuemin": range.min, "aria-valuemax": range.max });
  const disc = element("div", { class: "flow-disc" }, picture, handle);
  const node = element("div", { class: "flow-eigen" }, element("div", { class: "flow-title" }, `${t("plane_title")}: `, value), disc, caption);
  const STEPS = { ArrowRight: 0.01, ArrowUp: 0.01, ArrowLeft: -0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1, Home: -Infinity, End: Infinity };
  handle.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(STEPS, event.key)) return;
    event.preventDefault();
    onRadius(Math.min(range.max, Math.max(range.min, Math.round(100 * (shown.radius + STEPS[event.key])) / 100)));
  }, { signal });
  let shown = null;
  let grabbed = 1; // distance of what is dragged from the centre, as a share of the radius
  let beyond = 0; // how far outside the ring it is held
  let begun = null; // where a finger began: it covers what it drags, so it pulls at half the speed, from the radius that is

  const distance = ({ x, y }) => Math.hypot(2 * x - 1, 2 * y - 1) * (HALF / UNIT);
  dragOn(disc, {
    axis: "both",
    start: (at) => {
      const handleAt = [(shown.radius + STEM / UNIT) * Math.cos(GRIP), (shown.radius + STEM / UNIT) * Math.sin(GRIP)];
      begun = at.event.pointerType === "touch" ? { radius: shown.radius, distance: distance(at) } : null;
      const [re, im] = [(2 * at.x - 1) * (HALF / UNIT), (1 - 2 * at.y) * (HALF / UNIT)];
      const near = shown.eigenvalues.map((z) => [Math.hypot(z[0] - re, z[1] - im), Math.hypot(...z) / shown.radius])
        .filter(([, share]) => share > 0.35).sort((a, b) => a[0] - b[0])[0];
      const isHandle = Math.hypot(handleAt[0] - re, handleAt[1] - im) < 15 / UNIT;
      beyond = isHandle ? distance(at) - shown.radius : 0;
      grabbed = !isHandle && near && near[0] < 10 / UNIT ? near[1] : 1;
    },
    move: (at) => {
      const wished = begun ? begun.radius + (distance(at) - begun.distance) / 2 : (distance(at) - beyond) / grabbed;
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
      ring.setAttribute("r", UNIT * model.radius);
      const [near, far] = [UNIT * model.radius, UNIT * model.radius + STEM];
      const place = (r) => `${(r * Math.cos(GRIP)).toFixed(1)} ${(-r * Math.sin(GRIP)).toFixed(1)}`;
      stem.setAttribute("d", `M${place(near)}L${place(far)}`);
      handle.style.left = `${50 + (50 * far * Math.cos(GRIP)) / HALF}%`;
      handle.style.top = `${50 - (50 * far * Math.sin(GRIP)) / HALF}%`;
      handle.setAttribute("aria-valuenow", model.radius);
      handle.setAttribute("aria-valuetext", formatFactor(model.radius));
      const orthogonal = model.radius === 1 ? "unit_orthogonal" : "unit_scaled";
      const words = model.activation === "tanh" ? "unit_tanh" : model.matrix === "orthogonal" ? orthogonal : "unit_words";
      caption.textContent = t(words, { radius: formatFactor(model.radius) });
      value.textContent = formatFactor(model.radius);
      marks.replaceChildren(...model.eigenvalues.map(mark));
      const count = (side) => model.eigenvalues.filter((z) => sideOf(z) === side).length;
      picture.setAttribute("aria-label", t("plane", {
        inside: count("inside"), on: count("on"), outside: count("outside"), radius: formatFactor(model.radius),
      }));
    },
  };
}
