"""The activations and their constants, each proved on all of ℝ.

The slope is sup |ρ'|, the curvature sup |ρ''|: the Lipschitz constants of ρ and of ρ'.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Abs, E, Expr, Max, Min, Rational, atan, erf, exp, log, oo, pi, sin, sqrt, tanh

from rnnbounds.theory.axioms.functions import PEAK_EQUATION
from rnnbounds.theory.language import ONE, ZERO, Use, eq, le
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.models.activation.pieces import RHO_DERIVATIVES, Piece, PieceDerivative
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import BallMaximum, Elementary, Identity, Method
from rnnbounds.theory.proof.proof import GIVEN

ORDERS = ("value", "slope", "curvature")


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
    """An activation ρ, an expression in the real z, and the suprema of |ρ'| and |ρ''|."""

    name: str
    rho: Expr
    pieces: tuple[Piece, ...]
    suprema: tuple[Supremum, Supremum]

    def supremum(self, order: int) -> Supremum:
        """sup |ρ'|, the Lipschitz constant of ρ, or sup |ρ''|, that of ρ'."""
        return self.suprema[order - 1]

    def bound_steps(self, order: int, bound: Expr) -> Iterator[Step]:
        """Steps: on each piece the modulus of the derivative is at most the bound."""
        for index, piece in enumerate(self.pieces, start=1):
            yield Step(
                f"{self.name}: {ORDERS[order]}, piece {index}",
                le(Abs(RHO_DERIVATIVES[order](z)), bound),
                self.bound_method(order, piece),
                forall=(z,),
                given=piece.region,
            )

    def joint_steps(self, order: int) -> Iterator[Step]:
        """Steps: the pieces have one derivative of this order at 0, where they meet."""
        (first, *others) = self.pieces
        at_zero = first.rho.diff(z, order).subs(z, 0)
        for index, piece in enumerate(self.pieces if others else (), start=1):
            yield Step(
                f"{self.name}: order {order} at 0, piece {index}",
                eq(RHO_DERIVATIVES[order](ZERO), at_zero),
                PieceDerivative(piece.rho, order, Identity()),
            )

    def bound_method(self, order: int, piece: Piece) -> Method:
        """Proof method that bounds the derivative of this order on the piece."""
        supremum = self.supremum(order)
        region = piece.region if piece.rho.diff(z, order).has(z) else ()
        bound: Method = Elementary(*(f"{GIVEN} {index + 1}" for index in range(len(region))))
        if supremum.peaks is not None:
            bound = BallMaximum(supremum.peaks, supremum.equations)
        return PieceDerivative(piece.rho, order, bound)


def _smooth_activation(
    name: str, rho: Expr, slope: Supremum, curvature: Supremum
) -> ActivationFacts:
    return ActivationFacts(name, rho, (Piece(rho),), (slope, curvature))


INFINITE = Supremum(oo)
POSITIVE, NEGATIVE = (le(ZERO, z),), (le(z, ZERO),)
SIGMOID = (1 + tanh(z / 2)) / 2
NORMAL_CDF = (1 + erf(z / sqrt(2))) / 2
LEAKY_SLOPE = Rational(1, 100)  # torch's default

_TABLE = (
    _smooth_activation("identity", z, Supremum(ONE), Supremum(ZERO)),
    ActivationFacts(
        "relu",
        Max(0, z),
        (Piece(z, POSITIVE), Piece(ZERO, NEGATIVE)),
        (Supremum(ONE), INFINITE),
    ),
    ActivationFacts(
        "leaky-relu",
        Max(z, LEAKY_SLOPE * z),
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
        Supremum(sqrt(2 / pi), (ZERO,)),
    ),
    _smooth_activation(
        "silu",
        z * SIGMOID,
        Supremum((SILU_PEAK + 2) / 4, (SILU_PEAK,), (PEAK_EQUATION.at(),)),
        Supremum(Rational(1, 2), (ZERO,)),
    ),
    ActivationFacts(
        "elu",
        Max(z, 0) + exp(Min(z, 0)) - 1,
        (Piece(exp(z) - 1, NEGATIVE), Piece(z, POSITIVE)),
        (Supremum(ONE), Supremum(ONE)),
    ),
    _smooth_activation(
        "erf",
        erf(z),
        Supremum(2 / sqrt(pi), (ZERO,)),
        Supremum(2 * sqrt(2 / (pi * E)), (1 / sqrt(2), -1 / sqrt(2))),
    ),
    _smooth_activation("sin", sin(z), Supremum(ONE), Supremum(ONE)),
    _smooth_activation("arctan", atan(z), Supremum(ONE), Supremum(3 * sqrt(3) / 8)),
)

ACTIVATIONS: dict[str, ActivationFacts] = {facts.name: facts for facts in _TABLE}
