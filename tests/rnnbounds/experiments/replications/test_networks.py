"""The networks of the experiments: twins of references, sizes, gradients, what projections keep."""

import pytest
import torch

from rnnbounds.experiments.networks.deep import VARIANTS, DeepTransition
from rnnbounds.experiments.networks.feedforward import (
    CORES,
    TruncatedNetwork,
    feed_forward_network,
    replace_products,
)
from rnnbounds.experiments.networks.recurrent import (
    nearest_size,
    recurrent_network,
    stable_projection,
)
from rnnbounds.experiments.networks.speed import KINDS, measure_speeds
from rnnbounds.experiments.tasks.score import SymbolScore
from rnnbounds.experiments.tasks.task import PARTS, Part, Task
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.models.causal.attention import WindowedAttention
from rnnbounds.impl.models.causal.convolution import TCN, GatedConvolution

REFERENCES = {
    "TCN": lambda: TCN(3, 4, 2, (1, 2)),
    "gated": lambda: GatedConvolution(3, 4, 2, (1, 2)),
    "attention": lambda: WindowedAttention(3, 4, 3, 2, heads=2),
}


@pytest.fixture(scope="module")
def task():
    """Symbols that count up."""
    x = torch.arange(12)[None].repeat(6, 1) % 5
    parts = dict.fromkeys(PARTS, Part(x, (x + 1) % 5))
    return Task("count", "here", SymbolScore("perplexity"), 5, 5, 5, parts, size=3)


@pytest.mark.parametrize("name", REFERENCES)
def test_twins(name):
    """A fast twin is its reference but for rounding, and has its field."""
    torch.manual_seed(0)
    slow = REFERENCES[name]().double()
    x = torch.randn(2, 9, 3, dtype=torch.float64)
    field, told = slow.field, slow(x)
    twin = replace_products(slow).double()
    assert twin.field == field
    assert torch.allclose(twin(x), told, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", CORES)
def test_fields(kind, task):
    """Outputs depend on the last `field` inputs alone."""
    model = feed_forward_network(kind, task, 4, 0)
    x = torch.randint(5, (1, 40))
    other = x.clone()
    other[0, 0] = (x[0, 0] + 1) % 5
    apart = (model(x) - model(other)).abs().amax(2)[0] > 0
    assert bool(apart[0])
    assert not bool(apart[model.core.field :].any())
    assert model.core.field in (29, 31)


def test_nearest(task):
    """The number of parameters is the nearest of all even numbers of units."""
    sizes = {units: recurrent_network("RNN", task, units, 0).size for units in range(2, 40, 2)}
    found = nearest_size(lambda units: recurrent_network("RNN", task, units, 0), 1500)
    assert abs(found.size - 1500) == min(abs(size - 1500) for size in sizes.values())


@pytest.mark.parametrize("cell", ["RNN", "LSTM"])
def test_stable(cell, task):
    """What is projected is certified, for vectors of symbols that are kept short."""
    model = recurrent_network(cell, task, 6, 0)
    with torch.no_grad():
        for part in model.parameters():
            part.mul_(7)
    stable_projection(0.9, task.bound)(model)
    assert bool((torch.linalg.vector_norm(model.embed.weight.double(), dim=1) <= 1).all())
    found = certify(model.core, task.bound)
    assert (found.verdict, found.lam <= 0.9) == ("certified", True)


def test_truncated(task):
    """A truncated network's output is that of the whole on its window."""
    model = recurrent_network("LSTM", task, 6, 0)
    cut, x = TruncatedNetwork(model, 4), torch.randint(5, (2, 9))
    assert torch.allclose(cut(x)[:, -1], model(x[:, -4:])[:, -1], atol=1e-6)


def test_speeds(task):
    """Every network is timed in every way that it has."""
    model = recurrent_network("RNN", task, 4, 0)
    known = {
        "RNN": model,
        "TCN": feed_forward_network("TCN", task, 4, 0),
        "cut": TruncatedNetwork(model, 3),
    }
    found = measure_speeds(known, task, "cpu")
    assert {name: tuple(times) for name, times in found.items()} == {
        "RNN": KINDS, "TCN": KINDS, "cut": KINDS[1:],
    }  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_deep_gradients(variant):
    """∂h_T/∂h_0 is what differences say, and for plain ones at most Π‖W_l‖₂^T."""
    model = DeepTransition(variant, 2, 3, 2, 2, 0).double()
    x, eye = torch.randn(1, 4, 2, dtype=torch.float64), 1e-6 * torch.eye(3, dtype=torch.float64)
    with torch.no_grad():
        ends = model.last_state(x.expand(3, -1, -1), eye) - model.last_state(
            x.expand(3, -1, -1), -eye
        )
    slope = float(model.gradient_norms(x))
    assert slope == pytest.approx(float(torch.linalg.matrix_norm(ends / 2e-6, 2)), rel=1e-4)
    if variant in ("plain", "orthogonal"):
        assert slope <= model.norm_power(4)
    if variant == "orthogonal":
        assert model.norm_power(9) == pytest.approx(1, rel=1e-4)
    assert model(x.float().double()).shape == (1, 2)
