"""``certify`` on training: γ and β, the k of a training run, and calls that make no sense."""

import pytest

import rnnbounds

NAN, INF = float("nan"), float("inf")
TANH = ("--cell", "rnn-tanh", "--input-bound", 1)
RUN = ("--steps", 1000, "--alpha", 0.001)


def certified(call, model, *options):
    """The document of a certified model."""
    outcome = call("certify", model, *TANH, *options, "--format", "json")
    assert outcome.code == 0
    return outcome.json


def test_constants_without_a_run(call, stable_model):
    """γ, β and what they are made of are in every certificate of a smooth cell."""
    document = certified(call, stable_model)
    constants = document["constants"]
    for name in ("L_w", "beta_hh", "beta_wh", "beta_ww", "L_p", "beta_p", "G_0", "G_1", "beta"):
        assert constants[name] > 0
    assert constants["gamma"] == pytest.approx(constants["G_0"] + constants["G_1"])
    assert document["training"]["windows"] == []
    assert document["training"]["reason"] is None


def test_window_of_a_run(call, stable_model):
    """k after training is above k before it, grows with 1/ε, and comes with the largest α."""
    document = certified(call, stable_model, *RUN, "--eps", 0.1, "--eps", 1e-4)
    training = document["training"]
    assert (training["steps"], training["alpha"], training["length"]) == (1000, 0.001, 1000)
    first, second = training["windows"]
    assert (first["eps"], second["eps"]) == (0.1, 1e-4)
    assert first["k"] < second["k"]
    for window, before in zip(training["windows"], document["truncation"], strict=True):
        assert window["k"] > before["k"]
        assert window["largest_alpha"] > 0.001


def test_from_python(call, stable_model):
    """The same from Python."""
    task = rnnbounds.Task(1000, 0.001)
    told = rnnbounds.certify(stable_model, 1.0, cell="rnn-tanh", training=task).training
    assert told.to_json() == certified(call, stable_model, *RUN)["training"]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["text", "json"])
def test_vacuous(call, stable_model, format):
    """Where no k below T is certified that is said, with the largest α; the model stays so."""
    options = ("--steps", 1000, "--alpha", 1e6, "--length", 50, "--eps", 0.01)
    outcome = call("certify", stable_model, *TANH, *options, "--format", format)
    assert outcome.code == 0
    if format == "text":
        assert "vacuous: at α = 1000000 no k below T = 50 is certified" in outcome.out
    else:
        (window,) = outcome.json["training"]["windows"]
        assert window["k"] is None
        below = window["largest_alpha"]
        again = ("--steps", 1000, "--alpha", repr(below), "--length", 50, "--eps", 0.01)
        (window,) = certified(call, stable_model, *again)["training"]["windows"]
        assert window == {"eps": 0.01, "k": 49, "largest_alpha": below}


def test_loss_and_its_bounds(call, stable_model):
    """The loss, the readout and the target change the constants as they should."""
    linear, squared, wide = (
        certified(call, stable_model, *options)["constants"]
        for options in (
            ("--loss", "linear"),
            ("--target-bound", 0),
            ("--readout-norm", 2, "--target-bound", 0),
        )
    )
    assert (linear["L_p"], linear["beta_p"]) == (1.0, 0.0)
    assert (squared["L_p"], squared["beta_p"]) == (squared["B_h"], 1.0)
    assert wide["L_p"] == pytest.approx(4 * squared["L_p"])
    assert wide["beta_p"] == 4.0
