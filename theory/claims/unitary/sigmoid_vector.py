"""No finite unitary network equals a sigmoid network whose recurrent matrix has a radius below 1.

At any time before, (Uᵀ)^j e of the one network is (Wᵀ)^j c of the other: the powers of W fade, and
those of an orthogonal U come back.
"""

from sympy import Symbol

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.powers import GELFAND, RETURNS
from rnnbounds.theory.claims.contraction.linear import STABLE_RADIUS
from rnnbounds.theory.language import ONE, ZERO, assume, at, eq, le, ne, symbols
from rnnbounds.theory.language.terms.powers import radius, ratio, reach
from rnnbounds.theory.language.terms.variables import i, j, s
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.unitary.lines import UNROLLED
from rnnbounds.theory.models.unitary.relations import (
    EQUAL,
    ORTHOGONAL,
    SAME,
    SIGMOIDAL,
    back_other,
    c,
    e,
    networks,
    others,
    sigmoid_gap,
    units,
)
from rnnbounds.theory.models.unitary.returns import MOVED_BACK, SEQUENCE, SUPPOSED, faded, moved
from rnnbounds.theory.proof import step, theorem

driven, W_radius = symbols("driven W_radius")
t_0 = Symbol("t_0", integer=True)  # a time at which the output depends on the inputs

NETWORKS = networks("of W", le(radius(back_other), W_radius))
DRIVEN = assume(
    "driven",
    "at some time t_0 the output depends on the inputs: its derivative in the latest is not 0",
    condition=eq(driven, ONE),
).that(ne(norm(others(t_0) * c), ZERO))

candidate, other = units(t_0), others(t_0)
q, room = ratio(back_other), norm(candidate) + 1
output, left = norm(other * c) / room, norm(other) * reach(back_other, c) / room
STABLE = ("stable radius", at("networks", 0, 0, 0, 0))
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
    step("powers of the ratio", le(ZERO, q**j), forall=(j,)).by_induction(
        step=(*STABLE, GELFAND.at(back_other, c, 0))
    ),
    step("later powers", le(q ** (s + j + 1), q**s), forall=(s, j)).by_induction(
        base=(*STABLE, GELFAND.at(back_other, c, 0), at("powers of the ratio", s)),
        step=(*STABLE, GELFAND.at(back_other, c, 0), at("powers of the ratio", s + j + 1)),
    ),
    step(
        "U keeps them apart",
        le(output - left * q**s, norm(moved(i) - moved(i + j + s + 1))),
        forall=(s, i, j),
        given=(EQUAL,),
    ).by(
        *STABLE,
        at("outputs", t_0, 0),
        at("no more than W leaves", t_0, j + s + 1),
        GELFAND.at(back_other, c, j + s + 1),
        at("later powers", s, j),
        at("distances stay", j + s + 1, i),
        TRIANGLE.at(other * c - candidate * e, candidate * e),
        TRIANGLE.at(candidate * (e - moved(j + s + 1)), candidate * moved(j + s + 1)),
        SUBMULTIPLICATIVE.at(candidate, e - moved(j + s + 1)),
    ),
    step("the output is constant", le(output, ZERO), given=(EQUAL,)).by(
        *STABLE,
        GELFAND.at(back_other, c, 0),
        "U keeps them apart",
        "m entries",
        "lengths stay",
        RETURNS.at(*SEQUENCE, output, left, q, *SUPPOSED),
    ),
)
VECTOR = theorem(
    "vector",
    ne(sigmoid_gap, ZERO),
    (SAME, SIGMOIDAL, STABLE_RADIUS, ORTHOGONAL, UNROLLED, NETWORKS, DRIVEN),
    "sigmoid",
    (*MOVED_BACK, *CONSTANT),
    note="of any number of units; ‖W‖ may be as large as it likes",
).by("the output is constant", "driven")
