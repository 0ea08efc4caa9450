"""``rnnbounds unitary``: the unitary equivalent of a ReLU model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rnnbounds.commands.models.calls import Called
from rnnbounds.commands.models.inputs import Asked
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import Cell, Ignore, Layer, Model, Out, Told
from rnnbounds.commands.models.shown import print_left_out, read_from, show_unwritten, write_page
from rnnbounds.commands.options import As
from rnnbounds.impl.convert.unitary import NoUnitaryError, save_unitary, unitary
from rnnbounds.impl.errors import at_least, exactly
from rnnbounds.impl.reading.files import check_target
from rnnbounds.reports.pages.certificate import FILES
from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, check_folder, echo, print_json, waiting


def unitary_model(
    model: Model,
    input_bound: Annotated[
        float, typer.Option("--input-bound", help="B, with ‖x_t‖₂ ≤ B for every input")
    ],
    out: Out,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    rescale: Annotated[
        bool,
        typer.Option("--rescale", help="search for scales of the units that need fewer states"),
    ] = False,
    page: Told = None,
    format: As = Format.text,
) -> int:
    """Write the unitary equivalent of a ReLU model; exit 1 unless ‖W‖₂ < 1 is certified."""
    check_target(out, model)
    if page is not None:
        check_folder(page, *FILES)
    chosen: Any = {"cell": cell, "ignore": ignore or (), "layer": layer}
    try:
        with waiting("seeking the unitary equivalent"):
            made = unitary(model, input_bound, rescale=rescale, **chosen)
    except NoUnitaryError as error:
        asked = Asked(repr(input_bound), None, None, 0.0)
        called = Called(model, asked, **chosen)
        return show_unwritten(error.certificate, called, out, "‖W‖₂ < 1 is not certified", format)
    save_unitary(made, out)
    if page is not None:
        write_page(made.certificate, page, out, format, f"rnnbounds check {out.name}")
    if format is Format.json:
        print_json(made.certificate)
        return 0
    told = made.certificate
    kept = "" if bool((made.scaling == 1).all()) else ", the first ones rescaled"
    echo(f"wrote {out}: {plural(made.states, 'state')} for {made.n}{kept}")
    echo(f"{told['cell']}, {read_from(told['information'])}")
    print_left_out(told["information"])
    echo(f"orthogonality defect at most {at_least(told['orthogonality_defect'], 3)}")
    echo(f"the same outputs for every ‖x_t‖₂ ≤ {exactly(input_bound)}, in real arithmetic")
    rounding = told["difference"]["own_dtype"]
    if rounding is not None:
        most = at_least(rounding, 3)
        echo(f"rounding ({told['dtype']} against float64) moves a state by at most {most}")
    return 0
