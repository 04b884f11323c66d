// What the figure draws: the text as a map of surprisals, one letter in words, the training as a slider that plays.
import { buttonControl, element, formatNumber, rangeControl, visibleCharacter } from "../ui.mjs";
import { emphasised } from "../shape.mjs";
import { isPlain, normalise } from "../weights.mjs";
import { DEFAULT_TEXT, level, MAX_TEXT, oneIn, percent, pieces, readable, STAGES } from "./maths.mjs";

/** The sentence on top: { key, values }. */
export function sentenceOf({ count, stage, updates, now, before, vocab }) {
  if (count < 1) return { key: "now_short", values: {} };
  const values = {
    updates: formatNumber(updates[stage], 0), perplexity: formatNumber(now.perplexity, 1), rate: formatNumber(now.rate),
  };
  if (stage === STAGES[0]) return { key: "now_untrained", values };
  if (now.perplexity > vocab.length) return { key: "now_blind", values };
  if (now.perplexity > before.perplexity) return { key: "now_more", values };
  return { key: "now_less", values };
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { key, values } = sentenceOf(model);
  return t(key, values);
}

export const sentenceNodes = (model, t) => {
  const { key, values } = sentenceOf(model);
  return emphasised(t.raw(key), values);
};

function letterSpan(character) {
  return element("span", { class: `map-letter${character === " " ? " map-space" : ""}` }, element("span", { class: "map-bar" }),
    element("span", { class: "map-glyph" }, visibleCharacter(character)));
}

const probability = (p, t) => (oneIn(p) === null ? percent(p) : t("one_in", { count: oneIn(p) }));

/** The 12 characters before, from the beginning of a word if one begins there, spaces as ␣; “…” where more came before. */
function contextOf(text, place) {
  const past = place <= 12 ? text.slice(0, place) : `…${text.slice(place - 12, place).replace(text[place - 13] === " " ? /^ +/ : /^[^ ]* +(?=.*[^ ])/, "")}`;
  return past.replaceAll(" ", "␣");
}

/** One letter in words. */
export function tell({ text, now, vocab }, place, t) {
  const character = visibleCharacter(text[place]);
  const b = now.bits[place - 1];
  const guesses = now.top(place - 1).map(([index, p]) => ({ character: visibleCharacter(vocab[index]), p }));
  return {
    context: contextOf(text, place), character, p: probability(2 ** -b, t), bits: formatNumber(b),
    chance: 2 ** -b, guesses, rank: now.rank(place - 1),
  };
}

/**
 * The text: tap or point at a letter; the arrow keys go from letter to letter on an unseen slider that lies over it.
 */
