"""The URNN experiment: small, twice the same, taken up again, honest when it fails."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from small_runs import UNITS, stop_after
from small_runs import URNN as SMALL

from reports.pages.experiment import render_experiment
from rnnbounds.experiments.engine.common import chance, choose_device
from rnnbounds.experiments.students import KINDS, Students, draw
from rnnbounds.experiments.urnn import run as urnn
from rnnbounds.experiments.urnn import teacher
from rnnbounds.experiments.urnn import training as urnn_training
from rnnbounds.experiments.urnn.page import outcome
from rnnbounds.experiments.urnn.page import page as page_of
from rnnbounds.experiments.urnn.record import Curve, ceiling, compare, problems
from rnnbounds.experiments.urnn.run import run, units, work
from rnnbounds.experiments.urnn.teacher import FULL


@pytest.fixture(scope="module")
def ran(small_run):
    """A small run: its folder, its record, and how often it advanced."""
    return small_run("urnn")


@pytest.fixture(scope="module")
def task():
    """The teachers of the small setting."""
    return teacher.draw(SMALL, 0)


def test_what_is_recorded(ran):
    """A unit of work for each realisation, noise and kind; a score of each size of each."""
    _, record, labels = ran
    assert len(set(labels)) == UNITS == len(units(SMALL))
    assert work(epochs=3, realisations=1) == 3 * 2 * 3
    assert record.setting.hidden == (2, 4)
    assert np.shape([curve.test for curve in record.curves]) == (6, 2, 2)
    assert outcome(record.comparisons) in (ran[0] / "index.html").read_text()


def test_what_is_finished_is_stored(tmp_path, monkeypatch):
    """Each unit of work in a file of its own, none of which is trained again."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, setting=SMALL, advance=stop_after(3 * SMALL.epochs + 1))
    stored = {path.stem for path in tmp_path.rglob("*") if path.is_file()}
    assert stored == {urnn.name_of(unit) for unit in units(SMALL)[:3]}
    trained, train = [], urnn.train
    monkeypatch.setattr(urnn, "train", lambda *a, **k: trained.append(a[:3]) or train(*a, **k))
    run(tmp_path, setting=SMALL)
    assert trained == units(SMALL)[3:]


def test_teacher(task):
    """‖W‖ < 1, W = I − ε AᵀA/‖A‖², units on as asked for, noise at its SNR; drawn one by one."""
    W = task.cell.W
    away = (torch.eye(4, dtype=torch.float64) - W) / SMALL.epsilon
    assert torch.equal(away, away.mT)
    assert torch.linalg.matrix_norm(away, 2).tolist() == pytest.approx([1.0, 1.0])
    assert (torch.linalg.matrix_norm(W, 2) < 1).all()
    assert ((task.on - 0.6).abs() <= teacher.NEAR).all()
    noise = task.noisy(15.0) - task.y
    told = (noise.var((1, 2, 3)) / task.y.var((1, 2), correction=0).mean(1)).log10() * -10
    assert told.tolist() == pytest.approx([15.0, 15.0], abs=0.5)
    more = teacher.draw(replace(SMALL, realisations=3), 0)
    assert torch.equal(more.cell.W[:2], W)
    assert torch.equal(more.y[:2], task.y)
    assert not torch.equal(teacher.draw(SMALL, 1).cell.W, W)


def test_teacher_in_numpy(task):
    """The teacher's outputs, recomputed in NumPy step by step, agree."""
    W, F, b = (part[1].numpy() for part in (task.cell.W, task.cell.U, task.cell.b))
    h = np.zeros(4)
    for t in range(SMALL.length):
        h = np.maximum(W @ h + F @ task.x[1, 3, t].numpy() + b, 0)
        np.testing.assert_allclose(task.y[1, 3, t], task.C[1].numpy() @ h, rtol=1e-12, atol=1e-13)


def test_parts_of_the_sequences():
    """Training, validation and test are the first, the next and the last sequences."""
    assert (SMALL.training.stop, SMALL.checking.start, SMALL.testing) == (7, 7, slice(8, 12))
    assert (FULL.training.stop, FULL.testing) == (60, slice(70, 100))
    assert (FULL.realisations, FULL.length, FULL.hidden) == (30, 1000, (2, 4, 6, 8, 10, 12, 14))


def test_exploded_network_goes_back(task, monkeypatch):
    """A student far below its best validation score is given its best weights again."""
    scores = iter([0.9, -5.0, 0.9, 0.9])

    def score(students, x, y, part):
        value = next(scores, 0.9)
        return torch.full((len(students.weights["C"]),), value)

    taken = []
    take = Students.take
    monkeypatch.setattr(urnn_training, "score", score)
    monkeypatch.setattr(
        Students,
        "take",
        lambda self, chosen, kept: taken.append(chosen.tolist()) or take(self, chosen, kept),
    )
    urnn_training.train(
        "RNN", 15.0, range(1), task, SMALL, seed=0, device="cpu", advance=lambda: None
    )
    assert taken == [[True, True], [False, False], [True, True]]


def test_students_learn():
    """Students of every kind forecast unseen sequences better after 20 epochs than after one."""
    setting = replace(SMALL, sequences=30, hidden=(6,), realisations=1, validation=0.2)
    given = teacher.draw(setting, 0)
    for kind in KINDS:
        few, many = (
            urnn_training.train(
                kind,
                20.0,
                range(1),
                given,
                replace(setting, epochs=epochs),
                seed=0,
                device="cpu",
                advance=lambda: None,
            )
            for epochs in (1, 20)
        )
        assert many.shape == (2, 1, 1)
        assert (many > few + 0.1).all()


