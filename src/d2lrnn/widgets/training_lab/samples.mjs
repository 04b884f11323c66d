// Texts that are at hand where a reader has none: small, and unlike the book's own story.

const SMALL = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
).split(" ");
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/** A number below a thousand in words. */
export function inWords(n) {
  if (n < 20) return SMALL[n];
  if (n < 100) return TENS[Math.floor(n / 10)] + (n % 10 ? `-${SMALL[n % 10]}` : "");
  return `${SMALL[Math.floor(n / 100)]} hundred${n % 100 ? ` and ${inWords(n % 100)}` : ""}`;
}

/** The opening of "The Frog King" of the brothers Grimm. */
const FROG = [
  "In den alten Zeiten, wo das Wünschen noch geholfen hat, lebte ein König, dessen Töchter waren alle schön; aber die jüngste war so",
  "schön, daß die Sonne selber, die doch so vieles gesehen hat, sich verwunderte, sooft sie ihr ins Gesicht schien. Nahe bei dem",
  "Schlosse des Königs lag ein großer dunkler Wald, und in dem Walde unter einer alten Linde war ein Brunnen; wenn nun der Tag sehr",
  "heiß war, so ging das Königskind hinaus in den Wald und setzte sich an den Rand des kühlen Brunnens; und wenn sie Langeweile",
  "hatte, so nahm sie eine goldene Kugel, warf sie in die Höhe und fing sie wieder; und das war ihr liebstes Spielwerk. Nun trug es",
  "sich einmal zu, daß die goldene Kugel der Königstochter nicht in ihr Händchen fiel, das sie in die Höhe gehalten hatte, sondern",
  "vorbei auf die Erde schlug und geradezu ins Wasser hineinrollte. Die Königstochter folgte ihr mit den Augen nach, aber die Kugel",
  "verschwand, und der Brunnen war tief, so tief, daß man keinen Grund sah. Da fing sie an zu weinen und weinte immer lauter und",
  "konnte sich gar nicht trösten.",
].join(" ");

/** What a reader can try, by the name of its words: each makes a text. */
export const SAMPLES = {
  counting: () => Array.from({ length: 1000 }, (_, n) => inWords(n)).join(", "),
  frog: () => FROG,
};
