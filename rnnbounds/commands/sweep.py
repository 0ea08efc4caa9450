"""``rnnbounds verify --seeds``: the same claims under many seeds, a line for each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rnnbounds.reports.pages.page import write_report
from rnnbounds.reports.pages.text import plural
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.reports.records.record import Run
from rnnbounds.shell.output import Format, echo, print_json
from rnnbounds.shell.terminal import flush


def print_runs(runs: Iterable[Run], folder: Path | None, format: Format) -> int:
    """Say of each run, as soon as it ends, whether all bounds hold; exit 1 if one fails.

    With a folder each seed's report is written to the folder of its number there.
    """
    documents = []
    for run in runs:
        if folder is not None:
            write_report(run, folder / str(run.seed))
        failures, replays = run_problems(run), replay_commands(run)
        documents.append({"seed": run.seed, "problems": failures, "replay": replays})
        if format is Format.text:
            verdict = "all bounds hold" if not failures else plural(len(failures), "problem")
            echo(f"seed {run.seed}: {verdict}")
            for line in (*(f"FAILS: {problem}" for problem in failures), *replays):
                echo(f"  {line}")
            flush()  # the next seed takes minutes, and a file is buffered
    red = [document["seed"] for document in documents if document["problems"]]
    if format is Format.json:
        print_json(documents)
    else:
        green = len(documents) - len(red)
        echo(f"{green} of {plural(len(documents), 'seed')} without a problem")
    return int(bool(red))


def replay_commands(run: Run) -> list[str]:
    """The commands that replay what failed."""
    return [check.replay for claim in run.claims for check in claim.failing]
