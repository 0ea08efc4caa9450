"""A contractive ReLU network has a unitary equivalent of at most 2n states (Emami et al., 3.1).

The added units have the bias b_2,i = −B_h ‖row_i(W_3)‖.  As ‖h_t‖ ≤ B_h, they stay off, and V acts
on the others as W does.  Inputs are bounded: beyond, an added unit may turn on.  Without an
activation a change of the states' basis changes nothing that is seen: W → T W T⁻¹, U → T U,
b → T b and C → C T⁻¹ have the states T h_t, whatever the norm of T W T⁻¹ is (the poster).
"""

from sympy import Abs, Expr, Max

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.entries import ENTRIES
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ
from rnnbounds.theory.axioms.ranks import RANK_PRODUCT, RANK_ROWS
from rnnbounds.theory.axioms.unitary import COSINES, EXTENSIONAL, MONOTONE_NORM
from rnnbounds.theory.claims.unitary.urnn_defect import (
    COORDINATES,
    FOUR_BLOCKS,
    MINIMAL,
    NORM,
    ORTHOGONAL,
    E,
    P,
)
from rnnbounds.theory.language import ONE, ZERO, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.networks import activation
from rnnbounds.theory.language.terms.unitary import (
    J_2,
    LARGEST_GAP,
    W_3,
    J,
    V,
    below,
    largest_gap,
    line,
    linear_network,
    network,
    part,
    preactivation,
    rank,
    rows,
    similar_network,
    similarity,
    similarity_inverse,
    start,
    upper,
    urnn,
)
from rnnbounds.theory.language.terms.variables import A, a, b, i, j, v, x, z
from rnnbounds.theory.language.terms.vectors import entry, norm, transpose
from rnnbounds.theory.models.cells import U, W, bias
from rnnbounds.theory.models.system import CONTRACTIVE
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Words

lam, S_0, B_h, T, n, states, within = symbols("lam S_0 B_h T n states within")
unitary_gap, unitary_defect, similar_gap = symbols("unitary_gap unitary_defect similar_gap")

h, x_next = network(x, j), entry(x, j + 1)
fed = W * h + U * x_next + bias
b_2 = below(B_h, W_3)
low = W_3 * h + b_2


def equivalent_terms(time: Expr | int) -> tuple[Expr, ...]:
    """The equivalent's state, its next pre-activation, and what is read of the state."""
    return urnn(b_2, x, time), preactivation(b_2, x, time), upper(b_2, x, time)


state, state_fed, state_read = equivalent_terms(j)
# A contractive ReLU network, and all that bounds its states.
BOUNDED_NETWORK = (
    CONTRACTIVE,
    assume("network", "h_t = ρ(W h_{t−1} + U x_t + b)", forall=(j,)).that(
        eq(network(x, 0), start), eq(network(x, j + 1), activation(fed))
    ),
    assume("relu", "ρ is ReLU, entry by entry", forall=(v, i)).that(
        eq(part(activation(v), i), Max(part(v, i), 0))
    ),
    NORM,
    assume(
        "bounded inputs",
        "S_0 = ‖U‖B + ‖b‖ and ‖x_t‖ ≤ B, so that ‖U x_t + b‖ ≤ S_0",
        forall=(j,),
        condition=eq(within, ONE),
    ).that(le(norm(U * x_next + bias), S_0)),
    assume(
        "start", "B_h = max(‖h_0‖, S_0/(1 − λ)): the bound on the states knows where they start"
    ).that(le(norm(start), B_h), le(S_0 / (1 - lam), B_h)),
)
ROWS = assume(
    "rows", "V has n + q rows, where E embeds q of n coordinates: q = rank E, and P has n rows"
).that(eq(states, n + rank(E)), le(rows(P), n))
BLOCKS = assume(
    "blocks",
    "the vectors J a + J₂ c have the blocks a and c, and ρ acts on each by itself",
    forall=(a, b),
).that(eq(activation(J * a + J_2 * b), J * activation(a) + J_2 * activation(b)))
EMBEDDING = assume("embedding", "J embeds the first n units: Jᵀ J a = a", forall=(a,)).that(
    eq(transpose(J) * J * a, a)
)
EQUIVALENT = assume(
    "unitary equivalent",
    "s_t = ρ(V s_{t−1} + (U x_t + b, b₂)) from s_0 = (h_0, 0); the first n units are read",
    forall=(j,),
).that(
    eq(urnn(b_2, x, 0), J * start),
    eq(urnn(b_2, x, j + 1), activation(state_fed)),
    eq(state_fed, V * state + J * U * x_next + J * bias + J_2 * b_2),
    eq(state_read, transpose(J) * state),
)
BELOW = assume(
    "bias below",
    "the added units have the bias b₂, of which no entry is above −B_h times the length of the row "
    "that reads the states",
    forall=(z, A, i),
).that(le(part(below(z, A), i), -z * norm(line(A, i))))

