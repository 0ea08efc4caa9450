"""The numbers that a cell's step runs over: operations, elementary functions, slices of units."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, ClassVar, Self

from rnnbounds.impl.errors import InputError


def _accept_numbers(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Wrap a binary operation so that its right operand may be a Python number."""

    @wraps(operation)
    def checked(self: Any, other: Any) -> Any:
        if type(other) is not type(self) and isinstance(other, Real):  # the first is far quicker
            other = self.constant(other)
        elif other.size != self.size and not self.levels:
            raise LengthError(self.size, other.size)
        return operation(self, other)

    return checked


def _require_finite(constant: Callable[[Any, float], Any]) -> Callable[[Any, Any], Any]:
    """Wrap `constant` to convert its argument to float; raises InputError unless it is finite."""

    @wraps(constant)
    def checked(self: Any, c: Any) -> Any:
        try:
            value = float(c)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise InputError(f"the step of the cell computes with {value}; write a finite number")
        return constant(self, value)

    return checked


class LengthError(InputError):
    """Numbers of two lengths that meet: which unit meets which is not said."""

    def __init__(self, first: int, other: int) -> None:
        self.first, self.other = first, other
        super().__init__(
            f"{first} and {other} units meet in the step of a cell; give them one length"
        )


class Elementary(ABC):
    """A vector of units, of one kind of number, for many columns: the operations of a cell's step.

    Operations are entrywise, and one column meets many. Python numbers stand on either side: 1 − g,
    0.1 s; each is taken as its float, exactly where the arithmetic is exact; NaN and infinity raise
    InputError. Vectors of two lengths raise LengthError unless `levels`.
    """

    levels: ClassVar[bool] = False  # numbers of one unit meet several

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("__add__", "__sub__", "__mul__", "constant"):
            if name in vars(cls):
                wrap = _require_finite if name == "constant" else _accept_numbers
                setattr(cls, name, wrap(vars(cls)[name]))

    @property
    @abstractmethod
    def size(self) -> int:
        """How many units."""

    @abstractmethod
    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def __mul__(self, other: Self) -> Self: ...

    @abstractmethod
    def __neg__(self) -> Self: ...

    def __radd__(self, c: float) -> Self:
        return self.constant(c) + self

    def __rsub__(self, c: float) -> Self:
        return self.constant(c) - self

    def __rmul__(self, c: float) -> Self:
        return self.constant(c) * self

    def function(self, name: str) -> Self:
        """The elementary function of that name, entry by entry."""
        raise NotImplementedError(name)

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        size = self.size // count
        return tuple(self.part(i * size, (i + 1) * size) for i in range(count))

    def sigmoid(self) -> Self:
        """1/(1 + e⁻ᵃ)."""
        return self.function("sigmoid")

    def tanh(self) -> Self:
        """tanh a."""
        return self.function("tanh")

    def exp(self) -> Self:
        """eᵃ."""
        return self.function("exp")

    def softplus(self) -> Self:
        """log(1 + eᵃ)."""
        return self.function("softplus")

    def sin(self) -> Self:
        """sin a."""
        return self.function("sin")

    def cos(self) -> Self:
        """cos a."""
        return self.function("cos")

    def reciprocal(self) -> Self:
        """1/a."""
        return self.function("reciprocal")

    def sqrt(self) -> Self:
        """√a for a ≥ 0, and 0 for a < 0."""
        return self.function("sqrt")
