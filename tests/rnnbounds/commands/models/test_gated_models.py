"""``certify``, ``truncate`` and the assertions on LSTM and GRU models as people have them."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.commands.models import factor

CELLS = pytest.mark.parametrize("cell", ["lstm", "gru", "gru-cho"])


@pytest.fixture
def gated(tmp_path: Path):
    """Write torch's layer with small recurrent weights: gated("lstm") -> its path."""

    def write(cell: str, scale: float = 0.2, *, kind: str = "safetensors", **options) -> Path:
        torch.manual_seed(0)
        net = (torch.nn.LSTM if cell == "lstm" else torch.nn.GRU)(2, 4, **options)
        with torch.no_grad():
            net.weight_hh_l0.mul_(scale)
        path = tmp_path / f"{cell}.{kind}"
        if kind == "safetensors":
            save_file(net.state_dict(), path)
        else:
            torch.save(net.state_dict(), path)
        return path

    return write


@CELLS
@pytest.mark.parametrize("kind", ["safetensors", "pt"])
def test_certify(call, gated, cell, kind):
    """Certified, with k for each ε, from both kinds of file; rounding and training are null."""
    document = call(
        "certify", gated(cell, kind=kind), "--cell", cell, "--input-bound", 1, "--eps", 0.1,
        "--eps", 1e-3, "--format", "json",
    ).json  # fmt: skip
    assert (document["cell"], document["verdict"], document["stable"]) == (cell, "certified", True)
    assert 0 < document["lambda"] < 1
    ks = [entry["k"] for entry in document["truncation"]]
    assert 0 < ks[0] < ks[1]
    assert document["training"] is None
    assert document["rounding"]["state"] is None


@CELLS
def test_certify_text(call, gated, cell):
    """What ε bounds, every norm that was tried, and that nothing is said about training."""
    outcome = call("certify", gated(cell), "--cell", cell, "--input-bound", 1, "--eps", 0.01)
    assert (outcome.code, outcome.err) == (0, "")
    assert f": {cell}, 4 states, float32" in outcome.out
    assert "ε bounds the output h's Euclidean norm" in outcome.out
    assert "training: nothing is certified about training cells of this kind" in outcome.out
    for norm in ("spectral", "infinity", "perron"):
        assert f"\n{norm} " in outcome.out


def test_cell_from_the_shapes(call, gated):
    """Four gates are an LSTM and three torch's GRU, unless Cho's is asked for."""
    for cell in ("lstm", "gru"):
        told = call("certify", gated(cell), "--input-bound", 1, "--format", "json").json
        assert told["cell"] == cell


@CELLS
@pytest.mark.parametrize("format", ["text", "json"])
def test_truncate(call, gated, tmp_path, cell, format):
    """The file rebuilds the feed-forward form, cell and window included."""
    out = tmp_path / "short.safetensors"
    outcome = call(
        "truncate", gated(cell), "--cell", cell, "--input-bound", 1, "--eps", 0.01, "--out", out,
        "--format", format,
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    module, certificate = rnnbounds.load_truncated(out), rnnbounds.load_certificate(out)
    assert certificate["truncation"] == [{"eps": 0.01, "k": module.k}]
    assert module.cell == certificate["cell"] == cell
    assert module(torch.zeros(2, 30, 2)).shape == (2, 30, 4)


@pytest.mark.slow
@CELLS
def test_assertions(gated, cell):
    """A user's own tests: contractive, remembers, truncates; large weights are told what to do."""
    model = str(gated(cell))
    certificate = rnnbounds.assert_contractive(model, cell=cell)
    k = certificate.window(1e-2)
    rnnbounds.assert_remembers(model, at_most=k, epsilon=1e-2, input_bound=1.0, cell=cell)
    x = torch.randn(3, 40, 2, generator=torch.Generator().manual_seed(0)).sign() / 2
    rnnbounds.assert_truncation(model, x, epsilon=1e-2, cell=cell)
    with pytest.raises(AssertionError, match="shrink its recurrent weights"):
        rnnbounds.assert_contractive(str(gated(cell, 1.0)), cell=cell)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["certify", "truncate"])
