// Stories: a question to guess at, a run (or two) that ends by itself, and what it came to, measured.
import { bringAbove } from "../shape.mjs";
import { buttonControl, element } from "../ui.mjs";

const BETWEEN_MS = 3000; // time to look at the first run's end

/**
 * `run(step, phase)` starts a story's run afresh; `hear(report)` is told every report, and knows when it has ended, or, where
 * the step says `tells`, when the report has what is asked for; `count(report)` says in words how far it is meanwhile;
 * `outcome(i, reports)` gives the values of the words that tell it. `onOpen(i)` hears which story a reader asks for, -1 for
 * none; `show(i)` opens it, `setting(changes)` tells what is set for it. `leave` ends a story, or takes its outcome away, because something else begins.
 */
export function storiesPanel({ t, steps, signal, onReset, say, run, outcome, count, onOpen }) {
  const question = element("p", { class: "d2lrnn-question" });
  const answers = element("div", { class: "d2lrnn-answers", role: "group" });
  const told = element("p", { class: "d2lrnn-outcome", hidden: true });
  const changed = element("p", { class: "lab-note lab-set", hidden: true });
  const folder = buttonControl({
    label: [], class: "d2lrnn-button d2lrnn-step-fold", "aria-label": t("step_fold"), signal,
    onPress: () => setFolded(!panel.classList.contains("d2lrnn-folded")),
  });
  const panel = element("div", { class: "d2lrnn-step", hidden: true }, folder, question, changed, answers, told);
  // On a phone the open story lies over the figure: once it is answered, its question is one line (base.css).
  const setFolded = (folded) => {
    panel.classList.toggle("d2lrnn-folded", folded);
    folder.setAttribute("aria-expanded", String(!folded));
  };
  let open = -1;
  let story = null; // { i, guess, reports } while one is told
  let isOwn = false; // whether the beginning of a run is the story's own
  let isAwaited = false; // whether what the open story asks about comes with a report
  let lastRun; // of the report that was heard last; a kernel's reports name none

  const titles = steps.map((_, i) => buttonControl({
    label: [element("span", { class: "d2lrnn-step-number", "aria-hidden": "true" }, String(i + 1)), " ",
      element("span", { class: "d2lrnn-step-name" }, t(`step_${i + 1}`))],
    class: "d2lrnn-button d2lrnn-step-title", "aria-expanded": "false", signal, onPress: () => onOpen(open === i ? -1 : i),
  }));

  const tell = (words, verdict = []) => {
    told.replaceChildren(...verdict, words);
    told.hidden = false;
    say(told.textContent);
  };
  const start = (i, guess, buttons) => {
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === guess)));
    buttons.forEach((button) => button.classList.remove("d2lrnn-right"));
    told.classList.remove("d2lrnn-missed");
    story = { i, guess, buttons, reports: [], begun: false };
    begin();
    setFolded(true);
    lookAt(i);
  };
  /** On a phone the open story lies at the foot of the screen: what it asks about comes above it, once it is drawn. */
  const lookAt = (i) => {
    const part = panel.closest(".d2lrnn-shape")?.querySelector(steps[i].look);
    const sheet = [panel, node].find((one) => getComputedStyle(one).position === "sticky");
    if (!part || !sheet) return;
    isAwaited = !part.checkVisibility();
    if (!isAwaited) bringAbove(sheet, part);
  };
  const begin = () => {
    const { i, reports } = story;
    const kept = story;
    story.before = lastRun;
    isOwn = true;
    run(steps[i], reports.length);
    isOwn = false;
    story = kept;
    story.begun = false;
    tell(t(reports.length === 0 ? `step_${i + 1}_running` : `step_${i + 1}_running_${reports.length + 1}`));
  };
  const choose = (i) => {
    open = i;
    story = null;
    isAwaited = false;
    titles.forEach((title, k) => title.setAttribute("aria-expanded", String(k === i)));
    panel.hidden = i < 0;
    told.classList.remove("d2lrnn-missed");
    told.hidden = true;
    setFolded(false);
    if (i < 0) return;
    question.textContent = t(`step_${i + 1}_question`);
    answers.setAttribute("aria-label", question.textContent);
    const buttons = Array.from({ length: steps[i].answers }, (_, j) => buttonControl({
      label: t(`step_${i + 1}_answer_${j + 1}`), "aria-pressed": "false", signal, onPress: () => start(i, j, buttons),
    }));
    answers.replaceChildren(...buttons);
    lookAt(i);
  };
  const hear = (report) => {
    lastRun = report.run;
    if (isAwaited) lookAt(open);
    if (story === null || story.waits) return;
    if (report.steps < 5 || lastRun !== story.before) story.begun = true; // reports of the run before are not the story's
    const { i, guess, buttons, reports } = story;
    const { tells, right, then } = steps[i];
    const isOver = report.status === "ended" || report.status === "diverged";
    if (!story.begun) return;
    if (!isOver && !(tells && report[tells])) {
      const far = count(i, report);
      if (far) told.textContent = far;
      return;
    }
    if (tells && !report[tells]) { // it never came about
      story = null;
      tell(t("step_never"));
      return;
    }
    reports.push(report);
    if (reports.length <= (then ? 1 : 0)) {
      const kept = story;
      story.waits = true;
      tell(t(`step_${i + 1}_between`, outcome(i, reports)));
      setTimeout(() => {
        if (signal.aborted || story !== kept) return;
        story.waits = false;
        begin();
      }, BETWEEN_MS);
      return;
    }
    story = null;
    buttons[right].classList.add("d2lrnn-right");
    titles[i].classList.add("d2lrnn-done");
    told.classList.toggle("d2lrnn-missed", guess !== right);
    const verdict = element("b", { class: "d2lrnn-verdict" }, t(guess === right ? "step_right" : "step_wrong"));
    tell(t(`step_${i + 1}_outcome`, outcome(i, reports)), [verdict, " "]);
    if (i + 1 < steps.length) { // on a phone the titles lie below the sheet
      told.append(" ", buttonControl({ label: t("step_next", { step: i + 2 }), class: "d2lrnn-button lab-onward", signal, onPress: () => onOpen(i + 1) }));
    }
    lookAt(i);
  };
  onReset(() => {
    titles.forEach((title) => title.classList.remove("d2lrnn-done"));
    choose(-1);
  });
  const node = element(
    "div", { class: "d2lrnn-steps" },
    element("div", { class: "d2lrnn-step-titles", role: "group", "aria-label": t("steps_label") },
      element("span", { class: "d2lrnn-steps-label", "aria-hidden": "true" }, t("steps_label")), ...titles),
    panel,
  );
  return {
    node,
    hear,
    show: (i) => i !== open && choose(i),
    /** The settings that are not as they were, in words: they stand with the question. */
    setting(changes) {
      changed.hidden = changes.length === 0;
      changed.textContent = t("step_set", { changes: changes.join(", ") });
    },
    /** Whether a story is being told: its run, or the next of its runs, is still to come to an end. */
    isTelling: () => story !== null,
    /** Something else begins: the story is over, and what it told is not of the new run. */
    leave() {
      if (isOwn || told.hidden) return;
      told.classList.remove("d2lrnn-missed");
      for (const button of answers.children) {
        button.classList.remove("d2lrnn-right");
        button.setAttribute("aria-pressed", "false");
      }
      if (story === null) told.hidden = true;
      else tell(t("step_lost"));
      story = null;
    },
  };
}
