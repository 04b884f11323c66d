"""Where pyproject.toml names the repository, pages have buttons and notebooks install the package; else neither."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from repository import INSTALL_ID, ROOT, bring_into_line, repository, theme_options

URL = "https://github.com/someone/hidden-state"
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
BUILD = """
import sys
from sphinx.application import Sphinx
source, out = sys.argv[1:]
theme = {"html_theme": "sphinx_book_theme", "extensions": "myst_nb,sphinx_book_theme,repository"}
settings = {**theme, "nb_execution_mode": "off"}
app = Sphinx(source, None, out, out, "html", confoverrides=settings, status=None)
app.build()
sys.exit(app.statuscode)
"""


def project(folder: Path, url: str | None) -> Path:
    urls = "" if url is None else f'[project.urls]\nRepository = "{url}"\n'
    (folder / "pyproject.toml").write_text(f'[project]\nname = "x"\n{urls}', encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("url", [None, URL])
def test_a_page_has_buttons_where_the_repository_is_named(tmp_path: Path, url: str | None) -> None:
    project(tmp_path, url)
    cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("1 + 1")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(bring_into_line(notebook, url), tmp_path / "index.ipynb")
    command = [sys.executable, "-c", BUILD, tmp_path, tmp_path / "html"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "tools")})
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    wanted = {
        "Colab": f"colab.research.google.com/github/{URL.removeprefix('https://github.com/')}/blob/main/index.ipynb",
        "Binder": "mybinder.org/v2/gh/someone/hidden-state/main?urlpath=lab/tree/index.ipynb",
        "edit": f"{URL}/edit/main/index.ipynb",
        "source": f'href="{URL}"',
    }
    assert {name: address in html for name, address in wanted.items()} == dict.fromkeys(wanted, url is not None)
    assert "pip install" not in html


def test_the_chapters_are_in_line_with_the_name() -> None:
    url = repository()
    for path in CHAPTERS:
        notebook = nbformat.read(path, as_version=4)
        before = [cell.source for cell in notebook.cells]
        assert [cell.source for cell in bring_into_line(notebook, url).cells] == before, "run: make repository"


def test_the_cell_comes_after_the_title_and_goes_again() -> None:
    notebook = nbformat.read(CHAPTERS[0], as_version=4)
    plain = nbformat.writes(bring_into_line(notebook, None))
    for _ in range(2):
        named = bring_into_line(nbformat.reads(plain, as_version=4), URL)
        nbformat.validate(named)
        assert [cell.id for cell in named.cells].count(INSTALL_ID) == 1 and named.cells[1].id == INSTALL_ID
    code = TransformerManager().transform_cell(named.cells[1].source)
    ast.parse(code)
    assert f"git+{URL}" in code
    assert nbformat.writes(bring_into_line(named, None)) == plain


def test_an_address_elsewhere_has_no_colab_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    assert "colab_url" not in theme_options("https://gitlab.com/a/b")["launch_buttons"]
    assert repository(project(tmp_path, None)) is None and repository(project(tmp_path, URL)) == URL
    with pytest.raises(ValueError, match="OWNER/NAME"):
        repository(project(tmp_path, "someone/hidden-state"))
