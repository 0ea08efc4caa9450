"""The world of matrices and their projections onto a ball, as the vectors of their entries."""

from __future__ import annotations

from rnnbounds.impl.arithmetic.entries import IrrationalError
from rnnbounds.impl.training import nearest_exact as nearest
from rnnbounds.properties.read.entry_carriers import BALLS
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.reader import AbsentError, Value
from rnnbounds.properties.read.worlds.leaves import pair_matrix, projection_ball
from rnnbounds.properties.read.worlds.recurrent import RecurrentWorld

IN_BALLS = {
    "itself": lambda A, ball: nearest.ball_itself(A),
    "project": nearest.ball_projected,
}
IN_RATIONALS = {
    "itself": lambda A, ball: nearest.rational_itself(A),
    "project": nearest.rational_projected,
}


class ProjectedWorld(RecurrentWorld):
    """Two matrices A and B, and Z, a point of the ball: Π B."""

    def leaf(self, head: str, *arguments: Term) -> Value:
        """A matrix, or what becomes of it."""
        if head == "vec_Z":
            return self.leaf("project", ("vec_B",))
        if not (head.startswith("vec_") or head in IN_BALLS):
            return super().leaf(head, *arguments)
        if self.carrier is FLOATS:
            raise AbsentError
        (name,) = arguments[0] if arguments else (head,)
        A, made = pair_matrix(self.batch, name[-1])[0], "itself" if not arguments else head
        if self.carrier is BALLS:
            return self.carrier.vector(IN_BALLS[made](A, projection_ball(self.batch)).entries())
        found = IN_RATIONALS[made](A, projection_ball(self.batch))
        if found is None:
            raise IrrationalError(head)
        return self.carrier.vector([v for row in found for v in row])
