"""Rational orthogonal matrices with a leading block: what dilations need, and their eigenvalues.

Source: Emami et al., Theorem 3.2; Horn & Johnson, Matrix Analysis.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import (
    RationalContraction,
    cayley,
    identity,
    pythagorean,
)
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    member_random,
    recurrence_tables,
)
from rnnbounds.properties.systems.unitary.linear import block_diagonal, submatrix
from rnnbounds.properties.systems.unitary.orthogonal import ONE, ZERO, orthogonal_matrix


@dataclass(frozen=True, eq=False)
class OrthogonalBlock(ExactMember):
    """An orthogonal V (m, m) and its leading block W (n, n)."""

    spec: SystemSpec
    V: fmpq_mat

    @cached_property
    def W(self) -> fmpq_mat:
        """The leading block."""
        n = range(self.spec.n)
        return submatrix(self.V, n, n)

    @property
    def parts(self) -> dict[str, fmpq_mat]:
        """W, by its name in theory."""
        return {"W": self.W}

    def tables(self) -> dict[str, Table]:
        """W and V; there are no inputs."""
        spec, n, m = self.spec, self.spec.n, self.V.nrows()
        x, rest = (
            [row] * len(spec.sequence_range) for row in ([[ZERO] * spec.d] * spec.T, [ZERO] * n)
        )
        U, b = [[ZERO] * spec.d] * n, [ZERO] * n
        return recurrence_tables(self.W.tolist(), U, b, x, rest, rest) | {
            "W2": self.V.tolist(), "U2": [[ZERO] * spec.d] * m, "b2": [ZERO] * m,
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """A block of an orthogonal matrix has a norm of at most 1."""
        return {"lam": 1.0, "W_norm": 1.0, "L_rho": 1.0}

    def parameters(self) -> dict[str, float]:
        """The rows of V."""
        return {"states": float(self.V.nrows())}


def block_member(spec: SystemSpec, member: int) -> OrthogonalBlock:
    """The member of a ``block`` spec: V with ``states`` rows.

    dilation, multiple: V dilates a contraction with as many singular values below 1 as the added
    rows have room for, all equal for ``multiple``, which makes W a multiple of a symmetric
    orthogonal matrix there.
    """
    draw, n, m = member_random(spec, member, "system"), spec.n, spec.states
    if spec.regime not in ("dilation", "multiple"):
        return OrthogonalBlock(spec, orthogonal_matrix(spec.regime, m, draw))
    return OrthogonalBlock(spec, dilated_matrix(n, m, draw, spec.units, spec.regime == "multiple"))


def dilated_matrix(n: int, m: int, draw: random.Random, units: int, multiple: bool) -> fmpq_mat:
    """An orthogonal V (m, m) whose leading block (n, n) has at least ``units`` singular values 1,
    and the others Pythagorean; with ``multiple`` it is symmetric, with one eigenvalue |ρ| < 1."""
    shared_pair = pythagorean(draw)
    contracted = min(n - units, m - n)
    pairs = [(ONE, ZERO)] * (n - contracted)
    pairs += [shared_pair if multiple else pythagorean(draw) for _ in range(contracted)]
    sigma, kappa = zip(*pairs, strict=True)
    Q = cayley(n, draw)
    W = RationalContraction(Q, sigma, kappa, Q.transpose() if multiple else cayley(n, draw))
    V = W.dilation() * fmpq(draw.choice((1, -1)))
    added = m - V.nrows()
    padded = block_diagonal(V, identity(added)) if added else V
    if m == n:
        return padded
    # Rotating the added rows, and then the added columns, leaves the block as it is.
    left, right = (block_diagonal(identity(n), cayley(m - n, draw)) for _ in range(2))
    return left * padded * right
