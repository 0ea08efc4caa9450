"""The readout C of a certificate about values C h + c, whose windows and gain are those of h times
‖C‖₂: that C is the model's, and that what is stated bounds its norm, by pivots or exactly. The bias
c moves no distance."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnbounds import disk
from rnnbounds.impl.checker.definite import exact, norm_at_most
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import at_least, shown
from rnnbounds.impl.format.fields import RecordError, bounded_readout
from rnnbounds.impl.format.tensors import MOST, Array, digest, encoded, strict


@dataclass(frozen=True, eq=False)
class Readout:
    """A readout as it was read: the full name of its weight, its dtype, and its numbers (p, n) in
    float64."""

    name: str
    dtype: str
    weight: Array


def readout_named(path: Path) -> str | None:
    """The readout that a certificate says it is about, None if it says none."""
    try:
        name = strict(disk.read(path, MOST).decode())["readout"]["tensor"]
    except (OSError, LookupError, ValueError, TypeError, RecursionError):
        return None  # whoever reads the rest says what is wrong
    return name if isinstance(name, str) else None


def readout_norm(told: Any, read: Readout | None) -> tuple[float, Finding]:
    """The bound on ‖C‖₂ that is stated, and whether it is proved of this readout; raises
    RecordError for a statement of another kind, or of another readout."""
    stated = bounded_readout(told)
    if read is None:
        raise RecordError("no readout of the model")
    part = encoded(read.weight, read.dtype)
    same = (read.name, len(read.weight)) == (stated.tensor, stated.outputs)
    if not same or part is None or digest("readout", {read.name: part}) != stated.sha256:
        raise RecordError("another readout")
    rows = [[exact(value) for value in row] for row in read.weight.tolist()]
    detail = f"‖C‖₂ ≤ {at_least(stated.norm, 9)} of C = {shown(read.name)}"
    return stated.norm, Finding("readout", norm_at_most(rows, stated.norm), detail)
