// The picture of Gates: letters, the forget gate of one unit, its memory as streams, and a map of all units' forget gates.
import { element, svg, visibleCharacter } from "../ui.mjs";

const RIVER_HEIGHT = 140;
const LEVELS = 10; // shades of the map

const place = (value) => value.toFixed(3);

/** Points joined with level beginnings and ends, so that streams that touch at the letters touch in between. */
function curve(points, first) {
  return points.map(([x, y], i) => {
    if (i === 0) return `${first}${place(x)} ${place(y)}`;
    const [before, from] = points[i - 1];
    const middle = place((before + x) / 2);
    return `C${middle} ${place(from)} ${middle} ${place(y)} ${place(x)} ${place(y)}`;
  }).join("");
}

/** The outline of a stream, from half a letter before it is written to the end of the text or of itself. */
function outline({ from, start, edges }, length, height, least) {
  const seen = edges.findLastIndex(([inner, outer]) => Math.abs(outer - inner) > least);
  const drawn = edges.slice(0, Math.min(edges.length, seen + 2));
  const sides = [0, 1].map((side) => {
    const points = [[from - 0.5, height(start)], ...drawn.map((edge, k) => [from + k + 0.5, height(edge[side])])];
    if (from + drawn.length === length) points.push([length, height(drawn.at(-1)[side])]);
    return points;
  });
  return `${curve(sides[0], "M")}${curve(sides[1].reverse(), "L")}Z`;
}

const picture = (attributes, ...children) => svg("svg", { preserveAspectRatio: "none", "aria-hidden": "true", ...attributes }, ...children);
const caption = () => element("p", { class: "gates-caption" });

