"""``rnnbounds experiment``: something trained, and compared with what is certified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from properties.errors import InputError
from reports.pages.experiment import Page
from rnnbounds.commands.options import As, Seed, path_option
from rnnbounds.experiments import EXPERIMENTS, HOMES, find_experiment, options_of
from rnnbounds.experiments.gradients.run import INSTANCES
from rnnbounds.experiments.norms.run import SYSTEMS
from rnnbounds.experiments.sunspots.run import EPOCHS
from rnnbounds.shell.output import Format, check_folder, echo, print_json, print_table, progress


def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help=", ".join((*EXPERIMENTS, *HOMES)))],
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "report/NAME by default"),
    ] = None,
    seed: Seed = 0,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="how many, from the first one on")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="go on from where a run was stopped")
    ] = False,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="one of the settings on the page"),
    ] = None,
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
    full: Annotated[bool, typer.Option("--full", help="large sizes, for a GPU")] = False,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", help="of permuted-digits: digits, mnist28, or a folder of MNIST's idx files"
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", help="auto, cpu or cuda"),
    ] = None,
    format: As = Format.text,
) -> int:
    """Run an experiment and write its page; exit 1 if what it certifies does not hold.

    A run that was stopped goes on with --resume and the same options, to the same record.
    """
    chosen = find_experiment(name)
    folder = Path("report") / name if out is None else out
    if name in HOMES:
        told = pairs(given or ()) | {"seed": seed} | ({"seeds": seeds} if seeds else {})
        return shared(
            chosen, folder, told, full=full, data=data, device=device or "auto", resume=resume,
            format=format,
        )  # fmt: skip
    asked = {"epochs": epochs, "instances": instances, "realisations": realisations, "full": full}
    options = options_of(name, {**asked, "data": data, "device": device})
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


def shared(
    chosen: Any, folder: Path, given: dict[str, Any], *, full: bool, data: str | None, device: str,
    resume: bool, format: Format,
) -> int:  # fmt: skip
    """Run an experiment of the engine's, and print what its page says."""
    from rnnbounds.experiments.engine.page import lead, tables
    from rnnbounds.experiments.engine.running import OptionError, run, settings, work

    name = chosen.name
    if data is not None and not chosen.takes_data:
        raise OptionError(name, "--data")
    setting = settings(chosen, full=full, given=given)
    check_folder(folder, f"{name}.json", "index.html")
    with progress(work(chosen, setting), name) as advance:
        record = run(
            chosen, folder, setting=setting, full=full, data=data, device=device, resume=resume,
            advance=advance,
        )  # fmt: skip
    if format is Format.json:
        print_json(record)
        return int(bool(record.problems))
    for table in tables(record, chosen.sections(record)):
        print_table(table.columns, table.rows)
    echo(lead(record))
    for problem in record.problems:
        echo(f"FAILS: {problem}")
    echo(f"wrote {folder / 'index.html'} and {folder / f'{name}.json'}")
    return int(bool(record.problems))


def pairs(given: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE, VALUE as JSON where it is; raises InputError."""
    import msgspec

    found: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"--set {pair} has no value; give it as NAME=VALUE")
        try:
            found[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[name] = value
    return found


def print_page(page: Page) -> None:
    """What the page says, as text: its tables, and what it comes to."""
    for table in page.tables:
        print_table(table.columns, table.rows)
    echo(page.lead)
