// What the figure draws: the text as a map of surprisals, one letter in words, the training as a slider that plays.
import { buttonControl, element, formatNumber, rangeControl, visibleCharacter } from "../ui.mjs";
import { emphasised } from "../shape.mjs";
import { isPlain, normalise } from "../weights.mjs";
import { bitsByPlace, BRIEF, DEFAULT_TEXT, finding, level, MAX_TEXT, oneIn, percent, pieces, readable, sizeOf, STAGES } from "./maths.mjs";

/** A template in which some values are filled in, and others still stand in braces, to be made bold. */
const half = (template, values) => template.replace(/\{(\w+)\}/g, (found, name) => (Object.hasOwn(values, name) ? values[name] : found));

/** The sentence on top: { key, when, values }; `values` are words of their own, which stand out. */
export function sentenceOf(model, t) {
  if (model.count < 1) return { key: "now_short", when: "", values: {} };
  const name = finding(model);
  const bold = { untrained: "every", words: "begin", spaces: "spaces", blind: "worse", more: "more", same: "same", less: "less" }[name];
  const when = model.stage === STAGES[0] ? "" : t(`when_${model.stage}`);
  return { key: `now_${name}`, when, values: { [bold]: t(bold) } };
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { key, when, values } = sentenceOf(model, t);
  return t(key, { when, ...values });
}

export const sentenceNodes = (model, t) => {
  const { key, when, values } = sentenceOf(model, t);
  return emphasised(half(t.raw(key), { when }), values);
};

function letterSpan(character) {
  return element("span", { class: "map-letter" }, character === " " ? "\u00a0" : visibleCharacter(character));
}

const probability = (p, t) => (oneIn(p) === null ? percent(p) : t("one_in", { count: oneIn(p) }));

/** The 12 characters before, from the beginning of a word if one begins there; a space at either end is seen as ␣; “…” where more came before. */
function contextOf(text, place) {
  const past = text.slice(Math.max(0, place - 12), place);
  const whole = place <= 12 ? past : past.replace(text[place - 13] === " " ? /^ +/ : /^[^ ]* +(?=.*[^ ])/, "");
  return `${place > 12 ? "…" : ""}${whole.replace(/^ | $/g, "␣")}`;
}

/** One letter in words. */
export function tell({ text, now, vocab }, place, t) {
  const named = (character) => (character === " " ? t("by_space") : t("by_letter", { character: visibleCharacter(character) }));
  const b = now.bits[place - 1];
  const [index, p] = now.best[place - 1];
  return {
    context: contextOf(text, place), character: named(text[place]), plain: text[place] === " " ? t("by_space") : visibleCharacter(text[place]),
    letter: text[place] === " " ? t("space") : named(text[place]), p: probability(2 ** -b, t), bits: formatNumber(b),
    surprise: t(`surprise_${sizeOf(b)}`),
    best: vocab[index] === text[place] ? null : { character: named(vocab[index]), p: probability(p, t) },
  };
}

/**
 * The text: tap or point at a letter; the arrow keys go from letter to letter on an unseen slider that lies over it.
 */
