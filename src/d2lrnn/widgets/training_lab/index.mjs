// The training lab: a recurrent network that learns in the page, in a worker, or with torch where a kernel stands behind.
import { emphasised, fold, footRow, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, formatNumber, prefersReducedMotion } from "../ui.mjs";
import { createKernelEngine, createPageEngine } from "./engines.mjs";
import { bestOf, changed, copiedShare, countsKept, hasSpiked, isBlind, isLost, isMemorising, learnedPages, OTHER, OUTCOMES, rarestSign, reached, standing } from "./maths.mjs";
import { characterCount, characterTick, curvePanel, diaryPanel, networkPanel, normPanel, readingPanel, standsBeside, writingPanel } from "./panels.mjs";
import { drawPicture, saveCanvas } from "./share.mjs";
import LAB from "./rules.json" with { type: "json" };
import SPEC from "./spec.json" with { type: "json" };
import { storiesPanel } from "./stories.mjs";
import { textPanel } from "./text.mjs";
import { changes, corrections, levelName, sentenceKey, sentenceValues } from "./words.mjs";

const SETTINGS = Object.keys(SPEC.controls).filter((name) => name !== "speed" && name !== "story");
/** Settings that stand in the fold, in the order of their words. */
const FOLDED = SETTINGS.filter((name) => name !== "cell" && name !== "num_hiddens");
/** Settings that a run can take over while it goes on; a change of any other starts it again. */
const LIGHT = ["learning_rate", "clip", "optimizer"];
const ORDER = ["cat", "until", "tells"]; // how a story's run goes
const MOST_GHOSTS = 3;
const WORTH_KEEPING = 20; // updates that make a run a ghost
const FLASH_MS = 2000;
const COPIED = 0.1; // of the unseen pages: from here on a reader is told

/** What a reader who looks back at a run sees of a moment. */
const MOMENT = ["steps", "tokens", "seconds", "perplexity", "nats", "top", "states", "written", "writtenAt"];

const pick = (values, names) => Object.fromEntries(names.map((name) => [name, values[name]]));

