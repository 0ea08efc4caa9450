"""The window of Lemma 1 is the least that is enough for all models that it speaks of.

h⁺ = λh + x with the constant input x = S_0 e, ‖e‖ = 1, contracts by λ and has the drive S_0.  From
zero its state after j steps is S_0 (1 − λ^j)/(1 − λ) e, so that a window of k of T inputs leaves
exactly S_0 (λ^k − λ^T)/(1 − λ), what Lemma 1 allows: more than ε for each k below its window.
Source: Miller & Hardt, Lemma 1; the bound is attained there.
"""

from dataclasses import replace

from sympy import log

from rnnbounds.theory.axioms.base import EXPONENTIAL, HOMOGENEITY, LOGARITHM
from rnnbounds.theory.claims.memory.truncation import WINDOW_FORM, needed_window, reached_accuracy
from rnnbounds.theory.language import ONE, ZERO, Assumption, assume, at, define, eq, le, lt, symbols
from rnnbounds.theory.language.terms.variables import a, b, c, j, m, s, vector, x, y, z
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
from rnnbounds.theory.models import system
from rnnbounds.theory.models.lemmas.growth import TANGENTS
from rnnbounds.theory.models.lemmas.powers import (
    POWER_NOT_NEGATIVE,
    decay_rate,
    decay_step,
    positive_rate_uses,
    power_at_most_one,
    power_of_sum,
)
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Identity

lam, S_0, epsilon, T, k, h_gap = symbols("lam S_0 epsilon T k h_gap")
total = function("total", Scalar, __name__, defined=True)  # total(z, j) = 1 + z + … + z^{j−1}
TOTAL = define(
    "geometric sum", (z, j), eq(total(z, 0), ZERO), eq(total(z, j + 1), z * total(z, j) + 1)
)
e = vector("e")  # the direction of the input, a unit vector
rate = decay_rate(lam)
left = S_0 * (lam**k - lam**T) / (1 - lam)

INTEGRATOR = assume("linear", "φ(h, x) = λh + x", forall=(a, c), ties=True).that(
    eq(phi(a, c), lam * a + c)
)
CONSTANT = assume("constant input", "every input is S_0 e, with ‖e‖ = 1", forall=(m,)).that(
    eq(entry(x, m + 1), S_0 * e), eq(norm(e), ONE)
)
MODEL = (INTEGRATOR, CONSTANT, system.CONTRACTIVE, system.WINDOW)
GIVEN = (*MODEL, system.MEMORY, system.DRIVEN)
ATTAINED = theorem(
    "attained",
    eq(h_gap, left),
    MODEL,
    "integrator",
    (
        step(
            "the state is a sum", eq(state(x, s, j), S_0 * total(lam, j) * e), forall=(s, j)
        ).by_induction(
            base=(RECURSION.at(x, s, 0), TOTAL.at(lam, 0)),
            step=(
                RECURSION.at(x, s, j),
                TOTAL.at(lam, j),
                at("linear", S_0 * total(lam, j) * e, S_0 * e),
                at("constant input", s + j),
            ),
            method=Identity,
        ),
        step("the sum", eq(total(lam, j), (1 - lam**j) / (1 - lam)), forall=(j,)).by_induction(
            base=TOTAL.at(lam, 0), step=(TOTAL.at(lam, j), "contractive")
        ),
        POWER_NOT_NEGATIVE,
        power_at_most_one(lam),
        power_of_sum(lam),
    ),
    note="for every k ≤ T: what Lemma 1 allows",
).by(
    at("the state is a sum", 0, T),
    at("the state is a sum", T - k, k),
    at("the sum", T),
    at("the sum", k),
    HOMOGENEITY.at(S_0 * (total(lam, T) - total(lam, k)), e),
    at("constant input", 0),
    at("power of a sum", k, T - k),
    at("power not negative", k),
    at("power at most one", T - k),
    "contractive",
    "window",
)
EXACT = ATTAINED.lemma("least-window, attained").at()

