"""An explorable as a page of its own: one file that works offline, on a slide and in a frame of another page."""

from __future__ import annotations

from html import escape
from xml.etree import ElementTree

from d2lrnn.widgets.base import Explorable

__all__ = ["page_of"]

# The figure fills its frame; `?theme=dark` or `?theme=light` overrules the reader's system, for a page with one theme.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ margin: 0; }}
body > main > .d2lrnn-widget {{ min-height: 100vh; margin: 0; border: 0; border-radius: 0; }}
body > main > .d2lrnn-widget {{ padding-inline: max(0px, 50% - var(--d2lrnn-widest, 52rem) / 2); }}
@media screen and (min-width: 78rem) {{ /* the steps stand beside the figure, whose 52rem stay, and in sight */
  body > main > .d2lrnn-widget:has(.d2lrnn-shape:not(.lab) > .d2lrnn-steps) {{
    padding-inline: calc(50% - 37rem) calc(50% - 15rem);
    padding-top: clamp(0px, (100vh - 44rem) / 3, 6rem); /* on a tall screen, what is left does not all lie below */
  }}
  .d2lrnn-widget .d2lrnn-shape:not(.lab) {{ position: relative; }}
  .d2lrnn-widget .d2lrnn-shape:not(.lab) > .d2lrnn-steps {{
    display: block; position: absolute; inset: 0.8rem auto auto calc(100% + 1.5rem); width: 19.6rem;
  }}
  .d2lrnn-widget .d2lrnn-shape:not(.lab) > .d2lrnn-steps > .d2lrnn-step-titles {{
    flex-direction: column; align-items: stretch; padding: 0 0 0.6rem; border: 0;
  }}
  .d2lrnn-widget .d2lrnn-shape:not(.lab) .d2lrnn-step-title {{ text-align: start; }}
}}
</style>
<script>
{{
  const theme = new URLSearchParams(location.search).get("theme");
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
}}
</script>
</head>
<body>
<main aria-label="{title}">
{figure}
</main>
</body>
</html>
"""


def page_of(widget: Explorable) -> str:
    """The explorable, in the state that it has, as a whole HTML page.

    Parameters
    ----------
    widget : Explorable

    Returns
    -------
    str
        A page that asks nothing of the network. Its title is that of the static picture.

    Examples
    --------
    >>> from d2lrnn.widgets import Perplexity
    >>> page_of(Perplexity(word="gated")).count("<title>Perplexity of a word")
    2
    """
    title = ElementTree.fromstring(widget.static_picture()).findtext("{http://www.w3.org/2000/svg}title")
    return _PAGE.format(title=escape(title or type(widget).__name__), figure=widget.static_html())
