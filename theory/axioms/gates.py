"""The textbook lemmas behind the claims on gated cells, under the names of `axioms`."""

from functools import partial

from sympy import Abs, Integer, sqrt, symbols, tanh

from rnnbounds.theory.language import Axiom, Clause, axiom, eq, law, le, stated
from rnnbounds.theory.language.terms.gates import boxed
from rnnbounds.theory.language.terms.unitary import part, rows
from rnnbounds.theory.language.terms.variables import a, b, i, m, v, z
from rnnbounds.theory.language.terms.vectors import max_norm, norm

_HORN = "Horn & Johnson, Matrix Analysis"
_RUDIN = "Rudin, Principles of Mathematical Analysis"
_L, _y, _z = symbols("L y_ z_", real=True)

_NORM = partial(axiom, "norm", f"definition of the maximum norm; {_HORN}, section 5.2")
_MEAN_VALUE = partial(axiom, "mean-value theorem", f"{_RUDIN}, Theorem 5.10")

_largest = "the least L with |v_i| ≤ L for all i is the maximum norm of v"
LARGEST_ENTRY = _NORM(_largest, (v, i)).that(le(Abs(part(v, i)), max_norm(v)))
LEAST_BOUND = _NORM(_largest, (_L, v)).that(
    le(max_norm(v), _L), requires=law("", (i,), le(Abs(part(v, i)), _L))
)
DEFINITE = axiom(
    "norm", f"definition of a norm; {_HORN}, 5.1.1", "‖a − b‖ = 0 only where a = b", (a, b)
).that(Clause(eq(a, b), (eq(max_norm(a - b), Integer(0)),)))
# Of states alone, for the maximum norm of an operator is the largest row sum.
_apart = boxed(a) - boxed(b)
_EQUIVALENCE = partial(
    axiom,
    "norm",
    f"{_HORN}, section 5.4, equivalence of norms",
    "|v_i| ≤ ‖v‖₂ ≤ √m ‖v‖_∞ for m entries",
)
ENTRY_EUCLIDEAN = _EQUIVALENCE((a, b, i)).that(le(Abs(part(_apart, i)), norm(_apart)))
EUCLIDEAN_BY_LARGEST = _EQUIVALENCE((v, m)).that(
    Clause(le(norm(v), sqrt(m) * max_norm(v)), (le(rows(v), m),))
)


TANH_LIPSCHITZ = _MEAN_VALUE("|f(y) − f(z)| ≤ L|y − z| where |f′| ≤ L", (_L, _y, _z)).that(
    le(Abs(tanh(_y) - tanh(_z)), _L * Abs(_y - _z)),
    requires=law("", (z,), le(Abs(tanh(z).diff(z)), _L)),
)

GATE_AXIOMS: tuple[Axiom, ...] = stated(globals())
