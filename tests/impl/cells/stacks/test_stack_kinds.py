import pytest
import torch
from stack_draws import inputs

from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.reading.adapters import load_model

KINDS = (
    "linear", "rnn-gelu", "gru-cho", "leaky-tanh", "deep-tanh", "diagonal", "min-gru", "min-lstm",
    "selective",
)  # fmt: skip


def weights(name: str, n: int, d: int, seed: int) -> dict[str, torch.Tensor]:
    """Small random weights of one cell of that kind, by their names."""
    generator = torch.Generator().manual_seed(seed)
    layout = CELLS[name].layout(())
    found = {}
    for role, shape in layout.shapes.items():
        sizes = [{"d": d, "n": n, "3n": 3 * n}[symbol] for symbol in shape.split()]
        part = torch.randn(sizes, generator=generator, dtype=torch.float64) / 8
        positive = role in ("leak", "lambda_re")
        found[role] = 0.3 + 0.5 * torch.sigmoid(part) if positive else part
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_layers_of_every_kind(name):
    """A stack is its cells, one after another; it is certified, and its window holds."""
    sizes = ((4, 3), (2, 4), (3, 2))  # layers of several widths
    parts = [weights(name, n, d, seed) for seed, (n, d) in enumerate(sizes)]
    named = {f"{role}_l{l}": w for l, part in enumerate(parts) for role, w in part.items()}
    model, x = load_model(named, f"stacked-{name}"), inputs(T=40)
    full = unrolled(model, 40)(x).detach()
    h = x
    for part in parts:
        h = unrolled(load_model(part, name), 40)(h)
    assert torch.equal(full, h.detach())
    assert (model.n, model.d, model.cell.widths) == (3, 3, (4, 2, 3))
    certificate = certify(model, 1.0, (1e-2,))
    assert certificate.verdict == "certified", certificate.tried
    k = certificate.window(1e-2)
    assert float((full - unrolled(model, k)(x)).detach().norm(dim=2).max()) <= 1e-2
    assert float((full - unrolled(model, 0)(x)).detach().norm(dim=2).max()) > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_inputs_reach_every_layer(name):
    """At least |φ(s, x) − φ(s, x′)|, unit by unit, for the whole state of a stack."""
    parts = [weights(name, 3, 3, seed) for seed in range(2)]
    named = {f"{role}_l{l}": w for l, part in enumerate(parts) for role, w in part.items()}
    model = load_model(named, f"stacked-{name}")
    slopes, cell = kind_of(model.name).analyse(model, 1.0).inputs(), model.cell
    assert slopes.shape == (6, 3)
    s = torch.zeros(1, 6, 8, dtype=torch.float64)
    x = inputs(T=12)
    for t in range(11):
        one, two = x[:, t].mT[None], x[:, t + 1].mT[None]
        moved = cell.step(s, one)
        assert ((moved - cell.step(s, two)).abs()[0] <= slopes @ (one - two).abs()[0] + 1e-15).all()
        s = moved
    assert bool((slopes[3:] > 0).any())
