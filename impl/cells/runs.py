"""Runs of a model over recorded windows: in full, and truncated to the last k inputs.

Both runs of a gap start from the zero state, the full one at the first input of its window, the
truncated one k inputs before the end, as what `truncate` writes does: the gap of a window at k is
‖h_T − h_T^k‖₂, of the output after its last input, or ‖f(h_T) − f(h_T^k)‖₂ where a readout f is
asked about. It is 0 at k = T.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, Floats, Program, Rows, V
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.models.loaded import LoadedModel, Readout
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import norm_up

NUMBERS = 2**22  # of states that are held at a time
BLUR = 2.0**-30  # of a state's size: nearer pairs may be apart by rounding alone
DENSE, RATIO = 32, 17 / 16  # every k up to 32, then each the sixteenth part larger


@dataclass(frozen=True, eq=False)
class Runner:
    """A model's step in float64, of its weights as stored: both biases of a vanilla cell, each.
    The parameters hold those of the readout that is asked about, if one is."""

    program: Program
    parameters: Mapping[str, Tensor]
    states: int
    n: int
    readout: Readout | None = None

    @classmethod
    def of(cls, model: LoadedModel[Any]) -> "Runner":
        """The runner of a model."""
        own, stored = model.cell.parameters, model.weights
        if isinstance(model.cell, RNN):  # it knows the sum of its two biases, rounded
            own = {name: part.double()[None] for name, part in stored.items()}
        sizes = kind_of(model.name).layout(stored).sizes(stored)
        if model.readout is not None:
            own = {**own, **{n: part[None] for n, part in model.readout.parameters.items()}}
        return cls(model.cell.program, own, sizes.state, sizes.n, model.readout)

    @property
    def products(self) -> int:
        """How many products a step takes, about."""
        return sum(part.numel() for part in self.parameters.values())

    @property
    def outputs(self) -> int:
        """The number of entries of h, or of f(h)."""
        return self.n if self.readout is None else self.readout.outputs

    def apart(self, m: Arithmetic[V], a: V, b: V) -> V:
        """The difference of the outputs a and b, or f(a) − f(b) of a readout f."""
        return a - b if self.readout is None else self.readout.apart(m, a, b)

    def zero(self, windows: int) -> Tensor:
        """The zero state of so many windows, (1, M, N)."""
        return torch.zeros(1, windows, self.states, dtype=torch.float64)

    def step(self, s: Tensor, x: Tensor) -> Tensor:
        """One step: s (1, M, N), x (1, M, d) -> (1, M, N)."""
        moved: Rows = self.program(Floats(self.parameters), Rows(s), Rows(x))
        return moved.value


@dataclass(frozen=True, eq=False)
class Truncations:
    """Of M windows, what was seen in float64.

    gaps: ‖h_T − h_T^k‖₂ for each k of a grid, (M, len(ks)). ratio: the largest
    ‖s_{t+1} − s_{t+1}^k‖₂/‖s_t − s_t^k‖₂ of a step between the whole states of the full and of a
    truncated run, at distances that rounding does not blur, and 0 where there are none; pairs,
    expanding: how many there are, and how many that grew. (M,) each.
    """

    gaps: Tensor
    ratio: Tensor
    pairs: Tensor
    expanding: Tensor

    @classmethod
    def joined(cls, parts: Sequence["Truncations"]) -> "Truncations":
        """Those of one block of windows after another."""
        held = ((p.gaps, p.ratio, p.pairs, p.expanding) for p in parts)
        return cls(*map(torch.cat, zip(*held, strict=True)))


def grid(T: int) -> tuple[int, ...]:
    """The k at which gaps are read: 0 … 32, then each larger by the sixteenth part, and T."""
    found = list(range(min(T, DENSE) + 1))
    while found[-1] < T:
        found.append(min(T, int(found[-1] * RATIO)))
    return tuple(found)


def truncations(runner: Runner, x: Tensor, ks: Sequence[int]) -> Truncations:
    """All truncations of the windows x (M, T, d), started one after another: Σk steps a window."""
    M, T = x.shape[:2]
    starts = sorted({T - k for k in ks} | {0})
    one = Floats({name: part[0] for name, part in runner.parameters.items()})
    zero, s = runner.zero(M), runner.zero(M)  # the full run, then the others, the longest first
    ratio, pairs, expanding = torch.zeros(3, M, dtype=torch.float64)
    apart = _apart(s)
    for t in range(T):
        before = apart
        if t and t in starts:
            s = torch.cat([s, zero])
            before = torch.cat([apart, s[0].norm(dim=1)[None]])
        s = runner.program(one, Rows(s), Rows(x[:, t])).value  # U x once for all runs
        apart = _apart(s)
        clear = before > BLUR * (1 + s[0].norm(dim=1))
        grown = torch.where(clear, apart / before, 0.0)
        if len(grown):
            ratio = torch.maximum(ratio, grown.amax(0))
            pairs, expanding = pairs + clear.sum(0), expanding + (grown > 1).sum(0)
    if T in starts:
        s = torch.cat([s, zero])
    h = s[..., runner.states - runner.n :]
    rows = torch.tensor([starts.index(T - k) for k in ks])
    gap = runner.apart(Floats(runner.parameters), Rows(h[rows]), Rows(h[:1])).value
    return Truncations(norm_up(gap).T, ratio, pairs, expanding)


def _apart(s: Tensor) -> Tensor:
    """How far the truncated runs are from their full ones: (runs, M)."""
    found: Tensor = torch.linalg.vector_norm(s[1:] - s[:1], dim=2)
    return found


def blocks(windows: int, each: int, numbers: int = 0) -> Iterator[slice]:
    """So many windows, of `each` numbers, a block at a time of `numbers` in all, or NUMBERS."""
    size = max(1, (numbers or NUMBERS) // max(1, each))
    for start in range(0, windows, size):
        yield slice(start, min(start + size, windows))
