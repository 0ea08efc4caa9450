"""Records as JSON: of plain types alone, whatever numbers they were made of."""

import math

import numpy as np
import pytest
import torch

from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.numbers.json_values import as_json


def test_numbers_of_other_classes_are_plain() -> None:
    """A set of inputs is its radius, NumPy's numbers are Python's, and what is infinite is null."""
    told = as_json({"a": (input_box(-1, 1, 1), np.float64(2), np.float32(0.5)), "b": [np.int64(3)]})
    assert told == {"a": [1.0, 2.0, 0.5], "b": [3]}
    assert [type(value) for value in told["a"]] == [float] * 3
    assert type(told["b"][0]) is int
    assert as_json([math.inf, -math.inf, math.nan, np.float64("nan")]) == [None] * 4
    assert as_json((True, None, "x", {1: 2})) == [True, None, "x", {"1": 2}]


@pytest.mark.parametrize("item", [torch.zeros(1), {"a": [{1, 2}]}, b"", 1j])
def test_what_is_no_json(item: object) -> None:
    """Is found where the record is made, not where it is written."""
    with pytest.raises(TypeError, match="is no JSON"):
        as_json(item)
