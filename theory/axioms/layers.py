"""The textbook lemmas behind the claims on layers, under the names of `axioms`."""

from sympy import Integer, Symbol

from rnnbounds.theory.language import Axiom, Clause, axiom, eq, law, le
from rnnbounds.theory.language.terms.gradients import d_state, differentiable
from rnnbounds.theory.language.terms.variables import B, a, b, c, v, vector
from rnnbounds.theory.language.terms.vectors import norm, phi

_L, _w = Symbol("L", real=True), vector("w")

DERIVATIVE_NO_LESS = axiom(
    "derivative of a Lipschitz map",
    "Rudin, Principles of Mathematical Analysis, Theorem 9.19 and its converse",
    "if ‖φ(h, x) − φ(h′, x)‖ ≥ L‖h − h′‖, then ‖∂_hφ B‖ ≥ L‖B‖ for every operator B",
    (_L, v, _w, B),
).that(
    Clause(le(_L * norm(B), norm(d_state(v, _w) * B)), (eq(differentiable(v, _w), Integer(1)),)),
    requires=law("", (a, b, c), le(_L * norm(a - b), norm(phi(a, c) - phi(b, c)))),
)

LAYER_AXIOMS: tuple[Axiom, ...] = (DERIVATIVE_NO_LESS,)
