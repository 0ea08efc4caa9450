"""Formal vectors: what the ledgers speak of.

Vectors and operators are non-commutative terms, `norm` is real.  Two runs are compared by one
function: `state(x, s, j)` is the state after j steps from zero at time s, so that
h_T = state(x, 0, T) and the truncated h_T^k = state(x, T - k, k).
"""

from typing import Any

from sympy import Expr, Function, Integer, Symbol, default_sort_key, expand_mul, symbols
from sympy.core.function import FunctionClass

from theory.language.law import law
from theory.language.statement import eq


class Term(Function):
    """A function whose arguments are kept expanded, so that equal terms are equal trees."""

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        """Expand the arguments."""
        expanded = tuple(expand_mul(arg) for arg in args)
        return None if expanded == args else cls(*expanded)


class Vector(Term):
    """A term that is a vector or an operator."""

    def _eval_is_commutative(self) -> bool:
        return False


class Norm(Term):
    """A norm or the like: non-negative, ‖0‖ = 0 and ‖-v‖ = ‖v‖ by evaluation."""

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        """Evaluate at zero; choose one of v and -v."""
        (vector,) = (expand_mul(arg) for arg in args)
        if vector.is_zero:
            return Integer(0)
        if _leading(vector).as_coeff_Mul()[0].is_negative:
            vector = expand_mul(-vector)
        return None if (vector,) == args else cls(vector)

    def _eval_is_commutative(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_nonnegative(self) -> bool:
        return True


def _leading(vector: Expr) -> Expr:
    """The term that decides between v and -v: the first, whatever the signs."""
    return min(vector.as_ordered_terms(), key=lambda t: default_sort_key(t.as_coeff_Mul()[1]))


class Scalar(Term):
    """A real-valued term about which nothing is known but what laws say."""

    def _eval_is_commutative(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True


def function(name: str, base: type[Term] = Vector, module: str = __name__) -> Any:
    """A new function of formal terms, vector-valued unless the base says otherwise."""
    return FunctionClass(name, (base,), {"__module__": module})


norm = function("norm", Norm)  # Euclidean, and spectral for operators
max_norm = function("max_norm", Norm)  # max |v_i|, and max Σ |A_ij| over the rows of an operator
row_norm = function("row_norm", Norm)  # the largest 2-norm of a row of an operator
# weighted(v): the norm of states that a form names, the Euclidean one of weights and of numbers,
# and for operators between them the norm that these induce
weighted = function("weighted", Norm)
phi = function("phi")  # phi(h, x), one step
readout = function("readout")  # readout(h), the map f of y = f(h)
entry = function("entry")  # entry(x, t) = x_t
state = function("state")
forward = function("forward")  # forward(x, j, t) = H^(j)_t, layer j of the network
d_state = function("d_state")  # d_state(h, x) = ∂φ/∂h
d_input = function("d_input")  # d_input(h, x) = ∂φ/∂x
d_weights = function("d_weights")  # d_weights(h, x) = ∂φ/∂w, from weights to states
activation = function("activation")  # activation(z) = ρ(z), component by component
# slopes(a, b), the diagonal matrix of ρ's secant slopes, and of its derivatives ρ'(a) if a = b
slopes = function("slopes")
bends = function("bends")  # bends(a, b), the diagonal matrix of the secant slopes of ρ'
diagonal = function("diagonal")  # diagonal(v), the diagonal matrix with the entries of v
derivative = function("derivative", Scalar)  # derivative(z) = ρ'(z), a component
curvature = function("curvature", Scalar)  # curvature(z) = ρ''(z), a component
# in_range(v): 1 if v is of float64 operands, and float64 loses no part to overflow or underflow
in_range = function("in_range", Scalar)
is_diagonal = function("is_diagonal", Scalar)  # 1 for a diagonal operator
is_symmetric = function("is_symmetric", Scalar)  # 1 for a symmetric operator
absolute = function("absolute")  # absolute(A) = |A|, entry by entry
transpose = function("transpose")
library = function("library")  # library(z), ρ as the library computes it
rounded = function("rounded")  # rounded(v), the expression v as float64 computes it
computed = function("computed")  # computed(x, j), the float64 state after j steps
least = function("least", Scalar)  # least(A), the least eigenvalue of a symmetric operator
trace = function("trace", Norm)  # trace(A) = Σ |A_ii|
frobenius = function("frobenius", Norm)  # frobenius(A) = ‖A‖_F²
# completes(A): 1 if Cholesky's factorisation runs to completion, losing nothing to underflow
completes = function("completes", Scalar)
jacobian = function("jacobian")  # jacobian(x, T, t) = ∂h_T/∂x_t
# d_matrix(v), d_inputs(v), d_offset(v): the parts δW, δU, δb of a change v of the weights
d_matrix, d_inputs, d_offset = function("d_matrix"), function("d_inputs"), function("d_offset")
lift = function("lift")  # lift(h, x), the operator δw = (δW, δU, δb) ↦ δW h + δU x + δb
sensitivity = function("sensitivity")  # sensitivity(x, s, j) = d state(x, s, j)/dw
# recent(x, s, j): d state(x, 0, s + j)/dw, but for the uses of w up to time s
recent = function("recent")
d_loss = function("d_loss")  # d_loss(h) = ∂p/∂h, from states to numbers
gradient = function("gradient")  # gradient(h) = ∇p(h), its transpose
hessian = function("hessian")  # hessian(h) = ∇²p(h)
# logits(j) = C_j, the row of class j; share(h, j), its softmax; top(v), bottom(v): the rows with
# the largest and the smallest product with v
logits, top, bottom = function("logits"), function("top"), function("bottom")
share = function("share", Scalar)
# mass(h, j), mixture(h, v, j), first_moment(h, v, j), second_moment(h, v, j): the sums of s_i,
# s_i (C_i - v), s_i ⟨C_i, v⟩ and s_i ⟨C_i, v⟩² over the first j classes, s_i = share(h, i)
mass, mixture = function("mass", Scalar), function("mixture")
first_moment, second_moment = function("first_moment", Scalar), function("second_moment", Scalar)
# gap_sum(x, k, j) = Σ (∇p_t - ∇p_t^k) over k < t ≤ k + j
gap_sum = function("gap_sum")
exponential = function("exponential", Scalar)  # SymPy's exp rewrites itself into powers
# differentiable(h, x): 1 where φ is differentiable at (h, x), jointly in the weights
differentiable = function("differentiable", Scalar)
descent = function("descent", Scalar)  # descent(j), the parameter after j steps of descent
# cell(w, h, x) = φ_w(h, x) and run(w, x, s, j): phi and state with the weights w
cell, run = function("cell"), function("run")
# weights(j) and weights_hat(j): after j steps on the full and on the truncated model's loss
weights, weights_hat = function("weights"), function("weights_hat")
loss_gradient, truncated_gradient = function("loss_gradient"), function("truncated_gradient")
step_size = function("step_size", Scalar)  # step_size(j) = α_{j+1}
# inner(a, b) = ⟨a, b⟩, of vectors; of matrices only where the vectors of their entries are meant
inner = function("inner", Scalar)
project, rescale = function("project"), function("rescale")  # Π(a), and a min(1, ℓ/g(a))
feasible = function("feasible", Scalar)  # 1 for a point of the set Ω of weights
projects = function("projects", Scalar)  # 1 where Π(a) is nearest to a in a closed convex Ω

# Bound variables of laws and steps: vectors, operators, naturals, reals.
a, b, c, v = symbols("a b c v", commutative=False)
A, B = symbols("A B", commutative=False)
i, j, m, s = symbols("i j m s", integer=True)
y, z = symbols("y z", real=True)
# Input sequences: the given one, and ones that differ from it.
x, x_past, x_edge, x_zeroed = symbols("x x_past x_edge x_zeroed", commutative=False)
x_other = symbols("x_other", commutative=False)  # another one altogether

# The same model with other weights, on the same inputs.
w, w_other = symbols("w w_other", commutative=False)
phi_other = function("phi_other")
state_other = function("state_other")  # state_other(x, j), from zero at time 0
d_state_other = function("d_state_other")
d_weights_other = function("d_weights_other")
sensitivity_other = function("sensitivity_other")  # sensitivity_other(x, j)
differentiable_other = function("differentiable_other", Scalar)

RECURSION = law(
    "recursion",
    (x, s, j),
    eq(state(x, s, 0), Integer(0)),
    eq(state(x, s, j + 1), phi(state(x, s, j), entry(x, s + j + 1))),
)
RECURSION_OTHER = law(
    "recursion, other weights",
    (x, j),
    eq(state_other(x, 0), Integer(0)),
    eq(state_other(x, j + 1), phi_other(state_other(x, j), entry(x, j + 1))),
)
FEED_FORWARD = law(
    "feed-forward layers",
    (x, j, m),
    eq(forward(x, 0, m), Integer(0)),
    eq(forward(x, j + 1, m + 1), phi(forward(x, j, m), entry(x, m + 1))),
)


eye = Symbol("I", commutative=False)


def vector(name: str) -> Symbol:
    """A fresh vector or operator symbol."""
    return Symbol(name, commutative=False)
