"""``rnnbounds certify MODEL --list``: the recurrent layers that a model has; the tensors of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.reading.adapters import Layer, layers
from rnnbounds.impl.reading.recognition.misfit import LISTED
from rnnbounds.shell.output import Format, echo, print_json, print_table

_ALLOWED = ("model", "cell", "list_layers", "format")


def require_list_alone(context: typer.Context) -> None:
    """Raise InputError for options of the call that are about something else."""
    extra_options = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in _ALLOWED and _is_given(context, str(parameter.name))
    ]
    if extra_options:
        raise InputError(f"--list only lists layers; leave out {', '.join(extra_options)}")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _relax_required(context: typer.Context, listing: bool) -> bool:
    """Require no parameter but the model if layers are to be listed; return `asked`."""
    for parameter in context.command.params if listing else ():
        parameter.required = parameter.name == "model"
    return listing


List = Annotated[bool, typer.Option("--list", is_eager=True, callback=_relax_required,
    help="list the recurrent layers of MODEL for --layer; certify nothing")]  # fmt: skip


def _remarks(model: Path, infos: Sequence[Layer]) -> dict[str, list[str]]:
    """Remarks about layers of which only a part is read, each with the names of its layers."""
    found: dict[str, list[str]] = {}
    for info in infos:
        if info.source is not None:
            remark = info.source.removeprefix(str(model)).removeprefix(f", {info.name}")
            found.setdefault(remark.removeprefix(" (").removesuffix(")"), []).append(info.name)
    return found


def show_layers(model: Path, cell: str | None, format: Format) -> int:
    """Print the layers of a model; 1 if none of them is read."""
    infos = layers(model, cell)
    if format is Format.json:
        print_json({"model": str(model), "layers": [msgspec.to_builtins(info) for info in infos]})
    elif infos:
        ways = ["direction"] if any(info.direction for info in infos) else []
        print_table(
            ("layer", *ways, "cell", "n", "d", "states", "dtype"),
            [
                (info.name, *(info.direction or "-" for _ in ways), info.cell or "-",
                 info.n or "-", info.d or "-", info.states or "-", info.dtype or "-")
                for info in infos
            ],
        )  # fmt: skip
        for remark, names in _remarks(model, infos).items():
            others = f" and {len(names) - 1} more" if names[1:] else ""
            echo(f"{names[0]}{others}: {remark}")
        for info in infos:
            if info.reason is not None:
                echo(f"{info.name}: not read: {info.reason}")
    else:
        echo(
            "no recurrent layer is recognised by the names of its tensors; rename them as torch "
            "does (weight_ih_l0, weight_hh_l0, …)"
        )
    return int(all(info.cell is None for info in infos))


def read_tensors_text(document: Mapping[str, Any]) -> str:
    """The full names of the tensors that were read."""
    return f"read from {', '.join(map(shown, sorted(document['tensors'].values())))}"


def print_unread_tensors(document: Mapping[str, Any]) -> None:
    """The tensors that were not read, if any: on purpose, or since they are elsewhere."""
    if document["ignored"]:
        echo(f"ignored: {', '.join(map(shown, document['ignored']))}")
    if document["unread"]:
        names = [shown(name) for name in document["unread"]]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        echo(f"not read, under other prefixes: {', '.join(names[:LISTED])}{more}")
