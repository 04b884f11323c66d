// Windows: pieces of a text as lines. Where a network reads on, a memory kept cools the first guesses of each line; where it jumps, it misleads.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, watchWidth } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, selectControl, visibleCharacter } from "../ui.mjs";
import { sizeControl, typedControl } from "./controls.mjs";
import { caseOf, derive, isApart, jumpedOf, limits, meetingOf, meets, networkIn, percent, presetOf, repair, tellingLine, tokensNeeded, tokensSpare } from "./maths.mjs";
import { arraysPanel, choicePanel, cutsPanel, firstsPanel, guessPanel, linesPanel, placeWords, textPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { controls: CONTROLS, presets: PRESETS, steps: [, , { before: MEETING }] } = SPEC;
const GLIDE_SECONDS = 1.2;
const PHONE = 544; // below, the steps come before the guesses of all letters, so that they are still on the screen
const LEAVES = 0.42; // of that time: until here the old window is left, then the new one is read

const WIDEST = { length: CONTROLS.length.min, batch_size: CONTROLS.batch_size.max, num_steps: CONTROLS.num_steps.max };

const within = (share, begin, end) => Math.min(1, Math.max(0, (share - begin) / (end - begin)));
const smooth = (share) => share * share * (3 - 2 * share);

/** Minibatch k: where its windows stand, each to be seen. */
const standing = ({ epoch }, k) => (epoch[k] ?? []).map((start) => ({ start, shown: 1 }));

/** On the way from minibatch k - 1 to k. In sequence the windows go on along the text. At random they leave, and come up elsewhere. */
function onTheWay(model, k, share) {
  const { carries, num_steps } = model;
  if (carries) return standing(model, k).map(({ start, shown }) => ({ start: start - num_steps * (1 - smooth(within(share, 0.05, 0.95))), shown }));
  if (share > LEAVES) return standing(model, k).map(({ start }) => ({ start, shown: smooth(within(share, LEAVES, 0.9)) }));
  return standing(model, k - 1).map(({ start }) => ({ start, shown: 1 - smooth(within(share, 0.1, LEAVES)) }));
}

/** The living sentence of several readers, or of numbers: its key, and its values. */
function sentence(t, model) {
  const { move, effect } = caseOf(model);
  const { kept: [kept], empty: [empty] } = model.guess ?? { kept: [0], empty: [0] };
  const values = { who: t(model.batch_size === 1 ? "it" : "reader_1"), kept: percent(kept), empty: percent(empty) };
  return [`now_${move}${effect === null ? "" : `_${effect}`}`, values];
}

/** The same of a later guess that is chosen. */
function sentenceOf({ guess }, chosen) {
  const [kept, empty] = [guess.kept[chosen], guess.empty[chosen]];
  const effect = !isApart(kept, empty) ? "same" : kept > empty ? "helps" : "not";
  return [`now_nth_${effect}`, { n: chosen + 1, kept: percent(kept), empty: percent(empty) }];
}

/** That of lines: their first guesses with this memory. */
function sentenceOfLines({ firsts, carries, memory }) {
  return firsts === null ? ["lines_one", {}] : [carries ? `lines_${memory}` : `jumps_${memory}`, { [memory]: percent(firsts[memory]) }];
}

function tooShort(t, model) {
  const spare = tokensSpare(model);
  const kind = spare === 0 ? "sequential" : model.carries ? "offset" : "adjoining";
  const { tokens: { length }, batch_size, num_steps } = model;
  const form = (count) => (count === 1 ? "one" : "many");
  return t("too_short", {
    tokens: length, unit: t(length === 1 ? "text_one" : "text_many"), needed: tokensNeeded(model),
    readers: t(`readers_${form(batch_size)}`, { count: batch_size }), steps: t(`steps_${form(num_steps)}`, { count: num_steps }), spare: t(`spare_${kind}`, { spare }),
  });
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  let model = null;
  let isHeld = false; // by a hand
  let isGliding = false;
  const seen = new Set(); // the memories that were switched on
  let glide = motion({ seconds: GLIDE_SECONDS, signal });

  const nextSeed = () => (state().seed + 1) % (CONTROLS.seed.max + 1);
  const keep = (values) => commit(repair({ ...state(), ...values }));
  /** Another text opens on the line that tells most. */
  const keepText = (values) => {
    const next = repair({ ...state(), ...values, minibatch: 1, cut_at: 0 });
    commit({ ...next, minibatch: tellingLine(derive({ ...state(), ...next })) });
  };

  /** The figure above may grow or shrink: a slider stays under the hand. */
  const keepPlace = (node, act) => {
    const { top } = node.getBoundingClientRect();
    act();
    queueMicrotask(() => scrollBy({ top: node.getBoundingClientRect().top - top, behavior: "instant" })); // it has been drawn
  };

  const now = nowLine();
  const glides = (isOn) => {
    isGliding = isOn;
    root.classList.toggle("win-glides", isOn);
  };
  const go = (minibatch) => {
    steps.leave(); // a question that is open is of another piece
    commit({ minibatch });
  };
  const text = textPanel({
    t, signal, onStep: go,
    onHold: () => {
      if (!isGliding) return;
      glide.stop();
      glides(false);
      rest();
    },
    onTravel: (minibatch) => {
      isHeld = true;
      go(minibatch);
    },
    onDrop: () => { isHeld = false; },
  });
  const arrays = arraysPanel({ t, signal });
  /** What a "?" stands for is shown; the hand, or the key, is then at the memory that was switched on. */
  const onSwitch = (memory) => {
    steps.leave();
    keep({ memory });
    memories.focus(memory);
  };
  const firsts = firstsPanel({
    t, signal, onSwitch,
    onAgain: () => {
      steps.leave();
      keep({ seed: nextSeed() });
    },
  });
  const guess = guessPanel({ t, signal, onChoose: () => tell() });
  const cuts = cutsPanel({ t, signal, onCut: (cut_at) => keep({ cut_at, sampling: "sequential" }) }); // one cut, no more all of them
  let aim = 0; // the guess to be chosen in the line that comes
  const block = linesPanel({ t, signal, onChoose: (k, n) => {
    if (k === model.k) return guess.choose(n);
    aim = n;
    return commit({ minibatch: k + 1 });
  } });
  const choice = (name, choices, look) => choicePanel({
    ...look, signal, choices,
    onChoose: (value) => {
      if (model.meets) return keep({ sampling: value, cut_at: MEETING.cut_at });
      steps.leave();
      keep({ [name]: value });
      return tell(); // also where it was chosen already
    },
  });
  const memories = choice("memory", { empty: t("memory_empty"), kept: t("memory_kept") }, { name: t("memory"), kind: "win-memories" });
  const orders = choice("sampling", { sequential: t("order_sequential"), random: t("order_random") }, { name: t("reading"), kind: "win-orders" });
  const fixed = element("span", { class: "win-wait" }, t("order_fixed"));
  const place = element("span", { class: "win-place" });
  const next = buttonControl({
    label: t("next"), class: "d2lrnn-button win-next", signal,
    onPress: () => {
      if (!model.isLast) return go(model.k + 2);
      steps.leave();
      return keep({ minibatch: 1, ...(model.carries ? {} : { seed: nextSeed() }) }); // at random, each pass cuts other pieces
    },
  });

  // ---- controls behind "change" ----
  const presets = Object.keys(PRESETS).map((name) => [name, t(`preset_${name}`)]);
  const sources = CONTROLS.source.choices.map((value) => [value, t(`source_${value}`)]);
  const samplings = CONTROLS.sampling.choices.map((value) => [value, t(`sampling_${value}`)]);
  const example = selectControl({
    label: t("examples"), options: [["", t("preset_none")], ...presets], signal,
    onChange: (name) => (name === "" ? example.set(presetOf(model)) : keepText(PRESETS[name])),
  });
  const source = selectControl({ label: t("source"), options: sources, signal, onChange: (value) => keepText({ source: value }) });
  const sampling = selectControl({ label: t("sampling"), options: samplings, signal,
    onChange: (value) => {
      steps.leave(); // it may be what a question asks about
      keep({ sampling: value, minibatch: 1, cut_at: 0 });
    },
  });
  const typed = typedControl({ t, signal, say, onText: (value) => keepText({ own_text: value }) });
  const sizes = Object.fromEntries(["length", "batch_size", "num_steps", "offset"].map((name) => {
    const { min, max } = CONTROLS[name];
    const control = sizeControl({ label: t(name), min, max, signal, onInput: (value) => keepPlace(control.node, () => keep({ [name]: value, cut_at: 0 })) }); // no way back to a picture that is left
    return [name, control];
  }));
  const draws = buttonControl({
    label: t("draw"), signal, onPress: () => keep({ seed: nextSeed(), minibatch: 1 }),
  });

  let met = null; // the letter of the third step, counted once, as its text is always the same
  const letterMet = () => {
    if (met === null) {
      const cut = derive({ ...state(), ...MEETING });
      const network = networkIn(cut.weights);
      const { empty, kept } = cut.firsts;
      const { firsts: { empty: afterJumps } } = derive({ ...state(), ...SPEC.steps[1].before });
      met = { ...meetingOf(network, cut, cut.epoch[cut.k][0] + 1), kept: cut.guess.kept[0], afterJumps, ways: { empty, jump: jumpedOf(network, cut), kept } };
    }
    return met;
  };
  const wordsOfLetter = () => {
    const { letters, at, chances, average, kept } = letterMet();
    return { letter: letters[at], begin: letters[at - 1], read: percent(chances[at - 1]), jumped: percent(average), kept: percent(kept) };
  };
  const steps = guidedSteps({
    t, steps: SPEC.steps, onReset, say, signal,
    set: commit,
    // Another line changes no outcome, and that of the third step holds for both orders and every cut.
    state: () => {
      const free = steps.opened() === 2 ? ["minibatch", "sampling", "seed", "cut_at"] : ["minibatch"];
      return { ...Object.fromEntries(Object.entries(state()).filter(([name]) => !free.includes(name))), meets: meets(state()) };
    },
    outcome: () => {
      if (steps.opened() === 2) return wordsOfLetter();
      const { firsts: { kept, empty } } = derive(state());
      return { kept: percent(kept), empty: percent(empty) };
    },
  });
  /** Whether a question is open of which the memory kept is the answer. */
  const isAsked = () => [0, 1].includes(steps.opened()) && steps.isAsking();
  /** Whether the other memory's guesses are not told: it was never switched on, or a question asks for them. */
  const isHidden = () => model.lines !== null && (isAsked() || !seen.has(model.memory === "kept" ? "empty" : "kept"));
  /** Of the third step: whether the cut is none that reading on or jumping makes. */
  const isOwnCut = () => model.meets && model.carries && model.cut_at !== MEETING.cut_at;
  const meetingWords = () => {
    const { letters, at, chances } = letterMet();
    const cut = { first: visibleCharacter(letters[model.cut_at]), p: percent(chances[model.cut_at]) };
    const own = letters[model.cut_at] === letters[at] ? "own_same" : "own";
    return [`cuts_${!model.carries ? "jump" : isOwnCut() ? own : "on"}`, { ...wordsOfLetter(), ...cut }];
  };
  const said = () => {
    if (model.epoch.length === 0) return [tooShort(t, model)];
    const [key, values] = model.meets ? meetingWords() : model.lines !== null ? sentenceOfLines(model)
      : model.guess === null || model.k === 0 || guess.chosen() === 0 ? sentence(t, model) : sentenceOf(model, guess.chosen());
    return emphasised(t.raw(key).replace("{who}", values.who), values);
  };
  const tell = () => {
    guess.draw(model, isHidden(), aim);
    const isFixed = model.meets && steps.isAsking();
    root.classList.toggle("win-meets", model.meets);
    if (model.meets) cuts.draw(letterMet(), model.cut_at, { isAll: !model.carries, isFixed });
    orders.draw(isOwnCut() ? null : model.carries ? "sequential" : "random", isFixed);
    fixed.hidden = !isFixed;
    aim = 0;
    now.set(...said());
    now.node.classList.toggle("d2lrnn-error", model.epoch.length === 0);
    if (model.lines !== null) {
      block.draw(model, guess.chosen());
      firsts.draw(model, isHidden());
    }
    measured.hidden = model.guess === null; // no network reads numbers
    leadQuestion.hidden = model.guess === null || model.meets;
    measured.replaceChildren(...["measured", ...(model.source === "story" ? ["measured_story"] : []), ...(model.lines !== null ? ["measured_lines", "measured_jumps"] : ["measured_little"]), ...(model.meets ? ["measured_cuts"] : [])].map((line) => element("p", {}, t(line))));
    leadQuestion.textContent = t(model.lines !== null ? "lead_line" : "lead_question");
    lead.textContent = model.meets ? t("lead_cut", wordsOfLetter()) : t(model.lines !== null ? (model.source === "story" ? "lead_story" : "lead") : !model.isText ? "lead_numbers" : model.batch_size > 1 ? "lead_readers" : "lead_text", { count: model.batch_size });
  };
  steps.node.addEventListener("click", () => {
    if (model.meets && steps.opened() !== 2) commit({ cut_at: 0 }); // the step was closed
    tell();
  }, { signal });
  const xy = fold(t("arrays"), arrays.node);
  xy.classList.add("win-xy");
  onReset(() => {
    xy.open = false;
    guess.choose(0);
    seen.clear();
    tell();
  });

  const lead = element("span", {});
  const leadQuestion = element("span", {});
  const measured = element("div", { class: "win-title win-measured" });
  const memoryChoice = element("p", { class: "win-choice" }, element("span", {}, t("memory")), memories.node);
  const reading = element("div", { class: "win-reading" }, text.node, block.node, firsts.node, guess.node, cuts.node);
  const root = element(
    "div", { class: "d2lrnn-shape win" },
    element("p", { class: "d2lrnn-lead" }, lead, " ", leadQuestion),
    now.node,
    element("div", { class: "win-bar" },
      element("p", { class: "win-choice" }, element("span", {}, t("reading_line")), orders.node), memoryChoice, place, next, fixed),
    reading, steps.node, xy,
    fold(t("change"), element("div", { class: "win-controls" },
      example.node, source.node, sampling.node, ...Object.values(sizes).map(({ node }) => node), draws, typed.node), measured),
    footRow({ t, reset, link, say, signal }),
  );
  el.append(root);
  watchWidth(root, { signal, act: (width) => (width < PHONE ? steps.node : reading).after(guess.every) });

  const rest = () => {
    text.trails(model.k, model.isLast);
    text.paint(standing(model, model.k));
  };
  const showControls = () => {
    example.set(presetOf(model));
    source.set(model.source);
    sampling.set(model.sampling);
    typed.set(model.own_text, model.source === "own");
    const most = model.epoch.length > 0 ? limits(model) : { ...WIDEST, offset: model.batch_size * model.num_steps - 1 }; // too short while it is being typed: nothing moves
    sizes.length.node.hidden = !["story", "numbers"].includes(model.source);
    sizes.length.set(model.length, [most.length, CONTROLS.length.max]);
    sizes.batch_size.set(model.batch_size, [1, most.batch_size]);
    sizes.num_steps.set(model.num_steps, [1, most.num_steps]);
    sizes.offset.node.hidden = !model.carries;
    sizes.offset.set(model.offset, [0, most.offset]);
    draws.hidden = model.carries;
  };

  const cutOf = (each) => JSON.stringify(Object.keys(CONTROLS).filter((name) => name !== "minibatch").map((name) => each[name]));
  const draw = (given) => {
    const last = model;
    model = given;
    const isTheirs = model.lines !== null && model.source === "story" && (model.meets || !last?.meets || steps.opened() !== 2);
    if (!isTheirs && steps.opened() >= 0) steps.ask(-1); // the picture of a question and its answer has gone
    if (model.lines !== null) seen.add(model.memory);
    model.told = model.meets ? meetingWords() : model.lines !== null ? sentenceOfLines(model) : null;
    const { epoch, k } = model;
    const isLines = model.lines !== null;
    root.classList.toggle("win-as-lines", isLines);
    for (const each of [text.node, place, next]) each.hidden = isLines;
    for (const each of [block.node, firsts.node, memoryChoice]) each.hidden = !isLines;
    const goesOn = last !== null && k === last.k + 1 && cutOf(last) === cutOf(model) && !isHeld;
    place.textContent = placeWords(t, model);
    next.disabled = epoch.length === 0;
    orders.node.setAttribute("aria-label", t(isLines ? "reading_line" : "reading"));
    for (const panel of [arrays, ...(isLines ? [] : [text])]) panel.draw(model);
    memories.draw(model.memory);
    glide.stop();
    tell();
    showControls();
    if (isLines) {
      text.clear();
      return;
    }
    const isHurried = isGliding; // one more press while it moves: it is there at once
    glides(goesOn && !isHurried && !prefersReducedMotion());
    if (!isGliding) rest();
    else {
      text.trails(model.carries ? k : k - 1, false);
      glide = motion({ seconds: GLIDE_SECONDS, signal });
      glide.run((share) => {
        if (share > LEAVES) text.trails(model.k, false);
        if (share < 1) text.paint(onTheWay(model, k, share));
        else rest();
      }).then((isOver) => { if (isOver) glides(false); });
    }
  };

  return { draw };
}

export default explorable({
  spec: SPEC, data: ["text", "weights"], derive, repair, build,
  spoken: (model, t) => {
    if (model.epoch.length === 0) return tooShort(t, model);
    if (model.told !== null) return t(...model.told);
    return t("spoken", { place: placeWords(t, model), now: t(...sentence(t, model)) });
  },
});
