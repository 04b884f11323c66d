// What the table of contexts shows: a line with the letters that are looked at, what followed them, and six writings.
import { dragOn, emphasised, motion } from "../shape.mjs";
import { buttonControl, element, visibleCharacter } from "../ui.mjs";
import { COPIED, MAX_ORDER, MOST_BARS, NUM_WRITTEN, copiesWithin, formatShare } from "./maths.mjs";

const LETTERS_A_SECOND = 32;
const SHORTER = 3; // letters back that the first step tells of
const PROMPT_IN_SIGHT = 12;
const FEWEST_COLUMNS = 16; // of the line: a short text is not blown up

export const visible = (text) => Array.from(text, visibleCharacter).join("");
const quoted = (text) => `“${visible(text)}”`;
/** A whole number, however large, digit by digit. */
const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
/** A template with its values, as one text. */
export const filled = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const plain = (sentences) => sentences.map(({ template, values }) => filled(template, values)).join(" ");

function timesOf(total, t) {
  return total === 1 ? t("times_once") : t("times", { count: number(total) });
}

// ---- writing ----

/** What the longest context copied in this text, and on average where that is known: [template, values]. */
export function writtenSentence(writings, start, t) {
  const share = formatShare(writings.at(-1).copied);
  return start === COPIED.start ? [t.raw("now_average"), { ...copiedValues(), share }] : [t.raw("now"), { share }];
}

/** Values for the words about copies: how much some of the six copy on average. */
export function copiedValues() {
  const [, , three, , five, six] = COPIED.shares.map(formatShare);
  return { lines: COPIED.lines, start: COPIED.start.trim(), three, five, six };
}

/** Values for the words about the first step's letter: what it looked at last, and how often the letter followed this. */
export function shorterValues({ after, index }, { line, place }, t) {
  const context = line.slice(place - SHORTER, place);
  return { last: quoted(context), back: SHORTER, shorter: timesOf(after(context).counts[index.get(line[place])], t) };
}

/** Six rows, one for each n, that write letter by letter at once, and how much of each is copied. */
export function writingsPanel({ t, onWritten, signal }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  const rows = Array.from({ length: MAX_ORDER }, (_, i) => {
    const text = element("p", { class: "ctx-text", translate: "no" });
    const copied = element("b", { class: "ctx-copied-share" });
    const name = element("span", { class: "ctx-name" }, t("back", { before: i }));
    return { node: element("li", { class: "ctx-row" }, name, text, copied), text, copied };
  });
  const [key, rest] = t.raw("key").split("{underlined}");
  const node = element(
    "div", { class: "ctx-writings" },
    element("p", { class: "ctx-row ctx-heads" },
      element("span", { class: "ctx-key" }, key, element("u", { class: "ctx-copy" }, t("underlined")), rest), " ",
      element("span", { class: "ctx-copied-share" }, t("copied"))),
    element("ol", { class: "ctx-rows" }, ...rows.map((row) => row.node)),
  );
  let shown = null;
  let prompt = ""; // the end of the beginning
  let length = NUM_WRITTEN; // how much of it is in sight

  const show = () => {
    shown.forEach(({ text, copies }, i) => {
      const parts = [element("span", { class: "ctx-prompt" }, prompt)];
      let at = 0;
      const done = copiesWithin(copies, length);
      for (const copy of done) {
        parts.push(text.slice(at, copy.from));
        parts.push(element("u", { class: "ctx-copy" }, text.slice(copy.from, copy.from + copy.length)));
        at = copy.from + copy.length;
      }
      parts.push(text.slice(at, length));
      // What is still to come keeps its place, so that nothing below moves.
      if (length < text.length) parts.push(element("span", { class: "ctx-to-come", "aria-hidden": "true" }, text.slice(length)));
      rows[i].text.replaceChildren(...parts);
      const share = done.reduce((sum, copy) => sum + copy.length, 0) / NUM_WRITTEN;
      rows[i].copied.textContent = length < NUM_WRITTEN ? "" : formatShare(share); // that of half a text says nothing
    });
  };
  return {
    node,
    writing: () => length < NUM_WRITTEN,
    draw(writings, { start, animate }) {
      if (writings === shown) return;
      shown = writings;
      prompt = `${start.length > PROMPT_IN_SIGHT ? "…" : ""}${start.slice(-PROMPT_IN_SIGHT)}`;
      pen.stop();
      length = animate ? 0 : NUM_WRITTEN;
      if (!animate) show();
      else {
        pen.run((share) => {
          length = Math.round(share * NUM_WRITTEN);
          show();
          if (length === NUM_WRITTEN) onWritten();
        });
      }
    },
  };
}

