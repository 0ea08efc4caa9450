"""Gradients of windows against autograd, and bounds on their rounding."""

import math
from collections.abc import Callable

import pytest
import torch
from draws import doubles
from flint import arb, ctx
from gradient_oracle import autograd, blocks, random_system
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.adjoint import gradient_gaps, last_gradient, tb_gaps, tbptt_gaps
from rnnbounds.impl.gradients.loss import LOSSES, loss
from rnnbounds.impl.gradients.rounding import (
    _states,
    absolute_norms,
    gradient_error,
    gradient_gap_error,
    tbptt_error,
)
from rnnbounds.impl.gradients.windows import gradients
from rnnbounds.impl.models.rnn import RNN

T = 6
READINGS = (gradient_gaps, tbptt_gaps, tb_gaps)
SUBSETS = ("W", "U", "b", "WU", "Wb", "Ub", "WUb")
CLOSE = {"rtol": 1e-11, "atol": 1e-12}


def one_pair(cell: RNN, x: Tensor, member: int, s: int) -> tuple[RNN, Tensor]:
    """One system with one of its sequences."""
    return cell.member(member), x[member : member + 1, :, :, s : s + 1]


def detached(cell: RNN, x: Tensor, criterion: object, k: int) -> Tensor:
    """g_k by autograd: the state k steps before the end is a constant."""
    W, U, b = (v.clone().requires_grad_() for v in (cell.W, cell.U, cell.b))
    h = torch.zeros(1, cell.n, 1, dtype=torch.float64)
    for t in range(x.shape[1]):
        h = h.detach() if t == x.shape[1] - k else h
        h = cell.activation(W @ h + U @ x[:, t] + b[:, :, None])
    found = torch.autograd.grad(criterion.value(h).sum(), (W, U, b))
    return torch.cat([g.flatten() for g in found])


@pytest.mark.parametrize("name", ["tanh", "relu", "softplus"])
@pytest.mark.parametrize("criterion", LOSSES)
def test_gaps_are_autograds(name: str, criterion: str) -> None:
    """All three readings agree with one autograd pass a gradient, for each pair of the batch."""
    cell, x, p = random_system(name, criterion)
    gaps = [reading(cell, x, T, p) for reading in READINGS]
    assert all(gap.shape == (2, 2, T + 1) for gap in gaps)
    one, inputs = one_pair(cell, x, 1, 1)
    its = p.member(1)
    full = autograd(one, inputs, its)
    for k in range(T + 1):
        begun = bool(k)
        short = autograd(one, inputs, its, T - k) * begun
        kept = detached(one, inputs, its, k) if k else torch.zeros_like(full)
        expected = (full - short, full - kept, kept - short)
        for gap, vector in zip(gaps, expected, strict=True):
            torch.testing.assert_close(gap[1, 1, k], vector.norm(), **CLOSE)


@pytest.mark.parametrize("trained", SUBSETS)
def test_trained_weights_alone_count(trained: str) -> None:
    """A norm is taken over the trained blocks only."""
    cell, x, p = random_system("tanh", "squared")
    full, short = autograd(cell, x, p), autograd(cell, x, p, T - 2)
    chosen = blocks(cell.n, cell.d, trained)
    gap = gradient_gaps(cell, x, 2, p, trained)[0, 0, 2]
    torch.testing.assert_close(gap, (full - short)[chosen].norm(), **CLOSE)
    found = last_gradient(cell, x, p)
    torch.testing.assert_close(found.flat(trained)[0, 0], full[chosen], **CLOSE)
    torch.testing.assert_close(found.norm(trained)[0, 0], full[chosen].norm(), **CLOSE)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("K", [0, 1, 3, T])
def test_windows_do_not_depend_on_their_number(reading: Callable[..., Tensor], K: int) -> None:
    """The first windows read the same whatever the last one is; with all inputs the gap is 0."""
    cell, x, p = random_system("gelu", "cross-entropy")
    every = reading(cell, x, T, p)
    torch.testing.assert_close(reading(cell, x, K, p), every[..., : K + 1], **CLOSE)
    assert (every[..., T] == 0).all()


