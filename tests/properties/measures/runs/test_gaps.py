"""Differences of two runs: exactly 0 where the runs are one, whatever encloses their numbers."""

import pytest
import torch
from flint import arb

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual
from rnnbounds.impl.arithmetic.entries import Columns
from rnnbounds.properties.read.numbers.gaps import Difference, nonzero_if_either, zero_where_equal
from rnnbounds.properties.read.numbers.rounded import Rounded

WIDE = arb(0.5, 1e-3)  # a ball whose own difference is no 0
ROUNDED = {True: (0.0, 0.0), False: (0.25, 0.0)}


def balls(*numbers: arb) -> Columns:
    """Units of one column."""
    return Columns([[number] for number in numbers])


def rounded(*pairs: tuple[float, float]) -> Rounded:
    """Units of one system, each with its error."""
    value, error = torch.tensor(pairs, dtype=torch.float64).T
    return Rounded(value.reshape(1, -1, 1), error.reshape(1, -1, 1))


@pytest.mark.parametrize("name", ["softplus", "sin", "cos"])
def test_equal_arguments_have_equal_values(name: str) -> None:
    """f(a) − f(a) is 0, not what two enclosures of f(a) leave; another difference stays."""
    moved = arb(0.25)
    found = getattr(Difference(balls(WIDE, WIDE), balls(arb(0), moved)), name)().gap.units
    assert found[0][0] == 0
    f = getattr(Difference(balls(WIDE), balls(moved)).value, name)()
    other = getattr(balls(WIDE - moved), name)()
    assert found[1][0].overlaps((f - other).units[0][0])
    assert not found[1][0].contains(0)


def test_rounded_numbers() -> None:
    """A number that may be nonzero by its value or its error keeps its difference."""
    gap = rounded((0.0, 0.0), (0.25, 0.0), (0.0, 1e-9))
    found = zero_where_equal(rounded(*[(2.0, 0.5)] * 3), gap)
    assert found.value.flatten().tolist() == [0, 2, 2]
    assert found.error.flatten().tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("still", [True, False])
@pytest.mark.parametrize("at_rest", [True, False])
def test_derivatives(still: bool, at_rest: bool) -> None:
    """A derivative is the same only where the argument is, and how fast it moves."""
    difference = Dual(balls(WIDE), balls(WIDE))
    gap = Dual(balls(arb(0 if still else 0.25)), balls(arb(0 if at_rest else 0.25)))
    found = zero_where_equal(difference, gap)
    assert (found.value.units[0][0] == 0) is still
    assert (found.tangent.units[0][0] == 0) is (still and at_rest)
    one, two = rounded(ROUNDED[still]), rounded(ROUNDED[at_rest])
    assert bool(nonzero_if_either(one, two).nonzero_mask.item()) is not (still and at_rest)
