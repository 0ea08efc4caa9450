"""A run that starts in the invariant box stays there."""

from sympy import Abs, Expr, Symbol

from rnnbounds.theory.axioms.entries import DEFINITE, DIFFERENCES, LEAST_BOUND
from rnnbounds.theory.language import ZERO, Clause, Statement, Use, assume, at, eq, le
from rnnbounds.theory.language.terms.networks import (
    GATED_RUN,
    boxed,
    cell_box,
    gated_run,
    output_box,
    to_cell,
    to_output,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import i, j, m, v, x, z
from rnnbounds.theory.language.terms.vectors import entry, max_norm, phi
from rnnbounds.theory.proof import Step, step

next_input = entry(x, m + 1)
STATE_PARTS = (("cell", to_cell, cell_box), ("output", to_output, output_box))

NEAREST = assume(
    "nearest state",
    "the nearest state of the box is in the box, and each state of the box is its own",
    forall=(v, i),
).that(
    *(le(Abs(part(P * boxed(v), i)), size(i)) for _, P, size in STATE_PARTS),
    *(
        Clause(eq(part(P * boxed(v), i), part(P * v, i)), (le(Abs(part(P * v, i)), size(i)),))
        for _, P, size in STATE_PARTS
    ),
)
JOINT = assume("joint state", "‖s‖_∞ = max(‖c‖_∞, ‖h‖_∞) for s = (c, h)", forall=(z, v)).that(
    *(le(max_norm(P * v), max_norm(v)) for _, P, _ in STATE_PARTS),
    Clause(le(max_norm(v), z), tuple(le(max_norm(P * v), z) for _, P, _ in STATE_PARTS)),
)


def in_box(state: Expr) -> Statement:
    """Statement that the state is in the box: it is its own nearest state there."""
    return eq(max_norm(state - boxed(state)), ZERO)


def box_member_steps(
    name: str, state: Expr, forall: tuple[Symbol, ...], *reasons: Use
) -> tuple[Step, ...]:
    """The state is in the box, for each of its entries is: by the one reason, or one for each."""
    offset = state - boxed(state)
    entry_steps = tuple(
        step(f"{name}: each {side}", le(Abs(part(P * offset, i)), ZERO), forall=(i,)).by(
            DIFFERENCES.at(P * state, P * boxed(state), i), at("nearest state", state, i), reason
        )
        for (side, P, _), reason in zip(STATE_PARTS, reasons * (2 // len(reasons)), strict=True)
    )
    state_step = step(name, in_box(state), forall=forall).by(
        *(step.id for step in entry_steps),
        *(LEAST_BOUND.at(0, P * offset) for _, P, _ in STATE_PARTS),
        at("joint state", 0, offset),
    )
    return (*entry_steps, state_step)


boxed_run = gated_run(boxed(v), x, j)
KEPT_IN_BOX = box_member_steps(
    "the box is kept",
    phi(boxed(v), next_input),
    (v, m),
    at("a cell stays", v, m, i),
    at("an output stays", v, m, i),
)
STARTS = box_member_steps("the box is itself", boxed(v), (v,), at("nearest state", v, i))
RUNS_STAY = step("runs stay", in_box(boxed_run), forall=(v, j)).by_induction(
    base=(GATED_RUN.at(boxed(v), x, 0), at("the box is itself", v)),
    step=(
        GATED_RUN.at(boxed(v), x, j),
        DEFINITE.at(boxed(boxed_run), boxed_run),
        at("the box is kept", boxed_run, j),
    ),
)
