import math
from collections.abc import Callable

import pytest
import torch

from impl import errors
from impl.errors import exactly


@pytest.mark.parametrize(
    ("make", "fact", "remedy"),
    [
        (
            lambda: errors.ShapeError("W", "(n, n)", torch.zeros(2, 3)),
            "(2, 3)",
            "pass one of that shape",
        ),
        (lambda: errors.ShapeError("W", "(n, n)", "nothing"), "nothing", "pass one of that shape"),
        (lambda: errors.PrecisionError("W", torch.float32), "float32", ".double()"),
        (lambda: errors.NotFiniteError("W"), "NaN", "repair"),
        (lambda: errors.RangeError("K", 9, "at most 8"), "K = 9", "choose"),
        (lambda: errors.UnknownActivationError("tanhh", ["tanh", "sin"]), "tanhh", "did you mean"),
        (lambda: errors.UnknownConstantError("zz", ["lam"]), "zz", "lam"),
        (lambda: errors.NotContractiveError(1.2), "1.2", "project"),
    ],
)
def test_message(make: Callable[[], errors.InputError], fact: str, remedy: str) -> None:
    """Each error is a ValueError of one line that states the fact and ends with the remedy."""
    error = make()
    assert isinstance(error, ValueError)
    message = str(error)
    assert "\n" not in message
    assert fact in message
    assert remedy in message


def test_numbers_are_told_exactly():
    """A bound that is printed is the one that was proved."""
    told = {2.0: "2", 1.9999996: "1.9999996", 0.012345649: "0.012345649", 1e-6: "1e-06"}
    for value, text in told.items():
        assert exactly(value) == text
    for value in (math.sqrt(2), 5e-324, 1.7e308, 2.0**53, 0.1):
        assert float(exactly(value)) == value
