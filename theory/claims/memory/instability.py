"""Without contraction no window suffices, and descent diverges (Miller & Hardt, section 3)."""

from dataclasses import replace

from sympy import Abs, Integer, sqrt

from rnnbounds.theory.claims.memory import divergence
from rnnbounds.theory.claims.memory.lasting_memory import BOUNDED_STATE, NO_WINDOW
from rnnbounds.theory.language import ONE, Assumption, exists, le, lt, symbols
from rnnbounds.theory.models.system import LONG_WINDOW, TWO_STEPS
from rnnbounds.theory.proof import Claim, Source

lam, S_0, M_rho, k, n, a_1 = symbols("lam S_0 M_rho k n a_1")
h_gap, descent_growth = symbols("h_gap descent_growth")

MARGINAL = Assumption("marginal", "λ ≤ 1", le(lam, ONE))
BOUNDED_ACTIVATION = Assumption("bounded activation", "sup |ρ| ≤ 1", le(M_rho, ONE))
OUTSIDE = Assumption("outside", "|a_1| > 1", lt(ONE, Abs(a_1)))
LESS_STEEP = replace(
    divergence.STEEP, text="α(T − 1)a_1^{2T−4} ≥ 1", condition=le(ONE, divergence.steepness)
)

INSTABILITY = Claim(
    id="instability",
    title="Unstable systems cannot be truncated, nor trained by descent",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 3"),
    forms=(NO_WINDOW, BOUNDED_STATE, divergence.DIVERGENCE),
    false_variants=(
        NO_WINDOW.variant(
            "marginal",
            "λ = 1 is enough to forget, if slowly",
            le(h_gap, 2 * S_0 / (k + 1)),
            assumptions=(MARGINAL,),
        ),
        NO_WINDOW.variant(
            "eight-steps",
            "a window of eight steps leaves at most half a drive of any system",
            le(h_gap, S_0 / 2),
            assumptions=(LONG_WINDOW,),
        ),
        NO_WINDOW.variant("doubled", "the impulse at least doubles", exists(Integer(2), h_gap)),
        BOUNDED_STATE.variant(
            "bounded-activation",
            "a bounded activation closes the gap",
            le(h_gap, 2 * sqrt(n) / (k + 1)),
            assumptions=(BOUNDED_ACTIVATION,),
        ),
        BOUNDED_STATE.variant(
            "saturated", "the state stays at its largest value 1", exists(ONE, h_gap)
        ),
        divergence.DIVERGENCE.variant(
            "any-start",
            "descent diverges whenever |a_1| > 1",
            assumptions=(*divergence.ON_RISK, divergence.STEP_SIZES, OUTSIDE, TWO_STEPS),
        ),
        divergence.DIVERGENCE.variant("less-steep", "α(T − 1)a_1^{2T−4} ≥ 1 is enough", LESS_STEEP),
        divergence.DIVERGENCE.variant(
            "quadrupled",
            "the parameter quadruples in every step",
            exists(Integer(4), descent_growth),
        ),
    ),
    extremal="the witnesses themselves; at λ = 1 the gap of the first is exactly 1",
    emphasis=1.25,
)
