"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.shell.output import Format, path_of


def path_option(name: str, metavar: str, help: str) -> Any:
    """An option that names a file or a folder."""
    return typer.Option(name, parser=path_of, metavar=metavar, help=help)


CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
As = Annotated[Format, typer.Option("--format", help="text or json")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="the seed of everything random")]
Device = Annotated[str, typer.Option("--device", help="cpu or cuda")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="CLAIM", help="claims; all by default")]
Workers = Annotated[
    int, typer.Option("--workers", "-n", min=0, help="processes; 0 runs in this one")
]
Machines = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS",
        help="do the parts on a Dask scheduler's workers, as tcp://host:8786; "
        "local: on one with so many --workers on this machine",
    ),
]  # fmt: skip
Baseline = Annotated[Path | None, path_option("--baseline", "RUN.json", "fail on regressions")]
Summary = Annotated[Path | None, path_option("--summary", "FILE.md", "write it in Markdown")]
Sarif = Annotated[Path | None, path_option("--sarif", "FILE.sarif", "what fails, as SARIF")]
Keep = Annotated[Path | None, path_option("--history", "DIR", "keep the run there too")]
