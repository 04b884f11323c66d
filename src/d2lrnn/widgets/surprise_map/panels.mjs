// What the figure draws: the text as a map of surprisals, one letter in words, the training as a slider that plays.
import { buttonControl, element, formatNumber, rangeControl, visibleCharacter } from "../ui.mjs";
import { emphasised } from "../shape.mjs";
import { isPlain, normalise } from "../weights.mjs";
import { bitsByPlace, BRIEF, choices, DEFAULT_TEXT, finding, grade, GRADES, guesses, HIGH, isOver, isVaried, LINE, markOf, MAX_TEXT, NAME, oneIn, percent, pieces, readable, STAGES, THOUSAND } from "./maths.mjs";

/** A template in which some values are filled in, and others still stand in braces, to be made bold. */
const half = (template, values) => template.replace(/\{(\w+)\}/g, (found, name) => (Object.hasOwn(values, name) ? values[name] : found));

/** The sentence on top: { key, when, values }; `values` are words of their own, which stand out. */
export function sentenceOf(model, t) {
  if (model.count < 1) return { key: "now_short", when: "", values: {} };
  const name = finding(model);
  const bold = { untrained: "every", words: "begin" }[name] ?? name;
  const when = model.stage === STAGES[0] ? "" : t(`when_${model.stage}`);
  return { key: `now_${name}`, when, values: { [bold]: t(bold) } };
}

/** Why it is so, where that is known. */
function becauseOf(model, t) {
  const name = finding(model);
  return name === "untrained" || (name === "words" && isVaried(model.text)) || (name === "spaces" && model.stage === STAGES[1]) ? t(`because_${name}`) : "";
}

/** The result in words, as the live region says it. */
export function spoken(model, t) {
  const { values, key, ...others } = sentenceOf(model, t);
  return t(key, { ...others, ...values });
}

export const sentenceNodes = (model, t) => {
  const { values, key, ...others } = sentenceOf(model, t);
  return emphasised(half(t.raw(key), others), values);
};

function letterSpan(character) {
  return element("span", { class: "map-letter" }, character === " " ? "\u00a0" : visibleCharacter(character));
}

/** How many choices a blind guess has, or why there are more. */
export const blindOf = ({ now, vocab }, t) => t(isOver(now, vocab.length) ? "signs_over" : "signs", { count: vocab.length });

const probability = (p, t) => (oneIn(p) === null ? percent(p) : t("one_in", { count: oneIn(p) }));

/** The 12 characters before, from the beginning of a word if one begins there; a space at either end is seen as ␣; “…” where more came before. */
function contextOf(text, place) {
  const past = text.slice(Math.max(0, place - 12), place);
  const whole = place <= 12 ? past : past.replace(text[place - 13] === " " ? /^ +/ : /^[^ ]* +(?=.*[^ ])/, "");
  return `${place > 12 ? "…" : ""}${whole.replace(/^ | $/g, "␣")}`;
}

/** One letter in words, and what was expected in its place. */
export function tell({ text, now, vocab, blind }, place, t) {
  const character = t("by_letter", { character: visibleCharacter(text[place]) });
  const isSpace = text[place] === " ";
  const sign = vocab.indexOf(text[place]);
  const probs = now.probs[place - 1];
  const shown = guesses(probs, sign);
  const judged = grade(now.bits[place - 1], blind);
  return {
    context: contextOf(text, place), character, plain: isSpace ? t("by_space") : text[place], letter: isSpace ? t("space") : character, chance: probability(probs[sign], t),
    note: judged !== "" ? t("note", { grade: t(`grade_${judged}`, { blind: percent(1 / vocab.length) }) }) : shown[0] === sign ? t("note_first") : "",
    guesses: shown.map((index) => ({ character: visibleCharacter(vocab[index]), chance: probs[index], comes: index === sign })),
  };
}

const LIMIT = oneIn(1 / 1000 / Math.floor(2 ** HIGH / 1000)); // 1 in so many is at least the chance of the highest bar that is drawn
const FADE = 58; // pixels over which a text that goes on fades

/**
 * The text: tap or point at a letter; the arrow keys go from letter to letter on an unseen slider that lies over it.
 */
