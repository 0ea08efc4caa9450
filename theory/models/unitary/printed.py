"""Assumptions of a unitary network's certificate on rounding and sizes."""

from sympy import Symbol

from rnnbounds.theory.language import Assumption, law, le, symbols
from rnnbounds.theory.language.terms.certificates import computed_double, unitary_computed
from rnnbounds.theory.language.terms.variables import j, x
from rnnbounds.theory.language.terms.vectors import computed, norm, state
from rnnbounds.theory.language.vocabulary import DEFINITIONS
from rnnbounds.theory.models.geometry import EUCLIDEAN

S_0, lam = symbols("S_0 lam")
bound, reached, defect, drift, drift_own = symbols(
    "B_u_told B_computed_told defect_told drift_told drift_own_told"
)
(unitary_defect,) = symbols("unitary_defect")
first, second, third = (Symbol(f"{name}_drift", real=True) for name in ("unitary", "model", "own"))

BOUNDED = Assumption(
    "printed bound",
    "the printed B_h is at least S_0/(1 − λ)",
    law=law("printed bound", (), le(S_0 / (1 - lam), bound)),
)
DRIFTS = Assumption(
    "drifts",
    "the unitary network in float64, the model in float64 and in its own dtype each stay within a "
    "bound of the exact states, and each printed difference is the sum of two of these bounds",
    law=law(
        "drifts",
        (j,),
        le(norm(unitary_computed(x, j) - state(x, 0, j)), first),
        le(norm(computed_double(x, j) - state(x, 0, j)), second),
        le(norm(computed(x, j) - state(x, 0, j)), third),
        le(first + second, drift),
        le(first + third, drift_own),
        le(norm(state(x, 0, j)) + first, reached),
    ),
)
EXACTLY = Assumption(
    "printed defect",
    "the printed defect bounds ‖VᵀV − I‖_F of the stored V",
    law=law("printed defect", (), le(DEFINITIONS[unitary_defect], defect)),
)
STATES = (EUCLIDEAN.contraction, EUCLIDEAN.contractive, EUCLIDEAN.drive, BOUNDED)
