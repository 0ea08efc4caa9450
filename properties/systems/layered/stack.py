"""Stacks of two layers in dyadic rationals.

    s¹⁺ = ρ(W_1 s¹ + U x + b_1),  s²⁺ = ρ(W_2 s² + V s¹⁺ + b_2).

The stack that ships is run, and its layers' certified factors are judged, in ‖·‖_∞, so that all
norms are rational. Source: Miller & Hardt, section 2.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import torch
from flint import fmpq, fmpq_mat

from rnnbounds.impl.cells.stacks.layer_analysis import analyse_layer
from rnnbounds.impl.cells.stacks.stack import PREFIX, layer_weights
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.kind import vanilla_cell
from rnnbounds.properties.systems.layered.dyadic import (
    ONE,
    ZERO,
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

FACTORS = (fmpq(1, 2), fmpq(3, 4), fmpq(1, 4), ZERO, ONE, fmpq(5, 4))
COUPLINGS = (ONE, fmpq(1, 2), fmpq(2), fmpq(4), ZERO)
WEIGHTS = (ONE, fmpq(2), fmpq(4), fmpq(1, 2), fmpq(16))
NORM = "infinity"


@dataclass(frozen=True, eq=False)
class StackMember(ShippedMember):
    """Two layers of n units each as they ship, pairs of states (s¹, s²) and the weight v."""

    model: LoadedModel[Any]
    v: fmpq

    def tables(self) -> dict[str, Table]:
        """The lower layer stands for the cell, the upper one, driven by it, for the other."""
        n, rows = self.spec.n, self.exact_weights.rows
        h, other = ([state[:n] for state in states] for states in (self.h, self.h_other))
        low = rows("weight_hh_l0"), rows("weight_ih_l0"), self.exact_vector("bias_ih_l0")
        return recurrence_tables(*low, self.x, h, other) | {
            "W2": rows("weight_hh_l1"), "U2": rows("weight_ih_l1"),
            "b2": self.exact_vector("bias_ih_l1"),
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """λ_1, λ_2 and μ as a stack's analysis has them of its layers."""
        kind, model, below = (
            kind_of(vanilla_cell(self.spec)),
            self.model,
            self.spec.scale * self.spec.d,
        )
        weights = (layer_weights(model.weights, l) for l in (0, 1))
        lower, upper = (
            LoadedModel(cell, kind.name, model.dtype, layer_weights, model.source)
            for cell, layer_weights in zip(model.cell.layers, weights, strict=True)
        )
        lower_analysis = analyse_layer(kind, lower, (NORM,), below)
        upper_analysis = analyse_layer(kind, upper, (NORM,), lower_analysis)
        norms = lower_analysis.norm(NORM), upper_analysis.norm(NORM)
        mu = upper_analysis.coupling(norms[1], norms[0], lower_analysis.n)
        return {"lam_1": norms[0].lam, "lam_2": norms[1].lam, "mu": mu}

    def parameters(self) -> dict[str, float]:
        """The weight v of the upper layer."""
        return {"v_top": upper_float(self.v)}


def stack_member(spec: SystemSpec, member: int) -> StackMember:
    """The member of a ``cascade`` spec.

    positive: W_l = λ_l I, V = μ I and nothing negative, where the cascade is attained; signed:
    signed permutations in place of I; gaussian: multiples of 1/8.
    """
    draw, n = member_random(spec, member, "system"), spec.n
    factors = (*draw.sample(FACTORS, 2), draw.choice(COUPLINGS))
    W_1, W_2, V = (layer_matrix(spec.regime, size, n, draw) for size in factors)
    U, scale = random_eighths_matrix(n, spec.d, draw), rational(spec.bias)
    weights: dict[str, torch.Tensor] = {}
    for l, (W, input_matrix) in enumerate(((W_1, U), (W_2, V))):
        bias = [scale * v for v in random_eighths(n, draw)]
        weights |= {
            f"weight_hh_l{l}": dyadic_tensor(W)[0],
            f"weight_ih_l{l}": dyadic_tensor(input_matrix)[0],
        }
        weights[f"bias_ih_l{l}"] = dyadic_row(bias)[0]
    model = load_model(weights, PREFIX + vanilla_cell(spec))
    pairs = [
        stack_states(n, member_random(spec, member, f"states {s}"), spec.regime == "positive")
        for s in spec.sequence_range
    ]
    return StackMember(
        spec, model.cell, bounded_inputs(spec, member), [h for h, _ in pairs],
        [other for _, other in pairs], model, draw.choice(WEIGHTS),
    )  # fmt: skip


def layer_matrix(regime: str, size: fmpq, n: int, draw: random.Random) -> fmpq_mat:
    """A matrix with ‖A‖_∞ = size, but for Gaussian ones."""
    if regime == "gaussian":
        return (
            size / n * random_eighths_matrix(n, n, draw)
            if n in (1, 2, 4)
            else size / 4 * random_eighths_matrix(n, n, draw)
        )
    places = draw.sample(range(n), n) if regime == "signed" else list(range(n))
    A = fmpq_mat(n, n)
    for i, j in enumerate(places):
        A[i, j] = size * (draw.choice((1, -1)) if regime == "signed" else 1)
    return A


def stack_states(n: int, draw: random.Random, positive: bool) -> tuple[Vector, Vector]:
    """Two states of both layers; where all is ``positive``, the first is larger in every unit."""
    h, moves = (random_eighths(n, draw) + random_eighths(n, draw) for _ in range(2))
    scale = draw.choice((ONE, fmpq(1, 4)))
    move = (abs(v) for v in moves) if positive else moves
    return tuple(p + scale * q for p, q in zip(h, move, strict=True)), h
