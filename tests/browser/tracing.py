"""How long the page's main thread is busy: Chromium's own trace, in processor time.

A task's wall time grows with everything else that the machine does; its thread time does not count waiting for a core.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page

_CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"]
_BEGIN = "trace: begin"


@dataclass(frozen=True)
class Task:
    """One turn of the main thread.

    Attributes
    ----------
    thread_ms : float
        Processor time; not the time that it waited for a core.
    wall_ms : float
    mark : str
        The last mark that the page had set before the task's end, by which a move of a control is known.
    is_move : bool
        Whether that mark was set in this task: then the task is the control's own handler. Otherwise it is what came
        after, drawing above all.
    """

    thread_ms: float
    wall_ms: float
    mark: str
    is_move: bool


@dataclass
class Trace:
    """All tasks of the page's main thread, in their order."""

    tasks: list[Task] = field(default_factory=list)

    @property
    def moves(self) -> list[Task]:
        return [task for task in self.tasks if task.is_move]

    @property
    def longest(self) -> Task:
        return max(self.tasks, key=lambda task: task.thread_ms)

    @property
    def busy_ms(self) -> float:
        return sum(task.thread_ms for task in self.tasks)

    def _read(self, events: list[dict]) -> None:
        marks = sorted((e for e in events if e.get("cat") == "blink.user_timing"), key=lambda e: e["ts"])
        begin = next(e for e in marks if e["name"] == _BEGIN)
        thread = (begin["pid"], begin["tid"])
        marks = [e for e in marks if (e["pid"], e["tid"]) == thread]
        times = [e["ts"] for e in marks]
        runs = [e for e in events if e.get("name") == "RunTask" and e["ph"] == "X" and (e["pid"], e["tid"]) == thread]
        for event in sorted(runs, key=lambda e: e["ts"]):
            if event["ts"] < begin["ts"]:
                continue
            last = bisect_right(times, event["ts"] + event["dur"]) - 1
            # A task too short for the thread's clock has no thread time.
            self.tasks.append(
                Task(
                    thread_ms=event.get("tdur", 0) / 1000,
                    wall_ms=event["dur"] / 1000,
                    mark=marks[last]["name"],
                    is_move=last > 0 and times[last] >= event["ts"],
                )
            )


@contextmanager
def traced(browser: Browser, page: Page) -> Iterator[Trace]:
    """Trace the page as long as the block lasts; the trace is filled at its end."""
    trace = Trace()
    browser.start_tracing(page=page, categories=_CATEGORIES)
    try:
        page.evaluate("(name) => { performance.mark(name); }", _BEGIN)
        yield trace
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
    trace._read(events)


# Moves every control that the explorable shows, each in a task of its own that begins with a mark, and lets the page
# draw after it. Sliders go to their ends and to places between, choices take every value, texts are filled, emptied and
# given more than they can take, buttons are pressed, grids walked through, and the pointer is led over every picture.
MOVE_EVERYTHING = """async () => {
  const widget = document.querySelector(".d2lrnn-widget");
  const view = widget.querySelector(".d2lrnn-view");
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const move = (name, action) => new Promise((done) => setTimeout(() => {
    performance.mark(name);
    action();
    drawn().then(done);
  }, 0));
  const nameOf = (e) => {
    const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent || e.tagName;
    return name.trim().slice(0, 40);
  };
  const enter = (e, value) => () => {
    e.value = value;
    for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  const seen = (e) => e.isConnected && !e.disabled && e.checkVisibility();
  const LONG = "the tide goes out and the tide comes in ".repeat(2500);

  const actions = {
    range(e) {
      const [min, max, step] = [Number(e.min), Number(e.max), Number(e.step) || 1];
      const shares = [0, 0.21, 0.4, 0.63, 0.81, 1];
      return shares.map((share) => enter(e, min + Math.round((share * (max - min)) / step) * step));
    },
    text: (e) => ["", "t", "the tide clock", LONG, "the keeper"].map((text) => enter(e, text)),
    number: (e) => [e.min, e.max, e.value].map((value) => enter(e, value)),
    select: (e) => [...e.options].map((option) => enter(e, option.value)),
    press: (e) => [() => e.click()],
    keys: (e) => ["ArrowRight", "ArrowDown", "End", "Home"].map((key) => () => {
      e.focus();
      e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }),
    pointer(e) {
      const over = (share) => () => {
        const box = e.getBoundingClientRect();
        const [clientX, clientY] = [box.left + share * box.width, box.top + share * box.height];
        const under = document.elementFromPoint(clientX, clientY);
        const target = under && e.contains(under) ? under : e;
        for (const kind of ["pointermove", "pointerover", "mousemove", "mouseover"]) {
          target.dispatchEvent(new PointerEvent(kind, { clientX, clientY, bubbles: true }));
        }
      };
      return [0.1, 0.5, 0.9].map(over);
    },
  };
  const kindOf = (e) => {
    if (e instanceof HTMLSelectElement) return "select";
    if (e instanceof HTMLTextAreaElement) return "text";
    if (e instanceof HTMLInputElement) {
      return { range: "range", text: "text", search: "text", number: "number" }[e.type] ?? "press";
    }
    if (e.matches("button, summary")) return "press";
    return e.matches("svg, canvas") ? "pointer" : "keys";
  };
  const CONTROLS = "button, input, select, textarea, summary, [tabindex], svg, canvas";
  const found = () => [...view.querySelectorAll(CONTROLS)].filter(seen);
  // What a press adds or replaces is moved in its turn. Of equals a dozen are moved: a grid's cells are alike.
  const count = new Map();
  let moves = 0;
  for (let i = 0; i < found().length && moves < 600; i += 1) {
    const e = found()[i];
    const kind = kindOf(e);
    const key = `${kind} ${e.className?.baseVal ?? e.className} ${e.closest("[role]")?.className ?? ""}`;
    count.set(key, (count.get(key) ?? 0) + 1);
    if (count.get(key) > 12) continue;
    e.scrollIntoView({ block: "center" });
    for (const action of actions[kind](e)) {
      if (!seen(e)) break;
      await move(`${kind}: ${nameOf(e)}`, action);
      moves += 1;
    }
  }
  return moves;
}"""
