// What the table of contexts shows: six writings, a line to walk along, and the tables behind them.
import { dragOn, emphasised, motion } from "../shape.mjs";
import { element, formatNumber, formatProbability, visibleCharacter } from "../ui.mjs";
import {
  MAX_ORDER, NUM_WRITTEN, SHORTEST_COPY, chapterAt, copiesWithin, formatShare, longestCopy, possibleContexts, ranking,
} from "./maths.mjs";

const LETTERS_A_SECOND = 18;
const SHOWN = 8; // letters in the chart of what may come next
const FALL_S = 0.16; // of a context by one letter
const HIGHEST_BITS = 14; // of a surprisal that fills its column

const visible = (text) => Array.from(text, visibleCharacter).join("");
const quoted = (text) => `“${visible(text)}”`;
/** A whole number, however large, digit by digit. */
const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** Six rows, one for each n, that write letter by letter at once; `now` is the sentence above them. */
export function writingsPanel({ t, now, levels, chapters, signal }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  const lowest = Math.min(...levels.map(({ perplexity }) => perplexity));
  const rows = levels.map(({ order, perplexity }) => {
    const text = element("p", { class: "ctx-text", translate: "no" });
    const copied = element("span", { class: "ctx-copied-share" });
    const score = element("span", { class: "ctx-score" });
    const told = formatNumber(perplexity) + (perplexity === lowest ? " ▾" : "");
    const name = element("span", { class: "ctx-name" }, t("n_gram", { n: order }));
    return { node: element("li", { class: "ctx-writing" }, name, text, copied, score), text, copied, score, told, best: perplexity === lowest };
  });
  const key = t.raw("key").split("{underlined}");
  const node = element(
    "div", { class: "ctx-writings" },
    element("div", { class: "ctx-head" },
      element("div", {}, element("p", {}, t("n_gram_is", { n: t("n_gram", { n: MAX_ORDER }), letters: MAX_ORDER - 1 })),
        element("p", {}, key[0], element("u", { class: "ctx-copy" }, t("underlined")), key[1].replace("{min}", String(SHORTEST_COPY)))),
      element("p", { class: "ctx-heads" }, element("span", {}, t("copied")), " ", element("span", {}, t("score")))),
    element("ol", { class: "ctx-rows" }, ...rows.map((row) => row.node)),
  );
  let shown = null;

  const sentence = (length) => {
    const best = longestCopy(shown, length);
    if (best === null) return { best, template: t.raw("now_none"), values: { length: t("letters", { count: SHORTEST_COPY }) } };
    const chapter = chapterAt(chapters, best.at);
    return { best, template: t.raw("now"), values: { length: t("letters", { count: best.length }), chapter, n: t("n_gram", { n: best.n }) } };
  };
  const show = (length) => {
    const { best, template, values } = sentence(length);
    now.set(...emphasised(template, values));
    shown.forEach(({ n, text, copies }, i) => {
      const parts = [];
      let at = 0;
      const found = copiesWithin(copies, length);
      for (const copy of found) {
        const isBest = best !== null && best.n === n && best.from === copy.from;
        parts.push(text.slice(at, copy.from));
        parts.push(element("u", { class: isBest ? "ctx-copy ctx-longest" : "ctx-copy" }, text.slice(copy.from, copy.from + copy.length)));
        at = copy.from + copy.length;
      }
      parts.push(text.slice(at, length));
      // What is still to come keeps its place, so that nothing below moves.
      if (length < text.length) parts.push(element("span", { class: "ctx-to-come", "aria-hidden": "true" }, text.slice(length)));
      rows[i].text.replaceChildren(...parts);
      rows[i].copied.textContent = formatShare(found.reduce((sum, copy) => sum + copy.length, 0) / NUM_WRITTEN);
    });
  };
  const play = () => pen.run((share) => show(Math.round(share * NUM_WRITTEN)));
  return {
    node,
    play: () => shown !== null && play(),
    draw(writings, scores, { animate }) {
      for (const { score, told, best } of rows) {
        score.textContent = scores ? told : t("level_guess");
        score.classList.toggle("ctx-lowest", scores && best);
      }
      if (writings === shown) return;
      shown = writings;
      if (animate) play();
      else show(NUM_WRITTEN);
    },
    said: () => {
      const { template, values } = sentence(NUM_WRITTEN);
      return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    },
  };
}

