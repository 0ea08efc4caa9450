"""What z3 is asked: it proves what follows over the reals, and nothing else."""

import pytest
from proving import prove, proves, scope
from sympy import Abs, Expr, Max, Min, Rational, Symbol, log, oo, sqrt

from rnnbounds.theory.kernel import smt
from rnnbounds.theory.kernel.solver.client import Answer, Solver
from rnnbounds.theory.language import Statement, eq, exists, le, lt, ne, symbols
from rnnbounds.theory.language.terms.variables import a, b, c, j, operator, vector, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm, phi
from rnnbounds.theory.proof.methods import Gap, Identity, Smt
from rnnbounds.theory.proof.scope import StepScope

lam, S_0, L_x, epsilon, T, k = symbols("lam S_0 L_x epsilon T k")
A, v = operator("A"), vector("v")
values = function("values", Scalar)
CUT = "counter-model"


@pytest.mark.parametrize(
    ("goal", "given"),
    [
        (le(lam**2, lam), (le(lam, 1),)),
        (lt(0, S_0 / lam), (lt(0, lam), lt(0, S_0))),
        (le(sqrt(lam), 1), (le(lam, 1),)),
        (eq(sqrt(lam) ** 3, lam * sqrt(lam)), ()),
        (le(1, 1 / sqrt(lam)), (lt(0, lam), le(lam, 1))),
        (le(0, Abs(y)), ()),
        (le(y, Max(y, z)), ()),
        (le(Min(y, z, 1), 1), ()),
        (le(k + 1, T), (lt(k, T),)),
        (le(0, norm(a)), ()),
        (exists(1, y), (le(2, y),)),
        (ne(lam, 0), (lt(1, lam),)),
        (le(lam ** (T + 2), lam**T), (le(lam, 1), le(0, lam**T))),
        (eq(phi(a, c), 0), (eq(phi(a, c), 0),)),
    ],
)
def test_smt_proves(goal: Statement, given: tuple[Statement, ...]) -> None:
    """What follows over the reals is proved."""
    if goal.lhs.is_commutative:
        assert "unsatisfiable" in proves(goal, *given)
    else:
        assert proves(goal, *given, by=Identity)


@pytest.mark.parametrize(
    ("goal", "given", "reason"),
    [
        (le(lam**2, lam), (), CUT),
        (le(S_0 / lam, S_0 / lam), (), "do not give lam != 0"),
        (le(sqrt(y), sqrt(y)), (), "do not give y >= 0"),
        (le(lam, 0), (lt(lam, 0),), "not shown satisfiable"),
        (le(k + 1, T), (le(k, T),), CUT),
        (le(0, lam ** (T - k)), (), "T - k is not shown to be a natural number"),
        (le(0, lam**y), (), "not shown to be a natural number"),
        (le(0, lam ** Rational(1, 3)), (), "no translation"),
        (le(0, oo), (), "no real number"),
        (le(0, norm(a)), (le(0, phi(a, c)),), "compares no numbers"),
        (eq(norm(a), norm(b)), (), CUT),
        (le(lam ** (2 * T), lam**T), (), CUT),
        (le(0, log(lam)), (), CUT),
    ],
)
def test_smt_refuses(goal: Statement, given: tuple[Statement, ...], reason: str) -> None:
    """What does not follow, or has no meaning, is a gap with its reason."""
    with pytest.raises(Gap, match=reason):
        proves(goal, *given)


def test_smt_refuses_a_vector() -> None:
    """A vector is no number."""
    with pytest.raises(Gap, match="adds number and vector"):
        proves(le(0, norm(a) * a + y))


def test_smt_divides_by_what_was_shown_not_to_vanish_first() -> None:
    """1/y ≥ 1 and y ≠ 0 give a meaning to 1/(1/y), step by step."""
    assert proves(le(1, 1 / (2 - y)), le(1, y), lt(y, 2))
    assert proves(lt(0, 1 / (1 + 1 / y)), lt(0, y))


def test_unknown_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the solver gives up, nothing is proved."""
    monkeypatch.setattr(smt, "SOLVER", Solver(steps=1))
    with pytest.raises(Gap, match="z3 gives up: beyond 1 of its own steps"):
        proves(le(lam**3 * S_0**2, y**5 * z**3), le(lam * S_0, y * z), le(z**4, y))


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [(("unknown",), "gives up: tired"), (("unsat", "unknown"), "not shown satisfiable: tired")],
)
def test_the_solver_may_give_up_on_either_question(
    monkeypatch: pytest.MonkeyPatch, verdicts: tuple[str, ...], reason: str
) -> None:
    """On the negated goal, or on the hypotheses alone."""
    answers = iter([Answer(verdict, reason="tired") for verdict in verdicts])
    monkeypatch.setattr(smt, "_solve", lambda *_: next(answers))
    with pytest.raises(Gap, match=reason):
        proves(le(lam, 1))


def test_counter_models_have_true_powers() -> None:
    """Lengths are made numbers, so that the powers in a counter-model are powers."""
    with pytest.raises(Gap, match=r"counter-model: T = \d+, lam = \S+$"):
        proves(le(lam**T, lam ** (T + 1)))


def test_counter_models_without_true_powers_are_abstract() -> None:
    """λ^T ≤ 1 holds for every T; a model in which the power is any number is labelled so."""
    with pytest.raises(Gap, match=r"^counter-model: .*\(abstract: powers are free numbers in this"):
        proves(le(lam**T, 1), le(0, lam), lt(lam, 1))
    with pytest.raises(Gap, match=r"^counter-model: lam = \S+$"):
        proves(le(lam, 1))


def test_counter_models_meet_conditions_that_no_step_uses() -> None:
    """The search respects the claim's own conditions."""
    with pytest.raises(Gap, match="T = 8"):
        prove(Smt(), le(lam**T, lam), scope(le(8, T)))


def test_counter_models_without_explanation() -> None:
    """Without the search no model is asked for."""
    known = StepScope({}, explains=False)
    with pytest.raises(Gap, match=r"^counter-model$"):
        prove(Smt(), le(lam**T, 1), known)


def test_irrational_counter_models() -> None:
    """Algebraic numbers are printed as decimals."""
    with pytest.raises(Gap, match=r"1\.414213"):
        proves(ne(y * y, 2), lt(0, y))


def test_symbols_of_one_name_stay_apart() -> None:
    """An integer and a real of the same name are different numbers."""
    with pytest.raises(Gap, match=CUT):
        proves(eq(Symbol("j", real=True), j))


@pytest.mark.parametrize("term", [log(lam), values(y), log(y) * values(lam)], ids=str)
def test_unknown_terms_are_free(term: Expr) -> None:
    """Nothing is assumed of a function that no law describes."""
    assert proves(le(term, term + 1))
    with pytest.raises(Gap, match=CUT):
        proves(le(term, 0))
