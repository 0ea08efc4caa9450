"""The certified constants of networks: those of the cell, and those of a pair of states, of each
window and of training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy
import torch

from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.supply.other_inputs import x_gap
from rnnbounds.theory.claims.training.end_to_end import DRIFT, STILL
from rnnbounds.theory.language.quantities.kinds import CELLS, GATES
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.evaluate import enclose
from rnnbounds.theory.numbers.interval import Interval

SHIFT = 2.0**-16


def state_pair_bound(batch: Batch) -> Array:
    """H ≥ ‖h‖, ‖h'‖ of each pair of states, (B, S, 1)."""
    sizes = [norm_up(h.detach().transpose(1, 2)) for h in (batch.h, batch.h_other)]
    return np.asarray(torch.maximum(*sizes).cpu().numpy()[:, :, None])


def gradient_window_bounds(batch: Batch) -> Array:
    """ε_k of each window, (B, 1, K+1)."""
    return np.asarray(batch.constants.epsilons(batch.K).detach().cpu().numpy()[:, None])


def prediction_reading(expr: sympy.Expr) -> Callable[[Batch], Array]:
    """The upper end of what the theorem asks of K_0 or K_1, (B, 1, 1)."""

    def read(batch: Batch) -> Array:
        env = {}
        for symbol in expr.free_symbols:
            name = symbol.name
            parameter = VOCABULARY[name].role == "parameter"
            known = batch.parameters[name] if parameter else None
            env[name] = batch.constant(name) if known is None else Interval(known, known)
        with np.errstate(all="ignore"):
            high = enclose(expr, env).hi
        return np.where(np.isnan(high), np.inf, high)

    return read


DERIVED: dict[str, Callable[[Batch], Array]] = {
    "H": state_pair_bound,
    "eps_k": gradient_window_bounds,
    "x_gap": x_gap,
}
# What training of a network asks for.
PREDICTIONS = {"K_0": prediction_reading(STILL), "K_1": prediction_reading(DRIFT)}
# What only systems of other families have, where a quantity does not name the kinds that do.
_FOREIGN = (*GATES, *CELLS)
FOREIGN_CONSTANTS = {quantity.name for quantity in _FOREIGN if quantity.role == "certified"}
FOREIGN_CONSTANTS = FOREIGN_CONSTANTS.union(PREDICTIONS).difference(DERIVED)


def network_constant(batch: Batch, name: str) -> Array:
    """A constant of a batch of networks; infinite where only other systems have it."""
    if name in DERIVED:
        return DERIVED[name](batch)
    known = VOCABULARY.get(name)
    if name in FOREIGN_CONSTANTS or (known is not None and known.about):
        return np.full((batch.cell.batch, 1, 1), np.inf)
    return batch.constants[name].detach().cpu().numpy().reshape(-1, 1, 1)
