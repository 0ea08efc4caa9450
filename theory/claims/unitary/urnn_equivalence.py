"""A contractive ReLU network has a unitary equivalent (Emami et al., Theorem 3.1).

The added units have the bias b_2,i = −B_h ‖row_i(W_3)‖.  As ‖h_t‖ ≤ B_h, they stay off, and V acts
on the others as W does.
"""

from collections.abc import Callable

from sympy import Abs, Expr

from theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from theory.axioms.gradients import CAUCHY_SCHWARZ
from theory.axioms.unitary import EXTENSIONAL, MONOTONE_NORM
from theory.claims.unitary.pulse import BEYOND
from theory.language.law import Instance, Use, at
from theory.language.statement import ZERO, eq, le
from theory.language.terms.gradients import activation
from theory.language.terms.unitary import (
    J_2,
    LARGEST_GAP,
    W_3,
    J,
    below,
    largest_gap,
    line,
    part,
)
from theory.language.terms.variables import i, j, v, x
from theory.language.terms.vectors import norm
from theory.language.vocabulary import symbols
from theory.models.cells import U, W, bias
from theory.models.unitary.networks import (
    BELOW,
    BLOCKS,
    BOUNDED_NETWORK,
    DILATION,
    EMBEDDING,
    ENTRIES,
    EQUIVALENT,
    Equivalent,
    h,
    inside,
    plain,
    x_next,
)
from theory.proof.claim import Claim, Source
from theory.proof.methods import Identity, Words
from theory.proof.proof import Step
from theory.proof.steps import step, theorem

B_h, T = symbols("B_h T")
unitary_gap, unitary_gap_unbiased, unitary_gap_undamped = symbols(
    "unitary_gap unitary_gap_unbiased unitary_gap_undamped"
)
unitary_gap_unstarted, unitary_gap_scant, unitary_gap_beyond = symbols(
    "unitary_gap_unstarted unitary_gap_scant unitary_gap_beyond"
)

SHRINKS_ENTRIES = step(
    "ReLU shrinks entries", le(Abs(part(activation(v), i)), Abs(part(v, i))), forall=(i,)
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
    added = reads * h + below(B_h, reads)
    return (
        step("no entry is positive", le(part(added, i), ZERO), forall=(i, j)).by(
            ENTRIES.at(reads, reads * h, below(B_h, reads), h, i),
            BELOW.at(B_h, reads, i),
            CAUCHY_SCHWARZ.at(line(reads, i), h),
            at("the states are bounded", j),
        ),
        step("entries are off", eq(part(activation(added), i), part(ZERO, i)), forall=(i,)).by(
            at("relu", added, i), at("no entry is positive", i, j), ENTRIES.at(0, 0, 0, 0, i)
        ),
        step("the added units are off", eq(activation(added), ZERO), forall=(j,)).by(
            "entries are off", EXTENSIONAL.at(activation(added), 0), method=Identity
        ),
    )


def equal_states(
    e: Equivalent, named: Callable[[Expr], Use], undone: tuple[Use, ...] = (), *moved: Use
) -> tuple[Step, ...]:
    """s_t = (D h_t, 0), for the added units stay off."""
    same = eq(e.states(j), J * e.scale * h)
    return (
        *off(e.rows),
        step(
            "pre-activation",
            eq(e.inside(j), J * e.scale * inside + J_2 * (e.rows * h + e.bias)),
            forall=(j,),
            given=(same,),
        ).by("dilation", named(j), *undone, method=Words),
        step("equal states", same, forall=(j,)).by_induction(
            base=(named(ZERO), at("network", 0)),
            step=(
                named(j),
                at("pre-activation", j),
                at("blocks", e.scale * inside, e.rows * h + e.bias),
                *moved,
                at("the added units are off", j),
                at("network", j),
            ),
            method=Identity,
        ),
    )


def equal_outputs(
    e: Equivalent, gap: Expr, largest: Instance, named: Use, *undone: Use
) -> tuple[Step, Step]:
    """The units that are read are h_t, so that no output differs."""
    return (
        step("equal first units", eq(e.read(j), h), forall=(j,)).by(
            named, at("equal states", j), at("embedding", e.scale * h), *undone, method=Words
        ),
        step("equal outputs", eq(gap, ZERO), forall=(j,)).by_induction(
            base=largest, step=(largest, at("equal first units", j + 1))
        ),
    )


b_2 = below(B_h, W_3)
PLAIN = plain(b_2)
EQUAL_STATES = equal_states(PLAIN, lambda time: at(PLAIN.id, b_2, time))
EQUIVALENCE = theorem(
    "equivalent",
    eq(unitary_gap, ZERO),
    (*BOUNDED_NETWORK, DILATION, BLOCKS, EMBEDDING, EQUIVALENT),
    "unitary",
    (
        *STATES,
        *EQUAL_STATES,
        *equal_outputs(
            PLAIN,
            largest_gap(b_2, x, j),
            LARGEST_GAP.at(b_2, x, j),
            at(PLAIN.id, b_2, j),
        ),
    ),
).by(at("equal outputs", T))

URNN_EQUIVALENCE = Claim(
    id="urnn-equivalence",
    title="A contractive ReLU network has a unitary equivalent",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 3.1"
    ),
    forms=(EQUIVALENCE, BEYOND),
    false_variants=(
        EQUIVALENCE.variant(
            "unbiased",
            "the added units need no bias",
            eq(unitary_gap_unbiased, ZERO),
        ),
        EQUIVALENCE.variant(
            "undamped",
            "their bias counts one drive, without 1/(1 − λ)",
            eq(unitary_gap_undamped, ZERO),
        ),
        EQUIVALENCE.variant(
            "unstarted",
            "their bias forgets where the states start",
            eq(unitary_gap_unstarted, ZERO),
        ),
        EQUIVALENCE.variant(
            "scant",
            "a bias a hundredth smaller does as well",
            eq(unitary_gap_scant, ZERO),
        ),
        BEYOND.variant(
            "any-input",
            "the equivalent is one for all inputs, not for bounded ones alone",
            eq(unitary_gap_beyond, ZERO),
        ),
    ),
    extremal=(
        "every network: an exact equivalence. The bias is reached by the scalar network whose "
        "inputs all are B: h_t → B/(1 − λ)"
    ),
    emphasis=2,
)
