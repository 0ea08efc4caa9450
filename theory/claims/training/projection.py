"""Projections onto convex sets of weights bring no two points further apart.

The spectral ball, the row-sum ball and the Euclidean ball of matrices are closed and convex, and
weights are measured in the Euclidean norm of their entries.
"""

from sympy import Rational

from rnnbounds.theory.axioms.base import PROJECTION
from rnnbounds.theory.language import ONE, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.networks import feasible, project
from rnnbounds.theory.language.terms.variables import vector
from rnnbounds.theory.models.weights.projection import LEMMAS, PROJECTS, SQUARE
from rnnbounds.theory.proof import Claim, Source, theorem

proj_gap, matrix_gap = symbols("proj_gap matrix_gap")
proj_distance, feasible_distance = symbols("proj_distance feasible_distance")
first, second, inside = vector("vec_A"), vector("vec_B"), vector("vec_Z")

FEASIBLE = assume("feasible", "Z is a point of the set").that(eq(feasible(inside), ONE))

GAP = theorem(
    "non-expansive",
    le(proj_gap, matrix_gap),
    (PROJECTS,),
    "projection",
    LEMMAS,
    note="weight-gap rests on it",
).by(at("non-expansive", first, second))

NEAREST = theorem(
    "nearest",
    le(proj_distance, feasible_distance),
    (PROJECTS, FEASIBLE),
    "projection",
    (SQUARE,),
    note="no point of the set is nearer",
).by(
    at("projection", first),
    "feasible",
    PROJECTION.at(first, inside),
    at("square of a difference", first - project(first), inside - project(first)),
)

PROJECTION_CLAIM = Claim(
    id="projection",
    title="Projections onto convex sets of weights are non-expansive",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 4"),
    forms=(GAP, NEAREST),
    false_variants=(
        GAP.variant(
            "strict", "a projection brings any two points nearer", lt(proj_gap, matrix_gap)
        ),
        GAP.variant(
            "a-hundredth-less",
            "a projection brings any two points nearer by a hundredth",
            Rational(99, 100) * matrix_gap,
        ),
        NEAREST.variant(
            "nearer-by-a-hundredth",
            "any other point of the set is further away by a hundredth",
            Rational(99, 100) * feasible_distance,
        ),
    ),
    example_factor=1.25,
    extremal="two matrices inside the ball: nothing moves",
)
