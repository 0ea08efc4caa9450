import math

import pytest
import torch
from program_draws import SAMPLES, weights

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import (
    NotCertifiedError,
    truncate,
)
from rnnbounds.impl.errors import PrecisionError
from rnnbounds.impl.reading.recognition.misfit import AmbiguousCellError

EACH = pytest.mark.parametrize("name", SAMPLES)


def certified(name: str, bound: float = 1.0, **options):
    """The weights of a sample, and their certificate."""
    held = weights(name, **options)
    return held, certify(held, bound, (1e-1, 1e-3), cell=name)


@EACH
def test_recognised_by_its_names(name):
    """A state dict without a word on its cell is refused where several kinds can be meant."""
    with pytest.raises(AmbiguousCellError, match=rf"say --cell .*\b{name}\b"):
        certify(weights(name), 1.0)


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


def test_expanding_cells_are_not_certified():
    """Reservoirs, transitions and linear units that grow have no certificate, and no window."""
    for name in ("leaky-tanh", "deep-tanh"):
        told = certified(name, scale=3.0)[1]
        assert told.verdict != "certified"
    held = {"weight_hh": torch.eye(2).double(), "weight_ih": torch.ones(2, 1).double()}
    told = certify(held, 1.0, cell="linear")
    assert told.verdict != "certified"
    assert told.constants["B_h"] == math.inf
    with pytest.raises(NotCertifiedError):
        truncate(held, 1e-2, 1.0, cell="linear")
