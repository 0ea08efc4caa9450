"""A stack of two contractive layers contracts, in a weighted norm and as a cascade.

    s¹⁺ = φ_1(s¹, x),  s²⁺ = φ_2(s², s¹⁺),

with factors λ_1 and λ_2, and φ_2 μ-Lipschitz in its input, in the maximum norm: the comparison
matrix of the norms is the triangular (λ_1 0; μλ_1 λ_2).
"""

from sympy import Expr, Max

from rnnbounds.theory.axioms.base import TRIANGLE_MAX
from rnnbounds.theory.language import (
    ZERO,
    Assumption,
    Statement,
    assume,
    at,
    le,
    lt,
    ne,
    symbols,
)
from rnnbounds.theory.language.terms.networks import STACK_RUN, lower, p, q, states, upper
from rnnbounds.theory.language.terms.variables import a, b, c, j, s, x
from rnnbounds.theory.language.terms.vectors import entry, max_norm
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Claim, Source, step, theorem

lam_1, lam_2, mu, v_top, T, k = symbols("lam_1 lam_2 mu v_top T k")
stack_gap, stack_state_gap, top_gap, low_start, top_start = symbols(
    "stack_gap stack_state_gap top_gap low_start top_start"
)
top_memory, low_before, top_before = symbols("top_memory low_before top_before")

LOWER = assume("lower layer", "φ_1 is λ_1-Lipschitz in the state", forall=(a, b, c)).that(
    le(max_norm(lower(a, c) - lower(b, c)), lam_1 * max_norm(a - b))
)
UPPER = assume(
    "upper layer",
    "φ_2 is λ_2-Lipschitz in the state and μ-Lipschitz in its input",
    forall=(p, q, a, b),
).that(
    le(max_norm(upper(p, a) - upper(q, a)), lam_2 * max_norm(p - q)),
    le(max_norm(upper(q, a) - upper(q, b)), mu * max_norm(a - b)),
)
WEIGHT = Assumption("weight", "v > 0", lt(ZERO, v_top))
DISTINCT = Assumption("distinct factors", "λ_1 ≠ λ_2", ne(lam_1, lam_2))

UPPER_MOVES = step(
    "the upper layer moves",
    le(max_norm(upper(p, a) - upper(q, b)), lam_2 * max_norm(p - q) + mu * max_norm(a - b)),
    forall=(p, q, a, b),
).by(
    TRIANGLE_MAX.at(upper(p, a) - upper(q, a), upper(q, a) - upper(q, b)),
    at("upper layer", p, q, a, b),
)
run_one, run_two = states(a, p, s, j), states(b, q, s, j)
next_one, next_two = states(a, p, s, j + 1), states(b, q, s, j + 1)
RUNS = (STACK_RUN.at(a, p, x, s, j), STACK_RUN.at(b, q, x, s, j))
BEGIN = (STACK_RUN.at(a, p, x, s, 0), STACK_RUN.at(b, q, x, s, 0))
LOWER_STEP = step(
    "the lower layer, one step",
    le(max_norm(next_one[0] - next_two[0]), lam_1 * max_norm(run_one[0] - run_two[0])),
    forall=(a, p, b, q, s, j),
).by(*RUNS, at("lower layer", run_one[0], run_two[0], entry(x, s + j + 1)))
UPPER_STEP = step(
    "the upper layer, one step",
    le(
        max_norm(next_one[1] - next_two[1]),
        lam_2 * max_norm(run_one[1] - run_two[1]) + mu * max_norm(next_one[0] - next_two[0]),
    ),
    forall=(a, p, b, q, s, j),
).by(*RUNS, at("the upper layer moves", run_one[1], run_two[1], next_one[0], next_two[0]))
ALL = (a, p, b, q, s)
ONE_STEP = (UPPER_MOVES, LOWER_STEP, UPPER_STEP)