/** Letters with the gate of the chosen unit under each, and the memory: `time` is dragged for a letter, `map` for a unit. */
export function createPicture(t) {
  const letters = element("div", { class: "gates-letters", "aria-hidden": "true" });
  const gateCaption = caption();
  const gateBars = svg("path", { class: "gates-open" });
  const gates = picture({ class: "gates-forget" }, gateBars);
  const riverCaption = caption();
  const streams = svg("g");
  const axis = svg("path", { class: "gates-axis" });
  const line = svg("path", { class: "gates-line" });
  const level = svg("path", { class: "gates-level" });
  const water = svg("g", { class: "gates-water" }, streams, axis, line);
  const river = picture({ class: "gates-river", viewBox: `0 0 1 ${RIVER_HEIGHT}` }, level, water);
  const scale = element("span", { class: "gates-scale", "aria-hidden": "true" });
  const band = element("div", { class: "gates-band" });
  const half = element("div", { class: "gates-half", "aria-hidden": "true" }, element("span", {}, t("half")));
  const time = element(
    "div", { class: "gates-time", tabindex: "0", role: "slider", "aria-label": t("read_letter"), "aria-valuemin": 1 },
    band, letters, gateCaption, gates, riverCaption, element("div", { class: "gates-river-box" }, river, scale, half),
  );

  const mapCaption = caption();
  const shades = Array.from({ length: LEVELS }, (_, k) => svg("path", { class: "gates-shade", opacity: ((k + 1) / LEVELS).toFixed(2) }));
  const mark = element("div", { class: "gates-mark" });
  const column = element("div", { class: "gates-column" });
  const map = element(
    "div", { class: "gates-map", tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": t("choose_unit"), "aria-valuemin": 0 },
    picture({ class: "gates-shades" }, ...shades), column, mark,
  );
  const timeBox = element("div", { class: "gates-picture", role: "group" }, time);
  const mapBox = element("div", { class: "gates-picture", role: "group", "aria-label": t("map") }, mapCaption, map);

  function drawLetters(model) {
    const word = wordAround(model.letters, model.at);
    letters.replaceChildren(...model.letters.map((letter, i) => {
      const kind = [letter === " " && "is-space", i === model.at && "is-chosen", i >= word[0] && i < word[1] && "is-word"];
      return element("span", { class: kind.filter(Boolean).join(" ") }, visibleCharacter(letter));
    }));
  }

  function drawRiver(model) {
    const { letters: { length }, streams: all, top, bottom, cell, at } = model;
    // At least three: a unit that hardly writes looks like one.
    const high = Math.max(top, bottom < 0 && top < -bottom ? 0.1 * -bottom : 0, bottom < -1 ? 0 : 3 + bottom);
    const room = RIVER_HEIGHT - 12;
    const height = (value) => 6 + (room * (high - value)) / (high - bottom);
    let word = 0;
    streams.replaceChildren(...all.map((stream, i) => {
      if (model.letters[i] === " ") word += 1;
      const kind = i === at ? "is-chosen" : word % 2 ? "is-odd" : "is-even";
      return svg("path", { class: `gates-stream ${kind}`, d: outline(stream, length, height, (high - bottom) / 400) });
    }));
    if (streams.children[at]) streams.append(streams.children[at]); // on top, with its whole edge
    axis.setAttribute("d", `M0 ${place(height(0))}H${length}`);
    level.setAttribute("d", `M0 ${top >= -bottom ? 6 : RIVER_HEIGHT - 6}H${length}`);
    const points = cell.map((value, i) => [i + 0.5, height(value)]);
    line.setAttribute("d", length > 0 ? curve([[0, height(0)], ...points, [length, points.at(-1)[1]]], "M") : "");
    river.setAttribute("viewBox", `0 0 ${Math.max(1, length)} ${RIVER_HEIGHT}`);
    scale.textContent = t("scale", { value: (top >= -bottom ? high : bottom).toFixed(1).replace("-", "−") });
    scale.classList.toggle("is-below", top < -bottom);
    half.hidden = model.count === null;
    const share = (at + (model.count ?? 0) + 0.5) / Math.max(1, length);
    half.style.left = `${100 * share}%`;
    half.classList.toggle("is-late", share > 0.8);
  }

  function drawMap(model) {
    const { letters: { length }, order, unit, at } = model;
    const runs = shades.map(() => "");
    order.forEach((j, row) => {
      for (let i = 0; i < length; i += 1) {
        const level = Math.ceil((1 - model.gateAt(i, j)) * LEVELS - 0.5);
        if (level > 0) runs[level - 1] += `M${i} ${row}h1v1h-1z`;
      }
    });
    runs.forEach((d, k) => shades[k].setAttribute("d", d));
    map.firstElementChild.setAttribute("viewBox", `0 0 ${Math.max(1, length)} ${order.length}`);
    const row = order.indexOf(unit);
    mark.style.top = `${(100 * row) / order.length}%`;
    mark.style.height = `${100 / order.length}%`;
    column.style.left = `${(100 * at) / Math.max(1, length)}%`;
    column.style.width = `${100 / Math.max(1, length)}%`;
  }

  function draw(model, { name, now }) {
    const { letters: { length }, at, unit, forget, cell } = model;
    timeBox.style.setProperty("--letters", Math.max(1, length));
    timeBox.style.setProperty("--at", at);
    timeBox.setAttribute("aria-label", t("picture", { unit, text: model.text, now }));
    gateCaption.textContent = t("gate_row");
    riverCaption.textContent = `${t("river", { unit })}. ${t("tap")}`;
    mapCaption.textContent = t("map");
    drawLetters(model);
    gates.setAttribute("viewBox", `0 0 ${Math.max(1, length)} 1`);
    gateBars.setAttribute("d", forget.map((gate, i) => `M${i + 0.12} 1v${place(-gate)}h0.76v${place(gate)}z`).join(""));
    drawRiver(model);
    drawMap(model);
    time.setAttribute("aria-valuemax", Math.max(1, length));
    time.setAttribute("aria-valuenow", at + 1);
    const known = length > 0;
    time.setAttribute("aria-valuetext", known ? t("place_text", { letter: name, gate: forget[at].toFixed(2), cell: signed(cell[at]) }) : t("now_short"));
    map.setAttribute("aria-valuemax", model.order.length - 1);
    map.setAttribute("aria-valuenow", model.order.indexOf(unit));
    map.setAttribute("aria-valuetext", known ? t("unit_text", { unit, gate: forget[at].toFixed(2), letter: name }) : t("now_short"));
  }
  return { timeBox, time, mapBox, map, water, draw };
}

/** A number with its sign, a true minus. */
export const signed = (value, decimals = 2) => {
  const text = Math.abs(value).toFixed(decimals);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
};

/** Where the word begins and ends that a letter belongs to; a space is a word of its own. */
function wordAround(letters, at) {
  if (letters[at] === " ") return [at, at + 1];
  const text = letters.join("");
  const end = text.indexOf(" ", at);
  return [text.lastIndexOf(" ", at) + 1, end < 0 ? letters.length : end];
}

/** What the unit does at the chosen letter, as the equation with its numbers. */
export function createEquation(t) {
  const node = element("div", { class: "gates-equation" });
  const term = (kind, value, label, share = null) => {
    const gauge = share === null ? [] : [element("span", { class: "gates-gauge", style: `--share: ${share.toFixed(3)}`, "aria-hidden": "true" })];
    return element("span", { class: `gates-term ${kind}` }, element("b", {}, value), ...gauge, element("span", { class: "gates-label" }, label));
  };
  const sign = (text) => element("span", { class: "gates-sign" }, text);
  function draw({ letters, at, forget, input, candidate, cell }) {
    node.hidden = letters.length === 0;
    if (node.hidden) return;
    const [f, i] = [forget[at], input[at]];
    node.replaceChildren(
      term("is-here", visibleCharacter(letters[at]), t("here")),
      term("is-gate", f.toFixed(2), t("forget"), f), sign("×"), term("", signed(at > 0 ? cell[at - 1] : 0), t("before")), sign("+"),
      term("is-gate", i.toFixed(2), t("input"), i), sign("×"), term("", signed(candidate[at]), t("candidate")), sign("≈"),
      term("", signed(cell[at]), t("now_cell")),
    );
  }
  return { node, draw };
}