function buildView({ el, t, model, signal, commit, reset, onReset, say, link, state }) {
  const isTorch = model.get("engine") === "torch" && !model.isStatic;
  let settings = null; // those that the run at hand has
  let report = null;
  let moments = []; // of the run at hand
  let best = null; // the one of its least score, once the run stands still
  let back = null; // the one that a reader looks back at
  let wish = false; // whether it should be training
  let own = null; // the reader's own text
  let copied = 0; // the share of its unseen pages that stands in the rest
  let ghosts = [];
  let aside = []; // those that are not of the open story: they come back after it
  let picked = ""; // the letter of one
  let flash = null;
  let beatenOrder = -1;
  let isTold = false; // whether the settings are a story's
  let isSeen = true; // whether any of the figure is on the screen
  let order = { cat: 0, until: 0, tells: "" }; // what the run at hand was begun with
  let orderedSettings = null;
  let opened = 0; // the story that was opened here, by a press or a link

  // ---- panels ----
  const now = nowLine();
  now.set(t("now_waiting"));
  const main = buttonControl({ label: t("start"), class: "d2lrnn-button lab-main", signal, onPress: () => (wish ? pause() : start()) });
  const speeds = SPEC.controls.speed.choices.map((name) =>
    buttonControl({ label: t(`speed_${name}`), "data-speed": name, signal, onPress: () => commit({ speed: name }) }));
  const ownButton = buttonControl({
    label: t("own_text"), "aria-expanded": "false", signal,
    onPress: () => {
      showText(text.node.hidden);
      if (!text.node.hidden) text.node.scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "instant" : "smooth" }); // on a phone it stands further down
    },
  });
  function showText(isShown) {
    text.node.hidden = !isShown;
    ownButton.setAttribute("aria-expanded", String(isShown));
  }
  const better = buttonControl({ label: "", class: "d2lrnn-button lab-better", hidden: true, signal, onPress: () => (canGoOn() ? goOn() : change({ cell: nextCell() })) });
  const undo = buttonControl({ label: "", class: "d2lrnn-button lab-undo", hidden: true, signal, onPress: undoSettings });
  const counter = element("span", { class: "lab-count" });
  const trouble = element("p", { class: "d2lrnn-error lab-trouble", hidden: true });
  const text = textPanel({ t, signal, onReset, say, onText: take });
  const reading = readingPanel({ t, signal, onReset, onRead: (before, sentence) => curve.read(before, pages(sentence.join(""))) });
  const writing = writingPanel({ t, count: counter, signal });
  const curve = curvePanel({
    t, signal, onReset,
    onBack: (tokens) => lookBack(nearest(tokens)),
    onStep: (by) => {
      const known = [...earlier(), null];
      lookBack(known[Math.max(0, Math.min(known.indexOf(back) + by, known.length - 1))]);
    },
  });
  const norms = normPanel({ t, signal });
  const remarkWords = element("span", {});
  const toBest = buttonControl({ label: "", class: "d2lrnn-button lab-to-best", hidden: true, signal, onPress: () => lookBack(back === best ? null : best) });
  const remark = element("p", { class: "lab-remark", hidden: true }, remarkWords, " ", toBest);
  const diary = diaryPanel({ t, ages: LAB.ages });
  const ghostList = element("div", { class: "lab-ghosts", role: "group", "aria-label": t("ghosts"), hidden: true });
  const network = networkPanel({ t, controls: SPEC.controls, signal, onChange: change, onCat: () => engine.letCat() });
  const ages = fold(t("diary"), diary.node);
  const more = fold(t("change"), network.node);
  more.addEventListener("toggle", () => report && show(), { signal });
  const stories = storiesPanel({ t, steps: SPEC.steps, signal, onReset, say, run: runStory, outcome, count: countWords, onOpen: openStory });
  stories.node.firstChild.append(ownButton);
  const footWords = (key, values) => { // a link leads to a question or to settings, not to a run
    const isAsked = state().story > 0;
    if (key === "link_copied") return isAsked ? t("link_copied_question") : t("link_copied_settings");
    if (key === "link_shown") return isAsked ? t("link_shown_question") : t("link_shown_settings");
    return t(key, values);
  };
  const foot = footRow({ t: footWords, reset: () => { pause(); reset(); }, link, say, signal });
  const shareButton = buttonControl({ label: t("share"), class: "d2lrnn-button lab-share", disabled: true, signal, onPress: share });
  const toldBelow = foot.lastChild; // what was copied, or saved
  foot.insertBefore(shareButton, toldBelow);
  const curves = element("div", { class: "lab-curves" }, curve.node, remark, norms.node);
  const stage = element("div", { class: "lab-stage" }, curves, ghostList, stories.node);
  const lead = element("p", { class: "d2lrnn-lead lab-lead" }, t("lead", { text: t("the_story") }));
  const body = element(
    "div", { class: "d2lrnn-shape lab" },
    lead,
    element("div", { class: "lab-bar" }, main, better,
      element("span", { class: "d2lrnn-segments lab-speeds", role: "group", "aria-label": t("speed") }, ...speeds)),
    trouble, now.node, writing.node, reading.node,
    stage,
    diary.page, text.node, network.knobs, element("div", { class: "lab-end" }, ages, more, foot, undo),
  );
  el.append(body);

  // ---- orders ----
  let pending = 0;
  const onReport = (fresh) => {
    if (signal.aborted) return;
    report = fresh;
    if (report.best?.steps !== best?.steps) best = null;
    if (moments.length === 0 || report.steps >= Math.max(1, LAB.apart * moments.at(-1).steps)) {
      const written = report.kept ? { written: report.kept, writtenAt: report.steps } : {}; // what is shown meanwhile may be older
      moments.push({ ...pick(report, MOMENT), ...written });
    }
    if (report.best && !moments.includes(best)) { // between two of them
      best = pick(report.best, MOMENT);
      moments = [...moments.filter(({ steps }) => steps !== best.steps), best].sort((a, b) => a.steps - b.steps);
    }
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      if (!signal.aborted && report) show(); // another run may have begun
    });
  };
  const onError = (error) => {
    wish = false;
    trouble.textContent = t("failed", { message: error.message });
    trouble.hidden = false;
    showBar();
  };
  const engine = isTorch ? createKernelEngine(model, onReport) : createPageEngine(model.get("text"), onReport, onError);

  /** The moments before the one that is reached; none while it goes on, or has told nothing yet. */
  const earlier = () => (report === null || report.status === "running" ? [] : moments.filter(({ steps }) => steps < report.steps));
  /** The moment next to a number of letters read, as far as the axis tells them apart (the one of no letter stands at its edge); null for now. */
  function nearest(tokens) {
    const known = earlier();
    if (known.length === 0 || tokens >= report.tokens) return null;
    const off = (moment) => Math.abs(Math.log(Math.max(moment.tokens, report.perUpdate / 2) / tokens));
    return known.reduce((best, moment) => (off(moment) < off(best) ? moment : best));
  }
  function lookBack(moment) {
    back = moment;
    if (report) show();
  }

  const others = (values, given = model.get("author_state")) => changes(t, values, given, FOLDED);

  const isFree = () => isTorch || (!document.hidden && isSeen);
  function go() {
    if (report?.status === "diverged" || report?.status === "ended") restart();
    wish = true;
    if (isFree()) engine.go();
    showBar();
  }
  function start() {
    text.settle(); // a text that a reader has brought is what is meant
    showText(false);
    go();
  }
  function pause() {
    wish = false;
    engine.pause();
    showBar();
  }
  /** Whether a run came to the end that a story gave it, and nothing more is to come of that story. */
  const canGoOn = () => !wish && report?.ended === "until" && !stories.isTelling();
  function goOn() {
    order = { ...order, until: 0, tells: "" };
    Object.assign(report, { status: "running", ended: null });
    wish = true;
    engine.goOn();
    show();
  }
  /** The run at hand becomes a ghost. */
  function keepRun() {
    if (report === null || report.steps < WORTH_KEEPING) return;
    const known = {
      settings: orderedSettings, heldout: report.heldout, train: report.train, perplexity: report.perplexity, levels: report.levels, isFree: order.until === 0,
      stopped: report.status === "ended" && report.ended !== "until" ? 0 : report.steps,
    };
    ghosts = [...ghosts, known].slice(-MOST_GHOSTS);
  }
  /** Start afresh with these settings; what was becomes a ghost. */
  function begin(fresh, { cat = 0, until = 0, tells = "", speed = state().speed } = {}) {
    keepRun();
    settings = fresh;
    orderedSettings = fresh;
    order = { cat, until, tells };
    report = null;
    moments = [];
    best = null;
    flash = null;
    picked = "";
    beatenOrder = -1;
    trouble.hidden = true;
    counter.textContent = t("count", { corrections: corrections(t, 0), seconds: "0" }); // what was counted is of the run before
    engine.begin({ settings: fresh, text: own, cat, until, tells, speed });
    showGhosts();
  }
  function restart(fresh = settings) {
    stories.leave();
    begin(fresh);
  }
  /** What a reader sets. A story's other settings go with the story. */
  function change(values) {
    const isOther = "cell" in values || "num_hiddens" in values;
    const before = isTold && isOther ? pick(model.get("author_state"), SETTINGS) : {};
    if (isOther) isTold = false;
    commit({ ...before, ...values, ...(isOther ? { story: 0 } : {}) }); // its question is not of this network
  }
  /** All but the cell and its units as it was; with them a story goes. What stands still does not begin to run. */
  function undoSettings() {
    const first = pick(model.get("author_state"), FOLDED);
    const isStory = isTold || state().story > 0;
    if (isStory && wish) pause();
    stays = !wish;
    if (isStory) {
      isTold = false;
      curve.clear();
      settings = { ...settings, ...first }; // so that the traits' change does not start yet another run
      commit({ ...first, story: 0 });
      restart();
    } else change(first);
    stays = false;
    showBar();
  }
  let stays = false;
  /** The pages in which the rivals count, made once a text; null where a kernel learns a text that the page does not have. */
  let known = { text: null, sentence: "", pages: null };
  function pages(sentence) {
    const given = own ?? model.get("text");
    if (given !== known.text || sentence !== known.sentence) known = { text: given, sentence, pages: given.includes(sentence) ? learnedPages(given) : null };
    return known.pages;
  }
  /** Another text, a reader's own or, with null, the story: the figure shows it at once, and nothing of it is learned yet. */
  function take(chosen) {
    if (chosen === own) return;
    ghosts = aside = [];
    if (report) report.steps = 0; // a run on another text is no rival of this one
    own = chosen;
    copied = chosen === null ? 0 : copiedShare(chosen);
    text.tell(own !== null);
    wish = false;
    const fresh = isTold ? pick(model.get("author_state"), SETTINGS) : settings;
    isTold = false;
    settings = fresh; // so that the traits' change does not start yet another run
    commit({ ...fresh, story: 0 });
    restart(fresh);
    showBar();
  }
  /** The network of a story as its question finds it: nothing read. */
  function prepareStory(step, phase, more_ = {}) {
    const values = { ...step.state, ...(phase > 0 ? step.then : {}), ...more_ };
    if (phase === 0) { // it is told with its own runs alone
      if (order.until === 0 && own === null) keepRun();
      aside = own === null ? [...aside, ...ghosts.filter(({ isFree: wasFree }) => wasFree)].slice(-MOST_GHOSTS) : [];
      ghosts = [];
      if (report) report.steps = 0;
    }
    own = null; // a story is told with the book's own text
    text.tell(false);
    isTold = true;
    if (phase === 0) showText(false);
    reading.clear();
    settings = pick(values, SETTINGS); // so that the traits' change does not start yet another run
    commit(values);
    begin(settings, pick(step, ORDER));
  }
  function openStory(i) {
    opened = i + 1;
    curve.clear();
    if (i < 0) {
      commit({ story: 0 });
      return;
    }
    if (wish) pause();
    stories.leave();
    prepareStory(SPEC.steps[i], 0, { story: i + 1 });
    showBar();
  }
  /** A link to a story opens it as a press does; one with settings of its own keeps these. */
  function openLinked(values) {
    const step = SPEC.steps[values.story - 1];
    const first = Object.fromEntries(SETTINGS.map((name) => [name, SPEC.controls[name].default]));
    const isPlain = [first, step.state, { ...step.state, ...step.then }].some((known) => changed(values, known, SETTINGS).length === 0);
    opened = values.story;
    curve.clear();
    if (isPlain) openStory(values.story - 1);
    else begin(settings, pick(step, ORDER));
  }
  function runStory(step, phase) {
    prepareStory(step, phase, phase === 0 && state().speed === "slow" ? { speed: "normal" } : {}); // one waits for its end
    wish = true;
    if (isFree()) engine.go();
    showBar();
  }
  function outcome(i, reports) {
    return OUTCOMES[i](reports, reports.at(-1).levels, SPEC.steps[i].cat);
  }
  /** How far a story is. */
  function countWords(i, { steps, catNorm }) {
    const { cat } = SPEC.steps[i];
    if (!cat || settings.clip > 0) return "";
    return catNorm > 0 ? t(`step_${i + 1}_after`, { norm: formatNumber(catNorm), typed: rarestSign(model.get("text")).repeat(8) }) : t(`step_${i + 1}_count`, { steps: formatNumber(steps, 0), cat: cat - 1 });
  }
  async function share() {
    if (report === null || report.steps === 0) return;
    const { spelled, perplexity, tokens, seconds, levels } = report;
    const { beaten } = standing(perplexity, levels);
    const in_ = (time) => formatNumber(Math.max(1, time), 0);
    const headline = spelled?.seconds !== undefined
      ? t("share_spelled", { percent: Math.floor(100 * spelled.real / spelled.words), seconds: in_(spelled.seconds) })
      : beaten && report.steps > 0 ? t("share_beat", { beaten: levelName(t, beaten), seconds: in_(seconds) }) : t("share_fresh");
    const canvas = document.createElement("canvas");
    drawPicture(canvas, {
      report, headline,
      foot: t("share_foot", { network: t(`share_${settings.cell}`), units: settings.num_hiddens, perplexity: formatNumber(perplexity), characters: characterCount(t, tokens) }),
      name: t("book"),
      address: location.protocol.startsWith("http") ? location.host + location.pathname : "",
      captions: {
        first: t("share_first"), sentence: t("share_sentence"),
        last: spelled
          ? t("share_page", { steps: formatNumber(spelled.steps, 0), real: spelled.real, words: spelled.words })
          : t("share_last", { age: formatNumber(report.writtenAt, 0) }),
      },
      levelName: (level) => `${levelName(t, level)} ${formatNumber(level.perplexity)}`,
      tickName: (tick) => characterTick(t, tick),
      axisNames: { x: t("characters"), y: t("curve") },
    });
    const done = await saveCanvas(canvas, "my-network.png");
    toldBelow.textContent = done ? t(`share_${done}`) : "";
    toldBelow.style.visibility = ""; // what was told of a link may have gone
    say(toldBelow.textContent);
  }

  const follow = () => {
    if (!wish || isTorch) return; // a kernel's training is not the page's to stop
    if (isFree()) engine.go();
    else engine.pause();
  };
  document.addEventListener("visibilitychange", follow, { signal });
  const watcher = new IntersectionObserver((entries) => {
    isSeen = entries.at(-1).isIntersecting;
    follow();
  });
  watcher.observe(body);

  // ---- what is shown ----
  function showBar() {
    main.textContent = t(wish ? "pause" : report?.status === "ended" || report?.status === "diverged" ? "again" : report?.steps > 0 ? "go_on" : "start");
    main.setAttribute("aria-pressed", String(wish));
    shareButton.disabled = !(report?.steps > 0);
    const next = nextCell();
    const isStopped = canGoOn();
    better.hidden = next === null && !isStopped;
    if (isStopped) better.textContent = t("go_on");
    else if (next) better.textContent = t(`try_${next}`);
    if (report === null) return;
    const { steps, seconds } = back ?? report;
    const counts = { corrections: corrections(t, steps), seconds: formatNumber(seconds, 0) };
    counter.textContent = isTorch ? t("count_device", { ...counts, device: report.device }) : t("count", counts);
  }

  /** Whether settings are the first, but for the cell and the seed. */
  function isFirst(known) {
    const first = Object.fromEntries(SETTINGS.map((name) => [name, SPEC.controls[name].default]));
    return changed(known, first, SETTINGS.filter((name) => name !== "seed" && name !== "cell")).length === 0;
  }
  /** Whether a run on the story has come to its end, with the first settings. */
  const isFirstAtEnd = () => report?.ended === "plateau" && own === null && !isTorch && isFirst(settings);
  /** What to try next, or null: a cell that is not drawn yet. */
  function nextCell() {
    if (!isFirstAtEnd()) return null;
    const drawn = [settings.cell, ...ghosts.filter((ghost) => isFirst(ghost.settings)).map((ghost) => ghost.settings.cell)];
    return ["gru", "lstm"].find((cell) => !drawn.includes(cell)) ?? null;
  }
  /** Once a run is over that did not beat its best rival: how large both are. */
  function endWords() {
    const best = report.levels.at(-1);
    const learned = pages(report.sentence.join(""));
    if (!isFirstAtEnd() || !(report.perplexity > best.perplexity) || learned === null) return "";
    kept = kept.pages === learned ? kept : { pages: learned, counts: countsKept(learned, best.order) };
    return t("hint_end", { counts: formatNumber(kept.counts, 0), weights: formatNumber(report.weights, 0) });
  }
  let kept = { pages: null, counts: 0 }; // by the best rival
  function showRemark() {
    const isCopy = isCopied();
    const isSpike = report.steps > 0 && report.catAt === 0 && order.cat === 0 && hasSpiked(report);
    const isRote = !isCopy && isMemorising(report);
    remark.hidden = !(isCopy || isSpike || isRote);
    const words = [];
    if (isCopy) words.push(t("copied"));
    if (isRote) {
      const { heldout, perUpdate } = report;
      const least = bestOf(heldout);
      words.push(t("overfits", { best: formatNumber(least), steps: formatNumber(heldout.xs[heldout.ys.indexOf(least)] / perUpdate, 0) }));
    }
    if (isSpike) words.push(t("spike"));
    const said = words.join(" ");
    if (remarkWords.textContent !== said) remarkWords.textContent = said;
    toBest.hidden = !isRote || !earlier().includes(best);
    toBest.textContent = t(back !== null && back === best ? "to_end" : "to_best");
  }

  /** A story's run is told by what it has come to at its given end, any other by its best. */
  const toldOf = () => ({ isTold: order.until > 0 });

  /** Whether the unseen pages of a reader's own text are no measure: they stand in the others. */
  const isCopied = () => own !== null && copied >= COPIED;
  /** Whether corrections come one by one, so that each is looked at. */
  const looksAtSingles = () => state().speed === "slow" && report.steps <= LAB.singles.count;
  const textName = () => t(own === null ? "the_story" : "own");
  let told = ""; // the sentence that stands
  function showSentence() {
    const isSingle = looksAtSingles();
    const key = back ? "now_back" : sentenceKey(report, { clip: settings.clip, isCopied: isCopied(), isAsked: state().story > 0, isSingle, isGruNext: nextCell() === "gru" });
    const values = { ...sentenceValues(t, { ...report, ...back }, copied, toldOf().isTold), text: textName() };
    const words = t(key, values);
    if (words === told) return;
    told = words;
    if (key === "now_corrected") say(words);
    now.set(...emphasised(t.raw(key), values));
  }

  function showGhosts() {
    ghosts = ghosts.map((ghost, i) => ({ ...ghost, place: i + 1, letter: "ABC"[i] }));
    const described = ({ settings: s }) => [t(`cell_${s.cell}`), ...(s.num_hiddens === settings.num_hiddens ? [] : [t("units", { units: s.num_hiddens })]), ...others(s, settings)].join(", ");
    const isStory = state().story > 0; // there one setting differs
    ghostList.hidden = ghosts.length === 0 && order.cat === 0; // a story of two runs has room for the first from the start
    ghostList.classList.toggle("lab-awaited", order.cat > 0);
    ghostList.replaceChildren(element("span", { class: "lab-note" }, t("ghosts")), ...ghosts.map((ghost) => buttonControl({
      label: t(ghost.stopped && !isStory ? "ghost_stopped" : "ghost_label", {
        letter: ghost.letter, settings: (isStory && others(ghost.settings, settings).join(", ")) || described(ghost), steps: formatNumber(ghost.stopped, 0),
        perplexity: isBlind(ghost) ? t("ghost_blind", { perplexity: formatNumber(ghost.perplexity) }) : formatNumber(ghost.perplexity),
      }), signal,
      class: "d2lrnn-button lab-ghost-button", "aria-pressed": String(ghost.letter === picked), onPress: () => mark(ghost.letter),
    })));
  }

  /** One of the earlier runs stands out; pressed again, none does. */
  function mark(letter) {
    picked = picked === letter ? "" : letter;
    [...ghostList.querySelectorAll("button")].forEach((button, i) => button.setAttribute("aria-pressed", String(ghosts[i].letter === picked)));
    if (report) show();
  }

  /** The bell, seen: the sentence on top lights up for a moment. */
  let light = null;
  function flare() {
    if (prefersReducedMotion()) return;
    light = now.node.animate([{ backgroundColor: "color-mix(in srgb, var(--d2lrnn-surface), var(--d2lrnn-blue) 30%)" }, { backgroundColor: "transparent" }], { duration: FLASH_MS, easing: "ease-out" });
  }

  function show() {
    const { levels } = report;
    const isBeside = standsBeside(body); // looked up before anything changes, as the colours are
    const forgets = settings.num_steps === 1 && !settings.carry;
    const hasOther = own !== null && own.includes(OTHER);
    if (report.status === "running" || !moments.includes(back)) back = null;
    const seen = { ...report, ...back };
    reading.draw({ ...seen, forgets, cell: settings.cell, hasOther, isCopied: isCopied(), isSingle: back === null && looksAtSingles() });
    if (isTorch) wish = report.status === "running";
    if (report.status === "diverged" || report.status === "ended") wish = false;
    report.perUpdate = report.batchSize * settings.num_steps;
    const { beaten } = standing(report.perplexity, levels);
    const order_ = beaten?.order ?? -1;
    const hint = endWords() || (earlier().length > 0 ? t("hint_pause") : "");
    if (isLost(report)) { // no time for a bell
      flash = null;
      light?.cancel();
    } else if (report.steps > 0 && order_ > beatenOrder && !isCopied()) {
      flash = { order: order_, since: performance.now() };
      const words = t("bell", { beaten: levelName(t, beaten) });
      say(words);
      flare();
    }
    if (report.steps > 0) beatenOrder = Math.max(beatenOrder, order_);
    if (flash && performance.now() - flash.since > FLASH_MS) flash = null;
    body.dataset.engine = report.kernels ?? "torch"; // for whoever wants to know: simd or plain, or torch
    body.dataset.status = report.status;
    const about = t("lead", { text: textName() });
    if (lead.textContent !== about) lead.textContent = about;
    showSentence();
    network.tell(settings.cell, forgets);
    writing.draw(seen, own !== null, hasOther);
    const isFresh = seen.steps === 0; // by chance it may lie below the worst level: nothing is beaten yet
    const next = isFresh ? null : standing(seen.perplexity, levels).next;
    const shown = { ...report, reached: reached(report, toldOf()), nextOrder: next?.order ?? -1 };
    const hasNorms = order.cat > 0 || more.open;
    const home = order.cat === 0 ? network.node : isBeside ? stage : curves; // with the settings, or along the story's curve
    if (norms.node.parentNode !== home) home.insertBefore(norms.node, home === network.node ? home.firstChild : home === stage ? stories.node : null);
    const until = order.cat > 0 ? order.until * report.perUpdate : 0;
    const catAt = report.catAt || order.cat * report.perUpdate;
    const tokens = Math.max(report.tokens, ...ghosts.map((ghost) => ghost.heldout.xs.at(-1))); // both charts have one axis
    showRemark();
    curve.draw({ report: shown, back, moments: earlier().length, hint, ghosts, picked, tokens, flash, now: performance.now(), until, catAt, isLow: order.cat > 0, isBeside, isCopied: isCopied(), hasRemark: !remark.hidden });
    norms.draw({ report, tokens, clip: settings.clip, until, catAt }, hasNorms);
    network.end(report.status === "ended" || report.status === "diverged");
    const story = SPEC.steps[state().story - 1];
    diary.draw(report, { isWhole: story?.tells === "spelled", until: order.until });
    showBar();
    if (report.status === "ended" || report.status === "diverged") say(now.node.textContent);
    stories.hear(report); // it may begin another run
    showBar(); // or have been told
  }

  onReset(() => {
    wish = isTold = false;
    opened = 0;
    own = null;
    copied = 0;
    text.tell(false);
    ghosts = aside = [];
    if (report) report.steps = 0;
    showText(false);
    stories.leave();
    const first = model.get("author_state");
    settings = pick(first, SETTINGS);
    // A kernel has to hear of the settings first, and they are set after this.
    queueMicrotask(() => !signal.aborted && begin(settings, { speed: first.speed }));
    showBar();
  });

  const draw = (values) => {
    const fresh = pick(values, SETTINGS);
    network.draw(values);
    const undone = others(values);
    undo.hidden = undone.length === 0;
    undo.textContent = t("undo", { changes: undone.join(", ") });
    stories.show(values.story - 1);
    stories.setting(undone);
    if (values.story === 0 && aside.length) {
      ghosts = [...aside, ...ghosts].slice(-MOST_GHOSTS);
      aside = [];
      showGhosts();
    }
    for (const button of speeds) button.setAttribute("aria-pressed", String(button.dataset.speed === values.speed));
    engine.pace(values.speed);
    const isLinked = values.story > 0 && values.story !== opened;
    if (values.story === 0) opened = 0;
    if (settings === null) {
      settings = orderedSettings = fresh;
      if (isLinked) openLinked(values);
      else if (!isTorch || model.get("report").steps === undefined) begin(fresh);
    } else if (isLinked) {
      if (wish) pause();
      settings = fresh;
      openLinked(values);
    } else {
      const changed = SETTINGS.filter((name) => fresh[name] !== settings[name]);
      if (changed.some((name) => !LIGHT.includes(name))) {
        const goesOn = wish || (!stays && (report?.status === "ended" || report?.status === "diverged"));
        restart(fresh);
        if (goesOn) go();
      } else if (changed.length) {
        settings = fresh;
        engine.set(pick(fresh, changed));
        showGhosts(); // they are told by what differs
      }
    }
    if (report) show();
    else showBar();
  };
  return {
    draw,
    destroy() {
      cancelAnimationFrame(pending);
      watcher.disconnect();
      engine.end();
    },
  };
}

export default explorable({ spec: SPEC, build: buildView });
