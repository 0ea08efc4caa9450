"""Projections onto closed convex sets are non-expansive: two points and the angle they make."""

from rnnbounds.theory.axioms.base import PROJECTION, PROJECTION_INSIDE
from rnnbounds.theory.axioms.entries import INNER_PRODUCT
from rnnbounds.theory.language import ONE, assume, at, eq, le
from rnnbounds.theory.language.terms.networks import project, projects
from rnnbounds.theory.language.terms.variables import a, b, c, v
from rnnbounds.theory.language.terms.vectors import inner, norm
from rnnbounds.theory.proof import step

PROJECTS = assume(
    "projection",
    "Π a is the point nearest to a, in the Euclidean norm, of a closed convex set",
    forall=(v,),
).that(eq(projects(v), ONE))

projected_gap, gap = project(a) - project(b), a - b
MOVES_ALONG = step(
    "the projections move along",
    le(norm(projected_gap) ** 2, inner(gap, projected_gap)),
    forall=(a, b),
).by(
    at("projection", a),
    at("projection", b),
    PROJECTION.at(a, project(b)),
    PROJECTION.at(b, project(a)),
    PROJECTION_INSIDE.at(a),
    PROJECTION_INSIDE.at(b),
    INNER_PRODUCT.at(a - project(a), b - project(b), projected_gap),
    INNER_PRODUCT.at(gap, projected_gap, projected_gap),
)
# 0 ≤ ‖a − c‖² = ‖a‖² − 2⟨a, c⟩ + ‖c‖²
SQUARE = step(
    "square of a difference",
    eq(norm(a - c) ** 2, norm(a) ** 2 - 2 * inner(a, c) + norm(c) ** 2),
    forall=(a, c),
).by(
    INNER_PRODUCT.at(a, c, a - c),
    INNER_PRODUCT.at(c, a, a - c),
    INNER_PRODUCT.at(a, c, a),
    INNER_PRODUCT.at(a, c, c),
)
NON_EXPANSIVE = step(
    "non-expansive", le(norm(project(a) - project(b)), norm(a - b)), forall=(a, b)
).by(at("the projections move along", a, b), at("square of a difference", gap, projected_gap))
LEMMAS = (MOVES_ALONG, SQUARE, NON_EXPANSIVE)
