"""Outputs of a finished run beside its record: a comparison, and a summary."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

from rnnbounds import disk
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.gate.runs import compare_runs, restrict_run
from rnnbounds.reports.gate.settings import Thresholds, load_thresholds
from rnnbounds.reports.pages.run import markdown
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.codec import load
from rnnbounds.reports.records.record import Run
from rnnbounds.shell.output import require_folder

_LOG = logging.getLogger("rnnbounds.shell.results")
JOB_SUMMARY = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True)
class RequestedOutputs:
    """Outputs requested of a run; all are checked before the minutes that it takes."""

    baseline: Path | None = None
    summary: Path | None = None

    def check(self, outputs: Sequence[Path] = ()) -> RequestedOutputs:
        """Itself; raises InputError for what cannot be read, or written.

        `outputs` are the other files that the run writes, which are not to be written twice.
        """
        if self.summary is not None:
            require_folder(self.summary.parent, self.summary.name)
        written = outputs if self.summary is None else (self.summary, *outputs)
        baselines = [] if self.gate is None or self.baseline is None else [self.baseline]
        for first, second in combinations((*baselines, *written), 2):
            if os.path.realpath(first) == os.path.realpath(second) or disk.is_same_file(
                first, second
            ):
                problem = f"{first} and {second} are one file"
                raise InputError(f"{problem}; give each output a file of its own")
        return self

    @cached_property
    def gate(self) -> tuple[Run, Thresholds] | None:
        """The baseline and what passes for noise, as they were before the run."""
        return None if self.baseline is None else (load(self.baseline), load_thresholds())

    def changes(self, run: Run) -> Changes | None:
        """Compare a run with the same claims of the baseline; None without a baseline."""
        if self.gate is None:
            return None
        old, allowed = self.gate
        return compare_runs(
            restrict_run(old, tuple(claim.id for claim in run.claims)), run, allowed
        )

    def write(self, run: Run, changes: Changes | None) -> list[str]:
        """Write it all; what was written, a line each. Raises InputError."""
        lines = []
        if self.summary is not None:
            write_atomic(self.summary, markdown(run, changes).encode())
            lines.append(f"wrote {self.summary}")
        if job_summary := os.environ.get(JOB_SUMMARY):
            add_summary(Path(job_summary), markdown(run, changes))
        return lines


def add_summary(path: Path, text: str) -> None:
    """Add to the summary of a job's step, which others write to as well; a lost one is no failure
    of the run."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        _LOG.warning("no summary in %s: %s", JOB_SUMMARY, error.strerror)
