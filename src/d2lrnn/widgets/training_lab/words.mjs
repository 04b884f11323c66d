// What the lab says: the names of rivals and settings, and the sentence on top. No page here.
import { formatNumber } from "../ui.mjs";
import { beforeCat, bestOf, changed, isBlind, isLost, isMemorising, reached, standing } from "./maths.mjs";

const value = (number) => formatNumber(number);

/** What a rival does: its name beside the curve and in a sentence. */
export const levelName = (t, { order }) => (order > 2 ? t("level_n", { letters: order - 1 }) : t(`level_${order}`));

/** The same where there is little room: the end of that name. */
export const shortName = (t, { order }) => (order > 2 ? t("short_n", { letters: order - 1 }) : t(order === 2 ? "short_2" : `level_${order}`));

/** A number of corrections, of which there may be one. */
export const corrections = (t, steps) => t(steps === 1 ? "correction_1" : "corrections", { steps: formatNumber(steps, 0) });

/** The next rival after one that was just named. */
const nextName = (t, next, beaten, isOver) => (beaten?.order > 1 && next.order > 2 ? t(isOver ? "next_end" : "next_n", { letters: next.order - 1 }) : levelName(t, next));

/** Which of the settings `names` differ from those given, in words. */
export const changes = (t, values, given, names) => changed(values, given, names).map((name) => {
  if (name === "clip" && values.clip === 0) return t("clip_none");
  if (name === "carry") return t(`changed_carry_${values.carry ? "yes" : "no"}`);
  return t(`changed_${name}`, { value: name === "optimizer" ? t(`optimizer_${values.optimizer}`) : values[name] });
});

/**
 * The key of the sentence that says how a run is: `clip` is its bound, `isCopied`
 * whether its unseen pages are no measure, because they stand in the others, `isAsked` whether a question is open,
 * `isSingle` whether its corrections come one by one, `isGruNext` whether a GRU is offered once it ends.
 */
export function sentenceKey(report, { clip, isCopied, isAsked = false, isSingle = false, isGruNext = false }) {
  const { steps, status, catAt, ended, levels } = report;
  const { beaten, next } = standing(report.perplexity, levels);
  if (status === "diverged") return "now_diverged";
  if (steps === 0) return isAsked ? "now_asked" : "now_fresh";
  const blind = isBlind(report) ? "_blind" : "";
  if (isMemorising(report) && !isCopied) return `now_overfits${blind}`;
  if (isLost(report)) return `${catAt > 0 ? "now_cat" : clip > 0 ? "now_lost" : "now_lost_unclipped"}${blind}`;
  if (isSingle && status === "running") return "now_corrected";
  if (beaten && isCopied) return "now_copied";
  if (!beaten && !next) return "now_plain";
  const rank = !beaten ? "none" : next ? "better" : "all";
  if (status === "paused") return beaten ? "pause_better" : "pause_none";
  if (status !== "ended") return `now_${rank}`;
  if (ended === "until") return `stop_${rank}`;
  return rank === "better" && isGruNext ? "end_gru" : `end_${rank}`;
}

/** The values of its words; `copied` is the share of the unseen pages that stands in the others. */
export function sentenceValues(t, report, copied, isTold = false) {
  const { steps, status, perplexity, heldout, train, levels } = report;
  const least = reached(report, { isTold });
  const { beaten, next } = standing(perplexity, levels);
  return {
    corrections: corrections(t, steps), steps: formatNumber(steps, 0), passages: report.batchSize === 1 ? t("passage_1") : t("passages", { count: report.batchSize }), perplexity: value(perplexity), reached: least === perplexity ? value(least) : t("reached_now", { best: value(least), now: value(perplexity) }), percent: formatNumber(100 * copied, 0),
    train: value(train.ys.at(-1) ?? NaN), before: value(beforeCat(report)), best: value(bestOf(heldout)),
    first: formatNumber(heldout.ys[0], 1), rival: next && levelName(t, next), beaten: beaten && levelName(t, beaten), next: next && nextName(t, next, beaten, status === "ended"),
  };
}
