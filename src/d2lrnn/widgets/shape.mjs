// The one shape of all explorables: a living sentence, a picture that is the control, three guided steps, the rest folded.
import { buttonControl, element, prefersReducedMotion } from "./ui.mjs";

/** The sentence on top that says what is the case now. `set` takes texts and elements; numbers stand out in <b>. */
export function nowLine() {
  const node = element("p", { class: "d2lrnn-now" });
  return { node, set: (...parts) => node.replaceChildren(...parts) };
}

/** "Its {length} is {now}." -> texts, with the values in bold: nowLine().set(...emphasised(t("now"), { length, now })). */
export function emphasised(template, values) {
  return template.split(/(\{\w+\})/).filter(Boolean).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return part;
    if (!Object.hasOwn(values, name)) throw new Error(`"${template}" needs a value for {${name}}`);
    return element("b", {}, String(values[name]));
  });
}

const behavior = () => (prefersReducedMotion() ? "instant" : "smooth");

/** On a phone the steps stand below the screen that shows the figure: an answer brings the figure back. */
export function bringBack(node) {
  const widget = node.closest(".d2lrnn-widget");
  if (!matchMedia("(max-width: 37.5rem)").matches || widget === null || widget.getBoundingClientRect().top >= 0) return;
  widget.scrollIntoView({ block: "start", behavior: behavior() });
}

/**
 * On a phone the open step lies at the foot of the screen (base.css): bring what it asks about above it, as far as it fits.
 * Where something sticks to the top of the figure, the part's `scroll-margin-top` in its style sheet keeps it clear of that.
 */
export function bringAbove(sheet, part) {
  const room = innerHeight - sheet.offsetHeight;
  const box = part.getBoundingClientRect();
  const above = parseFloat(getComputedStyle(part).scrollMarginTop) || 0;
  if (box.top >= above && box.bottom <= room) return;
  if (above === 0) part.style.scrollMarginTop = "0.5rem";
  part.style.scrollMarginBottom = `calc(${sheet.offsetHeight}px + 0.5rem)`;
  part.scrollIntoView({ block: box.height > room - above || box.top < above ? "start" : "end", behavior: behavior() });
}

/**
 * Guided steps: press one, answer its question, and see.
 *
 * `steps` stand in the widget's spec.json, each { before, state, answers, right, look }: pressing its title sets `before`
 * (the figure as the question finds it; optional), an answer sets `state` and tells the outcome. `answers` is their number,
 * `right` the index of the right one, or null where all are welcome; `look` selects the part of the figure that the step
 * is about, which a phone then shows above the step. Words: step_1 (title), step_1_question,
 * step_1_answer_1, ..., step_1_outcome. `outcome(i, j)` gives the values of the outcome's template, `j` being the answer that was chosen; it is asked after the
 * state has been set. Its `right` wins over the spec's, where the answer depends on what the reader typed.
 * `asked(i)` gives the values of the question's template. `set(values)` sets the figure (context.commit as a rule), and
 * `state()` tells how it is: an outcome is said to be of before, once the reader has changed the figure by something else.
 * A step that is opened again shows the answer that it got. `opened()` is the open step's index, -1 for none; `ask(i)` asks its question again and leaves the figure alone;
 * `leave()` closes a question that is still open, for a reader who does what it asks about; `urge()` asks for the guess instead.
 */
