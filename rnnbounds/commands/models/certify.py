"""``rnnbounds certify``: a user's own trained model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.models.attacked import (
    Attack,
    Witness,
    attacked,
    told,
)
from rnnbounds.commands.models.calls import Called
from rnnbounds.commands.models.inputs import Asked, Bound, Inputs, Margin, Recorded
from rnnbounds.commands.models.layers import List, require_alone, show_layers
from rnnbounds.commands.models.measured import write_both
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import Cell, Ignore, Layer, Model, Readout
from rnnbounds.commands.models.shown import (
    CERTIFYING,
    show_certificate,
    write_page,
)
from rnnbounds.commands.options import As, Device, path_option
from rnnbounds.impl.cells.table import NORM_NAMES
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import EPSILONS
from rnnbounds.impl.gradients.loss import LOSSES
from rnnbounds.impl.memory.adversary.check import save_attacked
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.models.device import check_device
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.files import check_target
from rnnbounds.impl.training.certificate import LENGTH, Task
from rnnbounds.reports.pages.certificate import FILES
from rnnbounds.reports.pages.measurement import certified_and_measured_page
from rnnbounds.shell.output import (
    Format,
    check_folder,
    waiting,
)  # fmt: skip


def certify_model(
    context: typer.Context,
    model: Model,
    input_bound: Bound = None,
    inputs: Inputs = None,
    data: Recorded = None,
    margin: Margin = 0.0,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    readout: Readout = None,
    eps: Annotated[list[float] | None, typer.Option("--eps", help="target ε; repeatable")] = None,
    norm: Annotated[
        str,
        typer.Option(
            "--norm",
            help=f"auto, {', '.join(NORM_NAMES)}",
            autocompletion=lambda: ["auto", *NORM_NAMES],
        ),
    ] = "auto",
    steps: Annotated[
        int | None, typer.Option("--steps", help="N, of a training run; needs --alpha")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="α, its steps being α/t; needs --steps")
    ] = None,
    loss: Annotated[
        str, typer.Option("--loss", help=f"of the last output: {', '.join(LOSSES)}")
    ] = "squared",
    readout_norm: Annotated[
        float, typer.Option("--readout-norm", help="c ≥ ‖C‖₂ of the outputs C h; 1 for the state")
    ] = 1.0,
    target_bound: Annotated[
        float | None,
        typer.Option("--target-bound", help="Y ≥ ‖y‖₂ of the squared loss; by default c B_h"),
    ] = None,
    length: Annotated[
        int, typer.Option("--length", help="T of the longest sequence: only k < T says anything")
    ] = LENGTH,
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "for certificate.json, its page"),
    ] = None,
    attack: Attack = False,
    witness: Witness = None,
    list_layers: List = False,
    device: Device = "cpu",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="also each norm in half a line, and all constants")
    ] = False,
    format: As = Format.text,
) -> int:
    """Certify λ, the memory length k(ε) and all constants; exit 1 unless certified.

    With --steps and --alpha also the k after training, for projected descent in full and truncated.
    """
    if list_layers:
        require_alone(context)
        return show_layers(model, cell, format)
    asked, place = Asked(input_bound, inputs, data, margin), check_device(device)
    if out is not None:
        check_folder(out, *FILES)
    task = Task(steps, alpha, loss, readout_norm, target_bound, length)
    if witness is not None:
        check_target(witness, model, suffix=".json")
    seek = attack or witness is not None
    read = load_model(model, cell, ignore=ignore or (), layer=layer, readout=readout)
    given = asked.of(model, read.d)
    with waiting(CERTIFYING.format(read.n)):
        certificate = certify(read, given, eps or EPSILONS, norm, training=task, device=place)
    called = Called(model, asked, cell, ignore or (), layer, readout)
    certificate = replace(certificate, measuring=called.measuring)
    seen = None
    if data is not None:
        bound = certificate.input_bound if certificate.inputs is None else certificate.inputs
        seen = measure(read, data, eps=eps or EPSILONS, input_bound=bound)
    against = attacked(read, certificate) if seek else None
    document = certificate.to_json() | told(against)
    if against is not None and witness is not None:  # nothing is refused from here on
        save_attacked(against, witness)
    certified = certificate.verdict == "certified"
    next = called.next_steps(certificate, seek)
    if out is not None and seen is None:
        write_page(document, out, model, format, next=next)
    elif out is not None and seen is not None:
        measured = seen.to_json()
        page = certified_and_measured_page(measured, document, Path(read.source).name)
        write_both(measured, document, out, format, page)
    return show_certificate(
        certificate, format, certified=certified, against=against, seen=seen, next=next,
        verbose=verbose,
    )  # fmt: skip
