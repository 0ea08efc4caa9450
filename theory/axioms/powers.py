"""Textbook theorems on the sequence A^j v: that it fades, and that it comes back."""

from sympy import symbols

from rnnbounds.theory.language import ONE, ZERO, Axiom, Clause, axiom, axioms_in, eq, law, le, lt
from rnnbounds.theory.language.terms.unitary import outset, power, radius, ratio, rows
from rnnbounds.theory.language.terms.variables import A, i, j, m, s, v
from rnnbounds.theory.language.terms.vectors import norm

_y, _z, _q, _size, _premise = symbols("y_ z_ q_ size_ premise_", real=True)

GELFAND = axiom(
    "Gelfand's formula",
    "Horn & Johnson, Matrix Analysis, Corollaries 5.6.13 and 5.6.14",
    "‖A^j v‖ ≤ c q^j for some q < 1, where the spectral radius is below 1",
    (A, v, j),
).that(
    *(
        Clause(fact, (lt(radius(A), ONE),))
        for fact in (
            le(norm(power(A, v, j)), outset(A, v) * ratio(A) ** j),
            le(ZERO, outset(A, v)),
            le(ZERO, ratio(A)),
            lt(ratio(A), ONE),
        )
    )
)
# Under a premise, for what it says of a candidate is to be refuted.
_when = (eq(_premise, ZERO),)
RETURNS = Axiom(
    "Bolzano-Weierstrass theorem",
    (A, v, m, _y, _z, _q, _size, _premise),
    (Clause(le(_y, ZERO), (*_when, le(ZERO, _q), lt(_q, ONE))),),
    text="a bounded sequence in ℝ^m has late terms that are arbitrarily close: a number is not "
    "positive if, for every s, it is at most z q^s plus the distance of any two terms more than s "
    "apart",
    source="Rudin, Principles of Mathematical Analysis, Theorems 3.6 and 3.20",
    requires=(
        law(
            "",
            (s, i, j),
            Clause(le(_y - _z * _q**s, norm(power(A, v, i) - power(A, v, i + j + s + 1))), _when),
        ),
        law("", (j,), le(rows(power(A, v, j)), m)),
        law("", (j,), le(norm(power(A, v, j)), _size)),
    ),
)

POWER_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
