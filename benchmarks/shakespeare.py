"""Two minutes of Shakespeare: nanoGPT's recipe for a CPU beside this package's default, on one text, by one measure.

    python benchmarks/shakespeare.py tinyshakespeare.txt --threads 2

The text is the Shakespeare of char-rnn and nanoGPT (1,115,394 characters, SHA-256 below); the last tenth is held out.
nanoGPT's model and training are described anew here, from the README's line for a CPU and the configuration that it
names (https://github.com/karpathy/nanoGPT, `train_shakespeare_char.py`: 4 layers, 4 heads, 128 wide, context 64, batch
12, 2,000 iterations, AdamW with betas 0.9 and 0.99, decay 0.1 on matrices, warm-up 100, cosine from 1e-3 to 1e-4, clip
1, no dropout, tied output). Its score is over the whole last tenth in windows of 64 characters of which the second half
counts, so each character is predicted from 32 to 64 others. Ours are given the same seconds; a recurrent network reads
the last tenth once, with its state carried.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
from torch import nn
from torch.nn import functional as F

import d2lrnn as d
from benchmarks import machine

RESULTS = Path(__file__).parent / "results" / "shakespeare.json"
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
CONTEXT, BATCH_SIZE, NUM_STEPS, WARM_UP = 64, 12, 2_000, 100
TABLE_ORDERS = range(4, 8)


class Block(nn.Module):
    """One layer of a transformer: attention to what came before, then two matrices with a GELU between them."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From (batch_size, num_steps, width) to the same."""
        parts = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(*parts, is_causal=True)  # (batch_size, num_heads, num_steps, ...)
        x = x + self.out(heads.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Transformer(nn.Module):
    """The model of nanoGPT's recipe: learned positions, and an output layer that is the embedding's table again."""

    def __init__(self, vocab_size: int, width: int = 128, num_layers: int = 4, num_heads: int = 4) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab_size, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, num_heads) for _ in range(num_layers)))
        self.norm = nn.LayerNorm(width, bias=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                into_the_sum = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * num_layers) if into_the_sum else 0.02)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Logits (batch_size, num_steps, vocab_size) of tokens (batch_size, num_steps)."""
        x = self.tokens(X) + self.positions(torch.arange(X.shape[1]))
        return self.norm(self.blocks(x)) @ self.tokens.weight.T


def train_transformer(ids: torch.Tensor, vocab_size: int) -> tuple[Transformer, float]:
    """The model after its 2,000 iterations, and the seconds that they took."""
    model = Transformer(vocab_size)
    matrices = [weight for weight in model.parameters() if weight.dim() == 2]
    others = [weight for weight in model.parameters() if weight.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99))
    start = time.perf_counter()
    for step in range(NUM_STEPS):
        places = torch.randint(len(ids) - CONTEXT, (BATCH_SIZE, 1)) + torch.arange(CONTEXT + 1)
        window = ids[places]  # (batch_size, num_steps + 1)
        share = (step - WARM_UP) / (NUM_STEPS - WARM_UP)
        lr = 1e-3 * (step + 1) / WARM_UP if step < WARM_UP else 1e-4 + 9e-4 * 0.5 * (1 + math.cos(math.pi * share))
        for group in optimizer.param_groups:
            group["lr"] = lr
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model, time.perf_counter() - start


@torch.no_grad()
def score_transformer(model: Transformer, ids: torch.Tensor) -> d.Score:
    """Windows of `CONTEXT` tokens, half a window apart, of which the second half counts."""
    half, score = CONTEXT // 2, d.Score(0.0, 0)
    windows = ids.unfold(0, CONTEXT + 1, half)  # (num_windows, CONTEXT + 1)
    for batch in windows.split(64):
        score += d.score_logits(model(batch[:, :-1])[:, half:].contiguous(), batch[:, half + 1 :].contiguous())
    return score


def train_ours(ids: torch.Tensor, vocab_size: int, seconds: float, seed: int) -> tuple[d.RNNLM, float]:
    """The command line's default network, trained by `fit` for so many seconds, its number of updates planned."""
    rnn = d.LSTM(32, 192)
    model = d.RNNLM(rnn, vocab_size, nn.Embedding(vocab_size, 32), dropout=0.2)
    windows = d.RandomWindows(ids, 16, 64, generator=torch.Generator().manual_seed(seed))
    how: dict[str, Any] = {"lr": 0.01, "device": "cpu", "progress": False}
    trial = d.RNNLM(d.LSTM(32, 192), vocab_size, nn.Embedding(vocab_size, 32), dropout=0.2)
    d.fit(trial, windows, updates=5, **how)
    start = time.perf_counter()
    d.fit(trial, windows, updates=40, **how)
    updates = int(0.98 * seconds / ((time.perf_counter() - start) / 40))
    start = time.perf_counter()
    d.fit(model, windows, updates=updates, schedule="one-cycle", **how)
    return model, time.perf_counter() - start


def run(text: str, seeds: list[int]) -> dict[str, Any]:
    """Both in turn, seed by seed."""
    vocab = d.Vocab(text)
    ids = torch.tensor(vocab.encode(text))
    border = len(ids) * 9 // 10
    train, heldout = ids[:border], ids[border:]
    found: dict[str, Any] = {"machine": machine.machine_facts() | machine.process_facts("cpu"), "rounds": []}
    for seed in seeds:
        torch.manual_seed(seed)
        transformer, seconds = train_transformer(train, len(vocab))
        theirs = score_transformer(transformer, heldout)
        torch.manual_seed(seed)
        ours, our_seconds = train_ours(train, len(vocab), seconds, seed)
        for name, model, spent, score in (
            ("nanogpt", transformer, seconds, theirs),
            ("d2lrnn", ours, our_seconds, d.evaluate(ours, heldout)),
        ):
            weights = sum(weight.numel() for weight in model.parameters())
            result = {"model": name, "seed": seed, "weights": weights, "seconds": round(spent, 1)}
            result |= {"nats": round(score.nats_per_token, 4), "perplexity": round(score.perplexity, 3)}
            found["rounds"].append(result)
            print(result, flush=True)
    found["tables"] = {n: round(d.NGramLM(train, n, len(vocab)).evaluate(heldout).perplexity, 3) for n in TABLE_ORDERS}
    return found


def table(found: dict[str, Any]) -> str:
    """What was found, as Markdown: every round, none chosen."""
    lines = ["| model | weights | seed | seconds | held-out perplexity |", "|---|--:|--:|--:|--:|"]
    titles = {"nanogpt": "nanoGPT's recipe for a CPU", "d2lrnn": "`d2lrnn train`'s default network (LSTM 192)"}
    for row in sorted(found["rounds"], key=lambda row: row["model"], reverse=True):
        cells = [titles[row["model"]], f"{row['weights']:,}", str(row["seed"]), f"{row['seconds']:.0f}"]
        lines.append("| " + " | ".join([*cells, f"{row['perplexity']:.2f}"]) + " |")
    for n, perplexity in found["tables"].items():
        lines.append(f"| table of counts, n = {n} | | | | {perplexity:.2f} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, store and print; with ``--table`` only print what is stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, nargs="?", help="tinyshakespeare.txt")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="measure nothing: print what is stored")
    chosen = parser.parse_args(arguments)
    if not chosen.table:
        content = chosen.text.read_bytes()
        if hashlib.sha256(content).hexdigest() != SHA256:
            parser.error(f"{chosen.text} is not the text: its SHA-256 is another one than {SHA256}.")
        torch.set_num_threads(chosen.threads)
        found = run(content.decode(), chosen.seeds)
        chosen.results.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(json.loads(chosen.results.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
