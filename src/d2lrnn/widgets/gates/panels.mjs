// The picture of Gates: one text for two units, what is left of a stored number at each letter; guesses; a dozen units.
import { element, svg, visibleCharacter } from "../ui.mjs";
import { breakOf } from "./maths.mjs";

const fixed = (value) => value.toFixed(3);
/** A share in words: "5%", "under 1%", "over 99%". */
export const shareText = (share, t) => {
  if (share > 0.99) return share < 1 ? t("over", { share: "99%" }) : "100%";
  return share < 0.01 ? t("under", { share: "1%" }) : `${Math.round(100 * share)}%`;
};

const picture = (kind, ...children) => svg("svg", { class: kind, preserveAspectRatio: "none", "aria-hidden": "true" }, ...children);
const caption = (...texts) => element("p", { class: "gates-caption" }, ...texts);

/** Bars of `heights` (0 to 1) from column `from` on, each standing on the line y. */
const bars = (heights, { from = 0, y = 1, size = 1, gap = 0.08 } = {}) => heights
  .map((height, k) => `M${from + k + gap} ${fixed(y)}v${fixed(-size * height)}h${fixed(1 - 2 * gap)}v${fixed(size * height)}z`).join("");

/** Columns of letters with a narrow margin for numbers on their left; `field` is what is dragged. */
function columns(...children) {
  const field = element("div", { class: "gates-field" }, ...children);
  return { field, node: element("div", { class: "gates-columns" }, field) };
}

/** Letters in a line, which a narrow screen breaks in two: { node, tiles, set(letters) }; a tile holds its letter's text. */
function tileLine(kind) {
  const node = element("div", { class: `gates-line ${kind}` });
  let written = null;
  const line = { node, tiles: [] };
  line.set = (letters) => {
    if (letters.join("") === written) return;
    written = letters.join("");
    line.tiles = letters.map((letter, i) => element("span", { class: letter === " " ? "gates-tile is-space" : "gates-tile", style: `--i: ${i}` }));
    const at = breakOf(letters);
    const parts = [line.tiles.slice(0, at), line.tiles.slice(at)].filter((part) => part.length > 0);
    node.style.setProperty("--most", Math.max(1, ...parts.map((part) => part.length)));
    node.style.setProperty("--letters", letters.length);
    node.replaceChildren(...parts.map((part) => element("div", { class: "gates-part", style: `--n: ${part.length}` }, ...part)));
  };
  return line;
}

const BRIEF = { lost: "brief", lost_many: "brief", kept: "brief_kept" };

/** What became of the number, as { key, values }: how many gates were multiplied, and what is left. */
export function fateOf({ gates, left, count }, at, t) {
  const steps = count ?? left.length - 1;
  const passed = gates.slice(at + 1, at + steps + 1).map((gate) => gate.toFixed(2)).join(" × ");
  const key = count === null ? "kept" : steps === 1 ? "lost_one" : steps <= 3 ? "lost" : "lost_many";
  return { key, values: { passed, count: steps, left: shareText(left[steps], t) } };
}

