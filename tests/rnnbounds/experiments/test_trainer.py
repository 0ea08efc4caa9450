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
from rnnbounds.experiments.networks import StudentGroup, projection, recurrent_network
from rnnbounds.experiments.tasks import PARTS, epoch_rows, text_task
from rnnbounds.experiments.trainer import Plan, part_losses, seeded_generator, train
from rnnbounds.impl.certificate.certify import certify


class Pair(torch.nn.Module):
    """Two networks side by side: ŷ = w x."""

    networks = 2

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([[0.0], [3.0]]))

    def forward(self, x):
        return self.w * x


class Line:
    """y = x; the loss of each network; the second one's gradient may be NaN."""

    def __init__(self, scale=(1.0, 1.0)):
        self.scale = torch.tensor(scale)

    def batch(self, seed, step):
        return torch.ones(1), torch.ones(1)

    def batches(self, part):
        yield torch.ones(1), torch.ones(1)

    def loss(self, outputs, y):
        return (outputs - y).square()[:, 0] * self.scale


PLAN = Plan(steps=3, rate=0.1, optimiser="sgd", schedule="constant", every=1)


def test_networks_side_by_side():
    """Each has its own loss, clipping and best weights; one that breaks leaves the other alone."""
    trained = train(Pair(), Line(), PLAN, seed=0)
    assert trained.model.w.flatten().tolist() == pytest.approx([0.3, 2.7])  # both are clipped
    assert part_losses(trained.model, Line(), "held out").shape == (2,)
    broken = train(Pair(), Line((1.0, math.nan)), PLAN, seed=0)
    assert broken.model.w.flatten().tolist() == pytest.approx([0.3, 3.0])
    assert broken.best[1] == math.inf
    last = train(Pair(), Line((1.0, -1.0)), replace(PLAN, keep="last"), seed=0)
    assert last.model.w.flatten().tolist() == pytest.approx([0.3, 3.3])


@pytest.mark.parametrize(("back", "end"), [(math.inf, 1.25e14), (1.0, 0.75)])
def test_a_network_that_explodes_at_once_goes_back_to_its_start(back, end):
    """Its first weights count as seen, though no look at it was ever finite."""
    task = Line()
    task.batch = lambda seed, step: (torch.ones(1), torch.tensor([1e15, 1.0, 1.0])[step])
    task.batches = lambda part: [(torch.full((1,), 1e10), torch.full((1,), 1e10))]
    plan = replace(PLAN, rate=0.25, clip=math.inf, back=back)
    trained = train(Pair(), task, plan, seed=0)
    assert trained.model.w[0, 0].item() == pytest.approx(end, rel=0.01)


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


@pytest.mark.parametrize("kind", ["RNN", "URNN"])
def test_students_are_padded_without_a_trace(kind):
    """A network alone and one beside a wider one have the same outputs; URNNs stay orthogonal."""
    x = torch.randn(5, 1, 3, 2, generator=seeded_generator(1))
    outputs = []
    for sizes in ([3], [3, 6]):
        group = StudentGroup(kind, sizes, 2, 1, [seeded_generator(0, n) for n in sizes])
        group.project()
        outputs.append(group(x.expand(-1, len(sizes), -1, -1))[:, 0])
    torch.testing.assert_close(*outputs)
    group = StudentGroup("URNN", [3, 6], 2, 1, [seeded_generator(0, n) for n in (3, 6)])
    with torch.no_grad():
        group.weights["W"][0, :3, :3] += 0.3
    group.project()
    W = group.weights["W"][0, :3, :3]
    torch.testing.assert_close(W @ W.mT, torch.eye(3), rtol=0, atol=1e-5)
    assert not group.weights["W"][0, 3:].any()