FACTOR = Max(lam_1, lam_2 + mu * lam_1 / v_top)
WEIGHTED = theorem(
    "weighted",
    le(stack_gap, FACTOR * stack_state_gap),
    (LOWER, UPPER, WEIGHT),
    "cascade",
    ONE_STEP,
    note="below 1 wherever both factors are, for v large enough",
).by(
    at("the lower layer, one step", a, p, b, q, 0, 0),
    at("the upper layer, one step", a, p, b, q, 0, 0),
    STACK_RUN.at(a, p, x, 0, 0),
    STACK_RUN.at(b, q, x, 0, 0),
    "weight",
)

LOWER_DECAY = step(
    "the lower layer forgets",
    le(max_norm(run_one[0] - run_two[0]), lam_1**j * max_norm(a - b)),
    forall=(*ALL, j),
).by_induction(base=(*BEGIN,), step=at("the lower layer, one step", *ALL, j))


def cascade_sum(steps: Expr) -> Expr:
    """Σ_{i=1}^{steps} λ_2^{steps−i} λ_1^i, where λ_1 ≠ λ_2."""
    return lam_1 * (lam_1**steps - lam_2**steps) / (lam_1 - lam_2)


CASCADE_STEPS = (
    *ONE_STEP,
    LOWER_DECAY,
    step(
        "the cascade",
        le(
            max_norm(run_one[1] - run_two[1]),
            lam_2**j * max_norm(p - q) + mu * cascade_sum(j) * max_norm(a - b),
        ),
        forall=(*ALL, j),
    ).by_induction(
        base=(*BEGIN,),
        step=(
            at("the upper layer, one step", *ALL, j),
            at("the lower layer forgets", *ALL, j + 1),
            "distinct factors",
        ),
    ),
)


def cascade_bound(total: Expr) -> Statement:
    """Statement: the bound on the upper layer's gap of two runs of T steps."""
    return le(top_gap, lam_2**T * top_start + mu * total * low_start)


MODEL = (LOWER, UPPER, DISTINCT)
CASCADE = theorem("cascade", cascade_bound(cascade_sum(T)), MODEL, "cascade", CASCADE_STEPS).by(
    at("the cascade", a, p, b, q, 0, T), "distinct factors"
)
zero = a - a
MEMORY = theorem(
    "truncation",
    le(top_memory, lam_2**k * top_before + mu * cascade_sum(k) * low_before),
    (*MODEL, WINDOW),
    "cascade",
    CASCADE_STEPS,
).by(
    at("the cascade", *states(zero, zero, 0, T - k), zero, zero, T - k, k),
    "window",
    "distinct factors",
)

CONTRACTION_STACKED = Claim(
    id="contraction-stacked",
    title="A stack of contractive layers contracts, as a cascade",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(WEIGHTED, CASCADE, MEMORY),
    false_variants=(
        WEIGHTED.variant(
            "larger-factor",
            "the larger of the two factors, as if the layers did not speak to one another",
            Max(lam_1, lam_2) * stack_state_gap,
        ),
        WEIGHTED.variant(
            "weight-inverted",
            "the weight is taken the wrong way round",
            Max(lam_1, lam_2 + mu * lam_1 * v_top) * stack_state_gap,
        ),
        CASCADE.variant(
            "coupling-dropped",
            "the constant μ of the upper layer's input is missing",
            lam_2**T * top_start + cascade_sum(T) * low_start,
        ),
        CASCADE.variant(
            "old-state",
            "the upper layer is taken to see the lower one's old state, λ_1^{i−1} for λ_1^i",
            cascade_bound((lam_1**T - lam_2**T) / (lam_1 - lam_2)),
        ),
        MEMORY.variant(
            "slower-layer",
            "the slower of the two layers rules what is forgotten",
            Max(lam_1, lam_2) ** k * (top_before + low_before),
        ),
    ),
    example_factor=1.25,
    extremal="scalar linear layers, with states of one sign: the cascade is attained at every k",
)
