"""``rnnbounds unitary``: the unitary equivalent of a ReLU model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rnnbounds.commands.models.calls import ModelCall
from rnnbounds.commands.models.inputs import InputOptions
from rnnbounds.commands.models.layers import print_unread_tensors, read_tensors_text
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import Cell, Ignore, Layer, Model, Out, PageFolder
from rnnbounds.commands.models.shown import explain_unwritten, write_page
from rnnbounds.commands.options import FormatOption
from rnnbounds.impl.convert.unitary import NoUnitaryError, save_unitary, unitary
from rnnbounds.impl.errors import at_least, exactly
from rnnbounds.impl.reading.files import check_target
from rnnbounds.reports.pages.model.page import CERTIFICATE, INDEX
from rnnbounds.reports.text import plural
from rnnbounds.shell.output import Format, echo, print_json, require_folder, show_status


def unitary_model(
    model: Model,
    input_bound: Annotated[float, typer.Option("--input-bound",
        help="B, with ‖x_t‖₂ ≤ B for every input")],
    out: Out,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    page: PageFolder = None,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Write the unitary equivalent of a ReLU model; exit 1 unless ‖W‖₂ < 1 is certified."""
    check_target(out, model)
    if page is not None:
        require_folder(page, CERTIFICATE, INDEX)
    options: Any = {"cell": cell, "ignore": ignore or (), "layer": layer}
    try:
        with show_status("seeking the unitary equivalent"):
            equivalent = unitary(model, input_bound, **options)
    except NoUnitaryError as error:
        input_options = InputOptions(repr(input_bound), None, None)
        called = ModelCall(model, input_options, **options)
        return explain_unwritten(
            error.certificate, called, out, "‖W‖₂ < 1 is not certified", format
        )
    save_unitary(equivalent, out)
    if page is not None:
        write_page(equivalent.certificate, page, out, format, f"rnnbounds check {out.name}")
    if format is Format.json:
        print_json(equivalent.certificate)
        return 0
    certificate = equivalent.certificate
    echo(f"wrote {out}: {plural(equivalent.states, 'state')} for {equivalent.n}")
    echo(f"{certificate['cell']}, {read_tensors_text(certificate['information'])}")
    print_unread_tensors(certificate["information"])
    echo(f"orthogonality defect at most {at_least(certificate['orthogonality_defect'], 3)}")
    echo(f"the same outputs for every ‖x_t‖₂ ≤ {exactly(input_bound)}, in real arithmetic")
    rounding = certificate["difference"]["own_dtype"]
    if rounding is not None:
        largest = at_least(rounding, 3)
        echo(
            f"rounding ({certificate['dtype']} against float64) moves a state by at most {largest}"
        )
    return 0
