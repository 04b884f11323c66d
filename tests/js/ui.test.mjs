import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import {
  choiceRule, decodeLink, encodeLink, fill, flagRule, formatNumber, formatProbability, listRule, numberRule, rulesOf, textRule,
  translator, twoDigits, visibleCharacter,
} from "../../src/d2lrnn/widgets/ui.mjs";
import { CASES } from "./cases.mjs";

test("numbers, probabilities and characters are written as in Python", () => {
  for (const { value, decimals, text } of CASES.numbers) assert.equal(formatNumber(value, decimals), text, `${value}`);
  assert.deepEqual([1, 0.101, 0.0996, 0.04, 0.0061, 0.0004].map(twoDigits), ["1", "0.10", "0.10", "0.040", "0.0061", "4e-4"]);
  for (const { value, text } of CASES.probabilities) assert.equal(formatProbability(value), text, `${value}`);
  for (const { character, text } of CASES.characters) assert.equal(visibleCharacter(character), text);
});

test("a template wants all its values, and values are not templates", () => {
  assert.equal(fill("{n} of {all}", { n: 1, all: "{n}" }), "1 of {n}");
  assert.equal(fill("{a}", { a: "$&" }), "$&");
  assert.throws(() => fill("{n} bits", {}), /needs a value for \{n\}/);
});

test("words come in the language of the page, else in English", () => {
  const tables = [{ en: { reset: "Reset", only: "only English" }, pt: { reset: "Repor", only: "só" } }, { en: { more: "more" } }];
  assert.equal(translator("pt-BR", ...tables)("reset"), "Repor");
  assert.equal(translator("pt-BR", ...tables)("more"), "more");
  assert.equal(translator("fr", ...tables)("reset"), "Reset");
  assert.equal(translator("toString", ...tables)("reset"), "Reset");
  assert.throws(() => translator("en", ...tables)("missing"), /no words for "missing"/);
});

const RULES = {
  word: textRule(5),
  p: numberRule(0, 1),
  count: numberRule(1, 9, { whole: true }),
  kind: choiceRule(["a", "b"]),
  on: flagRule,
  list: listRule(numberRule(0, 1), 3),
};

