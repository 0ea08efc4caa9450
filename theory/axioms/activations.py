"""The activations of which ρ is one, and their constants, each proved on all of ℝ.

The slope is sup |ρ'|, the curvature sup |ρ''|: the Lipschitz constants of ρ and of ρ'.
"""

from dataclasses import dataclass

from sympy import Abs, E, Expr, Rational, atan, erf, exp, log, oo, pi, sin, sqrt, tanh

from rnnbounds.theory.axioms.functions import PEAK_EQUATION
from rnnbounds.theory.language import ONE, ZERO, Statement, Use, le, symbols
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.terms.networks import curvature, steepness
from rnnbounds.theory.language.terms.variables import z

L_rho, beta_rho = symbols("L_rho beta_rho")
# Of whichever activation: its slope is at most L_ρ, its curvature at most β_ρ.
BOUNDS = (le(Abs(steepness(z)), L_rho), le(Abs(curvature(z)), beta_rho))


@dataclass(frozen=True)
class Piece:
    """The activation where z satisfies the statements."""

    rho: Expr
    region: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Supremum:
    """The exact supremum of the modulus of a derivative, ∞ where it jumps.

    With `peaks`, where it is reached, the proof is by ball arithmetic, else by the ranges of
    elementary functions. `equations` define constants that have no closed form.
    """

    value: Expr
    peaks: tuple[Expr, ...] | None = None
    equations: tuple[Use, ...] = ()

    @property
    def bounded(self) -> bool:
        """True unless the supremum is ∞."""
        return bool(self.value != oo)


@dataclass(frozen=True)
class ActivationFacts:
    """An activation ρ, formulas in the real z, and the suprema of |ρ'| and |ρ''|."""

    name: str
    pieces: tuple[Piece, ...]
    suprema: tuple[Supremum, Supremum]

    def supremum(self, order: int) -> Supremum:
        """sup |ρ'|, the Lipschitz constant of ρ, or sup |ρ''|, that of ρ'."""
        return self.suprema[order - 1]


def _smooth_activation(
    name: str, rho: Expr, slope: Supremum, curvature: Supremum
) -> ActivationFacts:
    return ActivationFacts(name, (Piece(rho),), (slope, curvature))


INFINITE = Supremum(oo)
POSITIVE, NEGATIVE = (le(ZERO, z),), (le(z, ZERO),)
SIGMOID = (1 + tanh(z / 2)) / 2
NORMAL_CDF = (1 + erf(z / sqrt(2))) / 2
LEAKY_SLOPE = Rational(1, 100)  # torch's default

_TABLE = (
    _smooth_activation("identity", z, Supremum(ONE), Supremum(ZERO)),
    ActivationFacts(
        "relu",
        (Piece(z, POSITIVE), Piece(ZERO, NEGATIVE)),
        (Supremum(ONE), INFINITE),
    ),
    ActivationFacts(
        "leaky-relu",
        (Piece(z, POSITIVE), Piece(LEAKY_SLOPE * z, NEGATIVE)),
        (Supremum(ONE), INFINITE),
    ),
    _smooth_activation("tanh", tanh(z), Supremum(ONE), Supremum(4 / (3 * sqrt(3)))),
    _smooth_activation("sigmoid", SIGMOID, Supremum(Rational(1, 4)), Supremum(1 / (6 * sqrt(3)))),
    _smooth_activation("softplus", log(1 + exp(z)), Supremum(ONE), Supremum(Rational(1, 4))),
    _smooth_activation(
        "gelu",
        z * NORMAL_CDF,
        Supremum(NORMAL_CDF.subs(z, sqrt(2)) + exp(-1) / sqrt(pi), (sqrt(2),)),
        Supremum(sqrt(2 / pi)),
    ),
    _smooth_activation(
        "silu",
        z * SIGMOID,
        Supremum((SILU_PEAK + 2) / 4, (SILU_PEAK,), (PEAK_EQUATION.at(),)),
        Supremum(Rational(1, 2)),
    ),
    ActivationFacts(
        "elu",
        (Piece(exp(z) - 1, NEGATIVE), Piece(z, POSITIVE)),
        (Supremum(ONE), Supremum(ONE)),
    ),
    _smooth_activation(
        "erf",
        erf(z),
        Supremum(2 / sqrt(pi)),
        Supremum(2 * sqrt(2 / (pi * E)), (1 / sqrt(2), -1 / sqrt(2))),
    ),
    _smooth_activation("sin", sin(z), Supremum(ONE), Supremum(ONE)),
    _smooth_activation("arctan", atan(z), Supremum(ONE), Supremum(3 * sqrt(3) / 8)),
)

ACTIVATIONS: dict[str, ActivationFacts] = {facts.name: facts for facts in _TABLE}
