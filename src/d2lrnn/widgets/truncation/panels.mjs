// A line of text: over it how much of its gradient each guess keeps, under it what one guess sends back, and the cuts through both.
import { dragOn } from "../shape.mjs";
import { element, svg, visibleCharacter } from "../ui.mjs";
import { NUM_LETTERS, TAUS, nearestTau, percent, percentKept } from "./maths.mjs";

const at = (place) => `${((100 * place) / NUM_LETTERS).toFixed(3)}%`;

/** Arrows and Home, End on a handle: `move` gets -1, 1, or an end. */
function arrows(node, { move, signal }) {
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };
  node.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(steps, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(steps[event.key]);
  }, { signal });
}

const within = (value, most) => Math.min(most, Math.max(0, value));

/** Where the word, or the part of it, lies that is right before a cut: [from, to]. */
function wordBefore(text, cut) {
  const end = text.slice(0, Math.max(0, cut)).trimEnd().length;
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
  const parts = each.map(() => element("span", { class: "trunc-part" })); // of the chosen guess's gradient, letter by letter back
  const sums = ["cut", "left"].map((kind) => element("span", { class: `trunc-sum trunc-sum-${kind}` }));
  const ways = each.map(() => element("span", { class: "trunc-arrow" })); // the way back of each guess
  const before = element("span", { class: "trunc-before", "aria-hidden": "true" }, "…");
  const value = element("span", { class: "trunc-value", "aria-hidden": "true" });
  const drag = element("span", { class: "trunc-drag", "aria-hidden": "true" }, t("drag"));
  const sum = element("div", { class: "trunc-sums", "aria-hidden": "true" }, ...sums);
  const goesOn = element("span", { class: "trunc-drag trunc-goes-on", "aria-hidden": "true" }, t("goes_on"));
  const cuts = each.map((_, i) => element("span", { class: `trunc-cut${i === 0 ? "" : " trunc-bare"}`, hidden: true }));
  const [first] = cuts; // the one that is dragged: all are as far apart
  first.append(element("span", { class: "trunc-grip" }, element("span", {}, "✂\uFE0E")));
  first.hidden = false;
  for (const [name, set] of Object.entries({ role: "slider", tabindex: 0, "aria-valuemin": TAUS[0], "aria-valuemax": TAUS.at(-1) })) first.setAttribute(name, set);
  letters.append(before);
  const sent = element("div", { class: "trunc-parts", "aria-hidden": "true" }, ...parts.map((part) => element("span", {}, part)));
  const way = element("div", { class: "trunc-way", "aria-hidden": "true" }, ...ways);
  const node = element("div", { class: "trunc-line" }, value, bars, letters, sent, sum, way, element("span", { class: "trunc-start" }), drag, goesOn, ...cuts);

  let shown = null; // { model, chosen }
  let held = null; // the cut in hand
  let isDragged = false; // so the word says nothing new
  const cutFrom = (event) => event.target.closest?.(".trunc-cut");
  dragOn(node, {
    start: ({ x, event }) => {
      const cut = cutFrom(event);
      const { way, tau } = shown.model;
      held = cut ? { from: x, x, tau, count: way === "windows" ? 1 : -1, grip: event.target.closest(".trunc-grip") !== null } : null;
    },
    move: ({ x }) => {
      if (held) [held.x, isDragged] = [x, true];
      if (held) onTau(nearestTau(held.tau + ((x - held.from) * NUM_LETTERS) / held.count));
      else onLetter(within(Math.floor(x * NUM_LETTERS), NUM_LETTERS - 1));
    },
    end: () => {
      const tapped = held !== null && !held.grip && Math.abs(held.x - held.from) * NUM_LETTERS < 0.2; // a letter beside a cut
      if (tapped) onLetter(within(Math.floor(held.x * NUM_LETTERS), NUM_LETTERS - 1));
      held = null;
    },
    signal,
  });
  arrows(letters, { move: (step) => onLetter(within(shown.chosen + step, NUM_LETTERS - 1)), signal });
  arrows(first, { move: (step) => onTau(TAUS[within(TAUS.indexOf(shown.model.tau) + step, TAUS.length - 1)]), signal });

  /** Returns the word, or the part of it, that the cut of the chosen letter takes away. */
  function draw(model, chosen, ghost) {
    shown = { model, chosen };
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
    const path = ghost?.map((share, i) => (share < kept[i] - 1e-9 ? `M${i + 0.12} ${(1 - share).toFixed(4)}H${i + 0.88}` : "")).join("") ?? "";
    stairs.setAttribute("d", path);
    cells.forEach((cell, i) => {
      const lag = chosen - i;
      const isMissed = i >= missed[0] && i < missed[1];
      cell.className = `trunc-letter${isMissed ? " trunc-missed" : ""}${i === chosen ? " trunc-chosen" : ""}`;
      const share = factor ** lag; // of what its own letter gets
      parts[i].className = `trunc-part${lag < 0 ? "" : i >= start ? " trunc-is-kept" : " trunc-is-cut"}`;
      parts[i].style.height = lag < 0 ? "0" : `${(100 * share).toFixed(2)}%`;
      parts[i].textContent = lag >= 0 && share > 0.5 ? `${Math.round(100 * (1 - factor) * share)}%` : "";
    });
    value.textContent = percentKept(1 - kept[chosen]);
    value.style.left = at(Math.min(NUM_LETTERS - 1.5, Math.max(1.5, chosen + 0.5)));
    const from = Math.max(0, start);
    sums[0].textContent = t("sum_cut", { share: percent(1 - kept[chosen]) });
    sums[1].textContent = t("sum_left", { share: value.textContent });
    sum.style.setProperty("--trunc-at", at(from));
    ways.forEach((arrow, i) => {
      const left = Math.max(i === chosen ? -0.9 : 0, i + 1 - tau);
      arrow.style.left = at(left);
      arrow.style.width = at(i + 0.5 - left);
      arrow.style.top = `${((100 * ((i % tau) + 0.5)) / tau).toFixed(1)}%`;
      arrow.classList.toggle("trunc-arrow-chosen", i === chosen);
    });
    node.classList.toggle("trunc-many", isWindows && tau <= 2); // cuts in plenty are thin
    node.dataset.way = model.way;
    node.classList.toggle("trunc-open", start < 0); // the cut lies left of the line
    // windows: a cut after each; else the one cut of the chosen letter
    cuts.forEach((cut, i) => {
      const place = isWindows ? (i + 1) * tau : from;
      cut.hidden = isWindows ? place > NUM_LETTERS : i > 0;
      cut.style.left = at(place);
    });
    const grip = isWindows ? tau : from; // the first cut
    first.dataset.side = grip < 2 ? "left" : grip > NUM_LETTERS - 2 ? "right" : "";
    drag.style.left = at(grip);
    goesOn.hidden = tau < NUM_LETTERS; // where no cut stands in the line, what is cut off lies left of it
    drag.hidden = isDragged || grip < 2 || grip > 14;
    first.setAttribute("aria-label", t(`cut_${model.way}`));
    first.setAttribute("aria-valuenow", tau);
    first.setAttribute("aria-valuetext", String(tau));
    letters.setAttribute("aria-valuenow", chosen + 1);
    letters.setAttribute("aria-valuetext", t("letter_value", { place: chosen + 1, letter: visibleCharacter(text[chosen]), kept: value.textContent }));
    bars.setAttribute("aria-label", t("picture", { values: kept.map((share) => percentKept(1 - share)).join(", ") }));
    return text.slice(...missed);
  }
  return { node, draw, text, fresh: () => { isDragged = false; } };
}

/** A row under the line: a title, a bar, a value. `set` gets the part that is filled, and words. */
export function rowPanel(name, title) {
  const fill = element("span", { class: "trunc-fill" });
  const value = element("span", { class: "trunc-row-value" });
  const node = element("div", { class: `trunc-row trunc-${name}` }, element("b", {}, title), element("span", { class: "trunc-bar", "aria-hidden": "true" }, fill), value);
  const set = (share, told) => {
    fill.style.width = `${(100 * share).toFixed(2)}%`;
    value.replaceChildren(...told);
  };
  return { node, set };
}
