"""``rnnbounds certify``: a user's own trained model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.models import options as opt
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.options import FormatOption, path_option
from rnnbounds.impl.errors import InputError
from rnnbounds.shell import output

_ALLOWED = ("model", "cell", "list_layers", "format")


def _norms() -> list[str]:
    from rnnbounds.impl.cells.table import NORM_NAMES

    return ["auto", *NORM_NAMES]


def certify_model(
    context: typer.Context,
    model: opt.Model,
    inputs: opt.Inputs = None,
    data: Annotated[Path | None, opt.recorded_inputs(
        "recorded inputs, on which the model is measured too; without --inputs their box is "
        "meant")] = None,
    eps: Annotated[list[float] | None, opt.epsilon_option("target ε; repeatable")] = None,
    norm: Annotated[str, typer.Option("--norm", rich_help_panel="Question",
        help="auto, or one norm alone", autocompletion=_norms)] = "auto",
    attack: Annotated[bool, typer.Option("--attack", rich_help_panel="Question",
        help="also seek inputs that are remembered for long")] = False,
    cell: opt.Cell = None,
    ignore: opt.Ignore = None,
    layer: opt.Layer = None,
    readout: opt.Readout = None,
    direction: opt.Direction = None,
    list_layers: Annotated[bool, typer.Option("--list", rich_help_panel="Model",
        help="list the recurrent layers of MODEL for --layer; certify nothing")] = False,
    out: Annotated[Path | None, path_option("--out", "DIR",
        "for certificate.json, its page", "Output")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", rich_help_panel="Output",
        help="also what the answer rests on: norms, constants, tensors, what was seen")] = False,
    format: FormatOption = output.Format.text,
) -> int:  # fmt: skip
    """Certify λ, the memory length k(ε) and all constants; exit 1 unless certified.

    Without --inputs and --data all inputs in [-1, 1] are meant. Of a layer that reads its inputs in
    both directions each cell is certified by itself.
    """
    if list_layers:
        _require_list_alone(context)
    from rnnbounds.commands.models import shown
    from rnnbounds.commands.models.call import AskedInputs, ModelCall, RecordedInputs, numbers_of
    from rnnbounds.impl.certificate.certify import certify
    from rnnbounds.impl.certificate.epsilons import EPSILONS
    from rnnbounds.impl.reading.adapters import load_cells, load_model

    if list_layers:
        return shown.show_layers(model, cell, format)
    recorded = None if data is None else RecordedInputs(data)
    stated = AskedInputs(inputs, recorded)
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
        input_set = stated.input_set(model, loaded.d)
        numbers, shares = numbers_of(
            eps or EPSILONS, loaded, partial(stated.input_set, model, loaded.d)
        )
        called = ModelCall(model, stated, cell, ignore or (), layer, readout, way, eps or ())
        with output.show_status(shown.CERTIFYING_TITLE.format(loaded.n)):
            certificate = certify(loaded, inputs=input_set, eps=numbers, norm=norm)
        certificate = certificate.measured_by(called.measure_command)
        measurement = None
        if recorded is not None:
            from rnnbounds.impl.memory.measure import measure_cell

            certificate = shown.beside(certificate, recorded.sequences)
            bound = certificate.asked_inputs
            measurement = measure_cell(loaded, recorded.sequences, eps=numbers, inputs=bound)
        # Of an undecided model a proved lower bound is part of the answer on its data.
        attacked = attack or (recorded is not None and certificate.verdict == "undecided")
        attack_result = shown.attack_certified(loaded, certificate) if attacked else None
        document = certificate.to_dict() | shown.attack_entry(attack_result)
        steps_on = called.next_steps(certificate, attacked, measured=measurement is not None)
        if format is output.Format.text and in_both:
            output.echo(f"{way}:")
        if out is not None:
            folder = out / str(way) if in_both else out
            if measurement is None:
                shown.write_page(document, folder, model, format, next=steps_on)
            else:
                from rnnbounds.commands.models.measured import write_measured

                measured, title = measurement.to_dict(), Path(loaded.source).name
                page = certificate_page(document, title, measurement=measured, next_lines=steps_on)
                write_measured(page, folder, format, measurement=measured, certificate=document)
        certificates[way] = certificate
        documents[way] = document | (
            {} if measurement is None else {"on_your_data": measurement.to_dict()}
        )
        if format is output.Format.text:
            shown.print_answer(
                certificate, attack_result=attack_result, measurement=measurement, next=steps_on,
                verbose=verbose, shares=shares, taken=stated.line,
            )  # fmt: skip
    if format is output.Format.json:
        output.print_json({"directions": documents} if in_both else next(iter(documents.values())))
    elif in_both:
        shown.print_together(*certificates.values())
    return int(any(one.verdict != "certified" for one in certificates.values()))


def _require_list_alone(context: typer.Context) -> None:
    """Raise InputError for options of the call that are about something else."""
    extra_options = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in _ALLOWED
        and (source := context.get_parameter_source(str(parameter.name)))
        and source.name == "COMMANDLINE"
    ]
    if extra_options:
        raise InputError(f"--list only lists layers; leave out {', '.join(extra_options)}")
