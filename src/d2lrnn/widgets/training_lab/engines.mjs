// Who trains: a worker of this page, or torch behind a kernel. Both take the same orders and tell the same report.
import WORKER from "./lab_worker.mjs" with { type: "text" };

/** A worker of this page; `onReport` gets the reports of the run that was begun last. */
export function createPageEngine(story, onReport, onError) {
  const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
  const worker = new Worker(url);
  let sent = null; // the text that the worker has
  let run = 0;
  // A beginning takes the worker a while. What is asked of it meanwhile waits here, and another beginning takes the place
  // of all that waits, so that a slider which is drawn along its track leaves no queue of runs that nobody wants.
  const waiting = [];
  let beginning = false;
  const flush = () => {
    while (waiting.length && !beginning) {
      const message = waiting.shift();
      beginning = message.kind === "begin";
      if (beginning) {
        const text = message.text ?? story;
        message.text = text === sent ? undefined : text;
        sent = text;
      }
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
    if (data.run === run) onReport(data);
  };
  worker.onerror = (event) => {
    beginning = false;
    onError(new Error(event.message));
    flush();
  };
  return {
    /** Start afresh: { settings, text (null: the story), cat, until, tells, speed }. */
    begin(order) {
      run += 1;
      post({ kind: "begin", run, ...order });
    },
    go: () => post({ kind: "go" }),
    /** A run that came to its given end goes on without one. */
    goOn: () => post({ kind: "on" }),
    pause: () => post({ kind: "pause" }),
    set: (changes) => post({ kind: "set", changes }),
    pace: (speed) => post({ kind: "pace", speed }),
    letCat: () => post({ kind: "cat" }),
    end() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/** base64 -> signed bytes. */
function bytes(text) {
  return Int8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * The torch model behind the kernel: it hears commands, and its reports are a trait. Settings reach it as traits.
 * A closed notebook says no goodbye; so each report is answered, and where no answer comes the training pauses.
 */
export function createKernelEngine(model, onReport) {
  const command = (kind, rest = {}) => model.send({ kind, ...rest });
  const listen = () => {
    const report = model.get("report");
    if (report.steps === undefined) return;
    if (report.status === "running") command("seen");
    // JSON knows no infinity: null is what stands for it.
    const finite = ({ xs, ys }) => ({ xs, ys: ys.map((y) => y ?? Infinity) });
    const { train, norms, heldout, states, perplexity, longest, catNorm } = report;
    onReport({
      ...report, train: finite(train), norms: finite(norms), heldout: finite(heldout), states: bytes(states),
      perplexity: perplexity ?? Infinity, longest: longest ?? Infinity,
      catNorm: catNorm ?? Infinity,
    });
  };
  model.on("change:report", listen);
  listen();
  return {
    begin: ({ text, cat = 0, until = 0, tells = "" }) => command("begin", { text, cat, until, tells }),
    go: () => command("go"),
    goOn: () => command("on"),
    pause: () => command("pause"),
    set() {},
    pace() {},
    letCat: () => command("cat"),
    end: () => model.off("change:report", listen),
  };
}
