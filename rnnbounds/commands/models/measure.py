"""``rnnbounds measure``: what a model remembers of recorded inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.models import options as opt
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.options import FormatOption, path_option
from rnnbounds.impl.errors import shown
from rnnbounds.shell.output import Format, echo, print_json, require_folder, show_status

_NORM, _ZERO = "norm", "zero"  # the defaults of `measure` in Python


def measure_model(
    model: opt.Model,
    data: Annotated[Path, opt.recorded_inputs("inputs: .npy, .npz, .csv or .safetensors")],
    inputs: opt.Inputs = None,
    window: Annotated[int | None, typer.Option("--window", rich_help_panel="Inputs",
        help="T, the length of windows that sequences are cut into; by default they "
        "are not, and a single one into those of 64 or an eighth of it")] = None,
    eps: Annotated[list[float] | None, opt.epsilon_option("target ε; repeatable")] = None,
    share: Annotated[float | None, typer.Option("--share", rich_help_panel="Question",
        help="fail unless this share of windows is stated to be within ε")] = None,
    confidence: Annotated[float, typer.Option("--confidence", rich_help_panel="Question",
        help="confidence of the statement about other windows")] = 0.99,
    near: Annotated[float | None, typer.Option("--near", rich_help_panel="Question",
        help="δ: certify k for all inputs that differ from these by at most δ in each "
        "number")] = None,
    states: Annotated[str, typer.Option("--states", hidden=True, rich_help_panel="Question",
        help="with --near: runs start from `zero`, or `recorded`: from within 0.001 of the "
        "range of each entry around 20 recorded end states, against the run from zero")] = _ZERO,
    as_is: Annotated[bool, typer.Option("--as-is", rich_help_panel="Model",
        help="run the whole module as it is; it is not read")] = False,
    gap: Annotated[str, typer.Option("--gap", hidden=True, rich_help_panel="Question",
        help="of a model that is run as it is: norm, tv (total variation of the softmax) or "
        "argmax")] = _NORM,
    cell: opt.Cell = None,
    ignore: opt.Ignore = None,
    layer: opt.Layer = None,
    readout: opt.Readout = None,
    direction: opt.Direction = None,
    out: Annotated[Path | None, path_option("--out", "DIR",
        "for measurement.json, certificate.json, a page", "Output")] = None,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Measure a model's memory on recorded inputs, and state what follows for data drawn like them;
    exit 1 if a --share is given and not stated for every ε.

    A recurrent layer is read from the model. A module without one, a function that a factory
    returns, and with --as-is any module, is run as it is: inputs (N, T, d), or integers (N, T), to
    outputs (N, T, p) or (N, p).

    Data outside of --inputs are refused. The page has a certificate for these inputs too, by
    default for the box around the data.
    """
    from rnnbounds.commands.models.call import (
        AskedInputs,
        ModelCall,
        RecordedInputs,
        numbers_of,
    )
    from rnnbounds.commands.models.measured import (
        measure_as_is,
        print_measurement,
        unstated_lines,
        write_measured,
    )
    from rnnbounds.commands.models.shown import (
        CERTIFYING_TITLE,
        attack_certified,
        attack_entry,
        beside,
    )
    from rnnbounds.impl.certificate.certify import certify
    from rnnbounds.impl.certificate.epsilons import EPSILONS
    from rnnbounds.impl.certificate.inputs import input_data
    from rnnbounds.impl.memory.calls import require_read, run_as_is
    from rnnbounds.impl.memory.measure import measure_cell
    from rnnbounds.impl.reading.adapters import load_model
    from rnnbounds.impl.reading.sources import open_source
    from rnnbounds.reports.pages.model.page import (
        CERTIFICATE,
        INDEX,
        MEASUREMENT,
        measurement_page,
    )
    from rnnbounds.reports.text import plural

    opened, recorded = open_source(model), RecordedInputs(data)
    of_reading = {
        "--inputs": inputs,
        "--near": near, "--states": None if states == _ZERO else states, "--cell": cell,
        "--ignore": ignore, "--layer": layer, "--readout": readout, "--direction": direction,
    }  # fmt: skip
    given = [name for name, value in of_reading.items() if value is not None]
    if (whole := run_as_is(opened, as_is, given)) is not None:
        if out is not None:
            require_folder(out, MEASUREMENT, INDEX)
        asked = {"window": window, "eps": eps, "confidence": confidence, "gap": gap}
        return measure_as_is(whole, recorded, asked, share, out, format)
    require_read({"--gap": gap})
    stated = AskedInputs(inputs, recorded)
    if out is not None:
        require_folder(out, MEASUREMENT, CERTIFICATE, INDEX)
    loaded = load_model(
        opened, cell, ignore=ignore or (), layer=layer, readout=readout, direction=direction
    )
    read = recorded.sequences
    bound = None if inputs is None else stated.input_set(model, loaded.d)
    asked_eps = eps or ()
    eps, shares = numbers_of(
        eps or EPSILONS, loaded, lambda: input_data(read) if bound is None else bound
    )
    with show_status(f"measuring {plural(loaded.n, 'state')}, windows") as advance:
        result = measure_cell(
            loaded, read, window=window, eps=eps, confidence=confidence,
            share=share, inputs=bound, near=near, states=states, progress=advance,
        )  # fmt: skip
    unstated = unstated_lines(result, share)
    called = ModelCall(model, stated, cell, ignore or (), layer, readout, direction, asked_eps)
    steps = [] if near is not None else called.near_steps
    if out is not None:
        with show_status(CERTIFYING_TITLE.format(loaded.n)):
            certificate = certify(
                loaded, inputs=input_data(read) if bound is None else bound, eps=result.eps
            )
        certificate = beside(certificate.measured_by(called.measure_command), read)
        attack_result = attack_certified(loaded, certificate)
        options = {"layer": layer, "readout": readout, "ignore": ignore} if not direction else None
        document_, document = result.to_dict(), certificate.to_dict() | attack_entry(attack_result)
        if near is None:
            steps = called.next_steps(certificate, True, measured=True)
        title = Path(loaded.source).name
        page = measurement_page(document_, document, title, unstated, options, steps)
        write_measured(page, out, format, measurement=document_, certificate=document)
    if format is Format.json:
        print_json(result.to_dict())
    else:
        echo(f"{shown(loaded.source)}: {loaded.name}, {plural(loaded.n, 'state')}, {loaded.dtype}")
        for line in shares:
            echo(line)
        print_measurement(result)
        for line in steps[:1]:
            echo(f"what to do next: {line}")
    return int(bool(unstated))
