"""The shared trainer, record, page and door, on an experiment of a second."""

import math

import pytest
import tiny
import torch
from msgspec.structs import replace

from rnnbounds import experiments
from rnnbounds.experiments.engine import running
from rnnbounds.experiments.engine.page import spread_text
from rnnbounds.experiments.engine.parts import PartError
from rnnbounds.experiments.engine.record import Outcome, decode_record, encode_record, without_times
from rnnbounds.experiments.engine.running import (
    count_advances,
    experiment_page,
    make_setting,
    run_experiment,
)
from rnnbounds.experiments.engine.summary import markdown_table
from rnnbounds.experiments.engine.trainer import TICKS, Plan, part_losses, train
from rnnbounds.properties.errors import InputError
from rnnbounds.reports.pages.experiment import render_page

SIZES = tiny.Sizes(seeds=2)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A whole run: its folder, its record, its labels."""
    out, labels = tmp_path_factory.mktemp("tiny") / "report", []
    return out, run_experiment(tiny.EXPERIMENT, out, setting=SIZES, advance=labels.append), labels


@pytest.fixture
def entered(monkeypatch):
    """The command knows the experiment."""
    monkeypatch.setattr(experiments, "HOMES", {"tiny": "tiny"})


class Killed(BaseException):
    """What no code of ours catches."""


def killed_after(saves, monkeypatch):
    """The run is killed while it stores its state for so many times."""
    left = [saves]
    save = running.PartStore.save

    def dying(self, name, tensors):
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        save(self, name, tensors)

    monkeypatch.setattr(running.PartStore, "save", dying)
    return lambda: monkeypatch.setattr(running.PartStore, "save", save)


def test_run(ran):
    """All seeds are in the record, in order; a record and a page and what was kept are written."""
    out, record, labels = ran
    assert [(r.model, r.variant, r.seed) for r in record.runs[:3]] == [
        ("once", "free", 0), ("twice", "free", 0), ("once", "free", 1),
    ]  # fmt: skip
    assert len(record.runs) == 8
    assert len(labels) == count_advances(tiny.EXPERIMENT, SIZES) == 4 * TICKS
    assert labels[0] == "sines, RNN, free, 0"
    kept = {f"{n}-{w}-{s}.txt" for n in ("once", "twice") for w in ("free", "small") for s in "01"}
    assert {path.name for path in out.iterdir()} == {"tiny.json", "index.html"} | kept
    one = record.runs[-1]
    assert one.certificate.verdict == "certified"
    assert one.certificate.lam < 0.31
    assert one.figures["never"] is None
    assert one.curves["validation"].x == (2.0, 4.0, 6.0)


def test_record_round_trip(ran):
    """The record says the same when it is read again, and the page is made from it alone."""
    out, record, _ = ran
    told = decode_record((out / "tiny.json").read_bytes())
    assert told == record
    assert encode_record(told) == (out / "tiny.json").read_bytes()
    page = (out / "index.html").read_bytes()
    assert render_page(experiment_page(told, tiny.EXPERIMENT)) == page
    assert b"</span> does not hold at this size</strong> Tried: " in page
    assert b"Found: 8 runs were made." in page
    assert page.count(b"<svg") == 1
    assert not any(absent in page for absent in (b"http:", b"https:", b"<script ", b"<link"))
    assert b"rnnbounds experiment tiny --seed" not in page


@pytest.mark.parametrize("saves", [0, 2, 3, 11, 21])
def test_killed_run_resumes_to_the_same_bytes(ran, saves, tmp_path, monkeypatch):
    """In a training, between two, between units: the record is the same, times left out."""
    mend = killed_after(saves, monkeypatch)
    with pytest.raises(Killed):
        run_experiment(tiny.EXPERIMENT, tmp_path, setting=SIZES)
    mend()
    assert not (tmp_path / "tiny.json").exists()
    if saves:
        with pytest.raises(PartError, match="did not end; add --resume to go on"):
            run_experiment(tiny.EXPERIMENT, tmp_path, setting=SIZES)
        with pytest.raises(PartError, match="belongs to a run with other settings; remove"):
            run_experiment(
                tiny.EXPERIMENT, tmp_path, setting=replace(SIZES, rate=0.06), resume=True
            )
    labels = []
    record = run_experiment(
        tiny.EXPERIMENT, tmp_path, setting=SIZES, resume=True, advance=labels.append
    )
    assert encode_record(without_times(record)) == encode_record(without_times(ran[1]))
    assert labels == ran[2]
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in ran[0].iterdir()}


def test_command(call, refused, entered, tmp_path):
    """One door: options, settings, the first line; refusals end with a remedy."""
    out = tmp_path / "out"
    known = call("experiment", "tiny", "--out", out, "--seeds", 1, "--seed", 3, "--set", "steps=2",
                 "--data", "mine")  # fmt: skip
    assert (known.code, known.err) == (0, "")
    assert known.out.split()[:3] == ["model", "variant", "held-out"]
    assert "\nDoes not hold at this size. 4 runs were made.\n" in known.out
    again = "experiment tiny --seed 3 --seeds 1 --set steps=2 --data PATH"
    assert again in (out / "index.html").read_text()
    told = call("experiment", "tiny", "--full", "--seeds", 1, "--out", out, "--format", "json")
    assert told.json["settings"] == {"seed": 0, "seeds": 1, "steps": 8, "rate": 0.05}
    assert told.json["options"] == ["--full", "--seeds 1"]
    start = ("experiment", "tiny", "--out", tmp_path / "new")
    assert "unknown setting of tiny 'depth'; choose among seed, seeds," in refused(
        *start, "--set", "depth=2"
    )
    assert "Expected `int`" in refused(*start, "--set", "steps=many")
    assert "give it as NAME=VALUE" in refused(*start, "--set", "steps")
    assert "unknown device 'tpu'" in refused(*start, "--device", "tpu")
    assert not (tmp_path / "new").exists()


def test_options_that_are_not_there():
    """Full sizes that an experiment has not."""
    from dataclasses import replace as changed

    with pytest.raises(InputError, match="has no --full; leave it out"):
        make_setting(changed(tiny.EXPERIMENT, full=None), full=True, changed={})


class Pair(torch.nn.Module):
    """Two networks side by side: ŷ = w x."""

    networks = 2

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([[0.0], [3.0]]))

    def forward(self, x):
        return self.w * x


class Line:
    """y = x; the loss of each network; the second one's gradient may be NaN."""

    def __init__(self, scale=(1.0, 1.0)):
        self.scale = torch.tensor(scale)

    def batch(self, seed, step):
        return torch.ones(1), torch.ones(1)

    def batches(self, part):
        yield torch.ones(1), torch.ones(1)

    def loss(self, told, y):
        return (told - y).square()[:, 0] * self.scale


