// The cases that Python computed, with "Infinity" turned back into the number.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const file = new URL("./perplexity_cases.json", import.meta.url);
export const CASES = JSON.parse(readFileSync(file, "utf8"), (_, value) => (value === "Infinity" ? Infinity : value));

/** Equal to 12 significant digits; infinity equals only itself, and NaN nothing. */
export function assertClose(actual, expected, message) {
  const allowed = 1e-12 * Math.max(1, Math.abs(expected));
  const equal = actual === expected || Math.abs(actual - expected) <= allowed;
  assert.ok(equal, `${message ?? ""} ${actual} is not ${expected}`);
}
