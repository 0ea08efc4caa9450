"""Euclidean norms of blocks that see the signs of the weights."""

import pytest
import torch
from draws import normal
from gated_draws import draw, lstm

from rnnbounds.impl.arithmetic.slopes import Term, block_norms, compare_runs
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.numbers.operations import OUTWARD
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


def rotation(n: int) -> torch.Tensor:
    """An orthogonal matrix with entries of both signs, (1, n, n)."""
    return torch.linalg.qr(normal(n, n, seed=n)).Q[None]


def test_signs_are_seen():
    """‖½Q‖₂ = ½ for an orthogonal Q, where that of absolute values is above 1."""
    weights = {"W": rotation(16) / 2, "W_in": torch.ones(1, 16, 1).double()}
    cell = kind_of("leaky-tanh").build(weights | {"leak": torch.ones(1, 16).double()})
    assert float(cell.comparison(1.0).euclidean) == pytest.approx(0.5, rel=1e-12)
    assert float(certified_norm(weights["W"].abs())) > 1


def test_no_larger_than_the_matrices():
    """If absolute values tell more, as of the sum of several gates, they are taken."""
    cell = draw(lstm, 4, systems=20)
    found = compare_runs(cell.program, cell.parameters, cell.box(1.0), 1.0, cell.d, blocks=2)
    parts = found.matrices.amax(1).unflatten(2, (2, 4)).unflatten(1, (2, 4)).transpose(2, 3)
    plain = certified_norm(parts.flatten(0, 2)).reshape(-1, 2, 2)
    assert bool((found.euclidean <= plain).all())
    assert bool((found.euclidean < plain).any())


def test_a_sum_moves_with_all_its_parts():
    """Of s + W s with W = I the factor is that of twice the state."""
    layers = {"transition_1_weight": torch.eye(3).double()[None]}
    one = kind_of("deep-identity").build(layers | {"input_weight": torch.zeros(1, 3, 1).double()})
    doubled = compare_runs(lambda m, s, x: s + one.program(m, s, x), one.parameters,
                      torch.ones(1, 3).double(), 0.0, 1)  # fmt: skip
    assert float(doubled.euclidean) == pytest.approx(2.0)


def test_unknown_scales():
    """A scale without a bound gives no bound, but for blocks that do not move the units."""
    reach = torch.tensor([[0.0, 1.0]]).double()
    rows = torch.tensor([[torch.inf, 1.0]]).double()
    told = block_norms((Term(rows, rotation(2), reach, OUTWARD),))
    assert told.tolist() == [[0.0, torch.inf]]


def test_gates_of_one_affine_map_add_up_to_less():
    """Σ_k D_k A_k Δy over |D_k| ≤ diag(rows_k), at its corners: below the bound of all at once,
    which is below the sum of the norms."""
    draw = torch.Generator().manual_seed(4)
    n, gates = 4, 3
    W = torch.randn(1, gates * n, n, dtype=torch.float64, generator=draw)
    rows = torch.rand(1, gates * n, dtype=torch.float64, generator=draw)
    whole = Term(torch.ones_like(rows), W, torch.ones(1, 1).double(), OUTWARD)
    parts = [whole.part(k * n, (k + 1) * n) for k in range(gates)]
    scaled = zip(parts, rows.chunk(gates, 1), strict=True)
    terms = [part.scaled(factors) for part, factors in scaled]
    told, apart = float(block_norms(terms)), sum(float(term.norm) for term in terms)
    assert told < 0.9 * apart
    signs = torch.randint(0, 2, (4096, gates * n), generator=draw) * 2.0 - 1
    moved = (signs * rows)[:, :, None] * W
    most = float(torch.linalg.matrix_norm(moved.reshape(-1, gates, n, n).sum(1), 2).max())
    assert 0.5 * told < most <= told
