"""What the fields of a spec may be for models with certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.cells.stacks.stack import PREFIX
from impl.cells.table import UnknownCellError, kind_of
from properties.errors import SpecError

if TYPE_CHECKING:
    from properties.systems.spec import SystemSpec


def check_certified(spec: SystemSpec) -> None:
    """Raise SpecError unless there is such a cell, and its certificate can be in such a norm."""
    try:
        kind = kind_of(spec.cell)
    except UnknownCellError as error:
        raise SpecError(str(error)) from None
    if spec.norm not in ("auto", *kind.norms):
        raise SpecError(f"unknown norm {spec.norm!r}; one of auto, {', '.join(kind.norms)}")
    if spec.cell.startswith(PREFIX) and spec.layers < 2:
        raise SpecError(f"a {spec.cell} has two layers or more")
    if spec.layer > (spec.layers if spec.cell.startswith(PREFIX) else 0):
        raise SpecError(f"a {spec.cell} of {spec.layers} layers has no layer {spec.layer}")
    if spec.values is not None:
        raise SpecError("a certified model is drawn, not written out: no values")
