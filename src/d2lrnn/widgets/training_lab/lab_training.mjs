// One run of training, as the lab's worker drives it: settings and a text in; numbers, letters and a reading out.
import {
  applyUpdate, carryState, clipGradients, countNgrams, createModel, createOptimiser, createReader, createWorkspace,
  fillWindows, forward, initialise, lossAndGradients, randomSource, randomStarts, reshapeProbs, resetState,
  restartOptimiser, sampleIndex, scoreText, surpriseNats,
} from "../core.mjs";
import { cellOf } from "../gated.mjs";
import { PLAIN } from "../kernels.mjs";
import LAB from "./rules.json" with { type: "json" };

/** Share of the text, at its end, that training never sees. */
export const HELDOUT_SHARE = 0.1;

/** Python's round: a half goes to the even neighbour. */
function roundHalfEven(value) {
  const whole = Math.floor(value);
  const rest = value - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
}

/** A text as indices, numbered and split as d2lrnn.encode_text does: { vocab, trainIds, heldoutIds, words }. */
export function prepareText(text) {
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const vocab = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
  const index = new Map(vocab.map((character, i) => [character, i]));
  const ids = Int32Array.from(text, (character) => index.get(character));
  const numTrain = ids.length - roundHalfEven(ids.length * HELDOUT_SHARE);
  return { vocab, trainIds: ids.subarray(0, numTrain), heldoutIds: ids.subarray(numTrain), words: knownWords(text) };
}

/** The words of a text. */
function wordsOf(text) {
  return text.toLowerCase().split(/[^\p{L}\p{M}]+/u).filter(Boolean);
}

/** The words that count as real: short ones come about by chance. */
export function knownWords(text) {
  return new Set(wordsOf(text).filter((word) => word.length >= LAB.word));
}

/** A text in pieces, [piece, whether it is one of the `words`]. */
export function markReal(text, words) {
  return text.split(/([\p{L}\p{M}]+)/u).filter(Boolean).map((piece) => [piece, words.has(piece.toLowerCase())]);
}

/** Whether a text ends with a letter: then a word goes on after it. */
const endsInWord = (text) => /[\p{L}\p{M}]$/u.test(text);

/** The first `length` letters of a text that was written after `before`, in pieces; a word that an edge cuts is not real. */
export function markLine(text, length, words, before) {
  const letters = Array.from(text);
  const line = letters.slice(0, length).join("");
  const pieces = markReal(line, words);
  const isCut = endsInWord(line) && endsInWord(letters[length] ?? "");
  return pieces.map(([piece, isReal], i) => [piece, isReal && !(i === 0 && endsInWord(before)) && !(i === pieces.length - 1 && isCut)]);
}

/**
 * Of the longer words that a page holds, but for those that its edges may cut: how many there are, how many are real, and the
 * page in pieces. Where the text `before` it ends between words, its first word is whole.
 */
export function countReal(page, words, before = "") {
  const isWhole = before !== "" && !endsInWord(before);
  const [from, to] = [isWhole ? 0 : Math.max(0, page.indexOf(" ")), Math.max(0, page.lastIndexOf(" "))];
  const inside = page.slice(from, to);
  const whole = wordsOf(inside).filter((word) => word.length >= LAB.word);
  const edges = [page.slice(0, from), page.slice(to)].map((edge) => (edge ? [[edge, false]] : []));
  return { real: whole.filter((word) => words.has(word)).length, words: whole.length, pieces: [...edges[0], ...markReal(inside, words), ...edges[1]] };
}

/** The held-out letters that the page shows: from the beginning of a word on, if there are words. */
export function sentenceIds({ vocab, heldoutIds }, length = LAB.sentence) {
  const space = heldoutIds.subarray(0, 40).indexOf(vocab.indexOf(" "));
  return heldoutIds.subarray(space + 1, space + 1 + length);
}

