"""``rnnbounds truncate`` and ``unitary``: feed-forward and unitary equivalents of a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.models import options as opt
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.options import FormatOption
from rnnbounds.impl.errors import at_least, exactly, shown
from rnnbounds.reports.text import plural
from rnnbounds.shell import output


def truncate_model(
    model: opt.Model,
    eps: Annotated[float, opt.epsilon_option("target ε")],
    out: opt.Out,
    inputs: opt.Inputs = None,
    basis: Annotated[str, typer.Option("--basis", rich_help_panel="Question",
        autocompletion=lambda: ["all", "near", "seen"],
        help="what k rests on: all, certified for all inputs; near, proved near the data; seen, on "
        "the data alone, which proves nothing")] = "all",
    data: Annotated[Path | None, opt.recorded_inputs(
        "recorded inputs, of --basis near or seen")] = None,
    near: Annotated[float | None, typer.Option("--near", rich_help_panel="Question",
        help="δ of --basis near, as in measure")] = None,
    window: Annotated[int | None, typer.Option("--window", rich_help_panel="Inputs",
        help="T, the length of windows of --data, as in measure")] = None,
    cell: opt.Cell = None,
    ignore: opt.Ignore = None,
    layer: opt.Layer = None,
    readout: opt.Readout = None,
    latest: Annotated[bool, typer.Option("--latest", rich_help_panel="Output",
        help="a module of k inputs and one output")] = False,
    export: Annotated[list[Path] | None, typer.Option("--export", metavar="FILE",
        rich_help_panel="Output",
        help="write FILE.pt2 or FILE.onnx too; repeatable")] = None,
    format: FormatOption = output.Format.text,
) -> int:  # fmt: skip
    """Write the feed-forward equivalent and its certificate; exit 1 if none is certified.

    With --basis near or seen k holds of recorded inputs alone: the file, its page and all that
    prints it say so, and it has no certificate.
    """
    from rnnbounds.commands.models.call import (
        AskedInputs,
        ModelCall,
        RecordedInputs,
        numbers_of,
    )
    from rnnbounds.commands.models.shown import (
        CERTIFYING_TITLE,
        explain_unwritten,
        print_unread_tensors,
        read_tensors_text,
    )
    from rnnbounds.impl.convert.export import check_export, exported
    from rnnbounds.impl.convert.truncate import (
        ALL_INPUTS,
        NotCertifiedError,
        packed,
        truncate,
    )
    from rnnbounds.impl.reading.adapters import load_model
    from rnnbounds.impl.reading.files import check_target, write_files
    from rnnbounds.reports.files import make_folder
    from rnnbounds.reports.pages.model.answer import (
        epsilon_share,
        output_bound,
        vector_name,
        vector_symbol,
    )
    from rnnbounds.reports.pages.model.page import (
        CERTIFICATE,
        INDEX,
        answer_files,
        certificate_page,
        on_data_page,
    )

    recorded = None if data is None else RecordedInputs(data)
    stated = AskedInputs(inputs, recorded)
    target, folder = _places(out, model, "truncated.safetensors")
    for path in export or ():
        check_export(path)
        check_target(path, model, suffix=path.suffix)
    loaded = load_model(model, cell, ignore=ignore or (), layer=layer, readout=readout)
    input_set = stated.input_set(model, loaded.d)
    called = ModelCall(model, stated, cell, ignore or (), layer, readout, eps=[eps])
    (eps,), shares = numbers_of([eps], loaded, lambda: input_set)
    of_all = basis == ALL_INPUTS or inputs is not None
    try:
        with output.show_status(CERTIFYING_TITLE.format(loaded.n)):
            module, certificate = truncate(
                loaded, eps=eps, inputs=input_set if of_all else None, basis=basis, near=near,
                data=None if recorded is None else recorded.sequences, window=window,
                latest=latest,
            )  # fmt: skip
    except NotCertifiedError as error:
        reason = "no window is certified"
        return explain_unwritten(error.certificate, called, target, reason, format, shares)
    with output.show_status(f"exporting {plural(module.k, 'step')}"):
        exports = {path: exported(module, certificate, path) for path in export or ()}
    if folder is not None:
        make_folder(folder)
    files = {target: packed(module, certificate, target)} | exports
    if folder is not None:
        check = f"rnnbounds check {target.name}"
        if data is not None and near is not None:
            check += f" --data {shlex.quote(data.name)}"
        write = on_data_page if module.basis else certificate_page
        page = write(certificate, target.name, check)
        pages = answer_files(page, certificate=certificate)
        files |= {folder / name: content for name, content in pages.items()}
    write_files(files)
    if format is output.Format.json:
        output.print_json(certificate)
    else:
        scope = "the last output alone, " if latest else ""
        precision = f"within {exactly(eps)} of the recurrent model"
        if (bound := output_bound(certificate)) is not None:
            size = f"‖{vector_symbol(certificate)}‖₂ ≤ {at_least(bound)}"
            precision += f", {epsilon_share(eps, bound)} of {size}"
        output.echo(f"wrote {target}: {scope}k = {plural(module.k, 'input')}, {precision}")
        if module.basis:
            output.echo(f"{module.basis}; of other inputs nothing is known")
        if loaded.source != str(model):  # with notes on weights that were computed
            output.echo(f"the recurrent model is {shown(loaded.source)}")
        for path in exports:
            output.echo(
                f"wrote {path}: the model without a state, for batches and lengths of any size"
            )
        output.echo(f"{certificate['cell']}, {read_tensors_text(certificate)}")
        if readout is not None:
            output.echo(
                f"ε is about the {shown(vector_name(certificate))}; the model writes h, for the "
                f"head to read as before"
            )
        if stated.line is not None and not module.basis:
            output.echo(stated.line)
        print_unread_tensors(certificate)
        if folder is not None:
            output.echo(f"wrote {folder / INDEX} and {folder / CERTIFICATE}")
    return 0


def _places(out: Path, model: Path, name: str) -> tuple[Path, Path | None]:
    """The file to write, and the folder of its page: a name without a suffix is a folder's. Raises
    an InputError, before the work, for what cannot be written."""
    from rnnbounds.impl.reading.files import check_target
    from rnnbounds.reports.pages.model.page import CERTIFICATE, INDEX

    if out.suffix:
        check_target(out, model)
        return out, None
    output.require_folder(out, name, CERTIFICATE, INDEX)
    if out.is_dir():
        check_target(out / name, model)
    return out / name, out


def unitary_model(
    model: opt.Model,
    inputs: Annotated[float, typer.Option("--inputs", metavar="B", rich_help_panel="Inputs",
        help="B, with ‖x_t‖₂ ≤ B for every input")],
    out: opt.Out,
    cell: opt.Cell = None,
    ignore: opt.Ignore = None,
    layer: opt.Layer = None,
    format: FormatOption = output.Format.text,
) -> int:  # fmt: skip
    """Write the unitary equivalent of a ReLU model; exit 1 unless ‖W‖₂ < 1 is certified."""
    from rnnbounds.commands.models.call import AskedInputs, ModelCall
    from rnnbounds.commands.models.shown import (
        explain_unwritten,
        print_unread_tensors,
        read_tensors_text,
        write_page,
    )
    from rnnbounds.impl.convert.unitary import NoUnitaryError, save_unitary, unitary
    from rnnbounds.reports.files import make_folder

    target, folder = _places(out, model, "unitary.safetensors")
    options: Any = {"cell": cell, "ignore": ignore or (), "layer": layer}
    try:
        with output.show_status("seeking the unitary equivalent"):
            equivalent = unitary(model, inputs=inputs, **options)
    except NoUnitaryError as error:
        called = ModelCall(model, AskedInputs(repr(inputs), None), **options)
        return explain_unwritten(
            error.certificate, called, target, "‖W‖₂ < 1 is not certified", format
        )
    if folder is not None:
        make_folder(folder)
    save_unitary(equivalent, target)
    if folder is not None:
        check = f"rnnbounds check {target.name}"
        write_page(equivalent.certificate, folder, target, format, check)
    if format is output.Format.json:
        output.print_json(equivalent.certificate)
        return 0
    certificate = equivalent.certificate
    output.echo(f"wrote {target}: {plural(equivalent.states, 'state')} for {equivalent.n}")
    output.echo(f"{certificate['cell']}, {read_tensors_text(certificate['information'])}")
    print_unread_tensors(certificate["information"])
    output.echo(f"orthogonality defect at most {at_least(certificate['orthogonality_defect'], 3)}")
    output.echo(f"the same outputs for every ‖x_t‖₂ ≤ {exactly(inputs)}, in real arithmetic")
    rounding = certificate["difference"]["own_dtype"]
    if rounding is not None:
        largest = at_least(rounding, 3)
        output.echo(
            f"rounding ({certificate['dtype']} against float64) moves a state by at most {largest}"
        )
    return 0
