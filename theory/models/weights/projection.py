"""Projections onto closed convex sets are non-expansive: two points and the angle they make."""

from sympy import Integer

from theory.axioms.base import PROJECTION, PROJECTION_INSIDE
from theory.language.law import Assumption, at, law
from theory.language.statement import eq, le
from theory.language.terms.vectors import a, b, c, inner, norm, project, projects, v
from theory.proof.methods import Smt
from theory.proof.proof import Step

ONE = Integer(1)
PROJECTS = Assumption(
    "projection",
    "Π a is the point nearest to a, in the Euclidean norm, of a closed convex set",
    law=law("projection", (v,), eq(projects(v), ONE)),
)
INNER_PRODUCT = law(
    "inner product",
    (a, b, c),
    eq(inner(a - b, c), inner(a, c) - inner(b, c)),
    eq(inner(a, -c) + inner(a, c), Integer(0)),
    eq(inner(a, c) - inner(c, a), Integer(0)),
    eq(inner(c, c), norm(c) ** 2),
)

moved, before = project(a) - project(b), a - b
MOVES_ALONG = Step(
    "the projections move along",
    le(norm(moved) ** 2, inner(before, moved)),
    Smt(
        at("projection", a),
        at("projection", b),
        PROJECTION.at(a, project(b)),
        PROJECTION.at(b, project(a)),
        PROJECTION_INSIDE.at(a),
        PROJECTION_INSIDE.at(b),
        INNER_PRODUCT.at(a - project(a), b - project(b), moved),
        INNER_PRODUCT.at(before, moved, moved),
    ),
    forall=(a, b),
)
# 0 ≤ ‖a − c‖² = ‖a‖² − 2⟨a, c⟩ + ‖c‖²
SQUARE = Step(
    "square of a difference",
    eq(norm(a - c) ** 2, norm(a) ** 2 - 2 * inner(a, c) + norm(c) ** 2),
    Smt(
        INNER_PRODUCT.at(a, c, a - c),
        INNER_PRODUCT.at(c, a, a - c),
        INNER_PRODUCT.at(a, c, a),
        INNER_PRODUCT.at(a, c, c),
    ),
    forall=(a, c),
)
NON_EXPANSIVE = Step(
    "non-expansive",
    le(norm(project(a) - project(b)), norm(a - b)),
    Smt(
        at("the projections move along", a, b),
        at("square of a difference", before, moved),
    ),
    forall=(a, b),
)
LEMMAS = (MOVES_ALONG, SQUARE, NON_EXPANSIVE)
