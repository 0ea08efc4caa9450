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
from theory.models.lemmas.powers import power, power_at_most_one, power_sum
from theory.models.printed import (
    TOLD,
)
from theory.models.sensitivity import states
from theory.models.unitary.printed import DRIFTS, EXACTLY, STATES
from theory.proof.methods import Smt
from theory.proof.proof import Proof, Step

T, k, x_gap, h_gap, h_norm, forced_gap = symbols("T k x_gap h_gap h_norm forced_gap")
lam, epsilon, window, S, R = symbols("lam_told eps_told k_told S_told R_told")
C, reach, S_0, B_h, gain = symbols("C_told c_told S_0_told B_h_told gain_told")
rounding, turns, turned = symbols("rounding_told two_norm_steps_told two_norm_told")
orbit_start, orbit_start_told, orbit_gap, orbit_gap_told, orbit_state = symbols(
    "orbit_start orbit_start_told orbit_gap orbit_gap_told orbit_state"
)
state_told, first_norm, h_rounding, share_used = symbols(
    "state_told first_norm h_rounding_told share_used"
)
grad_gap, gamma, beta, lam_w, G_0, G_1 = symbols("grad_gap gamma_told beta_told lam G_0 G_1")
grad_gap_weights, weight_distance = symbols("grad_gap_weights weight_distance")
unitary_gap, unitary_defect, exact, defect, bounded = symbols(
    "unitary_gap unitary_defect exact_told defect_told B_u_told"
)
rounding_64, rounding_own, computed_norm = symbols(
    "unitary_rounding unitary_rounding_own unitary_computed"
)
drift, drift_own, reached = symbols("drift_told drift_own_told B_computed_told")
POWERS = (power(TOLD.lam), power_sum(TOLD.lam), power_at_most_one(TOLD.lam))


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
