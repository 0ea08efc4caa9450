"""Every experiment that needs no tasks at a size for tests."""

import gzip
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rnnbounds.experiments import find_experiment
from rnnbounds.experiments.tasks.idx import NAMES


def sized(name, **sizes):
    """The setting of an experiment with these sizes."""
    return replace(find_experiment(name).setting, **sizes)


SMALL = {
    "sunspots": sized("sunspots", epochs=12, seeds=1),
    "certifiable": sized("certifiable", steps=2, seeds=1, states=2, cells=("GRU",)),
    "gradients-close": sized(
        "gradients-close", seeds=2, states=4, inputs=2, outputs=3, length=14, steps=5,
        windows=(1, 2, 4, 8, 13),
    ),
    "norms": sized("norms", seeds=2, most=5, steps=2),
    "urnn": sized(
        "urnn", sequences=12, length=60, hidden=(2, 4), seeds=2, together=1, epochs=2, batch=4
    ),
    "permuted-digits": sized(
        "permuted-digits", images=40, hidden=4, seeds=2, epochs=4, batch=16
    ),
}  # fmt: skip


def idx_bytes(values: np.ndarray) -> bytes:
    """An idx file of bytes."""
    shape = b"".join(length.to_bytes(4, "big") for length in values.shape)
    return bytes((0, 0, 8, values.ndim)) + shape + values.astype(np.uint8).tobytes()


def write_folder(folder: Path) -> Path:
    """Forty and thirty images of 4 × 3 pixels: the digit is how bright they are."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for count, (images, labels) in ((40, NAMES[:2]), (30, NAMES[2:])):
        told = np.arange(count) % 10
        shown = 20 * told[:, None, None] + rng.integers(0, 9, (count, 4, 3))
        (folder / images).write_bytes(idx_bytes(shown))
        (folder / f"{labels}.gz").write_bytes(gzip.compress(idx_bytes(told)))
    return folder
