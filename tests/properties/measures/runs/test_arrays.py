"""Arrays of NumPy's beside tensors: the same numbers, in the same memory, and silent."""

import warnings

import numpy as np
import pytest
import torch

from properties.measures.runs.arrays import held, joined, least, silent, told, zeros
from properties.measures.runs.rounded import Rounded


def test_both_ways() -> None:
    """What is held is the tensor's memory, and told as a tensor again."""
    tensor = torch.arange(6.0, dtype=torch.float64).reshape(1, 3, 2)
    array = held(tensor)
    array[0, 0, 0] = 7.0
    assert tensor[0, 0, 0] == 7.0
    assert told(array).data_ptr() == tensor.data_ptr()
    assert told(tensor) is tensor
    assert held(array) is array


@pytest.mark.parametrize("take", [held, lambda tensor: tensor], ids=["array", "tensor"])
def test_either_is_taken(take) -> None:
    """Arrays, and the tensors that another machine's numbers stay."""
    one = take(torch.tensor([[1.0, 5.0]], dtype=torch.float64))
    assert zeros(one).tolist() == [[0.0, 0.0]]
    assert least(one, 2.0).tolist() == [[1.0, 2.0]]
    assert joined([one, one], 1).tolist() == [[1.0, 5.0, 1.0, 5.0]]


def test_no_operation_warns() -> None:
    """Infinity and NaN are told as they are, whatever a host asks NumPy to raise."""
    big = Rounded.exact(torch.full((1, 2, 1), 1e200, dtype=torch.float64))
    W = torch.full((1, 2, 2), 1e200, dtype=torch.float64)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for found in (big * big, big.mapped(W), (big * big) - (big * big), big.tanh()):
            assert not (found.magnitude() < 1).any()
    assert silent(lambda: np.float64(1.0) / np.float64(0.0))() == np.inf


def test_what_is_not_met_stays_zero() -> None:
    """A row without weights maps to exactly 0, and one whose products underflow is off by more."""
    v = Rounded.exact(torch.full((1, 2, 1), 1e-200, dtype=torch.float64))
    W = torch.tensor([[[0.0, 0.0], [0.0, 1e-200], [1.0, 0.0]]], dtype=torch.float64)
    found = v.mapped(W)
    assert found.value[0, :, 0].tolist() == [0.0, 0.0, 1e-200]
    assert (found.error[0, :, 0] > 0).tolist() == [False, True, True]
