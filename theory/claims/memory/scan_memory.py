"""The memory of a scan with decays by the input is the product of the decays, exactly.

    s⁺ = a(x)∘s + b(x)

is minGRU's and minLSTM's recurrence and that of selective state spaces: what it remembers is known
once the inputs are, and at most ā^k on an input set where a ≤ ā.
Source: Feng et al., Were RNNs All We Needed?; Gu & Dao, Mamba.
"""

from sympy import Integer

from rnnbounds.theory.language import ONE, ZERO, Assumption, Clause, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.memory import (
    DECAYS,
    TANGENTS,
    decay,
    decays,
    fed,
    mean_input,
    scan,
    tangent,
    tangents,
)
from rnnbounds.theory.language.terms.variables import c, j, m, s, v, x
from rnnbounds.theory.language.terms.vectors import entry
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Claim, Source, scale, step, swap, theorem

scan_gap, scan_start, decay_product, decay_max = symbols(
    "scan_gap scan_start decay_product decay_max"
)
decay_last, decay_least, decay_zero, decay_of_mean = symbols(
    "decay_last decay_least decay_zero decay_of_mean"
)
T, k, log_concave = symbols("T k log_concave")

now = entry(x, s + j + 1)
SCAN = assume(
    "scan",
    "s⁺ = a(x)∘s + b(x) with decays a ≥ 0 of the input alone",
    forall=(x, s, j, c),
    ties=True,
).that(
    eq(scan(x, s, 0), Integer(0)),
    eq(scan(x, s, j + 1), decay(now) * scan(x, s, j) + fed(now)),
    le(ZERO, decay(c)),
)
INPUT_SET = assume(
    "input set", "decay_max bounds a(x) for every input of the set", forall=(m,)
).that(le(decay(entry(x, m + 1)), decay_max))

scan_gap_term = scan(x, 0, s + j) - scan(x, s, j)
NOT_NEGATIVE = step(
    "the product is not negative", le(ZERO, decays(x, s, j)), forall=(s, j)
).by_induction(base=DECAYS.at(x, s, 0), step=(DECAYS.at(x, s, j), at("scan", x, s, j, now)))
FORGETTING = step(
    "forgetting", eq(scan_gap_term, decays(x, s, j) * scan(x, 0, s)), forall=(s, j)
).by_induction(
    base=(DECAYS.at(x, s, 0), at("scan", x, s, 0, 0)),
    step=(DECAYS.at(x, s, j), at("scan", x, 0, s + j, 0), at("scan", x, s, j, 0)),
)
EXACT = theorem(
    "exact",
    eq(scan_gap, decay_product * scan_start),
    (SCAN, WINDOW),
    "scan",
    (NOT_NEGATIVE, FORGETTING),
    note="for each unit j, every input and every window",
).by(at("forgetting", T - k, k), at("the product is not negative", T - k, k), "window")

UNIFORM = theorem(
    "input-set",
    le(scan_gap, decay_max**k * scan_start),
    (SCAN, INPUT_SET, WINDOW),
    "scan",
    (
        NOT_NEGATIVE,
        FORGETTING,
        step(
            "the product is at most a power", le(decays(x, s, j), decay_max**j), forall=(s, j)
        ).by_induction(
            base=DECAYS.at(x, s, 0),
            step=(
                DECAYS.at(x, s, j),
                at("the product is not negative", s, j),
                at("input set", s + j),
            ),
        ),
    ),
    note="a bound for all inputs of the set",
).by(
    at("forgetting", T - k, k),
    at("the product is not negative", T - k, k),
    at("the product is at most a power", T - k, k),
    "window",
)

LOG_CONCAVE = assume(
    "log-concave",
    "log a is concave in the input, as for minGRU and selective scans: a(x) ≤ a(m) e^{g(x − m)}, "
    "and over the inputs of a window with the mean m these exponents sum to 0",
    forall=(v, c, x, s, j),
    condition=eq(log_concave, ONE),
).that(
    Clause(le(decay(c), decay(v) * tangent(v, c)), (lt(ZERO, decay(v)),)),
    eq(tangents(mean_input(x, s, j), x, s, j), ONE),
)
SOME_DECAY = Assumption("some decay", "a > 0 at the mean input", lt(ZERO, decay_of_mean))
mean_decay_input = mean_input(x, T - k, k)
MEAN = theorem(
    "mean-input",
    le(scan_gap, decay_of_mean**k * scan_start),
    (SCAN, LOG_CONCAVE, SOME_DECAY, WINDOW),
    "scan",
    (
        NOT_NEGATIVE,
        FORGETTING,
        step(
            "the product is below its tangents",
            le(decays(x, s, j), decay(v) ** j * tangents(v, x, s, j)),
            forall=(v, s, j),
            given=(lt(ZERO, decay(v)),),
        ).by_induction(
            base=(DECAYS.at(x, s, 0), TANGENTS.at(v, x, s, 0)),
            step=(
                DECAYS.at(x, s, j),
                TANGENTS.at(v, x, s, j),
                at("log-concave", v, now, x, s, 0),
                at("scan", x, s, j, now),
                at("the product is not negative", s, j),
            ),
        ),
    ),
    note="by Jensen's inequality; the decays of minLSTM are not log-concave",
).by(
    at("forgetting", T - k, k),
    at("the product is not negative", T - k, k),
    at("the product is below its tangents", mean_decay_input, T - k, k),
    at("log-concave", 0, 0, x, T - k, k),
    "some decay",
    "window",
)

SCAN_MEMORY = Claim(
    id="scan-memory",
    title="A scan forgets by the product of its decays",
    source=Source("Feng et al., Were RNNs All We Needed?; Gu & Dao, Mamba", "section 3"),
    forms=(EXACT, UNIFORM, MEAN),
    false_variants=(
        MEAN.variant(
            "mean-input-of-any",
            "the mean input's decay bounds any scan, minLSTM's too",
            without="log-concave",
        ),
        MEAN.variant(
            "mean-input-exactly",
            "the memory is the mean input's decay to the k-th power, no less",
            eq(scan_gap, decay_of_mean**k * scan_start),
        ),
        scale(EXACT, decay_last, "one-more-decay", "the last decay of the window is counted twice"),
        swap(
            UNIFORM, decay_max, decay_last, "last-decay", "the last input's decay is taken for all"
        ),
        swap(UNIFORM, decay_max, decay_least, "least-decay", "the least decay is taken for all"),
        UNIFORM.variant(
            "zero-input",
            "the decay without an input is taken for the largest",
            decay_zero**k * scan_start,
        ),
        swap(UNIFORM, k, k + 1, "next-power", "ā^{k+1} in place of ā^k"),
    ),
    example_factor=1.25,
    extremal="a constant input at the end of the set where a is largest: equality at every k",
)
