"""The relations between the units of sigmoid networks at one time, and at the time before.

Uᵀ carries those at time j + 1 into those at time j; where their numbers are the same, onto them.
"""

from sympy import Expr, Rational, Symbol, tanh

from theory.axioms.base import HOMOGENEITY, TRIANGLE
from theory.axioms.ranks import KERNEL_PROJECTOR, RANK_KERNEL_BACK, ROWS_OF_PRODUCT, projector
from theory.language.functions import TANH
from theory.language.law import at
from theory.language.statement import eq, le
from theory.language.terms.unitary import rank
from theory.language.terms.vectors import j, norm, transpose, v, z
from theory.models.unitary.independence import INDEPENDENCE
from theory.models.unitary.local_maps import ONE, ZERO
from theory.models.unitary.relations import (
    EQUAL,
    SIGMOID,
    U,
    argument,
    arguments,
    c,
    e,
    same_activation,
    sigmoid,
    sigmoidal,
    unit,
    units,
    w,
)
from theory.proof.proof import Step
from theory.proof.steps import step

OUTPUTS = (
    "Let y_t = c·h_t and ŷ_t = e·s_t + e_0 agree at all times on all inputs from an interval."
    " For tanh, e·τ_t − c·r_t = −e_0 there. For the sigmoid put s = ½ + ½τ and h = ½ + ½r, by"
    " the normal form component by component: e·τ_t − c·r_t is constant again. Both sides are"
    " real-analytic in the inputs, so that this holds for all real inputs. Activations that "
    "differ would leave two different normal forms on the two sides."
)
SETTLED = (
    "The rank of the units, as functions, never decreases: relations at time j + 1 are "
    "carried by the regular Uᵀ into relations at time j. It is at most m, so that from some "
    "time k_0 on it stays the same; and U, being regular, changes no rank."
)
HALF = Rational(1, 2)
ACTIVATIONS = (eq(same_activation, ONE), eq(sigmoidal, ONE))
# A time from which on ranks stay, and two later ones, that human steps find.
k_0, p, l = (Symbol(name, integer=True) for name in ("k_0", "p", "l"))


def beside_relations(time: Expr) -> Expr:
    """P_t, the projector along the relations between the units."""
    return projector(units(time))


def rest(time: Expr) -> Expr:
    """‖P_t e‖, what is left of e beside the relations."""
    return norm(beside_relations(time) * e)


back = transpose(U)
now, later = k_0 + j, k_0 + j + 1
P, P_next = beside_relations(j), beside_relations(j + 1)
P_now, P_later = beside_relations(now), beside_relations(later)
left_over = v - P_next * v
kept = P_now * back * v
missing = v - U * kept
difference = back * e - w * e

NORMAL_FORM = step("normal form", eq(sigmoid(z), HALF + HALF * tanh(z / 2)), forall=(z,)).by(
    SIGMOID.at(z), TANH.at(z / 2)
)


def moving_back(
    output: Expr, other: Symbol, state: Expr, argument: Expr, before: Expr
) -> tuple[Step, Step, Step]:
    """That relations with the other network's units, too, move back: what they add, for all j."""
    related = norm(units(j) * v + state)
    return (
        step(
            "outputs",
            eq(norm(units(j) * e - output), ZERO),
            forall=(j,),
            given=(EQUAL, *ACTIVATIONS),
        ).in_words(OUTPUTS),
        step(
            "independence lemma",
            eq(norm(arguments(j) * v + argument), ZERO),
            forall=(j, v, other),
            given=(eq(related, ZERO), *ACTIVATIONS),
        ).in_words(INDEPENDENCE),
        step(
            "relations move back",
            eq(norm(units(j) * back * v + before), ZERO),
            forall=(j, v, other),
            given=(eq(related.subs(j, j + 1), ZERO),),
        ).by(
            "same activation",
            "sigmoidal",
            at("independence lemma", j + 1, v, other),
            at("networks", j, v, other),
        ),
    )


RELATIONS = (
    NORMAL_FORM,
    *moving_back(c * unit(j), z, z * unit(j), z * argument(j), z * w * unit(j)),
    step(
        "U moves e as w does", eq(norm(units(j) * difference), ZERO), forall=(j,), given=(EQUAL,)
    ).by(
        "same activation",
        "sigmoidal",
        at("outputs", j),
        at("outputs", j + 1),
        at("relations move back", j, e, -c),
        TRIANGLE.at(units(j) * back * e - c * w * unit(j), w * (c * unit(j) - units(j) * e)),
        HOMOGENEITY.at(w, c * unit(j) - units(j) * e),
        HOMOGENEITY.at(-w, c * unit(j) - units(j) * e),
    ),
)
PROJECTORS = (
    step(
        "ranks settle",
        le(rank(units(later)), rank(units(now) * back)),
        forall=(j,),
        given=ACTIVATIONS,
    ).in_words(SETTLED),
    step(
        "from the later to the earlier",
        eq(norm(units(now) * back * v), ZERO),
        forall=(v,),
        given=(eq(norm(units(later) * v), ZERO),),
    ).by(at("relations move back", now, v, 0)),
    step(
        "relations move forth",
        eq(norm(units(later) * v), ZERO),
        forall=(j, v),
        given=(eq(norm(units(now) * back * v), ZERO),),
    ).by(
        "same activation",
        "sigmoidal",
        "from the later to the earlier",
        at("ranks settle", j),
        RANK_KERNEL_BACK.at(units(now) * back, units(later), v),
    ),
    step("no more is left before", le(norm(P * back * v), norm(P_next * v)), forall=(j, v)).by(
        KERNEL_PROJECTOR.at(units(j + 1), v),
        at("relations move back", j, left_over, 0),
        KERNEL_PROJECTOR.at(units(j), back * left_over),
        TRIANGLE.at(P * back * left_over, P * back * P_next * v),
        KERNEL_PROJECTOR.at(units(j), back * P_next * v),
        at("orthogonal", U, v, P_next * v),
        at("networks", j + 1, v, 0),
        ROWS_OF_PRODUCT.at(P_next, v),
    ),
    step("no less is left before", le(norm(P_later * v), norm(P_now * back * v)), forall=(j, v)).by(
        KERNEL_PROJECTOR.at(units(now), back * v),
        at("orthogonal", units(now), back * v, kept),
        at("networks", now, v, 0),
        ROWS_OF_PRODUCT.at(P_now, back * v),
        at("relations move forth", j, missing),
        KERNEL_PROJECTOR.at(units(later), missing),
        TRIANGLE.at(P_later * missing, P_later * U * kept),
        KERNEL_PROJECTOR.at(units(later), U * kept),
    ),
)
