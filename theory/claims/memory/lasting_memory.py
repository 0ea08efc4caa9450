"""Two scalar systems that no window truncates.

An unstable linear one keeps an impulse for ever.  A saturating one does too, though its state is
bounded.
"""

from sympy import Rational, tanh

from rnnbounds.theory.axioms.base import EXPONENTIAL, HOMOGENEITY
from rnnbounds.theory.axioms.functions import TANH
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
from rnnbounds.theory.models.system import SHORT_WINDOW
from rnnbounds.theory.proof import Step, step, theorem
from rnnbounds.theory.proof.methods import Exact, Identity

lam, T, k, h_gap, M_rho, beta_rho = symbols("lam T k h_gap M_rho beta_rho")

# A scalar system's states are multiples of one unit vector.
e = vector("e")


def _impulse(height: int) -> Assumption:
    return assume(
        "impulse", f"n = d = 1; x_1 = {height}, and all later inputs are zero", forall=(m,)
    ).that(eq(entry(x, 1), height * e), eq(entry(x, m + 2), ZERO), eq(norm(e), ONE))


def _forgotten() -> Step:
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
    (LINEAR, _impulse(1), EXPANSIVE, SHORT_WINDOW),
    "unstable",
    (
        POWER_AT_LEAST_ONE,
        step("the impulse grows", eq(state(x, 0, j + 1), lam**j * e), forall=(j,)).by_induction(
            base=(RECURSION.at(x, 0, 0), at("impulse", 0), at("system", 0, e)),
            step=(RECURSION.at(x, 0, j + 1), at("impulse", j), at("system", lam**j * e, 0)),
            method=Identity,
        ),
        _forgotten(),
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
    (SATURATING, _impulse(5), SHORT_WINDOW),
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
        _forgotten(),
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
