"""Arrays of NumPy's beside tensors: the same numbers, in the same memory, and silent."""

import warnings

import numpy as np
import pytest
import torch

from rnnbounds.properties.read.numbers import rounded
from rnnbounds.properties.read.numbers.arrays import (
    as_array,
    as_tensor,
    clamp_above,
    concatenate,
    mask_times,
    without_warnings,
    zeros_like,
)
from rnnbounds.properties.read.numbers.norms import operator_product, spectral_norm, vector_lengths
from rnnbounds.properties.read.numbers.rounded import Rounded


def test_both_ways() -> None:
    """The array shares the tensor's memory, and becomes a tensor again."""
    tensor = torch.arange(6.0, dtype=torch.float64).reshape(1, 3, 2)
    array = as_array(tensor)
    array[0, 0, 0] = 7.0
    assert tensor[0, 0, 0] == 7.0
    assert as_tensor(array).data_ptr() == tensor.data_ptr()
    assert as_tensor(tensor) is tensor
    assert as_array(array) is array


@pytest.mark.parametrize("take", [as_array, lambda tensor: tensor], ids=["array", "tensor"])
def test_either_is_taken(take) -> None:
    """Arrays, and the tensors that another machine's numbers stay."""
    one = take(torch.tensor([[1.0, 5.0]], dtype=torch.float64))
    assert zeros_like(one).tolist() == [[0.0, 0.0]]
    assert clamp_above(one, 2.0).tolist() == [[1.0, 2.0]]
    assert concatenate([one, one], 1).tolist() == [[1.0, 5.0, 1.0, 5.0]]
    assert mask_times(one > 2.0, 2.0**-1000).tolist() == [[0.0, 2.0**-1000]]


def test_no_operation_warns() -> None:
    """Infinity and NaN are told as they are, whatever a host asks NumPy to raise."""
    big = Rounded.exact(torch.full((1, 2, 1), 1e200, dtype=torch.float64))
    W = torch.full((1, 2, 2), 1e200, dtype=torch.float64)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for found in (big * big, big.apply_matrix(W), (big * big) - (big * big), big.tanh()):
            assert not (found.value.abs() + found.error < 1).any()
    assert without_warnings(lambda: np.float64(1.0) / np.float64(0.0))() == np.inf


@pytest.mark.parametrize("take", [as_array, lambda numbers: numbers], ids=["array", "tensor"])
def test_what_is_not_met_stays_zero(take, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row without weights maps to exactly 0, and one whose products underflow is off by more."""
    monkeypatch.setattr(rounded, "as_array", take)
    v = Rounded.exact(torch.full((1, 2, 1), 1e-200, dtype=torch.float64))
    W = torch.tensor([[[0.0, 0.0], [0.0, 1e-200], [1.0, 0.0]]], dtype=torch.float64)
    found = v.apply_matrix(W)
    assert found.value[0, :, 0].tolist() == [0.0, 0.0, 1e-200]
    assert (found.error[0, :, 0] > 0).tolist() == [False, True, True]
    assert ((v * v).error > 0).all()


def test_norms_and_products_that_underflow_are_off() -> None:
    """By more than 0: what a mask is worth is no float32."""
    small = torch.full((1, 3, 1, 3), 1e-200, dtype=torch.float64)
    v = Rounded.exact(small[..., 0])
    value, error = vector_lengths(v, 1)
    assert (value + error >= 1.7e-200).all()
    assert (operator_product(Rounded.exact(small), Rounded.exact(small)).error > 0).all()
    low, high = spectral_norm(torch.zeros(1, 2, 2, dtype=torch.float64), small[:, :2, 0, :2])
    assert low == 0
    assert high >= 2e-200


@pytest.mark.parametrize("shape", [(0, 2, 1), (1, 0, 1), (1, 2, 0)])
def test_no_numbers_at_all(shape: tuple[int, int, int]) -> None:
    """They are mapped too."""
    W = torch.zeros(shape[0], 4, shape[1], dtype=torch.float64)
    found = Rounded.exact(torch.zeros(shape, dtype=torch.float64)).apply_matrix(W)
    assert found.value.shape == found.error.shape == (shape[0], 4, shape[2])
    assert not found.nonzero_mask.any()
