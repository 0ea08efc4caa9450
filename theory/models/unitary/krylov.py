"""Krylov space of a candidate with a constant activity pattern D: its responses to inputs."""

from dataclasses import replace

from sympy import Expr

from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    assume,
    define,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.unitary import beside, rank, rows
from rnnbounds.theory.language.terms.variables import A, B, j, operator, v, z
from rnnbounds.theory.language.terms.vectors import Operator, function, norm
from rnnbounds.theory.models.unitary.local_maps import (
    D,
    E,
    T,
    V,
    n,
    pattern_constant,
    rho,
    scalar_W,
    states,
)
from rnnbounds.theory.models.unitary.moves import AffineRun, G_n, I_n, bias, candidate, d, network

(active,) = symbols("active")
idle_pattern = operator("D_idle")

# krylov(A, B, z, j) = (B, (A − z) B, …, (A − z)^j B)
krylov = function("krylov", Operator, __name__, defined=True)
KRYLOV = define(
    "Krylov space",
    (A, B, z, j),
    eq(krylov(A, B, z, 0), B),
    eq(krylov(A, B, z, j + 1), beside(B, A * krylov(A, B, z, j) - z * krylov(A, B, z, j))),
)
# seen(B, A, j) = B A^j, moved(A, B, j) = A^j B and faded(z, v, j) = z^j v
seen_through = function("seen", Operator, __name__, defined=True)
moved_by = function("moved", Operator, __name__, defined=True)
faded = function("faded", module=__name__, defined=True)
SEEN = define(
    "seen through",
    (A, B, j),
    eq(seen_through(B, A, 0), B),
    eq(seen_through(B, A, j + 1), seen_through(B, A, j) * A),
)
MOVED = define(
    "moved by",
    (A, B, j),
    eq(moved_by(A, B, 0), B),
    eq(moved_by(A, B, j + 1), A * moved_by(A, B, j)),
)
FADED = define(
    "faded by", (z, v, j), eq(faded(z, v, 0), v), eq(faded(z, v, j + 1), z * faded(z, v, j))
)
OF_CANDIDATE = AffineRun("candidate", candidate, V, G_n, d, lambda _: D, "constant pattern")
OF_NETWORK = AffineRun("network", network, rho, I_n, bias, lambda _: ONE, "scalar")
CONSTANT = replace(OF_CANDIDATE.assumption, condition=eq(pattern_constant, ONE))
SELECTS = assume("pattern", "D and I − D select the active units and the others", forall=(v,)).that(
    Clause(
        eq(norm(D * v) ** 2 + norm(idle_pattern * v) ** 2, norm(v) ** 2), (le(rows(v), states),)
    ),
    le(rank(D) + rank(idle_pattern), states),
    le(rows(D), states),
    eq(rank(idle_pattern * D), ZERO),
)
SCALAR = replace(OF_NETWORK.assumption, condition=eq(scalar_W, ONE))
FACTOR = assume("factor", "0 ≤ ρ < 1").that(le(ZERO, rho), lt(rho, ONE))
LONG = Assumption(
    "long enough",
    "the sequence has at least p − n + 2 steps, p the number of active units",
    le(active + 2, T + n),
)
CROWDED = lt(states, active + n)

first, A_1 = D * G_n, D * V


def observed_row(index: Expr) -> Expr:
    """The row E (D V)^j by which outputs observe the state of j steps before."""
    return seen_through(E, A_1, index)


def response_column(index: Expr) -> Expr:
    """The response (D V)^j D G of the state to an input of j steps before."""
    return moved_by(A_1, first, index)


def krylov_space(index: Expr) -> Expr:
    """The Krylov space X_j of (D V − ρ) and D G."""
    return krylov(A_1, first, rho, index)


X, X_next = krylov_space(j), krylov_space(j + 1)


def shifted_product(left: Expr, right: Expr) -> Expr:
    """The product left (D V − ρ) right."""
    return left * A_1 * right - rho * left * right


krylov_image = A_1 * X - rho * X
krylov_use = KRYLOV.at(A_1, first, rho, j)
