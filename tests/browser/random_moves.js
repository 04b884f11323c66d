// Runs inside a page: moves the controls of the explorable on it at random, looks at the page after each move, and stops
// at the first thing that is wrong. An expression whose value makes the driver: `shown()` gives what the page
// says and what its controls hold once it is quiet, `moves(from, to)` gives { moves, wrong, last }, `reset()` presses the button.
([seed, texts]) => {
  const widget = document.querySelector(".d2lrnn-widget");
  const view = widget.querySelector(".d2lrnn-view");
  const CONTROLS = "button, input, select, textarea, summary, [tabindex='0']";
  const KEYS = ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End", "Enter", " ", "PageUp", "Escape"];
  const NUMBERS = ["", "0", "-3", "1e9", "7"];
  // Numbers that have no business on a page.
  const NONSENSE = /\bNaN\b|\bundefined\b|\bnull\b|\bInfinity\b|\[object/;
  const LATEST_MS = 60_000;
  const QUIET_MS = 1000; // more than the live region waits before it speaks

  // mulberry32: equal seeds, equal moves.
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = (list) => list[Math.floor(random() * list.length)];

  const wrong = [];
  addEventListener("error", (event) => wrong.push(`exception: ${event.message}`));
  addEventListener("unhandledrejection", (event) => wrong.push(`rejection: ${event.reason}`));
  const consoleError = console.error;
  console.error = (...values) => {
    wrong.push(`console.error: ${values.join(" ")}`);
    consoleError(...values);
  };

  // A task of its own, ahead of painting: a frame after every move would cost more than the moves.
  const macrotask = () => scheduler.postTask(() => {}, { priority: "user-blocking" });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));

  /** Until nothing on the page has changed for a while, frames among it: a busy machine draws none for a second in the middle of a motion; a worker may have answers under way. */
  const quiet = async () => {
    let since = performance.now();
    const observer = new MutationObserver(() => (since = performance.now()));
    observer.observe(view, { childList: true, subtree: true, attributes: true, characterData: true });
    for (let left = QUIET_MS; left > 0; left = since + QUIET_MS - performance.now()) {
      await wait(left);
      await frame();
      await frame();
    }
    observer.disconnect();
  };

  const name = (control) =>
    (control.getAttribute("aria-label") || control.labels?.[0]?.textContent || control.textContent || control.localName)
      .trim().slice(0, 40);
  const fire = (control, ...events) => events.forEach((event) => control.dispatchEvent(new Event(event, { bubbles: true })));
  const press = (control, key) => {
    const init = { key, code: key === " " ? "Space" : key, bubbles: true, cancelable: true };
    control.focus?.({ preventScroll: true });
    for (const kind of ["keydown", "keyup"]) control.dispatchEvent(new KeyboardEvent(kind, init));
  };
  const point = (control) => {
    const box = control.getBoundingClientRect();
    const init = {
      bubbles: true, cancelable: true, pointerType: pick(["mouse", "touch"]),
      clientX: box.left + random() * box.width, clientY: box.top + random() * box.height,
    };
    const kinds = ["pointerenter", "pointermove", "pointerdown", "pointerup", "click", "pointerleave"];
    for (const kind of kinds) control.dispatchEvent(new PointerEvent(kind, init));
  };

  /** One move of one control that can be seen and moved now; says what it did. */
  function move() {
    const anything = random() < 0.1; // pictures and words may answer a pointer or a key as well
    const found = view.querySelectorAll(anything ? "*" : CONTROLS);
    let control;
    do control = pick(found);
    while (!control.checkVisibility() || control.disabled);
    const kind = control instanceof SVGElement ? "picture" : control.localName === "input" ? control.type : control.localName;
    let done = "click";
    if (kind === "text" || kind === "search" || kind === "textarea") {
      control.value = pick(texts);
      fire(control, "input", "change");
      done = `text ${control.value.slice(0, 20)}`;
    } else if (kind === "range") {
      const [low, high, step] = [Number(control.min), Number(control.max), Number(control.step) || 1];
      const places = Math.floor((high - low) / step);
      control.value = pick([low, high, low + step * Math.floor(random() * (places + 1)), Number(control.value) + step]);
      fire(control, "input", "change");
      done = `to ${control.value}`;
    } else if (kind === "number") {
      control.value = pick(NUMBERS);
      fire(control, "input", "change");
      done = `to ${control.value}`;
    } else if (kind === "select") {
      control.selectedIndex = Math.floor(random() * control.options.length);
      fire(control, "input", "change");
      done = `to ${control.value}`;
    } else if (kind === "button" || kind === "checkbox" || kind === "radio" || kind === "summary") {
      control.click();
    } else if (random() < 0.5) {
      done = `key ${pick(KEYS)}`;
      press(control, done.slice(4));
    } else {
      done = "pointer";
      point(control);
    }
    return `${name(control)}: ${done}`;
  }

  const inputs = () => [...view.querySelectorAll("input")];
  /** What is wrong with the page as it is now. (Its source is looked through first: that is quick.) */
  function look() {
    if (widget.dataset.ready !== "1") wrong.push(`data-ready is ${widget.dataset.ready}`);
    if (view.querySelectorAll('[aria-live="polite"][role="status"]').length !== 1) wrong.push("the live region is gone");
    if (!NONSENSE.test(view.innerHTML) && !inputs().some((e) => NONSENSE.test(e.value))) return;
    const found = NONSENSE.exec(view.textContent);
    if (found) wrong.push(`text: …${view.textContent.slice(Math.max(0, found.index - 40), found.index + 40)}…`);
    for (const node of view.querySelectorAll("*")) {
      for (const { name: attribute, value } of node.attributes) {
        if (NONSENSE.test(value)) wrong.push(`${node.localName} ${attribute}="${value.slice(0, 80)}"`);
      }
    }
    for (const e of inputs()) if (NONSENSE.test(e.value)) wrong.push(`the value of "${name(e)}" is ${e.value}`);
  }

  const last = [];
  return {
    async moves(from, to) {
      let i = from;
      for (; i < to && wrong.length === 0; i += 1) {
        last.push(`${i}. ${move()}`);
        if (last.length > 8) last.shift();
        await macrotask();
        if (i % 10 === 9) await frame();
        look();
      }
      return { moves: i, wrong, last };
    },
    reset() {
      [...view.querySelectorAll("button")].find((button) => button.textContent.trim() === "Reset").click();
      for (const open of view.querySelectorAll("details[open]")) open.open = false;
      document.activeElement?.blur();
    },
    /** What is shown, once it is `expected` or long after it should have been: a worker has a queue to get through. */
    async shownAgain(expected) {
      const until = performance.now() + LATEST_MS;
      for (;;) {
        const now = await this.shown();
        if (performance.now() > until || JSON.stringify(now) === JSON.stringify(expected)) return now;
      }
    },
    async shown() {
      await quiet();
      look();
      const words = [];
      const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { data, parentElement } = walker.currentNode;
        if (parentElement.closest("[role=status], .d2lrnn-told")) continue; // these tell what was done last
        if (parentElement.checkVisibility()) words.push(data);
      }
      const values = Array.from(view.querySelectorAll("input, select, textarea"), (e) => [e.value, e.checked]);
      return { text: words.join("|"), values, wrong };
    },
  };
}
