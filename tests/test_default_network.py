"""README's sentence on the network that nobody chose is the stored measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import default_network

ROOT = Path(__file__).resolve().parents[1]
STORED = json.loads(default_network.RESULTS.read_text(encoding="utf-8"))


def test_the_readme_says_what_is_stored() -> None:
    assert default_network.sentence(STORED) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_seed_of_every_text_is_stored() -> None:
    assert list(STORED["texts"]) == list(default_network.TEXTS)
    for rows in STORED["texts"].values():
        assert [row["seed"] for row in rows] == list(default_network.SEEDS)
        assert len({row["heldout_perplexity"] for row in rows}) == len(rows)


def test_the_sentence_has_the_least_and_the_greatest() -> None:
    rows = [{"heldout_perplexity": value, "table_perplexity": 5.0} for value in (4.5, 4.25, 4.75)]
    told = default_network.sentence({"texts": {"shakespeare": rows}})
    assert told == "held-out perplexity 4.25 to 4.75 on Shakespeare (5.00)"


def test_a_missing_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        default_network.main(["nowhere.txt"])
    assert "name the file with Shakespeare's text" in capsys.readouterr().err
