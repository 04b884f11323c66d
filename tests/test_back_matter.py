"""The back matter keeps its word: names that it promises exist, and the glossary is complete and in order."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import pytest
from pybtex.database import parse_file
from pybtex.plugin import find_plugin

import d2lrnn as d
from book_extension import story_chapters

BOOK = Path(__file__).resolve().parent.parent / "book"
COMING_FROM = (BOOK / "coming_from_d2l.md").read_text(encoding="utf-8")
GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
FENCED_CODE = re.compile(r"^```python\n.*?^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*$", re.MULTILINE)
INLINE = sorted(set(re.findall(r"`([^`\n]+)`", FENCE.sub("", FENCED_CODE.sub("", COMING_FROM)))))
OURS = [code for code in INLINE if code.startswith("d.")]
CHAPTERS = {
    "ch-predicting",
    "ch-hidden-state",
    "ch-concatenation",
    "ch-minibatches",
    "ch-character-lm",
    "ch-perplexity",
    "ch-bptt",
    "ch-by-hand",
    "ch-gates",
    "ch-fast",
    "ch-after-the-chain",
}


def resolve(node: ast.expr) -> object:
    """What `d.Name` or `d.Name.attribute` stands for, looked up in the package without running anything."""
    if isinstance(node, ast.Name):
        assert node.id == "d"
        return d
    assert isinstance(node, ast.Attribute), ast.unparse(node)
    owner = resolve(node.value)
    fields = getattr(owner, "__dataclass_fields__", {})
    assert hasattr(owner, node.attr) or node.attr in fields, f"there is no {ast.unparse(node)}"
    if owner is d:
        assert node.attr in dir(d), f"{ast.unparse(node)} is not public"
    return getattr(owner, node.attr, None)


def check_promise(code: str) -> None:
    """Names exist, and a call passes arguments that the thing takes; all but keywords may be left out."""
    node = ast.parse(code, mode="eval").body
    if not isinstance(node, ast.Call):
        resolve(node)
        return
    thing = resolve(node.func)
    keywords = {keyword.arg: None for keyword in node.keywords}
    inspect.signature(thing).bind_partial(*node.args, **keywords)
    parameters = list(inspect.signature(thing).parameters)
    for position, argument in enumerate(node.args):
        # a bare name in the table is the parameter's own, or a thing that everybody knows
        if isinstance(argument, ast.Name):
            assert argument.id == parameters[position], f"{code}: parameter {position + 1} is {parameters[position]}"


@pytest.mark.parametrize("code", OURS)
def test_a_name_of_ours_in_the_tables_exists(code: str) -> None:
    check_promise(code)


def test_the_tables_name_most_of_the_package() -> None:
    named = {re.match(r"d\.(\w+)", code)[1] for code in OURS}
    for module in ("windows", "model", "layers", "text"):
        public = {name for name in d.__all__ if getattr(getattr(d, name), "__module__", "") == f"d2lrnn.{module}"}
        assert public <= named, f"the tables leave out {public - named}"


@pytest.mark.parametrize(
    "broken",
    ["d.RNNModel", "d.Vocab.words", "d.fit(theta=1)", "d.by_hand.TimeRNN(Wx)", "d.RNNLM(vocab_size, rnn)", "d.absent"],
)
def test_a_wrong_promise_is_noticed(broken: str) -> None:
    with pytest.raises((AssertionError, TypeError)):
        check_promise(broken)


def test_the_page_names_what_readers_of_the_peers_know() -> None:
    theirs = """
        RNNModelScratch RNNModel seq_data_iter_random seq_data_iter_sequential load_data_time_machine predict_ch8
        grad_clipping train_ch8 train_epoch_ch8 Vocab tokenize load_corpus_time_machine begin_state
        TimeMachine RNNScratch RNNLMScratch RNN RNNLM gradient_clip_val
        TimeRNN TimeEmbedding TimeAffine TimeSoftmaxWithLoss SimpleRnnlm RnnlmTrainer Wx Wh
    """
    known = {name for code in INLINE for name in re.findall(r"\w+", code)}
    assert set(theirs.split()) <= known


def entries() -> dict[str, str]:
    """Terms of the glossary with their definitions."""
    [body] = re.findall(r"^```{glossary}\n(.*?)^```$", GLOSSARY, re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for part in body.strip("\n").split("\n\n"):
        term, *lines = part.splitlines()
        assert lines and all(line.startswith("  ") for line in lines), f"{term}: the definition is indented"
        assert not term.startswith(" ") and term not in found, f"{term!r} stands there twice"
        found[term] = "\n".join(line.strip() for line in lines)
    return found


def sort_key(term: str) -> str:
    return re.sub(r"[^a-z0-9]", "", term.lower())


def test_the_glossary_is_sorted_and_of_a_useful_size() -> None:
    terms = list(entries())
    assert terms == sorted(terms, key=sort_key)
    assert len(terms) >= 60


@pytest.mark.parametrize("term", entries())
def test_a_term_is_defined_and_leads_to_the_chapter_that_teaches_it(term: str) -> None:
    definition = entries()[term]
    labels = re.findall(r"{ref}`([\w-]+)`", definition)
    assert labels and set(labels) <= CHAPTERS | {"notation", "sources"} and set(labels) & CHAPTERS
    assert len(re.sub(r"{ref}`[^`]+`", "", definition)) >= 40, "a definition, not only a place"
    for other in re.findall(r"{term}`([^`<]+)`", definition):
        assert other in entries(), f"{term} refers to {other}, which is no term"


def test_every_chapter_has_its_terms() -> None:
    named = {label for definition in entries().values() for label in re.findall(r"{ref}`([\w-]+)`", definition)}
    assert named >= CHAPTERS


def test_every_reference_stands_once_and_can_be_found() -> None:
    """A key that stands twice empties every citation after it."""
    text = (BOOK / "references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+), (.*)\}$", text, re.MULTILINE)
    keys = [key for key, _ in entries]
    assert len(keys) == text.count("\n@") + text.startswith("@") and len(keys) > 50
    assert len(set(keys)) == len(keys)
    for key, fields in entries:
        assert re.search(r"\b(doi|eprint|isbn|url|number|publisher) = ", fields), f"{key} names no place to find it"
        assert re.search(r"\byear = \{\d{4}\}", fields), f"{key} has no year"


def test_the_story_stands_whole_on_its_page() -> None:
    """Its directive leaves out no word of the text that the models read."""
    assert "```{tide-clock}" in (BOOK / "the_story.md").read_text(encoding="utf-8")
    text = d.load_corpus()
    chapters = story_chapters(text)
    assert len(chapters) == 12 and all(paragraphs for _, paragraphs in chapters)
    words = [word for heading, paragraphs in chapters for part in (heading, *paragraphs) for word in part.split()]
    assert ["The", "Tide", "Clock", *words] == text.split()


def test_the_index_says_how_long_the_lessons_take() -> None:
    """Its sum is that of the minutes which each lesson states in its first cell."""
    index = (BOOK / "index.md").read_text(encoding="utf-8")
    assert "all of them a little over three hours" in index
    minutes = 0
    for page in re.findall(r"^      - file: (chapters/\w+)$", (BOOK.parent / "_toc.yml").read_text(), re.MULTILINE):
        [first, *_] = json.loads((BOOK.parent / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        minutes += int(re.search(r"[Aa]bout (\d+) minutes", "".join(first["source"]))[1])
    assert 3 < minutes / 60 < 3.4, f"the lessons take {minutes} minutes"


def test_the_own_layer_of_how_to_use_is_what_trains(capsys: pytest.CaptureFixture[str]) -> None:
    section = (BOOK / "how_to_use.md").read_text(encoding="utf-8").split("(own-layer)=")[1].split("\n## ")[0]
    (block,) = FENCED_CODE.findall(section)
    names: dict[str, object] = {"__name__": "__main__"}
    exec("\n".join(block.splitlines()[1:-1]), names)
    assert capsys.readouterr().out.startswith("autograd (")
    assert names["history"].step_losses[-1] < names["history"].step_losses[0]


@pytest.mark.slow
def test_the_bibliography_shows_no_latex() -> None:
    """Accents and quotes are understood; a command such as italics would be printed with its backslash."""
    bibliography = parse_file(BOOK / "references.bib")
    entries = find_plugin("pybtex.style.formatting", "alpha")().format_bibliography(bibliography)
    texts = [entry.text.render_as("text") for entry in entries]
    assert [text for text in texts if re.search(r"[\\{}$]", text)] == []
