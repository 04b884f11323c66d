// What the table of contexts shows: six writings, or a line of new text and what each of the six knows of it.
import { dragOn, emphasised, motion } from "../shape.mjs";
import { element, visibleCharacter } from "../ui.mjs";
import { COPIED, MAX_ORDER, NUM_WRITTEN, copiesWithin, formatShare } from "./maths.mjs";

const LETTERS_A_SECOND = 32;
const PROMPT_IN_SIGHT = 12;

const visible = (text) => Array.from(text, visibleCharacter).join("");
const quoted = (text) => `“${visible(text)}”`;
/** A letter within a sentence. */
const named = (letter, t) => (letter === " " ? t("blocks_space") : quoted(letter));
/** A whole number, however large, digit by digit. */
const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
/** A template with its values, as one text. */
export const filled = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export function timesOf(total, t) {
  return total === 1 ? t("times_once") : t("times", { count: count(total) });
}

const bestOf = (levels) => levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));

/** Who copied most in these writings, and who predicts new text best: [template, values]. */
export function writtenSentence(writings, levels, t) {
  const most = Math.max(...writings.map(({ copied }) => copied));
  const best = t("the_n_gram", { n: bestOf(levels).order });
  if (most === 0) return [t.raw("now_none"), { best }];
  const copiers = writings.filter(({ copied }) => copied === most).map(({ n }) => t("the_n_gram", { n })).join(t("and"));
  return [t.raw("now"), { copiers, share: formatShare(most), best }];
}

/** What the longest copies on average: values for the words of the fold. */
export function aboutCopies() {
  return { lines: COPIED.lines, start: COPIED.start, share: formatShare(COPIED.shares.at(-1)) };
}

