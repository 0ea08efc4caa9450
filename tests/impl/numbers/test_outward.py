"""Operations that round up: no less than the exact result, and hardly more, at any size."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from draws import doubles
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st
from torch import Tensor

from rnnbounds.impl.numbers import outward
from rnnbounds.impl.numbers.ball_functions import float_above

LARGEST = Fraction(1.7976931348623157e308)
SIZES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1074, 1023).map(
    lambda e: math.ldexp(1.0, e)
)
ROWS = st.lists(SIZES, min_size=1, max_size=9)
# What each operation comes to, as a power of it that is rational, and over which numbers.
PAIRS: dict[str, tuple[Callable[..., Tensor], Callable[..., Fraction], int]] = {
    "sum": (outward.add_up, lambda a, b: a + b, 1),
    "difference": (lambda a, b: -outward.subtract_down(b, a), lambda a, b: a - b, 1),
    "product": (outward.mul_up, lambda a, b: a * b, 1),
    "quotient": (lambda a, b: outward.div_up(a.abs(), b.abs()), lambda a, b: abs(a) / abs(b), 1),
    "root": (lambda a, b: outward.sqrt_up(a.abs()), lambda a, b: abs(a), 2),
}
FOLDS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[..., Fraction], int]] = {
    "sum": (outward.sum_up, lambda row: sum(map(Fraction, row), Fraction(0)), 1),
    "norm": (outward.norm_up, lambda row: sum((Fraction(v) ** 2 for v in row), Fraction(0)), 2),
}


def judge(found: float, truth: Fraction, power: int, size: Fraction, roundings: int) -> None:
    """found^power is at least the truth, and found at most so many roundings of its size above; it
    is infinite only where what is in between overflows."""
    if found == math.inf:
        assert size > LARGEST**power / 4
        return
    assert Fraction(found) ** power >= truth or (found < 0 and power == 2)
    below = (
        Fraction(found)
        - Fraction(2) ** -1070
        - roundings * max(abs(Fraction(found)), size if power == 1 else Fraction(0)) / 2**51
    )
    assert below <= 0 or below**power <= truth or (truth < 0 and below <= truth)


@pytest.mark.parametrize("name", PAIRS)
@given(a=SIZES, b=SIZES)
@example(a=1.797693134862114e308, b=1.5593139300506568e126)  # of which parts overflow
@example(a=1.797693108074601e308, b=0.0)
def test_pairs(name: str, a: float, b: float) -> None:
    """At any size; to the same bits by error-free transformations, unless these underflow."""
    operation, exact, power = PAIRS[name]
    if name == "quotient" and b == 0:
        return
    one, two = doubles([a]), doubles([b])
    truth = exact(Fraction(a), Fraction(b))
    found = float(operation(one, two))
    long = float(operation(one.clone().requires_grad_(), two).detach())
    judge(found, truth, power, abs(truth), 1)
    assert found <= long
    if all(2.0**-400 < abs(v) < 2.0**400 or v == 0 for v in (a, b)):
        assert found == long


@pytest.mark.parametrize("name", FOLDS)
@given(row=ROWS)
@example(row=[885526540488477.0, 2.225073858507203e-309, 0.0, 1.0, 2.225073858507203e-309])
def test_folds(name: str, row: list[float]) -> None:
    """Of numbers of any sizes together, alone or beside other rows."""
    operation, exact, power = FOLDS[name]
    x = doubles([row, [0.0] * len(row), [1.0] * len(row)])
    found = operation(x).tolist()
    size = sum((abs(Fraction(v)) for v in row), Fraction(0)) ** power
    judge(found[0], exact(row), power, size, len(row) + 2)
    assert found[1] == 0.0
    assert found[0] == float(operation(x[:1]))
    differentiable = operation(x.clone().requires_grad_()).detach().tolist()
    judge(differentiable[0], exact(row), power, size, 2 * len(row) + 8)
    if name == "norm" and sum(v != 0 for v in row) <= 1:
        assert found[0] == max(map(abs, row))


def test_nothing_is_nan() -> None:
    """What is not a number becomes infinity, the bound that always holds; and so does a quotient by
    a difference that vanishes, which is −0 when rounded down."""
    nan = doubles([math.nan, math.inf])
    asked = nan.clone().requires_grad_()
    room = outward.subtract_down(1.0, 1.0).clamp(min=0.0)
    for value in (
        outward.add_up(nan, -math.inf), outward.mul_up(nan, 0.0), outward.div_up(0.0, nan * 0),
        outward.sqrt_up(nan), outward.norm_up(nan[:, None]), outward.sum_up(nan[:, None]),
        outward.sum_up(asked[:, None]), outward.sqrt_up(asked, times=0),
        outward.div_up(doubles([0.0, 0.0]), 0.0), outward.div_up(doubles([1.0, 1.0]), -0.0),
        outward.div_up(1.0, room),
    ):  # fmt: skip
        assert (value == math.inf).all()


@given(SIZES)
def test_float_above(value: float) -> None:
    """A ball becomes the least float above it, an exact one itself, NaN infinity."""
    assert float_above(arb(value)) == value
    third = float_above(arb(value) / 3)
    assert arb(third) >= arb(value) / 3
    assert not arb(math.nextafter(third, -math.inf)) > arb(value) / 3
    assert float_above(arb("1e-400")) == 5e-324
    assert float_above(arb("1e400")) == float_above(arb("nan")) == math.inf


def test_numbers_of_this_machine_go_where_the_others_are() -> None:
    """A scalar on the CPU draws no tensor of a device back to it."""
    there, one = torch.ones(3, dtype=torch.float64, device="meta"), torch.tensor(1.0).double()
    for found in (outward.add_up(one, there), outward.div_up(one, there)):
        assert (found.device.type, found.shape) == ("meta", there.shape)
