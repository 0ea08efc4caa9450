"""``rnnbounds experiment``: something trained, and compared with what is certified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import FormatOption, path_option
from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.properties.errors import InputError
from rnnbounds.shell.output import (
    Format,
    echo,
    print_json,
    print_table,
    require_folder,
    show_progress,
)


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
    assignments: Annotated[
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
    folders: Annotated[
        list[Path] | None,
        path_option("--table", "DIR", "only print the table of the experiments in DIR"),
    ] = None,
    format: FormatOption = Format.text,
) -> int:
    """Run an experiment and write its page; exit 1 if a certified bound does not hold.

    With --resume and the same options a stopped run continues, to the same record.
    """
    from rnnbounds.experiments.engine.page import all_tables, headline_text
    from rnnbounds.experiments.engine.running import (
        OptionError,
        count_advances,
        make_setting,
        run_experiment,
    )

    if folders:
        return print_records_table(folders)
    if name is None:
        raise typer.BadParameter(f"choose among {', '.join(HOMES)}", param_hint="NAME")
    chosen = find_experiment(name)
    if data is not None and not chosen.takes_data:
        raise OptionError(name, "--data")
    seeds_given = {"seed": seed, "seeds": seeds}
    values = parse_assignments(assignments or ()) | {
        key: value for key, value in seeds_given.items() if value is not None
    }
    setting = make_setting(chosen, full=full, changed=values)
    folder = Path("report") / name if out is None else out
    require_folder(folder, f"{name}.json", "index.html")
    with show_progress(count_advances(chosen, setting), name) as advance:
        record = run_experiment(
            chosen, folder, setting=setting, full=full, data=data, device=device, resume=resume,
            advance=advance,
        )  # fmt: skip
    if format is Format.json:
        print_json(record)
        return int(bool(record.problems))
    for table in all_tables(record, chosen.sections(record)):
        print_table(table.columns, table.rows)
    echo(headline_text(record))
    for problem in record.problems:
        echo(f"FAILS: {problem}")
    echo(f"wrote {folder / 'index.html'} and {folder / f'{name}.json'}")
    return int(bool(record.problems))


def print_records_table(folders: Sequence[Path]) -> int:
    """The table of what was run, in Markdown."""
    from rnnbounds.experiments.engine.summary import markdown_table, read_records

    for line in markdown_table(read_records(folders)):
        echo(line)
    return 0


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE, VALUE as JSON where it is; raises InputError."""
    import msgspec

    settings: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {assignment} has no value; give it as NAME=VALUE")
        try:
            settings[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            settings[name] = value
        except UnicodeError:
            raise InputError(f"--set {name} has a value that is not UTF-8; write it so") from None
        except RecursionError:
            raise InputError(f"--set {name} has a value that nests too deep; flatten it") from None
    return settings
