"""Projections of torch's modules in place: certified afterwards, nearest, and what is refused."""

import math
from fractions import Fraction

import pytest
import torch
from torch.nn.utils import parametrize

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.stable_module import stable_, stable_set
from rnnbounds.impl.errors import InputError, NotFiniteError
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.training.stable_gates import StableGRU
from tests.impl.shared.stack_draws import MODULES, net

SET = StableGRU(0.6, 0.7, 1.5)


def large(name, layers, dtype=torch.float32, seed=0):
    """A module whose weights are several times as large as torch's own."""
    module = net(name, layers, scale=6.0, seed=seed)
    with torch.no_grad():
        for part in module.parameters():
            part.mul_(2)
    return module.to(dtype)


def analysed(module, B):
    """The analysis that `certify` rests on."""
    loaded = load_model(module)
    return kind_of(loaded.name).analyse(loaded, B)


@pytest.mark.parametrize(
    ("layers", "dtype"), [(1, torch.float32), (1, torch.float64), (2, torch.float32)]
)
@pytest.mark.parametrize("name", MODULES)
def test_certified_afterwards(name, layers, dtype):
    """λ of each layer is at most what was asked, and that of the whole is below 1."""
    for seed, lam in enumerate((0.5, 0.97) if layers == 1 else (0.9,)):
        module = large(name, layers, dtype, seed)
        assert stable_(module, lam, inputs=2.0) is module
        told = analysed(module, 2.0)
        norm = "spectral" if name.startswith("rnn") else "infinity"
        if layers == 1:
            assert told.norm(norm).lam <= lam
        else:
            assert all(layer.norm(norm).lam <= lam for layer in told.layers)
            assert told.norm("cascade").lam < 1
        before = [part.detach().clone() for part in module.parameters()]
        stable_(module, lam, inputs=2.0)
        assert all(map(torch.equal, module.parameters(), before))
        assert all(part.requires_grad for part in module.parameters())


@pytest.mark.parametrize("make", [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU])
def test_the_largest_floats(make):
    """Each layer contracts still; what may overflow as it is run is undecided, or refused."""
    module = make(2, 3)
    top = torch.finfo(torch.float32).max
    with torch.no_grad():
        for part in module.parameters():
            part.copy_(part / part.abs().max() * top)
    stable_(module, 0.9, inputs=1.0)
    told = certify(module, inputs=1.0)
    assert told.lam <= 0.9
    assert told.verdict == "certified" or "may round to 1 in float32, or overflow" in told.reason
    with torch.no_grad():
        module.double().bias_ih_l0.fill_(torch.finfo(torch.float64).max)
        module.bias_hh_l0.fill_(torch.finfo(torch.float64).max)
    stable_(module, 0.9, inputs=1.0)
    with pytest.raises(NotFiniteError, match="bias_ih"):
        certify(module, inputs=1.0)


@pytest.mark.parametrize("bias", [True, False])
def test_set_of_grus(bias):
    """Every number of the set, by hand, and the factor of its corner."""
    theta, keep, B = SET.theta, SET.forget, SET.input_bound
    assert SET.radii == pytest.approx({"r": 0.4, "z": 0.09, "n": 0.3}, rel=1e-11)
    assert SET.level == pytest.approx(math.log(7 / 3) - 0.09, abs=1e-11)
    assert SET.factor == pytest.approx(1 - (1 - theta) * (1 - keep), rel=1e-15)
    n, d = 3, 2
    torch.manual_seed(0)
    corner = torch.nn.GRU(d, n, bias=bias, dtype=torch.float64)
    with torch.no_grad():
        for part in corner.parameters():
            part.mul_(30)
    stable_set(corner, 0.9, B)
    moved = SET.certified({key[:-3]: part for key, part in corner.named_parameters()})
    assert SET.contains(moved)
    rows = moved["weight_hh"].abs().sum(1).reshape(3, n)
    assert torch.allclose(rows, torch.tensor([[0.4], [0.09], [0.3]]).double().expand(3, n))
    found = load_model(moved, "gru").cell.comparison(B)
    assert float(found.factor(found.infinity())) <= SET.factor
    if bias:
        assert float(moved["bias_hh"][2 * n :].abs().max()) <= 1
        outside = {key: part.clone() for key, part in moved.items()}
        outside["bias_hh"][-1] = 1 + 1e-9
        assert not SET.contains(outside)


@pytest.mark.parametrize("make", [torch.nn.GRU, torch.nn.LSTM])
@pytest.mark.parametrize(
    ("lam", "forget"),
    [(1e-8, None), (1e-16, None), (1e-300, None), (1e-323, None), (0.95, 0.9499999999),
     (0.95, math.nextafter(0.95, 0)), (1 - 2.0**-53, None), (0.5, 1e-300), (0.95, None)],
)  # fmt: skip
def test_set_at_the_edge_of_the_floats(make, lam, forget):
    """The factor is at most λ, and θ but for one the largest float that has it so."""
    found = stable_set(make(1, 2), lam, 1.0, forget)
    assert 0 <= found.theta < 1
    assert found.factor <= lam
    above = math.nextafter(math.nextafter(found.theta, 1), 1)
    assert above == 1 or _factor(above, found.forget) > Fraction(lam)


def _factor(theta, forget):
    return 1 - (1 - Fraction(theta)) * (1 - Fraction(forget))


def tied(module):
    """One bias in two roles."""
    module.bias_hh_l1 = module.bias_ih_l1


def in_one_place(module):
    """Two parameters in the same memory."""
    module.bias_hh_l1.data = module.bias_ih_l1.data


def frozen(module):
    """A bias that is a buffer."""
    bias = module.bias_ih_l1.detach()
    del module.bias_ih_l1
    module.register_buffer("bias_ih_l1", bias)


def parametrised(module):
    """A bias that is computed."""
    parametrize.register_parametrization(module, "bias_ih_l1", torch.nn.Softplus())


@pytest.mark.parametrize("make", [torch.nn.LSTM, torch.nn.GRU])
@pytest.mark.parametrize("altered", [tied, in_one_place, frozen, parametrised])
def test_what_would_not_be_projected_is_refused(make, altered):
    """No weight that the module reads is left out of its set; nothing is changed before."""
    module = make(2, 3, 2)
    with torch.no_grad():
        for part in module.parameters():
            part.mul_(9)
    altered(module)
    before = [part.detach().clone() for part in module.parameters()]
    with pytest.raises(InputError, match=r"bias_[ih]h_l1 is no parameter of its own"):
        stable_(module)
    assert all(map(torch.equal, module.parameters(), before))
