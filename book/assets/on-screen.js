// Looks after what comes on screen, and only then: measuring the whole page would lay out all of it before anybody reads.
{
  // Wide code, tables and outputs scroll in themselves: the keyboard must reach those.
  const SCROLLING = "pre, .cell_output > .output, .pst-scrollable-table-container, .katex-display";
  // Within a line KaTeX breaks a formula at its relations; a piece between two of them may still be wider than a phone.
  // Such a one scrolls in itself. (Letting all of them scroll would lift every formula off the baseline of its line.)
  const IN_LINE = "span.math";
  const BLOCK = "p, li, dd, td, th, figcaption, h1, h2, h3, h4, div";

  const care = (e) => {
    if (e.matches(IN_LINE)) {
      for (const piece of e.querySelectorAll(".base")) {
        piece.classList.remove("hs-too-wide");
        const room = piece.closest(BLOCK).clientWidth;
        piece.classList.toggle("hs-too-wide", room > 0 && piece.getBoundingClientRect().width > room);
      }
    } else if (e.scrollWidth > e.clientWidth + 1 || (e.matches("pre") && e.scrollHeight > e.clientHeight + 1)) {
      e.tabIndex = 0;
    } else {
      e.removeAttribute("tabindex");
    }
  };
  const watch = () => {
    const seen = new IntersectionObserver(
      (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => care(entry.target)),
      { rootMargin: "200px" },
    );
    const all = document.querySelectorAll(`article :is(${SCROLLING}, ${IN_LINE})`);
    for (const e of all) seen.observe(e);
    return () => seen.disconnect();
  };

  addEventListener("load", () => {
    let forget = watch();
    let width = innerWidth;
    const again = () => {
      forget();
      forget = watch();
    };
    document.fonts.ready.then(again);
    addEventListener("resize", () => {
      if (innerWidth !== width) again();
      width = innerWidth;
    });
  });
}
