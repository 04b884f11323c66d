"""Checkpoints: what went in comes out, to the bit; what is damaged is refused; what fails leaves the last good one."""

from __future__ import annotations

import json
import math
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import d2lrnn as d
from d2lrnn.ops.checkpoint import CheckpointError, describe_checkpoint
from d2lrnn.study.attention import CausalAttention

VOCAB = d.Vocab("the tide")
SIZE = len(VOCAB)


def make_model(layer: type[nn.Module] = d.RNNScratch, embedding_size: int | None = None) -> d.RNNLM:
    if embedding_size is None:
        return d.RNNLM(layer(SIZE, 5), SIZE)
    return d.RNNLM(layer(embedding_size, 5), SIZE, nn.Embedding(SIZE, embedding_size))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tide.safetensors"


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def assert_same_model(a: d.RNNLM, b: d.RNNLM) -> None:
    assert type(a.rnn) is type(b.rnn)
    mine, other = a.state_dict(), b.state_dict()
    assert mine.keys() == other.keys()
    for name, tensor in mine.items():
        assert tensor.dtype == other[name].dtype and torch.equal(tensor, other[name]), name


@pytest.mark.parametrize("embedding_size", [None, 3])
@pytest.mark.parametrize("layer", [d.RNNScratch, d.RNNConcise, d.GRU, d.LSTM])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_same_model_comes_back(path: Path, layer: type, embedding_size: int | None, dtype: torch.dtype) -> None:
    model = make_model(layer, embedding_size).to(dtype)
    before = torch.get_rng_state()
    d.save_checkpoint(path, model, VOCAB, settings={"lr": 0.1, "text": "tide 潮"})
    loaded = d.load_checkpoint(path)
    assert torch.equal(torch.get_rng_state(), before), "reading and writing draw no random numbers"
    assert_same_model(loaded.model, model)
    assert not loaded.model.training and all(p.requires_grad for p in loaded.model.parameters())
    assert loaded.vocab.tokens == VOCAB.tokens and loaded.settings == {"lr": 0.1, "text": "tide 潮"}
    assert loaded.progress is None
    ids = torch.randint(SIZE, (2, 7))
    assert torch.equal(loaded.model(ids)[0], model(ids)[0])


def test_dropout_comes_back(path: Path) -> None:
    d.save_checkpoint(path, d.RNNLM(d.LSTM(SIZE, 5, weight_drop=0.25), SIZE, dropout=0.5))
    model = d.load_checkpoint(path).model
    assert (model.rnn.weight_drop, model.dropout) == (0.25, 0.5)


def test_a_loaded_model_can_be_trained_and_leaves_the_file_alone(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB)
    content = path.read_bytes()
    model = d.load_checkpoint(path).model
    ids = torch.tensor(VOCAB.encode("the tide" * 20))
    d.fit(model, d.SequentialWindows(ids, 2, 8), epochs=1, lr=0.1, device="cpu", progress=False)
    assert path.read_bytes() == content


def test_progress_of_any_shape_comes_back(path: Path) -> None:
    progress = {
        "step": 7,
        "state": (torch.rand(2, 3), torch.rand(2, 3, dtype=torch.float64)),
        "random": torch.get_rng_state(),
        "none": None,
        "nested": [{"a": [1.5, "b", True, []]}, (), {}],
        "losses": [0.1 + 0.2, 1e-308, 1e308, math.pi],
        "scalar": torch.tensor(3),
        "empty": torch.empty(0),
    }
    d.save_checkpoint(path, make_model(), progress=progress)
    back = d.load_checkpoint(path).progress
    assert back.keys() == progress.keys() and isinstance(back["state"], tuple)
    for key in ("step", "none", "nested", "losses"):
        assert back[key] == progress[key]
    for key in ("random", "scalar", "empty"):
        assert back[key].dtype == progress[key].dtype and torch.equal(back[key], progress[key])
    assert all(torch.equal(a, b) for a, b in zip(back["state"], progress["state"], strict=True))


