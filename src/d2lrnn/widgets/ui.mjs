// What every explorable shares: elements, controls, words, numbers, and the life of a view from mount to cleanup.
// No ids, no innerHTML: whatever a reader types reaches the page as text.
import UI from "./ui.json" with { type: "json" };

// ---- words ----------------------------------------------------------------------------------------------------

/** Put values into a template: fill("{n} bits", { n: 3 }) is "3 bits". A missing value is an error. */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    if (!Object.hasOwn(values, name)) throw new Error(`"${template}" needs a value for {${name}}`);
    return String(values[name]);
  });
}

/** A function from key to text, in the language of the page: "pt-BR" falls back to "pt", then to "en"; `t.raw` gives the template. */
export function translator(language, ...tables) {
  const tags = [language, language.split("-")[0], "en"];
  const texts = Object.assign({}, ...tables.map((table) => table[tags.find((tag) => Object.hasOwn(table, tag))]));
  const t = (key, values) => fill(t.raw(key), values);
  t.raw = (key) => {
    if (!Object.hasOwn(texts, key)) throw new Error(`no words for "${key}"`);
    return texts[key];
  };
  return t;
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

/** The same with two digits that count where formatProbability() may show one: 0.040, 0.0061. */
export const twoDigits = (p) => (p >= 0.0005 && p < 0.0995 ? p.toPrecision(2) : formatProbability(p));

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
    const room = input.max - input.min; // 0 where there is one place only
    input.style.setProperty("--d2lrnn-filled", `${room > 0 ? ((input.value - input.min) / room) * 100 : 0}%`);
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

/**
 * A polite live region: it speaks when the reader has paused, so that a drag is one sentence and not fifty. An outcome is
 * said ahead of what the figure then says of itself, and not in its place.
 */
export function liveRegion({ signal, delay = 700 }) {
  const node = element("div", { class: "d2lrnn-hidden", role: "status", "aria-live": "polite" });
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  let outcome = ""; // still to be said
  const say = (text, { isOutcome = false } = {}) => {
    clearTimeout(timer);
    if (signal.aborted) return;
    if (isOutcome) outcome = text;
    timer = setTimeout(() => {
      node.textContent = text === outcome ? text : `${outcome} ${text}`.trim();
      outcome = "";
    }, delay);
  };
  return { node, say };
}

/** Whether the reader asked for less movement. */
export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---- links that reproduce a state -------------------------------------------------------------------------------
// A rule takes whatever stands in a link and returns a value that the explorable may have, or undefined.

/** A finite number from min to max; a whole one if asked for. */
export function numberRule(min, max, { whole = false } = {}) {
  return (value) => {
    const good = typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value));
    return good ? value : undefined;
  };
}

/** One of the choices. */
export function choiceRule(choices) {
  return (value) => (choices.includes(value) ? value : undefined);
}

/** A text of at most `max` characters; markup, emoji and the like are text like any other. */
export function textRule(max) {
  return (value) => (typeof value === "string" && [...value].length <= max ? value : undefined);
}

/** true or false. */
export const flagRule = choiceRule([true, false]);

/** A list of at most `max` values, all of which obey a rule. */
export function listRule(rule, max) {
  return (value) => {
    if (!Array.isArray(value) || value.length > max) return undefined;
    return value.every((item) => rule(item) !== undefined) ? value : undefined;
  };
}

/** The rules of a widget's controls, from its spec.json. */
export function rulesOf(controls) {
  const rule = {
    int: ({ min, max }) => numberRule(min, max, { whole: true }),
    float: ({ min, max }) => numberRule(min, max),
    choice: ({ choices }) => choiceRule(choices),
    flag: () => flagRule,
    text: ({ max }) => textRule(max),
    list: ({ of, max }) => listRule(rule[of.type](of), max),
  };
  return Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, rule[control.type](control)]));
}

const LONGEST_LINK = 8000;

/** The fragment of an address that holds the state of the explorable `name` (the `place`-th of its kind on the page). */
export function encodeLink(name, place, state) {
  return `#explore=${name}.${place}&state=${encodeURIComponent(JSON.stringify(state))}`;
}

/** JSON where it is JSON, else the text itself: `cut=12` is a number, `text=the tide` a text. */
function readValue(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * The values in a fragment that obey their rules; null if it is not meant for this explorable or can't be read.
 *
 * Two forms: the one of `encodeLink`, and one that a person can write, `#explore=HiddenState&cut=12&text=another` (the
 * first of its kind on the page) or `#explore=HiddenState.1&cut=12`. `#explore=HiddenState` alone sets nothing: {}.
 */
export function decodeLink(fragment, name, place, rules) {
  if (fragment.length > LONGEST_LINK) return null;
  const [head, ...pairs] = fragment.split("&");
  if (head !== `#explore=${name}.${place}` && (place > 0 || head !== `#explore=${name}`)) return null;
  if (pairs.length === 0) return {};
  let values;
  try {
    if (pairs.length === 1 && pairs[0].startsWith("state=")) values = JSON.parse(decodeURIComponent(pairs[0].slice("state=".length)));
    else values = Object.fromEntries(Array.from(new URLSearchParams(pairs.join("&")), ([key, text]) => [key, readValue(text)]));
  } catch {
    return null; // cut off or mistyped: the page shows what its author meant
  }
  if (typeof values !== "object" || values === null) return null;
  const known = Object.keys(rules).filter((key) => Object.hasOwn(values, key));
  const kept = known.map((key) => [key, rules[key](values[key])]).filter(([, value]) => value !== undefined);
  return kept.length ? Object.fromEntries(kept) : null;
}

/** Bring an element to the top of the screen, and again while the page above it still grows; the reader's hand ends it. */
function land(root, signal) {
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"]) {
    addEventListener(kind, end, { signal: ended.signal, passive: true, once: true });
  }
  signal.addEventListener("abort", end, { once: true });
  const until = performance.now() + 1500;
  const settle = () => {
    if (ended.signal.aborted) return;
    root.scrollIntoView({ block: "start", behavior: "instant" });
    if (performance.now() < until) requestAnimationFrame(settle);
    else end();
  };
  settle();
}

