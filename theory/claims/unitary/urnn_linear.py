"""No unitary network has the fading memory of a linear one, whatever its number of states.

A linear network answers a unit impulse by C W^t f, which fades if the spectral radius of W is below
1.  A linear unitary network of m states answers by E V^t g, which returns to each of its values, as
near as one likes and as late as one likes.  If both stay within e of one another, the second is
within e of 0 whenever the first has faded, and so always: the first never exceeds 2e.
Source: Emami et al., of networks with activations; Bolzano-Weierstrass.
"""

from sympy import Expr, Rational

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.powers import GELFAND, RETURNS
from rnnbounds.theory.claims.contraction.vanilla import STABLE_RADIUS
from rnnbounds.theory.language import (
    ZERO,
    Clause,
    assume,
    at,
    define,
    enter,
    eq,
    le,
    symbols,
)
from rnnbounds.theory.language.definitions import maximum
from rnnbounds.theory.language.quantity import certified, measured, tag
from rnnbounds.theory.language.terms.powers import power, radius, ratio, reach
from rnnbounds.theory.language.terms.unitary import V, eye_all, rows
from rnnbounds.theory.language.terms.variables import i, j, operator, s, v, vector
from rnnbounds.theory.language.terms.vectors import Scalar, frobenius, function, norm, transpose
from rnnbounds.theory.models.cells import W
from rnnbounds.theory.models.lemmas.powers import fading
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.models.unitary.isometry import orbit
from rnnbounds.theory.proof import Claim, Source, Step, scale, step, theorem, thousandth_less
from rnnbounds.theory.proof.methods import Smt

W_radius, states, T, k = symbols("W_radius states T k")
C, E = operator("C_out"), operator("E_out")
f, g = vector("f_in"), vector("g_in")


def faded(steps: Expr) -> Expr:
    """W^t f."""
    return power(W, f, steps)


def turned(steps: Expr) -> Expr:
    """V^t g."""
    return power(V, g, steps)


def error(steps: Expr) -> Expr:
    """‖C W^t f − E V^t g‖."""
    return norm(C * faded(steps) - E * turned(steps))


largest = function("largest_error", Scalar, __name__, defined=True)
NETWORKS = (C, W, f, E, V, g)
LARGEST = define(
    "largest error of a response",
    (*NETWORKS, j),
    eq(largest(*NETWORKS, 0), error(0)),
    *maximum(largest(*NETWORKS, j + 1), largest(*NETWORKS, j), error(j + 1)),
)
impulse, impulse_end, impulse_gap, return_gap, orthogonal_defect, impulse_error, E_norm = enter(
    *tag(
        "impulse",
        measured(
            "impulse", "a linear network's output k steps after a unit impulse",
            r"\lVert C W^k f\rVert", norm(C * faded(k)),
        ),
        measured(
            "impulse_end", "a linear network's output T steps after a unit impulse",
            r"\lVert C W^T f\rVert", norm(C * faded(T)),
        ),
        measured(
            "impulse_gap",
            "the outputs of a linear and of a unitary network after a unit impulse, the largest "
            "difference up to T",
            r"\max_{t\le T} \lVert C W^t f-E V^t g\rVert", largest(*NETWORKS, T),
        ),
        measured(
            "return_gap", "how far a unitary network's state is from where it was T - k steps ago",
            r"\lVert V^{T-k} g-g\rVert", norm(turned(T - k) - g),
        ),
        measured(
            "orthogonal_defect", "how far the recurrent matrix V is from orthogonal",
            r"\lVert V^T V-I\rVert_F^2", frobenius(transpose(V) * V - eye_all),
            "Frobenius, squared",
        ),
        certified(
            "impulse_error",
            "bound on the difference of both networks' outputs after a unit impulse, at all times",
            "Euclidean", r"e_{\infty}",
        ),
        certified("E_norm", "‖E‖₂ of a unitary network's readout", "spectral", r"\lVert E\rVert"),
    )
)  # fmt: skip

LINEAR = assume(
    "linear", "both networks are linear, with one input, and W_radius bounds the radius of W",
    ties=True,
).that(le(radius(W), W_radius))  # fmt: skip
ORTHOGONAL = assume(
    "orthogonal", "V is an orthogonal m × m matrix", forall=(v,),
    condition=eq(orthogonal_defect, ZERO),
).that(
    Clause(eq(norm(V * v), norm(v)), (le(rows(v), states),)),
    le(rows(V), states),
    le(rows(g), states),
)  # fmt: skip
ERROR = assume("error", "at all times the outputs differ by e at most", forall=(j,)).that(
    le(error(j), impulse_error)
)
READOUT = assume("readout", "E_norm bounds ‖E‖₂").that(le(norm(E), E_norm))

