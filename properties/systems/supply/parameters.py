"""The numbers that a spec gives, by the names of the vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec

ParameterReader = Callable[[Batch], Array]

# The parameters that only some families have.
FAMILY_PARAMETERS = (
    "R", "states", "w_abs", "same_activation", "driven", "within",
    "depth", "isometric", "v_top",
)  # fmt: skip


def spec_number(read: Callable[[SystemSpec], float]) -> ParameterReader:
    """A number of the spec."""
    return lambda batch: np.full((1, 1, 1), float(read(batch.spec)))


def target_error(batch: Batch) -> Array:
    """The spec's share of what may be forgotten; 0 where no bound on that is known."""
    with np.errstate(all="ignore"):
        reach = batch.route.forgotten_bound(batch)
        found: Array = np.where(np.isfinite(reach) & (reach > 0), batch.spec.epsilon * reach, 0.0)
    return found


PARAMETER_READERS: dict[str, ParameterReader] = {
    "T": spec_number(lambda spec: spec.T),
    "n": spec_number(lambda spec: spec.n),
    "d": spec_number(lambda spec: spec.d),
    "a_1": spec_number(lambda spec: spec.lam),
    "N": spec_number(lambda spec: spec.steps),
    "k": lambda batch: batch.windows,
    "t": lambda batch: batch.spec.T - batch.windows,
    "alpha": lambda batch: batch.route.step_size(batch),
    "epsilon": target_error,
    **dict.fromkeys(FAMILY_PARAMETERS, spec_number(lambda spec: nan)),
}
