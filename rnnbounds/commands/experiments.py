"""``rnnbounds experiment``: something trained, and compared with what is certified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import As, path_option
from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.properties.errors import InputError
from rnnbounds.shell.output import Format, check_folder, echo, print_json, print_table, progress


def experiment(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=", ".join(HOMES))] = None,
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "report/NAME by default"),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="the first seed")] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="how many, from the first one on")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="one of the settings on the page"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="continue a run that was stopped")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="large sizes, for a GPU")] = False,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="PATH", help="published data, in place of those of the package"
        ),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda")] = "auto",
    told: Annotated[
        list[Path] | None,
        path_option("--table", "DIR", "only print the table of the experiments in DIR"),
    ] = None,
    format: As = Format.text,
) -> int:
    """Run an experiment and write its page; exit 1 if a certified bound does not hold.

    With --resume and the same options a stopped run continues, to the same record.
    """
    from rnnbounds.experiments.engine.page import headline, tables
    from rnnbounds.experiments.engine.running import OptionError, run, settings, work

    if told:
        return print_records(told)
    if name is None:
        raise typer.BadParameter(f"choose among {', '.join(HOMES)}", param_hint="NAME")
    chosen = find_experiment(name)
    if data is not None and not chosen.takes_data:
        raise OptionError(name, "--data")
    firsts = {"seed": seed, "seeds": seeds}
    asked = pairs(given or ()) | {key: value for key, value in firsts.items() if value is not None}
    setting = settings(chosen, full=full, given=asked)
    folder = Path("report") / name if out is None else out
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
    echo(headline(record))
    for problem in record.problems:
        echo(f"FAILS: {problem}")
    echo(f"wrote {folder / 'index.html'} and {folder / f'{name}.json'}")
    return int(bool(record.problems))


def print_records(folders: Sequence[Path]) -> int:
    """The table of what was run, in Markdown."""
    from rnnbounds.experiments.engine.summary import markdown, read

    for line in markdown(read(folders)):
        echo(line)
    return 0


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
        except UnicodeError:
            raise InputError(f"--set {name} has a value that is not UTF-8; write it so") from None
        except RecursionError:
            raise InputError(f"--set {name} has a value that nests too deep; flatten it") from None
    return found
