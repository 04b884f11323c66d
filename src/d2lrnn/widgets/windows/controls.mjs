// What stands behind "Change text and sizes": sliders that go as far as the text allows, a field for one's own text.
import { element, rangeControl } from "../ui.mjs";
import { MAX_TYPED, cleanTyped } from "./maths.mjs";

/** A slider whose value stands beside its name. */
export function sizeControl({ label, min, max, onInput, signal }) {
  const shown = element("b", {});
  const range = rangeControl({ label: element("span", {}, label, " ", shown), min, max, onInput, signal });
  const set = (value, [least, most] = [min, max]) => {
    range.input.min = Math.min(least, value);
    range.input.max = Math.max(most, value);
    shown.textContent = value;
    range.set(value, String(value));
  };
  return { node: range.node, set };
}

/** The reader's own text. It is shown as typed and used as the story was prepared. */
export function typedControl({ t, signal, onText, say }) {
  const input = element("textarea", {
    rows: 2, class: "d2lrnn-text win-typed", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const message = element("p", { class: "win-note", hidden: true });
  const node = element("div", { class: "win-own" },
    element("label", { class: "d2lrnn-control" }, element("span", {}, t("own", { max: MAX_TYPED })), input), message);
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    const tooLong = input.value.length > MAX_TYPED;
    if (tooLong) input.value = input.value.slice(0, MAX_TYPED);
    message.hidden = !tooLong;
    message.textContent = tooLong ? t("own_cut", { max: MAX_TYPED }) : "";
    if (tooLong) say(message.textContent);
    onText(cleanTyped(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const set = (text, isShown) => {
    node.hidden = !isShown;
    if (cleanTyped(input.value) === text) return;
    input.value = text;
    message.hidden = true;
  };
  return { node, set };
}
