// The reader's own text: pasted, dropped or chosen; it stays in the page.
import { bringBack } from "../shape.mjs";
import { buttonControl, element, formatNumber, visibleCharacter } from "../ui.mjs";
import { FEW_UNSEEN, inspectText, LEAST_LETTERS, MOST_LETTERS, OTHER } from "./maths.mjs";
import { SAMPLES } from "./samples.mjs";

const SHOWN = 8;
const MOST_GIVEN = 2 * MOST_LETTERS; // characters that the field takes

/** `onText(text)` gets a text that can be learned, as soon as it is there, or null for the story. */
export function textPanel({ t, signal, onText, onReset, say }) {
  const field = element("textarea", { class: "d2lrnn-text lab-paste", rows: 4, "aria-label": t("paste"), placeholder: t("paste"), spellcheck: "false" });
  const message = element("p", { class: "lab-message" });
  const needs = element("p", { class: "lab-note" }, t("text_needs", { least: formatNumber(LEAST_LETTERS, 0) }));
  const file = element("input", { type: "file", accept: ".txt,text/*", hidden: true });
  const count = (value) => formatNumber(value, 0);
  let found = null;
  let lost = 0; // characters of a file that did not come into the field
  const isGood = () => found !== null && found.problem === null;

  const tell = () => {
    const { letters, blanks, unseen, signs, different, rare, problem } = found;
    const rest = found.rest + lost;
    const parts = [];
    if (problem === "short") parts.push(t("text_short", { least: count(LEAST_LETTERS), letters: count(letters) }));
    else if (problem === "alike") parts.push(t("text_alike", { signs }));
    else {
      const some = rare.slice(0, SHOWN).map((sign) => (/^[\p{L}\p{N}]$/u.test(sign) ? sign : `“${visibleCharacter(sign)}”`)).join(" "); // a colon alone would be read as ours
      parts.push(t(rare.length ? "text_good_rare" : "text_good", {
        letters: count(letters), signs: count(different), count: count(rare.length), some: rare.length > SHOWN ? t("text_more", { some }) : some, other: OTHER,
      }));
      if (unseen < FEW_UNSEEN) parts.push(t("text_rough", { unseen: count(unseen) }));
      if (rest > 0) parts.push(t("text_cut", { letters: count(MOST_LETTERS), rest: count(rest) }));
      if (blanks > 0) parts.push(t("text_blanks", { count: count(blanks) }));
    }
    message.textContent = parts.join(" ");
  };
  const look = () => {
    if (field.value === "") {
      found = null;
      message.textContent = "";
      return;
    }
    found = inspectText(field.value);
    tell();
    say(message.textContent);
    if (isGood()) onText(found.text);
  };
  const take = async (chosen) => {
    if (!chosen) return;
    const text = await chosen.text();
    if (signal.aborted) return;
    put(text);
  };
  const put = (text) => {
    field.value = text.slice(0, MOST_GIVEN);
    lost = Math.max(0, text.length - MOST_GIVEN);
    look();
    if (isGood()) bringBack(node); // on a phone its first letters and Start stand above the screen
  };
  const story = buttonControl({ label: t("learn_story"), hidden: true, signal, onPress: () => {
    put("");
    onText(null);
    field.focus(); // the button goes
  } });
  const choose = buttonControl({ label: t("file"), signal, onPress: () => file.click() });
  const samples = Object.keys(SAMPLES).map((name) => buttonControl({ label: t(`sample_${name}`), signal, onPress: () => put(SAMPLES[name]()) }));
  const node = element(
    "div", { class: "lab-text", hidden: true },
    element("div", { class: "d2lrnn-row lab-samples" }, ...samples), needs, field, message, element("div", { class: "d2lrnn-row" }, choose, story, file),
  );
  let soon = 0;
  field.addEventListener("input", ({ inputType }) => {
    lost = 0;
    clearTimeout(soon);
    soon = setTimeout(() => {
      if (signal.aborted) return;
      look();
      if (inputType === "insertFromPaste" && isGood()) bringBack(node);
    }, 150);
  }, { signal });
  file.addEventListener("change", () => take(file.files[0]), { signal });
  node.addEventListener("dragover", (event) => event.preventDefault(), { signal });
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    const dropped = event.dataTransfer;
    if (dropped.files.length) take(dropped.files[0]);
    else put(dropped.getData("text"));
  }, { signal });
  onReset(() => {
    clearTimeout(soon);
    field.value = "";
    look();
  });
  return {
    node,
    /** Take what stands in the open field at once, without waiting for the end of the typing. */
    settle() {
      clearTimeout(soon);
      if (!node.hidden) look();
    },
    /** Whether a text of the reader's own is shown: then there is a way back. */
    tell(isOwn) {
      story.hidden = !isOwn;
    },
  };
}
