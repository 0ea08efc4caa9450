"""Textbook theorems behind the independence of tanh units: Ax's, and poles of a sum.

They speak of lists of functions, as `theory.language.terms.unitary` does.
"""

from rnnbounds.theory.axioms.reading import HORN, NAMES, axiom
from rnnbounds.theory.language import Axiom, axioms_in

P, T, X, Y, Z = (NAMES[f"{name}_list"] for name in "PTXYZ")
_FREE = "free abelian groups", "Lang, Algebra, sections I.7 and I.8"
_FIELDS = "algebraic elements", "Lang, Algebra, sections V.1 and VIII.1"
_POLES = "poles", "Ahlfors, Complex Analysis, section 4.3.2"
_FINITE = "finite sets", "Halmos, Naive Set Theory, section 13"


def _where(premises: str, *conclusions: str) -> str:
    """The clauses with these premises."""
    return "; ".join(f"{conclusion} where {premises}" for conclusion in conclusions)


AX = axiom(
    "Ax's theorem",
    "Ax, On Schanuel's Conjectures, Annals of Mathematics 93 (1971), Theorem 3",
    "of analytic Y that are independent over ℚ modulo constants, the field of Y and e^Y has a "
    "transcendence degree over ℂ of at least their number and the rank of their derivatives",
    "Y_list: count(Y_list) + rank(differentials(Y_list))"
    " <= transcendence(beside(Y_list, exponentials(Y_list))) where independent(Y_list) == 1",
)
_basis = "basis(P_list, X_list)"
BASIS = axiom(
    *_FREE,
    "a torsion-free group with finitely many generators has a ℤ-basis",
    "P_list X_list: "
    + _where(
        "analytic(P_list) == 1 and analytic(X_list) == 1",
        f"independent({_basis}) == 1",
        f"generated(P_list, {_basis}) == 1",
        f"generated(X_list, {_basis}) == 1",
        f"generated({_basis}, beside(P_list, X_list)) == 1",
    ),
)
DIFFERENTIALS = axiom(
    "rank-nullity",
    f"{HORN}, 0.4.5",
    "the derivatives of combinations of Y have no larger rank than those of Y",
    "X_list Y_list: rank(differentials(X_list)) <= rank(differentials(Y_list))"
    " where generated(X_list, Y_list) == 1",
)
TRANSCENDENCE = axiom(
    *_FIELDS,
    "elements algebraic over the field of X and Z add at most the number of X to the degree of Z",
    "Y_list X_list Z_list: transcendence(beside(Y_list, Z_list))"
    " <= count(X_list) + transcendence(Z_list)"
    " where algebraic(Y_list, beside(X_list, Z_list)) == 1",
)
TANH_ALGEBRAIC = axiom(
    *_FIELDS,
    "tanh f = (e^{2f} − 1)/(e^{2f} + 1), and e^{f + g} = e^f e^g",
    "P_list Y_list: algebraic(tangents(P_list), exponentials(Y_list)) == 1"
    " where generated(P_list, Y_list) == 1",
)
COMBINATIONS = axiom(
    *_FIELDS,
    "sums of X and of elements algebraic over Z are algebraic over X and Z",
    "P_list X_list T_list A B Y_list Z_list: algebraic(Y_list, beside(X_list, Z_list)) == 1"
    " where gain(P_list - X_list*A - T_list*B) == 0 and algebraic(T_list, Z_list) == 1"
    " and generated(Y_list, beside(P_list, X_list)) == 1",
)
_L = "lines(P_list, Y_list)"
SUBSTITUTION = axiom(
    *_FIELDS,
    "a relation of algebraically independent elements holds for all numbers: e^{Y_l} may be "
    "replaced by c_l e^{χ_l z}",
    f"P_list Y_list c: gain(tangents({_L})*c) == 0 where gain(tangents(P_list)*c) == 0"
    " and generated(P_list, Y_list) == 1 and count(Y_list) <= transcendence(exponentials(Y_list))",
)
_units = "generated(P_list, Y_list) == 1 and independent(Y_list) == 1 and unit(a) == 1"
_tied = f"{_units} and unit(b) == 1 and z**2 == 1 and slope({_L}, a) == z*slope({_L}, b)"
HOMOMORPHISM = axiom(
    *_FREE,
    "a homomorphism into ℝ may be given on a basis, by numbers independent over ℚ: it is "
    "injective; and functions with one slope, and one value at a point, are equal",
    "P_list Y_list a b z: "
    f"gain(P_list*(a - z*b)) == 0 where {_tied};"
    f" gain(tangents(P_list)*(a - z*b)) == 0"
    f" where {_tied} and offset({_L}, a) == z*offset({_L}, b); "
    + _where(
        f"{_units} and slope({_L}, a) == 0", "gain(P_list*a) == 0", "gain(tangents(P_list)*a) == 0"
    ),
)
_real, _imaginary = f"offset({_L}, a) + slope({_L}, a)*y", f"slope({_L}, a)*z"
TANH_POLES = axiom(
    *_POLES,
    "tanh has its poles at the odd multiples of iπ/2",
    f"P_list Y_list a y z: pole({_L}, a, y, z) == 1 where {_real} == 0 and {_imaginary} == 1; "
    + _where(f"pole({_L}, a, y, z) == 1", f"{_real} == 0", f"1 <= Abs({_imaginary})"),
)
_other = f"partner({_L}, c, a, y, z)"
NO_LONELY_POLE = axiom(
    *_POLES,
    "at a pole of one term of a constant sum of meromorphic functions another term has a pole",
    "P_list Y_list c a y z: "
    + _where(
        f"gain(tangents({_L})*c) == 0 and unit(a) == 1 and inner(c, a) != 0"
        f" and pole({_L}, a, y, z) == 1",
        f"unit({_other}) == 1",
        f"inner(a, {_other}) == 0",
        f"inner(c, {_other}) != 0",
        f"pole({_L}, {_other}, y, z) == 1",
    ),
)
_top = f"steepest({_L}, c)"
LARGEST = axiom(
    *_FINITE,
    "of finitely many numbers one is the largest",
    "P_list Y_list c v: "
    + _where("support(c) != 0", f"unit({_top}) == 1", f"inner(c, {_top}) != 0")
    + f"; Abs(slope({_L}, v)) <= Abs(slope({_L}, {_top})) where unit(v) == 1 and inner(c, v) != 0",
)
EMPTY = axiom(
    *_FINITE,
    "a vector with no entry but 0 is 0",
    "A c: " + _where("support(c) == 0", "norm(c) == 0", "gain(A*c) == 0"),
)
_taken = "unit(a) == 1 and inner(c, a) != 0"
FEWER = axiom(
    *_FINITE,
    "one entry is made 0, another one changes",
    f"c a b z: support(c - inner(c, a)*a) + 1 <= support(c) where {_taken};"
    f" support(c - inner(c, a)*(a - z*b)) + 1 <= support(c)"
    f" where {_taken} and unit(b) == 1 and inner(b, a) == 0 and inner(c, b) != 0",
)

ANALYTIC_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