def test_keys_that_look_alike_or_are_numbers_come_back_as_they_were(path: Path) -> None:
    one, two, three = torch.ones(1), torch.full((1,), 2.0), torch.full((1,), 3.0)
    progress = {"a.b": one, "a": {"b": two}, "a%2Eb": three, "snapshots": {40: one, "forty": two, True: three}}
    d.save_checkpoint(path, make_model(), progress=progress)
    assert d.load_checkpoint(path).progress == progress
    with pytest.raises(ValueError, match=r"progress\.a has a key twice"):
        d.save_checkpoint(path, make_model(), progress={"a": {1: one, "1": two}})


def test_views_and_shared_memory_are_stored_as_what_they_show(path: Path) -> None:
    whole = torch.arange(12.0)
    progress = {"first": whole[:6].view(2, 3), "turned": whole.view(3, 4).T, "again": whole}
    d.save_checkpoint(path, make_model(), progress=progress)
    back = d.load_checkpoint(path).progress
    assert all(torch.equal(back[name], tensor) for name, tensor in progress.items())


def test_best_and_last_weights(path: Path) -> None:
    last, best = make_model(), make_model()
    d.save_checkpoint(path, last, progress={"best": {"weights": best.state_dict()}})
    assert_same_model(d.load_checkpoint(path).model, best)
    assert_same_model(d.load_checkpoint(path, weights="last").model, last)
    with pytest.raises(ValueError, match="weights is 'first'"):
        d.load_checkpoint(path, weights="first")


def test_a_path_in_the_home_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(path.parent))
    d.save_checkpoint("~/tide.safetensors", make_model(), VOCAB)
    assert path.is_file() and d.load_checkpoint("~/tide.safetensors").vocab.tokens == VOCAB.tokens
    assert describe_checkpoint("~/tide.safetensors") == describe_checkpoint(path)


def test_what_a_checkpoint_says_of_itself(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB, settings={"lr": 0.1}, progress={"step": 3, "w": torch.zeros(2, 3)})
    about = describe_checkpoint(path)
    assert about["model"] == {
        "class": "d2lrnn.model.RNNLM",
        "arguments": {"vocab_size": SIZE, "dropout": 0.0},
        "layer": {"class": "d2lrnn.layers.RNNScratch", "arguments": {"num_inputs": SIZE, "num_hiddens": 5}},
        "embedding": None,
    }
    assert about["vocabulary"]["tokens"] == list(VOCAB.tokens) and about["weights"]["W_hq"] == f"float32(5, {SIZE})"
    assert about["progress"] == {"step": 3, "w": "float32(2, 3)"} and about["settings"] == {"lr": 0.1}
    json.dumps(about)


def test_a_file_of_the_readers_beside_it_stays(path: Path) -> None:
    theirs = path.with_suffix(".json")
    theirs.write_text("my novel")
    d.save_checkpoint(path, make_model(), VOCAB)
    assert theirs.read_text() == "my novel" and names(path.parent) == ["tide.json", "tide.safetensors"]


def test_words_and_their_unknown_token(path: Path) -> None:
    vocab = d.Vocab(["low", "tide", "low"], unk_token="<unk>")
    d.save_checkpoint(path, d.RNNLM(d.RNNScratch(3, 4), 3), vocab)
    assert d.load_checkpoint(path).vocab.encode(["tide", "ebb"]) == vocab.encode(["tide", "ebb"])


# ------------------------------------------------------------------------------------------------- classes of one's own


class Leaky(nn.Module):
    """A layer of the reader's own."""

    def __init__(self, num_inputs: int, num_hiddens: int, leak: float = 0.5) -> None:
        super().__init__()
        self.num_inputs, self.num_hiddens, self.leak = num_inputs, num_hiddens, leak
        self.inner = d.RNNScratch(num_inputs, num_hiddens)
        self.scale = torch.full((num_hiddens,), 1 - leak)  # neither a parameter nor a buffer

    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        outputs, H = self.inner(inputs, H)
        return outputs * self.scale, H * self.scale


