"""The world of recurrent systems: vanilla networks and cells of any kind, in any carrier."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import isfinite
from typing import Any

import torch
from flint import fmpq

from rnnbounds.impl.arithmetic.entries import IrrationalError
from rnnbounds.impl.cells.stacks.stack import layer_weights
from rnnbounds.impl.numbers.rationals import rational_matrix
from rnnbounds.impl.training import nearest_exact as nearest
from rnnbounds.properties.read.entry_carriers import BALLS, RATIONALS, Carrier, EntryCarrier
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference, Differences
from rnnbounds.properties.read.plan import STATES, term_space
from rnnbounds.properties.read.reader import IDENTITY, ZERO, AbsentError, Value
from rnnbounds.properties.read.worlds.leaves import (
    OPERATORS,
    VECTORS,
    pair_matrix,
    present_cells,
    projection_ball,
)
from rnnbounds.properties.read.worlds.steps import StepWorld
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.batch import cells_of, omega_of_cells
from rnnbounds.properties.systems.exact.networks import exact_members

Tensor = torch.Tensor
STATES_OF_LAYERS = {
    "a": ("h", False), "b": ("h_other", False), "p": ("h", True), "q": ("h_other", True),
}  # fmt: skip
ROLES = {"W": "weight_hh", "U": "weight_ih", "b": "bias_ih"}


class RecurrentWorld(StepWorld):
    """A batch of systems, or one pair of it."""

    def __init__(self, batch: Batch, carrier: Carrier) -> None:
        super().__init__(carrier)
        self.batch, self.inputs = batch, batch.x.shape[2]
        cells = cells_of(batch)
        if cells is None:
            self.cell, self.units, self.outputs = batch.cell, batch.cell.n, batch.cell.n
            self.parameters = batch.cell.parameters
            self.trained = tuple(ROLES[name] for name in batch.spec.trained)
        else:
            self.cell, self.units, self.outputs = cells.cell, cells.units, cells.n
            self.parameters = cells.parameters
            self.trained = tuple(self.parameters)

    @cached_property
    def other_weights(self) -> tuple[Any, Any]:
        """Arithmetics of the second weights and of w − w'; for cells, weights of the set Ω."""
        if cells_of(self.batch) is not None:
            omega = omega_of_cells(self.batch)
            return self.carrier.arithmetic(omega.other_weights), self.carrier.arithmetic(
                omega.weight_gap
            )
        if self.batch.other is None or not isinstance(self.carrier, EntryCarrier):
            raise AbsentError
        other = self.batch.other.parameters
        own, others = (
            {
                name: rational_matrix(part[0].reshape(self.units, -1))
                for name, part in parameters.items()
            }
            for parameters in (self.parameters, other)
        )
        gap = {name: part - others[name] for name, part in own.items()}
        return self.carrier.arithmetic(other), self.carrier.exact_arithmetic(gap)

    @cached_property
    def initial_state(self) -> Value:
        """0, one column for all."""
        x = self.batch.x
        return self.carrier.column(x.new_zeros(len(x), self.units, 1))

    def leaf(self, head: str, *arguments: Term) -> Value:
        """Inputs, states, and the matrices of norms."""
        if head == "jacobian":  # no input comes before the first
            return ZERO
        if head == "I":
            return IDENTITY
        if head in OPERATORS:
            found = OPERATORS[head](self.batch)
            return self.carrier.matrix(found) if isinstance(found, Tensor) else found
        if head not in VECTORS:
            raise AbsentError
        return self.carrier.column(VECTORS[head](self.batch, *arguments))

    @cached_property
    def C(self) -> Value:
        """The readout."""
        return self.carrier.matrix(self.batch.C)

    def readout(self, known: Sequence[Term], s: Value) -> Value:
        """C h."""
        if s is ZERO:
            return ZERO
        if isinstance(s, Difference):
            return Difference(self.readout(known, s.value), self.readout(known, s.gap))
        return self.carrier.times(self.C, self.shown(s))

    def gradient(self, known: Sequence[Term], s: Value) -> Value:
        """∇p(h)."""
        loss = self.batch.loss
        if not isinstance(s, Difference):
            return self.carrier.gradient(loss, self.shown(self.state(s)))
        both = self.pair(s)
        h, gap = self.shown(both.value), self.shown(both.gap)
        return Difference(self.carrier.gradient(loss, h), self.carrier.gradient_gap(loss, h, gap))

    def d_loss(self, known: Sequence[Term], s: Value) -> Value:
        """∂p/∂s, a row."""
        g, before = self.gradient(known, s), self.units - self.outputs
        if not isinstance(g, Difference):
            return self.carrier.row(g, before)
        return Difference(self.carrier.row(g.value, before), self.carrier.row(g.gap, before))

    def weighted(self, value: Value, arguments: str | None) -> Value:
        """‖·‖_box of a state, or the operator norm to ‖·‖_box from itself or from ‖·‖₂."""
        v = present_cells(self.batch).v
        if arguments is None:
            return self.carrier.largest(value, v)
        if arguments == STATES:
            return self.carrier.row_sum_norm(value, v)
        return self.carrier.row_norm(value, v)

    def range_square(self, term: Term) -> fmpq | None:
        """Bound the square of a state's norm by |ρ| ≤ M; None except for vanilla networks."""
        cells = cells_of(self.batch)
        if exact_members(self.batch) or (cells is not None and not cells.kind.startswith("rnn-")):
            return None
        bound = self.batch.cell.activation.bound
        if not isfinite(bound):
            return None
        corner = RATIONALS.vector([bound] * self.units)
        most: fmpq | None = self.size(term[0], term_space(term[1]), corner).square
        return most


