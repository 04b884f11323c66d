import assert from "node:assert/strict";
import { test } from "node:test";
import { createModel, decodeBase64, decodeShared, decodeState, isEqual } from "../../src/d2lrnn/widgets/shim.mjs";

function record(model, ...events) {
  const seen = [];
  for (const event of events) model.on(event, () => seen.push(event));
  return seen;
}

test("set, get, and one change event for each change", () => {
  const model = createModel({ p: 1, q: 2 });
  const seen = record(model, "change:p", "change:q", "change");
  model.set("p", 3);
  assert.equal(model.get("p"), 3);
  assert.deepEqual(seen, ["change:p", "change"]);
  model.set("p", 3);
  assert.deepEqual(seen, ["change:p", "change"], "an equal value is no change");
  model.set({ p: 4, q: 5 });
  assert.deepEqual(seen, ["change:p", "change", "change:p", "change:q", "change"]);
});

test("values are compared deeply, as the live model does", () => {
  const model = createModel({ probs: [0.5, 0.25], nested: { a: [1] } });
  const seen = record(model, "change:probs", "change:nested");
  model.set("probs", [0.5, 0.25]);
  model.set("nested", { a: [1] });
  assert.deepEqual(seen, []);
  model.set("probs", [0.5, 0.26]);
  assert.deepEqual(seen, ["change:probs"]);
});

test("all values are in place before the first handler runs", () => {
  const model = createModel({ word: "ab", probs: [1] });
  const seen = [];
  model.on("change:word", () => seen.push(model.get("probs").length));
  model.set({ word: "abc", probs: [1, 1] });
  assert.deepEqual(seen, [2]);
});

test("a handler gets the model and the value", () => {
  const model = createModel({ p: 1 });
  model.on("change:p", (source, value) => assert.deepEqual([source === model, value], [true, 2]));
  model.set("p", 2);
});

test("on takes several names; off takes names and handlers, each may be left out", () => {
  const model = createModel({ p: 1, q: 1 });
  let count = 0;
  const handler = () => (count += 1);
  const other = () => (count += 100);
  model.on("change:p change:q", handler);
  model.on("change:p", other);
  model.set({ p: 2, q: 2 });
  assert.equal(count, 102);
  model.off("change:p", handler);
  model.set({ p: 3, q: 3 });
  assert.equal(count, 203);
  model.off(null, handler);
  model.set({ p: 4, q: 4 });
  assert.equal(count, 303);
  model.off("change:p");
  model.on("change:q", handler);
  model.off();
  model.set({ p: 5, q: 5 });
  assert.equal(count, 303);
});

test("a handler may remove itself and others while the event runs", () => {
  const model = createModel({ p: 1 });
  const seen = [];
  const first = () => {
    seen.push("first");
    model.off("change:p", first);
  };
  model.on("change:p", first);
  model.on("change:p", () => seen.push("second"));
  model.set("p", 2);
  model.set("p", 3);
  assert.deepEqual(seen, ["first", "second", "second"]);
});

test("save_changes and send do nothing; another model is refused", async () => {
  const model = createModel({});
  assert.equal(model.save_changes(), undefined);
  assert.equal(model.send({ kind: "hello" }), undefined);
  await assert.rejects(model.widget_manager.get_model("x"), /no kernel/);
});

test("bytes arrive as a DataView", () => {
  const floats = Float32Array.from([1.5, -2]);
  const view = decodeBase64(Buffer.from(floats.buffer).toString("base64"));
  assert.ok(view instanceof DataView);
  assert.deepEqual([view.getFloat32(0, true), view.getFloat32(4, true), view.byteLength], [1.5, -2, 8]);
  const state = decodeState({ state: { p: 1 }, buffers: { weights: "AAH/" } });
  assert.equal(state.p, 1);
  assert.deepEqual([...new Uint8Array(state.weights.buffer)], [0, 1, 255]);
});

test("shared values are decoded once a page", () => {
  const entries = [{ name: "weights", kind: "base64", hash: "a1" }, { name: "text", kind: "json", hash: "b2" }];
  const blocks = new Map([["a1", "AAH/"], ["b2", "the story"]]);
  const decoded = new Map();
  const first = decodeShared(entries, blocks, decoded);
  assert.deepEqual([...new Uint8Array(first.weights.buffer)], [0, 1, 255]);
  assert.equal(first.text, "the story");
  assert.equal(decodeShared(entries, blocks, decoded).weights, first.weights);
});

test("equality", () => {
  assert.ok(isEqual(NaN, NaN) && isEqual([], []) && isEqual({ a: null }, { a: null }));
  assert.ok(!isEqual([], {}) && !isEqual({ a: 1 }, { b: 1 }) && !isEqual(null, {}) && !isEqual("1", 1));
  assert.ok(!isEqual(new DataView(new ArrayBuffer(1)), new DataView(new ArrayBuffer(1))));
});
