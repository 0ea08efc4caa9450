"""A gate, σ or tanh of W h + U x + b: how far it moves with the state.

All entries are those of the unit i.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import Abs, Expr, Symbol, tanh

from rnnbounds.theory.language import ONE, Assumption, assume, at, le, symbols
from rnnbounds.theory.language.terms.gates import boxed, to_output
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, i, m, operator, vector, x
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, max_norm
from rnnbounds.theory.models.gates.gated_steps import QUARTER
from rnnbounds.theory.proof import Step, step

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
