// Truncated backpropagation through time, in plain numbers: each letter back keeps the same share of the signal.
import SPEC from "./spec.json" with { type: "json" };

export const NUM_LETTERS = 12;
/** The lengths that divide the line: no window of it is a part of one. */
export const TAUS = SPEC.controls.tau.choices;

/** Every number of the page. The past has no end: cut after j letters, a guess keeps 1 - factor ** j of its signal. */
export function derive({ tau, way, factor, letter }) {
  const lostAfter = Array.from({ length: tau }, (_, i) => factor ** (i + 1));
  const reaches = Array.from({ length: NUM_LETTERS }, (_, i) => (way === "windows" ? (i % tau) + 1 : tau));
  const lost = { // a window's guesses reach 1, 2, ... letters
    windows: lostAfter.reduce((sum, share) => sum + share, 0) / tau, losses: lostAfter[tau - 1],
  };
  return {
    tau, way, factor, chosen: letter - 1, reaches, kept: reaches.map((reach) => 1 - lostAfter[reach - 1]), lost: lost[way],
    work: way === "windows" ? NUM_LETTERS : NUM_LETTERS * tau, // a window goes back once for all its guesses
  };
}

/** What a letter takes of an error that has come so many letters back. */
export const partAt = (factor, lag) => (1 - factor) * factor ** lag;
/** Of the guess after a letter that closes a bracket, where it opens: a short pair, and a long one. */
export const OPENS = Object.fromEntries(Object.entries(SPEC.controls.letter.opens).map(([letter, place]) => [letter - 1, place - 1]));
export const SHORT = Math.min(...Object.keys(OPENS));
export const LONG = Math.max(...Object.keys(OPENS));
/** What the opening bracket gets of the chosen guess's error. */
export const openPart = ({ factor, reaches, chosen }) => (reaches[chosen] > chosen - OPENS[chosen] ? partAt(factor, chosen - OPENS[chosen]) : 0);
const LITTLE = 0.01;
/** Whether the chosen guess can teach the network to remember that letter: the name of a word. */
export const canTeach = (part) => (part >= LITTLE ? "can" : part > 0 ? "hardly" : "cannot");

export const LEFT_SHOWN = 3; // letters before the line, of the text that goes on there
/** The last place on the left where a cut is drawn: letters beyond it fade. */
export const FARTHEST = 1 - LEFT_SHOWN;

/** Where the way back of the chosen guess is cut for each length, which is where the handle is. */
export const cutsOf = ({ way, chosen }) => TAUS.map((tau) => (way === "windows" ? chosen - (chosen % tau) : chosen + 1 - tau));

/** The possible length whose cut, as far as it is in sight, is nearest to a place; of some with that cut, the one that is next to `tau`. */
export function nearestTau(wish, { way, chosen, tau }) {
  const cost = cutsOf({ way, chosen }).map((cut, i) => 100 * Math.abs(Math.max(-LEFT_SHOWN, cut) - wish) + Math.abs(i - TAUS.indexOf(tau)));
  return TAUS[cost.indexOf(Math.min(...cost))];
}

/** The other lengths with the same cut, so that the chosen guess changes in nothing. */
export const sameCut = (model) => {
  const cuts = cutsOf(model);
  return TAUS.filter((tau, i) => tau !== model.tau && cuts[i] === cuts[TAUS.indexOf(model.tau)]);
};

const short = (text) => text.replace(/\.0$/, "");
const placesOf = (value) => (value >= 9.95 ? 0 : value >= 0.095 ? 1 : 2);

/** A share: 47%, 5%, 3.1%, 0.04%, <0.01%. */
export function percent(share) {
  const value = 100 * share;
  return value < 0.005 ? "<0.01%" : `${short(value.toFixed(placesOf(value)))}%`;
}

/** What gets through where that share is cut off, with as many places: the two make 100. */
export function percentKept(lost) {
  const value = 100 * lost;
  const places = placesOf(value);
  return value < 0.005 ? ">99.99%" : `${short((100 - value.toFixed(places)).toFixed(places))}%`;
}
