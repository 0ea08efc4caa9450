import math

import pytest
import torch
from draws import normal

from impl.cells.vanilla import parts_of
from impl.norms.state_norms import NORMS, Parts, state_norm
from impl.reading.adapters import load_model


def loaded(n=4, d=3, cell="rnn-tanh", scale=0.3, seed=0):
    """A random model."""
    weights = {
        "weight_hh": scale * normal(n, n, seed=seed),
        "weight_ih": normal(n, d, seed=seed + 1),
    }
    weights |= {"bias_ih": normal(n, seed=seed + 2), "bias_hh": normal(n, seed=seed + 3)}
    return load_model(weights, cell)


def size(norm, h):
    """The norm itself, of states (n, M)."""
    if norm.name in ("infinity", "one"):
        return torch.linalg.vector_norm(h, math.inf if norm.name == "infinity" else 1, dim=0)
    if norm.name == "spectral":
        return h.norm(dim=0)
    weights = torch.tensor(norm.weights, dtype=torch.float64)
    if norm.name == "perron":
        return (h.abs() / weights[:, None]).amax(0)
    return ((weights if weights.ndim == 2 else weights.diag()) @ h).norm(dim=0)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["rnn-tanh", "rnn-gelu", "rnn-sigmoid", "linear"])
@pytest.mark.parametrize("name", NORMS)
def test_constants_hold(name, cell):
    """Contraction, drive, equivalence and reach bound what thousands of states and inputs do."""
    if name == "quadratic" and cell != "linear":
        return
    for seed in range(5):
        model = loaded(cell=cell, seed=10 * seed, scale=0.2)
        norm = state_norm(name, parts_of(model, 1.5))
        M = 400
        h, other = 2 * normal(4, M, seed=seed), 2 * normal(4, M, seed=seed + 50)
        x = normal(3, M, seed=seed + 90)
        x = 1.5 * x / x.norm(dim=0)
        moved = [model.cell.step(state[None], x[None])[0] for state in (h, other, 0 * h)]
        ratio = size(norm, moved[0] - moved[1]) / size(norm, h - other)
        if norm.steps == 1:  # else a norm of several steps contracts, of which this is a part
            assert float(ratio.max()) <= norm.lam * (1 + 1e-12)
        assert float(size(norm, moved[2]).max()) <= norm.drive * (1 + 1e-12)
        assert float((h.norm(dim=0) / size(norm, h)).max()) <= norm.equivalence * (1 + 1e-12)
        assert float((size(norm, h) / h.norm(dim=0)).max()) <= norm.reach * (1 + 1e-12)


def test_scalar_is_exact():
    """A scalar dyadic model has exactly its constants, in every norm."""
    weights = {"weight_hh": torch.tensor([[0.5]]), "weight_ih": torch.tensor([[2.0]])}
    for name in NORMS:
        norm = state_norm(name, parts_of(load_model(weights, "linear"), 1.0))
        assert math.isclose(
            norm.lam, 0.5, rel_tol=2e-15 if name in ("quadratic", "iterated") else 0
        )
        assert math.isclose(norm.drive * norm.equivalence, 2.0, rel_tol=1e-12)


def test_biases_are_added_in_balls():
    """1 + 2⁻⁶⁰ rounds to 1 in float64, but the offset of the exact model is above it."""
    weights = {
        "weight_hh": torch.zeros(1, 1, dtype=torch.float64),
        "weight_ih": torch.zeros(1, 1, dtype=torch.float64),
        "bias_ih": torch.ones(1, dtype=torch.float64),
        "bias_hh": torch.full((1,), 2.0**-60, dtype=torch.float64),
    }
    model = load_model(weights, "linear")
    assert float(model.cell.b) == 1.0
    assert float(parts_of(model, 0.0).offset) > 1.0


def test_more_than_spectral():
    """‖W‖₂ > 1 and yet Perron's and the diagonal norm certify; the plain ones do not."""
    weights = {"weight_hh": torch.tensor([[0.5, 100.0], [0.0, 0.5]]), "weight_ih": torch.ones(2, 1)}
    parts = parts_of(load_model(weights, "rnn-tanh"), 1.0)
    factors = {name: state_norm(name, parts).lam for name in NORMS}
    assert min(factors[name] for name in ("spectral", "infinity", "one")) > 100
    assert max(factors[name] for name in ("perron", "diagonal", "iterated")) < 0.51


def test_huge_weights():
    """Weights that overflow give infinite bounds, never NaN."""
    n = 3
    huge = torch.full((n, n), 1e308, dtype=torch.float64)
    for name in NORMS:
        norm = state_norm(name, Parts(huge[None], huge, huge[0], 1.0, 1e10))
        assert norm.lam > 1e300
        assert norm.drive > 1e300
        assert not math.isnan(norm.equivalence)
