"""``rnnbounds certify``: a user's own trained model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.models.attacked import (
    Attack,
    attack_certified,
    attack_entry,
)
from rnnbounds.commands.models.bidirectional import certify_bidirectional
from rnnbounds.commands.models.calls import ModelCall
from rnnbounds.commands.models.epsilon import absolute, epsilon_option
from rnnbounds.commands.models.inputs import (
    Bound,
    InputOptions,
    Inputs,
    Recorded,
    RecordedInputs,
)
from rnnbounds.commands.models.layers import List, require_list_alone, show_layers
from rnnbounds.commands.models.measured import write_both
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import (
    Cell,
    Direction,
    Ignore,
    Layer,
    Model,
    Readout,
)
from rnnbounds.commands.models.shown import (
    CERTIFYING_TITLE,
    beside,
    show_certificate,
    write_page,
)
from rnnbounds.commands.options import Device, FormatOption, path_option
from rnnbounds.impl.cells.table import NORM_NAMES
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import EPSILONS
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.tube.horizon import horizon as bound_horizon
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.models.device import check_device
from rnnbounds.impl.reading.adapters import load_both
from rnnbounds.reports.pages.model.certificate import FILES
from rnnbounds.reports.pages.model.measurement import certified_and_measured_page
from rnnbounds.shell.output import (
    Format,
    require_folder,
    show_status,
)  # fmt: skip


def certify_model(
    context: typer.Context,
    model: Model,
    input_bound: Bound = None,
    inputs: Inputs = None,
    data: Recorded = None,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    readout: Readout = None,
    direction: Direction = None,
    eps: Annotated[list[float] | None, epsilon_option("target ε; repeatable")] = None,
    norm: Annotated[
        str,
        typer.Option(
            "--norm",
            help=f"auto, {', '.join(NORM_NAMES)}",
            autocompletion=lambda: ["auto", *NORM_NAMES],
        ),
    ] = "auto",
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "for certificate.json, its page"),
    ] = None,
    attack: Attack = False,
    list_layers: List = False,
    device: Device = "cpu",
    horizon: Annotated[
        int | None,
        typer.Option("--horizon", help="T: also bound states over at most so many steps from zero"),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="also each norm in half a line, and all constants")
    ] = False,
    format: FormatOption = Format.text,
) -> int:
    """Certify λ, the memory length k(ε) and all constants; exit 1 unless certified."""
    if list_layers:
        require_list_alone(context)
        return show_layers(model, cell, format)
    recorded = None if data is None else RecordedInputs(data)
    input_options = InputOptions(input_bound, inputs, recorded)
    torch_device = check_device(device)
    if out is not None:
        require_folder(out, *FILES)
    loaded = load_both(
        model, cell, ignore=ignore or (), layer=layer, readout=readout, direction=direction
    )
    input_set = input_options.input_set(model, loaded.d)
    eps, shares = absolute(eps or EPSILONS, loaded, lambda: input_set)
    called = ModelCall(model, input_options, cell, ignore or (), layer, readout, direction)
    if isinstance(loaded, LoadedBidirectional):
        return certify_bidirectional(
            loaded, called, input_set, eps, norm, out, attacks=attack, format=format,
            device=torch_device, data=data,
        )  # fmt: skip
    with show_status(CERTIFYING_TITLE.format(loaded.n)):
        certificate = certify(loaded, input_set, eps, norm, device=torch_device)
    certificate = replace(certificate, measuring=called.measure_command)
    measurement = None
    if recorded is not None:
        certificate = beside(certificate, recorded.sequences)
        bound = certificate.input_bound if certificate.inputs is None else certificate.inputs
        measurement = measure(loaded, recorded.sequences, eps=eps, input_bound=bound)
    attack_result = attack_certified(loaded, certificate) if attack else None
    document = certificate.to_json() | attack_entry(attack_result)
    over = None if horizon is None else bound_horizon(loaded, input_set, horizon)
    document |= {} if over is None else {"horizon": over.to_json()}
    certified = certificate.verdict == "certified"
    next = called.next_steps(certificate, attack, measured=measurement is not None)
    if out is not None and measurement is None:
        write_page(document, out, model, format, next=next)
    elif out is not None and measurement is not None:
        measured = measurement.to_json()
        page = certified_and_measured_page(measured, document, Path(loaded.source).name, next)
        write_both(measured, document, out, format, page)
    return show_certificate(
        certificate, format, certified=certified, attack_result=attack_result,
        measurement=measurement, next=next, over=over, verbose=verbose, shares=shares,
    )  # fmt: skip
