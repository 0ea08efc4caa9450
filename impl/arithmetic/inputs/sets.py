"""Sets of admissible inputs, beyond a ball: a box by channel, the rows of a table, data.

A set is {x : ‖x‖₂ ≤ B, low ≤ x ≤ high}, or the rows of a table in it. It is no number: bounds for
the ball that holds it, of radius `float(inputs)`, apply to the set.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import (
    InputError,
    NotFiniteError,
    RangeError,
    ShapeError,
    at_least,
    exactly,
    number,
)
from rnnbounds.impl.numbers.outward import add_up, norm_up

_LONGEST_TEXT = 4  # sides of a box in words
_MOST_CHANNELS = 2**24
Endpoints = float | Sequence[float] | Tensor


@dataclass(frozen=True, eq=False, repr=False)
class InputSet:
    """A set of inputs (d,): B, the radius of a ball that holds it; low, high (d,) float64.

    what: the set in words. rows (m, d): all that inputs may be; None for a box.

    >>> inputs = rnnbounds.input_box(-1, 1, 3)
    >>> inputs.low, inputs.high, float(inputs)  # the box, and the radius of the ball
    """

    B: float
    low: Tensor
    high: Tensor
    what: str
    rows: Tensor | None = None

    def __float__(self) -> float:
        """The radius of the ball."""
        return self.B

    def __repr__(self) -> str:
        """The set in words."""
        return f"InputSet({self.what}, ‖x‖₂ ≤ {at_least(self.B)})"

    @property
    def d(self) -> int:
        """The size of an input."""
        return len(self.low)

    @property
    def box(self) -> "InputSet":
        """The box and the ball that hold the set."""
        return InputSet(self.B, self.low, self.high, f"the box around {self.what}")

    def to_dict(self) -> dict[str, Any]:
        """The set as plain JSON data; the rows of a table are counted."""
        kind, count = ("box", None) if self.rows is None else ("rows", len(self.rows))
        ends = {"low": self.low.tolist(), "high": self.high.tolist()}
        return {"set": kind, "what": self.what, **ends, "rows": count}

    def require(self, d: int) -> None:
        """Raises InputError unless inputs of the model are as large."""
        if self.d != d:
            raise InputError(
                f"the set of inputs has {self.d} channels ({self.what}), but the model reads {d}; "
                f"state one with {d}"
            )

    def holds(self, x: Sequence[float]) -> bool:
        """True if an input is in the set, which is decided exactly."""
        inside = zip(self.low.tolist(), x, self.high.tolist(), strict=True)
        square = sum(Fraction(a) ** 2 for a in x)
        if not (all(l <= a <= h for l, a, h in inside) and square <= Fraction(self.B) ** 2):
            return False
        point = torch.tensor(x, dtype=torch.float64)
        return self.rows is None or bool((self.rows == point).all(1).any())


InputBound = float | InputSet
"""The radius of a ball that inputs are in, or their set."""


def bound_of(inputs: object) -> InputBound:
    """B of inputs ‖x_t‖₂ ≤ B, or their set; raises RangeError unless 0 ≤ B < ∞."""
    if isinstance(inputs, InputSet):
        return inputs
    B = number("the input bound B", inputs, "a number ≥ 0")
    if not 0 <= B < math.inf:
        raise RangeError("the input bound B", inputs, "a number ≥ 0")
    return B


def input_box(low: Endpoints, high: Endpoints, d: int | None = None) -> InputSet:
    """low ≤ x ≤ high, channel by channel; d for one number that is meant for all of them.

    Raises NotFiniteError, ShapeError, InputError for what are no real numbers, and RangeError
    where low > high.

    >>> rnnbounds.input_box([0, -1], [1, 1])  # a channel within [0, 1], another within [−1, 1]
    """
    ends = [_own_endpoint(end).reshape(-1) for end in (low, high)]
    if d is not None:
        if type(d) is not int or not 1 <= d <= _MOST_CHANNELS:
            raise RangeError("the number of channels", d, f"a number from 1 to {_MOST_CHANNELS}")
        ends = [end.repeat(d) if len(end) == 1 else end for end in ends]
    low_end, high_end = ends
    if low_end.shape != high_end.shape or not len(low_end):
        raise ShapeError("the box of inputs", "two ends of one length", high_end)
    if not bool(torch.isfinite(torch.stack(ends)).all()):
        raise NotFiniteError("the box of inputs", "give it finite ends")
    if bool((low_end > high_end).any()):
        channel = int((low_end > high_end).to(torch.int8).argmax())
        raise RangeError(
            "a box's lower end", float(low_end[channel]), f"at most {float(high_end[channel])}"
        )
    B = float(norm_up(torch.maximum(low_end.abs(), high_end.abs())))
    sides = [f"[{a!r}, {b!r}]" for a, b in zip(low_end.tolist(), high_end.tolist(), strict=True)]
    what = " × ".join(sides) if len(sides) <= _LONGEST_TEXT else f"a box of {len(sides)} channels"
    if len(set(sides)) == 1 < len(sides):
        what = f"{sides[0]}, each of {len(sides)} channels"
    return InputSet(B, low_end, high_end, what)


def input_rows(table: Tensor, what: str = "the rows of a table") -> InputSet:
    """The rows of a table (m, d), of an embedding say. Raises NotFiniteError, ShapeError, and
    InputError for what is no tensor of real numbers.

    >>> rnnbounds.certify(model.rnn, inputs=rnnbounds.input_rows(model.embed.weight))
    """
    if not _is_real_tensor(table):
        raise InputError(f"{what} must be a tensor of real numbers; make it with torch.tensor")
    E = table.detach().to("cpu", torch.float64)
    if E.ndim != 2 or not E.numel():
        raise ShapeError(what, "(rows, d)", table)
    if not bool(torch.isfinite(E).all()):
        raise NotFiniteError(what, "leave such rows out")
    rows: Tensor = torch.unique(E, dim=0)
    return InputSet(float(norm_up(E).max()), E.amin(0), E.amax(0), what, rows)


def data_box(
    largest: float, ends: tuple[Tensor, Tensor], margin: float = 0.0, what: str = "the data"
) -> InputSet:
    """All within a Euclidean margin of what was seen to lie in these ends and in ‖x‖₂ ≤ largest."""
    if not 0 <= number("the margin", margin, "a number ≥ 0") < math.inf:
        raise RangeError("the margin", margin, "a number ≥ 0")
    low, high = -add_up(-ends[0], margin), add_up(ends[1], margin)
    suffix = f" and all within {exactly(margin)} of it" if margin else ""
    return InputSet(float(add_up(largest, margin)), low, high, f"the box around {what}{suffix}")


def _is_real_tensor(table: object) -> bool:
    if not isinstance(table, Tensor) or table.is_complex() or table.is_nested:
        return False
    return table.layout is torch.strided and not table.is_quantized and not table.is_meta


def _own_endpoint(end: Endpoints) -> Tensor:
    """The numbers of an end, which whoever gave them cannot change."""
    try:
        if not (end.is_complex() if isinstance(end, Tensor) else np.iscomplexobj(end)):
            return torch.as_tensor(end, dtype=torch.float64, device="cpu").detach().clone()
    except (OverflowError, RuntimeError, TypeError, ValueError):
        pass
    raise InputError(
        "an end of the box of inputs is not a real number; give one number per channel"
    )
