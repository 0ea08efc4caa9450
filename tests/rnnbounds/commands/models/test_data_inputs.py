"""Sets that recorded inputs fill, from the command line: certified, checked, measured, guarded."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

FRAMES = np.stack([np.sin(np.arange(48)), np.sin(np.arange(48) + 0.2)], 1).astype(np.float32)


@pytest.fixture
def gru(tmp_path, monkeypatch):
    """A GRU whose gates open further in the corners of the box than on the recorded inputs."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)
    made = torch.nn.GRU(2, 4)
    with torch.no_grad():
        for name, part in made.named_parameters():
            part.mul_(0.35 if "hh" in name else 1.0)
    save_file(made.state_dict(), "m.safetensors")
    np.save("x.npy", FRAMES.reshape(6, 8, 2))
    return "m.safetensors"


@pytest.mark.parametrize("name", ["frames", "hull", "axes", "zonotope"])
def test_a_set_that_data_fill(call, gru, name: str) -> None:
    """Certified, with the set in words; proved anew from the file; data of the set are measured."""
    asked = ("--cell=gru", "--data=x.npy", f"--inputs={name}", "--eps=0.1")
    told = call("certify", gru, *asked, "--out", "o", "--format", "json")
    assert told.code == 0
    kind = "zonotope" if name == "axes" else name
    assert told.json["inputs"]["set"] == kind
    assert f"--inputs={name}" in call("certify", gru, *asked, "--norm=perron").out
    checked = call("check", "o/certificate.json", "--source", gru, "--cell=gru")
    assert (checked.code, "the certificate holds" in checked.out) == (0, True)
    words = {"frames": "among its 48 frames", "hull": "in the hull of its 48 frames"}
    assert words.get(name, "in the zonotope of its 4 generators") in checked.out
    np.save("far.npy", 3 * FRAMES[None])
    far = call("measure", gru, "--cell=gru", "--data=far.npy", "--input-bound=from-data",
               "--change=0.5")  # fmt: skip
    assert (far.code, far.err.count("\n")) == (2, 1)
    assert "sequence 0 is not proved to be of" in far.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hul", "has no tensor hul; did you mean hull? name one of weight_hh_l0, weight_ih_l0, or "
         "of recorded inputs frames, hull, axes, zonotope"),
        ("weight_hh", "did you mean weight_hh_l0? name one of "),
        ("from-data", "from-data is a bound; say --input-bound from-data"),
        ("-1:١", "--inputs is no box; write LOW:HIGH"),
        ("-1:", "--inputs is no box; write LOW:HIGH"),
    ],
)  # fmt: skip
def test_inputs_that_are_mistyped(refused, gru, text: str, told: str) -> None:
    """All words that are taken, the nearest first."""
    assert told in refused("certify", gru, "--data=x.npy", f"--inputs={text}")


@pytest.mark.parametrize("option", ["--input-bound=٣", "--change=٣", "--input-bound=x"])
def test_numbers_are_ascii(refused, gru, option: str) -> None:
    """As those of all other options are."""
    box = ("--inputs=-1:1",) if "change" in option else ()
    assert "is not a valid number, nor from-data" in refused("certify", gru, *box, option)
    line = refused("measure", gru, "--data=x.npy", "--near=0.1", "--states=٣")
    assert "non-negative and finite or `recorded`" in line


def test_a_bounded_change(call, gru) -> None:
    """The certificate says it, and check proves it."""
    asked = ("--cell=gru", "--data=x.npy", "--input-bound=from-data", "--change=from-data")
    told = call("certify", gru, *asked, "--eps=0.1", "--out", "o")
    assert told.code == 0
    assert "with |x_t − x_{t−1}| ≤ δ, δ up to " in told.out
    checked = call("check", "o/certificate.json", "--source", gru, "--cell=gru")
    assert (checked.code, "|x_t − x_{t−1}| ≤ δ ≤ " in checked.out) == (0, True)
    assert call("truncate", gru, "--cell=gru", "--inputs=-1:1", "--change=0.5", "--eps=0.1",
                "--out=t.safetensors").code == 0  # fmt: skip
    checked = call("check", "t.safetensors")
    assert (checked.code, "|x_t − x_{t−1}| ≤ 0.5" in checked.out) == (0, True)


