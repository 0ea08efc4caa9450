"""How entries, rows and inner products go with sums, under the names of `axioms`."""

from functools import partial

from sympy import Integer

from rnnbounds.theory.language import Axiom, axiom, eq, stated
from rnnbounds.theory.language.terms.jets import row
from rnnbounds.theory.language.terms.unitary import line, part
from rnnbounds.theory.language.terms.variables import A, B, a, b, c, i, v
from rnnbounds.theory.language.terms.vectors import inner, norm

_HORN = "Horn & Johnson, Matrix Analysis"
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

ENTRY_AXIOMS: tuple[Axiom, ...] = stated(globals())