/** A surprisal in words; a small one is not rounded to nothing. */
export function surprisalOf(bits, t) {
  return t("surprisal", { bits: bits < 0.005 ? "<0.01" : formatNumber(bits, bits < 0.095 ? 2 : 1) });
}

/** What is the case at one letter of the line, in words: [{ template, values }]. */
export function wordsOf({ past, letter, answering, order, p, bits, followed }, t) {
  const { context, total } = answering;
  const n = t("n_gram", { n: order });
  const times = total === 1 ? t("times_once") : t("times", { count: count(total) });
  const values = { n, times, context: context === "" ? t("no_context") : quoted(context), lost: quoted(past) };
  const first = context.length === past.length ? t.raw("met") : context === "" ? t.raw("fell_far") : t.raw("fell");
  const surprisal = surprisalOf(bits, t);
  const second = { letter: quoted(letter), p: formatProbability(p), bits: surprisal };
  return [{ template: first, values }, { template: followed ? t.raw("gives") : t.raw("gives_new"), values: second }];
}

/** The same as one text. */
export function sentenceOf(step, t) {
  return wordsOf(step, t).map(({ template, values }) => template.replace(/\{(\w+)\}/g, (_, name) => values[name])).join(" ");
}

/**
 * A line of new text. Each letter stands under a column as high as the longest n that has seen what comes before it,
 * and above its surprisal. The line is a slider: drag along it, or use the arrow keys.
 */
export function linePanel({ t, line, min, max, onPlace, button, signal }) {
  const fall = motion({ seconds: FALL_S * (MAX_ORDER - 1), signal });
  const cells = Array.from(line, (character, i) => {
    const stack = element("i", { class: "ctx-stack" });
    const letter = element("span", { class: `ctx-letter${character === " " ? " ctx-space" : ""}` }, visibleCharacter(character));
    const bits = element("i", { class: "ctx-bits" });
    return { node: element("span", { class: `ctx-cell${i < min ? " ctx-given" : ""}` }, stack, letter, bits), stack, letter, bits };
  });
  const axis = element(
    "span", { class: "ctx-axis" },
    element("span", {}, t("n_gram", { n: MAX_ORDER })), element("span", {}, t("n_gram", { n: 1 })),
  );
  const track = element("div", {
    class: "ctx-line", role: "slider", tabindex: 0, "aria-label": t("line", { line: line.trim() }), "aria-valuemin": min, "aria-valuemax": max,
  }, element("span", { class: "ctx-cells", "aria-hidden": "true" }, ...cells.map(({ node }) => node)), axis);
  axis.setAttribute("aria-hidden", "true");
  const words = element("p", { class: "ctx-line-now" });
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
  const light = (step, lost) => {
    cells.forEach(({ letter }, i) => {
      const before = step.place - i; // 1 is the letter just before
      const inContext = before >= 1 && before < MAX_ORDER;
      letter.classList.toggle("ctx-known", inContext && before < MAX_ORDER - lost);
      letter.classList.toggle("ctx-lost", inContext && before >= MAX_ORDER - lost);
    });
  };
  const show = () => {
    const step = steps[place - min];
    cells.forEach(({ node, stack, bits }, i) => {
      const met = i >= min && i <= place ? steps[i - min] : null;
      node.classList.toggle("ctx-ahead", i > place);
      node.classList.toggle("ctx-here", i === place);
      stack.style.setProperty("--n", met ? met.order : 0);
      stack.classList.toggle("ctx-fallen", met !== null && met.order < MAX_ORDER);
      bits.style.setProperty("--share", met ? Math.min(1, met.bits / HIGHEST_BITS).toFixed(3) : 0);
    });
    words.replaceChildren(...wordsOf(step, t).flatMap(({ template, values }, i) => [i ? " " : "", ...emphasised(template, values)]));
    track.setAttribute("aria-valuenow", place);
    track.setAttribute("aria-valuetext", t("line_value", { letter: visible(step.letter), now: sentenceOf(step, t) }));
    // The oldest letter goes, and the next, until somebody has seen the rest.
    const lost = MAX_ORDER - step.order;
    fall.run((share) => light(step, Math.min(lost, Math.floor(share * MAX_ORDER))));
  };
  return {
    node: element(
      "div", { class: "ctx-walk" },
      element("div", { class: "ctx-head" }, element("p", {}, element("b", {}, t("line_title"))), button),
      element("p", { class: "ctx-legend" },
        ...["stack", "bits"].map((kind) => element("span", {}, element("i", { class: `ctx-mark-${kind}` }), t(`key_${kind}`)))),
      track, words,
    ),
    draw(allSteps, wanted) {
      if (allSteps === steps && wanted === place) return;
      steps = allSteps;
      place = wanted;
      show();
    },
  };
}

