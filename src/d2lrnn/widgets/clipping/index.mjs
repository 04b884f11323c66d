// Clipping: drag the ball and the limit of its steps, and see where ten of them lead; beneath, how a gradient is shortened.
import { emphasised, fold, footRow, guidedSteps, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, explorable, formatNumber, svg } from "../ui.mjs";
import { brief, derive, PATIENCE, RATE, RESTS, signed, slopeAt, slopeIn, STEPS } from "./maths.mjs";
import { lossPanel, planePanel } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const SMALL = 0.002; // of a weight: no step that is seen
const OFFERED = Object.fromEntries([0, 2].map((i) => [SPEC.steps[i].state.letters, SPEC.steps[i].state.clip])); // limits that help, for so many letters
const LONG = 20; // steps: fewer need no other limit

/** The living sentence: its keys, and its values; `isFirst` where the first step alone is drawn, `moves` a step that is still drawn on. */
function sentence({ isLower, slope, freeEnd, keptEnd, freeDown, keptDown, freeAcross, keptAcross, cuts, lucky, clip, clips }, t, isFirst = false, moves = null) {
  const isHelp = (freeDown ?? Infinity) >= LONG && (keptDown ?? Infinity) < LONG;
  const alone = isFirst ? ["now_first"] : [`now_free_${isLower ? "lower" : freeEnd}`, ...(isHelp && freeEnd === "thrown" && !isLower ? ["now_press"] : [])];
  const isKnown = freeEnd === "goal" ? "now_goal" : slope === 0 ? "now_none" : null;
  const kept = [`now_${cuts ? "kept" : "same"}_${keptEnd}`, ...(keptDown === 0 ? [] : lucky ? ["now_lucky"] : keptDown === 1 ? ["now_fewest"] : [])];
  const keys = moves !== null ? [`now_moves_${clips ? "kept" : "free"}`] : isKnown ? [isKnown] : clips ? [...(isLower ? ["now_lower"] : []), ...kept] : alone;
  return [keys, {
    step: moves, clip: brief(clip), free: stepsOf(freeDown, t), kept: stepsOf(keptDown, t),
    late: formatNumber((clips ? keptAcross : freeAcross) ?? 0, 0),
  }];
}

/** A number of steps in words. */
const stepsOf = (count, t) => t(count === null ? "steps_more" : count === 1 ? "steps_one" : "steps_many", { count: formatNumber(count ?? PATIENCE, 0) });

/** How many steps a ball needs, for the button that shows them; while it moves, nobody knows yet; a limit that cuts nothing has nothing to hide. */
function score({ slope, freeDown, keptDown, cuts, clips }, isKept, isFirst, moves, t) {
  if (moves !== null && (isKept === clips || !cuts)) return "…";
  if (freeDown !== 0 && slope !== 0 && (isFirst || (isKept && !clips && cuts))) return "?";
  return stepsOf(isKept ? keptDown : freeDown, t);
}

/** The living sentence in plain words. */
export function told(model, t) {
  const [keys, values] = sentence(model, t);
  return keys.map((key) => t(key, values)).join(" ");
}

/** What clipping makes of the two parts. */
function computation({ g_1, g_2, clip, by, clipped, length, factor, angle, acts }) {
  const straight = acts && by === "value" && Math.round(angle) === 0;
  const bent = straight && angle > 1e-6;
  return [`how_${by}${acts ? "" : "_short"}${straight ? "_straight" : ""}${bent ? "_nearly" : ""}`, {
    a: signed(g_1, 0), b: signed(g_2, 0), length: length.toFixed(1), clip: brief(clip), factor: factor.toFixed(2),
    c: signed(clipped[0]), d: signed(clipped[1]), angle: Math.round(angle),
  }];
}

