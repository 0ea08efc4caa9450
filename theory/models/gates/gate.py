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
from rnnbounds.theory.language.terms.networks import boxed, sigmoid, to_output
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import A, a, b, i, m, operator, v, vector, x, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, max_norm
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import Smt

QUARTER = Rational(1, 4)

TANH_SLOPE = Step("slope of tanh", le(Abs(tanh(z).diff(z)), ONE), Smt(), forall=(z,))
TANH_RISES = step("tanh rises", le(tanh(y), tanh(z)), forall=(y, z), given=(le(y, z),)).by(
    TANH.at(y), TANH.at(z), EXPONENTIAL.at(2 * y, 2 * z), EXPONENTIAL.at(y, y)
)
SIGMOID_POSITIVE = Step("σ is positive", le(ZERO, sigmoid(z)), Smt(), forall=(z,))
SIGMOID_BELOW_ONE = Step("σ is at most 1", le(sigmoid(z), ONE), Smt(), forall=(z,))
TANH_BELOW_ONE = Step("tanh is at most 1", le(Abs(tanh(z)), ONE), Smt(), forall=(z,))
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


def bound_by_entries(
    entry_step_id: str, name: str, vector: Expr, bound: Expr, forall: tuple[Symbol, ...], *uses: Use
) -> tuple[Step, Step]:
    """Steps: each |v_i| is at most the bound, and so is max |v_i|."""
    return (
        step(entry_step_id, le(Abs(part(vector, i)), bound), forall=(i,)).by(*uses),
        step(name, le(max_norm(vector), bound), forall=forall).by(
            entry_step_id, entries.LEAST_BOUND.at(bound, vector)
        ),
    )


next_input = entry(x, m + 1)
s_1, s_2 = boxed(a), boxed(b)
dh = max_norm(to_output * (s_1 - s_2))


@cache
def _bound_function(name: str) -> Any:
    """Formal scalar function of this name, made once."""
    return function(name, Scalar)


@dataclass(frozen=True)
class Gate:
    """The gate of this name; `squash` is σ or tanh."""

    name: str
    squash: Callable[[Expr], Expr]

    @property
    def matrix(self) -> Symbol:
        """Symbol of the recurrent matrix W."""
        return operator(f"W_{self.name}")

    @property
    def size(self) -> Symbol:
        """Symbol of the bound on ‖W‖_∞."""
        return symbols(f"W_{self.name}_inf")[0]

    @property
    def peak(self) -> Symbol:
        """Symbol of the gate's largest modulus on the box, over all units."""
        return symbols(f"{self.name}_bar")[0]

    def unit_bound(self, kind: str) -> Expr:
        """A bound of this name on the gate: `most`, or `least`."""
        return _bound_function(f"{kind}_{self.name}")(i)

    def offset(self, inputs: Expr) -> Expr:
        """Input part U x + b of the pre-activation."""
        return operator(f"U_{self.name}") * inputs + vector(f"b_{self.name}")

    def preactivation(self, state: Expr, inputs: Expr = next_input) -> Expr:
        """Pre-activation W h + U x + b of unit i."""
        return part(self.matrix * to_output * state + self.offset(inputs), i)

    def value(self, state: Expr, inputs: Expr = next_input) -> Expr:
        """The gate's value, `squash` of its pre-activation."""
        return self.squash(self.preactivation(state, inputs))

    @property
    def max_slope(self) -> Expr:
        """Largest slope of the squashing function: 1 for tanh, 1/4 for σ."""
        return ONE if self.squash is tanh else QUARTER

    @property
    def max_change(self) -> Expr:
        """Bound on |Δgate|: largest slope times ‖W‖_∞‖Δh‖_∞."""
        return self.max_slope * self.size * dh

    @property
    def change_step(self) -> Step:
        """Step: |Δgate| is at most its largest slope times ‖W‖_∞‖Δh‖_∞."""
        slope_lemma = "tanh moves no more" if self.squash is tanh else "σ moves a quarter"
        change = Abs(self.value(s_1) - self.value(s_2))
        return step(f"gate {self.name}", le(change, self.max_change), forall=(a, b, m, i)).by(
            at(slope_lemma, self.preactivation(s_1), self.preactivation(s_2)),
            at(
                "pre-activations",
                self.matrix,
                to_output * s_1,
                to_output * s_2,
                self.offset(next_input),
                i,
            ),
            "gate norms",
        )


def gate_norms(*gates: Gate) -> Assumption:
    """Assumption that the gates' constants bound ‖W‖_∞."""
    return assume(
        "gate norms",
        f"{', '.join(gate.size.name for gate in gates)} bound ‖W‖_∞, the largest row sum",
    ).that(*(le(max_norm(gate.matrix), gate.size) for gate in gates))
