"""Entries of vectors and their maximum norm, rows and inner products, under names of `axioms`."""

from rnnbounds.theory.axioms.reading import HORN, RUDIN, axiom
from rnnbounds.theory.language import Axiom, axioms_in

_LARGEST = (
    "norm", f"definition of the maximum norm; {HORN}, section 5.2",
    "the least L with |v_i| ≤ L for all i is the maximum norm of v",
)  # fmt: skip
LARGEST_ENTRY = axiom(*_LARGEST, "v i: Abs(part(v, i)) <= max_norm(v)")
LEAST_BOUND = axiom(*_LARGEST, "L v: max_norm(v) <= L", "i: Abs(part(v, i)) <= L")
DEFINITE = axiom(
    "norm",
    f"definition of a norm; {HORN}, 5.1.1",
    "‖a − b‖ = 0 only where a = b",
    "a b: a == b where max_norm(a - b) == 0",
)
# Of states alone, for the maximum norm of an operator is the largest row sum.
_EQUIVALENCE = (
    "norm", f"{HORN}, section 5.4, equivalence of norms", "|v_i| ≤ ‖v‖₂ ≤ √m ‖v‖_∞ for m entries",
)  # fmt: skip
ENTRY_EUCLIDEAN = axiom(
    *_EQUIVALENCE, "a b i: Abs(part(boxed(a) - boxed(b), i)) <= norm(boxed(a) - boxed(b))"
)
EUCLIDEAN_BY_LARGEST = axiom(
    *_EQUIVALENCE, "v m: norm(v) <= sqrt(m)*max_norm(v) where rows(v) <= m"
)
TANH_LIPSCHITZ = axiom(
    "mean-value theorem",
    f"{RUDIN}, Theorem 5.10",
    "|f(y) − f(z)| ≤ L|y − z| where |f′| ≤ L",
    "L y_ z_: Abs(tanh(y_) - tanh(z_)) <= L*Abs(y_ - z_)",
    "z: Abs(1 - tanh(z)**2) <= L",
)
_ENTRIES = "matrix operations", f"{HORN}, 0.2"
ENTRIES = axiom(
    *_ENTRIES,
    "(a + b)_i = a_i + b_i, and (A v)_i = ⟨A_i, v⟩",
    "A a b v i: part(a + b, i) == part(a, i) + part(b, i); part(A*v, i) == inner(line(A, i), v)",
)
DIFFERENCES = axiom(
    *_ENTRIES, "(a − b)_i = a_i − b_i", "a b i: part(a - b, i) == part(a, i) - part(b, i)"
)
ROWS_OF_DIFFERENCE = axiom(
    *_ENTRIES, "(A − B)_i = A_i − B_i, of rows", "A B i: row(A - B, i) == row(A, i) - row(B, i)"
)
INNER_PRODUCT = axiom(
    "inner product",
    f"{HORN}, Definition 5.1.3",
    "⟨·, ·⟩ is bilinear and symmetric, and ⟨a, a⟩ = ‖a‖²",
    "a b c: inner(a - b, c) == inner(a, c) - inner(b, c); inner(a, -c) + inner(a, c) == 0;"
    " inner(a, c) - inner(c, a) == 0; inner(c, c) == norm(c)**2",
)

ENTRY_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
