"""What a certificate prints of its norm: λ, the equivalence, the reach, drives and radii."""

from theory.language.claim import Form
from theory.language.law import Assumption, at
from theory.language.statement import Statement, le
from theory.language.terms.vectors import RECURSION, state, x
from theory.language.vocabulary import symbols
from theory.models.lemmas.powers import power, power_at_most_one, power_sum
from theory.models.printed import (
    ALL_STEPS,
    BOXED,
    FIRST_STEP,
    FROM_START,
    MANY,
    MODEL,
    ORBITS,
    PAIR,
    RADIUS,
    REACHED,
    RUN,
    SHORTER,
    SHOWN,
    START,
    STAYS,
    TOLD,
    TURNED,
    WIDE,
    apart,
    weighed,
)
from theory.proof.methods import Smt
from theory.proof.proof import Proof, Step

T, k, h_norm = symbols("T k h_norm")
lam, S, R = symbols("lam_told S_told R_told")
C, reach, S_0, B_h = symbols("C_told c_told S_0_told B_h_told")
turns, turned = symbols("two_norm_steps_told two_norm_told")
orbit_start, orbit_start_told, orbit_gap, orbit_gap_told, orbit_state = symbols(
    "orbit_start orbit_start_told orbit_gap orbit_gap_told orbit_state"
)
state_told, first_norm = symbols("state_told first_norm")
POWERS = (power(TOLD.lam), power_sum(TOLD.lam), power_at_most_one(TOLD.lam))

bound: Statement


def form(
    name: str, bound: Statement, assumptions: tuple[Assumption, ...], *steps: Step, note: str = ""
) -> Form:
    """A form about models with their certificates."""
    return Form(name, bound, assumptions, "certified", Proof(steps), note)


ORBIT = form(
    "contraction",
    bound := le(orbit_gap_told, lam**k * orbit_start_told),
    weighed(PAIR),
    *(*ORBITS, Step("claim", bound, Smt(*ALL_STEPS))),
    note="k steps from any two states of the stated set, in the printed norm",
)
OUTPUT = form(
    "output",
    bound := le(orbit_gap, C * lam**k * orbit_start_told),
    (*weighed(PAIR), SHOWN),
    *(*ORBITS, Step("claim", bound, Smt(*ALL_STEPS, at("output", apart)))),
    note="from the printed norm to the Euclidean one of the output",
)
FORGETTING = form(
    "forgetting",
    bound := le(orbit_gap, C * reach * lam**k * orbit_start),
    (*PAIR, SHOWN, REACHED),
    *(*ORBITS, power(TOLD.lam), FROM_START),
    Step("claim", bound, Smt("from the start", at("output", apart))),
    note="in Euclidean norms alone, of iterated norms too",
)
TWO_NORM = form(
    "two-norm",
    bound := le(orbit_state, turned * orbit_start),
    (*PAIR, TOLD.contractive, WIDE, REACHED, TURNED, MANY),
    *(*ORBITS, *POWERS, SHORTER, FROM_START),
    Step(
        "fewer steps",
        le(reach * lam**k * orbit_start, reach * lam**turns * orbit_start),
        Smt(at("longer windows forget more", turns, k - turns), "many steps"),
    ),
    Step(
        "claim",
        bound,
        Smt("from the start", "fewer steps", at("state", apart), "printed steps"),
    ),
    note="the steps that contract in the Euclidean norm of the whole state",
)
DRIVE = form(
    "drive",
    bound := le(state_told, S * TOLD.total(T)),
    weighed(MODEL),
    *(*RUN, Step("claim", bound, Smt(at("state", T), "contractive"))),
    note="the printed drive, from the first step on",
)
RADIUS_FORM = form(
    "radius",
    bound := le(state_told, R),
    (STAYS, *weighed((RADIUS,))),
    *TOLD.before,
    Step("claim", bound, Smt(at("radius", state(x, 0, T)), at("runs stay in the box", 0, T))),
    note="the printed size of the invariant box",
)
FIRST = form(
    "first",
    bound := le(first_norm, S_0),
    (FIRST_STEP,),
    Step("claim", bound, Smt(RECURSION.at(x, 0, 0), at("first step", 0))),
    note="one step from zero, in the Euclidean norm of the output",
)
STATE = form(
    "state",
    bound := le(h_norm, B_h),
    (*MODEL, SHOWN, RADIUS, BOXED),
    *(*RUN, power(TOLD.lam), START),
    Step(
        "claim",
        bound,
        Smt(
            at("where a window starts", T),
            at("output", state(x, 0, T)),
            at("printed bound", state(x, 0, T)),
            at("runs stay in the box", 0, T),
            "contractive",
        ),
    ),
    note="the printed bound on all outputs",
)
