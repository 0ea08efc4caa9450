"""Scales with which fewer states are enough: found by a heuristic, proved exactly."""

import random

import pytest
from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rescaling import proved, rescale
from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.rationals import defect_rank, diagonal


def rational(rows):
    """A rational matrix from integers and pairs (p, q)."""
    return fmpq_mat([[fmpq(*v) if isinstance(v, tuple) else fmpq(v) for v in row] for row in rows])


def test_three_states_instead_of_four():
    """W = (0 ½; 0 0): D = diag(2, 1) up to a factor, and rank 1 instead of 2."""
    W = rational([[0, (1, 2)], [0, 0]])
    found = rescale(W)
    assert found.rank == 1
    assert found.D[0] == 2 * found.D[1]
    scaled = diagonal(found.D) * W * diagonal([1 / d for d in found.D])
    assert defect_rank(scaled) == 1
    assert defect_rank(W) == 2


def test_shifts_need_one_more_state():
    """A weighted shift of any length needs n + 1 states, and its scales are rational."""
    draw = random.Random(0)
    for n in (2, 3, 5, 8):
        W = fmpq_mat(n, n)
        for i in range(n - 1):
            W[i, i + 1] = fmpq(draw.randint(1, 9), 10)
        for A in (W, W.transpose()):
            found = rescale(A)
            assert found.rank == 1
            assert found.D is not None


def test_triangular_systems_save_a_state():
    """Any triangular contraction that is not diagonal saves one; the scales may be irrational."""
    draw = random.Random(1)
    for n in (2, 3, 6):
        W = fmpq_mat(n, n)
        for i in range(n):
            for j in range(i, n):
                W[i, j] = fmpq(draw.randint(1, 9), 20 * n)
        assert rescale(W).rank == n - 1


def test_groups_that_feed_one_another():
    """Units on a cycle keep a common scale, and a unit that they feed saves a state."""
    W = rational([[(1, 3), (1, 4), (1, 5)], [(1, 8), (1, 2), (1, 7)], [0, 0, (-1, 5)]])
    assert rescale(W).rank == 2
    turned = rational([[(-1, 5), 0, 0], [(1, 5), (1, 3), (1, 4)], [(1, 7), (1, 8), (1, 2)]])
    found = rescale(turned)
    assert proved(turned, found.P).rank == found.rank <= 3


def test_nothing_to_save():
    """Diagonal matrices need 2n; so does, for this search, a full one."""
    assert rescale(diagonal([fmpq(1, 2), fmpq(1, 3)])).rank == 2
    assert rescale(rational([[0, 0], [0, 0]])).rank == 2
    assert rescale(rational([[(1, 3), (1, 4)], [(1, 5), (1, 6)]])).rank == 2


def test_beyond_contractions():
    """A norm above 1 may come down; one that no scale brings down has no rescaling."""
    assert rescale(rational([[0, 3], [0, 0]])).rank == 1
    assert rescale(rational([[2]])) is None
    assert rescale(rational([[1, 1], [0, 1]])) is None
    assert rescale(rational([[0, 2], [2, 0]])) is None


def test_never_worse_and_always_proved():
    """Random sparse contractions: the rank is never above the plain one, and is proved again."""
    draw = random.Random(2)
    for _ in range(60):
        n = draw.randint(1, 5)
        W = fmpq_mat(n, n)
        for i in range(n):
            for j in range(n):
                if draw.random() < 0.4:
                    W[i, j] = fmpq(draw.randint(-9, 9), 10 * n)
        plain, found = proved(W, (fmpq(1),) * n), rescale(W)
        assert plain.rank == defect_rank(W)
        assert found.rank <= plain.rank
        assert proved(W, found.P).rank == found.rank


def test_claims_fall_without_a_proof():
    """P that is not positive, or whose P − WᵀPW is not semidefinite, proves nothing."""
    W = rational([[0, (1, 2)], [0, 0]])
    assert proved(W, (fmpq(1), fmpq(1, 4))).rank == 1
    assert proved(W, (fmpq(1), fmpq(1, 4) - fmpq(1, 10**30))) is None
    assert proved(W, (fmpq(1), fmpq(1, 4) + fmpq(1, 10**30))).rank == 2
    assert proved(W, (fmpq(1), fmpq(0))) is None
    with pytest.raises(ShapeError):
        proved(W, (fmpq(1),))


def test_usable_filters():
    """Only rescalings that the caller can use are returned."""
    W = rational([[0, (1, 2)], [0, 0]])
    assert rescale(W, lambda found: found.rank == 2).rank == 2
    assert rescale(W, lambda _: False) is None


def test_large_matrices_are_left_alone():
    """Beyond the size that the search is made for only P = I is tried."""
    n = 33
    W = fmpq_mat(n, n)
    W[0, 1] = fmpq(1, 2)
    assert rescale(W).rank == n
