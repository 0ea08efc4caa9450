"""A model that is measured as it is run: from the options of ``rnnbounds measure`` to its page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnbounds.commands.models.inputs import RecordedInputs
from rnnbounds.commands.models.measured import (
    from_k,
    print_curve,
    print_statement,
    some_ks,
    unstated_lines,
)
from rnnbounds.impl.errors import shown
from rnnbounds.impl.memory.causal import CausalMeasurement, measure_causal
from rnnbounds.impl.reading.opened import Runnable
from rnnbounds.reports.pages.model.causal import FILES, SCOPE, causal_page, write_causal
from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, echo, print_json, show_status


@dataclass(frozen=True)
class AsIsCall:
    """A call of ``rnnbounds measure`` about a model as it is run; `options` are those of
    `measure_causal`."""

    model: Runnable
    data: RecordedInputs
    share: float | None
    options: Mapping[str, Any]

    def run(self, out: Path | None, format: Format) -> int:
        """Measure the model, write its page below `out`, print the answer; 1 if a share that was
        asked for is not stated. What the model prints goes to standard error."""
        with show_status("measuring windows") as advance, redirect_stdout(sys.stderr):
            result = measure_causal(
                self.model, self.data.sequences, share=self.share, progress=advance, **self.options
            )
        problems = unstated_lines(result, self.share)
        if out is not None:
            record = result.to_json()
            write_causal(record, out, causal_page(record, Path(result.model).name, problems))
            if format is Format.text:
                echo(f"wrote {', '.join(str(out / name) for name in FILES)}")
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
        f"from {shown(result.data)}; a truncated run is the model on the last k inputs alone"
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
        echo(f"seen: {result.gap.within(eps)} {from_k(result.window(eps))}")
    print_statement(result, SCOPE)