def test_networks_side_by_side():
    """Each has its own loss, clipping and best weights; one that breaks leaves the other alone."""
    plan = Plan(steps=3, rate=0.1, optimiser="sgd", schedule="constant", clip=1.0, every=1)
    trained = train(Pair(), Line(), plan, seed=0)
    assert trained.model.w.flatten().tolist() == pytest.approx([0.3, 2.7])  # both are clipped
    assert part_losses(trained.model, Line(), "held out").shape == (2,)
    broken = train(Pair(), Line((1.0, math.nan)), plan, seed=0)
    assert broken.model.w.flatten().tolist() == pytest.approx([0.3, 3.0])
    assert broken.best[1] == math.inf
    last = train(Pair(), Line((1.0, -1.0)), replace(plan, keep="last"), seed=0)
    assert last.model.w.flatten().tolist() == pytest.approx([0.3, 3.3])
    far = Line()
    far.batch = lambda seed, step: (torch.ones(1), torch.tensor([1.0, 50.0, 1.0])[step])
    plan = replace(plan, rate=0.25, clip=None)
    for most, last in ((1.0, 0.0625), (None, 147.0)):
        gone = train(Pair(), far, replace(plan, back=most), seed=0)
        assert gone.validation[-1, 0] == pytest.approx(last, rel=0.01)


@pytest.mark.parametrize(("back", "end"), [(None, 1.25e14), (1.0, 0.75)])
def test_a_network_that_explodes_at_once_goes_back_to_its_start(back, end):
    """Its first weights count as seen, though no look at it was ever finite."""
    task = Line()
    task.batch = lambda seed, step: (torch.ones(1), torch.tensor([1e15, 1.0, 1.0])[step])
    task.batches = lambda part: [(torch.full((1,), 1e10), torch.full((1,), 1e10))]
    plan = Plan(steps=3, rate=0.25, optimiser="sgd", schedule="constant", clip=None, every=1)
    trained = train(Pair(), task, replace(plan, back=back), seed=0)
    assert trained.model.w[0, 0].item() == pytest.approx(end, rel=0.01)


def test_a_network_whose_first_weights_are_of_no_use_goes_on():
    """Their loss is not finite: the first that is counts as the best, and is what is kept."""
    task, whole = Line(), iter([math.nan, 3.0, 1.0, 2.0])
    task.batches = lambda part: [(torch.ones(1), torch.tensor([next(whole)]))]
    plan = Plan(steps=3, rate=0.1, optimiser="sgd", schedule="constant", every=1, back=100.0)
    trained = train(Pair(), task, plan, seed=0)
    assert trained.best == pytest.approx((0.64, 0.01), rel=1e-5)
    assert trained.model.w.flatten().tolist() == pytest.approx([0.2, 2.9])


def test_plans():
    """The rate of each schedule, first and last."""
    ends = {"constant": (1, 1), "linear": (0.775, 0.1), "cosine": (1, 0.1464), "1/t": (1, 0.25)}
    for schedule, rates in ends.items():
        plan = Plan(steps=4, rate=1.0, schedule=schedule)
        assert (plan.rate_at(0), plan.rate_at(3)) == pytest.approx(rates, abs=1e-4)


def test_spread():
    """Mean and standard deviation of what is known, and how many are."""
    assert spread_text([1.0, 2.0, 3.0]) == "2 ± 1"
    assert spread_text([50.33, 0.0, 99.2]) == "50 ± 50"
    assert spread_text([2e-9, 2.1234e-9]) == "2.1·10⁻⁹ ± 8.7·10⁻¹¹"
    assert spread_text([1.0, None]) == "1 (1 of 2)"
    assert spread_text([None]) == "–"


def test_table(call, refused, entered, ran, tmp_path):
    """A row of Markdown for each record, of folders or of those in them; nothing else is one."""
    out, _, _ = ran
    for place in (out, out.parent):
        table = call("experiment", "--table", place)
        head, rule, row = table.out.splitlines()
        assert head.count("|") == rule.count("|") == row.count("|") == 7
        assert row == (
            "| `tiny` | small is beautiful | does not hold | 8 runs were made. | 2 "
            "| `rnnbounds experiment tiny` |"
        )
    record = decode_record((out / "tiny.json").read_bytes())
    failed = replace(record, outcome=Outcome("holds", "All is well.", ("a bound fell",)))
    assert " | fails | All is well. Fails: a bound fell. | " in markdown_table([failed])[2]
    (tmp_path / "a.json").write_text("{}")
    assert "no record of an experiment is there; give" in refused("experiment", "--table", tmp_path)
    assert "choose among" in refused("experiment")
