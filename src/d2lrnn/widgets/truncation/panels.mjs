// A line of text: over it the message that one guess sends back, and the cuts; under it what arrives of each guess’s message, or the ways back of all.
import { dragOn, emphasised } from "../shape.mjs";
import { element, prefersReducedMotion, svg, visibleCharacter } from "../ui.mjs";
import { FARTHEST, LARGEST_PART, LEFT_SHOWN, NUM_LETTERS, TAUS, handleStops, nearestTau, partAt, percent, percentKept, wishStops } from "./maths.mjs";

const PULL = 0.2; // of the way to the finger that the handle goes, from the allowed place where the cut is
const PACE = 70; // milliseconds that the message takes over a letter
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

const within = (value, most, least = 0) => Math.min(most, Math.max(least, value));

/** `onTau` gets the length that a cut is dragged to, `onLetter` the place of a letter that is touched. */
export function linePanel({ t, onTau, onLetter, signal }) {
  const text = t("text");
  const each = [...text];
  const fills = each.map(() => element("span", { class: "trunc-fill" }));
  const stairs = svg("path"); // the bars as they were
  const was = svg("svg", { class: "trunc-ghost", viewBox: `0 0 ${NUM_LETTERS} 1`, preserveAspectRatio: "none", hidden: "" }, stairs);
  const mean = element("b");
  const average = element("span", { class: "trunc-average", "aria-hidden": "true" }, element("span", {}, t("average"), " ", mean));
  const old = element("span", { class: "trunc-was" }, t("was"));
  const own = element("b", { "aria-hidden": "true" }); // below the bar of the chosen guess
  const owns = element("div", { class: "trunc-own-kept" }, old, own);
  const bars = element("div", { class: "trunc-bars", role: "img" }, ...fills.map((fill) => element("span", { class: "trunc-bar" }, fill)), was, average);
  const cells = each.map((letter) => element("span", { class: "trunc-letter" }, visibleCharacter(letter)));
  const letters = element("div", {
    class: "trunc-letters", role: "slider", tabindex: 0, "aria-label": t("letter"), "aria-valuemin": 1, "aria-valuemax": NUM_LETTERS,
  }, ...cells.map((cell) => element("span", { "aria-hidden": "true" }, cell)));
  const earlier = [...`${t("earlier")} `].slice(-LEFT_SHOWN).map((letter) => element("span", {}, visibleCharacter(letter)));
  const next = element("span", { class: "trunc-next", "aria-hidden": "true" }); // what the last letter’s guess is about
  letters.append(element("span", { class: "trunc-before", "aria-hidden": "true" }, ...earlier), next);
  // of the chosen guess's message, letter by letter back
  const parts = Array.from({ length: LEFT_SHOWN + NUM_LETTERS }, () => element("span", { class: "trunc-part" }));
  const asks = element("span", { class: "trunc-asks", "aria-hidden": "true" }, "?");
  const [share, word, rest] = [element("b"), element("span"), element("b")];
  const keptSide = element("div", { class: "trunc-sum trunc-sum-kept" }, share, " ", word);
  const cutSide = element("div", { class: "trunc-sum trunc-sum-cut" }, rest, " ", t("side_cut"));
  const drag = element("span", { class: "trunc-drag", "aria-hidden": "true" }, t("drag"));
  const sum = element("div", { class: "trunc-sums", "aria-hidden": "true" }, cutSide, keptSide);
  const stops = TAUS.map(() => element("span"));
  const rail = element("div", { class: "trunc-rail", "aria-hidden": "true" }, ...stops);
  const lines = Array.from({ length: LEFT_SHOWN + NUM_LETTERS }, () => element("span", { class: "trunc-line-cut", "aria-hidden": "true", hidden: true }, element("span", {}, t("line_cut"))));
  const grip = element("span", { class: "trunc-grip" }, element("span", {}, "✂\uFE0E"));
  const scissors = element("span", { class: "trunc-scissors", role: "slider", tabindex: 0, "aria-valuemin": TAUS[0], "aria-valuemax": TAUS.at(-1) }, grip);
  const sent = element("div", { class: "trunc-parts", "aria-hidden": "true" }, ...parts.map((part) => element("span", {}, part)));
  const ways = each.map(() => element("span", {}, element("span", { class: "trunc-way" }))); // each guess's own, or where it joins another's
  const [walked, shared] = [element("b"), element("span", { class: "trunc-num-ways" })];
  const work = element("div", { class: "trunc-title" }, walked, shared);
  const walks = element("div", { class: "trunc-walks", "aria-hidden": "true" }, ...earlier.map(() => element("span")), ...ways);
  const title = element("div", { class: "trunc-title" }, element("b", {}, t("chart")), element("span", {}, t("chart_hint")));
  const arrives = element("div", {}, title, bars, owns);
  const worked = element("div", { hidden: true }, work, walks);
  const node = element("div", { class: "trunc-line" }, rail, sum, sent, letters, worked, arrives, ...lines, asks, drag, scissors);

  let shown = null; // { model, ghost, isWork, places, wishes }: of the handle, and of a finger that drags it, for each length
  let held = null; // the scissors in hand
  let isDragged = false; // so the word says nothing new
  dragOn(node, {
    start: ({ event }) => {
      const x = along(event);
      if (event.target.closest(".trunc-rail")) { // the scissors come to the finger, and it may take them on
        onTau(nearestTau(x * NUM_LETTERS, shown.places, shown.model.tau));
        [held, isDragged] = [{ from: x, x, tau: shown.model.tau, isGrip: true }, true];
        return true;
      }
      held = event.target.closest(".trunc-scissors") ? { from: x, x, tau: shown.model.tau, isGrip: event.target.closest(".trunc-grip") !== null } : null;
      return held !== null || (x >= 0 && x < 1 && event.target.closest(".trunc-title") === null); // no guess is shown before the line
    },
    move: ({ x, event }) => {
      if (held) {
        [held.x, isDragged] = [along(event), true];
        onTau(nearestTau(wished(), shown.wishes, held.tau));
        follow();
      } else onLetter(within(Math.floor(x * NUM_LETTERS), NUM_LETTERS - 1));
    },
    end: () => {
      const isTapped = held !== null && !held.isGrip && Math.abs(held.x - held.from) * NUM_LETTERS < 0.2; // a letter beside the cut
      if (isTapped) onLetter(within(Math.floor(held.x * NUM_LETTERS), NUM_LETTERS - 1));
      const isMoved = held !== null && held.tau !== shown.model.tau;
      held = null;
      draw(shown.model, shown.ghost, shown.isWork);
      if (isMoved) send();
    },
    signal,
  });
  /** Where the finger is, as a share of the line; less than 0 over the letters before it. */
  const along = (event) => (event.clientX - node.getBoundingClientRect().left) / node.clientWidth;
  /** Where the finger wants the scissors, among its own places: it goes on from that of the length that it took hold of. */
  const wished = () => within(wishOf(held.tau) + (held.x - held.from) * NUM_LETTERS, shown.wishes[0], shown.wishes.at(-1));
  const wishOf = (tau) => shown.wishes[TAUS.indexOf(tau)];
  /** The cut is at an allowed place; its handle is a little nearer to the finger. */
  const follow = () => {
    const pull = held ? PULL * (wished() - wishOf(shown.model.tau)) : 0;
    scissors.style.setProperty("--trunc-pull", `${((pull * node.clientWidth) / NUM_LETTERS).toFixed(1)}px`);
  };
  arrows(letters, { move: (step) => onLetter(within(shown.model.chosen + step, NUM_LETTERS - 1)), signal });
  arrows(scissors, { move: (step, key) => {
    const isTurned = ["ArrowLeft", "ArrowRight"].includes(key); // the cut goes where the arrow points
    onTau(TAUS[within(TAUS.indexOf(shown.model.tau) + (isTurned ? -step : step), TAUS.length - 1)]);
  }, signal });

  /** The message runs back from the ?, and stops at the scissors, which close. */
  function send() {
    if (prefersReducedMotion()) return;
    const { model } = shown;
    const { chosen } = model;
    parts.forEach((part, i) => {
      const lag = chosen - i + LEFT_SHOWN;
      if (lag < 0 || lag >= model.reaches[chosen]) return;
      part.animate([{ opacity: 0, translate: "60% 0" }, {}], { duration: 2 * PACE, delay: PACE * lag, fill: "backwards", easing: "ease-out" });
    });
    grip.firstChild.animate([{}, { scale: "1 0.4" }, {}], { duration: 3 * PACE, delay: PACE * model.reaches[chosen] });
  }

  /** `ghost`: the shares as they were, if any; `isWork`: the ways back of all are drawn over what arrives. */
  function draw(model, ghost, isWork) {
    const isNew = shown !== null && ["tau", "way", "factor", "chosen"].some((name) => model[name] !== shown.model[name]);
    const { tau, factor, reaches, kept, chosen } = model;
    shown = { model, ghost, isWork, places: handleStops(model.way, chosen), wishes: wishStops(model.way, chosen) };
    node.classList.toggle("trunc-both", isWork);
    [title.hidden, owns.hidden, worked.hidden] = [isWork, isWork, !isWork];
    const isWindows = model.way === "windows";
    const start = chosen + 1 - reaches[chosen];
    fills.forEach((fill, i) => {
      fill.style.height = `${(100 * kept[i]).toFixed(2)}%`;
      fill.parentNode.classList.toggle("trunc-chosen", i === chosen);
    });
    was.toggleAttribute("hidden", ghost === null);
    old.classList.toggle("trunc-away", ghost === null);
    const path = ghost?.map((share, i) => (share < kept[i] - 1e-9 ? `M${i + 0.12} ${(1 - share).toFixed(4)}H${i + 0.88}` : "")).join("") ?? "";
    stairs.setAttribute("d", path);
    cells.forEach((cell, i) => {
      cell.className = `trunc-letter${i === chosen ? " trunc-chosen" : i > chosen ? " trunc-later" : i >= start ? " trunc-reached" : ""}${i === chosen + 1 ? " trunc-guessed" : ""}`;
    });
    earlier.forEach((cell, i) => cell.classList.toggle("trunc-reached", i - LEFT_SHOWN >= start));
    next.classList.toggle("trunc-guessed", chosen === NUM_LETTERS - 1);
    parts.forEach((part, i) => {
      const place = i - LEFT_SHOWN;
      part.className = `trunc-part${place > chosen ? "" : place >= start ? " trunc-is-kept" : " trunc-is-cut"}`;
      part.style.height = place > chosen ? "0" : `${((100 * partAt(factor, chosen - place)) / LARGEST_PART).toFixed(2)}%`; // one scale for every fading
    });
    ways.forEach((way, i) => {
      const isOwn = !isWindows || (i + 1) % tau === 0; // in windows the last guess's way serves all
      way.className = `${isOwn ? "" : "trunc-joins"}${(isWindows ? Math.floor(i / tau) === Math.floor(chosen / tau) : i === chosen) ? " trunc-is-walked" : ""}`;
      way.style.setProperty("--trunc-walked", isOwn ? Math.min(tau, i + 1 + LEFT_SHOWN) : 0); // of what is in sight
      way.style.setProperty("--trunc-row", isWindows ? "74%" : at(i + 0.5));
      way.style.setProperty("--trunc-start", isWindows ? "18%" : at(i + 0.5));
    });
    walks.classList.toggle("trunc-shared", isWindows && tau > 1);
    walked.replaceChildren(...emphasised(t.raw("work"), { work: model.work }));
    const numWays = ways.length - walks.querySelectorAll(".trunc-joins").length;
    shared.textContent = t(numWays === 1 ? "ways_shared_one" : numWays < NUM_LETTERS ? "ways_shared" : "ways", { ways: numWays });
    const isBeyond = start < FARTHEST; // the scissors are not at the cut
    const isEdge = start === -LEFT_SHOWN; // the cut is where the picture ends
    sent.classList.toggle("trunc-whole", isEdge);
    sum.style.setProperty("--trunc-at", at(isEdge ? start : Math.max(FARTHEST, start)));
    share.textContent = percentKept(1 - kept[chosen]);
    rest.textContent = percent(1 - kept[chosen]);
    asks.style.left = at(chosen + 1.5);
    own.textContent = share.textContent;
    own.style.left = at(chosen + 0.5);
    mean.textContent = percentKept(model.lost);
    average.firstChild.style.translate = `0 ${(-100 * model.lost).toFixed(2)}%`; // beside the bars wherever the line is
    average.style.bottom = `${(100 * (1 - model.lost)).toFixed(2)}%`;
    cutSide.hidden = start < 0; // no room for it, and hardly any of it in sight
    word.textContent = t(isEdge ? "side_edge" : isBeyond ? "side_beyond" : "side_kept");
    bars.style.setProperty("--trunc-apart", at(isWindows ? tau : NUM_LETTERS));
    // windows: a line at each cut in sight; else at that of the chosen guess alone
    const named = start < NUM_LETTERS / 2 ? NUM_LETTERS - tau : 0; // where cuts are close, the one of them that is called a cut
    lines.forEach((line, i) => {
      const place = i - LEFT_SHOWN;
      const isCut = isWindows ? place >= FARTHEST && (NUM_LETTERS - place) % tau === 0 : place === start;
      line.hidden = !isCut;
      line.style.left = at(place);
      line.className = `trunc-line-cut${place === start ? " trunc-own" : ""}`;
      line.firstChild.hidden = place === start || place !== named && (tau < 4 || place < 0);
    });
    const cut = Math.max(FARTHEST, shown.places[TAUS.indexOf(tau)]);
    scissors.style.left = at(cut);
    scissors.classList.toggle("trunc-beyond", isBeyond);
    stops.forEach((stop, i) => {
      stop.style.left = at(shown.places[i]);
      stop.hidden = shown.places[i] < FARTHEST;
    });
    rail.style.setProperty("--trunc-from", at(Math.max(FARTHEST, Math.min(...shown.places))));
    rail.style.setProperty("--trunc-to", at(Math.max(...shown.places)));
    follow();
    if (isNew && held === null) send();
    drag.style.left = at(cut);
    drag.hidden = isDragged || cut < 3 || shown.places.some((place) => place < cut && place > cut - 4); // it would cover places
    scissors.setAttribute("aria-label", t(`cut_${model.way}`));
    scissors.setAttribute("aria-valuenow", tau);
    scissors.setAttribute("aria-valuetext", String(tau));
    letters.setAttribute("aria-valuenow", chosen + 1);
    letters.setAttribute("aria-valuetext", t("letter_value", { place: chosen + 1, letter: visibleCharacter(text[chosen]), kept: percentKept(1 - kept[chosen]) }));
    bars.setAttribute("aria-label", t("picture", { values: kept.map((share) => percentKept(1 - share)).join(", "), average: mean.textContent }));
  }
  return { node, draw, text, fresh: () => { isDragged = false; } };
}
