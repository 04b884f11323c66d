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

  // The list of contents on the right says where the reader is.
  const followReader = () => {
    const list = document.querySelector(".bd-sidebar-secondary");
    const links = [...(list?.querySelectorAll('a.nav-link[href^="#"]') ?? [])];
    const places = links.map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
    const known = places.filter(([, section]) => section);
    if (known.length === 0) return;
    let here = null;
    const mark = () => {
      const read = known.filter(([, section]) => section.getBoundingClientRect().top < innerHeight / 3);
      const [now] = read.at(-1) ?? [null];
      if (now === here) return;
      for (const link of links) {
        link.classList.toggle("active", link === now);
        link.toggleAttribute("aria-current", link === now);
      }
      here = now;
      if (here === null) return;
      const [box, frame] = [here.getBoundingClientRect(), list.getBoundingClientRect()];
      const bottom = Math.min(frame.bottom, innerHeight);
      if (box.top < frame.top || box.bottom > bottom) list.scrollTop += box.top - (frame.top + bottom) / 2;
    };
    let waiting = false;
    const soon = () => {
      if (waiting) return;
      waiting = true;
      setTimeout(() => {
        waiting = false;
        mark();
      }, 100);
    };
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    mark();
  };

  // The tiles of *Play*: each picture moves once when it is first seen; the line that embeds a figure has its address.
  const play = () => {
    const seen = new IntersectionObserver((entries) => {
      entries.filter((entry) => entry.isIntersecting).forEach((entry, k) => {
        seen.unobserve(entry.target);
        setTimeout(() => {
          entry.target.classList.add("hs-seen");
          setTimeout(() => entry.target.classList.remove("hs-seen"), 4000);
        }, 500 * k);
      });
    }, { threshold: 0.6 });
    for (const tile of document.querySelectorAll(".hs-tile")) {
      seen.observe(tile);
      if (!location.protocol.startsWith("http")) continue;
      const address = tile.querySelector("details a").href;
      const line = tile.querySelector("pre");
      line.textContent = line.textContent.replace(/src="[^"]*"/, `src="${address}"`);
    }
  };

  // The menu in the header.
  const menus = () => {
    for (const button of document.querySelectorAll(".dropdown-toggle")) {
      const list = button.nextElementSibling;
      const set = (open) => {
        for (const e of [button, list]) e.classList.toggle("show", open);
        button.setAttribute("aria-expanded", String(open));
      };
      button.addEventListener("click", () => set(!list.classList.contains("show")));
      list.addEventListener("click", () => set(false));
      addEventListener("pointerdown", (event) => button.parentElement.contains(event.target) || set(false));
      button.parentElement.addEventListener("focusout", (event) => {
        if (event.relatedTarget && !button.parentElement.contains(event.relatedTarget)) set(false);
      });
      button.parentElement.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || !list.classList.contains("show")) return;
        set(false);
        button.focus();
      });
    }
  };

  addEventListener("load", () => {
    menus();
    followReader();
    play();
  });
}
