"""``rnnbounds measure``: what a model remembers of recorded inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.models.attacked import attacked
from rnnbounds.commands.models.attacked import told as of_attack
from rnnbounds.commands.models.calls import Called
from rnnbounds.commands.models.inputs import Asked, Bound, Inputs, Margin
from rnnbounds.commands.models.measured import print_measurement, short_of, write_both
from rnnbounds.commands.models.options import EPILOG as EPILOG
from rnnbounds.commands.models.options import Cell, Ignore, Layer, Model, Readout
from rnnbounds.commands.models.shown import CERTIFYING
from rnnbounds.commands.options import As, path_option
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.certificate.record import EPSILONS
from rnnbounds.impl.errors import shown
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.data import read_data
from rnnbounds.reports.pages.measurement import FILES, measurement_page
from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, check_folder, echo, print_json, waiting


def measure_model(
    model: Model,
    data: Annotated[
        Path, path_option("--data", "FILE", "inputs: .npy, .csv, .parquet or .safetensors")
    ],
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            help="T, the length of windows that sequences are cut into; by default whole "
            "sequences, and a single one in windows of 64 or an eighth of it",
        ),
    ] = None,
    eps: Annotated[list[float] | None, typer.Option("--eps", help="target ε; repeatable")] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="confidence of the statement about other windows")
    ] = 0.99,
    share: Annotated[
        float | None,
        typer.Option("--share", help="fail unless this share of windows is stated to be within ε"),
    ] = None,
    input_bound: Bound = None,
    inputs: Inputs = None,
    margin: Margin = 0.0,
    near: Annotated[
        float | None,
        typer.Option(
            "--near",
            help="δ: certify k for all inputs that differ from these by at most δ in each number",
        ),
    ] = None,
    states: Annotated[
        float, typer.Option("--states", help="with --near: runs start from any |s_i| up to this")
    ] = 0.0,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    readout: Readout = None,
    out: Annotated[
        Path | None, path_option("--out", "DIR", "for measurement.json, certificate.json, a page")
    ] = None,
    format: As = Format.text,
) -> int:
    """Measure a model's memory on recorded inputs, and state what follows for data drawn like them;
    exit 1 if a --share is given and not stated for every ε.

    Data outside of --input-bound or --inputs are refused. The page has a certificate for these
    inputs too, by default for the box around the data.
    """  # fmt: skip
    asked = Asked(input_bound, inputs, data, margin, stated=False)
    if out is not None:
        check_folder(out, *FILES)
    loaded = load_model(model, cell, ignore=ignore or (), layer=layer, readout=readout)
    read, bound = read_data(data), asked.of(model, loaded.d) if asked.given else None
    with waiting(f"measuring {plural(loaded.n, 'state')}, windows") as report:
        told = measure(
            loaded, read, window=window, eps=eps or EPSILONS, confidence=confidence, share=share,
            input_bound=bound, near=near, states=states, progress=report,
        )  # fmt: skip
    missing = short_of(told, share)
    if out is not None:
        with waiting(CERTIFYING.format(loaded.n)):
            certificate = certify(loaded, input_data(read) if bound is None else bound, told.eps)
        called = Called(model, asked, cell, ignore or (), layer, readout)
        certificate = replace(certificate, measuring=called.measuring)
        against = attacked(loaded, certificate)
        how = {"layer": layer, "readout": readout, "ignore": ignore}
        seen, document = told.to_json(), certificate.to_json() | of_attack(against)
        page = measurement_page(seen, document, Path(loaded.source).name, missing, how)
        write_both(seen, document, out, format, page)
    if format is Format.json:
        print_json(told.to_json())
    else:
        echo(f"{shown(loaded.source)}: {loaded.name}, {plural(loaded.n, 'state')}, {loaded.dtype}")
        print_measurement(told)
    return int(bool(missing))
