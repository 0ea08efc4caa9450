"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.impl.errors import FileError
from rnnbounds.shell.extras import require_extra
from rnnbounds.shell.output import Format, parse_path


def path_option(name: str, metavar: str, help: str, group: str = "", **more: Any) -> Any:
    """An option that names a file or a folder, listed in that group of the help."""
    panel = group or None
    if metavar == "DIR":
        more["callback"] = require_plots
    return typer.Option(
        name, parser=parse_path, metavar=metavar, help=help, rich_help_panel=panel, **more
    )


def require_plots(path: Path | None) -> Path | None:
    """The path, in which a page is written unless it is a file of tensors; raises
    MissingExtraError where its figures cannot be drawn."""
    if path is not None and path.suffix != ".safetensors":
        require_extra("plot", "a page")
    return path


def require_file(path: Path | None) -> Path | None:
    """The path of a file that is there, or what names a factory; raises FileError."""
    if path is not None and ":" not in str(path) and not path.exists():
        raise FileError(path, "does not exist", "name a file")
    return path


CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
FormatOption = Annotated[Format, typer.Option("--format", help="text or json",
    rich_help_panel="Output")]  # fmt: skip
Seed = Annotated[int, typer.Option("--seed", min=0, help="the seed of everything random")]
Device = Annotated[str, typer.Option("--device", help="cpu or cuda")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="CLAIM", help="claims; all by default")]
Workers = Annotated[int, typer.Option("--workers", "-n", min=0,
    help="processes; 0 runs in this one")]  # fmt: skip
ClusterAddress = Annotated[str | None, typer.Option("--cluster", metavar="ADDRESS",
    help="run on the workers of this Dask scheduler, as tcp://host:8786")]  # fmt: skip
Baseline = Annotated[Path | None, path_option("--baseline", "RUN.json",
    "compare with this run; fail on regressions")]  # fmt: skip
Summary = Annotated[Path | None, path_option("--summary", "FILE.md", "write a summary in Markdown")]
