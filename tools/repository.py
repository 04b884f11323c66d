"""Where the book lives: pyproject.toml names the repository once, and pages and notebooks follow.

With a line ``Repository = "https://github.com/OWNER/NAME"`` under ``[project.urls]`` every page has buttons (source,
edit, and on notebooks Colab and Binder beside the download), and every notebook has a cell that installs the package
where it is missing. Without that line there is none of it. Run as a script this brings the notebooks into line.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "main"
INSTALL_ID = "install"
# Not on the pages: there nothing has to be installed.
INSTALL_TAGS = ["remove-cell"]
INSTALL = """\
# Where the package is missing, as in Colab, install it.
import importlib.util

if importlib.util.find_spec("d2lrnn") is None:
    %pip install -q "d2lrnn[plot,widgets] @ git+{url}\""""


def repository(root: Path = ROOT) -> str | None:
    """Return the address of the repository, or None where pyproject.toml names none."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    url: str | None = project.get("urls", {}).get("Repository")
    if url is not None and not re.fullmatch(r"https://[\w.-]+/[\w./-]+[\w-]", url):
        raise ValueError(f'Repository = "{url}" in pyproject.toml is no address as https://github.com/OWNER/NAME.')
    return url


def theme_options(url: str | None) -> dict[str, Any]:
    """Return the theme's options for the buttons of a page."""
    buttons = ("use_repository_button", "use_edit_page_button", "use_issues_button")
    if url is None:
        return {**dict.fromkeys(buttons, False), "launch_buttons": {}}
    launch = {"notebook_interface": "jupyterlab", "binderhub_url": "https://mybinder.org"}
    if url.startswith("https://github.com/"):
        launch["colab_url"] = "https://colab.research.google.com"
    where = {"repository_url": url, "repository_branch": BRANCH, "path_to_docs": ""}
    return {**dict.fromkeys(buttons, True), **where, "launch_buttons": launch}


def bring_into_line(notebook: NotebookNode, url: str | None) -> NotebookNode:
    """Give the notebook the cell that installs the package after its title, or take it away."""
    cells = [cell for cell in notebook.cells if cell.get("id") != INSTALL_ID]
    if url is not None:
        cell = nbformat.v4.new_code_cell(INSTALL.format(url=url), metadata={"tags": INSTALL_TAGS})
        cell.id = INSTALL_ID
        cells.insert(1, cell)
    notebook.cells = cells
    return notebook


def main() -> int:
    url, changed = repository(), 0
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        before = list(notebook.cells)
        if bring_into_line(notebook, url).cells != before:
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
            changed += 1
    print(f"{changed} notebooks changed: {'no repository is named' if url is None else url}")
    return 0


def _set_buttons(app: Sphinx, config: Config) -> None:
    options = theme_options(repository(Path(app.srcdir)))
    config.html_theme_options = {**config.html_theme_options, **options}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _set_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    sys.exit(main())