@pytest.mark.parametrize("trained", ["WUb", "Wb", "U"])
@pytest.mark.parametrize("name", ["tanh", "relu"])
@pytest.mark.parametrize(("K", "block"), [(0, 1), (4, 2 * 16 * 4 * 11), (T, 2**20)])
def test_both_ways(
    name: str, trained: str, K: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain tensors go in blocks, in place, those of which a derivative is asked from step to step:
    to the same gaps."""
    monkeypatch.setattr(gradients, "_BLOCK", block)
    cell, x, p = random_system(name, "squared", B=3, S=3)
    plain = gradient_gaps(cell, x, K, p, trained)
    slow = gradient_gaps(cell, x.clone().requires_grad_(), K, p, trained).detach()
    torch.testing.assert_close(plain, slow, **CLOSE)


def test_starts() -> None:
    """A member's state that stays zero up to its own start gives the truncated gradient."""
    cell, x, p = random_system("sigmoid", "squared", B=3)
    starts = torch.tensor([0, 2, T])
    found = last_gradient(cell, x, p, starts).flat()
    for member in range(3):
        one, inputs = one_pair(cell, x, member, 1)
        expected = autograd(one, inputs, p.member(member), int(starts[member]))
        torch.testing.assert_close(found[member, 1], expected, **CLOSE)
    assert (found[2] == 0).all()


@pytest.mark.parametrize("reading", READINGS)
def test_differentiable(reading: Callable[..., Tensor]) -> None:
    """A gap can be climbed in W, U, b and x, also where it is 0."""
    cell, x, p = random_system("tanh", "squared")
    leaves = [v.requires_grad_() for v in (cell.W, cell.U, cell.b, x)]
    slopes = torch.autograd.grad(reading(cell, x, T, p).sum(), leaves)
    assert all(torch.isfinite(slope).all() and slope.abs().sum() > 0 for slope in slopes)
    step = [1e-6 * torch.ones_like(v) for v in leaves]
    with torch.no_grad():
        ends = []
        for sign in (1, -1):
            W, U, b, inputs = (v + sign * h for v, h in zip(leaves, step, strict=True))
            ends.append(reading(RNN(W, U, b, cell.activation), inputs, T, p).sum())
    quotient = ((ends[0] - ends[1]) / 2e-6).item()
    assert sum(slope.sum().item() for slope in slopes) == pytest.approx(quotient, rel=1e-5)


def test_tiny_gradients() -> None:
    """A gradient whose squares underflow does not read as 0."""
    cell, x, p = random_system("tanh", "linear")
    tiny = loss("linear", p.C * 1e-170)
    for read in (
        lambda q: gradient_gaps(cell, x, 3, q),
        lambda q: last_gradient(cell, x, q).norm(),
    ):
        assert (read(p) > 0).all()
        assert (read(tiny) >= read(p) * 1e-170 / cell.n**2).all()


def test_by_hand() -> None:
    """h = a h + x with p = h: ∇_a p_3 = x_2 + 2a x_1, of which one step knows x_2 + a x_1."""
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    cell = RNN(one / 2, one, torch.zeros(1, 1, dtype=torch.float64), ACTIVATIONS["identity"])
    x = torch.tensor([8.0, 3.0, 1.0], dtype=torch.float64).reshape(1, 3, 1, 1)
    p = loss("linear", one)
    gaps = [reading(cell, x, 3, p, "W")[0, 0].tolist() for reading in READINGS[:3]]
    assert gaps == [[11.0, 11.0, 8.0, 0.0], [11.0, 4.0, 0.0, 0.0], [0.0, 7.0, 8.0, 0.0]]


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


def test_gradients_that_underflow() -> None:
    """L_ρ‖c‖ underflows for the least c, while the gradient is not 0; and of an uncertain kink far
    below all floats' squares the error is no NaN: 0 times infinity is infinity."""
    cell, x = scalar(0.5, "sigmoid"), torch.ones(1, 1, 1, 1, dtype=torch.float64)
    p = loss("linear", doubles([[[5e-324]]]))
    assert not last_gradient(cell, x, p).flat().any()
    assert gradient_error(cell, x, p).item() > 0
    x, p = doubles([2.0**-1000, -(2.0**-1000)]), loss("linear", doubles([[[2.0**-1000]]]))
    for bound in (gradient_gap_error, tbptt_error):
        assert not bound(scalar(0.99, "relu"), x.reshape(1, 2, 1, 1), 2, p, "W").isnan().any()


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
