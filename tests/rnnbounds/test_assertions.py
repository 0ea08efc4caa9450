"""The assertions that a user's own tests call."""

from pathlib import Path
from typing import Any

import pytest
import torch

import rnnbounds
from rnnbounds import assert_contractive, assert_remembers, assert_truncation
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.errors import InputError


def network(scale: float) -> torch.nn.RNN:
    """A tanh network with two inputs, and W of scale times an orthogonal matrix."""
    torch.manual_seed(1)
    net = torch.nn.RNN(2, 4, batch_first=True)
    with torch.no_grad():
        torch.nn.init.orthogonal_(net.weight_hh_l0).mul_(scale)
    return net


def scalar(weight: float) -> dict[str, torch.Tensor]:
    """The state dict of one state with one input."""
    return {"weight_hh_l0": torch.tensor([[weight]]), "weight_ih_l0": torch.ones(1, 1)}


TANH: dict[str, Any] = {"cell": "rnn-tanh"}


@pytest.mark.parametrize("lam", [0.5, 0.4, float("nan")])
def test_a_factor_that_is_too_large_fails(lam):
    """λ must lie below what the test asks for; NaN is below nothing."""
    with pytest.raises(AssertionError, match=r"spectral norm is not below .*; project"):
        assert_contractive(scalar(0.5), inputs=1.0, lam=lam, norm="spectral", **TANH)


def test_an_undecided_model_fails():
    """tanh(h + x) is not refuted, but no norm certifies it; the factors found are listed."""
    with pytest.raises(AssertionError, match=r"undecided; .*spectral 1, .*rnnbounds\.stable"):
        assert_contractive(scalar(1.0), inputs=1.0, **TANH)


def test_a_refuted_model_fails_with_its_witness():
    """What refutes the model is part of the message."""
    with pytest.raises(AssertionError, match=r"refuted \(W has an eigenvalue near 1\.5"):
        assert_contractive(scalar(1.5), inputs=1.0, cell="linear")


@pytest.mark.parametrize(
    "call",
    [
        lambda: assert_contractive("no.pt", inputs=1.0),
        lambda: assert_remembers(network(0.5), inputs=-1.0, at_most=3, eps=0.1),
        lambda: rnnbounds.assert_measured(
            network(0.5), torch.ones(4, 9, 2).numpy(), eps=0.1, at_most=3, share=0.99
        ),
        lambda: assert_truncation(network(0.5), torch.ones(1), eps=0.1),
    ],
)
def test_what_makes_no_sense_is_told_without_frames_of_ours(call):
    """However deep it is noticed: what pytest shows ends at the test's own line, and the line
    begins with the public class, and names the folder that a path is from."""
    with pytest.raises(InputError) as caught:
        call()
    assert f"{caught.type.__module__}.{caught.type.__qualname__}" == "rnnbounds.InputError"
    assert (f"(paths are from {Path.cwd()})" in str(caught.value)) == ("no.pt" in str(caught.value))
    shown = [entry for entry in caught.traceback if not entry.ishidden(caught)]
    assert {Path(entry.path).name for entry in shown} == {"test_assertions.py"}


def test_memory():
    """k(ε) is compared with what the test allows."""
    certificate = assert_remembers(scalar(0.5), at_most=100, eps=1e-3, inputs=1.0, **TANH)
    k = certificate.window(1e-3)
    assert k is not None
    assert_remembers(scalar(0.5), at_most=k, eps=1e-3, inputs=1.0, **TANH)
    with pytest.raises(AssertionError, match=rf"the last {k} inputs, more than {k - 1}; allow"):
        assert_remembers(scalar(0.5), at_most=k - 1, eps=1e-3, inputs=1.0, **TANH)
    with pytest.raises(AssertionError, match="undecided"):
        assert_remembers(scalar(1.0), at_most=100, eps=1e-3, inputs=1.0, **TANH)


def test_truncation_needs_a_certificate_and_inputs_that_fit():
    """No window, no assertion; inputs of another width are named."""
    with pytest.raises(AssertionError, match="undecided"):
        assert_truncation(scalar(1.0), torch.ones(1, 5, 1), eps=1e-3, **TANH)
    for inputs in (torch.ones(5, 1), torch.ones(1, 5, 3), torch.ones(0, 5, 1)):
        with pytest.raises(InputError, match=r"\(N, T, 1\)"):
            assert_truncation(scalar(0.5), inputs, eps=1e-3, **TANH)
    with pytest.raises(InputError, match="the input bound B = inf"):
        assert_truncation(scalar(0.5), torch.full((1, 5, 1), torch.nan), eps=1e-3, **TANH)


def test_truncation_can_fail(monkeypatch):
    """A window that is too short is noticed: the assertion compares the two models."""

    def too_short(model, *, inputs, eps):
        parts = {role: model.weights[role] for role in ("weight_ih", "weight_hh")}
        return FeedForward(parts, activation="tanh", k=1), {}

    monkeypatch.setattr(rnnbounds.assertions, "truncate", too_short)
    with pytest.raises(AssertionError, match=r"away, more than 0\.001; this contradicts"):
        assert_truncation(scalar(0.5), torch.ones(1, 5, 1), eps=1e-3, **TANH)


def test_assertions_survive_optimisation():
    """``python -O`` strips assert statements, not these."""
    path = Path(rnnbounds.assertions.__file__)
    names: dict[str, Any] = {"__name__": "optimised"}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec", optimize=1), names)
    with pytest.raises(AssertionError, match="undecided"):
        names["assert_contractive"](scalar(1.0), inputs=1.0, **TANH)


def test_truncation_of_tiny_inputs():
    """The input bound is right for inputs whose squares underflow."""
    weights = {"weight_hh": torch.tensor([[0.5]]), "weight_ih": torch.tensor([[1e30]])}
    weights = {role: part.double() for role, part in weights.items()}
    weights["weight_ih"] *= 1e140
    x = torch.full((1, 5, 1), 1e-170, dtype=torch.float64)
    assert_truncation(weights, x, eps=1e-3, **TANH)
