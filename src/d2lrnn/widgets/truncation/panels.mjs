// A line of text: over it the correction that one guess sends back, and the cuts; under it the way on, and what is left of each guess’s correction.
import { dragOn } from "../shape.mjs";
import { element, svg, visibleCharacter } from "../ui.mjs";
import { NUM_LETTERS, TAUS, nearestTau, percent, percentKept } from "./maths.mjs";

const LEFT_SHOWN = 2; // letters before the line, of the text that goes on there
const at = (place) => `${((100 * place) / NUM_LETTERS).toFixed(3)}%`;

/** Arrows and Home, End on a handle: `move` gets -1, 1, or an end. */
function arrows(node, { move, signal }) {
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };
  node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(steps[event.key], event.key);
  }, { signal });
}

const within = (value, most) => Math.min(most, Math.max(0, value));

/** Where the last word lies that is whole before a cut: [from, to], equal where there is none. */
function wordBefore(text, cut) {
  const isInWord = cut > 0 && !`${text} `.slice(cut - 1, cut + 1).includes(" ");
  const end = text.slice(0, Math.max(0, isInWord ? text.lastIndexOf(" ", cut - 1) : cut)).trimEnd().length;
  return [text.lastIndexOf(" ", end - 1) + 1, end];
}

/** `onTau` gets the length that a cut is dragged to, `onLetter` the place of a letter that is touched. */
export function linePanel({ t, onTau, onLetter, signal }) {
  const text = t("text");
  const each = [...text];
  const fills = each.map(() => element("span", { class: "trunc-fill" }));
  const stairs = svg("path"); // the bars as they were
  const was = svg("svg", { class: "trunc-ghost", viewBox: `0 0 ${NUM_LETTERS} 1`, preserveAspectRatio: "none", hidden: "" }, stairs);
  const bars = element("div", { class: "trunc-bars", role: "img" }, ...fills.map((fill) => element("span", { class: "trunc-bar" }, fill)), was);
  const cells = each.map((letter) => element("span", { class: "trunc-letter" }, visibleCharacter(letter)));
  const letters = element("div", {
    class: "trunc-letters", role: "slider", tabindex: 0, "aria-label": t("letter"), "aria-valuemin": 1, "aria-valuemax": NUM_LETTERS,
  }, ...cells.map((cell) => element("span", { "aria-hidden": "true" }, cell)));
  // of the chosen guess's correction, letter by letter back
  const parts = Array.from({ length: LEFT_SHOWN + NUM_LETTERS }, () => element("span", { class: "trunc-part" }));
  const sums = ["cut", "kept"].map((kind) => element("span", { class: `trunc-sum trunc-sum-${kind}` }));
  const before = element("span", { class: "trunc-before", "aria-hidden": "true" }, "…");
  const drag = element("span", { class: "trunc-drag", "aria-hidden": "true" }, t("drag"));
  const sum = element("div", { class: "trunc-sums", "aria-hidden": "true" }, ...sums);
  const cuts = each.map((_, i) => element("span", { class: `trunc-cut${i === 0 ? "" : " trunc-bare"}`, hidden: true }));
  const [first] = cuts; // the one that is dragged: all are as far apart
  first.append(element("span", { class: "trunc-grip" }, element("span", {}, "✂\uFE0E")));
  first.hidden = false;
  for (const [name, set] of Object.entries({ role: "slider", tabindex: 0, "aria-valuemin": TAUS[0], "aria-valuemax": TAUS.at(-1) })) first.setAttribute(name, set);
  letters.append(before);
  const sent = element("div", { class: "trunc-parts", "aria-hidden": "true" }, ...parts.map((part) => element("span", {}, part)));
  const forth = element("div", { class: "trunc-forth", "aria-hidden": "true" }, element("span", {}, t("forth")));
  const hint = element("span", {}, t("chart_hint"));
  const old = element("span", { class: "trunc-was" }, t("was"));
  const title = element("div", { class: "trunc-title" }, element("b", {}, t("chart")), hint, old);
  const node = element("div", { class: "trunc-line" }, sum, sent, letters, forth, title, bars, element("span", { class: "trunc-start" }), drag, ...cuts);

  let shown = null; // { model, chosen }
  let held = null; // the cut in hand
  let isDragged = false; // so the word says nothing new
  const cutFrom = (event) => event.target.closest?.(".trunc-cut");
  dragOn(node, {
    start: ({ x, event }) => {
      const cut = cutFrom(event);
      const { way, tau } = shown.model;
      held = cut ? { from: x, x, tau, at: parseFloat(first.style.left) / 100, sign: way === "windows" ? 1 : -1, grip: event.target.closest(".trunc-grip") !== null } : null;
    },
    move: ({ x }) => {
      if (held) {
        [held.x, isDragged] = [x, true];
        const isEnd = held.sign < 0 && x === 0; // further than the line shows
        onTau(isEnd ? TAUS.at(-1) : nearestTau(held.tau + held.sign * (x - held.from) * NUM_LETTERS));
        follow();
      } else onLetter(within(Math.floor(x * NUM_LETTERS), NUM_LETTERS - 1));
    },
    end: () => {
      const tapped = held !== null && !held.grip && Math.abs(held.x - held.from) * NUM_LETTERS < 0.2; // a letter beside a cut
      if (tapped) onLetter(within(Math.floor(held.x * NUM_LETTERS), NUM_LETTERS - 1));
      held = null;
      draw(shown.model, shown.chosen, shown.ghost); // it snaps to its cut
    },
    signal,
  });
  /** The scissors stay at the finger; the cut is at the nearest place that divides the line. */
  const follow = () => {
    if (held && held.x !== held.from) first.style.left = `${(100 * within(held.at + held.x - held.from, 1)).toFixed(3)}%`;
  };
  arrows(letters, { move: (step) => onLetter(within(shown.chosen + step, NUM_LETTERS - 1)), signal });
  arrows(first, { move: (step, key) => {
    const isTurned = shown.model.way === "losses" && ["ArrowLeft", "ArrowRight"].includes(key); // the cut goes where the arrow points
    onTau(TAUS[within(TAUS.indexOf(shown.model.tau) + (isTurned ? -step : step), TAUS.length - 1)]);
  }, signal });

  function draw(model, chosen, ghost) {
    shown = { model, chosen, ghost };
    const { tau, factor, reaches, kept } = model;
    const isWindows = model.way === "windows";
    const reach = reaches[chosen];
    const start = chosen + 1 - reach;
    const missed = wordBefore(text, start);
    fills.forEach((fill, i) => {
      fill.style.height = `${(100 * kept[i]).toFixed(2)}%`;
      fill.parentNode.classList.toggle("trunc-chosen", i === chosen);
    });
    was.toggleAttribute("hidden", ghost === null);
    old.classList.toggle("trunc-away", ghost === null);
    hint.classList.toggle("trunc-away", ghost !== null);
    const path = ghost?.map((share, i) => (share < kept[i] - 1e-9 ? `M${i + 0.12} ${(1 - share).toFixed(4)}H${i + 0.88}` : "")).join("") ?? "";
    stairs.setAttribute("d", path);
    cells.forEach((cell, i) => {
      const isMissed = i >= missed[0] && i < missed[1];
      cell.className = `trunc-letter${isMissed ? " trunc-missed" : ""}${i === chosen ? " trunc-chosen" : i === chosen + 1 ? " trunc-guessed" : ""}`;
    });
    parts.forEach((part, i) => {
      const place = i - LEFT_SHOWN;
      part.className = `trunc-part${place > chosen ? "" : place >= start ? " trunc-is-kept" : " trunc-is-cut"}`;
      part.style.height = place > chosen ? "0" : `${(100 * factor ** (chosen - place)).toFixed(2)}%`; // of what its own letter gets
    });
    const from = Math.max(-LEFT_SHOWN, start);
    const isBeyond = from > start; // the cut lies left of all that is drawn
    sum.style.setProperty("--trunc-at", at(from));
    const lost = 1 - kept[chosen];
    sums.forEach((each, i) => { each.textContent = t(["side_cut", "side_kept"][i], { lost: percent(lost), kept: percentKept(lost) }); });
    sums[0].hidden = isBeyond; // nothing of it is in sight
    sum.classList.toggle("trunc-tight", start < 5);
    sum.classList.toggle("trunc-tightest", start < 2);
    node.classList.toggle("trunc-many", isWindows && tau <= 2); // cuts in plenty are thin
    node.dataset.way = model.way;
    node.classList.toggle("trunc-open", isBeyond);
    // windows: a cut after each, and the scissors at that of the chosen letter, if it has one in the line; else its one cut
    const own = Math.max(0, start / tau - 1);
    cuts.forEach((cut, i) => {
      const place = isWindows ? ((i === 0 ? own : i === own ? 0 : i) + 1) * tau : from;
      cut.hidden = isWindows ? place > NUM_LETTERS : i > 0;
      cut.style.left = at(place);
    });
    follow();
    const grip = isWindows ? (own + 1) * tau : from;
    first.dataset.side = grip < 2 ? "left" : grip > NUM_LETTERS - 2 ? "right" : "";
    drag.style.left = at(grip);
    drag.textContent = isBeyond ? t("beyond", { count: -start }) : t("drag");
    drag.hidden = !isBeyond && (isDragged || grip < 2 || grip > 14);
    first.setAttribute("aria-label", t(`cut_${model.way}`));
    first.setAttribute("aria-valuenow", tau);
    first.setAttribute("aria-valuetext", String(tau));
    letters.setAttribute("aria-valuenow", chosen + 1);
    letters.setAttribute("aria-valuetext", t("letter_value", { place: chosen + 1, letter: visibleCharacter(text[chosen]), kept: percentKept(1 - kept[chosen]) }));
    bars.setAttribute("aria-label", t("picture", { values: kept.map((share) => percentKept(1 - share)).join(", ") }));
  }
  return { node, draw, text, fresh: () => { isDragged = false; } };
}
