"""Options that commands about a model share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from impl.cells.stacks.stack import PREFIX
from impl.cells.table import CELLS, STACK
from rnnbounds.commands.options import path_option

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="a safetensors file, a weights_only state dict, an ONNX model, or "
        "package.module:factory, whose code is run",
    ),
]
Cell = Annotated[
    str | None,
    typer.Option(
        "--cell",
        help=f"{', '.join(CELLS)}, any of them after {PREFIX} or {STACK} (of layers); asked for "
        "where the file, names and shapes do not say it",
        autocompletion=lambda: [*CELLS, STACK],
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="NAME",
        help="a tensor beside the cell's own that is left out on purpose; repeatable",
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(
        "--layer", help="the part of a bigger model that is meant, as encoder.rnn; --list has them"
    ),
]
Readout = Annotated[
    str | None,
    typer.Option("--readout", help="the linear layer after the cell: ε is one of its outputs"),
]
Out = Annotated[
    Path,
    path_option("--out", "FILE", "the .safetensors file to write"),
]


Told = Annotated[
    Path | None,
    path_option("--page", "DIR", "for certificate.json and its page"),
]
