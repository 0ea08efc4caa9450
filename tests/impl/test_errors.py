from collections.abc import Callable

import pytest
import torch

from impl import errors


@pytest.mark.parametrize(
    ("make", "fact", "remedy"),
    [
        (lambda: errors.ShapeError("W", "(n, n)", torch.zeros(2, 3)), "(2, 3)", "reshape"),
        (lambda: errors.ShapeError("W", "(n, n)", "nothing"), "nothing", "reshape"),
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
