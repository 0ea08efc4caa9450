"""Textbook theorems behind the independence of tanh units: Ax's, and poles of a sum.

They speak of lists of functions, as `theory.language.terms.unitary` does.
"""

from functools import partial

from sympy import Abs

from rnnbounds.theory.language import ONE, ZERO, Axiom, Clause, axiom, axioms_in, eq, le, ne
from rnnbounds.theory.language.terms import unitary as of
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
        le(
            of.count(Y) + of.rank(of.differentials(Y)),
            of.transcendence(of.beside(Y, of.exponentials(Y))),
        ),
        (eq(of.independent(Y), ONE),),
    )
)
BASIS = _FREE("a torsion-free group with finitely many generators has a ℤ-basis", (P, X)).that(
    *(
        Clause(eq(fact, ONE), (eq(of.analytic(P), ONE), eq(of.analytic(X), ONE)))
        for fact in (
            of.independent(of.basis(P, X)),
            of.generated(P, of.basis(P, X)),
            of.generated(X, of.basis(P, X)),
            of.generated(of.basis(P, X), of.beside(P, X)),
        )
    )
)
DIFFERENTIALS = axiom(
    "rank-nullity",
    "Horn & Johnson, Matrix Analysis, 0.4.5",
    "the derivatives of combinations of Y have no larger rank than those of Y",
    (X, Y),
).that(
    Clause(
        le(of.rank(of.differentials(X)), of.rank(of.differentials(Y))),
        (eq(of.generated(X, Y), ONE),),
    )
)
TRANSCENDENCE = _FIELDS(
    "elements algebraic over the field of X and Z add at most the number of X to the degree of Z",
    (Y, X, Z),
).that(
    Clause(
        le(of.transcendence(of.beside(Y, Z)), of.count(X) + of.transcendence(Z)),
        (eq(of.algebraic(Y, of.beside(X, Z)), ONE),),
    )
)
TANH_ALGEBRAIC = _FIELDS(
    "tanh f = (e^{2f} − 1)/(e^{2f} + 1), and e^{f + g} = e^f e^g", (P, Y)
).that(
    Clause(
        eq(of.algebraic(of.tangents(P), of.exponentials(Y)), ONE), (eq(of.generated(P, Y), ONE),)
    )
)
COMBINATIONS = _FIELDS(
    "sums of X and of elements algebraic over Z are algebraic over X and Z", (P, X, T, A, B, Y, Z)
).that(
    Clause(
        eq(of.algebraic(Y, of.beside(X, Z)), ONE),
        (
            eq(gain(P - X * A - T * B), ZERO),
            eq(of.algebraic(T, Z), ONE),
            eq(of.generated(Y, of.beside(P, X)), ONE),
        ),
    )
)
L = of.lines(P, Y)
SUBSTITUTION = _FIELDS(
    "a relation of algebraically independent elements holds for all numbers: e^{Y_l} may be "
    "replaced by c_l e^{χ_l z}",
    (P, Y, c),
).that(
    Clause(
        eq(gain(of.tangents(L) * c), ZERO),
        (
            eq(gain(of.tangents(P) * c), ZERO),
            eq(of.generated(P, Y), ONE),
            le(of.count(Y), of.transcendence(of.exponentials(Y))),
        ),
    )
)
_TIED = (
    eq(of.generated(P, Y), ONE),
    eq(of.independent(Y), ONE),
    eq(of.unit(a), ONE),
    eq(of.unit(b), ONE),
    eq(z**2, ONE),
    eq(of.slope(L, a), z * of.slope(L, b)),
)
HOMOMORPHISM = _FREE(
    "a homomorphism into ℝ may be given on a basis, by numbers independent over ℚ: it is "
    "injective; and functions with one slope, and one value at a point, are equal",
    (P, Y, a, b, z),
).that(
    Clause(eq(gain(P * (a - z * b)), ZERO), _TIED),
    Clause(
        eq(gain(of.tangents(P) * (a - z * b)), ZERO),
        (*_TIED, eq(of.offset(L, a), z * of.offset(L, b))),
    ),
    *(
        Clause(eq(gain(constant * a), ZERO), (*_TIED[:3], eq(of.slope(L, a), ZERO)))
        for constant in (P, of.tangents(P))
    ),
)
_real, _imaginary = of.offset(L, a) + of.slope(L, a) * y, of.slope(L, a) * z
TANH_POLES = _POLES("tanh has its poles at the odd multiples of iπ/2", (P, Y, a, y, z)).that(
    Clause(eq(of.pole(L, a, y, z), ONE), (eq(_real, ZERO), eq(_imaginary, ONE))),
    Clause(eq(_real, ZERO), (eq(of.pole(L, a, y, z), ONE),)),
    Clause(le(ONE, Abs(_imaginary)), (eq(of.pole(L, a, y, z), ONE),)),
)
_other = of.partner(L, c, a, y, z)
NO_LONELY_POLE = _POLES(
    "at a pole of one term of a constant sum of meromorphic functions another term has a pole",
    (P, Y, c, a, y, z),
).that(
    *(
        Clause(
            statement,
            (
                eq(gain(of.tangents(L) * c), ZERO),
                eq(of.unit(a), ONE),
                ne(inner(c, a), ZERO),
                eq(of.pole(L, a, y, z), ONE),
            ),
        )
        for statement in (
            eq(of.unit(_other), ONE),
            eq(inner(a, _other), ZERO),
            ne(inner(c, _other), ZERO),
            eq(of.pole(L, _other, y, z), ONE),
        )
    )
)
_top = of.steepest(L, c)
LARGEST = _FINITE("of finitely many numbers one is the largest", (P, Y, c, v)).that(
    Clause(eq(of.unit(_top), ONE), (ne(of.support(c), ZERO),)),
    Clause(ne(inner(c, _top), ZERO), (ne(of.support(c), ZERO),)),
    Clause(
        le(Abs(of.slope(L, v)), Abs(of.slope(L, _top))),
        (eq(of.unit(v), ONE), ne(inner(c, v), ZERO)),
    ),
)
_taken = (eq(of.unit(a), ONE), ne(inner(c, a), ZERO))
EMPTY = _FINITE("a vector with no entry but 0 is 0", (A, c)).that(
    *(Clause(eq(n, ZERO), (eq(of.support(c), ZERO),)) for n in (norm(c), gain(A * c)))
)
FEWER = _FINITE("one entry is made 0, another one changes", (c, a, b, z)).that(
    Clause(le(of.support(c - inner(c, a) * a) + 1, of.support(c)), _taken),
    Clause(
        le(of.support(c - inner(c, a) * (a - z * b)) + 1, of.support(c)),
        (*_taken, eq(of.unit(b), ONE), eq(inner(b, a), ZERO), ne(inner(c, b), ZERO)),
    ),
)

ANALYTIC_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
