"""The memory of linear recurrences is exact: |λ|^k in each mode, polynomials in Jordan blocks.

A mode h⁺ = λ h + b x forgets by |λ| a step, neither faster nor slower.  Where A has no basis of
eigenvectors, A = ρI + N with N^m = 0, a power is Aᵏ = Σ_{i<m} C(k, i) ρ^{k−i} Nⁱ; here ρ ≥ 0.
Source: Orvieto et al., Resurrecting Recurrent Neural Networks for Long Sequences; Horn & Johnson.
"""

from sympy import Expr, Integer

from theory.axioms.base import HOMOGENEITY, TRIANGLE
from theory.language.claim import Claim, Form, Source
from theory.language.law import Assumption, at, law
from theory.language.statement import eq, le
from theory.language.terms.memory import mode, pushed, shifted, turned
from theory.language.terms.vectors import a, b, entry, i, j, norm, s, x
from theory.language.vocabulary import symbols
from theory.models.system import ONE, WINDOW
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Proof, Step

mode_radius, mode_real, nilpotency = symbols("mode_radius mode_real nilpotency")
mode_gap, mode_start, power_norm, T, k = symbols("mode_gap mode_start power_norm T k")

DIAGONAL = Assumption(
    "diagonal",
    "h⁺ = Λ∘h + B x; of a complex λ = r e^{iθ} a mode is a pair of reals, which r R(θ) turns",
    law=law(
        "diagonal",
        (x, s, j, a, b),
        eq(mode(x, s, 0), Integer(0)),
        eq(mode(x, s, j + 1), turned(mode(x, s, j)) + pushed(entry(x, s + j + 1))),
        eq(norm(turned(a) - turned(b)), mode_radius * norm(a - b)),
    ),
    ties=True,
)
full, fresh = mode(x, 0, s + j), mode(x, s, j)
EXACT_BOUND = eq(mode_gap, mode_radius**k * mode_start)
EXACT = Form(
    "exact",
    EXACT_BOUND,
    (DIAGONAL, WINDOW),
    "modes",
    Proof(
        (
            Step(
                "the same input to both",
                eq(
                    norm(mode(x, 0, s + j + 1) - mode(x, s, j + 1)),
                    mode_radius * norm(full - fresh),
                ),
                Smt(
                    at("diagonal", x, 0, s + j, full, fresh),
                    at("diagonal", x, s, j, full, fresh),
                ),
                forall=(s, j),
            ),
            Step(
                "forgetting",
                eq(norm(full - fresh), mode_radius**j * norm(mode(x, 0, s))),
                Induction(
                    j,
                    base=Smt(at("diagonal", x, s, 0, 0, 0)),
                    step=Smt(HYPOTHESIS, at("the same input to both", s, j)),
                ),
                forall=(s, j),
            ),
            Step("claim", EXACT_BOUND, Smt(at("forgetting", T - k, k), "window")),
        )
    ),
    note="for each mode j, every input and every window",
)

JORDAN = Assumption(
    "Jordan block",
    "A = ρI + N with ρ ≥ 0 and ‖N‖ ≤ 1, so that Nⁱ A^{j+1} = ρ Nⁱ A^j + N^{i+1} A^j",
    law=law(
        "Jordan block",
        (i, j),
        eq(shifted(i, j + 1), mode_radius * shifted(i, j) + shifted(i + 1, j)),
        le(norm(shifted(i, 0)), ONE),
    ),
    ties=True,
)


def index(m: int) -> Assumption:
    """N^m = 0."""
    return Assumption(
        "index",
        f"N^{m} = 0",
        le(nilpotency, Integer(m)),
        law("index", (j,), eq(shifted(m, j), Integer(0))),
    )


ONE_POWER = Step(
    "one power more",
    le(norm(shifted(i, j + 1)), mode_radius * norm(shifted(i, j)) + norm(shifted(i + 1, j))),
    Smt(
        at("Jordan block", i, j),
        TRIANGLE.at(mode_radius * shifted(i, j), shifted(i + 1, j)),
        HOMOGENEITY.at(mode_radius, shifted(i, j)),
    ),
    forall=(i, j),
)


NO_POWER = Step(
    "no power yet", le(norm(shifted(i, 0)), ONE), Smt(at("Jordan block", i, 0)), forall=(i,)
)


def binomials(power: Expr, terms: int) -> Expr:
    """Σ_{i<terms} C(power, i) ρ^{power−i}."""
    choices = (ONE, power, power * (power - 1) / 2)
    return sum(choice * mode_radius ** (power - i) for i, choice in enumerate(choices[:terms]))


def block(m: int) -> tuple[Step, ...]:
    """‖N^{m−i} A^{j+i−1}‖ is at most the sum of i terms, for i = 1 … m."""
    found = [ONE_POWER, NO_POWER]
    for terms in range(1, m + 1):
        first, more = m - terms, terms - 1
        before = at("index", j) if terms == 1 else at(f"{terms - 1} terms", j + 1)
        at_start = [at("no power yet", first + i) for i in range(terms)]
        steps = [at("one power more", first + i, n) for n in range(more) for i in range(more - n)]
        found.append(
            Step(
                f"{terms} terms",
                le(norm(shifted(first, j + more)), binomials(j + more, terms)),
                Induction(
                    j,
                    base=Smt(*at_start, *steps),
                    step=Smt(HYPOTHESIS, at("one power more", first, j + more), before),
                ),
                forall=(j,),
            )
        )
    return tuple(found)


def jordan(m: int) -> Form:
    """‖Aᵏ‖ for N^m = 0."""
    bound = le(power_norm, binomials(k, m))
    long = Assumption("long enough", f"k ≥ {m - 1}", le(Integer(m - 1), k))
    claim = Step("claim", bound, Smt(at(f"{m} terms", k - m + 1), "long enough"))
    return Form(
        f"jordan-{m}",
        bound,
        (JORDAN, index(m), long),
        "jordan",
        Proof((*block(m), claim)),
        note="equal for ρ = 0, and attained up to a constant for every ρ",
    )


JORDAN_2, JORDAN_3 = jordan(2), jordan(3)

LINEAR_MEMORY = Claim(
    id="linear-memory",
    title="The memory of a linear recurrence is exact",
    source=Source(
        "Orvieto et al., Resurrecting Recurrent Neural Networks for Long Sequences; "
        "Horn & Johnson, Matrix Analysis",
        "section 3; section 3.2.5",
    ),
    forms=(EXACT, JORDAN_2, JORDAN_3),
    false_variants=(
        EXACT.variant(
            "real-part",
            "the real part of the eigenvalue is taken for its modulus",
            le(mode_gap, mode_real**k * mode_start),
        ),
        EXACT.variant(
            "next-power",
            "|λ|^{k+1} in place of |λ|^k",
            le(mode_gap, mode_radius ** (k + 1) * mode_start),
        ),
        JORDAN_2.variant(
            "radius-alone",
            "the spectral radius alone: ρ^k, as if A were diagonalisable",
            le(power_norm, mode_radius**k),
        ),
        JORDAN_2.variant(
            "any-constant",
            "a constant times ρ^k, a hundred say",
            le(power_norm, 100 * mode_radius**k),
        ),
        JORDAN_3.variant(
            "degree-too-low",
            "a polynomial of degree m − 2",
            le(power_norm, binomials(k, 2)),
        ),
    ),
    extremal="any mode at all; one Jordan block, whose corner is C(k, m − 1) ρ^{k−m+1}",
)
