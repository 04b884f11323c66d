// A picture of a run to share: drawn on a canvas, saved as a PNG; nothing leaves the page.
import { formatNumber } from "../ui.mjs";
import { BELOW_CURVE, paintLiquid } from "./liquid.mjs";
import { axes, heat, levelPlaces, scales } from "./maths.mjs";

const WIDTH = 1200;
const HEIGHT = 906; // and more for a page
const MARGIN = 56;
const INK = "#1b2128";
const SOFT = "#54606c";
const LINE = "#d3d9df";
const HOT = [213, 94, 0];
const BLUE = "#0072b2";
const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

const ROW = 28; // pixels of a line of a page
const PER_ROW = 86; // and its letters

/** Pieces of a text in rows of at most so many letters; a piece at the edge goes to the next row. */
export function inRows(pieces, letters) {
  const rows = [[]];
  let room = letters;
  for (const piece of pieces) {
    if (piece[0].length > room) {
      rows.push([]);
      room = letters;
    }
    if (room === letters && rows.length > 1 && piece[0] === " ") continue;
    rows.at(-1).push(piece);
    room -= piece[0].length;
  }
  return rows;
}

/** Draw a run on a canvas: a headline, its first words and its last, the sentence in its colours, the curve among its rivals. */
export function drawPicture(canvas, { report, headline, captions, foot, name, address, levelName, tickName, axisNames }) {
  const { sentence, nats, diary, written, spelled, heldout, levels, tokens, perUpdate, perplexity } = report;
  const rows = inRows(spelled ? spelled.pieces : written, PER_ROW);
  const extra = ROW * (rows.length - 1);
  const bottom = HEIGHT + extra;
  Object.assign(canvas, { width: WIDTH, height: bottom });
  const pen = canvas.getContext("2d");
  const room = WIDTH - 2 * MARGIN;
  const write = (text, x, y, { font = `20px ${SANS}`, fill = SOFT, align = "left", most = room } = {}) => {
    Object.assign(pen, { font, fillStyle: fill, textAlign: align, textBaseline: "alphabetic" });
    const wide = pen.measureText(text).width;
    if (wide > most) pen.font = font.replace(/[\d.]+(?=px)/, (size) => ((size * most) / wide).toFixed(1)); // smaller, not squeezed
    pen.fillText(text, x, y);
  };
  const line = (points, { stroke = INK, width = 2, dash = [] } = {}) => {
    Object.assign(pen, { strokeStyle: stroke, lineWidth: width, lineJoin: "round" });
    pen.setLineDash(dash);
    pen.beginPath();
    points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    pen.setLineDash([]);
  };
  const panel = (y, height, fill) => {
    pen.fillStyle = fill;
    pen.beginPath();
    pen.roundRect(MARGIN, y, room, height, 10);
    pen.fill();
  };
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, WIDTH, bottom);
  write(headline, MARGIN, 98, { font: `750 54px ${SANS}`, fill: INK });

  // What it wrote at first, and what it writes now.
  const quote = (pieces, y, size = 28) => {
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN + 22, y - 40, room - 44, 56);
    pen.clip();
    let along = MARGIN + 22;
    for (const [piece, isReal] of pieces) {
      write(piece, along, y, { font: `${isReal ? 700 : 400} ${size}px ${MONO}`, fill: isReal ? BLUE : SOFT });
      along += pen.measureText(piece).width;
    }
    pen.restore();
  };
  panel(134, 84, "#f3f5f7");
  write(captions.first, MARGIN + 22, 164, { font: `19px ${SANS}` });
  quote(diary[0]?.pieces ?? [], 200);
  panel(230, 84 + extra, "#e3f1fa");
  write(captions.last, MARGIN + 22, 260, { font: `19px ${SANS}` });
  rows.forEach((row, i) => quote(row, 296 + ROW * i, rows.length > 1 ? 20 : 28));
  pen.translate(0, extra);

  // The sentence that it never learned from.
  const perLine = 48;
  const cell = room / perLine;
  for (const row of [0, 1]) {
    const letters = sentence.slice(row * perLine, (row + 1) * perLine);
    if (letters.length === 0) break;
    const [top, height] = [334 + 62 * row, 56];
    const levels = letters.map((_, i) => (row + i === 0 ? 0 : heat(nats[row * perLine + i - 1])));
    paintLiquid(pen, levels, { left: MARGIN, top, cell, height, hot: HOT });
    letters.forEach((letter, i) => write(letter, MARGIN + (i + 0.5) * cell, top + height - 12, { font: `28px ${MONO}`, fill: INK, align: "center" }));
  }
  write(captions.sentence, MARGIN, 478, { font: `18px ${SANS}` });

  const box = { left: MARGIN + 40, right: WIDTH - MARGIN - 300, top: 540, bottom: 792 };
  const range = axes({ tokens, perUpdate, curves: [heldout], levels });
  const { x, y } = scales(range, box);
  for (const tick of range.y.ticks) {
    line([[box.left, y(tick)], [box.right, y(tick)]], { stroke: LINE, width: 1 });
    write(formatNumber(tick, Number.isInteger(tick) ? 0 : 1), box.left - 10, y(tick) + 6, { font: `17px ${SANS}`, align: "right" });
  }
  for (const tick of range.x.ticks) write(tickName(tick), x(tick), box.bottom + 26, { font: `17px ${SANS}`, align: "center" });
  for (const level of levelPlaces(levels, y, { top: box.top, bottom: box.bottom, gap: 24 })) {
    line([[box.left, level.y], [box.right, level.y], [box.right + 12, level.label]], { stroke: "#7d8893", width: 1, dash: [3, 5] });
    const isBeaten = perplexity < level.perplexity;
    write(`${isBeaten ? "✓ " : ""}${levelName(level)}`, box.right + 18, level.label + 6, {
      font: `${isBeaten ? 650 : 400} 18px ${SANS}`, fill: isBeaten ? BLUE : SOFT, most: WIDTH - MARGIN - box.right - 18,
    });
  }
  write(axisNames.x, box.right, box.bottom + 50, { font: `17px ${SANS}`, align: "right" });
  write(axisNames.y, MARGIN, box.top - 16, { font: `18px ${SANS}` });
  const points = heldout.xs.map((at, i) => [x(Math.max(at, range.x.from)), heldout.ys[i]]).filter(([, value]) => Number.isFinite(value));
  if (points.length) {
    const fill = pen.createLinearGradient(0, box.bottom, 0, box.top);
    for (const [at, opacity] of BELOW_CURVE) fill.addColorStop(at, `rgb(${HOT.join(" ")} / ${opacity})`);
    pen.fillStyle = fill;
    pen.beginPath();
    pen.moveTo(points[0][0], box.bottom);
    for (const [at, value] of points) pen.lineTo(at, y(value));
    pen.lineTo(points.at(-1)[0], box.bottom);
    pen.fill();
  }
  line(points.map(([at, value]) => [at, y(value)]), { stroke: BLUE, width: 5 });
  if (Number.isFinite(perplexity) && points.length) {
    const [at] = points.at(-1);
    pen.fillStyle = BLUE;
    pen.beginPath();
    pen.arc(at, y(perplexity), 9, 0, 2 * Math.PI);
    pen.fill();
    Object.assign(pen, { font: `750 30px ${SANS}`, strokeStyle: "#ffffff", lineWidth: 8, textAlign: "center" });
    pen.strokeText(formatNumber(perplexity), at, y(perplexity) - 20);
    write(formatNumber(perplexity), at, y(perplexity) - 20, { font: `750 30px ${SANS}`, fill: BLUE, align: "center" });
  }
  write(foot, MARGIN, HEIGHT - 34, { font: `18px ${SANS}`, most: room - 170 });
  write(name, WIDTH - MARGIN, HEIGHT - 34, { font: `700 22px ${SANS}`, fill: INK, align: "right" });
  write(address, MARGIN, HEIGHT - 10, { font: `16px ${SANS}` });
}

/** Save a canvas as a file. */
export async function saveCanvas(canvas, name) {
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const files = [new File([blob], name, { type: "image/png" })];
  if (matchMedia("(pointer: coarse)").matches && navigator.canShare?.({ files })) { // a phone asks to whom
    return navigator.share({ files }).then(() => "sent", () => null); // or a reader thinks better of it
  }
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  Object.assign(anchor, { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return "saved";
}
