"""Chains of matrices and averaged operators: no choice of slopes is steeper than their bound."""

from fractions import Fraction

import pytest
import torch
from draws import doubles, normal
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.norms.chains import MOST, averaged, product_norm

RANGES = [(0.0, 1.0), (-0.25, 1.0), (0.5, 1.0), (1.0, 1.0), (-1.0, 1.0)]  # of slopes


def drawn(ranges, n, seed):
    """For each range slopes of all units, or of each unit a part of it."""
    for i, (a, b) in enumerate(ranges):
        shares = torch.sort(torch.rand(2, n, generator=torch.Generator().manual_seed(seed + i)), 0)
        ends = a + (b - a) * shares.values.double()
        yield (doubles([a]), doubles([b])) if (seed + i) % 2 else (ends[0], ends[1])


@given(st.lists(st.sampled_from(RANGES), min_size=1, max_size=3), st.integers(0, 99))
def test_no_slopes_are_steeper(sampled, seed):
    """Of corners, points between, and symmetric matrices where all units have one range."""
    n, ranges = 3, [*drawn(sampled, 3, seed)]
    blocks = [[normal(n, n, seed=seed + i), normal(n, seed=seed + i)] for i in range(len(ranges))]
    blocks.append([normal(n, n, seed=seed + 7), normal(2, n, seed=seed + 8)])
    found, worst = averaged(blocks, ranges), 0.0
    for trial in range(40):
        J = torch.eye(n, dtype=torch.float64)
        for i, block in enumerate(blocks):
            if i:
                a, b = ranges[i - 1]
                d = torch.rand(n, generator=torch.Generator().manual_seed(97 * trial + i)).double()
                D = torch.diag(a + (b - a) * (d.round() if trial % 2 else d))
                turned = trial % 3 == 0 and len(a) == 1
                Q = torch.linalg.qr(normal(n, n, seed=trial + i)).Q if turned else torch.eye(n)
                J = Q.double() @ D @ Q.double().mT @ J
            for M in block:
                J = (M if M.ndim == 2 else torch.diag(M)) @ J
        worst = max(worst, float(torch.linalg.matrix_norm(J, 2)))
    assert worst <= found.norm
    product = product_norm(blocks[0])
    for (a, b), block in zip(ranges, blocks[1:], strict=True):
        product *= float(torch.maximum(-a, b).max()) * product_norm(block)
    if all(len(a) == 1 and a >= 0 for a, _ in ranges):
        assert found.norm <= product * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_products_are_rounded_up(seed):
    """Of rows, columns, a diagonal and a number between: at least the exact one, hardly more."""
    row, d, column = normal(1, 3, seed=seed), normal(3, seed=seed + 50), normal(3, 1, seed=seed)
    M, number = normal(3, 3, seed=seed + 99), doubles([-0.3])
    exact = sum(
        Fraction(float(row[0, i])) * Fraction(float(M[i, j])) * Fraction(float(d[j]))
        * Fraction(float(column[j, 0]))
        for i in range(3)
        for j in range(3)
    )  # fmt: skip
    exact = abs(exact) * Fraction(0.3)
    found = Fraction(product_norm([column, d, number, M, row]))
    assert exact <= found <= exact + Fraction(1, 2**40)


def test_what_is_between_may_be_nothing():
    """Two activations in a row have I between them, and slopes of 1 join all matrices to one."""
    A, B = normal(2, 3, seed=1), normal(2, 2, seed=2)
    unit, still = (doubles([0.0]), doubles([1.0])), (doubles([1.0]), doubles([1.0]))
    assert averaged([[], []], [unit]).norm == pytest.approx(1.0)
    assert averaged([[A], [], [B]], [unit, unit]).norm >= product_norm([A, B])
    assert averaged([[A], [B]], [still]).norm == pytest.approx(product_norm([A, B]))
    assert product_norm([]) == 1.0


def test_what_takes_long_to_check_is_left():
    """None in place of norms, so that the product is kept."""
    size = int(MOST ** (1 / 3)) + 1
    both = [[torch.ones(size, size)], [torch.ones(size, size)]]
    assert averaged(both, [(doubles([0.0]), doubles([1.0]))]) is None
