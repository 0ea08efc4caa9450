"""The activations and their constants, each proved on all of ℝ.

The slope is sup |ρ'|, the curvature sup |ρ''|: the Lipschitz constants of ρ and of ρ'.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Abs, E, Expr, Max, Min, Rational, atan, erf, exp, log, oo, pi, sin, sqrt, tanh

from rnnbounds.theory.axioms.functions import PEAK_EQUATION
from rnnbounds.theory.language import ONE, ZERO, Statement, Use, eq, le
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.models.activation.pieces import RHO_DERIVATIVES, Piece, PieceDerivative
from rnnbounds.theory.proof import Proof, Step
from rnnbounds.theory.proof.methods import BallMaximum, Elementary, Identity, Method
from rnnbounds.theory.proof.proof import GIVEN

ORDERS = ("bound", "slope", "curvature")


@dataclass(frozen=True)
class Supremum:
    """The exact supremum of |ρ| or of a derivative, and where the first piece reaches it.

    `place` is a point, an equation for z, ∞ for a limit, or None where the supremum is infinite.
    With `peaks` the proof is by ball arithmetic, else by the ranges of elementary functions.
    `equations` define constants that have no closed form.
    """

    value: Expr
    place: Expr | Statement | None
    peaks: tuple[Expr, ...] | None = None
    equations: tuple[Use, ...] = ()


@dataclass(frozen=True)
class ActivationFacts:
    """An activation ρ, an expression in the real z, and the suprema of |ρ|, |ρ'| and |ρ''|."""

    name: str
    rho: Expr
    pieces: tuple[Piece, ...]
    suprema: tuple[Supremum, Supremum, Supremum]

    @property
    def bound(self) -> Expr:
        """sup |ρ|; ∞ if the activation is unbounded."""
        return self.suprema[0].value

    @property
    def slope(self) -> Expr:
        """sup |ρ'|, the Lipschitz constant of ρ."""
        return self.suprema[1].value

    @property
    def curvature(self) -> Expr:
        """sup |ρ''|, the Lipschitz constant of ρ'; ∞ where ρ' jumps."""
        return self.suprema[2].value

    @property
    def at_zero(self) -> Expr:
        """The value ρ(0)."""
        return self.rho.subs(z, 0)

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

    def steps(self, order: int) -> tuple[Step, ...]:
        """Steps: `suprema[order]` is the supremum and is attained; none if it is infinite."""
        supremum = self.suprema[order]
        if supremum.place is None:
            return ()
        joined = self.joint_steps(order - 1) if order else ()
        return self.attained_step(order), *self.bound_steps(order, supremum.value), *joined

    def attained_step(self, order: int) -> Step:
        """Step: the first piece attains the supremum, or comes within 1/z of it."""
        rho, supremum = self.pieces[0].rho, self.suprema[order]
        id, derivative = f"{self.name}: {ORDERS[order]} reached", RHO_DERIVATIVES[order]
        if supremum.place == oo:
            closeness, beyond_one = le(supremum.value - derivative(z), 1 / z), (le(ONE, z),)
            return Step(
                id,
                closeness,
                PieceDerivative(rho, order, Elementary(f"{GIVEN} 1")),
                (z,),
                beyond_one,
            )
        if isinstance(supremum.place, Statement):
            attained, method = eq(derivative(z), supremum.value), Identity(f"{GIVEN} 1")
            return Step(id, attained, PieceDerivative(rho, order, method), (z,), (supremum.place,))
        attained, method = (
            eq(derivative(supremum.place), supremum.value),
            Identity(*supremum.equations),
        )
        return Step(id, attained, PieceDerivative(rho, order, method))

    @property
    def proof(self) -> Proof:
        """Proof that the three constants are the suprema of |ρ|, |ρ'| and |ρ''|."""
        return Proof(tuple(step for order in range(len(ORDERS)) for step in self.steps(order)))

    def bound_method(self, order: int, piece: Piece) -> Method:
        """Proof method that bounds the derivative of this order on the piece."""
        supremum = self.suprema[order]
        region = piece.region if piece.rho.diff(z, order).has(z) else ()
        bound: Method = Elementary(*(f"{GIVEN} {index + 1}" for index in range(len(region))))
        if supremum.peaks is not None:
            bound = BallMaximum(supremum.peaks, supremum.equations)
        return PieceDerivative(piece.rho, order, bound)


