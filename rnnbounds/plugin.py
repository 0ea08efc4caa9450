"""The pytest plugin: ``pytest properties --bounds-report DIR`` writes the record and the page.

Under pytest-xdist the parts come from the workers as report properties, and the controller writes.
The rooms are imported only when an option asks for them: the plugin is loaded in every session.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rnnbounds.terminal import printable

if TYPE_CHECKING:
    from properties.runs.parts import PartResult
    from reports.records.record import Run

KEY = "rnnbounds"
PROFILE, SEED, ATTACKS = "quick", 0, "all"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Four options, all named --bounds-…."""
    group = parser.getgroup("rnnbounds", "bounds on recurrent networks")
    group.addoption("--bounds-report", metavar="DIR", help="write run.json and index.html to DIR")
    group.addoption("--bounds-profile", default=PROFILE, help="quick, ci or deep")
    group.addoption("--bounds-seed", type=int, default=SEED, help="the seed of the attacks")
    group.addoption("--bounds-attacks", default=ATTACKS, help="attacks, separated by commas")


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and collect what is reported if a report is asked for."""
    if hasattr(config, "workerinput"):
        return
    option = config.getoption
    given = (option("--bounds-profile"), option("--bounds-seed"), option("--bounds-attacks"))
    folder = option("--bounds-report")
    if folder is not None or given != (PROFILE, SEED, ATTACKS):
        check_options(*given, folder)
    if folder and not config.option.collectonly:
        config.pluginmanager.register(BoundsReport(config), "rnnbounds-report")


def check_options(profile_name: str, seed: int, attacks: str, folder: str | None) -> None:
    """Raise pytest.UsageError, one line, before anything is collected."""
    from rnnbounds.shadow import ShadowedError, check_rooms

    try:
        check_rooms()
    except ShadowedError as error:
        raise pytest.UsageError(str(error)) from None
    from properties.attacks.budget import profile
    from properties.attacks.table import check_attacks
    from rnnbounds.output import check_folder

    if folder == "":
        raise pytest.UsageError("--bounds-report is empty; name a folder, or leave it out")
    if seed < 0:
        raise pytest.UsageError(f"the seed {seed} is negative; choose --bounds-seed 0 or above")
    try:
        profile(profile_name)
        check_attacks(attacks.split(","))
        if folder:
            check_folder(Path(folder), "run.json", "index.html")
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


class BoundsReport:
    """Collects parts as they are reported and writes the run when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.folder = Path(config.getoption("--bounds-report"))
        self.results: list[PartResult] = []
        self.started = datetime.now(UTC)
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in the part that a test ran, here or in a worker."""
        from properties.runs.parts import decode_result

        if report.when == "call":
            texts = [str(value) for name, value in report.user_properties if name == KEY]
            self.results += [decode_result(text) for text in texts]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report; whatever speaks against the run fails the session."""
        from reports.errors import InputError
        from reports.pages.page import write_report
        from reports.records.outcome import problems

        run = self.run()
        found = problems(run)
        try:
            write_report(run, self.folder)
            self.lines.append(f"wrote {self.folder / 'run.json'} and {self.folder / 'index.html'}")
        except InputError as error:
            found.append(str(error))
        self.lines += [f"FAILS: {problem}" for problem in found]
        if found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def run(self) -> Run:
        """The record of the session: all claims, or those seen where a part was selected."""
        from msgspec.structs import replace

        from properties.attacks.table import check_attacks
        from properties.runs.record import merge
        from properties.runs.run import environment
        from theory import CLAIMS

        option = self.config.getoption
        told = [{claim for claim, _ in result.part.told} for result in self.results]
        # A part that is shared was selected by one of its claims, and that has a part alone.
        seen = set().union(*([one for one in told if len(one) == 1] or told))
        by_node = any("::" in argument for argument in self.config.args)
        narrowed = bool(option("keyword") or option("markexpr") or by_node)
        workers = int(option("numprocesses", None) or 1)
        where = environment("cpu", workers, self.started, self.results)
        command = " ".join(["pytest", *map(str, self.config.invocation_params.args)])
        return merge(
            self.results,
            claims=[entry for entry in CLAIMS if entry.id in seen or not narrowed],
            attacks=check_attacks(option("--bounds-attacks").split(",")),
            profile=option("--bounds-profile"),
            seed=option("--bounds-seed"),
            environment=replace(where, command=command),
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was written, and why the run fails."""
        terminalreporter.write_sep("=", "bounds")
        for line in self.lines:
            terminalreporter.write_line(printable(line))
