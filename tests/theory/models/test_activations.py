"""The table of activations: every constant is proved on all of ℝ, and no smaller one is."""

from dataclasses import replace

import pytest
import sympy
from flint import arb, ctx
from sympy import Abs, Expr, Integer, Max, Min, Rational, exp, oo, tanh

from rnnbounds.theory.axioms.activations import (
    ACTIVATIONS,
    LEAKY_SLOPE,
    ActivationFacts,
    Piece,
    Supremum,
)
from rnnbounds.theory.axioms.functions import PEAK_EQUATION
from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Statement, le, symbols
from rnnbounds.theory.language.constants import SILU_PEAK, silu_peak_ball
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.models.cells import CURVATURES, SLOPES
from rnnbounds.theory.numbers.evaluate import ball
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import BallMaximum, Cases, Gap, Method
from rnnbounds.theory.proof.methods.cases import prove_case
from rnnbounds.theory.proof.proof import Ledger
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


def of_order(facts: ActivationFacts, order: int, share: Expr | int = 1) -> list[str]:
    """The cases of the activation, with a share of its constant."""
    suprema = [replace(one, value=one.value * share) for one in facts.suprema]
    return prove_case(replace(facts, suprema=tuple(suprema)), order, StepScope({}))


@pytest.mark.parametrize("name", NAMES)
def test_the_constants_are_those_of_the_table(name: str) -> None:
    """Slope and curvature to six digits; joints and pieces are proved, and no smaller constant."""
    facts = ACTIVATIONS[name]
    for order, expected in enumerate(TABLE[name], 1):
        value = facts.supremum(order).value
        assert value == oo if expected is None else abs(float(value) - expected) < 1e-6
        if value != oo:
            assert len(of_order(facts, order)) == len(facts.pieces)
        if value not in (0, oo):
            with pytest.raises(Gap, match="counter-model"):
                of_order(facts, order, Rational(999, 1000))


def test_a_slope_at_a_kink_is_no_curvature() -> None:
    """ELU with α = 2 has a jump in its slope."""
    pieces = (Piece(2 * exp(z) - 2, (le(z, Integer(0)),)), Piece(z, (le(Integer(0), z),)))
    elu = ActivationFacts("elu 2", pieces, (Supremum(Integer(2)), Supremum(Integer(2))))
    assert of_order(elu, 1)
    with pytest.raises(Gap, match="a jump at 0"):
        of_order(elu, 2)


FORMULAS = {
    "relu": Max(0, z),
    "leaky-relu": Max(z, LEAKY_SLOPE * z),
    "elu": Max(z, 0) + exp(Min(z, 0)) - 1,
}


@pytest.mark.parametrize("name", FORMULAS)
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
                    assert ball(FORMULAS[name], values).overlaps(ball(piece.rho, values))


@pytest.mark.slow
def test_the_slopes_are_one_step_of_other_ledgers() -> None:
    """Twelve activations in fifteen cases; with a smaller constant the first steep one is named."""
    assert check(Proof((SLOPES,)), SLOPES.conclusion, ()).proved
    lower = le(SLOPES.conclusion.lhs, SLOPES.conclusion.rhs * Rational(9, 10))
    ledger = check(Proof((SLOPES,)), lower, ())
    assert "is not the bound on" in ledger.failures[0].detail


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
    """Without the equation of its peak SiLU's slope is not proved, and the ledger names it."""
    silu = ACTIVATIONS["silu"]
    assert SLOPES.use_names == (PEAK_EQUATION.at().name,)
    without = replace(silu, suprema=tuple(replace(one, equations=()) for one in silu.suprema))
    with pytest.raises(Gap, match="not shown to vanish"):
        of_order(without, 1)


def test_a_table_is_proved_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a smaller constant the activation is named; β_ρ of ReLU is infinite, and left out."""
    assert "relu" not in Cases(2).prove(door.goal(CURVATURES.conclusion), StepScope({}))
    tanh_facts = ACTIVATIONS["tanh"]
    less = replace(tanh_facts, suprema=(Supremum(Rational(9, 10)), tanh_facts.suprema[1]))
    monkeypatch.setitem(ACTIVATIONS, "tanh", less)
    with pytest.raises(Gap, match="tanh: counter-model"):
        Cases().prove(door.goal(SLOPES.conclusion), StepScope({}))
