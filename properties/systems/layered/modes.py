"""One mode of a diagonal recurrence, h⁺ = λ h + b x, in dyadic rationals.

The cell that ships is run. A complex λ is a pair of reals from a Pythagorean triple, so that |λ| is
rational too. Source: Orvieto et al., Resurrecting Recurrent Neural Networks for Long Sequences.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.properties.systems.layered.dyadic import (
    ONE,
    ZERO,
    bounded_inputs,
    random_eighths_matrix,
)
from rnnbounds.properties.systems.layered.shipped import ShippedMember, dyadic_row, dyadic_tensor
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    Table,
    member_random,
    recurrence_tables,
    upper_float,
)

RADII = (fmpq(1, 2), fmpq(3, 4), fmpq(15, 16), fmpq(1, 4), ONE, fmpq(255, 256), ZERO, fmpq(9, 8))
# Re λ, Im λ and |λ| over a power of two.
TRIPLES = (
    (3, 4, 5, 8), (5, 12, 13, 16), (9, 12, 15, 16), (3, 4, 5, 16), (0, 1, 1, 1),
    (153, 204, 255, 256), (7, 24, 25, 32), (3, 4, 5, 4), (0, 0, 0, 1),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Mode(ShippedMember):
    """The mode with |λ| = ``radius``, its inputs and the runs from zero."""

    radius: fmpq

    def tables(self) -> dict[str, Table]:
        """The mode as a linear system."""
        return recurrence_tables(self.A.tolist(), self.B.tolist(), (ZERO,) * len(self.h[0]), self.x)

    @property
    def eigenvalue(self) -> tuple[fmpq, fmpq]:
        """Re λ and Im λ."""
        named = ("lambda_re", "lambda_im")
        re, im = (self.exact_vector(name)[0] if name in self.weights else ZERO for name in named)
        return re, im

    @property
    def A(self) -> fmpq_mat:
        """λ as a matrix of one or two rows."""
        (re, im), size = self.eigenvalue, len(self.h[0])
        return fmpq_mat([[re, -im], [im, re]] if size == 2 else [[re]])

    @property
    def B(self) -> fmpq_mat:
        """Input matrix, real rows above imaginary ones."""
        names = (name for name in ("B_re", "B_im") if name in self.weights)
        return fmpq_mat([row for name in names for row in self.exact_weights.rows(name)])

    def constants(self) -> dict[str, float]:
        """λ of a linear system is |λ|, as certified."""
        return {"lam": float(self.cell.moduli().amax())}

    def parameters(self) -> dict[str, float]:
        """|λ|, a float64, and |Re λ|."""
        return {
            "mode_radius": upper_float(self.radius),
            "mode_real": upper_float(abs(self.eigenvalue[0])),
        }


def mode_member(spec: SystemSpec, member: int) -> Mode:
    """The member of a ``modes`` spec: a real eigenvalue of either sign, or a complex one."""
    draw = member_random(spec, member, "system")
    if spec.regime == "real":
        radius = draw.choice(RADII)
        weights = {"lambda_re": dyadic_row([radius * draw.choice((1, -1))])}
    else:
        *sides, length, scale = draw.choice(TRIPLES)
        radius = fmpq(length, scale)
        re, im = (fmpq(draw.choice((1, -1)) * a, scale) for a in draw.sample(sides, 2))
        weights = {"lambda_re": dyadic_row([re]), "lambda_im": dyadic_row([im])}
    B, zero_states = (
        random_eighths_matrix(len(weights), spec.d, draw),
        [(ZERO,) * len(weights)] * len(spec.sequence_range),
    )
    rows = (dyadic_tensor(fmpq_mat([row])) for row in B.tolist())
    weights |= dict(zip(("B_re", "B_im"), rows, strict=False))
    return Mode(
        spec,
        kind_of("diagonal").build(weights),
        bounded_inputs(spec, member),
        zero_states,
        zero_states,
        radius,
    )
