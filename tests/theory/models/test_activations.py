"""The table of activations: every constant is proved on all of ℝ, and no smaller one is."""

from dataclasses import replace

import pytest
import sympy
from flint import arb, ctx
from sympy import Abs, Expr, Integer, Rational, exp, oo, tanh

from rnnbounds.theory.axioms.functions import PEAK_EQUATION
from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Statement, le, symbols
from rnnbounds.theory.language.constants import SILU_PEAK, silu_peak_ball
from rnnbounds.theory.language.terms.gradients import curvature
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.models.activation.pieces import Piece, PieceDerivative
from rnnbounds.theory.models.activation.slopes import SLOPES, EachActivation
from rnnbounds.theory.models.activation.table import (
    ACTIVATIONS,
    ActivationFacts,
    Supremum,
)
from rnnbounds.theory.numbers.evaluate import ball
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.ledger import Ledger
from rnnbounds.theory.proof.methods import BallMaximum, Gap, Method
from rnnbounds.theory.proof.scope import StepScope

lam, beta_rho = symbols("lam beta_rho")
NAMES = tuple(ACTIVATIONS)
# name: (sup |ρ'|, sup |ρ''|) to six digits
TABLE = {
    "identity": (1, 0),
    "relu": (1, None),
    "leaky-relu": (1, None),
    "tanh": (1, 0.769800),
    "sigmoid": (0.25, 0.096225),
    "softplus": (1, 0.25),
    "gelu": (1.128904, 0.797885),
    "silu": (1.099839, 0.5),
    "elu": (1, 1),
    "erf": (1.128379, 0.967883),
    "sin": (1, 1),
    "arctan": (1, 0.649519),
}


def run(method: Method, goal: Statement) -> Ledger:
    """The ledger of one step."""
    return check(Proof((Step("it", goal, method, forall=(z,)),)), goal, ())


def gap(method: Method, goal: Statement) -> str:
    """Why the step fails."""
    ledger = run(method, goal)
    assert not ledger.proved
    return ledger.failures[0].detail


@pytest.mark.parametrize("name", NAMES)
def test_the_constants_are_those_of_the_table(name: str) -> None:
    """Slope and curvature to six digits; joints and pieces are proved, and no smaller constant."""
    facts = ACTIVATIONS[name]
    for order, expected in enumerate(TABLE[name], 1):
        value = facts.supremum(order).value
        assert value == oo if expected is None else abs(float(value) - expected) < 1e-6
        if value in (0, oo):
            continue
        for share, proved in ((1, True), (Rational(999, 1000), False)):
            steps = (*facts.joint_steps(order - 1), *facts.bound_steps(order, value * share))
            ledger = check(Proof(steps), steps[-1].conclusion, ())
            assert ledger.proved == proved
            assert proved or any("counter-model" in step.detail for step in ledger.failures)


def test_a_slope_at_a_kink_is_no_curvature() -> None:
    """ELU with α = 2 has a jump in its slope, which the table's joints would refuse."""
    z_elu = (Piece(2 * exp(z) - 2, (le(z, Integer(0)),)), Piece(z, (le(Integer(0), z),)))
    elu = ActivationFacts("elu 2", z, z_elu, (Supremum(Integer(2)), Supremum(Integer(2))))
    steps = tuple(elu.joint_steps(1))
    ledger = check(Proof(steps), steps[-1].conclusion, ())
    assert {step.id for step in ledger.failures} == {"elu 2: order 1 at 0, piece 2"}


@pytest.mark.parametrize("name", NAMES)
def test_rho_agrees_with_its_pieces(name: str) -> None:
    """The formula and the pieces give the same values on either side of 0."""
    facts = ACTIVATIONS[name]
    with ctx.workprec(200):
        for point in (-3, -1, 0, 1, 3):
            for piece in facts.pieces:
                inside = all(
                    bool(s.lhs.subs(z, point) <= s.rhs.subs(z, point)) for s in piece.region
                )
                if inside:
                    values = {"z": arb(point)}
                    assert ball(facts.rho, values).overlaps(ball(piece.rho, values))


