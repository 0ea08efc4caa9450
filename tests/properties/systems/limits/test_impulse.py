"""Answers of a linear network and a candidate to a unit impulse: readings and bounds, exactly."""

from itertools import product
from math import inf

import pytest
from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.read.quantity import rational_square
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.limits.impulse import (
    LATE,
    Impulse,
    LinearResponse,
    Responses,
    impulse_member,
)

SPECS = [
    Impulse(n=n, T=5, K=5, states=3, batch=2, seed=7, regime=regime, lam=lam)
    for n, regime, lam in product((1, 3), Impulse.regimes, (0.0, 0.6, 1.0))
]
SPEC = SPECS[0]
HALF = LinearResponse(fmpq_mat([[fmpq(1, 2)]]), fmpq_mat([[1]]), fmpq_mat([[1]]))


def column(place: int, size: int) -> fmpq_mat:
    """A unit vector."""
    return fmpq_mat(size, 1, [int(i == place) for i in range(size)])


def against(candidate: LinearResponse) -> float:
    """The bound on the error of a candidate of 2^−t."""
    return Responses(SPEC, HALF, candidate).error_bound


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.regime}-{spec.n}-{spec.lam}")
def test_the_error_never_exceeds_its_bound(spec):
    """At twice as many times as it looks at one by one; it is infinite of no orthogonal V."""
    for member in spec.members:
        made = impulse_member(spec, member)
        pairs = zip(made.network.outputs(2 * LATE), made.candidate.outputs(2 * LATE), strict=True)
        assert max(abs(c - u) for c, u in pairs) <= fmpq(*made.error_bound.as_integer_ratio())


def test_errors_that_come_late_count():
    """A candidate that answers after a long silence; one whose states are not kept; half of 1 at
    all times, which is the least error that there is."""
    size = LATE + 3
    shift = fmpq_mat(
        size, size, [int(j == (i + 1) % size) for i, j in product(range(size), repeat=2)]
    )
    silent = LinearResponse(shift, 4 * column(LATE + 1, size), column(0, size).transpose())
    assert silent.outputs(LATE + 1) == [0] * (LATE + 1)
    assert against(silent) >= 4 - 2.0**-LATE
    assert against(LinearResponse(fmpq_mat([[2]]), fmpq_mat([[1]]), fmpq_mat([[1]]))) == inf
    assert against(HALF) == 0
    constant = LinearResponse(identity(1), fmpq_mat([[1]]), fmpq_mat([[fmpq(1, 2)]]))
    assert 0.5 <= against(constant) < 0.5 + 1e-15


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.regime}-{spec.n}-{spec.lam}")
def test_readings_are_those_of_the_matrices(spec):
    """Each quantity of `urnn-linear` by loops over powers, with sizes that differ."""
    batch = build_batch(spec)
    for i, k in product(spec.members, range(spec.K + 1)):
        made, pair = impulse_member(spec, i), batch.pair(i, 0)
        c, u = (each.outputs(spec.T + 1) for each in (made.network, made.candidate))
        now, V = made.candidate.states(spec.T - k + 1)[-1] - made.candidate.v, made.candidate.A
        defect = V.transpose() * V - identity(V.nrows())
        wanted = {
            "impulse": c[k] ** 2,
            "impulse_end": c[-1] ** 2,
            "impulse_gap": max((p - q) ** 2 for p, q in zip(c, u, strict=True)),
            "return_gap": (now.transpose() * now)[0, 0],
            "orthogonal_defect": sum(v * v for v in defect.entries()) ** 2,
        }
        assert {name: rational_square(name, pair, k) for name in wanted} == wanted
