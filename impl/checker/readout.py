"""The readout C of a certificate about predictions C h + c, whose windows and gain are those of the
output h times ‖C‖₂: that C is the model's, and that its norm is at most the one that is stated."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnbounds import disk
from rnnbounds.impl.checker.definite import exact, norm_at_most
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import at_least, shown
from rnnbounds.impl.format.fields import Count, Exactly, RecordError, Size, converted
from rnnbounds.impl.format.tensors import MOST, Array, digest, encoded
from rnnbounds.impl.format.text import strict


class _Stated(Exactly, frozen=True):
    """The weight by name, its rows, a bound on ‖C‖₂ and the digest of its numbers."""

    tensor: str
    outputs: Count
    norm: Size
    sha256: str


@dataclass(frozen=True, eq=False)
class Readout:
    """A readout by the name of its weight (p, n), with its dtype and its numbers in float64."""

    name: str
    dtype: str
    weight: Array


def readout_named(path: Path) -> str | None:
    """The weight of the readout that a certificate says it is about, None if it says none."""
    try:
        return str(strict(disk.read(path, MOST).decode())["readout"]["tensor"])
    except (OSError, LookupError, ValueError, TypeError, RecursionError):
        return None  # whoever reads the rest says what is wrong


def readout_norm(told: Any, read: Readout | None) -> tuple[float, Finding]:
    """The bound on ‖C‖₂ that is stated, and whether it is proved of this C; raises RecordError for
    a statement of another kind, or of another readout."""
    stated = converted(told, _Stated)
    part = None if read is None else encoded(read.weight, read.dtype)
    if read is None or part is None:
        raise RecordError("no readout of the model")
    named = (read.name, len(read.weight)) == (stated.tensor, stated.outputs)
    if not named or digest("readout", {read.name: part}) != stated.sha256:
        raise RecordError("another readout")
    rows = [[exact(value) for value in row] for row in read.weight.tolist()]
    detail = f"‖C‖₂ ≤ {at_least(stated.norm, 9)} of C = {shown(read.name)}"
    return stated.norm, Finding("readout", norm_at_most(rows, stated.norm), detail)