@pytest.mark.slow
def test_the_slopes_are_one_step_of_other_ledgers() -> None:
    """Twelve activations in fifteen cases; with a smaller constant the first steep one is named."""
    assert check(Proof((SLOPES,)), SLOPES.conclusion, ()).proved
    lower = le(SLOPES.conclusion.lhs, SLOPES.conclusion.rhs * Rational(9, 10))
    ledger = check(Proof((SLOPES,)), lower, ())
    assert ledger.failures[0].detail.startswith("identity: counter-model")


def test_the_peak_of_silu() -> None:
    """z tanh(z/2) = 2 at every precision, and SymPy knows the number."""
    for precision in (53, 300):
        with ctx.workprec(precision):
            peak = silu_peak_ball()
            assert (peak * (peak / 2).tanh() - 2).contains(0)
            assert peak.rel_accuracy_bits() > precision - 8
    assert str(SILU_PEAK) == "z_silu"
    assert sympy.latex(SILU_PEAK) == "z_{*}"
    assert abs(sympy.N(SILU_PEAK, 40) * sympy.N(tanh(SILU_PEAK / 2), 40) - 2) < 1e-38
    assert 2 < SILU_PEAK < Rational(12, 5)
    for kind in (Integer, Rational):
        low, high = SILU_PEAK.approximation_interval(kind)
        assert low < SILU_PEAK < high


NORMAL = exp(-(z**2))


PEAK = BallMaximum((Integer(0),))


@pytest.mark.parametrize(
    ("method", "function", "bound", "message"),
    [
        (BallMaximum((Integer(1),)), NORMAL, 1, "not shown to vanish"),
        (BallMaximum(()), NORMAL, 1, "undecided after"),
        (BallMaximum(()), NORMAL, Rational(1, 2), "counter-model: |f(z)| > 1/2 at z = 0"),
        (BallMaximum(()), z, 100, "counter-model"),
        (BallMaximum(()), exp(z), 3000, "counter-model"),
        (BallMaximum(()), sympy.sin(z) / 2, Rational(1, 3), "counter-model"),
        (BallMaximum(()), sympy.erfc(z) / 4, 1, "is on no list"),
        (BallMaximum((Integer(0),), reach=2.0), NORMAL, 1, "keeps no sign"),
        (BallMaximum((Integer(0),)), NORMAL * (1 + z**2 / 2) ** 2, 1, "second derivative"),
        (BallMaximum((Integer(0),)), 1 - 200 * z**2, 1, "other sign"),
    ],
)
def test_ball_maximum_fails_closed(
    method: BallMaximum, function: Expr, bound: Expr, message: str
) -> None:
    """A wrong peak, a missing one, a false bound, an unbounded tail: a gap with its reason."""
    assert message in gap(method, le(Abs(function), bound))


def test_ball_maximum_uses_equations_only_where_needed() -> None:
    """Without the equation of its peak SiLU's slope is not proved, and the ledger says so."""
    (step,) = ACTIVATIONS["silu"].bound_steps(1, ACTIVATIONS["silu"].supremum(1).value)
    assert step.use_names == (PEAK_EQUATION.at().name,)
    assert isinstance(step.method, PieceDerivative)
    without = replace(step.method, method=BallMaximum((SILU_PEAK,)))
    assert "not shown to vanish" in gap(without, step.conclusion)


@pytest.mark.parametrize("bound", [Integer(1), 2 * beta_rho / 2 + 1, lam])
def test_relu_has_no_curvature(bound: Expr) -> None:
    """All activations with a finite β_ρ have |ρ''| ≤ 1, but ρ' of ReLU jumps."""
    with pytest.raises(Gap, match="where beta_rho is infinite"):
        EachActivation(2).prove(door.goal(le(Abs(curvature(z)), bound)), StepScope({}))


def test_what_holds_of_some_activations_is_not_told_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """|ρ''| ≤ 2 of a table in which every β_ρ is finite says nothing beside one that is not."""
    method, told, relu = EachActivation(2), le(Abs(curvature(z)), Integer(2)), ACTIVATIONS["relu"]
    with monkeypatch.context() as smooth:
        for name in set(NAMES) - {"tanh", "identity"}:
            smooth.delitem(ACTIVATIONS, name)
        method.prove(door.goal(told), StepScope({}))
        smooth.setitem(ACTIVATIONS, "relu", relu)
        with pytest.raises(Gap, match="where beta_rho is infinite"):
            method.prove(door.goal(told), StepScope({}))
