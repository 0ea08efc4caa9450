"""Two runs under two input sequences, step by step, in any norm of states.

‖s_T − s′_T‖ ≤ λ‖s_{T−1} − s′_{T−1}‖ + L_x δ, and so ‖s_T − s′_T‖ ≤ L_x δ g(T) + λ^T ‖s_0 − s′_0‖.
"""

from dataclasses import dataclass

from sympy import Expr

from rnnbounds.theory.language import (
    ZERO,
    Assumption,
    Clause,
    Statement,
    Use,
    assume,
    at,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.gates import GATED_RUN, gated_run
from rnnbounds.theory.language.terms.variables import a, b, c, j, m, v, x, x_other
from rnnbounds.theory.language.terms.vectors import entry, norm, phi
from rnnbounds.theory.models.box_geometry import BOX, inside
from rnnbounds.theory.models.geometry import EUCLIDEAN, Geometry
from rnnbounds.theory.models.system import LIPSCHITZ_INPUT
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

x_gap, L_x, L_x_box, C_box = symbols("x_gap L_x L_x_box C_box")

one, two = gated_run(c, x, j), gated_run(v, x_other, j)
now, other = entry(x, j + 1), entry(x_other, j + 1)

INPUTS = assume("inputs", "δ bounds ‖x_t − x′_t‖ for every t", forall=(m,)).that(
    le(norm(entry(x, m + 1) - entry(x_other, m + 1)), x_gap)
)


def coming_together(
    g: Geometry,
    other: Expr,
    uses: tuple[Use, ...],
    given: tuple[Statement, ...] = (),
    added: Expr = ZERO,
    moved: tuple[Use, ...] = (),
) -> tuple[Step, Step]:
    """‖s_j − s′_j‖ ≤ `added` g(j) + λ^j ‖s_0 − s′_0‖: one step, and all of them.

    `uses` say how the contraction is used of the two runs, the second of them under the `other`
    inputs; `moved`, that with these a step is off by at most `added`.
    """
    one, two, last = gated_run(c, x, j), gated_run(v, other, j), entry(other, j + 1)
    gap, gap_next = (g.norm(gated_run(c, x, t) - gated_run(v, other, t)) for t in (j, j + 1))
    apart = (g.triangle.at(phi(one, now) - phi(two, now), phi(two, now) - phi(two, last)),)
    return (
        step("one step", le(gap_next, g.lam * gap + added), forall=(c, v, j), given=given).by(
            GATED_RUN.at(c, x, j),
            GATED_RUN.at(v, other, j),
            *(apart if moved else ()),
            at("contraction", one, two, now if g is EUCLIDEAN else j),
            *uses,
            *moved,
        ),
        step(
            "all steps",
            le(gap, added * g.total(j) + g.lam**j * g.norm(c - v)),
            forall=(c, v, j),
            given=given,
        ).by_induction(
            base=(GATED_RUN.at(c, x, 0), GATED_RUN.at(v, other, 0)),
            step=(at("one step", c, v, j), *(("contractive",) if moved else ())),
        ),
    )


@dataclass(frozen=True)
class Driven:
    """Assumptions on a model in one norm, and the proof steps that bound the gap of two runs."""

    norm: Geometry
    L_x: Expr
    assumptions: tuple[Assumption, ...]
    moved: tuple[Use, ...]
    contraction: tuple[Use, ...] = ()
    before: tuple[Step, ...] = ()
    given: tuple[Statement, ...] = ()

    def bound(self, steps: Expr) -> Expr:
        """L_x δ g(t)."""
        return self.L_x * x_gap * self.norm.total(steps)

    @property
    def steps(self) -> tuple[Step, ...]:
        """From one step to all."""
        moved, off = (*self.moved, at("inputs", j)), self.L_x * x_gap
        together = coming_together(self.norm, x_other, self.contraction, self.given, off, moved)
        return (*self.before, *together)


OF_VANILLA = Driven(
    EUCLIDEAN,
    L_x,
    (EUCLIDEAN.contraction, EUCLIDEAN.contractive, LIPSCHITZ_INPUT, INPUTS),
    (at("lipschitz input", now, other, two),),
)

both = (entry(x, m + 1), entry(x_other, m + 1))
INVARIANT = assume(
    "invariant box",
    "a set in the box is invariant, discs for complex modes and else the box: no step on an input "
    "of either sequence leaves it",
    forall=(a, m),
    inclusion=True,
).that(*(Clause(inside(phi(a, new)), (inside(a),)) for new in both))
STARTS = assume("starts", "both runs start in the invariant set").that(inside(a), inside(b))
LIPSCHITZ_INPUT_BOX = assume(
    "lipschitz input",
    "φ is L_x_box-Lipschitz in the input on the box, from ‖·‖₂ to ‖·‖_box",
    forall=(a, m),
).that(
    Clause(
        le(BOX.norm(phi(a, both[0]) - phi(a, both[1])), L_x_box * norm(both[0] - both[1])),
        (inside(a),),
    )
)
SHOWN = assume(
    "output", "C_box is at least ‖h‖₂/‖s‖_box, for h is a linear part of s", forall=(c, v, j)
).that(le(norm(one - two), C_box * BOX.norm(one - two)))


def stays(name: str, inputs: Expr) -> Step:
    """The run from a state of the set stays there."""
    run = gated_run(v, inputs, j)
    return step(name, inside(run), forall=(v, j), given=(inside(v),)).inductively(
        base=("given 1", GATED_RUN.at(v, inputs, 0)),
        step=(HYPOTHESIS, GATED_RUN.at(v, inputs, j), at("invariant box", run, j)),
    )


stay = (at("run stays", c, j), at("other run stays", v, j))
OF_CELLS = Driven(
    BOX,
    L_x_box,
    (INVARIANT, STARTS, BOX.contraction, BOX.contractive, LIPSCHITZ_INPUT_BOX, INPUTS),
    (at("lipschitz input", two, j),),
    stay,
    before=(stays("run stays", x), stays("other run stays", x_other)),
    given=(inside(c), inside(v)),
)
