"""Attempts to prove falsehoods, one a rule: each is refused by the rule that is named."""

import pytest
from falsehoods.found import FOUND
from falsehoods.sixty import FALSEHOODS as SIXTY

FALSEHOODS = SIXTY | FOUND


@pytest.mark.parametrize("name", FALSEHOODS)
def test_it_is_refused(name: str) -> None:
    """And for the reason expected."""
    attack = FALSEHOODS[name]
    assert attack.reason
    assert attack.reason in attack.refusal()


def test_there_are_sixty() -> None:
    """One more only with a rule of its own, or a hole that was found."""
    assert len(FALSEHOODS) >= 60
