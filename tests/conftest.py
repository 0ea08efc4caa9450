"""Shared by all tests: one torch thread, and Hypothesis without chance and without a clock.

Coverage is measured in the processes that run tests.  In those that tests start it would show
nothing new, and half as much time again would go into their imports.
"""

import gc
import os

import torch
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.load_profile("ci")
torch.set_num_threads(1)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_collection_finish() -> None:
    """What was imported and collected lives to the end: no collection of garbage looks at it."""
    gc.collect()
    gc.freeze()
