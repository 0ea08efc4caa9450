"""The world of models with certificates."""

from __future__ import annotations

from typing import Any

import torch
from flint import fmpq

from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.enclosures import around
from rnnbounds.properties.read.numbers.norms import windows_last
from rnnbounds.properties.read.reader import AbsentError, Value
from rnnbounds.properties.read.worlds.printed import (
    NormPart,
    norm_of_state,
    norm_of_states,
    norm_parts,
)
from rnnbounds.properties.read.worlds.recurrent import RecurrentWorld
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.theory.numbers.interval import Interval


class CertifiedWorld(RecurrentWorld):
    """‖s‖ is the norm that each certificate names."""

    def weighted(self, value: Value, arguments: str | None) -> Value:
        """The norm that each certificate prints; NaN where it is not printed."""
        cells = self.batch.cells
        assert isinstance(cells, Certified)
        norms = state_norms(cells)
        if self.carrier is FLOATS:
            return enclose_norms(norms, value)
        if norms[0] is None:
            raise AbsentError
        return norm_of_state(norms[0], [unit[0] for unit in value.units])

    def range_square(self, term: Term) -> fmpq | None:
        """Bound by the activation's range, for norms monotone in every unit."""
        cells = self.batch.cells
        assert isinstance(cells, Certified)
        monotone = not any(part.matrix for part in state_norms(cells)[0] or ())
        return super().range_square(term) if monotone else None


def state_norms(cells: Certified) -> list[list[NormPart] | None]:
    """The parts of the norm of each certificate; None where what is printed does not say it."""
    widths = tuple(getattr(cells.cell, "widths", (cells.units,)))
    return [norm_parts(certificate, widths) for certificate in cells.certificates]


def enclose_norms(norms: list[Any], states: Value) -> Interval:
    """Enclose the printed norm of each system's state."""
    ends = []
    for i, norm in enumerate(norms):
        blank = torch.full_like(states.value[i : i + 1, 0], torch.nan)
        ends.append((blank, blank) if norm is None else norm_of_states(norm, states[i : i + 1]))
    value, error = (windows_last(torch.cat(part)) for part in zip(*ends, strict=True))
    return around(value, error)
