"""The numbers that a spec gives, by the names of the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from rnnbounds.properties.systems.causal.model import stated_fields
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.kind import about
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.members import Members

Read = Callable[[Members], Array]

# The parameters that only causal models have, and those that only members of exact kinds have.
FIELDS = ("R", "R_undilated", "R_widest", "R_halved", "R_overlap")
OF_EXACT = (
    "states", "w_abs", "same_activation", "sigmoidal", "driven",
    "depth", "isometric", "v_top", "mode_radius", "mode_real", "nilpotency", "log_concave",
)  # fmt: skip


def plain(read: Callable[[SystemSpec], float]) -> Read:
    """A number of the spec."""
    return lambda batch: np.full((1, 1, 1), float(read(batch.spec)))


def step_size(batch: Members) -> Array:
    """α of training, c/β."""
    spec = batch.spec
    trains = spec.kind == "training" or (batch.cells is not None and bool(spec.steps))
    return batch.step_size if trains else np.full((1, 1, 1), spec.alpha)


def epsilon(batch: Members) -> Array:
    """The spec's share of what may be forgotten; 0 where no bound on that is known."""
    with np.errstate(all="ignore"):
        reach = reach_of(batch)
        found: Array = np.where(np.isfinite(reach) & (reach > 0), batch.spec.epsilon * reach, 0.0)
    return found


def reach_of(batch: Members) -> Array:
    """S_0/(1 − λ), what any run of any length may forget; of a cell that of its output."""
    if about(batch.spec).causal:
        return np.zeros((1, 1, 1))  # nothing runs
    names = ("S_0", "lam") if batch.cells is None else ("S_0_box", "lam_box")
    drive, lam = (batch.constant(name).hi for name in names)
    size = 1.0 if batch.cells is None else batch.constant("C_box").hi
    found: Array = size * drive / (1 - lam)
    return found


def of_exact(name: str) -> Read:
    """What the exact members add to the parameters, (B, 1, 1); NaN where they do not."""

    def read(batch: Members) -> Array:
        key = "parameters of members"
        if key not in batch.cache:
            batch.cache[key] = [member.parameters() for member in batch.exact]
        row = [one.get(name, np.nan) for one in batch.cache[key]] or [np.nan]
        return np.array(row).reshape(-1, 1, 1)

    return read


def of_causal(name: str) -> Read:
    """A receptive field of causal models, or what it is mistaken for; NaN of others."""

    def read(batch: Members) -> Array:
        known = about(batch.spec).causal
        return np.full((1, 1, 1), stated_fields(batch)[name] if known else np.nan)

    return read


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
    **{name: of_exact(name) for name in OF_EXACT},
    **{name: of_causal(name) for name in FIELDS},
}


class Parameters(Mapping[str, Array]):
    """Every parameter of a batch, along (batch, sequence, window), read when first asked for: most
    statements speak of few, and ε needs constants that nobody else may."""

    def __init__(self, batch: Members) -> None:
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
