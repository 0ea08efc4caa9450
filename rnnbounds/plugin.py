"""The pytest plugin: ``pytest properties --bounds-report DIR`` writes the record and the page.

Under pytest-xdist the parts come from the workers as report properties, and the controller writes.
The rooms are imported only when an option asks for them: the plugin is loaded in every session.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rnnbounds.errors import InputError, printable

if TYPE_CHECKING:
    from rnnbounds.properties.runs.parts import PartResult
    from rnnbounds.reports.records.record import Run
    from rnnbounds.shell.results import RequestedOutputs

KEY = "rnnbounds"
MACHINE_KEY = "rnnbounds-machine"  # what this machine lacks, so that no part of a run is judged
SETTINGS = ("report", "baseline")
CASE = re.compile(r"::test_bounds\[[a-z-]+/")
PROFILE, SEED, ATTACKS = "quick", 0, "all"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options named --bounds-…, and the same as settings of the ini file, which they override."""
    group = parser.getgroup("rnnbounds", "bounds on recurrent networks")
    group.addoption("--bounds-report", metavar="DIR", help="write run.json and index.html to DIR")
    group.addoption("--bounds-profile", help=f"quick, ci or deep ({PROFILE})")
    group.addoption("--bounds-seed", type=int, default=SEED, help="the seed of the attacks")
    group.addoption("--bounds-attacks", default=ATTACKS, help="attacks, separated by commas")
    group.addoption("--bounds-baseline", metavar="RUN.json", help="fail on regressions from it")
    parser.addini("bounds_profile", "the default of --bounds-profile", default=PROFILE)
    parser.addini("bounds_report", "the default of --bounds-report", default=None)
    parser.addini("bounds_baseline", "the default of --bounds-baseline", default=None)


