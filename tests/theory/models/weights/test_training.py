"""Training: the ledgers of projection, weight gap and predictions, and their numbers."""

from fractions import Fraction
from math import floor, inf, log
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from sympy import Expr, Integer, Symbol
from sympy import log as logarithm

from rnnbounds import theory
from rnnbounds.theory.axioms.base import PROJECTION, PROJECTION_INSIDE
from rnnbounds.theory.language import Instance, Law, at, eq, le, symbols
from rnnbounds.theory.language.terms.gradients import (
    loss_gradient,
    project,
    truncated_gradient,
    weights,
    weights_hat,
)
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.lemmas.window import elementary, lambert_window, level, surplus
from rnnbounds.theory.numbers.evaluate import ball, enclose, is_certain, rational
from rnnbounds.theory.numbers.interval import exact
from rnnbounds.theory.proof import Form, Proof, Step, check
from rnnbounds.theory.proof.methods import Smt

IDS = ("projection", "weight-gap", "end-to-end")
CLAIMS = {id: theory.claim(id) for id in IDS}
N, alpha, beta, eps_k, w_gap, k = symbols("N alpha beta eps_k w_gap k")
lam, epsilon, K_0, K_1 = symbols("lam epsilon K_0 K_1")


@pytest.mark.slow
def test_non_expansiveness_is_proved_and_not_presupposed() -> None:
    """The weights' ledger goes back to the variational inequality."""
    for form in CLAIMS["weight-gap"].forms:
        ledger = check(form.proof, form.statement, form.assumptions)
        assert "projection onto a convex set" in ledger.axioms
        assert not any("expansive" in assumption.id for assumption in form.assumptions)


def test_only_a_projection_is_non_expansive() -> None:
    """Without the convex set the axiom says nothing."""
    form = CLAIMS["projection"].forms[0]
    ledger = check(form.proof, form.statement, ())
    assert "'projection' is neither granted nor proved" in ledger.failures[0].detail
    for step in form.proof.steps:
        for use in step.method.uses:
            if isinstance(use, Instance) and use.law in (PROJECTION, PROJECTION_INSIDE):
                assert all(clause.given for clause in use.law.clauses)


def test_the_projection_axiom_needs_a_point_of_the_set() -> None:
    """⟨a − Πa, z − Πa⟩ ≤ 0 is false for z = a outside of the set."""
    form = CLAIMS["projection"].form("nearest")
    rest = tuple(a for a in form.assumptions if a.id != "feasible")
    uses = tuple(use for use in form.proof.steps[-1].method.uses if use != "feasible")
    end = Step("claim", form.statement, Smt(*uses))
    ledger = check(Proof((*form.proof.steps[:-1], end)), form.statement, rest)
    assert "counter-model" in ledger.failures[0].detail


def test_the_descents_part_only_by_their_gradients() -> None:
    """The ledger does not prove that the weights agree, or that one step never hurts."""
    form = CLAIMS["weight-gap"].form("losses")
    for goal in (eq(weights(1), weights_hat(1)), le(norm(weights(1) - weights_hat(1)), 0)):
        end = Step("claim", goal, Smt(at("one step", 0), at("descent", 0)))
        ledger = check(Proof((*form.proof.steps[:-1], end)), goal, form.assumptions)
        assert not ledger.proved
    goal = eq(project(weights(0)), weights(0))
    end = Step("claim", goal, Smt(at("descent", 0)))
    ledger = check(Proof((*form.proof.steps[:-1], end)), goal, form.assumptions)
    assert not ledger.proved


CHAINED = [CLAIMS["weight-gap"].form(name) for name in ("product", "paper", "box")]


@pytest.mark.parametrize("form", [*CHAINED, *CLAIMS["end-to-end"].forms], ids=lambda f: f.name)
def test_nothing_is_presupposed_of_the_gradients_but_what_they_are(form: Form) -> None:
    """That ∇p is β-Lipschitz and ∇p^k within ε_k is shown, by Lemmas 3 and 2."""
    speak = {a.id for a in form.assumptions if a.law and gradient_terms(a.law)}
    assert speak == {"descent", "gradients"}
    (tie,) = (a.law for a in form.assumptions if a.id == "gradients")
    assert tie is not None
    assert {clause.conclusion.relation for clause in tie.clauses} == {"=="}


def gradient_terms(law: Law) -> bool:
    """Whether it speaks of the descents' gradients."""
    sides = [s for c in law.clauses for s in (c.conclusion.lhs, c.conclusion.rhs)]
    return any(side.has(loss_gradient, truncated_gradient) for side in sides)


# The quadratic p(w) = −βw²/2 with p^k(w) = p(w) + εw: the gap obeys the recursion with equality.


def quadratic(steps: int, c: Fraction, b: Fraction) -> Fraction:
    """|w_{N+1} − ŵ_{N+1}| with ε = 1, from w_1 = 1."""
    w, w_hat = Fraction(1), Fraction(1)
    for t in range(1, steps + 1):
        rate = c / b / t
        w, w_hat = w + rate * b * w, w_hat + rate * (b * w_hat - 1)
    return abs(w - w_hat)


def environment(steps: int, c: Fraction, b: Fraction) -> dict[str, fmpq]:
    """The quadratic's numbers by name."""
    values = {
        "N": Fraction(steps), "alpha": c / b, "beta": b, "eps_k": Fraction(1),
        "w_gap": quadratic(steps, c, b),
    }  # fmt: skip
    return {name: fmpq(value.numerator, value.denominator) for name, value in values.items()}


def decided(expr: Expr, values: dict[str, fmpq]) -> arb:
    """In rationals where possible, else in balls of 200 bits."""
    whole = rational(expr, values)
    with ctx.workprec(200):
        return ball(expr, {n: arb(v) for n, v in values.items()}) if whole is None else arb(whole)


