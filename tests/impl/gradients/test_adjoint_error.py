import math

import torch
from draws import doubles
from flint import arb, ctx
from gradient_oracle import random_system

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.adjoint import (
    last_gradient,
    tbptt_gaps,
)
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.rounding import (
    _states,
    absolute_norms,
    gradient_error,
    gradient_gap_error,
    tbptt_error,
)
from rnnbounds.impl.models.rnn import RNN

T = 6


def test_error_of_the_forgotten_part_decays() -> None:
    """What truncated back-propagation leaves out is read to an error that shrinks with λ^k."""
    cell, x, p = random_system("tanh", "linear", T=60, lam=0.1)
    gap, error = tbptt_gaps(cell, x, 50, p), tbptt_error(cell, x, 50, p)
    assert (gap[..., 50] > 0).all()
    assert (error[..., 50] < 1e-60).all()
    assert (error[..., 1:] <= error[..., :-1]).all()


def test_uncertain_kink() -> None:
    """A pre-activation that rounding could move across a ReLU's kink makes the bounds infinite."""
    cell, x, p = random_system("relu", "linear", B=1)
    assert torch.isfinite(gradient_error(cell, x, p)).all()
    assert torch.isfinite(tbptt_error(cell, x, 3, p)).all()
    z = cell.drive(x[:, T - 2])  # the first one of the truncated run with k = 2
    x[:, T - 2, 0] -= z[:, 0] / cell.U[:, 0, 0, None]
    assert (gradient_error(cell, x, p) == math.inf).all()
    assert torch.isfinite(gradient_error(cell, x, p, K=1)).all()
    assert torch.isfinite(tbptt_error(cell, x, 3, p)).all()  # sees the full run alone


def scalar(W: float, name: str) -> RNN:
    """h_t = ρ(W h_{t−1} + x_t)."""
    return RNN(doubles([[[W]]]), doubles([[[1.0]]]), doubles([[0.0]]), activation(name))


def test_a_gradient_that_underflows_is_not_taken_for_0() -> None:
    """L_ρ‖c‖ underflows for the least c, while the gradient is not 0."""
    cell, x = scalar(0.5, "sigmoid"), torch.ones(1, 1, 1, 1, dtype=torch.float64)
    p = loss("linear", doubles([[[5e-324]]]))
    assert not last_gradient(cell, x, p).flat().any()
    assert gradient_error(cell, x, p).item() > 0


def test_the_forgotten_part_counts_where_powers_of_lam_underflow() -> None:
    """λ^35 is far below all floats, but c λ^35 and its rounding are not."""
    T, c = 36, 1.1 * 2.0**600
    cell, x = scalar(0.3 * 2.0**-30, "identity"), torch.ones(1, 36, 1, 1, dtype=torch.float64)
    p = loss("linear", doubles([[[c]]]))
    found = tbptt_gaps(cell, x, T, p, "b")[0, 0, T - 1].item()
    error = tbptt_error(cell, x, T, p, "b")[0, 0, T - 1].item()
    with ctx.workprec(3000):
        away = abs(arb(c) * arb(cell.W.item()) ** (T - 1) - found)
        assert away > 0
        assert away <= error


def test_a_gradient_that_overflows() -> None:
    """Nothing is known about gradients that are too large for a float, nor about their parts."""
    cell, size = scalar(1 - 2.0**-53, "identity"), 2.0**512
    x = torch.full((1, 9, 1, 1), size, dtype=torch.float64)
    for C, y in ((1.0, 0.0), (2.0**500, 0.0), (1.0, 2.0**1020)):
        p = loss("squared", doubles([[[C]]]), doubles([[y]]))
        assert not torch.isfinite(last_gradient(cell, x, p).W).all()
        assert (gradient_error(cell, x, p) == torch.inf).all()
        assert (tbptt_error(cell, x, 5, p) == torch.inf).all()


def test_no_error_is_nan() -> None:
    """An uncertain kink far below all floats' squares: 0 times infinity is infinity."""
    cell = scalar(0.99, "relu")
    x = doubles([2.0**-1000, -(2.0**-1000)]).reshape(1, 2, 1, 1)
    p = loss("linear", doubles([[[2.0**-1000]]]))
    for bound in (gradient_gap_error, tbptt_error):
        assert not bound(cell, x, 2, p, "W").isnan().any()


def test_the_box_of_states_does_not_depend_on_the_default_dtype() -> None:
    """√257 of 257 units at 1: in bfloat16 257 is 256."""
    n, one = 257, torch.ones(1, 1, dtype=torch.float64)
    cell = RNN(
        one.new_zeros(1, n, n),
        one.new_full((1, n, 1), 64.0),
        one.new_zeros(1, n),
        activation("tanh"),
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        size, *_ = _states(cell, one[:, None, :, None], one, 2 * one, absolute_norms(cell))
    finally:
        torch.set_default_dtype(before)
    assert float(size) >= n**0.5
