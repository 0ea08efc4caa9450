import pytest
import torch
from program_draws import cells, weights

from rnnbounds.impl.cells.deep import count_layers, deep_layout
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


def test_names_tell_the_depth():
    """All layers that are named are counted; a layer that is left out is missed by name."""
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