class StackWorld(RecurrentWorld):
    """Two layers of one size, the upper one fed by the lower one's state."""

    def leaf(self, head: str, *arguments: Term) -> Value:
        """States a, b of the lower layer and p, q of the upper one, and the upper one's weight."""
        if head in STATES_OF_LAYERS:
            name, upper = STATES_OF_LAYERS[head]
            state = getattr(self.batch, name)
            return self.carrier.column(state[:, self.units :] if upper else state[:, : self.units])
        if head == "v_top":
            return self.carrier.numbers(self.batch.parameters[head])
        return super().leaf(head, *arguments)

    @cached_property
    def layers(self) -> list[tuple[Any, Any]]:
        """The step of each layer and its arithmetic."""
        arithmetics = (self.carrier.arithmetic(layer_weights(self.parameters, l)) for l in (0, 1))
        return list(zip((cell.program for cell in self.cell.layers), arithmetics, strict=True))

    def layer_step(self, l: int, s: Value, x: Value) -> Value:
        """One step of a layer, of a pair too."""
        program, arithmetic = self.layers[l]
        if isinstance(s, Difference) or isinstance(x, Difference):
            return program(Differences(arithmetic), self.pair(s), self.pair(x))
        return program(arithmetic, self.state(s), self.state(x))

    def lower(self, known: Sequence[Term], s: Value, x: Value) -> Value:
        """φ_1."""
        return self.layer_step(0, s, x)

    def upper_layer(self, known: Sequence[Term], s: Value, x: Value) -> Value:
        """φ_2."""
        return self.layer_step(1, s, x)


IN_BALLS = {
    "itself": lambda A, ball: nearest.ball_itself(A),
    "project": nearest.ball_projected,
}
IN_RATIONALS = {
    "itself": lambda A, ball: nearest.rational_itself(A),
    "project": nearest.rational_projected,
}


class ProjectedWorld(RecurrentWorld):
    """Two matrices A and B, and Z, a point of the ball: Π B."""

    def leaf(self, head: str, *arguments: Term) -> Value:
        """A matrix, or what becomes of it."""
        if head == "vec_Z":
            return self.leaf("project", ("vec_B",))
        if not (head.startswith("vec_") or head in IN_BALLS):
            return super().leaf(head, *arguments)
        if self.carrier is FLOATS:
            raise AbsentError
        (name,) = arguments[0] if arguments else (head,)
        A, made = pair_matrix(self.batch, name[-1])[0], "itself" if not arguments else head
        if self.carrier is BALLS:
            return self.carrier.vector(IN_BALLS[made](A, projection_ball(self.batch)).entries())
        found = IN_RATIONALS[made](A, projection_ball(self.batch))
        if found is None:
            raise IrrationalError(head)
        return self.carrier.vector([v for row in found for v in row])
