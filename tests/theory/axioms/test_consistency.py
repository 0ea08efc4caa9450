"""The hypotheses of a whole ledger hold together: all of them are met by one small system.

Each form has a concrete system at which all its assumptions and all definitions of its proof are
evaluated, exactly or in balls; `systems` says which.
"""

from dataclasses import replace
from random import Random

import pytest
from flint import ctx, fmpq
from meanings import System
from systems import system
from term_values import BITS, violated

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.claims.models import NO_MODEL
from rnnbounds.theory.language import ONE, Assumption, Clause, Law, eq, law, le, symbols
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.terms.variables import a, b
from rnnbounds.theory.language.terms.vectors import phi
from rnnbounds.theory.language.vocabulary import unfold
from rnnbounds.theory.proof import Form, Proof
from rnnbounds.theory.proof.proof import law_instances

FORMS = {f"{claim.id}/{form.name}": form for claim in CLAIMS for form in claim.forms}
TRIES = 6


def definitions(proof: Proof) -> dict[str, Law]:
    """The definitions that a proof uses, those of its lemmas included."""
    laws = (use.law for use in law_instances(proof))
    return {used.id: used for used in laws if isinstance(used, Definition)}


def hypotheses(form: Form) -> list[Law]:
    """All that the ledger takes for granted, but for the axioms; conditions as laws."""
    assumed = form.assumptions
    conditions = [Law(a.id, (), (Clause(a.condition),)) for a in assumed if a.condition is not None]
    laws = [assumption.law for assumption in assumed if assumption.law is not None]
    return [*conditions, *laws, *definitions(form.proof).values()]


def fails(law: Law, world: System) -> bool:
    """Whether a clause is false at some values of the variables."""
    random = Random(0)
    for clause in law.clauses:
        told = Clause(unfold(clause.conclusion), tuple(map(unfold, clause.given)))
        for _ in range(TRIES):
            each = (
                (v, fmpq(random.randrange(4) if v.is_integer else random.randrange(-3, 4)))
                for v in law.variables
            )
            if violated(told, world | dict(each)):
                return True
    return False


def test_the_check_sees_a_contradiction() -> None:
    """λ < 1 and λ ≥ 1, each possible, and φ both linear and constant."""
    form = FORMS["state-bound/finite"]
    at_most = Assumption("large", "", le(ONE, symbols("lam")[0]))
    constant = Assumption("constant", "", law=law("constant", (a, b), eq(phi(a, b), phi(b, a))))
    for more in (at_most, constant):
        found = hypotheses(replace(form, assumptions=(*form.assumptions, more)))
        world = system("state-bound/finite")
        assert [told.id for told in found if fails(told, world)] == [more.id]


def test_definitions_are_hypotheses_too() -> None:
    """Those of lemmas as well: the recursion of the states is a lemma's."""
    told = {law.id for law in hypotheses(FORMS["truncation/uniform"])}
    assert "recursion" in told


def test_the_others_are_forms() -> None:
    """Whose ledgers say that no model of their assumptions is evaluated."""
    assert FORMS.keys() > NO_MODEL


@pytest.mark.slow
def test_the_hypotheses_hold_together() -> None:
    """At each form's own system none is false, wherever it is looked at."""
    for name in FORMS.keys() - NO_MODEL:
        with ctx.workprec(BITS):
            world = system(name)
            assert [told.id for told in hypotheses(FORMS[name]) if fails(told, world)] == [], name
