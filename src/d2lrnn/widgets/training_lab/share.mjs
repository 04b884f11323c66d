// A picture of a run to share: drawn on a canvas, saved as a PNG; nothing leaves the page.
import { formatNumber } from "../ui.mjs";
import { axes, heat, levelPlaces, scales } from "./maths.mjs";

const WIDTH = 1200;
const MARGIN = 56;
const INK = "#1b2128";
const SOFT = "#54606c";
const LINE = "#d3d9df";
const HOT = [213, 94, 0];
const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Draw a run on a canvas: a headline, the sentence in its colours, the curve among its rivals, the diary. */
export function drawPicture(canvas, { report, headline, foot, rule, levelName, ageName, tickName, axisNames }) {
  const { sentence, nats, diary, heldout, levels, tokens, perUpdate, perplexity } = report;
  const perLine = 48;
  const numLines = Math.ceil(sentence.length / perLine);
  const curveTop = 150 + numLines * 62 + 30;
  const diaryTop = curveTop + 380;
  canvas.width = WIDTH;
  canvas.height = diaryTop + 40 + diary.length * 34 + 100;
  const pen = canvas.getContext("2d");
  const write = (text, x, y, { font = `22px ${SANS}`, fill = INK, align = "left", room = WIDTH - 2 * MARGIN } = {}) => {
    Object.assign(pen, { font, fillStyle: fill, textAlign: align, textBaseline: "alphabetic" });
    pen.fillText(text, x, y, room);
  };
  const line = (points, { stroke = INK, width = 2, dash = [] } = {}) => {
    Object.assign(pen, { strokeStyle: stroke, lineWidth: width, lineJoin: "round" });
    pen.setLineDash(dash);
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    pen.setLineDash([]);
  };
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  write(headline, MARGIN, 92, { font: `700 46px ${SANS}` });

  const cell = (WIDTH - 2 * MARGIN) / perLine;
  sentence.forEach((letter, i) => {
    const [x, y] = [MARGIN + (i % perLine) * cell, 150 + Math.floor(i / perLine) * 62];
    const share = i === 0 ? 0 : heat(nats[i - 1]);
    const [r, g, b] = HOT.map((value) => Math.round(255 + 0.55 * share * (value - 255)));
    pen.fillStyle = `rgb(${r}, ${g}, ${b})`;
    pen.fillRect(x, y, cell, 36);
    pen.fillStyle = `rgb(${HOT.join(", ")})`;
    pen.fillRect(x + 2, y + 36, cell - 4, 16 * share);
    write(letter, x + cell / 2, y + 27, { font: `24px ${MONO}`, align: "center" });
  });

  const box = { left: MARGIN + 44, right: WIDTH - MARGIN - 215, top: curveTop, bottom: curveTop + 320 };
  const range = axes({ tokens, perUpdate, curves: [heldout], levels });
  const { x, y } = scales(range, box);
  for (const tick of range.y.ticks) {
    line([[box.left, y(tick)], [box.right, y(tick)]], { stroke: LINE, width: 1 });
    write(formatNumber(tick, Number.isInteger(tick) ? 0 : 1), box.left - 10, y(tick) + 6, { font: `17px ${SANS}`, fill: SOFT, align: "right" });
  }
  for (const tick of range.x.ticks) {
    write(tickName(tick), x(tick), box.bottom + 26, { font: `17px ${SANS}`, fill: SOFT, align: "center" });
  }
  for (const level of levelPlaces(levels, y, { top: box.top, bottom: box.bottom, gap: 24 })) {
    line([[box.left, level.y], [box.right, level.y], [box.right + 12, level.label]], { stroke: "#7d8893", width: 1, dash: [3, 5] });
    const isBeaten = perplexity < level.perplexity;
    write(`${isBeaten ? "✓ " : ""}${levelName(level)}`, box.right + 18, level.label + 6, {
      font: `18px ${SANS}`, fill: isBeaten ? "#006b4e" : SOFT, room: WIDTH - box.right - 36,
    });
  }
  write(axisNames.x, box.right, box.bottom + 50, { font: `17px ${SANS}`, fill: SOFT, align: "right" });
  write(axisNames.y, box.left - 44, box.top - 16, { font: `17px ${SANS}`, fill: SOFT });
  const points = heldout.xs.map((at, i) => [x(Math.max(at, range.x.from)), heldout.ys[i]]).filter(([, value]) => Number.isFinite(value));
  line(points.map(([at, value]) => [at, y(value)]), { stroke: "#0072b2", width: 4 });

  diary.forEach(({ age, perplexity: value, pieces }, i) => {
    const at = diaryTop + 40 + i * 34;
    write(ageName(age), MARGIN + 150, at, { font: `19px ${SANS}`, fill: SOFT, align: "right" });
    write(formatNumber(value ?? Infinity, 1), MARGIN + 225, at, { font: `600 19px ${SANS}`, align: "right" });
    let along = MARGIN + 250;
    for (const [piece, isReal] of pieces) {
      write(piece, along, at, { font: `${isReal ? 600 : 400} 21px ${MONO}`, fill: isReal ? INK : SOFT });
      along += pen.measureText(piece).width;
    }
  });
  write(rule, MARGIN, canvas.height - 64, { font: `18px ${SANS}`, fill: SOFT });
  write(foot, MARGIN, canvas.height - 36, { font: `18px ${SANS}`, fill: SOFT });
}

/** Save a canvas as a file. */
export async function saveCanvas(canvas, name) {
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  Object.assign(anchor, { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
