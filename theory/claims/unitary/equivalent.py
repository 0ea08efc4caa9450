"""Why the unitary equivalent of a contractive ReLU network does what the network does.

The added units have the bias b_2,i = −B_h ‖row_i(W_3)‖.  As ‖h_t‖ ≤ B_h, they stay off, and V acts
on the others as W does.
"""

from sympy import Abs, Expr

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.entries import ENTRIES
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ
from rnnbounds.theory.axioms.unitary import EXTENSIONAL, MONOTONE_NORM
from rnnbounds.theory.language import ZERO, at, eq, le, symbols
from rnnbounds.theory.language.terms import unitary
from rnnbounds.theory.language.terms.gradients import activation
from rnnbounds.theory.language.terms.variables import i, j, v, x
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.models.unitary.networks import (
    BELOW,
    BLOCKS,
    BOUNDED_NETWORK,
    DILATION,
    EMBEDDING,
    EQUIVALENT,
    h,
    inside,
    x_next,
)
from rnnbounds.theory.proof import Step, step, theorem
from rnnbounds.theory.proof.methods import Identity, Words

B_h, T, unitary_gap = symbols("B_h T unitary_gap")
SHRINKS_ENTRIES = step(
    "ReLU shrinks entries",
    le(Abs(unitary.part(activation(v), i)), Abs(unitary.part(v, i))),
    forall=(i,),
).by(at("relu", v, i))
SHRINKS = step("ReLU shrinks", le(norm(activation(v)), norm(v)), forall=(v,)).by(
    "ReLU shrinks entries", MONOTONE_NORM.at(activation(v), v)
)
BOUNDED = step("the states are bounded", le(norm(h), B_h), forall=(j,)).by_induction(
    base=(at("network", 0), "start", "contractive"),
    step=(
        at("network", j),
        at("ReLU shrinks", inside),
        TRIANGLE.at(W * h, U * x_next + bias),
        SUBMULTIPLICATIVE.at(W, h),
        "norm of W",
        at("bounded inputs", j),
        "start",
        "contractive",
    ),
)
STATES = (SHRINKS_ENTRIES, SHRINKS, BOUNDED)


def off(reads: Expr) -> tuple[Step, ...]:
    """The added units read `reads` h_t; with the bias −B_h ‖row‖ they stay off."""
    added = reads * h + unitary.below(B_h, reads)
    return (
        step("no entry is positive", le(unitary.part(added, i), ZERO), forall=(i, j)).by(
            ENTRIES.at(reads, reads * h, unitary.below(B_h, reads), h, i),
            at("bias below", B_h, reads, i),
            CAUCHY_SCHWARZ.at(unitary.line(reads, i), h),
            at("the states are bounded", j),
        ),
        step(
            "entries are off",
            eq(unitary.part(activation(added), i), unitary.part(ZERO, i)),
            forall=(i,),
        ).by(at("relu", added, i), at("no entry is positive", i, j), ENTRIES.at(0, 0, 0, 0, i)),
        step("the added units are off", eq(activation(added), ZERO), forall=(j,)).by(
            "entries are off", EXTENSIONAL.at(activation(added), 0), method=Identity
        ),
    )


b_2 = unitary.below(B_h, unitary.W_3)
SAME = eq(unitary.urnn(b_2, x, j), unitary.J * h)
EQUAL_STATES = (
    *off(unitary.W_3),
    step(
        "pre-activation",
        eq(
            unitary.preactivation(b_2, x, j),
            unitary.J * inside + unitary.J_2 * (unitary.W_3 * h + b_2),
        ),
        forall=(j,),
        given=(SAME,),
    ).by("dilation", at("unitary equivalent", b_2, j), method=Words),
    step("equal states", SAME, forall=(j,)).by_induction(
        base=(at("unitary equivalent", b_2, 0), at("network", 0)),
        step=(
            at("unitary equivalent", b_2, j),
            at("pre-activation", j),
            at("blocks", inside, unitary.W_3 * h + b_2),
            at("the added units are off", j),
            at("network", j),
        ),
        method=Identity,
    ),
)
FIRST_UNITS = step("equal first units", eq(unitary.upper(b_2, x, j), h), forall=(j,)).by(
    at("unitary equivalent", b_2, j), at("equal states", j), at("embedding", h), method=Words
)
EQUIVALENCE = theorem(
    "equivalent",
    eq(unitary_gap, ZERO),
    (*BOUNDED_NETWORK, DILATION, BLOCKS, EMBEDDING, EQUIVALENT, BELOW),
    "unitary",
    (
        *STATES,
        *EQUAL_STATES,
        FIRST_UNITS,
        step("equal outputs", eq(unitary.largest_gap(b_2, x, j), ZERO), forall=(j,)).by_induction(
            base=unitary.LARGEST_GAP.at(b_2, x, 0),
            step=(unitary.LARGEST_GAP.at(b_2, x, j), at("equal first units", j + 1)),
        ),
    ),
).by(at("equal outputs", T))
