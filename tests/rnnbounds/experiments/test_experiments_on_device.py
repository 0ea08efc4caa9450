"""What an experiment trains lies on the device, and its data meets it there."""

from dataclasses import replace as changed

import pytest
from elsewhere import elsewhere
from msgspec.structs import replace
from small_runs import SMALL, chosen

from rnnbounds.experiments.engine.record import Outcome
from rnnbounds.experiments.engine.running import run_experiment
from rnnbounds.experiments.models.run import EXPERIMENT, Sizes

# The others train, certify and judge as these do.
TRAINED = [
    "permuted-digits", "feed-forward", "deep-cell", "sigmoid-gap",
    "gradient-decay", "gradients-close",
]  # fmt: skip


@pytest.fixture
def device(monkeypatch):
    """One that every experiment takes for a device, with tensors that certificates take for plain
    ones."""
    monkeypatch.setattr("rnnbounds.experiments.engine.running.choose_device", str)
    monkeypatch.setattr(
        "rnnbounds.impl.reading.recognition.recognise.check_tensor", lambda name, tensor: None
    )
    with elsewhere() as there:
        yield there


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_each_runs(name, device, tmp_path, data):
    """Small, and without a problem."""
    path = str(data) if name == "permuted-digits" else None
    small = replace(SMALL[name], seeds=1)
    assert (
        run_experiment(chosen(name), tmp_path, setting=small, device=device, data=path).problems
        == ()
    )


@pytest.mark.slow
def test_a_model_that_is_certified(device, tmp_path):
    """Trained under the projection, certified, attacked and measured."""
    pytest.importorskip("statsmodels")
    pytest.importorskip("sklearn")
    setting = Sizes(steps=2, states=2, windows=8, count=3)
    units = [one for one in EXPERIMENT.units(setting) if one.variant == "projected"][:1]
    alone = changed(EXPERIMENT, units=lambda _: units, judge=lambda *_: Outcome("holds", ""))
    (line,) = run_experiment(alone, tmp_path, setting=setting, device=device).runs
    assert line.certificate is not None
    assert line.certificate.verdict == "certified"
