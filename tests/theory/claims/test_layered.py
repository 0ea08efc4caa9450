"""Deep, stacked and linear recurrences: what their ledgers rest on."""

from dataclasses import replace
from math import comb

import pytest
from sympy import Integer

from rnnbounds import theory
from rnnbounds.theory.claims.memory.linear_memory import binomial_sum, k, mode_radius
from rnnbounds.theory.proof import Form, Proof, check
from rnnbounds.theory.proof.methods import Smt


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_binomials(terms: int) -> None:
    """Σ_{i<terms} C(7, i) ρ^{7−i}."""
    found = binomial_sum(Integer(7), terms).subs(mode_radius, 2)
    assert found == sum(comb(7, i) * 2 ** (7 - i) for i in range(terms))
    assert k in binomial_sum(k, terms).free_symbols


def test_a_derivative_is_no_shorter_only_where_the_map_is() -> None:
    """The lower bound on a derivative is refused unless the step names that φ is no shorter."""
    equal = theory.claim("deep-gradient").form("equality")
    bare = [
        replace(step, method=Smt(*(use for use in step.method_uses if use != "no less")))
        if step.id == "one step more, at least"
        else step
        for step in equal.proof.steps
    ]
    ledger = check(Proof(tuple(bare)), equal.statement, equal.assumptions, minimal=False)
    assert "nothing used states what it requires" in ledger.failures[0].detail


def test_nilpotency_is_what_stops_the_sum() -> None:
    """The ledger for N² = 0 proves nothing of N³ = 0, nor the other way round."""
    two, three = (theory.claim("linear-memory").form(f"jordan-{m}") for m in (2, 3))

    def swapped(one: Form, other: Form) -> bool:
        index = next(a for a in other.assumptions if a.id == "index")
        assumptions = tuple(index if a.id == "index" else a for a in one.assumptions)
        return check(one.proof, one.statement, assumptions, minimal=False).stands

    assert not swapped(two, three)
    assert not swapped(three, two)
