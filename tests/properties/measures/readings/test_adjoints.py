"""Vectors that exact gradients are made of are combined entry by entry."""

from collections.abc import Callable

import pytest

from rnnbounds.properties.measures.readings.adjoint_arithmetic import add, hadamard, subtract
from rnnbounds.properties.measures.readings.adjoints import Vector

ENTRYWISE = [hadamard, add, subtract]


@pytest.mark.parametrize("combine", ENTRYWISE)
def test_vectors_of_unequal_lengths_are_refused_not_cut(
    combine: Callable[[Vector, Vector], Vector],
) -> None:
    """Of two lengths there is no sum."""
    with pytest.raises(ValueError, match=r"argument 2 is shorter"):
        combine([1.0, 2.0], [3.0])


@pytest.mark.parametrize(
    ("combine", "expected"), zip(ENTRYWISE, ([3.0, 8.0], [4.0, 6.0], [-2.0, -2.0]), strict=True)
)
def test_vectors_are_combined_entry_by_entry(
    combine: Callable[[Vector, Vector], Vector], expected: Vector
) -> None:
    """Each by hand."""
    assert combine([1.0, 2.0], [3.0, 4.0]) == expected
