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


def test_the_file_for_people(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB, settings={"lr": 0.1}, progress={"step": 3, "w": torch.zeros(2, 3)})
    about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert about["model"] == {
        "layer": "RNNScratch",
        "sizes": {"num_inputs": SIZE, "num_hiddens": 5},
        "vocab_size": SIZE,
        "embedding_size": None,
        "dropout": 0.0,
    }
    assert about["vocabulary"]["tokens"] == list(VOCAB.tokens)
    assert about["progress"] == {"step": 3, "w": "tensor of shape (2, 3)"} and about["settings"] == {"lr": 0.1}
    path.with_suffix(".json").unlink()
    d.load_checkpoint(path)  # nothing needs it


def test_words_and_their_unknown_token(path: Path) -> None:
    vocab = d.Vocab(["low", "tide", "low"], unk_token="<unk>")
    d.save_checkpoint(path, d.RNNLM(d.RNNScratch(3, 4), 3), vocab)
    assert d.load_checkpoint(path).vocab.encode(["tide", "ebb"]) == vocab.encode(["tide", "ebb"])


class Leaky(nn.Module):
    """A layer of the reader's own."""

    def __init__(self, num_inputs: int, num_hiddens: int, leak: float = 0.5) -> None:
        super().__init__()
        self.num_inputs, self.num_hiddens, self.leak = num_inputs, num_hiddens, leak
        self.inner = d.RNNScratch(num_inputs, num_hiddens)


def test_a_layer_of_ones_own_is_named_by_the_caller_and_never_by_the_file(path: Path) -> None:
    model = d.RNNLM(Leaky(SIZE, 4, leak=0.25), SIZE)
    d.save_checkpoint(path, model)
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="its layer is 'Leaky'; known are GRU, LSTM, RNNConcise"):
        d.load_checkpoint(path)
    loaded = d.load_checkpoint(path, layers={"Leaky": Leaky})
    assert_same_model(loaded.model, model)
    assert loaded.model.rnn.leak == 0.25
    del model.rnn.leak
    with pytest.raises(ValueError, match="Leaky was made with 'leak' and does not keep it"):
        d.save_checkpoint(path, model)


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
        with pytest.raises(d.ops.checkpoint.CheckpointError, match="is no checkpoint, or is damaged or cut off"):
            d.load_checkpoint(path)


def test_a_byte_changed_anywhere_is_noticed(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB, progress={"step": 3})
    content = path.read_bytes()
    for place in range(0, len(content), 41):
        damaged = bytearray(content)
        damaged[place] ^= 0x04
        path.write_bytes(damaged)
        with pytest.raises(d.ops.checkpoint.CheckpointError):
            d.load_checkpoint(path)


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
        (lambda about, _: about.update(version=2), "is a checkpoint of version 2, and this d2lrnn reads version 1"),
        (lambda about, _: about["vocabulary"]["tokens"].pop(), "its vocabulary has 5 tokens and its model"),
        (lambda about, _: about["vocabulary"]["tokens"].append("t"), "stands in the list twice"),
        (lambda about, _: about["model"].update(layer="os.system"), "its layer is 'os.system'"),
        (lambda about, _: about["model"]["sizes"].update(num_hiddens=6), "size mismatch for W_hq"),
        (lambda about, _: about["model"]["sizes"].update(num_hiddens=0), "num_hiddens is 0"),
        (lambda about, _: about["model"]["sizes"].update(num_hiddens="5"), "contradicts itself"),
        (lambda about, _: about["model"].update(embedding_size=4), "contradicts itself"),
        (lambda about, _: about["model"].pop("vocab_size"), "'vocab_size' is missing"),
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
    with pytest.raises(d.ops.checkpoint.CheckpointError, match=message):
        d.load_checkpoint(path)


def test_files_of_others(path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(2)}, path)
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="holds tensors, but not those of a d2lrnn checkpoint"):
        d.load_checkpoint(path)
    path.write_bytes(d.pretrained.pretrained_bytes())
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="not those of a d2lrnn checkpoint"):
        d.load_checkpoint(path)
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="does not exist"):
        d.load_checkpoint(path.with_name("none.safetensors"))
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="is a folder"):
        d.load_checkpoint(path.parent)
    path.write_text("low tide")
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="is no checkpoint"):
        d.load_checkpoint(path)
    path.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")  # a header of four exabytes
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="is no checkpoint"):
        d.load_checkpoint(path)


class Trap:
    def __reduce__(self) -> tuple:
        return os.mkdir, (os.environ["TRAP"],)


def test_a_pickle_is_never_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAP", str(path.with_name("sprung")))
    for write in (lambda: torch.save({"a": Trap()}, path), lambda: path.write_bytes(pickle.dumps(Trap()))):
        write()
        with pytest.raises(d.ops.checkpoint.CheckpointError, match="is no checkpoint"):
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


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a matter of Unix")
def test_a_full_disk_costs_the_new_checkpoint_and_never_the_old(path: Path) -> None:
    d.save_checkpoint(path, make_model(), VOCAB)
    content = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True)
    assert "could not be written (File too large). The one before" in done.stdout, done
    assert path.read_bytes() == content and names(path.parent) == ["tide.json", "tide.safetensors"]
    assert d.load_checkpoint(path).vocab.tokens == VOCAB.tokens


def test_no_folder(path: Path) -> None:
    with pytest.raises(d.ops.checkpoint.CheckpointError, match="could not be written"):
        d.save_checkpoint(path.parent / "none" / path.name, make_model())
