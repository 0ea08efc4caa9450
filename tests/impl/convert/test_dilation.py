"""Dilations of contractions: leading block, orthogonality, and how many rows they need."""

import math

import pytest
import torch
from flint import arb, arb_mat, ctx

from rnnbounds.impl.convert.dilation import dilate, orthogonality_defect, polar
from rnnbounds.impl.errors import NotFiniteError


def contraction(n, lam=0.9, seed=0):
    """A random matrix with ‖W‖₂ near lam."""
    W = torch.randn(n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return W * (lam / torch.linalg.matrix_norm(W, 2))


def exact_defect(V):
    """‖VᵀV − I‖_F in balls."""
    with ctx.workprec(256):
        A = arb_mat(V.tolist())
        gram = A.transpose() * A
        m = gram.nrows()
        entries = [gram[i, j] - int(i == j) for i in range(m) for j in range(m)]
        return sum((v * v for v in entries), arb(0)).sqrt()


@pytest.mark.parametrize("lam", [0.0, 0.5, 1 - 1e-9, 1 - 1e-13])
def test_dilations(lam):
    """W is the leading block to the last bit, and V is orthogonal to 1e-14 n, near ‖W‖ = 1 too."""
    for n in (1, 2, 3, 5, 8, 16):
        W = contraction(n, lam, seed=n)
        found = dilate(W)
        assert torch.equal(found.V[:n, :n], W)
        assert (len(found.V), found.n) == (2 * n, n)
        assert found.defect <= 1e-14 * n
        assert exact_defect(found.V) <= found.defect
        gap = found.W3.mT @ found.W3 - (torch.eye(n) - W.mT @ W)
        assert float(gap.abs().max()) < 1e-14


def test_defect_is_a_bound():
    """The float64 bound is above the exact defect, and near it, from 0 to far from orthogonal."""
    draw = torch.Generator().manual_seed(3)
    for n in (1, 2, 7, 30):
        Q = torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=draw))[0]
        for noise in (0.0, 1e-16, 1e-12, 1e-6, 1e-2):
            V = Q + noise * torch.randn(n, n, dtype=torch.float64, generator=draw)
            exact, bound = exact_defect(V), orthogonality_defect(V)
            assert exact <= bound
            assert bound <= 1.001 * float(exact) + 1e-17 * n
    assert orthogonality_defect(torch.eye(3, dtype=torch.float64)) < 1e-250
    tall = torch.linalg.qr(torch.randn(6, 2, dtype=torch.float64, generator=draw))[0]
    assert exact_defect(tall) <= orthogonality_defect(tall) < 1e-14


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 3.0, 1.9])
def test_defect_fails_closed(bad):
    """NaN, infinity and entries for which the splitting is not exact give infinity."""
    V = torch.eye(2, dtype=torch.float64)
    V[0, 1] = bad
    assert orthogonality_defect(V) == math.inf


def test_defect_sees_what_float64_hides():
    """A defect below the roundoff of plain products is found, not rounded to 0."""
    c = 1 - 2.0**-53
    V = torch.diag(torch.tensor([c, 1.0, 1.0], dtype=torch.float64))
    assert float((V.mT @ V - torch.eye(3)).abs().max()) in (2.0**-52, 2.0**-53, 0.0)
    exact = exact_defect(V)
    assert exact <= orthogonality_defect(V) <= float(exact) * (1 + 1e-12)


def test_polar_is_nearest():
    """The polar factor is orthogonal, fixes orthogonal matrices, and no other one is nearer."""
    draw = torch.Generator().manual_seed(0)
    A, B = torch.randn(2, 4, 4, dtype=torch.float64, generator=draw)
    Q, other = polar(A), torch.linalg.qr(B)[0]
    assert orthogonality_defect(Q) < 1e-14
    assert torch.allclose(polar(Q), Q)
    assert torch.linalg.matrix_norm(A - Q) <= torch.linalg.matrix_norm(A - other)
    with pytest.raises(NotFiniteError):
        polar(torch.tensor([[float("nan")]]))