class Halved(d.RNNLM):
    """A model of the reader's own, with another forward and an argument more."""

    def __init__(self, *args: object, share: float = 0.5, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.share = share

    def forward(self, X: torch.Tensor, state: object = None) -> tuple[torch.Tensor, object]:
        logits, state = super().forward(X, state)
        return logits * self.share, state


class Whole(d.RNNLM):
    """A model that makes its own layer."""

    def __init__(self, vocab_size: int, num_hiddens: int) -> None:
        super().__init__(d.GRU(vocab_size, num_hiddens), vocab_size, dropout=0.25)
        self.num_hiddens = num_hiddens


IDS = torch.tensor(VOCAB.encode("the tide" * 5))


def of_the_same_name() -> type[nn.Module]:
    class RNNScratch(d.RNNScratch):
        def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
            outputs, H = super().forward(inputs, H)
            return outputs.relu(), H.relu()

    return RNNScratch


def test_a_layer_of_ones_own_is_named_by_the_caller_and_never_by_the_file(path: Path) -> None:
    model = d.RNNLM(Leaky(SIZE, 4, leak=0.25), SIZE)
    d.save_checkpoint(path, model)
    with pytest.raises(CheckpointError, match=r"your own class 'Leaky'; say .*\(path, layers=\{\"Leaky\": Leaky\}\)"):
        d.load_checkpoint(path)
    loaded = d.load_checkpoint(path, layers={"Leaky": Leaky})
    assert_same_model(loaded.model, model)
    assert loaded.model.rnn.leak == 0.25 and d.evaluate(loaded.model, IDS) == d.evaluate(model, IDS)
    del model.rnn.leak
    with pytest.raises(ValueError, match="Leaky was made with 'leak' and does not keep it"):
        d.save_checkpoint(path, model)


def test_a_layer_of_a_chapter_is_given_by_the_caller_too(path: Path) -> None:
    model = d.RNNLM(CausalAttention(SIZE, 4), SIZE)
    d.save_checkpoint(path, model)
    message = r"its layer is d2lrnn\.study\.attention\.CausalAttention; import it, .* and say .*CausalAttention\}\)"
    with pytest.raises(CheckpointError, match=message):
        d.load_checkpoint(path)
    assert_same_model(d.load_checkpoint(path, layers={"CausalAttention": CausalAttention}).model, model)


def test_a_layer_named_like_the_packages_is_not_taken_for_it(path: Path) -> None:
    mine = of_the_same_name()
    model = d.RNNLM(mine(SIZE, 4), SIZE)
    d.save_checkpoint(path, model)
    with pytest.raises(CheckpointError, match="its layer is your own class 'RNNScratch'"):
        d.load_checkpoint(path)
    loaded = d.load_checkpoint(path, layers={"RNNScratch": mine})
    assert type(loaded.model.rnn) is mine and d.evaluate(loaded.model, IDS) == d.evaluate(model, IDS)
    with pytest.raises(CheckpointError, match="computes other logits than the one that was stored"):
        d.load_checkpoint(path, layers={"RNNScratch": d.RNNScratch})


@pytest.mark.parametrize("embedding", [None, nn.Embedding(SIZE, 3, padding_idx=0, max_norm=1.0)])
def test_a_model_of_ones_own_is_given_by_the_caller(path: Path, embedding: nn.Embedding | None) -> None:
    rnn = d.RNNScratch(SIZE if embedding is None else 3, 4)
    model = Halved(rnn, SIZE, embedding, share=0.125, dropout=0.5)
    d.save_checkpoint(path, model)
    with pytest.raises(
        CheckpointError, match=r"its model is your own class 'Halved'; say load_checkpoint\(path, model=Halved\)"
    ):
        d.load_checkpoint(path)
    loaded = d.load_checkpoint(path, model=Halved).model
    assert (type(loaded), loaded.share, loaded.dropout) == (Halved, 0.125, 0.5)
    assert d.evaluate(loaded, IDS) == d.evaluate(model, IDS)
    if embedding is not None:
        assert (loaded.embedding.padding_idx, loaded.embedding.max_norm) == (0, 1.0)
    with pytest.raises(CheckpointError):
        d.load_checkpoint(path, model=d.RNNLM)


def test_a_model_that_makes_its_own_layer(path: Path) -> None:
    model = Whole(SIZE, 4)
    d.save_checkpoint(path, model)
    loaded = d.load_checkpoint(path, model=Whole).model
    assert loaded.dropout == 0.25 and d.evaluate(loaded, IDS) == d.evaluate(model, IDS)


def relu_forward(self: d.RNNScratch, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple:
    outputs, H = d.RNNConcise.from_scratch(self)(inputs, H)
    return outputs.relu(), H.relu()


def test_a_patched_class_is_found_out_when_the_patch_is_missing_or_new(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model()
    monkeypatch.setattr(d.RNNScratch, "forward", relu_forward)
    d.save_checkpoint(path, model)
    score = d.load_checkpoint(path).model(IDS[None])[0]
    assert torch.equal(score, model(IDS[None])[0])
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match="the RNNLM around RNNScratch that is here computes other logits"):
        d.load_checkpoint(path)
    d.save_checkpoint(path, model)
    monkeypatch.setattr(d.RNNScratch, "forward", relu_forward)
    with pytest.raises(CheckpointError, match="computes other logits"):
        d.load_checkpoint(path)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_a_model_in_any_precision_and_one_that_has_overflowed_are_taken_for_themselves(
    path: Path, dtype: torch.dtype
) -> None:
    model = make_model(d.LSTM, 3).to(dtype)
    for value in (0.5, math.inf, math.nan):
        model.b_q.data[0] = value
        d.save_checkpoint(path, model)
        assert_same_model(model, d.load_checkpoint(path).model) if value == 0.5 else d.load_checkpoint(path)


class Noisy(d.RNNScratch):
    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        return super().forward(inputs + torch.randn_like(inputs), H)


class Wants32(d.RNNScratch):
    def forward(self, inputs: torch.Tensor, H: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        assert inputs.shape[1] == 32, "this layer was made for batches of 32"
        return super().forward(inputs, H)


@pytest.mark.parametrize("layer", [Noisy, Wants32])
def test_a_layer_that_never_says_the_same_or_takes_one_batch_size_is_stored_all_the_same(
    path: Path, layer: type[nn.Module]
) -> None:
    model, before = d.RNNLM(layer(SIZE, 4), SIZE), torch.get_rng_state()
    d.save_checkpoint(path, model)
    loaded = d.load_checkpoint(path, layers={layer.__name__: layer}).model
    assert torch.equal(torch.get_rng_state(), before) and type(loaded.rnn) is layer


def test_an_embedding_of_ones_own_is_refused(path: Path) -> None:
    class Table(nn.Embedding):
        pass

    with pytest.raises(ValueError, match="The embedding is of your own class Table"):
        d.save_checkpoint(path, d.RNNLM(d.RNNScratch(3, 4), SIZE, Table(SIZE, 3)))


def test_the_order_of_the_arguments(path: Path) -> None:
    with pytest.raises(TypeError, match=r"model is a (Posix|Windows)Path .* save_checkpoint\(path, model, vocab\)"):
        d.save_checkpoint(make_model(), path)
    with pytest.raises(TypeError, match="model is a str and must be an RNNLM"):
        d.save_checkpoint(make_model(), "tide.safetensors")


# ---------------------------------------------------------------------------------------------------- the first edition

FIRST_EDITION = Path(__file__).parent / "data" / "first-edition"
FIRST_VOCAB = d.Vocab("the tide the tied hide " * 8)
FIRST_IDS = torch.tensor(FIRST_VOCAB.encode("the tide the tied hide " * 8))


@pytest.mark.parametrize(
    ("name", "layer", "best", "last"),
    [
        ("rnn-scratch", d.RNNScratch, 1.4438302409308694, 1.4438302409308694),
        ("gru-concise", d.GRU, 3.452857395677712, 3.601821849294075),
        ("lstm-concise", d.LSTM, 1.6194697166487346, 1.6194697166487346),
    ],
)
def test_checkpoints_of_the_first_edition_load(name: str, layer: type[nn.Module], best: float, last: float) -> None:
    """The perplexities were measured by the package that wrote the files."""
    path = FIRST_EDITION / f"{name}.safetensors"
    loaded = d.load_checkpoint(path)
    assert type(loaded.model.rnn) is layer and loaded.vocab.tokens == FIRST_VOCAB.tokens
    assert d.evaluate(loaded.model, FIRST_IDS).perplexity == pytest.approx(best, rel=1e-5)
    weights = d.load_checkpoint(path, weights="last").model
    assert d.evaluate(weights, FIRST_IDS).perplexity == pytest.approx(last, rel=1e-5)
    assert loaded.settings["edition"] == "first" and len(loaded.progress["history"]["epochs"]) == 4
    if layer is d.GRU:
        assert (loaded.model.dropout, loaded.model.rnn.weight_drop) == (0.2, 0.1)
        assert loaded.model.embedding.embedding_dim == 3
    assert describe_checkpoint(path)["model"]["layer"]["class"] == f"d2lrnn.layers.{layer.__name__}"


def test_a_layer_of_ones_own_in_a_file_of_the_first_edition(path: Path) -> None:
    path.write_bytes((FIRST_EDITION / "rnn-scratch.safetensors").read_bytes())
    edited(path, lambda about, _: about["model"].update(layer="Leaky"))
    with pytest.raises(CheckpointError, match="its layer is your own class 'Leaky'"):
        d.load_checkpoint(path)


def test_what_cannot_be_stored_is_refused_before_anything_is_written(path: Path) -> None:
    with pytest.raises(ValueError, match="The vocabulary has 3 tokens and the model is made for 6"):
        d.save_checkpoint(path, make_model(), d.Vocab("abc"))
    with pytest.raises(ValueError, match=r"progress\.a\.1 is of type set"):
        d.save_checkpoint(path, make_model(), progress={"a": [1, {2}]})
    assert names(path.parent) == []


# ------------------------------------------------------------------------------------------------ files that are wrong


def test_a_file_cut_anywhere_is_refused(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB, progress={"step": 3})
    content = path.read_bytes()
    for size in [0, 1, 7, 8, 9, 100, *range(200, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(CheckpointError, match="is no checkpoint, or is damaged or cut off"):
            d.load_checkpoint(path)


def test_a_byte_changed_anywhere_is_noticed(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB, progress={"step": 3})
    content = path.read_bytes()
    for place in range(0, len(content), 41):
        damaged = bytearray(content)
        damaged[place] ^= 0x04
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            d.load_checkpoint(path)


def layer(about: dict) -> dict:
    return about["model"]["layer"]


def sizes(about: dict) -> dict:
    return layer(about)["arguments"]


def edited(path: Path, change: object) -> None:
    """Rewrite a checkpoint with another document, its SHA-256 made to fit: what a hostile hand could do."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    from d2lrnn.ops.checkpoint import _sha256

    with safe_open(str(path), framework="pt") as file:
        about, tensors = json.loads(file.metadata()["d2lrnn"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(about, tensors)
    document = json.dumps(about)
    save_file(tensors, path, metadata={"d2lrnn": document, "sha256": _sha256(document, tensors)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about, _: about.update(version=3), "is a checkpoint of version 3, and this d2lrnn reads"),
        (lambda about, _: about.update(version="2"), "is a checkpoint of version 2, and this"),
        (lambda about, _: about.update(format="another"), "its header is not that of a d2lrnn checkpoint"),
        (lambda about, _: about["vocabulary"]["tokens"].pop(), "its vocabulary has 5 tokens and its model"),
        (lambda about, _: about["vocabulary"]["tokens"].append("t"), "stands in the list twice"),
        (lambda about, _: layer(about).update({"class": "os.system"}), "its layer is your own class 'system'"),
        (lambda about, _: layer(about).update({"class": "d2lrnn.model.RNNLM"}), "contradicts itself"),
        (lambda about, _: about["model"].update({"class": "d2lrnn.layers.GRU"}), "contradicts itself"),
        (lambda about, _: about["model"].update({"class": "d2lrnn.layers.Gone"}), "if this version has it"),
        (lambda about, _: about["model"].update({"class": 7}), "contradicts itself"),
        (lambda about, _: sizes(about).update(num_hiddens=6), "size mismatch for W_hq"),
        (lambda about, _: sizes(about).update(num_hiddens=0), "num_hiddens is 0"),
        (lambda about, _: sizes(about).update(num_hiddens="5"), "contradicts itself"),
        (lambda about, _: sizes(about).update(num_hiddens=10**40), "contradicts itself"),
        (lambda about, _: about["model"].update(embedding={"num_embeddings": 4}), "contradicts itself"),
        (lambda about, _: about["model"].update(embedding=[4]), "contradicts itself"),
        (lambda about, _: about["model"]["arguments"].pop("vocab_size"), "contradicts itself"),
        (lambda about, _: about["model"].pop("arguments"), "'arguments' is missing"),
        (lambda about, _: about.pop("model"), "'model' is missing"),
        (lambda about, _: about.update(model=None), "contradicts itself"),
        (lambda about, _: about.update(progress={"tensor": "none"}), "'none' is missing"),
        (lambda about, _: about.update(progress={"a": 1, "b": 2}), "contradicts itself"),
        (lambda _, tensors: tensors.pop("model.W_hq"), "Missing key"),
        (lambda _, tensors: tensors.update({"model.more": torch.zeros(2)}), "Unexpected key"),
        (lambda _, tensors: tensors.update({"model.b_q": torch.zeros(2)}), "size mismatch for b_q"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(path: Path, change: object, message: str) -> None:
    d.save_checkpoint(path, make_model(), VOCAB, progress={"step": 3})
    edited(path, change)
    with pytest.raises(CheckpointError, match=message):
        d.load_checkpoint(path)


@pytest.mark.parametrize("document", ["{", "[]", "7", "null", "", "[" * 10**5, "{}"])
def test_a_header_of_any_kind_is_refused(path: Path, document: str) -> None:
    from safetensors.torch import save_file

    from d2lrnn.ops.checkpoint import _sha256

    tensors = {"a": torch.zeros(1)}  # old releases of safetensors read no file without any
    save_file(tensors, path, metadata={"d2lrnn": document, "sha256": _sha256(document, tensors)})
    with pytest.raises(CheckpointError, match="its header is not that of a d2lrnn checkpoint"):
        d.load_checkpoint(path)


def test_a_small_file_cannot_ask_for_much_memory(path: Path) -> None:
    d.save_checkpoint(path, make_model(d.GRU))
    edited(path, lambda about, _: sizes(about).update(num_hiddens=10**7))  # a petabyte, were it made
    with pytest.raises(CheckpointError, match="size mismatch"):
        d.load_checkpoint(path)


def test_files_of_others(path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(2)}, path)
    with pytest.raises(CheckpointError, match="holds tensors, but not those of a d2lrnn checkpoint"):
        d.load_checkpoint(path)
    path.write_bytes(d.pretrained.pretrained_bytes())
    with pytest.raises(CheckpointError, match="not those of a d2lrnn checkpoint"):
        d.load_checkpoint(path)
    with pytest.raises(CheckpointError, match="does not exist"):
        d.load_checkpoint(path.with_name("none.safetensors"))
    with pytest.raises(CheckpointError, match="is a folder"):
        d.load_checkpoint(path.parent)
    path.write_text("low tide")
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        d.load_checkpoint(path)
    path.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")  # a header of four exabytes
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        d.load_checkpoint(path)


class Trap:
    def __reduce__(self) -> tuple:
        return os.mkdir, (os.environ["TRAP"],)


def test_a_pickle_is_never_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAP", str(path.with_name("sprung")))
    for write in (lambda: torch.save({"a": Trap()}, path), lambda: path.write_bytes(pickle.dumps(Trap()))):
        write()
        with pytest.raises(CheckpointError, match="is no checkpoint"):
            d.load_checkpoint(path)
    assert names(path.parent) == [path.name]


# -------------------------------------------------------------------------------------------------- disks that are full

FULL = """
import resource, sys
import d2lrnn as d
checkpoint = d.load_checkpoint(sys.argv[1])
# from here on the kernel refuses to let any file grow beyond this, as a full disk does
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, 1 << 12))
size = checkpoint.model.vocab_size
try:
    d.save_checkpoint(sys.argv[1], d.RNNLM(d.RNNScratch(size, 200), size), checkpoint.vocab)
except d.ops.checkpoint.CheckpointError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a matter of Unix")
def test_a_full_disk_costs_the_new_checkpoint_and_never_the_old(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB)
    content = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True)
    assert "could not be written (File too large). The one before" in done.stdout, done
    assert path.read_bytes() == content and names(path.parent) == ["tide.safetensors"]
    assert d.load_checkpoint(path).vocab.tokens == VOCAB.tokens


def test_no_folder(path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"could not be written \(No such file .* Make the folder"):
        d.save_checkpoint(path.parent / "none" / path.name, make_model())
