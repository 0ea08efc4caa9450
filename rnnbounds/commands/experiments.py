"""``rnnbounds experiment``: something real, trained, certified and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.experiments import EXPERIMENTS, find_experiment
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
    seed: Annotated[int, typer.Option("--seed", min=0, help="the seed of the weights")] = 0,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="epochs of each training")
    ] = EPOCHS,
    format: Annotated[Format, typer.Option("--format", help="text or json")] = Format.text,
) -> int:
    """Run an experiment and write its page; exit 1 if what it certifies does not hold."""
    run = find_experiment(name)
    folder = Path("report") / name if out is None else out
    with progress(2 * epochs, name) as advance:
        record = run(folder, seed=seed, epochs=epochs, advance=advance)
    if format is Format.json:
        print_json(record)
    else:
        print_sunspots(record, folder)
    return int(bool(record.problems))


def print_sunspots(record: Sunspots, folder: Path) -> None:
    """The networks, the truncations, and what was written, as text."""
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
    for problem in record.problems:
        typer.echo(f"FAILS: {problem}")
    typer.echo(f"wrote {folder / 'index.html'} and {folder / 'sunspots.json'}")
