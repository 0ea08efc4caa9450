"""What a ledger that fails says: where, and why a name that a step uses is not at hand."""

import inspect
from dataclasses import replace

import pytest

from rnnbounds.properties.runs.ledgers import ledger_record
from rnnbounds.theory import claim
from rnnbounds.theory.language import Assumption, at, le, lt, symbols
from rnnbounds.theory.language.terms.variables import j
from rnnbounds.theory.models.system import CONTRACTIVE, WINDOW
from rnnbounds.theory.proof import Claim, Proof, Step, check, prove
from rnnbounds.theory.proof.methods import HYPOTHESIS, Induction, Smt
from rnnbounds.theory.proof.proof import Ledger

lam, h_norm = symbols("lam h_norm")
STATE_BOUND = claim("state-bound")
BELOW_TWO = Step("below two", lt(lam, 2), Smt("contractive"))
FALSE = Step("below zero", lt(lam, 0), Smt())


def run(*steps: Step, assumptions: tuple[Assumption, ...] = (CONTRACTIVE,)) -> Ledger:
    """The ledger of these steps, which conclude what the last one does."""
    return check(Proof(steps), steps[-1].conclusion, assumptions)


def of_one_form(*steps: Step) -> Claim:
    """A claim that λ < 2, proved by these steps."""
    form = replace(STATE_BOUND.forms[0], statement=lt(lam, 2), assumptions=(CONTRACTIVE, WINDOW))
    return replace(STATE_BOUND, forms=(replace(form, proof=Proof(steps)),), false_variants=())


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (
            (Step("claim", lt(lam, 2), Smt("contractiv")),),
            ": misspelt? did you mean 'contractive'?",
        ),
        (
            (BELOW_TWO, Step("claim", lt(lam, 2), Smt(at("below tow", 1)))),
            ": misspelt? did you mean 'below two'?",
        ),
        ((Step("claim", lt(lam, 2), Smt("some lemma")),), ""),
        ((FALSE, Step("claim", lt(lam, 2), Smt("below zero"))), ": that step failed"),
        (
            (Step("early", lt(lam, 2), Smt("below two")), BELOW_TWO),
            ": that step comes later; move it before this one",
        ),
        ((Step("circle", lt(lam, 2), Smt("circle")), BELOW_TWO), ": it is this step itself"),
        (
            (
                Step("chain", le(0, lam**j), Induction(j, Smt("later"), Smt(HYPOTHESIS)), (j,)),
                Step("later", lt(lam, 2), Smt("contractive")),
            ),
            ": that step comes later; move it before this one",
        ),
    ],
)
def test_why_a_name_is_not_at_hand(steps: tuple[Step, ...], why: str) -> None:
    """Misspelt, failed before, yet to come, or the step itself: each is told from the others."""
    detail = run(*steps).failures[-1].detail
    assert detail.endswith(f"is neither granted nor proved{why}")


def test_a_failed_step_says_where_it_is_written() -> None:
    """File and line, the file from the rooms on; in the record, before the reason."""
    line = inspect.currentframe().f_lineno + 1
    wrong = Step("wrong", lt(lam, 0), Smt("contractive"))
    ledger = run(wrong)
    (failure,) = ledger.failures
    assert failure.location.endswith(f"test_messages.py:{line}")
    (recorded,) = ledger_record("finite", ledger).steps
    assert recorded.detail == f"{failure.location}: {failure.detail}"
    assert replace(wrong, id="another").location == failure.location
    assert wrong == Step("wrong", lt(lam, 0), Smt("contractive"))
    *_, proved = STATE_BOUND.forms[0].proof.steps
    assert proved.location.startswith("theory/claims/memory/state_bound.py:")
    (*_, recorded) = ledger_record("finite", prove(STATE_BOUND)[0]).steps
    assert proved.location not in recorded.detail


def test_the_last_step_is_to_be_the_statement() -> None:
    """A ledger that ends elsewhere says with what, even where the statement would follow too."""
    astray = of_one_form(replace(BELOW_TWO, conclusion=lt(lam, 3)))
    (ledger,) = prove(astray)
    assert not ledger.proved
    told = "the last step concludes lam < 3, which is not the form's statement; conclude that"
    assert ledger.failures[-1].detail == told
    assert prove(of_one_form(BELOW_TWO))[0].proved
    assert not prove(of_one_form())[0].proved
