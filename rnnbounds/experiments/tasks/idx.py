"""MNIST's idx files, read with nothing taken on trust.

Source: LeCun, Cortes & Burges: a magic number, big-endian sizes, then a byte for each value.
"""

import gzip
import io
import zlib
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rnnbounds.experiments.tasks import files
from rnnbounds.experiments.tasks.files import DataError

NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
LARGEST = 2**28  # bytes: five times MNIST's largest file
REMEDY = "a folder with MNIST's four idx files"
_wrong = partial(DataError, remedy=REMEDY)

Bytes = NDArray[np.uint8]


def read_folder(folder: Path) -> tuple[Bytes, Bytes, Bytes, Bytes]:
    """Training images (N, rows, columns) and labels (N,), then those of the test.

    Files may be gzipped. Raises DataError for what is missing, truncated, oversized or mismatched.
    """
    arrays = [read_idx(find_file(folder, name), 3 if "idx3" in name else 1) for name in NAMES]
    for images, labels, name in (
        (arrays[0], arrays[1], NAMES[1]),
        (arrays[2], arrays[3], NAMES[3]),
    ):
        if len(images) != len(labels):
            raise _wrong(folder / name, f"has {len(labels)} labels for {len(images)} images")
        if int(labels.max()) > 9:
            raise _wrong(folder / name, f"has a label {int(labels.max())}, which is no digit")
    if arrays[0].shape[1:] != arrays[2].shape[1:]:
        raise _wrong(folder / NAMES[2], "has images of another size than the training images")
    return arrays[0], arrays[1], arrays[2], arrays[3]


def find_file(folder: Path, name: str) -> Path:
    """The file of that name, gzipped or not; raises DataError."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise _wrong(folder / name, "is not there")


def read_idx(path: Path, axes: int) -> Bytes:
    """The bytes of an idx file with so many axes, none of which is empty; raises DataError."""
    data = read_bytes(path)
    head = 4 + 4 * axes
    if len(data) < head or data[:4] != bytes((0, 0, 8, axes)):
        raise _wrong(path, f"is no idx file of bytes with {axes} axes")
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, head, 4)]
    size = 1
    for length in shape:
        size *= length
    if size == 0 or len(data) != head + size:
        raise _wrong(path, f"holds {len(data) - head} values, not {' × '.join(map(str, shape))}")
    return np.frombuffer(data, np.uint8, offset=head).reshape(shape)


def read_bytes(path: Path) -> bytes:
    """Read a file of at most LARGEST bytes, decompressed if it is a .gz; raises DataError."""
    data = files.read_file(path, REMEDY, LARGEST)
    if path.suffix != ".gz":
        return data
    try:
        data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        raise _wrong(path, "cannot be read: it is damaged") from None
    if len(data) > LARGEST:
        raise _wrong(path, f"is larger than {LARGEST} bytes")
    return data
