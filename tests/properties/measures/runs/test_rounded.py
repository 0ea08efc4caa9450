"""Steps of gated cells with what rounding may have done to them."""

import pytest
import torch
from flint import arb, ctx
from msgspec.structs import replace
from seen import PRECISION, rounded_step

from rnnbounds.impl.numbers.ball_functions import sigmoid
from rnnbounds.properties.read.numbers.rounded import Rounded
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.gated.kinds import GATED_SPECIAL
from rnnbounds.properties.systems.table import make_spec


@pytest.mark.parametrize("module", [torch.nn.LSTMCell, torch.nn.GRUCell])
def test_steps_are_torch_s(module: type[torch.nn.RNNCellBase]) -> None:
    """torch's own cells take the same steps, within the error that is claimed and theirs."""
    torch.manual_seed(3)
    reference = module(2, 3, dtype=torch.float64)
    held = {name: part.detach()[None] for name, part in reference.named_parameters()}
    lstm = module is torch.nn.LSTMCell
    spec = make_spec(kind="lstm" if lstm else "gru", regime="gaussian", n=3, d=2, bias=0.5)
    batch = build_batch(spec)
    assert batch.gated_cells is not None
    cell = type(batch.gated_cells.cell)(held)
    s, x = torch.randn(1, 6 if lstm else 3, 1, dtype=torch.float64), torch.randn(1, 2, 1).double()
    moved = rounded_step(cell, Rounded.exact(s), x)
    with torch.no_grad():
        if lstm:
            h, c_next = reference(x[:, :, 0], (s[:, 3:, 0], s[:, :3, 0]))
            true = torch.cat([c_next, h], dim=1)
        else:
            true = reference(x[:, :, 0], s[:, :, 0])
    assert ((moved.value[:, :, 0] - true).abs() <= 2 * moved.error[:, :, 0]).all()
    assert (moved.error < 1e-13).all()


def test_cho_s_step_by_hand() -> None:
    """One unit of Cho's GRU, from its published formula in balls."""
    w, u, b, c, h, x = (0.5, -1.0, 2.0), (0.25, 0.5, 1.0), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), 0.5, 1
    spec = replace(
        GATED_SPECIAL["steep-reset-cho"],
        values=replace(
            GATED_SPECIAL["steep-reset-cho"].values, W=[[v] for v in w], U=[[v] for v in u],
            b=list(b), b_hh=list(c), x=[[float(x)]], h=[h], h_other=[0.0],
        ),
    )  # fmt: skip
    batch = build_batch(spec)
    assert batch.gated_cells is not None
    moved = rounded_step(batch.gated_cells.cell, Rounded.exact(batch.h), batch.x[:, 0])
    with ctx.workprec(PRECISION):
        at = arb(batch.h.item())
        reset, update = (sigmoid(w[i] * at + u[i] * x + b[i] + arb(c[i])) for i in (0, 1))
        nu = (w[2] * (reset * at) + u[2] * x + b[2] + arb(c[2])).tanh()
        true = (1 - update) * nu + update * at
        assert abs(true - moved.value.item()) <= moved.error.item()


def test_errors_are_carried() -> None:
    """Errors of operands carry over to results, in every operation."""
    one = Rounded(*(torch.full((1, 2, 1), v, dtype=torch.float64) for v in (0.5, 1e-6)))
    for out in (one + one, one - one, one * one, one.tanh()):
        assert (out.error >= 4e-7).all()
    assert (one.sigmoid().error >= 2.5e-7).all()
    W = torch.ones(1, 3, 2).double()
    assert (one.apply_matrix(W, torch.zeros(1, 3).double()).error >= 2e-6).all()
