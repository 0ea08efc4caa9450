"""The types of fields in documents, and the one way in which a document becomes a record.

A number is finite and has the type that its key asks for; an integer is one that float64 holds. A
bound that is null is infinite: nothing is claimed.

Parts of records: sets of inputs, norms and layers, which `impl.checker.cells.claimed` proves, and
readouts.
"""

import math
import sys
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, field

T = TypeVar("T")

_WHOLE, _LARGEST = 2**53, sys.float_info.max
Size = Annotated[int, Meta(ge=0, le=_WHOLE)] | Annotated[float, Meta(ge=0, le=_LARGEST)]
Number = (
    Annotated[int, Meta(ge=-_WHOLE, le=_WHOLE)] | Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
)
Count = Annotated[int, Meta(ge=0, le=10**9)]
Steps = Annotated[int, Meta(ge=0)]  # of a window


class RecordError(ValueError):
    """A document that states more, less or something else than its format."""


class StructureError(RecordError):
    """A document without a key, with another one, or with a part that is no list or object."""


class Bound(float):
    """An upper bound ≥ 0; infinite where the document has null."""


def converted(document: object, kind: type[T]) -> T:
    """The record that a parsed document states; raises RecordError for what is not of its kind."""
    try:
        return msgspec.convert(document, kind, dec_hook=_bound)
    except msgspec.ValidationError as error:
        text = str(error)
        shaped = not text.startswith(("Object ", "Expected `array`", "Expected `object`"))
        raise (RecordError if shaped else StructureError)(text) from None


def _bound(kind: type[Bound], value: object) -> Bound:
    return kind(math.inf if value is None else msgspec.convert(value, Size))


class Exactly(Struct, frozen=True, forbid_unknown_fields=True):
    """A record with each key of its format and no other."""


class Shape(Exactly, frozen=True):
    """The sizes of the output h and of the input x."""

    n: Count
    d: Count


class OfModel(Exactly, frozen=True, kw_only=True):
    """The model of a record: its source, and the full names in it of what was read as the `cell`,
    by role; `ignored`: of tensors that the caller said to leave out; `unread`: of tensors
    elsewhere. digest: of the weights."""

    schema: str
    model: str
    cell: str
    tensors: dict[str, str]
    ignored: tuple[str, ...]
    unread: tuple[str, ...]
    shape: Shape
    dtype: str
    digest: str = field(name="sha256")


class Window(Exactly, frozen=True):
    """‖h_T − h_T^k‖₂ ≤ ε for all T; k None where none is known. A factor that is a float needs
    fewer than 2⁶⁴ steps from the greatest float to the least."""

    eps: Size
    k: Steps | None

    def __post_init__(self) -> None:
        if self.eps == 0 or (self.k or 0) > 2**64:
            raise RecordError("ε = 0, or a k that no factor needs")


class InputBox(Exactly, frozen=True):
    """A set of inputs, in words too: low ≤ x ≤ high channel by channel, or so many rows of a table
    within that box."""

    set: Literal["box", "rows"]
    what: str
    low: list[Number]
    high: list[Number]
    rows: Count | None = None

    def require(self, d: int, bound: float) -> None:
        """Raise RecordError unless it is a box of d channels that meets ‖x‖₂ ≤ bound."""
        if not len(self.low) == len(self.high) == d:
            raise RecordError("a box of other channels than the inputs")
        if any(a > b for a, b in zip(self.low, self.high, strict=True)):
            raise RecordError("a box with nothing in it")
        nearest = (Fraction(max(a, -b, 0)) for a, b in zip(self.low, self.high, strict=True))
        if sum(x**2 for x in nearest) > Fraction(bound) ** 2:
            raise RecordError("a box of which the ball holds nothing")


class Stated(Exactly, frozen=True):
    """A norm ‖·‖_* with λ, the drive S ≥ sup ‖φ(0, x)‖_*, ‖h‖₂ ≤ C‖s‖_* for the `equivalence` C,
    ‖s‖_* ≤ c‖s‖₂ for the `reach` c, and the `radius` R ≥ ‖s_t‖_*."""

    name: str = field(name="norm")
    lam: Size = field(name="lambda")
    weights: list[Any] | None
    drive: Size
    equivalence: Size
    reach: Bound
    radius: Bound


class Layer(Exactly, frozen=True):
    """One layer of a stack: the norm in which it contracts, and the one that bounds its outputs if
    that is another; how far it moves with the layer below; the bound on its inputs; its box."""

    norm: Stated
    bounded: Stated | None
    coupling: Size
    input_bound: Size
    box: list[Bound] | None


class Other(Stated, frozen=True):
    """A norm in which one constant is less than in the norm of the windows: with the bound on
    ‖h_t‖₂ that follows in it, and of a stack its layers in that norm."""

    states: Bound = field(name="B_h")
    layers: tuple[Layer, ...] | None


class NamedReadout(Exactly, frozen=True):
    """The map C h: the name of C, its rows, the digest of its numbers."""

    tensor: str
    outputs: Count
    sha256: str


class BoundedReadout(NamedReadout, frozen=True):
    """The map C h with a bound on ‖C‖₂."""

    norm: Size
