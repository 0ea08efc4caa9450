"""The minGRU as a cell of one's own package, as the guide writes it."""

import pytest

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.cells.table import CELLS


class MinGRU(ProgramCell):
    """h⁺ = (1 − z)∘h + z∘(W_h x + b_h), z = σ(W_z x + b_z)."""

    reads = "weight_h"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step."""
        return m.mix(self.gate(m, x), m.affine("weight_h", "bias_h", x), s)

    def gate(self, m: Arithmetic[V], x: V) -> V:
        """z."""
        return m.affine("weight_z", "bias_z", x).sigmoid()

    def kept(self, m: Arithmetic[V], s: V, x: V) -> tuple[V, bool]:
        """1 − z."""
        return self.gate(m, x), True


SHAPES = {"weight_z": "n d", "weight_h": "n d", "bias_z": "n", "bias_h": "n"}
MIN_GRU = program_kind("min-gru", MinGRU, fixed(SHAPES, optional=("bias_z", "bias_h")))


def known(patch: pytest.MonkeyPatch) -> None:
    """The minGRU under its name, as long as the patch lasts."""
    patch.setitem(CELLS, MIN_GRU.name, MIN_GRU)
