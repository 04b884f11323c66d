// A line of text: memory goes on over it, the error of the chosen guess comes back up to a cut; in rows, the errors of all.
import { dragOn, emphasised } from "../shape.mjs";
import { element, prefersReducedMotion, svg, visibleCharacter } from "../ui.mjs";
import { FARTHEST, LEFT_SHOWN, LONG, NUM_LETTERS, OPENS, SHORT, TAUS, cutsOf, nearestTau, openPart, partAt, percent, percentKept, sameCut } from "./maths.mjs";

const STILL = 4; // pixels that a finger may move in a tap
const PACE = 70; // milliseconds that the error takes over a letter
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

/** What is left of an error that sets out at the place `from`, between two places farther left, as a band about a level. */
function band({ factor, from, right, left, level, height }) {
  if (right <= left) return "";
  const places = Array.from({ length: 8 * (right - left) + 1 }, (_, i) => right - i / 8);
  const half = (place) => (height / 2) * factor ** (from - place);
  const edge = (sign) => places.map((place) => `${place} ${(level + sign * half(place)).toFixed(4)}`);
  return `M${[...edge(-1), ...edge(1).reverse()].join("L")}Z`;
}

/** Where the handle is for each length: at the cut of the chosen guess, or at the edge where that is out of sight. */
const placesOf = (model) => cutsOf(model).map((cut) => Math.max(-LEFT_SHOWN, cut));

const box = (rows) => ({ viewBox: `${-LEFT_SHOWN} 0 ${LEFT_SHOWN + NUM_LETTERS} ${rows}`, preserveAspectRatio: "none", "aria-hidden": "true" });

const PLACES = Array.from({ length: LEFT_SHOWN + NUM_LETTERS }, (_, i) => i - LEFT_SHOWN);
const inSight = (letters) => `${((100 * letters) / PLACES.length).toFixed(3)}%`;
/** The cuts in sight that all guesses share. */
const fences = ({ way, tau }) => PLACES.filter((place) => way === "windows" && place >= FARTHEST && (NUM_LETTERS - place) % tau === 0);

/** The errors of all guesses, a row for each, and the fences between windows. */
export function rowsPanel({ t }) {
  const rows = Array.from({ length: NUM_LETTERS }, () => [svg("path", { class: "trunc-cut" }), svg("path", { class: "trunc-kept" })]);
  const between = svg("path", { class: "trunc-fences" });
  const node = element("div", { class: "trunc-all", role: "img" }, svg("svg", box(NUM_LETTERS), ...rows.flat(), between));
  const draw = (model) => {
    const { factor, reaches, chosen, kept } = model;
    rows.forEach(([gone, gets], i) => {
      const end = Math.max(-LEFT_SHOWN, i + 1 - reaches[i]);
      const row = { factor, from: i + 1, level: i + 0.5, height: 0.86 };
      gets.setAttribute("d", band({ ...row, right: i + 1, left: end }));
      gone.setAttribute("d", band({ ...row, right: end, left: -LEFT_SHOWN }));
      for (const path of [gets, gone]) path.classList.toggle("trunc-chosen", i === chosen);
    });
    between.setAttribute("d", fences(model).map((place) => `M${place} ${Math.max(0, place - 1)}V${NUM_LETTERS}`).join(""));
    node.setAttribute("aria-label", t("picture", { values: kept.map((each) => percentKept(1 - each)).join(", ") }));
  };
  return { node, draw };
}

