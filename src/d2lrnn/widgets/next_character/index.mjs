// What comes next: a trained network writes at the reader's temperature, and the unlikeliest letters can be forbidden.
import { emphasised, fold, footRow, guidedSteps, keepInView, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, fill, rangeControl, twoDigits, visibleCharacter } from "../ui.mjs";
import { leftOut, loadModel, normalise, unaccented } from "../weights.mjs";
import { buildCompact } from "./compact.mjs";
import {
  FREE_COLUMN, MAX_TEXT, NUM_WRITTEN, beginningShown, countImprobable, cutOf, distributionAt, findCircle, percentage, readable, topPFor, worked, write, writings,
} from "./maths.mjs";
import { comparePanel, cutPanel, markedKey, textPanel } from "./panels.mjs";
import { reshapeProbs } from "../core.mjs";
import SPEC from "./spec.json" with { type: "json" };

const PAST_SHOWN = 12; // letters before the one that is looked at
const { seed: SEED } = SPEC.controls;
/** A probability, with two digits that count, a very small one as a power of ten: 2×10⁻⁴. */
const probability = (p) => twoDigits(p).replace(/e-(\d+)/, (_, power) => `×10⁻${power.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])}`);
/** The same with four digits, so that a reader can reckon with it. */
const exact = (value) => (value < 0.001 ? probability(value) : String(Number(value.toPrecision(4))));
const loaded = new WeakMap(); // DataView -> network: several instances on a page share one

function networkIn(view) {
  if (!loaded.has(view)) loaded.set(view, loadModel(view));
  return loaded.get(view);
}

/** The value of the cut in words: "all" where it cuts nothing. */
export function cutValue({ kind, top_k, top_p }, t) {
  const value = kind === "top-k" ? top_k : top_p;
  if (value === SPEC.controls[kind === "top-k" ? "top_k" : "top_p"].max) return t("all");
  const short = Number(value.toFixed(12));
  return String(short === 1 && kind === "top-p" ? value : short); // what is below 1 is not written as 1
}

/** Whether the reader has begun to cut. */
const isCutting = ({ kind, top_p }) => kind !== SPEC.controls.kind.default || top_p < SPEC.controls.top_p.max;

/** Whether the cut forbids any letter. */
const isBinding = ({ kind, top_k, top_p }) => (kind === "top-k" ? top_k < SPEC.controls.top_k.max : top_p < SPEC.controls.top_p.max);

/** The words for what is the case in the reader's own text. */
export function nowWords({ isCircle, count }) {
  if (isCircle) return "now_circle";
  return count === 1 ? "now_one" : "now";
}

/** What is the case in a writing, as values for these words. */
export function nowValues(letters) {
  const circle = findCircle(letters.map(({ character }) => character).join(""));
  return { count: countImprobable(letters), all: letters.length, isCircle: circle !== null, lap: circle?.length ?? 0 };
}

/** What the guided steps ask and tell, from what stands before a guess and after it. */
export function outcomes(network, state) {
  const found = (given) => {
    const { text, temperature, seed, place, ...kind } = { ...state, ...given };
    const cut = cutOf(kind);
    const letters = write(network, text, temperature, cut, seed);
    const { improbable } = distributionAt(network, { temperature, letters }, place, cut);
    return { count: countImprobable(letters), improbable };
  };
  const [, hottest, three] = SPEC.steps.map(({ before, state: after }) => [found(before), found(after)]);
  return [
    {},
    {
      before: percentage(hottest[1].improbable.before), after: percentage(hottest[1].improbable.after),
      own: hottest[0].count, hot: hottest[1].count, all: NUM_WRITTEN,
    },
    { now: three[1].count, before: three[0].count },
  ];
}

