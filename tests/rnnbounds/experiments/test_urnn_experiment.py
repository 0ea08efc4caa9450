"""The URNN experiment: small, twice the same, taken up again, honest when it fails."""

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from reports.pages.experiment import render_experiment
from rnnbounds import experiments
from rnnbounds.experiments.common import chance, choose_device
from rnnbounds.experiments.parts import PartError
from rnnbounds.experiments.students import KINDS, Students, draw
from rnnbounds.experiments.urnn import run as urnn
from rnnbounds.experiments.urnn import teacher
from rnnbounds.experiments.urnn import training as urnn_training
from rnnbounds.experiments.urnn.page import outcome
from rnnbounds.experiments.urnn.page import page as page_of
from rnnbounds.experiments.urnn.record import Curve, ceiling, compare, problems
from rnnbounds.experiments.urnn.run import run, units, work
from rnnbounds.experiments.urnn.teacher import FULL, Setting

SMALL = Setting(
    sequences=12, length=60, hidden=(2, 4), realisations=2, together=1, epochs=2, batch=4
)
UNITS = 12  # 2 realisations × 2 SNR × 3 kinds


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A small run: its folder, its record, and how often it advanced."""
    folder, labels = tmp_path_factory.mktemp("urnn") / "new" / "folder", []
    return folder, run(folder, setting=SMALL, advance=labels.append), labels


@pytest.fixture(scope="module")
def task():
    """The teachers of the small setting."""
    return teacher.draw(SMALL, 0)


def without_environment(folder):
    """The record but for the times and the machine."""
    told = json.loads((folder / "urnn.json").read_text())
    return {name: part for name, part in told.items() if name != "environment"}


def stop_after(calls):
    """An `advance` that is interrupted like a program is."""
    left = iter(range(calls))

    def advance(label):
        if next(left, None) is None:
            raise KeyboardInterrupt

    return advance


def test_files_and_progress(ran):
    """A record and a page, nothing else; the work is counted by the command's own count."""
    folder, record, labels = ran
    assert {path.name for path in folder.iterdir()} == {"urnn.json", "index.html"}
    assert len(labels) == SMALL.epochs * UNITS
    assert len(set(labels)) == UNITS == len(units(SMALL))
    assert work(epochs=3, realisations=1) == 3 * 2 * 3
    assert record.problems == ()
    told = json.loads((folder / "urnn.json").read_text())
    assert told["schema"] == "rnnbounds/urnn/1"
    assert told["setting"]["hidden"] == [2, 4]
    assert np.shape([curve["test"] for curve in told["curves"]]) == (6, 2, 2)


def test_same_seed_same_record(ran, tmp_path):
    """A seed gives the same record twice, and torch's own generator is left as it was."""
    before = torch.random.get_rng_state()
    run(tmp_path, setting=SMALL)
    assert torch.equal(before, torch.random.get_rng_state())
    assert without_environment(ran[0]) == without_environment(tmp_path)


