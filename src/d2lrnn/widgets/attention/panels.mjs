// What the figure draws: one text, above it what attention looks back at, below it what a state still holds.
import { buttonControl, element, formatNumber, formatProbability, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { leftOut, normalise } from "../weights.mjs";
import { changeText, endOf, MAX_TEXT, mostOf, readable, weightText } from "./maths.mjs";

/** How far before the last letter read a letter stands, in words. */
function earlier(place, s, t) {
  const count = place - 1 - s;
  return t(count < 2 ? `earlier_${count}` : "earlier", { count });
}

/** The sentence on top: { key, values }. */
function sentenceOf({ read, place }) {
  return place === 0 ? { key: "now_empty", values: {} } : { key: "now", values: { context: endOf(read) } };
}

/** What the two halves say of letter s: [attention, state], each { key, values }. */
function halves({ text, place, head, weights, changes }, s, t) {
  const character = visibleCharacter(text[s]);
  const by = t(text[s] === " " ? "by_e" : "by_space");
  return [
    { key: head === 0 ? "looks_mean" : "looks", values: { head, weight: weightText(weights[s]), character, earlier: earlier(place, s, t) } },
    { key: "moves", values: { character, by, change: changeText(changes[s]) } },
  ];
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { key, values } = sentenceOf(model);
  const parts = model.place === 0 ? [] : halves(model, model.most, t);
  return [t(key, values), ...parts.map((part) => t(part.key, part.values))].join(" ");
}

export function sentenceNodes(model, t) {
  const { key, values } = sentenceOf(model);
  return emphasised(t.raw(key), values);
}

/** The letters with most weight in each head, in words. */
export function headsInWords({ heads, read, place }, t) {
  return heads.map((weights, h) => {
    const s = mostOf(weights);
    return t("head_letter", { head: h + 1, character: visibleCharacter(read[s]), earlier: earlier(place, s, t), weight: weightText(weights[s]) });
  }).join("; ");
}

/** What each model expects next, in words: [attention, state]. */
export function expected({ expects }, t) {
  return expects.map((letters) => letters.map(({ character, p }) =>
    t("expects_letter", { character: visibleCharacter(character), p: formatProbability(p) })).join(", "));
}

/**
 * One column for each letter, in as many rows as the width needs: its weight above, what the state keeps of it below.
 * Drag or tap to read up to a letter. The longest bar of each half fills it; its number stands at its end.
 */
export function lookPanel({ t, signal, onPlace }) {
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "att-keys", min: 1, step: 1, "aria-label": t("place") });
  const stage = element("div", { class: "att-stage" }, columns, keys);
  const [above, below] = ["attention", "state"].map((name) => element("p", { class: `att-title att-title-${name}` }));
  const kept = element("p", { class: "att-kept" });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") },
    above, stage, below, element("div", { class: "att-row" }, kept, element("span", { class: "att-tip", "aria-hidden": "true" }, t("tip"))));
  let views = [];
  let shown = null;
  let pointed = -1; // the letter under the mouse

  /** The letter at a point, or the nearest in the nearest row. */
  const columnAt = ({ clientX, clientY }) => {
    const boxes = views.map(({ column }) => column.getBoundingClientRect());
    const away = (value, low, high) => Math.max(low - value, 0, value - high);
    const distances = boxes.map((box) => 1e4 * away(clientY, box.top, box.bottom) + away(clientX, box.left, box.right));
    return distances.indexOf(Math.min(...distances));
  };
  const read = ({ event }) => {
    if (views.length === 0) return;
    const place = columnAt(event) + 1;
    if (place !== shown.place) onPlace(place);
  };
  dragOn(columns, { axis: "x", move: read, signal });
  keys.addEventListener("input", () => onPlace(Number(keys.value)), { signal });
  const point = (s) => {
    pointed = s;
    drawTold();
  };
  columns.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") point(views.findIndex(({ column }) => column.contains(event.target)));
  }, { signal });
  columns.addEventListener("pointerleave", () => point(-1), { signal });

  const drawTold = () => {
    const { place, weights, changes, most } = shown;
    const s = pointed >= 0 && pointed < place ? pointed : most;
    const longest = mostOf(changes);
    views.forEach(({ column, weight, change }, i) => {
      column.classList.toggle("att-told", i === s);
      weight.textContent = i < place && (i === s || i === most) ? weightText(weights[i]) : "";
      change.textContent = i < place && (i === s || i === longest) ? changeText(changes[i]) : "";
    });
    const told = place === 0 ? [] : halves(shown, s, t);
    [above, below].forEach((title, i) => title.replaceChildren(...(told[i] ? emphasised(t.raw(told[i].key), told[i].values) : [])));
  };
  const draw = (model) => {
    const { text, place, weights, changes } = model;
    if (shown?.text !== text) {
      views = Array.from(text, (character) => {
        const [weight, change] = ["weight", "change"].map(() => element("span", { class: "att-value" }));
        const up = element("span", { class: "att-bar att-bar-up" }, weight);
        const down = element("span", { class: "att-bar att-bar-down" }, change);
        const letter = element("span", { class: "att-letter" }, character === " " ? "␣" : character);
        const column = element("span", { class: "att-column" }, element("span", { class: "att-half" }, up), letter,
          element("span", { class: "att-half" }, down));
        return { column, up, down, weight, change };
      });
      columns.replaceChildren(...views.map(({ column }) => column));
      pointed = -1;
    }
    shown = model;
    const share = (values, s) => (s < place ? values[s] / Math.max(...values) : 0).toFixed(4);
    views.forEach(({ column, up, down }, s) => {
      column.classList.toggle("att-read", s < place);
      column.classList.toggle("att-last", s === place - 1);
      up.style.setProperty("--att-share", share(weights, s));
      down.style.setProperty("--att-share", share(changes, s));
    });
    kept.textContent = t("kept", { count: place, numbers: formatNumber(place * model.kept, 0) });
    keys.disabled = place === 0;
    keys.max = Math.max(text.length, 1);
    keys.value = Math.max(place, 1);
    keys.setAttribute("aria-valuetext", place === 0 ? t("now_empty") : t("place_value", {
      character: visibleCharacter(text[place - 1]), place, count: text.length,
    }));
    drawTold();
  };
  return { node, draw };
}

