"""Deep transitions of one size: φ = g_L ∘ … ∘ g_1, g_l(u) = ρ(W_l u + [l = 1] U x + b_l).

All weights are dyadic, so that they are floats and rationals at once. The cell that ships is run in
rationals where ρ is piecewise linear, and in balls elsewhere.
Source: Pascanu et al., How to construct deep recurrent neural networks.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from operator import mul
from typing import cast

import torch
from flint import fmpq, fmpq_mat

from rnnbounds.impl.cells.deep import DeepCell
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.weighted import perron_vector
from rnnbounds.properties.systems.layered.dyadic import (
    ONE,
    bounded_inputs,
    random_eighths,
    random_eighths_matrix,
)
from rnnbounds.properties.systems.layered.shipped import ShippedMember, dyadic_row, dyadic_tensor
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    Table,
    Vector,
    member_random,
    rational,
    recurrence_tables,
    upper_float,
)

FACTORS = (fmpq(1, 2), fmpq(3, 4), ONE, fmpq(1, 4), fmpq(5, 4), fmpq(3, 2))


@dataclass(frozen=True, eq=False)
class Layered(ShippedMember):
    """One transition, whose certified factor is the one that is judged.

    ``layer_norms`` are ‖W_l‖₂ where these are known exactly, ``is_isometric`` says that every W_l
    is a multiple of an isometry.
    """

    cell: DeepCell
    layer_norms: tuple[fmpq, ...] | None
    is_isometric: bool

    def tables(self) -> dict[str, Table]:
        """The first layer stands for the weights."""
        W, b = (
            self.exact_weights.rows("transition_1_weight"),
            self.exact_vector("transition_1_bias"),
        )
        return recurrence_tables(
            W, self.exact_weights.rows("input_weight"), b, self.x, self.h, self.h_other
        )

    @staticmethod
    def constants_of(members: Sequence[Layered]) -> list[dict[str, float]]:
        """Certify constants of each transition; add the product of its layers' norms."""
        cells = [member.cell for member in members]
        weights = {name: torch.cat([cell.parameters[name] for cell in cells])
                for name in cells[0].parameters}  # fmt: skip
        cell = replace(cells[0], parameters=weights)
        lam = perron_vector(cell.euclidean(cell.U.new_full((len(cells), cell.n), inf))).factor
        certified = {
            "lam_deep": lam,
            "lam": lam,
            "L_rho": torch.full_like(lam, cell.activation.slope),
        }
        columns = zip(*(value.tolist() for value in certified.values()), strict=True)
        by_member = (dict(zip(certified, values, strict=True)) for values in columns)
        return [
            one | {"W_product": own.product_of_norms}
            for one, own in zip(by_member, members, strict=True)
        ]

    @property
    def product_of_norms(self) -> float:
        """Π‖W_l‖₂ where these are known exactly, else infinity."""
        return inf if self.layer_norms is None else upper_float(reduce(mul, self.layer_norms))

    def constants(self) -> dict[str, float]:
        """Certified constants of this transition alone."""
        return self.constants_of([self])[0]

    def parameters(self) -> dict[str, float]:
        """The depth, and whether all layers are isometries up to a factor."""
        linear = self.spec.activation == "identity"
        return {"depth": float(self.cell.depth), "isometric": float(linear and self.is_isometric)}


def layered_member(spec: SystemSpec, member: int) -> Layered:
    """The member of a ``layered`` spec with ``layered_member`` layers of ``n`` units.

    identity: W_l = a_l I; signed: a_l times a signed permutation; nilpotent: a_l times a shift;
    gaussian: multiples of 1/8, of unknown norm; zero: one layer sees nothing.
    """
    draw, n = member_random(spec, member, "system"), spec.n
    W = [layer_matrix(spec.regime, n, draw) for _ in range(spec.layers)]
    if spec.regime == "zero":
        W[-1] = fmpq_mat(n, n)
    layer_weights, scale = (
        {"input_weight": dyadic_tensor(random_eighths_matrix(n, spec.d, draw))},
        rational(spec.bias),
    )
    for i, A in enumerate(W, 1):
        b = [scale * v for v in random_eighths(n, draw)]
        layer_weights |= {
            f"transition_{i}_weight": dyadic_tensor(A),
            f"transition_{i}_bias": dyadic_row(b),
        }
    cell = cast(DeepCell, kind_of(f"deep-{spec.activation}").build(layer_weights))
    pairs = [
        layered_states(n, member_random(spec, member, f"states {s}")) for s in spec.sequence_range
    ]
    return Layered(
        spec, cell, bounded_inputs(spec, member), [first for first, _ in pairs],
        [second for _, second in pairs],
        layer_norms=None
        if spec.regime == "gaussian"
        else tuple(max(abs(v) for v in A.entries()) for A in W),
        is_isometric=spec.regime in ("zero", "identity", "signed"),
    )  # fmt: skip


def layer_matrix(regime: str, n: int, draw: random.Random) -> fmpq_mat:
    """Draw one layer matrix W_l."""
    factor = draw.choice(FACTORS)
    if regime == "gaussian":
        return factor * random_eighths_matrix(n, n, draw)
    places, signs = list(range(n)), [1] * n
    if regime == "signed":
        places, signs = draw.sample(places, n), [draw.choice((1, -1)) for _ in range(n)]
    if regime == "nilpotent":
        places = [i + 1 for i in range(n)]
    W = fmpq_mat(n, n)
    for i, j in enumerate(places):
        if j < n:
            W[i, j] = factor * signs[i]
    return W


def layered_states(n: int, draw: random.Random) -> tuple[Vector, Vector]:
    """Two states, apart by powers of two."""
    h, size = random_eighths(n, draw), fmpq(1, draw.choice((1, 4, 256)))
    if draw.randrange(4) == 0:
        h = tuple(-size * v / 2 for v in random_eighths(n, draw))
        return h, tuple(-v for v in h)
    return h, tuple(v + size * w for v, w in zip(h, random_eighths(n, draw), strict=True))