@pytest.mark.parametrize("calls", [SMALL.epochs, 3 * SMALL.epochs + 1])
def test_interrupted_run_goes_on(ran, tmp_path, monkeypatch, calls):
    """What was finished is not trained again, and the record is the same to the last bit."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, setting=SMALL, advance=stop_after(calls))
    stored = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    names = [urnn.name_of(unit) for unit in units(SMALL)]
    done = calls // SMALL.epochs
    assert stored == {f"{name}.safetensors" for name in names[:done]}
    trained, train = [], urnn.train
    monkeypatch.setattr(urnn, "train", lambda *a, **k: trained.append(a[:3]) or train(*a, **k))
    labels = []
    run(tmp_path, setting=SMALL, advance=labels.append)
    assert trained == units(SMALL)[done:]
    assert len(labels) == SMALL.epochs * UNITS
    assert without_environment(ran[0]) == without_environment(tmp_path)
    assert not (tmp_path / "parts").exists()


def test_parts_of_another_run_are_refused(tmp_path):
    """Other settings and another seed find the parts, use none and leave them alone."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, setting=SMALL, advance=stop_after(SMALL.epochs))
    (part,) = (tmp_path / "parts").iterdir()
    before = part.read_bytes()
    with pytest.raises(PartError, match=r"other settings; remove .*parts to start"):
        run(tmp_path, setting=replace(SMALL, rate=0.02))
    with pytest.raises(PartError, match="other settings"):
        run(tmp_path, setting=SMALL, seed=1)
    assert part.read_bytes() == before
    assert not (tmp_path / "urnn.json").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-3], "damaged"),
        (lambda data: b"", "damaged"),
        (lambda data: b"\xff" * 64, "damaged"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "damaged"),
        (lambda data: bytes(3 * 2**20), "no part of this run"),
    ],
    ids=["truncated", "empty", "header", "bit", "huge"],
)
def test_damaged_parts_are_refused(tmp_path, change, words):
    """A stored part that is not to the last bit as it was written stops the run in one line."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, setting=SMALL, advance=stop_after(SMALL.epochs))
    (part,) = (tmp_path / "parts").iterdir()
    part.write_bytes(change(part.read_bytes()))
    with pytest.raises(PartError, match=words):
        run(tmp_path, setting=SMALL)


def test_exchanged_parts_are_refused(tmp_path):
    """A part under the name of another one is refused, as is a file of weights."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, setting=SMALL, advance=stop_after(2 * SMALL.epochs))
    first, second = sorted((tmp_path / "parts").iterdir())
    first.write_bytes(second.read_bytes())
    with pytest.raises(PartError, match="damaged"):
        run(tmp_path, setting=SMALL)


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


def test_page_stands_alone(ran):
    """The page loads nothing, runs nothing, and is made from the record alone."""
    folder, record, _ = ran
    page = (folder / "index.html").read_text()
    assert page.encode() == render_experiment(page_of(record))
    for absent in ("http:", "https:", "<script", "<link", "src=", "FAILS"):
        assert absent not in page
    assert page.count("<svg") == 2
    assert "what the noise allows, 0.9693" in page
    assert outcome(record.comparisons) in page
    assert "8 states" in page
    assert "units were exactly 0 at all times" in page
    assert "rnnbounds experiment urnn --seed 0 --epochs 2 --realisations 2" in page


@pytest.fixture
def small(monkeypatch):
    """The command runs the small setting."""
    known = experiments.EXPERIMENTS["urnn"]
    chosen = {"urnn": replace(known, run=partial(run, setting=SMALL))}
    monkeypatch.setattr(experiments, "EXPERIMENTS", chosen)


@pytest.mark.usefixtures("small")
def test_command(call, tmp_path):
    """The command prints both tables and the outcome, ends with 0 and needs no terminal."""
    outcome = call("experiment", "urnn", "--out", tmp_path, "--device", "cpu")
    assert (outcome.code, outcome.err) == (0, "")
    assert "units, 15 dB (≤ 0.9693)" in outcome.out
    assert "the URNN" in outcome.out or "The URNN" in outcome.out
    assert f"wrote {tmp_path / 'index.html'} and {tmp_path / 'urnn.json'}" in outcome.out


@pytest.mark.usefixtures("small")
def test_command_json_and_failure(call, tmp_path, monkeypatch):
    """With --format json the record is printed; a run with problems ends with 1."""
    monkeypatch.setattr(urnn, "problems", lambda record: ("a unit is on",))
    outcome = call("experiment", "urnn", "--out", tmp_path, "--seed", 2, "--format", "json")
    assert outcome.code == 1
    assert outcome.json == json.loads((tmp_path / "urnn.json").read_text())
    assert outcome.json["problems"] == ["a unit is on"]


def test_bad_calls(refused, tmp_path):
    """Options of other experiments, a device that is not there, a bad place: exit 2, one line."""
    (tmp_path / "file").write_text("mine")
    call = ("experiment", "urnn", "--out", tmp_path)
    assert "urnn has no instances; leave --instances out" in refused(*call, "--instances", 3)
    assert "urnn has no data; leave --data out" in refused(*call, "--data", "digits")
    assert "sunspots has no full; leave --full out" in refused(
        "experiment", "sunspots", "--out", tmp_path, "--full"
    )
    assert "realisations" in refused(*call, "--realisations", 0)
    assert "unknown device 'tpu'" in refused(*call, "--device", "tpu")
    assert "choose another place" in refused("experiment", "urnn", "--out", tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


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
