"""The types of fields in documents, and the one way in which a document becomes a record.

A number is finite and has the type that its key asks for; an integer is one that float64 holds. A
bound that is null is infinite: nothing is claimed.
"""

import math
import sys
from fractions import Fraction
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

T = TypeVar("T")

_WHOLE, _LARGEST = 2**53, sys.float_info.max
Size = Annotated[int, Meta(ge=0, le=_WHOLE)] | Annotated[float, Meta(ge=0, le=_LARGEST)]
Number = (
    Annotated[int, Meta(ge=-_WHOLE, le=_WHOLE)] | Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
)
Count = Annotated[int, Meta(ge=0, le=10**9)]


class RecordError(ValueError):
    """A document that states more, less or something else than its format."""


class StructureError(RecordError):
    """A document without a key, with another one, or with a part that is no list or object."""


class Constant(float):
    """A number; infinite where the document has null."""


class Bound(Constant):
    """An upper bound ≥ 0; infinite where the document has null."""


def converted(document: object, kind: type[T]) -> T:
    """The record that a parsed document states; raises RecordError for what is not of its kind."""
    try:
        return msgspec.convert(document, kind, dec_hook=_bound)
    except msgspec.ValidationError as error:
        text = str(error)
        shaped = not text.startswith(("Object ", "Expected `array`", "Expected `object`"))
        raise (RecordError if shaped else StructureError)(text) from None


def _bound(kind: type[Constant], value: object) -> Constant:
    sized: Any = Size if kind is Bound else Number
    return kind(math.inf if value is None else msgspec.convert(value, sized))


class Exactly(Struct, frozen=True, forbid_unknown_fields=True):
    """A record with each key of its format and no other."""


class Shape(Exactly, frozen=True):
    """The sizes of the output h and of the input x."""

    n: Count
    d: Count


class Window(Exactly, frozen=True):
    """‖h_T − h_T^k‖₂ ≤ ε for all T. A factor that is a float needs fewer than 2⁶⁴ steps from the
    greatest float to the least."""

    eps: Size
    k: Annotated[int, Meta(ge=0)]

    def __post_init__(self) -> None:
        if self.eps == 0 or self.k > 2**64:
            raise RecordError("ε = 0, or a k that no factor needs")


class Ends(Struct, frozen=True):
    """The ends of a box of inputs, channel by channel."""

    low: list[Number]
    high: list[Number]

    def require(self, d: int, bound: float) -> None:
        """Raise RecordError unless it is a box of d channels that meets ‖x‖₂ ≤ bound."""
        if not len(self.low) == len(self.high) == d:
            raise RecordError("a box of other channels than the inputs")
        if any(a > b for a, b in zip(self.low, self.high, strict=True)):
            raise RecordError("a box with nothing in it")
        nearest = (Fraction(max(a, -b, 0)) for a, b in zip(self.low, self.high, strict=True))
        if sum(x**2 for x in nearest) > Fraction(bound) ** 2:
            raise RecordError("a box of which the ball holds nothing")
