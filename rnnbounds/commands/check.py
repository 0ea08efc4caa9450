"""``rnnbounds check``: the certificate of a file, proved anew in balls and without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import FormatOption, require_file
from rnnbounds.impl.certificate.checked import check
from rnnbounds.impl.errors import exactly, shown
from rnnbounds.reports.pages.model.answer import vector_name
from rnnbounds.shell.output import Format, echo, print_json, print_table, show_status

_MOST_SIDES = 4  # sides of a box


def check_file(
    file: Annotated[Path, typer.Argument(metavar="FILE",
        help="a file of 'rnnbounds truncate', 'unitary' or 'certify --out'")],
    source: Annotated[Path | None, typer.Option("--source",
        callback=require_file,
        help="the original model, to compare its weights")] = None,
    cell: Annotated[str | None, typer.Option("--cell",
        help="the cell of --source, if its file does not name it")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore",
        help="a tensor of --source to leave out")] = None,
    layer: Annotated[str | None, typer.Option("--layer",
        help="the recurrent part of --source, as encoder.rnn")] = None,
    direction: Annotated[str | None, typer.Option("--direction",
        help="forward or backward, one of --source's two")] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="FILE", callback=require_file,
        help="the recorded inputs near which k is proved, of such a model")] = None,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Prove the certificate of a file again in ball arithmetic; exit 1 if any part fails.

    A certificate.json needs the model, --source: λ, the windows and the constants of states are
    proved for it, and the rest is listed as not checked.
    """
    with show_status("proving the certificate anew"):
        checked = check(
            file, source=source, cell=cell, ignore=ignore or (), layer=layer,
            direction=direction, data=data,
        )  # fmt: skip
    if format is Format.json:
        print_json(checked.to_dict())
        return int(not checked.holds)
    certificate = checked.certificate
    shape = certificate["shape"]
    echo(checked.line())
    subject = f"{certificate['cell']}, n = {shape['n']}, d = {shape['d']}, {certificate['dtype']}"
    subject += f", of the {shown(vector_name(certificate))}" if "readout" in certificate else ""
    inputs = f", {_inputs_text(certificate)}" if "input_bound" in certificate else ""
    echo(f"of {subject}{inputs}")
    print_table(("part", "", "found"), [tuple(row.values()) for row in checked.rows()])
    for name, value in certificate["information"].items():
        if value not in ([], {}):
            echo(
                f"information, not checked: {name}: {shown(json.dumps(value, ensure_ascii=False))}"
            )
    return int(not checked.holds)


def _inputs_text(document: Mapping[str, Any]) -> str:
    """The inputs that are spoken of; of a table's rows the box around them."""
    box = document.get("inputs")
    box_text = "" if box is None else f"x_t in {_box_text(box)}, "
    return f"for every {box_text}‖x_t‖₂ ≤ {exactly(document['input_bound'])}"


def _box_text(box: dict[str, list[float]]) -> str:
    """The ends that are proved, of the first few channels."""
    ends = zip(box["low"], box["high"], strict=True)
    sides = [f"[{float(low)!r}, {float(high)!r}]" for low, high in ends]
    more = f" × …, {len(sides)} channels" if len(sides) > _MOST_SIDES else ""
    return " × ".join(sides[:_MOST_SIDES]) + more
