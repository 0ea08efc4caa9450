"""Lemmas on gates that the ledgers of all gated cells share: slopes, entries, pre-activations."""

from sympy import Abs, Expr, Rational, Symbol, tanh

from rnnbounds.theory.axioms import entries
from rnnbounds.theory.axioms.base import EXPONENTIAL, SUBMULTIPLICATIVE_MAX
from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.axioms.functions import TANH
from rnnbounds.theory.language import ONE, ZERO, Use, at, le
from rnnbounds.theory.language.terms.gates import sigmoid
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import A, a, b, i, v, y, z
from rnnbounds.theory.language.terms.vectors import max_norm
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
    DIFFERENCES.at(A * a + v, A * b + v, i),
    entries.LARGEST_ENTRY.at(A * (a - b), i),
    SUBMULTIPLICATIVE_MAX.at(A, a - b),
)
ENTRY = step(
    "an entry moves",
    le(Abs(part(A * a, i) - part(A * b, i)), max_norm(A * (a - b))),
    forall=(A, a, b, i),
).by(DIFFERENCES.at(A * a, A * b, i), entries.LARGEST_ENTRY.at(A * (a - b), i))


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
