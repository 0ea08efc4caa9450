"""Stacks of layers, and the norm of their cascade."""

import math

import pytest
import torch
from draws import doubles
from stack_draws import MODULES, inputs, net

from rnnbounds.impl.cells.stacks.stack_analysis import cascade_norm
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import NotCertifiedError, truncate, unrolled
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.reading.adapters import load_model

NAMES = tuple(MODULES)


def told(name: str, layers: int) -> str:
    """What a model of that many layers is called."""
    return name if layers == 1 else f"stacked-{name}"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("bias", "dtype"), [(True, torch.float32), (False, torch.float64)])
def test_equals_torch(name, layers, bias, dtype):
    """With k ≥ T the feed-forward form is torch's own module; so is the cell, step by step."""
    module = net(name, layers, bias=bias, dtype=dtype, scale=1.0)
    loaded, x = load_model(module), inputs(T=9, dtype=dtype)
    assert loaded.name == told(name, layers)
    expected = module(x)[0].detach()
    precision = 1e-12 if dtype == torch.float64 else 1e-5
    assert torch.allclose(unrolled(loaded, 9)(x), expected, rtol=0, atol=precision)
    cell = loaded.cell
    size = kind_of(loaded.name).layout(loaded.weights).sizes(loaded.weights).state
    s = torch.zeros(1, size, len(x), dtype=torch.float64)
    for t in range(9):
        s = cell.step(s, x[:, t].double().mT[None])
        h = s[0, -cell.n :].mT
        assert torch.allclose(h, expected[:, t].double(), rtol=0, atol=precision)


def test_scalar_cascade_by_hand():
    """h¹ = a h¹ + x, h² = b h² + c h¹: the window holds against the exact gap, and barely more."""
    a, b, c = 0.5, 0.75, 4.0
    weights = {
        "weight_hh_l0": [[a]], "weight_ih_l0": [[1.0]],
        "weight_hh_l1": [[b]], "weight_ih_l1": [[c]],
    }  # fmt: skip
    state = {name: torch.tensor(w, dtype=torch.float64) for name, w in weights.items()}
    certificate = certify(state, inputs=1.0, eps=(1e-2, 1e-6), cell="stacked-linear")
    assert certificate.verdict == "certified"
    assert b <= certificate.lam < 1
    response = [c * sum(a**i * b ** (m - i) for i in range(m + 1)) for m in range(200)]
    for epsilon, k in certificate.windows:
        gaps = [sum(response[m:]) for m in range(200)]
        least = next(m for m, gap in enumerate(gaps) if gap <= epsilon)
        assert least <= k <= 1.4 * least + 2


def test_refuted_by_a_layer():
    """Two fixed points refute a stack, in the first layer or in the second."""
    quiet, loud = 0.5 * torch.eye(2), 3.0 * torch.eye(2)
    for layers, first in (((loud, quiet), True), ((quiet, loud), False)):
        weights = {f"weight_hh_l{l}": W for l, W in enumerate(layers)}
        weights |= {f"weight_ih_l{l}": torch.eye(2) for l in range(2)}
        certificate = certify(weights, inputs=1.0, cell="rnn-tanh")
        assert (certificate.cell, certificate.verdict) == ("stacked-rnn-tanh", "refuted")
        assert certificate.witness.text.startswith("in the first layer: under") == first
        assert len(certificate.witness.points[0]) == (2 if first else 4)
        with pytest.raises(NotCertifiedError, match="in the layers whose factor is not below 1"):
            truncate(weights, eps=1e-2, inputs=1.0, cell="rnn-tanh")


@pytest.mark.slow
def test_unbounded_below():
    """A layer whose states have no bound certifies nothing above it, and breaks nothing."""
    weights = {"weight_hh_l0": 2 * torch.eye(2), "weight_hh_l1": torch.zeros(2, 2)}
    weights |= {f"weight_ih_l{l}": torch.eye(2) for l in range(2)}
    for cell in ("rnn-relu", "linear"):
        certificate = certify(weights, inputs=1.0, cell=cell)
        assert (certificate.verdict, certificate.constants["B_h"]) == ("refuted", math.inf)
    lstm = dict(net("lstm", 2).state_dict())
    lstm["bias_hh_l0"][5:10] = 60.0  # a forget gate that may round to 1
    assert certify(lstm, inputs=1.0).verdict == "undecided"


def test_the_box_of_a_stack_holds_both_biases():
    """The sum of the biases of a layer of torch's is not rounded to nearest."""
    layer = {"weight_hh": doubles([[0.0]]), "weight_ih": doubles([[0.0]])}
    biases = {"bias_ih_l0": doubles([1.0]), "bias_hh_l0": doubles([2.0**-54])}
    weights = {f"{name}_l{l}": part for name, part in layer.items() for l in (0, 1)} | biases
    model = load_model(weights, "rnn-relu")
    assert model.cell.box(0.0)[0, 0] > 1


def layer(lam: float, drive: float = 1.0, **more: float) -> StateNorm:
    """A norm of one layer."""
    return StateNorm("infinity", lam, drive, 1.0, 1.0, **more)


def holds(norms, couplings, found) -> bool:
    """Λ_l t_l = λ_l t_l + μ_l Λ_{l−1} t_{l−1} ≤ Λ t_l, and all drives inside."""
    t, factor = found.weights, 0.0
    for l, norm in enumerate(norms):
        factor = norm.lam + (couplings[l] * factor * t[l - 1] / t[l] if l else 0.0)
        if not max(factor / found.lam, norm.drive / (found.drive * t[l])) <= 1 + 1e-12:
            return False
    return min(t) > 0


@pytest.mark.parametrize("lams", [(0.5,), (0.5, 0.9), (0.9, 0.5), (0.99, 0.99, 0.99), (0.0, 0.5)])
@pytest.mark.parametrize("coupling", [0.0, 1e-6, 1.0, 1e12])
def test_conditions(lams, coupling):
    """The weights obey the inequality of the cascade, with a factor below 1."""
    norms, couplings = [layer(lam) for lam in lams], [coupling] * len(lams)
    found = cascade_norm(norms, couplings)
    assert max(lams) <= found.lam < 1
    assert holds(norms, couplings, found)
    assert found.radius < math.inf


@pytest.mark.parametrize("lam", [1.0, 1.5, math.inf])
def test_no_cascade_of_what_does_not_contract(lam):
    """One layer that does not contract, or an unknown coupling, and nothing is certified."""
    assert not cascade_norm([layer(0.5), layer(lam)], [0.0, 1.0]).lam < 1
    assert not cascade_norm([layer(lam), layer(0.5)], [0.0, 1.0]).lam < 1
    assert not cascade_norm([layer(0.5), layer(0.5)], [0.0, math.inf]).lam < 1
    assert not cascade_norm([layer(0.5), layer(0.5)], [0.0, math.nan]).lam < 1
