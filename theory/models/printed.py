"""What a printed certificate rests on: the norm that it names, its constants, and runs in it.

What ends in ``_told`` is printed. The rest is what the certificate knows without printing it: how
far inputs lead in its norm, ‖s‖₂ ≤ C₂‖s‖, the Euclidean size of the box, the rounding of a step.
"""

from dataclasses import replace

from sympy import Abs, Expr, Min, Symbol

from theory.language.law import Assumption, Clause, Use, at, law
from theory.language.statement import Statement, eq, le
from theory.language.terms.certificates import whole
from theory.language.terms.gates import GATED_RUN, gated_run
from theory.language.terms.unitary import part
from theory.language.terms.vectors import (
    RECURSION,
    a,
    b,
    c,
    computed,
    entry,
    i,
    j,
    m,
    norm,
    phi,
    s,
    state,
    v,
    vector,
    weighted,
    x,
)
from theory.language.vocabulary import symbols
from theory.models.box_geometry import BOX, inside
from theory.models.driven_runs import INPUTS, INVARIANT, OF_CELLS, STARTS, both, stays
from theory.models.geometry import ONE, ZERO
from theory.models.sensitivity import states
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Step

k, lam, epsilon, window, S, R = symbols("k lam_told eps_told k_told S_told R_told")
C, reach, S_0, B_h, gain = symbols("C_told c_told S_0_told B_h_told gain_told")
rounding, steps, turns, turned = symbols(
    "rounding_told steps_told two_norm_steps_told two_norm_told"
)
fed, widest, size, local = (
    Symbol(name, real=True) for name in ("fed", "widest", "box_size", "one_error")
)
TOLD = replace(BOX, text=" in the printed norm", lam=lam, S_0=S, B_h=R)
STAYS = TOLD.contracts[0]
# What bounds ‖s_t‖ in the printed norm.
SPREAD = Min(S / (1 - lam), R)


