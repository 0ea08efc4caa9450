"""Each method proves what follows and nothing else."""

import pytest
from proving import prove, proves
from sympy import Expr, Integer, Rational, exp, sqrt

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.naturals import require_natural
from rnnbounds.theory.kernel.powers import Powers
from rnnbounds.theory.kernel.rewriting import rewrite
from rnnbounds.theory.language import (
    Clause,
    Law,
    Statement,
    eq,
    exists,
    law,
    le,
    lt,
    ne,
    symbols,
)
from rnnbounds.theory.language.terms.variables import a, b, c, j, m, operator, s, vector, x, y, z
from rnnbounds.theory.language.terms.vectors import exponential, norm, phi, state
from rnnbounds.theory.proof.methods import HYPOTHESIS, Exact, Gap, Identity, Induction, Smt
from rnnbounds.theory.proof.scope import StepScope

lam, S_0, L_x, epsilon, T, k = symbols("lam S_0 L_x epsilon T k")
A, B, v = operator("A"), operator("B"), vector("v")
CUT = "counter-model"


@pytest.mark.parametrize(
    ("goal", "given"),
    [
        (eq((1 - lam**2) / (1 - lam), 1 + lam), (lt(lam, 1),)),
        (eq(lam ** (j + 1) * S_0, lam * (lam**j * S_0)), ()),
        (eq(A * (v + a) - A * v, A * a), ()),
        (eq(phi(a, c) + phi(a, c), 2 * (a + c)), (eq(phi(a, c), a + c),)),
        (eq(lam**T * a - lam**T * a, 0), ()),
        (eq((a * lam + b * lam) / lam, a + b), (lt(0, lam),)),
        (eq(exponential(y) ** 2, z * z), (eq(exponential(y), z),)),
    ],
)
def test_identity_proves(goal: Statement, given: tuple[Statement, ...]) -> None:
    """Equal normal forms, of scalars and of vectors."""
    assert "normal form 0" in proves(goal, *given, by=Identity)


@pytest.mark.parametrize(
    ("goal", "given", "reason"),
    [
        (eq((1 - lam**2) / (1 - lam), 1 + lam), (), CUT),
        (eq(lam**k * lam ** (T - k), lam**T), (), "not shown to be a natural number"),
        (eq(lam**k * lam ** (T - k), lam**T), (le(k, T),), "differ by"),
        (eq(A * B, B * A), (), r"differ by A\*B - B\*A"),
        (eq(A * v, v * A), (), "v in v\\*A is no operator"),
        (le(lam, lam), (), "no identity"),
        (eq(a, 2 * a), (), "differ by -a"),
    ],
)
def test_identity_refuses(goal: Statement, given: tuple[Statement, ...], reason: str) -> None:
    """Different normal forms, doubtful denominators, and λ^{T−k} as λ^T/λ^k at λ = 0."""
    with pytest.raises(Gap, match=reason):
        proves(goal, *given, by=Identity)


def test_induction_needs_base_and_step() -> None:
    """A false base and a false step are named as such."""
    known = StepScope({})
    grows = Induction(j, base=Smt(), step=Smt(HYPOTHESIS))
    assert prove(grows, le(0, lam**j), known) == "base by smt, step by smt"
    with pytest.raises(Gap, match=r"base \(1 <= 0\)"):
        prove(grows, le(1, j), known)
    with pytest.raises(Gap, match=r"step \(lam\*\*\(j \+ 1\) <= 1\)"):
        prove(grows, le(lam**j, 1), known)
    with pytest.raises(Gap, match="does not occur"):
        prove(grows, le(0, lam), known)


