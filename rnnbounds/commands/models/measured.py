"""Measurements of a model on data, in lines of text and on a page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rnnbounds.commands.models.call import RecordedInputs
from rnnbounds.impl.errors import at_most, shown
from rnnbounds.impl.memory.calls import AnyMeasurement
from rnnbounds.impl.memory.causal import CausalMeasurement, measure_causal
from rnnbounds.impl.memory.measure import Measurement
from rnnbounds.impl.memory.statement import from_k
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import Page, Paragraph, Section, Table
from rnnbounds.reports.pages.model.answer import short_name, vector_name, vector_symbol
from rnnbounds.reports.pages.model.details import detail_sections
from rnnbounds.reports.pages.model.page import answer_files, measurement_page
from rnnbounds.reports.text import plain_number, plural
from rnnbounds.shell.output import Format, echo, print_json, print_table, show_status

MOST_ROWS = 12  # lines of the forgetting curve in text


def write_measured(page: Page, folder: Path, format: Format, **records: Mapping[str, Any]) -> None:
    """Write a measurement, with its certificate if there is one, and their page into the folder."""
    files = answer_files(page, **records)
    write_all(folder, files)
    if format is Format.text:
        echo(f"wrote {', '.join(str(folder / name) for name in files)}")


def unstated_lines(result: AnyMeasurement, share: float | None) -> list[str]:
    """A line for each ε of which a share that was asked for is not stated."""
    if share is None:
        return []
    if result.statement is None:
        return [f"nothing is stated of other windows: {result.unstated}"]
    return [
        f"at ε = {plain_number(line.eps)} "
        + ("no share" if line.share is None else f"a share of {at_most(line.share)}")
        + f" of windows is stated, not {plain_number(share)}"
        for line in result.statement.lines
        if line.share is None or line.share < share
    ]


def print_measurement(result: Measurement) -> None:
    """Print a measurement and its statement about other windows, in lines of text."""
    record = result.to_dict()
    readout_text = f", of the {shown(vector_name(record))}" if "readout" in record else ""
    echo(
        f"on your data: {plural(result.windows, 'window')} of {plural(result.length, 'input')} "
        f"from {shown(result.data)}, read as {result.axes}, each run from the zero state, in "
        f"float64{readout_text}"
    )
    measured = len(result.seen.gaps)
    scope = "" if measured == result.windows else f", in the first {measured} windows"
    echo(
        f"seen: gap between the {short_name(record)} after all {plural(result.length, 'input')} "
        f"and after the last k{scope}{some_ks(result)}"
    )
    print_curve(record["forgetting"]["curve"])
    size = float(result.seen.gaps[:, 0].amax())  # k = 0 leaves the output of the zero state
    vector = vector_symbol(record)
    what = f"‖{vector}_T‖₂" if vector == "h" else f"‖{vector}_T − {vector}_T^0‖₂"
    for eps, k in ((eps, result.window(eps)) for eps in result.eps):
        share = f", {plain_number(float(f'{100 * eps / size:.2g}'))} % of it" if size else ""
        told = from_k(k, result.length, result.recorded)
        echo(f"seen: within {plain_number(eps)} {told} ({what} ≤ {size:.3g}{share})")
    print_sections(detail_sections(record))


def some_ks(result: Measurement | CausalMeasurement) -> str:
    """How many k were run, if not all: of others nothing is seen."""
    first, *_, last = result.ks
    count = len(result.ks)
    return "" if count > last - first else f", at {count} of the k from {first} to {last}"


def print_curve(curve: list[dict[str, float]]) -> None:
    """Print a few rows of the forgetting curve."""
    heads = {"mean": "mean", "q50": "median", "q90": "90 %", "q99": "99 %", "worst": "worst"}
    names = [name for name in heads if name in curve[0]]
    print_table(
        ("k", *(heads[name] for name in names)),
        [(row["k"], *(f"{row[name]:.3g}" for name in names)) for row in thin_rows(curve)],
    )


def thin_rows(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    """A few rows, evenly spaced, the first and the last among them."""
    last = len(curve) - 1
    count = min(last, MOST_ROWS - 1)
    return [curve[i] for i in sorted({round(j * last / max(1, count)) for j in range(count + 1)})]


def print_sections(sections: Iterable[Section]) -> None:
    """Print sections of a page in lines of text, without their figures."""
    for section in sections:
        echo(f"{section.title}:")
        for block in section.blocks:
            if isinstance(block, Paragraph):
                echo(block.text)
            elif isinstance(block, Table):
                print_table(block.columns, block.rows)
                echo(block.caption)


def measure_as_is(
    model: Opened, data: RecordedInputs, options: Mapping[str, Any], share: float | None,
    out: Path | None, format: Format,
) -> int:  # fmt: skip
    """Measure a model as it is run, by options of `measure_causal`; write its page below `out`,
    print the answer; 1 if a share that was asked for is not stated. What the model prints goes to
    standard error."""
    with show_status("measuring windows") as advance, redirect_stdout(sys.stderr):
        result = measure_causal(model, data.sequences, share=share, progress=advance, **options)
    problems = unstated_lines(result, share)
    if out is not None:
        record = result.to_dict()
        page = measurement_page(record, None, Path(result.model).name, problems)
        write_measured(page, out, format, measurement=record)
    if format is Format.json:
        print_json(result.to_dict())
    else:
        print_causal(result)
    return int(bool(problems))


def print_causal(result: CausalMeasurement) -> None:
    """Print a measurement of a model as it is run."""
    run = result.run
    echo(
        f"{shown(result.model)}: run as it is, inputs in {run['inputs']} on {run['device']}, at "
        f"most {plural(run['batch'], 'window')} at once"
    )
    echo(
        f"on your data: {plural(result.windows, 'window')} of {plural(result.length, 'input')} "
        f"from {shown(result.data)}, read as {result.axes}; a truncated run is the model on the "
        "last k inputs alone"
    )
    echo(
        "tried: no output changes when later inputs do"
        if run["causality"] == "tried"
        else "causality was not tried: the model gives one output a window"
    )
    measured = len(result.gaps)
    scope = "" if measured == result.windows else f", in the first {measured} windows"
    largest = f"; ‖y_T‖₂ is at most {result.largest:.3g}" if result.gap.name == "norm" else ""
    echo(f"seen: {result.gap.formula}{scope}{some_ks(result)}{largest}")
    print_curve(result.curve)
    for eps in result.eps:
        told = from_k(result.window(eps), result.length, result.recorded)
        echo(f"seen: {result.gap.within(eps)} {told}")
    print_sections(detail_sections(result.to_dict()))
