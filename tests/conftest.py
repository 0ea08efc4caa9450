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

FACE = Path(__file__).with_name("rnnbounds")
sys.path.insert(0, str(Path(__file__).with_name("shared")))  # what tests of several rooms share

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.load_profile("ci")
torch.set_num_threads(1)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_collection_finish() -> None:
    """What was imported and collected lives to the end: no collection of garbage looks at it."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tracing doubles the time of a test: slow ones, and those of the face, of which no coverage is
    asked, are spared what they would cover beyond the others."""
    tracer = sys.gettrace() if "COVERAGE_RUN" in os.environ else None
    if tracer is None or not (item.get_closest_marker("slow") or FACE in item.path.parents):
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
