"""The pytest plugin: ``pytest properties --bounds-report DIR`` writes the record and the page of a run.

Under pytest-xdist the parts come from the workers as report properties, and the controller writes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from properties.parts import PartResult

KEY = "rnnbounds"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rnnbounds", "bounds on recurrent networks")
    group.addoption("--bounds-report", metavar="DIR", help="write run.json and index.html to DIR")
    group.addoption("--bounds-profile", default="quick", help="quick, ci or deep")
    group.addoption("--bounds-seed", type=int, default=0, help="the seed of the attacks")
    group.addoption(
        "--bounds-attacks",
        default="random,targeted,gradient,extremal",
        help="attacks, comma-separated",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--bounds-report") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(BoundsReport(config), "rnnbounds-report")


class BoundsReport:
    """Collects parts as they are reported and writes the run when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.results: list[PartResult] = []
        self.started = datetime.now(UTC)
        self.problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        from properties.parts import decode_result

        if report.when == "call":
            texts = [str(value) for name, value in report.user_properties if name == KEY]
            self.results += [decode_result(text) for text in texts]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        from properties.budget import check_attacks
        from properties.run import environment, merge
        from reports.outcome import problems
        from reports.page import write_report
        from theory import CLAIMS

        option = self.config.getoption
        seen = {result.part.claim for result in self.results}
        narrowed = bool(
            option("keyword") or option("markexpr") or any("::" in a for a in self.config.args)
        )
        claims = [entry for entry in CLAIMS if entry.id in seen or not narrowed]
        workers = int(option("numprocesses", None) or 1)
        run = merge(
            self.results,
            claims=claims,
            attacks=check_attacks(option("--bounds-attacks").split(",")),
            profile=option("--bounds-profile"),
            seed=option("--bounds-seed"),
            environment=environment("cpu", workers, self.started, self.results),
        )
        self.problems = problems(run)
        write_report(run, Path(option("--bounds-report")))
        if self.problems and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        folder = self.config.getoption("--bounds-report")
        terminalreporter.write_sep("=", "bounds")
        terminalreporter.write_line(
            f"wrote {Path(folder) / 'run.json'} and {Path(folder) / 'index.html'}"
        )
        for problem in self.problems:
            terminalreporter.write_line(problem, red=True)
