// A formula within a line can't be broken, so on a phone it may be wider than the line: such a one scrolls in itself.
// (Letting them all scroll would lift every formula off the baseline of its line.)
addEventListener("load", () => {
  const mark = () => {
    const formulas = [...document.querySelectorAll('article mjx-container:not([display="true"])')];
    for (const formula of formulas) formula.classList.remove("hs-too-wide");
    const tooWide = formulas.filter((formula) => {
      const block = formula.closest("p, li, dd, td, th, figcaption, h1, h2, h3, h4, div");
      return formula.getBoundingClientRect().width > block.clientWidth;
    });
    for (const formula of tooWide) formula.classList.add("hs-too-wide");
  };
  window.MathJax?.startup?.promise?.then(() => {
    mark();
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) {
        width = innerWidth;
        mark();
      }
    });
  });
});
