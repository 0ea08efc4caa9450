"""Shared by all tests: one torch thread, and Hypothesis without chance and without a clock.

Coverage is measured in the processes that run tests, of a few cases of each test.  In processes
that tests start, and in further cases, it would show next to nothing new, and half as much time
again would go into it.
"""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from rnnbounds.properties.collector import limit_collector
from rnnbounds.properties.frames import with_large_frame

sys.path.insert(0, str(Path(__file__).with_name("shared")))  # what tests of several rooms share

from cases import few

WORKER = os.environ.get("PYTEST_XDIST_WORKER")
TRACER = sys.gettrace() if "COVERAGE_RUN" in os.environ else None
TRACED: set[str] = set()

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.load_profile("ci")
torch.set_num_threads(1)
if WORKER:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--renew-golden` writes what is kept of outputs anew."""
    parser.addoption("--renew-golden", action="store_true", help="write golden files anew")


def pytest_configure(config: pytest.Config) -> None:
    """Modules are imported alike in all workers: one is enough; who only hands out imports none."""
    if TRACER and (config.getoption("dist", "no") != "no" or WORKER not in (None, "gw0")):
        sys.settrace(None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected lives to the end: no collection of garbage looks at it."""
    gc.collect()
    limit_collector()
    if TRACER:
        sys.settrace(None)
        slow = {item.nodeid for item in session.items if item.get_closest_marker("slow")}
        TRACED.update(few(item.nodeid for item in session.items) - slow)


def traced(item: pytest.Item) -> Generator[None, object, object]:
    """Tracing doubles the time of a test: slow ones are spared what they would cover beyond the
    others; so is all that pytest does."""
    if item.nodeid not in TRACED:
        return (yield)
    sys.settrace(TRACER)
    try:
        return (yield)
    finally:
        sys.settrace(None)


innermost = pytest.hookimpl(wrapper=True, trylast=True)
pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = innermost(traced)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A test is called so deep that its own calls may well meet the end of the interpreter's
    stack."""
    pyfuncitem.obj = with_large_frame(pyfuncitem.obj)
    return (yield)