export function mapPanel({ t, signal, onPlace }) {
  const text = element("div", { class: "map-letters", "aria-hidden": "true" });
  const keys = element("input", { type: "range", class: "map-keys", min: 1, step: 1, "aria-label": t("letter") });
  const scale = [27, 1000].map((count) => element("span", { class: "map-tick", style: `--map-at: ${Math.log2(count).toFixed(3)}` }, t(count === 27 ? "blind_line" : "one_in", { count: oneIn(1 / count) ?? count })));
  const means = ["first", "later", "space"].map((name) => element("span", { class: "map-mean" }, element("span", { class: "map-number" }), t(`mean_${name}`)));
  const averages = element("span", { class: "map-means" }, element("span", { class: "map-means-name" }, t("means")), ...means);
  const node = element("div", { class: "map-figure", role: "group", "aria-label": t("map") },
    element("div", { class: "map-page" }, text, keys, element("span", { class: "map-key", "aria-hidden": "true" }, ...["blind", "before", "clipped"].map((name) => element("span", { class: `map-${name}` }, t(name, { count: 27, limit: LIMIT })))), element("span", { class: "map-scroll", "aria-hidden": "true" }, t("scroll"))));
  const detail = element("div", { class: "map-detail" });
  const because = element("p", { class: "map-because" });
  // A long text scrolls: it says so until its end is in sight, and the letter that is looked at comes into sight.
  let letters = [];
  const showScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = text;
    text.classList.toggle("map-past", scrollTop > 8);
    text.parentElement.classList.toggle("map-goes-on", scrollTop + clientHeight < scrollHeight - 8);
  };
  text.addEventListener("scroll", showScroll, { signal, passive: true });
  const sized = new ResizeObserver(showScroll);
  sized.observe(text);
  signal.addEventListener("abort", () => sized.disconnect(), { once: true });
  const bringIntoSight = () => {
    const letter = letters[shown.place];
    if (letter === undefined || text.scrollHeight <= text.clientHeight) return;
    const last = shown.place === shown.count ? text.lastElementChild : letter; // the averages follow the last letter
    const page = text.getBoundingClientRect();
    const above = letter.getBoundingClientRect().top - page.top;
    const below = last.getBoundingClientRect().bottom + FADE - page.bottom;
    if (above < 0 || below > 0) text.scrollTop += above < 0 ? above : below;
  };
  let shown = null;
  let pointed = null; // the letter under the mouse

  const under = ({ clientX, clientY }) => {
    const place = letters.indexOf(text.getRootNode().elementFromPoint(clientX, clientY));
    return place < 0 ? null : place;
  };
  const point = (place) => {
    if (place === pointed) return;
    pointed = place;
    drawDetail();
  };
  text.addEventListener("pointermove", (event) => { // a finger slides over the letters
    const place = under(event);
    if (event.pointerType === "mouse") point(place);
    else if (place > 0 && place !== shown.place) onPlace(place);
  }, { signal });
  text.addEventListener("pointerleave", () => point(null), { signal });
  text.addEventListener("click", (event) => {
    const place = under(event);
    if (place > 0) onPlace(place);
    point(place);
    keys.focus({ preventScroll: true }); // the arrow keys go on from here
  }, { signal });
  keys.addEventListener("input", () => onPlace(Number(keys.value)), { signal });

  const valueOf = ({ plain, chance, note }) => t("letter_value", { character: plain, chance, note });
  const drawDetail = () => {
    if (shown.count < 1) {
      detail.replaceChildren(element("p", {}, t("text_short")));
      return;
    }
    const place = pointed !== null && pointed <= shown.count ? pointed : shown.place;
    letters.forEach((letter, i) => letter.classList.toggle("map-here", i === place));
    if (place === 0) {
      detail.replaceChildren(element("p", {}, t("detail_given", { character: visibleCharacter(shown.text[0]) })));
      return;
    }
    const { guesses: rows, note, context, character: here } = tell(shown, place, t);
    detail.style.setProperty("--map-bits", shown.now.bits[place - 1].toFixed(3));
    detail.replaceChildren(
      element("p", {}, t("detail", { context, character: here })),
      element("ul", { class: "map-guesses" }, ...rows.map(({ character, chance, comes }) =>
        element("li", { class: comes ? "map-guess map-comes" : "map-guess" },
          element("b", {}, element("span", character === visibleCharacter(" ") ? { class: "map-raised" } : {}, character)), " ", element("span", { class: "map-chance", style: `--map-chance: ${chance.toFixed(4)}` }), " ",
          element("span", {}, probability(chance, t), ...(comes ? [element("span", { class: "map-note" }, note)] : []))))));
  };
  /** The averages, each with its number; their title stands over all that is marked at any stage. */
  const drawMeans = ({ text: characters, now, marks }) => {
    Object.values(bitsByPlace(characters, now.bits)).forEach(({ mean }, i) => {
      const { at, chance, lines } = markOf(mean || 0);
      means[i].style.setProperty("--map-bits", at.toFixed(3));
      means[i].classList.toggle("map-under", lines === 0);
      const told = chance === null ? t("clipped", { limit: LIMIT }) : t("mean", { count: chance });
      means[i].firstChild.textContent = lines === 1 ? told : told.replace(/ (?=[^ ]*$)/, "\n");
    });
    const tops = [0, 1, 2].map((lines) => `calc(${Math.max(0, ...marks.filter((mark) => mark.lines === lines).map(({ at }) => at)).toFixed(3)} * var(--map-bit) + ${["0px", "var(--map-one)", "var(--map-two)"][lines]})`);
    text.style.setProperty("--map-title", `max(${tops.join(", ")})`);
  };
  const draw = (model) => {
    if (shown?.text !== model.text) {
      letters = Array.from(model.text, letterSpan);
      letters[0]?.classList.add("map-given");
      letters.forEach((letter, i) => {
        letter.classList.toggle("map-first", i > 0 && model.text[i - 1] === " " && model.text[i] !== " ");
      });
      text.style.minHeight = model.count < 1 ? `${text.clientHeight}px` : ""; // an empty text leaves its room
      let from = 0;
      const { first, later } = bitsByPlace(model.text, model.now.bits);
      const shownMeans = Math.min(first.count, later.count) < 3 ? [] : [averages];
      text.replaceChildren(...scale, ...pieces(model.text).map((piece) =>
        element("span", { class: "map-word" }, ...letters.slice(from, (from += piece.length)))), ...shownMeans);
      pointed = null;
      for (const [name, most] of [["name", NAME], ["line", LINE], ["brief", BRIEF]]) text.classList.toggle(`map-${name}`, letters.length <= most);
      text.style.setProperty("--map-count", Math.max(letters.length, 1));
    }
    requestAnimationFrame(() => { // the page lays a long text out in a task of its own
      bringIntoSight();
      showScroll();
    });
    if (shown !== null && (shown.place !== model.place || shown.stage !== model.stage)) pointed = null;
    shown = model;
    const { bits } = model.now;
    text.style.setProperty("--map-scale", model.scale);
    text.style.setProperty("--map-most", HIGH);
    text.style.setProperty("--map-blind", model.blind.toFixed(3));
    scale.forEach((label, i) => {
      label.style.setProperty("--map-from", model.labels[i]);
      label.hidden = model.labels[i] < 0; // it would lie on bars
    });
    text.classList.toggle("map-tall", model.scale > THOUSAND);
    const isOnLine = model.labels[0] >= 0;
    text.classList.toggle("map-keyed", !isOnLine || model.clips);
    text.parentElement.classList.toggle("map-lined", !isOnLine && model.count > 0);
    text.parentElement.classList.toggle("map-full", model.clips);
    text.parentElement.classList.toggle("map-clips", bits.some((cost) => cost > HIGH));
    because.hidden = letters.length <= NAME || text.classList.contains("map-keyed"); // keys stand in its place
    because.replaceChildren(...(because.hidden ? [] : [`${becauseOf(model, t)} `, ...(model.compares ? [element("span", { class: "map-before" }, t("before"))] : [])]));
    text.classList.toggle("map-firsts", model.count > 0 && finding(model) === "words"); // the headline speaks of them
    text.parentElement.classList.toggle("map-compares", model.compares);
    letters.forEach((letter, i) => {
      if (i === 0) return;
      letter.classList.toggle("map-cut", bits[i - 1] > HIGH);
      letter.style.setProperty("--map-bits", bits[i - 1].toFixed(3));
      if (model.compares) letter.style.setProperty("--map-was", model.before.bits[i - 1].toFixed(3));
    });
    drawMeans(model);
    keys.disabled = model.count < 1;
    keys.max = Math.max(model.count, 1);
    keys.value = Math.max(model.place, 1);
    keys.setAttribute("aria-valuetext", model.count < 1 ? t("text_short") : valueOf(tell(model, model.place, t)));
    drawDetail();
  };
  return { node, because, detail, draw, clear: () => (pointed = null) };
}

