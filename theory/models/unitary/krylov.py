"""What a candidate with a constant activity pattern D sees of its inputs, step by step."""

from sympy import Expr

from theory.language import ONE, ZERO, Assumption, Clause, assume, define, eq, le, lt, symbols
from theory.language.terms.unitary import beside, identity, rank, rows
from theory.language.terms.variables import A, B, j, operator, v, z
from theory.language.terms.vectors import Operator, function, norm
from theory.models.unitary.local_maps import (
    D,
    E,
    G,
    T,
    V,
    n,
    pattern_constant,
    response,
    response_candidate,
    rho,
    scalar_W,
    states,
)

(active,) = symbols("active")
idle = operator("D_idle")

# krylov(A, B, z, j) = (B, (A − z) B, …, (A − z)^j B)
krylov = function("krylov", Operator, __name__, defined=True)
KRYLOV = define(
    "Krylov space",
    (A, B, z, j),
    eq(krylov(A, B, z, 0), B),
    eq(krylov(A, B, z, j + 1), beside(B, A * krylov(A, B, z, j) - z * krylov(A, B, z, j))),
)
# seen(j) = E (D V)^j
seen = function("seen", Operator, __name__)

CONSTANT = assume(
    "constant pattern",
    "there is a cell on which the candidate's pattern D is the same at all times, and "
    "there, by the chain rule, ∂ŷ_j/∂x_0 = E (D V)^j D G",
    forall=(j,),
    condition=eq(pattern_constant, ONE),
    inclusion=True,
).that(
    eq(seen(0), E), eq(seen(j + 1), seen(j) * D * V), eq(response_candidate(j, 0), seen(j) * D * G)
)
SELECTS = assume("pattern", "D and I − D select the active units and the others", forall=(v,)).that(
    Clause(eq(norm(D * v) ** 2 + norm(idle * v) ** 2, norm(v) ** 2), (le(rows(v), states),)),
    le(rank(D) + rank(idle), states),
    le(rows(D), states),
    eq(rank(idle * D), ZERO),
)
SCALAR = assume(
    "scalar",
    "W = ρ I with 0 ≤ ρ < 1, and on the cell all units are active, so that "
    "∂y_0/∂x_0 = I and ∂y_{j+1}/∂x_0 = ρ ∂y_j/∂x_0",
    forall=(j,),
    condition=eq(scalar_W, ONE),
    inclusion=True,
).that(
    eq(response(0, 0), identity(n)),
    eq(response(j + 1, 0), rho * response(j, 0)),
    le(ZERO, rho),
    lt(rho, ONE),
)
LONG = Assumption(
    "long enough",
    "the sequence has at least p − n + 2 steps, p the number of active units",
    le(active + 2, T + n),
)
CROWDED = lt(states, active + n)

first, A_1 = D * G, D * V


def space(index: Expr) -> Expr:
    """X_j."""
    return krylov(A_1, first, rho, index)


X, X_next = space(j), space(j + 1)


def shifted(left: Expr, right: Expr) -> Expr:
    """left (D V − ρ) right."""
    return left * A_1 * right - rho * left * right


image = A_1 * X - rho * X
definition = KRYLOV.at(A_1, first, rho, j)
