"""The library logs under `rnnbounds` and prints nothing; the command line prints what is logged."""

import logging

import pytest
import torch

import rnnbounds

BOUND = ("--inputs", 1)


@pytest.fixture
def model(tmp_path):
    """A file with a small model whose weights are recognisable."""
    torch.manual_seed(0)
    module = torch.nn.RNN(1, 2)
    with torch.no_grad():
        for part in module.parameters():
            part.fill_(0.1357)
    path = tmp_path / "model.pt"
    torch.save(module.state_dict(), path)
    return path


def test_from_python_it_is_heard_where_it_is_asked_for(model, caplog):
    """Names, numbers of outputs and factors; each norm as a detail."""
    with caplog.at_level(logging.DEBUG, logger="rnnbounds"):
        rnnbounds.certify(model, inputs=1.0, eps=0.1, cell="rnn-tanh")
        rnnbounds.measure(model, torch.rand(4, 5, 1), cell="rnn-tanh", eps=0.1)
    told = {(one.name, one.levelname, one.getMessage()) for one in caplog.records}
    assert ("rnnbounds.certify", "INFO", "certifying rnn-tanh, 2 outputs, float32") in told
    assert ("rnnbounds.measure", "INFO", "measuring rnn-tanh on 4 windows of 5 inputs") in told
    assert any(level == "DEBUG" and "spectral norm: λ ≤ 0.2" in text for _, level, text in told)
    assert not any("0.1357" in text for *_, text in told)


def test_the_command_line_prints_it_with_v(call, model):
    """On standard error, in lines of the program; the result is what it is without."""
    quiet = call("certify", model, *BOUND, "--cell", "rnn-tanh")
    assert quiet.err == ""
    loud = call("-v", "certify", model, *BOUND, "--cell", "rnn-tanh")
    assert loud.err.splitlines()[0] == "rnnbounds: certifying rnn-tanh, 2 outputs, float32"
    assert "spectral norm:" not in loud.err
    louder = call("-vv", "certify", model, *BOUND, "--cell", "rnn-tanh")
    assert "rnnbounds: spectral norm: λ ≤ 0.2" in louder.err
    assert "0.1357" not in louder.err
    assert quiet.out == loud.out == louder.out
    again = call("certify", model, *BOUND, "--cell", "rnn-tanh")
    assert again.err == ""
    long = call("--verbose", "certify", model, *BOUND, "--cell", "rnn-tanh")
    assert long.err == loud.err


def test_a_warning_is_a_printable_line(call, monkeypatch, capsys):
    """Without -v too, whatever is in it; after the command nobody listens."""
    logger = logging.getLogger("rnnbounds.here")
    monkeypatch.setattr(
        "rnnbounds.shell.program._print_version",
        lambda asked: logger.warning("red \x1b[31m%s", "\n") or 0,
    )
    before = list(logging.getLogger("rnnbounds").handlers)
    outcome = call("--version", "claims", "truncation")
    assert outcome.err == "rnnbounds: red \\x1b[31m\\n\n"
    assert logging.getLogger("rnnbounds").handlers == before
    logger.warning("unheard")
    assert capsys.readouterr().err == ""
