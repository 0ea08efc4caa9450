"""Assumptions of a printed certificate: its norm, its constants, and runs in that norm.

Names in ``_told`` are printed. The rest is known to the certificate and not printed: how far
inputs lead in its norm, the Euclidean size of the box, all errors of rounding.
"""

from dataclasses import replace

from sympy import Abs, Min, Symbol

from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    Use,
    at,
    eq,
    law,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.certificates import remaining, whole
from rnnbounds.theory.language.terms.gates import gated_run
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, m, s, v, vector, x
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    computed,
    entry,
    is_absolute,
    norm,
    phi,
    state,
    weighted,
)
from rnnbounds.theory.models.box.geometry import BOX, inside
from rnnbounds.theory.models.driven_runs import (
    INPUTS,
    INVARIANT,
    OF_CELLS,
    STARTS,
    box_step,
    gap_steps,
    pair,
)
from rnnbounds.theory.models.sensitivity import state_steps
from rnnbounds.theory.proof import step

k, lam, epsilon, window, S, R = symbols("k lam_told eps_told k_told S_told R_told")
C, reach, S_0, B_h, gain = symbols("C_told c_told S_0_told B_h_told gain_told")
rounding, hidden = symbols("rounding_told hidden_told")
fed, size, lost = (Symbol(name, real=True) for name in ("fed", "box_size", "all_errors"))
TOLD = replace(BOX, text=" in the printed norm", lam=lam, S_0=S, B_h=R, suffix="")
STAYS = TOLD.contraction_assumptions[0]
# What bounds ‖s_t‖ in the printed norm.
SPREAD = Min(S / (1 - lam), R)


def assumed(
    id: str, text: str, over: tuple[Symbol, ...], *clauses: Statement | Clause
) -> Assumption:
    """Assumption that holds of a certificate by construction, with these clauses as its law."""
    return Assumption(id, text, law=law(id, over, *clauses))


SHOWN = assumed(
    "output",
    "the printed equivalence C is at least ‖h‖₂/‖s‖, for h is a linear part of s",
    (v,),
    le(norm(v), C * weighted(v)),
)
REACHED = assumed(
    "reach", "the printed reach c is at least ‖s‖/‖s‖₂", (v,), le(weighted(v), reach * whole(v))
)
RADIUS = assumed(
    "radius",
    "the printed radius R bounds ‖s‖ on the invariant set",
    (a,),
    Clause(le(weighted(a), R), (inside(a),)),
)
LEFT = assumed(
    "comparison",
    "the remainder of v after j steps is C λ^j ‖v‖ or, for cells with comparison matrices, the "
    "smaller of this and ‖(M^j |v|)_h‖₂; for two states it is at least that of their images after "
    "a step less",
    (a, b, v, m, j),
    le(norm(v), remaining(v, 0)),
    Clause(
        le(
            remaining(phi(a, entry(x, m + 1)) - phi(b, entry(x, m + 1)), j), remaining(a - b, j + 1)
        ),
        (inside(a), inside(b)),
    ),
)
PRINTED = assumed(
    "printed window",
    "the printed k is so large that after k steps or more at most ε remains of states of the "
    "invariant set with ‖s‖ ≤ min(S/(1 − λ), R), which each layer of a stack has in its norm",
    (a, j),
    Clause(le(remaining(a, j), epsilon), (inside(a), le(weighted(a), SPREAD), le(window, j))),
)


def of_weights(assumption: Assumption) -> Assumption:
    """Restrict the assumption to norms whose weights are printed, of all layers."""
    return replace(assumption, condition=le(hidden, ZERO))