export function guidedSteps({ t, steps, set, state, asked = () => ({}), outcome = () => ({}), onReset, say, signal }) {
  const question = element("p", { class: "d2lrnn-question" });
  const answers = element("div", { class: "d2lrnn-answers", role: "group" });
  const told = element("p", { class: "d2lrnn-outcome", hidden: true });
  const folder = buttonControl({
    label: [], class: "d2lrnn-button d2lrnn-step-fold", "aria-label": t("step_fold"), signal,
    onPress: () => setFolded(!panel.classList.contains("d2lrnn-folded")),
  });
  const panel = element("div", { class: "d2lrnn-step", hidden: true }, folder, question, answers, told);
  let open = -1;
  let buttons = []; // the answers of the open step
  const given = new Map(); // the answer that a step has got
  // On a phone the open step lies over the figure: once it is answered, its question keeps quiet or folds away (base.css).
  const setFolded = (folded) => {
    panel.classList.toggle("d2lrnn-folded", folded);
    folder.setAttribute("aria-expanded", String(!folded));
  };

  const titles = steps.map((_, i) => buttonControl({
    label: [element("span", { class: "d2lrnn-step-number", "aria-hidden": "true" }, String(i + 1)), " ",
      element("span", { class: "d2lrnn-step-name" }, t(`step_${i + 1}`))],
    class: "d2lrnn-button d2lrnn-step-title", "aria-expanded": "false", signal, onPress: () => choose(open === i ? -1 : i),
  }));

  const answer = (i, j) => {
    given.set(i, j);
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === j)));
    set(steps[i].state);
    const values = outcome(i, j);
    const right = values.right ?? steps[i].right;
    const isJudged = right !== null && right !== undefined;
    const verdict = isJudged ? [element("b", { class: "d2lrnn-verdict" }, t(right === j ? "step_right" : "step_wrong")), " "] : [];
    if (isJudged) buttons[right].classList.add("d2lrnn-right");
    told.classList.toggle("d2lrnn-missed", isJudged && right !== j);
    told.replaceChildren(...verdict, t(`step_${i + 1}_outcome`, values));
    told.classList.remove("d2lrnn-past");
    told.hidden = false;
    titles[i].classList.add("d2lrnn-done");
    setFolded(true);
    say(told.textContent, { isOutcome: true });
    lookAt(i);
    watch();
  };
  // What the figure does by itself after an answer belongs to it; what comes with a finger, a mouse or a key is the reader's.
  let before = null;
  const watch = () => {
    const figure = node.closest(".d2lrnn-shape");
    const isFirst = before === null;
    before = state();
    if (!isFirst) return;
    for (const kind of ["pointerdown", "keydown"]) figure.addEventListener(kind, () => { before = state(); }, { signal, capture: true });
    for (const kind of ["pointerup", "click", "input"]) figure.addEventListener(kind, compare, { signal });
  };
  const compare = ({ target }) => setTimeout(() => {
    if (signal.aborted || told.hidden || told.classList.contains("d2lrnn-past") || node.contains(target)) return;
    const now = state();
    if (Object.keys(now).every((name) => String(now[name]) === String(before[name]))) return;
    told.classList.add("d2lrnn-past");
    told.prepend(t("step_past"), " ");
  });
  const lookAt = (i) => requestAnimationFrame(() => { // the figure has been drawn
    const part = node.closest(".d2lrnn-shape")?.querySelector(steps[i].look ?? ":not(*)");
    if (part && getComputedStyle(node).position === "sticky") bringAbove(node, part);
    else if (!told.hidden) bringBack(node);
  });
  const choose = (i) => {
    if (i >= 0 && steps[i].before) set(steps[i].before);
    ask(i);
    if (given.has(i)) answer(i, given.get(i));
  };
  const ask = (i) => {
    open = i;
    titles.forEach((title, k) => title.setAttribute("aria-expanded", String(k === i)));
    panel.hidden = i < 0;
    told.hidden = true;
    setFolded(false);
    if (i < 0) return;
    question.textContent = t(`step_${i + 1}_question`, asked(i));
    answers.setAttribute("aria-label", question.textContent);
    buttons = Array.from({ length: steps[i].answers }, (_, j) => buttonControl({
      label: t(`step_${i + 1}_answer_${j + 1}`), "aria-pressed": "false", signal, onPress: () => answer(i, j),
    }));
    answers.replaceChildren(...buttons);
    lookAt(i);
  };
  onReset(() => {
    given.clear();
    titles.forEach((title) => title.classList.remove("d2lrnn-done"));
    choose(-1);
  });
  const node = element(
    "div", { class: "d2lrnn-steps" },
    element("div", { class: "d2lrnn-step-titles", role: "group", "aria-label": t("steps_title") },
      element("span", { class: "d2lrnn-steps-label", "aria-hidden": "true" }, t("steps_title")), ...titles),
    panel,
  );
  const leave = () => {
    if (open >= 0 && told.hidden) ask(-1);
  };
  /** Whether a question waits for its guess, which nothing may give away. */
  const isAsking = () => open >= 0 && told.hidden;
  /** Something was touched that would give the answer away: it waits, and the answers ask for a guess. */
  const urge = () => {
    if (answers.getAnimations().length === 0) {
      const colors = ["transparent", "currentColor", "transparent"];
      answers.animate(colors.map((color) => ({ outline: `3px solid ${color}`, outlineOffset: "3px", borderRadius: "0.4rem" })), 1400);
    }
    say(t("guess_first"));
  };
  return { node, ask, leave, opened: () => open, isAsking, urge };
}

/** Where the steps do not lie over the figure, as on a phone, a question that opens and its outcome are scrolled into view. */
export function keepInView(steps, { signal }) {
  const step = steps.querySelector(".d2lrnn-step");
  const bring = () => {
    if (step.hidden || signal.aborted || getComputedStyle(steps).position === "sticky") return;
    step.scrollIntoView({ block: "nearest", behavior: behavior() });
  };
  steps.addEventListener("click", () => requestAnimationFrame(bring), { signal });
}

