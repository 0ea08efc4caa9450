"""``rnnbounds experiment``: something trained, and compared with what is certified."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.text import ratio
from rnnbounds.experiments import EXPERIMENTS, find_experiment, sizes_of
from rnnbounds.experiments.closeness import Closeness
from rnnbounds.experiments.curves import mean, power
from rnnbounds.experiments.gradients import INSTANCES
from rnnbounds.experiments.record import Sunspots
from rnnbounds.experiments.sunspots import EPOCHS
from rnnbounds.output import Format, print_json, print_table, progress


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(experiment)


def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help=", ".join(EXPERIMENTS))],
    out: Annotated[
        Path | None, typer.Option("--out", help="folder to write to; report/NAME by default")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="the seed of everything random")] = 0,
    epochs: Annotated[
        int | None,
        typer.Option("--epochs", min=1, help=f"of sunspots: epochs of each training; {EPOCHS}"),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(
            "--instances", min=1, help=f"of gradients-close: how many are drawn; {INSTANCES}"
        ),
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="text or json")] = Format.text,
) -> int:
    """Run an experiment and write its page; exit 1 if what it certifies does not hold."""
    chosen = find_experiment(name)
    sizes = sizes_of(name, {"epochs": epochs, "instances": instances})
    folder = Path("report") / name if out is None else out
    with progress(chosen.work(sizes), name) as advance:
        record = chosen.run(folder, seed=seed, advance=advance, **sizes)
    if format is Format.json:
        print_json(record)
        return int(bool(record.problems))
    if isinstance(record, Sunspots):
        print_sunspots(record)
    else:
        print_closeness(record)
    for problem in record.problems:
        typer.echo(f"FAILS: {problem}")
    typer.echo(f"wrote {folder / 'index.html'} and {folder / f'{name}.json'}")
    return int(bool(record.problems))


def print_sunspots(record: Sunspots) -> None:
    """The networks and the truncations as text."""
    print_table(
        ("network", "verdict", "λ", "norm", "held-out error"),
        [
            (
                told.name,
                told.verdict,
                f"{told.certificate['lambda']:.6g}",
                told.certificate["norm"],
                f"{told.error:.2f} sunspots",
            )
            for told in (record.stable, record.unconstrained)
        ],
    )
    if record.truncations:
        print_table(
            ("ε", "k", "‖h − hᵏ‖₂ observed", "forecasts observed", "certified"),
            [
                (
                    f"{cut.epsilon:g}",
                    cut.k,
                    f"{cut.gap:.2g}",
                    f"{cut.forecast_gap:.2g}",
                    f"{cut.forecast_bound:.3g}",
                )
                for cut in record.truncations
            ],
        )


def print_closeness(record: Closeness) -> None:
    """Mean gaps of gradients and weights against k, each beside its bound, as text."""
    from rnnbounds.experiments.gradients_page import verdict  # draws: too slow for every command

    curves = {"gradients": record.gradients}
    curves |= {f"weights, steps {told.name}": told.weights for told in record.descents}
    rows = zip(
        record.setting.windows,
        *(
            column
            for curve in curves.values()
            for column in (
                [ratio(gap) for gap in mean(curve)],
                [power(max(bounds)) for bounds in zip(*curve.log10_bound, strict=True)],
            )
        ),
        strict=True,
    )
    names = [head for name in curves for head in (name, "certified")]
    print_table(("k", *names), list(rows))
    for told in record.descents:
        typer.echo(verdict(record, told))