/** The same letters for two units, filled with what is left; a gate under each. `lines` are dragged for a letter, the first by keys too. */
export function createStrips(t) {
  const strips = [0, 1].map(() => {
    const line = tileLine("gates-tiles");
    const name = element("b", {});
    const habit = element("span", {});
    const share = element("span", { class: "gates-share" });
    const fate = element("span", { class: "gates-fate" });
    const head = element("p", { class: "gates-head" }, element("span", {}, name, " ", habit, share), fate);
    return { line, name, habit, share, fate, node: element("div", { class: "gates-strip" }, head, line.node) };
  });
  const key = (kind, words) => element("span", {}, element("i", { class: `gates-swatch ${kind}`, "aria-hidden": "true" }), words);
  const keys = element("p", { class: "gates-keys" }, key("is-left", t("left_key")), key("is-lost", t("lost_key")), key("is-gate", t("gate_key")));
  const node = element("div", { class: "gates-strips", role: "group" }, ...strips.map((strip) => strip.node), keys);
  const [{ line: { node: reader } }, { line: { node: second } }] = strips;
  second.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ tabindex: "0", role: "slider", "aria-label": t("read_letter"), "aria-valuemin": 1 })) reader.setAttribute(name, value);

  function draw(model, { name, now }) {
    const { letters, at, unit, other, forget, cell } = model;
    node.setAttribute("aria-label", t("picture", { unit, other, text: model.text, now }));
    model.strips.forEach((strip, k) => {
      const { line, name: title, habit, share, fate } = strips[k];
      line.set(letters);
      const { gates, left, count, kept } = strip;
      title.textContent = t("unit", { unit: strip.unit });
      habit.textContent = kept === null ? "" : t(kept < 0.3 ? "habit_forgets" : kept > 0.8 ? "habit_keeps" : "habit_mixed");
      share.textContent = kept === null ? "" : ` ${t("habit_kept", { kept: shareText(kept, t) })}`;
      const ended = left.length < 2 ? null : fateOf(strip, at, t);
      fate.replaceChildren(...(ended === null ? [] : [
        element("span", { class: "gates-product" }, t(ended.key, ended.values)),
        element("span", { class: "gates-brief" }, t(BRIEF[ended.key] ?? ended.key, ended.values)), // on a phone
      ]));
      line.tiles.forEach((tile, i) => {
        if (tile.textContent === "") tile.textContent = visibleCharacter(letters[i]);
        tile.classList.toggle("is-chosen", i === at);
        tile.classList.toggle("is-before", i < at);
        tile.classList.toggle("is-lost", count !== null && i === at + count);
        tile.style.setProperty("--left", i < at ? "0" : fixed(left[i - at]));
        tile.style.setProperty("--gate", fixed(gates[i]));
      });
    });
    reader.setAttribute("aria-valuemax", Math.max(1, letters.length));
    reader.setAttribute("aria-valuenow", at + 1);
    reader.setAttribute("aria-valuetext", letters.length > 0 ? t("place_text", { letter: name, gate: forget[at].toFixed(2), cell: signed(cell[at]) }) : t("now_short"));
  }
  return { node, reader, lines: [reader, second], tilesOf: (line) => strips.find((strip) => strip.line.node === line).line.tiles, draw };
}

/** What the network takes for each letter before it comes: right ones stand out, wrong ones are crossed. */
export function createGuesses(t) {
  const line = tileLine("gates-guesses");
  line.node.setAttribute("role", "img");
  function draw({ letters, guesses }) {
    line.set(letters);
    line.node.setAttribute("aria-label", t("guess_row", { guesses: guesses.slice(1).map((guess) => visibleCharacter(guess)).join("") }));
    line.tiles.forEach((tile, i) => {
      tile.textContent = i === 0 ? "" : visibleCharacter(guesses[i]);
      tile.classList.toggle("is-right", i > 0 && guesses[i] === letters[i]);
    });
  }
  return { node: line.node, draw };
}

/** A dozen units and how much each has left: `map` is dragged for a unit. */
export function createMap(t) {
  const others = svg("path", { class: "gates-tail" });
  const own = svg("path", { class: "gates-left" });
  const names = element("div", { class: "gates-units", "aria-hidden": "true" });
  const mark = element("div", { class: "gates-row" });
  const { field: map, node } = columns(names, picture("gates-tails", others, own), mark);
  const mapCaption = caption();
  const attributes = { class: "gates-field gates-map", tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": t("choose_unit"), "aria-valuemin": 0 };
  for (const [name, value] of Object.entries(attributes)) map.setAttribute(name, value);
  const mapBox = element("div", { class: "gates-units-box", role: "group", "aria-label": t("map") }, mapCaption, node);

  function draw({ letters: { length }, rows, unit, at, forget }, name) {
    mapBox.hidden = length === 0;
    mapCaption.textContent = t("map_row", { letter: name });
    map.querySelector("svg").setAttribute("viewBox", `0 0 ${Math.max(1, length)} ${rows.length}`);
    const tails = ["", ""];
    rows.forEach((row, k) => (tails[Number(row.unit === unit)] += bars(row.left, { from: at, y: k + 0.94, size: 0.84 })));
    others.setAttribute("d", tails[0]);
    own.setAttribute("d", tails[1]);
    names.replaceChildren(...rows.map((row) => element("span", { class: row.unit === unit ? "is-chosen" : "" }, String(row.unit))));
    const number = rows.findIndex((row) => row.unit === unit);
    mark.style.top = `${(100 * number) / rows.length}%`;
    mark.style.height = `${100 / rows.length}%`;
    map.setAttribute("aria-valuemax", rows.length - 1);
    map.setAttribute("aria-valuenow", number);
    map.setAttribute("aria-valuetext", length > 0 ? t("unit_text", { unit, gate: forget[at].toFixed(2), letter: name }) : t("now_short"));
  }
  return { mapBox, map, draw };
}

/** A number with its sign, a true minus. */
export const signed = (value, decimals = 2) => {
  const text = Math.abs(value).toFixed(decimals);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
};
