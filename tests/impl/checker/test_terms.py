"""Norms of sums of terms, against what units and blocks can do."""

import numpy as np
import pytest
from flint import arb

from rnnbounds.impl.checker.cells.units import Term, norms
from rnnbounds.impl.checker.definite import smaller


def term(scale: list[float], A: list[list[float]] | None, reach: list[arb]) -> Term:
    """Of floats; terms of one Δy share the list of its reach."""
    balls = None if A is None else [[arb(a) for a in row] for row in A]
    return Term([arb(d) for d in scale], balls, reach)


def test_differences_that_are_others_add_up() -> None:
    """2Δy + 3Δz of two numbers moves by 5, whether they are one and the same or not; a block that
    does not move them counts for nothing."""
    one, two = [arb(1), arb(0)], [arb(1), arb(2)]
    apart = norms([term([1.0], [[2.0]], one), term([1.0], [[3.0]], two)])
    assert [float(size) for size in apart] == pytest.approx([5.0, 6.0])
    same = norms([term([1.0], [[2.0]], one), term([1.0], [[3.0]], one)])
    assert [float(size) for size in same] == pytest.approx([5.0, 0.0])


def test_terms_of_one_difference_are_taken_together() -> None:
    """(3Δy, 0) + (0, 4Δy) is no longer than 5|Δy|, and so long."""
    reach = [arb(1)]
    (size,) = norms(
        [term([3.0, 0.0], [[1.0], [1.0]], reach), term([0.0, 4.0], [[1.0], [1.0]], reach)]
    )
    assert float(size) == pytest.approx(5.0)


def test_nothing_moves_further() -> None:
    """At random: signs and sizes of D_k, directions of Δy, one and another."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrices, scales = rng.normal(size=(3, 2, 3)), rng.random((3, 2))
        one, two = [arb(0.5), arb(2.0)], [arb(1.5), arb(0.25)]
        reaches = [one, one, two]
        told = [float(size) for size in norms([
            term(d.tolist(), A.tolist(), reach)
            for d, A, reach in zip(scales, matrices, reaches, strict=True)
        ])]  # fmt: skip
        for _ in range(200):
            y, z = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
            D = scales * rng.choice([-1.0, 1.0], size=(3, 2))
            for b, (first, second) in enumerate(zip(one, two, strict=True)):
                moves = float(first) * y, float(first) * y, float(second) * z
                seen = sum(d * (A @ m) for d, A, m in zip(D, matrices, moves, strict=True))
                assert np.linalg.norm(seen) <= told[b] * (1 + 1e-12)


def test_the_smaller_of_two_bounds_has_no_radius_that_it_need_not_have() -> None:
    """If balls overlap, that with the smaller one is a bound as well."""
    one, ball = arb(1), arb(1, 2.0**-100)
    assert smaller(one, ball).is_exact()
    assert smaller(ball, one).is_exact()
    assert smaller(arb(2), ball).contains(1)
    assert smaller(arb("nan"), one) == one
    assert smaller(one, arb("inf")) == one
