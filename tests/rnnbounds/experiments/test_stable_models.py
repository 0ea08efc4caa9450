"""What is read off trained networks: at a size of seconds, and the rules on runs made up."""

import math

import pytest
from msgspec.structs import replace
from small_runs import SMALL

from rnnbounds.experiments.engine.record import CertificateSummary, Run
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.stable import (
    data_stability,
    gradient_decay,
    trained,
    truncation_curve,
    weights_apart,
)

EACH = [truncation_curve, gradient_decay, data_stability, weights_apart]


def made(variant="free", seed=0, verdict="undecided", **figures):
    """A run with these figures."""
    told = CertificateSummary(verdict, "spectral", 0.5, 1e-2, 7, "all")
    return Run(task="t", model="RNN", variant=variant, seed=seed, figures=figures, certificate=told)


@pytest.mark.parametrize("module", EACH, ids=lambda module: module.EXPERIMENT.name)
def test_small(module, small_run):
    """Every curve is drawn, beside the certificate of the stable ones."""
    chosen = module.EXPERIMENT
    record = small_run(chosen.name)[1]
    drawn = {name for chart in chosen.charts for name in chart.curves}
    assert drawn & {name for one in record.runs for name in one.curves}
    if module is not weights_apart:
        assert record.runs[0].certificate.verdict == "certified"
        assert "characters" in record.sources


def test_truncated_at_all_inputs_is_the_whole(tmp_path):
    """The score of the last k = 64 inputs of a network that forgets is that of all inputs."""
    chosen = truncation_curve.EXPERIMENT
    setting = replace(SMALL[chosen.name], lam=0.3)
    one = run_experiment(chosen, tmp_path, setting=setting).runs[0]
    assert one.curves["score"].y[-1] == pytest.approx(one.figures["all inputs, bits a character"])
    assert one.curves["gap"].y[-1] < 1e-12
    assert one.figures["certified bounds broken"] == 0
    pairs = zip(one.curves["gap"].y, one.curves["gap, certified"].y, strict=True)
    assert all(gap <= bound for gap, bound in pairs if bound > 1e-12)


def test_a_bound_falls_only_for_certain():
    """Above its bound by more than rounding; never where rounding is not known."""
    assert trained.is_broken(1.0, 0.5, 0.1)
    assert not trained.is_broken(1.0, 0.95, 0.1)
    assert not trained.is_broken(1.0, 0.5, None)
    assert trained.is_broken(math.nan, 0.5, 0.1)
    runs = [
        made(**{trained.BROKEN_BOUNDS: 0.0}),
        made(seed=4, **{trained.BROKEN_BOUNDS: 2.0}),
        made(),
    ]
    assert trained.broken_lines(runs) == ("t, RNN, free, seed 4: 2 bounds are broken",)


@pytest.mark.parametrize(
    ("module", "name", "good", "bad"),
    [
        (truncation_curve, truncation_curve.NAME, 0.5, 2.0),
        (gradient_decay, gradient_decay.NAME, 1e-3, 0.5),
        (data_stability, data_stability.EXPONENT, -0.1, 0.1),
    ],
)
def test_rules(module, name, good, bad):
    """Every seed fits: holds; none of a row: does not; some: undecided. NaN fits nothing."""
    extra = {data_stability.RATIO: 2.0} if module is data_stability else {}

    def holds(*values):
        runs = [made(seed=i, **{name: value}, **extra) for i, value in enumerate(values)]
        return module.EXPERIMENT.judge(runs, module.EXPERIMENT.setting).holds

    assert holds(good, good) == "holds"
    assert holds(good, bad) == holds(None, good) == "undecided"
    assert holds(bad, bad) == "does not hold"


def test_nothing_nominally_unstable():
    """Data-stability says nothing of networks that are certified."""
    outcome = data_stability.judge_runs(
        [made(verdict="certified")], data_stability.EXPERIMENT.setting
    )
    assert outcome.holds == "undecided"


def test_rule_of_weights():
    """Stable ones alone decide: close at the largest k, and closer than at the smallest."""
    setting = replace(weights_apart.EXPERIMENT.setting, ks=(2, 8))

    def holds(variant, first, last):
        figures = {"k = 2: apart/moved": first, "k = 8: apart/moved": last}
        runs = [made("stable, steps", 0, **{**figures, "k = 8: apart/moved": 1e-3})]
        return weights_apart.judge_runs([*runs, made(variant, 0, **figures)], setting).holds

    assert holds("free, steps", 0.5, 0.4) == "holds"
    assert holds("stable, other steps", 0.5, 1e-3) == "holds"
    assert holds("stable, other steps", 0.5, 0.4) == "does not hold"
    assert holds("stable, other steps", 1e-4, 1e-3) == "does not hold"
