"""The monotonicity method proves what follows from a derivative's sign, and cannot be fooled."""

import pytest
from flint import arb
from proving import prove
from sympy import (
    Abs,
    Expr,
    Integer,
    Max,
    Rational,
    Symbol,
    atan,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)

from rnnbounds.theory.axioms.base import EXPONENTIAL
from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import times
from rnnbounds.theory.kernel.functions import ball, derivative
from rnnbounds.theory.kernel.statements import Statement as Kept
from rnnbounds.theory.kernel.terms import number
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Statement,
    at,
    eq,
    law,
    le,
    lt,
    ne,
    symbols,
)
from rnnbounds.theory.language.terms.variables import j, vector, y, z
from rnnbounds.theory.language.terms.vectors import exponential, norm
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import RANGE, Direct, Elementary, Gap, Method, Monotone, Smt

lam, S_0, T, k = symbols("lam S_0 T k")
NONE = Smt()
FROM = Smt("given 1")
v = vector("v")


def proves(
    goal: Statement,
    slope: Direct = NONE,
    *,
    start: Expr = ZERO,
    base: Direct = NONE,
    inside: Direct = FROM,
    given: tuple[Statement, ...] = (le(0, y),),
    assumptions: tuple[Assumption, ...] = (),
) -> str:
    """The reason why the goal for all y is not proved; empty if it is."""
    method = Monotone(y, start, base, slope, inside)
    step = Step("step", goal, method, forall=(y,), given=given)
    end = Step("end", le(0, 1), NONE)
    ledger = check(Proof((step, end)), end.conclusion, assumptions)
    return "".join(result.detail for result in ledger.failures)


@pytest.mark.parametrize(
    ("goal", "slope", "base", "start"),
    [
        (le(1 + y, exponential(y)), Smt(RANGE, EXPONENTIAL.at(0, y)), Smt(EXPONENTIAL.at(0, 0)), 0),
        (le(log(1 + y + y**2 / 2), y), NONE, NONE, 0),
        (le(log(1 + y), y), Smt(RANGE), NONE, 0),
        (le(y / (1 + y), log(1 + y)), Smt(RANGE), NONE, 0),
        (le(0, y**3 - y), Smt(RANGE), NONE, 1),
        (le(y**-1, 1), Smt(RANGE), NONE, 1),
        (le(0, lam * y), NONE, NONE, 0),
        (le(0, y * exponential(S_0)), Smt(at("positive", S_0)), NONE, 0),
        (le(-1, 2 * y), NONE, NONE, Rational(-1, 2)),
    ],
)
def test_it_proves(goal: Statement, slope: Direct, base: Direct, start: int) -> None:
    """Polynomials, quotients, logarithms and exponentials, from a rational number on."""
    positive = Assumption("positive", "", law=law("positive", (z,), lt(0, exponential(z))))
    given = (le(start, y),)
    reason = proves(
        goal, slope, base=base, start=Rational(start), given=given, assumptions=(positive,)
    )
    assert reason == ""


@pytest.mark.parametrize(
    ("goal", "slope", "reason"),
    [
        (le(log(1 + y + y**2), y), Smt(RANGE), "slope"),  # false at y = 1
        (le(y, y**2), Smt(RANGE), "slope"),  # false at y = 1/2
        (le(1, y), NONE, "base"),  # false at y = 0
        (le(exponential(y), 1 + 2 * y), Smt(RANGE, EXPONENTIAL.at(0, y)), "base"),
        (lt(0, 1 + y), NONE, "does not bound"),
        (eq(y, y + z), NONE, "does not bound"),
        (le(0, z), NONE, "does not bound"),
    ],
)
def test_what_is_false_or_no_bound_fails(goal: Statement, slope: Direct, reason: str) -> None:
    """A false start, a false slope, another relation, another variable."""
    assert reason in proves(goal, slope)