function build({ el, t, signal, commit, reset, onReset, say, state, link }) {
  const { controls, steps } = SPEC;
  const show = motion({ seconds: 3, signal });
  let touched = false;
  let opens = true; // until the first question is answered, or the limited ball seen, nothing tells where the other steps lead
  let isChosen = false; // the limit, by the reader
  let waits = false; // a question shows the first step alone until it is answered
  const set = (values) => {
    touched = true;
    waits = values === steps[0].before;
    commit(values);
  };
  const drag = (values) => {
    isChosen ||= "clip" in values;
    set("clip" in values ? { ...values, clips: true } : values);
  };
  const choose = (many) => {
    const { letters: before, clip } = state();
    set({ letters: many, clip: isChosen || clip !== OFFERED[before] ? clip : OFFERED[many] });
  };
  const now = nowLine();
  const lead = element("p", { class: "d2lrnn-lead" });
  const letters = controls.letters.choices.map((many) => buttonControl({ label: String(many), signal, onPress: () => choose(many) }));
  const lettersChoice = element("div", { class: "clip-letters", role: "group", "aria-label": t("letters") },
    element("div", { class: "d2lrnn-segments" }, ...letters), element("span", { "aria-hidden": "true" }, t("letters")));
  const loss = lossPanel({ t, range: controls.clip, rangeStart: controls.start, lettersChoice, onChange: drag, signal });
  const plane = planePanel({ t, range: controls.clip, onChange: drag, signal });
  const ways = controls.by.choices.map((way) => buttonControl({
    label: [element("b", {}, t(`by_${way}`)), " ", element("span", { class: "clip-note" }, t(`by_${way}_note`))], signal, onPress: () => set({ by: way }),
  }));
  const becomes = element("p", { class: "clip-how-now" });
  /** Which steps are drawn, what their lines look like, and where they lead. */
  const keys = ["full", "clipped"].map((kind, i) => buttonControl({
    label: [svg("svg", { class: "clip-key-mark", viewBox: "0 0 34 14", "aria-hidden": "true" },
      svg("path", { class: `clip-flight clip-arrow-${kind}`, d: "M0 7H28" }), svg("circle", { class: `clip-landed-${kind}`, cx: 28, cy: 7, r: 5 })),
    element("span"), " ", element("b", { class: `clip-score clip-score-${kind}` })],
    class: "d2lrnn-button clip-key", signal,
    onPress: () => {
      set({ clips: i === 1 });
      play(i === 1);
    },
  }));
  const how = fold(t("how"), element(
    "div", { class: "clip-how" }, plane.node,
    element(
      "div", { class: "clip-how-words" }, element("p", {}, t("how_note", { rate: RATE, goal: RESTS, many: formatNumber(PATIENCE, 0) })),
      element("div", { class: "clip-choice", role: "group", "aria-label": t("by") }, ...ways), becomes,
    ),
  ));

  const [jump, far, short, long] = [steps[0].state, steps[1].state, steps[2].before, steps[2].state]
    .map((values) => derive({ ...state(), ...values }));
  const { free } = jump;
  const outcomes = [
    { moved: brief(free.at(-1) - free[1], 4), steep: slopeIn(jump.slope), flat: slopeIn(slopeAt(free[1], jump.letters)) },
    { far: stepsOf(far.keptDown, t) },
    { long: slopeIn(long.slope), short: slopeIn(short.slope) },
  ];
  // No outcome speaks of the plane.
  const guided = guidedSteps({
    t, state: () => ({ ...state(), g_1: 0, g_2: 0, by: "norm" }), steps, asked: (i) => [{ place: free[1].toFixed(2) }, { fast: stepsOf(jump.keptDown, t) }, { fast: stepsOf(short.freeDown, t) }][i], onReset, say, signal,
    set: (values) => {
      loss.mark(false);
      if (steps.some(({ before }) => before === values)) loss.forget();
      set(values);
      paint(derive(state())); // also where only what waits is new
    },
    outcome: (i) => {
      opens &&= i !== 0;
      loss.mark(i !== 1);
      play(i === 1);
      return outcomes[i];
    },
  });
  guided.node.addEventListener("click", () => {
    if (!waits || guided.opened() === 0) return; // a question that is closed waits no longer
    waits = false;
    paint(derive(state()));
  }, { signal });
  onReset(() => {
    loss.mark(false);
    loss.forget();
    [waits, opens, isChosen] = [false, true, false];
    how.open = false;
    plane.askToDrag();
    paint(derive(state())); // a question closes, even where nothing else changes
    opens = true;
  });

  el.append(element(
    "div", { class: "d2lrnn-shape clip" },
    lead, now.node,
    element("div", { class: "clip-shows", role: "group", "aria-label": t("key_group") }, ...keys),
    loss.node,
    guided.node, how,
    footRow({ t, reset, link, say, signal }),
  ));
  /** Step after step, once; where both paths are drawn, those of the clipped ball. */
  function play(isKept) {
    requestAnimationFrame(() => {
      if (signal.aborted) return;
      const model = derive(state());
      const path = isKept ? model.kept : model.free;
      const moves = path.findLastIndex((weight, i) => i > 0 && Math.abs(weight - path[i - 1]) > SMALL); // then nothing more is seen to move
      const frame = (share) => {
        const done = Math.max(1, Math.floor(share * STEPS));
        const many = done < moves ? done : STEPS;
        paint(model, isKept ? STEPS : many, many, many < STEPS ? many : null);
        if (many === STEPS) show.stop();
      };
      frame(0);
      show.run(frame);
    });
  }
  whenSeen(loss.node, { act: () => touched || play(state().clips), signal });

  function paint(model, freeSteps = STEPS, keptSteps = STEPS, moves = null) {
    const [parts, values] = sentence(model, t, waits, moves);
    now.set(...parts.flatMap((part, i) => [i > 0 ? " " : "", ...emphasised(t.raw(part), values)]));
    lead.textContent = t("lead", { letters: model.letters, rate: RATE });
    letters.forEach((button, i) => button.setAttribute("aria-pressed", String(controls.letters.choices[i] === model.letters)));
    opens &&= !model.clips;
    loss.draw({ ...model, told: told(model, t) }, freeSteps, keptSteps, waits, moves !== null, opens, guided.isAsking());
    keys.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(model.clips === (i === 1)));
      button.children[1].textContent = i === 0 ? t("key_free") : t("key_kept", { clip: brief(model.clip) });
      button.lastChild.textContent = score(model, i === 1, waits, moves, t);
    });
    plane.draw(model);
    const [what, numbers] = computation(model);
    becomes.replaceChildren(...emphasised(t.raw(what), numbers));
    ways.forEach((button, i) => button.setAttribute("aria-pressed", String(controls.by.choices[i] === model.by)));
  }
  let by = "norm";
  const draw = (model) => {
    show.stop();
    if (model.by === "value" && by === "norm") how.open = true; // where it is seen what that means
    by = model.by;
    paint(model);
  };
  how.addEventListener("toggle", () => how.open && plane.place(), { signal }); // words have a size now
  return { draw };
}

export default explorable({ spec: SPEC, derive, build, spoken: told });
