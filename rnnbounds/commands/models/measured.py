"""Measurements of a model on data, in lines of text and on a page."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rnnbounds.commands.models.call import RecordedInputs
from rnnbounds.impl.errors import at_least, at_most, shown
from rnnbounds.impl.memory.calls import AnyMeasurement
from rnnbounds.impl.memory.causal import CausalMeasurement, measure_causal
from rnnbounds.impl.memory.measure import Measurement
from rnnbounds.impl.memory.statement import from_k
from rnnbounds.impl.near.near import NearCertificate
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import Page
from rnnbounds.reports.pages.model.answer import (
    near_start_text,
    needed_text,
    percent_below,
    short_name,
    vector_name,
    vector_symbol,
)
from rnnbounds.reports.pages.model.memory import (
    AS_RUN,
    evenly_text,
    near_own_text,
    steps_text,
    unused_text,
)
from rnnbounds.reports.pages.model.page import answer_files, measurement_page
from rnnbounds.reports.text import NOTHING, plain_number, plural
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
    record = result.to_json()
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
    print_steps(record, float(result.local.exponents.mean()))
    if result.near is not None:
        print_near(result.near, vector_symbol(record), result.windows)
    print_statement(result, "in real arithmetic")


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


def print_steps(record: Mapping[str, Any], growth: float) -> None:
    """How the steps contracted; growth: the mean of the exponents."""
    steps, stability = record["steps"], record["stability"]
    median, largest = _number(steps["norm"]["median"]), steps["norm"]["largest"]
    largest = "overflow" if largest is None else at_least(largest, 3)
    if stability["largest_ratio"] is None:
        echo("seen: distances between visited states overflow, so their growth is not known")
    elif stability["pairs"]:
        verb = "contracts" if stability["contracts"] else "does not contract"
        largest_ratio = at_least(stability["largest_ratio"], 4)
        echo(
            f"seen: {verb} in the Euclidean norm on pairs of visited states (Miller & Hardt, "
            f"section 4): a step changes their distance by a factor of at most {largest_ratio}, "
            f"and increases it in "
            f"{stability['expanding']} of {stability['pairs']} steps"
        )
    growth_text = "−∞" if growth == -math.inf else _number(growth)
    echo(
        f"estimate: in the worst of all directions, of visited pairs or not, the factor "
        f"‖∂s_t/∂s_(t−1)‖₂ of a step has the median {median} in "
        f"{steps_text(record)} and is at most {largest}; largest Lyapunov exponent "
        f"{growth_text} per step (QR)"
    )


def _number(value: float | None) -> str:
    """To three digits; what overflowed is none."""
    return "overflow" if value is None or not math.isfinite(value) else f"{value:.3g}"


def print_near(near: NearCertificate, vector: str, windows: int) -> None:
    """Print the bounds that are certified near some of so many windows, of h or of C h."""
    record = near.to_json()
    start = near_start_text(record)
    echo(
        f"near your data, certified for {near.windows} of {plural(windows, 'window')}"
        f"{evenly_text(near.windows, windows)}: every input sequence that differs from the "
        f"recorded one by at most "
        f"{plain_number(near.delta)} in each number, from {start}, in real "
        f"arithmetic; no other inputs"
    )
    of_zero = " of the run from zero" if near.pasts else ""
    bounded = math.isfinite(near.width)
    echo(
        f"every state{of_zero} differs from the one computed here in float64 by at most "
        f"{at_least(near.width)} in each entry"
        if bounded
        else "no bound on the states: undecided"
    )
    gap = f"‖{vector}_T − {vector}_T^k‖₂"
    if near.pasts:
        gap = f"at every t ≥ k of the window ‖{vector}_t − {vector}_t^0‖₂"
    for row in record["memory"]:
        k = row["k"]
        answer = "undecided" if k is None else f"k = {k}, {gap} ≤ {at_least(near.gaps[k])}"
        own = near_own_text(row["certified"], near.windows)
        echo(f"near your data, within {plain_number(row['eps'])}: {answer}{own and '; ' + own}")
    if near.pasts and math.isfinite(near.gaps[1]):
        echo(
            f"near your data, a state set to zero where a window begins moves {vector} by at most "
            f"{at_least(near.gaps[1])}, and by more than ε at k − 1 times of the window at most"
        )
    if near.advice is not None:
        echo(near.advice)


def print_statement(result: AnyMeasurement, scope: str) -> None:
    """Print the statement about other windows with its confidence, its scope (the arithmetic that
    it is about), and its assumptions."""
    statement = result.statement
    if statement is None:
        echo(f"nothing is stated of other windows: {result.unstated}")
        return
    echo(
        f"stated with confidence {plain_number(statement.confidence)} (all lines together): at "
        f"least this share of windows drawn like these is within ε at k, {scope}"
    )
    print_table(("ε", "k", "share", f"beyond ε, of {statement.held} held out"), [
        (plain_number(line.eps), "none < T", NOTHING, NOTHING)
        if line.k is None or line.share is None
        else (plain_number(line.eps), line.k, percent_below(line.share), line.beyond)
        for line in statement.lines
    ])  # fmt: skip
    for line in statement.lines:
        if line.undecided:
            echo(
                f"{line.undecided} windows were left undecided at the limit of work; they count as "
                f"beyond {plain_number(line.eps)}"
            )
    if any(line.k is not None for line in statement.lines):
        echo(f"k was chosen on the {plural(statement.chosen, 'window')} before those held out")
    if unused := unused_text(result.windows, statement.to_json()):
        echo(unused)
    echo(f"this presupposes that {statement.presupposed}")
    if not statement.reached:
        echo(needed_text(statement.to_json()))


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
        record = result.to_json()
        page = measurement_page(record, None, Path(result.model).name, problems)
        write_measured(page, out, format, measurement=record)
    if format is Format.json:
        print_json(result.to_json())
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
    print_statement(result, AS_RUN)
