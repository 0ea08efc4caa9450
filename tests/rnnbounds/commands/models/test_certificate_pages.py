"""Certificates as pages: of a certified model, a refuted one, a truncated and a unitary one."""

import json
import re

import pytest
import torch


@pytest.fixture
def model(tmp_path):
    """Makes a small model whose recurrent weights are a multiple of 1."""

    def write(factor):
        path = tmp_path / "ada" / "model.pt"
        path.parent.mkdir(exist_ok=True)
        weights = {"weight_hh_l0": factor * torch.eye(2), "weight_ih_l0": torch.ones(2, 1)}
        torch.save(weights, path)
        return path

    return write


def test_certified(call, model, tmp_path):
    """The page and the document say the same; neither says where the model lies."""
    out = tmp_path / "told"
    arguments = ("--cell", "rnn-tanh", "--input-bound", 1, "--out", out)
    outcome = call("certify", model(0.25), *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"wrote {out / 'index.html'} and {out / 'certificate.json'}\n" in outcome.out
    page = (out / "index.html").read_text()
    document = json.loads((out / "certificate.json").read_text())
    assert document["lambda"] == 0.25
    assert document["model"] == "…/model.pt"
    assert "<td>λ</td><td>0.25</td>" in page
    assert re.search(r'<strong class="verdict good">.*certified</strong> model.pt forgets', page)
    lead = r"its last \d+ inputs fix the output h to within ε = 0.01, however long the run\."
    assert re.search(rf"{lead} This speaks of all inputs with ‖x‖₂ ≤ 1\.", page)
    assert document["sha256"] in page
    assert 'class="key s1 points">certified: k of each ε' in page
    assert str(tmp_path) not in page
    assert "FAILS" not in page


def test_not_certified(call, model, tmp_path):
    """A page that fails says so, and what it comes to."""
    arguments = ("--cell", "linear", "--input-bound", 1, "--out", tmp_path / "told")
    assert call("certify", model(2.0), *arguments).code == 1
    page = (tmp_path / "told" / "index.html").read_text()
    assert "FAILS" in page
    assert "Certified:" not in page


@pytest.mark.parametrize(
    ("command", "options"),
    [("truncate", ("--cell", "rnn-tanh", "--eps", 0.1)), ("unitary", ("--cell", "rnn-relu"))],
)
def test_converted(call, model, tmp_path, command, options):
    """What was made of a model has a page too, with the command that proves it anew."""
    made, page = tmp_path / "made.safetensors", tmp_path / "told"
    given = (*options, "--input-bound", 1, "--out", made, "--page", page)
    assert call(command, model(0.25), *given).code == 0
    told = (page / "index.html").read_text()
    assert "rnnbounds check made.safetensors" in told
    assert str(tmp_path) not in told
    document = (page / "certificate.json").read_text()
    assert str(tmp_path) not in document
    assert json.loads(document)["schema"].startswith("rnnbounds/")


def test_a_refuted_model_says_what_it_means_and_what_to_do(call, model, tmp_path):
    """In text and on the page; a file that is not written is named."""
    out = tmp_path / "short.safetensors"
    options = ("--cell", "linear", "--input-bound", 1)
    told = call("certify", model(2.0), *options, "--out", tmp_path / "told")
    assert (
        "which means: two states that differ along its eigenvector never come together" in told.out
    )
    assert (
        "what to do next:\n  see what it remembers of recorded inputs: rnnbounds measure"
        in told.out
    )
    page = (tmp_path / "told" / "index.html").read_text()
    assert "rnnbounds measure" in page
    short = call("truncate", model(2.0), *options, "--eps", 0.1, "--out", out)
    assert short.code == 1
    assert short.out.endswith(f"{out} was not written: no window is certified\n")
