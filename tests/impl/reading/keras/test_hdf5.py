"""HDF5 files: what h5py writes is read as h5py reads it, and damage is told in one line."""

import io
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

h5py = pytest.importorskip("h5py")
from keras_files import arrays, h5, layer  # noqa: E402

from rnnbounds.impl.errors import InputError  # noqa: E402
from rnnbounds.impl.reading.keras.file import keras_model  # noqa: E402
from rnnbounds.impl.reading.keras.hdf5 import Hdf5  # noqa: E402

DTYPES = ("f2", ">f4", "<f4", ">f8", "f8", "i1", ">i4", "i8", "u1", ">u2", "u4")
NAMES = st.text("abc_:0 ", min_size=1, max_size=4)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)


def file_of(edit):
    """The bytes of a file that h5py writes."""
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        edit(file)
    return stream.getvalue()


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data())
def test_reads_what_h5py_writes(data):
    """Arrays of any shape, type and order of bytes in nested groups, and texts, short and long."""
    held = {}
    for path in data.draw(st.sets(st.tuples(NAMES, NAMES), max_size=6)):
        dtype = np.dtype(data.draw(st.sampled_from(DTYPES)))
        shape = data.draw(arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
        held["/".join(path)] = data.draw(arrays_of.arrays(dtype, shape))
    texts = data.draw(st.dictionaries(NAMES, TEXTS | st.lists(TEXTS, min_size=1), max_size=3))

    def edit(file):
        for path, array in held.items():
            file[path] = array
        for name, value in texts.items():
            file.attrs[name] = value

    ours = Hdf5(file_of(edit))
    assert ours.names("") == sorted({path.partition("/")[0] for path in held})
    for path, array in held.items():
        expected = torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))
        read = ours.tensor(path)
        assert read.dtype == expected.dtype
        assert torch.equal(read.nan_to_num(), expected.nan_to_num())
        assert ours.has(path)
        assert not ours.has(f"{path}/x")
    for name, value in texts.items():
        assert ours.texts("", name) == ([value] if isinstance(value, str) else value)
    assert ours.texts("", "other") is None


@pytest.mark.slow
def test_large_groups_and_texts():
    """Groups whose links are a tree of several levels, and a text of a million characters."""

    def edit(file):
        for i in range(1500):
            file[f"g/{i}"] = np.float32(i)
            file["g"].attrs["short"] = np.array([b"ab", b"c"])
        file.attrs["model_config"] = "é" * 10**6
        file.attrs["none"] = []

    ours = Hdf5(file_of(edit))
    assert ours.names("g") == sorted(map(str, range(1500)))
    assert float(ours.tensor("g/1499")) == 1499
    assert ours.texts("g", "short") == ["ab", "c"]
    assert ours.texts("", "model_config") == ["é" * 10**6]
    assert ours.texts("", "none") == []


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data())
def test_damage(data):
    """A file of weights with other bytes, or cut off, is read or refused by an InputError."""
    held = bytearray(h5([layer("LSTM", "enc"), layer("GRU", "dec")]))
    for _ in range(data.draw(st.integers(1, 8))):
        held[data.draw(st.integers(0, len(held) - 1))] = data.draw(st.integers(0, 255))
    held = held[: data.draw(st.integers(8, len(held)) | st.just(len(held)))]
    with suppress(InputError):
        model = keras_model(bytes(held), Path("m.h5"))
        for name in model.layers():
            model.told(name)


def test_aliases_do_not_multiply():
    """Arrays that stand in one place are read as often as the file is long, not more."""

    def edit(file):
        file["0"] = np.zeros(4096, "f4")
        for i in range(1, 100):
            file[str(i)] = file["0"]

    data = file_of(edit)
    ours = Hdf5(data)
    whole = len(data) // 2**14
    for i in range(whole):
        ours.tensor(str(i))
    with pytest.raises(InputError, match="claims 16384 bytes, which the file does not hold"):
        ours.tensor(str(whole))


def test_bfloat16():
    """Opaque numbers of two bytes are bfloat16 if Keras says so, and else no numbers."""
    kernel = torch.randn(2, 12).bfloat16()

    def edit(file):
        for name in ("0", "1"):
            file[name] = kernel.view(torch.int16).numpy().view("V2")
        file["0"].attrs["dtype"] = "bfloat16"

    ours = Hdf5(file_of(edit))
    assert torch.equal(ours.tensor("0"), kernel)
    with pytest.raises(InputError, match="the HDF5 object 1 is no array of numbers"):
        ours.tensor("1")


def test_newer_formats():
    """Groups with names beyond ASCII or an order, and files of a later format, are refused."""
    for edit in (
        lambda file: file.create_group("é"),
        lambda file: file.create_group("a", track_order=True),
    ):
        ours = Hdf5(file_of(edit))
        with pytest.raises(InputError, match="newer format"):
            [ours.names(name) for name in ours.names("")]
    stream = io.BytesIO()
    h5py.File(stream, "w", libver="latest").close()
    with pytest.raises(InputError, match="not of the format that h5py writes by default"):
        Hdf5(stream.getvalue()).names("")


def test_arrays_of_cells():
    """The helper's cells are those of the file."""
    ours = Hdf5(h5([layer("LSTM", "enc")]))
    for i, array in enumerate(arrays("LSTM")):
        assert torch.equal(ours.tensor(f"layers/lstm/cell/vars/{i}"), torch.from_numpy(array))