// ---- reading ----

/** What is the case at a letter, in words: [{ template, values }]; the second sentence tells the letter's count. */
export function wordsOf(look, t) {
  if (look === null) return [{ template: t.raw("now_empty"), values: {} }];
  const { letter, context, total, hits, n, guesses } = look;
  const values = { guess: formatShare(guesses[n - 1]), context: quoted(context), letter: quoted(letter), times: timesOf(total, t) };
  if (total === 0) return [{ template: t.raw("met_never"), values }];
  const every = hits === total && total > 1;
  const second = { template: t.raw(hits === 0 ? "hits_never" : context === "" ? "hits_all" : "hits"), values: { ...values, hits: every ? t("each_time") : timesOf(hits, t) } };
  if (context === "") return [{ template: t.raw("met_all"), values: { count: number(total) } }, second];
  return [{ template: t.raw("met"), values }, second];
}

/** The same as one text; where a step asks, without the count of the letter. */
export function sentenceOf(look, t, asking = false) {
  return plain(wordsOf(look, t).slice(0, asking ? 1 : 2));
}

export function sentenceNodes(look, t) {
  const [first, ...rest] = wordsOf(look, t).map(({ template, values }) => emphasised(template, values));
  return [...first, ...rest.map((second) => element("span", { class: "ctx-told" }, " ", ...second))];
}

/**
 * The line: a box around the letters that are looked at, and the letter to guess. Drag the box's left edge, or the letter;
 * the line is a slider for the arrow keys, and the buttons below (`backPanel`) set the box's width.
 */
