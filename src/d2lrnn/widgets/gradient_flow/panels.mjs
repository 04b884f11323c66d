// The message on its way back, a bar a step; tanh; and the eigenvalues, whose ring can be dragged.
import { dragOn, motion, watchWidth } from "../shape.mjs";
import { element, prefersReducedMotion, svg, visibleCharacter } from "../ui.mjs";
import { formatFactor, formatLength, sideOf } from "./maths.mjs";

const HIGH = { narrow: 142, wide: 196 }; // pixels
const SENT = { narrow: 84, wide: 104 }; // of a message as large as at the wrong guess
const WIDE = 420; // from this width on
const GUESS = { narrow: 26, wide: 40 }; // pixels at the right, for the wrong guess
const FOOT = 50; // for the mark of the step that is asked, the letters, and the arrows
const LETTERS = 23; // pixels from its top: the line on which the letters stand
const ARROWS = 39; // and the middle of the arrows
const ARROW = 14; // pixels that an arrow is long, where there is room
const LINE = 1.5; // pixels: as thin as the band of × 1 becomes
const LETTER_ROOM = 8.4; // pixels a letter; where there is less, only the first and the last stand
const THICK = 0.64; // of the room of a step
const SECONDS = 1.4; // of the way back
const WAIT_MS = 250; // after the last change
const LEAP = 8; // by so much the scale may change at once; beyond it, it is seen to change
const ZOOM_SECONDS = 0.7;

/** How hot a message is, in percent: 0 as it was sent, 100 where it is a thousand times as large. */
const heatOf = (share) => Math.round((100 / 3) * Math.min(3, Math.max(0, Math.log10(share))));

/**
 * The message, from the wrong guess at the right back in time: at each step a bar as high as what is left of it, all smaller where the
 * highest would not fit; under it its letter, of a `line` that ends at the guess, and then the guess itself with the letter that came.
 * `send` lets it run back, and so does a change. A pointer, a finger or the arrow keys ask one step: its size stands above it.
 */
