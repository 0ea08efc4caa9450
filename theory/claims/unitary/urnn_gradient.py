"""Gradients of unitary networks: they do not grow, and the equivalents' vanish as W's do.

A step's derivative is diag(ρ') V.  V keeps norms, but ρ' is 0 of the units that are off: of an
equivalent of a contractive network all added ones, at all times, so that along its run
∂s_t/∂s_{t−1} = (diag(ρ') 0; 0 0) V, and the product of k such matrices is
(D_k W … D_2 W) D_1 (W W_2) above zeros.
"""

from sympy import Expr

from rnnbounds.theory.axioms import unitary
from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE
from rnnbounds.theory.axioms.gradients import CHAIN_RULE_LAYER
from rnnbounds.theory.axioms.unitary import CHAIN_RULE_STATES, IDENTITY_NORM, STATES_START
from rnnbounds.theory.claims.contraction.vanilla import SECANTS
from rnnbounds.theory.claims.unitary.equivalent import EQUAL_STATES, STATES, b_2
from rnnbounds.theory.language import ONE, ZERO, Clause, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.gradients import d_state, derivative, slopes
from rnnbounds.theory.language.terms.unitary import J_2, W_3, J, V, d_run, part, preactivation
from rnnbounds.theory.language.terms.variables import X, Y, a, b, eye, i, j, s, x, z
from rnnbounds.theory.language.terms.vectors import entry, norm, state, transpose
from rnnbounds.theory.models.activation.slopes import SLOPES
from rnnbounds.theory.models.cells import RNN, U, W, bias
from rnnbounds.theory.models.system import DIFFERENTIABLE, SOME_WINDOW, WINDOW
from rnnbounds.theory.models.unitary import networks
from rnnbounds.theory.models.unitary.isometry import SLOPE, before, isometric, isometry, x_next
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Identity, Words

lam, T, k, dh_dh = symbols("lam T k dh_dh")

added_units = W_3 * networks.h + b_2
RUN = assume(
    "run",
    "the model is the unitary equivalent, so that ∂φ/∂h = diag(ρ') V, of its pre-activations",
    forall=(j,),
).that(
    eq(
        d_state(state(x, 0, j), entry(x, j + 1)),
        slopes(preactivation(b_2, x, j), preactivation(b_2, x, j)) * V,
    )
)
FLAT = assume("flat", "ReLU'(z) = 0 for z ≤ 0; at 0 this is a convention", forall=(z,)).that(
    Clause(eq(derivative(z), ZERO), (le(z, ZERO),))
)
SLOPE_BLOCKS = assume(
    "slopes by blocks", "the slopes at J a + J₂ c are those at a and those at c", forall=(a, b)
).that(
    eq(
        slopes(J * a + J_2 * b, J * a + J_2 * b),
        J * slopes(a, a) * transpose(J) + J_2 * slopes(b, b) * transpose(J_2),
    )
)
UNITARY = isometry("V", V)
COORDINATES = assume(
    "coordinates", "J embeds the first n coordinates, J₂ the other ones", forall=(X, Y)
).that(
    eq(transpose(J) * J * X, X),
    eq(transpose(J) * J_2, ZERO),
    eq(transpose(J_2) * J, ZERO),
    eq(J * transpose(J) * Y, Y - J_2 * transpose(J_2) * Y),
)
LENGTHS = assume("lengths", "J keeps the length, Jᵀ leaves out entries", forall=(X, Y)).that(
    le(norm(J * X), norm(X)), le(norm(transpose(J) * Y), norm(Y))
)


def _at_time(time: Expr, *terms: Expr) -> tuple[Expr, ...]:
    """Substitute another time for j in the terms."""
    return tuple(term.xreplace({j: time}) for term in terms)


