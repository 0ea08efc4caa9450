import math

import pytest
import torch

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.errors import PrecisionError


def test_a_cell_in_one_file():
    """A new cell is its step, its sizes and its box; the rest follows."""

    class Decay(ProgramCell):
        """h⁺ = tanh(w)∘half∘h + U x, written for this test."""

        reads = "U"

        def program(self, m: Arithmetic[V], s: V, x: V) -> V:
            """One step."""
            return m.vector("w").tanh() * m.vector("half") * s + m.affine("U", None, x)

    kind = program_kind("decay", Decay, fixed({"w": "n", "half": "n", "U": "n d"}))
    held = {"w": torch.ones(3), "half": torch.full((3,), 0.5), "U": torch.ones(3, 1)}
    cell = kind.build({key: part[None].double() for key, part in held.items()})
    found = cell.comparison(1.0)
    rate = math.tanh(1.0) / 2
    assert rate <= float(found.factor(found.infinity())) <= rate * (1 + 1e-12)
    assert bool((found.box <= 1 / (1 - rate) * (1 + 1e-9)).all())
    assert kind.step(held, torch.ones(2, 1), torch.zeros(2, 3)).shape == (2, 3)
    with pytest.raises(PrecisionError):
        kind.build(held)
