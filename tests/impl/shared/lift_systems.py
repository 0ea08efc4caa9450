"""One step over boxes of states, of every operation and of every kind of cell, and its points."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import torch
from flint import arb
from gated_draws import cho, corners, draw, generator, gru, lstm
from program_draws import SAMPLES, cells
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Program, V
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns

B, COLUMNS = 0.75, 8
HAIR = 1 + 1e-12


def lost(v: V) -> V:
    """v, off by 256 units of the dtype."""
    return (v + 256.0) - 256.0


OPERATIONS = {
    "sum": lambda m, s, x: s + x + 0.1,
    "difference": lambda m, s, x: 0.5 - s - x,
    "product": lambda m, s, x: s * x - 0.3 * s,
    "mix": lambda m, s, x: m.mix(s.sigmoid(), x, -s),
    "gate": lambda m, s, x: m.mix(lost(s).sigmoid(), 8.0 * x, -8.0 * s),
    "carried left": lambda m, s, x: lost(s) * x,
    "carried right": lambda m, s, x: x * lost(s),
    "carried through": lambda m, s, x: lost(s).tanh(),
    "kernel": lambda m, s, x: x + s.sigmoid() * (s - x),
    "exp": lambda m, s, x: (s + x).exp(),
    "waves": lambda m, s, x: (3.0 * s).sin() * (x - s).cos(),
    "reciprocal": lambda m, s, x: (0.75 + 0.5 * s).reciprocal() + x,
    "sqrt": lambda m, s, x: (2.5 + 0.5 * s + x).sqrt() - 0.5 * x,
    "softplus": lambda m, s, x: (40.0 * s).softplus(),
    "affine": lambda m, s, x: m.affine("W", "b", s - x),
    "rows": lambda m, s, x: m.affine("V", None, s * m.vector("b"), slice(1, 4)) + x,
    "parts": lambda m, s, x: m.join(s.part(0, 1), x.part(1, 3)) * m.join(x, s).chunk(2)[0],
} | {
    f"activate {name}": partial(lambda m, s, x, name: m.activate(name, s), name=name)
    for name in ACTIVATIONS
}  # fmt: skip
GATED = {"lstm": lstm, "gru": gru, "gru-cho": cho}
SYSTEMS = (*OPERATIONS, *GATED, *SAMPLES)


@dataclass(frozen=True, eq=False)
class System:
    """One step over |s| ≤ box (1, N) and ‖x‖₂ ≤ B, and points of that set, (1, ·, COLUMNS)."""

    program: Program
    parameters: Mapping[str, Tensor]
    box: Tensor
    d: int

    @property
    def step(self) -> tuple[Program, Mapping[str, Tensor], Tensor, float, int]:
        """As lifts ask for it."""
        return self.program, self.parameters, self.box, B, self.d

    def points(self, seed: int = 1) -> tuple[Tensor, Tensor]:
        """Corners of the box, inputs on the ball and within."""
        by = generator(seed)
        x = torch.randn(1, self.d, COLUMNS, generator=by, dtype=torch.float64)
        x = B * x / x.norm(dim=1, keepdim=True) / HAIR
        x[..., ::3] *= torch.rand(x[..., ::3].shape, generator=by, dtype=torch.float64)
        return corners(self.box, COLUMNS, by), x

    def exact(self, s: Tensor, x: Tensor, column: int) -> list[arb]:
        """The step of one column in balls."""
        m = Balls({name: part[0] for name, part in self.parameters.items()})
        at = (Columns([[arb(v)] for v in part[0, :, column].tolist()]) for part in (s, x))
        return self.program(m, *at).matrix.entries()


def system(name: str, size: float = 1.0, dtype: torch.dtype = torch.float64) -> System:
    """An operation on three units, or a cell on boxes that it keeps, of weights of the dtype."""
    if name in OPERATIONS:
        by = generator(4)
        shapes = {"W": (3, 3), "b": (3,), "V": (5, 3)}
        weights = {
            k: torch.randn(1, *v, generator=by).to(dtype).double() for k, v in shapes.items()
        }
        wide = 4.0 * size if name.startswith("activate") else size
        return System(OPERATIONS[name], weights, torch.full((1, 3), wide).double(), 3)
    cell = draw(GATED[name], 2, seed=12) if name in GATED else cells(name, 1)
    weights = {k: part.to(dtype).double() for k, part in cell.parameters.items()}
    return System(cell.program, weights, size * cell.proved_box(B).box.clamp(max=4.0), cell.d)
