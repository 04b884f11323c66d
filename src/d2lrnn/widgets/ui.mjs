// What every explorable shares: elements, controls, words, numbers, and the life of a view from mount to cleanup.
// No ids, no innerHTML: whatever a reader types reaches the page as text.
import UI_WORDS from "./ui.words.json" with { type: "json" };

// ---- words ----------------------------------------------------------------------------------------------------

/** Put values into a template: fill("{n} bits", { n: 3 }) is "3 bits". A missing value is an error. */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    if (!Object.hasOwn(values, name)) throw new Error(`"${template}" needs a value for {${name}}`);
    return String(values[name]);
  });
}

/** A function from key to text, in the language of the page: "pt-BR" falls back to "pt", then to "en". */
export function translator(language, ...tables) {
  const tags = [language, language.split("-")[0], "en"];
  const texts = Object.assign({}, ...tables.map((table) => table[tags.find((tag) => Object.hasOwn(table, tag))]));
  return (key, values) => {
    if (!Object.hasOwn(texts, key)) throw new Error(`no words for "${key}"`);
    return fill(texts[key], values);
  };
}

/** The language that holds where an element stands. */
export function languageOf(el) {
  return el.closest("[lang]")?.lang || document.documentElement.lang || "en";
}

// ---- numbers --------------------------------------------------------------------------------------------------

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 1.2×10⁶: a large number with one decimal and a power of ten. */
function formatPower(value) {
  const [mantissa, exponent] = value.toExponential(1).split("e+");
  return `${mantissa}×10${exponent.replace(/\d/g, (digit) => SUPERSCRIPTS[digit])}`;
}

/** A number of at least 0 with `decimals` places, fewer where it is large; ∞ where it is infinite. */
export function formatNumber(value, decimals = 2) {
  if (value === Infinity) return "∞";
  if (value >= 999_999.5) return formatPower(value);
  if (value >= 999.95) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return value.toFixed(value >= 99.995 ? Math.min(decimals, 1) : decimals);
}

/** A probability with as many places as it needs: 1, 0.80, 0.037, 4e-5, 0; never a "1.00" that is not 1. */
export function formatProbability(p) {
  if (p === 0 || p === 1) return String(p);
  if (p < 0.0005) return p.toExponential(0);
  if (p < 0.0995) return p.toFixed(3);
  if (p < 0.995) return p.toFixed(2);
  return p < 0.9995 ? p.toFixed(3) : ">0.999";
}

/** A character that can be seen: space as ␣, a combining mark on its circle, a control or format character as its code. */
export function visibleCharacter(character) {
  if (character === " ") return "␣";
  if (/^\p{M}$/u.test(character)) return `◌${character}`;
  if (!/^[\p{C}\p{Z}]$/u.test(character)) return character;
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

// ---- elements -------------------------------------------------------------------------------------------------

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** An HTML element: element("p", { class: "note" }, "text", otherElement). Text children stay text. */
export function element(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// ---- controls: every one has a label, and its handler goes when `signal` aborts ----------------------------------

/** A slider under a label of your making; its handler gets the number. `set` moves it and says the value in words. */
export function rangeControl({ label, min, max, step = 1, onInput, signal }) {
  const input = element("input", { type: "range", min, max, step, class: "d2lrnn-range" });
  const node = element("label", { class: "d2lrnn-control" }, label, input);
  input.addEventListener("input", () => onInput(Number(input.value)), { signal });
  const set = (value, valueText) => {
    input.value = value;
    input.style.setProperty("--d2lrnn-filled", `${((input.value - input.min) / (input.max - input.min)) * 100}%`);
    input.setAttribute("aria-valuetext", valueText);
  };
  return { node, input, set };
}

/** A labelled list of choices: options are [value, text]; its handler gets the value. */
export function selectControl({ label, options, onChange, signal }) {
  const choices = options.map(([value, text]) => element("option", { value }, text));
  const input = element("select", { class: "d2lrnn-select" }, ...choices);
  const node = element("label", { class: "d2lrnn-control" }, element("span", {}, label), input);
  input.addEventListener("change", () => onChange(input.value), { signal });
  return { node, input, set: (value) => (input.value = value) };
}

/** A push button. */
export function buttonControl({ label, onPress, signal, ...attributes }) {
  const children = Array.isArray(label) ? label : [label];
  const node = element("button", { type: "button", class: "d2lrnn-button", ...attributes }, ...children);
  node.addEventListener("click", onPress, { signal });
  return node;
}

/** A polite live region: it speaks when the reader has paused, so that a drag is one sentence and not fifty. */
export function liveRegion({ signal, delay = 700 }) {
  const node = element("div", { class: "d2lrnn-hidden", role: "status", "aria-live": "polite" });
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  const say = (text) => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(() => (node.textContent = text), delay);
  };
  return { node, say };
}

/** Whether the reader asked for less movement. */
export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---- the life of a view -----------------------------------------------------------------------------------------

/**
 * Make an explorable's default export.
 *
 * `traits` names the synced traits it shows. `build(context)` runs once a view: it appends to `context.el` and returns
 * `{ draw, destroy }`. `draw(state)` shows the traits' values, whoever set them; it is called once after each change,
 * however many traits changed together. Handlers only call `context.commit(values)` or `context.reset()`. Listeners
 * take `context.signal`, so that they end with the view; `destroy` (optional) ends what a signal cannot.
 *
 * `context`: el, t (words), signal, commit, reset, say (the live region).
 */
export function explorable({ words, traits, build: buildView }) {
  function render({ model, el, signal }) {
    const root = el.closest(".d2lrnn-widget") ?? el;
    const t = translator(languageOf(root), UI_WORDS, words);
    const controller = new AbortController();
    let view = null;
    let queued = false;

    const end = () => {
      if (controller.signal.aborted) return;
      controller.abort();
      for (const name of traits) model.off(`change:${name}`, queueDraw);
      view?.destroy?.();
    };
    const fail = (error) => {
      end();
      el.replaceChildren(element("p", { class: "d2lrnn-error" }, t("failed", { message: error.message })));
      root.dataset.ready = "error";
      console.error(error);
    };
    const state = () => Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const commit = (values) => {
      // One by one, because the specification promises no more; one message to Python, because they belong together.
      for (const [name, value] of Object.entries(values)) model.set(name, value);
      model.save_changes();
    };
    const reset = () => commit(model.get("author_state"));
    function queueDraw() {
      if (queued) return;
      queued = true;
      queueMicrotask(() => {
        queued = false;
        if (controller.signal.aborted) return;
        try {
          view.draw(state());
        } catch (error) {
          fail(error);
        }
      });
    }

    signal?.addEventListener("abort", end, { once: true });
    root.classList.add("d2lrnn-widget");
    try {
      const live = liveRegion({ signal: controller.signal });
      el.replaceChildren();
      view = buildView({ el, t, signal: controller.signal, commit, reset, say: live.say });
      el.append(live.node);
      for (const name of traits) model.on(`change:${name}`, queueDraw);
      view.draw(state());
      root.dataset.ready = "1";
    } catch (error) {
      fail(error);
    }
    return () => {
      end();
      el.replaceChildren();
      delete root.dataset.ready;
    };
  }
  return { render };
}
