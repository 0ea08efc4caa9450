"""A run that starts in the invariant box stays there."""

from sympy import Abs, Expr, Symbol

from rnnbounds.theory.axioms.entries import DEFINITE, DIFFERENCES, LEAST_BOUND
from rnnbounds.theory.language import ZERO, Clause, Statement, Use, assume, at, eq, le
from rnnbounds.theory.language.terms.gates import (
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

new = entry(x, m + 1)
SIDES = (("cell", to_cell, cell_box), ("output", to_output, output_box))

NEAREST = assume(
    "nearest state",
    "the nearest state of the box is in the box, and each state of the box is its own",
    forall=(v, i),
).that(
    *(le(Abs(part(P * boxed(v), i)), size(i)) for _, P, size in SIDES),
    *(
        Clause(eq(part(P * boxed(v), i), part(P * v, i)), (le(Abs(part(P * v, i)), size(i)),))
        for _, P, size in SIDES
    ),
)
JOINT = assume("joint state", "‖s‖_∞ = max(‖c‖_∞, ‖h‖_∞) for s = (c, h)", forall=(z, v)).that(
    *(le(max_norm(P * v), max_norm(v)) for _, P, _ in SIDES),
    Clause(le(max_norm(v), z), tuple(le(max_norm(P * v), z) for _, P, _ in SIDES)),
)


def in_box(state: Expr) -> Statement:
    """The state stands for itself."""
    return eq(max_norm(state - boxed(state)), ZERO)


def member(name: str, state: Expr, forall: tuple[Symbol, ...], *why: Use) -> tuple[Step, ...]:
    """The state is in the box, for each of its entries is: by the one reason, or one for each."""
    apart = state - boxed(state)
    entries = tuple(
        step(f"{name}: each {side}", le(Abs(part(P * apart, i)), ZERO), forall=(i,)).by(
            DIFFERENCES.at(P * state, P * boxed(state), i), at("nearest state", state, i), reason
        )
        for (side, P, _), reason in zip(SIDES, why * (2 // len(why)), strict=True)
    )
    whole = step(name, in_box(state), forall=forall).by(
        *(step.id for step in entries),
        *(LEAST_BOUND.at(0, P * apart) for _, P, _ in SIDES),
        at("joint state", 0, apart),
    )
    return (*entries, whole)


run = gated_run(boxed(v), x, j)
KEPT_IN_BOX = member(
    "the box is kept",
    phi(boxed(v), new),
    (v, m),
    at("a cell stays", v, m, i),
    at("an output stays", v, m, i),
)
STARTS = member("the box is itself", boxed(v), (v,), at("nearest state", v, i))
RUNS_STAY = step("runs stay", in_box(run), forall=(v, j)).by_induction(
    base=(GATED_RUN.at(boxed(v), x, 0), at("the box is itself", v)),
    step=(
        GATED_RUN.at(boxed(v), x, j),
        DEFINITE.at(boxed(run), run),
        at("the box is kept", run, j),
    ),
)
