"""Worlds with a step: one step of a cell, its derivatives, and norms of states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.properties.read.entry_carriers import Carrier, EntryCarrier
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.numbers.gaps import Difference, Differences, OtherWeights
from rnnbounds.properties.read.numbers.seeds import Parameters
from rnnbounds.properties.read.plan import SHOWN, STATES, Space
from rnnbounds.properties.read.reader import (
    IDENTITY,
    ZERO,
    AbsentError,
    Value,
    World,
    subtract_values,
)
from rnnbounds.properties.read.worlds.leaves import UnitRange, UnitScaling


class StepWorld(World):
    """States s⁺ = φ(s, x) of N units, the last of which are shown."""

    cell: Any
    parameters: Parameters
    trained: tuple[str, ...] = ()
    units: int
    outputs: int
    inputs: int

    carrier: Any

    def __init__(self, carrier: Carrier) -> None:
        super().__init__()
        self.carrier = carrier

    @property
    def initial_state(self) -> Value:
        """The state in which runs start."""
        raise NotImplementedError

    @cached_property
    def plain(self) -> Any:
        """The arithmetic of its own weights."""
        return self.carrier.arithmetic(self.parameters)

    @cached_property
    def other_weights(self) -> tuple[Any, Any]:
        """The arithmetics of other weights, and of what its own are more than these."""
        raise AbsentError

    @cached_property
    def directions(self) -> Any:
        """The units of a state and of an input."""
        return self.carrier.directions(self.parameters, self.units, self.inputs, ())

    @cached_property
    def weight_directions(self) -> Any:
        """The trained parameters."""
        return self.carrier.directions(self.parameters, 0, 0, self.trained)

    def takes_columns(self, operation: str) -> bool:
        """True if the carrier computes that operation of several nodes at once."""
        if isinstance(self.carrier, EntryCarrier):  # whose operators have columns of their own
            return operation == "phi"
        return super().takes_columns(operation)

    def number(self, value: Any) -> Value:
        """A rational number."""
        return self.carrier.number(value)

    def times(self, A: Value, v: Value) -> Value:
        """A product in the carrier."""
        if isinstance(A, UnitRange):
            return v.part(*A)
        if isinstance(A, UnitScaling):
            return self.carrier.divide_units(v, A.weights)
        return self.carrier.times(A, v)

    def number_function(self, head: str, known: Sequence[Term], values: Sequence[Value]) -> Value:
        """A function of numbers in the carrier."""
        return self.carrier.of_numbers(head, known, values)

    def apply(self, head: str, known: Sequence[Term], values: Sequence[Value]) -> Value:
        """The function of that name."""
        function = getattr(self, head, None)
        if function is None:
            raise AbsentError
        found: Value = function(known, *values)
        return found

    def phi(self, weights: Sequence[Term], s: Value, x: Value) -> Value:
        """φ(s, x), or a pair of these."""
        if not isinstance(x, Difference):
            arithmetic = self.other_weights[0] if weights else self.plain
            return self.cell.program(arithmetic, self.state(s), x)
        return self.cell.program(
            self.paired_arithmetic(weights, self.plain), self.pair(s), self.pair(x)
        )

    def paired_arithmetic(self, weights: Sequence[Term], base: Any) -> Any:
        """The arithmetic of two runs, the second perhaps with other weights."""
        if not any(weights):
            return Differences(base)
        weight_gap = self.other_weights[1]
        return OtherWeights(base, weight_gap if base is self.plain else DualArithmetic(weight_gap))

    def state(self, s: Value) -> Value:
        """The state itself, or the initial state for ZERO."""
        return self.initial_state if s is ZERO else s

    def pair(self, s: Value) -> Difference[Any]:
        """A pair of states or of inputs, ZERO replaced by the initial state."""
        if s is ZERO:
            return Difference(self.initial_state, self.initial_state.constant(0.0))
        if s.value is ZERO:
            return Difference(self.initial_state, subtract_values(self.initial_state, -s.gap))
        return Difference(s.value, s.value.constant(0.0) if s.gap is ZERO else s.gap)

    def derivatives(self, weights: Sequence[Term], s: Value, x: Value) -> Value:
        """∂φ/∂(s, x), or of a pair."""
        return self.tangent(self.directions, weights, s, x)

    def d_weights(self, weights: Sequence[Term], s: Value, x: Value) -> Value:
        """∂φ/∂w."""
        return self.tangent(self.weight_directions, weights, s, x)

    def tangent(self, directions: Any, weights: Sequence[Term], s: Value, x: Value) -> Value:
        """The derivatives of φ in these directions at (s, x), or at a pair."""
        arithmetic, run = DualArithmetic(self.plain, directions), self.cell.program

        def moving(s: Value, x: Value) -> tuple[Any, Any]:
            return Dual(s, directions.unit(s, 0)), Dual(x, directions.unit(x, self.units))

        if not isinstance(x, Difference):
            return run(arithmetic, *moving(self.state(s), x)).tangent
        states, inputs = self.pair(s), self.pair(x)
        ends = (
            Difference(dual, Dual(pair.gap, dual.tangent.constant(0.0)))
            for dual, pair in zip(moving(states.value, inputs.value), (states, inputs), strict=True)
        )
        result = run(self.paired_arithmetic(weights, arithmetic), *ends)
        return Difference(result.value.tangent, result.gap.tangent)

    def d_state(self, known: Sequence[Term], tangent: Value) -> Value:
        """∂φ/∂s."""
        return self.select_directions(tangent, self.directions.state_slice)

    def d_input(self, known: Sequence[Term], tangent: Value) -> Value:
        """∂φ/∂x."""
        return self.select_directions(tangent, self.directions.input_slice)

    def select_directions(self, tangent: Value, columns: slice) -> Value:
        """Select some directions of a tangent, or of a pair of them."""
        if isinstance(tangent, Difference):
            return Difference(
                self.select_directions(tangent.value, columns),
                self.select_directions(tangent.gap, columns),
            )
        return self.carrier.cut(tangent, columns)

    def shown(self, s: Value) -> Value:
        """The last units of a state, which are its output."""
        return s if self.outputs == s.size else s.part(s.size - self.outputs, s.size)

    def size(self, head: str, space: Space, value: Value) -> Value:
        """A norm of a vector or of an operator."""
        if value is IDENTITY:
            return self.number_function("Abs", (), [self.number(1)])
        values, arguments = space
        if value is ZERO:
            values, arguments, value = SHOWN, None, self.initial_state.constant(0.0)
        match head:
            case "norm":
                shown = self.shown(value) if values == STATES else value
                vector = arguments is None or value.size == 1
                return self.carrier.euclidean(shown) if vector else self.carrier.spectral(shown)
            case "max_norm":
                return self.carrier.largest(value, None)
            case "weighted":
                return self.weighted(value, arguments)
            case "frobenius" | "rank" | "is_scalar":
                function = getattr(self.carrier, head, None)
                if function is None:
                    raise AbsentError
                found: Value = function(value)
                return found
        raise AbsentError

    def transpose(self, known: Sequence[Term], A: Value) -> Value:
        """Aᵀ."""
        if isinstance(A, UnitScaling) or not hasattr(self.carrier, "transposed"):
            raise AbsentError
        return A if A is ZERO else self.carrier.transposed(A)

    def weighted(self, value: Value, arguments: str | None) -> Value:
        """A weighted norm of a value; absent unless a subclass has one."""
        raise AbsentError
