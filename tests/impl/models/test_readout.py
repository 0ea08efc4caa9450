"""A linear readout: its norm, and differences of its values."""

import pytest
import torch
from draws import normal
from flint import arb_mat, ctx

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.models.loaded import Readout


@pytest.mark.parametrize("p", [1, 2, 5])
def test_differences_are_those_of_outputs(p):
    """In floats and in balls; none is more than ‖C‖₂ times as long as that of h."""
    C, (h, other) = normal(p, 3, seed=p), normal(2, 5, 3, seed=p)
    readout = Readout("head.weight", C)
    apart = readout.apart(Floats(readout.parameters), Rows(h), Rows(other)).value
    assert torch.allclose(apart, (h - other) @ C.mT, rtol=1e-12, atol=1e-15)
    assert apart.shape == (5, readout.outputs)
    assert (apart.norm(dim=1) <= readout.norm * (h - other).norm(dim=1) * (1 + 1e-12)).all()
    assert readout.norm == pytest.approx(float(torch.linalg.matrix_norm(C, 2)))
    with ctx.workprec(128):
        columns = (Columns.of(arb_mat(v.T.tolist())) for v in (h, other))
        found = readout.apart(Balls(readout.parameters), *columns)
        middles = torch.tensor([[float(a.mid()) for a in unit] for unit in found.units])
    assert torch.allclose(middles.double().T, apart, rtol=1e-5, atol=1e-6)
