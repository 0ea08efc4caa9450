"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.output import Format, path_of

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
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", parser=path_of, metavar="RUN.json", help="fail on regressions"),
]
Summary = Annotated[
    Path | None,
    typer.Option("--summary", parser=path_of, metavar="FILE.md", help="write it in Markdown"),
]
Sarif = Annotated[
    Path | None,
    typer.Option("--sarif", parser=path_of, metavar="FILE.sarif", help="what fails, as SARIF"),
]
Keep = Annotated[
    Path | None,
    typer.Option("--history", parser=path_of, metavar="DIR", help="keep the run there too"),
]