@pytest.mark.parametrize(
    ("goal", "where"),
    [
        (le(Rational(1, 3), Rational(1, 2)), "rationals"),
        (eq(Integer(2) ** 10, 1024), "rationals"),
        (ne(1, 2), "rationals"),
        (lt(sqrt(2), Rational(3, 2)), "balls of 64 bits"),
        (le(199, exponential(Rational(297, 50))), "balls of 64 bits"),
        (exists(2, exp(1)), "balls of 64 bits"),
        (lt(1, 1 + Rational(1, 10**40) * sqrt(2)), "balls of 256 bits"),
    ],
)
def test_exact_decides(goal: Statement, where: str) -> None:
    """Numbers are compared in rationals, else in balls of rising precision."""
    assert proves(goal, by=Exact) == f"decided in {where}"


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        (le(1, Rational(1, 2)), "is false"),
        (eq(sqrt(2), Rational(3, 2)), "is false"),
        (eq(sqrt(2) * sqrt(3), sqrt(6) + exp(-(10**4))), "undecided"),
        (le(0, lam), "lam are free"),
    ],
)
def test_exact_refuses(goal: Statement, reason: str) -> None:
    """False, undecided and open statements are gaps."""
    with pytest.raises(Gap, match=reason):
        proves(goal, by=Exact)


def test_rewriting_in_circles_is_a_gap() -> None:
    """Two rules that undo each other do not loop."""
    with pytest.raises(Gap, match="does not end"):
        rewrite(door.goal(eq(a, b)), {door.term(a): door.term(b), door.term(b): door.term(a)})


def test_conditional_vector_equations_need_their_premises() -> None:
    """The premise must be stated in the same step."""
    conditional = Law("l", (), (Clause(eq(v, 0), (eq(y, 1),)),))
    laws = {"l": conditional, "p": law("p", (), eq(y, 1))}
    known = StepScope({}, {name: door.law(one) for name, one in laws.items()})
    assert prove(Identity("l", "p"), eq(v, 0), known)
    with pytest.raises(Gap, match="no granted equation"):
        prove(Identity("l"), eq(v, 0), known)


def test_a_sum_is_no_rule() -> None:
    """Only single terms are rewritten."""
    with pytest.raises(Gap, match="no granted equation"):
        proves(eq(a, 0), eq(a + b, b), by=Identity)


@pytest.mark.parametrize(
    ("number", "given"),
    [
        (T - k, (le(k, T),)),
        (T - 1, (lt(k, T),)),
        (2 * T - 4, (le(3, T),)),
        (j + 2 * m, ()),
        (T, (ne(T, 0),)),
        (T - 2, (eq(T, 5),)),
        (Integer(0), ()),
        (j, (le(y, 1), le(T**2, k), le(T, y))),
    ],
)
def test_naturals(number: Expr, given: tuple[Statement, ...]) -> None:
    """Linear index arithmetic."""
    clauses = tuple(door.clause(Clause(one)) for one in given)
    require_natural(door.term(number), clauses)


@pytest.mark.parametrize(
    "number", [T - k, T - 1, Integer(-1), T / 2, T * k, 2**T, y, Rational(1, 2), -s]
)
def test_not_shown_natural(number: Expr) -> None:
    """What may be negative, fractional or not linear is refused."""
    with pytest.raises(Gap, match="natural"):
        require_natural(door.term(number), ())


def test_powers_share_the_least_exponent() -> None:
    """λ^{t+2} is λ^{t−1} λ³ where both occur, and half an exponent stays apart."""
    half = T + Rational(1, 2)
    powers = Powers(map(door.term, (lam ** (T + 2) + lam ** (T - 1), lam**half)))
    assert set(powers.exponents) == {door.term(T - 1), door.term(half)}
    key = (door.term(lam), door.term(T))
    assert powers.atom(door.term(lam ** (T + 2))) == (key, 3)


def test_states_are_vectors() -> None:
    """Arguments are kept expanded, norms do not see a sign."""
    assert not state(x, 0, T).is_commutative
    assert phi(lam * (a + b), c) == phi(lam * a + lam * b, c)
    assert norm(a - b) == norm(b - a)
    assert norm(a - a) == 0
    assert norm(a).is_nonnegative
    assert exponential(y).is_real
