"""A gate, σ or tanh of W h + U x + b: how far it moves with the state, for all units or by unit.

All entries are those of the unit i.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import Abs, Expr, Symbol, tanh

from theory.axioms.gates import SIGMOID_BETWEEN, TANH_BETWEEN
from theory.language.law import Assumption, Clause, Use, assume, at
from theory.language.statement import le
from theory.language.terms.gates import boxed, to_output
from theory.language.terms.unitary import part
from theory.language.terms.vectors import (
    Scalar,
    a,
    b,
    entry,
    function,
    i,
    m,
    max_norm,
    v,
    vector,
    x,
    z,
)
from theory.language.vocabulary import symbols
from theory.models.gates.gated_steps import QUARTER
from theory.models.gates.units import reach, unit_gap
from theory.models.system import ONE
from theory.proof.methods import Smt
from theory.proof.proof import Step
from theory.proof.steps import step

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
        return vector(f"W_{self.name}")

    @property
    def size(self) -> Symbol:
        """‖W‖_∞."""
        return symbols(f"W_{self.name}_inf")[0]

    @property
    def bar(self) -> Symbol:
        """The largest value on the box, of all units."""
        return symbols(f"{self.name}_bar")[0]

    def of_unit(self, what: str) -> Expr:
        """A bound: `most` on the gate, `steep` on its slope, `low` and `high` on W h + U x + b."""
        return _bound(f"{what}_{self.name}")(i)

    def offset(self, inputs: Expr) -> Expr:
        """U x + b."""
        return vector(f"U_{self.name}") * inputs + vector(f"b_{self.name}")

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
        """How far it moves at most, for all units alike."""
        return self.steepest * self.size * dh

    @property
    def unit_moves(self) -> Expr:
        """The same of the unit, in the norm of the unit weights."""
        return self.of_unit("steep") * reach(self.matrix) * unit_gap

    @property
    def _name(self) -> str:
        return f"gate {self.name}"

    def _step(self, bound: Expr, *uses: Use) -> Step:
        moved = Abs(self.opened(one) - self.opened(two))
        return step(self._name, le(moved, bound), forall=(a, b, m, i)).by(*uses)

    @property
    def step(self) -> Step:
        """|Δgate| is at most its steepest slope times ‖W‖_∞‖Δh‖_∞."""
        moves = "tanh moves no more" if self.squash is tanh else "σ moves a quarter"
        fed_by = (self.matrix, to_output * one, to_output * two, self.offset(new), i)
        return self._step(
            self.moves,
            at(moves, self.fed(one), self.fed(two)),
            at("pre-activations", *fed_by),
            "gate norms",
        )

    @property
    def unit_steps(self) -> tuple[Step, Step]:
        """|Δgate| is at most its slope on the interval where it is fed times Σ_l |W_jl| v_l."""
        return self.slope, self._step(
            self.unit_moves,
            *self.between,
            at("pre-activations by unit", self.matrix, one, two, self.offset(new), i),
        )

    @property
    def slope(self) -> Step:
        """The slope on the interval where it is fed."""
        return Step(
            f"{self._name} is no steeper",
            le(Abs(self.squash(z).diff(z)), self.of_unit("steep")),
            Smt(at("slopes", z, i), "given 1", "given 2"),
            (z,),
            (le(self.of_unit("low"), z), le(z, self.of_unit("high"))),
        )

    @property
    def between(self) -> tuple[Use, ...]:
        """What shows that it moves by at most that slope times what it is fed with."""
        low, high, steep = map(self.of_unit, ("low", "high", "steep"))
        axiom = TANH_BETWEEN if self.squash is tanh else SIGMOID_BETWEEN
        return (
            self.slope.id,
            at(self.slope.id, self.fed(one)),
            axiom.at(steep, low, high, self.fed(one), self.fed(two)),
            at("intervals", a, m, i),
            at("intervals", b, m, i),
        )


def intervals(*gates: Gate) -> Assumption:
    """Where the gates are fed."""
    bounds = tuple(
        bound
        for gate in gates
        for bound in (
            le(gate.of_unit("low"), gate.fed(boxed(v))),
            le(gate.fed(boxed(v)), gate.of_unit("high")),
        )
    )
    return assume(
        "intervals",
        "on the box each gate's W h + U x + b stays in an interval of the unit",
        forall=(v, m, i),
    ).that(*bounds)


def slopes(*gates: Gate) -> Assumption:
    """How steep they are there."""
    clauses = (
        Clause(
            le(Abs(gate.squash(z).diff(z)), gate.of_unit("steep")),
            (le(gate.of_unit("low"), z), le(z, gate.of_unit("high"))),
        )
        for gate in gates
    )
    return assume("slopes", "σ′ and tanh′ are bounded on these intervals", forall=(z, i)).that(
        *clauses
    )


def gate_norms(*gates: Gate) -> Assumption:
    """‖W‖_∞ of each."""
    return assume(
        "gate norms",
        f"{', '.join(gate.size.name for gate in gates)} bound ‖W‖_∞, the largest row sum",
    ).that(*(le(max_norm(gate.matrix), gate.size) for gate in gates))
