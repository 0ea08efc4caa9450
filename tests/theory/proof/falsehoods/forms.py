"""Attacks through assumptions that no step uses together, and through what ‖·‖ measures.

Of a cell ‖s‖ is the length of what it shows: ‖P_c‖ = 1 for P_c (c, h) = (0, c), and ‖P_c s‖ is
‖c‖, at most ‖s‖ = ‖h‖ in a norm alone.  Of functions of the inputs ‖f‖ is half of how far f varies.
Of outputs in all runs it is the largest, and no parallelogram law holds: of 1 and −1 in one run, 1
and 1 in another.
"""

from dataclasses import replace

from sympy import Expr, Rational

from falsehoods.attack import Attack, Claimed, assume, ends
from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE
from rnnbounds.theory.axioms.entries import INNER_PRODUCT
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ
from rnnbounds.theory.axioms.unitary import MONOTONE_NORM
from rnnbounds.theory.language import ONE, Assumption, Statement, Use, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.analytic import tangents
from rnnbounds.theory.language.terms.unitary import OUTPUTS, part
from rnnbounds.theory.language.terms.variables import A, B, a, b, c, i, m, operator, s, v, x, y, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, inner, norm, state
from rnnbounds.theory.models.unitary.lines import history
from rnnbounds.theory.proof import Form, Proof, Step
from rnnbounds.theory.proof.methods import Smt

lam, h_norm, T, separation = symbols("lam h_norm T separation")
values = function("values", Scalar)
shows_c = operator("P_c")
unit = assume("unit", le(norm(shows_c), ONE))
final = state(x, 0, T)
TOGETHER, NONE = "contradict", "measures there is none"


def cell(goal: Statement, *uses: Use, granted: tuple[Assumption, ...] = ()) -> Claimed:
    """A form of cells, in one step."""
    proof = Proof((Step("claim", goal, Smt(*uses)),))
    return Claimed(Form("false", goal, granted, "cell", proof), NONE)


def functions(
    goal: Statement, *uses: Use, before: Step | None = None, granted: tuple[Assumption, ...] = ()
) -> Claimed:
    """A form of sigmoid networks, in one step or two."""
    proof = Proof((*((before,) if before else ()), Step("claim", goal, Smt(*uses))))
    return Claimed(Form("false", goal, granted, "sigmoid", proof), NONE)


def apart(*granted: Assumption) -> Attack:
    """λ ≤ 1/2 from the first assumption alone."""
    small = Assumption("small", "", le(lam, Rational(1, 2)))
    return ends(le(lam, Rational(1, 2)), Smt("small"), TOGETHER, small, *granted)


f, g = tangents(history(0)) * a, tangents(history(0)) * b
cell_output, candidate, *_ = OUTPUTS


def squares(one: Expr, two: Expr) -> tuple[Use, ...]:
    """‖a − b‖² = ‖a‖² − 2⟨a, b⟩ + ‖b‖², by inner products."""
    product = INNER_PRODUCT
    ends = one - two, one, two
    return *(product.at(one, two, end) for end in ends), product.at(two, one, one - two)


def squared(one: Expr, two: Expr) -> Statement:
    """The same as a statement."""
    return eq(norm(one - two) ** 2, norm(one) ** 2 - 2 * inner(one, two) + norm(two) ** 2)


OF_ALL = Step("expanded", squared(a, b), Smt(*squares(a, b)), (a, b))
PARALLELOGRAM = eq(
    separation**2 + norm(cell_output + candidate) ** 2,
    2 * norm(cell_output) ** 2 + 2 * norm(candidate) ** 2,
)
FORMS: dict[str, Attack | Claimed] = {
    # Assumptions that no step uses together.
    "two conditions": apart(Assumption("large", "", le(ONE, lam))),
    "a condition and a law": apart(assume("large", le(ONE, lam))),
    "two laws": apart(
        assume("low", le(values(m), 0), variables=(m,)),
        assume("high", lt(0, values(s)), variables=(s,)),
    ),
    "a law and a value": apart(
        assume("low", le(values(m), 0), variables=(m,)), assume("high", eq(values(0), 1))
    ),
    "laws of vectors": apart(
        assume("short", le(norm(A * v), 0), variables=(A, v)),
        assume("long", le(1, norm(B * b)), variables=(B, b)),
    ),
    "a law of everything": apart(assume("all", le(y, z), variables=(y, z))),
    "a length below 0": apart(assume("negative", lt(norm(final), 0))),
    # A seminorm is no norm.
    "a part of what a cell does not show": cell(
        le(norm(shows_c * final), h_norm),
        SUBMULTIPLICATIVE.at(shows_c, final),
        "unit",
        granted=(unit,),
    ),
    "products of the states of a cell": cell(
        le(inner(final, a), h_norm * norm(a)), CAUCHY_SCHWARZ.at(final, a)
    ),
    "an entry of a cell's state": cell(
        le(norm(final), norm(shows_c * final)),
        "larger",
        MONOTONE_NORM.at(final, shows_c * final),
        granted=(
            assume(
                "larger", le(abs(part(final, i)), abs(part(shows_c * final, i))), variables=(i,)
            ),
        ),
    ),
    "products of functions": functions(eq(inner(f, f), norm(f) ** 2), INNER_PRODUCT.at(f, f, f)),
    "an operator on functions": functions(
        le(norm(A * f), norm(A) * norm(f)), SUBMULTIPLICATIVE.at(A, f)
    ),
    # A supremum over runs is none that an inner product gives.
    "outputs squared": functions(squared(cell_output, candidate), *squares(cell_output, candidate)),
    "a parallelogram of outputs": functions(
        PARALLELOGRAM,
        at("expanded", cell_output, candidate),
        before=replace(
            OF_ALL,
            conclusion=eq(norm(a - b) ** 2 + norm(a + b) ** 2, 2 * norm(a) ** 2 + 2 * norm(b) ** 2),
            method=Smt(*squares(a, b), *squares(a, -b)),
        ),
    ),
    # The same by another name.
    "products of a function by another name": functions(
        eq(inner(f, f), norm(f) ** 2),
        INNER_PRODUCT.at(c, c, c),
        "named",
        granted=(assume("named", eq(c, f)),),
    ),
    "a function that is named twice": functions(
        eq(inner(state(x, 0, 1), c), norm(f) ** 2),
        INNER_PRODUCT.at(state(x, 0, 1), c, state(x, 0, 1)),
        "named",
        "again",
        granted=(assume("again", eq(state(x, 0, 1), c)), assume("named", eq(c, f))),
    ),
    # The same of all vectors first, then of these.
    "products of functions, of all first": functions(
        squared(f, g), at("expanded", f, g), before=OF_ALL
    ),
    "an operator on functions, of all first": functions(
        le(norm(A * f), norm(A) * norm(f)),
        at("larger", A, f),
        before=Step(
            "larger", le(norm(A * v), norm(A) * norm(v)), Smt(SUBMULTIPLICATIVE.at(A, v)), (A, v)
        ),
    ),
    "Cauchy and Schwarz on functions": functions(
        le(inner(f, g), norm(f) * norm(g)), CAUCHY_SCHWARZ.at(f, g)
    ),
}
