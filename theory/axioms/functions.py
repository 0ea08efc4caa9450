"""The textbook laws of elementary and special functions, under the names of `axioms`."""

from functools import partial

from sympy import log, tanh

from rnnbounds.theory.language import ONE, ZERO, Axiom, Clause, axiom, axioms_in, eq, le, lt
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.functions import LambertRoot, gamma_function
from rnnbounds.theory.language.terms.variables import z
from rnnbounds.theory.language.terms.vectors import exponential

_RUDIN = "Rudin, Principles of Mathematical Analysis"
_positive = (lt(ZERO, z),)
_ROOT = partial(axiom, "intermediate value theorem", f"{_RUDIN}, Theorem 4.23")

# All that is used of Γ on z > 0.
GAMMA = axiom(
    "gamma function",
    f"{_RUDIN}, Theorem 8.18",
    "Γ(1) = 1, Γ(z) > 0 and Γ(z + 1) = z Γ(z) for z > 0",
    (z,),
).that(
    eq(gamma_function(1), ONE),
    Clause(lt(ZERO, gamma_function(z)), _positive),
    Clause(eq(gamma_function(z + 1), z * gamma_function(z)), _positive),
)
LAMBERT_ROOT = _ROOT("u − ln u = z has a root u ≥ 1 for z ≥ 1", (z,)).that(
    Clause(le(ONE, LambertRoot(z)), (le(ONE, z),)),
    Clause(eq(LambertRoot(z) - log(LambertRoot(z)), z), (le(ONE, z),)),
)
PEAK_EQUATION = _ROOT("z tanh(z/2) = 2 has a root in [2, 3]", ()).that(
    eq(tanh(SILU_PEAK / 2), 2 / SILU_PEAK)
)
TANH = axiom(
    "exponential",
    "Abramowitz & Stegun, Handbook of Mathematical Functions, 4.5.3",
    "tanh z (e^{2z} + 1) = e^{2z} − 1",
    (z,),
).that(eq(tanh(z) * (exponential(2 * z) + 1), exponential(2 * z) - 1))

FUNCTION_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
