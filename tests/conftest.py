"""Shared by all tests: one torch thread, and Hypothesis without chance and without a clock."""

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

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("full", settings.get_profile("ci"), max_examples=300)
settings.load_profile("ci")
torch.set_num_threads(1)
# Coverage is measured in the processes that run tests: in those that tests start it would show next
# to nothing new.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--renew-golden` writes what is kept of outputs anew."""
    parser.addoption("--renew-golden", action="store_true", help="write golden files anew")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected lives to the end: no collection of garbage looks at it."""
    gc.collect()
    limit_collector()


@pytest.fixture(autouse=True)
def same_draws() -> None:
    """Weights that a test lets torch draw are the same in every order of the tests."""
    torch.manual_seed(0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A test is called so deep that its own calls may well meet the end of the interpreter's
    stack."""
    pyfuncitem.obj = with_large_frame(pyfuncitem.obj)
    return (yield)
