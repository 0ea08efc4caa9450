"""The worlds of models with certificates, and of models near recorded inputs."""

from __future__ import annotations

from typing import Any

import torch
from flint import fmpq

from rnnbounds.properties.read.floats import FLOATS
from rnnbounds.properties.read.ground import Term
from rnnbounds.properties.read.numbers.enclosures import around
from rnnbounds.properties.read.numbers.norms import by_sequence
from rnnbounds.properties.read.reader import AbsentError, Value
from rnnbounds.properties.read.worlds.printed import Part, norm_of, parts, size_of_one
from rnnbounds.properties.read.worlds.recurrent import Recurrent
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.theory.numbers.interval import Interval


class CertifiedWorld(Recurrent):
    """‖s‖ is the norm that each certificate names."""

    def weighted(self, value: Value, arguments: str | None) -> Value:
        """In that norm; NaN where what is printed does not say it."""
        cells = self.batch.cells
        assert isinstance(cells, Certified)
        norms = of_states(cells)
        if self.carrier is FLOATS:
            return told(norms, value)
        if norms[0] is None:
            raise AbsentError
        return size_of_one(norms[0], [unit[0] for unit in value.units])

    def range_square(self, term: Term) -> fmpq | None:
        """In norms that grow with every unit."""
        cells = self.batch.cells
        assert isinstance(cells, Certified)
        monotone = not any(part.rows for part in of_states(cells)[0] or ())
        return super().range_square(term) if monotone else None


def of_states(cells: Certified) -> list[list[Part] | None]:
    """The parts of the norm of each certificate; None where what is printed does not say it."""
    widths = tuple(getattr(cells.cell, "widths", (cells.units,)))
    return [parts(certificate, widths) for certificate in cells.certificates]


def told(norms: list[Any], found: Value) -> Interval:
    """The norm of each of a batch."""
    ends = []
    for i, norm in enumerate(norms):
        blank = torch.full_like(found.value[i : i + 1, 0], torch.nan)
        ends.append((blank, blank) if norm is None else norm_of(norm, found[i : i + 1]))
    value, error = (by_sequence(torch.cat(part)) for part in zip(*ends, strict=True))
    return around(value, error)


class NearWorld(Recurrent):
    """Runs near recorded inputs, of whose outputs a readout may be the last layer."""

    def size(self, head: str, term: Term, value: Value) -> Value:
        """The norm of what a readout makes of these runs, if the model has one."""
        if head == "norm" and self.batch.spec.units and "begun" in str(term):
            return self.carrier.euclidean(self.readout((), value))
        return super().size(head, term, value)

    def weighted(self, value: Value, arguments: str | None) -> Value:
        """No norm is named."""
        raise AbsentError
