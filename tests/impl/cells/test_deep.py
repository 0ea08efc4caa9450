import math

import pytest
import torch
from program_draws import cells, weights

from rnnbounds.impl.arithmetic.derivatives.second_order import second_order_constants, step_jets
from rnnbounds.impl.cells.deep import count_layers, deep_layout
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import ShapeError


def test_the_factor_is_the_product_of_norms():
    """In the Euclidean norm λ = Π L_ρ‖W_l‖₂, never below it."""
    cell = cells("deep-tanh", 6, seed=3)
    layers = (cell.parameters[f"transition_{i}_weight"] for i in (1, 2))
    first, second = (torch.linalg.matrix_norm(W, 2) for W in layers)
    told = cell.comparison(1.0).euclidean[:, 0, 0]
    assert torch.allclose(told, first * second, rtol=1e-13)
    assert bool((told >= first * second * (1 - 1e-15)).all())


def test_jets_of_one_layer_know_the_published_constants():
    """With v = 1 and one layer: L_w = L_ρ R and β_hw ≤ β_ρ R‖W‖_∞ + L_ρ√n."""
    by = torch.Generator().manual_seed(5)
    W, U = (torch.randn(1, 3, size, generator=by).double() / 4 for size in (3, 2))
    cell = kind_of("deep-tanh").build(
        {
            "transition_1_weight": W,
            "input_weight": U,
            "transition_1_bias": torch.zeros(1, 3).double(),
        }
    )
    box = torch.ones(1, 3).double()
    told = second_order_constants(step_jets(cell.program, cell.parameters, box, box, 1.0, 2), box)
    R = math.sqrt(3 + 1 + 1)
    assert float(told["L_w"]) == pytest.approx(R, rel=1e-12)
    rows, curvature = float(W.abs().sum(2).amax()), 4 / (3 * math.sqrt(3))
    assert float(told["beta_hh"]) == pytest.approx(curvature * rows**2, rel=1e-12)
    assert float(told["beta_hw"]) <= curvature * R * rows + math.sqrt(3) + 1e-12


def test_names_tell_the_depth():
    """As many layers as are named; a layer that is left out is missed by name."""
    held = weights("deep-tanh")
    assert count_layers(held) == 2
    assert count_layers(()) == 1
    assert deep_layout(held).required == (
        "transition_1_weight",
        "transition_2_weight",
        "input_weight",
    )
    with pytest.raises(ShapeError, match="transition_2_weight"):
        certify(held | {"transition_2_weight": torch.ones(4, 4).double()}, 1.0)
