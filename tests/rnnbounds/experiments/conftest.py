import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).with_name("shared")))  # the sizes of experiments for tests

from small_runs import SMALL, chosen, write_folder

from rnnbounds.experiments.engine.running import run_experiment


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with idx files, two of them gzipped."""
    return write_folder(tmp_path_factory.mktemp("data") / "mnist")


@pytest.fixture(scope="session")
def small_run(data, tmp_path_factory):
    """Runs an experiment once: small_run(name) -> its folder, its record, its labels."""

    @cache
    def once(name):
        labels, folder = [], tmp_path_factory.mktemp(name) / "new" / "folder"
        path = str(data) if name == "permuted-digits" else None
        record = run_experiment(
            chosen(name), folder, setting=SMALL[name], data=path, advance=labels.append
        )
        return folder, record, labels

    return once