/** Behind the fold: who answers here, what may come next, and how many contexts there are. */
export function detailsPanel({ t, levels, vocab }) {
  const chainBody = element("tbody");
  const bars = element("ol", { class: "ctx-bars" });
  const lowest = Math.min(...levels.map(({ perplexity }) => perplexity));
  const table = (caption, heads, ...rest) => element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))), ...rest);
  const rows = levels.map(({ order, contexts, perplexity }) => {
    const possible = possibleContexts(vocab.length, order);
    const score = element("td");
    const node = element("tr", {}, element("th", { scope: "row" }, t("n_gram", { n: order })), element("td", {}, count(possible)),
      element("td", {}, count(contexts)), element("td", {}, formatShare(contexts / possible)), score);
    const told = formatNumber(perplexity) + (perplexity === lowest ? " ▾" : "");
    return { node, score, told };
  });
  const chain = table(t("chain_title"), [t("chain_model"), t("chain_context"), t("chain_seen"), t("chain_types"), t("chain_weight")], chainBody);
  const contexts = table(t("levels_title"), [t("chain_model"), t("level_possible"), t("level_seen"), t("level_share"), t("level_perplexity")],
    element("tbody", {}, ...rows.map(({ node }) => node)));
  const node = element("div", { class: "ctx-details" }, chain,
    element("div", {}, element("p", { class: "ctx-caption" }, t("bars_title")), bars), contexts);
  const draw = ({ chain: asked, uniform, answering, probs, letter }, scores) => {
    const cells = asked.map((each) => {
      const seen = each.total === 0 ? t("chain_never") : count(each.total);
      return element("tr", { class: each === answering ? "ctx-answers" : null },
        element("th", { scope: "row" }, t("n_gram", { n: each.context.length + 1 })),
        element("td", { class: "ctx-context" }, each.context === "" ? t("no_context") : visible(each.context)),
        element("td", {}, seen), element("td", {}, count(each.types)), element("td", {}, formatShare(each.weight)));
    });
    const last = element("tr", {}, element("th", { scope: "row", colspan: 4 }, t("chain_uniform", { size: vocab.length })), element("td", {}, formatShare(uniform)));
    chainBody.replaceChildren(...cells, last);
    bars.replaceChildren(...ranking(probs).slice(0, SHOWN).map((x) => {
      const bar = element("i", { class: "ctx-bar" });
      bar.style.setProperty("width", `${(100 * probs[x]).toFixed(2)}%`);
      const character = visibleCharacter(vocab[x]);
      const label = t("bar", { character, p: formatProbability(probs[x]) });
      return element("li", { class: vocab[x] === letter ? "ctx-came" : null }, element("span", { class: "ctx-bar-text" }, label), element("span", { class: "ctx-track" }, bar));
    }));
    for (const { score, told } of rows) score.textContent = scores ? told : t("level_guess");
  };
  return { node, draw };
}
