"""What the checker of unitary files computes: norms, states, rounding, units that stay off."""

import math

import torch
from flint import arb, arb_mat, ctx, fmpq

from rnnbounds.impl.checker.definite import below, norm_at_most
from rnnbounds.impl.checker.unitary_bounds import (
    DTYPES,
    Machine,
    System,
    computed_bound,
    drift,
    slack,
    state_bound,
    stays_off,
)
from rnnbounds.impl.numbers.ball_functions import float_above


def test_dtypes_are_torch():
    """The table of dtypes, which the checker holds without torch, is torch's."""
    for name, numbers in DTYPES.items():
        info = torch.finfo(getattr(torch, name))
        assert numbers == (info.eps / 2, info.tiny, info.max)


def test_norms_by_pivots():
    """‖A‖₂ ≤ s is proved just above the norm and not below it, at any size and scale."""
    draw = torch.Generator().manual_seed(0)
    for shape in ((1, 1), (1, 4), (4, 1), (3, 3), (5, 2), (2, 5), (40, 40)):
        A = torch.randn(shape, dtype=torch.float64, generator=draw)
        s = float(torch.linalg.matrix_norm(A, 2))
        for power in (0, -300, 300):
            rows = [[fmpq(*(v * 2.0**power).as_integer_ratio()) for v in r] for r in A.tolist()]
            assert norm_at_most(rows, s * 2.0**power * (1 + 1e-12))
            assert not norm_at_most(rows, s * 2.0**power * (1 - 1e-12))
    assert norm_at_most([[fmpq(0)] * 2] * 2, 0.0)
    assert norm_at_most([[fmpq(3), fmpq(4)]], 5.0)
    assert not below(arb_mat([[1, 0], [0, 1]]), arb(1))
    assert not below(arb_mat([[arb.nan()]]), arb(1))


def test_constants():
    """B_h is exact where it is dyadic; NaN, which becomes infinity, where nothing is known."""
    system = System(0.5, 1.0, 0.5, 1.0, 0.0, 0.0)
    assert float_above(state_bound(system)) == 2.0
    assert float_above(state_bound(System(0.5, 1.0, 0.5, 1.0, 0.0, 7.0))) == 7.0
    assert float_above(state_bound(System(1.0, 1.0, 1.0, 1.0, 0.0, 0.0))) == math.inf
    machine = Machine(4, 1)
    computed = computed_bound(system, machine)
    assert 2 < computed < 2 * (1 + 1e-14)
    assert 0 < drift(system, machine, computed) < 1e-14
    assert float_above(computed_bound(System(1 - 2.0**-53, 1, 1, 1, 0, 0), machine)) == math.inf
    assert float_above(computed_bound(system, Machine(10**6, 1, roundoff=2.0**-11))) == math.inf
    assert float_above(drift(system, Machine(4, 1, largest=2.0), computed)) == math.inf


def test_units_stay_off():
    """At equality in real arithmetic, and with room for rounding on a machine."""
    row, states, machine = arb(0.5), arb(2), Machine(4, 1)
    assert stays_off(row, states, arb(-1), None)
    assert not stays_off(row, states, arb(-1 + 2.0**-53), None)
    assert not stays_off(row, states, arb(-1), machine)
    assert stays_off(row, states, arb(-1 - 2.0**-48), machine)
    with ctx.workprec(256):  # b₂ is rounded as well
        assert not stays_off(row, states, arb(-1 - 4 * 2.0**-52), machine)
        assert stays_off(row, states, arb(-1 - 5 * 2.0**-52), machine)
    assert not stays_off(arb(0), states, arb(-(2.0**-1022)), machine)  # four terms may underflow
    assert stays_off(arb(0), states, arb(-5 * 2.0**-1022), machine)
    assert not stays_off(row, states, arb.nan(), None)


def test_what_underflow_adds():
    """Four terms of three units: twelve of the least normal number; and a drift of that where
    nothing else is rounded."""
    machine = Machine(4, 3, roundoff=0.0)
    assert machine.eta == arb(12) * arb(2.0**-1022)
    still = System(0.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert drift(still, machine, arb(0)) == 2 * machine.eta
    grown = System(0.5, 1.0, 0.5, 1.0, 0.0, 0.0)  # sums of 0.5 · 2 + 1
    assert float_above(drift(grown, Machine(4, 1, largest=3.9), arb(2))) == math.inf
    assert float_above(drift(grown, Machine(4, 1, largest=4.1), arb(2))) < 1e-14


def test_slack_is_rounded_up() -> None:
    """(1 + γ)/(1 − γ) and η/(1 − γ) of any number of terms, at least, and hardly more."""
    with ctx.workprec(256):
        for terms in range(1, 200):
            machine = Machine(terms, terms, *DTYPES["float32"])
            gamma = machine.gamma
            exact = (1 + gamma) / (1 - gamma), arb(machine.underflow) / (1 - gamma)
            for found, wanted in zip(slack(machine), exact, strict=True):
                assert wanted <= arb(found) <= wanted * (1 + arb(2) ** -50)