def test_a_witness_far_from_the_data(call, gru) -> None:
    """A refuted model: how far the witness lies from the data, in text, record and page, whose lead
    begins with what holds on the data; the frames are what may be asked about next."""
    held = {name: torch.zeros_like(part) for name, part in torch.nn.GRU(1, 1).state_dict().items()}
    held["weight_hh_l0"][2], held["bias_ih_l0"][0] = 4.0, 4.0
    save_file(held, "gru.safetensors")
    np.save("y.npy", np.linspace(0.5, 1, 160).reshape(20, 8, 1))
    told = call("certify", "gru.safetensors", "--data=y.npy", "--inputs=-1:1", "--out", "o")
    assert told.code == 1
    assert "two distinct fixed points, 0.5 from the nearest recorded input" in told.out
    assert "or ask about the recorded inputs and no others: rnnbounds certify" in told.out
    assert "or certify k near the recorded inputs: rnnbounds measure gru.safetensors" in told.out
    record = json.loads(Path("o/certificate.json").read_text())
    assert record["witness"]["distance"] == 0.5
    page = Path("o/index.html").read_text()
    assert "0.5 from the nearest recorded input" in page
    lead = page.index("0.5 from the nearest recorded input")
    assert page.index("windows") < lead


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--inputs=frames",), "takes them from --data; name its file"),
        (("--inputs=hull", "--data=nan.npy"), "NaN"),
        (("--inputs=hull", "--data=none.npy"), "none.npy"),
        (("--inputs=frames", "--data=many.npy"), "more than the 65536 numbers"),
        (("--inputs=axes", "--data=wide.npy"), "has 3 channels per input, but the model reads 2"),
        (("--inputs=frames", "--data=x.npy", "--change=1"), "--change stands beside a box"),
        (("--input-bound=1", "--change=1"), "--change stands beside a box"),
        (("--inputs=0:1", "--change=from-data"), "takes D from --data"),
        (("--inputs=0:1", "--change=-1"), "a number ≥ 0"),
        (("--inputs=0:1", "--change=nan"), "a number ≥ 0"),
        (("--inputs=0:1", "--change=slow"), "is not a valid number"),
        (("--inputs=hull", "--data=x.npy", "--margin=1"), "--margin is for"),
    ],
)
def test_what_is_no_set(call, gru, options, says: str) -> None:
    """One line and exit 2; nothing is written."""
    np.save("nan.npy", np.full((1, 4, 2), np.nan))
    np.save("none.npy", np.zeros((0, 4, 2)))
    np.save("many.npy", np.random.default_rng(0).standard_normal((1, 40_000, 2)))
    np.save("wide.npy", np.zeros((1, 4, 3)))
    told = call("certify", gru, "--cell=gru", *options, "--out", "o")
    assert (told.code, told.out) == (2, "")
    assert says in told.err
    assert told.err.count("\n") == 1
    assert call("check", "o/certificate.json").code == 2


def test_guard(call, gru, tmp_path) -> None:
    """A model is certified for the frames of a file, and one of others is another question."""
    asked = '[tool.rnnbounds.models.m]\nmodel = "m.safetensors"\ncell = "gru"\neps = 0.1\n'
    more = 'data = "x.npy"\ninputs = "hull"\nbaseline = "b.json"\n'
    (tmp_path / "pyproject.toml").write_text(asked + more)
    assert call("guard", "--update").code == 0
    assert json.loads((tmp_path / "b.json").read_text())["inputs"]["set"] == "hull"
    assert call("guard").code == 0
    x = FRAMES.copy()
    x[0] *= 0.5  # the box around them is the same
    np.save("x.npy", x.reshape(6, 8, 2))
    told = call("guard")
    assert told.code == 2
    assert "inputs" in told.out + told.err
    for wrong in ('inputs = "hull"\n', 'inputs = "0:1"\ndata = "x.npy"\n'):
        (tmp_path / "pyproject.toml").write_text(asked + wrong)
        assert call("guard").code == 2


def test_advice_near_the_data(call, gru) -> None:
    """An undecided model with data is told of what can be certified near them, in a command that
    runs; without data it is not."""
    near = "or certify k near the recorded inputs: "
    asked = (gru, "--cell=gru", "--inputs=-900:900")
    assert near not in call("certify", *asked, "--norm=infinity").out
    told = call("certify", *asked, "--norm=infinity", "--data=x.npy")
    (line,) = [line for line in told.out.splitlines() if near in line]
    assert line.endswith("--data=x.npy --near=0.001 --states=recorded --inputs=-900:900 --cell=gru")
    words = shlex.split(line.split(": ", 1)[1])
    assert "near your data" in call(*words[1:]).out
