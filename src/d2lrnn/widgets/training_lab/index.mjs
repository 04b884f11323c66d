// The training lab: a recurrent network that learns in the page, in a worker, or with torch where a kernel stands behind.
import { legend, lineChart, powerTicks } from "../charts.mjs";
import {
  buttonControl, choiceRule, element, explorable, flagRule, footPanel, formatNumber, numberRule, rangeControl, selectControl,
} from "../ui.mjs";
import SPEC from "./spec.json" with { type: "json" };
import WORKER from "./lab_worker.mjs" with { type: "text" };

// ---- maths ------------------------------------------------------------------------------------------------------------

/** Places of the sliders. */
export const UNITS = [8, 16, 32, 48, 64, 96, 128, 192, 256];
export const STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
export const BATCHES = [1, 2, 4, 8, 16, 32, 64];
export const RATES = [0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5];
export const CLIPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 0]; // 0: none

export const PRESETS = {
  story: {
    num_hiddens: 64, num_steps: 32, batch_size: 16, learning_rate: 0.01, optimizer: "adam", clip: 1, carry: true, seed: 0,
  },
  explode: {
    num_hiddens: 64, num_steps: 32, batch_size: 16, learning_rate: 2, optimizer: "sgd", clip: 0, carry: true, seed: 0,
  },
  bigram: {
    num_hiddens: 64, num_steps: 1, batch_size: 64, learning_rate: 0.01, optimizer: "adam", clip: 1, carry: false, seed: 0,
  },
  too_big: {
    num_hiddens: 64, num_steps: 32, batch_size: 16, learning_rate: 0.3, optimizer: "adam", clip: 1, carry: true, seed: 0,
  },
  small: {
    num_hiddens: 8, num_steps: 32, batch_size: 16, learning_rate: 0.02, optimizer: "adam", clip: 1, carry: true, seed: 0,
  },
};

/** Settings that a run can take over while it goes on; a change of any other starts it again. */
export const LIGHT = ["learning_rate", "clip", "optimizer"];

export const RULES = {
  num_hiddens: choiceRule(UNITS),
  num_steps: choiceRule(STEPS),
  batch_size: choiceRule(BATCHES),
  learning_rate: numberRule(1e-5, 10),
  optimizer: choiceRule(["adam", "sgd"]),
  clip: numberRule(0, 100),
  carry: flagRule,
  seed: numberRule(0, 9999, { whole: true }),
};

/** Index of the place next to a value. */
export function nearest(places, value) {
  let best = 0;
  places.forEach((place, i) => {
    if (Math.abs(place - value) < Math.abs(places[best] - value)) best = i;
  });
  return best;
}

/** The range of the perplexity axis: 2 to 40, and up to a million where it must be. */
export function perplexityRange(values) {
  const largest = values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, value) : most), 0);
  if (largest <= 40) return { from: 2, to: 40, log: true, ticks: [2, 4, 8, 16, 32] };
  const to = Math.min(10 ** Math.ceil(Math.log10(largest)), 1e6);
  return { from: 2, to, log: true, ticks: powerTicks(2, to) };
}

/** The range of the gradient's axis: whole powers of ten around the values. */
export function normRange(values, clip) {
  const good = [...values, clip].filter((value) => value > 0 && Number.isFinite(value));
  const low = Math.floor(Math.log10(Math.min(0.1, ...good)));
  const high = Math.ceil(Math.log10(Math.max(10, ...good)));
  const [from, to] = [10 ** Math.max(low, -6), 10 ** Math.min(high, 9)];
  return { from, to, log: true, ticks: powerTicks(from, to, { count: 4 }) };
}

// ---- engines ------------------------------------------------------------------------------------------------------------

