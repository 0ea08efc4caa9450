import ast
import math
import re
from decimal import Decimal
from pathlib import Path

import pytest

from rnnbounds.impl import errors
from rnnbounds.impl.errors import at_least, at_most, exactly, factor


def test_numbers_are_told_exactly():
    """A bound that is printed is the one that was proved."""
    told = {2.0: "2", 1.9999996: "1.9999996", 0.012345649: "0.012345649", 1e-6: "1e-06"}
    for value, text in told.items():
        assert exactly(value) == text
    for value in (math.sqrt(2), 5e-324, 1.7e308, 2.0**53, 0.1):
        assert float(exactly(value)) == value


@pytest.mark.parametrize("digits", [1, 3, 9])
@pytest.mark.parametrize(
    "bound", [math.sqrt(2), 0.1, -0.1, 1 - 2.0**-53, 5e-324, 1.7e308, 2.0**60, 3.0, 0.0]
)
def test_bounds_are_rounded_outwards(bound, digits):
    """What is shown of an upper bound is no less than it, as a real number, and little more."""
    up, down = (Decimal(told(bound, digits)) for told in (at_least, at_most))
    assert down <= Decimal(bound) <= up
    assert up - down <= abs(Decimal(bound)) * Decimal(10) ** (2 - digits)
    for told in (up, down):
        assert len(told.normalize().as_tuple().digits) <= digits


def test_digits_that_a_verdict_needs():
    """More of them where fewer would hide that a factor is below 1, or a gap above ε."""
    lam = 1 - 2.0**-50
    assert factor(0.5) == "0.5"
    assert lam <= float(factor(lam)) < 1
    assert factor(1.0) == "1"
    assert float(factor(1 + 2.0**-50)) > 1
    epsilon = 0.01
    gap = math.nextafter(epsilon, 1)
    assert Decimal(epsilon) < Decimal(at_most(gap, 9, above=epsilon)) <= Decimal(gap)
    assert at_most(epsilon, 2, above=epsilon) == "0.010"


@pytest.mark.parametrize("module", sorted(Path(errors.__file__).parent.rglob("*.py")), ids=str)
def test_remedies_name_what_is_public(module):
    """No message sends a user to a function below `impl`: `rnnbounds` has those that are public."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.JoinedStr | ast.Constant):
            text = ast.unparse(node)
            assert not re.search(r"\bwith impl\.|\buse impl\.|\bcall impl\.", text), text


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
    with pytest.raises(errors.InputError, match="write eps=… for it"):
        gap(epsilon=0.25, eps=0.5)  # type: ignore[call-arg]


def test_a_dropped_keyword_is_refused():
    """The next minor version: the error names the new keyword."""
    dropped = errors.refused(epsilon="eps")(gap)
    with pytest.raises(errors.InputError, match="has no argument 'epsilon' any more; write eps="):
        dropped(epsilon=0.25)  # type: ignore[call-arg]
