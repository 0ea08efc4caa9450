"""Claims on gradients against systems worked out by hand, in exact rationals.

The system is h = a h + x with the one weight a = λ, inputs x = 1 and the loss p(h) = h, so that
h_T = Σ λ^i and ∇p_T = Σ i λ^{i−1} over i < T.
"""

import operator
from collections.abc import Iterable

import numpy as np
import pytest
from flint import arb, fmpq
from sympy import Integer

from rnnbounds import theory
from rnnbounds.theory.axioms import gradients
from rnnbounds.theory.axioms.base import DIAGONAL_BENDS
from rnnbounds.theory.language import Instance, Statement, le
from rnnbounds.theory.language.terms.variables import A, B, a, b, v, z
from rnnbounds.theory.numbers.evaluate import ball, enclose, is_certain, rational
from rnnbounds.theory.numbers.interval import exact
from rnnbounds.theory.proof import Form, Proof, Step, check
from rnnbounds.theory.proof.methods import Smt

Numbers = dict[str, fmpq]
IDS = ("cell-constants", "loss-constants", "gradient-gap", "tbptt-gap", "gradient-lipschitz")
FORMS = [
    pytest.param(form, id=f"{id}/{form.name}") for id in IDS for form in theory.claim(id).forms
]
NORMS = ("", "_box", "_omega")
LENGTHS = ((1, 1), (2, 1), (3, 2), (7, 3), (12, 12), (40, 1))


def total(terms: Iterable[fmpq]) -> fmpq:
    """Their sum, in rationals."""
    return sum(terms, fmpq(0))


def state(a: fmpq, steps: int) -> fmpq:
    """h after so many steps."""
    return total(a**i for i in range(steps))


def sensitivity(a: fmpq, steps: int) -> fmpq:
    """dh/da after so many steps."""
    return total(i * a ** (i - 1) for i in range(1, steps))


def cut(a: fmpq, length: int, k: int) -> fmpq:
    """Truncated back-propagation: Σ λ^{T−t} h_{t−1} over the last k steps."""
    return total(a ** (length - t) * state(a, t - 1) for t in range(length - k + 1, length + 1))


def constants(a: fmpq) -> Numbers:
    """The model's constants, the same in every norm of a scalar state."""
    largest = 1 / (1 - a)
    found = {"S_0": 1, "B_h": largest, "L_w": largest, "beta_hh": 0, "beta_wh": 1, "beta_ww": 0}
    found |= {"lam": a, "L_p": 1, "beta_p": 0}
    every = {f"{name}{suffix}": v for name, v in found.items() for suffix in NORMS}
    factors = {"G_0": largest**2, "D_1": largest, "G_1": largest / a if a else 0}
    return {name: fmpq(value) for name, value in (every | factors | {"beta_hw": 1}).items()}


def values(a: fmpq, length: int, k: int) -> Numbers:
    """All quantities of the system; the other weight is a/2 and the states of one step are 3, 1."""
    other, truncated = a / 2, sensitivity(a, k)
    measured = {
        "T": fmpq(length),
        "k": fmpq(k),
        "grad_gap": sensitivity(a, length) - sensitivity(a, min(length, k)),
        "tbptt_gap": sensitivity(a, length) - cut(a, length, k),
        "tb_gap": cut(a, length, k) - truncated,
        "grad_gap_weights": sensitivity(a, length) - sensitivity(other, length),
        "weight_distance": a - other,
    }
    one_step = {"H": 3, "B_x": 1, "L_rho": 1, "beta_rho": 0, "W_norm": a, "W_rows": a}
    one_step |= {"state_gap": 2, "dphi_w_gap": 2, "dphi_h_gap": 0, "dphi_h_gap_box": 0}
    one_step |= {"gate_state_gap_box": 2, "gate_gap_box": 2 * a, "dphi_w_gap_box": 2}
    # p = (2h + 1)²/2, or the cross-entropy of the logits h and 2h
    losses = {"C_norm_sq": 2, "y_norm": 1, "C_label": 1, "C_spread": 1}
    return constants(a) | measured | {n: fmpq(v) for n, v in (one_step | losses).items()}


def sides(statement: Statement, numbers: Numbers) -> tuple[fmpq, fmpq]:
    """Both sides, exactly."""
    lhs, rhs = rational(statement.lhs, numbers), rational(statement.rhs, numbers)
    assert lhs is not None
    assert rhs is not None
    return lhs, rhs


def about(id: str, *names: str) -> list[Form]:
    """Some forms of a claim, or all."""
    return [form for form in theory.claim(id).forms if not names or form.name in names]


@pytest.mark.parametrize("k", [1, 2, 9])
@pytest.mark.parametrize("name", ["finite", "uniform", "box"])
def test_the_gradient_gap_is_attained(name: str, k: int) -> None:
    """For long sequences each form for the loss at the last step becomes an equation."""
    (form,) = about("gradient-gap", name)
    lhs, rhs = sides(form.statement, values(fmpq(1, 2), 120, k))
    assert 1 - fmpq(1, 2**99) < lhs / rhs <= 1


def test_smoothness_is_attained() -> None:
    """Close weights and long sequences: p″ is 2 L_p L_w/(1 − λ)², with both mixed terms."""
    a, near, length = fmpq(1, 2), fmpq(1, 2) - fmpq(1, 10**9), 150
    numbers = values(a, length, 1)
    numbers["grad_gap_weights"] = sensitivity(a, length) - sensitivity(near, length)
    numbers["weight_distance"] = a - near
    for form in about("gradient-lipschitz"):
        lhs, rhs = sides(form.statement, numbers)
        assert fmpq(999, 1000) < lhs / rhs <= 1


