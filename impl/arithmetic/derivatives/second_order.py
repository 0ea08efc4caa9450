"""First and second derivatives of the step of any cell, bounded unit by unit and block by block.

The directions are the state, in the norm max |s_j|/v_j, and blocks of trained parameters, each in
its Euclidean norm: every name, or every gate of one, since ‖δW‖² is the sum over its rows. A number
is an interval for each unit i, with ℓ_a ≥ |∂_a u_i δ|/‖δ‖ and s_ab ≥ |∂²_ab u_i(δ, δ′)|/‖δ‖‖δ′‖:

  W v + b:  ℓ = |W| ℓ^v + [W] sup‖v‖₂ + [b], s_ab = |W| s^v_ab + [a = W]‖ℓ^v_b‖₂ + [b = W]‖ℓ^v_a‖₂,
u v:      ℓ = ū ℓ^v + v̄ ℓ^u,              s_ab = ū s^v_ab + v̄ s^u_ab + ℓ^u_a ℓ^v_b + ℓ^u_b ℓ^v_a,
  f(v):     ℓ = sup|f′| ℓ^v,                 s_ab = sup|f′| s^v_ab + sup|f″| ℓ^v_a ℓ^v_b,

and g∘p + (1 − g)∘q has ζ ℓ^p + (1 − ζ) ℓ^q at the worse end ζ of g, plus sup|p − q| ℓ^g, and so has
its s with products of ℓ^g and ℓ^p + ℓ^q. All is rounded up. Source: Miller & Hardt, Section 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Program
from rnnbounds.impl.arithmetic.inputs.sets import InputBound
from rnnbounds.impl.arithmetic.intervals import FunctionBounds, Interval, RangedNumber
from rnnbounds.impl.arithmetic.weight_balls import EnclosingArithmetic, Radii
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, product_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@dataclass(frozen=True, eq=False)
class Jets(RangedNumber):
    """Intervals (B, m), first (B, m, D), second (B, m, D, D); radius (B,) of the inputs alone."""

    range: Interval
    first: Tensor
    second: Tensor
    radius: Tensor | None = None
    given: None = None

    def __add__(self, other: Self) -> Self:
        first, second = add_up(self.first, other.first), add_up(self.second, other.second)
        return type(self)(self.range + other.range, first, second)

    def __neg__(self) -> Self:
        return type(self)(-self.range, self.first, self.second)

    def __mul__(self, other: Self) -> Self:
        u, v = self.range.magnitude, other.range.magnitude
        first = add_up(_scale_units(u, other.first), _scale_units(v, self.first))
        second = add_up(_scale_units(u, other.second), _scale_units(v, self.second))
        cross_terms = _symmetric_products(self.first, other.first)
        return type(self)(self.range * other.range, first, add_up(second, cross_terms))

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, depending on nothing."""
        first, second = torch.zeros_like(self.first), torch.zeros_like(self.second)
        return type(self)(self.range.constant(c), first, second)

    def apply(self, f: FunctionBounds) -> Self:
        """f of each unit."""
        slope, curvature = f.slope(self.range), f.curvature(self.range)
        curvature_terms = _scale_units(curvature, _outer_products(self.first, self.first))
        second = add_up(_scale_units(slope, self.second), curvature_terms)
        return type(self)(f.image(self.range), _scale_units(slope, self.first), second)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        first, second = self.first[:, start:stop], self.second[:, start:stop]
        return type(self)(self.range.part(start, stop), first, second)