/** The training: a button that plays it, a slider over its stages, and what a letter costs there on average. */
export function trainingPanel({ t, signal, onStage, onPlay }) {
  const play = buttonControl({ label: t("play"), class: "d2lrnn-button map-play", signal, onPress: onPlay });
  const marks = STAGES.map((name) => element("span", { class: "map-mark" }, t(`mark_${name}`)));
  const range = rangeControl({
    label: element("span", { class: "d2lrnn-hidden" }, t("training")), min: 0, max: STAGES.length - 1, signal, onInput: (i) => onStage(STAGES[Math.round(i)]),
  });
  range.node.append(element("span", { class: "map-marks", "aria-hidden": "true" }, ...marks));
  const average = element("p", { class: "map-average" });
  const node = element("div", { class: "map-training" }, play, range.node, average);
  const likeness = (model) => {
    const [before, after] = [model.before, model.now].map(({ perplexity }) => choices(perplexity));
    return emphasised(half(t.raw(isOver(model.now, model.vocab.length) ? "choices_over" : "choices"), { blind: blindOf(model, t) }), { count: model.compares ? t("choices_change", { before, after }) : after });
  };
  const choose = (at) => marks.forEach((mark, i) => mark.classList.toggle("map-chosen", i === at));
  const draw = (model, isPlaying) => {
    const { count, stage, updates } = model;
    play.textContent = t(isPlaying ? "pause" : "play");
    average.replaceChildren(...(count < 1 ? [] : likeness(model)));
    range.input.step = 1;
    range.set(STAGES.indexOf(stage), t(stage === STAGES[0] ? "stage_untrained" : "stage", { updates: formatNumber(updates[stage], 0) }));
    choose(STAGES.indexOf(stage));
  };
  /** The knob between two stages, while it plays. */
  const slide = (at) => {
    choose(Math.round(at));
    range.input.step = "any";
    range.set(at, range.input.getAttribute("aria-valuetext"));
  };
  return { node, draw, slide };
}