export function mapPanel({ t, signal, onPlace }) {
  const text = element("div", { class: "map-letters", "aria-hidden": "true" });
  const blind = element("span", { class: "map-blind" }); // at the end of the first row's line
  const keys = element("input", { type: "range", class: "map-keys", min: 1, step: 1, "aria-label": t("letter") });
  const detail = element("p", { class: "map-detail" });
  const kinds = element("p", { class: "map-kinds" });
  const node = element("div", { class: "map-figure", role: "group", "aria-label": t("map") },
    element("div", { class: "map-page" }, text, keys, element("span", { class: "map-scroll", "aria-hidden": "true" }, t("scroll"))), kinds, detail);
  // A long text scrolls: it says so until its end is in sight, and the letter that is looked at comes into sight.
  let letters = [];
  const showScroll = () => text.parentElement.classList.toggle("map-goes-on", text.scrollTop + text.clientHeight < text.scrollHeight - 8);
  text.addEventListener("scroll", showScroll, { signal, passive: true });
  const measure = () => {
    if (signal.aborted) return;
    showScroll();
    if (letters.length === 0) return;
    const top = letters[0].offsetTop;
    const next = letters.findIndex((letter) => letter.offsetTop > top);
    const last = letters.at(next < 0 ? -1 : next - 1);
    const [end, most] = [last.offsetLeft + last.offsetWidth + 6, text.clientWidth - blind.offsetWidth];
    blind.classList.toggle("map-over", end > most); // no room beside the letters: it stands on the line
    blind.style.left = `${Math.min(end, most)}px`;
  };
  const sized = new ResizeObserver(measure);
  sized.observe(text);
  signal.addEventListener("abort", () => sized.disconnect(), { once: true });
  const bringIntoSight = (letter) => {
    if (letter === undefined) return;
    const above = letter.getBoundingClientRect().top - text.getBoundingClientRect().top;
    const below = above + letter.offsetHeight - text.clientHeight;
    if (above < 0 || below > 0) text.scrollTop += above < 0 ? above : below;
  };
  let shown = null;
  let pointed = null; // the letter under the mouse

  const under = (event) => {
    const place = letters.indexOf(event.target.closest(".map-letter"));
    return place < 0 ? null : place;
  };
  const point = (place) => {
    if (place === pointed) return;
    pointed = place;
    drawDetail();
  };
  text.addEventListener("pointerover", (event) => event.pointerType === "mouse" && point(under(event)), { signal });
  text.addEventListener("pointerleave", () => point(null), { signal });
  text.addEventListener("click", (event) => {
    const place = under(event);
    if (place > 0) onPlace(place);
    point(place);
    keys.focus({ preventScroll: true }); // the arrow keys go on from here
  }, { signal });
  keys.addEventListener("input", () => onPlace(Number(keys.value)), { signal });

  const valueOf = ({ plain, bits }) => t("letter_value", { character: plain, bits });
  const drawDetail = () => {
    if (shown.count < 1) {
      detail.textContent = t("text_short");
      return;
    }
    const place = pointed !== null && pointed <= shown.count ? pointed : shown.place;
    letters.forEach((letter, i) => letter.classList.toggle("map-here", i === place));
    if (place === 0) {
      detail.textContent = t("detail_given", { character: visibleCharacter(shown.text[0]) });
      return;
    }
    const { best, character, surprise, ...values } = tell(shown, place, t);
    detail.replaceChildren(...emphasised(half(t.raw("detail"), values), { character, surprise }), " ",
      best === null ? t("detail_best") : t("detail_other", best));
  };
  const draw = (model) => {
    if (shown?.text !== model.text) {
      letters = Array.from(model.text, letterSpan);
      letters[0]?.classList.add("map-given");
      letters.forEach((letter, i) => {
        letter.classList.toggle("map-first", i > 0 && model.text[i - 1] === " " && model.text[i] !== " ");
        letter.classList.toggle("map-space", model.text[i] === " ");
      });
      text.style.minHeight = model.count < 1 ? `${text.clientHeight}px` : ""; // an empty text leaves its room
      let from = 0;
      if (shown !== null) text.scrollTop = 0; // before the text changes: after it, that would lay the page out
      text.replaceChildren(blind, ...pieces(model.text).map((piece) =>
        element("span", { class: "map-word" }, ...letters.slice(from, (from += piece.length)))));
      pointed = null;
      text.classList.toggle("map-brief", model.count < BRIEF);
      text.style.setProperty("--map-count", Math.max(letters.length, 4));
      requestAnimationFrame(measure); // the page lays a long text out in a task of its own
    }
    const moved = shown?.text === model.text && shown.place !== model.place && shown.stage === model.stage;
    if (shown !== null && (shown.place !== model.place || shown.stage !== model.stage)) pointed = null;
    shown = model;
    const { bits } = model.now;
    blind.hidden = model.count < 1;
    blind.textContent = t("blind_guess", { characters: model.vocab.length });
    text.style.setProperty("--map-scale", model.scale);
    text.style.setProperty("--map-blind", model.blind.toFixed(3));
    const told = model.count > 0 ? finding(model) : "";
    for (const all of [text, kinds]) { // the headline speaks of them
      all.classList.toggle("map-firsts", told === "words");
      all.classList.toggle("map-spaces", told === "spaces");
    }
    const averages = Object.entries(model.count < 1 ? {} : bitsByPlace(model.text, bits)).filter(([, { count }]) => count > 0);
    kinds.replaceChildren(...(averages.length < 2 ? ["\u00a0"] : [t("kinds"), ...averages.flatMap(([kind, { mean }]) =>
      [" ", element("span", { class: `map-kind map-kind-${kind}` }, ...emphasised(t.raw(`kind_${kind}`), { bits: formatNumber(mean, 1) }))])]));
    letters.forEach((letter, i) => {
      letter.style.setProperty("--map-level", i === 0 ? 0 : level(bits[i - 1], model.scale).toFixed(3));
    });
    keys.disabled = model.count < 1;
    keys.max = Math.max(model.count, 1);
    keys.value = Math.max(model.place, 1);
    keys.setAttribute("aria-valuetext", model.count < 1 ? t("text_short") : valueOf(tell(model, model.place, t)));
    drawDetail();
    if (moved) bringIntoSight(letters[model.place]);
  };
  return { node, draw, clear: () => (pointed = null) };
}

