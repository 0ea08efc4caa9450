"""Networks that are trained side by side: each is what it would be by itself."""

import math

import pytest
import torch

from impl.convert.urnn import URNN
from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.students import KINDS, Students, draw


def group(kind, sizes, start="random", seed=0):
    """Students with two inputs and three outputs."""
    by = [chance(seed, g) for g in range(len(sizes))]
    return Students(kind, sizes, draw(kind, sizes, 2, 3, by, start=start))


def practise(students, steps=3, scale=1.0):
    """A few steps towards random targets; the same for all groups."""
    G = len(students.weights["C"])
    for step in range(steps):
        x = torch.randn(9, 1, 5, 2, generator=chance(7, step)).expand(-1, G, -1, -1)
        y = torch.randn(9, 1, 5, 3, generator=chance(8, step))
        error = students.readout(students.states(x)) - scale * y
        students.step(error.square().mean((0, 2, 3)), 0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_students_are_the_networks(kind):
    """Each student has the states of torch's network, or of the URNN module, of its weights."""
    sizes = (2, 5, 3)
    students = group(kind, sizes)
    practise(students)
    x = torch.randn(9, 1, 4, 2, generator=chance(1)).expand(-1, 3, -1, -1)
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
    rnn, unitary = (group(kind, (3, 4), "identity").copy() for kind in ("RNN", "URNN"))
    assert all(torch.equal(rnn[name], unitary[name]) for name in rnn)
    assert torch.equal(rnn["W"][1], torch.eye(4))
    assert torch.equal(rnn["W"][0, :3, :3], torch.eye(3))


def test_exploding_network_stays():
    """A network whose loss is not finite is left where it is; the others go on."""
    students = group("RNN", (3, 3))
    students.weights["C"].data[0] *= math.inf
    before = students.copy()
    practise(students)
    assert torch.equal(before["W"][0], students.weights["W"][0])
    assert not torch.equal(before["W"][1], students.weights["W"][1])


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_complete(kind):
    """A group that takes up another one's memory goes on to the same bits."""
    first, second = group(kind, (2, 4)), group(kind, (2, 4), seed=1)
    assert set(first.memory()) == set(second.memory())
    practise(first)
    second.recall(first.memory())
    for students in (first, second):
        practise(students, 2)
    ends = first.memory(), second.memory()
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