@dataclass(frozen=True, eq=False)
class JetArithmetic(EnclosingArithmetic):
    """Parameters (B, m, n) and (B, m), all of which move.

    `groups`: into how many blocks of rows each of them falls. Direction 0 is the state. With radii,
    whatever the parameters are within these distances; see `impl.arithmetic.weight_balls`.
    """

    groups: Mapping[str, int]

    @property
    def directions(self) -> int:
        """The number D of directions: the state and each block of parameters."""
        return 1 + sum(self.groups.values())

    @cached_property
    def _first_directions(self) -> dict[str, int]:
        starts, direction = {}, 1
        for name, count in self.groups.items():
            starts[name], direction = direction, direction + count
        return starts

    def own_direction(self, name: str, rows: slice) -> Tensor:
        """Indicators (rows, D): 1 where a direction moves a row of the parameter, else 0."""
        parameter = self.parameters[name]
        count = parameter.shape[1]
        indicator = parameter.new_zeros(count, self.directions)
        block = torch.arange(count, device=parameter.device) * self.groups[name] // count
        indicator.scatter_(1, (self._first_directions[name] + block)[:, None], 1.0)
        return indicator[rows]

    def affine(self, weight: str, bias: str | None, v: Jets, rows: slice = ALL) -> Jets:
        """W v + b."""
        interval, reach = self.affine_range(weight, bias, v, rows), self.vector_norm(v)
        size = self.weight_magnitudes(weight, rows)
        direction = self.own_direction(weight, rows).expand(len(size), -1, -1)
        first = add_up(product_up(size, v.first), mul_up(direction, reach[:, None, None]))
        linear = product_up(size, v.second.flatten(2)).reshape(*first.shape, first.shape[2])
        second = add_up(linear, _symmetric_products(direction, norm_up(v.first.mT)[:, None, :]))
        if bias is not None and bias in self.parameters:
            first = add_up(first, self.own_direction(bias, rows))
        return Jets(interval, first, second)

    def vector(self, name: str, rows: slice = ALL) -> Jets:
        """A parameter vector."""
        interval = self.vector_range(name, rows)
        first = self.own_direction(name, rows).expand(*interval.low.shape, -1)
        return Jets(interval, first, first.new_zeros(*first.shape, first.shape[2]))

    def mix(self, gate: Jets, a: Jets, b: Jets) -> Jets:
        """g∘a + (1 − g)∘b."""
        difference = (a.range + -b.range).magnitude
        ends = [(g, add_up(1.0, -g)) for g in (gate.range.low, gate.range.high)]

        def interpolate(first_side: Tensor, second_side: Tensor, gate_part: Tensor) -> Tensor:
            sides = [
                add_up(_scale_units(g, first_side), _scale_units(complement, second_side))
                for g, complement in ends
            ]
            return add_up(torch.maximum(*sides), _scale_units(difference, gate_part))

        first = interpolate(a.first, b.first, gate.first)
        cross_terms = _symmetric_products(gate.first, add_up(a.first, b.first))
        second = add_up(interpolate(a.second, b.second, gate.second), cross_terms)
        return Jets(gate.range.mixed(a.range, b.range), first, second)

    def join(self, *parts: Jets) -> Jets:
        """All units of the parts, one after another."""
        first, second = (
            torch.cat([getattr(p, name) for p in parts], 1) for name in ("first", "second")
        )
        return Jets(Interval.joined(*(p.range for p in parts)), first, second)


def step_jets(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    v: Tensor,
    B: InputBound | Tensor,
    d: int,
    *,
    gates: int = 1,
    radii: Radii = MappingProxyType({}),
) -> Jets:
    """One step from |s| ≤ box (B, N) and ‖x‖₂ ≤ B, the state in max |s_j|/v_j (B, N).

    Parameters whose rows are a multiple of `gates` fall into that many blocks.
    """
    groups = {name: gates if part.shape[1] % gates == 0 else 1 for name, part in parameters.items()}
    m = JetArithmetic(parameters, groups, radii=radii)
    batch, D = len(box), m.directions
    radius = torch.as_tensor(B, dtype=box.dtype, device=box.device).reshape(-1).expand(batch)

    def zeros(units: int) -> tuple[Tensor, Tensor]:
        return box.new_zeros(batch, units, D), box.new_zeros(batch, units, D, D)

    first, second = zeros(box.shape[1])
    first[:, :, 0] = v
    x = Jets(Interval.symmetric(radius[:, None].expand(-1, d)), *zeros(d), radius)
    return program(m, Jets(Interval.symmetric(box), first, second), x)


def second_order_constants(jet: Jets, v: Tensor) -> dict[str, Tensor]:
    """L_w, β_hh, β_hw = β_wh and β_ww of a step (B,), states in max |s_j|/v_j, parameters in ‖·‖₂.

    ‖∂_wφ δw‖_v ≤ L_w‖δw‖₂ and so on: with ‖δw‖² the sum over blocks, a unit's is the Euclidean norm
    of its ℓ, and the spectral norm of its s, over the blocks.
    """
    second = jet.second
    parameters = second[:, :, 1:, 1:]
    norms = certified_norm(parameters.flatten(0, 1)).reshape(v.shape)
    unit_bounds = {
        "L_w": norm_up(jet.first[:, :, 1:]),
        "beta_hh": second[:, :, 0, 0],
        "beta_hw": norm_up(second[:, :, 0, 1:]),
        "beta_ww": norms,
    }
    bounds = {name: div_up(bound, v).amax(1) for name, bound in unit_bounds.items()}
    return bounds | {"beta_wh": bounds["beta_hw"]}


def _scale_units(rows: Tensor, tensor: Tensor) -> Tensor:
    """rows∘part along the units; 0 where the part is."""
    factors = rows.reshape(*rows.shape, *[1] * (tensor.ndim - 2))
    return torch.where(tensor == 0, 0.0, mul_up(factors, tensor))


def _outer_products(a: Tensor, b: Tensor) -> Tensor:
    """a_p b_q for each unit: (B, m, D) -> (B, m, D, D); 0 where one of them is."""
    left, right = a[..., :, None], b[..., None, :]
    return torch.where((left == 0) | (right == 0), 0.0, mul_up(left, right))


def _symmetric_products(a: Tensor, b: Tensor) -> Tensor:
    """a_p b_q + a_q b_p for each unit: (B, m, D) -> (B, m, D, D)."""
    products = _outer_products(a, b)
    return add_up(products, products.mT)