def test_score_is_r2(task):
    """The score of students is R² over all outputs, whatever the unit of the outputs."""
    x, y = urnn_training.data(task, SMALL, 20.0, range(2), "cpu")
    sizes = (2, 3, 2, 3)
    by = [chance(0, g) for g in range(4)]
    students = Students("RNN", sizes, draw("RNN", sizes, 2, 2, by))
    students.weights["C"].data, students.weights["c"].data = torch.zeros(4, 2, 3), torch.zeros(4, 2)
    noisy = task.noisy(20.0)
    mean = noisy[:, SMALL.training].mean((1, 2), keepdim=True)
    told = urnn_training.score(students, x, y, SMALL.testing)
    for r in range(2):
        oracle = urnn_training.r2(noisy[r, SMALL.testing], mean[r].expand(4, 60, 2))
        assert told[2 * r].item() == pytest.approx(oracle, abs=1e-5)
    students.weights["c"].data[:] = math.inf
    assert urnn_training.score(students, x, y, SMALL.testing).tolist() == [-math.inf] * 4


def test_exact_equivalent(ran):
    """Each teacher has a URNN with 2n states, its further units off, its R² the teacher's own."""
    _, record, _ = ran
    for told in record.equivalents:
        assert told.states == 8
        assert told.off
        assert told.gap <= told.bound < 1
        assert told.norm < 1
        assert told.urnn == pytest.approx(told.teacher, abs=1e-12)
        assert told.teacher == pytest.approx(record.ceilings, abs=0.05)


def test_ceiling():
    """R² of the noiseless outputs: .9901 at 20 dB and .9693 at 15 dB."""
    assert ceiling(20.0) == pytest.approx(0.9901, abs=5e-5)
    assert ceiling(15.0) == pytest.approx(0.9693, abs=5e-5)


def curve(kind, test, validation=None):
    """A curve at 20 dB."""
    return Curve.of(kind, 20.0, test, test if validation is None else validation)


def test_comparison():
    """The URNN is the best by validation with at most 2n units; NaN reaches nothing."""
    rnn = curve("RNN", ((0.5, 0.8, 0.9), (0.7, 0.8, 0.9)))
    unitary = curve("URNN", ((0.6, 0.5, 0.7), (0.6, 0.5, 0.7)), ((0.3, 0.2, 0.5), (0.3, 0.2, 0.5)))
    told = compare(rnn, unitary, (2, 4, 6))
    assert [case.units for case in told] == [2, 6, 6]
    assert [case.reached for case in told] == ["reached", "not reached", "not reached"]
    assert told[0].rnn == pytest.approx(0.6)
    assert told[0].spread == pytest.approx(0.1)
    close = compare(rnn, curve("URNN", ((0.55, 0.1, 0.1), (0.55, 0.1, 0.1))), (2, 4, 6))
    assert close[0].reached == "within the spread"
    lost = compare(rnn, curve("URNN", ((math.nan,) * 3,) * 2), (2, 4, 6))
    assert {case.reached for case in lost} == {"not reached"}


def test_outcome_in_words():
    """The page says where the URNN reached the RNN and where it did not."""
    rnn = curve("RNN", ((0.5, 0.8, 0.9), (0.7, 0.8, 0.9)))
    cases = {}
    for value in (0.55, 0.99, 0.1):
        cases[value] = compare(rnn, curve("URNN", ((value,) * 3,) * 2), (2, 4, 6))
    assert "did not reach" in outcome(cases[0.55])
    assert "at 20 dB for n = 4, 6; in the other case it did, but only within" in outcome(
        cases[0.55]
    )
    assert outcome(cases[0.99]).startswith("In all 3 cases the URNN reached the RNN’s R²")
    assert outcome(cases[0.1]).endswith("states at 20 dB for n = 2, 4, 6.")


@pytest.mark.parametrize(
    ("field", "wrong", "words"),
    [
        ("on", (0.6, 0.6, math.nan, 0.6), "a unit of the teacher is not on"),
        ("states", 9, "has 9 states"),
        ("off", False, "a further unit of the exact URNN is on"),
        ("gap", 1.0, "is 1 from the teacher"),
        ("gap", math.nan, "is nan from the teacher"),
    ],
)
def test_broken_equivalents_are_convicted(ran, field, wrong, words):
    """Each check of a teacher's equivalent can fail, and the page says so."""
    _, record, _ = ran
    first, *rest = record.equivalents
    broken = replace(record, equivalents=(replace(first, **{field: wrong}), *rest))
    (line,) = problems(broken)
    assert line.startswith("realisation 0: ")
    assert words in line
    page = render_experiment(page_of(replace(broken, problems=(line,)))).decode()
    assert "FAILS · Learning contractive networks" in page


def test_lost_student_is_convicted(ran):
    """A student without a finite R² is a failure, and still makes a page."""
    _, record, _ = ran
    first, *rest = record.curves
    lost = Curve.of(first.kind, first.snr, ((-math.inf, 0.1), (0.1, 0.1)), first.validation)
    broken = replace(record, curves=(lost, *rest))
    assert problems(broken) == ("RNN at 15 dB: an R² is not finite",)
    assert b"FAILS" in render_experiment(page_of(replace(broken, problems=problems(broken))))


def test_device_by_itself(monkeypatch):
    """ "auto" is CUDA where there is one."""
    for there, name in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert choose_device("auto") == name


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_cuda(tmp_path):
    """The same experiment runs on CUDA."""
    assert run(tmp_path, setting=SMALL, device="cuda").problems == ()