export function mapPanel({ t, signal, onPlace }) {
  const text = element("div", { class: "map-letters", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "map-keys", min: 1, step: 1, "aria-label": t("letter") });
  const blind = element("span");
  const scale = element("div", { class: "map-scale", "aria-hidden": "true" },
    element("span", { class: "map-tip" }, t("tip")), element("span", { class: "map-key" }, element("span", { class: "map-dash" }), blind));
  const detail = element("p", { class: "map-detail" });
  const guesses = element("div", { class: "map-guesses" });
  const node = element("div", { class: "map-figure", role: "group", "aria-label": t("map") },
    scale, element("div", { class: "map-page" }, text, keys, element("span", { class: "map-scroll", "aria-hidden": "true" }, t("scroll"))), detail, guesses);
  // A long text scrolls: it says so until its end is in sight, and the letter that is looked at comes into sight.
  let letters = [];
  // The lines are named before the first letter of every row.
  const showRows = () => {
    const tops = letters.map((letter) => letter.offsetTop); // all are read before one is written
    letters.forEach((letter, i) => letter.classList.toggle("map-row", i === 0 || tops[i] > tops[i - 1] + 8));
  };
  const showScroll = () => text.parentElement.classList.toggle("map-goes-on", text.scrollTop + text.clientHeight < text.scrollHeight - 8);
  text.addEventListener("scroll", showScroll, { signal, passive: true });
  const measure = () => {
    if (signal.aborted) return;
    showRows();
    showScroll();
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

  const guess = ({ character, p, rank, isReal }) => element("div", { class: `map-guess${isReal ? " map-real" : ""}` },
    element("span", {}, element("span", { class: "map-rank" }, t("rank", { rank })), " ", element("b", {}, character), " ", p < 0.001 ? t("tiny") : percent(p)),
    element("span", { class: "map-chance", style: `--map-chance: ${p.toFixed(4)}` }));
  const drawDetail = () => {
    guesses.replaceChildren();
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
    const { context, guesses: top, chance, rank, ...values } = tell(shown, place, t);
    const rows = top.map((row, i) => ({ ...row, rank: i + 1, isReal: row.character === values.character }));
    if (!rows.some(({ isReal }) => isReal)) rows.push({ character: values.character, p: chance, rank, isReal: true });
    const expected = top.map(({ character, p }) => t("expected_row", { character, p: probability(p, t) })).join(", ");
    guesses.replaceChildren(element("div", { class: "map-tops", role: "img", "aria-label": t("detail_expected", { expected, rank, character: values.character, characters: shown.vocab.length }) }, ...rows.map(guess)));
    detail.replaceChildren(t("detail_context", { context }), " ",
      ...emphasised(t.raw("detail"), values.character === "␣" ? { ...values, character: t("by_space") } : values),
      ...(shown.now.bits[place - 1] > shown.before.bits[place - 1] ? [" ", t("detail_more", { before: formatNumber(shown.before.bits[place - 1]) })] : []));
  };
  const draw = (model) => {
    if (shown?.text !== model.text) {
      letters = Array.from(model.text, letterSpan);
      letters[0]?.classList.add("map-given");
      letters[0]?.append(element("span", { class: "map-note" }, element("span", {}, t("given"))));
      text.style.minHeight = model.count < 1 ? `${text.clientHeight}px` : ""; // an empty text leaves its room
      let from = 0;
      text.replaceChildren(...pieces(model.text).map((piece) =>
        element("span", { class: "map-word" }, ...letters.slice(from, (from += piece.length)))));
      pointed = null;
      letters.forEach((letter, i) => letter.classList.toggle("map-first", i > 0 && model.text[i] !== " " && model.text[i - 1] === " "));
      text.style.setProperty("--map-count", Math.max(letters.length, 4));
      text.scrollTop = 0;
      requestAnimationFrame(measure); // the page lays a long text out in a task of its own
    }
    const moved = shown?.text === model.text && shown.place !== model.place && shown.stage === model.stage;
    if (shown !== null && (shown.place !== model.place || shown.stage !== model.stage)) pointed = null;
    shown = model;
    const { bits } = model.now;
    letters.forEach((letter, i) => {
      letter.style.setProperty("--map-level", i === 0 ? 0 : level(bits[i - 1], model.scale).toFixed(3));
    });
    const blindBits = Math.log2(model.vocab.length);
    blind.textContent = t("blind", { characters: model.vocab.length, bits: formatNumber(blindBits) });
    text.style.setProperty("--map-blind-bits", `"${formatNumber(blindBits)}"`);
    text.style.setProperty("--map-blind", (blindBits / model.scale).toFixed(3));
    text.style.setProperty("--map-ten", (10 / model.scale).toFixed(3));
    keys.disabled = model.count < 1;
    keys.max = Math.max(model.count, 1);
    keys.value = Math.max(model.place, 1);
    keys.setAttribute("aria-valuetext", model.count < 1 ? t("text_short") : t("letter_value", tell(model, model.place, t)));
    drawDetail();
    if (moved) bringIntoSight(letters[model.place]);
  };
  /** Let the letters that begin words stand out, or not. */
  const mark = (on) => node.classList.toggle("map-marked", on);
  return { node, draw, mark, clear: () => (pointed = null) };
}

/** The training: a slider over its stages, and a button that plays them. */
export function trainingPanel({ t, signal, onStage, onPlay }) {
  const play = buttonControl({ label: t("play"), class: "d2lrnn-button map-play", signal, onPress: onPlay });
  const marks = STAGES.map(() => element("span", { class: "map-mark" }));
  const range = rangeControl({
    label: element("span", {}, t("training")), min: 0, max: STAGES.length - 1, signal, onInput: (i) => onStage(STAGES[i]),
  });
  range.node.append(element("span", { class: "map-marks", "aria-hidden": "true" }, ...marks));
  const node = element("div", { class: "map-training" }, range.node, play);
  const draw = ({ stage, updates }, isPlaying) => {
    play.textContent = t(isPlaying ? "pause" : stage === STAGES.at(-1) ? "again" : "play");
    range.set(STAGES.indexOf(stage), t(stage === STAGES[0] ? "stage_untrained" : "stage", { updates: formatNumber(updates[stage], 0) }));
    STAGES.forEach((name, i) => {
      marks[i].textContent = formatNumber(updates[name], 0);
      marks[i].classList.toggle("map-chosen", name === stage);
    });
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
      heads[i].textContent = formatNumber(updates[name], 0);
      lines[i].classList.toggle("map-chosen", name === stage);
      const { rate, perplexity, bytes } = count < 1 ? {} : at(name);
      const texts = count < 1 ? ["–", "–", "–"] : [formatNumber(rate), formatNumber(perplexity), String(bytes)];
      cells[name].forEach((cell, j) => (cell.textContent = texts[j]));
    });
    raw.textContent = t("raw", { bytes: count, characters: vocab.length, blind: formatNumber(Math.log2(vocab.length)) });
  };
  return { node, draw };
}
