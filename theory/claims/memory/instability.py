"""Without contraction no window suffices, and descent diverges (Miller & Hardt, section 3).

An unstable linear system keeps an impulse for ever; a saturating one does too, though its state is
bounded.
"""

from dataclasses import replace

from sympy import Abs, Integer, Rational, sqrt, tanh

from rnnbounds.theory.axioms.base import EXPONENTIAL, HOMOGENEITY
from rnnbounds.theory.axioms.functions import TANH
from rnnbounds.theory.claims.memory import divergence
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    assume,
    at,
    define,
    eq,
    exists,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.variables import a, c, j, m, vector, x, y, z
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    Scalar,
    entry,
    exponential,
    function,
    norm,
    phi,
    state,
)
from rnnbounds.theory.models.lemmas.powers import POWER_AT_LEAST_ONE
from rnnbounds.theory.models.system import LONG_WINDOW, SHORT_WINDOW, TWO_STEPS
from rnnbounds.theory.proof import Claim, Source, Step, step, theorem
from rnnbounds.theory.proof.methods import Exact, Identity

lam, S_0, T, k, n, a_1, M_rho, beta_rho = symbols("lam S_0 T k n a_1 M_rho beta_rho")
h_gap, descent_growth = symbols("h_gap descent_growth")

# A scalar system's states are multiples of one unit vector.
e = vector("e")


def _impulse_input(height: int) -> Assumption:
    return assume(
        "impulse", f"n = d = 1; x_1 = {height}, and all later inputs are zero", forall=(m,)
    ).that(eq(entry(x, 1), height * e), eq(entry(x, m + 2), ZERO), eq(norm(e), ONE))


def _forgotten_step() -> Step:
    """A run that starts after the impulse stays at zero."""
    return step(
        "the truncated state is zero", eq(state(x, m + 1, j), ZERO), forall=(m, j)
    ).by_induction(
        base=RECURSION.at(x, m + 1, 0),
        step=(RECURSION.at(x, m + 1, j), at("impulse", m + j), at("system", 0, 0)),
        method=Identity,
    )


LINEAR = assume(
    "system", "φ(h, x) = λh + x", forall=(a, c), condition=eq(beta_rho, ZERO), ties=True
).that(eq(phi(a, c), lam * a + c))
EXPANSIVE = Assumption("expansive", "λ ≥ 1", le(ONE, lam))
NO_WINDOW = theorem(
    "no-window",
    exists(ONE, h_gap),
    (LINEAR, _impulse_input(1), EXPANSIVE, SHORT_WINDOW),
    "unstable",
    (
        POWER_AT_LEAST_ONE,
        step("the impulse grows", eq(state(x, 0, j + 1), lam**j * e), forall=(j,)).by_induction(
            base=(RECURSION.at(x, 0, 0), at("impulse", 0), at("system", 0, e)),
            step=(RECURSION.at(x, 0, j + 1), at("impulse", j), at("system", lam**j * e, 0)),
            method=Identity,
        ),
        _forgotten_step(),
    ),
    note="for every k < T: no window truncates it",
).by(
    at("the impulse grows", T - 1),
    at("the truncated state is zero", T - k - 1, k),
    HOMOGENEITY.at(lam ** (T - 1), e),
    at("impulse", 0),
    at("power at least one", T - 1),
    "short window",
)

orbit = function("orbit", Scalar, __name__, defined=True)  # tanh(5), tanh(3 tanh(5)), …
ORBIT = define("orbit", (j,), eq(orbit(0), tanh(5)), eq(orbit(j + 1), tanh(3 * orbit(j))))
SATURATING = assume(
    "system", "φ(h, x) = tanh(3h + x)", forall=(y, z), condition=le(M_rho, ONE), ties=True
).that(eq(phi(y * e, z * e), tanh(3 * y + z) * e))
LEVEL = Rational(99, 100)
BOUNDED_STATE = theorem(
    "bounded-state",
    exists(LEVEL, h_gap),
    (SATURATING, _impulse_input(5), SHORT_WINDOW),
    "unstable",
    (
        Step("exp(5.94)", le(199, exponential(6 * LEVEL)), Exact()),
        step("tanh is large", le(LEVEL, tanh(z)), forall=(z,), given=(le(3 * LEVEL, z),)).by(
            "exp(5.94)", TANH.at(z), EXPONENTIAL.at(6 * LEVEL, 2 * z)
        ),
        step("the orbit stays", le(LEVEL, orbit(j)), forall=(j,)).by_induction(
            base=(ORBIT.at(0), at("tanh is large", 5)),
            step=(ORBIT.at(j), at("tanh is large", 3 * orbit(j))),
        ),
        step(
            "the state is the orbit", eq(state(x, 0, j + 1), orbit(j) * e), forall=(j,)
        ).by_induction(
            base=(RECURSION.at(x, 0, 0), at("impulse", 0), at("system", 0, 5), ORBIT.at(0)),
            step=(
                RECURSION.at(x, 0, j + 1),
                at("impulse", j),
                at("system", orbit(j), 0),
                ORBIT.at(j),
            ),
            method=Identity,
        ),
        _forgotten_step(),
    ),
    note="a bounded state does not help",
).by(
    at("the state is the orbit", T - 1),
    at("the truncated state is zero", T - k - 1, k),
    HOMOGENEITY.at(orbit(T - 1), e),
    at("impulse", 0),
    at("the orbit stays", T - 1),
    "short window",
)


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
    example_factor=1.25,
)