/** Six rows, one for each n, that write letter by letter at once: how much of it is copied, and how unsure each is in new text. */
export function writingsPanel({ t, levels, onWritten, signal }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  const best = bestOf(levels);
  const rows = levels.map((level) => {
    const text = element("p", { class: "ctx-text", translate: "no" });
    const copied = element("b", { class: "ctx-copied-share" });
    const score = element("span", { class: level === best ? "ctx-score ctx-best" : "ctx-score" },
      element("b", {}, t("letters", { number: level.perplexity.toFixed(1) })), ...(level === best ? [" ", element("span", { class: "d2lrnn-hidden" }, t("best"))] : []));
    score.style.setProperty("--share", (level.perplexity / levels[0].perplexity).toFixed(4));
    const name = element("span", { class: "ctx-name" }, t("n_gram", { n: level.order }));
    return { node: element("li", { class: "ctx-row" }, name, text, copied, score), text, copied };
  });
  const [key, rest] = t.raw("key").split("{underlined}");
  const node = element(
    "div", { class: "ctx-writings" },
    element("p", { class: "ctx-key" }, key, element("u", { class: "ctx-copy" }, t("underlined")), rest),
    element("p", { class: "ctx-row ctx-heads" }, element("span", { class: "ctx-copied-share" }, t("copied")), " ", element("span", { class: "ctx-score" }, t("score"))),
    element("ol", { class: "ctx-rows" }, ...rows.map((row) => row.node).reverse()), // the longest stands first, as in the other view
  );
  let shown = null;
  let prompt = ""; // the end of the beginning, spaces in sight
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
      const share = done.reduce((sum, copy) => sum + copy.length, 0) / Math.max(1, length);
      rows[i].copied.textContent = formatShare(share);
      rows[i].copied.style.setProperty("--share", share.toFixed(4));
    });
  };
  return {
    node,
    writing: () => length < NUM_WRITTEN,
    draw(writings, { start, animate }) {
      if (writings === shown) return;
      shown = writings;
      prompt = `${start.length > PROMPT_IN_SIGHT ? "…" : ""}${visible(start.slice(-PROMPT_IN_SIGHT))}`;
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

/** What is the case at one letter of the line, in words: [{ template, values }]. */
export function wordsOf({ past, letter, answering, p, expected }, t) {
  const { context, total } = answering;
  const values = { times: timesOf(total, t), context: quoted(context), lost: quoted(past) };
  const first = context.length === past.length ? t.raw("met") : context === "" ? t.raw("fell_far") : t.raw("fell");
  const second = expected.letter === letter ? t.raw("expects_right") : t.raw("expects_wrong");
  return [{ template: first, values },
    { template: second, values: { letter: named(letter, t), p: formatShare(p), guess: named(expected.letter, t), q: formatShare(expected.p) } }];
}

/** The same as one text; where a step asks, without what the 6-gram says. */
export function sentenceOf(step, t, asking = false) {
  return wordsOf(step, t).slice(0, asking ? 1 : 2).map(({ template, values }) => filled(template, values)).join(" ");
}

export function sentenceNodes(step, t) {
  const [first, second] = wordsOf(step, t).map(({ template, values }) => emphasised(template, values));
  return [...first, element("span", { class: "ctx-told" }, " ", ...second)];
}

/**
 * A line of new text. Each letter that was read stands under as many blocks as letters in a row, just before, stand so in the
 * story; below, what each n expects at the place of the reader, and the chance that it gave the letter that came.
 * The line is a slider: drag along it, or use the arrow keys. On a phone it has two rows (style.css).
 */
export function linePanel({ t, line, min, max, onPlace, signal }) {
  const cells = Array.from(line, (character, i) => {
    const stack = element("i", { class: "ctx-stack" });
    const letter = element("span", { class: `ctx-letter${character === " " ? " ctx-space" : ""}` }, visibleCharacter(character));
    return { node: element("span", { class: `ctx-cell${i < min ? " ctx-given" : ""}` }, stack, letter), stack, letter };
  });
  const track = element("div", {
    class: "ctx-line", role: "slider", tabindex: 0, "aria-label": t("line", { line: line.trim() }), "aria-valuemin": min, "aria-valuemax": max,
  }, element("span", { class: "ctx-cells", "aria-hidden": "true" }, ...cells.map(({ node }) => node)));
  const rows = Array.from({ length: MAX_ORDER }, (_, i) => {
    const [context, seen] = ["context", "seen"].map((name) => element("span", { class: `ctx-${name}` }));
    const guess = element("span", { class: "ctx-guess" });
    const [told, bar] = [element("span", { class: "ctx-chance" }), element("span", { class: "ctx-bar" })];
    const came = { node: element("span", { class: "ctx-came" }, told, element("span", { class: "ctx-track", "aria-hidden": "true" }, bar)), told, bar };
    const name = element("span", { class: "ctx-name" }, t("n_gram", { n: MAX_ORDER - i }));
    return { node: element("li", { class: "ctx-knows" }, name, " ", context, " ", seen, " ", guess, " ", came.node), context, seen, guess, came };
  });
  const [came, rest] = t.raw("came").split("{letter}");
  const letterThatCame = element("b", { translate: "no" });
  const space = element("span", { class: "ctx-kind" }, element("span", { translate: "no" }, visibleCharacter(" ")), " ", t("blocks_space"));
  const block = (kind) => element("span", { class: "ctx-kind" }, element("i", { class: `ctx-block ctx-${kind}`, "aria-hidden": "true" }), " ", t(`blocks_${kind}`));
  let place = min;
  const go = (wanted) => {
    const next = Math.min(max, Math.max(min, wanted));
    if (next !== place) onPlace(next);
  };
  const at = ({ x, y }) => {
    const columns = Math.round(track.getBoundingClientRect().width / cells[0].node.getBoundingClientRect().width) || line.length;
    const below = Math.min(Math.floor(y * line.length / columns), line.length / columns - 1);
    return Math.min(columns - 1, Math.floor(x * columns)) + columns * below;
  };
  dragOn(track, { axis: "x", move: (where) => go(at(where)), signal });
  track.addEventListener("keydown", (event) => {
    const to = {
      ArrowLeft: place - 1, ArrowDown: place - 1, ArrowRight: place + 1, ArrowUp: place + 1, Home: min, End: max,
      PageDown: place - 5, PageUp: place + 5,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(to);
  }, { signal });

  let steps = null;
  const show = () => {
    const step = steps[place - min];
    const lost = MAX_ORDER - step.order;
    cells.forEach(({ node, stack, letter }, i) => {
      const order = i >= min ? steps[i - min].order : 1; // the first five letters are the beginning: nobody guesses them
      const before = place - i; // 1 is the letter just before
      const inContext = before >= 1 && before < MAX_ORDER;
      node.classList.toggle("ctx-here", i === place);
      stack.style.setProperty("--n", order - 1);
      stack.classList.toggle("ctx-fewer", i >= min && order < MAX_ORDER);
      stack.classList.toggle("ctx-ahead", i > place);
      letter.classList.toggle("ctx-known", inContext && before < MAX_ORDER - lost);
      letter.classList.toggle("ctx-lost", inContext && before >= MAX_ORDER - lost);
    });
    letterThatCame.textContent = visible(step.letter);
    rows.forEach(({ node, context, seen, guess, came: real }, i) => {
      const each = step.rows[MAX_ORDER - 1 - i]; // the longest stands first
      node.classList.toggle("ctx-answers", each.n === step.order);
      node.classList.toggle("ctx-unseen", each.total === 0);
      context.textContent = each.context === "" ? t("no_context") : visible(each.context);
      seen.textContent = each.total === 0 ? t("never") : each.context === "" ? "" : count(each.total);
      guess.classList.toggle("ctx-right", each.total > 0 && each.expected.letter === step.letter);
      guess.replaceChildren(...(each.total === 0
        ? [t("as", { n: t("n_gram", { n: each.n - 1 }) })]
        : [element("b", { translate: "no" }, visible(each.expected.letter)), ` ${formatShare(each.expected.p)}`]));
      real.told.textContent = each.total === 0 ? "" : formatShare(each.p);
      real.bar.style.setProperty("width", `${each.total === 0 ? 0 : (100 * each.p).toFixed(2)}%`);
    });
    track.setAttribute("aria-valuenow", place);
    track.setAttribute("aria-valuetext", t("line_value", { letter: visible(step.letter), now: sentenceOf(step, t) }));
  };
  return {
    node: element(
      "div", { class: "ctx-walk" }, element("p", { class: "ctx-key" }, t("line_title")),
      element("p", { class: "ctx-key ctx-kinds" }, ...["all", "fewer"].flatMap((kind) => [block(kind), " "]), space), track,
      element("p", { class: "ctx-knows ctx-heads" }, element("span", { class: "ctx-context" }, t("looks_at")), " ", element("span", { class: "ctx-seen" }, t("seen")), " ",
        element("span", { class: "ctx-guess" }, t("expects")), " ", element("span", { class: "ctx-came" }, came, letterThatCame, rest)),
      element("ol", { class: "ctx-rows" }, ...rows.map(({ node }) => node)),
    ),
    draw(allSteps, wanted) {
      if (allSteps === steps && wanted === place) return;
      steps = allSteps;
      place = wanted;
      show();
    },
  };
}
