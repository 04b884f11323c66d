// The small form, for a first page: a network writes by itself, its next letters beside it. Nothing to understand first.
import { emphasised, motion, nowLine, whenSeen } from "../shape.mjs";
import { buttonControl, element, visibleCharacter } from "../ui.mjs";
import { NUM_WRITTEN, ranking, readable, write } from "./maths.mjs";
import { letterSpan, markedKey } from "./panels.mjs";
import SPEC from "./spec.json" with { type: "json" };

const LETTERS_A_SECOND = 9;
const { beginnings, sizes: { compact_bars: BARS } } = SPEC.presets;

export function buildCompact({ el, t, signal, commit, network }) {
  const pen = motion({ seconds: NUM_WRITTEN / LETTERS_A_SECOND, signal });
  let letters = null;
  let spans = [];
  let shown = null; // the state on the screen
  let key = null;
  let length = 0;
  let running = false;
  let options = [];

  const now = nowLine();
  const text = element("p", { class: "next-large", translate: "no", tabindex: 0, role: "group", "aria-label": t("compact_text") });
  const bars = Array.from({ length: BARS }, (_, i) => {
    const name = element("b", { class: "next-name" });
    const bar = element("i", { class: "next-bar" });
    const button = buttonControl({
      label: [name, element("span", { class: "next-track" }, bar)], class: "next-option", signal,
      onPress: () => commit({ text: readable(textSoFar() + options[i]) }),
    });
    return { button, name, bar };
  });
  const textSoFar = () => shown.text + letters.slice(0, length).map(({ character }) => character).join("");
  const setRunning = (value) => {
    running = value;
    onButton.textContent = t(value ? "pause" : "write_on");
  };
  const onButton = buttonControl({
    label: t("write_on"), class: "d2lrnn-button next-on", signal,
    onPress: () => {
      if (running) {
        pen.stop();
        setRunning(false);
      } else if (length >= NUM_WRITTEN) commit({ text: readable(textSoFar()) });
      else play();
    },
  });
  const choices = beginnings.map((beginning) => buttonControl({
    label: `${beginning.trim()} …`, signal,
    onPress: () => (shown.text === beginning ? play(0) : commit({ text: beginning })),
  }));
  el.append(element(
    "div", { class: "d2lrnn-shape next next-compact" }, now.node, text, markedKey(t.raw("compact_key"), t("marked")),
    element("div", { class: "next-options", role: "group", "aria-label": t("compact_next") },
      element("p", { class: "next-key", "aria-hidden": "true" }, t("compact_next")), ...bars.map(({ button }) => button)),
    element("div", { class: "d2lrnn-row next-acts" }, onButton,
      element("div", { class: "d2lrnn-row", role: "group", "aria-label": t("compact_beginnings") },
        element("span", { class: "next-key", "aria-hidden": "true" }, t("compact_beginnings")), ...choices)),
  ));

  const show = (wanted) => {
    length = wanted;
    spans.forEach((span, place) => span.classList.toggle("next-to-come", place >= length));
    const { probs } = letters[length];
    const order = ranking(probs);
    options = order.slice(0, BARS).map((i) => network.vocab[i]);
    bars.forEach(({ name, bar }, i) => {
      name.textContent = options[i] === " " ? t("space") : visibleCharacter(options[i]);
      name.classList.toggle("next-space", options[i] === " ");
      bar.style.setProperty("width", `${(100 * probs[order[i]]).toFixed(1)}%`);
    });
  };
  const play = (from = length) => {
    setRunning(true);
    const left = NUM_WRITTEN - from;
    if (from !== length) show(from);
    pen.run((share) => {
      const wanted = from + Math.min(left, Math.floor((share * NUM_WRITTEN)));
      if (wanted !== length) show(wanted);
      if (length >= NUM_WRITTEN) {
        setRunning(false);
        pen.stop();
      }
    });
  };
  const draw = (state) => {
    const isFirst = shown === null;
    shown = state;
    const wanted = JSON.stringify([state.text, state.temperature, state.seed]);
    if (wanted === key) return;
    key = wanted;
    letters = write(network, state.text, state.temperature, {}, state.seed, NUM_WRITTEN + 1); // one more, for what comes next
    spans = letters.slice(0, NUM_WRITTEN).map(letterSpan);
    text.replaceChildren(element("span", { class: "next-given" }, state.text), ...spans);
    now.set(...emphasised(t.raw("compact_now"), { text: `“${state.text.trim()}”` }));
    if (isFirst) show(0);
    else play(0);
  };
  whenSeen(text, { act: () => play(0), signal });
  return { draw, destroy: () => pen.stop() };
}
