"""Claims on a certificate's norm: λ, norm equivalence, input gain, drives and radii."""

from sympy import Abs

from rnnbounds.theory.axioms.unitary import MONOTONE_WEIGHTED
from rnnbounds.theory.language import Assumption, Statement, at, le, symbols
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import i, x
from rnnbounds.theory.language.terms.vectors import RECURSION, state
from rnnbounds.theory.models import printed
from rnnbounds.theory.models.driven_runs import STARTS
from rnnbounds.theory.models.lemmas.powers import power_nonnegative
from rnnbounds.theory.proof import FormStatement, Step, step, theorem

T, k, h_norm = symbols("T k h_norm")
lam, S, R = symbols("lam_told S_told R_told")
C, reach, S_0, B_h = symbols("C_told c_told S_0_told B_h_told")
orbit_start, orbit_start_told, orbit_gap, orbit_gap_told = symbols(
    "orbit_start orbit_start_told orbit_gap orbit_gap_told"
)
state_told, first_norm = symbols("state_told first_norm")
OF_ALL = at("output", printed.apart)
_last = state(x, 0, T)


def certificate_form(
    name: str,
    bound: Statement,
    assumptions: tuple[Assumption, ...],
    steps: tuple[Step, ...] = (),
    note: str = "",
) -> FormStatement:
    """Form about models with their certificates."""
    return theorem(name, bound, assumptions, "certified", steps, note)


ORBIT = certificate_form(
    "contraction",
    le(orbit_gap_told, lam**k * orbit_start_told),
    (printed.STAYS, printed.WEIGHED, STARTS),
    printed.ORBITS,
    "k steps from any two states of the stated set, in the printed norm",
).by(*printed.ALL_STEPS)
OUTPUT = certificate_form(
    "output",
    le(orbit_gap, C * lam**k * orbit_start_told),
    (printed.STAYS, printed.WEIGHED, STARTS, printed.SHOWN),
    printed.ORBITS,
    "from the printed norm to the Euclidean one of the output",
).by(*printed.ALL_STEPS, OF_ALL)
FORGETTING = certificate_form(
    "forgetting",
    le(orbit_gap, C * reach * lam**k * orbit_start),
    (*printed.PAIR, printed.SHOWN, printed.REACHED),
    (*printed.ORBITS, power_nonnegative(printed.TOLD.lam), printed.FROM_START),
    "in Euclidean norms alone",
).by("from the start", OF_ALL)
DRIVE = certificate_form(
    "drive",
    le(state_told, S * printed.TOLD.geometric_sum(T)),
    (printed.STAYS, printed.WEIGHED, printed.TOLD.contractive, printed.TOLD.drive),
    printed.RUN,
    "the printed drive, from the first step on",
).by(at("state", T), "contractive")
RADIUS_FORM = certificate_form(
    "radius",
    le(state_told, R),
    (printed.STAYS, printed.IN_BOX, printed.CORNER),
    (
        *printed.TOLD.setup_steps,
        step("each entry", le(Abs(part(_last, i)), Abs(part(printed.SIDES, i))), forall=(i,)).by(
            at("runs stay in the box", 0, T), at("box", _last, i)
        ),
    ),
    "the printed size of the invariant box",
).by("each entry", MONOTONE_WEIGHTED.at(_last, printed.SIDES), "radius")
FIRST = certificate_form(
    "first",
    le(first_norm, S_0),
    (printed.FIRST_STEP,),
    note="one step from zero, in the Euclidean norm of the output",
).by(RECURSION.at(x, 0, 0), at("first step", 0))
STATE = certificate_form(
    "state",
    le(h_norm, B_h),
    (*printed.MODEL, printed.SHOWN, printed.RADIUS, printed.BOXED),
    (*printed.RUN, power_nonnegative(printed.TOLD.lam), printed.START),
    "the printed bound on all outputs",
).by(
    at("where a window starts", T),
    at("output", state(x, 0, T)),
    at("printed bound", state(x, 0, T)),
    at("runs stay in the box", 0, T),
    "contractive",
)
