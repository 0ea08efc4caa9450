"""``rnnbounds certify MODEL --list``: the recurrent layers that a model has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.layers import layers
from rnnbounds.shell.output import Format, echo, print_json, print_table

_WITH = ("model", "cell", "list_layers", "format")


class ListedError(InputError):
    """Options that say nothing where layers are listed."""

    def __init__(self, options: Sequence[str]) -> None:
        super().__init__(f"--list only lists layers; leave out {', '.join(options)}")


def require_alone(context: typer.Context) -> None:
    """Raise ListedError for options of the call that are about something else."""
    others = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in _WITH and _given(context, str(parameter.name))
    ]
    if others:
        raise ListedError(others)


def _given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _alone(context: typer.Context, asked: bool) -> bool:
    """Require no parameter but the model if layers are to be listed; return `asked`."""
    for parameter in context.command.params if asked else ():
        parameter.required = parameter.name == "model"
    return asked


List = Annotated[
    bool,
    typer.Option(
        "--list", is_eager=True, callback=_alone,
        help="list the recurrent layers of MODEL for --layer; certify nothing",
    ),
]  # fmt: skip


def show_layers(model: Path, cell: str | None, format: Format) -> int:
    """Print the layers of a model; 1 if none of them is read."""
    found = layers(model, cell)
    if format is Format.json:
        print_json({"model": str(model), "layers": [msgspec.to_builtins(one) for one in found]})
    elif found:
        print_table(
            ("layer", "cell", "n", "d", "states", "dtype"),
            [
                (one.name, one.cell or "-", one.n or "-", one.d or "-", one.states or "-",
                 one.dtype or "-") for one in found
            ],
        )  # fmt: skip
        for one in found:
            if one.reason is not None:
                echo(f"{one.name}: not read: {one.reason}")
    else:
        echo(
            "no recurrent layer is recognised by the names of its tensors; name the cell by --cell"
        )
    return int(all(one.cell is None for one in found))
