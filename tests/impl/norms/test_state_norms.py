import math

import torch

from rnnbounds.impl.cells.vanilla import norm_data_of
from rnnbounds.impl.norms.metric import METRIC_SDP, available_norms
from rnnbounds.impl.norms.norm_data import NormData
from rnnbounds.impl.norms.state_norms import NORMS, state_norm
from rnnbounds.impl.reading.adapters import load_model


def test_scalar_is_exact():
    """A scalar dyadic model has exactly its constants, in every norm."""
    weights = {"weight_hh": torch.tensor([[0.5]]), "weight_ih": torch.tensor([[2.0]])}
    for name in available_norms(NORMS, 1):
        norm = state_norm(name, norm_data_of(load_model(weights, "linear"), 1.0))
        assert math.isclose(
            norm.lam,
            0.5,
            rel_tol={"quadratic": 2e-15, METRIC_SDP: 1e-6}.get(name, 0),
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
    assert float(norm_data_of(model, 0.0).offset) > 1.0


def test_huge_weights():
    """Weights that overflow give infinite bounds, never NaN."""
    n = 3
    huge = torch.full((n, n), 1e308, dtype=torch.float64)
    for name in NORMS:
        norm = state_norm(name, NormData(huge[None], huge, huge[0], 1.0, 1e10))
        assert norm.lam > 1e300
        assert norm.drive > 1e300
        assert not math.isnan(norm.equivalence)
