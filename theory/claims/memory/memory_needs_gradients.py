"""Memory asks for gradients: what h_{T−k} changes in h_T, some gradient at that lag shows.

By the mean-value inequality on the segment from 0 to h_{T−k}, whose ends are the truncated run and
the full one, ‖h_T − h_T^k‖ ≤ sup ‖∂h_T/∂h_{T−k}(θ h_{T−k})‖ ‖h_{T−k}‖ over 0 ≤ θ ≤ 1. A gap of ε at
every k so takes gradients of at least ε/B_h at every lag, whether or not the model contracts.
"""

from sympy import Expr

from rnnbounds.theory.axioms.gradients import MEAN_VALUE_RUN
from rnnbounds.theory.language import ONE, ZERO, Clause, assume, at, enter, eq, le, symbols
from rnnbounds.theory.language.quantities.norms import SPECTRAL
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.certificates import BEGUN, begun, run_slope, slope_bound
from rnnbounds.theory.language.terms.gradients import differentiable
from rnnbounds.theory.language.terms.variables import i, j, s, x, z
from rnnbounds.theory.language.terms.vectors import RECURSION, entry, norm, state
from rnnbounds.theory.models.geometry import EUCLIDEAN
from rnnbounds.theory.models.system import SOME_WINDOW, WINDOW
from rnnbounds.theory.proof import Claim, Source, scale, step, swap, theorem
from rnnbounds.theory.proof.methods import Identity

T, k, lam, S_0, B_h, beta_rho = symbols("T k lam S_0 B_h beta_rho")
h_gap, h_start = symbols("h_gap h_start")


def slope(start: Expr) -> Expr:
    """∂h_T/∂h_{T−k} at this state at time T − k."""
    return run_slope(start, x, T - k, k - 1)


h = state(x, 0, T - k)
most, at_run, at_rest = enter(
    measured(
        "lag_gradient", "bound on the derivative of h_T in h_{T-k}, from θh_{T-k} for 0 ≤ θ ≤ 1",
        "J_k", slope_bound(h, x, T - k, k - 1), "spectral",
    ),
    SPECTRAL.of(
        "lag_gradient_full", "the derivative of h_T in h_{T-k}", r"\partial h_T(h_{T-k})",
        slope(h),
    ),
    SPECTRAL.of(
        "lag_gradient_cut", "the derivative of the truncated run's end in its start",
        r"\partial h_T^{(k)}/\partial h_{T-k}", slope(ZERO),
    ),
)  # fmt: skip
on_segment = le(ZERO, z), le(z, ONE)
SEGMENT = assume(
    "segment",
    "φ is smooth, β_ρ is finite: it is differentiable along the runs from all θh_{T−k} at time "
    "T − k, 0 ≤ θ ≤ 1, and J_k bounds ‖∂h_T/∂h_{T−k}‖ there",
    forall=(z, i),
    condition=le(ZERO, beta_rho),
    ties=True,
).that(
    Clause(eq(differentiable(begun(z * h, x, T - k, i), entry(x, T - k + i + 1)), ONE), on_segment),
    Clause(le(norm(slope(z * h)), most), on_segment),
)
GOES_ON = step(
    "the run goes on", eq(state(x, 0, s + j), begun(state(x, 0, s), x, s, j)), forall=(s, j)
).by_induction(
    base=BEGUN.at(state(x, 0, s), x, s, 0),
    step=(BEGUN.at(state(x, 0, s), x, s, j), RECURSION.at(x, 0, s + j)),
    method=Identity,
)
GAP = theorem(
    "gap",
    le(h_gap, most * h_start),
    (SEGMENT, WINDOW, SOME_WINDOW),
    "rnn",
    (GOES_ON,),
).by(
    at("the run goes on", T - k, k),
    MEAN_VALUE_RUN.at(most, h, x, T - k, k - 1),
    "segment",
    "window",
    "some window",
)
LASTING = theorem(
    "lasting",
    le(h_gap, most * B_h),
    (EUCLIDEAN.states, *GAP.assumptions),
    "rnn",
    (step("gradients are not negative", le(ZERO, most)).by(at("segment", 0, 0)),),
    note="a gap of ε at every k takes gradients of at least ε/B_h at every lag",
).by(
    GAP.lemma("memory-needs-gradients, gap").at(),
    at("states", T - k),
    "gradients are not negative",
    "window",
)

MEMORY_NEEDS_GRADIENTS = Claim(
    id="memory-needs-gradients",
    title="Memory asks for gradients",
    source=Source(
        "Rudin, Principles of Mathematical Analysis",
        "Theorem 9.19, of the truncation of Miller & Hardt, section 3",
    ),
    forms=(GAP, LASTING),
    false_variants=(
        swap(GAP, most, at_run, "at-the-run", "the gradient along the full run is enough"),
        swap(GAP, most, at_rest, "at-rest", "the gradient along the truncated run is enough"),
        GAP.variant(
            "mean-of-ends",
            "the mean of the gradients at both ends is enough",
            (at_run + at_rest) / 2 * h_start,
        ),
        scale(
            GAP, lam, "next-lag", "the gradient at one lag more is enough in a contractive model"
        ),
        swap(GAP, h_start, S_0, "one-drive", "the state that is forgotten is one drive"),
        swap(LASTING, B_h, S_0, "bounded-by-a-drive", "the states are taken for one drive"),
    ),
    extremal="a scalar linear system: equality for every k ≥ 1, T and input",
)
