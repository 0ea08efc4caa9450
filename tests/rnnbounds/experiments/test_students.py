"""Networks that are trained side by side: each is what it would be by itself."""

import math

import pytest
import torch

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.trainer import Plan, train
from rnnbounds.experiments.unitary.students import KINDS, StudentGroup, draw_weights
from rnnbounds.impl.convert.urnn import URNN


def group(kind, sizes, start="random", seed=0):
    """Students with two inputs and three outputs."""
    by = [seeded_generator(seed, g) for g in range(len(sizes))]
    return StudentGroup(kind, sizes, draw_weights(kind, sizes, 2, 3, by, start=start))


class Targets:
    """Random ones; the same for all groups."""

    def __init__(self, G):
        self.G = G

    def batch(self, seed, step):
        x = torch.randn(9, 1, 5, 2, generator=seeded_generator(7, step)).expand(-1, self.G, -1, -1)
        return x, torch.randn(9, 1, 5, 3, generator=seeded_generator(8, step))

    def loss(self, told, y):
        return (told - y).square().mean((0, 2, 3))


def practise(students, steps=3):
    """A few steps towards random targets."""
    plan = Plan(steps=steps, rate=0.05, schedule="constant", keep="last")
    train(students, Targets(students.networks), plan, seed=0, project=StudentGroup.project)


def copy(students):
    """The weights as they are."""
    return {name: part.detach().clone() for name, part in students.weights.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_students_are_the_networks(kind):
    """Each student has the states of torch's network, or of the URNN module, of its weights."""
    sizes = (2, 5, 3)
    students = group(kind, sizes)
    practise(students)
    x = torch.randn(9, 1, 4, 2, generator=seeded_generator(1)).expand(-1, 3, -1, -1)
    states = students.states(x)
    for g, n in enumerate(sizes):
        if kind == "URNN":
            network = URNN(2, n, keep="projected", dtype=torch.float32)
        else:
            network = (
                torch.nn.LSTM(2, n) if kind == "LSTM" else torch.nn.RNN(2, n, nonlinearity="relu")
            )
        gates = 4 if kind == "LSTM" else 1
        W, U, b = (students.weights[name][g].detach() for name in ("W", "U", "b"))
        rows = torch.cat([torch.arange(n) + gate * max(sizes) for gate in range(gates)])
        with torch.no_grad():
            network.weight_hh_l0.copy_(W[rows, :n])
            network.weight_ih_l0.copy_(U[rows])
            network.bias_ih_l0.copy_(b[rows])
            network.bias_hh_l0.zero_()
            told = (
                network(x[:, g].transpose(0, 1)).transpose(0, 1)
                if kind == "URNN"
                else network(x[:, g])[0]
            )
        torch.testing.assert_close(states[:, g, :, :n], told)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_never_wakes(kind):
    """Padded units and all their weights are exactly 0 after training, and change no other."""
    students, alone = group(kind, (2, 5)), group(kind, (2,))
    for part in (students, alone):
        practise(part, 5)
    block = students.block[0]
    W = students.weights["W"][0].reshape(-1, 5, 5)
    assert (W[:, ~block] == 0).all()
    assert (W[:, block] != 0).any()
    assert (students.weights["U"][0].reshape(-1, 5, 2)[:, 2:] == 0).all()
    assert (students.weights["b"][0].reshape(-1, 5)[:, 2:] == 0).all()
    assert (students.weights["C"][0, :, 2:] == 0).all()
    torch.testing.assert_close(students.weights["C"][0, :, :2], alone.weights["C"][0])


def test_urnn_stays_orthogonal():
    """After every step a URNN's V is orthogonal to rounding; an RNN's W leaves that at once."""
    for kind, near in (("URNN", True), ("RNN", False)):
        students = group(kind, (6,))
        practise(students, 4)
        V = students.weights["W"][0].detach().double()
        defect = float((V.mT @ V - torch.eye(6, dtype=torch.float64)).norm())
        assert (defect < 1e-5) == near


def test_twins_at_the_start():
    """RNN and URNN start with the same weights, from the identity where asked for."""
    rnn, unitary = (copy(group(kind, (3, 4), "identity")) for kind in ("RNN", "URNN"))
    assert all(torch.equal(rnn[name], unitary[name]) for name in rnn)
    assert torch.equal(rnn["W"][1], torch.eye(4))
    assert torch.equal(rnn["W"][0, :3, :3], torch.eye(3))


def test_exploding_network_stays():
    """A network whose loss is not finite is left where it is; the others go on."""
    students = group("RNN", (3, 3))
    students.weights["C"].data[0] *= math.inf
    before = copy(students)
    practise(students)
    assert torch.equal(before["W"][0], students.weights["W"][0])
    assert not torch.equal(before["W"][1], students.weights["W"][1])
