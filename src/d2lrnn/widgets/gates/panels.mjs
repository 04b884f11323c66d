// The picture of Gates: a text and, for one unit, what is left of what a letter adds, the gates, the unit's number, and the guesses; a dozen units.
import { buttonControl, element, svg, visibleCharacter } from "../ui.mjs";
import { emphasised } from "../shape.mjs";
import { breakOf, FOLLOWED, KEEPER } from "./maths.mjs";

// Letters of a line that have room for a number each: wide, and on a phone.
const [ROOM_WIDE, ROOM_NARROW] = [20, 9];
const FOUND = [FOLLOWED, KEEPER]; // units in which a rule was looked for

const fixed = (value) => value.toFixed(3);
/** A share: "5%", "<1%", ">99%", "0%". */
export const shareText = (share, t) => {
  if (share < 1e-12) return "0%"; // a gate held at 0
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

/** Where the lines of a text begin and end, which a narrow screen sets below each other: { parts, most }, the longest's letters. */
function partsOf(letters) {
  const at = breakOf(letters);
  const parts = [[0, at], [at, letters.length]].filter(([from, to]) => to > from);
  return { parts, most: Math.max(1, ...parts.map(([from, to]) => to - from)) };
}

/** A gate in the room of a letter: ".13", "1.0"; "0" and "1" only where it is that. */
export const brief = (gate) => (gate === 0 || gate === 1 ? String(gate) : gate.toFixed(2).replace(/^0/, "").replace("1.00", "1.0"));

/** Where it is told what is left: at the next space, or else at the end. */
export function fateOf(letters, at) {
  const space = letters.indexOf(" ", at + 1);
  return space < 0 ? letters.length - 1 : space;
}

/**
 * The text; over each letter the guess that was made for it, under it its gate; under that what is left of what the
 * chosen letter adds, a band that falls at each gate, and the number of the unit, a bar on or under 0.
 * `lines` is dragged: a grip for its gate, elsewhere for a letter; two sliders take the keys. `point(i)` says of which
 * gate the keys are.
 */
export function createStrips({ t, signal, onBack }) {
  const back = buttonControl({ label: t("put_back"), class: "d2lrnn-button gates-back", signal, onPress: onBack });
  const count = element("span", {});
  const legend = element("span", { class: "gates-legend" });
  const keysOf = (name, range) => element("input", { type: "range", class: "gates-keys", "aria-label": t(name), ...range });
  const letterKeys = keysOf("read_letter", { min: 0, max: 1 });
  const gateKeys = keysOf("turn_gate", { min: 0, max: 1, step: 0.01 });
  const lines = element("div", { class: "gates-lines" });
  const [product, summand, equals, sum] = Array.from({ length: 4 }, () => element("b", {}));
  const sumLine = element(
    "p", { class: "gates-parts" },
    element("span", { class: "gates-key-kept" }, t("kept")), product, "+ ", element("span", { class: "gates-key-added" }, t("added")), summand, equals, sum,
  );
  const node = element("div", { class: "gates-strips", role: "group" }, element("p", { class: "gates-head" }, count, " ", legend, back), lines, sumLine, letterKeys, gateKeys);
  let [tiles, bands, cells, faders, grips, shares, numbers, guessed, lefts, names] = [[], [], [], [], [], [], [], [], [], []];
  let written = null;
  let chosen = null; // of which gate the keys are; that after the letter where the reader has chosen none
  let pointed = 0;

  function write(letters) {
    const text = letters.join("");
    if (text === written) return;
    const { parts, most } = partsOf(letters);
    chosen = null;
    written = text;
    tiles = letters.map((letter) => element("span", { class: letter === " " ? "gates-tile is-space" : "gates-tile" }, visibleCharacter(letter)));
    guessed = letters.map(() => element("span", { class: "gates-tile" }));
    numbers = letters.map(() => element("b", { class: "gates-number" }));
    bands = letters.map(() => element("span", { class: "gates-band" }));
    cells = letters.map(() => element("span", { class: "gates-cell" }, ...["kept", "added", "was"].map((part) => element("i", { class: `gates-${part}` }))));
    grips = letters.map((_, i) => element("i", i === 0 ? { class: "gates-grip", title: t("first_gate") } : { class: "gates-grip" }));
    shares = letters.map(() => element("b", { class: "gates-share" }));
    faders = letters.map((_, i) => element("span", { class: "gates-fader", style: `--i: ${i}` }, element("i", { class: "gates-own" }), bands[i], shares[i], cells[i], numbers[i], grips[i]));
    lines.style.setProperty("--most", most);
    lines.style.setProperty("--letters", letters.length);
    lines.classList.toggle("is-long", letters.length > ROOM_WIDE);
    lines.classList.toggle("is-tight", most > ROOM_NARROW);
    const row = (kind, all, [from, to], ...labels) => element(
      "div", { class: `gates-row ${kind}` },
      element("span", { class: "gates-labels", "aria-hidden": "true" }, ...labels.map((label) => element("span", {}, label))), ...all.slice(from, to),
    );
    lines.replaceChildren(...parts.map((part) => element(
      "div", { class: "gates-part", style: `--n: ${part[1] - part[0]}` },
      row("gates-guesses", guessed, part, t("row_guess")),
      row("gates-text-row", tiles, part, t("row_text")),
      row("gates-faders", faders, part, t("keep"), t("row_gate"), t("forget"), "", ""),
    )));
    [lefts, names] = [4, 5].map((child) => lines.querySelectorAll(`.gates-faders > .gates-labels > :nth-child(${child})`));
  }

  function draw(model, said) {
    const { name, now, nameAt, isEvidence } = said; // evidence: of a step
    const { letters, at, unit, forget, ownForget, left, right, ownRight, cell, ownCell, scale } = model;
    const guesses = t("guess_row", { guesses: model.guesses.slice(1).map((guess) => visibleCharacter(guess)).join("") });
    node.setAttribute("aria-label", `${t(at < 0 ? "picture_whole" : "picture", { unit, text: model.text, now })} ${guesses}`);
    write(letters);
    const isWhole = at < 0; // no letter is followed
    node.classList.toggle("is-empty", letters.length === 0);
    node.classList.toggle("is-evidence", isEvidence);
    node.classList.toggle("is-whole", isWhole);
    for (const label of lefts) label.textContent = isWhole ? "" : t("row_left", { letter: visibleCharacter(letters[at]) });
    for (const label of names) {
      const ends = unit === FOLLOWED ? ["row_above", "row_below"].map((end) => element("i", {}, t(end))) : [];
      label.replaceChildren(...ends.slice(0, 1), element("b", {}, t("row_number", { unit })), ...ends.slice(1));
    }
    const isOther = (one, other) => Math.abs(one - other) >= 0.05;
    const isRuled = isWhole && unit === FOLLOWED; // the headline tells of the rule
    const terms = isWhole || letters.length === 0 ? null : arithmetic(model, at);
    for (const [node, text] of [
      [product, terms ? ` ${terms.old} × ${terms.gate} ` : " "], [summand, terms ? ` ${terms.added} ` : " "],
      [equals, `${terms?.equals ?? "="} `], [sum, terms?.sum ?? t("row_number", { unit })],
    ]) node.textContent = text;
    sumLine.style.visibility = letters.length === 0 ? "hidden" : "";
    back.style.visibility = model.isOwn ? "hidden" : ""; // its room stays free
    const hints = model.isOwn ? ["hint", "hint_touch"].map((hint) => element("span", { class: `gates-${hint}` }, t(hint))) : [t("changed")];
    legend.replaceChildren(...hints, ...(isRuled && model.fits < letters.length ? [" ", t("broken")] : []));
    legend.style.visibility = letters.length < 2 ? "hidden" : "";
    count.style.visibility = letters.length < 2 ? "hidden" : ""; // no guess yet
    count.replaceChildren(...emphasised(t.raw(model.isOwn ? "count" : "count_own"), { right, all: Math.max(0, letters.length - 1), own: ownRight }));
    guessed.forEach((tile, i) => {
      tile.textContent = i === 0 ? "" : visibleCharacter(model.guesses[i]);
      tile.classList.toggle("is-space", i > 0 && model.guesses[i] === " ");
      tile.classList.toggle("is-right", i > 0 && model.guesses[i] === letters[i]);
      tile.classList.toggle("is-other", i > 0 && model.guesses[i] !== model.ownGuesses[i]);
    });
    tiles.forEach((tile, i) => {
      tile.classList.toggle("is-chosen", i === at);
      tile.classList.toggle("is-before", i < at);
    });
    const fate = fateOf(letters, at);
    const next = isWhole ? fate : at + 1; // the gate that is told
    pointed = chosen ?? Math.max(0, Math.min(next, letters.length - 1));
    const part = (value) => fixed(value / (scale.up + scale.down || 1));
    lines.style.setProperty("--zero", part(scale.up));
    cells.forEach((node, i) => {
      const isTold = i === next;
      const isLeft = !isWhole && (i === at || (i > at && left[i - at - 1] >= 0.01)); // something came as far as this
      const share = i === at ? signed(model.added[at]).replace("0.", ".").replace("1.00", "1.0") : isLeft ? shareText(left[i - at], t) : "";
      shares[i].textContent = share;
      bands[i].style.setProperty("--come", fixed(i < at || isWhole ? 0 : left[Math.max(0, i - at - 1)]));
      bands[i].style.setProperty("--left", fixed(i < at || isWhole ? 0 : left[i - at]));
      node.style.setProperty("--number", part(cell[i]));
      node.style.setProperty("--was", part(ownCell[i]));
      node.style.setProperty("--kept", part(model.kept[i]));
      const isShaded = isRuled && !model.isTrue[i];
      const isMoved = isOther(cell[i], ownCell[i]);
      numbers[i].textContent = short(cell[i]);
      node.classList.toggle("is-other", isMoved);
      node.classList.toggle("is-below", cell[i] < 0);
      const fader = faders[i];
      fader.classList.toggle("is-shaded", isShaded);
      fader.classList.toggle("is-numbered", isShaded || (isEvidence ? model.held[i] && isMoved && letters[i] === " " : i === at || (!isWhole && i === fate) || (model.isOwn ? letters[i] === " " : isMoved)));
      fader.classList.toggle("is-calm", !model.isOwn && !isMoved && !isShaded && i !== at); // what did not move stands back
      fader.classList.toggle("is-told", isTold);
      fader.classList.toggle("is-fate", i === fate);
      fader.classList.toggle("is-same", !isWhole && i > at && shares[i].textContent === shares[i - 1].textContent);
      fader.classList.toggle("is-wide", i > at && shares[i].textContent.length > 3); // >99%
      fader.classList.toggle("is-at", i === at);
      const isUnmoved = !model.isOwn && !isOther(forget[i], ownForget[i]);
      const isIdle = isWhole ? isEvidence || isUnmoved || i === 0 : i <= at || !isLeft; // the first gate has nothing to multiply
      fader.classList.toggle("is-idle", isIdle);
      fader.classList.toggle("is-held", model.held[i]);
      fader.classList.toggle("is-other", isOther(forget[i], ownForget[i]));
      fader.classList.toggle("is-pointed", i === pointed);
      fader.style.setProperty("--own", fixed(ownForget[i]));
      fader.style.setProperty("--gate", fixed(forget[i]));
      const isNumbered = model.held[i] || (isWhole ? !isEvidence && ((model.isOwn && letters[i] === " ") || i === pointed) : isIdle ? i === at : isTold || i === pointed || brief(forget[i]) !== brief(forget[i - 1])); // not the same again and again
      grips[i].textContent = isNumbered ? brief(forget[i]) : "";
    });
    letterKeys.max = Math.max(1, letters.length);
    letterKeys.value = at + 1;
    letterKeys.setAttribute("aria-valuetext", letters.length > 0 && isWhole ? t("no_letter") : letters.length > 0 ? t("place_text", { letter: name, gate: forget[at].toFixed(2), cell: signed(cell[at]), kept: signed(model.kept[at]), added: signed(model.added[at]) }) : t("now_short"));
    gateKeys.value = letters.length > 0 ? forget[pointed] : 0;
    gateKeys.setAttribute("aria-valuetext", letters.length > 0 ? [t("gate_text", { letter: nameAt(pointed), gate: forget[pointed].toFixed(2) }), pointed === 0 ? t("first_gate") : ""].join(". ").replace(/\. $/, "") : t("now_short"));
    letterKeys.disabled = gateKeys.disabled = letters.length < 2;
  }
  /** How far a grip goes from shut to open, in pixels. */
  const travel = (i) => bands[i].offsetTop - grips[i].offsetHeight;
  /** The grip of the gate that is told swells where it is: it can be moved. */
  const nod = () => {
    const moves = ["1", "1.25", "1"].map((scale) => ({ scale }));
    node.querySelector(".is-told:not(.is-held) > .gates-grip")?.animate(moves, { duration: 900, iterations: 2, easing: "ease-in-out" });
  };
  /** A gate that a finger has taken hold of, or null. */
  const take = (i) => grips.forEach((grip, k) => grip.classList.toggle("is-taken", k === i));
  return { node, nod, lines, letterKeys, gateKeys, tiles: () => tiles, travel, take, point: (i) => (chosen = i), pointed: () => pointed, draw };
}

/** A dozen units and how much each has left: `map` is dragged for a unit. */
export function createMap(t) {
  const others = svg("path", { class: "gates-tail" });
  const own = svg("path", { class: "gates-left" });
  const names = element("div", { class: "gates-units", "aria-hidden": "true" });
  const mark = element("div", { class: "gates-unit-mark" });
  const { field: map, node } = columns(names, picture("gates-tails", others, own), mark);
  const heading = element("div", { class: "gates-map-letters", "aria-hidden": "true" });
  node.prepend(heading);
  const mapCaption = caption();
  const rule = caption();
  const attributes = { class: "gates-field gates-map", tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": t("choose_unit"), "aria-valuemin": 0 };
  for (const [name, value] of Object.entries(attributes)) map.setAttribute(name, value);
  const mapBox = element("div", { class: "gates-units-box", role: "group", "aria-label": t("map") }, mapCaption, node, rule);

  function draw({ letters, rows, unit, from: at, forget, isHeld }, name) {
    rule.textContent = t(FOUND.includes(unit) ? `rule_${unit}` : "rule", { unit });
    const { length } = letters;
    mapBox.hidden = length === 0;
    node.style.setProperty("--letters", length);
    heading.replaceChildren(...letters.map((letter, i) => element("span", { class: i === at ? "gates-tile is-chosen" : "gates-tile" }, visibleCharacter(letter))));
    const isOrdered = !isHeld && at < length - 1; // a held gate changes its row, and leaves it in its place
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

/** A number in the room of a letter: one decimal; more where that would be 0. */
export function short(value) {
  const decimals = [1, 2, 3].find((count) => Number(Math.abs(value).toFixed(count)) > 0) ?? 1;
  return plain(value, decimals);
}

/** How a number came about, as it is printed: { old, gate, added, equals, sum }; "≈" where the printed terms do not give the printed sum. */
export function arithmetic({ cell, forget, added }, i) {
  const before = i > 0 ? cell[i - 1] : 0;
  const [old, gate, own, sum] = [i > 0 ? plain(before) : "0", brief(forget[i]), plain(added[i]), plain(cell[i])];
  const value = (text) => Number(text.replace("−", "-"));
  const isExact = plain(value(old) * value(gate) + value(own)) === sum;
  return { old, gate, added: own, equals: isExact ? "=" : "≈", sum };
}
