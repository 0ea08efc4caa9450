import math
from collections.abc import Callable

import pytest
import torch

from impl import errors
from impl.errors import exactly


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


def test_numbers_are_told_exactly():
    """A bound that is printed is the one that was proved."""
    told = {2.0: "2", 1.9999996: "1.9999996", 0.012345649: "0.012345649", 1e-6: "1e-06"}
    for value, text in told.items():
        assert exactly(value) == text
    for value in (math.sqrt(2), 5e-324, 1.7e308, 2.0**53, 0.1):
        assert float(exactly(value)) == value


@errors.renamed("9.0", epsilon="eps")
def gap(*, eps: float = 0.5) -> float:
    """A function whose keyword was renamed."""
    return eps


def test_an_old_keyword_still_works_and_warns():
    """One warning, at the caller, that says what to write; not both names."""
    with pytest.warns(
        DeprecationWarning, match=r"gap\(epsilon=…\) is deprecated, and an error"
    ) as w:
        assert gap(epsilon=0.25) == 0.25  # type: ignore[call-arg]
    assert w[0].filename == __file__
    assert "write eps=… for it" in str(w[0].message)
    with pytest.raises(errors.RenamedError, match="write eps=… for it"):
        gap(epsilon=0.25, eps=0.5)  # type: ignore[call-arg]


def test_a_dropped_keyword_is_refused():
    """The next minor version: the error names the new keyword."""
    dropped = errors.refused(epsilon="eps")(gap)
    with pytest.raises(errors.RenamedError, match="has no argument 'epsilon' any more; write eps="):
        dropped(epsilon=0.25)  # type: ignore[call-arg]
