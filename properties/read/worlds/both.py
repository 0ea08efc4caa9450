"""The world of a model in both directions, whose cells ship: runs forward and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.properties.read.carrier import Carrier
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference, Differences
from rnnbounds.properties.read.reader import ZERO, AbsentError, Value
from rnnbounds.properties.read.worlds.members import MemberWorld
from rnnbounds.properties.systems.layered.both import BothMember


class BothWorld(MemberWorld):
    """Each cell by the name of its step: ahead and back of the lower layer, top_ahead and top_back
    of the upper one, which read both states below."""

    def __init__(self, member: BothMember, s: int, carrier: Carrier) -> None:
        super().__init__(member, s, carrier)
        self.outputs = member.spec.n

    @cached_property
    def cells(self) -> dict[str, tuple[Any, Any, Value]]:
        """The step of each cell by name, its arithmetic and its zero state."""
        names = ("ahead", "back", "top_ahead", "top_back")
        models = [cell for both in self.member.model.layers for cell in both]
        return {
            name: (
                cell.cell.program,
                self.carrier.arithmetic(Runner.of(cell).parameters),
                self.carrier.vector([0.0] * states_of(cell)),
            )
            for name, cell in zip(names, models, strict=False)
        }

    def cell_step(self, name: str, s: Value, x: Value) -> Value:
        """One step of a cell, of a pair too."""
        if name not in self.cells:
            raise AbsentError
        program, arithmetic, zero = self.cells[name]
        if isinstance(s, Difference) or isinstance(x, Difference):
            return program(Differences(arithmetic), paired(s, zero), paired(x, zero))
        return program(arithmetic, zero if s is ZERO else s, x)

    def ahead(self, known: Sequence[Term], s: Value, x: Value) -> Value:
        """φ→."""
        return self.cell_step("ahead", s, x)

    def back(self, known: Sequence[Term], s: Value, x: Value) -> Value:
        """φ←."""
        return self.cell_step("back", s, x)

    def top_ahead(self, known: Sequence[Term], s: Value, a: Value, b: Value) -> Value:
        """φ→ of the upper layer, on both states below."""
        return self.cell_step("top_ahead", s, self.outputs_below(a, b))

    def top_back(self, known: Sequence[Term], s: Value, a: Value, b: Value) -> Value:
        """φ← of the upper layer, on both states below."""
        return self.cell_step("top_back", s, self.outputs_below(a, b))

    def outputs_below(self, a: Value, b: Value) -> Value:
        """(h→, h←) of two states of the lower layer, of pairs too."""
        _, arithmetic, zero = self.cells["ahead"]
        if isinstance(a, Difference) or isinstance(b, Difference):
            both = (self.shown(paired(one, zero)) for one in (a, b))
            return Differences(arithmetic).join(*both)
        return arithmetic.join(*(self.shown(zero if one is ZERO else one) for one in (a, b)))


def paired(s: Value, zero: Value) -> Difference[Any]:
    """A pair of states or inputs, with zeros where there are none."""
    if not isinstance(s, Difference):
        value = zero if s is ZERO else s
        return Difference(value, value.constant(0.0))
    value = zero if s.value is ZERO else s.value
    return Difference(value, value.constant(0.0) if s.gap is ZERO else s.gap)


def states_of(cell: LoadedModel[Any]) -> int:
    """How many numbers a state of the cell has."""
    return kind_of(cell.name).layout(cell.weights).sizes(cell.weights).state