q, room = ratio(W), norm(E) + 1
apart = (impulse - 2 * impulse_error) / room
left = norm(C) * reach(W, f) / room
ENTRIES, LENGTHS, DISTANCES = orbit(V, g, at("orthogonal", 0))
FADES = ("stable radius", "linear")
ALWAYS = (eq(ZERO, ZERO),)  # the premise under which powers return: none
HALF = theorem(
    "half",
    le(impulse, 2 * impulse_error),
    (LINEAR, STABLE_RADIUS, ORTHOGONAL, ERROR),
    "impulse",
    (
        *(ENTRIES, LENGTHS, DISTANCES),
        *fading(W, f, *FADES),
        Step(
            "V keeps them apart",
            le(apart - left * q**s, norm(turned(i) - turned(i + j + s + 1))),
            Smt(
                *FADES,
                at("error", k),
                at("error", k + j + s + 1),
                GELFAND.at(W, f, k + j + s + 1),
                at("later powers", s, j + k),
                at("distances stay", j + s + 1, i),
                at("distances stay", j + s + 1, k),
                TRIANGLE.at(C * faded(k) - E * turned(k), E * turned(k)),
                TRIANGLE.at(E * (turned(k) - turned(k + j + s + 1)), E * turned(k + j + s + 1)),
                TRIANGLE.at(
                    E * turned(k + j + s + 1) - C * faded(k + j + s + 1), C * faded(k + j + s + 1)
                ),
                SUBMULTIPLICATIVE.at(C, faded(k + j + s + 1)),
                SUBMULTIPLICATIVE.at(E, turned(k) - turned(k + j + s + 1)),
            ),
            forall=(s, i, j),
            given=ALWAYS,
        ),
        step("it does not exceed", le(apart, ZERO)).by(
            *FADES,
            GELFAND.at(W, f, 0),
            "V keeps them apart",
            "m entries",
            "lengths stay",
            RETURNS.at(V, g, states, apart, left, q, norm(g), ZERO),
        ),
    ),
    note="at any number m of states; e = 0 is impossible unless the response is 0",
).by("it does not exceed")
FINITE = theorem(
    "finite",
    le(impulse, 2 * impulse_gap + E_norm * return_gap + impulse_end),
    (ORTHOGONAL, READOUT, WINDOW),
    "impulse",
    (
        *(ENTRIES, DISTANCES),
        step("latest error", le(error(i), largest(*NETWORKS, i)), forall=(i,)).inductively(
            base=(LARGEST.at(*NETWORKS, 0),), step=(LARGEST.at(*NETWORKS, i),), over=i
        ),
        step("errors so far", le(error(i), largest(*NETWORKS, i + j)), forall=(i, j)).by_induction(
            base=at("latest error", i), step=LARGEST.at(*NETWORKS, i + j)
        ),
    ),
    note="within T steps, in which the state may return",
).by(
    at("errors so far", k, T - k),
    at("errors so far", T, 0),
    at("distances stay", T - k, k),
    TRIANGLE.at(C * faded(k) - E * turned(k), E * turned(k)),
    TRIANGLE.at(E * (turned(k) - turned(T)), E * turned(T)),
    TRIANGLE.at(E * turned(T) - C * faded(T), C * faded(T)),
    SUBMULTIPLICATIVE.at(E, turned(k) - turned(T)),
    "readout",
    "window",
)

URNN_LINEAR = Claim(
    id="urnn-linear",
    title="No unitary network has the memory of a linear network that forgets",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs",
        "beside Theorem 4.1",
    ),
    forms=(HALF, FINITE),
    false_variants=(
        scale(HALF, Rational(1, 2), "whole", "the error is at least the whole response"),
        thousandth_less(HALF, text="half of the response is never reached"),
        HALF.variant("radius-one", "W may have any spectral radius", without=STABLE_RADIUS.id),
        HALF.variant("any-matrix", "V need not be orthogonal", without="orthogonal"),
        FINITE.variant(
            "no-return",
            "the state need not return: no unitary network has T steps of the memory",
            2 * impulse_gap + impulse_end,
        ),
        FINITE.variant(
            "all-faded",
            "the response is taken to have faded in T steps",
            2 * impulse_gap + E_norm * return_gap,
        ),
        FINITE.variant(
            "one-error",
            "the error counts once",
            impulse_gap + E_norm * return_gap + impulse_end,
        ),
    ),
    extremal=(
        "W = λ and V = 1 with E g = ½: the error is ½ at first and in the limit; for T steps a "
        "cycle of more states than steps"
    ),
)
