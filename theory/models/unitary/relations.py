"""Relations between the units of sigmoid networks, as functions of the inputs.

A unitary network s_t = ρ(U s_{t−1} + g x_t + d) with m states and a scalar one
h_t = ρ(w h_{t−1} + f x_t + b), ρ the sigmoid or tanh, are written by tanh alone: with
σ(z) = ½ + ½ tanh(z/2) all that follows speaks of τ_t = tanh(…) and r_t = tanh(…), whose
pre-activations carry U/4 and w/4 instead.  Functions of the inputs x_0, …, x_t, each from an
interval, count up to constants: 0 is any constant, and the norm is half of how far they vary.
"""

from sympy import Abs, Symbol

from theory.axioms.ranks import projector
from theory.language.law import Assumption, Clause, assume, law
from theory.language.statement import eq, le, ne
from theory.language.terms.unitary import rows
from theory.language.terms.vectors import (
    A,
    Scalar,
    b,
    exponential,
    function,
    j,
    norm,
    transpose,
    v,
    vector,
    z,
)
from theory.language.vocabulary import symbols
from theory.models.unitary.local_maps import ONE, ZERO, n, states

sigmoid_gap, w_abs, same_activation, sigmoidal = symbols(
    "sigmoid_gap w_abs same_activation sigmoidal"
)

# units(j) v = v·τ_j and unit(j) = r_j; arguments(j) v and argument(j): of the pre-activations
units, unit = function("units", module=__name__), function("unit", module=__name__)
arguments, argument = function("arguments", module=__name__), function("argument", module=__name__)
sigmoid = function("sigmoid", Scalar, __name__)
U, e = vector("U"), vector("e")
w, c = Symbol("w", real=True), Symbol("c", real=True)

SIGMOID = law(
    "definition of the sigmoid", (z,), eq(sigmoid(z) * (exponential(z) + 1), exponential(z))
)

EQUAL = eq(sigmoid_gap, ZERO)
SAME = Assumption(
    "same activation", "both networks have the same activation", eq(same_activation, ONE)
)
SIGMOIDAL = Assumption("sigmoidal", "it is the sigmoid or tanh", eq(sigmoidal, ONE), ties=True)
NOT_ISOMETRIC = Assumption("not isometric", "|w| ≠ 1", ne(w_abs, ONE))
ORTHOGONAL = assume("orthogonal", "U is an orthogonal m × m matrix", forall=(A, v, b)).that(
    *(
        Clause(statement, (le(rows(b), states),))
        for statement in (
            eq(norm(U * b), norm(b)),
            eq(norm(transpose(U) * b), norm(b)),
            eq(norm(A * v - A * transpose(U) * U * b), norm(A * v - A * b)),
        )
    )
)
RECURSION = assume(
    "networks",
    "a relation between the pre-activations at time j + 1 is one, by the rows of U and by w, "
    "between the states at time j, on which x_{j+1} has no effect; the one network is scalar",
    forall=(j, v, z),
    condition=eq(n, ONE),
).that(
    Clause(
        eq(norm(units(j) * transpose(U) * v + z * w * unit(j)), ZERO),
        (eq(norm(arguments(j + 1) * v + z * argument(j + 1)), ZERO),),
    ),
    le(rows(projector(units(j))), states),
    eq(Abs(w), w_abs),
)
DRIVEN = assume(
    "driven", "f ≠ 0 and c ≠ 0: the scalar network's output depends on its inputs", forall=(j,)
).that(ne(norm(unit(j)), ZERO), ne(c, ZERO))