BOUNDED_STATES = (
    step("ReLU shrinks entries", le(Abs(part(activation(v), i)), Abs(part(v, i))), forall=(i,)).by(
        at("relu", v, i)
    ),
    step("ReLU shrinks", le(norm(activation(v)), norm(v)), forall=(v,)).by(
        "ReLU shrinks entries", MONOTONE_NORM.at(activation(v), v)
    ),
    step("the states are bounded", le(norm(h), B_h), forall=(j,)).by_induction(
        base=(at("network", 0), "start", "contractive"),
        step=(
            at("network", j),
            at("ReLU shrinks", fed),
            TRIANGLE.at(W * h, U * x_next + bias),
            SUBMULTIPLICATIVE.at(W, h),
            "norm of W",
            at("bounded inputs", j),
            "start",
            "contractive",
        ),
    ),
)
EQUAL_STATES = (
    step("no entry is positive", le(part(low, i), ZERO), forall=(i, j)).by(
        ENTRIES.at(W_3, W_3 * h, b_2, h, i),
        at("bias below", B_h, W_3, i),
        CAUCHY_SCHWARZ.at(line(W_3, i), h),
        at("the states are bounded", j),
    ),
    step("entries are off", eq(part(activation(low), i), part(ZERO, i)), forall=(i,)).by(
        at("relu", low, i), at("no entry is positive", i, j), ENTRIES.at(0, 0, 0, 0, i)
    ),
    step("the added units are off", eq(activation(low), ZERO), forall=(j,)).by(
        "entries are off", EXTENSIONAL.at(activation(low), 0)
    ),
    step(
        "pre-activation",
        eq(state_fed, J * fed + J_2 * low),
        forall=(j,),
        given=(eq(state, J * h),),
    ).by("dilation", at("unitary equivalent", j), method=Words),
    step("equal states", eq(state, J * h), forall=(j,)).by_induction(
        base=(at("unitary equivalent", 0), at("network", 0)),
        step=(
            at("unitary equivalent", j),
            at("pre-activation", j),
            at("blocks", fed, low),
            at("the added units are off", j),
            at("network", j),
        ),
    ),
    step("equal first units", eq(state_read, h), forall=(j,)).by(
        at("unitary equivalent", j), at("equal states", j), at("embedding", h), method=Words
    ),
    step("equal outputs", eq(largest_gap(b_2, x, j), ZERO), forall=(j,)).by_induction(
        base=LARGEST_GAP.at(b_2, x, 0),
        step=(LARGEST_GAP.at(b_2, x, j), at("equal first units", j + 1)),
    ),
)
EXISTENCE = theorem(
    "theorem",
    eq(unitary_gap + unitary_defect + Max(states - 2 * n, 0), ZERO),
    (
        *BOUNDED_NETWORK,
        *(MINIMAL, FOUR_BLOCKS, COORDINATES, ROWS),
        *(BLOCKS, EMBEDDING, EQUIVALENT, BELOW),
    ),
    "unitary",
    (
        step("at most one", le(lam, ONE)).by("contractive"),
        *ORTHOGONAL.proof.steps[:-1],
        step("dilation", eq(V * J, J * W + J_2 * W_3)).by(
            "four blocks", "coordinates of all units", method=Words
        ),
        step("embedded coordinates", eq(rank(E), rank(transpose(P) * P * E))).by(
            "contraction", COSINES.at(W), method=Words
        ),
        step("few rows", le(states, 2 * n)).by(
            "rows",
            "embedded coordinates",
            RANK_PRODUCT.at(transpose(P), P * E),
            RANK_PRODUCT.at(P, E),
            RANK_ROWS.at(P),
        ),
        *BOUNDED_STATES,
        *EQUAL_STATES,
    ),
    note="V is the witness: an orthogonal matrix of at most 2n rows, whose network has the same "
    "outputs, for every length, every start and all inputs within the bound",
).by(at("equal outputs", T), "V is orthogonal", "few rows")

SIMILARITY = theorem(
    "similar",
    eq(similar_gap, ZERO),
    (
        assume("linear network", "h_t = W h_{t−1} + U x_t + b, y_t = C h_t", forall=(j,)).that(
            eq(linear_network(x, 0), start),
            eq(linear_network(x, j + 1), W * linear_network(x, j) + U * x_next + bias),
        ),
        assume(
            "similar network",
            "g_t = T W T⁻¹ g_{t−1} + T U x_t + T b from T h_0, ŷ_t = C T⁻¹ g_t",
            forall=(j,),
        ).that(
            eq(similar_network(x, 0), similarity * start),
            eq(
                similar_network(x, j + 1),
                similarity * W * similarity_inverse * similar_network(x, j)
                + similarity * U * x_next
                + similarity * bias,
            ),
        ),
        assume("inverse", "T⁻¹ undoes T", forall=(a,)).that(
            eq(similarity_inverse * similarity * a, a)
        ),
    ),
    "unitary",
    (
        step(
            "similar states",
            eq(similar_network(x, j), similarity * linear_network(x, j)),
            forall=(j,),
        ).by_induction(
            base=(at("linear network", 0), at("similar network", 0)),
            step=(
                at("linear network", j),
                at("similar network", j),
                at("inverse", linear_network(x, j)),
            ),
            method=Words,
        ),
        step("similar outputs", eq(similar_gap, ZERO)).by(
            at("similar states", T), at("inverse", linear_network(x, T)), method=Words
        ),
    ),
    note="with the identity for its activation",
).by("similar outputs")

URNN_EQUIVALENCE = Claim(
    id="urnn-equivalence",
    title="A contractive ReLU network has a unitary equivalent",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 3.1"
    ),
    forms=(EXISTENCE, SIMILARITY),
    false_variants=(
        EXISTENCE.variant(
            "one-state-fewer",
            "2n − 1 states are enough",
            eq(unitary_gap + unitary_defect + Max(states - 2 * n + 1, 0), ZERO),
        ),
        EXISTENCE.variant(
            "any-input",
            "the equivalent is one for all inputs, not for bounded ones alone",
            without="bounded inputs",
        ),
    ),
    extremal=(
        "every network: an exact equivalence. The bias is reached by the scalar network whose "
        "inputs all are B: h_t → B/(1 − λ)"
    ),
    example_factor=2.85,
)
