"""The record of a truncated model whose k is known of recorded inputs alone, not of all inputs.

Such a record takes the place of the certificate in its file. Its verdict tells what k rests on:

- near your data: ‖h_T − h_T^k‖₂ ≤ ε is proved, in real arithmetic, at this k and after the last
  input, for every sequence within δ in each number of one of these windows of T inputs;
- only seen: that is what float64 computed on these windows. Nothing is proved.

All runs start from the zero state. With a readout C it is ‖C h_T − C h_T^k‖₂.
"""

from typing import Literal

from rnnbounds.impl.errors import exactly
from rnnbounds.impl.format.fields import (
    Count,
    Exactly,
    NamedReadout,
    OfModel,
    RecordError,
    Size,
    Window,
)
from rnnbounds.impl.format.record import Record

SCHEMA: Literal["rnnbounds/data-truncated/1"] = "rnnbounds/data-truncated/1"
NEAR: Literal["near your data"] = "near your data"
SEEN: Literal["only seen"] = "only seen"


class Recorded(Exactly, frozen=True):
    """So many windows of that length, of all that are cut from a recording; sha256: of their
    numbers in float64, by which they are known again."""

    source: str
    windows: Count
    of: Count
    length: Count
    sha256: str


class OnData(OfModel, frozen=True, kw_only=True, omit_defaults=True):
    """The record of k on these data."""

    schema: Literal["rnnbounds/data-truncated/1"]
    data: Recorded
    truncation: tuple[Window]
    readout: NamedReadout | None = None

    def __post_init__(self) -> None:
        """Raise RecordError for no window at all, and for a k beyond its inputs, or none."""
        known = self.truncation[0].k is not None and self.k <= self.data.length
        if not (known and 0 < self.data.windows <= self.data.of):
            raise RecordError("a k of no window, or none")

    @property
    def k(self) -> int:
        """How many inputs an output depends on."""
        return self.truncation[0].k or 0

    @property
    def eps(self) -> float:
        """The ε that its outputs are within."""
        return self.truncation[0].eps

    @property
    def windows_text(self) -> str:
        """The windows in words."""
        data = self.data
        some = "" if data.windows == data.of else f"{data.windows} of "
        windows = f"{some}{data.of} window{'s' * (data.of != 1)}"
        return f"{windows} of {data.length} input{'s' * (data.length != 1)}"


class Near(OnData, frozen=True, kw_only=True):
    """A k that is proved near the data; delta: δ."""

    verdict: Literal["near your data"]
    delta: Size

    @property
    def basis(self) -> str:
        """The basis of k in words."""
        return f"near your data: proved within {exactly(self.delta)} of {self.windows_text}"


class Seen(OnData, frozen=True, kw_only=True):
    """A k that was only seen."""

    verdict: Literal["only seen"]

    @property
    def basis(self) -> str:
        """The basis of k in words."""
        return f"only seen on {self.windows_text}, nothing proved"


AnyRecord = Record | Near | Seen


def record_type(document: object) -> type[Record] | type[Near] | type[Seen]:
    """The record that a document is to be read as, by its verdict: that of a certificate unless it
    says that it is none."""
    verdict = document.get("verdict") if isinstance(document, dict) else None
    return Near if verdict == NEAR else Seen if verdict == SEEN else Record
