"""Each method proves what follows, and refuses what does not with its reason."""

import numpy as np
import pytest
from drawn_ledgers.models import values
from numpy.typing import NDArray
from proving import prove, proves, scope
from sympy import Abs, Add, Expr, Max, Min, Mul, Rational, exp, sqrt

from rnnbounds.theory.kernel import door, smt
from rnnbounds.theory.kernel.heads import NUMBER, POWER, PRODUCT, SUM
from rnnbounds.theory.kernel.rewriting import rewrite, word_form, word_rules
from rnnbounds.theory.kernel.smt import require_natural
from rnnbounds.theory.kernel.solver.client import Answer, Solver
from rnnbounds.theory.kernel.terms import Term
from rnnbounds.theory.kernel.translate import Translation
from rnnbounds.theory.language import (
    Assumption,
    Clause,
    Statement,
    at,
    eq,
    exists,
    law,
    le,
    lt,
    ne,
    symbols,
)
from rnnbounds.theory.language.terms.unitary import rank
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, m, operator, v, y, z
from rnnbounds.theory.language.terms.vectors import exponential, frobenius, norm, phi, transpose
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import HYPOTHESIS, Gap, Induction, Smt, Words

lam, S_0, L_x, T, k = symbols("lam S_0 L_x T k")
A, B, C, V, P = (operator(name) for name in "ABCVP")
ISOMETRY = eq(transpose(V) * V * A, A)
Row = tuple[type, Statement, tuple[Statement, ...]]
FOLLOWS: tuple[Row, ...] = (
    (Smt, le(lam**2, lam), (le(lam, 1),)),
    (Smt, lt(0, S_0 / lam), (lt(0, lam), lt(0, S_0))),
    (Smt, eq(sqrt(lam) ** 3, lam * sqrt(lam)), ()),
    (Smt, le(1, 1 / sqrt(lam)), (lt(0, lam), le(lam, 1))),
    (Smt, lt(0, 1 / (1 + 1 / y)), (lt(0, y),)),
    (Smt, le(0, Abs(y)), ()),
    (Smt, le(y, Max(y, z)), ()),
    (Smt, le(Min(y, z, 1), 1), ()),
    (Smt, le(k + 1, T), (lt(k, T),)),
    (Smt, le(0, norm(a)), ()),
    (Smt, exists(1, y), (le(2, y),)),
    (Smt, le(lam ** (T + 2), lam**T), (le(lam, 1), le(0, lam**T))),
    (Smt, le(values(y), values(y) + 1), ()),
    (Smt, eq((1 - lam**2) / (1 - lam), 1 + lam), (lt(lam, 1),)),
    (Smt, eq(lam ** (j + 1) * S_0, lam * (lam**j * S_0)), ()),
    (Smt, eq(A * (v + a) - A * v, A * a), ()),
    (Smt, eq(phi(a, c) + phi(a, c), 2 * (a + c)), (eq(phi(a, c), a + c),)),
    (Smt, eq((a * lam + b * lam) / lam, a + b), (lt(0, lam),)),
    (Smt, eq(exponential(y) ** 2, z * z), (eq(exponential(y), z),)),
    (Smt, le(Rational(1, 3), Rational(1, 2)), ()),
    (Smt, lt(sqrt(2), Rational(3, 2)), ()),
    (Smt, exists(2, exp(1)), ()),
    (Smt, lt(1, 1 + Rational(1, 10**40) * sqrt(2)), ()),
    (Words, eq((A + B) ** 2, A * A + A * B + B * A + B * B), ()),
    (Words, eq(transpose(A * B + lam * C), transpose(B) * transpose(A) + lam * transpose(C)), ()),
    (Words, eq(transpose(V * A) * V * A, transpose(A) * A), (ISOMETRY,)),
    (Words, eq(A * C, 2 * B - P), (eq(A * C, B + B - P),)),
    (Words, eq(norm(V * V * A), norm(C)), (eq(V * V * A, -C),)),
    (Words, eq(frobenius(A * B), 0), (eq(A * B, 0),)),
    (Words, eq(A, 0), (eq(A, B), eq(B, 0), le(lam, 1))),
)
REFUSED: tuple[tuple[type, Statement, tuple[Statement, ...], str], ...] = (
    (Smt, le(S_0 / lam, S_0 / lam), (), "do not give lam != 0"),
    (Smt, le(sqrt(y), sqrt(y)), (), "do not give y >= 0"),
    (Smt, le(lam, 0), (lt(lam, 0),), "not shown satisfiable"),
    (Smt, le(k + 1, T), (le(k, T),), "counter-model"),
    (Smt, le(0, lam ** (T - k)), (), "T - k is not shown to be a natural number"),
    (Smt, le(0, lam**y), (), "not shown to be a natural number"),
    (Smt, eq(norm(a), norm(b)), (), "counter-model"),
    (Smt, le(0, norm(a) * a + y), (), "adds number and vector"),
    (Smt, le(lam**T, lam ** (T + 1)), (), r"counter-model: T = \d+, lam = \S+$"),
    (Smt, le(lam**T, 1), (le(0, lam), lt(lam, 1)), "abstract: powers are free numbers"),
    (Smt, ne(y * y, 2), (lt(0, y),), r"1\.414213"),
    (Smt, eq((1 - lam**2) / (1 - lam), 1 + lam), (), "counter-model"),
    (Smt, eq(lam**k * lam ** (T - k), lam**T), (le(k, T),), "counter-model"),
    (Smt, eq(A * v, v * A), (), "is no operator"),
    (Words, le(lam, lam), (), "no identity"),
    (Smt, eq(a, 0), (eq(a + b, b),), "no granted equation"),
    (Smt, le(1, Rational(1, 2)), (), "counter-model"),
    (Smt, eq(sqrt(2) * sqrt(3), sqrt(6) + exp(-(10**4))), (), "counter-model"),
    (Words, eq(V * transpose(V) * A, A), (ISOMETRY,), "the sides differ"),
    (Words, eq(B, C), (eq(A * B, A * C),), "the sides differ"),
    (Words, eq(rank(A), rank(B)), (eq(rank(A), rank(B)),), "the sides differ"),
    (Words, eq(A, B), (eq(A + B, C),), "no single word"),
    (Words, eq(A * B, A * B * B), (eq(A * B, A * B * B),), "does not end"),
    (Words, eq(A / lam, A), (), "stands in no sum of words"),
    (Words, eq(A**k, A), (), "the power of an operator is none"),
)


