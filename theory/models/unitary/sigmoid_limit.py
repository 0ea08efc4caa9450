"""What is left of e beside the relations is multiplied by w in each step, and keeps its length."""

from theory.axioms.base import HOMOGENEITY, SUBMULTIPLICATIVE, TRIANGLE
from theory.axioms.ranks import KERNEL_PROJECTOR
from theory.language.law import at
from theory.language.statement import eq, le, ne
from theory.language.terms.vectors import i, j
from theory.models.unitary.local_maps import ONE, ZERO
from theory.models.unitary.relation_spaces import (
    ACTIVATIONS,
    PROJECTORS,
    RELATIONS,
    P,
    P_now,
    back,
    difference,
    k_0,
    l,
    later,
    now,
    p,
    rest,
)
from theory.models.unitary.relations import (
    DRIVEN,
    EQUAL,
    NOT_ISOMETRIC,
    ORTHOGONAL,
    RECURSION,
    SAME,
    SIGMOIDAL,
    c,
    e,
    sigmoid_gap,
    unit,
    units,
    w,
    w_abs,
)
from theory.proof.steps import step, theorem

REPEATS = (
    "By the independence lemma the relations at any time are spanned by some of the finitely "
    "many vectors e_i and e_i ± e_j. So the projectors along them are finitely many, and of "
    "the numbers ‖P_k e‖, k ≥ k_0, two at different times are equal."
)
GEOMETRY = (
    step("one step", eq(rest(later), w_abs * rest(now)), forall=(j,), given=(EQUAL,)).by(
        at("U moves e as w does", now),
        KERNEL_PROJECTOR.at(units(now), difference),
        at("networks", now, e, 0),
        at("no more is left before", now, e),
        at("no less is left before", j, e),
        TRIANGLE.at(P_now * difference, w * P_now * e),
        TRIANGLE.at(-P_now * difference, P_now * back * e),
        HOMOGENEITY.at(w, P_now * e),
        HOMOGENEITY.at(-w, P_now * e),
    ),
    step(
        "geometric", eq(rest(k_0 + i + j), w_abs**j * rest(k_0 + i)), forall=(i, j), given=(EQUAL,)
    ).by_induction(step=at("one step", i + j)),
    step("something is left", ne(rest(j), ZERO), forall=(j,), given=(EQUAL,)).by(
        "same activation",
        "sigmoidal",
        at("outputs", j),
        at("driven", j),
        KERNEL_PROJECTOR.at(units(j), e),
        TRIANGLE.at(units(j) * (e - P * e), units(j) * P * e),
        SUBMULTIPLICATIVE.at(units(j), P * e),
        TRIANGLE.at(c * unit(j) - units(j) * e, units(j) * e),
        HOMOGENEITY.at(c, unit(j)),
        HOMOGENEITY.at(-c, unit(j)),
    ),
    step(
        "a length comes twice", eq(rest(k_0 + p), rest(k_0 + p + l + 1)), given=ACTIVATIONS
    ).in_words(REPEATS),
    step(
        "powers below one", le(w_abs ** (j + 1), w_abs), forall=(j,), given=(le(w_abs, ONE),)
    ).by_induction(),
    step(
        "powers above one", le(w_abs, w_abs ** (j + 1)), forall=(j,), given=(le(ONE, w_abs),)
    ).by_induction(),
    step("w is isometric", eq(w_abs, ONE), given=(EQUAL,)).by(
        "same activation",
        "sigmoidal",
        "a length comes twice",
        at("something is left", k_0 + p),
        at("geometric", p, l + 1),
        at("powers below one", l),
        at("powers above one", l),
    ),
)
EXCLUDED = theorem(
    "excluded",
    ne(sigmoid_gap, ZERO),
    (SAME, SIGMOIDAL, NOT_ISOMETRIC, ORTHOGONAL, RECURSION, DRIVEN),
    "sigmoid",
    (*RELATIONS, *PROJECTORS, *GEOMETRY),
    note="exact equality is excluded at all times together; any finite accuracy is not",
).by("w is isometric", "not isometric")
