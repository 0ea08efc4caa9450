"""One pair of a batch: its numbers, and what is certified of its system, are those of the batch.

What is certified is made once for a whole batch, and its bound on the inputs is that of all of a
system's sequences; the referee then decides the very statement that float64 left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch

from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.properties.systems.cells.batch import Cells
from rnnbounds.properties.systems.cells.omega import Omega
from rnnbounds.properties.systems.kind import about
from rnnbounds.properties.systems.supply.members import Members
from rnnbounds.properties.systems.unitary.exact import Exact

Tensor = torch.Tensor
# What is certified of cells, of weights near them, and of systems, by where it is kept.
OF_CELLS = ("held", "box", "v", "unit_norms")
OF_OMEGA = ("other", "moved", "radii", "box", "v", "smoothness")
OF_SYSTEMS = ("B_x", "omega", "exact_constants", "gate_constants", "step_size")


class OfMember(Constants):
    """The constants of one system of a batch, (1,) each."""

    def __init__(self, whole: Constants, at: slice) -> None:
        self.whole, self.at = whole, at

    def __getitem__(self, name: str) -> Tensor:
        return self.whole[name][self.at]

    @property
    def P_root(self) -> Tensor:
        """Q of the quadratic norm."""
        return self.whole.P_root[self.at]

    @property
    def D(self) -> Tensor:
        """The matrix of the diagonal norm."""
        return self.whole.D[self.at]

    @property
    def v(self) -> Tensor:
        """The weights of the maximum norm."""
        return self.whole.v[self.at]


def alone(batch: Members, i: int, s: int) -> dict[str, Any]:
    """The fields of a batch of one pair."""
    at, column = slice(i, i + 1), slice(s, s + 1)
    states = {name: getattr(batch, name)[at, :, column] for name in ("h", "h_other")}
    cells = batch.cells and cells_alone(batch.cells, at, column)
    return {
        "spec": batch.spec.alone(batch.spec.members[i], s),
        "cell": batch.cell.member(i) if cells is None else cells.cell,
        "C": batch.C[at], "x": batch.x[at, :, :, column], **states,
        "y": None if batch.y is None else batch.y[at],
        "other": None if batch.other is None else batch.other.member(i),
        "exact": exact_alone(batch, i, s), "cells": cells, "cache": {},
    }  # fmt: skip


def exact_alone(batch: Members, i: int, s: int) -> tuple[Exact, ...]:
    """The member of one pair, made anew where it has other sequences: it is read at its first."""
    make, spec = about(batch.spec).exact, batch.spec.alone(batch.spec.members[i], s)
    if make is None or len(batch.spec.chosen) == 1:
        return tuple(batch.exact[i : i + 1])
    return (make(spec, batch.spec.members[i]),)


def cells_alone(cells: Cells, at: slice, column: slice) -> Cells:
    """The cells of one pair."""
    found = cells.member(at.start)
    found = replace(found, raw=found.raw[:, :, column], raw_other=found.raw_other[:, :, column])
    given(found, cells, OF_CELLS, at)
    return found


def handed_on(pair: Members, batch: Members, i: int, s: int) -> None:
    """Let a pair have what was certified of its system so far."""
    at, column = slice(i, i + 1), slice(s, s + 1)
    given(pair, batch, OF_SYSTEMS, at)
    if "other inputs" in batch.cache:
        pair.cache["other inputs"] = batch.cache["other inputs"][at, :, :, column]
    if "omega" in batch.cache:
        omega = pair.cache["omega"] = Omega(pair.its_cells, batch.spec.distance)
        given(omega, batch.cache["omega"], OF_OMEGA, at)


def given(one: Any, whole: Any, names: Sequence[str], at: slice) -> None:
    """Let what is of one system have what was made once for all of them."""
    known = vars(whole)
    vars(one).update({name: of_member(known[name], at) for name in names if name in known})


def of_member(value: Any, at: slice) -> Any:
    """The part of one system, whose place is the first axis."""
    if isinstance(value, dict):
        return {name: of_member(part, at) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: of_member(getattr(value, part.name), at) for part in fields(value)}
        return replace(value, **parts)
    return value[at]
