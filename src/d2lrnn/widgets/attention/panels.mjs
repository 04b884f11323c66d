// What the figure draws: one text, above it what attention looks back at, below it what a state still holds.
import { buttonControl, element, formatNumber, formatProbability, visibleCharacter } from "../ui.mjs";
import { dragOn, emphasised } from "../shape.mjs";
import { normalise } from "../weights.mjs";
import { BACK, changeText, endOf, MAX_TEXT, mostOf, NEAR, readable, weightText } from "./maths.mjs";

const HIGHEST_CHANGE = 1.25; // lengths of the state; a bar ends here

/** The sentence on top: { key, values }. */
export function sentenceOf({ read, place, near, changes, head }, t) {
  if (place === 0) return { key: "now_empty", values: {} };
  const context = endOf(read);
  if (place <= NEAR) return { key: "now_begin", values: { context } };
  const back = Math.min(BACK, place);
  return {
    key: "now",
    values: {
      context, back, near: weightText(near), moved: changeText(changes[place - back]), who: t(head === 0 ? "who_all" : "who_head", { head }),
    },
  };
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { key, values } = sentenceOf(model, t);
  return t(key, values);
}

export function sentenceNodes(model, t) {
  const { key, values } = sentenceOf(model, t);
  return emphasised(t.raw(key), values);
}

/** The letters with most weight in each head, in words. */
export function headsInWords({ heads, read }, t) {
  return heads.map((weights, h) => {
    const { character, back, weight } = mostOf(weights, read);
    return t("head_letter", { head: h + 1, character: visibleCharacter(character), back, weight: weightText(weight) });
  }).join(", ");
}

/** One column for each letter: its weight above, what the state keeps of it below. Drag or tap to read up to a letter. */
export function lookPanel({ t, signal, onPlace }) {
  const columns = element("div", { class: "att-columns", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "att-keys", min: 1, step: 1, "aria-label": t("place") });
  const line = (name, text, at) => {
    const node = element("div", { class: `att-line att-${name}`, "aria-hidden": "true" }, text);
    node.style.setProperty("--att-at", at);
    return node;
  };
  const stage = element(
    "div", { class: "att-stage" },
    line("up", "1", 1), line("up", "0.5", 0.5), line("down", "0.5", 0.5 / HIGHEST_CHANGE), line("down", "1", 1 / HIGHEST_CHANGE),
    columns, keys,
  );
  const [above, below] = ["attention", "state"].map((name) => {
    const expects = element("span", { class: "att-expects" });
    return { expects, node: element("p", { class: `att-title att-title-${name}` }, element("b", {}, t(name)), " ", expects) };
  });
  const compared = element("p", { class: "att-compared" });
  const kept = element("p", { class: "att-kept" });
  const node = element("div", { class: "att-figure", role: "group", "aria-label": t("figure") },
    above.node, stage, below.node,
    element("div", { class: "att-row" }, compared, element("span", { class: "att-tip", "aria-hidden": "true" }, t("tip"))), kept);
  let views = [];
  let shown = null;
  let pointed = -1; // the letter under the mouse

  const columnAt = (x) => Math.min(shown.text.length - 1, Math.floor(x * shown.text.length));
  const read = ({ x }) => shown.text.length > 0 && columnAt(x) + 1 !== shown.place && onPlace(columnAt(x) + 1);
  dragOn(columns, { axis: "x", move: read, signal });
  keys.addEventListener("input", () => onPlace(Number(keys.value)), { signal });
  const point = (s) => {
    pointed = s;
    drawCompared();
  };
  columns.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") point(views.findIndex(({ column }) => column.contains(event.target)));
  }, { signal });
  columns.addEventListener("pointerleave", () => point(-1), { signal });

  const drawCompared = () => {
    const { text, place, weights, changes } = shown;
    views.forEach(({ column }, s) => column.classList.toggle("att-pointed", s === pointed && s < place));
    if (place === 0) {
      compared.textContent = "";
      return;
    }
    const s = pointed >= 0 && pointed < place ? pointed : place - mostOf(weights, text).back;
    compared.replaceChildren(...emphasised(t.raw("compare"), {
      character: visibleCharacter(text[s]), back: place - s, weight: weightText(weights[s]), change: changeText(changes[s]),
    }));
  };
  const draw = (model) => {
    const { text, place, weights, changes, expects } = model;
    if (shown?.text !== text) {
      views = Array.from(text, (character) => {
        const [up, down] = ["up", "down"].map((name) => element("span", { class: `att-bar att-bar-${name}` }));
        const letter = element("span", { class: "att-letter" }, character === " " ? "␣" : character);
        if (character === " ") letter.classList.add("att-space");
        const cells = ["up", "down"].map((name) => element("span", { class: `att-cell att-cell-${name}` }));
        const column = element("span", { class: "att-column" }, element("span", { class: "att-half" }, up), cells[0], letter, cells[1],
          element("span", { class: "att-half" }, down));
        return { column, up, down };
      });
      columns.replaceChildren(...views.map(({ column }) => column));
      columns.style.setProperty("--att-count", Math.max(text.length, 1));
      pointed = -1;
    }
    shown = model;
    views.forEach(({ column, up, down }, s) => {
      column.classList.toggle("att-read", s < place);
      column.classList.toggle("att-last", s === place - 1);
      up.style.setProperty("height", `${(100 * (weights[s] ?? 0)).toFixed(1)}%`);
      down.style.setProperty("height", `${(100 * Math.min(1, (changes[s] ?? 0) / HIGHEST_CHANGE)).toFixed(1)}%`);
    });
    [above, below].forEach((panel, i) => {
      const letters = expects[i].map(({ character, p }) =>
        t("expects_letter", { character: visibleCharacter(character), p: formatProbability(p) })).join(", ");
      panel.expects.textContent = letters && t("expects", { letters });
    });
    kept.replaceChildren(
      element("span", { class: "att-square", "aria-hidden": "true" }), " ",
      t("kept", { count: place, numbers: formatNumber(place * model.kept, 0) }),
    );
    keys.disabled = place === 0;
    keys.max = Math.max(text.length, 1);
    keys.value = Math.max(place, 1);
    keys.setAttribute("aria-valuetext", place === 0 ? t("now_empty") : t("place_value", {
      character: visibleCharacter(text[place - 1]), place, count: text.length,
    }));
    drawCompared();
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
  const hint = element("p", { class: "att-hint", hidden: true }, t("text_long", { max: MAX_TEXT }));
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    hint.hidden = normalise(input.value).length <= MAX_TEXT;
    onText(readable(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element(
    "div", { class: "att-tools" },
    element("div", { class: "att-heads", role: "group", "aria-label": t("heads") },
      element("span", { "aria-hidden": "true" }, t("heads")), ...buttons),
    buttonControl({ label: t("play"), class: "d2lrnn-button att-play", signal, onPress: onPlay }),
    element("label", { class: "att-label" }, element("span", {}, t("text")), input), hint,
  );
  const draw = ({ head, text }) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === head)));
    if (readable(input.value) !== text) input.value = text;
  };
  return { node, draw, clear: () => (hint.hidden = true) };
}