/** The training: a button that plays it, a slider over its stages, and what a letter costs there on average. */
export function trainingPanel({ t, signal, onStage, onPlay }) {
  const play = buttonControl({ label: t("play"), class: "d2lrnn-button map-play", signal, onPress: onPlay });
  const marks = STAGES.map((name) => element("span", { class: "map-mark" }, t(`mark_${name}`)));
  const range = rangeControl({
    label: element("span", { class: "d2lrnn-hidden" }, t("training")), min: 0, max: STAGES.length - 1, signal, onInput: (i) => onStage(STAGES[i]),
  });
  range.node.append(element("span", { class: "map-marks", "aria-hidden": "true" }, ...marks));
  const bits = element("b");
  const choices = element("span");
  const average = element("p", { class: "map-average" }, bits, " ", element("span", {}, t("average")), " ", choices);
  const node = element("div", { class: "map-training" }, play, range.node, average);
  const draw = ({ count, stage, updates, now }, isPlaying) => {
    play.textContent = t(isPlaying ? "pause" : "play");
    bits.textContent = t("bits", { bits: count < 1 ? "–" : formatNumber(now.rate) });
    choices.textContent = t("choices", { count: count < 1 ? "–" : formatNumber(now.perplexity, now.perplexity < 3 ? 1 : 0) });
    range.set(STAGES.indexOf(stage), t(stage === STAGES[0] ? "stage_untrained" : "stage", { updates: formatNumber(updates[stage], 0) }));
    STAGES.forEach((name, i) => marks[i].classList.toggle("map-chosen", name === stage));
  };
  return { node, draw };
}

/** The reader's own text. */
export function textBox({ t, signal, onText }) {
  const input = element("textarea", {
    class: "d2lrnn-text map-text", rows: 1, placeholder: t("text_any"), autocomplete: "off", autocapitalize: "off", spellcheck: "false",
  });
  const hint = element("p", { class: "map-hint", hidden: true }, t("text_long", { max: MAX_TEXT }));
  const lost = element("p", { class: "map-hint", hidden: true }, t("text_lost"));
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    lost.hidden = isPlain(input.value);
    hint.hidden = normalise(input.value).length <= MAX_TEXT;
    onText(readable(input.value));
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element("div", { class: "map-own" },
    element("label", { class: "d2lrnn-control map-label" }, element("span", {}, t("text")), input), hint, lost);
  const draw = ({ text }) => { // the text of the beginning stands in the picture, the reader's own here too
    if (readable(input.value) !== text) input.value = text === DEFAULT_TEXT ? "" : text;
  };
  const clear = () => (hint.hidden = lost.hidden = true);
  return { node, draw, clear, focus: () => input.select() };
}

/** What the text costs at each stage; it is added up when somebody looks. */
export function costTable(t) {
  const cells = Object.fromEntries(STAGES.map((stage) => [stage, ["rate", "perplexity", "bytes"].map(() => element("td"))]));
  const heads = STAGES.map(() => element("th", { scope: "row" }));
  const lines = STAGES.map((stage, i) => element("tr", {}, heads[i], ...cells[stage]));
  const raw = element("p", { class: "map-hint" });
  const table = element("table", { class: "map-table" },
    element("thead", {}, element("tr", {}, ...["stage", "rate", "perplexity", "bytes"].map((name) =>
      element("th", { scope: "col" }, t(`column_${name}`))))),
    element("tbody", {}, ...lines));
  const node = element("div", { class: "map-costs" }, table, raw);
  const draw = ({ count, stage, updates, at, vocab }) => {
    STAGES.forEach((name, i) => {
      heads[i].textContent = t("row_stage", { stage: t(`mark_${name}`), updates: formatNumber(updates[name], 0) });
      lines[i].classList.toggle("map-chosen", name === stage);
      const { rate, perplexity, bytes } = count < 1 ? {} : at(name);
      const texts = count < 1 ? ["–", "–", "–"] : [formatNumber(rate), formatNumber(perplexity), String(bytes)];
      cells[name].forEach((cell, j) => (cell.textContent = texts[j]));
    });
    raw.textContent = t("raw", { bytes: count, characters: vocab.length, blind: formatNumber(Math.log2(vocab.length)) });
  };
  return { node, draw };
}
