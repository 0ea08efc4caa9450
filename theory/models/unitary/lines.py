"""Relations between units of a tanh network are relations of their pre-activations (Emami et al.).

history(j) lists the pre-activations of all units at the times 0, …, j, as functions of the inputs:
each is affine in the inputs and in tanh of others, so that it is algebraic over the inputs and the
exponentials of a ℤ-basis.  By Ax's theorem these exponentials are algebraically independent.  So a
relation Σ c_i tanh P_i = const stays one if each P_i is replaced by a line θ_i + g_i z.  Of the
units with c_i ≠ 0 let one have the largest |g_i|: a pole of it is a pole of another one, which
makes that one equal to it, up to the sign.  One of the two is dropped, until none is left.
"""

from sympy import Expr

from rnnbounds.theory.axioms.analytic import (
    AX,
    BASIS,
    COMBINATIONS,
    DIFFERENTIALS,
    EMPTY,
    FEWER,
    HOMOMORPHISM,
    LARGEST,
    NO_LONELY_POLE,
    SUBSTITUTION,
    TANH_ALGEBRAIC,
    TANH_POLES,
    TRANSCENDENCE,
)
from rnnbounds.theory.axioms.base import HOMOGENEITY_GAIN, TRIANGLE_GAIN
from rnnbounds.theory.language import ONE, ZERO, assume, at, eq, le, ne
from rnnbounds.theory.language.terms.unitary import (
    FunctionList,
    analytic,
    basis,
    count,
    differentials,
    exponentials,
    lines,
    offset,
    partner,
    rank,
    slope,
    steepest,
    support,
    tangents,
    transcendence,
)
from rnnbounds.theory.language.terms.variables import A, b, c, i, j, z
from rnnbounds.theory.language.terms.vectors import Operator, function, gain, inner
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

# history(i), the list; inputs(i), the inputs at the times 0, …, i, each a function of them all
history, inputs = (function(name, FunctionList) for name in ("history", "inputs"))
reads, feeds = function("reads", Operator), function("feeds", Operator)
# present(i) a: the weights a of the units at time i among all units up to then
present = function("present", Operator)

P, X = history(i), inputs(i)
T, Y = tangents(P), basis(P, X)
L = lines(P, Y)
UNROLLED = assume(
    "unrolled",
    "up to any time, pre-activations are affine in the inputs, which are independent variables, "
    "and in tanh of pre-activations before, with real weights",
    forall=(i,),
).that(
    eq(gain(P - X * reads(i) - T * feeds(i)), ZERO),
    eq(analytic(P), ONE),
    eq(analytic(X), ONE),
    eq(rank(differentials(X)), count(X)),
)

u = steepest(L, c)
at_pole = -offset(L, u) / slope(L, u), 1 / slope(L, u)
v = partner(L, c, u, *at_pole)
sign = slope(L, v) / slope(L, u)
RELATED = eq(gain(T * c), ZERO)
SHARED = (RELATED, ne(support(c), ZERO), ne(slope(L, u), ZERO))
POLES = (
    at("lines", i, c),
    LARGEST.at(P, Y, c, v),
    TANH_POLES.at(P, Y, u, *at_pole),
    NO_LONELY_POLE.at(P, Y, c, u, *at_pole),
)
OTHER_POLE = TANH_POLES.at(P, Y, v, *at_pole)
GROUP = (at("unrolled", i), BASIS.at(P, X))
# Two units of one slope and one pole, up to the sign, are one.
_POLES_MET = (
    step("exponentials are independent", le(count(Y), transcendence(exponentials(Y))), (i,)).by(
        *GROUP,
        AX.at(Y),
        DIFFERENTIALS.at(X, Y),
        TANH_ALGEBRAIC.at(P, Y),
        COMBINATIONS.at(P, X, T, reads(i), feeds(i), Y, exponentials(Y)),
        TRANSCENDENCE.at(Y, X, exponentials(Y)),
    ),
    step("lines", eq(gain(tangents(L) * c), ZERO), (i, c), (RELATED,)).by(
        *GROUP, at("exponentials are independent", i), SUBSTITUTION.at(P, Y, c)
    ),
    step("slopes up to the sign", eq(sign**2, ONE), (i, c), SHARED).by(*POLES, OTHER_POLE),
    step("offsets", eq(offset(L, v), sign * offset(L, u)), (i, c), SHARED).by(*POLES, OTHER_POLE),
)


def _same_line_step(name: str, of: Expr, *found: str) -> Step:
    """The lines of two units that share a pole agree, up to the sign."""
    return step(f"the same {name}", eq(gain(of * (v - sign * u)), ZERO), (i, c), SHARED).by(
        *POLES, *GROUP, *(at(lemma, i, c) for lemma in found), HOMOMORPHISM.at(P, Y, v, u, sign)
    )


PAIRS = (*_POLES_MET, _same_line_step("unit", T, "slopes up to the sign", "offsets"))
INDEPENDENCE = (
    *PAIRS,
    _same_line_step("argument", P, "slopes up to the sign"),
    step(
        "without a part",
        eq(gain(A * (c - z * b)), ZERO),
        (A, b, c, z),
        (eq(gain(A * c), ZERO), eq(gain(A * b), ZERO)),
    ).by(
        TRIANGLE_GAIN.at(A * c, -z * A * b),
        HOMOGENEITY_GAIN.at(z, A * b),
        HOMOGENEITY_GAIN.at(-z, A * b),
    ),
    step(
        "with a part",
        eq(gain(A * c), ZERO),
        (A, b, c, z),
        (eq(gain(A * (c - z * b)), ZERO), eq(gain(A * b), ZERO)),
    ).by(
        TRIANGLE_GAIN.at(A * (c - z * b), z * A * b),
        HOMOGENEITY_GAIN.at(z, A * b),
        HOMOGENEITY_GAIN.at(-z, A * b),
    ),
    step(
        "independence", eq(gain(P * c), ZERO), (i, j, c), (RELATED, le(support(c), j))
    ).inductively(
        base=("given 2", EMPTY.at(P, c)),
        step=(
            "given 1",
            "given 2",
            EMPTY.at(P, c),
            FEWER.at(c, u, u, 0),
            FEWER.at(c, v, u, sign),
            LARGEST.at(P, Y, c, u),
            HOMOMORPHISM.at(P, Y, u, u, 1),
            *GROUP,
            *POLES[-1:],
            at("lines", i, c),
            TANH_POLES.at(P, Y, u, *at_pole),
            at("the same argument", i, c),
            at("the same unit", i, c),
            *(
                use
                for rest, by in ((u, inner(c, u)), (v - sign * u, inner(c, v)))
                for use in (
                    at("without a part", T, rest, c, by),
                    at("with a part", P, rest, c, by),
                    at(HYPOTHESIS, c - by * rest),
                )
            ),
        ),
        others=(c,),
    ),
)