first = networks.preactivation_term.xreplace({j: s + j})
slope = slopes(first, first)
EQUIVALENT_RUN = (
    step("added slopes", eq(derivative(part(added_units, i)), ZERO), forall=(i,)).by(
        at("flat", part(added_units, i)), at("no entry is positive", i, j)
    ),
    step(
        "the added units have no slope", eq(slopes(added_units, added_units), ZERO), forall=(j,)
    ).by("added slopes", unitary.ZERO_DIAGONAL.at(added_units), method=Identity),
    step(
        "equivalent run", eq(d_state(before, x_next), J * slope * transpose(J) * V), forall=(s, j)
    ).by(
        at("run", s + j),
        at("equal states", s + j),
        at("pre-activation", s + j),
        at("slopes by blocks", first, added_units.xreplace({j: s + j})),
        at("the added units have no slope", s + j),
        method=Identity,
    ),
    step("leading block", eq(W, transpose(J) * V * J)).by(
        "dilation", at("coordinates", W, 0), method=Words
    ),
)
start, _, start_slope, begun = _at_time(ZERO, before, x_next, slope, d_run(x, s, j))
now, after = d_run(x, s, j + 1), d_run(x, s, j + 2)
later, x_later, later_slope, later_first = _at_time(j + 1, before, x_next, slope, first)
first_rows = transpose(J) * now
FIRST_STEP = (
    step(
        "first rows after one step",
        eq(norm(transpose(J) * d_run(x, s, 1)), norm(start_slope * transpose(J) * V * begun)),
        forall=(s,),
    ).by(
        at("differentiable", 0, s),
        unitary.CHAIN_RULE_STATES.at(x, s, 0),
        at("equivalent run", s, 0),
        at("coordinates", start_slope * transpose(J) * V * begun, 0),
        method=Words,
    ),
    step("first step", le(norm(transpose(J) * d_run(x, s, 1)), ONE), forall=(s,)).by(
        at("first rows after one step", s),
        unitary.STATES_START.at(x, s),
        SUBMULTIPLICATIVE.at(start_slope, transpose(J) * V * eye),
        at("secants", *_at_time(ZERO, first, first)),
        "slope at most one",
        at("lengths", 0, V * eye),
        SUBMULTIPLICATIVE.at(V, eye),
        "norm of an isometry",
        unitary.IDENTITY_NORM.at(),
    ),
)
LATER_STEPS = (
    step("added rows vanish", eq(transpose(J_2) * now, ZERO), forall=(s, j)).by(
        at("differentiable", 0, s + j),
        unitary.CHAIN_RULE_STATES.at(x, s, j),
        at("equivalent run", s, j),
        at("coordinates", 0, 0),
        method=Words,
    ),
    step(
        "first rows",
        eq(norm(transpose(J) * after), norm(later_slope * W * first_rows)),
        forall=(s, j),
    ).by(
        at("differentiable", 0, s + j + 1),
        unitary.CHAIN_RULE_STATES.at(x, s, j + 1),
        at("equivalent run", s, j + 1),
        "leading block",
        at("coordinates", later_slope * transpose(J) * V * now, now),
        at("added rows vanish", s, j),
        method=Words,
    ),
    step("one step more", le(norm(transpose(J) * after), lam * norm(first_rows)), forall=(s, j)).by(
        at("first rows", s, j),
        SUBMULTIPLICATIVE.at(later_slope, W * first_rows),
        SUBMULTIPLICATIVE.at(W, first_rows),
        at("secants", later_first, later_first),
        "slope at most one",
        "norm of W",
    ),
    step("all steps", le(norm(first_rows), lam**j), forall=(s, j)).by_induction(
        base=at("first step", s), step=at("one step more", s, j)
    ),
    step("no other rows", eq(norm(now), norm(J * first_rows)), forall=(s, j)).by(
        at("coordinates", 0, now), at("added rows vanish", s, j), method=Words
    ),
)
final_rows = transpose(J) * d_run(x, T - k, k)
VANISHING = theorem(
    "vanishing",
    le(dh_dh, lam ** (k - 1)),
    (
        *networks.BOUNDED_NETWORK,
        networks.DILATION,
        networks.BLOCKS,
        networks.EQUIVALENT,
        networks.BELOW,
        RUN,
        FLAT,
        SLOPE_BLOCKS,
        UNITARY,
        COORDINATES,
        LENGTHS,
        SLOPE,
        DIFFERENTIABLE,
        SOME_WINDOW,
        WINDOW,
    ),
    "unitary",
    (
        SLOPES,
        SECANTS,
        *STATES,
        *EQUAL_STATES,
        *EQUIVALENT_RUN,
        *isometric(V),
        *FIRST_STEP,
        *LATER_STEPS,
    ),
    note="along the run of the unitary equivalent of a contractive network",
).by(
    at("no other rows", T - k, k - 1),
    at("lengths", final_rows, 0),
    at("all steps", T - k, k - 1),
    "some window",
    "window",
)

# A unitary network, of which W is the orthogonal matrix.
ISOMETRY = isometry("W", W)
state_preactivation = W * before + U * x_next + bias
BOUNDED = theorem(
    "bounded",
    le(dh_dh, ONE),
    (RNN, ISOMETRY, SLOPE, DIFFERENTIABLE, WINDOW),
    "urnn",
    (
        SLOPES,
        SECANTS,
        *isometric(W),
        step("one step more", le(norm(d_run(x, s, j + 1)), norm(d_run(x, s, j))), forall=(s, j)).by(
            "rnn",
            at("differentiable", 0, s + j),
            CHAIN_RULE_STATES.at(x, s, j),
            CHAIN_RULE_LAYER.at(W, U, bias, before, x_next),
            SUBMULTIPLICATIVE.at(
                slopes(state_preactivation, state_preactivation), W * d_run(x, s, j)
            ),
            SUBMULTIPLICATIVE.at(W, d_run(x, s, j)),
            at("secants", state_preactivation, state_preactivation),
            "norm of an isometry",
            "slope at most one",
        ),
        step("all steps", le(norm(d_run(x, s, j)), ONE), forall=(s, j)).by_induction(
            base=(STATES_START.at(x, s), IDENTITY_NORM.at()), step=at("one step more", s, j)
        ),
    ),
).by(at("all steps", T - k, k), "window")

URNN_GRADIENT = Claim(
    id="urnn-gradient",
    title="Gradients of unitary networks do not grow, but they may vanish",
    source=Source(
        "Arjovsky, Shah & Bengio, Unitary Evolution Recurrent Neural Networks",
        "section 2, equation (4)",
    ),
    forms=(BOUNDED, VANISHING),
    false_variants=(
        BOUNDED.variant(
            "isometric", "an orthogonal matrix keeps the gradient's length", eq(dh_dh, ONE)
        ),
        BOUNDED.variant("strict", "every step shrinks the gradient", lt(dh_dh, ONE), SOME_WINDOW),
        BOUNDED.variant(
            "any-slope",
            "the matrix alone decides, whatever the slope of ρ is",
            without="slope at most one",
        ),
        VANISHING.variant(
            "one-more-power",
            "the equivalent's gradients vanish like the network's own, λ^k",
            lam**k,
        ),
    ),
    extremal="linear networks and permutations: equality; the equivalent of λI, with all units on",
    example_factor=0.875,
)
