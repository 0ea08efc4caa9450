"""A small recurrent forecaster of one series, trained with or without the stability projection."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import save
from torch import Tensor

from impl.reading.files import write_file
from impl.training.projection import stable

HIDDEN = 16
LEARNING_RATE = 0.01
CLIP = 1.0  # the gradient's norm: without the projection it may explode


class Forecaster(torch.nn.Module):
    """h_t = tanh(W h_{t−1} + U x_t + b), ŷ_{t+1} = C h_t + c; a `torch.nn.RNN` with a readout.

    Shapes: x (N, T, 1) -> ŷ (N, T, 1), in float64. The same seed gives the same weights; the
    global random generator is left as it was.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.rnn = torch.nn.RNN(1, HIDDEN, batch_first=True, dtype=torch.float64)
            self.readout = torch.nn.Linear(HIDDEN, 1, dtype=torch.float64)

    def states(self, x: Tensor) -> Tensor:
        """All states: x (N, T, 1) -> (N, T, n)."""
        return cast(Tensor, self.rnn(x)[0])

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts: x (N, T, 1) -> (N, T, 1)."""
        return cast(Tensor, self.readout(self.states(x)))


def train(
    x: Tensor,
    y: Tensor,
    *,
    seed: int,
    epochs: int,
    ell: float | None,
    advance: Callable[[], None] = lambda: None,
) -> Forecaster:
    """Fit ŷ to y by Adam, through the whole series in each epoch: x and y (N, T, 1).

    With `ell` the recurrent matrix is projected onto {‖W‖₂ ≤ ℓ} after every step, and is certified
    to lie in it. Source: Miller & Hardt, section 4.
    """
    model = Forecaster(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for _ in range(epochs):
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        if ell is not None:
            W = cast(Tensor, model.rnn.weight_hh_l0)
            with torch.no_grad():
                W.copy_(stable(W, ell))
        advance()
    return model


def save_forecaster(model: Forecaster, path: Path) -> None:
    """Write the weights atomically as safetensors: the cell's under torch's names.

    The readout stands beside them as `readout.weight` and `readout.bias`, so that the file can be
    certified as it is. Raises ModelFileError.
    """
    weights = {name.removeprefix("rnn."): part for name, part in model.state_dict().items()}
    write_file(path, save(weights, {"cell": "rnn-tanh"}))