@pytest.mark.parametrize(
    "goal",
    [
        le(-1, -1 / (y - 1)),  # rises from 1 at 0, and is −∞ right of its pole at 1
        le(0, 1 / (1 - y)),
        le(-5, log(1 - y) - 1 / (y - 1)),
        le(log(y - 2), y + log(y - 2)),
        le((y - 1) ** -2, y + (y - 1) ** -2),
    ],
)
def test_poles_and_logarithms_of_negative_numbers(goal: Statement) -> None:
    """Both sides must have a value on the whole range, also where they cancel."""
    assert "domain" in proves(goal, Smt(RANGE))


@pytest.mark.parametrize(
    "function",
    [Abs(y - 1), Max(y, 1), Integer(2) ** y, y**z, y**j, norm(y * v), y ** Rational(1, 3)],
    ids=str,
)
def test_other_functions_are_refused(function: Expr) -> None:
    """What is no sum, product, power by a number or function of the list has no derivative."""
    refused = proves(le(0, 1 + function + y), Smt(RANGE))
    assert "not known to be differentiable" in refused or "has no translation" in refused


def test_a_hypothesis_about_the_variable_says_nothing_of_other_points() -> None:
    """y³ − 3y rises for y ≥ 1, not from 0 on; that the y at hand is ≥ 1 is no help."""
    goal = le(0, y**3 - 3 * y + 1)  # false at y = 1
    local = (le(0, y), le(1, y), le(0, 3 * y**2 - 3))
    for slope in (Smt("given 2", RANGE), Smt("given 3"), Smt("given 2", "given 3", RANGE)):
        assert "slope" in proves(goal, slope, given=local)


def test_a_law_for_the_variable_alone_does_not_move() -> None:
    """An assumption that names the variable is about one number."""
    sign = Assumption("sign", "", law=law("sign", (), le(0, 3 * y**2 - 3)))
    method = Monotone(y, ZERO, NONE, Smt("sign", RANGE), FROM)
    given = (le(0, y),)
    for forall in ((y,), ()):
        step = Step("step", le(0, y**3 - 3 * y + 1), method, forall=forall, given=given)
        end = Step("end", le(0, 1), NONE)
        assert not check(Proof((step, end)), end.conclusion, (sign,)).proved


def test_the_variable_must_be_in_the_range() -> None:
    """y² ≥ y holds from 1 on, not for every y."""
    goal = le(y, y**2)
    assert proves(goal, Smt(RANGE), start=ONE, given=(le(1, y),)) == ""
    assert "inside" in proves(goal, Smt(RANGE), start=ONE)
    assert "inside" in proves(goal, Smt(RANGE), start=ONE, inside=NONE, given=())


def test_the_range_is_no_hypothesis_of_the_other_parts() -> None:
    """RANGE speaks of the fresh point, and is known to the slope alone."""
    assert "neither granted" in proves(le(y, y**2), Smt(RANGE), start=ONE, inside=Smt(RANGE))
    assert "neither granted" in proves(le(0, y), base=Smt(RANGE))


def test_instances_move_with_the_variable() -> None:
    """exp(t) ≤ exp(1) is used at the fresh point: the law that y ≤ 1 is not."""
    small = Assumption("small", "", law=law("small", (z,), lt(0, exponential(z))))
    assert proves(le(0, y), Smt(at("small", y)), assumptions=(small,)) == ""
    wrong = le(exponential(y), 1 + 2 * y)  # false at y = 2, true below 1
    given = (le(0, y), le(y, 1))
    slope = Smt(EXPONENTIAL.at(y, 1), "given 2", RANGE)
    assert proves(wrong, slope, base=Smt(EXPONENTIAL.at(0, 0)), given=given) != ""


@pytest.mark.parametrize("start", [pi, lam, sqrt(2), 1 / lam])
def test_the_start_is_a_rational_number(start: Expr) -> None:
    """λ · 1/λ would be 1 at λ = 0."""
    assert "from a rational number on" in proves(le(0, y), start=start)


@pytest.mark.parametrize("variable", [j, Symbol("p", positive=True), Symbol("w")])
def test_the_variable_is_any_real_number(variable: Symbol) -> None:
    """Not an integer, nor one with a sign."""
    method = Monotone(variable, ZERO, NONE, NONE, FROM)
    with pytest.raises(Gap, match="does not range over"):
        prove(method, le(0, variable))


