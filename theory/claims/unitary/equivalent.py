"""Why the unitary equivalent of a contractive ReLU network does what the network does.

The added units have the bias b_2,i = −B_h ‖row_i(W_3)‖.  As ‖h_t‖ ≤ B_h, they stay off, and V acts
on the others as W does.  ReLU commutes with a positive diagonal D: the network of D W D⁻¹, D U and
D b has the states D h_t and the same outputs, and its unitary equivalent may be smaller.
"""

from dataclasses import replace

from sympy import Abs, Expr

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.entries import ENTRIES
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ
from rnnbounds.theory.axioms.unitary import EXTENSIONAL, MONOTONE_NORM
from rnnbounds.theory.language import ONE, ZERO, Use, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.terms import unitary
from rnnbounds.theory.language.terms.gradients import activation
from rnnbounds.theory.language.terms.variables import a, i, j, v, x
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm
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

B_h, T, unitary_gap, unitary_gap_rescaled = symbols("B_h T unitary_gap unitary_gap_rescaled")
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


def equal_state_steps(name: str, of: EquivalentNetwork, *commutes: Use) -> tuple[Step, ...]:
    """The equivalent's states are those of the network, scaled, beside units that are off."""
    reads, (state, fed, _) = unitary.W_3 * of.scale, of.state_terms(j)
    low, same = reads * h + unitary.below(B_h, reads), eq(state, unitary.J * of.scale * h)
    now = unitary.J * of.scale * preactivation_term + unitary.J_2 * low
    return (
        *added_units_off(reads),
        step("pre-activation", eq(fed, now), forall=(j,), given=(same,)).by(
            "dilation", of.law_at(j), *unscaling(of, h), method=Words
        ),
        step(name, same, forall=(j,)).by_induction(
            base=(of.law_at(0), at("network", 0)),
            step=(
                of.law_at(j),
                at("pre-activation", j),
                at("blocks", of.scale * preactivation_term, low),
                *commutes,
                at("the added units are off", j),
                at("network", j),
            ),
            method=Identity,
        ),
    )


def unscaling(of: EquivalentNetwork, state: Expr) -> tuple[Use, ...]:
    """Uses: D⁻¹ undoes D; none where D is 1."""
    return (at("inverse", state),) if of.scale != ONE else ()


def equal_output_steps(
    name: str, states: str, of: EquivalentNetwork, largest: Definition, gap: Expr
) -> tuple[Step, ...]:
    """Steps: the state read from the equivalent is the network's, so output gaps are 0 at all j."""
    (*_, read), terms = of.state_terms(j), (*of.biased, x)
    return (
        step(name, eq(read, h), forall=(j,)).by(
            of.law_at(j),
            at(states, j),
            at("embedding", of.scale * h),
            *unscaling(of, h),
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

D = unitary.D
factor = function("factor", Scalar, __name__)  # factor(i) = D_ii
SCALES = assume("scales", "D is diagonal with positive entries", forall=(v, i)).that(
    lt(ZERO, factor(i)), eq(unitary.part(D * v, i), factor(i) * unitary.part(v, i))
)
INVERSE = assume("inverse", "D⁻¹ undoes D", forall=(a,)).that(eq(unitary.D_inverse * D * a, a))
SCALED_DILATION = assume("dilation", "V has D W D⁻¹ above W₃ in its first n columns").that(
    eq(unitary.V * unitary.J, unitary.J * D * W * unitary.D_inverse + unitary.J_2 * unitary.W_3)
)
SCALED = EquivalentNetwork(
    "rescaled equivalent",
    (unitary.scaled_urnn, unitary.scaled_preactivation, unitary.unscaled),
    scale=D,
    unscale=unitary.D_inverse,
)
SCALED_EQUIVALENT = SCALED.run_assumption(
    unitary.below(B_h, unitary.W_3 * D),
    "s_t = ρ(V s_{t−1} + (D U x_t + D b, b₂)) from s_0 = (D h_0, 0), with b₂ = −B_h ‖row of W₃D‖; "
    "the first n units are read, divided by the scales",
)
COMMUTES = (
    step(
        "entries of scaled states",
        eq(unitary.part(activation(D * v), i), unitary.part(D * activation(v), i)),
        forall=(i,),
    ).by(
        at("relu", D * v, i), at("relu", v, i), at("scales", v, i), at("scales", activation(v), i)
    ),
    step("ReLU commutes with the scales", eq(activation(D * v), D * activation(v)), forall=(v,)).by(
        "entries of scaled states",
        EXTENSIONAL.at(activation(D * v), D * activation(v)),
        method=Identity,
    ),
)
RESCALED = theorem(
    "rescaled",
    eq(unitary_gap_rescaled, ZERO),
    (
        *(*BOUNDED_NETWORK, SCALES, INVERSE, SCALED_DILATION, BLOCKS, EMBEDDING),
        *(SCALED_EQUIVALENT, BELOW),
    ),
    "unitary",
    (
        *(*STATES, *COMMUTES),
        *equal_state_steps(
            "scaled states", SCALED, at("ReLU commutes with the scales", preactivation_term)
        ),
        *equal_output_steps(
            "scales undone",
            "scaled states",
            SCALED,
            unitary.LARGEST_SCALED_GAP,
            unitary.largest_scaled_gap(x, j),
        ),
    ),
    note="the rank is that of DWD⁻¹, which may be smaller",
).by(at("equal outputs", T))
