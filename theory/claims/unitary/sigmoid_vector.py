"""No finite unitary network equals a sigmoid network whose recurrent matrix has a radius below 1.

At any time before, (Uᵀ)^j e of the one network is (Wᵀ)^j c of the other: the powers of W fade, and
those of an orthogonal U come back to e.
"""

from sympy import Symbol

from theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from theory.claims.contraction.linear import STABLE_RADIUS
from theory.language import ONE, ZERO, assume, at, eq, le, lt, ne, symbols
from theory.language.terms.variables import i, j
from theory.language.terms.vectors import norm
from theory.models.unitary.relations import (
    EQUAL,
    ORTHOGONAL,
    SAME,
    SIGMOIDAL,
    c,
    e,
    networks,
    others,
    sigmoid_gap,
    units,
)
from theory.models.unitary.returns import MOVED_BACK, faded, k_0, l, moved, p, returns
from theory.proof import step, theorem

driven, W_radius = symbols("driven W_radius")
t_0 = Symbol("t_0", integer=True)  # a time at which the output depends on the inputs
output = norm(others(t_0) * c)

NETWORKS = networks("of W")
DRIVEN = assume(
    "driven",
    "at some time t_0 the output depends on the inputs: its derivative in the latest is not 0",
    condition=eq(driven, ONE),
).that(ne(output, ZERO))
FORGETS = (
    "The spectral radius of W is below 1, so ‖(Wᵀ)^j‖ tends to 0 by Gelfand's formula: from some "
    "j = k_0 on ‖(Wᵀ)^j c‖ is below any positive number."
)
CONSTANT = (
    step(
        "no more than W leaves",
        le(norm(units(i) * moved(j)), norm(others(i)) * norm(faded(j))),
        forall=(i, j),
        given=(EQUAL,),
    ).by(
        at("outputs move back", i, j),
        TRIANGLE.at(units(i) * moved(j) - others(i) * faded(j), others(i) * faded(j)),
        SUBMULTIPLICATIVE.at(others(i), faded(j)),
    ),
    step(
        "W forgets",
        le(4 * norm(others(t_0)) * norm(faded(k_0 + j)), output),
        forall=(j,),
        given=(ne(output, ZERO), lt(W_radius, ONE)),
    ).in_words(FORGETS),
    returns(
        le(4 * norm(units(t_0)) * norm(moved(p) - moved(p + k_0 + l)), output),
        ne(output, ZERO),
        later="p + k_0 + l, where k_0, which came before, is as large as it may be,",
    ),
    step("the output is constant", eq(output, ZERO), given=(EQUAL,)).by(
        "same activation",
        "sigmoidal",
        "stable radius",
        "U returns",
        at("W forgets", l),
        at("outputs", t_0),
        at("no more than W leaves", t_0, k_0 + l),
        at("distances stay", k_0 + l, p),
        TRIANGLE.at(others(t_0) * c - units(t_0) * e, units(t_0) * e),
        TRIANGLE.at(units(t_0) * (e - moved(k_0 + l)), units(t_0) * moved(k_0 + l)),
        SUBMULTIPLICATIVE.at(units(t_0), e - moved(k_0 + l)),
    ),
)
VECTOR = theorem(
    "vector",
    ne(sigmoid_gap, ZERO),
    (SAME, SIGMOIDAL, STABLE_RADIUS, ORTHOGONAL, NETWORKS, DRIVEN),
    "sigmoid",
    (*MOVED_BACK, *CONSTANT),
    note="of any number of units; ‖W‖ may be as large as it likes",
).by("the output is constant", "driven")
