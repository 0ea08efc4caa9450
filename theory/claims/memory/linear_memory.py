"""The memory of linear recurrences is exact: |λ|^k in each mode, polynomials in Jordan blocks.

A mode h⁺ = λ h + b x forgets by |λ| a step, neither faster nor slower.  Where A has no basis of
eigenvectors, A = ρI + N with N^m = 0, a power is Aᵏ = Σ_{i<m} C(k, i) ρ^{k−i} Nⁱ; here ρ ≥ 0.
Source: Orvieto et al., Resurrecting Recurrent Neural Networks for Long Sequences; Horn & Johnson.
"""

from sympy import Expr, Integer

from rnnbounds.theory.axioms.base import HOMOGENEITY, TRIANGLE
from rnnbounds.theory.language import ONE, Assumption, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.memory import mode, pushed, shifted, turned
from rnnbounds.theory.language.terms.variables import a, b, i, j, s, x
from rnnbounds.theory.language.terms.vectors import entry, norm
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Claim, Form, Source, Step, step, theorem

mode_radius, mode_real, nilpotency = symbols("mode_radius mode_real nilpotency")
mode_gap, mode_start, power_norm, T, k = symbols("mode_gap mode_start power_norm T k")

DIAGONAL = assume(
    "diagonal",
    "h⁺ = Λ∘h + B x; of a complex λ = r e^{iθ} a mode is a pair of reals, which r R(θ) turns",
    forall=(x, s, j, a, b),
    ties=True,
).that(
    eq(mode(x, s, 0), Integer(0)),
    eq(mode(x, s, j + 1), turned(mode(x, s, j)) + pushed(entry(x, s + j + 1))),
    eq(norm(turned(a) - turned(b)), mode_radius * norm(a - b)),
)
full, fresh = mode(x, 0, s + j), mode(x, s, j)
EXACT = theorem(
    "exact",
    eq(mode_gap, mode_radius**k * mode_start),
    (DIAGONAL, WINDOW),
    "modes",
    (
        step(
            "the same input to both",
            eq(norm(mode(x, 0, s + j + 1) - mode(x, s, j + 1)), mode_radius * norm(full - fresh)),
            forall=(s, j),
        ).by(at("diagonal", x, 0, s + j, full, fresh), at("diagonal", x, s, j, full, fresh)),
        step(
            "forgetting",
            eq(norm(full - fresh), mode_radius**j * norm(mode(x, 0, s))),
            forall=(s, j),
        ).by_induction(base=at("diagonal", x, s, 0, 0, 0), step=at("the same input to both", s, j)),
    ),
    note="for each mode j, every input and every window",
).by(at("forgetting", T - k, k), "window")

JORDAN = assume(
    "Jordan block",
    "A = ρI + N with ρ ≥ 0 and ‖N‖ ≤ 1, so that Nⁱ A^{j+1} = ρ Nⁱ A^j + N^{i+1} A^j",
    forall=(i, j),
    ties=True,
).that(
    eq(shifted(i, j + 1), mode_radius * shifted(i, j) + shifted(i + 1, j)),
    le(norm(shifted(i, 0)), ONE),
)


def index_assumption(m: int) -> Assumption:
    """Assumption that the nilpotent part has N^m = 0."""
    return assume("index", f"N^{m} = 0", forall=(j,), condition=le(nilpotency, Integer(m))).that(
        eq(shifted(m, j), Integer(0))
    )


ONE_POWER = step(
    "one power more",
    le(norm(shifted(i, j + 1)), mode_radius * norm(shifted(i, j)) + norm(shifted(i + 1, j))),
    forall=(i, j),
).by(
    at("Jordan block", i, j),
    TRIANGLE.at(mode_radius * shifted(i, j), shifted(i + 1, j)),
    HOMOGENEITY.at(mode_radius, shifted(i, j)),
)


NO_POWER = step("no power yet", le(norm(shifted(i, 0)), ONE), forall=(i,)).by(
    at("Jordan block", i, 0)
)


def binomial_sum(power: Expr, terms: int) -> Expr:
    """The sum Σ_{i<terms} C(power, i) ρ^{power−i}."""
    choices = (ONE, power, power * (power - 1) / 2)
    return sum(choice * mode_radius ** (power - i) for i, choice in enumerate(choices[:terms]))


def block_steps(m: int) -> tuple[Step, ...]:
    """‖N^{m−i} A^{j+i−1}‖ is at most the sum of i terms, for i = 1 … m."""
    steps_so_far = [ONE_POWER, NO_POWER]
    for terms in range(1, m + 1):
        first, further = m - terms, terms - 1
        before = at("index", j) if terms == 1 else at(f"{terms - 1} terms", j + 1)
        start_uses = [at("no power yet", first + i) for i in range(terms)]
        step_uses = [
            at("one power more", first + i, n) for n in range(further) for i in range(further - n)
        ]
        steps_so_far.append(
            step(
                f"{terms} terms",
                le(norm(shifted(first, j + further)), binomial_sum(j + further, terms)),
                forall=(j,),
            ).by_induction(
                base=(*start_uses, *step_uses),
                step=(at("one power more", first, j + further), before),
            )
        )
    return tuple(steps_so_far)


def jordan_form(m: int) -> Form:
    """Form: the bound on ‖Aᵏ‖ for N^m = 0."""
    long = Assumption("long enough", f"k ≥ {m - 1}", le(Integer(m - 1), k))
    return theorem(
        f"jordan-{m}",
        le(power_norm, binomial_sum(k, m)),
        (JORDAN, index_assumption(m), long),
        "jordan",
        block_steps(m),
        "equal for ρ = 0, and attained up to a constant for every ρ",
    ).by(at(f"{m} terms", k - m + 1), "long enough")


JORDAN_2, JORDAN_3 = jordan_form(2), jordan_form(3)

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
            mode_radius**k,
        ),
        JORDAN_2.variant(
            "any-constant", "a constant times ρ^k, a hundred say", 100 * mode_radius**k
        ),
        JORDAN_3.variant("degree-too-low", "a polynomial of degree m − 2", binomial_sum(k, 2)),
    ),
    extremal="any mode at all; one Jordan block, whose corner is C(k, m − 1) ρ^{k−m+1}",
    example_factor=1.25,
)
