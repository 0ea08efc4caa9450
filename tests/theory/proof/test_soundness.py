"""What the engine refuses, it refuses for a reason, and no more than that."""

import pytest
from sympy import Expr, Integer, sqrt

from rnnbounds.theory.axioms.activations import ActivationFacts, Piece, Supremum
from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.language import ONE, ZERO, Assumption, Statement, at, law, le, lt, symbols
from rnnbounds.theory.language.terms.variables import y, z
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import Gap, Smt
from rnnbounds.theory.proof.methods.cases import prove_case
from rnnbounds.theory.proof.scope import StepScope

lam, T, k = symbols("lam T k")


@pytest.mark.parametrize(
    ("goal", "term"),
    [(le(1, 1 / y), 1 / (2 - lam)), (le(0, sqrt(y)), lam**2 + 1), (le(0, y**2), sqrt(lam))],
    ids=str,
)
def test_terms_with_a_meaning_may_be_put_in(goal: Statement, term: Expr) -> None:
    """A quotient or a root whose condition the step shows is as good as any term."""
    step = Step("s", goal, Smt("given 1", "given 2"), (y,), (lt(0, y), le(y, 1)))
    conclusion = goal.replace({y: term})
    end = Step("claim", conclusion, Smt(at("s", term), "bound"))
    stated = law("bound", (), lt(0, term), le(term, 1), lt(lam, 2))
    bound = Assumption("bound", "", law=stated)
    ledger = check(Proof((step, end)), conclusion, (bound,))
    assert ledger.proved, ledger.failures


def test_a_relation_is_one_of_five() -> None:
    """An unknown one would be taken for another."""
    with pytest.raises(StatementError, match="unknown relation"):
        Statement(ZERO, ">=", ONE)  # type: ignore[arg-type]


STEP_FUNCTION = (Piece(ONE, (le(ZERO, z),)), Piece(ZERO, (le(z, ZERO),)))
HALF_A_LINE = (Piece(z, (le(ONE, z),)), Piece(ZERO, (le(z, ZERO),)))
BELOW = Supremum(Integer(9))


@pytest.mark.parametrize(
    ("pieces", "reason"), [(STEP_FUNCTION, "a jump at 0"), (HALF_A_LINE, "the pieces leave a gap")]
)
def test_an_activation_is_all_of_its_pieces(pieces: tuple[Piece, ...], reason: str) -> None:
    """Slopes bound an activation only where it is continuous and all of it is looked at."""
    with pytest.raises(Gap, match=reason):
        prove_case(ActivationFacts("bad", pieces, (BELOW, BELOW)), 1, StepScope({}))
