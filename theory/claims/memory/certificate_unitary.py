"""What the certificate of a unitary network prints: no difference, defects, sizes and drifts."""

from sympy import Expr

from theory.axioms.base import TRIANGLE
from theory.claims.unitary.urnn_equivalence import EQUIVALENCE
from theory.language.claim import Form
from theory.language.law import at
from theory.language.statement import Statement, le
from theory.language.terms.certificates import computed_double, unitary_computed
from theory.language.terms.vectors import computed, state, x
from theory.language.vocabulary import symbols
from theory.models.geometry import EUCLIDEAN
from theory.models.lemmas.powers import power
from theory.models.sensitivity import states
from theory.models.unitary.printed import DRIFTS, EXACTLY, STATES
from theory.proof.methods import Smt
from theory.proof.proof import Proof, Step

T, h_norm = symbols("T h_norm")
unitary_gap, unitary_defect, exact, defect, bounded = symbols(
    "unitary_gap unitary_defect exact_told defect_told B_u_told"
)
rounding_64, rounding_own, computed_norm = symbols(
    "unitary_rounding unitary_rounding_own unitary_computed"
)
drift, drift_own, reached = symbols("drift_told drift_own_told B_computed_told")


UNITARY = Form(
    "unitary",
    bound := le(unitary_gap, exact),
    EQUIVALENCE.assumptions,
    "certified-relu",
    Proof((Step("claim", bound, Smt(EQUIVALENCE.lemma("urnn-equivalence", T).at(T))),)),
    note="the unitary network that ships, in exact arithmetic, and the difference that it prints",
)
DEFECT = Form(
    "unitary-defect",
    bound := le(unitary_defect, defect),
    (EXACTLY,),
    "certified-relu",
    Proof((Step("claim", bound, Smt("printed defect")),)),
    note="of the matrix as it is stored",
)
SIZE = Form(
    "unitary-state",
    bound := le(h_norm, bounded),
    STATES,
    "certified-relu",
    Proof(
        (
            *states(EUCLIDEAN),
            power(EUCLIDEAN.lam),
            Step(
                "claim",
                bound,
                Smt(at("state", T), at("power not negative", T), "printed bound", "contractive"),
            ),
        )
    ),
    note="the bound on states that a unitary network prints",
)
u, double, own = (f(x, T) for f in (unitary_computed, computed_double, computed))


def drifting(name: str, bound: Statement, *parts: Expr, note: str) -> Form:
    """A form about states as floats compute them: what it compares are each near the exact ones."""
    exact = state(x, 0, T)
    apart = TRIANGLE.at(parts[0] - exact, exact - parts[1])
    step = Step("claim", bound, Smt(at("drifts", T), apart))
    return Form(name, bound, (DRIFTS,), "certified-relu", Proof((step,)), note)


DRIFT = drifting("unitary-float64", le(rounding_64, drift), u, double, note="both in float64")
OWN_DRIFT = drifting(
    "unitary-own", le(rounding_own, drift_own), u, own, note="against the model in its own dtype"
)
COMPUTED = drifting(
    "unitary-computed", le(computed_norm, reached), u, 0 * u, note="how large float64 states grow"
)
