"""``rnnbounds experiment sunspots``: a forecaster of the yearly sunspot number, and its memory.

The same network is trained twice from the same start, once with the stability projection and once
without; both are certified, and the projected one is truncated and compared on held-out years.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from impl.certificate.certify import certify
from impl.certificate.record import Certificate
from impl.convert.feedforward import FeedForward
from impl.convert.truncate import save_truncated, truncate
from properties.runs.versions import found
from rnnbounds.experiments.engine.common import (
    MissingPackageError,
    environment_of,
    prepare,
    publish,
)
from rnnbounds.experiments.gaps import (
    certified_forecast_gap,
    certified_gaps,
    forecast_gap,
    known_rounding,
    observed_gaps,
    state_gap,
)
from rnnbounds.experiments.sunspots.forecast import HIDDEN, Forecaster, save_forecaster, train
from rnnbounds.experiments.sunspots.page import page
from rnnbounds.experiments.sunspots.record import (
    Memory,
    Series,
    Sunspots,
    Trained,
    Truncation,
    problems,
)

ELL = 0.8
EPOCHS = 400
EPSILONS = (1e-1, 1e-2, 1e-3)
HELD_OUT = 60  # years


@dataclass(frozen=True)
class Fitted:
    """A trained network with its certificate, and how the record tells of it."""

    model: Forecaster
    certificate: Certificate
    told: Trained


def run(
    out: Path,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    ell: float = ELL,
    advance: Callable[[str], None] = lambda label: None,
) -> Sunspots:
    """Train, certify, truncate and compare; write weights, sunspots.json and index.html to `out`.

    `advance` is called 2·epochs times. Raises MissingPackageError without statsmodels, and
    WriteError for a bad place, both before anything is trained.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    series = load_series()
    prepare(out)
    stable = fit("stable", series, seed, epochs, ell, advance)
    free = fit("unconstrained", series, seed, epochs, None, advance)
    cuts = []
    if stable.told.verdict == "certified":
        cuts = [cut(stable, series, epsilon) for epsilon in EPSILONS]
    K = min(max((told.k for told, *_ in cuts), default=HELD_OUT), series.split)
    record = Sunspots(
        seed=seed,
        epochs=epochs,
        states=HIDDEN,
        series=series,
        input_bound=series.input_bound,
        stable=stable.told,
        unconstrained=free.told,
        persistence_error=series.error(series.numbers[:-1], held_out=True),
        truncations=tuple(told for told, *_ in cuts),
        memory=Memory(
            certified_gaps(stable.certificate, K),
            memory(stable, series, K),
            memory(free, series, K),
        ),
        environment=environment_of(started, "safetensors", "statsmodels"),
    )
    record = replace(record, problems=problems(record))
    whole = page(record)  # before anything is written
    for fitted in (stable, free):
        save_forecaster(fitted.model, out / fitted.told.file)
    for told, module, certificate in cuts:
        save_truncated(module, certificate, out / told.file)
    publish(out, "sunspots", record, whole)
    return record


def load_series() -> Series:
    """The yearly mean sunspot numbers 1700–2008 that statsmodels ships."""
    try:
        from statsmodels.datasets import sunspots
    except ImportError:
        raise MissingPackageError("statsmodels", "the sunspot series") from None
    data = sunspots.load_pandas().data
    numbers = torch.tensor(data["SUNACTIVITY"].to_numpy(), dtype=torch.float64)
    past = numbers[:-HELD_OUT]
    return Series(
        source=f"statsmodels {found('statsmodels')}, datasets.sunspots",
        years=tuple(int(year) for year in data["YEAR"]),
        numbers=tuple(numbers.tolist()),
        held_out=HELD_OUT,
        mean=float(past.mean()),
        unit=float(past.std(correction=0)),
    )


def fit(
    name: str,
    series: Series,
    seed: int,
    epochs: int,
    ell: float | None,
    advance: Callable[[str], None],
) -> Fitted:
    """Train one network on the years before the held-out ones, and certify it."""
    x, split = series.x, series.split
    model = train(
        x[:, :split],
        x[:, 1 : split + 1],
        seed=seed,
        epochs=epochs,
        ell=ell,
        advance=lambda: advance(f"training, {name}"),
    )
    certificate = certify(model.rnn, series.input_bound, EPSILONS)
    forecasts = series.in_numbers(model(x[:, :-1]))
    told = Trained(
        name=name,
        file=f"{name}.safetensors",
        ell=ell,
        certificate=certificate.to_json(),
        training_error=series.error(forecasts, held_out=False),
        error=series.error(forecasts, held_out=True),
        forecasts=forecasts[split:],
    )
    return Fitted(model, certificate, told)


def cut(
    fitted: Fitted, series: Series, epsilon: float
) -> tuple[Truncation, FeedForward, dict[str, Any]]:
    """The feed-forward form within ε, compared with the recurrent network on the held-out years.

    Returns the comparison, the module and the certificate that is saved with it.
    """
    model, x, C = fitted.model, series.x[:, :-1], fitted.model.readout.weight.detach()
    module, certificate = truncate(model.rnn, epsilon, series.input_bound)
    rounding = known_rounding(fitted.certificate)
    with torch.no_grad():
        h = module(x)
        apart = (model.states(x) - h)[0, series.split :]
        forecasts = series.in_numbers(model.readout(h))
    told = Truncation(
        epsilon=epsilon,
        k=module.k,
        file=f"truncated-{epsilon:g}.safetensors",
        gap=state_gap(apart, rounding),
        forecast_gap=forecast_gap(apart, C, rounding, series.unit),
        forecast_bound=certified_forecast_gap(epsilon, C, series.unit),
        error=series.error(forecasts, held_out=True),
        forecasts=forecasts[series.split :],
    )
    return told, module, certificate


def memory(fitted: Fitted, series: Series, K: int) -> tuple[float, ...]:
    """max ‖h − hᵏ‖₂ over the held-out years, k = 0 … K; only a certified network has a rounding."""
    certified = fitted.told.verdict == "certified"
    rounding = known_rounding(fitted.certificate) if certified else 0.0
    return observed_gaps(fitted.model.rnn, series.x[:, :-1], series.split, K, rounding)
