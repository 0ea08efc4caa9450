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
from rnnbounds.theory.language.terms.networks import GATED_RUN, gated_run
from rnnbounds.theory.language.terms.variables import a, b, c, j, m, v, x, x_other
from rnnbounds.theory.language.terms.vectors import entry, norm, phi
from rnnbounds.theory.models.box.geometry import BOX, inside
from rnnbounds.theory.models.geometry import EUCLIDEAN, Geometry
from rnnbounds.theory.models.system import LIPSCHITZ_INPUT
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

x_gap, L_x, L_x_box, C_box = symbols("x_gap L_x L_x_box C_box")

run_one, run_two = gated_run(c, x, j), gated_run(v, x_other, j)
now, other_input = entry(x, j + 1), entry(x_other, j + 1)

INPUTS = assume("inputs", "δ bounds ‖x_t − x′_t‖ for every t", forall=(m,)).that(
    le(norm(entry(x, m + 1) - entry(x_other, m + 1)), x_gap)
)


def gap_steps(
    g: Geometry,
    other_inputs: Expr,
    contraction_uses: tuple[Use, ...],
    premises: tuple[Statement, ...] = (),
    input_change: Expr = ZERO,
    input_uses: tuple[Use, ...] = (),
) -> tuple[Step, Step]:
    """‖s_j − s′_j‖ ≤ `input_change` g(j) + λ^j ‖s_0 − s′_0‖: one step, and all of them.

    `contraction_uses` are of the contraction of the two runs, the second under `other_inputs`;
    `input_uses` say that with these a step is off by at most `input_change`.
    """
    run_one, run_two, other_last = (
        gated_run(c, x, j),
        gated_run(v, other_inputs, j),
        entry(other_inputs, j + 1),
    )
    gap, gap_next = (g.norm(gated_run(c, x, t) - gated_run(v, other_inputs, t)) for t in (j, j + 1))
    triangle = (
        g.triangle.at(
            phi(run_one, now) - phi(run_two, now), phi(run_two, now) - phi(run_two, other_last)
        ),
    )
    return (
        step(
            "one step", le(gap_next, g.lam * gap + input_change), forall=(c, v, j), given=premises
        ).by(
            GATED_RUN.at(c, x, j),
            GATED_RUN.at(v, other_inputs, j),
            *(triangle if input_uses else ()),
            at("contraction", run_one, run_two, now if g is EUCLIDEAN else j),
            *contraction_uses,
            *input_uses,
        ),
        step(
            "all steps",
            le(gap, input_change * g.geometric_sum(j) + g.lam**j * g.norm(c - v)),
            forall=(c, v, j),
            given=premises,
        ).by_induction(
            base=(GATED_RUN.at(c, x, 0), GATED_RUN.at(v, other_inputs, 0)),
            step=(at("one step", c, v, j), *(("contractive",) if input_uses else ())),
        ),
    )


@dataclass(frozen=True)
class DrivenRuns:
    """Assumptions on a model in one norm, and the proof steps that bound the gap of two runs."""

    norm: Geometry
    L_x: Expr
    assumptions: tuple[Assumption, ...]
    input_uses: tuple[Use, ...]
    contraction_uses: tuple[Use, ...] = ()
    setup_steps: tuple[Step, ...] = ()
    premises: tuple[Statement, ...] = ()

    def bound(self, steps: Expr) -> Expr:
        """The bound L_x δ g(t) on what the inputs' difference adds in t steps."""
        return self.L_x * x_gap * self.norm.geometric_sum(steps)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Steps that bound the gap of two runs after any number of steps."""
        input_uses, input_change = (*self.input_uses, at("inputs", j)), self.L_x * x_gap
        run_steps = gap_steps(
            self.norm, x_other, self.contraction_uses, self.premises, input_change, input_uses
        )
        return (*self.setup_steps, *run_steps)


OF_VANILLA = DrivenRuns(
    EUCLIDEAN,
    L_x,
    (EUCLIDEAN.contraction, EUCLIDEAN.contractive, LIPSCHITZ_INPUT, INPUTS),
    (at("lipschitz input", now, other_input, run_two),),
)

pair = (entry(x, m + 1), entry(x_other, m + 1))
INVARIANT = assume(
    "invariant box",
    "a set in the box is invariant, discs for complex modes and else the box: no step on an input "
    "of either sequence leaves it",
    forall=(a, m),
    inclusion=True,
).that(*(Clause(inside(phi(a, new)), (inside(a),)) for new in pair))
STARTS = assume("starts", "both runs start in the invariant set").that(inside(a), inside(b))
LIPSCHITZ_INPUT_BOX = assume(
    "lipschitz input",
    "φ is L_x_box-Lipschitz in the input on the box, from ‖·‖₂ to ‖·‖_box",
    forall=(a, m),
).that(
    Clause(
        le(BOX.norm(phi(a, pair[0]) - phi(a, pair[1])), L_x_box * norm(pair[0] - pair[1])),
        (inside(a),),
    )
)


def box_step(name: str, inputs: Expr) -> Step:
    """Step: a run from a state of the invariant set stays in it."""
    run = gated_run(v, inputs, j)
    return step(name, inside(run), forall=(v, j), given=(inside(v),)).inductively(
        base=("given 1", GATED_RUN.at(v, inputs, 0)),
        step=(HYPOTHESIS, GATED_RUN.at(v, inputs, j), at("invariant box", run, j)),
    )


box_uses = (at("run stays", c, j), at("other run stays", v, j))
OF_CELLS = DrivenRuns(
    BOX,
    L_x_box,
    (INVARIANT, STARTS, BOX.contraction, BOX.contractive, LIPSCHITZ_INPUT_BOX, INPUTS),
    (at("lipschitz input", run_two, j),),
    box_uses,
    setup_steps=(box_step("run stays", x), box_step("other run stays", x_other)),
    premises=(inside(c), inside(v)),
)
