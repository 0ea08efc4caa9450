"""Without contraction no window suffices, and descent diverges (Miller & Hardt, section 3).

An unstable linear system keeps an impulse for ever; a saturating one does too, though its state is
bounded.
"""

from dataclasses import replace

from sympy import Integer

from rnnbounds.theory.axioms.base import HOMOGENEITY
from rnnbounds.theory.claims.memory import divergence
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    assume,
    at,
    eq,
    exists,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.variables import a, c, j, m, vector, x
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    entry,
    norm,
    phi,
    state,
)
from rnnbounds.theory.models.lemmas.powers import POWER_AT_LEAST_ONE
from rnnbounds.theory.models.system import SHORT_WINDOW
from rnnbounds.theory.proof import Claim, Source, Step, step, theorem

lam, S_0, T, k, beta_rho = symbols("lam S_0 T k beta_rho")
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
    )


LINEAR = assume("system", "φ(h, x) = λh + x", forall=(a, c), condition=eq(beta_rho, ZERO)).that(
    eq(phi(a, c), lam * a + c)
)
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

MARGINAL = Assumption("marginal", "λ ≤ 1", le(lam, ONE))
LESS_STEEP = replace(
    divergence.STEEP, text="α(T − 1)a_1^{2T−4} ≥ 1", condition=le(ONE, divergence.steepness)
)

INSTABILITY = Claim(
    id="instability",
    title="Unstable systems cannot be truncated, nor trained by descent",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 3"),
    forms=(NO_WINDOW, divergence.DIVERGENCE),
    false_variants=(
        NO_WINDOW.variant(
            "marginal",
            "λ = 1 is enough to forget, if slowly",
            le(h_gap, 2 * S_0 / (k + 1)),
            assumptions=(MARGINAL,),
        ),
        NO_WINDOW.variant("doubled", "the impulse at least doubles", exists(Integer(2), h_gap)),
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