@pytest.mark.parametrize(("method", "goal", "given"), FOLLOWS, ids=str)
def test_what_follows(method: type, goal: Statement, given: tuple[Statement, ...]) -> None:
    """Over the reals, and by words."""
    assert proves(goal, *given, by=method)


@pytest.mark.parametrize(("method", "goal", "given", "why"), REFUSED, ids=str)
def test_what_does_not(
    method: type, goal: Statement, given: tuple[Statement, ...], why: str
) -> None:
    """What is false, has no meaning or is not decided is a gap."""
    with pytest.raises(Gap, match=why):
        proves(goal, *given, by=method)


@pytest.mark.parametrize(
    ("number", "given"),
    [
        (T - k, (le(k, T),)),
        (T - 1, (lt(k, T),)),
        (2 * T - 4, (le(3, T),)),
        (j + 2 * m, ()),
        (T - 2, (eq(T, 5),)),
        (j, (le(y, 1), le(T**2, k), le(T, y))),
    ],
)
def test_naturals(number: Expr, given: tuple[Statement, ...]) -> None:
    """Linear index arithmetic; without the bounds, and of what is not linear, nothing is shown."""
    require_natural(door.term(number), tuple(door.clause(Clause(one)) for one in given))
    for other in (T - k, T / 2, T * k - 1, 2**T, y):
        with pytest.raises(Gap, match="natural"):
            require_natural(door.term(other), ())


def test_powers_share_the_least_exponent() -> None:
    """λ^{t+2} is λ^{t−1} λ³ where both occur."""
    query = Translation([door.statement(eq(lam ** (T + 2), lam ** (T - 1)))])
    assert set(query.exponents) == {door.term(T - 1)}
    later, least = (door.term(lam**exponent) for exponent in (T + 2, T - 1))
    assert query.real(later) == f"(* {query.real(least)} (let ((?f a1)) (* ?f ?f ?f)))"


def test_rewriting_in_circles_is_a_gap() -> None:
    """Two rules that undo each other do not loop."""
    with pytest.raises(Gap, match="does not end"):
        rewrite(door.goal(eq(a, b)), {door.term(a): door.term(b), door.term(b): door.term(a)})


@pytest.mark.parametrize("method", [Smt, Words])
def test_a_conditional_equation_needs_its_premise(method: type) -> None:
    """In the same step."""
    rule = Assumption("rule", "", law=law("rule", (), Clause(eq(A, B), (le(lam, 1),))))
    known = scope(le(lam, 1))
    known.assumptions["rule"] = rule  # type: ignore[index]
    assert prove(method("rule", "h0"), eq(A * C, B * C), known)
    with pytest.raises(Gap, match="no granted equation"):
        prove(method("rule"), eq(A * C, B * C), known)


@pytest.mark.parametrize(
    ("verdicts", "why"),
    [(("unknown",), "gives up: tired"), (("unsat", "unknown"), "not shown satisfiable: tired")],
)
def test_unknown_is_a_gap(
    monkeypatch: pytest.MonkeyPatch, verdicts: tuple[str, ...], why: str
) -> None:
    """On the negated goal, or on the hypotheses alone; also where the solver's steps run out."""
    with monkeypatch.context() as patch:
        patch.setattr(smt, "SOLVER", Solver(steps=1))
        with pytest.raises(Gap, match="beyond 1 of its own steps"):
            proves(le(lam**3 * S_0**2, y**5 * z**3), le(lam * S_0, y * z), le(z**4, y))
    answers = iter([Answer(verdict, reason="tired") for verdict in verdicts])
    monkeypatch.setattr(smt, "decide", lambda *_, **__: next(answers))
    with pytest.raises(Gap, match=why):
        proves(le(lam, 1))


