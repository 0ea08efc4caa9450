"""Steps in prose: shown as such, they prove nothing, and what they find is not generalised."""

import pytest
from sympy import Symbol

from rnnbounds.theory.language import Assumption, Statement, at, eq, law, lt, symbols
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.language.terms.vectors import Scalar, function
from rnnbounds.theory.proof import Claim, Form, Proof, Source, Step, check, prove
from rnnbounds.theory.proof.methods import Smt

lam, n = symbols("lam n")


def test_a_human_step_is_shown_and_proves_nothing() -> None:
    """Later steps may use it, but the ledger is not proved."""
    human = Step("human", lt(lam, 1), "it is well known")
    end = Step("claim", lt(lam, 2), Smt("human"))
    ledger = check(Proof((human, end)), end.conclusion, ())
    assert [step.verdict for step in ledger.steps] == ["human", "proved"]
    assert (ledger.steps[0].kind, ledger.steps[0].method) == ("human", "prose")
    assert (human.use_names, ledger.proved, ledger.failures) == ((), False, ())
    assert ledger.argued
    assert ledger.stands


def test_prose_cannot_conclude() -> None:
    """A human last step, which any goal would fit, or a failed one beside it: nothing stands."""
    human = Step("human", lt(lam, 1), "it is well known")
    assert not check(Proof((human,)), human.conclusion, ()).stands
    end = Step("claim", lt(lam, 0), Smt("human"))
    assert not check(Proof((human, end)), end.conclusion, ()).stands


def test_an_argued_claim_must_conclude_its_statement() -> None:
    """A ledger that argues for something else does not stand for the form."""
    human = Step("human", lt(lam, 1), "it is well known")
    proof = Proof((human, Step("claim", lt(lam, 2), Smt("human"))))

    def standing(statement: Statement) -> bool:
        form = Form("main", statement, (), "linear", proof)
        found = Claim("c", "t", Source("p", "1"), (form,), (), "")
        (ledger,) = prove(found)
        return ledger.stands

    assert standing(lt(lam, 2))
    assert not standing(lt(lam, 3))


values = function("values", Scalar, __name__)
later = Symbol("k_0", integer=True)
FROM_LATER_ON = Step("settled", eq(values(later + j), 0), "From some time k_0 on.", forall=(j,))


def test_what_prose_finds_is_not_generalised() -> None:
    """From some time on a sequence is 0: that is not from any time on."""
    goal = eq(values(0), 0)
    steps = (
        FROM_LATER_ON,
        Step("always", eq(values(later), 0), Smt(at("settled", 0)), forall=(later,)),
        Step("claim", goal, Smt(at("always", 0))),
    )
    ledger = check(Proof(steps), goal, ())
    assert not ledger.stands
    assert "a constant of the claim" in ledger.failures[0].detail


@pytest.mark.parametrize("step", [FROM_LATER_ON, Step("settled", eq(n, 0), "Of all n.", (n,))])
def test_prose_takes_no_name_and_no_constant(step: Step) -> None:
    """A human step neither replaces what is granted nor speaks of all values of a constant."""
    granted = Assumption("settled", "", law=law("settled", (), eq(values(0), 0)))
    end = Step("claim", eq(values(0), 0), Smt("settled"))
    ledger = check(Proof((step, end)), end.conclusion, (granted,) if step.forall != (n,) else ())
    assert ledger.steps[0].verdict == "failed"
    assert not ledger.stands
