// What the table of contexts shows: six writings, or a line of new text and what each of the six knows of it.
import { dragOn, emphasised, motion } from "../shape.mjs";
import { element, formatNumber, visibleCharacter } from "../ui.mjs";
import { MAX_ORDER, NUM_WRITTEN, copiesWithin, formatShare, mostCopied } from "./maths.mjs";

const LETTERS_A_SECOND = 32;

const visible = (text) => Array.from(text, visibleCharacter).join("");
const quoted = (text) => `“${visible(text)}”`;
/** A whole number, however large, digit by digit. */
const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
/** A template with its values, as one text. */
export const filled = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export function timesOf(total, t) {
  return total === 1 ? t("times_once") : t("times", { count: count(total) });
}

const bestOf = (levels) => levels.reduce((a, b) => (b.perplexity < a.perplexity ? b : a));

/** Who copies most, and who predicts new text best: [template, values]. */
export function writtenSentence(all, levels, t) {
  const name = (n) => t("n_gram", { n });
  const best = bestOf(levels).order;
  const most = mostCopied(all);
  if (most === null) return [t.raw("now_none"), { best: name(best) }];
  const key = most.tie ? "now_tie" : most.n === best ? "now_same" : "now";
  return [t.raw(key), { n: name(most.n), share: formatShare(most.copied), best: name(best) }];
}

/** Six rows, one for each n, that write letter by letter at once: how much each copies, and how unsure it is in new text. */
export function writingsPanel({ t, levels, onWritten, signal }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  const best = bestOf(levels);
  const rows = levels.map((level) => {
    const text = element("p", { class: "ctx-text", translate: "no" });
    const copied = element("b", { class: "ctx-copied-share" });
    const score = element("span", { class: level === best ? "ctx-score ctx-best" : "ctx-score" },
      element("b", {}, formatNumber(level.perplexity)), ...(level === best ? [" ", element("span", { class: "d2lrnn-hidden" }, t("best"))] : []));
    score.style.setProperty("--share", (level.perplexity / levels[0].perplexity).toFixed(4));
    const name = element("span", { class: "ctx-name" }, t("n_gram", { n: level.order }));
    return { node: element("li", { class: "ctx-row" }, name, text, copied, score), text, copied };
  });
  const [key, rest] = t.raw("key").split("{underlined}");
  const node = element(
    "div", { class: "ctx-writings" },
    element("p", { class: "ctx-key" }, key, element("u", { class: "ctx-copy" }, t("underlined")), rest),
    element("p", { class: "ctx-row ctx-heads" }, element("span", { class: "ctx-copied-share" }, t("copied")), " ", element("span", { class: "ctx-score" }, t("score"))),
    element("ol", { class: "ctx-rows" }, ...rows.map((row) => row.node)),
  );
  let shown = null;
  let length = NUM_WRITTEN; // how much of it is in sight

  const show = () => {
    shown.forEach(({ text, copies, copied }, i) => {
      const parts = [];
      let at = 0;
      for (const copy of copiesWithin(copies, length)) {
        parts.push(text.slice(at, copy.from));
        parts.push(element("u", { class: "ctx-copy" }, text.slice(copy.from, copy.from + copy.length)));
        at = copy.from + copy.length;
      }
      parts.push(text.slice(at, length));
      // What is still to come keeps its place, so that nothing below moves.
      if (length < text.length) parts.push(element("span", { class: "ctx-to-come", "aria-hidden": "true" }, text.slice(length)));
      rows[i].text.replaceChildren(...parts);
      rows[i].copied.textContent = length < text.length ? "…" : formatShare(copied);
      rows[i].copied.style.setProperty("--share", length < text.length ? "0" : copied.toFixed(4));
    });
  };
  return {
    node,
    writing: () => length < NUM_WRITTEN,
    draw(writings, { animate }) {
      if (writings === shown) return;
      shown = writings;
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
export function wordsOf({ past, letter, answering, order, p, followed }, t) {
  const { context, total } = answering;
  const values = {
    n: t("n_gram", { n: order }), times: timesOf(total, t), context: context === "" ? t("no_context") : quoted(context), lost: quoted(past),
  };
  const first = context.length === past.length ? t.raw("met") : context === "" ? t.raw("fell_far") : t.raw("fell");
  return [{ template: first, values }, { template: followed ? t.raw("gives") : t.raw("gives_new"), values: { letter: quoted(letter), p: formatShare(p) } }];
}

/** The same as one text. */
export function sentenceOf(step, t) {
  return wordsOf(step, t).map(({ template, values }) => filled(template, values)).join(" ");
}

export function sentenceNodes(step, t) {
  return wordsOf(step, t).flatMap(({ template, values }, i) => [i ? " " : "", ...emphasised(template, values)]);
}

/**
 * A line of new text. Each letter read stands under a column as high as the longest n that has seen what comes before; below,
 * what each n knows at the place of the reader. The line is a slider: drag along it, or use the arrow keys.
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
    const [context, seen, bar, share] = ["context", "seen", "bar", "share"].map((name) => element("span", { class: `ctx-${name}` }));
    const row = element("li", { class: "ctx-knows" }, element("span", { class: "ctx-name" }, t("n_gram", { n: i + 1 })), context, seen,
      element("span", { class: "ctx-track", "aria-hidden": "true" }, bar), share);
    return { node: row, context, seen, bar, share };
  });
  const empty = element("p", { class: "ctx-key" });
  let place = min;
  const go = (wanted) => {
    const next = Math.min(max, Math.max(min, wanted));
    if (next !== place) onPlace(next);
  };
  dragOn(track, { axis: "x", move: ({ x }) => go(Math.floor(x * line.length)), signal });
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
      const order = i >= min && i <= place ? steps[i - min].order : 0;
      const before = place - i; // 1 is the letter just before
      const inContext = before >= 1 && before < MAX_ORDER;
      node.classList.toggle("ctx-here", i === place);
      stack.style.setProperty("--n", order);
      stack.classList.toggle("ctx-fallen", order > 0 && order < MAX_ORDER);
      letter.classList.toggle("ctx-known", inContext && before < MAX_ORDER - lost);
      letter.classList.toggle("ctx-lost", inContext && before >= MAX_ORDER - lost);
    });
    rows.forEach(({ node, context, seen, bar, share }, i) => {
      const each = step.chain.at(-1 - i); // the chain begins with the longest context
      node.classList.toggle("ctx-answers", each === step.answering);
      node.classList.toggle("ctx-unseen", each.total === 0);
      context.textContent = each.context === "" ? t("no_context") : visible(each.context);
      seen.textContent = each.total === 0 ? t("never") : timesOf(each.total, t);
      bar.style.setProperty("width", `${(100 * each.weight).toFixed(2)}%`);
      share.textContent = formatShare(each.weight);
    });
    empty.textContent = t("line_empty", { empty: steps.filter(({ order }) => order < MAX_ORDER).length, count: steps.length });
    track.setAttribute("aria-valuenow", place);
    track.setAttribute("aria-valuetext", t("line_value", { letter: visible(step.letter), now: sentenceOf(step, t) }));
  };
  return {
    node: element(
      "div", { class: "ctx-walk" }, element("p", { class: "ctx-key" }, t("line_title")), track, empty,
      element("p", { class: "ctx-knows ctx-heads" }, element("span", { class: "ctx-context" }, t("looks_at")), " ", element("span", { class: "ctx-seen" }, t("seen")), " ",
        element("span", { class: "ctx-share-head" }, t("share", { n: t("n_gram", { n: MAX_ORDER }) }))),
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