def _smooth_activation(name: str, rho: Expr, *suprema: Supremum) -> ActivationFacts:
    bound, slope, curvature = suprema
    return ActivationFacts(name, rho, (Piece(rho),), (bound, slope, curvature))


INFINITE = Supremum(oo, None)
POSITIVE, NEGATIVE = (le(ZERO, z),), (le(z, ZERO),)
SIGMOID = (1 + tanh(z / 2)) / 2
NORMAL_CDF = (1 + erf(z / sqrt(2))) / 2
LEAKY_SLOPE = Rational(1, 100)  # torch's default

_TABLE = (
    _smooth_activation("identity", z, INFINITE, Supremum(ONE, ZERO), Supremum(ZERO, ZERO)),
    ActivationFacts(
        "relu",
        Max(0, z),
        (Piece(z, POSITIVE), Piece(ZERO, NEGATIVE)),
        (INFINITE, Supremum(ONE, ONE), INFINITE),
    ),
    ActivationFacts(
        "leaky-relu",
        Max(z, LEAKY_SLOPE * z),
        (Piece(z, POSITIVE), Piece(LEAKY_SLOPE * z, NEGATIVE)),
        (INFINITE, Supremum(ONE, ONE), INFINITE),
    ),
    _smooth_activation(
        "tanh",
        tanh(z),
        Supremum(ONE, oo),
        Supremum(ONE, ZERO),
        Supremum(4 / (3 * sqrt(3)), eq(tanh(z), -1 / sqrt(3))),
    ),
    _smooth_activation(
        "sigmoid",
        SIGMOID,
        Supremum(ONE, oo),
        Supremum(Rational(1, 4), ZERO),
        Supremum(1 / (6 * sqrt(3)), eq(tanh(z / 2), -1 / sqrt(3))),
    ),
    _smooth_activation(
        "softplus", log(1 + exp(z)), INFINITE, Supremum(ONE, oo), Supremum(Rational(1, 4), ZERO)
    ),
    _smooth_activation(
        "gelu",
        z * NORMAL_CDF,
        INFINITE,
        Supremum(NORMAL_CDF.subs(z, sqrt(2)) + exp(-1) / sqrt(pi), sqrt(2), (sqrt(2),)),
        Supremum(sqrt(2 / pi), ZERO, (ZERO,)),
    ),
    _smooth_activation(
        "silu",
        z * SIGMOID,
        INFINITE,
        Supremum((SILU_PEAK + 2) / 4, SILU_PEAK, (SILU_PEAK,), (PEAK_EQUATION.at(),)),
        Supremum(Rational(1, 2), ZERO, (ZERO,)),
    ),
    ActivationFacts(
        "elu",
        Max(z, 0) + exp(Min(z, 0)) - 1,
        (Piece(exp(z) - 1, NEGATIVE), Piece(z, POSITIVE)),
        (INFINITE, Supremum(ONE, ZERO), Supremum(ONE, ZERO)),
    ),
    _smooth_activation(
        "erf",
        erf(z),
        Supremum(ONE, oo),
        Supremum(2 / sqrt(pi), ZERO, (ZERO,)),
        Supremum(2 * sqrt(2 / (pi * E)), -1 / sqrt(2), (1 / sqrt(2), -1 / sqrt(2))),
    ),
    _smooth_activation(
        "sin",
        sin(z),
        Supremum(ONE, eq(sin(z), ONE)),
        Supremum(ONE, ZERO),
        Supremum(ONE, eq(sin(z), -ONE)),
    ),
    _smooth_activation(
        "arctan",
        atan(z),
        Supremum(pi / 2, oo),
        Supremum(ONE, ZERO),
        Supremum(3 * sqrt(3) / 8, -1 / sqrt(3)),
    ),
)

ACTIVATIONS: dict[str, ActivationFacts] = {facts.name: facts for facts in _TABLE}
