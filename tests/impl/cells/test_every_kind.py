"""Laws of every kind of cell, and of stacks: comparisons, batches, and truncated forms.

Each kind is sampled in all conventions of its weights. Points are of the box that is proved and
inputs of the ball; against what is said of all of them stands the step in floats.
"""

import json

import pytest
import torch
from cell_systems import SYSTEMS, weights_of
from gated_draws import generator
from stack_draws import inputs
from window_runs import outputs

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate, unrolled
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

B, D, COLUMNS, EPSILON, PARTS = 1.0, 3, 60, 1e-3, ("box", "drive", "matrices", "inputs")
UNITS = (4, 2, 3)  # of a stack's layers
STACKS = ("linear", "rnn-gelu", "lstm-projected", "gru-cho", "leaky-tanh", "deep-tanh")
SAMPLES = {name: (cell, *names) for name, (cell, _, *names) in SYSTEMS.items()}
SAMPLES |= {f"stack of {name}": (PREFIX + name,) for name in STACKS}
EACH = pytest.mark.parametrize("name", SAMPLES)


def layers(name: str, seed: int) -> list[dict[str, torch.Tensor]]:
    """The weights of each layer in float64, by the names of a single cell."""
    (cell, *names), d, found = SAMPLES[name], D, []
    kind = kind_of(cell.removeprefix(PREFIX))
    for place, n in enumerate(UNITS if cell.startswith(PREFIX) else UNITS[:1]):
        drawn = weights_of(kind.name, *names, n=n, d=d, seed=seed + place)
        found.append({role: part.double() for role, part in drawn.items()})
        own = {role.removesuffix(kind.suffix): part for role, part in drawn.items()}
        d = kind.layout(own).sizes(own).n
    return found


def sample(name: str, seed: int = 0) -> LoadedModel:
    """A model of that kind."""
    cell, parts = SAMPLES[name][0], layers(name, seed)
    if not cell.startswith(PREFIX):
        return load_model(parts[0], cell)
    named = {
        f"{role.removesuffix('_l0')}_l{place}": part
        for place, layer in enumerate(parts)
        for role, part in layer.items()
    }
    return load_model(named, cell)


@EACH
def test_comparison(name):
    """The box is kept, and differences in states and inputs are within the matrices; the largest
    are more than a thousandth of what is allowed, so that no bound is idle."""
    model, by = sample(name), generator(1)
    cell = model.cell
    found = cell.comparison(B)
    s, other = (
        found.box[:, :, None] * (2 * torch.rand(found.box.shape[1], COLUMNS, generator=by) - 1)
        for _ in range(2)
    )
    x, far = (
        (part / part.norm(dim=0) * (1 - 1e-12))[None]
        for part in torch.randn(2, D, COLUMNS, generator=by, dtype=torch.float64)
    )
    moved, still = cell.step(s, x), cell.step(torch.zeros_like(s), x)
    apart, fed = (moved - cell.step(other, x)).abs(), (moved - cell.step(s, far)).abs()
    allowed = (found.matrices @ (s - other).abs()[:, None]).amax(1)
    pairs = [
        (moved.abs(), found.box[:, :, None]),
        (still.abs(), found.drive[:, :, None]),
        (apart, allowed),
        (fed, found.inputs @ (x - far).abs()),
    ]
    for seen, most in pairs:
        assert bool((seen <= most * (1 + 1e-12) + 1e-14).all())
        assert bool((seen.amax(2) >= most.expand_as(seen).amax(2) / 1000).all())


@EACH
def test_batches(name):
    """What is known of a system of a batch is what is known of it alone."""
    models = [sample(name, seed) for seed in range(0, 12, 4)]
    build = kind_of(models[0].name).build
    stacked = {role: torch.stack([m.weights[role] for m in models]) for role in models[0].weights}
    together = build(stacked).comparison(torch.full((3, 1), B, dtype=torch.float64))
    for i, model in enumerate(models):
        alone = build({role: part[None] for role, part in model.weights.items()}).comparison(B)
        for part in PARTS:
            one, among = getattr(alone, part)[0].double(), getattr(together, part)[i].double()
            torch.testing.assert_close(one, among, rtol=1e-13, atol=1e-15, msg=part)


@EACH
def test_feed_forward(name):
    """With the window T it is the recursion, layer by layer, and all weights have gradients."""
    model, x = sample(name), inputs(T=9)
    expected = h = outputs(model.name, model.weights, x)
    assert torch.allclose(unrolled(model, 9)(x), expected, rtol=0, atol=1e-12)
    if model.name.startswith(PREFIX):
        h = x
        for part in layers(name, 0):
            layer = load_model(part, model.name.removeprefix(PREFIX))
            h = outputs(layer.name, layer.weights, h)
    assert torch.allclose(h, expected, rtol=0, atol=1e-13)
    module = FeedForward({key: part.clone() for key, part in model.weights.items()},
                         cell=model.name, k=9)  # fmt: skip
    module(x).square().sum().backward()
    assert all(part.grad is not None for part in module.parameters())


@pytest.mark.slow
@EACH
def test_truncated(name, tmp_path):
    """Certified, within ε at the window and not without memory; and its file holds the same."""
    model, x = sample(name), inputs(T=70)
    full = outputs(model.name, model.weights, x)
    module, record = truncate(model, eps=EPSILON, inputs=B)
    assert record["cell"] == model.name
    assert float((module(x) - full).detach().norm(dim=2).max()) <= EPSILON
    assert float((unrolled(model, 0)(x) - full).detach().norm(dim=2).max()) > EPSILON
    assert float(full.norm(dim=2).max()) <= record["constants"]["B_h"]
    save_truncated(module, record, tmp_path / "t.safetensors")
    again = load_truncated(tmp_path / "t.safetensors")
    assert all(map(torch.equal, again.state_dict().values(), module.state_dict().values()))
    torch.testing.assert_close(again(x), module(x), rtol=0, atol=1e-13)
    json.dumps(record, allow_nan=False)
