"""``rnnbounds truncate``: the feed-forward equivalent of a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.models.calls import ModelCall
from rnnbounds.commands.models.epsilon import absolute, epsilon_option
from rnnbounds.commands.models.inputs import Bound, InputOptions, Inputs, Recorded, RecordedInputs
from rnnbounds.commands.models.layers import print_unread_tensors, read_tensors_text
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import Cell, Ignore, Layer, Model, Out, PageFolder
from rnnbounds.commands.models.shown import CERTIFYING_TITLE, explain_unwritten
from rnnbounds.commands.options import FormatOption
from rnnbounds.impl.convert.export import check_export, exported
from rnnbounds.impl.convert.truncate import NotCertifiedError, packed, truncate
from rnnbounds.impl.errors import at_least, exactly, shown
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import check_target, write_files
from rnnbounds.reports.files import make_folder
from rnnbounds.reports.pages.model.answer import epsilon_share, output_bound
from rnnbounds.reports.pages.model.page import CERTIFICATE, INDEX, answer_files, certificate_page
from rnnbounds.reports.text import plural
from rnnbounds.shell.output import (
    Format,
    echo,
    print_json,
    require_folder,
    show_status,
)  # fmt: skip


def truncate_model(
    model: Model,
    eps: Annotated[float, epsilon_option("target ε")],
    out: Out,
    input_bound: Bound = None,
    inputs: Inputs = None,
    data: Recorded = None,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    latest: Annotated[bool, typer.Option("--latest",
        help="a module of k inputs and one output")] = False,
    export: Annotated[list[Path] | None, typer.Option("--export", metavar="FILE",
        help="write FILE.pt2 or FILE.onnx too; repeatable")] = None,
    page: PageFolder = None,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Write the feed-forward equivalent and its certificate; exit 1 if none is certified."""
    recorded = None if data is None else RecordedInputs(data)
    input_options = InputOptions(input_bound, inputs, recorded)
    check_target(out, model)
    for path in export or ():
        check_export(path)
        check_target(path, model, suffix=path.suffix)
    if page is not None:
        require_folder(page, CERTIFICATE, INDEX)
    loaded = load_model(model, cell, ignore=ignore or (), layer=layer)
    input_set = input_options.input_set(model, loaded.d)
    (eps,), shares = absolute([eps], loaded, lambda: input_set)
    called = ModelCall(model, input_options, cell, ignore or (), layer)
    try:
        with show_status(CERTIFYING_TITLE.format(loaded.n)):
            module, certificate = truncate(loaded, eps, input_set, latest=latest)
    except NotCertifiedError as error:
        reason = "no window is certified"
        return explain_unwritten(error.certificate, called, out, reason, format, shares)
    with show_status(f"exporting {plural(module.k, 'step')}"):
        exports = {path: exported(module, certificate, path) for path in export or ()}
    files = {out: packed(module, certificate, out)} | exports
    if page is not None:
        document = page_document(certificate)
        page_value = certificate_page(document, out.name, f"rnnbounds check {out.name}")
        pages = answer_files(page_value, certificate=certificate)
        make_folder(page)
        files |= {page / name: content for name, content in pages.items()}
    write_files(files)
    if format is Format.json:
        print_json(certificate)
    else:
        scope = "the last output alone, " if latest else ""
        precision = f"within {exactly(eps)} of the recurrent model"
        if (bound := output_bound(certificate)) is not None:
            precision += f", {epsilon_share(eps, bound)} of ‖h‖₂ ≤ {at_least(bound)}"
        echo(f"wrote {out}: {scope}k = {plural(module.k, 'input')}, {precision}")
        if loaded.source != str(model):  # with notes on weights that were computed
            echo(f"the recurrent model is {shown(loaded.source)}")
        for target in exports:
            echo(f"wrote {target}: the model without a state, for batches and lengths of any size")
        echo(f"{certificate['cell']}, {read_tensors_text(certificate['information'])}")
        print_unread_tensors(certificate["information"])
        if page is not None:
            echo(f"wrote {page / 'index.html'} and {page / 'certificate.json'}")
    return 0


def page_document(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its inputs in words and its rounding, which a file keeps as information: a
    page says both."""
    information, inputs = certificate["information"], certificate["inputs"]
    spoken = dict(certificate)
    if inputs is not None:
        spoken["inputs"] = inputs | {"what": information["inputs"]}
    if "rounding" in information:
        spoken["rounding"] = certificate["rounding"] | {"state": information["rounding"]}
    return spoken