BELOW = Assumption(
    "window below",
    "the window is below that of Lemma 1: k < ln(S_0/((1 − λ)ε))/ln(1/λ)",
    lt(k, log(needed_window) / rate),
)
kept = lam**k - epsilon * (1 - lam) / S_0
LONG = Assumption(
    "long sequence",
    "the sequence is long: T > −ln(λ^k − ε(1 − λ)/S_0)/ln(1/λ)",
    lt(-log(kept) / rate, T),
)
BELOW_FINITE = Assumption(
    "window below",
    "the window is below that for one T: k < −ln(λ^T + ε(1 − λ)/S_0)/ln(1/λ)",
    lt(k, -log(reached_accuracy) / rate),
)
GROWS = step("exp grows", lt(exponential(y), exponential(z)), forall=(y, z), given=(lt(y, z),)).by(
    EXPONENTIAL.at(y, z - y), at("tangent of exp", z - y), at("exp positive", y)
)
THRESHOLD = (decay_step(lam), *TANGENTS, GROWS)
RATE = positive_rate_uses(lam)
NO_SMALLER = theorem(
    "no-smaller",
    lt(epsilon, h_gap),
    (*GIVEN, system.ACCURACY, BELOW, LONG),
    "integrator",
    (
        *THRESHOLD,
        step("the window keeps more", lt(ZERO, kept)).by(
            at("exp grows", k * rate, log(needed_window)),
            at("decay", k),
            at("exp positive", k * rate),
            LOGARITHM.at(needed_window),
            "window below",
            "driven",
            "accuracy",
            *RATE,
        ),
        step("the sequence is longer", lt(lam**T, kept)).by(
            "the window keeps more",
            "driven",
            at("exp grows", -log(kept), T * rate),
            at("decay", T),
            LOGARITHM.at(kept),
            EXPONENTIAL.at(-log(kept), log(kept)),
            "long sequence",
            *RATE,
        ),
    ),
    note="for all λ, S_0 and ε, every window below that of Lemma 1 leaves more than ε",
).by(EXACT, "the sequence is longer", "driven", "contractive")
NO_SMALLER_FINITE = theorem(
    "no-smaller-finite",
    lt(epsilon, h_gap),
    (*GIVEN, BELOW_FINITE),
    "integrator",
    (
        *THRESHOLD,
        step("the window keeps more", lt(reached_accuracy, lam**k)).by(
            at("exp grows", k * rate, -log(reached_accuracy)),
            at("decay", k),
            at("exp positive", k * rate),
            LOGARITHM.at(reached_accuracy),
            EXPONENTIAL.at(-log(reached_accuracy), log(reached_accuracy)),
            "window below",
            "driven",
            *RATE,
        ),
    ),
    note="for one given T: the window of Lemma 1 for that T is the least too",
).by(EXACT, "the window keeps more", "driven", "contractive")
ENOUGH = theorem(
    "enough",
    le(h_gap, epsilon),
    (INTEGRATOR, CONSTANT, *WINDOW_FORM.assumptions[1:2], *WINDOW_FORM.assumptions[3:]),
    "integrator",
    (
        step("contraction", le(norm(phi(a, c) - phi(b, c)), lam * norm(a - b)), (a, b, c)).by(
            at("linear", a, c), at("linear", b, c), HOMOGENEITY.at(lam, a - b)
        ),
        step("drive", le(norm(phi(0, entry(x, m + 1))), S_0), (m,)).by(
            at("linear", 0, S_0 * e), at("constant input", m), HOMOGENEITY.at(S_0, e)
        ),
    ),
    note="the system meets what Lemma 1 assumes, whose window is enough",
).by(WINDOW_FORM.lemma("truncation, window").at(), "contraction", "drive")

LEAST_WINDOW = Claim(
    id="least-window",
    title="No smaller window will do",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 1"),
    forms=(NO_SMALLER, NO_SMALLER_FINITE, ENOUGH, ATTAINED),
    false_variants=(
        NO_SMALLER.variant("any-length", "the sequence may be of any length", without=LONG.id),
        NO_SMALLER.variant(
            "twice-as-much", "every smaller window leaves twice ε", lt(2 * epsilon, h_gap)
        ),
        NO_SMALLER_FINITE.variant(
            "one-more",
            "the next window is too small as well",
            replace(BELOW_FINITE, condition=lt(k - 1, -log(reached_accuracy) / rate)),
        ),
        NO_SMALLER_FINITE.variant(
            "no-horizon",
            "the window forgets that 1/(1 − λ) makes it longer, and so ε may be larger",
            lt(epsilon / (1 - lam), h_gap),
        ),
        ENOUGH.variant(
            "one-less", "the window is a step longer than need be", le(h_gap, lam * epsilon)
        ),
        ATTAINED.variant(
            "endless-run", "the start is forgotten", eq(h_gap, S_0 * lam**k / (1 - lam))
        ),
        ATTAINED.variant("drive-alone", "one drive is left of each", eq(h_gap, S_0 * lam**k)),
    ),
    extremal="the system itself, of which every form states an equality or an exact threshold",
)