export function chainPanel({ t, line, guess, came, steps, signal }) {
  const sent = svg("rect", { class: "flow-sent", x: 0, rx: 8 });
  const dots = svg("g", { class: "flow-dots" });
  const layer = svg("g");
  const guide = svg("path", { class: "flow-guide" });
  const arrows = svg("g", { class: "flow-arrows" });
  const pulse = svg("circle", { class: "flow-pulse", r: 5 });
  const mark = svg("path", { class: "flow-asked" });
  const letters = svg("g", { class: "flow-letters" });
  const guessed = element("span", { class: "flow-guess", "aria-hidden": "true" }, visibleCharacter(guess));
  const arrived = element("span", { class: "flow-came", "aria-hidden": "true" }, visibleCharacter(came));
  const picture = svg("svg", { class: "flow-bars", "aria-hidden": "true" }, sent, guide, dots, layer, pulse);
  const probe = element("div", { class: "flow-probe", role: "slider", tabindex: "0", "aria-label": t("chain_probe"), "aria-valuemax": "0" },
    picture, svg("svg", { class: "flow-foot", height: FOOT, "aria-hidden": "true" }, arrows, letters, mark), guessed, arrived);
  const where = element("span", { class: "flow-where" });
  const size = element("b", { class: "flow-end" });
  const zoomed = element("span", { class: "flow-zoomed" });
  const ends = element(
    "div", { class: "flow-ends", "aria-hidden": "true" },
    where, element("span", { class: "flow-way" }), element("span", {}, t("sent", { guess: visibleCharacter(guess), came: visibleCharacter(came) })),
    element("div", { class: "flow-sizes" }, size, zoomed, element("b", { class: "flow-start" }, "1")),
  );
  const legend = element("p", { class: "flow-legend" });
  const node = element("div", { class: "flow-chain", role: "group" }, ends, probe, legend);
  const running = motion({ seconds: SECONDS, signal });
  const zooming = motion({ seconds: ZOOM_SECONDS, signal });
  let model = null;
  let width = 0;
  let bars = [];
  let unit = 0; // pixels of a message as large as at the wrong guess
  let reach = 1; // the share of the way that the message has gone
  let lag = null; // the step that is asked
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });

  const sized = (sizes) => sizes[width < WIDE ? "narrow" : "wide"];
  const rightEnd = () => width - sized(GUESS); // of the bars
  const room = () => rightEnd() / (model.lag + 1);
  const thick = () => Math.min(18, THICK * room());
  const xOf = (k) => rightEnd() - room() * (k + 0.5);

  /** Pixels of a message as large as at the wrong guess; fewer where the largest would not fit. */
  const fitted = () => Math.min(sized(SENT), sized(HIGH) / Math.max(...model.shares));

  /** As high as `unit` says, bars and band; the band of × 1 ends as a line. */
  function stretch() {
    const middle = sized(HIGH) / 2;
    const band = Math.max(LINE, unit);
    sent.setAttribute("y", middle - band / 2);
    sent.setAttribute("height", Number(band.toFixed(2)));
    sent.style.setProperty("--flow-far", `${Math.round(100 * Math.min(1, Math.max(0, Math.log10(sized(SENT) / band))))}%`);
    bars.forEach((bar, k) => {
      const tall = model.shares[k] * unit;
      bar.setAttribute("y", (middle - tall / 2).toFixed(2));
      bar.setAttribute("height", tall.toFixed(2));
      bar.setAttribute("rx", (Math.min(thick(), tall) / 2).toFixed(2));
    });
  }

  function paint() {
    if (width === 0 || model === null) return;
    const [high, middle] = [sized(HIGH), sized(HIGH) / 2];
    picture.setAttribute("viewBox", `0 0 ${width} ${high}`);
    picture.setAttribute("height", high);
    sent.setAttribute("width", rightEnd());
    dots.replaceChildren(...model.shares.map((_, k) => svg("circle", { cx: xOf(k).toFixed(1), cy: middle, r: 1.25 })));
    bars = model.shares.map((share, k) => svg("rect", {
      class: "flow-bar", style: `--flow-heat: ${heatOf(share)}%`, x: (xOf(k) - thick() / 2).toFixed(1), width: thick().toFixed(1),
    }));
    layer.replaceChildren(...bars);
    stretch();
    zoomed.hidden = fitted() === sized(SENT);
    zoomed.textContent = t("zoomed", { most: formatLength(Math.max(...model.shares)) });
    const isTurn = model.matrix === "orthogonal"; // only there does direction explain anything
    const told = [...(isTurn ? ["legend_arrow"] : []), zoomed.hidden ? "legend_sent" : "legend_zoomed"];
    legend.replaceChildren(...told.flatMap((word) => [element("span", {}, t(word, { count: model.eigenvalues.length })), " "]));
    const every = Math.ceil(LETTER_ROOM / room()); // where there is less room, not each step has an arrow
    const half = Math.min(ARROW, every * room() - 2) / 2;
    arrows.replaceChildren(...model.angles.flatMap((angle, k) => (!isTurn || k % every > 0 ? [] : [svg("path", {
      class: "flow-arrow", "data-lag": k, d: `M${-half} 0H${half}M${half - 3.5} -3L${half} 0L${half - 3.5} 3`,
      transform: `translate(${xOf(k).toFixed(1)} ${ARROWS}) rotate(${(-angle).toFixed(2)})`,
    })])));
    const isTight = room() < LETTER_ROOM;
    letters.style.fontSize = `${isTight ? 13 : Math.min(15, Math.max(10, room() * 0.9)).toFixed(1)}px`;
    letters.replaceChildren(...bars.map((_, k) => svg("text", { x: xOf(k).toFixed(1), y: LETTERS }, isTight && k > 0 && k < model.lag ? "" : visibleCharacter(line.at(-1 - k)))));
    paintGuess(middle);
    pulse.setAttribute("cy", middle);
    paintReach();
  }

  /** At the right end the letter that was guessed, and under it the one that came. */
  function paintGuess(middle) {
    for (const [node, y] of [[guessed, middle], [arrived, 2 * middle + LETTERS - 4]]) {
      node.style.top = `${y}px`;
      node.style.right = `${sized(GUESS) / 2 - 1}px`;
    }
    guessed.style.setProperty("--flow-wide", `${sized(GUESS) - 6}px`);
  }

  /** A word of the first line or its number, above the step that is asked, as far as the figure goes. */
  function moveAbove(word, x) {
    const end = Math.max(0, width - word.offsetWidth);
    word.style.translate = `${Math.min(end, Math.max(0, x - word.offsetWidth / 2)).toFixed(1)}px`;
  }

  /** What has not yet been reached is pale; the number is that of the step that is asked, or of the last. */
  function paintReach() {
    if (model === null) return;
    const front = Math.round(reach * model.lag);
    bars.forEach((bar, k) => bar.classList.toggle("flow-ahead", k > front));
    Array.from(letters.children, (letter, k) => letter.classList.toggle("flow-letter-asked", k === lag));
    pulse.style.display = reach < 1 && width > 0 ? "" : "none";
    if (width > 0) pulse.setAttribute("cx", xOf(reach * model.lag).toFixed(1));
    const at = lag ?? model.lag;
    size.style.setProperty("--flow-heat", `${heatOf(model.shares[at])}%`);
    where.textContent = t("where", { steps: steps(at) });
    size.textContent = formatLength(model.shares[at]);
    const isAsked = lag !== null && width > 0;
    node.classList.toggle("flow-asking", isAsked);
    for (const moved of [where, size]) {
      if (isAsked) moveAbove(moved, xOf(lag));
      else moved.style.translate = "";
    }
    guide.setAttribute("d", isAsked ? `M${xOf(lag).toFixed(1)} 0V${sized(HIGH)}` : "");
    mark.setAttribute("d", isAsked ? `M${xOf(lag).toFixed(1)} 1l5 8h-10z` : "");
    const shown = lag ?? 0;
    probe.setAttribute("aria-valuemin", -model.lag); // its least value lies at the left, where Home goes
    probe.setAttribute("aria-valuenow", -shown);
    probe.setAttribute("aria-valuetext", t("probe", { steps: steps(shown), left: formatLength(model.shares[shown]) }));
  }

  const stop = () => {
    clearTimeout(timer);
    running.stop();
    zooming.stop();
    reach = 1;
    if (model === null || unit === fitted()) return;
    unit = fitted();
    stretch();
  };
  const send = () => running.run((share) => {
    reach = share;
    paintReach();
  });
  const ask = (next) => {
    stop();
    lag = next === null ? null : Math.min(model.lag, Math.max(0, next));
    paintReach();
  };
  const askAt = ({ clientX }) => width > 0 && ask(Math.floor((picture.getBoundingClientRect().left + rightEnd() - clientX) / room()));
  const KEYS = { ArrowLeft: 1, ArrowDown: 1, ArrowRight: -1, ArrowUp: -1, Home: Infinity, End: -Infinity };
  probe.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    ask((lag ?? 0) + KEYS[event.key]);
  }, { signal });
  probe.addEventListener("pointermove", (event) => event.pointerType === "mouse" && askAt(event), { signal });
  probe.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && ask(null), { signal });
  dragOn(probe, { move: ({ event }) => askAt(event), signal });

  watchWidth(node, { signal, act: (now) => {
    if (now < 120) return;
    width = now;
    stop();
    paint();
  } });

  return {
    node,
    send,
    draw: (next, description) => {
      stop();
      const isNew = model !== null;
      const before = unit;
      model = next;
      lag = null;
      unit = fitted();
      const leap = unit / before;
      const isLeap = isNew && Math.abs(Math.log(leap)) > Math.log(LEAP) && !prefersReducedMotion();
      if (isLeap) unit = before;
      node.setAttribute("aria-label", description);
      paint();
      paintReach();
      if (isLeap) {
        zooming.run((share) => {
          unit = share < 1 ? before * leap ** (share * share * (3 - 2 * share)) : fitted();
          stretch();
        }).then((isDone) => isDone && send());
      } else if (isNew && !prefersReducedMotion()) timer = setTimeout(send, WAIT_MS);
    },
    /** Back to the beginning: nothing is asked, nothing runs. */
    forget: () => ask(null),
  };
}

