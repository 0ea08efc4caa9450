"""The trainer, the networks and the tasks of the experiments."""

import math

import pytest
import torch
from msgspec.structs import replace

from rnnbounds.experiments.feed_forward import (
    CORES,
    TruncatedNetwork,
    make_network,
    nearest_size,
)
from rnnbounds.experiments.networks import Student, projection, recurrent_network
from rnnbounds.experiments.tasks import PARTS, epoch_rows, text_task
from rnnbounds.experiments.trainer import Plan, part_loss, seeded_generator, train
from rnnbounds.impl.certificate.certify import certify


class Scale(torch.nn.Module):
    """ŷ = w x."""

    def __init__(self, w):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([w]))

    def forward(self, x):
        return self.w * x


class Line:
    """y = x; the gradient may be NaN."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def batch(self, seed, step):
        return torch.ones(1), torch.ones(1)

    def batches(self, part):
        yield torch.ones(1), torch.ones(1)

    def loss(self, outputs, y):
        return (outputs - y).square().sum() * self.scale


PLAN = Plan(steps=3, rate=0.1, optimiser="sgd", schedule="constant", every=1)


@pytest.mark.parametrize(
    ("start", "scale", "keep", "end"),
    [
        (0.0, 1.0, "best", 0.3), (3.0, 1.0, "best", 2.7), (3.0, math.nan, "best", 3.0),
        (3.0, -1.0, "best", 3.3), (3.0, -1.0, "last", 3.3),
    ],
)  # fmt: skip
def test_clipping_and_what_is_kept(start, scale, keep, end):
    """A gradient is clipped, one that is not finite counts as 0."""
    model = Scale(start)
    best = train(model, Line(scale), replace(PLAN, keep=keep), seed=0)
    assert model.w.item() == pytest.approx(end)
    if keep == "best" and scale == 1.0:
        assert best == part_loss(model, Line(), "validation")


@pytest.mark.parametrize(("back", "end"), [(math.inf, 1.25e14), (1.0, 0.75)])
def test_a_network_that_explodes_at_once_goes_back_to_its_start(back, end):
    """Its first weights count as seen, though no look at it was ever finite."""
    task, model = Line(), Scale(0.0)
    task.batch = lambda seed, step: (torch.ones(1), torch.tensor([1e15, 1.0, 1.0])[step])
    task.batches = lambda part: [(torch.full((1,), 1e10), torch.full((1,), 1e10))]
    train(model, task, replace(PLAN, rate=0.25, clip=math.inf, back=back), seed=0)
    assert model.w.item() == pytest.approx(end, rel=0.01)


def test_plans():
    """The rate of each schedule, first and last."""
    ends = {"constant": (1, 1), "linear": (0.775, 0.1), "cosine": (1, 0.1464), "1/t": (1, 0.25)}
    for schedule, rates in ends.items():
        plan = Plan(steps=4, rate=1.0, schedule=schedule)
        assert (plan.rate_at(0), plan.rate_at(3)) == pytest.approx(rates, abs=1e-4)


@pytest.mark.parametrize("name", ["words", "characters"])
def test_text(name):
    """Targets are the next symbols; a batch is a function of seed and step."""
    task = text_task(name)
    for part in PARTS:
        x, y = task.parts[part]
        assert torch.equal(x[:, 1:], y[:, :-1])
        assert int(torch.stack([x, y]).max()) < task.symbols
    batch, other = task.batch(1, 2), task.batch(1, 3)
    assert torch.equal(batch[0], task.batch(1, 2)[0])
    assert not torch.equal(batch[0], other[0])
    sure = torch.nn.functional.one_hot(batch[1], task.symbols) * 100.0
    assert float(task.loss(sure, batch[1])) < 1e-6
    assert task.score(math.log(2)) == pytest.approx(2 if name == "words" else 1)


def test_epochs():
    """Each row once an epoch, in another order."""
    epochs = [torch.cat([epoch_rows(3 * e + i, 7, 3, 0) for i in range(3)]) for e in (0, 1)]
    assert all(sorted(rows.tolist()) == list(range(7)) for rows in epochs)
    assert not torch.equal(*epochs)


@pytest.mark.parametrize("kind", CORES)
def test_feed_forward_networks_see_their_window_alone(kind):
    """No output depends on inputs before the last 31, nor on later ones."""
    network = make_network(kind, text_task("words"), 0, 6).double()
    x = torch.randn(1, 50, 32, generator=seeded_generator(0)).double().requires_grad_()
    (slope,) = torch.autograd.grad(network.core(x)[0, 40].sum(), x)
    seen = torch.nonzero(slope[0].abs().sum(1)).flatten()
    assert (int(seen[0]), int(seen[-1])) == (10, 40)
    assert nearest_size(kind, text_task("words"), 0, 40_000).size >= 40_000


@pytest.mark.parametrize("cell", ["RNN", "LSTM"])
def test_truncated_and_projected_networks(cell):
    """A window that holds all inputs changes nothing; a projected core is certified at λ."""
    network = recurrent_network(cell, text_task("words"), 4, 0)
    ids = torch.arange(9)[None]
    torch.testing.assert_close(TruncatedNetwork(network, 9)(ids), network(ids))
    projection(True, 0.9)(network)
    assert certify(network.core, 1.0, (0.01,)).lam <= 0.9 * (1 + 1e-6)
    assert float(network.embed.weight.detach().norm(dim=1).max()) < 1


def test_students():
    """RNN and URNN start alike; W of a URNN goes back to an orthogonal matrix."""
    rnn, urnn = (Student(kind, 3, 2, 1, seeded_generator(0)) for kind in ("RNN", "URNN"))
    x = torch.randn(3, 5, 2, generator=seeded_generator(1))
    torch.testing.assert_close(rnn(x), urnn(x))
    with torch.no_grad():
        urnn.W += 0.3
    urnn.project()
    torch.testing.assert_close(urnn.W @ urnn.W.mT, torch.eye(3), rtol=0, atol=1e-5)
