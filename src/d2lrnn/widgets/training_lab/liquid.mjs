// The surprise at a line of letters, drawn as a liquid in which they stand: the higher it is, the less a letter was expected.
import { prefersReducedMotion } from "../ui.mjs";

const PALE = [[0, 0.1], [0.3, 0.34], [0.6, 0.62], [1, 0.95]]; // opacity of the liquid by its height: what drains also pales

/** Opacity of the liquid below a curve, by its height in the chart: [height, opacity]. */
export const BELOW_CURVE = [[0, 0.04], [0.5, 0.2], [1, 0.55]];

/** Draw it into a canvas: each letter has its own level, 0 to 1, at its middle. `hot` is red, green and blue. */
export function paintLiquid(pen, levels, { left = 0, top = 0, cell, height, hot }) {
  const y = (level) => top + height - 1 - level * (height - 2);
  const right = left + cell * levels.length;
  const ink = (opacity) => `rgb(${hot.join(" ")} / ${opacity})`;
  const surface = new Path2D();
  surface.moveTo(left, y(levels[0]));
  levels.forEach((level, i) => {
    const x = left + (i + 0.5) * cell;
    if (i === 0) surface.lineTo(x, y(level));
    else surface.bezierCurveTo(x - cell / 2, y(levels[i - 1]), x - cell / 2, y(level), x, y(level));
  });
  surface.lineTo(right, y(levels.at(-1)));
  const body = new Path2D(surface);
  body.lineTo(right, top + height);
  body.lineTo(left, top + height);
  const fill = pen.createLinearGradient(0, top + height, 0, top);
  for (const [at, opacity] of PALE) fill.addColorStop(at, ink(opacity));
  pen.fillStyle = fill;
  pen.fill(body);
  Object.assign(pen, { strokeStyle: ink(0.9), lineWidth: Math.max(1, height / 36) });
  pen.stroke(surface);
}

const NEAR = 0.004; // of the way: from here on nobody sees a difference

const PAUSE_MS = 20; // between two pictures: some thirty a second are smooth, and leave the network its time

/** Numbers that glide to those they are sent to, fast at first: `draw(numbers)` is called with every picture. Where a reader asked for less movement they leap. */
export function glide({ seconds, draw, signal }) {
  let target = [];
  let shown = [];
  let isDue = false;
  let before = 0;
  const step = (now) => {
    isDue = false;
    if (signal.aborted) return;
    const left = Math.exp((before - now) / (1000 * seconds));
    before = now;
    let far = 0;
    shown = target.map((value, i) => {
      const gap = (shown[i] - value) * left;
      far = Math.max(far, Math.abs(gap));
      return value + gap;
    });
    draw(shown);
    if (far > NEAR) goOn();
  };
  const goOn = () => {
    isDue = true;
    setTimeout(() => requestAnimationFrame(step), PAUSE_MS);
  };
  return {
    /** At once where there is nothing to come from. */
    to(values, isAtOnce = false) {
      const leaps = isAtOnce || shown.length !== values.length || prefersReducedMotion();
      target = values;
      if (leaps) {
        shown = values;
        draw(shown);
      } else if (!isDue) {
        before = performance.now();
        goOn();
      }
    },
  };
}
