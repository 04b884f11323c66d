// What the lab says: the names of rivals and settings, and the sentence on top. No page here.
import { formatNumber } from "../ui.mjs";
import { beforeCat, bestOf, changed, isBlind, isLost, isMemorising, reached, standing } from "./maths.mjs";

const value = (number) => formatNumber(number);

export const levelName = (t, { order }) => (order > 0 ? t("level_n", { order }) : t("level_0"));

/** A rival in a sentence. */
export const rivalName = (t, level) => (level.order > 0 ? t("beaten_n", { name: levelName(t, level) }) : t("beaten_0"));

/** With its perplexity. */
const nextName = (t, level) =>
  (level.order > 0 ? t("rival", { name: levelName(t, level), value: value(level.perplexity) }) : t("rival_0", { value: value(level.perplexity) }));

/** Which of the settings `names` differ from those given, in words. */
export const changes = (t, values, given, names) => changed(values, given, names).map((name) => {
  if (name === "clip" && values.clip === 0) return t("clip_none");
  if (name === "carry") return t(`changed_carry_${values.carry ? "yes" : "no"}`);
  return t(`changed_${name}`, { value: name === "optimizer" ? t(`optimizer_${values.optimizer}`) : values[name] });
});

/**
 * The key of the sentence that says how a run is: `clip` is its bound, `isCopied`
 * whether its unseen pages are no measure, because they stand in the others, `isTold` whether it stops at an update that is given.
 */
export function sentenceKey(report, { clip, isCopied, isTold = false }) {
  const { steps, status, catAt, ended, levels } = report;
  const { beaten, next } = standing(reached(report, { isTold }), levels);
  if (status === "diverged") return "now_diverged";
  if (steps === 0) return "now_fresh";
  const blind = isBlind(report) ? "_blind" : "";
  if (isMemorising(report) && !isCopied) return `now_overfits${blind}`;
  if (isLost(report)) return `${catAt > 0 ? "now_cat" : clip > 0 ? "now_lost" : "now_lost_unclipped"}${blind}`;
  if (beaten && isCopied) return "now_copied";
  if (!beaten && !next) return "now_plain";
  const rank = !beaten ? "none" : next ? "better" : "all";
  if (status !== "ended") return `now_${rank}`;
  return ended === "until" ? `stop_${rank}` : `end_${rank}`;
}

/** The values of its words; `copied` is the share of the unseen pages that stands in the others. */
export function sentenceValues(t, report, copied, isTold = false) {
  const { steps, status, perplexity, heldout, train, levels } = report;
  const least = reached(report, { isTold });
  const { beaten, next } = standing(least, levels);
  return {
    steps: formatNumber(steps, 0), perplexity: value(perplexity), reached: least === perplexity ? value(least) : t(isBlind(report) ? "reached_now_blind" : "reached_now", { best: value(least), now: value(perplexity) }), percent: formatNumber(100 * copied, 0),
    train: value(train.ys.at(-1) ?? NaN), before: value(beforeCat(report)), best: value(bestOf(heldout)),
    beaten: beaten && rivalName(t, beaten), next: next && (status === "ended" ? nextName : rivalName)(t, next),
  };
}