// ---- the life of a view -----------------------------------------------------------------------------------------

/**
 * Make an explorable's default export.
 *
 * `spec` is its spec.json: `controls` are the synced traits that a reader changes, with their ranges (a link may set
 * them, within these), `words` its texts. `data` names the other synced traits that it shows. `derive(state)` makes of
 * the traits' values what the panels draw: pure mathematics, no page. `repair(state)` (optional) makes values that come
 * from a link fit each other; `rules` (optional) are closer than the ranges. `spoken(model, t)` (optional) is the sentence that the live region says after a change.
 *
 * `build(context)` runs once a view: it appends to `context.el` and returns `{ draw, destroy }`. `draw(model)` shows
 * what `derive` made, whoever set the traits; it is called once after each change, however many traits changed together.
 * Handlers only call `context.commit(values)` or `context.reset()`. Listeners take `context.signal`, so that they end
 * with the view; `destroy` (optional) ends what a signal cannot.
 *
 * `context`: el, t (words), signal, commit, reset, onReset (what else a reset puts back), say (the live region), state
 * (the traits' values), link (the address that reproduces the state; null where a kernel holds the state), model.
 */
export function explorable({
  spec, data = [], rules = rulesOf(spec.controls), derive = (state) => state, repair = (state) => state, spoken = null,
  build: buildView,
}) {
  const traits = [...Object.keys(spec.controls), ...data];
  function render({ model, el, signal }) {
    const root = el.closest(".d2lrnn-widget") ?? el;
    const t = translator(languageOf(root), UI.words, spec.words);
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
    const resets = [];
    const reset = () => {
      for (const act of resets) act();
      commit(model.get("author_state"));
    };
    let said = null; // the last sentence; at first the reader has done nothing yet
    const show = () => {
      const derived = derive(state());
      view.draw(derived);
      root.dispatchEvent(new Event("d2lrnn-drawn"));
      const sentence = spoken === null ? null : spoken(derived, t);
      if (said !== null && sentence !== said) live.say(sentence);
      said = sentence;
    };
    function queueDraw() {
      if (queued) return;
      queued = true;
      queueMicrotask(() => {
        queued = false;
        if (controller.signal.aborted) return;
        try {
          show();
        } catch (error) {
          fail(error);
        }
      });
    }

    const linked = model.isStatic === true;
    const name = root.dataset.widget;
    const place = linked ? [...document.querySelectorAll(`.d2lrnn-widget[data-widget="${name}"]`)].indexOf(root) : 0;
    const chosen = () => Object.fromEntries(Object.keys(rules).map((key) => [key, model.get(key)]));
    const link = () => location.href.split("#")[0] + encodeLink(name, place, chosen());
    const setFrom = (fragment) => {
      const values = decodeLink(fragment, name, place, rules);
      if (values === null) return false;
      if (Object.keys(values).length > 0) commit(repair({ ...state(), ...model.get("author_state"), ...values }));
      return true;
    };
    const follow = () => {
      if (setFrom(location.hash)) land(root, controller.signal);
    };
    // Words in the text that set the figure: they work again and again, and leave the address alone.
    const press = (event) => {
      const anchor = event.target.closest?.('a[href^="#explore="]');
      if (!anchor || !setFrom(anchor.getAttribute("href"))) return;
      event.preventDefault();
      const { top, bottom } = root.getBoundingClientRect();
      const onlyLeads = !anchor.getAttribute("href").includes("&"); // and sets nothing
      const isNear = bottom > -innerHeight && top < 2 * innerHeight;
      if (isNear && !onlyLeads) root.scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "instant" : "smooth" });
      else land(root, controller.signal);
    };

    // JupyterLab's shortcuts listen at the document, to whatever has the focus: an arrow would choose another cell and
    // not move a slider, `d d` on a button would delete the cell. Plain keys end here, after our own listeners.
    const keep = (event) => {
      const forLab = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
      if (!forLab && event.key !== "Escape") event.stopPropagation();
    };

    signal?.addEventListener("abort", end, { once: true });
    root.classList.add("d2lrnn-widget");
    if (model.isStatic !== true) root.addEventListener("keydown", keep, { signal: controller.signal });
    const live = liveRegion({ signal: controller.signal });
    try {
      el.replaceChildren();
      view = buildView({
        el, t, model, signal: controller.signal, commit, reset, onReset: (act) => resets.push(act), say: live.say, state,
        link: linked ? link : null,
      });
      el.append(live.node);
      if (linked) {
        follow();
        addEventListener("hashchange", follow, { signal: controller.signal });
        document.addEventListener("click", press, { signal: controller.signal });
      }
      for (const name of traits) model.on(`change:${name}`, queueDraw);
      show();
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