const SQUASH = { width: 200, height: 92, unit: 30, high: 36, thick: 8 }; // tanh: pixels of a number, of tanh, of the slope 1

/** tanh as a band as thick as its slope, which is what it lets through, and the units of the last step on it. */
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
  const node = svg(
    "svg", { class: "flow-squash", viewBox: `0 0 ${width} ${height}`, role: "img" },
    svg("path", { class: "flow-level", d: `M0 ${low}H${width}M0 ${top}H${width}` }), ...words(2, top + 4, "start", ["1"]), ...words(width - 2, low + 4, "end", ["−1"]),
    band, told, dots,
  );
  return {
    node,
    draw: ({ lastState }) => {
      node.setAttribute("aria-label", `${t("squash")} ${t("squash_dots", { count: lastState.length })}`);
      dots.replaceChildren(...Array.from(lastState, (h) => {
        const [cx, cy] = at(Math.max(-3.2, Math.min(3.2, Math.atanh(h))));
        return svg("circle", { class: "flow-unit-dot", cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3 });
      }));
    },
  };
}

const UNIT = 56; // pixels a unit of the complex plane
const HALF = 98; // pixels from its middle to the end of an axis
const BEYOND = { right: 29, top: 22 }; // for their names
const PLANE = { width: 2 * (HALF + BEYOND.right), height: 2 * HALF + BEYOND.top };
const CENTRE = { x: PLANE.width / 2, y: HALF + BEYOND.top };
const GRIP = (63 / 180) * Math.PI; // where the ring is held: no dot lies there
const STEM = 20; // pixels that the handle stands outside the ring

