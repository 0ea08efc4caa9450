"""Textbook theorems behind the independence of tanh units: Ax's, and poles of a sum.

They speak of lists of functions, as `theory.language.terms.unitary` does.
"""

from functools import partial

from sympy import Abs

from rnnbounds.theory.language import ONE, ZERO, Axiom, Clause, axiom, axioms_in, eq, le, ne
from rnnbounds.theory.language.terms.unitary import (
    algebraic,
    analytic,
    basis,
    beside,
    count,
    differentials,
    exponentials,
    generated,
    independent,
    lines,
    offset,
    partner,
    pole,
    rank,
    slope,
    steepest,
    support,
    tangents,
    transcendence,
    unit,
)
from rnnbounds.theory.language.terms.variables import A, B, a, b, c, operator, v, y, z
from rnnbounds.theory.language.terms.vectors import gain, inner, norm

P, T, X, Y, Z = (operator(name) for name in ("P_list", "T_list", "X_list", "Y_list", "Z_list"))
_LANG = "Lang, Algebra"
_FREE = partial(axiom, "free abelian groups", f"{_LANG}, sections I.7 and I.8")
_FIELDS = partial(axiom, "algebraic elements", f"{_LANG}, sections V.1 and VIII.1")
_POLES = partial(axiom, "poles", "Ahlfors, Complex Analysis, section 4.3.2")
_FINITE = partial(axiom, "finite sets", "Halmos, Naive Set Theory, section 13")