/** The first place in a sorted array, from `low` on, whose number is at least `code`. */
function bisect(codes, code, low = 0) {
  let high = codes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (codes[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Held-out perplexities of n-grams, n from 0 to `most`: the rivals. As d2lrnn.NGramLM's, in one walk along the text.
 *
 * With a large alphabet the longest ones are left out: their number of possible n-grams does not fit a number.
 */
export function rivals({ vocab, trainIds, heldoutIds }, most = 5) {
  const base = vocab.length + 1;
  let longest = most;
  while (base ** longest > Number.MAX_SAFE_INTEGER) longest -= 1;
  const { codes } = countNgrams(trainIds, longest, vocab.length);
  const ranges = Array.from({ length: longest }, () => new Map()); // of contexts met before, by their length
  const range = (length, code) => {
    const known = ranges[length].get(code);
    if (known) return known;
    const width = base ** (longest - length);
    const step = width / base;
    const from = bisect(codes, code * width + step); // a context at the very end of the text has no follower
    const to = bisect(codes, (code + 1) * width, from);
    let types = 0;
    for (let i = from; i < to; i = bisect(codes, (Math.floor(codes[i] / step) + 1) * step, i)) types += 1;
    const found = { from, total: to - from, types, step, start: code * width };
    ranges[length].set(code, found);
    return found;
  };
  const nats = new Float64Array(longest + 1);
  for (let place = 1; place < heldoutIds.length; place += 1) {
    const id = heldoutIds[place];
    let p = 1 / vocab.length;
    let code = 0;
    let seen = true;
    for (let length = 0; length < longest; length += 1) {
      if (length > 0 && length <= place) code += (heldoutIds[place - length] + 1) * base ** (length - 1);
      if (seen && length <= place) {
        const { from, total, types, step, start } = range(length, code);
        seen = total > 0; // otherwise no longer context was seen either
        if (seen) {
          const first = bisect(codes, start + (id + 1) * step, from);
          const count = bisect(codes, start + (id + 2) * step, first) - first;
          p = (count + types * p) / (total + types);
        }
      }
      nats[length + 1] -= Math.log(p);
    }
  }
  const perplexity = (order) => (order === 0 ? vocab.length : Math.exp(nats[order] / (heldoutIds.length - 1)));
  return Array.from(nats, (_, order) => ({ order, perplexity: perplexity(order) }));
}

/** Where the sequences of a batch begin when each carries its state on, as d2lrnn.SequentialWindows: { starts, windows }. */
export function lanes(numTokens, batchSize, numSteps) {
  const length = Math.floor(numTokens / batchSize);
  // The last stream has no neighbour to borrow its last target from.
  const inputs = Math.min(length, numTokens - 1 - (batchSize - 1) * length);
  return { starts: Int32Array.from({ length: batchSize }, (_, i) => i * length), windows: Math.floor(inputs / numSteps) };
}

/**
 * A curve for a logarithmic axis: fifty bins a power of ten, of each the first, the smallest, the largest and the newest value.
 *
 * So a run of any length fits, no spike is lost, and none is drawn as a climb from the bin before.
 */
export function createTrace(binsPerDecade = 50) {
  const bins = [];
  return {
    add(x, y) {
      const point = [x, y];
      const key = x > 0 ? Math.floor(binsPerDecade * Math.log10(x)) : -1;
      const bin = bins.at(-1);
      if (bin?.key !== key) {
        bins.push({ key, first: point, least: point, most: point, last: point });
        return;
      }
      if (y < bin.least[1]) bin.least = point;
      if (y > bin.most[1]) bin.most = point;
      bin.last = point;
    },
    /** { xs, ys }, from left to right. */
    points() {
      const all = bins.flatMap(({ first, least, most, last }) => [...new Set([first, least, most, last])].sort((a, b) => a[0] - b[0]));
      return { xs: all.map(([x]) => x), ys: all.map(([, y]) => y) };
    },
    /** The newest value. */
    get last() {
      return bins.at(-1)?.last[1];
    },
  };
}

/**
 * A run of training.
 *
 * `settings`: cell, num_hiddens, num_steps, batch_size, carry, seed fix its shape; learning_rate, optimizer, clip (0: none)
 * may be set anew while it runs, with `set`. With `carry` each sequence goes on where its last window ended and keeps its
 * state; without, every window starts anywhere, from zero, and the held-out text is read in windows from zero too.
 * A short text gets fewer sequences at once: as many as it has room for.
 *
 * The run takes over the kernels' memory: one set serves one run at a time.
 */
export function createTraining(text, settings, kernels = PLAIN) {
  const { vocab, trainIds, heldoutIds, words } = text;
  const { num_hiddens: numHiddens, num_steps: numSteps, carry, seed, cell = "tanh" } = settings;
  const vocabSize = vocab.length;
  let batchSize = settings.batch_size;
  while (batchSize > 1 && lanes(trainIds.length, batchSize, numSteps).windows < 1) batchSize -= 1;
  kernels.clear();
  const model = initialise(createModel(vocabSize, numHiddens, null, kernels, cellOf(cell)), seed);
  const workspace = createWorkspace(model, batchSize, numSteps);
  const random = randomSource(seed + 1);
  const X = new Int32Array(batchSize * numSteps);
  const Y = new Int32Array(batchSize * numSteps);
  const lane = lanes(trainIds.length, batchSize, numSteps);
  const starts = carry ? lane.starts : new Int32Array(batchSize);
  let { learning_rate: learningRate, clip } = settings;
  const optimiser = createOptimiser(settings.optimizer, model.flat.length, kernels);
  const score = carry ? textScorer(model, heldoutIds) : windowScorer(model, heldoutIds, numSteps);
  const reader = createReader(model);
  const sentence = sentenceIds(text);
  const prefix = trainIds.subarray(0, 4);
  const given = Array.from(prefix, (id) => vocab[id]).join("");
  let window = 0;
  let cat = false; // whether it is on the keyboard
  let smooth = 0; // mean nats of late steps: of some fifth of all, and of some thirty at most
  let scored = -1; // the update after which the held-out text was scored last
  let nextLook = LAB.looks.first; // when its words are counted next: at the same ages in every run
  const report = {
    steps: 0, tokens: 0, status: "running", batchSize, train: createTrace(), norms: createTrace(), heldout: createTrace(),
    longest: 0, // length of the longest gradient
    catNorm: 0, // and of the cat's
    catAt: 0, // how many characters were read with the cat's, 0 before it came
    diary: [],
    counted: null, // of the page that it wrote last how many words were real, { steps, real, words }, and the page in pieces
    spelled: null, // the same, when it could spell for the first time
  };

  /** One update; false once the numbers are lost. */
  function step() {
    if (carry) {
      if (window === lane.windows) window = 0;
      if (window === 0) resetState(workspace, numHiddens);
      const from = Int32Array.from(starts, (start) => start + window * numSteps);
      fillWindows(X, Y, trainIds, from, numSteps);
      window += 1;
    } else {
      resetState(workspace, numHiddens);
      fillWindows(X, Y, trainIds, randomStarts(starts, trainIds.length, numSteps, random), numSteps);
    }
    const isCats = cat;
    if (isCats) {
      X.fill(vocabSize - 1); // the rarest letter, over and over
      Y.fill(vocabSize - 1);
      cat = false;
    }
    const loss = lossAndGradients(model, workspace, X, Y);
    const norm = clipGradients(workspace.grads, clip > 0 ? clip : Infinity, kernels);
    if (!Number.isFinite(loss) || !Number.isFinite(norm)) {
      report.status = "diverged";
      return false;
    }
    applyUpdate(optimiser, model.flat, workspace.grads, learningRate);
    if (carry) carryState(workspace, numHiddens);
    report.steps += 1;
    report.tokens += batchSize * numSteps;
    report.longest = Math.max(report.longest, norm);
    if (isCats) [report.catNorm, report.catAt] = [norm, report.tokens];
    smooth += Math.max(0.03, Math.min(1, 5 / report.steps)) * (loss - smooth);
    report.train.add(report.tokens, Math.exp(smooth));
    report.norms.add(report.tokens, norm);
    if (report.steps === nextLook) {
      nextLook = Math.ceil(LAB.looks.factor * nextLook);
      lookAtWords();
    }
    return true;
  }

  /** Count the real words on a page that it writes, until it can spell. */
  function lookAtWords() {
    if (report.spelled !== null || words.size <= 50) return;
    report.counted = { steps: report.steps, ...countReal(write(LAB.sample), words, given) };
    if (report.counted.words >= LAB.least_words && report.counted.real >= LAB.spelled * report.counted.words) {
      report.spelled = { ...report.counted }; // the worker adds the seconds
    }
  }

  /** Score the held-out text and note it in the report, once an update. */
  function evaluate() {
    if (scored === report.steps) return;
    scored = report.steps;
    const { nats, numTokens } = score();
    report.heldout.add(report.tokens, Math.exp(nats / numTokens));
  }

  /** `length` characters written by the model as it is now, after the text's first four; equal weights, equal text. */
  function write(length, temperature = 0.7) {
    const dice = randomSource(seed + 2);
    reader.reset();
    let probs;
    for (const id of prefix) probs = reader.read(id);
    let text = "";
    for (let i = 0; i < length; i += 1) {
      const index = sampleIndex(reshapeProbs(probs, { temperature }), dice());
      if (index < 0) break; // its numbers are lost
      text += vocab[index];
      if (!carry && i % numSteps === 0) reader.reset(); // it never learned to go on
      probs = reader.read(index);
    }
    return text;
  }

  /** A line of the diary: what it writes at its age, and how well it predicts. */
  function note() {
    if (report.steps === 0) lookAtWords(); // a page of noise
    report.diary.push({ age: report.steps, perplexity: report.heldout.last, pieces: sample() });
  }

  /** A line of text as it writes now, in pieces. */
  function sample(length = LAB.line) {
    return markLine(write(length + 1), length, words, given); // with the letter that follows: does it cut a word?
  }

  /** Read the sentence: { nats, top, states }, the price of each letter but the first, the five likeliest there, all states. */
  function read() {
    const nats = [];
    const top = [];
    const states = new Int8Array(sentence.length * numHiddens);
    reader.reset();
    sentence.forEach((id, i) => {
      if (!carry && i % numSteps === 0) reader.reset();
      const probs = reader.read(id);
      const state = reader.state;
      for (let j = 0; j < numHiddens; j += 1) states[i * numHiddens + j] = Math.round(127 * state[j]);
      if (i === sentence.length - 1) return;
      const p = probs[sentence[i + 1]];
      nats.push(p > 1e-30 ? -Math.log(p) : -Math.log(1e-30)); // weights that overflowed give no number
      top.push(likeliest(probs, 5).map((k) => [vocab[k], probs[k] || 0]));
    });
    return { nats, top, states };
  }

  return {
    report,
    model,
    scoreTokens: heldoutIds.length,
    sentence: Array.from(sentence, (id) => vocab[id]),
    step,
    evaluate,
    write,
    note,
    sample,
    read,
    /** Let the cat lie on the keyboard: the next minibatch is the rarest letter, over and over. */
    letCat() {
      cat = true;
    },
    set(changes) {
      if (changes.learning_rate !== undefined) learningRate = changes.learning_rate;
      if (changes.clip !== undefined) clip = changes.clip;
      if (changes.optimizer !== undefined && changes.optimizer !== optimiser.kind) restartOptimiser(optimiser, changes.optimizer);
    },
  };
}

/** Indices of the `count` largest probabilities, largest first. */
function likeliest(probs, count) {
  const found = [];
  probs.forEach((p, i) => {
    let at = found.length;
    while (at > 0 && p > probs[found[at - 1]]) at -= 1;
    if (at < count) found.splice(at, 0, i);
    if (found.length > count) found.pop();
  });
  return found;
}

/** A function that scores a text as one reading, with buffers made once. */
function textScorer(model, ids) {
  const [batchSize, numSteps] = [32, 32];
  const workspace = createWorkspace(model, batchSize, numSteps, { gradients: false });
  return () => scoreText(model, ids, { batchSize, numSteps, workspace });
}

/** A function that scores a text in windows that each start from a zero state, side by side. */
export function windowScorer(model, ids, numSteps) {
  const { numHiddens } = model;
  const count = Math.floor((ids.length - 1) / numSteps);
  const batchSize = Math.min(count, Math.max(1, Math.floor(1024 / numSteps)));
  const workspace = createWorkspace(model, batchSize, numSteps, { gradients: false });
  const X = new Int32Array(batchSize * numSteps);
  const Y = new Int32Array(batchSize * numSteps);
  return () => {
    let nats = 0;
    for (let first = 0; first < count; first += batchSize) {
      const used = Math.min(batchSize, count - first);
      // The last batch is filled up with its first window; what is added that way is not counted.
      const starts = Int32Array.from({ length: batchSize }, (_, i) => (first + (i < used ? i : 0)) * numSteps);
      fillWindows(X, Y, ids, starts, numSteps);
      resetState(workspace, numHiddens);
      forward(model, workspace, X);
      for (let t = 0; t < numSteps; t += 1) {
        for (let i = 0; i < used; i += 1) {
          const row = t * batchSize + i;
          nats += surpriseNats(model, workspace, row, Y[row]);
        }
      }
    }
    return { nats, numTokens: count * numSteps };
  };
}
