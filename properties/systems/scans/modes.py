"""One mode of a diagonal recurrence, h⁺ = λ h + b x, in rationals.

A complex λ = r(c + is) is a pair of reals: r times a Pythagorean rotation.
Source: Orvieto et al., Resurrecting Recurrent Neural Networks for Long Sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from impl.numbers.rationals import identity, pythagorean
from properties.systems.layered.dyadic import ONE, ZERO, inputs, matrix
from properties.systems.spec import SystemSpec
from properties.systems.unitary.exact import Table, Vector, above, minus, square, stream, times

RADII = (fmpq(1, 2), fmpq(3, 4), fmpq(15, 16), fmpq(1, 4), ONE, fmpq(255, 256), ZERO, fmpq(9, 8))


@dataclass(frozen=True, eq=False)
class Mode:
    """The mode's matrix (1 or 2 rows) with |λ| = ``radius``, its inputs and the runs from zero."""

    spec: SystemSpec
    A: fmpq_mat
    B: fmpq_mat
    radius: fmpq
    real: fmpq
    x: list[list[Vector]]

    def tables(self) -> dict[str, Table]:
        """The mode as a linear system."""
        m, S = self.A.nrows(), len(self.x)
        nothing = [(ZERO,) * m] * S
        return {
            "W": self.A.tolist(), "U": self.B.tolist(), "b": (ZERO,) * m,
            "C": identity(m).tolist(), "x": self.x, "h": nothing, "h_other": nothing,
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """λ of a linear system is |λ|."""
        return {"lam": above(self.radius)}

    def parameters(self) -> dict[str, float]:
        """|λ|, a float64, and |Re λ|."""
        return {"mode_radius": above(self.radius), "mode_real": above(abs(self.real))}

    def run(self, s: int, first: int) -> list[Vector]:
        """The states from zero before input ``first`` on."""
        states: list[Vector] = [(ZERO,) * self.A.nrows()]
        for x in self.x[s][first:]:
            moved = zip(times(self.A, states[-1]), times(self.B, x), strict=True)
            states.append(tuple(p + q for p, q in moved))
        return states

    @cached_property
    def paths(self) -> list[list[Vector]]:
        """The full runs."""
        return [self.run(s, 0) for s in range(len(self.x))]

    def gap(self, s: int, k: int) -> fmpq:
        """|h_T − h_T^k|²."""
        return square(minus(self.paths[s][-1], self.run(s, self.spec.T - k)[-1]))

    def start(self, s: int, k: int) -> fmpq:
        """|h_{T−k}|²."""
        return square(self.paths[s][self.spec.T - k])


def modes(spec: SystemSpec, member: int) -> Mode:
    """The member of a ``modes`` spec: a real eigenvalue of either sign, or a complex one."""
    draw = stream(spec, member, "system")
    radius = draw.choice(RADII)
    if spec.regime == "real":
        real = radius * draw.choice((1, -1))
        A = fmpq_mat([[real]])
    else:
        c, s = pythagorean(draw)
        real = radius * c
        A = radius * fmpq_mat([[c, -s], [s, c]])
    return Mode(spec, A, matrix(A.nrows(), spec.d, draw), radius, real, inputs(spec, member))
