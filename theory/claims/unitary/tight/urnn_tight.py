"""2n states are needed to match some contractive ReLU networks (Emami et al., Theorem 3.2)."""

from sympy import Rational

from rnnbounds.theory.claims.unitary.tight.constant_pattern import CONSTANT_PATTERN
from rnnbounds.theory.claims.unitary.tight.multiplicity import MULTIPLICITY
from rnnbounds.theory.claims.unitary.tight.two_steps import (
    EXCLUDED,
    FEWER,
    KERNEL,
    NEEDED,
)
from rnnbounds.theory.language import ZERO, Assumption, eq, le, symbols
from rnnbounds.theory.models.unitary.krylov import LONG
from rnnbounds.theory.models.unitary.local_maps import T, n, separation, states
from rnnbounds.theory.proof import Claim, Source

W_rank, active = symbols("W_rank active")
multiplicity, multiplicity_any = symbols("multiplicity multiplicity_any")

FORMS = (EXCLUDED, NEEDED, KERNEL, CONSTANT_PATTERN, MULTIPLICITY)


URNN_TIGHT = Claim(
    id="urnn-tight",
    title="Some contractive ReLU networks need 2n states of a unitary one",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 3.2"
    ),
    forms=FORMS,
    false_variants=(
        EXCLUDED.variant(
            "at-2n",
            "2n states are too few as well",
            Assumption(FEWER.id, "m ≤ 2n", le(states, 2 * n)),
        ),
        EXCLUDED.variant(
            "bounded-away",
            "with fewer states the outputs stay 1/8 apart",
            le(Rational(1, 8), separation),
        ),
        EXCLUDED.variant(
            "one-fewer-suffices",
            "2n − 1 states match W = 0",
            eq(separation, ZERO),
            Assumption(FEWER.id, "m = 2n − 1", eq(states, 2 * n - 1)),
        ),
        NEEDED.variant("one-more", "2n + 1 states are needed", le(2 * n + 1, states)),
        NEEDED.variant("any-contraction", "every contraction needs 2n states", without="forgetful"),
        KERNEL.variant("rank-of-w", "n + rank W states are needed", le(n + W_rank, states)),
        KERNEL.variant(
            "half-the-rank",
            "only half of the rank of W saves states",
            le(2 * n - W_rank / 2, states),
        ),
        CONSTANT_PATTERN.variant(
            "one-more-than-active",
            "one state more than the active units and n",
            le(active + n + 1, states),
        ),
        CONSTANT_PATTERN.variant(
            "one-step-shorter",
            "one step fewer is enough",
            Assumption(LONG.id, "at least p − n + 1 steps", le(active + 1, T + n)),
        ),
        CONSTANT_PATTERN.variant(
            "any-contraction-active", "the bound holds for any contraction W", without="scalar"
        ),
        MULTIPLICITY.variant(
            "one-less",
            "an eigenvalue has a multiplicity below m − n",
            le(multiplicity + 1, states - n),
        ),
        MULTIPLICITY.variant(
            "unit-eigenvalues", "eigenvalues with |μ| = 1 too", le(multiplicity_any, states - n)
        ),
    ),
    extremal=(
        "W = 0 and the swap of n states with n others: 2n states match. ρ I in the leading block "
        "of its dilation: the multiplicity is m − n"
    ),
    emphasis=2.25,
)