/** `onTau` gets the length that a cut is dragged to, `onLetter` the place of the letter before the guess that is touched. */
export function linePanel({ t, onTau, onLetter, signal }) {
  const text = t("text");
  const cells = [...text].map((letter) => element("span", { class: "trunc-letter" }, visibleCharacter(letter)));
  const letters = element("div", {
    class: "trunc-letters", role: "slider", tabindex: 0, "aria-label": t("letter"), "aria-valuemin": 1, "aria-valuemax": NUM_LETTERS,
  }, ...cells.map((cell) => element("span", { "aria-hidden": "true" }, cell)));
  const earlier = [...`${t("earlier")} `].slice(-LEFT_SHOWN).map((letter) => element("span", {}, visibleCharacter(letter)));
  const next = element("span", { class: "trunc-letter trunc-next", "aria-hidden": "true" }, t("next"));
  letters.append(element("span", { class: "trunc-before", "aria-hidden": "true" }, ...earlier), next);
  // the chosen guess's error
  const [kept, cut] = [svg("path", { class: "trunc-kept" }), svg("path", { class: "trunc-cut" })];
  const chevrons = svg("path", { class: "trunc-chevrons" }); // it goes back
  const runs = svg("svg", box(1), kept);
  const stream = element("div", { class: "trunc-stream", "aria-hidden": "true" }, svg("svg", box(1), cut), runs, svg("svg", box(1), chevrons));
  const error = element("span", { class: "trunc-error", "aria-hidden": "true" }, t("error"));
  const height = element("span", { class: "trunc-height", "aria-hidden": "true" }); // what is left at the cut
  // memory, a state after each letter, which no cut stops; those of the way back are kept
  const dots = PLACES.map(() => element("span"));
  const read = element("span", { class: "trunc-read", hidden: true }, element("span"));
  [read.style.left, read.style.width] = [at(OPENS[LONG] + 0.5), at(LONG + 1.5 - OPENS[LONG])];
  const reading = element(
    "div", { class: "trunc-reading", "aria-hidden": "true" }, element("span", { class: "trunc-name" }, t("reading")), read, element("div", { class: "trunc-dots" }, ...dots),
  );
  const bracket = element("span", { class: "trunc-bracket" });
  const keptBack = element("span", { class: "trunc-kept-back" });
  const needed = element("div", { class: "trunc-needs" }, bracket, keptBack);
  const takes = PLACES.map(() => element("span"));
  const weights = element("span", { class: "trunc-weights", hidden: true }, element("span", {}, t("weights")));
  [weights.style.left, weights.style.width] = [inSight(LEFT_SHOWN + SHORT + 2), inSight(OPENS[LONG] - SHORT - 1.5)]; // from one pair to the other
  const taken = element("div", { class: "trunc-taken", "aria-hidden": "true" }, ...takes, weights);
  const asks = element("span", { class: "trunc-asks", "aria-hidden": "true" }, "?");
  const [share, word, rest] = [element("b"), element("span"), element("b")];
  const keptSide = element("div", { class: "trunc-sum trunc-sum-kept" }, share, " ", word);
  const cutSide = element("div", { class: "trunc-sum trunc-sum-cut" }, rest, " ", t("side_cut"));
  const [left, right] = [element("div", { class: "trunc-side trunc-side-cut" }, cutSide), element("div", { class: "trunc-side trunc-side-kept" }, keptSide)];
  const same = element("span", { class: "trunc-same" }); // why another length changes nothing
  const sum = element("div", { class: "trunc-sums", "aria-hidden": "true" }, left, right);
  const drag = element("span", { class: "trunc-drag", "aria-hidden": "true" }, t("drag"));
  const name = element("span", { class: "trunc-name" });
  const stops = TAUS.map((tau) => element("span", { class: "trunc-stop" }, String(tau)));
  const rail = element("div", { class: "trunc-rail", "aria-hidden": "true" }, name, ...stops);
  const lines = PLACES.map(() => element("span", { class: "trunc-line-cut", "aria-hidden": "true", hidden: true }));
  const steps = [1, -1].map((step) => element("span", { class: "trunc-step", "data-step": step })); // a press on ‹ or ›: the next length
  const number = element("b");
  const grip = element("span", { class: "trunc-grip", "aria-hidden": "true" }, element("span", {}, "✂\uFE0E"), number, ...steps);
  const scissors = element("span", { class: "trunc-scissors", role: "slider", tabindex: 0, "aria-valuemin": TAUS[0], "aria-valuemax": TAUS.at(-1) }, grip);
  const node = element("div", { class: "trunc-line" }, rail, sum, stream, reading, needed, letters, taken, ...lines, height, error, asks, drag, scissors);

  let shown = null; // { model, seen }
  let held = null; // the scissors in hand
  let isDragged = false; // so the word says nothing new
  dragOn(node, {
    start: ({ event }) => {
      const x = along(event);
      if (event.target.closest(".trunc-rail")) { // the scissors come to the finger, and it may take them on
        const places = placesOf(shown.model);
        if (x * NUM_LETTERS < Math.min(...places) - 1 || x * NUM_LETTERS > Math.max(...places) + 1) return false;
        onTau(nearestTau(x * NUM_LETTERS, shown.model));
        [held, isDragged] = [{ from: x, x, tau: shown.model.tau, isGrip: true, step: 0, isMoving: true }, true];
        return true;
      }
      if (x * NUM_LETTERS < 1 && !event.target.closest(".trunc-scissors")) { // no guess is there, nor does a finger that trembles find one
        if (Math.floor(x * NUM_LETTERS) === OPENS[shown.model.chosen]) send();
        return false;
      }
      const step = Number(event.target.closest(".trunc-step")?.dataset.step ?? 0);
      held = event.target.closest(".trunc-scissors") ? { from: x, x, tau: shown.model.tau, isGrip: event.target.closest(".trunc-grip") !== null, step, isMoving: step === 0 } : null;
      return true;
    },
    move: ({ event }) => {
      if (held) {
        held.x = along(event);
        held.isMoving ||= Math.abs(held.x - held.from) * node.clientWidth > STILL;
        if (!held.isMoving) return;
        [isDragged, drag.hidden] = [true, true];
        onTau(nearestTau(wished(), { ...shown.model, tau: held.tau }));
        follow();
      } else choose(along(event));
    },
    end: () => {
      const isTapped = held !== null && !held.isGrip && Math.abs(held.x - held.from) * NUM_LETTERS < 0.2; // a letter beside the cut
      if (isTapped) choose(held.x);
      if (held?.step && !held.isMoving) {
        isDragged = true;
        onTau(TAUS[within(TAUS.indexOf(held.tau) + held.step, TAUS.length - 1)]);
      }
      const isMoved = held !== null && held.tau !== shown.model.tau;
      held = null;
      draw(shown.model, shown.seen);
      if (isMoved) send();
    },
    signal,
  });
  /** Where the finger is, as a share of the line; less than 0 over the letters before it. */
  const along = (event) => (event.clientX - node.getBoundingClientRect().left) / node.clientWidth;
  /** A touch chooses the guess there, if it is one: the first is of the second letter. On the bracket of the chosen pair it shows again what comes to it. */
  const choose = (x) => {
    const place = Math.floor(x * NUM_LETTERS);
    if (place === OPENS[shown.model.chosen]) send();
    else if (place >= 1) onLetter(Math.min(place, NUM_LETTERS) - 1);
  };
  /** Where the finger wants the scissors: it goes on from the place of the length that it took hold of. */
  const wished = () => {
    const places = placesOf(shown.model);
    return within(places[TAUS.indexOf(held.tau)] + (held.x - held.from) * NUM_LETTERS, Math.max(...places), Math.min(...places));
  };
  /** The cut is at an allowed place; its handle is at the finger. */
  const follow = () => {
    const place = placesOf(shown.model)[TAUS.indexOf(shown.model.tau)];
    const pixels = (letters) => `${((letters * node.clientWidth) / NUM_LETTERS).toFixed(1)}px`;
    scissors.style.setProperty("--trunc-pull", pixels(held?.isMoving ? wished() - place : 0));
    scissors.style.setProperty("--trunc-room", pixels(place + LEFT_SHOWN)); // to the left edge
  };
  arrows(letters, { move: (step) => onLetter(within(shown.model.chosen + step, NUM_LETTERS - 1)), signal });
  arrows(scissors, { move: (step, key) => {
    const isTurned = ["ArrowLeft", "ArrowRight"].includes(key); // the cut goes where the arrow points
    onTau(TAUS[within(TAUS.indexOf(shown.model.tau) + (isTurned ? -step : step), TAUS.length - 1)]);
  }, signal });

  /** The error runs back from the ?, each letter gets its share, and the scissors close. */
  function send() {
    if (prefersReducedMotion()) return;
    const { chosen, reaches } = shown.model;
    const [ahead, whole] = [NUM_LETTERS - 1 - chosen, NUM_LETTERS + LEFT_SHOWN];
    const past = `inset(-20% ${(100 * ahead) / whole}% -20% ${100 - (100 * ahead) / whole}%)`;
    runs.animate([{ clipPath: past }, { clipPath: `inset(-20% ${(100 * ahead) / whole}% -20% 0)` }], { duration: PACE * (whole - ahead) });
    takes.forEach((take, i) => {
      const lag = chosen - PLACES[i];
      if (lag < 0 || lag >= reaches[chosen]) return;
      take.animate([{ opacity: 0, translate: "0 -40%" }, {}], { duration: 3 * PACE, delay: PACE * (lag + 0.5), fill: "backwards", easing: "ease-in" });
    });
    cut.animate([{ opacity: 0 }, {}], { duration: 3 * PACE, delay: PACE * reaches[chosen], fill: "backwards" });
    grip.firstChild.animate([{}, { scale: "1 0.4" }, {}], { duration: 3 * PACE, delay: PACE * reaches[chosen] });
  }

  /** `isRead`: of the short pair, that what it teaches serves the long one over the cut. */
  function draw(model, seen) {
    const isNew = shown !== null && ["tau", "way", "factor", "chosen"].some((name) => model[name] !== shown.model[name]);
    const isReadNow = seen.isRead && !shown?.seen.isRead;
    const { tau, factor, reaches, chosen } = model;
    shown = { model, seen };
    const start = chosen + 1 - reaches[chosen];
    const opener = OPENS[chosen];
    const isPair = opener !== undefined;
    cells.forEach((cell, i) => {
      cell.className = `trunc-letter${i === chosen + 1 ? " trunc-guessed" : i > chosen ? " trunc-later" : i >= start ? " trunc-reached" : ""}`;
    });
    if (isPair) cells[opener].classList.add(openPart(model) > 0 ? "trunc-heard" : "trunc-unheard");
    earlier.forEach((cell, i) => cell.classList.toggle("trunc-reached", i - LEFT_SHOWN >= start));
    next.classList.toggle("trunc-guessed", chosen === LONG);
    next.classList.toggle("trunc-later", chosen !== LONG);
    const isKnown = seen.isRead && openPart(model) > 0;
    for (const cell of [cells[OPENS[LONG]], next]) cell.classList.toggle("trunc-profits", isKnown); // the other pair
    const edge = Math.max(-LEFT_SHOWN, start);
    const whole = { factor, from: chosen + 1, level: 0.5, height: 1 };
    kept.setAttribute("d", band({ ...whole, right: chosen + 1, left: edge }));
    cut.setAttribute("d", band({ ...whole, right: edge, left: -LEFT_SHOWN }));
    chevrons.setAttribute("d", PLACES.map((place) => (place < chosen - 1 ? `M${place + 1.3} 0l-0.3 0.5l0.3 0.5` : "")).join(""));
    error.style.left = at(chosen + 1); // where the error is thickest
    error.classList.toggle("trunc-tight", reaches[chosen] === 1); // the word may be wider
    // what the way back needs: of a window all, for its later guesses
    dots.forEach((dot, i) => {
      dot.classList.toggle("trunc-is-kept", PLACES[i] >= start && PLACES[i] < start + tau);
    });
    node.classList.toggle("trunc-reads", seen.isRead); // of what is kept it says nothing
    [bracket.style.left, bracket.style.width] = [at(edge), at(start + tau - edge)];
    bracket.classList.toggle("trunc-open", edge > start);
    keptBack.style.setProperty("--trunc-middle", at((edge + start + tau) / 2));
    keptBack.replaceChildren(...emphasised(t.raw(`kept_${model.way}`), { tau }));
    const parts = PLACES.map((place) => (place < start || place > chosen ? 0 : partAt(factor, chosen - place)));
    const isTold = parts.map((part, i) => PLACES[i] === opener || part >= 0.005); // less is 0%, and left out
    const first = PLACES[isTold.indexOf(true)];
    takes.forEach((take, i) => {
      const place = PLACES[i];
      const isNeeded = place === opener;
      const isFirst = place === first && i > 0; // left of all there is no room for the name
      const number = isNeeded && parts[i] > 0 ? percent(parts[i]).slice(0, -1) : String(Math.round(100 * parts[i]));
      const name = isFirst ? [element("span", {}, t(isNeeded ? "opener_gets" : "gets")), " "] : [];
      take.replaceChildren(...(isTold[i] ? [...name, element("b", {}, number, element("i", {}, "%"))] : []));
      const kinds = { first: isFirst, needed: isNeeded, last: place === chosen, none: isNeeded && parts[i] === 0 };
      for (const [kind, isOf] of Object.entries(kinds)) take.classList.toggle(`trunc-${kind}`, isOf);
    });
    read.hidden = !seen.isRead;
    read.classList.toggle("trunc-untaught", !isKnown);
    read.firstChild.textContent = t(isKnown ? "remembered" : "untaught");
    weights.hidden = !isKnown;
    const cuts = model.way === "windows" ? fences(model) : [start];
    const places = placesOf(model);
    const handle = places[TAUS.indexOf(tau)];
    const isBeyond = start < FARTHEST; // the cut is not in sight
    const isEdge = start === -LEFT_SHOWN; // the cut is where the picture ends
    stream.classList.toggle("trunc-whole", isEdge);
    sum.style.setProperty("--trunc-at", at(isEdge ? start : Math.max(FARTHEST, start)));
    share.textContent = percentKept(1 - model.kept[chosen]);
    rest.textContent = percent(1 - model.kept[chosen]);
    asks.style.left = at(chosen + 1.5);
    cutSide.hidden = start < 0; // no room for it, and hardly any of it in sight
    height.hidden = cutSide.hidden || model.kept[chosen] > 0.95; // there it is no more than a line
    height.style.left = at(start);
    height.style.setProperty("--trunc-rest", 1 - model.kept[chosen]);
    word.textContent = t(isEdge ? "side_edge" : isBeyond ? "side_beyond" : "side_kept");
    lines.forEach((line, i) => { // windows: a line at each cut in sight; else at that of the chosen guess alone
      const place = i - LEFT_SHOWN;
      line.hidden = !cuts.includes(place);
      line.style.left = at(place);
      const kinds = { own: place === start, around: place === chosen + 1, ahead: place > chosen + 1 }; // the guess is made before those
      line.className = ["trunc-line-cut", ...Object.keys(kinds).filter((kind) => kinds[kind]).map((kind) => `trunc-${kind}`)].join(" ");
    });
    scissors.style.left = at(handle);
    number.textContent = tau;
    stops.forEach((stop, i) => {
      stop.style.left = at(places[i]);
      stop.hidden = cutsOf(model)[i] < -LEFT_SHOWN || nearestTau(places[i], model) !== TAUS[i]; // a tap there chooses another one
    });
    rail.style.setProperty("--trunc-first", at(Math.min(...places)));
    rail.style.setProperty("--trunc-last", at(Math.max(...places)));
    steps.forEach((step) => step.classList.toggle("trunc-end", tau === TAUS.at(Number(step.dataset.step) > 0 ? -1 : 0)));
    const others = sameCut(model);
    if (others.length > 0) (start < NUM_LETTERS / 2 ? right : left).append(same); // where there is room
    else same.remove();
    same.replaceChildren(...t("same", { line: "\n", others: others.join(", ") }).split("\n").flatMap((line, i) => (i > 0 ? [element("br"), line] : [line])));
    name.textContent = t(`rail_${model.way}`);
    name.hidden = handle < 0; // the handle is there
    follow();
    if (isNew && held === null) send();
    if (isReadNow && !prefersReducedMotion()) read.animate([{ clipPath: "inset(-1rem 100% -1rem 0)" }, { clipPath: "inset(-1rem -1rem -1rem 0)" }], { duration: 2 * PACE * NUM_LETTERS });
    drag.style.left = at(handle);
    drag.hidden = isDragged || handle < 3 || places.some((place) => place < handle && place > handle - 5); // it would cover numbers
    scissors.setAttribute("aria-label", t(`cut_${model.way}`));
    scissors.setAttribute("aria-valuenow", tau);
    scissors.setAttribute("aria-valuetext", String(tau));
    letters.setAttribute("aria-valuenow", chosen + 1);
    letters.setAttribute("aria-valuetext", t("letter_value", { place: chosen + 1, guess: visibleCharacter((text + t("next"))[chosen + 1]), kept: share.textContent }));
  }
  return { node, draw, fresh: () => { isDragged = false; } };
}
