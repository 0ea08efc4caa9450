"""Jordan blocks A = ρI + N with ‖N‖ = 1, in rationals, and the norms of their powers.

Source: Horn & Johnson, Matrix Analysis, section 3.2.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, identity
from rnnbounds.properties.systems.layered.dyadic import ONE, ZERO, bounded_inputs
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    member_random,
    recurrence_tables,
    upper_float,
)

RADII = (fmpq(1, 2), fmpq(3, 4), fmpq(15, 16), fmpq(1, 4), fmpq(1, 1024), ZERO, ONE)


@dataclass(frozen=True, eq=False)
class JordanBlock(ExactMember):
    """A, its eigenvalue ρ ≥ 0 and the least m with N^m = 0."""

    spec: SystemSpec
    A: fmpq_mat
    radius: fmpq
    index: int
    x: list[list[Vector]]

    def tables(self) -> dict[str, Table]:
        """The block as a linear system without inputs."""
        n = self.spec.n
        return recurrence_tables(self.A.tolist(), [[ZERO] * self.spec.d] * n, (ZERO,) * n, self.x)

    def constants(self) -> dict[str, float]:
        """‖A‖ ≤ ρ + 1."""
        return {"lam": upper_float(self.radius + 1)}

    def parameters(self) -> dict[str, float]:
        """ρ, a float64, and m."""
        return {"mode_radius": upper_float(self.radius), "nilpotency": float(self.index)}


def jordan_member(spec: SystemSpec, member: int) -> JordanBlock:
    """The member of a ``jordan`` spec: one block of ``n`` rows, or the same turned by a Q."""
    draw, n = member_random(spec, member, "system"), spec.n
    radius, N = draw.choice(RADII), fmpq_mat(n, n)
    for i in range(n - 1):
        N[i, i + 1] = ONE
    A = radius * identity(n) + N
    if spec.regime == "turned":
        Q = cayley(n, draw)
        A = Q * A * Q.transpose()
    return JordanBlock(spec, A, radius, n, bounded_inputs(spec, member))
