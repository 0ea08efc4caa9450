"""The worlds of systems in rationals. What leaves the rationals is read in balls."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import Any

import torch
from flint import fmpq_mat

from rnnbounds.properties.read.entry_carriers import Carrier
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference
from rnnbounds.properties.read.reader import IDENTITY, ZERO, AbsentError, Value
from rnnbounds.properties.read.worlds.steps import StepWorld
from rnnbounds.properties.systems.exact.blocks import OrthogonalBlock
from rnnbounds.properties.systems.exact.candidates import UnitaryCandidate
from rnnbounds.properties.systems.exact.unitary import OrthogonalNetwork, ReluNetwork


class MemberWorld(StepWorld):
    """One member of a batch and one of its sequences."""

    def __init__(self, member: Any, s: int, carrier: Carrier) -> None:
        super().__init__(carrier)
        self.member, self.s = member, s
        tables = member.tables()
        self.units = self.outputs = len(tables["W"])
        self.inputs = len(tables["U"][0])

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


class OrthogonalWorld(MemberWorld):
    """A network ρ(V s + U x + b) of an orthogonal matrix, that starts anywhere."""

    def __init__(self, member: OrthogonalNetwork, s: int, carrier: Carrier) -> None:
        super().__init__(member, s, carrier)
        self.activation = member.spec.activation
        b = fmpq_mat(self.units, 1, list(member.b))
        self.weights = {"weight_hh": member.V, "weight_ih": member.U, "bias_ih": b}
        self.parameters = {
            name: torch.empty(1, A.nrows(), A.ncols()) for name, A in self.weights.items()
        }
        self.cell = SimpleNamespace(program=self.program)

    def program(self, m: Any, s: Any, x: Any) -> Any:
        """One step."""
        driven = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", None, s)
        return m.activate(self.activation, driven)

    @cached_property
    def initial_state(self) -> Value:
        """Initial state of the run."""
        return self.carrier.vector(self.member.initial)

    @cached_property
    def plain(self) -> Any:
        """The arithmetic of these weights."""
        return self.carrier.exact_arithmetic(self.weights)


class PartsWorld(MemberWorld):
    """Matrices that a member names."""

    def leaf(self, head: str, *arguments: Term) -> Value:
        """A part of the member."""
        if head in self.member.parts:
            return self.carrier.rows(self.member.parts[head].tolist())
        return super().leaf(head, *arguments)

    def of_I_m(self) -> Value:
        """The identity of all units."""
        return IDENTITY


WORLDS: dict[type, type[MemberWorld]] = {
    OrthogonalNetwork: OrthogonalWorld, ReluNetwork: PartsWorld, OrthogonalBlock: PartsWorld,
    UnitaryCandidate: PartsWorld,
}  # fmt: skip