WEIGHED = of_weights(TOLD.contraction)
SIDES = vector("box_sides")
IN_BOX = assumed(
    "box",
    "the invariant set is in the box |s_i| ≤ box_i",
    (a, i),
    Clause(le(Abs(part(a, i)), Abs(part(SIDES, i))), (inside(a),)),
)
CORNER = of_weights(
    assumed(
        "radius",
        "the printed norm is one of |s_i|, and the printed R at least that of the box's corner",
        (),
        eq(is_absolute, ONE),
        le(weighted(SIDES), R),
    )
)
BOXED = assumed(
    "printed bound",
    "the printed B_h is at least C min(S/(1 − λ), R), or the largest ‖h‖₂ on the invariant set",
    (a,),
    le(Min(C * SPREAD, size), B_h),
    Clause(le(norm(a), size), (inside(a),)),
)
FIRST_STEP = assumed(
    "first step",
    "the printed S_0 bounds ‖h‖₂ after a step from zero",
    (m,),
    le(norm(phi(0, entry(x, m + 1))), S_0),
)
LARGE = Assumption("long window", "the window is at least the printed k", le(window, k))


INPUT = assumed(
    "lipschitz input",
    "L is a Lipschitz constant of φ in the input on the invariant set, in the printed norm",
    (a, m),
    Clause(
        le(weighted(phi(a, pair[0]) - phi(a, pair[1])), fed * norm(pair[0] - pair[1])), (inside(a),)
    ),
    le(ZERO, fed),
)
PRINTED_GAIN = assumed(
    "printed gain", "the printed gain is at least C L/(1 − λ)", (), le(C * fed / (1 - lam), gain)
)
FORCED = replace(
    OF_CELLS,
    norm=TOLD,
    L_x=fed,
    assumptions=(INVARIANT, STARTS, TOLD.contraction, TOLD.contractive, INPUT, INPUTS),
)

OWN = assumed(
    "own dtype",
    "as long as what is computed in the model's own dtype is within r of the exact state, in a "
    "norm or unit by unit, so it is a step later: the step is off by so little, and φ brings the "
    "two so much closer",
    (m,),
    eq(computed(x, 0), ZERO),
    le(ZERO, lost),
    Clause(
        le(weighted(computed(x, m + 1) - state(x, 0, m + 1)), lost),
        (le(weighted(computed(x, m) - state(x, 0, m)), lost),),
    ),
)
PRINTED_ROUNDING = assumed(
    "printed rounding",
    "the printed bound on rounding is at least the Euclidean norm of all outputs within r",
    (v,),
    Clause(le(norm(v), rounding), (le(weighted(v), lost),)),
)

SHARES = assumed(
    "shares",
    "no system uses more than all of any other constant that is printed: what the constant bounds, "
    "over it, is at most 1",
    (i,),
    le(Abs(part(vector("shares"), i)), ONE),
)
MODEL = (STAYS, TOLD.contraction, TOLD.contractive, TOLD.drive)
RUN = (*TOLD.setup_steps, *state_steps(TOLD))
START = step("where a window starts", le(weighted(state(x, 0, s)), SPREAD), forall=(s,)).by(
    at("state", s),
    at("power not negative", s),
    at("radius", state(x, 0, s)),
    at("runs stay in the box", 0, s),
    "contractive",
)

# Two runs under the same inputs, from two states of the invariant set.
PAIR = (STAYS, TOLD.contraction, STARTS)
ORBITS = (
    box_step("run stays", x),
    *gap_steps(TOLD, x, (at("run stays", c, j), at("run stays", v, j)), (inside(c), inside(v))),
)
apart = gated_run(a, x, k) - gated_run(b, x, k)
ALL_STEPS: tuple[Use, ...] = (at("all steps", a, b, k), "starts")
FROM_START = step("from the start", le(weighted(apart), reach * lam**k * whole(a - b))).by(
    *ALL_STEPS, at("reach", a - b), at("power not negative", k)
)


LOST = step(
    "what is lost", le(weighted(computed(x, j) - state(x, 0, j)), lost), forall=(j,)
).by_induction(base=(at("own dtype", 0), RECURSION.at(x, 0, 0)), step=at("own dtype", j))
