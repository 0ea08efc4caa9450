"""Claims are inert data that can be looked up."""

import pytest

from rnnbounds import theory
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.errors import InputError, UnknownClaimError
from rnnbounds.theory.language import Statement, le, lt, symbols
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Claim

lam, S_0, h_norm = symbols("lam S_0 h_norm")


def test_statements_compare_by_structure() -> None:
    """Equal trees are equal statements with equal hashes, and nothing else is."""
    assert le(h_norm, S_0) == Statement(h_norm, "<=", S_0)
    assert len({le(h_norm, S_0), le(h_norm, S_0), lt(h_norm, S_0), le(S_0, h_norm)}) == 3


def test_replacement_is_simultaneous() -> None:
    """Swapping two symbols swaps them."""
    assert le(h_norm, S_0).replace({h_norm: S_0, S_0: h_norm}) == le(S_0, h_norm)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_a_claim_is_its_first_form(claim: Claim) -> None:
    """The shorthands of a claim are those of its first form."""
    first = claim.forms[0]
    assert (claim.statement, claim.assumptions) == (first.statement, first.assumptions)
    assert claim.form(first.name) is first
    assert theory.claim(claim.id) is claim
    assert claim.variant(claim.false_variants[0].id) is claim.false_variants[0]


def test_unknown_names_list_close_matches() -> None:
    """A wrong id, form or variant is an input error that ends with the remedy."""
    with pytest.raises(UnknownClaimError, match="did you mean truncation"):
        theory.claim("trunkation")
    claim = theory.claim("truncation")
    with pytest.raises(UnknownClaimError, match=r"known: .*finite"):
        claim.form("#")
    with pytest.raises(InputError, match="false variant of truncation"):
        claim.variant("next-powr")


def test_a_variant_inherits_what_it_does_not_change() -> None:
    """Statement and assumptions default to the form's."""
    form = theory.claim("state-bound").forms[0]
    assert form.variant("a", "b").statement == form.statement
    assert form.variant("a", "b", le(h_norm, S_0)).assumptions == form.assumptions
    assert form.variant("a", "b", assumptions=(WINDOW,)).assumptions == (WINDOW,)
