"""The weights of a truncated model, looked at before anything is proved of them.

The readout C of a certificate about values C h + c, whose windows and gain are those of h times
‖C‖₂: that C is the model's, and that what is stated bounds its norm, by pivots or exactly. The bias
c moves no distance.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rnnbounds import disk
from rnnbounds.impl.checker.cells.layouts import STACKED, LayoutError, known, layers, layout
from rnnbounds.impl.checker.definite import exact_rows, norm_at_most
from rnnbounds.impl.checker.unitary import Finding, Source
from rnnbounds.impl.errors import FileError, at_least, shown
from rnnbounds.impl.format.fields import BoundedReadout, RecordError
from rnnbounds.impl.format.sealed import (
    ANOTHER,
    TruncatedFile,
    is_about,
    is_certificate,
    no_truncated,
)
from rnnbounds.impl.format.tensors import (
    MOST,
    Array,
    contents,
    decoded,
    digest,
    dtype_of,
    encoded,
    strict,
)

LARGEST = 2048  # states beyond which nobody waits for a check


def unchecked(path: Path, cell: str) -> FileError:
    """That a certificate is about a cell that is registered elsewhere."""
    what = f"holds {shown(cell)}, a cell of which the checker knows nothing"
    return FileError(path, what, "certify the model again with 'rnnbounds certify'")


def weights_of(path: Path, file: TruncatedFile) -> dict[str, Array]:
    """The float64 arrays of the cell by role; raises FileError where they are not those
    that the record is about, and InputError for a cell of which nothing is known here."""
    cell, parts = file.record.cell, file.parts
    if not known(cell):
        raise unchecked(path, cell)
    suffix = "" if cell.startswith(STACKED) else layout(cell, parts).suffix
    if not all(name.endswith(suffix) for name in parts):
        raise no_truncated(path, "does not hold exactly the weights of its cell")
    roles = {name.removesuffix(suffix): part for name, part in parts.items()}
    if any(dtype_of(part) is None for part in roles.values()):
        raise no_truncated(path, "has weights of a dtype that is not read")
    try:
        states, n, d = sizes(cell, {role: tuple(part["shape"]) for role, part in roles.items()})
    except LayoutError:
        reason = "does not hold exactly the weights of its cell, or some of wrong shapes"
        raise no_truncated(path, reason) from None
    if states > LARGEST:
        raise no_truncated(path, f"has over {LARGEST} states")
    arrays = {role: decoded(part) for role, part in roles.items()}
    if not all(np.isfinite(part).all() for part in arrays.values()):
        raise no_truncated(path, "holds NaN or infinity")
    if not is_about(file.record, roles, n, d):
        raise no_truncated(path, ANOTHER)
    return arrays


def sizes(cell: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int, int]:
    """State, output and input of a cell, or of all layers of a stack; raises LayoutError."""
    if not cell.startswith(STACKED):
        return layout(cell, shapes).sizes(shapes)
    inner = cell.removeprefix(STACKED)
    each = [layout(inner, part).sizes(part) for part in layers(shapes)]
    if not each or any(top[2] != below[1] for below, top in itertools.pairwise(each)):
        raise LayoutError("layers that do not fit")
    return sum(states for states, _, _ in each), each[-1][1], each[0][2]


@dataclass(frozen=True, eq=False)
class Readout:
    """A readout as it was read: the full name of its weight, its dtype, and its numbers (p, n) in
    float64."""

    name: str
    dtype: str
    weight: Array

    def equals(self, other: "Readout") -> bool:
        """True if both have one dtype and the same numbers, to the last bit."""
        mine = Source(self.name, self.dtype, {"": self.weight})
        return mine.equals(self.name, other.dtype, {"": other.weight})


def readout_named(path: Path) -> str | None:
    """The readout that a certificate, or that of a truncated model, says it is about, None if it
    says none."""
    try:
        data = disk.read(path, MOST)
        text = data.decode() if is_certificate(path) else contents(data)[1]["certificate"]
        name = strict(text)["readout"]["tensor"]
    except Exception:  # whoever reads the rest says what is wrong
        return None
    return name if isinstance(name, str) else None


def readout_of(file: TruncatedFile) -> Readout | None:
    """The readout in the file of a truncated model."""
    if file.readout is None or file.record.readout is None:
        return None
    name, dtype = file.record.readout.tensor, str(dtype_of(file.readout))
    return Readout(name, dtype, decoded(file.readout))


def readout_norm(stated: BoundedReadout, read: Readout | None) -> tuple[float, Finding]:
    """The bound on ‖C‖₂ that is stated, and whether it is proved of this readout; raises
    RecordError for another readout."""
    if read is None:
        raise RecordError("no readout of the model")
    part = encoded(read.weight, read.dtype)
    same = (read.name, len(read.weight)) == (stated.tensor, stated.outputs)
    if not same or part is None or digest("readout", {read.name: part}) != stated.sha256:
        raise RecordError("another readout")
    detail = f"‖C‖₂ ≤ {at_least(stated.norm, 9)} of C = {shown(read.name)}"
    return stated.norm, Finding(
        "readout", norm_at_most(exact_rows(read.weight), stated.norm), detail
    )
