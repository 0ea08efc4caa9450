"""The world of one member of a batch in rationals."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from flint import fmpq_mat

from rnnbounds.properties.read.carrier import Carrier
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference
from rnnbounds.properties.read.reader import IDENTITY, ZERO, AbsentError, Value
from rnnbounds.properties.read.worlds.steps import StepWorld


class MemberWorld(StepWorld):
    """One member of a batch and one of its sequences."""

    def __init__(self, member: Any, s: int, carrier: Carrier) -> None:
        super().__init__(carrier)
        self.member, self.s = member, s
        self.units = self.outputs = len(member.tables()["W"])
        self.inputs = len(member.tables()["U"][0])

    @cached_property
    def initial_state(self) -> Value:
        """0."""
        return self.carrier.vector([0.0] * self.units)

    def leaf(self, head: str, *arguments: Term) -> Value:
        """Inputs, and what the member gives by name."""
        if head in ("entry", "x_t"):
            t = arguments[1] if arguments else 1
            return self.carrier.vector(self.member.x[self.s][t - 1])
        method = getattr(self, f"of_{head}", None)
        if method is None:
            raise AbsentError
        value: Value = method(*arguments)
        return value

    def of_I(self) -> Value:
        """The identity."""
        return IDENTITY

    def apply_matrix(self, A: fmpq_mat, v: Value) -> Value:
        """A v, of a pair too."""
        if v is ZERO:
            return v
        if isinstance(v, Difference):
            return Difference(self.apply_matrix(A, v.value), self.apply_matrix(A, v.gap))
        return self.carrier.times(self.carrier.rows(A.tolist()), v)
