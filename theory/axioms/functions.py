"""The textbook laws of elementary and special functions, under the names of `axioms`."""

from rnnbounds.theory.axioms.reading import RUDIN, axiom
from rnnbounds.theory.language import Axiom, axioms_in

# All that is used of Γ on z > 0.
GAMMA = axiom(
    "gamma function",
    f"{RUDIN}, Theorem 8.18",
    "Γ(1) = 1, Γ(z) > 0 and Γ(z + 1) = z Γ(z) for z > 0",
    "z: gamma_function(1) == 1; 0 < gamma_function(z) where 0 < z;"
    " gamma_function(z + 1) == z*gamma_function(z) where 0 < z",
)
_ROOT = "intermediate value theorem", f"{RUDIN}, Theorem 4.23"
LAMBERT_ROOT = axiom(
    *_ROOT,
    "u − ln u = z has a root u ≥ 1 for z ≥ 1",
    "z: 1 <= LambertRoot(z) where 1 <= z; LambertRoot(z) - log(LambertRoot(z)) == z where 1 <= z",
)
PEAK_EQUATION = axiom(
    *_ROOT, "z tanh(z/2) = 2 has a root in [2, 3]", ": tanh(z_silu/2) == 2/z_silu"
)
TANH = axiom(
    "exponential",
    "Abramowitz & Stegun, Handbook of Mathematical Functions, 4.5.3",
    "tanh z (e^{2z} + 1) = e^{2z} − 1",
    "z: tanh(z)*(exponential(2*z) + 1) == exponential(2*z) - 1",
)

FUNCTION_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