/** Which head, the text, and reading it letter by letter. */
export function toolbar({ t, signal, numHeads, onHead, onText, onPlay }) {
  const buttons = Array.from({ length: numHeads + 1 }, (_, head) => buttonControl({
    label: head === 0 ? t("all_heads") : String(head), "aria-label": head === 0 ? t("all_heads") : t("head", { head }),
    signal, onPress: () => onHead(head),
  }));
  const input = element("input", {
    type: "text", class: "d2lrnn-text att-text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const hint = element("p", { class: "att-hint", hidden: true });
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const out = leftOut(input.value);
    const hints = [];
    if (out.length > 0) hints.push(t("text_left_out", { count: out.length, characters: [...new Set(out)].slice(0, 12).join(" ") }));
    if (normalise(input.value).length > MAX_TEXT) hints.push(t("text_long", { max: MAX_TEXT }));
    hint.textContent = hints.join(" ");
    hint.hidden = hints.length === 0;
    onText(readable(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element(
    "div", { class: "att-tools" },
    element("div", { class: "att-heads", role: "group", "aria-label": t("heads") },
      element("span", { "aria-hidden": "true" }, t("heads")), ...buttons.slice(1), buttons[0]),
    buttonControl({ label: t("play"), class: "d2lrnn-button att-play", signal, onPress: onPlay }),
    element("label", { class: "att-label" }, element("span", {}, t("text")), input), hint,
  );
  const draw = ({ head, text }) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === head)));
    if (readable(input.value) !== text) input.value = text;
  };
  return { node, draw, clear: () => (hint.hidden = true) };
}
