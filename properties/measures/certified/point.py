"""One real model at two states of the stated set and at an input, in balls and rationals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flint import arb, fmpq
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation, activation
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.impl.memory.adversary.attack import Attacked
from rnnbounds.properties.measures.certified.matrix_norms import MatrixNorm, ScaledNorm
from rnnbounds.properties.read.worlds.printed import layer_norm_parts, norm_of_state
from rnnbounds.properties.systems.unitary.exact import rational

RecomputedValue = arb | fmpq | MatrixNorm | ScaledNorm


@dataclass(frozen=True, eq=False)
class ModelPoint:
    """One model at two states and an input, in balls of the precision that is current.

    widths: the sizes of the states of its layers; n: how many outputs there are; C: a readout of
    them; cache: what was
    read of the model so far, at that precision.
    """

    program: Any
    weights: Mapping[str, Tensor]
    certificate: Certificate
    widths: Sequence[int]
    n: int
    s: Sequence[float]
    other_state: Sequence[float]
    x: Sequence[float]
    C: Tensor
    unitary: UnitaryModel | None = None
    attack: Attacked | None = None
    cache: dict[Any, Any] = field(default_factory=dict)

    def cached(self, read: Callable[[ModelPoint], Any]) -> Any:
        """Evaluate a function of the model alone, once for all its states and inputs."""
        if read not in self.cache:
            self.cache[read] = read(self)
        return self.cache[read]

    def weight_norm(self, role: str) -> MatrixNorm:
        """‖A‖₂ of a weight."""
        if role not in self.cache:
            self.cache[role] = MatrixNorm(self.weights[role])
        found: MatrixNorm = self.cache[role]
        return found

    @cached_property
    def arithmetic(self) -> Balls:
        """Ball arithmetic over the model's weights."""
        return Balls(self.weights)

    def step(self, s: Sequence[float | arb]) -> list[arb]:
        """φ(s, x)."""
        state: list[arb] = self.program(
            self.arithmetic, ball_column(s), ball_column(self.x)
        ).matrix.entries()
        return state

    @property
    def rho(self) -> Activation:
        """ρ, by the end of the cell's name."""
        name = self.certificate.cell.partition("-")[2]
        return activation(name or "identity")

    @cached_property
    def gates(self) -> tuple[Columns, ...]:
        """Pre-activations of the model's gates at the state s."""
        return self.gate_preactivations(self.s[-self.n :])

    def gate_preactivations(self, h: Sequence[float]) -> tuple[Columns, ...]:
        """Evaluate the gates' pre-activations W_ih x + b_ih + W_hh h + b_hh at an output h."""
        from_input = self.arithmetic.affine("weight_ih", "bias_ih", ball_column(self.x))
        preactivations = from_input + self.arithmetic.affine("weight_hh", "bias_hh", ball_column(h))
        return preactivations.chunk(len(self.weights["weight_hh"]) // self.n)

    def candidate(self, h: Sequence[float]) -> list[arb]:
        """ν of a GRU."""
        m, rows = self.arithmetic, slice(2 * self.n, 3 * self.n)
        from_input = m.affine("weight_ih", "bias_ih", ball_column(self.x)).chunk(3)[2]
        reset = self.gate_preactivations(h)[0].sigmoid()
        if self.certificate.cell == "gru-cho":
            recurrent = m.affine("weight_hh", "bias_hh", reset * ball_column(h), rows)
        else:
            recurrent = reset * m.affine("weight_hh", "bias_hh", ball_column(h), rows)
        return column_values((from_input + recurrent).tanh())

    def row_sum(self, place: int) -> fmpq:
        """‖W‖_∞ of a gate's recurrent weights."""
        rows = self.weights["weight_hh"][place * self.n : (place + 1) * self.n].tolist()
        return max(sum((abs(rational(a)) for a in row), fmpq(0)) for row in rows)

    def layer_coupling(self, layer: int) -> arb:
        """μ: how much of a layer's move is of the layer below, for each unit of that one's."""
        certificate, rows = self.certificate, self.certificate.weights or ()
        moved_after = [
            a - b for a, b in zip(self.step(self.s), self.step(self.other_state), strict=True)
        ]
        moved_before = [arb(a) - arb(b) for a, b in zip(self.s, self.other_state, strict=True)]
        offsets = [sum(self.widths[:l]) for l in range(len(self.widths))]
        if layer == 0:
            return arb(0)

        def size(v: Sequence[arb], l: int) -> arb:
            row = rows[l]
            assert isinstance(row, tuple)
            norm_parts = layer_norm_parts(
                certificate.norm, row[1:], offsets[l], self.widths[l], 1.0
            )
            return arb("nan") if norm_parts is None else norm_of_state(norm_parts, v).ball

        below_size = size(moved_after, layer - 1)
        excess = size(moved_after, layer) - arb(certificate.constants[f"lam_l{layer}"]) * size(
            moved_before, layer
        )
        return arb(0) if not below_size > 0 or excess < 0 else excess / below_size


def ball_column(values: Sequence[float | arb]) -> Columns:
    """A column of balls with these values."""
    return Columns([[arb(value)] for value in values])


def column_values(column: Columns) -> list[arb]:
    """The entries of a column of balls."""
    return [row[0] for row in column.units]


def euclidean_norm(v: Sequence[arb]) -> arb:
    """‖v‖₂, exact of one number."""
    nonzero = [a for a in v if not a.is_zero()]
    return abs(nonzero[0]) if len(nonzero) == 1 else sum((a * a for a in nonzero), arb(0)).sqrt()


def largest_modulus(values: Sequence[arb]) -> arb:
    """The largest |v|."""
    largest_value = arb(0)
    for value in values:
        largest_value = largest_value.max(abs(value))
    return largest_value


def least_value(values: Sequence[arb]) -> arb:
    """The smallest v."""
    smallest = values[0]
    for value in values[1:]:
        smallest = smallest.min(value)
    return smallest
