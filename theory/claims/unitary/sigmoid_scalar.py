"""No finite unitary network equals a scalar sigmoid network, but for |w| = 1.

The (Uᵀ)^j e come back to one another, as near as one likes; the powers of |w| keep away from 1.
"""

from sympy import Abs

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.powers import RETURNS
from rnnbounds.theory.language import ONE, ZERO, Assumption, assume, at, eq, le, ne, symbols
from rnnbounds.theory.language.terms.powers import POWERS
from rnnbounds.theory.language.terms.variables import i, j, s, v
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.models.unitary.lines import UNROLLED
from rnnbounds.theory.models.unitary.local_maps import n
from rnnbounds.theory.models.unitary.relations import (
    EQUAL,
    ORTHOGONAL,
    SAME,
    SIGMOIDAL,
    back,
    back_other,
    c,
    e,
    networks,
    others,
    sigmoid_gap,
    units,
)
from rnnbounds.theory.models.unitary.returns import (
    MOVED_BACK,
    OF_W,
    SEQUENCE,
    SUPPOSED,
    faded,
    moved,
)
from rnnbounds.theory.proof import step, theorem

(w_abs,) = symbols("w_abs")

NOT_ISOMETRIC = Assumption("not isometric", "|w| ≠ 1", ne(w_abs, ONE))
NETWORKS = networks(
    "by w",
    eq(norm(others(j) * back_other * v), w_abs * norm(others(j) * v)),
    scalar=eq(n, ONE),
)
DRIVEN = assume(
    "driven", "f ≠ 0 and c ≠ 0: the scalar network's output depends on its inputs", forall=(j,)
).that(ne(norm(others(j) * c), ZERO))

first, output = units(0), norm(others(0) * c)
apart = Abs(1 - w_abs) * output / (norm(first) + 1)
GEOMETRY = (
    step("geometric", eq(norm(others(0) * faded(j)), w_abs**j * output), forall=(j,)).by_induction(
        base=OF_W, step=(OF_W, at("networks", 0, faded(j), 0, 0))
    ),
    step(
        "powers below one", le(w_abs ** (j + 1), w_abs), forall=(j,), given=(le(w_abs, ONE),)
    ).by_induction(),
    step(
        "powers above one", le(w_abs, w_abs ** (j + 1)), forall=(j,), given=(le(ONE, w_abs),)
    ).by_induction(),
    step(
        "lengths of outputs",
        eq(norm(first * moved(j)), w_abs**j * output),
        forall=(j,),
        given=(EQUAL,),
    ).by(
        at("outputs move back", 0, j),
        at("geometric", j),
        TRIANGLE.at(first * moved(j) - others(0) * faded(j), others(0) * faded(j)),
        TRIANGLE.at(others(0) * faded(j) - first * moved(j), first * moved(j)),
    ),
    step(
        "what U moves",
        le(Abs(1 - w_abs ** (j + 1)) * output, norm(first) * norm(e - moved(j + 1))),
        forall=(j,),
        given=(EQUAL,),
    ).by(
        at("lengths of outputs", 0),
        at("lengths of outputs", j + 1),
        POWERS.at(back, e, 0),
        TRIANGLE.at(first * (e - moved(j + 1)), first * moved(j + 1)),
        TRIANGLE.at(first * (moved(j + 1) - e), first * e),
        SUBMULTIPLICATIVE.at(first, e - moved(j + 1)),
    ),
    step(
        "U keeps them apart",
        le(apart, norm(moved(i) - moved(i + j + s + 1))),
        forall=(s, i, j),
        given=(EQUAL,),
    ).by(
        at("distances stay", j + s + 1, i),
        at("what U moves", j + s),
        at("powers below one", j + s),
        at("powers above one", j + s),
    ),
    step("w is isometric", le(apart, ZERO), given=(EQUAL,)).by(
        "U keeps them apart",
        "m entries",
        "lengths stay",
        RETURNS.at(*SEQUENCE, apart, 0, 0, *SUPPOSED),
    ),
)
EXCLUDED = theorem(
    "excluded",
    ne(sigmoid_gap, ZERO),
    (SAME, SIGMOIDAL, NOT_ISOMETRIC, ORTHOGONAL, UNROLLED, NETWORKS, DRIVEN),
    "sigmoid",
    (*MOVED_BACK, *GEOMETRY),
    note="exact equality is excluded at all times together; any finite accuracy is not",
).by("w is isometric", "not isometric", at("driven", 0))
