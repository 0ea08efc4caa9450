"""The numbers that a spec gives, by the names of the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.kind import about
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.members import BatchData

Read = Callable[[BatchData], Array]

# The parameters that only some families have.
OF_FAMILIES = (
    "R", "R_undilated", "R_widest", "R_halved", "R_overlap",
    "states", "w_abs", "same_activation", "sigmoidal", "driven",
    "depth", "isometric", "v_top", "mode_radius", "mode_real", "nilpotency", "log_concave",
)  # fmt: skip


def plain(read: Callable[[SystemSpec], float]) -> Read:
    """A number of the spec."""
    return lambda batch: np.full((1, 1, 1), float(read(batch.spec)))


def step_size(batch: BatchData) -> Array:
    """α of training, c/β."""
    spec = batch.spec
    trains = spec.kind == "training" or (batch.cells is not None and bool(spec.steps))
    return batch.step_size if trains else np.full((1, 1, 1), spec.alpha)


def epsilon(batch: BatchData) -> Array:
    """The spec's share of what may be forgotten; 0 where no bound on that is known."""
    with np.errstate(all="ignore"):
        reach = about(batch.spec).route.reach(batch)
        found: Array = np.where(np.isfinite(reach) & (reach > 0), batch.spec.epsilon * reach, 0.0)
    return found


def of_family(name: str) -> Read:
    """A parameter that some family adds; NaN of others."""
    return lambda batch: about(batch.spec).route.parameter(batch, name)


READ: dict[str, Read] = {
    "T": plain(lambda spec: spec.T),
    "n": plain(lambda spec: spec.n),
    "d": plain(lambda spec: spec.d),
    "a_1": plain(lambda spec: spec.lam),
    "N": plain(lambda spec: spec.steps),
    "inverse_steps": plain(lambda spec: spec.schedule == "inverse"),
    "constant_steps": plain(lambda spec: spec.schedule == "constant"),
    "u": plain(lambda spec: 2.0**-53),
    "k": lambda batch: batch.windows,
    "t": lambda batch: batch.spec.T - batch.windows,
    "alpha": step_size,
    "epsilon": epsilon,
    **{name: of_family(name) for name in OF_FAMILIES},
}


class Parameters(Mapping[str, Array]):
    """Every parameter of a batch, along (batch, sequence, window), read when first asked for: most
    statements speak of few, and ε needs constants that nobody else may."""

    def __init__(self, batch: BatchData) -> None:
        self.batch = batch
        self.known: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self.known:
            self.known[name] = READ[name](self.batch)
        return self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in READ

    def __iter__(self) -> Iterator[str]:
        return iter(READ)

    def __len__(self) -> int:
        return len(READ)
