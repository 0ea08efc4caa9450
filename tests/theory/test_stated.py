"""A statement is found among the forms of the claims and the steps of their proofs."""

import pytest

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.stated import Place, stated_by


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("h_gap <= S_0*lam**k/(1 - lam)", Place("truncation", "uniform")),
        ("h_gap <= h_start*lam**k", Place("truncation", "finite", "forgetting")),
        ("h_gap <= h_start*lam**(k+1)", None),
        ("h_gap < h_start*lam**k", None),
        ("h_gap <= 2*S_0*lam**k/(1 - lam)", None),
    ],
)
def test_where_a_statement_is_proved(text: str, place: Place | None) -> None:
    """The same sides and relation, with a step's window that starts at T − k; no other."""
    assert stated_by(parse_statement(text), CLAIMS) == place
