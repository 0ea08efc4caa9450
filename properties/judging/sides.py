"""Enclosures of both sides of a statement on a batch, and the assumptions that it does not meet."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rnnbounds.properties.errors import QuantityError
from rnnbounds.properties.judging.verdict import HOLDS, KnownParts, compare_sides
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import PARAMETERS, Batch
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.evaluate import enclose
from rnnbounds.theory.numbers.interval import Interval
from rnnbounds.theory.proof.claim import Assumption, Statement


def broadcast_side(side: Interval, shape: tuple[int, ...]) -> Interval:
    """The side in the shape of the verdicts: views that are not to be written to."""
    lo, hi = (end.view() if end.shape == shape else np.broadcast_to(end, shape)
              for end in side.ends)  # fmt: skip
    lo.flags.writeable = hi.flags.writeable = False
    return Interval(lo, hi)


def enclose_quantities(batch: Batch, names: set[str]) -> dict[str, Interval]:
    """Enclosures of every quantity a statement speaks of, by name."""
    enclosures: dict[str, Interval] = {}
    for name in sorted(names):
        role = VOCABULARY[name].role
        if name not in (MEASURES if role == "measured" else PARAMETERS) and role != "certified":
            raise QuantityError(name, batch.spec.kind)
        if role == "parameter":
            enclosures[name] = Interval(batch.parameters[name], batch.parameters[name])
        elif role == "certified":
            enclosures[name] = batch.constant(name)
        else:
            key = f"enclosure of {name}"
            if key not in batch.cache:
                batch.cache[key] = MEASURES[name].enclose(batch)
            enclosures[name] = batch.cache[key]
    return enclosures


def has_windows(statement: Statement) -> bool:
    """True if a quantity of the statement depends on the window k."""
    return any(VOCABULARY[name].windowed for name in quantity_names(statement))


def quantity_names(*statements: Statement) -> set[str]:
    """The names of the vocabulary in the statements."""
    return {symbol.name for statement in statements for symbol in statement.symbols}


def enclose_sides(
    statement: Statement, env: dict[str, Interval], known: KnownParts | None = None
) -> tuple[Interval, Interval]:
    """Both sides enclosed; ``known`` has the parts of other statements about the same batch."""
    known = {} if known is None else known
    return enclose(statement.lhs, env, known), enclose(statement.rhs, env, known)


def unmet_assumptions(
    assumptions: tuple[Assumption, ...], env: dict[str, Interval], known: KnownParts | None = None
) -> dict[str, npt.NDArray[np.bool_]]:
    """Mask, by assumption id, the checks where the assumption is not certainly met."""
    masks = {}
    for assumption in assumptions:
        if assumption.condition is not None:
            both_sides = enclose_sides(assumption.condition, env, known)
            masks[assumption.id] = (
                compare_sides(assumption.condition.relation, *both_sides) != HOLDS
            )
    return masks
