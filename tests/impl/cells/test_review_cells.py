"""What a hostile review of cells of any kind found, and what must stay true."""

import json

import pytest
import torch
from safetensors.torch import save

from impl.arithmetic.intervals import mixed
from impl.certificate.certify import certify
from impl.checker.truncated import check_truncated
from impl.checker.truncated_file import FORMAT, TruncatedFileError
from impl.convert.truncate import _seal, load_truncated, save_truncated, truncate
from impl.numbers.interval import Interval
from impl.reading.adapters import load_model
from impl.reading.files import ModelFileError
from impl.reading.misfit import WeightsError
from impl.training.stable_lstm import StableLSTM, stable_lstm_


def numbers(*values):
    """One row of float64 numbers."""
    return torch.tensor([values], dtype=torch.float64)


def test_a_mix_of_negative_numbers_is_enclosed():
    """1 − g is rounded towards the side on which a negative number is the larger one."""
    gate, zero, one = numbers(1e-20), numbers(0.0), numbers(1.0)
    found = mixed(Interval(gate, gate), Interval(zero, zero), Interval(-one, -one))
    assert found.high > -1
    assert found.low <= -1
    found = mixed(Interval(gate, gate), Interval(zero, zero), Interval(one, one))
    assert found.low < 1 <= found.high


@pytest.mark.parametrize("norm", ["spectral", "infinity", "perron", "diagonal", "iterated"])
def test_a_product_that_underflows_counts(norm):
    """A leak of 1/4 times the least number is rounded to 0, but λ is above 3/4."""
    weights = {"W": numbers(5e-324), "W_in": numbers(1.0), "leak": numbers(0.25)[0]}
    assert certify(weights, 1.0, norm=norm, cell="leaky-tanh").lam > 0.75


def test_the_box_of_a_stack_holds_both_biases():
    """The sum of the biases of a layer of torch's is not rounded to nearest."""
    layer = {"weight_hh": numbers(0.0), "weight_ih": numbers(0.0)}
    biases = {"bias_ih_l0": numbers(1.0)[0], "bias_hh_l0": numbers(2.0**-54)[0]}
    weights = {f"{name}_l{l}": part for name, part in layer.items() for l in (0, 1)} | biases
    model = load_model(weights, "rnn-relu")
    assert model.cell.box(0.0)[0, 0] > 1


def test_a_truncated_file_that_names_no_cell(tmp_path):
    """A file without a cell, whose certificate has none either, is refused in one line."""
    weights = {"weight_hh_l0": numbers(0.5), "weight_ih_l0": numbers(1.0)}
    module, certificate = truncate(weights, 1e-2, 1.0, cell="rnn-tanh")
    save_truncated(module, certificate, tmp_path / "whole.safetensors")
    text = json.dumps(certificate | {"cell": None})
    told = {"format": FORMAT, "k": str(module.k), "certificate": text}
    path = tmp_path / "m.safetensors"
    path.write_bytes(save(weights, told | {"sha256": _seal(told, weights)}))
    with pytest.raises(ModelFileError, match="is not of the format"):
        load_truncated(path)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("scale", "bound"), [(1e30, 1.0), (1.0, 1e200), (1e30, 1e308)])
def test_the_projection_of_large_weights_ends(dtype, bias, scale, bound):
    """Norms that overflow leave neither NaN in the weights nor a loop without an end."""
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(2, 3, bias=bias).to(dtype)
    with torch.no_grad():
        for part in lstm.parameters():
            part.mul_(scale)
    stable = StableLSTM(0.5, 0.9, bound)
    stable_lstm_(lstm, 0.5, 0.9, bound)
    weights = {name.removesuffix("_l0"): part for name, part in lstm.named_parameters()}
    assert all(bool(torch.isfinite(part).all()) for part in weights.values())
    assert stable.contains(weights)
    assert certify(lstm, bound).lam <= stable.factor


@pytest.mark.parametrize("bound", [None, [], "1", True, -1.0, 10**400])
def test_a_certificate_whose_input_bound_is_no_number(tmp_path, bound):
    """The checker refuses it in one line."""
    weights = {"weight_hh_l0": numbers(0.5), "weight_ih_l0": numbers(1.0)}
    module, certificate = truncate(weights, 1e-2, 1.0, cell="rnn-tanh")
    text = json.dumps(certificate | {"input_bound": bound})
    told = {"format": FORMAT, "k": str(module.k), "cell": module.cell}
    told |= {"certificate": text}
    path = tmp_path / "m.safetensors"
    path.write_bytes(save(weights, told | {"sha256": _seal(told, weights)}))
    with pytest.raises(TruncatedFileError, match="no readable certificate"):
        check_truncated(path)


@pytest.mark.parametrize("missing", [("W_l1",), ("W_l1", "W_in_l1", "leak_l1")])
def test_a_stack_with_a_gap(missing):
    """Layers above one that is missing are not left out in silence."""
    cell = {"W": numbers(0.5), "W_in": numbers(1.0), "leak": numbers(0.25)[0]}
    weights = {f"{name}_l{l}": part for name, part in cell.items() for l in range(3)}
    for name in missing:
        del weights[name]
    with pytest.raises(WeightsError, match="no W_l1; save"):
        load_model(weights, "stacked-leaky-tanh")


@pytest.mark.parametrize(
    ("cell", "name"), [("leaky-tanh", "bias"), ("leaky-tanh", "b_in"), ("diagonal", "bias")]
)
def test_a_bias_that_would_go_unread_is_refused(cell, name):
    """A misspelt bias is not dropped in silence: the certificate would be of another model."""
    one = torch.ones(1, 1)
    weights = {"W": one / 2, "W_in": one, "leak": one[0]}
    if cell == "diagonal":
        weights = {"lambda_re": one[0] / 2, "B_re": one}
    assert load_model(weights | {"b": one[0]}, cell).n == 1
    for asked in (cell, None):
        with pytest.raises(WeightsError, match=rf"{name}, which .* does not read .*; rename it"):
            load_model(weights | {name: one[0]}, asked)


def test_other_names_beside_a_cell_are_left_alone():
    """What reads a model out under a prefix of its own is none of the cell's, and is told."""
    one = torch.ones(1, 1)
    weights = {"lambda_re": one[0] / 2, "B_re": one, "head.C": one, "head.bias": one[0]}
    assert load_model(weights, "diagonal").unread == ("head.C", "head.bias")
