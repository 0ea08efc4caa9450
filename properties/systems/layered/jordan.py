"""Jordan blocks A = ρI + N with ‖N‖ = 1, in rationals, and the norms of their powers.

Source: Horn & Johnson, Matrix Analysis, section 3.2.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, identity
from rnnbounds.properties.systems.layered.dyadic import ONE, ZERO, inputs
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Table, Vector, above, stream

RADII = (fmpq(1, 2), fmpq(3, 4), fmpq(15, 16), fmpq(1, 4), fmpq(1, 1024), ZERO, ONE)


@dataclass(frozen=True, eq=False)
class Block:
    """A, its eigenvalue ρ ≥ 0 and the least m with N^m = 0."""

    spec: SystemSpec
    A: fmpq_mat
    radius: fmpq
    index: int
    x: list[list[Vector]]
    powers: dict[int, fmpq_mat] = field(default_factory=dict, repr=False)

    def tables(self) -> dict[str, Table]:
        """The block as a linear system without inputs."""
        n, S = self.spec.n, len(self.x)
        nothing = [(ZERO,) * n] * S
        return {
            "W": self.A.tolist(), "U": [[ZERO] * self.spec.d] * n, "b": (ZERO,) * n,
            "C": identity(n).tolist(), "x": self.x, "h": nothing, "h_other": nothing,
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """‖A‖ ≤ ρ + 1."""
        return {"lam": above(self.radius + 1)}

    def parameters(self) -> dict[str, float]:
        """ρ, a float64, and m."""
        return {"mode_radius": above(self.radius), "nilpotency": float(self.index)}

    def power(self, k: int) -> fmpq_mat:
        """A^k."""
        if k not in self.powers:
            self.powers[k] = identity(self.spec.n) if k == 0 else self.A * self.power(k - 1)
        return self.powers[k]


def jordan(spec: SystemSpec, member: int) -> Block:
    """The member of a ``jordan`` spec: one block of ``n`` rows, or the same turned by a Q."""
    draw, n = stream(spec, member, "system"), spec.n
    radius, N = draw.choice(RADII), fmpq_mat(n, n)
    for i in range(n - 1):
        N[i, i + 1] = ONE
    A = radius * identity(n) + N
    if spec.regime == "turned":
        Q = cayley(n, draw)
        A = Q * A * Q.transpose()
    return Block(spec, A, radius, n, inputs(spec, member))
