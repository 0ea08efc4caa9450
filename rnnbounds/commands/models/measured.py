"""Measurements of a model on data, in lines of text and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rnnbounds.impl.errors import at_least, at_most, shown
from rnnbounds.impl.memory.measure import Measurement
from rnnbounds.impl.memory.tube.near import NearCertificate
from rnnbounds.reports.pages.experiment import Page
from rnnbounds.reports.pages.measurement import FILES, write_measurement
from rnnbounds.reports.pages.text import plain_number
from rnnbounds.shell.output import Format, echo, print_table

ROWS = 12  # lines of the forgetting curve in text


def write_both(
    seen: Mapping[str, Any],
    certificate: Mapping[str, Any],
    folder: Path,
    format: Format,
    page: Page,
) -> None:
    """Write both records and their page into the folder."""
    write_measurement(seen, certificate, folder, page)
    if format is Format.text:
        echo(f"wrote {', '.join(str(folder / name) for name in FILES)}")


def short_of(told: Measurement, share: float | None) -> list[str]:
    """A line for each ε of which a share that was asked for is not stated."""
    if share is None:
        return []
    if told.statement is None:
        return [f"nothing is stated of other windows: {told.unstated}"]
    return [
        f"at ε = {plain_number(line.eps)} "
        + ("no share" if line.share is None else f"a share of {at_most(line.share)}")
        + f" of windows is stated, not {plain_number(share)}"
        for line in told.statement.lines
        if line.share is None or line.share < share
    ]


def print_measurement(told: Measurement | None) -> None:
    """Print a measurement and its statement about other windows, in lines of text."""
    if told is None:
        return
    record = told.to_json()
    read = (
        "" if "readout" not in record else f", predictions {shown(record['readout']['tensor'])} h"
    )
    echo(
        f"on your data: {told.windows} windows of {told.length} inputs from {shown(told.data)}, "
        f"each run from the zero state, in float64{read}"
    )
    what = "prediction" if read else "output"
    seen = len(told.seen.gaps)
    some = "" if seen == told.windows else f", in the first {seen} windows"
    echo(f"seen: gap between the {what} after all {told.length} inputs and after the last k{some}")
    curve = record["forgetting"]["curve"]
    names = [("q50", "median"), ("q90", "90 %"), ("q99", "99 %"), ("worst", "worst")]
    print_table(
        ("k", *(head for _, head in names)),
        [(row["k"], *(f"{row[name]:.3g}" for name, _ in names)) for row in thinned(curve)],
    )
    for eps, k in ((eps, told.window(eps)) for eps in told.eps):
        echo(
            f"seen: within {plain_number(eps)} "
            + (f"from k = {k} on" if k is not None else "at no k < T")
        )
    print_steps(record, float(told.local.exponents.mean()))
    if told.near is not None:
        print_near(told.near, "C h" if read else "h")
    print_statement(told)


def thinned(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    """A few rows, evenly spaced, the first and the last among them."""
    last = len(curve) - 1
    count = min(last, ROWS - 1)
    return [curve[i] for i in sorted({round(j * last / max(1, count)) for j in range(count + 1)})]


def print_steps(record: Mapping[str, Any], growth: float) -> None:
    """How the steps contracted; growth: the mean of the exponents."""
    steps, stability = record["steps"], record["stability"]
    median, largest = _number(steps["norm"]["median"]), steps["norm"]["largest"]
    largest = "overflow" if largest is None else at_least(largest, 3)
    if stability["largest_ratio"] is None:
        echo("seen: distances between visited states overflow, so their growth is not known")
    elif stability["pairs"]:
        what = "contracts" if stability["contracts"] else "does not contract"
        most = at_least(stability["largest_ratio"], 4)
        echo(
            f"seen: {what} in the Euclidean norm on pairs of visited states (Miller & Hardt, "
            f"section 4): a step changes their distance by a factor of at most {most}, and "
            f"increases it in "
            f"{stability['expanding']} of {stability['pairs']} steps"
        )
    told = "−∞" if growth == -math.inf else _number(growth)
    echo(
        f"estimate: ‖∂s_t/∂s_(t−1)‖₂ in the steps of {steps['windows']} windows has the median "
        f"{median} and is at most {largest}; largest Lyapunov exponent {told} per step (QR)"
    )


def _number(value: float | None) -> str:
    """To three digits; what overflowed is none."""
    return "overflow" if value is None or not math.isfinite(value) else f"{value:.3g}"


def print_near(told: NearCertificate, of: str) -> None:
    """Print the bounds that are certified near the data, of h or of C h (`of`)."""
    start = (
        f"any state with |s_i| ≤ {plain_number(told.states)}" if told.states else "the zero state"
    )
    echo(
        f"near your data, certified for the first {told.windows} windows: every input sequence "
        f"that differs from the recorded one by at most {plain_number(told.delta)} in each number, "
        f"from {start}, in real arithmetic; no other inputs"
    )
    known = math.isfinite(told.width)
    echo(
        f"every state differs from the one computed here in float64 by at most "
        f"{at_least(told.width)} in each entry"
        if known
        else "no bound on the states: undecided"
    )
    for eps, k in told.windows_of:
        gap = f"‖{of}_T − {of}_T^k‖₂"
        found = "undecided" if k is None else f"k = {k}, {gap} ≤ {at_least(told.gaps[k])}"
        echo(f"near your data, within {plain_number(eps)}: {found}")
    if told.advice is not None:
        echo(told.advice)


def print_statement(told: Measurement) -> None:
    """Print the statement about other windows with its confidence and its assumptions."""
    stated = told.statement
    if stated is None:
        echo(f"nothing is stated of other windows: {told.unstated}")
        return
    echo(
        f"stated with confidence {plain_number(stated.confidence)} (all lines together): at least "
        f"this share of windows drawn like these is within ε at k, in real arithmetic"
    )
    print_table(
        ("ε", "k", "share", f"beyond ε, of {stated.held} held out"),
        [
            (plain_number(line.eps), "none < T", "–", "–")
            if line.k is None or line.share is None
            else (plain_number(line.eps), line.k, at_most(line.share), line.beyond)
            for line in stated.lines
        ],
    )
    for line in stated.lines:
        if line.undecided:
            echo(
                f"{line.undecided} windows were left undecided at the limit of work; they count as "
                f"beyond {plain_number(line.eps)}"
            )
    echo(f"k was chosen on the {stated.chosen} windows before those held out")
    echo(f"this presupposes that {stated.presupposed}")
    if not stated.reached:
        echo(
            f"a share of {plain_number(stated.aim)} needs {stated.needed} held-out windows, none "
            f"of them beyond ε"
        )
