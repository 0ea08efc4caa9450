"""The worst instance of a claim as arrays: states of both runs, and the gap under its bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import torch

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.properties.judging.evidence import LONGEST_DRAWN_RUN
from rnnbounds.properties.judging.sides import has_windows
from rnnbounds.properties.runs.replay import find_statement, replay
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.supply.other_inputs import other_inputs
from rnnbounds.reports.records.checks.curve import Point
from rnnbounds.reports.records.checks.drawn import InstanceArrays, NumberTable
from rnnbounds.reports.records.number import is_finite
from rnnbounds.reports.records.record import Check
from rnnbounds.theory.proof.claim import Claim

MAX_NUMBERS = 4096  # numbers of all arrays together: a page has a few dozen instances


def worst_instance(claim: Claim, checks: Iterable[Check]) -> InstanceArrays | None:
    """The first of the checks whose runs can be drawn: of two steps to 64, from zero.

    Its statement has a window k or second inputs, or bounds the last state. Of a windowed one the
    truncated run has a third of the inputs, where there are such windows. None if no check is of
    that kind.
    """
    for check in checks:
        if 2 <= check.spec.get("T", 1) <= LONGEST_DRAWN_RUN and not check.spec.get("start"):
            instance = _instance_arrays(claim, check)
            if instance is not None:
                return instance
    return None


@isolated()
def _instance_arrays(claim: Claim, check: Check) -> InstanceArrays | None:
    statement, assumptions = find_statement(claim.id, check.form)
    spec = msgspec.json.encode(check.spec).decode()
    replayed = replay(spec, statement, assumptions, claim.id, check.form)
    batch = replayed.batch
    if kind_of_spec(batch.spec).route.causal:
        return None
    with torch.no_grad():
        inputs_of = [Rows(x.mT) for x in batch.x.unbind(1)]
        states = run_states(batch, inputs_of)
        others: NumberTable = ()
        second_inputs: NumberTable = ()
        if has_windows(statement):
            k = max(1, min(batch.K, batch.spec.T // 3))
            others = run_states(batch, inputs_of[batch.spec.T - k :])
            if batch.exact and not _is_close(math.dist(states[-1], others[-1]), replayed.checks[k]):
                return None  # in floats it is another system than the one in rationals
        elif other_inputs in batch.readings:
            second_inputs = table_rows(other_inputs(batch)[0, :, :, 0].numpy())
            others = run_states(batch, [Rows(x.mT) for x in _other_input_rows(batch)])
        elif batch.exact or not _is_close(math.hypot(*states[-1]), replayed.checks[0]):
            return None  # the statement is about another thing than where the run ends
    places = range(len(replayed.checks)) if has_windows(statement) else (batch.spec.T,)
    sides = tuple(
        Point(at=position, lhs=one.lhs, rhs=one.rhs)
        for position, one in zip(places, replayed.checks, strict=True)
        if is_finite(one.lhs) and is_finite(one.rhs)
    )
    if has_windows(statement) and sum(min(float(p.lhs), float(p.rhs)) > 0 for p in sides) < 2:
        return None  # no gap to be seen under a bound
    weights = {
        name: table_rows(one[0].numpy()) for name, one in batch.weights.items() if one.ndim <= 3
    }
    inputs = table_rows(batch.x[0, :, :, 0].numpy())
    tables = (*weights.values(), inputs, second_inputs, states, others)
    numbers = np.array([number for table in tables for row in table for number in row])
    if numbers.size > MAX_NUMBERS or not np.isfinite(numbers).all():
        return None
    return InstanceArrays(
        check=check, weights=weights | {"C": table_rows(batch.C[0].numpy())}, inputs=inputs,
        states=states, others=others, other_inputs=second_inputs, sides=sides,
    )  # fmt: skip


def run_states(batch: Batch, inputs: Sequence[Rows]) -> NumberTable:
    """h_0, h_1, … of the first pair from zero under these inputs, a row each."""
    cells = batch.cells
    cell = batch.cell if cells is None else cells.cell
    arithmetic = Floats(batch.cell.parameters if cells is None else cells.parameters)
    n, units = (batch.cell.n,) * 2 if cells is None else (cells.n, cells.units)
    states = [Rows(batch.x.new_zeros(len(batch.x), batch.x.shape[3], units))]
    for x in inputs:
        states.append(cell.program(arithmetic, states[-1], x))
    return table_rows(np.stack([s.part(units - n, units).value[0, 0].numpy() for s in states]))


def table_rows(array: np.ndarray) -> NumberTable:
    """A vector as one row, a matrix row by row."""
    return tuple(tuple(map(float, row)) for row in np.atleast_2d(array).tolist())


def _is_close(length: float, check: Check) -> bool:
    """True if a length equals the left side of a check to a relative 1e-9, for float rounding."""
    return math.isclose(length, float(check.lhs), rel_tol=1e-9)


def _other_input_rows(batch: Batch) -> list[torch.Tensor]:
    return [x.mT for x in other_inputs(batch).unbind(1)]
