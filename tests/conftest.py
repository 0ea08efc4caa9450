"""Shared by all tests: one torch thread, and Hypothesis without chance and without a clock.

Coverage is measured in the processes that run tests.  In those that tests start it would show
nothing new, and half as much time again would go into their imports.
"""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from properties.runs.stack import roomy

FACE = Path(__file__).with_name("rnnbounds")
sys.path.insert(0, str(Path(__file__).with_name("shared")))  # what tests of several rooms share
WORKER = os.environ.get("PYTEST_XDIST_WORKER")
TRACER = sys.gettrace() if "COVERAGE_RUN" in os.environ else None

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.load_profile("ci")
torch.set_num_threads(1)
if WORKER:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_configure(config: pytest.Config) -> None:
    """Modules are imported alike in all workers: one is enough; who only hands out imports none."""
    if TRACER and (config.getoption("dist", "no") != "no" or WORKER not in (None, "gw0")):
        sys.settrace(None)


def pytest_collection_finish() -> None:
    """What was imported and collected lives to the end: no collection of garbage looks at it."""
    gc.collect()
    gc.freeze()
    if TRACER:
        sys.settrace(None)


def traced(item: pytest.Item) -> Generator[None, object, object]:
    """Tracing doubles the time of a test: slow ones, and those of the face, of which no coverage is
    asked, are spared what they would cover beyond the others; so is all that pytest does."""
    if TRACER is None or item.get_closest_marker("slow") or FACE in item.path.parents:
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
    pyfuncitem.obj = roomy(pyfuncitem.obj)
    return (yield)