def test_constants_need_a_value_too() -> None:
    """1/λ on both sides is no number at λ = 0."""
    goal = le(1 / lam, y + 1 / lam)
    assert "do not give lam != 0" in proves(goal)
    given = (le(0, y), lt(0, lam))
    assert proves(goal, Smt("given 2"), base=Smt("given 2"), given=given) == ""


def test_contradictory_hypotheses_prove_nothing() -> None:
    """The facts at the fresh point must be satisfiable."""
    absurd = Assumption("absurd", "", law=law("absurd", (z,), lt(z, z)))
    assert "satisfiable" in proves(le(0, -y), Smt(at("absurd", y)), assumptions=(absurd,))


def test_any_direct_method_shows_the_slope() -> None:
    """Ranges of elementary functions of constants, say."""
    assert proves(le(0, y * exp(S_0)), Elementary()) == ""


@pytest.mark.parametrize(
    "function",
    [
        y**3 - 2 * y, y * z / (1 + y) ** 2, log(1 + y**2) * y, exp(y * z) * log(2 + y),
        tanh(z * y) / y, sin(y) * cos(y**2), atan(y + z), erf(2 * y), sqrt(1 + y) ** 3,
    ],
    ids=str,
)  # fmt: skip
def test_derivatives(function: Expr) -> None:
    """They agree with SymPy's."""
    at = {door.term(y): arb(3) / 7, door.term(z): arb(5) / 3}
    ours = derivative(door.term(function), door.term(y), [])
    gap = ball(ours, at) - ball(door.term(function.diff(y)), at)
    assert abs(gap) < 1e-12


def test_kept_exponentials_are_their_own_derivatives() -> None:
    """The formal one as well."""
    term = door.term(exponential(2 * y))
    assert derivative(term, door.term(y), []) is times(number(2), term)


def test_domains_are_collected() -> None:
    """Divisors differ from zero, and what stands in log and under roots is positive."""
    conditions: list[Kept] = []
    function = log(y - 1) / (y - 2) + log(S_0) + sqrt(y - 3)
    derivative(door.term(function), door.term(y), conditions)
    wanted = lt(0, y - 1), ne(y - 2, 0), lt(0, y - 3)
    assert set(conditions) == set(map(door.statement, wanted))


RISES = Monotone(S_0, ZERO, base=Smt(), slope=Smt(), inside=Smt())


def why_not(goal: Statement, method: Method, *assumptions: Assumption) -> str:
    """Why the goal is not proved in one step; empty if it is."""
    ledger = check(Proof((Step("claim", goal, method),)), goal, assumptions)
    return "".join(result.detail for result in ledger.failures)


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        # λ/λ at the start and in the derivative, which SymPy cancels, also at λ = 0
        (le(1, (lam * S_0 + lam) / lam), "do not give lam != 0"),
        (le(lam - 1, (sqrt(lam - 1) * S_0 + sqrt(lam - 1)) * sqrt(lam - 1)), "lam - 1 >= 0"),
        (le(1, (lam ** (T - k) * S_0 + lam ** (T - k)) * lam ** (k - T)), "natural"),
        (le(S_0 * v, S_0 * v + S_0), "adds number and vector"),
        (le(S_0 * v, 2 * S_0 * v), "compares no numbers"),
    ],
    ids=str,
)
def test_monotone_functions_have_values(goal: Statement, reason: str) -> None:
    """What cancels at the start and in the derivative must have a value too."""
    assert reason in why_not(goal, RISES)


def test_monotone_functions_with_constants_that_have_values() -> None:
    """A quotient that the slope's facts give a meaning is no obstacle."""
    memory = Assumption("memory", "", le(Rational(1, 2), lam))
    method = Monotone(S_0, ZERO, base=Smt("memory"), slope=Smt("memory"), inside=Smt())
    assert why_not(le(1, (lam * S_0 + lam) / lam), method, memory) == ""
