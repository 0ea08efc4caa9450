"""One real model at two states of the stated set and at an input, in balls and rationals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import hypot
from typing import Any, NamedTuple

from flint import arb, arb_mat, fmpq
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation, activation
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.impl.gradients.criterion import Loss
from rnnbounds.impl.memory.adversary.attack import Attacked
from rnnbounds.properties.measures.certified.spectral import Norm, Secant
from rnnbounds.properties.read.entries import BALLS
from rnnbounds.properties.read.worlds.printed import of_layer, size_of_one
from rnnbounds.properties.systems.cells.batch import INWARD
from rnnbounds.properties.systems.unitary.exact import rational


class Local(NamedTuple):
    """A = ∂φ/∂s and B = ∂φ/∂w."""

    A: arb_mat
    B: arb_mat


Seen = arb | fmpq | Norm | Secant


@dataclass(frozen=True, eq=False)
class Point:
    """One model at two states and an input, in balls of the precision that is current.

    widths: the sizes of the states of its layers; n: how many outputs there are; known: what was
    read of the model so far, at that precision.
    """

    program: Any
    weights: Mapping[str, Tensor]
    certificate: Certificate
    widths: Sequence[int]
    n: int
    s: Sequence[float]
    other: Sequence[float]
    x: Sequence[float]
    near: Mapping[str, Tensor]
    loss: Loss
    unitary: UnitaryModel | None = None
    attacked: Attacked | None = None
    known: dict[Any, Any] = field(default_factory=dict)

    def once(self, read: Callable[[Point], Any]) -> Any:
        """Evaluate a function of the model alone, once for all its states and inputs."""
        if read not in self.known:
            self.known[read] = read(self)
        return self.known[read]

    def norm(self, role: str) -> Norm:
        """‖A‖₂ of a weight."""
        if role not in self.known:
            self.known[role] = Norm(self.weights[role])
        found: Norm = self.known[role]
        return found

    @cached_property
    def made(self) -> Balls:
        """The arithmetic."""
        return Balls(self.weights)

    def step(self, s: Sequence[float | arb]) -> list[arb]:
        """φ(s, x)."""
        told: list[arb] = self.program(self.made, column(s), column(self.x)).matrix.entries()
        return told

    @property
    def rho(self) -> Activation:
        """ρ, by the end of the cell's name."""
        name = self.certificate.cell.partition("-")[2]
        return activation(name or "identity")

    @cached_property
    def gates(self) -> tuple[Columns, ...]:
        """Pre-activations of the model's gates at the state s."""
        return self.fed(self.s[-self.n :])

    def fed(self, h: Sequence[float]) -> tuple[Columns, ...]:
        """Evaluate the gates' pre-activations W_ih x + b_ih + W_hh h + b_hh at an output h."""
        driven = self.made.affine("weight_ih", "bias_ih", column(self.x))
        whole = driven + self.made.affine("weight_hh", "bias_hh", column(h))
        return whole.chunk(len(self.weights["weight_hh"]) // self.n)

    def candidate(self, h: Sequence[float]) -> list[arb]:
        """ν of a GRU."""
        m, rows = self.made, slice(2 * self.n, 3 * self.n)
        driven = m.affine("weight_ih", "bias_ih", column(self.x)).chunk(3)[2]
        reset = self.fed(h)[0].sigmoid()
        if self.certificate.cell == "gru-cho":
            recurrent = m.affine("weight_hh", "bias_hh", reset * column(h), rows)
        else:
            recurrent = reset * m.affine("weight_hh", "bias_hh", column(h), rows)
        return values((driven + recurrent).tanh())

    @cached_property
    def decays(self) -> list[arb]:
        """By how much each unit of a cell that is linear in its state is kept."""
        units, rest = len(self.s), self.step([0.0] * len(self.s))
        moved = (self.step([float(i == j) for i in range(units)]) for j in range(self.n))
        return [root([a - b for a, b in zip(one, rest, strict=True)]) for one in moved]

    @cached_property
    def small(self) -> tuple[Sequence[float], Sequence[float]]:
        """Both states, cut to the bound within which training goes on."""
        assert self.certificate.training is not None
        bound = self.certificate.training.constants.B_h * INWARD
        found = [cut(s, bound) for s in (self.s, self.other)]
        return found[0], found[1]

    def local(self, s: Sequence[float], weights: Mapping[str, Tensor] | None = None) -> Local:
        """The derivatives of one step."""
        held = {name: part[None] for name, part in (weights or self.weights).items()}
        of: Any = BALLS.directions(held, len(s), 0, tuple(held))
        start = Dual(column(s), of.unit(column(s), 0))
        made = DualArithmetic(BALLS.arithmetic(held), of)
        found = self.program(made, start, of.still(self.x)).tangent
        return Local(*(BALLS.cut(found, part).matrix for part in (of.of_state, of.of_parameters)))

    def loss_gradient(self, s: Sequence[float]) -> arb_mat:
        """∇p(h)."""
        return arb_mat([[a] for a in self.loss.ball_gradient([arb(v) for v in s])])

    def changed(self, f: Callable[[Sequence[float]], arb_mat]) -> Seen:
        """The secant slope of something in the state."""
        one, two = self.small
        return secant(f(one) - f(two), one, two)

    def moved_weights(self) -> Seen:
        """The secant slope of ∂φ/∂w in the weights."""
        own, other = (
            [a for name in self.weights for a in part[name].flatten().tolist()]
            for part in (self.weights, self.near)
        )
        s = self.small[0]
        return secant(self.local(s).B - self.local(s, self.near).B, own, other)

    def row_sum(self, place: int) -> fmpq:
        """‖W‖_∞ of a gate's recurrent weights."""
        rows = self.weights["weight_hh"][place * self.n : (place + 1) * self.n].tolist()
        return max(sum((abs(rational(a)) for a in row), fmpq(0)) for row in rows)

    def coupled(self, layer: int) -> arb:
        """μ: how much of a layer's move is of the layer below, for each unit of that one's."""
        told, rows = self.certificate, self.certificate.weights or ()
        after = [a - b for a, b in zip(self.step(self.s), self.step(self.other), strict=True)]
        before = [arb(a) - arb(b) for a, b in zip(self.s, self.other, strict=True)]
        starts = [sum(self.widths[:l]) for l in range(len(self.widths))]
        if layer == 0:
            return arb(0)

        def size(v: Sequence[arb], l: int) -> arb:
            row = rows[l]
            assert isinstance(row, tuple)
            found = of_layer(told.norm, row[1:], starts[l], self.widths[l], 1.0)
            return arb("nan") if found is None else size_of_one(found, v).ball

        below = size(after, layer - 1)
        left = size(after, layer) - arb(told.constants[f"lam_l{layer}"]) * size(before, layer)
        return arb(0) if not below > 0 or left < 0 else left / below


def secant(moved: arb_mat, one: Sequence[float], two: Sequence[float]) -> Seen:
    """The norm of a change over that of what changed."""
    square = sum(((rational(a) - rational(b)) ** 2 for a, b in zip(one, two, strict=True)), fmpq(0))
    return fmpq(0) if square == 0 else Secant(moved, square)


def cut(s: Sequence[float], bound: float) -> list[float]:
    """A state cut to a norm."""
    size = hypot(*s)
    return [a * (bound / size * INWARD) for a in s] if size > bound else list(s)


def column(values: Sequence[float | arb]) -> Columns:
    """One column of numbers."""
    return Columns([[arb(value)] for value in values])


def values(one: Columns) -> list[arb]:
    """The numbers of one column."""
    return [row[0] for row in one.units]


def root(v: Sequence[arb]) -> arb:
    """‖v‖₂, exact of one number."""
    rest = [a for a in v if not a.is_zero()]
    return abs(rest[0]) if len(rest) == 1 else sum((a * a for a in rest), arb(0)).sqrt()


def largest(found: Sequence[arb]) -> arb:
    """The largest |v|."""
    most = arb(0)
    for value in found:
        most = most.max(abs(value))
    return most


def least(found: Sequence[arb]) -> arb:
    """The smallest v."""
    few = found[0]
    for value in found[1:]:
        few = few.min(value)
    return few
