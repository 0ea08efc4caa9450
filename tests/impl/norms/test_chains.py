"""Chains of matrices and averaged operators: no choice of slopes is steeper than their bound."""

from fractions import Fraction

import pytest
import torch
from draws import normal
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.norms.chains import MOST, chain_lipschitz, product_norm, segment_norms

RANGES = [(0.0, 1.0), (-0.25, 1.0), (0.5, 1.0), (1.0, 1.0), (-1.0, 1.0)]  # of slopes


def lipschitz(blocks, ranges):
    """The bound for slopes in these ranges."""
    norms = segment_norms(blocks)
    assert norms is not None
    return chain_lipschitz(norms, [((a + b) / 2, (b - a) / 2) for a, b in ranges])


@given(st.lists(st.sampled_from(RANGES), min_size=1, max_size=3), st.integers(0, 99))
def test_no_slopes_are_steeper(ranges, seed):
    """Of corners, points between, and symmetric matrices in place of diagonal ones."""
    n = 3
    blocks = [[normal(n, n, seed=seed + i)] for i in range(len(ranges))] + [[]]
    blocks[-1] = [normal(n, n, seed=seed + 7), normal(2, n, seed=seed + 8)]
    bound, worst = lipschitz(blocks, ranges), 0.0
    for trial in range(40):
        J = blocks[0][0]
        for i, (a, b) in enumerate(ranges):
            d = torch.rand(n, generator=torch.Generator().manual_seed(97 * trial + i)).double()
            D = torch.diag(a + (b - a) * (d.round() if trial % 2 else d))
            Q = torch.linalg.qr(normal(n, n, seed=trial + i)).Q if trial % 3 == 0 else torch.eye(n)
            J = Q.double() @ D @ Q.double().mT @ J
            for M in blocks[i + 1]:
                J = M @ J
        worst = max(worst, float(torch.linalg.matrix_norm(J, 2)))
    assert worst <= bound
    product = product_norm(blocks[0])
    for (a, b), block in zip(ranges, blocks[1:], strict=True):
        product *= max(-a, b) * product_norm(block)
    if all(a >= 0 for a, _ in ranges):
        assert bound <= product * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_products_are_rounded_up(seed):
    """Of rows, columns and a matrix between: at least the exact one, hardly more."""
    row, M, column = normal(1, 3, seed=seed), normal(3, 3, seed=seed + 50), normal(3, 1, seed=seed)
    exact = sum(
        Fraction(float(row[0, i])) * Fraction(float(M[i, j])) * Fraction(float(column[j, 0]))
        for i in range(3)
        for j in range(3)
    )
    found = Fraction(product_norm([column, M, row]))
    assert abs(exact) <= found <= abs(exact) + Fraction(1, 2**40)


def test_what_is_between_may_be_nothing():
    """Two activations in a row have I between them, and slopes of 1 join all matrices to one."""
    A, B = normal(2, 3, seed=1), normal(2, 2, seed=2)
    assert lipschitz([[], []], [(0.0, 1.0)]) == 1.0
    assert lipschitz([[A], [], [B]], RANGES[:2]) >= product_norm([A, B])
    assert lipschitz([[A], [B]], [(1.0, 1.0)]) == product_norm([A, B])


def test_what_takes_long_to_check_is_left():
    """None in place of norms, and the reader of it keeps the product."""
    size = int(MOST ** (1 / 3)) + 1
    assert segment_norms([[torch.ones(size, size)], [torch.ones(size, size)]]) is None