CASES = [
    (steps, Fraction(c), Fraction(b))
    for steps in (1, 2, 7, 40)
    for c in ("1/100", "1/2", "1", "2")
    for b in ("1", "1/3", "10")
]


@pytest.mark.parametrize("name", ["product", "logarithm"])
def test_the_quadratic_attains_the_bounds(name: str) -> None:
    """Equality in the product, for all N and αβ; the chain lies above."""
    statement = CLAIMS["weight-gap"].form(name).statement
    for steps, c, b in CASES:
        values = environment(steps, c, b)
        lhs, rhs = rational(statement.lhs, values), rational(statement.rhs, values)
        if name == "product":
            assert lhs == rhs
        else:
            with ctx.workprec(200):
                upper = decided(statement.rhs, values)
                assert arb(lhs) <= upper or (steps == 1 and upper.overlaps(arb(lhs)))


def test_the_paper_pays_a_factor() -> None:
    """N^{c+1} against the product: a factor of the order of N/c at k = 1, λ = G_0 = G_1 = 1/2."""
    forms = CLAIMS["weight-gap"]
    for steps in (1, 10, 100):
        values = environment(steps, Fraction(1), Fraction(1))
        values |= {"G_0": fmpq(1), "G_1": fmpq(1), "lam": fmpq(1, 2), "k": fmpq(1)}
        exact_bound = rational(forms.form("product").statement.rhs, values)
        paper = rational(forms.form("paper").statement.rhs, values)
        assert paper / exact_bound == steps


# λ^k (K_0 + k K_1) ≤ ε


def bound(rate: float, still: float, drift: float, window: Any) -> Any:
    """λ^k (K_0 + k K_1)."""
    return rate**window * (still + window * drift)


def test_lambert_windows_are_the_least() -> None:
    """On 3000 random constants: k meets the bound, so does every larger one, and k − 1 does not."""
    random = np.random.default_rng(0)
    rates = random.uniform(0.05, 0.99, 3000)
    still, drift = (10 ** random.uniform(-4, 4, 3000) for _ in range(2))
    targets = 10 ** random.uniform(-6, 2, 3000)
    env = {
        "lam": exact(rates), "K_0": exact(still), "K_1": exact(drift), "epsilon": exact(targets),
    }  # fmt: skip
    levels = enclose(level(K_0, K_1), env)
    windows = enclose(lambert_window(K_0, K_1), env)
    simple = enclose(elementary(K_0, K_1), env)
    positive = enclose(surplus(K_0, K_1), env).lo >= 0
    applied = 0
    for i in range(3000):
        numbers = rates[i], still[i], drift[i]
        if levels.hi[i] <= 1:
            assert all(bound(*numbers, k) <= targets[i] * (1 + 1e-12) for k in range(1, 400))
            continue
        if levels.lo[i] < 1:
            continue
        applied += 1
        least = max(1, floor(windows.lo[i]) + 1 if windows.lo[i] % 1 else floor(windows.lo[i]))
        assert all(
            bound(*numbers, k) <= targets[i] * (1 + 1e-12) for k in range(least, least + 400)
        )
        if least > 1:
            assert bound(*numbers, least - 1) > targets[i] * (1 - 1e-12)
        if positive[i]:
            assert simple.hi[i] >= least - 1
            assert bound(*numbers, max(1, floor(simple.hi[i]) + 1)) <= targets[i] * (1 + 1e-12)
    assert applied > 1500


def test_the_first_window_may_be_shorter() -> None:
    """(k + K_0/K_1) λ^k rises before it falls: 1 meets the bound by chance, 2 and all later do."""
    numbers = {"lam": 0.5118, "K_0": 1.229, "K_1": 29.395, "epsilon": 16.222}
    env = {name: exact(value) for name, value in numbers.items()}
    window = enclose(lambert_window(K_0, K_1), env)
    assert 1 < float(window.lo) <= float(window.hi) <= 2
    assert bound(0.5118, 1.229, 29.395, 1) <= 16.222


def test_the_factor_k_is_needed() -> None:
    """log K/ε to the base 1/λ gives 44, where 44 · 0.9^44 = 0.43 is no 0.01."""
    window = log(1 / 0.01) / log(1 / 0.9)
    assert 43 < window < 44
    assert bound(0.9, 0, 1, 44) > 40 * 0.01


def test_constants_at_lambda_zero() -> None:
    """K_1 is infinite there, and no window follows; the first form still has a value."""
    form = CLAIMS["end-to-end"].form("window")
    env = {name: exact(1.0) for name in ("K_0", "epsilon", "k")}
    env |= {"lam": exact(0.0), "K_1": exact(inf)}
    long = next(a for a in form.assumptions if a.id == "long window")
    assert long.condition is not None
    assert not is_certain(long.condition, env)
    first = CLAIMS["end-to-end"].form("bound").statement.rhs
    names = {str(symbol): exact(0.5) for symbol in first.free_symbols}
    names |= {"lam": exact(0.0), "N": exact(3), "k": exact(2)}
    value = enclose(first, names)
    assert 0 < float(value.lo) <= float(value.hi) < 1


def test_the_levels_are_the_papers() -> None:
    """L = c K_0/K_1 − ln(ε/K_1) − ln c."""
    rate = logarithm(1 / Symbol("lam", real=True))
    ours = level(K_0, K_1).subs({K_0: 2, K_1: 3, epsilon: Integer(1) / 7, lam: Integer(1) / 2})
    direct = rate * 2 / 3 - logarithm(Integer(1) / 21) - logarithm(rate)
    assert abs(float(ours) - float(direct.subs(Symbol("lam", real=True), Integer(1) / 2))) < 1e-12
