"""Claims on the certificate of a model: its contraction rate λ, windows, bounds and gain.

‖h_T − h_T^k‖₂ ≤ ε for each printed pair (ε, k), each run from zero and every input sequence with
‖x_t‖₂ ≤ B; and ‖s_k − s′_k‖ ≤ λ^k ‖s_0 − s′_0‖ in the printed norm, for states of the printed
invariant set. The constants in the statements are the printed floats, to the last bit.
"""

from sympy import Rational

from rnnbounds.theory.axioms.entries import LEAST_BOUND
from rnnbounds.theory.claims.certificate import norms, unitary
from rnnbounds.theory.language import ONE, Assumption, at, le, symbols
from rnnbounds.theory.language.terms.certificates import remaining
from rnnbounds.theory.language.terms.gates import gated_run
from rnnbounds.theory.language.terms.variables import a, i, j, s, vector, x, x_other
from rnnbounds.theory.language.terms.vectors import RECURSION, computed, state
from rnnbounds.theory.models import printed
from rnnbounds.theory.models.lemmas.powers import power_nonnegative
from rnnbounds.theory.models.system import TWO_STEPS, WINDOW
from rnnbounds.theory.proof import Claim, Source, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

T, k, x_gap, h_gap, forced_gap = symbols("T k x_gap h_gap forced_gap")
lam, epsilon, window, S, R = symbols("lam_told eps_told k_told S_told R_told")
reach, S_0, B_h, gain = symbols("c_told S_0_told B_h_told gain_told")
(rounding,) = symbols("rounding_told")
orbit_start, orbit_start_told = symbols("orbit_start orbit_start_told")
h_rounding, share_used = symbols("h_rounding_told share_used")
(bounded,) = symbols("B_u_told")
(drift,) = symbols("drift_told")

forgotten = state(x, 0, T) - state(x, T - k, k)
WINDOW_FORM = norms.certificate_form(
    "window",
    le(h_gap, epsilon),
    (*printed.MODEL, printed.RADIUS, printed.LEFT, printed.PRINTED, WINDOW, printed.LARGE),
    (
        *printed.RUN,
        power_nonnegative(printed.TOLD.lam),
        printed.START,
        step(
            "what is left",
            le(remaining(state(x, 0, s + j) - state(x, s, j), i), remaining(state(x, 0, s), i + j)),
            forall=(i, s, j),
        ).inductively(
            base=(RECURSION.at(x, s, 0),),
            step=(
                at(HYPOTHESIS, i + 1),
                RECURSION.at(x, 0, s + j),
                RECURSION.at(x, s, j),
                at("comparison", state(x, 0, s + j), state(x, s, j), 0, s + j, i),
                at("runs stay in the box", 0, s + j),
                at("runs stay in the box", s, j),
            ),
            others=(i,),
        ),
    ),
    "the pairs (ε, k) that are printed",
).by(
    at("what is left", 0, T - k, k),
    at("comparison", 0, 0, forgotten, 0, 0),
    at("printed window", state(x, 0, T - k), k),
    at("where a window starts", T - k),
    at("runs stay in the box", 0, T - k),
    "window",
    "long window",
    "contractive",
)
GAIN = norms.certificate_form(
    "gain",
    le(forced_gap, gain * x_gap),
    (*printed.FORCED.assumptions, printed.SHOWN, printed.PRINTED_GAIN),
    (
        *printed.FORCED.steps,
        power_nonnegative(printed.TOLD.lam),
        step(
            "within the sum", le(printed.FORCED.bound(T), printed.FORCED.L_x * x_gap / (1 - lam))
        ).by(at("power not negative", T), at("lipschitz input", a, 0), "contractive"),
    ),
    "for every length T",
).by(
    at("all steps", a, a, T),
    "starts",
    "within the sum",
    at("output", gated_run(a, x, T) - gated_run(a, x_other, T)),
    "printed gain",
    "contractive",
)
ROUNDING = norms.certificate_form(
    "rounding",
    le(h_rounding, rounding),
    (printed.OWN, printed.PRINTED_ROUNDING),
    (printed.LOST,),
    "models as their own dtype computes them",
).by(
    at("what is lost", T),
    at("printed rounding", computed(x, T) - state(x, 0, T)),
)
CONSTANTS = norms.certificate_form(
    "constants",
    le(share_used, ONE),
    (printed.SHARES,),
    note="gates, decays, leaks, norms of weights and slopes of activations that are printed",
).by("shares", LEAST_BOUND.at(ONE, vector("shares")))

NEARLY = 1 - Rational(1, 2**30)
SOONER = Assumption(
    "long window", "the window is at least the printed k less one", le(window, k + 1)
)
CERTIFICATE = Claim(
    id="certificate",
    title="Every number in a certificate is a valid bound",
    source=Source(
        "Miller & Hardt, Stable Recurrent Models",
        "section 2, Lemma 1, of the numbers that are printed",
    ),
    forms=(
        WINDOW_FORM,
        norms.ORBIT,
        norms.OUTPUT,
        norms.FORGETTING,
        norms.DRIVE,
        norms.RADIUS_FORM,
        norms.FIRST,
        norms.STATE,
        GAIN,
        ROUNDING,
        CONSTANTS,
        unitary.UNITARY,
        unitary.DEFECT,
        unitary.SIZE,
        unitary.DRIFT,
        unitary.OWN_DRIFT,
        unitary.COMPUTED,
    ),
    false_variants=(
        WINDOW_FORM.variant("one-input-less", "k − 1 inputs are as good as the printed k", SOONER),
        WINDOW_FORM.variant(
            "half-of-epsilon", "the printed window is good for half of its ε", epsilon / 2
        ),
        norms.ORBIT.variant(
            "without-slack",
            "the printed λ is larger than it need be",
            (NEARLY * lam) ** k * orbit_start_told,
        ),
        norms.OUTPUT.variant(
            "constants-swapped",
            "the reach in place of the equivalence",
            reach * lam**k * orbit_start_told,
        ),
        norms.FORGETTING.variant(
            "without-equivalence",
            "the printed factor is taken for one in the Euclidean norm",
            lam**k * orbit_start,
        ),
        norms.DRIVE.variant(
            "one-step-short",
            "the geometric sum ends one step early",
            S * printed.TOLD.geometric_sum(T - 1),
            TWO_STEPS,
        ),
        norms.RADIUS_FORM.variant("half-the-radius", "half of the printed radius", R / 2),
        norms.FIRST.variant("half-the-drive", "half of the printed S_0", S_0 / 2),
        norms.STATE.variant("half-the-bound", "half of the printed bound", B_h / 2),
        GAIN.variant("no-horizon", "a gain without 1/(1 − λ)", gain * (1 - lam) * x_gap),
        ROUNDING.variant(
            "one-rounding",
            "errors of rounding do not add up, and a unit in the last place is enough",
            rounding / 1024,
        ),
        ROUNDING.variant(
            "half-a-unit",
            "functions and sums are right to half a unit in the last place",
            rounding / 16,
        ),
        unitary.SIZE.variant("half-the-size", "half of it", bounded / 2),
        unitary.OWN_DRIFT.variant(
            "own-as-float64", "the model's own dtype drifts no further than float64", drift
        ),
        CONSTANTS.variant(
            "a-hundredth-less", "each printed constant is a hundredth too large", Rational(99, 100)
        ),
    ),
    example_factor=0.75,
    extremal=(
        "units that are alike and linear in what is small, driven by constant inputs on the bound: "
        "k − 1 inputs leave more than ε"
    ),
)
