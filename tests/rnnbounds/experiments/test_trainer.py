"""The trainer, the networks and the tasks of the experiments."""

import math

import pytest
import torch

from rnnbounds.experiments.feed_forward import MODELS, make_network
from rnnbounds.experiments.networks import LAMBDA, Student, recurrent_network
from rnnbounds.experiments.trainer import (
    EVERY,
    PARTS,
    Data,
    part_loss,
    seeded_generator,
    text_task,
    train,
)
from rnnbounds.impl.certificate.certify import certify


class Scale(torch.nn.Module):
    """ŷ = w x."""

    def __init__(self, w):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([w]))

    def forward(self, x):
        return self.w * x


def line(scale=1.0, validation=True):
    """y = x; the gradient may be NaN."""
    one = torch.ones(1)
    parts = dict.fromkeys(PARTS if validation else PARTS[:1], (one, one))
    return Data(parts=parts, loss=lambda outputs, y: (outputs - y).square().mean() * scale)


@pytest.mark.parametrize(
    ("start", "scale", "validation", "end"),
    [
        (0.0, 1.0, True, 0.3), (3.0, 1.0, True, 2.7), (3.0, math.nan, True, 3.0),
        (3.0, -1.0, True, 3.3), (3.0, -1.0, False, 3.3),
    ],
)  # fmt: skip
def test_clipping_and_what_is_kept(start, scale, validation, end):
    """A gradient is clipped, one that is not finite counts as 0; the best weights are kept."""
    model, data = Scale(start), line(scale, validation)
    best = train(model, data, [0.1] * 3, seed=0, optimiser=torch.optim.SGD)
    assert model.w.item() == pytest.approx(end)
    if validation and scale == 1.0:
        assert best == part_loss(model, data, "validation")


def test_the_best_weights_come_back():
    """A later step that made it worse is undone."""
    model = Scale(0.0)
    rates = [0.01] * EVERY + [5.0]
    train(model, line(), rates, seed=0, optimiser=torch.optim.SGD)
    assert 0 < model.w.item() < 1


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


def test_a_feed_forward_network_sees_its_window_alone():
    """No output depends on inputs before the last 31, nor on later ones; it has as many parameters
    as the LSTM."""
    lstm, tcn = (make_network(model, text_task("words"), 6, 0).double() for model in MODELS)
    x = torch.randn(1, 50, 32, generator=seeded_generator(0)).double().requires_grad_()
    (slope,) = torch.autograd.grad(tcn.core(x)[0, 40].sum(), x)
    seen = torch.nonzero(slope[0].abs().sum(1)).flatten()
    assert (int(seen[0]), int(seen[-1])) == (10, 40)
    assert lstm.size <= tcn.size < 1.1 * lstm.size


@pytest.mark.parametrize("cell", ["RNN", "LSTM"])
def test_projected_networks(cell):
    """A projected core is certified at λ."""
    network = recurrent_network(cell, text_task("words"), 4, 0, stable=True)
    network.project()
    assert certify(network.core, inputs=1.0, eps=(0.01,)).lam <= LAMBDA * (1 + 1e-6)
    assert float(network.embed.weight.detach().norm(dim=1).max()) < 1


def test_students():
    """RNN and URNN start alike; W of a URNN goes back to an orthogonal matrix."""
    rnn, urnn = (Student(kind, (2, 3, 1), 0) for kind in ("RNN", "URNN"))
    x = torch.randn(3, 5, 2, generator=seeded_generator(1))
    torch.testing.assert_close(rnn(x), urnn(x))
    with torch.no_grad():
        urnn.W += 0.3
    urnn.project()
    torch.testing.assert_close(urnn.W @ urnn.W.mT, torch.eye(3), rtol=0, atol=1e-5)
