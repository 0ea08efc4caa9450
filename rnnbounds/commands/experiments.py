"""``rnnbounds experiment``: something trained, and compared with what is certified."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.pages.experiment import Page
from rnnbounds.commands.options import As, Seed, path_option
from rnnbounds.experiments import EXPERIMENTS, find_experiment, options_of
from rnnbounds.experiments.gradients.run import INSTANCES
from rnnbounds.experiments.norms.run import SYSTEMS
from rnnbounds.experiments.sunspots.run import EPOCHS
from rnnbounds.shell.output import Format, check_folder, echo, print_json, print_table, progress


def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help=", ".join(EXPERIMENTS))],
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "report/NAME by default"),
    ] = None,
    seed: Seed = 0,
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            min=1,
            help=f"epochs of each training, where there is one; sunspots: {EPOCHS}",
        ),
    ] = None,
    instances: Annotated[
        int | None,
        typer.Option(
            "--instances",
            min=1,
            help=f"how many are drawn; gradients-close: {INSTANCES}, norms: {SYSTEMS}",
        ),
    ] = None,
    realisations: Annotated[
        int | None, typer.Option("--realisations", min=1, help="of urnn: how many teachers")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="of urnn and permuted-digits: large sizes, for a GPU")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", help="of permuted-digits: digits, mnist28, or a folder of MNIST's idx files"
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", help="of urnn and permuted-digits: auto, cpu or cuda"),
    ] = None,
    format: As = Format.text,
) -> int:
    """Run an experiment and write its page; exit 1 if what it certifies does not hold.

    Run urnn and permuted-digits again with the same options to go on after an interruption.
    """
    chosen = find_experiment(name)
    asked = {"epochs": epochs, "instances": instances, "realisations": realisations, "full": full}
    options = options_of(name, {**asked, "data": data, "device": device})
    folder = Path("report") / name if out is None else out
    check_folder(folder, f"{name}.json", "index.html")
    with progress(chosen.work(**options), name) as advance:
        record = chosen.run(folder, seed=seed, advance=advance, **options)
    if format is Format.json:
        print_json(record)
        return int(bool(record.problems))
    print_page(chosen.page(record))
    for problem in record.problems:
        echo(f"FAILS: {problem}")
    echo(f"wrote {folder / 'index.html'} and {folder / f'{name}.json'}")
    return int(bool(record.problems))


def print_page(page: Page) -> None:
    """What the page says, as text: its tables, and what it comes to."""
    for table in page.tables:
        print_table(table.columns, table.rows)
    echo(page.lead)
