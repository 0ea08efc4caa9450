"""The norm that a certificate prints, by its name and its weights.

spectral: ‖s‖₂, or max ‖s_b‖₂/w_b over blocks; infinity: max |s_i|; one: Σ |s_i|; perron and
comparison: max |s_i|/v_i; diagonal, diagonal-sdp and iterated: ‖(d_i s_i)‖₂; quadratic: ‖Qs‖₂; of a
stack max ‖s^l‖/t_l over the layers, each in the norm of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from flint import arb

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.norms.solver.client import SOLVER_NORM
from rnnbounds.impl.numbers.outward import UNIT
from rnnbounds.properties.read.numbers.norms import gamma, length_of
from rnnbounds.properties.read.numbers.rounded import UP, Rounded
from rnnbounds.properties.read.numbers.sizes import Size, absolute_sum, euclidean, largest, of
from rnnbounds.properties.systems.unitary.exact import rational

Tensor = torch.Tensor
SIZES: dict[str, str] = {
    "spectral": "two", "infinity": "largest", "one": "sum", "perron": "largest",
    "comparison": "largest", "diagonal": "two", SOLVER_NORM: "two", "iterated": "two",
    "quadratic": "two",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """‖Q s‖, ‖(d_i s_i)‖ or ‖(s_i/v_i)‖ of the states from start on, before stop, over ``by``."""

    start: int
    stop: int
    size: str
    times: tuple[float, ...] = ()
    over: tuple[float, ...] = ()
    rows: tuple[tuple[float, ...], ...] = ()
    by: float = 1.0


def parts(certificate: Certificate, widths: Sequence[int]) -> list[Part] | None:
    """The parts whose largest is the norm; None where what is printed does not say it."""
    name, told = certificate.norm, certificate.weights
    if not certificate.cell.startswith(PREFIX):
        return of_layer(name, told or (), 0, widths[0], 1.0)
    found: list[Part] = []
    start = 0
    for width, row in zip(widths, told or (), strict=True):
        assert isinstance(row, tuple)
        layer = of_layer(name, row[1:], start, width, row[0])
        if layer is None:
            return None
        found += layer
        start += width
    return found


def of_layer(name: str, told: Any, start: int, width: int, by: float) -> list[Part] | None:
    """Those of one layer."""
    if name not in SIZES:
        return None
    size, stop = SIZES[name], start + width
    if name == "spectral" and told:
        block = width // len(told)
        return [
            Part(start + i * block, start + (i + 1) * block, size, over=(w,) * block, by=by)
            for i, w in enumerate(told)
        ]
    if name == "quadratic":
        return [Part(start, stop, size, rows=by_rows(told, width), by=by)]
    over = tuple(told) if size == "largest" else ()
    times = () if size == "largest" else tuple(told)
    return [Part(start, stop, size, times, over, by=by)]


def by_rows(told: Any, width: int) -> tuple[tuple[float, ...], ...]:
    """The rows of Q, also of a layer, where they stand in one."""
    if told and not isinstance(told[0], tuple):
        return tuple(tuple(told[i : i + width]) for i in range(0, len(told), width))
    return tuple(told)


def inverse(values: Sequence[float]) -> Rounded:
    """1/v of each, (1, m, 1, …) to be broadcast."""
    found = 1 / torch.tensor(values, dtype=torch.float64)
    return Rounded(found, 2 * UNIT * found)


def shaped(told: Rounded, like: Rounded) -> Rounded:
    """Along the second of as many axes."""
    shape = (1, -1, *[1] * (like.value.ndim - 2))
    return Rounded(
        *(part.reshape(shape).expand_as(like.value) for part in (told.value, told.error))
    )


def size_of(part: Part, s: Rounded) -> tuple[Tensor, Tensor]:
    """One part of states (B, N, …), and the error."""
    v = s.part(part.start, part.stop)
    if part.rows:
        v = v.mapped(
            torch.tensor(part.rows, dtype=torch.float64)[None].expand(len(v.value), -1, -1)
        )
    if part.times:
        v = v * shaped(Rounded.exact(torch.tensor(part.times, dtype=torch.float64)), v)
    if part.over:
        v = v * shaped(inverse(part.over), v)
    v = v * shaped(inverse([part.by] * v.size), v)
    if part.size == "two":
        return length_of(v, 1)
    gather: Callable[[Tensor], Tensor] = lambda a: a.amax(1) if part.size == "largest" else a.sum(1)  # noqa: E731
    value, error = gather(v.value.abs()), gather(v.error)
    return value, (error + gamma(v.size + 2) * value) * UP


def norm_of(found: Sequence[Part], s: Rounded) -> tuple[Tensor, Tensor]:
    """The norm of states (B, N, …), and its error."""
    sizes = [size_of(part, s) for part in found]
    value, error = (torch.stack(list(ends)).amax(0) for ends in zip(*sizes, strict=True))
    return value, error


def size_of_one(found: Sequence[Part], s: Sequence[Any]) -> Size:
    """The norm of one state, of balls or rationals."""
    return largest([part_of_one(part, list(s[part.start : part.stop])) for part in found])


def part_of_one(part: Part, v: list[Any]) -> Size:
    """One part of one state."""
    exact = type(v[0])
    number = exact if exact is arb else rational
    if part.rows:
        rows = (zip(map(number, row), v, strict=True) for row in part.rows)
        v = [sum((q * a for q, a in row), exact(0)) for row in rows]
    if part.times:
        v = [number(d) * a for d, a in zip(part.times, v, strict=True)]
    if part.over:
        v = [a / number(w) for w, a in zip(part.over, v, strict=True)]
    by: Size = of(number(part.by))
    if part.size == "largest":
        return largest(list(map(of, v))) / by
    return (euclidean(v) if part.size == "two" else absolute_sum(v)) / by
