"""The peer of two minutes: its model is the published one in size, and its score counts every character once."""

from __future__ import annotations

import json
from pathlib import Path

import torch

import d2lrnn as d
from benchmarks import shakespeare


def test_the_model_has_the_published_number_of_weights() -> None:
    assert sum(weight.numel() for weight in shakespeare.Transformer(65).parameters()) == 804_096


def test_it_sees_only_what_came_before() -> None:
    torch.manual_seed(0)
    model = shakespeare.Transformer(7)
    X = torch.randint(7, (2, 20))
    changed = X.clone()
    changed[:, 12:] = (X[:, 12:] + 1) % 7
    before, after = model(X), model(changed)
    torch.testing.assert_close(before[:, :12], after[:, :12])
    assert not torch.allclose(before[:, 12:], after[:, 12:])


def test_its_score_counts_every_token_once_after_the_first_half_window() -> None:
    torch.manual_seed(0)
    model, ids = shakespeare.Transformer(7), torch.randint(7, (64 + 32 * 9 + 1,))
    score = shakespeare.score_transformer(model, ids)
    assert score.num_tokens == len(ids) - 1 - 32
    logits = model(ids[None, :64])[0, 32:]
    first = d.score_logits(logits, ids[33:65])
    assert shakespeare.score_transformer(model, ids[:65]).total_nats == first.total_nats


def test_the_table_shows_every_round() -> None:
    row = {"seed": 0, "weights": 5, "seconds": 1.0, "nats": 1.0, "perplexity": 2.72}
    found = {"rounds": [{"model": name, **row} for name in ("nanogpt", "d2lrnn")], "tables": {"4": 5.0}}
    lines = shakespeare.table(found).splitlines()
    assert len(lines) == 5 and "nanoGPT" in lines[2] and "2.72" in lines[3] and "n = 4" in lines[4]


def test_the_readme_shows_the_run_that_is_stored() -> None:
    stored = json.loads(shakespeare.RESULTS.read_text(encoding="utf-8"))
    assert shakespeare.table(stored) in (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
