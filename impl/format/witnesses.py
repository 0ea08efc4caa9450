"""The files of witnesses of long memories: their check needs the model, and so torch."""

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from rnnbounds import disk
from rnnbounds.impl.format.fields import Count, Exactly, Number, RecordError, Size, Window
from rnnbounds.impl.format.input_sets import StatedSet
from rnnbounds.impl.format.readout import stated_readout

MOST = 2**28  # bytes of a file
SCHEMA = "rnnbounds/attacked/1"


class StatedWitness(Exactly, frozen=True):
    """A pair of runs that are `gap` > ε apart after k common inputs."""

    eps: Size
    k: Count
    gap: Size
    length: Count
    inputs: list[list[Number]]

    def __post_init__(self) -> None:
        if len(self.inputs) != self.length or not (self.k <= self.length and self.eps > 0):
            raise RecordError("inputs of another size, or no window")


class StatedInputs(StatedSet, frozen=True, kw_only=True):
    """The set of inputs; of the rows of a table the file holds the box alone."""

    set: Literal["box", "rows", "frames", "hull", "zonotope"]  # type: ignore[assignment]
    what: str
    rows: Count | None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.set in ("rows", "frames", "hull")):
            raise RecordError("inputs of another kind")
        if self.set != "rows":
            super().__post_init__()


class SkippedSearch(Exactly, frozen=True):
    """Part of a search that its limits left out, and why."""

    what: str
    reason: str


class Witnesses(Exactly, frozen=True):
    """Statements of a file of witnesses."""

    schema: str
    cell: str
    dtype: str
    sha256: str
    input_bound: Size
    inputs: StatedInputs | None
    no_k_below: Annotated[tuple[Window, ...], Meta(min_length=1)]
    skipped: list[SkippedSearch]
    witnesses: list[StatedWitness]
    readout: dict[str, Any] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.readout is not UNSET:
            stated_readout(self.readout)


def begins_as_attacked(path: Path) -> bool:
    """True for a file that begins as one of witnesses does, of this format or another."""
    try:
        return disk.read(path, MOST)[:64].startswith(b'{"schema": "rnnbounds/attacked/')
    except OSError:
        return False
