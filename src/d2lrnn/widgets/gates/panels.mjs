// The picture of Gates: guesses, a text and, for one unit, what is left of a number at each letter; a dozen units.
import { element, svg, visibleCharacter } from "../ui.mjs";
import { emphasised } from "../shape.mjs";
import { breakOf, SEEN } from "./maths.mjs";

const fixed = (value) => value.toFixed(3);
/** A share in words: "5%", "under 1%", "over 99%", "nothing". */
export const shareText = (share, t) => {
  if (share < 1e-12) return t("nothing"); // a gate held at 0
  if (share > 0.99) return share < 1 ? t("over", { share: "99%" }) : "100%";
  return share < 0.01 ? t("under", { share: "1%" }) : `${Math.round(100 * share)}%`;
};

/**
 * What becomes of what a letter adds: past the place where the trained network's unit forgets it, or where less than half
 * is left, or at the end of the text: { isEnd, count, share, own }, told `count` letters on; `own` is null where it is the same.
 */
export function fateOf({ left, ownLeft, count, ownCount }, t) {
  const isPassed = ownCount !== null && left[ownCount] >= 0.5;
  const at = isPassed ? ownCount : count ?? left.length - 1;
  const isChanged = Math.abs(left[at] - ownLeft[at]) >= SEEN;
  return { isEnd: !isPassed && count === null, count: at, share: shareText(left[at], t), own: isChanged ? shareText(ownLeft[at], t) : null };
}

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

/** Where the lines of a text begin and end, which a narrow screen sets below each other: { parts, most }, the longest's letters. */
function partsOf(letters) {
  const at = breakOf(letters);
  const parts = [[0, at], [at, letters.length]].filter(([from, to]) => to > from);
  return { parts, most: Math.max(1, ...parts.map(([from, to]) => to - from)) };
}

/** A gate in the room of a letter: ".13", "1"; with one digit ".1". */
const brief = (gate, digits) => gate.toFixed(digits).replace(/^0(?=\.\d*[1-9])|\.0+$/g, "");

/**
 * The text once; above each letter the guess that was made for it, below it what is left (or the unit's number) and the
 * gate. `reader` is dragged for a letter, and takes the keys. Right guesses stand out, wrong ones are crossed.
 */
