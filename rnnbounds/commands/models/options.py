"""Options that commands about a model share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, STACK
from rnnbounds.impl.reading.recognition.recognise import DIRECTIONS


def cells_by_family(names: Iterable[str]) -> str:
    """Format the cell names at the end of the help for --cell, by family (first word of the name):
    a paragraph for the families of at most four, then one for each larger family."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.partition("-")[0], []).append(name)
    large = [family for family in families.values() if len(family) > 4]
    small_families = [
        name for family in families.values() if family not in large for name in family
    ]
    paragraphs = "\n\n".join(", ".join(family) for family in (small_families, *large))
    return (
        f"Cells: {paragraphs}\n\nSeveral layers: {PREFIX} before one of these names, or {STACK} "
        "for the one that fits."
    )


EPILOG = cells_by_family(CELLS)
Model = Annotated[Path, typer.Argument(metavar="MODEL",
    help="a safetensors file, one of torch.save, an ONNX model, or package.module:factory, "
    "whose code is run")]  # fmt: skip
Cell = Annotated[str | None, typer.Option("--cell",
    help="the cell, if the file does not determine it; one of those below",
    autocompletion=lambda: [*CELLS, STACK])]  # fmt: skip
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="NAME",
    help="leave out this tensor, which the cell does not read; repeatable")]  # fmt: skip
Layer = Annotated[
    str | None,
    typer.Option(
        "--layer",
        help="the recurrent part of a bigger model, as encoder.rnn; certify --list lists them",
    ),
]
Direction = Annotated[str | None, typer.Option("--direction",
    help="forward or backward: one cell of a layer that reads its inputs in both directions",
    autocompletion=lambda: list(DIRECTIONS))]  # fmt: skip
Readout = Annotated[str | None, typer.Option("--readout", metavar="NAME",
    help="the linear layer after the cell; ε is then about its outputs")]  # fmt: skip
Out = Annotated[Path, path_option("--out", "FILE", "the .safetensors file to write")]


PageFolder = Annotated[Path | None, path_option("--page", "DIR",
    "write certificate.json and its page there")]  # fmt: skip
