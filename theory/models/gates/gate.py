"""A gate, σ or tanh of W h + U x + b: its slopes, its entries, and how far it moves with the state.

All entries are those of the unit i.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import Abs, Expr, Rational, Symbol, tanh

from rnnbounds.theory.axioms import entries
from rnnbounds.theory.axioms.base import EXPONENTIAL, SUBMULTIPLICATIVE_MAX
from rnnbounds.theory.axioms.functions import TANH
from rnnbounds.theory.language import ONE, ZERO, Assumption, Use, assume, at, le, symbols
from rnnbounds.theory.language.terms.gates import boxed, sigmoid, to_output
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import A, a, b, i, m, operator, v, vector, x, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, max_norm
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import Elementary

QUARTER = Rational(1, 4)

TANH_SLOPE = Step("slope of tanh", le(Abs(tanh(z).diff(z)), ONE), Elementary(), forall=(z,))
TANH_RISES = step("tanh rises", le(tanh(y), tanh(z)), forall=(y, z), given=(le(y, z),)).by(
    TANH.at(y), TANH.at(z), EXPONENTIAL.at(2 * y, 2 * z), EXPONENTIAL.at(y, y)
)
SIGMOID_POSITIVE = Step("σ is positive", le(ZERO, sigmoid(z)), Elementary(), forall=(z,))
SIGMOID_BELOW_ONE = Step("σ is at most 1", le(sigmoid(z), ONE), Elementary(), forall=(z,))
TANH_BELOW_ONE = Step("tanh is at most 1", le(Abs(tanh(z)), ONE), Elementary(), forall=(z,))
TANH_GAP = step("tanh moves no more", le(Abs(tanh(y) - tanh(z)), Abs(y - z)), forall=(y, z)).by(
    "slope of tanh", entries.TANH_LIPSCHITZ.at(1, y, z)
)
SIGMOID_GAP = step(
    "σ moves a quarter", le(Abs(sigmoid(y) - sigmoid(z)), Abs(y - z) / 4), forall=(y, z)
).by(at("tanh moves no more", y / 2, z / 2))
SLOPES_OF_GATES = (TANH_SLOPE, TANH_GAP, SIGMOID_GAP)
TANH_INSIDE = step(
    "tanh inside", le(Abs(tanh(y)), tanh(z)), forall=(y, z), given=(le(Abs(y), z),)
).by(at("tanh rises", y, z), at("tanh rises", -y, z))
# What a gate is fed with moves no more than ‖A‖_∞ times the state.
FED = step(
    "pre-activations",
    le(Abs(part(A * a + v, i) - part(A * b + v, i)), max_norm(A) * max_norm(a - b)),
    forall=(A, a, b, v, i),
).by(
    entries.DIFFERENCES.at(A * a + v, A * b + v, i),
    entries.LARGEST_ENTRY.at(A * (a - b), i),
    SUBMULTIPLICATIVE_MAX.at(A, a - b),
)
ENTRY = step(
    "an entry moves",
    le(Abs(part(A * a, i) - part(A * b, i)), max_norm(A * (a - b))),
    forall=(A, a, b, i),
).by(entries.DIFFERENCES.at(A * a, A * b, i), entries.LARGEST_ENTRY.at(A * (a - b), i))


def by_entries(
    each: str, name: str, vector: Expr, bound: Expr, forall: tuple[Symbol, ...], *uses: Use
) -> tuple[Step, Step]:
    """max |v_i| is at most the bound, for each entry is."""
    return (
        step(each, le(Abs(part(vector, i)), bound), forall=(i,)).by(*uses),
        step(name, le(max_norm(vector), bound), forall=forall).by(
            each, entries.LEAST_BOUND.at(bound, vector)
        ),
    )


new = entry(x, m + 1)
one, two = boxed(a), boxed(b)
dh = max_norm(to_output * (one - two))


@cache
def _bound(name: str) -> Any:
    """One function for each name."""
    return function(name, Scalar, __name__)


@dataclass(frozen=True)
class Gate:
    """The gate of this name; `squash` is σ or tanh."""

    name: str
    squash: Callable[[Expr], Expr]

    @property
    def matrix(self) -> Symbol:
        """W."""
        return operator(f"W_{self.name}")

    @property
    def size(self) -> Symbol:
        """‖W‖_∞."""
        return symbols(f"W_{self.name}_inf")[0]

    @property
    def bar(self) -> Symbol:
        """The largest value on the box, of all units."""
        return symbols(f"{self.name}_bar")[0]

    def of_unit(self, what: str) -> Expr:
        """A bound of this name on the gate: `most`, or `least`."""
        return _bound(f"{what}_{self.name}")(i)

    def offset(self, inputs: Expr) -> Expr:
        """U x + b."""
        return operator(f"U_{self.name}") * inputs + vector(f"b_{self.name}")

    def fed(self, state: Expr, inputs: Expr = new) -> Expr:
        """W h + U x + b."""
        return part(self.matrix * to_output * state + self.offset(inputs), i)

    def opened(self, state: Expr, inputs: Expr = new) -> Expr:
        """The gate."""
        return self.squash(self.fed(state, inputs))

    @property
    def steepest(self) -> Expr:
        """The largest slope anywhere."""
        return ONE if self.squash is tanh else QUARTER

    @property
    def moves(self) -> Expr:
        """How far it moves at most."""
        return self.steepest * self.size * dh

    @property
    def step(self) -> Step:
        """|Δgate| is at most its steepest slope times ‖W‖_∞‖Δh‖_∞."""
        moves = "tanh moves no more" if self.squash is tanh else "σ moves a quarter"
        moved = Abs(self.opened(one) - self.opened(two))
        return step(f"gate {self.name}", le(moved, self.moves), forall=(a, b, m, i)).by(
            at(moves, self.fed(one), self.fed(two)),
            at(
                "pre-activations",
                self.matrix,
                to_output * one,
                to_output * two,
                self.offset(new),
                i,
            ),
            "gate norms",
        )


def gate_norms(*gates: Gate) -> Assumption:
    """‖W‖_∞ of each."""
    return assume(
        "gate norms",
        f"{', '.join(gate.size.name for gate in gates)} bound ‖W‖_∞, the largest row sum",
    ).that(*(le(max_norm(gate.matrix), gate.size) for gate in gates))
