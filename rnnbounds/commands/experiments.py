"""``rnnbounds experiment``: something trained, and compared with what is certified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import FormatOption, path_option
from rnnbounds.experiments import NAMES, find_experiment
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
    name: Annotated[str, typer.Argument(metavar="NAME", help=", ".join(NAMES))],
    out: Annotated[Path | None, path_option("--out", "DIR", "report/NAME by default")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="the first seed")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1,
        help="how many, from the first one on")] = None,
    assignments: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE",
        help="one of the settings on the page")] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda")] = "auto",
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Run an experiment and write its page; exit 1 if a certified bound does not hold."""
    values = parse_assignments(assignments or ())
    values |= {k: v for k, v in (("seed", seed), ("seeds", seeds)) if v is not None}
    folder = Path("report") / name if out is None else out
    require_folder(folder, f"{name}.json", "index.html")
    chosen = find_experiment(name)
    from rnnbounds.experiments.engine import change_setting, run_experiment, write_run

    setting = change_setting(chosen, values)
    with show_progress(len(chosen.units(setting)), name) as advance:
        record = run_experiment(chosen, setting=setting, device=device, advance=advance)
    page = write_run(folder, chosen, record)
    if format is Format.json:
        print_json(record)
    else:
        for table in page.tables:
            print_table(table.columns, table.rows)
        echo(f"{str(page.verdict).capitalize()}. {record.outcome.summary}")
        for problem in record.outcome.problems:
            echo(f"FAILS: {problem}")
        echo(f"wrote {folder / 'index.html'} and {folder / f'{name}.json'}")
    return int(bool(record.outcome.problems))


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
