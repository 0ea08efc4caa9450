"""No finite unitary network equals a scalar sigmoid network, but for |w| = 1.

The (Uᵀ)^j e come back to e, as near as one likes; the powers of |w| keep away from 1.
"""

from sympy import Abs

from theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from theory.language import ONE, ZERO, Assumption, assume, at, eq, le, ne, symbols
from theory.language.terms.variables import j, v
from theory.language.terms.vectors import norm, transpose
from theory.models.unitary.local_maps import W, n
from theory.models.unitary.relations import (
    EQUAL,
    ORTHOGONAL,
    SAME,
    SIGMOIDAL,
    back,
    c,
    e,
    networks,
    others,
    sigmoid_gap,
    units,
)
from theory.models.unitary.returns import (
    MOVED_BACK,
    OF_W,
    POWERS,
    faded,
    l,
    moved,
    p,
    returns,
)
from theory.proof import step, theorem

(w_abs,) = symbols("w_abs")

NOT_ISOMETRIC = Assumption("not isometric", "|w| ≠ 1", ne(w_abs, ONE))
NETWORKS = networks(
    "by w",
    eq(norm(others(j) * transpose(W) * v), w_abs * norm(others(j) * v)),
    scalar=eq(n, ONE),
)
DRIVEN = assume(
    "driven", "f ≠ 0 and c ≠ 0: the scalar network's output depends on its inputs", forall=(j,)
).that(ne(norm(others(j) * c), ZERO))

first, output = units(0), norm(others(0) * c)
apart = Abs(1 - w_abs) * output
GEOMETRY = (
    step("geometric", eq(norm(others(0) * faded(j)), w_abs**j * output), forall=(j,)).by_induction(
        base=OF_W, step=(OF_W, at("networks", 0, faded(j), 0))
    ),
    step(
        "powers below one", le(w_abs ** (j + 1), w_abs), forall=(j,), given=(le(w_abs, ONE),)
    ).by_induction(),
    step(
        "powers above one", le(w_abs, w_abs ** (j + 1)), forall=(j,), given=(le(ONE, w_abs),)
    ).by_induction(),
    returns(
        le(2 * norm(first) * norm(moved(p) - moved(p + l + 1)), apart),
        ne(apart, ZERO),
        later="p + l + 1",
    ),
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
        le(Abs(1 - w_abs ** (l + 1)) * output, norm(first) * norm(e - moved(l + 1))),
        given=(EQUAL,),
    ).by(
        at("lengths of outputs", 0),
        at("lengths of outputs", l + 1),
        POWERS.at(back, e, 0),
        TRIANGLE.at(first * (e - moved(l + 1)), first * moved(l + 1)),
        TRIANGLE.at(first * (moved(l + 1) - e), first * e),
        SUBMULTIPLICATIVE.at(first, e - moved(l + 1)),
    ),
    step("w is isometric", eq(w_abs, ONE), given=(EQUAL,)).by(
        "U returns",
        at("distances stay", l + 1, p),
        "what U moves",
        at("powers below one", l),
        at("powers above one", l),
        at("driven", 0),
    ),
)
EXCLUDED = theorem(
    "excluded",
    ne(sigmoid_gap, ZERO),
    (SAME, SIGMOIDAL, NOT_ISOMETRIC, ORTHOGONAL, NETWORKS, DRIVEN),
    "sigmoid",
    (*MOVED_BACK, *GEOMETRY),
    note="exact equality is excluded at all times together; any finite accuracy is not",
).by("w is isometric", "not isometric")
