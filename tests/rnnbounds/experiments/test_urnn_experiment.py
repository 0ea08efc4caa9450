"""The URNN experiment: teachers, students, exact equivalents, honest when it fails."""

import math

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from small_runs import SMALL as EVERY

from rnnbounds.experiments.engine.common import choose_device, seeded_generator
from rnnbounds.experiments.engine.record import Run, make_curve
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.unitary import teacher, urnn
from rnnbounds.experiments.unitary.students import KINDS, StudentGroup, draw_weights
from rnnbounds.experiments.unitary.teacher import FULL

SMALL = EVERY["urnn"]


@pytest.fixture(scope="module")
def record(small_run):
    """That of a small run."""
    return small_run("urnn")[1]


@pytest.fixture(scope="module")
def task():
    """The teachers of the small setting."""
    return teacher.draw_teachers(SMALL)


def test_teacher(task):
    """‖W‖ < 1, W = I − ε AᵀA/‖A‖², units on as asked for, noise at its SNR; drawn one by one."""
    W = task.cell.W
    away = (torch.eye(4, dtype=torch.float64) - W) / SMALL.epsilon
    assert torch.equal(away, away.mT)
    assert torch.linalg.matrix_norm(away, 2).tolist() == pytest.approx([1.0, 1.0])
    assert (torch.linalg.matrix_norm(W, 2) < 1).all()
    assert ((task.on - 0.6).abs() <= teacher.SHARE_TOLERANCE).all()
    noise = task.noisy(15.0) - task.y
    told = (noise.var((1, 2, 3)) / task.y.var((1, 2), correction=0).mean(1)).log10() * -10
    assert told.tolist() == pytest.approx([15.0, 15.0], abs=0.5)
    more = teacher.draw_teachers(replace(SMALL, seeds=3))
    assert torch.equal(more.cell.W[:2], W)
    assert torch.equal(more.y[:2], task.y)
    assert not torch.equal(teacher.draw_teachers(replace(SMALL, seed=2)).cell.W, W)


def test_teacher_in_numpy(task):
    """The teacher's outputs, recomputed in NumPy step by step, agree."""
    W, F, b = (part[1].numpy() for part in (task.cell.W, task.cell.U, task.cell.b))
    h = np.zeros(4)
    for t in range(SMALL.length):
        h = np.maximum(W @ h + F @ task.x[1, 3, t].numpy() + b, 0)
        np.testing.assert_allclose(task.y[1, 3, t], task.C[1].numpy() @ h, rtol=1e-12, atol=1e-13)


def test_parts_of_the_sequences():
    """Training, validation and test are the first, the next and the last sequences."""
    assert SMALL.parts == (slice(7), slice(7, 8), slice(8, 12))
    assert FULL.parts == (slice(60), slice(60, 70), slice(70, 100))
    assert (FULL.seeds, FULL.length, FULL.hidden) == (30, 1000, (2, 4, 6, 8, 10, 12, 14))


def test_students_learn(tmp_path):
    """Students of every kind forecast unseen sequences better after 20 epochs than after one."""
    sizes = replace(SMALL, sequences=30, hidden=(6,), seeds=1, validation=0.2, snr=(20.0,))
    few, many = (
        run_experiment(
            urnn.EXPERIMENT, tmp_path / f"{epochs}", setting=replace(sizes, epochs=epochs)
        ).runs
        for epochs in (1, 20)
    )
    for one, other in zip(few[: len(KINDS)], many[: len(KINDS)], strict=True):
        assert other.figures["R², 6 units"] > one.figures["R², 6 units"] + 0.1


def test_score_is_r2(task):
    """The score of students is R² over all outputs, whatever the unit of the outputs."""
    noisy = urnn.NoisyTask(task, replace(SMALL, hidden=(2, 3)), 20.0, slice(0, 2))
    by = [seeded_generator(0, g) for g in range(4)]
    students = StudentGroup("RNN", (2, 3) * 2, draw_weights("RNN", (2, 3) * 2, 2, 2, by))
    students.weights["C"].data.zero_()
    y = task.noisy(20.0)
    mean = y[:, SMALL.parts[0]].mean((1, 2), keepdim=True)
    told = noisy.score(students, SMALL.parts[2])
    for r in range(2):
        seen = y[r, SMALL.parts[2]]
        oracle = 1 - (seen - mean[r]).square().mean() / seen.var((0, 1), correction=0).mean()
        assert told[r].tolist() == pytest.approx([float(oracle)] * 2, abs=1e-5)