def test_truncated_back_propagation_is_attained() -> None:
    """With the input's weight alone, dh/du = h, the finite form is an equation for all T and k."""
    (form,) = about("tbptt-gap", "finite")
    for length, k in LENGTHS:
        numbers = values(fmpq(2, 3), length, k) | {"L_w": fmpq(1)}
        numbers["tbptt_gap"] = state(fmpq(2, 3), length) - state(fmpq(2, 3), k)
        lhs, rhs = sides(form.statement, numbers)
        assert lhs == rhs


def test_the_loss_takes_its_part() -> None:
    """Squared loss and the input's weight alone: the gap is 2 − λ^k times the bound without β_p."""
    a, k, length = fmpq(1, 2), 4, 200
    numbers = values(a, length, k) | {"L_w": fmpq(1), "beta_wh": fmpq(0)}
    numbers |= {"L_p": 1 / (1 - a), "beta_p": fmpq(1)}
    numbers["grad_gap"] = state(a, length) ** 2 - state(a, k) ** 2
    claim = theory.claim("gradient-gap")
    assert operator.le(*sides(claim.forms[0].statement, numbers))
    lhs, rhs = sides(claim.variant("without-curvature").statement, numbers)
    assert 2 - a**k - fmpq(1, 2**50) < lhs / rhs < 2 - a**k + fmpq(1, 2**50)


def test_one_step_constants_are_attained() -> None:
    """The linear cell at h = 3, x = 1 and its loss at the worst target: ratios of 1."""
    numbers = values(fmpq(1, 2), 3, 1)
    balls = {name: arb(value) for name, value in numbers.items()} | {"dphi_w": arb(11).sqrt()}
    weights, mixed, *_ = theory.claim("cell-constants").forms
    assert ball(weights.statement.lhs - weights.statement.rhs, balls).contains(0)
    assert ball(mixed.statement.lhs - mixed.statement.rhs, balls).contains(0)
    squared, curvature, *_ = theory.claim("loss-constants").forms
    worst = numbers | {"dp": fmpq(14), "dp_gap": fmpq(8)}  # ∇p = 2(2h + 1) at h = 3, and ∇²p = 4
    for form in (squared, curvature):
        lhs, rhs = sides(form.statement, worst)
        assert lhs == rhs


@pytest.mark.parametrize("form", FORMS)
def test_statements_are_evaluated_in_three_arithmetics(form: Form) -> None:
    """Intervals and balls contain the rational value, where there is one."""
    unseen = dict.fromkeys(("dp", "dp_gap", "dphi_w", "dphi_w_box"), fmpq(1, 4))
    numbers = values(fmpq(1, 2), 7, 3) | unseen
    intervals = {name: exact(float(arb(value))) for name, value in numbers.items()}
    for side in (form.statement.lhs, form.statement.rhs):
        middle = ball(side, {name: arb(value) for name, value in numbers.items()})
        assert middle.is_finite()
        value = rational(side, numbers)
        assert value is None or middle.contains(arb(value))
        enclosure = enclose(side, intervals)
        assert enclosure.lo <= float(middle.upper())
        assert enclosure.hi >= float(middle.lower())


@pytest.mark.parametrize("form", about("gradient-gap") + about("gradient-lipschitz"))
def test_a_kink_is_refused(form: Form) -> None:
    """No form is about ReLU: where β_ρ, or a cell's β_hh, is infinite it is not met."""
    (smooth,) = (a for a in form.assumptions if a.id == "smooth")
    assert smooth.condition is not None
    assert not certain_with(smooth.condition, np.inf)
    assert certain_with(smooth.condition, 0.0)


def certain_with(condition: Statement, curvature: float) -> bool:
    """Whether the judge would find the condition met: both sides finite, and it is true."""
    names = ("beta_rho", "beta_hh_box", "beta_hh_omega")
    env = dict.fromkeys(names, exact(curvature))
    finite = np.isfinite(enclose(condition.rhs, env).hi)
    return bool(finite & is_certain(condition, env))


def test_truncated_back_propagation_needs_no_smoothness() -> None:
    """Its own bound stands for ReLU; against the truncated model's gradient it does not."""
    for form in about("tbptt-gap"):
        smooth = "smooth" in {a.id for a in form.assumptions}
        assert smooth == (form.name == "against-truncated")


GOAL = le(Integer(0), Integer(0))


@pytest.mark.parametrize(
    "instance",
    [
        gradients.LINEAR_MAP.at(z, A),
        gradients.RAYLEIGH.at(z, A),
        gradients.MEAN_VALUE_GRADIENT.at(z, a, b),
        DIAGONAL_BENDS.at(a, b),
        gradients.CHAIN_RULE_LAYER.at(A, B, v, a, b),
        gradients.DERIVATIVE_IN_STATE_OTHER.at(z, a, b),
    ],
    ids=lambda instance: instance.law.id,
)
def test_lemmas_ask_for_what_they_presuppose(instance: Instance) -> None:
    """A bound for all vectors, a model or a Lipschitz condition has to be stated with them."""
    ledger = check(Proof((Step("claim", GOAL, Smt(instance)),)), GOAL, ())
    assert "nothing used states what it requires" in ledger.failures[0].detail
