"""Checks of specs of models with certificates: the cell, norm and dtype allowed."""

from __future__ import annotations

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import UnknownCellError, kind_of
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.spec import SystemSpec, spec_of

FIELDS = "n d T K regime inputs lam scale bias epsilon distance layers layer cell norm dtype over"
REGIMES = ("zero", "driven", "signs", "gaussian", "shift")


def check_cell(spec: SystemSpec) -> None:
    """Raise SpecError unless there is such a cell."""
    try:
        kind_of(spec.cell)
    except UnknownCellError as error:
        raise SpecError(str(error)) from None
    if spec.cell.startswith(PREFIX) and spec.layers < 2:
        raise SpecError(f"a {spec.cell} has two layers or more")


def check(spec: SystemSpec) -> None:
    """Raise SpecError unless there is such a cell, and its certificate can be in such a norm."""
    check_cell(spec)
    norms = kind_of(spec.cell).norms
    if spec.norm not in ("auto", *norms):
        raise SpecError(f"unknown norm {spec.norm!r}; one of auto, {', '.join(norms)}")
    if spec.layer > (spec.layers if spec.cell.startswith(PREFIX) else 0):
        raise SpecError(f"a {spec.cell} of {spec.layers} layers has no layer {spec.layer}")


# Real models with the certificates that ship for them; ReLU networks, with the unitary networks
# that ship for them.
Certified, CertifiedRelu = (
    spec_of(kind, FIELDS, regimes=REGIMES, check=check) for kind in ("certified", "certified-relu")
)