/** Eigenvalues in the complex plane with the unit circle. The ring is the spectral radius: it can be dragged, and so can an eigenvalue. */
export function planePanel({ t, range, onRadius, signal }) {
  const ring = svg("circle", { class: "flow-ring", cx: 0, cy: 0 });
  const stem = svg("path", { class: "flow-stem" });
  const marks = svg("g");
  const picture = svg(
    "svg", { class: "flow-plane", viewBox: `${-CENTRE.x} ${-CENTRE.y} ${PLANE.width} ${PLANE.height}`, role: "img" },
    svg("path", { class: "d2lrnn-grid", d: `M${-HALF} 0H${HALF}M0 ${-HALF}V${HALF}` }),
    svg("circle", { class: "flow-unit", cx: 0, cy: 0, r: UNIT }),
    svg("text", { class: "flow-axis flow-one", x: UNIT + 4, y: 14 }, "1"),
    svg("text", { class: "flow-axis", x: HALF + 3, y: 4 }, t("real")),
    svg("text", { class: "flow-axis", x: 0, y: -HALF - 9, "text-anchor": "middle" }, t("imaginary")),
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

  /** The number under a pointer, which is at shares of the picture's width and height. */
  const numberAt = ({ x, y }) => [(x * PLANE.width - CENTRE.x) / UNIT, (CENTRE.y - y * PLANE.height) / UNIT];
  const distance = (at) => Math.hypot(...numberAt(at));
  dragOn(disc, {
    axis: "both",
    start: (at) => {
      const handleAt = [(shown.radius + STEM / UNIT) * Math.cos(GRIP), (shown.radius + STEM / UNIT) * Math.sin(GRIP)];
      begun = at.event.pointerType === "touch" ? { radius: shown.radius, distance: distance(at) } : null;
      const [re, im] = numberAt(at);
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
      handle.style.left = `${(100 * (CENTRE.x + far * Math.cos(GRIP))) / PLANE.width}%`;
      handle.style.top = `${(100 * (CENTRE.y - far * Math.sin(GRIP))) / PLANE.height}%`;
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