test("a link reproduces a state, markup and emoji too", () => {
  const state = { word: "<b>&#", p: 0.25, count: 3, kind: "b", on: false, list: [0, 1, 0.5] };
  assert.deepEqual(decodeLink(encodeLink("Probe", 0, state), "Probe", 0, RULES), state);
  const emoji = { word: "👩‍👩%" };
  assert.deepEqual(decodeLink(encodeLink("Probe", 2, emoji), "Probe", 2, RULES), emoji);
  assert.match(encodeLink("Probe", 0, state), /^#explore=Probe\.0&state=[\w%.~!*'()-]+$/);
});

test("a link for another explorable, or one that can't be read, is left alone", () => {
  const link = encodeLink("Probe", 0, { p: 0.5 });
  assert.equal(decodeLink(link, "Probe", 1, RULES), null);
  assert.equal(decodeLink(link, "Other", 0, RULES), null);
  assert.equal(decodeLink(link.slice(0, -4), "Probe", 0, RULES), null);
  assert.equal(decodeLink("#explore=Probe.0&state=%E0%A4%A", "Probe", 0, RULES), null);
  for (const fragment of ["", "#section-2", encodeLink("Probe", 0, null), encodeLink("Probe", 0, [1]), encodeLink("Probe", 0, 7)]) {
    assert.equal(decodeLink(fragment, "Probe", 0, RULES), null, fragment);
  }
});

test("a link sets nothing that is out of bounds, and keeps the rest", () => {
  const hostile = {
    word: "abcdef", p: 2, count: 2.5, kind: "c", on: 1, list: [0, 0, 0, 0], constructor: "x", __proto__: { p: 1 }, more: 1,
  };
  assert.equal(decodeLink(encodeLink("Probe", 0, hostile), "Probe", 0, RULES), null);
  for (const p of [null, "1", NaN, -0.1, Infinity, [0.5], {}]) {
    assert.deepEqual(decodeLink(encodeLink("Probe", 0, { p, kind: "a" }), "Probe", 0, RULES), { kind: "a" });
  }
  assert.deepEqual(decodeLink(encodeLink("Probe", 0, { list: [0, null], on: true }), "Probe", 0, RULES), { on: true });
  assert.equal(decodeLink(encodeLink("Probe", 0, { p: 0.5, word: "x".repeat(9000) }), "Probe", 0, RULES), null);
});

const folder = new URL("../../src/d2lrnn/widgets/", import.meta.url);
const read = (file) => readFileSync(new URL(file, folder), "utf8");
const widgets = readdirSync(folder).filter((name) => existsSync(new URL(`${name}/spec.json`, folder)));
const specs = ["ui.json", ...widgets.map((name) => `${name}/spec.json`)];
const sourcesIn = (name) => readdirSync(new URL(`${name}/`, folder)).filter((file) => /\.(mjs|py)$/.test(file)).map((file) => `${name}/${file}`);

test("every language of a table has the same keys and the same placeholders", () => {
  assert.ok(specs.length >= 10);
  for (const file of specs) {
    const { en, ...others } = JSON.parse(read(file)).words;
    const shape = (texts) => Object.entries(texts).map(([key, text]) => [key, (text.match(/\{\w+\}/g) ?? []).sort()]).sort();
    for (const [language, texts] of Object.entries(others)) assert.deepEqual(shape(texts), shape(en), `${file} ${language}`);
  }
});

test("every key that a module asks for is in its table, and no text is left over", () => {
  const shared = readdirSync(folder).filter((file) => /\.(mjs|py)$/.test(file));
  const everything = [...shared, ...widgets.flatMap(sourcesIn)].map(read).join("\n");
  const keysOf = (file) => Object.keys(JSON.parse(read(file)).words.en);
  for (const file of specs) {
    const known = new Set([...keysOf(file), ...keysOf("ui.json")]);
    const own = file === "ui.json" ? [] : sourcesIn(file.split("/")[0]);
    for (const [, key] of own.map(read).join("\n").matchAll(/\b(?:t|t\.raw|words)\(\s*["'](\w+)["']/g)) {
      assert.ok(known.has(key), `${file}: no words for "${key}"`);
    }
    for (const key of keysOf(file)) {
      // A key stands in the sources as it is, or as a template: `preset_${name}` or `${name}_long`.
      const parts = key.split("_");
      const templates = parts.slice(1).flatMap((_, i) => [`\`${parts.slice(0, i + 1).join("_")}_\${`, `}_${parts.slice(i + 1).join("_")}\``]);
      const asked = new RegExp(`["']${key}["']|\\b${key}:`).test(everything) || templates.some((text) => everything.includes(text));
      assert.ok(asked, `${file}: nobody asks for "${key}"`);
    }
  }
});

test("the guided steps of a widget set what its controls take, and ask with words", () => {
  for (const name of widgets) {
    const { controls, steps, words } = JSON.parse(read(`${name}/spec.json`));
    if (!controls) continue;
    const rules = rulesOf(controls);
    for (const [i, step] of (steps ?? []).entries()) {
      for (const values of [step.before ?? {}, step.state]) {
        for (const [key, value] of Object.entries(values)) assert.notEqual(rules[key]?.(value), undefined, `${name}: step ${i + 1}, ${key}`);
      }
      assert.ok(step.right === null || (step.right >= 0 && step.right < step.answers), `${name}: step ${i + 1}`);
      const asked = ["", "_question", "_outcome", ...Array.from({ length: step.answers }, (_, j) => `_answer_${j + 1}`)];
      for (const part of asked) assert.ok(words.en[`step_${i + 1}${part}`], `${name}: step_${i + 1}${part}`);
    }
  }
});

test("a control's rule takes its default, and nothing beyond its range", () => {
  const rules = rulesOf({
    steps: { type: "int", min: 1, max: 8 }, rate: { type: "float", min: 0, max: 1 }, kind: { type: "choice", choices: ["a", "b"] },
    carry: { type: "flag" }, text: { type: "text", max: 3 }, list: { type: "list", of: { type: "int", min: 0, max: 9 }, max: 2 },
  });
  const good = { steps: 8, rate: 0.5, kind: "b", carry: false, text: "abc", list: [0, 9] };
  const bad = { steps: 9, rate: -0.1, kind: "c", carry: 1, text: "abcd", list: [0, 10] };
  for (const [name, value] of Object.entries(good)) assert.deepEqual(rules[name](value), value);
  for (const [name, value] of Object.entries(bad)) assert.equal(rules[name](value), undefined, name);
});

test("a link that a person writes", () => {
  const known = { cut: numberRule(0, 60), text: textRule(60), carry: flagRule };
  const read = (fragment, place = 0) => decodeLink(fragment, "HiddenState", place, known);
  assert.deepEqual(read("#explore=HiddenState&cut=12&text=the%20tide&carry=true"), { cut: 12, text: "the tide", carry: true });
  assert.deepEqual(read("#explore=HiddenState&cut=99&text=another+one"), { text: "another one" });
  assert.deepEqual(read("#explore=HiddenState"), {});
  assert.deepEqual(read("#explore=HiddenState.1&cut=3", 1), { cut: 3 });
  assert.equal(read("#explore=HiddenState&cut=3", 1), null);
  assert.equal(read("#explore=HiddenStates&cut=3"), null);
});