def assumed(
    id: str, text: str, over: tuple[Symbol, ...], *clauses: Statement | Clause
) -> Assumption:
    """What holds of a certificate by construction."""
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
WIDE = assumed(
    "state",
    "C₂ is at least ‖s‖₂/‖s‖, of the whole state",
    (v,),
    le(whole(v), widest * weighted(v)),
    le(ZERO, widest),
)
RADIUS = assumed(
    "radius",
    "the printed radius R bounds ‖s‖ on the invariant set",
    (a,),
    Clause(le(weighted(a), R), (inside(a),)),
)
PRINTED = assumed(
    "printed window",
    "the printed k is so large that C min(S/(1 − λ), R) λ^k ≤ ε",
    (),
    le(C * SPREAD * lam**window, epsilon),
)
BOXED = assumed(
    "printed bound",
    "the printed B_h is at least C min(S/(1 − λ), R), or what the invariant set has of ‖h‖₂",
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
TURNED = assumed(
    "printed steps",
    "the printed factor is at least C₂ c λ^r, for r printed steps",
    (),
    le(widest * reach * lam**turns, turned),
)
MANY = Assumption("many steps", "there are at least the printed steps", le(turns, k))
LARGE = Assumption("long window", "the window is at least the printed k", le(window, k))


def weighed(assumptions: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """The same of a norm with printed weights: of no iterated one, which looks several steps ahead,
    is a single step or a single state bounded."""
    of_norm = ("contraction", "radius")
    return tuple(
        replace(one, condition=le(steps, ONE)) if one.id in of_norm else one for one in assumptions
    )


INPUT = assumed(
    "lipschitz input",
    "L is a Lipschitz constant of φ in the input on the invariant set, in the printed norm",
    (a, m),
    Clause(
        le(weighted(phi(a, both[0]) - phi(a, both[1])), fed * norm(both[0] - both[1])),
        (inside(a),),
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

hat, now = computed(x, m), entry(x, m + 1)
OWN = assumed(
    "own dtype",
    "a step in the model's own dtype, on the states that it computes, is off by at most e in ‖·‖₂, "
    "and these are of the set on which φ contracts",
    (m,),
    eq(computed(x, 0), ZERO),
    le(weighted(computed(x, m + 1) - phi(hat, now)), reach * local),
    inside(hat),
    le(ZERO, reach * local),
)
PRINTED_ROUNDING = assumed(
    "printed rounding",
    "the printed bound on rounding is at least C c e/(1 − λ)",
    (),
    le(C * reach * local / (1 - lam), rounding),
)

SHARES = assumed(
    "shares",
    "each other constant that is printed bounds what it names, so that no more than all is used",
    (i,),
    le(Abs(part(vector("shares"), i)), ONE),
)
MODEL = (*TOLD.contracts, TOLD.contractive, TOLD.drive)
RUN = (*TOLD.before, *states(TOLD))
START = Step(
    "where a window starts",
    le(weighted(state(x, 0, s)), SPREAD),
    Smt(
        at("state", s),
        at("power not negative", s),
        at("radius", state(x, 0, s)),
        at("runs stay in the box", 0, s),
        "contractive",
    ),
    forall=(s,),
)
SHORTER = Step(
    "longer windows forget more",
    le(lam ** (s + j), lam**s),
    Smt(at("power of a sum", s, j), at("power at most one", j), at("power not negative", s)),
    forall=(s, j),
)

# Two runs under the same inputs, from two states of the invariant set.
PAIR = (STAYS, TOLD.contraction, STARTS)
inner, other = gated_run(c, x, j), gated_run(v, x, j)
SET = (inside(c), inside(v))
ORBITS = (
    stays("run stays", x),
    Step(
        "one step",
        le(
            weighted(gated_run(c, x, j + 1) - gated_run(v, x, j + 1)),
            lam * weighted(inner - other),
        ),
        Smt(
            GATED_RUN.at(c, x, j),
            GATED_RUN.at(v, x, j),
            at("contraction", inner, other, j),
            at("run stays", c, j),
            at("run stays", v, j),
            "given 1",
            "given 2",
        ),
        forall=(c, v, j),
        given=SET,
    ),
    Step(
        "all steps",
        le(weighted(inner - other), lam**j * weighted(c - v)),
        Induction(
            j,
            base=Smt(GATED_RUN.at(c, x, 0), GATED_RUN.at(v, x, 0)),
            step=Smt(HYPOTHESIS, at("one step", c, v, j), "given 1", "given 2"),
        ),
        forall=(c, v, j),
        given=SET,
    ),
)
apart = gated_run(a, x, k) - gated_run(b, x, k)
ALL_STEPS: tuple[Use, ...] = (at("all steps", a, b, k), "starts")
FROM_START = Step(
    "from the start",
    le(weighted(apart), reach * lam**k * whole(a - b)),
    Smt(*ALL_STEPS, at("reach", a - b), at("power not negative", k)),
)

lost = computed(x, j) - state(x, 0, j)


def lost_by(steps: Expr) -> Expr:
    """What so many steps lose, in the printed norm."""
    return reach * local * TOLD.total(steps)


LOST = Step(
    "what is lost",
    le(weighted(lost), lost_by(j)),
    Induction(
        j,
        base=Smt(at("own dtype", 0), RECURSION.at(x, 0, 0)),
        step=Smt(
            HYPOTHESIS,
            RECURSION.at(x, 0, j),
            TOLD.triangle.at(
                computed(x, j + 1) - phi(computed(x, j), entry(x, j + 1)),
                phi(computed(x, j), entry(x, j + 1)) - phi(state(x, 0, j), entry(x, j + 1)),
            ),
            at("own dtype", j),
            at("contraction", computed(x, j), state(x, 0, j), j),
            at("runs stay in the box", 0, j),
            "contractive",
        ),
    ),
    forall=(j,),
)
