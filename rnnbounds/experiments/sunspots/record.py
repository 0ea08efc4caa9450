"""The record of the sunspot experiment, and what is wrong with it."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from reports.records.record import Environment

SCHEMA = "rnnbounds/sunspots/1"


@dataclass(frozen=True)
class Series:
    """One number a year. `mean` and `unit` (the standard deviation) are of the training years.

    The network reads x = (number − mean)/unit and forecasts the next one; `input_bound` is max |x|
    over the whole series, of the floats as they are fed.
    """

    source: str
    years: tuple[int, ...]
    numbers: tuple[float, ...]
    held_out: int
    mean: float
    unit: float

    @property
    def split(self) -> int:
        """The number of forecasts that are trained on; those after it are held out."""
        return len(self.numbers) - 1 - self.held_out

    @property
    def x(self) -> Tensor:
        """What the network is fed, (1, T, 1): all numbers, the last one only as a target."""
        numbers = torch.tensor(self.numbers, dtype=torch.float64)
        return ((numbers - self.mean) / self.unit)[None, :, None]

    @property
    def input_bound(self) -> float:
        """max |x|."""
        return float(self.x.abs().max())

    def in_numbers(self, x: Tensor) -> tuple[float, ...]:
        """What the network forecasts, as sunspot numbers."""
        return tuple((self.mean + self.unit * x.detach().flatten()).tolist())

    def error(self, forecasts: tuple[float, ...], held_out: bool) -> float:
        """The root of the mean squared error of forecasts of the second year and on."""
        part = slice(self.split, None) if held_out else slice(self.split)
        given, true = torch.tensor(forecasts[part]), torch.tensor(self.numbers[1:][part])
        return float((given.double() - true.double()).square().mean().sqrt())


@dataclass(frozen=True)
class Trained:
    """One trained network: its file, its certificate, and errors in sunspot numbers (RMS).

    `ell` is the radius that it was projected to, None for the unconstrained one; `forecasts` are
    those of the held-out years.
    """

    name: str
    file: str
    ell: float | None
    certificate: dict[str, Any]
    training_error: float
    error: float
    forecasts: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """`certified`, `refuted` or `undecided`."""
        return str(self.certificate["verdict"])


@dataclass(frozen=True)
class Truncation:
    """The projected network cut to k years; gaps are the largest over the held-out years.

    `gap` is of the states, ‖h − hᵏ‖₂, certified to be ≤ `epsilon`; `forecast_gap` is in sunspot
    numbers, certified to be ≤ `forecast_bound` = ε‖C‖₂·unit. `error` is the RMS error.
    """

    epsilon: float
    k: int
    file: str
    gap: float
    forecast_gap: float
    forecast_bound: float
    error: float
    forecasts: tuple[float, ...]


@dataclass(frozen=True)
class Memory:
    """max ‖h − hᵏ‖₂ over the held-out years for k = 0, 1, …: certified, and observed."""

    certified: tuple[float, ...]
    stable: tuple[float, ...]
    unconstrained: tuple[float, ...]


@dataclass(frozen=True)
class Sunspots:
    """One run; everything but `environment` is a function of the seed and the epochs.

    `persistence_error` is that of the forecast "as many as this year".
    """

    seed: int
    epochs: int
    states: int
    series: Series
    input_bound: float
    stable: Trained
    unconstrained: Trained
    persistence_error: float
    truncations: tuple[Truncation, ...]
    memory: Memory
    environment: Environment
    problems: tuple[str, ...] = ()
    schema: str = field(default=SCHEMA)


def problems(run: Sunspots) -> tuple[str, ...]:
    """What fails, in words: no certificate, or a certified bound that held-out data breaks.

    A gap that is NaN breaks its bound.
    """
    found = []
    if run.stable.verdict != "certified":
        found.append(f"the projected network is {run.stable.verdict}, not certified")
    for cut in run.truncations:
        where = f"k = {cut.k}, ε = {cut.epsilon:g}"
        if not cut.gap <= cut.epsilon:
            found.append(f"{where}: the states are {cut.gap:g} apart")
        if not cut.forecast_gap <= cut.forecast_bound:
            found.append(
                f"{where}: the forecasts are {cut.forecast_gap:g} sunspots apart, "
                f"certified were {cut.forecast_bound:g}"
            )
    for k, bound in enumerate(run.memory.certified):
        if not run.memory.stable[k] <= bound:
            found.append(f"k = {k}: the states are {run.memory.stable[k]:g} apart, not ≤ {bound:g}")
    return tuple(found)