/** A worker of this page that trains; `onReport` gets its reports. */
function createPageEngine(text, onReport, onError) {
  const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
  const worker = new Worker(url);
  let sent = false;
  // A beginning takes the worker a while. What is asked of it meanwhile waits here, and another beginning takes the place
  // of all that waits, so that a slider which is drawn along its track leaves no queue of runs that nobody wants.
  const waiting = [];
  let beginning = false;
  const flush = () => {
    while (waiting.length && !beginning) {
      const message = waiting.shift();
      beginning = message.kind === "begin";
      worker.postMessage(message);
    }
  };
  const post = (message) => {
    if (message.kind === "begin") waiting.length = 0;
    waiting.push(message);
    flush();
  };
  worker.onmessage = ({ data }) => {
    if (data.steps === 0) beginning = false;
    flush();
    onReport(data);
  };
  worker.onerror = (event) => onError(new Error(event.message));
  return {
    begin(settings) {
      post({ kind: "begin", settings, text: sent ? undefined : text });
      sent = true;
    },
    go: () => post({ kind: "go" }),
    pause: () => post({ kind: "pause" }),
    step: () => post({ kind: "step" }),
    set: (changes) => post({ kind: "set", changes }),
    end() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/**
 * The torch model behind the kernel: it hears commands, and its reports are a trait. Settings reach it as traits.
 * A closed notebook says no goodbye; so each report is answered, and where no answer comes the training pauses.
 */
function createKernelEngine(model, onReport) {
  const listen = () => {
    const report = model.get("report");
    if (report.status === "running") command("seen");
    onReport(report);
  };
  const command = (kind) => model.send({ kind });
  model.on("change:report", listen);
  if (model.get("report").steps !== undefined) listen();
  return {
    begin: () => command("begin"),
    go: () => command("go"),
    pause: () => command("pause"),
    step: () => command("step"),
    set() {},
    end: () => model.off("change:report", listen),
  };
}

// ---- view ---------------------------------------------------------------------------------------------------------------

const SETTINGS = ["num_hiddens", "num_steps", "batch_size", "learning_rate", "optimizer", "clip", "carry", "seed"];

/** A slider over a list of places, with its value beside its name. */
function placesControl({ label, places, format, onPlace, signal }) {
  const shown = element("span", { class: "lab-value" });
  const caption = element("span", { class: "lab-caption" }, element("span", {}, label), " ", shown);
  const range = rangeControl({
    label: caption, min: 0, max: places.length - 1, signal, onInput: (i) => onPlace(places[i]),
  });
  const set = (value) => {
    shown.textContent = format(value);
    range.set(nearest(places, value), format(value));
  };
  return { node: range.node, set };
}

function controlPanel({ t, signal, onChange }) {
  const slider = (name, places, format = String) =>
    placesControl({ label: t(name), places, format, signal, onPlace: (value) => onChange({ [name]: value }) });
  const choice = (name, options, read) =>
    selectControl({ label: t(name), options, signal, onChange: (value) => onChange({ [name]: read(value) }) });
  const controls = {
    learning_rate: slider("learning_rate", RATES),
    // "none" stands at the right end, after the largest bound
    clip: placesControl({
      label: t("clip"), places: CLIPS.map((clip) => clip || 20), signal,
      format: (clip) => (clip === 20 ? t("clip_none") : String(clip)),
      onPlace: (clip) => onChange({ clip: clip === 20 ? 0 : clip }),
    }),
    optimizer: choice("optimizer", [["adam", t("adam")], ["sgd", t("sgd")]], (value) => value),
    num_hiddens: slider("num_hiddens", UNITS),
    num_steps: slider("num_steps", STEPS),
    batch_size: slider("batch_size", BATCHES),
    carry: choice("carry", [["yes", t("carry_on")], ["no", t("carry_off")]], (value) => value === "yes"),
  };
  const group = (title, names) =>
    element("fieldset", { class: "lab-group" }, element("legend", {}, title), ...names.map((name) => controls[name].node));
  const node = element(
    "div", { class: "lab-controls" },
    group(t("acts_now"), ["learning_rate", "clip", "optimizer"]),
    group(t("acts_anew"), ["num_hiddens", "num_steps", "batch_size", "carry"]),
  );
  const draw = (state) => {
    for (const [name, control] of Object.entries(controls)) control.set(state[name]);
    controls.clip.set(state.clip || 20);
    controls.carry.set(state.carry ? "yes" : "no");
  };
  return { node, draw };
}

function numberTile(label) {
  const value = element("b", {}, "–");
  return { node: element("div", { class: "lab-tile" }, value, element("span", {}, label)), set: (text) => (value.textContent = text) };
}

function buildView({ el, t, model, signal, commit, reset, say, link }) {
  const body = element("div", { class: "lab" });
  const isTorch = model.get("engine") === "torch" && !model.isStatic;
  let settings = null; // those that the run at hand has
  let report = null;
  let wish = false; // whether it should be training

  const main = buttonControl({ label: t("start"), class: "d2lrnn-button lab-main", signal, onPress: () => (wish ? pause() : go()) });
  const one = buttonControl({ label: t("step"), signal, onPress: () => { wish = false; engine.step(); showButtons(); } });
  const again = buttonControl({ label: t("restart"), signal, onPress: () => restart() });
  const resetButton = buttonControl({ label: t("reset"), signal, onPress: () => { wish = false; reset(); restart(); } });
  const presets = Object.keys(PRESETS).map((name) =>
    buttonControl({ label: t(`preset_${name}`), "data-preset": name, signal, onPress: () => choose(PRESETS[name]) }));

  const perplexity = numberTile(t("now_perplexity"));
  const updates = numberTile(t("now_steps"));
  const speed = numberTile(t("now_speed"));
  const status = element("span", { class: "lab-status" });
  const chart = lineChart({ height: 250, signal });
  const norms = lineChart({ height: 110, signal });
  const sample = element("p", { class: "lab-sample" });
  const trouble = element("p", { class: "d2lrnn-error lab-trouble", hidden: true });
  const controls = controlPanel({ t, signal, onChange: (values) => commit(values) });
  const foot = footPanel({ t, how: t("how"), experiment: t("try"), link, say, signal });
  foot.expect(t("expect"));
  body.append(
    element("div", { class: "lab-bar" }, main, one, again, resetButton, status),
    element("div", { class: "lab-tiles" }, perplexity.node, updates.node, speed.node),
    trouble,
    element("div", { class: "lab-head" }, t("perplexity")),
    chart.node,
    legend([{ kind: 1, text: t("training") }, { kind: 2, text: t("heldout") }]),
    element("div", { class: "lab-head" }, t("norm")),
    norms.node,
    element("div", { class: "lab-writes" }, element("b", {}, t("writes")), sample),
    element("div", { class: "lab-presets", role: "group", "aria-label": t("presets") }, element("span", {}, t("presets")), ...presets),
    controls.node,
    foot.node,
  );
  el.append(body);

  let pending = 0;
  let spoken = "";
  const onReport = (fresh) => {
    if (signal.aborted) return;
    report = fresh;
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      if (!signal.aborted) show();
    });
  };
  const onError = (error) => {
    trouble.textContent = t("failed", { message: error.message });
    trouble.hidden = false;
  };
  const engine = isTorch ? createKernelEngine(model, onReport) : createPageEngine(model.get("text"), onReport, onError);

  function go() {
    wish = true;
    if (report?.status === "diverged") engine.begin(settings);
    if (!document.hidden) engine.go();
    showButtons();
  }
  function pause() {
    wish = false;
    engine.pause();
    showButtons();
  }
  function restart() {
    engine.begin(settings);
    if (wish && !document.hidden) engine.go();
    showButtons();
  }
  function choose(preset) {
    commit(preset);
  }
  const onVisibility = () => {
    if (!wish || isTorch) return; // a kernel's training is not the page's to stop
    if (document.hidden) engine.pause();
    else engine.go();
  };
  document.addEventListener("visibilitychange", onVisibility, { signal });

  function showButtons() {
    if (report?.status === "diverged") wish = false;
    main.textContent = wish ? t("pause") : t("start");
    main.setAttribute("aria-pressed", String(wish));
    const kind = report === null || report.steps === 0 ? "idle" : report.status === "running" ? "running" : "paused";
    const place = isTorch ? t("on_device", { device: report?.device ?? "torch" }) : t("on_page");
    status.textContent = `${t(wish && kind === "idle" ? "running" : kind)} ${place}`;
    const exactly = (name) => settings && SETTINGS.every((key) => PRESETS[name][key] === settings[key]);
    for (const button of presets) button.setAttribute("aria-pressed", String(exactly(button.dataset.preset)));
  }

  function show() {
    const { steps, tokens, seconds, train, heldout, norms: gradient, levels } = report;
    if (isTorch) wish = report.status === "running";
    body.dataset.engine = report.kernels ?? "torch"; // for whoever wants to know: simd or plain, or torch
    const last = heldout.ys.at(-1);
    perplexity.set(last === undefined ? "–" : formatNumber(last));
    updates.set(formatNumber(steps, 0));
    speed.set(seconds > 0.05 ? formatNumber(tokens / seconds, 0) : "–");
    const names = levels.map(({ order, perplexity: value }) => ({
      value, text: order === 0 ? t("uniform") : order === 1 ? t("unigram") : t("ngram", { order }),
    }));
    const x = { to: Math.max(tokens, 1000), label: t("characters") };
    const shown = (value) => (Number.isFinite(value) ? formatNumber(value) : "–");
    chart.draw({
      x, y: perplexityRange([...train.ys, ...heldout.ys]), levels: names,
      lines: [{ ...train, kind: 1 }, { ...heldout, kind: 2 }],
      description: t("chart", { training: shown(train.ys.at(-1)), heldout: shown(last), characters: formatNumber(tokens, 0) }),
    });
    const bound = settings.clip > 0 ? [{ value: settings.clip, text: t("clip_level", { clip: settings.clip }) }] : [];
    norms.draw({
      x: { to: x.to }, y: normRange(gradient.ys, settings.clip), levels: bound, lines: [{ ...gradient, kind: 3 }],
      description: t("norm_chart", { norm: shown(gradient.ys.at(-1)) }),
    });
    sample.textContent = report.sample;
    const lost = report.status === "diverged";
    trouble.textContent = lost ? t("diverged") : "";
    trouble.hidden = !lost;
    showButtons();
    const words = lost ? t("diverged_spoken", { steps }) : t("spoken", { steps, heldout: shown(last) });
    const stopped = report.status !== "running";
    if (steps > 0 && stopped && words !== spoken) say(words);
    if (stopped) spoken = words;
  }

  const draw = (state) => {
    const fresh = Object.fromEntries(SETTINGS.map((name) => [name, state[name]]));
    const changed = settings === null ? SETTINGS : SETTINGS.filter((name) => fresh[name] !== settings[name]);
    settings = fresh;
    controls.draw(fresh);
    if (changed.some((name) => !LIGHT.includes(name))) restart();
    else if (changed.length) engine.set(Object.fromEntries(changed.map((name) => [name, fresh[name]])));
    if (report) show();
    else showButtons();
  };
  return { draw, destroy: () => { cancelAnimationFrame(pending); engine.end(); } };
}

export default explorable({ words: SPEC.words, traits: SETTINGS, build: buildView, rules: RULES });
