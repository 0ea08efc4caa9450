"""Exact rationals: dilations, ranks, and networks whose equality is decided."""

import random

import pytest
from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN, norm_above, state_bound, to_unitary
from rnnbounds.impl.numbers.rationals import (
    Unreduced,
    cayley,
    identity,
    random_contraction,
    root_above,
)


@pytest.mark.parametrize("units", [0, 1, 3])
def test_rational_dilations(units):
    """VᵀV = I exactly, W leads, and V has n + rank(I − WᵀW) rows."""
    draw = random.Random(units)
    for n in range(max(1, units), 6):
        C = random_contraction(n, draw, units)
        V, W = C.dilation(), C.W
        m = 2 * n - units
        assert V.nrows() == m
        assert V.transpose() * V == identity(m)
        assert [row[:n] for row in V.tolist()[:n]] == W.tolist()
        assert n - units == sum(k != 0 for k in C.kappa)
        assert C.norm == (1 if units else max(C.sigma))


def test_beyond_the_bound():
    """W = 3/5, B = 1, inputs (X, 0, 0): off at k = 2 by (1 − λ²)(X − B/(1 − λ)), not before."""
    V = fmpq_mat([[fmpq(3, 5), fmpq(4, 5)], [fmpq(4, 5), fmpq(-3, 5)]])
    rnn = RationalRNN(fmpq_mat([[fmpq(3, 5)]]), fmpq_mat([[fmpq(1)]]), (fmpq(0),), (fmpq(0),))
    urnn = to_unitary(rnn, V, state_bound(fmpq(3, 5), fmpq(1), rnn.b, rnn.initial, fmpq(1)))
    for X, gap in ((10, fmpq(24, 5)), (fmpq(5, 2), fmpq(0)), (3, fmpq(8, 25))):
        inputs = [(fmpq(X),), (fmpq(0),), (fmpq(0),)]
        (a, b, c), (p, q, r) = rnn.states(inputs), urnn.states(inputs)
        assert (a[0], b[0]) == (p[0], q[0])
        assert r[0] - c[0] == gap


def test_roots():
    """Exact for squares, above and near otherwise."""
    assert root_above(fmpq(9, 25)) == fmpq(3, 5)
    assert norm_above([fmpq(3), fmpq(4)]) == 5
    assert root_above(fmpq(0)) == 0
    for x in (fmpq(2), fmpq(1, 3), fmpq(10**30 + 1)):
        root = root_above(x)
        assert x < root * root
        assert (root - fmpq(1, 2**64)) ** 2 <= x


@pytest.mark.parametrize("seed", range(4))
def test_arithmetic_is_that_of_rationals(seed: int) -> None:
    """Sums, differences, products, ReLU, leading rows and squares of columns."""
    draw = random.Random(seed)
    A, B = (cayley(3, draw) * fmpq(draw.randint(1, 5), 7) for _ in range(2))
    a, b = Unreduced.of(A), Unreduced.of(B)
    assert (a @ b).matrix == A * B
    assert (a + b).matrix == A + B
    assert (a - b).matrix == A - B
    assert (a - a).zero
    assert not a.zero
    assert a.relu().matrix == fmpq_mat(3, 3, [max(v, fmpq(0)) for v in A.entries()])
    assert a.first_rows(2).matrix.tolist() == A.tolist()[:2]
    assert a.square == max((A.transpose() * A)[i, i] for i in range(3))
    v = A.entries()[:3]
    assert Unreduced.columns(v, 2).matrix.tolist() == [[entry, entry] for entry in v]
