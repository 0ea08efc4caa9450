"""The norm that a certificate prints, by its name and its weights.

spectral: ‖s‖₂, or max ‖s_b‖₂/w_b over blocks; infinity: max |s_i|; one: Σ |s_i|; perron and
comparison: max |s_i|/v_i; diagonal: ‖(d_i s_i)‖₂; quadratic and quadratic-sdp: ‖Qs‖₂; of a stack
max ‖s^l‖/t_l over the layers, each in the norm of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from flint import arb

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.norms.solver import METRIC_SDP
from rnnbounds.impl.numbers.outward import UNIT
from rnnbounds.properties.read.numbers.norms import gamma, vector_lengths
from rnnbounds.properties.read.numbers.rounded import ROUND_UP, Rounded
from rnnbounds.properties.read.numbers.sizes import (
    Size,
    absolute_sum_size,
    as_size,
    euclidean_size,
    largest_size,
)
from rnnbounds.properties.systems.unitary.exact import rational

Tensor = torch.Tensor
SIZES: dict[str, str] = {
    "spectral": "two", "infinity": "largest", "one": "sum", "perron": "largest",
    "comparison": "largest", "diagonal": "two", "quadratic": "two", METRIC_SDP: "two",
}  # fmt: skip


@dataclass(frozen=True)
class NormPart:
    """‖Q s‖, ‖(d_i s_i)‖ or ‖(s_i/v_i)‖ of the states from start on, before stop, over
    ``layer_weight``."""

    start: int
    stop: int
    kind: str
    factors: tuple[float, ...] = ()
    divisors: tuple[float, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    layer_weight: float = 1.0


def norm_parts(certificate: Certificate, widths: Sequence[int]) -> list[NormPart] | None:
    """The parts whose largest is the norm; None where what is printed does not say it."""
    name, weights = certificate.norm, certificate.weights
    if not certificate.cell.startswith(PREFIX):
        return layer_norm_parts(name, weights or (), 0, widths[0], 1.0)
    found: list[NormPart] = []
    start = 0
    for width, row in zip(widths, weights or (), strict=True):
        assert isinstance(row, tuple)
        layer = layer_norm_parts(name, row[1:], start, width, row[0])
        if layer is None:
            return None
        found += layer
        start += width
    return found


def layer_norm_parts(
    name: str, weights: Any, start: int, width: int, layer_weight: float
) -> list[NormPart] | None:
    """The parts of one layer's norm."""
    if name not in SIZES:
        return None
    kind, stop = SIZES[name], start + width
    if name == "spectral" and weights:
        block = width // len(weights)
        return [
            NormPart(
                start + i * block,
                start + (i + 1) * block,
                kind,
                divisors=(w,) * block,
                layer_weight=layer_weight,
            )
            for i, w in enumerate(weights)
        ]
    if name in ("quadratic", METRIC_SDP):
        rows = matrix_rows(weights, width)[:width]  # after them stand the multipliers
        return [NormPart(start, stop, kind, matrix=rows, layer_weight=layer_weight)]
    divisors = tuple(weights) if kind == "largest" else ()
    factors = () if kind == "largest" else tuple(weights)
    return [NormPart(start, stop, kind, factors, divisors, layer_weight=layer_weight)]


def matrix_rows(weights: Any, width: int) -> tuple[tuple[float, ...], ...]:
    """The rows of Q, also of a layer, where they stand in one."""
    if weights and not isinstance(weights[0], tuple):
        return tuple(tuple(weights[i : i + width]) for i in range(0, len(weights), width))
    return tuple(weights)


def rounded_inverse(values: Sequence[float]) -> Rounded:
    """1/v of each, (1, m, 1, …) to be broadcast."""
    found = 1 / torch.tensor(values, dtype=torch.float64)
    return Rounded(found, 2 * UNIT * found)


def broadcast_units(numbers: Rounded, like: Rounded) -> Rounded:
    """Broadcast units (m,) along the second axis of states."""
    shape = (1, -1, *[1] * (like.value.ndim - 2))
    return Rounded(
        *(part.reshape(shape).expand_as(like.value) for part in (numbers.value, numbers.error))
    )


def part_norm(part: NormPart, s: Rounded) -> tuple[Tensor, Tensor]:
    """One part of the norm of states (B, N, …), and its error."""
    v = s.part(part.start, part.stop)
    if part.matrix:
        v = v.apply_matrix(
            torch.tensor(part.matrix, dtype=torch.float64)[None].expand(len(v.value), -1, -1)
        )
    if part.factors:
        v = v * broadcast_units(Rounded.exact(torch.tensor(part.factors, dtype=torch.float64)), v)
    if part.divisors:
        v = v * broadcast_units(rounded_inverse(part.divisors), v)
    v = v * broadcast_units(rounded_inverse([part.layer_weight] * v.size), v)
    if part.kind == "two":
        return vector_lengths(v, 1)
    gather: Callable[[Tensor], Tensor] = lambda a: a.amax(1) if part.kind == "largest" else a.sum(1)  # noqa: E731
    value, error = gather(v.value.abs()), gather(v.error)
    return value, (error + gamma(v.size + 2) * value) * ROUND_UP


def norm_of_states(found: Sequence[NormPart], s: Rounded) -> tuple[Tensor, Tensor]:
    """The norm of states (B, N, …), and its error."""
    sizes = [part_norm(part, s) for part in found]
    value, error = (torch.stack(list(ends)).amax(0) for ends in zip(*sizes, strict=True))
    return value, error


def norm_of_state(found: Sequence[NormPart], s: Sequence[Any]) -> Size:
    """The norm of one state, of balls or rationals."""
    return largest_size(
        [part_norm_of_state(part, list(s[part.start : part.stop])) for part in found]
    )


def part_norm_of_state(part: NormPart, v: list[Any]) -> Size:
    """One part of the norm of one state, in balls or rationals."""
    exact = type(v[0])
    number = exact if exact is arb else rational
    if part.matrix:
        rows = (zip(map(number, row), v, strict=True) for row in part.matrix)
        v = [sum((q * a for q, a in row), exact(0)) for row in rows]
    if part.factors:
        v = [number(d) * a for d, a in zip(part.factors, v, strict=True)]
    if part.divisors:
        v = [a / number(w) for w, a in zip(part.divisors, v, strict=True)]
    by: Size = as_size(number(part.layer_weight))
    if part.kind == "largest":
        return largest_size(list(map(as_size, v))) / by
    return (euclidean_size(v) if part.kind == "two" else absolute_sum_size(v)) / by
