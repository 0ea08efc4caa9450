"""Hypothesis strategies of contractive recurrent networks and of inputs for them.

A seed and sizes are drawn, so that examples shrink and replay; tensors are made of these.

>>> from hypothesis import given
>>> from rnnbounds import strategies
>>> @given(strategies.networks("lstm", lam=0.9, input_bound=1.0))
... def test_it_forgets(network): ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import torch

try:
    from hypothesis import strategies as st
except ImportError:
    remedy = "pip install 'rnnbounds[test]'"
    raise ImportError(f"rnnbounds.strategies needs hypothesis; install it with: {remedy}") from None

from rnnbounds.impl.certificate.stable_module import stable_
from rnnbounds.impl.errors import RangeError

__all__ = ["networks", "sequences"]

Cell: TypeAlias = Literal["rnn-tanh", "rnn-relu", "lstm", "gru"]

_MAKERS: dict[Cell, Callable[..., torch.nn.Module]] = {
    "rnn-tanh": torch.nn.RNN,
    "rnn-relu": partial(torch.nn.RNN, nonlinearity="relu"),
    "lstm": torch.nn.LSTM,
    "gru": torch.nn.GRU,
}


def networks(
    *cells: Cell, lam: float = 0.9, input_bound: float = 1.0, units: int = 8, inputs: int = 4,
    layers: int = 1,
) -> st.SearchStrategy[torch.nn.Module]:  # fmt: skip
    """Networks of torch.nn that are certified to contract by at most λ under ‖x_t‖₂ ≤ B.

    cells: those that are drawn from, all of them by default. units, inputs, layers: the most that
    are drawn. Each is a random network that `rnnbounds.stable_` projected. Raises RangeError for a
    λ that is not between 0 and 1, or for sizes below 1.
    """
    if not 0 < lam < 1:
        raise RangeError("λ", lam, "between 0 and 1")
    for name, size in (("units", units), ("inputs", inputs), ("layers", layers)):
        if size < 1:
            raise RangeError(name, size, "at least 1")

    def make(cell: Cell, d: int, n: int, depth: int, scale: float, seed: int) -> torch.nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = _MAKERS[cell](d, n, depth, batch_first=True)
            with torch.no_grad():
                for part in network.parameters():
                    part.mul_(scale)
        return stable_(network, lam, inputs=input_bound)

    kinds, seeds = st.sampled_from(cells or tuple(_MAKERS)), st.integers(0, 2**31 - 1)
    sizes = (st.integers(1, most) for most in (inputs, units, layers))
    return st.builds(make, kinds, *sizes, st.sampled_from([1.0, 0.25, 4.0]), seeds)


def sequences(
    d: int, *, input_bound: float = 1.0, length: int = 32, batch: int = 2
) -> st.SearchStrategy[torch.Tensor]:
    """Inputs (N, T, d) in float32 with ‖x_t‖₂ ≤ B: normal directions of drawn length, zeros and
    constants among them. length, batch: the most that are drawn."""

    def make(N: int, T: int, size: float, still: bool, seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(N, 1 if still else T, d, generator=generator).expand(N, T, d)
        norms = torch.linalg.vector_norm(x, dim=2, keepdim=True)
        size *= input_bound * (1 - 2**-20)  # rounding leads to no norm above the bound
        scaled: torch.Tensor = x / norms * size
        return scaled.contiguous()

    sizes = (st.integers(1, most) for most in (batch, length))
    seeds = st.integers(0, 2**31 - 1)
    return st.builds(make, *sizes, st.sampled_from([1.0, 0.5, 0.0]), st.booleans(), seeds)
