// Windows: in sequence each reader goes on and keeps its memory, at random it jumps and its memory is emptied.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine } from "../shape.mjs";
import { buttonControl, element, explorable, prefersReducedMotion, rangeControl, selectControl } from "../ui.mjs";
import { sizeControl, typedControl } from "./controls.mjs";
import { derive, limits, presetOf, repair, tokensNeeded, tokensSpare } from "./maths.mjs";
import { arraysPanel, costPanel, legendPanel, orderPanel, stateWords, textPanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const { controls: CONTROLS, presets: PRESETS } = SPEC;
const LETTERS = 27; // a to z and space
const GLIDE_SECONDS = 1.2;
const LEAVES = 0.42; // of that time: until here the old window is left, then the new one is read
const PLAY_SECONDS = 0.9; // of each minibatch, with a rest behind it
const EPOCH_SECONDS = 30; // a long epoch plays faster still

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

/** What is the case now, and why the memory is kept or emptied. */
function tellNow(t, { epoch, k, carries, num_steps, batch_size }) {
  const many = batch_size === 1 ? "one" : "many";
  if (k === 0) return [t(`now_begin_${many}`)];
  if (carries) return [t(`now_carried_${many}`)];
  const follows = epoch[k].findIndex((start, row) => start === epoch[k - 1][row] + num_steps);
  return follows < 0 ? [t(`now_torn_${many}`)] : emphasised(t.raw("now_follows"), { reader: follows + 1 });
}

function tooShort(t, model) {
  const spare = tokensSpare(model);
  const kind = spare === 0 ? "sequential" : model.carries ? "offset" : "adjoining";
  return t("too_short", {
    tokens: model.tokens.length, batch_size: model.batch_size, num_steps: model.num_steps, needed: tokensNeeded(model),
    spare: t(`spare_${kind}`, { spare }),
  });
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  let model = null;
  let isPlaying = false;
  let isHeld = false; // by a hand
  let isGliding = false;
  let timer = 0;
  let glide = motion({ seconds: GLIDE_SECONDS, signal });

  const nextSeed = () => (state().seed + 1) % (CONTROLS.seed.max + 1);
  const keep = (values) => commit(repair({ ...state(), ...values }));

  const now = nowLine();
  const text = textPanel({
    t, signal,
    onTravel: (minibatch) => {
      isHeld = true;
      go(minibatch);
    },
    onDrop: () => { isHeld = false; },
  });
  const legend = legendPanel({ t });
  const arrays = arraysPanel({ t, signal });
  const costs = costPanel({ t, first: SPEC.first, of: LETTERS, steps: SPEC.steps });
  let isKnown = false; // what a wrong memory costs: the first step's answer
  const orders = orderPanel({
    t, signal,
    onOrder: (sampling) => {
      setPlaying(false);
      keep({ sampling });
    },
  });

  // ---- playing ----
  const secondsEach = () => Math.min(PLAY_SECONDS, Math.max(0.2, EPOCH_SECONDS / Math.max(1, model.epoch.length)));
  const again = () => keep({ minibatch: 1, ...(model.carries ? {} : { seed: nextSeed() }) }); // at random, each pass cuts other pieces
  const setPlaying = (value) => {
    isPlaying = value;
    clearTimeout(timer);
    play.textContent = t(value ? "pause" : "play");
  };
  const goOn = () => {
    clearTimeout(timer);
    if (!isPlaying) return;
    if (model.k + 1 >= model.epoch.length) setPlaying(false);
    else timer = setTimeout(() => commit({ minibatch: model.k + 2 }), 350 * secondsEach());
  };
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  const play = buttonControl({
    label: t("play"), class: "d2lrnn-button win-play", signal,
    onPress: () => {
      if (isPlaying) return setPlaying(false);
      if (model.epoch.length === 0) return undefined;
      setPlaying(true);
      if (model.k + 1 >= model.epoch.length && model.k > 0) return again();
      return goOn();
    },
  });
  const go = (minibatch) => {
    setPlaying(false);
    commit({ minibatch });
  };

  // ---- controls in sight ----
  const place = element("span", { class: "win-place" });
  const along = rangeControl({ label: place, min: 1, max: 1, signal, onInput: go });

  // ---- controls behind "change" ----
  const presets = Object.keys(PRESETS).map((name) => [name, t(`preset_${name}`)]);
  const sources = CONTROLS.source.choices.map((value) => [value, t(`source_${value}`)]);
  const samplings = CONTROLS.sampling.choices.map((value) => [value, t(`sampling_${value}`)]);
  const example = selectControl({
    label: t("examples"), options: [["", t("preset_none")], ...presets], signal,
    onChange: (name) => (name === "" ? example.set(presetOf(model)) : keep({ ...PRESETS[name], minibatch: 1 })),
  });
  const source = selectControl({ label: t("source"), options: sources, signal, onChange: (value) => keep({ source: value, minibatch: 1 }) });
  const sampling = selectControl({ label: t("sampling"), options: samplings, signal, onChange: (value) => keep({ sampling: value, minibatch: 1 }) });
  const typed = typedControl({ t, signal, say, onText: (value) => keep({ own_text: value }) });
  const sizes = Object.fromEntries(["length", "batch_size", "num_steps", "offset"].map((name) => {
    const { min, max } = CONTROLS[name];
    return [name, sizeControl({ label: t(name), min, max, signal, onInput: (value) => keep({ [name]: value }) })];
  }));
  const draws = buttonControl({
    label: t("draw"), signal, onPress: () => keep({ seed: nextSeed(), minibatch: 1 }),
  });

  const steps = guidedSteps({
    t, state, onReset, say, signal,
    steps: SPEC.steps.map((step) => ({ ...step, state: { ...step.before, ...step.state } })), // whatever was changed in between
    set: (values) => {
      setPlaying(false);
      commit(values);
    },
    outcome: (i) => {
      if (i === 0) isKnown = true;
      return {};
    },
  });
  /** The step whose answer is told; -1 for none. */
  const answered = () => (steps.node.querySelector(".d2lrnn-outcome").hidden ? -1 : steps.opened());
  const showCosts = () => model && costs.draw(model, answered(), isKnown);
  steps.node.addEventListener("click", showCosts, { signal });
  const xy = fold(t("arrays"), arrays.node);
  xy.classList.add("win-xy");
  onReset(() => {
    setPlaying(false);
    xy.open = isKnown = false;
    showCosts();
  });

  const root = element(
    "div", { class: "d2lrnn-shape win" },
    element("p", { class: "d2lrnn-lead" }, t("lead")),
    now.node,
    element("div", { class: "win-bar" }, orders.node, element("div", { class: "win-along" }, play, along.node)),
    element("div", { class: "win-reading" }, text.node, legend.node, costs.node), steps.node, xy,
    fold(t("change"), element("div", { class: "win-controls" },
      example.node, source.node, sampling.node, ...Object.values(sizes).map(({ node }) => node), draws, typed.node), element("p", { class: "win-title" }, t("measured"))),
    footRow({ t, reset, link, say, signal }),
  );
  el.append(root);

  const rest = () => {
    text.trails(model.k, model.isLast);
    text.paint(standing(model, model.k));
  };
  const showPlace = () => {
    const { epoch: { length: count }, k } = model;
    along.input.max = Math.max(1, count);
    along.input.disabled = play.disabled = count === 0;
    place.textContent = count ? t("place", { k: k + 1, count }) : t("place_none");
    along.set(k + 1, place.textContent);
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
    const { epoch, k } = model;
    const goesOn = last !== null && k === last.k + 1 && cutOf(last) === cutOf(model) && !isHeld;
    const isFits = epoch.length > 0;
    const tell = () => {
      showPlace();
      now.set(...(isFits ? tellNow(t, model) : [tooShort(t, model)]));
      now.node.classList.toggle("d2lrnn-error", !isFits);
      for (const panel of [legend, arrays, orders]) panel.draw(model);
      showCosts();
    };
    text.draw(model);
    glide.stop();
    tell();
    const isHurried = isGliding && !isPlaying; // one more press while it moves: it is there at once
    isGliding = goesOn && !isHurried && !prefersReducedMotion();
    if (!isGliding) {
      rest();
      goOn();
    } else {
      text.trails(model.carries ? k : k - 1, false);
      glide = motion({ seconds: isPlaying ? secondsEach() : GLIDE_SECONDS, signal });
      glide.run((share) => {
        if (share > LEAVES) text.trails(model.k, false);
        if (share < 1) text.paint(onTheWay(model, k, share));
        else rest();
      }).then((isOver) => {
        if (!isOver) return;
        isGliding = false;
        goOn();
      });
    }
    showControls();
  };

  return { draw };
}

export default explorable({
  spec: SPEC, data: ["text"], derive, repair, build,
  spoken: (model, t) => (model.epoch.length === 0 ? tooShort(t, model) : t("spoken", {
    k: model.k + 1, count: model.epoch.length,
    rows: model.epoch[model.k].map((start, row) => t("spoken_row", {
      reader: row + 1, from: start, to: start + model.num_steps - 1, state: stateWords(t, model, row),
    })).join(" "),
  })),
});
