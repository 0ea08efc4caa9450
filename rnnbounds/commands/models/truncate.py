"""``rnnbounds truncate``: the feed-forward equivalent of a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.models.calls import Called
from rnnbounds.commands.models.inputs import Asked, Bound, Inputs, Margin, Recorded
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import Cell, Ignore, Layer, Model, Out, Told
from rnnbounds.commands.models.shown import (
    CERTIFYING,
    print_left_out,
    read_from,
    show_unwritten,
)
from rnnbounds.commands.options import As
from rnnbounds.impl.convert.export import check_export, exported
from rnnbounds.impl.convert.truncate import NotCertifiedError, packed, truncate
from rnnbounds.impl.errors import exactly
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import check_target, write_files
from rnnbounds.reports.files import make_folder
from rnnbounds.reports.pages.certificate import FILES, certificate_files, certificate_page
from rnnbounds.reports.words import plural
from rnnbounds.shell.output import (
    Format,
    check_folder,
    echo,
    print_json,
    waiting,
)  # fmt: skip


def truncate_model(
    model: Model,
    eps: Annotated[float, typer.Option("--eps", help="target ε")],
    out: Out,
    input_bound: Bound = None,
    inputs: Inputs = None,
    data: Recorded = None,
    margin: Margin = 0.0,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    latest: Annotated[
        bool, typer.Option("--latest", help="a module of k inputs and one output")
    ] = False,
    export: Annotated[
        list[Path] | None,
        typer.Option(
            "--export", metavar="FILE", help="write FILE.pt2 or FILE.onnx too; repeatable"
        ),
    ] = None,
    page: Told = None,
    format: As = Format.text,
) -> int:
    """Write the feed-forward equivalent and its certificate; exit 1 if none is certified."""
    asked = Asked(input_bound, inputs, data, margin)
    check_target(out, model)
    for path in export or ():
        check_export(path)
        check_target(path, model, suffix=path.suffix)
    if page is not None:
        check_folder(page, *FILES)
    read = load_model(model, cell, ignore=ignore or (), layer=layer)
    try:
        given = asked.of(model, read.d)
        with waiting(CERTIFYING.format(read.n)):
            module, certificate = truncate(read, eps, given, latest=latest)
    except NotCertifiedError as error:
        called = Called(model, asked, cell, ignore or (), layer)
        return show_unwritten(error.certificate, called, out, "no window is certified", format)
    with waiting(f"exporting {plural(module.k, 'step')}"):
        exports = {path: exported(module, certificate, path) for path in export or ()}
    files = {out: packed(module, certificate, out)} | exports
    if page is not None:
        spoken = spoken_of(certificate)
        told = certificate_page(spoken, out.name, f"rnnbounds check {out.name}")
        pages = certificate_files(certificate, told)
        make_folder(page)
        files |= {page / name: content for name, content in pages.items()}
    write_files(files)
    if format is Format.json:
        print_json(certificate)
    else:
        what = "the last output alone, " if latest else ""
        within = f"within {exactly(eps)} of the recurrent model"
        echo(f"wrote {out}: {what}k = {plural(module.k, 'input')}, {within}")
        for target in exports:
            echo(f"wrote {target}: the model without a state, for batches and lengths of any size")
        echo(f"{certificate['cell']}, {read_from(certificate['information'])}")
        print_left_out(certificate["information"])
        if page is not None:
            echo(f"wrote {page / 'index.html'} and {page / 'certificate.json'}")
    return 0


def spoken_of(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its inputs in words and its rounding, which a file keeps as information: a
    page says both."""
    information, inputs = certificate["information"], certificate["inputs"]
    spoken = dict(certificate)
    if inputs is not None:
        spoken["inputs"] = inputs | {"what": information["inputs"]}
    if "rounding" in information:
        spoken["rounding"] = certificate["rounding"] | {"state": information["rounding"]}
    return spoken
