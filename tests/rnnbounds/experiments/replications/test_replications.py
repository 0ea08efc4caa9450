"""The replications at a size for tests: records, pages, and rules on figures that are made up."""

import msgspec
import pytest
from msgspec.structs import replace
from small_runs import chosen

from rnnbounds.experiments import HOMES, find_experiment
from rnnbounds.experiments.engine.record import Run
from rnnbounds.experiments.engine.running import experiment_page
from rnnbounds.experiments.tasks import load_tasks
from rnnbounds.experiments.tasks.files import DataError
from rnnbounds.properties.errors import UnknownChoiceError
from rnnbounds.reports.pages.experiment import render_page

ROWS = {
    "stable-vs-unstable": 4, "feed-forward": 7, "deep-cell": 8, "similarity": 6, "sigmoid-gap": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows(name, small_run):
    """Every model and variant is in the record."""
    runs = small_run(name)[1].runs
    assert len({(one.task, one.model, one.variant) for one in runs}) == ROWS[name]


def test_stable_ones_are_certified(small_run):
    """The projected networks are certified; were one not, the run fails."""
    experiment, record = chosen("stable-vs-unstable"), small_run("stable-vs-unstable")[1]
    kept = [one for one in record.runs if one.variant == "stable"]
    assert {one.certificate.verdict for one in kept} == {"certified"}
    broken = replace(kept[0], certificate=replace(kept[0].certificate, verdict="undecided"))
    (problem,) = experiment.judge([broken, *record.runs], None).problems
    assert "the stable RNN of seed 0 is undecided" in problem
    assert b"not at hand" in render_page(experiment_page(record, experiment))


def made_up(task, model, variant, *values, name="held out, perplexity"):
    """Runs with these figures."""
    return [
        Run(task=task, model=model, variant=variant, seed=i, figures={name: value})
        for i, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("stable", "holds"), [((104.0, 105.0), True), ((104.0, 107.0), False), ((1.0, None), False)]
)
def test_rule_of_stable(stable, holds):
    """At most 5 % worse in the mean; one that diverged is worse."""
    experiment = find_experiment("stable-vs-unstable")
    runs = made_up("words", "RNN", "unstable", 99.0, 101.0)
    runs += made_up("words", "RNN", "stable", *stable)
    assert (experiment.judge(runs, None).holds == "holds") == holds


@pytest.mark.parametrize(("best", "holds"), [(93.0, True), (90.0, False)])
def test_rule_of_feed_forward(best, holds):
    """Of F1 more is better, and the best of each family counts."""
    experiment = find_experiment("feed-forward")
    runs = made_up("slots", "RNN", "recurrent", 50.0, 60.0, name="held out, F1, %")
    runs += made_up("slots", "LSTM", "recurrent", 95.0, 97.0, name="held out, F1, %")
    runs += made_up("slots", "TCN", "feed-forward", best, best, name="held out, F1, %")
    runs += made_up("slots", "gated", "feed-forward", 10.0, 10.0, name="held out, F1, %")
    told = experiment.judge(runs, None)
    assert (told.holds == "holds") == holds
    assert "TCN" in told.said
    assert "LSTM" in told.said


@pytest.mark.parametrize(
    ("plain", "gated", "holds"), [(20, 50, True), (95, 99, False), (20, 10, False)]
)
def test_rule_of_deep_cells(plain, gated, holds):
    """Plain cells fail where each remedy does better."""
    experiment = find_experiment("deep-cell")
    runs = []
    for variant, right in (
        ("plain", plain),
        ("gated", gated),
        ("normalised", 60),
        ("orthogonal", 99),
    ):
        runs += made_up("recall", "6 layers", variant, float(right), name="right, %")
    assert (experiment.judge(runs, experiment.setting).holds == "holds") == holds


@pytest.mark.parametrize(("urnn", "holds"), [(0.2, True), (0.05, False)])
def test_rule_of_the_gap(urnn, holds):
    """Every URNN has to be above the free network."""
    experiment = find_experiment("sigmoid-gap")
    runs = made_up("t", "RNN", "4 states", 0.1) + made_up("t", "URNN", "4 states", 0.5)
    runs += made_up("t", "URNN", "32 states", urnn)
    assert (experiment.judge(runs, None).holds == "holds") == holds


def test_similarity_says_what_theory_says(small_run):
    """Outputs stay of linear and ReLU networks, not of tanh ones; k of the linear ones changes."""
    experiment, record = chosen("similarity"), small_run("similarity")[1]
    assert record.outcome.holds == "holds"
    for apart in (0.1, None):
        moved = [
            replace(one, figures=one.figures | {"outputs apart, float64": apart})
            for one in record.runs
        ]
        assert experiment.judge(moved, None).holds == "does not hold"


def test_data_of_tasks(tmp_path):
    """One folder for one task, or a folder for each; what has none is what packages ship."""
    for name in ("wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"):
        (tmp_path / "words").mkdir(exist_ok=True)
        (tmp_path / "words" / name).write_text("the cat sat \n" * 60)
    apart = load_tasks(("words", "characters"), str(tmp_path), True)
    assert apart.sources["words"].startswith("wiki.train.tokens, SHA-256 ")
    assert apart.sources["characters"].startswith("CPython")
    own = load_tasks(("words",), str(tmp_path / "words"), True)
    assert own.sources["words"] == apart.sources["words"]
    with pytest.raises(DataError, match="is no folder with such files"):
        load_tasks(("slots",), str(tmp_path / "words"), True)
    with pytest.raises(UnknownChoiceError, match="unknown task 'chess'"):
        load_tasks(("chess",), None, False)


def test_sizes_in_full():
    """--full takes all data, and is of the kind of the default sizes."""
    for name in HOMES:
        experiment = find_experiment(name)
        if experiment.full is not None:
            assert type(experiment.full) is type(experiment.setting)
            assert msgspec.to_builtins(experiment.full) != msgspec.to_builtins(experiment.setting)
