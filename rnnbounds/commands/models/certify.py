"""``rnnbounds certify``: a user's own trained model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.models import options as opt
from rnnbounds.commands.models import shown
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.options import FormatOption, path_option
from rnnbounds.impl.cells.table import NORM_NAMES
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import EPSILONS
from rnnbounds.impl.reading.adapters import load_cells, load_model
from rnnbounds.shell import output


def certify_model(
    context: typer.Context,
    model: opt.Model,
    input_bound: opt.Bound = None,
    inputs: opt.Inputs = None,
    data: opt.Recorded = None,
    cell: opt.Cell = None,
    ignore: opt.Ignore = None,
    layer: opt.Layer = None,
    readout: opt.Readout = None,
    direction: opt.Direction = None,
    eps: Annotated[list[float] | None, opt.epsilon_option("target ε; repeatable")] = None,
    norm: Annotated[str, typer.Option("--norm", help=f"auto, {', '.join(NORM_NAMES)}",
        autocompletion=lambda: ["auto", *NORM_NAMES])] = "auto",
    out: Annotated[Path | None, path_option("--out", "DIR",
        "for certificate.json, its page")] = None,
    attack: shown.Attack = False,
    list_layers: shown.List = False,
    verbose: Annotated[bool, typer.Option("--verbose",
        help="also each norm in half a line, and all constants")] = False,
    format: FormatOption = output.Format.text,
) -> int:  # fmt: skip
    """Certify λ, the memory length k(ε) and all constants; exit 1 unless certified.

    Of a layer that reads its inputs in both directions each cell is certified by itself.
    """
    if list_layers:
        shown.require_list_alone(context)
        return shown.show_layers(model, cell, format)
    recorded = None if data is None else opt.RecordedInputs(data)
    input_options = opt.InputOptions(input_bound, inputs, recorded)
    if out is not None:
        from rnnbounds.reports.pages.model.page import CERTIFICATE, INDEX, certificate_page

        output.require_folder(out, CERTIFICATE, INDEX)
    asked: Any = {"ignore": ignore or (), "layer": layer, "readout": readout}
    if direction is None:
        cells = load_cells(model, cell, **asked)
    else:
        cells = {direction: load_model(model, cell, **asked, direction=direction)}
    in_both = len(cells) > 1
    certificates, documents = {}, {}
    for way, loaded in cells.items():
        input_set = input_options.input_set(model, loaded.d)
        numbers, shares = opt.numbers_of(
            eps or EPSILONS, loaded, partial(input_options.input_set, model, loaded.d)
        )
        called = opt.ModelCall(model, input_options, cell, ignore or (), layer, readout, way)
        with output.show_status(shown.CERTIFYING_TITLE.format(loaded.n)):
            certificate = certify(loaded, inputs=input_set, eps=numbers, norm=norm)
        certificate = replace(certificate, measuring=called.measure_command)
        measurement = None
        if recorded is not None:
            from rnnbounds.impl.memory.measure import measure_cell

            certificate = shown.beside(certificate, recorded.sequences)
            bound = certificate.input_bound if certificate.inputs is None else certificate.inputs
            measurement = measure_cell(loaded, recorded.sequences, eps=numbers, inputs=bound)
        attack_result = shown.attack_certified(loaded, certificate) if attack else None
        document = certificate.to_json() | shown.attack_entry(attack_result)
        steps_on = called.next_steps(certificate, attack, measured=measurement is not None)
        if format is output.Format.text and in_both:
            output.echo(f"{way}:")
        if out is not None:
            folder = out / str(way) if in_both else out
            if measurement is None:
                shown.write_page(document, folder, model, format, next=steps_on)
            else:
                from rnnbounds.commands.models.measured import write_measured

                measured, title = measurement.to_json(), Path(loaded.source).name
                page = certificate_page(document, title, measurement=measured, next_lines=steps_on)
                write_measured(page, folder, format, measurement=measured, certificate=document)
        certificates[way] = certificate
        documents[way] = document | (
            {} if measurement is None else {"on_your_data": measurement.to_json()}
        )
        if format is output.Format.text:
            shown.print_answer(
                certificate, attack_result=attack_result, measurement=measurement, next=steps_on,
                verbose=verbose, shares=shares,
            )  # fmt: skip
    if format is output.Format.json:
        output.print_json({"directions": documents} if in_both else next(iter(documents.values())))
    elif in_both:
        shown.print_together(*certificates.values())
    return int(any(one.verdict != "certified" for one in certificates.values()))
