// The stand-in for a Jupyter widget model on a page without a kernel. It follows the model of the anywidget front-end
// module specification (get, set, save_changes, on, off, send), with the event order of Backbone, on which the live
// model is built: `set` is silent where the value is equal; all values are in place before the first `change:x`; then
// one `change` follows.

const isView = (value) => ArrayBuffer.isView(value);

/** Equality of JSON values; binary values are equal only if they are the same object. */
export function isEqual(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || isView(a) || isView(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/** A model over plain values, with no kernel behind it. */
export function createModel(initial) {
  // `isStatic` is no part of the specification: it tells a view that no kernel stands behind it.
  const state = { ...initial };
  const handlers = new Map(); // event name -> list of callbacks, in order, duplicates included
  const names = (text) => text.split(/\s+/).filter(Boolean);
  const emit = (event, ...details) => {
    for (const callback of [...(handlers.get(event) ?? [])]) callback(...details);
  };
  const model = {
    isStatic: true,
    get: (name) => state[name],
    set(name, value) {
      const values = typeof name === "object" ? name : { [name]: value };
      const changed = Object.keys(values).filter((key) => !isEqual(state[key], values[key]));
      Object.assign(state, values);
      for (const key of changed) emit(`change:${key}`, model, state[key], {});
      if (changed.length) emit("change", model, {});
    },
    save_changes() {}, // nobody is listening: an explorable never waits for an answer
    send() {},
    on(events, callback) {
      for (const event of names(events)) handlers.set(event, [...(handlers.get(event) ?? []), callback]);
    },
    off(events = null, callback = null) {
      for (const event of events === null ? [...handlers.keys()] : names(events)) {
        const kept = callback === null ? [] : (handlers.get(event) ?? []).filter((other) => other !== callback);
        if (kept.length) handlers.set(event, kept);
        else handlers.delete(event);
      }
    },
    widget_manager: {
      get_model: () => Promise.reject(new Error("There is no kernel behind this page, so no other model.")),
    },
  };
  return model;
}

/** base64 text -> DataView, which is what a live model gives for a Bytes trait. */
export function decodeBase64(text) {
  const binary = atob(text);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new DataView(bytes.buffer);
}

/** What the static page carries -> the model's values. */
export function decodeState({ state, buffers }) {
  const decoded = Object.entries(buffers).map(([name, text]) => [name, decodeBase64(text)]);
  return { ...state, ...Object.fromEntries(decoded) };
}

/**
 * The shared values of an explorable: what the page carries once under a hash, decoded once a page.
 *
 * `entries` are { name, kind, hash }, `blocks` and `decoded` map a hash to the carried and to the decoded value.
 */
export function decodeShared(entries, blocks, decoded) {
  const values = {};
  for (const { name, kind, hash } of entries) {
    if (!decoded.has(hash)) decoded.set(hash, kind === "base64" ? decodeBase64(blocks.get(hash)) : blocks.get(hash));
    values[name] = decoded.get(hash);
  }
  return values;
}

const mounted = new Map(); // root -> AbortController
let observer = null;

/** End an explorable when its root leaves the page: its worker, timers and handlers go with it. */
function endOnRemoval(root, controller) {
  mounted.set(root, controller);
  observer ??= new MutationObserver(() => {
    for (const [other, end] of mounted) {
      if (other.isConnected) continue; // moved, not removed
      mounted.delete(other);
      end.abort();
    }
    if (mounted.size === 0) {
      observer.disconnect();
      observer = null;
    }
  });
  observer.observe(document.documentElement, { childList: true, subtree: true });
}

/** Give the explorable inside `root` a model and draw it. Mounting twice draws once. */
async function mount(root, widget) {
  if (mounted.has(root) || root.dataset.ready) return;
  const controller = new AbortController();
  endOnRemoval(root, controller);
  const { signal } = controller;
  const blocks = globalThis.d2lrnnBlocks;
  const decoded = (globalThis.d2lrnnDecoded ??= new Map());
  const own = decodeState(blocks.get(root.querySelector(":scope > script.d2lrnn-state").dataset.hash));
  const entries = Array.from(root.querySelectorAll(":scope > script.d2lrnn-shared"), (block) => block.dataset);
  const model = createModel({ ...own, ...decodeShared(entries, blocks, decoded) });
  const definition = typeof widget === "function" ? await widget() : widget;
  const endModel = await definition.initialize?.({ model, signal });
  const endView = await definition.render({ model, el: root.querySelector(":scope > .d2lrnn-view"), signal });
  const end = () => {
    if (typeof endView === "function") endView();
    if (typeof endModel === "function") endModel();
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
}

export default mount;
