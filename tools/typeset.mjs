// Typesets formulas: a line of JSON in, {tex, display, macros}, a line of JSON out, {html} or {error}.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const katex = createRequire(import.meta.url)("./katex/katex.min.js");

for await (const line of createInterface({ input: process.stdin })) {
  const { tex, display, macros } = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(tex, { displayMode: display, macros, strict: "ignore" }) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
