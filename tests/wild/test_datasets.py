"""Arrow files of Hugging Face's `datasets`, whose own reading is the oracle."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data.sequences import read_data

FILES = Path(__file__).parent / "files"


@pytest.fixture(params=["file", "library"])
def dataset(request, tmp_path):
    """The stream, and its columns as the library gives them: of a fixture, and of today's."""
    pytest.importorskip("pyarrow")
    if request.param == "file":
        return FILES / "datasets.arrow", json.loads((FILES / "datasets.json").read_text())
    pytest.importorskip("datasets")
    spec = importlib.util.spec_from_file_location(
        "make_datasets", FILES.parent / "make_datasets.py"
    )
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make.write(tmp_path / "set")


def test_columns_as_the_library_reads_them(dataset):
    """Lists are sequences; vectors and numbers are steps, by a label if it is asked for."""
    path, columns = dataset
    for name in ("signal", "pairs", "grid"):
        parts = [np.reshape(part, (len(part), -1)) for part in columns[name]]
        read = read_data(path, columns=name)
        assert read.lengths.tolist() == [len(part) for part in parts]
        assert np.array_equal(read.rows, np.concatenate(parts))
    read = read_data(path, columns="vector,level", group="speaker")
    steps = np.column_stack([columns["vector"], columns["level"]])
    assert (read.lengths.tolist(), read.rows.tolist()) == ([2, 1], steps[[0, 2, 1]].tolist())
    with pytest.raises(InputError, match="column 'text' is of string, not of numbers"):
        read_data(path)
