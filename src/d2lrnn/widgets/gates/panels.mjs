// The picture of Gates: letters, what is left of what one of them wrote, the forget gate at each; a dozen units.
import { element, svg, visibleCharacter } from "../ui.mjs";
import { FIRST_UNIT } from "./maths.mjs";

const ROOM = 92; // pixels that the words beside the mark need

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

/** The upper edge of bars, as one line. */
const edge = (heights, from) => heights.map((height, k) => `${k ? "V" : `M${from} `}${fixed(1 - height)}H${from + k + 1}`).join("");

/** Columns of letters with a narrow margin for numbers on their left; `field` is what is dragged. */
function columns(...children) {
  const field = element("div", { class: "gates-field" }, ...children);
  return { field, node: element("div", { class: "gates-columns" }, field) };
}

/** Letters, the bars that are left of one of them, and the gates: `time` is dragged for a letter. */
export function createPicture(t) {
  const letters = element("div", { class: "gates-letters", "aria-hidden": "true" });
  const lost = svg("path", { class: "gates-lost" });
  const left = svg("path", { class: "gates-left" });
  const ghost = svg("path", { class: "gates-ghost" });
  const water = svg("g", { class: "gates-water" }, lost, left);
  const hit = svg("path", { class: "gates-hit" });
  const chart = picture("gates-chart", svg("path", { class: "gates-half", d: "M0 0.5H40" }), water, ghost, hit);
  const told = element("span", {});
  const mark = element("div", { class: "gates-mark", "aria-hidden": "true" }, told);
  const gateBars = svg("path", { class: "gates-open" });
  const gates = picture("gates-forget", gateBars);
  const band = element("div", { class: "gates-band" });
  const scale = (...marks) => element("span", { class: "gates-scale", "aria-hidden": "true" }, ...marks.map((text) => element("span", {}, text)));
  const key = (kind, words) => element("span", {}, element("i", { class: `gates-swatch ${kind}`, "aria-hidden": "true" }), words);
  const dashed = element("span", {});
  const other = key("is-dashed", dashed);
  const leftCaption = caption(key("is-left", t("left_row")), key("is-lost", t("lost_row")), other);
  leftCaption.classList.add("gates-keys");
  const product = element("span", { class: "gates-product" });
  const { field: time, node: timeBox } = columns(
    band, letters,
    leftCaption, element("div", { class: "gates-box" }, scale("100%", t("half"), "0"), chart, mark),
    caption(t("gate_row"), " ", product), element("div", { class: "gates-box" }, scale("1", "0"), gates),
  );
  for (const [name, value] of Object.entries({ tabindex: "0", role: "slider", "aria-label": t("read_letter"), "aria-valuemin": 1 })) time.setAttribute(name, value);
  timeBox.setAttribute("role", "group");

  function draw(model, { name, now }) {
    const { letters: { length }, at, unit, forget, cell, left: shares, ghost: dashes, count, bias } = model;
    const wide = Math.max(1, length);
    timeBox.style.setProperty("--letters", wide);
    timeBox.style.setProperty("--at", at);
    timeBox.setAttribute("aria-label", t("picture", { unit, text: model.text, now }));
    band.hidden = length === 0;
    letters.replaceChildren(...model.letters.map((letter, i) => element(
      "span", { class: [letter === " " && "is-space", i === at && "is-chosen"].filter(Boolean).join(" ") }, visibleCharacter(letter),
    )));
    other.hidden = dashes === null;
    dashed.textContent = bias !== 0 ? t("left_row_bias") : t("left_row_unit", { unit: FIRST_UNIT });
    for (const view of [chart, gates]) view.setAttribute("viewBox", `0 0 ${wide} 1`);
    left.setAttribute("d", length < 2 ? "" : bars(shares, { from: at }));
    lost.setAttribute("d", length < 2 ? "" : bars(shares.map((_, k) => shares[Math.max(0, k - 1)]), { from: at }));
    ghost.setAttribute("d", dashes === null ? "" : edge(dashes, at));
    gateBars.setAttribute("d", bars(forget.slice(at + 1), { from: at + 1 }));

    const steps = count ?? length - 1 - at;
    mark.hidden = length < 2 || steps === 0;
    product.textContent = mark.hidden ? "" : t(steps === 1 ? "product_one" : steps <= 4 ? "product" : "product_many", {
      passed: forget.slice(at + 1, at + steps + 1).map((gate) => gate.toFixed(2)).join(" × "), count: steps, left: shareText(shares[steps], t),
    });
    hit.setAttribute("d", count === null ? "" : bars([shares[count - 1]], { from: at + count }));
    mark.classList.toggle("is-empty", length < 2);
    if (length < 2) {
      mark.hidden = false;
      told.textContent = t("empty");
      told.style.top = "40%";
      mark.style.left = "0";
    } else if (!mark.hidden) {
      const share = (at + steps + 1) / wide;
      const late = (1 - share) * time.clientWidth < ROOM;
      mark.classList.toggle("is-late", late);
      mark.style.left = `${100 * (late ? (at + steps) / wide : share)}%`;
      told.style.top = `max(0.25rem, calc(${fixed(100 * (1 - shares[steps]))}% - 1.75rem))`; // on the height of its bar
      told.textContent = t(count === null ? "mark_end" : "mark", { left: shareText(shares[steps], t) });
    }
    time.setAttribute("aria-valuemax", wide);
    time.setAttribute("aria-valuenow", at + 1);
    time.setAttribute("aria-valuetext", length > 0 ? t("place_text", { letter: name, gate: forget[at].toFixed(2), cell: signed(cell[at]) }) : t("now_short"));
  }
  return { timeBox, time, water, draw };
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