/** What most readers do not need at first, under a title that opens it. */
export function fold(title, ...children) {
  return element("details", { class: "d2lrnn-fold" }, element("summary", {}, title), ...children);
}

/** The last row: reset, and on a page a link to the state; what is said of the link goes when the figure changes. */
export function footRow({ t, reset, link, say, signal }) {
  const told = element("span", { class: "d2lrnn-told" });
  let shared = null; // the link of which is told
  const tell = (words) => {
    told.textContent = words;
    told.style.visibility = "";
  };
  const share = async () => {
    const url = link();
    history.replaceState(history.state, "", url); // a page from disk may have no clipboard: the address bar it has
    let words = t("link_shown");
    try {
      await navigator.clipboard.writeText(url);
      words = t("link_copied");
    } catch {
      // told by `link_shown`
    }
    if (shared === null) node.closest(".d2lrnn-widget").addEventListener("d2lrnn-drawn", forget, { signal });
    shared = url;
    tell(words);
    say(words);
    forget(); // it may have changed meanwhile
  };
  const forget = () => {
    if (link() !== shared) told.style.visibility = "hidden"; // its room stays: nothing jumps under the hand
  };
  const startAgain = () => {
    tell("");
    reset();
    if (shared === null || new URL(shared, location.href).href !== location.href) return;
    history.replaceState(history.state, "", location.href.split("#")[0]); // else the page, loaded again, would bring it back
  };
  const buttons = [buttonControl({ label: t("reset"), signal, onPress: startAgain })];
  if (link) buttons.push(buttonControl({ label: t("link"), signal, onPress: share }));
  const node = element("div", { class: "d2lrnn-row d2lrnn-foot" }, ...buttons, told);
  return node;
}

/**
 * Let a reader drag on a picture. `move({ x, y, event })` gets shares of the node's box, 0 to 1, clamped; `start` may
 * refuse by returning false. With `axis` "x" a finger that moves up still scrolls the page.
 */
export function dragOn(node, { axis = "x", start = () => true, move, end = () => {}, signal }) {
  node.style.touchAction = { x: "pan-y", y: "pan-x", both: "none" }[axis];
  node.style.userSelect = "none"; // a drag over letters is no selection
  node.style.webkitUserSelect = "none";
  const at = (event) => {
    const box = node.getBoundingClientRect();
    const share = (value, from, size) => Math.min(1, Math.max(0, size > 0 ? (value - from) / size : 0));
    return { x: share(event.clientX, box.left, box.width), y: share(event.clientY, box.top, box.height), event };
  };
  let dragging = false;
  const listen = (kind, act) => node.addEventListener(kind, act, { signal });
  listen("pointerdown", (event) => {
    if (event.button > 0 || start(at(event)) === false) return;
    dragging = true;
    try {
      node.setPointerCapture(event.pointerId);
    } catch {
      // the pointer has gone already
    }
    move(at(event));
  });
  listen("pointermove", (event) => dragging && move(at(event)));
  for (const kind of ["pointerup", "pointercancel"]) {
    listen(kind, () => {
      if (dragging) end();
      dragging = false;
    });
  }
}

/** Call `act` once, when half of a node (or half a screen of it) is seen for the first time. */
export function whenSeen(node, { act, signal }) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    act();
  }, { threshold: 0.5 });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

/** Call `act` with the width of a node in pixels, when it has one and when it changes. */
export function watchWidth(node, { act, signal }) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    const now = Math.round(node.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    act(width);
  });
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

/**
 * A motion from 0 to 1 in `seconds`: `run(frame)` calls `frame(share)` until 1 and resolves to true, or to false where
 * another run or the end of the view stops it. Where the reader asked for less movement it jumps to 1.
 */
export function motion({ seconds, signal }) {
  let current = 0;
  const stop = () => (current += 1);
  const run = (frame) => new Promise((resolve) => {
    const mine = (current += 1);
    if (prefersReducedMotion()) {
      frame(1);
      resolve(true);
      return;
    }
    let begin = null;
    const tick = (now) => {
      if (signal.aborted || mine !== current) {
        resolve(false);
        return;
      }
      begin ??= now;
      const share = Math.min(1, (now - begin) / (1000 * seconds));
      frame(share);
      if (share < 1) requestAnimationFrame(tick);
      else resolve(true);
    };
    requestAnimationFrame(tick);
  });
  return { run, stop };
}
