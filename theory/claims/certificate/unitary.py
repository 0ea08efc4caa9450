"""Claims on the certificate of a unitary network: equal outputs, defects, sizes and drifts."""

from sympy import Expr

from rnnbounds.theory.axioms.base import TRIANGLE
from rnnbounds.theory.claims.unitary.equivalent import EQUIVALENCE
from rnnbounds.theory.language import Statement, at, le, symbols
from rnnbounds.theory.language.terms.certificates import computed_double, unitary_computed
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import computed, state
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.lemmas.powers import power_nonnegative
from rnnbounds.theory.models.sensitivity import state_steps
from rnnbounds.theory.models.unitary.printed import DRIFTS, EXACTLY, STATES
from rnnbounds.theory.proof import Form, theorem

T, h_norm = symbols("T h_norm")
unitary_gap, unitary_defect, exact, defect, bounded = symbols(
    "unitary_gap unitary_defect exact_told defect_told B_u_told"
)
rounding_64, rounding_own, computed_norm = symbols(
    "unitary_rounding unitary_rounding_own unitary_computed"
)
drift, drift_own, reached = symbols("drift_told drift_own_told B_computed_told")


UNITARY = theorem(
    "unitary",
    le(unitary_gap, exact),
    EQUIVALENCE.assumptions,
    "certified-relu",
    note="the unitary network that ships, in exact arithmetic, and the difference that it prints",
).by(EQUIVALENCE.lemma("urnn-equivalence", T).at(T))
DEFECT = theorem(
    "unitary-defect",
    le(unitary_defect, defect),
    (EXACTLY,),
    "certified-relu",
    note="of the matrix as it is stored",
).by("printed defect")
SIZE = theorem(
    "unitary-state",
    le(h_norm, bounded),
    STATES,
    "certified-relu",
    (*state_steps(EUCLIDEAN), power_nonnegative(EUCLIDEAN.lam)),
    "the bound on states that a unitary network prints",
).by(at("state", T), at("power not negative", T), "printed bound", "contractive")
u, double, own = (f(x, T) for f in (unitary_computed, computed_double, computed))


def drift_form(name: str, bound: Statement, *parts: Expr, note: str) -> Form:
    """A form about states as floats compute them: what it compares are each near the exact ones."""
    exact = state(x, 0, T)
    apart = TRIANGLE.at(parts[0] - exact, exact - parts[1])
    return theorem(name, bound, (DRIFTS,), "certified-relu", note=note).by(at("drifts", T), apart)


DRIFT = drift_form("unitary-float64", le(rounding_64, drift), u, double, note="both in float64")
OWN_DRIFT = drift_form(
    "unitary-own", le(rounding_own, drift_own), u, own, note="against the model in its own dtype"
)
COMPUTED = drift_form(
    "unitary-computed", le(computed_norm, reached), u, 0 * u, note="how large float64 states grow"
)
