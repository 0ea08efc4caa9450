"""Entries of vectors and their maximum norm, rows and inner products, under names of `axioms`."""

from functools import partial

from sympy import Abs, Integer, sqrt, symbols, tanh

from rnnbounds.theory.language import Axiom, Clause, axiom, axioms_in, eq, law, le
from rnnbounds.theory.language.terms.jets import row
from rnnbounds.theory.language.terms.networks import boxed
from rnnbounds.theory.language.terms.unitary import line, part, rows
from rnnbounds.theory.language.terms.variables import A, B, a, b, c, i, m, v, z
from rnnbounds.theory.language.terms.vectors import inner, max_norm, norm

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

_ENTRIES = partial(axiom, "matrix operations", f"{_HORN}, 0.2")

ENTRIES = _ENTRIES("(a + b)_i = a_i + b_i, and (A v)_i = ⟨A_i, v⟩", (A, a, b, v, i)).that(
    eq(part(a + b, i), part(a, i) + part(b, i)), eq(part(A * v, i), inner(line(A, i), v))
)
DIFFERENCES = _ENTRIES("(a − b)_i = a_i − b_i", (a, b, i)).that(
    eq(part(a - b, i), part(a, i) - part(b, i))
)
ROWS_OF_DIFFERENCE = _ENTRIES("(A − B)_i = A_i − B_i, of rows", (A, B, i)).that(
    eq(row(A - B, i), row(A, i) - row(B, i))
)
INNER_PRODUCT = axiom(
    "inner product",
    f"{_HORN}, Definition 5.1.3",
    "⟨·, ·⟩ is bilinear and symmetric, and ⟨a, a⟩ = ‖a‖²",
    (a, b, c),
).that(
    eq(inner(a - b, c), inner(a, c) - inner(b, c)),
    eq(inner(a, -c) + inner(a, c), Integer(0)),
    eq(inner(a, c) - inner(c, a), Integer(0)),
    eq(inner(c, c), norm(c) ** 2),
)

ENTRY_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