@pytest.fixture
def guarded(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Ask of a model what [tool.rnnbounds.models.NAME] of the project's pyproject.toml asks.

    >>> def test_the_forecaster(guarded):
    ...     guarded("forecaster")

    Tests that use it bear the marker `guarded`.
    """

    def require(name: str) -> None:
        __tracebackhide__ = True
        from rnnbounds.commands.models.questions import require_model

        wrong = None
        try:
            require_model(request.config.rootpath / "pyproject.toml", name)
        except InputError as error:
            wrong = str(error)
        if wrong is not None:  # one line, no frame of ours, and no exception before it
            pytest.fail(wrong, pytrace=False)

    return require


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that ask models, for ``-m "not guarded"``."""
    for item in items:
        if "guarded" in getattr(item, "fixturenames", ()):
            item.add_marker("guarded")


def setting(config: pytest.Config, name: str) -> str | None:
    """An option, or the ini file's setting of that name; a path there is from the ini file's."""
    option: str | None = config.getoption(f"--bounds-{name}")
    if option is not None or not (ini_value := config.getini(f"bounds_{name}")):
        return option
    if name == "profile" or config.inipath is None:
        return str(ini_value)
    return str(config.inipath.parent / str(ini_value))


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and collect what is reported if a report is asked for."""
    config.addinivalue_line("markers", "guarded: asks a model of pyproject.toml what it is to keep")
    profile = setting(config, "profile")
    config.option.bounds_profile = profile  # what the cases, here and in workers, ask for
    if hasattr(config, "workerinput"):
        return
    option = config.getoption
    run_options = (str(profile), option("--bounds-seed"), option("--bounds-attacks"))
    folder, baseline = option("--bounds-report"), option("--bounds-baseline")
    outputs = None
    if (folder, baseline) != (None, None) or run_options != (PROFILE, SEED, ATTACKS):
        outputs = check_options(*run_options, folder, baseline)
    config.pluginmanager.register(ResultRemover())
    if any(setting(config, name) for name in SETTINGS) and not config.option.collectonly:
        config.pluginmanager.register(BoundsReport(config, folder, outputs), "rnnbounds-report")


def check_options(
    profile_name: str, seed: int, attacks: str, folder: str | None, baseline: str | None = None,
) -> RequestedOutputs:  # fmt: skip
    """Check the plugin's options before a run; raises pytest.UsageError in one line."""
    from rnnbounds.shell.extras import MissingExtraError, require_extra

    try:
        require_extra("theory", "a run of the bounds")
    except MissingExtraError as error:
        raise pytest.UsageError(str(error)) from None
    from rnnbounds.properties.attacks.attack import chosen_attacks
    from rnnbounds.properties.attacks.budget import profile
    from rnnbounds.reports.pages.run import FILES
    from rnnbounds.shell.output import require_folder
    from rnnbounds.shell.results import RequestedOutputs

    if "" in (folder, baseline):
        option = "report" if folder == "" else "baseline"
        raise pytest.UsageError(f"--bounds-{option} is empty; name one, or leave it out")
    if seed < 0:
        raise pytest.UsageError(f"the seed {seed} is negative; choose --bounds-seed 0 or above")
    try:
        profile(profile_name)
        chosen_attacks(attacks.split(","))
        if folder:
            require_folder(Path(folder), *FILES)
        files = [Path(folder) / name for name in FILES] if folder else []
        return RequestedOutputs(None if baseline is None else Path(baseline)).check(outputs=files)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


class ResultRemover:
    """Removes a part's results, a property of its report, once they are read: other reports, like
    JUnit's XML, are for readers and have its tallies."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take it out; a BoundsReport, which is registered later, has seen it by then.

        A part that the machine could not judge ends the session, with exit code 2.
        """
        for lack in machine_reasons(report):
            pytest.exit(f"rnnbounds: {lack}", pytest.ExitCode.INTERRUPTED)
        report.user_properties = [pair for pair in report.user_properties if pair[0] != KEY]


def machine_reasons(report: pytest.TestReport) -> list[str]:
    """Reasons why the machine could not judge this part, a line each; [] if it was judged."""
    return [str(value) for name, value in report.user_properties if name == MACHINE_KEY]


class BoundsReport:
    """Collects parts as they are reported and writes the run when the session ends.

    What an option asks for is done in any session, what the ini file says only in one that runs
    parts: people's own tests are run under the same file.
    """

    def __init__(
        self, config: pytest.Config, folder: str | None, outputs: RequestedOutputs | None
    ) -> None:
        self.config = config
        self.from_options = self.requested = (folder, outputs)
        self.results: list[PartResult] = []
        self.machine_lacks = False
        self.started = datetime.now(UTC)
        self.lines: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Look at what was collected here."""
        self.use_ini_settings([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Look at what a worker collected."""
        self.use_ini_settings(ids)

    def use_ini_settings(self, ids: list[str]) -> None:
        """Take the ini file's settings too if a case of ours is there, before it runs."""
        if self.requested is self.from_options and any(map(CASE.search, ids)):
            option, ini_values = self.config.getoption, [setting(self.config, n) for n in SETTINGS]
            run_options = (option("--bounds-profile"), option("--bounds-seed"))
            attacks = option("--bounds-attacks")
            self.requested = ini_values[0], check_options(*run_options, attacks, *ini_values)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in the part that a test ran, here or in a worker."""
        from rnnbounds.properties.runs.parts import decode_result

        self.machine_lacks |= bool(machine_reasons(report))
        if report.when == "call":
            texts = [str(value) for name, value in report.user_properties if name == KEY]
            self.results += [decode_result(text) for text in texts]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report, unless the machine lacked something; whatever speaks against the run
        fails the session."""
        from rnnbounds.reports.pages.run import FILES, write_report
        from rnnbounds.reports.records.outcome import run_problems

        place, outputs = self.requested if self.results else self.from_options
        if self.machine_lacks or outputs is None or (place is None and outputs.baseline is None):
            return
        run = self.run()
        failures = run_problems(run)
        try:
            changes = outputs.changes(run)
            if place is not None:
                folder = Path(place)
                write_report(run, folder, changes=changes)
                names = " and ".join(str(folder / name) for name in FILES)
                self.lines.append(f"wrote {names}")
            self.lines += outputs.write(run, changes)
            if changes is not None:
                self.lines += changes.text
                failures += [f"{row.kind}: {row.line}" for row in changes.failing]
        except InputError as error:
            failures.append(str(error))
        self.lines += [f"FAILS: {problem}" for problem in failures]
        if failures and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def run(self) -> Run:
        """The record of the session: all claims, or those seen where a part was selected."""
        from msgspec.structs import replace

        from rnnbounds.properties.attacks.attack import chosen_attacks
        from rnnbounds.properties.runs.record import merge_record
        from rnnbounds.properties.runs.run import run_environment
        from rnnbounds.theory import CLAIMS

        option = self.config.getoption
        parts = [result.part for result in self.results if not result.guarantees]
        claim_sets = [{claim for claim, _ in part.claim_works} for part in parts]
        # A part that is shared was selected by one of its claims, and that has a part alone.
        claims = set().union(*([ids for ids in claim_sets if len(ids) == 1] or claim_sets))
        by_node = any("::" in argument for argument in self.config.args)
        narrowed = bool(option("keyword") or option("markexpr") or by_node)
        workers = int(option("numprocesses", None) or 1)
        environment = run_environment("cpu", workers, self.started, self.results)
        command = ["pytest", *map(str, self.config.invocation_params.args)]
        return merge_record(
            self.results,
            claims=[entry for entry in CLAIMS if entry.id in claims or not narrowed],
            attacks=chosen_attacks(option("--bounds-attacks").split(",")),
            profile=option("--bounds-profile"),
            seed=option("--bounds-seed"),
            environment=replace(environment, command=shlex.join(command)),
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was written, and why the run fails."""
        if self.lines:
            terminalreporter.write_sep("=", "bounds")
        for line in self.lines:
            terminalreporter.write_line(printable(line))
