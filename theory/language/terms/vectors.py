"""Formal vectors: what the ledgers speak of.

Vectors and operators are non-commutative terms, `norm` is real.  Two runs are compared by one
function: `state(x, s, j)` is the state after j steps from zero at time s, so that
h_T = state(x, 0, T) and the truncated h_T^k = state(x, T - k, k).
"""

import sys
from typing import Any

from sympy import Add, Atom, Expr, Function, Integer, default_sort_key, expand_mul
from sympy.core.function import FunctionClass

from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.language.definitions import NEW, define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import a, is_name, j, m, s, x

_SYMPY = "Abs Max Min log tanh exp sin cos atan erf sqrt gamma LambertW abs max min".split()
FUNCTIONS: dict[str, type[Function]] = dict.fromkeys(_SYMPY, Function)


class Term(Function):
    """A function whose arguments are kept expanded, so that equal terms are equal trees; no other
    has its name, or is printed as it is."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__name__
        if not is_name(name):
            raise StatementError(f"{name!r} is no name; use letters, digits and underscores")
        if FUNCTIONS.setdefault(name, cls) is not cls:
            raise StatementError(f"a function is named {name}; give this one another name")
        if vars(cls).get("defined"):
            NEW.add(cls)

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        """Expand products of sums in the arguments, so that equal terms are equal trees."""
        expanded = tuple(map(_expand, args))
        return None if expanded == args else cls(*expanded)


class Vector(Term):
    """Formal term whose value is a vector; it does not commute."""

    def _eval_is_commutative(self) -> bool:
        return False


class Operator(Vector):
    """Formal term whose value is a linear operator; it does not commute."""


class Norm(Term):
    """A norm or the like: non-negative, ‖0‖ = 0 and ‖-v‖ = ‖v‖ by evaluation."""

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        """Evaluate ‖0‖ = 0, and write ‖v‖ and ‖−v‖ as one term."""
        (vector,) = map(_expand, args)
        if vector == 0:
            return Integer(0)
        # What decides between v and −v is the first term, whatever the signs.
        terms = Add.make_args(vector)
        first = min(terms, key=lambda t: default_sort_key(t.as_coeff_Mul()[1]))
        if first.as_coeff_Mul()[0].is_negative:
            vector = expand_mul(-vector)
        return None if (vector,) == args else cls(vector)

    def _eval_is_commutative(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True


def _expand(arg: Expr) -> Expr:
    """Products of sums as sums, within arguments too: those of terms are so already."""
    return arg if isinstance(arg, Atom | Term) else expand_mul(arg)


class Scalar(Term):
    """A real-valued term about which nothing is known but what laws say."""

    def _eval_is_commutative(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True


def function(name: str, base: type[Term] = Vector, *, defined: bool = False) -> Any:
    """A function of formal terms, vector-valued unless the base says otherwise; the one that is
    there if the calling module has made it already.

    What is `defined` has its values by a definition alone.
    """
    facts = {"__module__": sys._getframe(1).f_globals["__name__"], "defined": defined}
    found = FUNCTIONS.get(name)
    if found is not None and found.__bases__ == (base,) and facts.items() <= vars(found).items():
        return found
    return FunctionClass(name, (base,), facts)


norm = function("norm", Norm)  # Euclidean, and spectral for operators
# gain(v), what is seen of v: of a cell's states the length of what it shows, of functions of the
# inputs half of how far they vary, of outputs in all runs the largest.  It is a seminorm.
gain = function("gain", Norm)
max_norm = function("max_norm", Norm)  # max |v_i|, and max Σ |A_ij| over the rows of an operator
row_norm = function("row_norm", Norm)  # the largest 2-norm of a row of an operator
# weighted(v): the norm of states that a form names, the Euclidean one of weights and of numbers,
# and for operators between them the norm that these induce
weighted = function("weighted", Norm)
frobenius = function("frobenius", Norm)  # frobenius(A) = ‖A‖_F²
least = function("least", Scalar)  # least(A), the least eigenvalue of a symmetric A on states
# inner(a, b) = ⟨a, b⟩, of vectors; of matrices only where the vectors of their entries are meant
inner = function("inner", Scalar)
exponential = function("exponential", Scalar)  # SymPy's exp rewrites itself into powers
diagonal = function("diagonal", Operator)  # diagonal(v), the diagonal matrix with the entries of v
transpose = function("transpose", Operator)
is_diagonal = function("is_diagonal", Scalar)  # 1 for a diagonal operator
is_symmetric = function("is_symmetric", Scalar)  # 1 for a symmetric operator

# One step and runs, of the model's own weights or, with one argument more, of those weights.
phi = function("phi")  # phi(h, x), one step
state = function("state", defined=True)
readout = function("readout")  # readout(h), the map f of y = f(h)
entry = function("entry")  # entry(x, t) = x_t
forward = function("forward", defined=True)  # forward(x, j, t) = H^(j)_t, layer j of the network

RECURSION, RUN = (
    define(
        name,
        (*of, x, s, j),
        eq(state(x, s, 0, *of), Integer(0)),
        eq(state(x, s, j + 1, *of), phi(state(x, s, j, *of), entry(x, s + j + 1), *of)),
    )
    for name, of in (("recursion", ()), ("recursion with weights", (a,)))
)
FEED_FORWARD = define(
    "feed-forward layers",
    (x, j, m),
    eq(forward(x, 0, m), Integer(0)),
    eq(forward(x, j + 1, m + 1), phi(forward(x, j, m), entry(x, m + 1))),
)