def test_exact_equivalent(record):
    """Each teacher has a URNN with 2n states, its further units off, its R² the teacher's own."""
    exact = [one.figures for one in record.runs if one.task == urnn.EXACT]
    assert len(exact) == 2
    for told in exact:
        assert (told["states"], told[urnn.OFF]) == (8, 1)
        assert told[urnn.GAP] <= told[urnn.BOUND] < 1
        assert told["‖W‖₂"] < 1
        for snr, ceiling in ((15, 0.9693), (20, 0.9901)):
            assert told[f"R², {snr} dB, URNN"] == pytest.approx(told[f"R², {snr} dB, teacher"])
            assert told[f"R², {snr} dB, teacher"] == pytest.approx(ceiling, abs=0.05)


def made(kind, test, validation=None):
    """A run for each realisation, at one noise."""
    rows = zip(test, test if validation is None else validation, strict=True)
    return [
        Run(task="20 dB", model=kind, variant="students", seed=seed, curves={
            urnn.TEST: make_curve((2, 4, 6), tests), urnn.CHECK: make_curve((2, 4, 6), checks),
        })
        for seed, (tests, checks) in enumerate(rows)
    ]  # fmt: skip


def test_comparison():
    """The URNN is the best by validation with at most 2n units; NaN reaches nothing."""
    rnn = made("RNN", ((0.5, 0.8, 0.9), (0.7, 0.8, 0.9)))

    def told(*unitary):
        return urnn.compare_networks([*rnn, *made("URNN", *unitary)], (2, 4, 6))

    first = told(((0.6, 0.5, 0.7), (0.6, 0.5, 0.7)), ((0.3, 0.2, 0.5), (0.3, 0.2, 0.5)))
    assert [case.units for case in first] == [2, 6, 6]
    assert [case.reached for case in first] == ["holds", "does not hold", "does not hold"]
    assert (first[0].rnn, first[0].spread) == pytest.approx((0.6, 0.1))
    assert told(((0.55, 0.1, 0.1), (0.55, 0.1, 0.1)))[0].reached == "undecided"
    lost = told(((math.nan,) * 3,) * 2)
    assert {case.reached for case in lost} == {"does not hold"}


@pytest.mark.parametrize(("value", "holds"), [(0.99, "holds"), (0.1, "does not hold")])
def test_outcome(value, holds):
    """It holds where every case is reached; where one is not, it does not, and is named."""
    runs = [*made("RNN", ((0.5, 0.8, 0.9), (0.7, 0.8, 0.9))), *made("URNN", ((value,) * 3,) * 2)]
    told = urnn.judge_runs(runs, replace(SMALL, hidden=(2, 4, 6)))
    assert told.holds == holds
    assert ("not reached: 20 dB, n = 2; 20 dB, n = 4" in told.said) == (holds != "holds")


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        (urnn.ON, 0.1, "a unit is not on"),
        ("states", 9.0, "has 9.0 states"),
        (urnn.OFF, 0.0, "a further unit of the exact URNN is on"),
        (urnn.GAP, 1.0, "is 1.0 from the teacher"),
        (urnn.GAP, None, "is None from the teacher"),
    ],
)
def test_broken_equivalents_are_convicted(record, name, wrong, words):
    """Each check of a teacher's equivalent can fail."""
    first = next(one for one in record.runs if one.task == urnn.EXACT)
    (line,) = urnn.find_problems([replace(first, figures=first.figures | {name: wrong})], SMALL)
    assert line.startswith("realisation 0: ")
    assert words in line


def test_lost_student_is_convicted(record):
    """A student without a finite R² is a failure."""
    first = record.runs[0]
    (line,) = urnn.find_problems([replace(first, figures={"R², 2 units": None})], SMALL)
    assert line.endswith("RNN: an R² is not finite")


def test_device_by_itself(monkeypatch):
    """ "auto" is CUDA where there is one."""
    for there, name in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert choose_device("auto") == name


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_cuda(tmp_path):
    """The same experiment runs on CUDA."""
    assert run_experiment(urnn.EXPERIMENT, tmp_path, setting=SMALL, device="cuda").problems == ()