def test_counter_models_meet_the_claims_conditions() -> None:
    """Also those that the step does not use."""
    with pytest.raises(Gap, match="T = 8"):
        prove(Smt(), le(lam**T, lam), scope(le(8, T)))


def outcome(step: Step, *granted: Assumption) -> str:
    """Why the step is not proved; empty if it is."""
    end = Step("end", le(0, 1), Smt())
    (result, _) = check(Proof((step, end)), end.conclusion, granted).steps
    return result.detail if result.verdict == "failed" else ""


UP = Assumption("up", "", law=law(
    "up", (j,), Clause(le(values(j) + 1, values(j + 1)), (le(j + 1, T),)), le(0, values(0))
))  # fmt: skip
SHIFT = Assumption("shift", "", law=law(
    "shift", (i, j), eq(phi(i, 0), 0), eq(phi(i, j + 1), phi(i + 1, j))
))  # fmt: skip


@pytest.mark.parametrize(
    ("given", "carried", "others", "why"),
    [
        ((le(j, T),), (le(j, T),), (), ""),
        ((), (), (), "counter-model"),
        ((le(j, T + 1),), (le(j, T + 1),), (), "counter-model"),
        ((le(j, T),), (), (), "not a free variable"),
        ((), (le(j, T),), (), "premises are not the step's"),
        ((le(j, T),), (le(j, T),), (j,), "not a free variable"),
        ((le(j, T),), (le(j, T),), (i,), "not a free variable"),
    ],
)
def test_induction_carries_its_premises(
    given: tuple[Statement, ...], carried: tuple[Statement, ...], others: tuple, why: str
) -> None:
    """j ≤ v_j for j ≤ T, where v_{j+1} ≥ v_j + 1 for j < T alone."""
    further = Smt(HYPOTHESIS, at("up", j), *(("given 1",) if carried else ()))
    method = Induction(j, Smt(at("up", 0)), further, carried, others)
    found = outcome(Step("s", le(j, values(j)), method, (j,), given), UP)
    assert why in found
    assert bool(found) == bool(why)


def test_induction_names_its_part() -> None:
    """The base or the step that is false; what does not occur is no variable of it."""
    grows = Induction(j, Smt(), Smt(HYPOTHESIS))
    assert prove(grows, le(0, lam**j)) == "base by smt, step by smt"
    for goal, why in (
        (le(1, j), r"base \(1 <= 0\)"),
        (le(lam**j, 1), r"step \(lam\*\*\(j \+ 1\) <= 1\)"),
        (le(0, lam), "does not occur"),
    ):
        with pytest.raises(Gap, match=why):
            prove(grows, goal)


def value(term: Term, at_values: dict[Term, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The operator as a 3 × 3 matrix."""
    if term in at_values:
        return at_values[term]
    if term.head is NUMBER:
        return float(term.value) * np.eye(3)
    if term.head is POWER:
        return np.linalg.matrix_power(value(term.args[0], at_values), int(term.args[1].value))
    parts = [value(part, at_values) for part in term.args]
    if term.head is SUM:
        return np.sum(parts, axis=0)
    if term.head is PRODUCT:
        return np.linalg.multi_dot([np.eye(3), np.eye(3), *parts])
    return parts[0].T


@pytest.mark.parametrize("seed", range(8))
def test_words_keep_the_value(seed: int) -> None:
    """Whatever is rewritten stays the same matrix, where the rules hold."""
    draw = np.random.default_rng(seed)
    one, two, three, isometry, projection = map(door.term, (A, B, C, V, P))
    found = {symbol: draw.normal(size=(3, 3)) for symbol in (one, two)}
    found[isometry] = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    found[projection] = found[isometry][:, :2] @ found[isometry][:, :2].T
    found[three] = found[projection] @ found[one] - found[two].T
    told = (ISOMETRY, eq(P * P, P), eq(transpose(P), P), eq(C, P * A - transpose(B)))
    rules = word_rules(door.law(law("", (), *told)).clauses)
    letters = [A, B, C, V, P, *map(transpose, (A, B, C, V, P)), transpose(V * A), V * A, P * P]

    def word() -> Expr:
        product = Mul(*(letters[index] for index in draw.integers(len(letters), size=4)))
        return int(draw.choice([-3, -2, -1, 1, 2])) * product

    plain = door.term(Add(*(word() for _ in range(4))) * (A - transpose(C)) ** 2 + word())
    normal = word_form(plain, rules)
    before, after = value(plain, found), value(normal, found)
    assert np.allclose(before, after, rtol=1e-9, atol=1e-9 * np.abs(before).max())
    assert three not in normal.variables
