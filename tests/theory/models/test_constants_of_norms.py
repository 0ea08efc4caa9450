"""Texts of assumptions in another norm of states name the constants of that norm."""

import pytest

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.proof import Claim

BASES = {
    "lam": "λ", "S_0": "S_0", "B_h": "B_h", "L_w": "L_w", "beta_hh": "β_hh", "beta_wh": "β_wh",
    "L_p": "L_p", "beta_p": "β_p",
}  # fmt: skip
SUFFIXES = ("P", "v", "D", "box")
# The constant follows from what the text says.
IMPLIED = ("sup |f″| on the interval where an activation is taken is finite",)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_an_assumption_names_its_constants(claim: Claim) -> None:
    """If the formal part speaks of S_0_v, the text does too, and not of S_0."""
    for assumption in (a for form in claim.forms for a in form.assumptions):
        parts = [] if assumption.condition is None else [assumption.condition]
        if assumption.law is not None:
            parts += [clause.conclusion for clause in assumption.law.clauses]
        names = {symbol.name for part in parts for symbol in part.symbols}
        for base, letter in BASES.items():
            for own in {f"{base}_{suffix}" for suffix in SUFFIXES} & names:
                spelled = (own, own.replace(base, letter))
                assert assumption.text in IMPLIED or any(s in assumption.text for s in spelled)
