import math

import torch
from gated_draws import draw, generator, lstm

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.derivatives.second_order import second_order_constants, step_jets


def test_linear_systems_are_exact():
    """For W s + U x + b: L_w = √(‖box‖² + B² + 1) over the least v, β_hw = ‖v‖₂/v, no curvature."""

    def step(m: Arithmetic[V], s: V, x: V) -> V:
        return m.affine("W", "b", s) + m.affine("U", None, x)

    by = generator(1)
    parameters = {
        "W": torch.randn(1, 3, 3, generator=by).double(),
        "U": torch.randn(1, 3, 2, generator=by).double(),
        "b": torch.randn(1, 3, generator=by).double(),
    }
    box, v = torch.tensor([[1.0, 2.0, 2.0]]).double(), torch.tensor([[1.0, 2.0, 0.5]]).double()
    told = second_order_constants(step_jets(step, parameters, box, v, 2.0, 2), v)
    assert math.isclose(float(told["L_w"]), math.sqrt(9 + 4 + 1) / 0.5, rel_tol=1e-12)
    assert math.isclose(float(told["beta_hw"]), math.sqrt(5.25) / 0.5, rel_tol=1e-12)
    assert float(told["beta_hh"]) == 0.0
    assert float(told["beta_ww"]) <= 1e-300


def test_infinite_boxes_fail_closed():
    """If a gate may stay open nothing is bounded, and nothing is NaN."""
    cell = draw(lstm, 2, seed=1)
    box = torch.tensor([[torch.inf, torch.inf, 1.0, 1.0]]).double()
    v = torch.ones(1, 4).double()
    told = second_order_constants(step_jets(cell.program, cell.parameters, box, v, 1.0, 2), v)
    assert all(not bool(part.isnan().any()) for part in told.values())
    assert float(told["L_w"]) == torch.inf