export function linePanel({ t, onPlace, onOrder, signal }) {
  const row = element("span", { class: "ctx-cells", "aria-hidden": "true" });
  const track = element("div", { class: "ctx-line", role: "slider", tabindex: 0, "aria-label": t("line"), "aria-valuemin": 0 }, row);
  let cells = [];
  let shown = { line: null, place: 0 };
  let look = null;
  let widening = false;
  const columns = () => Math.max(FEWEST_COLUMNS, cells.length);
  const go = (wanted) => {
    const next = Math.min(cells.length - 1, Math.max(0, wanted));
    if (cells.length > 0 && next !== shown.place) onPlace(next);
  };
  const widen = (wanted) => {
    const next = Math.min(MAX_ORDER, shown.place + 1, Math.max(1, wanted));
    if (next !== look.n) onOrder(next);
  };
  dragOn(track, {
    axis: "x", signal,
    start: ({ x }) => {
      const fromEdge = x * columns() - (shown.place - (look?.n ?? 1) + 1);
      widening = look !== null && fromEdge > -0.9 && fromEdge < Math.min(0.6, look.n - 1);
    },
    move: ({ x }) => (widening ? widen(shown.place - Math.round(x * columns()) + 1) : go(Math.floor(x * columns()))),
  });
  track.addEventListener("keydown", (event) => {
    const { place } = shown;
    const to = {
      ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1, Home: 0, End: cells.length - 1,
      PageDown: place - 5, PageUp: place + 5,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(to);
  }, { signal });

  return {
    node: element("div", { class: "ctx-reads" },
      element("p", { class: "ctx-key ctx-hint" }, element("span", { class: "ctx-drag" }, t("line_title")), " ", element("span", {}, t("line_space"))), track),
    draw(found, { line, place }) {
      look = found;
      if (line !== shown.line) {
        cells = Array.from(line, (character) => element("span", { class: "ctx-cell" }, visibleCharacter(character)));
        row.replaceChildren(...cells);
        row.style.setProperty("--columns", columns());
      }
      shown = { line, place };
      const edge = place - (look?.n ?? 1) + 1;
      cells.forEach((cell, i) => {
        cell.classList.toggle("ctx-here", i === place);
        cell.classList.toggle("ctx-seen", i >= edge && i < place);
        cell.classList.toggle("ctx-edge", i === edge);
      });
      track.setAttribute("aria-valuemax", Math.max(0, cells.length - 1));
      track.setAttribute("aria-valuenow", place);
      track.setAttribute("aria-valuetext", look === null ? t("now_empty") : t("line_value", { letter: quoted(look.letter), now: sentenceOf(look, t) }));
    },
  };
}

/** How many letters the box holds: a button for each. */
export function backPanel({ t, onOrder, signal }) {
  const buttons = Array.from({ length: MAX_ORDER }, (_, before) => buttonControl({
    label: String(before), "aria-label": t(before === 1 ? "look_back_by_1" : "look_back_by", { before }), signal, onPress: () => onOrder(before + 1),
  }));
  return {
    node: element("div", { class: "ctx-back" }, element("span", {}, t("look_back")), " ",
      element("div", { class: "d2lrnn-segments", role: "group", "aria-label": t("look_back") }, ...buttons), " ", element("span", {}, t("letters"))),
    draw(look, { place }) {
      buttons.forEach((button, before) => {
        button.disabled = before > place;
        button.setAttribute("aria-pressed", String(look?.n === before + 1));
      });
    },
  };
}

const bar = () => {
  const filling = element("span", { class: "ctx-bar" });
  return { node: element("span", { class: "ctx-track", "aria-hidden": "true" }, filling), set: (share) => filling.style.setProperty("width", `${(100 * share).toFixed(2)}%`) };
};

/** What followed the letters that are looked at: a bar for each of the most frequent letters. */
export function countsPanel({ t }) {
  const title = element("p", { class: "ctx-title" });
  const rows = Array.from({ length: MOST_BARS }, () => {
    const [letter, count, own] = [element("b", { class: "ctx-letter", translate: "no" }), element("span", { class: "ctx-count" }), bar()];
    return { node: element("li", { class: "ctx-follower" }, letter, " ", own.node, " ", count), letter, count, bar: own };
  });
  const list = element("ol", { class: "ctx-rows" }, ...rows.map(({ node }) => node));
  const others = element("p", { class: "ctx-key ctx-others" });
  const node = element("div", { class: "ctx-counts" }, title, list, others);
  return {
    node,
    draw(look) {
      if (look === null) return;
      const { letter, context, total, bars, rank, apart, others: { types, count } } = look;
      title.textContent = context === "" ? t("counts_all") : t("counts", { context: quoted(context) });
      rows.forEach((row, i) => {
        const each = bars[i];
        row.node.classList.toggle("ctx-none", each === undefined);
        row.node.classList.toggle("ctx-real", each?.letter === letter);
        row.letter.textContent = each === undefined ? "" : visibleCharacter(each.letter);
        const isApart = apart && each?.letter === letter;
        row.node.classList.toggle("ctx-apart", isApart);
        row.count.textContent = each === undefined ? "" : isApart && rank > 0 ? t("place", { count: number(each.count), place: rank }) : number(each.count);
        const share = each === undefined || total === 0 ? 0 : each.count / total;
        row.bar.set(share);
        row.node.style.setProperty("--share", share.toFixed(4)); // the count stands where the bar ends
      });
      node.classList.toggle("ctx-unseen", total === 0);
      others.textContent = total === 0 ? t("counts_never") : types === 0 ? "" : types === 1 ? t("others_one", { count: number(count) }) : t("others", { types, count: number(count) });
    },
  };
}

/**
 * The six models as one column of bars: how likely the letter is, looking back further and further, with the shorter
 * contexts mixed in. A mark says how often it came by the counts alone.
 */
export function modelsPanel({ t, onOrder, signal }) {
  const title = element("p", { class: "ctx-title" });
  const rule = element("p", { class: "ctx-key ctx-rule" });
  const key = element("span", { class: "ctx-key ctx-mark-key" }, element("i", { class: "ctx-mark", "aria-hidden": "true" }), t("by_counts"));
  const rows = Array.from({ length: MAX_ORDER }, (_, i) => {
    const [context, share, of, own] = [element("span", { class: "ctx-context", translate: "no" }), element("b"), element("span", { class: "ctx-of" }), bar()];
    const mark = element("i", { class: "ctx-mark" });
    own.node.append(mark);
    const told = element("span", { class: "ctx-told" }, of, share);
    const counted = element("span", { class: "ctx-counted d2lrnn-hidden" }); // what the mark shows, in words
    const name = element("span", { class: "ctx-name" }, t("back", { before: i }));
    const button = buttonControl({ label: [name, " ", context, " ", own.node, " ", counted, " ", told], class: "ctx-model", signal, onPress: () => onOrder(i + 1) });
    return { node: element("li", {}, button), button, context, share, of, counted, bar: own, mark };
  });
  return {
    node: element("div", { class: "ctx-models" }, element("div", { class: "ctx-models-head" }, title, element("p", { class: "ctx-key ctx-mixed" }, t("mixed")), key), element("ol", { class: "ctx-rows" }, ...rows.map(({ node }) => node)), rule),
    draw(look, { view }) {
      if (look === null) return;
      title.textContent = t(view === "read" ? "models" : "models_away", { letter: quoted(look.letter) });
      rule.textContent = t(look.n > 2 ? "n_gram_is" : `n_gram_is_${look.n}`, { n: look.n, before: look.n - 1 });
      rows.forEach(({ button, context, share, of, counted, bar: own, mark }, i) => {
        const row = look.rows[i];
        button.disabled = row === null;
        button.setAttribute("aria-pressed", String(look.n === i + 1));
        button.classList.toggle("ctx-unseen", row === null || row.total === 0);
        context.classList.toggle("ctx-no-context", row?.context === "");
        context.textContent = row === null ? "" : row.context === "" ? t("no_context") : visible(row.context);
        button.classList.toggle("ctx-short", row === null);
        share.textContent = row === null ? "" : formatShare(look.guesses[i]);
        of.textContent = row === null ? t("too_short") : "";
        counted.textContent = row === null ? "" : row.total === 0 ? t("never_seen") : t("counted", { hits: number(row.hits), total: number(row.total) });
        own.set(row === null ? 0 : look.guesses[i]);
        mark.hidden = row === null || row.total === 0;
        mark.style.setProperty("--at", mark.hidden ? "0" : (row.hits / row.total).toFixed(4));
      });
    },
  };
}

// ---- the test ----

/** How unsure a model is in new text, and which is least: [template, values]. */
export function testedSentence(levels, order, t) {
  const best = levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));
  const values = { best: best.order - 1, count: best.perplexity.toFixed(1) };
  if (order === best.order) return [t.raw("now_test"), values];
  return [t.raw("now_test_other"), { ...values, before: order - 1, own: levels[order - 1].perplexity.toFixed(1) }];
}