export function createStrips(t) {
  const cells = (letters) => letters.map((_, i) => {
    const [told, own, gate] = [element("b", {}), element("u", {}), element("i", { class: "gates-number" })];
    return { told, own, gate, node: element("span", { class: "gates-cell", style: `--i: ${i}` }, told, own, gate) };
  });
  const cost = element("p", { class: "gates-cost" });
  const head = element("p", { class: "gates-head" });
  const lines = element("div", { class: "gates-lines", tabindex: "0", role: "slider", "aria-label": t("read_letter"), "aria-valuemin": "1" });
  const key = (kind, ...words) => element("span", {}, element("i", { class: `gates-swatch ${kind}`, "aria-hidden": "true" }), ...words);
  const changed = key("is-changed", t("changed"));
  const ownKey = key("is-own", t("own_key"));
  const keys = element("p", { class: "gates-keys" }, key("is-gate", t("gate_key")), ownKey);
  const node = element("div", { class: "gates-strips", role: "group" }, cost, lines, keys);
  let tiles = [];
  let guessed = [];
  let lane = [];
  let lanes = [];
  let written = null;
  const named = (line, row) => (line === 0 ? [element("span", { class: "gates-name" }, t(row))] : []);

  function write(letters) {
    if (letters.join("") === written) return;
    written = letters.join("");
    tiles = letters.map((letter) => element("span", { class: letter === " " ? "gates-tile is-space" : "gates-tile" }, visibleCharacter(letter)));
    guessed = letters.map(() => element("span", { class: "gates-tile" }));
    lane = cells(letters);
    const { parts, most } = partsOf(letters);
    lines.style.setProperty("--most", most);
    lines.style.setProperty("--letters", letters.length);
    lanes = parts.map(([from, to]) => ({ from, to, node: element("div", { class: "gates-lane" }, ...lane.slice(from, to).map(({ node }) => node)) }));
    lanes.forEach(({ from, to }) => lane.slice(from, to).forEach(({ node }, i) => node.classList.toggle("is-late", i + 4 > to - from))); // what is told there stays inside
    lines.replaceChildren(...parts.map(([from, to], k) => element(
      "div", { class: "gates-part", style: `--n: ${to - from}` },
      element("div", { class: "gates-letters gates-guesses" }, ...named(k, "row_guesses"), ...guessed.slice(from, to)),
      element("div", { class: "gates-letters" }, ...named(k, "row_text"), ...tiles.slice(from, to)),
      k === 0 ? head : element("p", { class: "gates-head is-again" }, "\u00a0"),
      lanes[k].node,
    )));
  }

  function draw(model, { name, now }) {
    const { letters, at, unit, forget, ownForget, cell, ownCell, left, guesses, ownGuesses, right, ownRight, isMemory, input, candidate } = model;
    const said = t("guess_row", { guesses: guesses.slice(1).map((guess) => visibleCharacter(guess)).join("") });
    node.setAttribute("aria-label", `${t("picture", { unit, text: model.text, now })} ${said}`);
    write(letters);
    ownKey.style.visibility = model.isOwn ? "hidden" : ""; // its room stays free
    keys.hidden = letters.length < 2;
    cost.hidden = letters.length < 2;
    cost.replaceChildren(...emphasised(t.raw("guesses"), { right, all: letters.length - 1 }), ...(right === ownRight ? [] : [t("guesses_own", { own: ownRight })]), ...(guesses.every((guess, i) => guess === ownGuesses[i]) ? [] : [changed]));
    guessed.forEach((tile, i) => {
      tile.textContent = i === 0 ? "" : visibleCharacter(guesses[i]);
      tile.classList.toggle("is-space", i > 0 && guesses[i] === " ");
      tile.classList.toggle("is-right", i > 0 && guesses[i] === letters[i]);
      tile.classList.toggle("is-changed", guesses[i] !== ownGuesses[i]);
    });
    tiles.forEach((tile, i) => {
      tile.classList.toggle("is-chosen", i === at);
      tile.classList.toggle("is-before", !isMemory && i < at);
    });
    head.replaceChildren(...emphasised(t.raw(isMemory ? "head_memory" : "head_left"), { unit: t("unit", { unit }), written: letters.length > 0 ? plain(input[at] * candidate[at]) : "" }));
    const [low, high] = [Math.min(0, ...cell, ...ownCell), Math.max(0, ...cell, ...ownCell)];
    const up = (value) => fixed((value - low) / (high - low || 1));
    for (const { node, from, to } of lanes) {
      node.classList.toggle("is-numbers", isMemory);
      node.style.setProperty("--zero", up(0));
      node.style.setProperty("--start", fixed(Math.min(1, Math.max(0, (at + 0.5 - from) / (to - from)))));
    }
    const fate = left.length < 2 ? null : fateOf(model, t);
    lane.forEach(({ node, told, own, gate }, i) => {
      const isTold = isMemory ? letters[i] === " " || i === at : fate !== null && i === at + fate.count;
      node.classList.toggle("is-memory", isMemory);
      node.classList.toggle("is-told", isTold);
      if (isMemory) {
        node.style.setProperty("--from", up(Math.min(0, cell[i])));
        node.style.setProperty("--to", up(Math.max(0, cell[i])));
        node.style.setProperty("--trained", up(ownCell[i]));
      }
      own.hidden = !isMemory || !isTold || plain(cell[i], 1) === plain(ownCell[i], 1);
      told.textContent = !isTold ? "" : isMemory ? plain(cell[i], 1) : t("share_left", { share: fate.share });
      gate.dataset.gate = brief(forget[i], 2);
      gate.dataset.brief = brief(forget[i], 1);
      node.classList.toggle("is-before", !isMemory && i <= at);
      node.classList.toggle("is-first", i === at);
      node.classList.toggle("is-held", model.held[i]);
      node.classList.toggle("is-other", gate.dataset.gate !== brief(ownForget[i], 2));
      node.style.setProperty("--own", fixed(ownForget[i]));
      const isEmpty = i < at || isMemory;
      node.style.setProperty("--left", isEmpty ? "0" : fixed(left[i - at]));
      node.style.setProperty("--was", isEmpty ? "0" : fixed(left[Math.max(0, i - at - 1)]));
      node.style.setProperty("--gate", fixed(forget[i]));
    });
    lines.setAttribute("aria-valuemax", Math.max(1, letters.length));
    lines.setAttribute("aria-valuenow", at + 1);
    lines.setAttribute("aria-valuetext", letters.length > 0 ? t("place_text", { letter: name, gate: forget[at].toFixed(2), cell: signed(cell[at]) }) : t("now_short"));
  }
  return { node, reader: lines, tiles: () => tiles, draw };
}

/** A dozen units and how much each has left: `map` is dragged for a unit. */
export function createMap(t) {
  const others = svg("path", { class: "gates-tail" });
  const own = svg("path", { class: "gates-left" });
  const names = element("div", { class: "gates-units", "aria-hidden": "true" });
  const mark = element("div", { class: "gates-row" });
  const { field: map, node } = columns(names, picture("gates-tails", others, own), mark);
  const heading = element("div", { class: "gates-letters gates-map-letters", "aria-hidden": "true" });
  node.prepend(heading);
  const mapCaption = caption();
  const attributes = { class: "gates-field gates-map", tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": t("choose_unit"), "aria-valuemin": 0 };
  for (const [name, value] of Object.entries(attributes)) map.setAttribute(name, value);
  const mapBox = element("div", { class: "gates-units-box", role: "group", "aria-label": t("map") }, mapCaption, node);

  function draw({ letters, rows, unit, at, forget, spaces }, name) {
    const { length } = letters;
    mapBox.hidden = length === 0;
    node.style.setProperty("--letters", length);
    heading.replaceChildren(...letters.map((letter, i) => element("span", { class: i === at ? "gates-tile is-chosen" : "gates-tile" }, visibleCharacter(letter))));
    const isOrdered = spaces === "trained" && at < length - 1; // a held gate changes its row, and leaves it in its place
    mapCaption.textContent = [t(at === length - 1 ? "map_last" : "map_row", { letter: name }), isOrdered ? t("map_order") : ""].join(" ").trim();
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

/** The same without a plus. */
export const plain = (value, decimals = 2) => signed(value, decimals).replace("+", "");