@pytest.mark.parametrize("format", ["text", "json"])
def test_undecided(call, gated, tmp_path, command, format):
    """Weights as torch draws them are out of reach: exit 1, and nothing is written."""
    out = tmp_path / "out.safetensors"
    more = () if command == "certify" else ("--eps", 0.01, "--out", out)
    outcome = call(command, gated("lstm", 1.0), "--input-bound", 1, *more, "--format", format)
    assert (outcome.code, outcome.err) == (1, "")
    assert not out.exists()
    if format == "text":
        assert "undecided: no norm that was tried certifies it" in outcome.out
    else:
        assert (outcome.json["verdict"], outcome.json["stable"]) == ("undecided", None)
        assert len(outcome.json["norms_tried"]) == 4


def test_refuted(call, tmp_path):
    """A unit that keeps its sign for ever: exit 1, with two certified fixed points."""
    weights = {
        "weight_hh": torch.tensor([[0.0], [0.0], [3.0]]),
        "weight_ih": torch.ones(3, 1) / 8,
        "bias_ih": torch.tensor([9.0, -3.0, 0.0]),
    }
    save_file(weights, tmp_path / "latch.safetensors")
    outcome = call("certify", tmp_path / "latch.safetensors", "--input-bound", 1)
    assert (outcome.code, outcome.err) == (1, "")
    assert "refuted: under the zero input the model has two fixed points" in outcome.out


def test_what_does_not_apply(refused, gated, tmp_path):
    """One line each: other cells' norms, training runs, unitary equivalents, other shapes."""
    model, out = gated("lstm"), tmp_path / "u.safetensors"
    for options, line in (
        (("--norm", "diagonal"), "use the perron norm for lstm"),
        (("--norm", "comparisn"), "did you mean comparison"),
        (("--steps", 10, "--alpha", 0.1), "nothing is certified about training lstm cells"),
        (("--loss", "hinge"), "did you mean"),
        (("--cell", "gru"), "is that of lstm, but gru has (3n, n); read it as lstm"),
        (("--cell", "lstn"), "did you mean lstm"),
    ):
        assert line in refused("certify", model, "--input-bound", 1, *options)
    for cell in ("lstm", "rnn-relu"):
        told = refused("unitary", model, "--input-bound", 1, "--out", out, "--cell", cell)
        assert "lstm" in told
    assert not out.exists()


@pytest.mark.parametrize("layers", [1, 2])
def test_what_is_not_read(refused, gated, layers):
    """Models of two directions are refused in one line."""
    model = gated("lstm", num_layers=layers, bidirectional=True)
    line = refused("certify", model, "--input-bound", 1)
    assert "that is another direction, is not supported" in line
    assert line.endswith("; keep one direction")


def test_a_factor_near_one_is_shown_as_it_is(call, tmp_path):
    """What is printed is never below the certified factor, nor 1 where that is below 1."""
    b = torch.tensor([0.0, 25.0, 0.0, 0.0], dtype=torch.float64)
    weights = {"weight_hh": torch.zeros(4, 1).double(), "weight_ih": torch.zeros(4, 1).double()}
    save_file(weights | {"bias_ih": b}, tmp_path / "slow.safetensors")
    outcome = call("certify", tmp_path / "slow.safetensors", "--input-bound", 1)
    assert "certified: λ = 0.9999999999862 < 1" in outcome.out
    for value in (0.0, 0.1, 0.75, 1 / 3, 1 - 2.0**-53, 1 - 1e-12, 1.0, 1 + 2.0**-52, 1e300):
        assert Fraction(factor(value)) >= Fraction(value)
        assert (float(factor(value)) < 1) == (value < 1)
    assert float(factor(math.inf)) == math.inf