/** How unsure each model is on all the new text: a bar of so many letters for each, the shortest one named; and how many letters it never saw where they stand. A pressed row is told in words. */
export function testPanel({ t, levels, count, onOrder, signal }) {
  const [most, least] = [Math.max, Math.min].map((pick) => pick(...levels.map(({ perplexity }) => perplexity)));
  const rows = levels.map(({ order, perplexity, unseen }) => {
    const never = element("span", { class: "ctx-never" }, number(unseen));
    const units = element("span", { class: "ctx-units", "aria-hidden": "true" });
    units.style.setProperty("--letters", perplexity.toFixed(3));
    units.style.setProperty("--most", most.toFixed(3));
    const told = element("b", {}, perplexity.toFixed(1), perplexity === least ? ` ${t("test_best")}` : "");
    const name = perplexity === least ? "ctx-tested ctx-least" : "ctx-tested";
    const parts = [element("span", { class: "ctx-name" }, t("back", { before: order - 1 })), " ", element("span", { class: "ctx-scale" }, units, told), " ", never];
    if (order > MAX_ORDER) return element("div", { class: name }, ...parts);
    return buttonControl({ label: parts, class: name, signal, onPress: () => onOrder(order) });
  });
  const [first, longer] = [rows.slice(0, MAX_ORDER), rows.slice(MAX_ORDER)].map((some) => some.map((row) => element("li", {}, row)));
  const key = element("p", { class: "ctx-key ctx-seen-key" });
  const node = element("div", { class: "ctx-test" },
    element("p", { class: "ctx-test-heads" }, element("span", { class: "ctx-title" }, t("test_title")), " ", element("span", { class: "ctx-key" }, t("test_never")),
      element("span", { class: "ctx-key" }, t("test_means"))),
    element("ol", { class: "ctx-rows" }, ...first, element("li", { class: "ctx-key ctx-longer" }, t("longer")), ...longer), key);
  const draw = ({ order }) => {
    rows.slice(0, MAX_ORDER).forEach((row, i) => row.setAttribute("aria-pressed", String(i + 1 === order)));
    const values = { count: number(count), unseen: number(levels[order - 1].unseen), before: order - 1 };
    key.textContent = t(order > 2 ? "test_key" : `test_key_${order}`, values);
  };
  return { node, draw };
}
