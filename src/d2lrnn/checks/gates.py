"""The self-checking exercises of the chapter *Gates: LSTM and GRU*."""

from __future__ import annotations

import torch

from d2lrnn.checks.exercise import Exercise, Mistake


def _lstm_parameters(num_inputs: int, num_hiddens: int) -> int:
    return 4 * num_hiddens * (num_inputs + num_hiddens + 1)


def _lstm_flops(vocab_size: int, num_inputs: int, num_hiddens: int) -> int:
    gates = 4 * 2 * num_hiddens * (num_inputs + num_hiddens)
    return gates + 2 * num_hiddens * vocab_size


def _gru(
    X: torch.Tensor,
    H: torch.Tensor,
    W_xh: torch.Tensor,
    W_hh: torch.Tensor,
    b_h: torch.Tensor,
    *,
    reset_after: bool = False,
    swapped: bool = False,
    no_reset: bool = False,
    order: tuple[int, int, int] = (0, 1, 2),
) -> torch.Tensor:
    x_parts, w_parts = (X @ W_xh + b_h).chunk(3, dim=1), W_hh.chunk(3, dim=1)
    (R_x, W_hr), (Z_x, W_hz), (H_x, W_hc) = ((x_parts[place], w_parts[place]) for place in order)
    R, Z = (R_x + H @ W_hr).sigmoid(), (Z_x + H @ W_hz).sigmoid()
    if no_reset:
        R = torch.ones_like(R)
    candidate = (H_x + (R * (H @ W_hc) if reset_after else (R * H) @ W_hc)).tanh()
    return (1 - Z) * H + Z * candidate if swapped else Z * H + (1 - Z) * candidate


def _gru_probes() -> list[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).double()

    return [(draw(2, 3), draw(2, 4), draw(3, 12), draw(4, 12), draw(12)) for _ in range(2)]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        label="ex-gates-1",
        solution=_lstm_parameters,
        probes=lambda: [(27, 61), (3, 5), (100, 200)],
        mistakes=(
            Mistake(
                lambda num_inputs, num_hiddens: num_hiddens * (num_inputs + num_hiddens + 1),
                "That is a tanh layer. How many blocks of that size does an LSTM have?",
            ),
            Mistake(
                lambda num_inputs, num_hiddens: 3 * num_hiddens * (num_inputs + num_hiddens + 1),
                "Three gates are three blocks. Something else is computed from X and H, too.",
            ),
            Mistake(
                lambda num_inputs, num_hiddens: 4 * num_hiddens * (num_inputs + num_hiddens),
                "The matrices are right. Each block also has a bias.",
            ),
            Mistake(
                lambda num_inputs, num_hiddens: 4 * num_hiddens * (num_inputs + num_hiddens + 2),
                "That is what nn.LSTM stores, with two biases that are only ever added. Here it is one.",
            ),
            Mistake(
                lambda num_inputs, num_hiddens: 4 * (num_inputs + num_hiddens + 1),
                "Each of the four blocks has num_hiddens columns, one for each unit.",
            ),
        ),
        praise="Four times a tanh layer of the same width, so at equal size the LSTM is narrower.",
    ),
    Exercise(
        label="ex-gates-2",
        solution=_lstm_flops,
        probes=lambda: [(28, 28, 64), (10_000, 100, 200), (256, 64, 32)],
        mistakes=(
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: _lstm_flops(vocab_size, num_inputs, num_hiddens) // 2,
                "A multiplication and the addition that goes with it are two operations.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: (
                    2 * num_hiddens * (num_inputs + num_hiddens) + 2 * num_hiddens * vocab_size
                ),
                "That is the tanh layer. How many blocks of that size does an LSTM compute at each step?",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: (
                    4 * 2 * num_hiddens * (num_inputs + num_hiddens + vocab_size)
                ),
                "The output layer reads the state once; it has no gates.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: 4 * 2 * num_hiddens * (num_inputs + num_hiddens),
                "The gates are right. The output layer, which turns the state into logits, costs too.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: (
                    _lstm_flops(vocab_size, num_inputs, num_hiddens) + 2 * vocab_size * num_inputs
                ),
                "An embedding is looked up: copying a row takes no multiplication.",
            ),
            Mistake(
                lambda vocab_size, num_inputs, num_hiddens: 3 * _lstm_flops(vocab_size, num_inputs, num_hiddens),
                "That is a whole training step; the exercise asks for the forward pass alone.",
            ),
        ),
        praise="An LSTM needs four times the work in the recurrence and no more in the output layer. With a large "
        "vocabulary it costs little more in total.",
    ),
    Exercise(
        label="ex-gates-3",
        solution=_gru,
        probes=_gru_probes,
        mistakes=(
            Mistake(
                lambda X, H, W_xh, W_hh, b_h: _gru(X, H, W_xh, W_hh, b_h, reset_after=True),
                "That is PyTorch's form: there R multiplies the product. Here it multiplies the state.",
            ),
            Mistake(
                lambda X, H, W_xh, W_hh, b_h: _gru(X, H, W_xh, W_hh, b_h, swapped=True),
                "In this chapter Z = 1 keeps the old state. Yours replaces it.",
            ),
            Mistake(
                lambda X, H, W_xh, W_hh, b_h: _gru(X, H, W_xh, W_hh, b_h, no_reset=True),
                "The candidate sees the whole old state. Where is the reset gate?",
            ),
            Mistake(
                lambda X, H, W_xh, W_hh, b_h: _gru(X, H, W_xh, W_hh, b_h, order=(1, 0, 2)),
                "Reset and update gate have changed places: the first block is the reset gate's.",
            ),
        ),
        praise="The last product needs R. So this form makes two products with the state, one after the other.",
        rtol=1e-6,
        atol=1e-9,
    ),
)
