// The package's small models as a page carries them: a safetensors file with float16 weights -> a model of core.mjs.
import { createModel, parameterShapes, TANH } from "./core.mjs";
import { PLAIN } from "./kernels.mjs";

/** A float16, given as its 16 bits, as a number. */
export function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Read a safetensors file from a DataView: { tensors: { name: { shape, values } }, about }. F16 and F32 only. */
export function readSafetensors(view) {
  const headerLength = Number(view.getBigUint64(0, true));
  const bytes = new Uint8Array(view.buffer, view.byteOffset + 8, headerLength);
  const { __metadata__: about = {}, ...entries } = JSON.parse(new TextDecoder().decode(bytes));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [start, end] }] of Object.entries(entries)) {
    const width = { F16: 2, F32: 4 }[dtype];
    if (width === undefined) throw new TypeError(`tensor ${name} is of type ${dtype}; F16 and F32 can be read`);
    const values = new Float32Array((end - start) / width);
    for (let i = 0; i < values.length; i += 1) {
      const at = 8 + headerLength + start + i * width;
      values[i] = width === 2 ? halfToNumber(view.getUint16(at, true)) : view.getFloat32(at, true);
    }
    tensors[name] = { shape, values };
  }
  return { tensors, about };
}

/** A model, its vocabulary (a list of characters) and what the file says of it. `cell` is its layer, as for createModel. */
export function loadModel(view, cell = TANH) {
  const { tensors, about } = readSafetensors(view);
  const [numHiddens, vocabSize] = tensors.W_hq.shape;
  const model = createModel(vocabSize, numHiddens, null, PLAIN, cell);
  for (const [name, shape] of parameterShapes(vocabSize, numHiddens, cell)) {
    if (String(tensors[name]?.shape) !== String(shape)) throw new RangeError(`${name} has shape ${tensors[name]?.shape}, expected ${shape}`);
    model[name].set(tensors[name].values);
  }
  const vocab = [...about.vocab];
  if (vocab.length !== vocabSize) throw new RangeError(`${vocab.length} characters for ${vocabSize} rows of weights`);
  return { model, vocab, about };
}

/** Text as the story was prepared: lower case, every run of anything but a to z one space, as d2lrnn.normalize. */
export function normalise(text) {
  return text.toLowerCase().replace(/[^a-z]+/g, " ");
}

// Latin letters whose stroke or ligature Unicode does not take apart, as in Python.
const NOT_DECOMPOSED = {
  Ł: "L", ł: "l", Ø: "O", ø: "o", Đ: "D", đ: "d", Ħ: "H", ħ: "h", ı: "i", ẞ: "SS", ß: "ss", Æ: "AE", æ: "ae", Œ: "OE", œ: "oe", Þ: "Th", þ: "th", Ð: "D", ð: "d",
};

/** A text without its accents: "Zoë" is "Zoe", "Łukasz" "Lukasz". */
export function unaccented(text) {
  return text.replace(/\P{ASCII}/gu, (letter) => NOT_DECOMPOSED[letter] ?? letter).normalize("NFKD").replace(/\p{M}/gu, "");
}

/** The characters that normalise() turns into a space, white space aside. */
export function leftOut(text) {
  return Array.from(text).filter((character) => character.trim() !== "" && normalise(character) === " ");
}

/** Whether normalise() reads each character of a text, white space aside: no accents, no signs. */
export const isPlain = (text) => leftOut(text.normalize("NFKD")).length === 0;

/** Indices of the characters of a normalised text. */
export function encode(text, vocab) {
  const index = new Map(vocab.map((character, i) => [character, i]));
  return Array.from(text, (character) => {
    if (!index.has(character)) throw new RangeError(`"${character}" is not in the vocabulary`);
    return index.get(character);
  });
}