AX = axiom(
    "Ax's theorem",
    "Ax, On Schanuel's Conjectures, Annals of Mathematics 93 (1971), Theorem 3",
    "of analytic Y that are independent over ℚ modulo constants, the field of Y and e^Y has a "
    "transcendence degree over ℂ of at least their number and the rank of their derivatives",
    (Y,),
).that(
    Clause(
        le(count(Y) + rank(differentials(Y)), transcendence(beside(Y, exponentials(Y)))),
        (eq(independent(Y), ONE),),
    )
)
BASIS = _FREE("a torsion-free group with finitely many generators has a ℤ-basis", (P, X)).that(
    *(
        Clause(eq(fact, ONE), (eq(analytic(P), ONE), eq(analytic(X), ONE)))
        for fact in (
            independent(basis(P, X)),
            generated(P, basis(P, X)),
            generated(X, basis(P, X)),
            generated(basis(P, X), beside(P, X)),
        )
    )
)
DIFFERENTIALS = axiom(
    "rank-nullity",
    "Horn & Johnson, Matrix Analysis, 0.4.5",
    "the derivatives of combinations of Y have no larger rank than those of Y",
    (X, Y),
).that(Clause(le(rank(differentials(X)), rank(differentials(Y))), (eq(generated(X, Y), ONE),)))
TRANSCENDENCE = _FIELDS(
    "elements algebraic over the field of X and Z add at most the number of X to the degree of Z",
    (Y, X, Z),
).that(
    Clause(
        le(transcendence(beside(Y, Z)), count(X) + transcendence(Z)),
        (eq(algebraic(Y, beside(X, Z)), ONE),),
    )
)
TANH_ALGEBRAIC = _FIELDS(
    "tanh f = (e^{2f} − 1)/(e^{2f} + 1), and e^{f + g} = e^f e^g", (P, Y)
).that(Clause(eq(algebraic(tangents(P), exponentials(Y)), ONE), (eq(generated(P, Y), ONE),)))
COMBINATIONS = _FIELDS(
    "sums of X and of elements algebraic over Z are algebraic over X and Z", (P, X, T, A, B, Y, Z)
).that(
    Clause(
        eq(algebraic(Y, beside(X, Z)), ONE),
        (
            eq(gain(P - X * A - T * B), ZERO),
            eq(algebraic(T, Z), ONE),
            eq(generated(Y, beside(P, X)), ONE),
        ),
    )
)
L = lines(P, Y)
SUBSTITUTION = _FIELDS(
    "a relation of algebraically independent elements holds for all numbers: e^{Y_l} may be "
    "replaced by c_l e^{χ_l z}",
    (P, Y, c),
).that(
    Clause(
        eq(gain(tangents(L) * c), ZERO),
        (
            eq(gain(tangents(P) * c), ZERO),
            eq(generated(P, Y), ONE),
            le(count(Y), transcendence(exponentials(Y))),
        ),
    )
)
_TIED = (
    eq(generated(P, Y), ONE),
    eq(independent(Y), ONE),
    eq(unit(a), ONE),
    eq(unit(b), ONE),
    eq(z**2, ONE),
    eq(slope(L, a), z * slope(L, b)),
)
HOMOMORPHISM = _FREE(
    "a homomorphism into ℝ may be given on a basis, by numbers independent over ℚ: it is "
    "injective; and functions with one slope, and one value at a point, are equal",
    (P, Y, a, b, z),
).that(
    Clause(eq(gain(P * (a - z * b)), ZERO), _TIED),
    Clause(eq(gain(tangents(P) * (a - z * b)), ZERO), (*_TIED, eq(offset(L, a), z * offset(L, b)))),
    *(
        Clause(eq(gain(constant * a), ZERO), (*_TIED[:3], eq(slope(L, a), ZERO)))
        for constant in (P, tangents(P))
    ),
)
_real, _imaginary = offset(L, a) + slope(L, a) * y, slope(L, a) * z
TANH_POLES = _POLES("tanh has its poles at the odd multiples of iπ/2", (P, Y, a, y, z)).that(
    Clause(eq(pole(L, a, y, z), ONE), (eq(_real, ZERO), eq(_imaginary, ONE))),
    Clause(eq(_real, ZERO), (eq(pole(L, a, y, z), ONE),)),
    Clause(le(ONE, Abs(_imaginary)), (eq(pole(L, a, y, z), ONE),)),
)
_other = partner(L, c, a, y, z)
NO_LONELY_POLE = _POLES(
    "at a pole of one term of a constant sum of meromorphic functions another term has a pole",
    (P, Y, c, a, y, z),
).that(
    *(
        Clause(
            statement,
            (
                eq(gain(tangents(L) * c), ZERO),
                eq(unit(a), ONE),
                ne(inner(c, a), ZERO),
                eq(pole(L, a, y, z), ONE),
            ),
        )
        for statement in (
            eq(unit(_other), ONE),
            eq(inner(a, _other), ZERO),
            ne(inner(c, _other), ZERO),
            eq(pole(L, _other, y, z), ONE),
        )
    )
)
_top = steepest(L, c)
LARGEST = _FINITE("of finitely many numbers one is the largest", (P, Y, c, v)).that(
    Clause(eq(unit(_top), ONE), (ne(support(c), ZERO),)),
    Clause(ne(inner(c, _top), ZERO), (ne(support(c), ZERO),)),
    Clause(le(Abs(slope(L, v)), Abs(slope(L, _top))), (eq(unit(v), ONE), ne(inner(c, v), ZERO))),
)
_taken = (eq(unit(a), ONE), ne(inner(c, a), ZERO))
EMPTY = _FINITE("a vector with no entry but 0 is 0", (A, c)).that(
    *(Clause(eq(n, ZERO), (eq(support(c), ZERO),)) for n in (norm(c), gain(A * c)))
)
FEWER = _FINITE("one entry is made 0, another one changes", (c, a, b, z)).that(
    Clause(le(support(c - inner(c, a) * a) + 1, support(c)), _taken),
    Clause(
        le(support(c - inner(c, a) * (a - z * b)) + 1, support(c)),
        (*_taken, eq(unit(b), ONE), eq(inner(b, a), ZERO), ne(inner(c, b), ZERO)),
    ),
)

ANALYTIC_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
