"""Why the unitary equivalent of a contractive ReLU network does what the network does.

The added units have the bias b_2,i = −B_h ‖row_i(W_3)‖.  As ‖h_t‖ ≤ B_h, they stay off, and V acts
on the others as W does.
"""

from dataclasses import replace

from sympy import Abs, Expr

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.entries import ENTRIES
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ
from rnnbounds.theory.axioms.unitary import EXTENSIONAL, MONOTONE_NORM
from rnnbounds.theory.language import ZERO, at, eq, le, symbols
from rnnbounds.theory.language.definitions import Definition
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
    PLAIN,
    EquivalentNetwork,
    h,
    preactivation_term,
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
        at("ReLU shrinks", preactivation_term),
        TRIANGLE.at(W * h, U * x_next + bias),
        SUBMULTIPLICATIVE.at(W, h),
        "norm of W",
        at("bounded inputs", j),
        "start",
        "contractive",
    ),
)
STATES = (SHRINKS_ENTRIES, SHRINKS, BOUNDED)


def added_units_off(reads: Expr) -> tuple[Step, ...]:
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


def equal_state_steps(name: str, of: EquivalentNetwork) -> tuple[Step, ...]:
    """The equivalent's states are those of the network beside units that are off."""
    reads, (state, fed, _) = unitary.W_3, of.state_terms(j)
    low, same = reads * h + unitary.below(B_h, reads), eq(state, unitary.J * h)
    now = unitary.J * preactivation_term + unitary.J_2 * low
    return (
        *added_units_off(reads),
        step("pre-activation", eq(fed, now), forall=(j,), given=(same,)).by(
            "dilation", of.law_at(j), method=Words
        ),
        step(name, same, forall=(j,)).by_induction(
            base=(of.law_at(0), at("network", 0)),
            step=(
                of.law_at(j),
                at("pre-activation", j),
                at("blocks", preactivation_term, low),
                at("the added units are off", j),
                at("network", j),
            ),
            method=Identity,
        ),
    )


def equal_output_steps(
    name: str, states: str, of: EquivalentNetwork, largest: Definition, gap: Expr
) -> tuple[Step, ...]:
    """Steps: the state read from the equivalent is the network's, so output gaps are 0 at all j."""
    (*_, read), terms = of.state_terms(j), (*of.biased, x)
    return (
        step(name, eq(read, h), forall=(j,)).by(
            of.law_at(j),
            at(states, j),
            at("embedding", h),
            method=Words,
        ),
        step("equal outputs", eq(gap, ZERO), forall=(j,)).by_induction(
            base=largest.at(*terms, 0), step=(largest.at(*terms, j), at(name, j + 1))
        ),
    )


b_2 = unitary.below(B_h, unitary.W_3)
OWN = replace(PLAIN, biased=(b_2,))
EQUAL_STATES = equal_state_steps("equal states", OWN)
EQUIVALENCE = theorem(
    "equivalent",
    eq(unitary_gap, ZERO),
    (*BOUNDED_NETWORK, DILATION, BLOCKS, EMBEDDING, EQUIVALENT, BELOW),
    "unitary",
    (
        *(*STATES, *EQUAL_STATES),
        *equal_output_steps(
            "equal first units",
            "equal states",
            OWN,
            unitary.LARGEST_GAP,
            unitary.largest_gap(b_2, x, j),
        ),
    ),
).by(at("equal outputs", T))