/** The reader's own text. */
export function textBox({ t, signal, onText }) {
  const input = element("textarea", {
    class: "d2lrnn-text map-text", rows: 1, placeholder: t("text"), "aria-label": t("text"), autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "done",
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
  input.addEventListener("beforeinput", (event) => { // Enter closes a phone's keyboard
    if (event.inputType !== "insertLineBreak") return;
    event.preventDefault();
    input.blur();
  }, { signal });
  input.addEventListener("compositionend", read, { signal });
  const node = element("div", { class: "map-own" }, input, hint, lost);
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
  const raw = ["raw", "raw_bytes", "raw_words", "raw_text"].map((name) => [name, element("p", { class: "map-hint" })]);
  const table = element("table", { class: "map-table" },
    element("thead", {}, element("tr", {}, ...["stage", "rate", "perplexity", "bytes"].map((name) =>
      element("th", { scope: "col" }, t(`column_${name}`))))),
    element("tbody", {}, ...lines));
  const node = element("div", { class: "map-costs" }, table, ...raw.map(([, line]) => line));
  const draw = ({ count, stage, updates, at, vocab }) => {
    STAGES.forEach((name, i) => {
      heads[i].textContent = t("row_stage", { stage: t(`mark_${name}`), updates: formatNumber(updates[name], 0) });
      lines[i].classList.toggle("map-chosen", name === stage);
      const { rate, perplexity, bytes } = count < 1 ? {} : at(name);
      const texts = count < 1 ? ["–", "–", "–"] : [formatNumber(rate), formatNumber(perplexity), String(bytes)];
      cells[name].forEach((cell, j) => (cell.textContent = texts[j]));
    });
    for (const [name, line] of raw) line.textContent = t(name, { bytes: count, characters: vocab.length, blind: formatNumber(Math.log2(vocab.length)), ...GRADES });
  };
  return { node, draw };
}
