"""The yearly mean sunspot number, as statsmodels ships it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import MissingPackageError
from rnnbounds.properties.runs.versions import installed_version

HELD_OUT = 60  # years


@dataclass(frozen=True)
class SunspotSeries:
    """One number a year. `mean` and `unit` (the standard deviation) are of the training years.

    The network reads x = (number − mean)/unit and forecasts the next one.
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
        """Inputs (1, T, 1): all numbers, standardised, of which the last is only a target."""
        numbers = torch.tensor(self.numbers, dtype=torch.float64)
        return ((numbers - self.mean) / self.unit)[None, :, None]

    @property
    def input_bound(self) -> float:
        """max |x| over the whole series, of the floats as they are fed."""
        return float(self.x.abs().max())

    def to_numbers(self, x: Tensor) -> tuple[float, ...]:
        """Convert forecasts in standardised units to sunspot numbers."""
        return tuple((self.mean + self.unit * x.detach().flatten()).tolist())

    def error(self, forecasts: tuple[float, ...], held_out: bool) -> float:
        """The root of the mean squared error of forecasts of the second year and on."""
        part = slice(self.split, None) if held_out else slice(self.split)
        predicted, true = torch.tensor(forecasts[part]), torch.tensor(self.numbers[1:][part])
        return float((predicted.double() - true.double()).square().mean().sqrt())


def load_series() -> SunspotSeries:
    """The years 1700–2008; raises MissingPackageError without statsmodels."""
    try:
        from statsmodels.datasets import sunspots
    except ImportError:
        raise MissingPackageError("statsmodels", "the sunspot series") from None
    data = sunspots.load_pandas().data
    numbers = torch.tensor(data["SUNACTIVITY"].to_numpy(), dtype=torch.float64)
    training = numbers[:-HELD_OUT]
    return SunspotSeries(
        source=f"statsmodels {installed_version('statsmodels')}, datasets.sunspots",
        years=tuple(int(year) for year in data["YEAR"]),
        numbers=tuple(numbers.tolist()),
        held_out=HELD_OUT,
        mean=float(training.mean()),
        unit=float(training.std(correction=0)),
    )