function build(context) {
  const { el, t, model, signal, commit, reset, onReset, say, link, state } = context;
  const network = networkIn(model.get("weights"));
  if (model.get("compact")) return buildCompact({ ...context, network });
  const size = network.vocab.length;
  let shown = null; // the state on the screen
  let run = { key: null, all: [] };
  let replaced = null; // the reader's text that a step has replaced, given back when the step is closed
  let atOnce = false; // what a guided step sets is written at once: its outcome speaks of the finished texts

  const now = nowLine();
  const input = element("input", { type: "text", class: "d2lrnn-text next-text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const read = (event) => {
    if (event.isComposing) return; // an input method is still at work
    replaced = null;
    commit({ text: readable(input.value), place: 0 });
    if (shown) tellNotice(); // the text that is read may be the same
  };
  input.addEventListener("input", read, { signal });
  input.addEventListener("compositionend", read, { signal });
  const again = buttonControl({ label: t("again"), signal, 
    onPress: () => {
      if (steps.opened() === 0 && steps.isAsking()) steps.ask(-1); // this is its answer
      commit({ seed: (shown.seed + 1) % (SEED.max + 1) });
    },
  });
  const number = element("b", { class: "next-number" });
  const slider = rangeControl({
    label: element("span", {}, t("own"), " ", number), min: 0, max: SPEC.controls.temperature.max, step: 0.1, signal,
    onInput: (temperature) => commit({ temperature }),
  });
  const marks = Object.entries({ 0: "note_0", 1: "note_1", 2: "note_2" }).map(([temperature, name]) => {
    const mark = element("span", {}, element("b", {}, temperature), " ", t(name));
    mark.style.setProperty("--share", temperature / SPEC.controls.temperature.max);
    return mark;
  });
  const lost = () => leftOut(unaccented(input.value)).length;
  // Over the field: what the figure is, or, of a reader's own text, what is not read of it or not shown.
  const lead = element("span", {}, t("lead"));
  const notice = element("span", { class: "next-notice" });
  const noticeWords = () => {
    if (lost() > 0) return t(lost() === 1 ? "text_lost_one" : "text_lost", { count: lost() });
    if (normalise(unaccented(input.value)).length > MAX_TEXT) return t("text_long", { max: MAX_TEXT });
    return beginningShown(shown.text) === shown.text ? "" : t("text_end");
  };
  const tellNotice = () => {
    notice.textContent = noticeWords();
    lead.classList.toggle("next-away", notice.textContent !== "");
  };
  /** What is the case, as arguments of emphasised(). */
  const nowParts = () => {
    const values = nowValues(run.all[FREE_COLUMN].letters);
    return [t.raw(nowWords(values)), { ...values, again: t("circle") }];
  };
  const tellNow = (length) => {
    if (length < NUM_WRITTEN) return now.set(t("now_writing"));
    const parts = emphasised(...nowParts());
    // What comes again is marked in the sentence as in the text.
    for (const part of parts) if (part.textContent === t("circle")) part.className = "next-lap";
    return now.set(...parts);
  };
  const writing = textPanel({ t, signal, onLetter: (place) => commit({ place }), onShown: tellNow });
  const compare = comparePanel(t);
  const compareTitle = element("p", { class: "next-compare-title" });
  /** The cut of one kind that keeps so many of the letters that are shown. */
  const cutAt = (kind, count) => {
    const { temperature, letters } = run.all[FREE_COLUMN];
    return kind === "top-k" ? { top_k: count } : { top_p: topPFor(reshapeProbs(letters[shown.place].probs, { temperature }), count) };
  };
  /** The other kind begins with as many letters as this one keeps here; then each has its own value. */
  const setKind = (kind) => {
    const other = { ...shown, kind };
    const { kept } = distributionAt(network, run.all[FREE_COLUMN], shown.place, cutOf(shown));
    commit(isBinding(shown) && !isBinding(other) && shown.temperature > 0 ? { kind, ...cutAt(kind, kept) } : { kind });
  };
  const chart = cutPanel({
    t, size, signal, onLook: (row) => tell(row),
    onKeep: (count) => commit(cutAt(shown.kind, count)),
  });
  const kinds = SPEC.controls.kind.choices.map((kind) => ({
    kind, button: buttonControl({ label: t(`button_${kind}`), "aria-pressed": "false", signal, onPress: () => setKind(kind) }),
  }));
  const axis = element("p", { class: "next-key next-axis" });
  const formula = element("p", { class: "next-key next-formula" }, ...t.raw("axis_formula").split(/(\{power\})/).map(
    (part) => (part === "{power}" ? element("span", {}, "p", element("sup", {}, `1/${t("own").toLowerCase()}`)) : part)));
  const step = (by) => commit({ place: Math.min(NUM_WRITTEN - 1, Math.max(0, shown.place + by)) });
  const walk = [["‹", "before", -1], ["›", "after", 1]].map(([label, name, by]) => buttonControl({ label, "aria-label": t(name), onPress: () => step(by), signal }));
  const caption = element("span", { class: "next-of" });
  const own = element("b");
  const here = element("span");
  const drawn = element("b");
  const legend = element("span", { class: "next-legend" },
    element("span", {}, element("span", { class: "next-swatch" }), drawn, " ", here), " ",
    element("span", {}, element("span", { class: "next-swatch next-swatch-own" }), own, " ", t("learned")));
  const value = element("p", { class: "next-value" });
  const cuts = fold(t("cut_fold"), element("div", { class: "next-cuts" },
    element("div", { class: "next-kinds d2lrnn-segments", role: "group", "aria-label": t("cut") }, ...kinds.map(({ button }) => button)), value, element("p", { class: "next-key" }, t("cut_kinds"))));
  cuts.addEventListener("toggle", () => draw(state()), { signal });
  const setAtOnce = (values) => {
    // Where the dice alone change, the text is written before the reader's eyes.
    atOnce = Object.keys(values).some((name) => name !== "seed" && values[name] !== shown[name]);
    cuts.open = isCutting({ ...shown, ...values });
    if (values.text !== shown.text) replaced ??= shown.text;
    commit(values);
    if (atOnce) writing.finish();
    queueMicrotask(() => {
      atOnce = false; // after the figure is drawn
    });
  };
  const told = (i) => outcomes(network, context.state())[i];
  const steps = guidedSteps({
    t, state, steps: SPEC.steps, set: setAtOnce, onReset, say, signal, asked: told, outcome: told,
  });
  keepInView(steps.node, { signal });
  steps.node.addEventListener("click", () => {
    if (replaced === null || steps.opened() >= 0) return;
    commit({ text: replaced, place: 0 });
    replaced = null;
  }, { signal });
  onReset(() => {
    replaced = null;
    cuts.open = false;
    chart.close();
  });
  el.append(element(
    "div", { class: "d2lrnn-shape next" },
    element("p", { class: "d2lrnn-lead next-lead" }, lead, notice),
    element("div", { class: "next-tools" }, element("label", { class: "next-start" }, element("span", {}, t("go_on")), input), again),
    writing.node,
    element("div", { class: "next-own" }, slider.node, element("span", { class: "next-marks", "aria-hidden": "true" }, ...marks)),
    element("div", { class: "next-told" }, now.node, markedKey(t.raw("key"), t("marked"))),
    element("div", { class: "next-figure" },
      element("div", { class: "next-caption-row" }, element("p", { class: "next-caption" }, caption, " ", legend), element("div", { class: "next-walk" }, ...walk)),
      chart.node),
    steps.node,
    element("div", { class: "next-compare" }, compareTitle, compare.node),
    cuts, fold(t("axis_fold"), formula, axis),
    footRow({ t, reset: () => { reset(); input.value = model.get("text"); tellNotice(); }, link, say, signal }),
  ));

  // What stands over the bars: where we are, and the probability of one letter.
  let place = null;
  const where = () => t.raw(place.past ? "where" : "where_start"); // an empty text has no letter to name
  const words = ({ character, before, after }) => ({
    ...place, letter: `“${visibleCharacter(character)}”`, p: percentage(after), own: percentage(before),
    drawn: t(place.isCut ? "bars_cut" : "bars", place),
  });
  const tell = (row) => {
    const values = words(row);
    caption.replaceChildren(...emphasised(row.character === place.came ? `{letter} ${where()}` : t.raw("instead"), { ...values, came: `“${visibleCharacter(place.came)}”` }));
    [own.textContent, here.textContent, drawn.textContent] = [values.own, values.drawn, values.p];
    const { temperature, keptProbs } = place;
    if (temperature === 0) axis.textContent = t("axis");
    else if (row.after === 0) axis.textContent = t("axis_cut");
    else {
      const { raised, sum } = worked(keptProbs, row.before, temperature);
      axis.textContent = t("axis_worked", { own: exact(row.before), temperature, raised: exact(raised), count: keptProbs.length, sum: exact(sum), p: probability(row.after) });
    }
  };
  function draw(state) {
    const before = shown;
    shown = state;
    if (input.value !== state.text && readable(input.value) !== state.text) input.value = state.text;
    number.textContent = String(Number(state.temperature.toFixed(2)));
    slider.set(state.temperature, number.textContent);
    for (const { kind, button } of kinds) button.setAttribute("aria-pressed", String(kind === state.kind));
    const cut = cutOf(state);
    const key = JSON.stringify([state.text, state.seed]);
    const isNew = key !== run.key;
    // A temperature and a cut are written at once, under the hand that drags.
    const isSet = before !== null && (before.temperature !== state.temperature || JSON.stringify(cutOf(before)) !== JSON.stringify(cut));
    if (isNew || isSet) {
      run = { key, all: writings(network, state, run.all) };
      compare.draw(run.all, state.text);
    }
    const yours = run.all[FREE_COLUMN];
    writing.draw(yours, state, { animate: before !== null && isNew && !isSet && !atOnce, isAgain: isNew });
    tellNow(writing.shown());
    tellNotice();
    compareTitle.textContent = t(isBinding(state) ? "compare_uncut" : "compare");
    const past = (state.text + yours.letters.slice(0, state.place).map(({ character }) => character).join(""));
    const distribution = distributionAt(network, yours, state.place, cut);
    const cutWords = t("cut_value", { kind: t(state.kind), value: cutValue(state, t), count: distribution.kept, all: size });
    const isCut = distribution.kept < size && yours.temperature > 0;
    const { character } = yours.letters[state.place];
    place = {
      came: character,
      past: past && `“${past.length > PAST_SHOWN ? "…" : ""}${Array.from(past.slice(-PAST_SHOWN), visibleCharacter).join("")}”`, temperature: Number(yours.temperature.toFixed(2)), isCut,
      keptProbs: distribution.rows.filter(({ after }) => after > 0).map(({ before: p }) => p),
    };
    const why = () => t(`cut_why_${state.kind}${distribution.kept === 1 ? "_one" : ""}`, { value: cutValue(state, t), count: distribution.kept, all: size });
    if (yours.temperature === 0) value.textContent = t("frozen");
    else value.textContent = isCut ? why() : t("uncut");
    const { count, after } = distribution.improbable;
    const described = `${fill(t.raw("chart").replace("{where}", where()), words(distribution.rows.find((row) => row.character === character)))} ${t("unlikely_all", { count, p: percentage(after) })}`;
    if (isCutting(state) && (before === null || !isCutting(before))) cuts.open = true;
    chart.draw(distribution, character, { cutWords, told: described, cutting: cuts.open });
    if (before === null) return;
    say(`${noticeWords()} ${t("spoken", { now: fill(...nowParts()), cut: cutWords })}`.trim());
  }
  input.value = model.get("text");
  whenSeen(writing.node, { act: writing.play, signal });
  return { draw };
}

export default explorable({
  spec: SPEC, data: ["compact"], build, repair: (state) => ({ ...state, text: readable(state.text) }),
});
