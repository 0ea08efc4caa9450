"""Reading changes nothing of a module: no buffer, flag, hook or gradient, and no generator."""

import random
from contextlib import suppress

import pytest
import torch
from torch.nn.utils.parametrizations import spectral_norm
from torch.nn.utils.parametrize import register_parametrization

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import layers

X = torch.linspace(-0.5, 0.5, 40, dtype=torch.float64).reshape(1, 20, 2)


class Noisy(torch.nn.Module):
    """Another value at each use, by a generator, a buffer and an attribute."""

    def __init__(self):
        super().__init__()
        self.register_buffer("uses", torch.zeros(()))
        self.last = None

    def forward(self, W):
        self.uses += 1
        self.last = W * torch.rand(())
        return self.last


def spectral(rnn):
    """Its power iteration goes on at each use in training mode."""
    return spectral_norm(rnn, "weight_hh_l0")


def settled(rnn):
    """Its power iteration has come to rest: it can be read in training mode."""
    spectral_norm(rnn, "weight_hh_l0", n_power_iterations=500)
    rnn.weight_hh_l0  # noqa: B018 (one use)
    return rnn


def noisy(rnn):
    """It has another value at each use."""
    register_parametrization(rnn, "weight_hh_l0", Noisy())
    return rnn


class Net(torch.nn.Module):
    """x (N, T, d) -> (N, T, m) by a recurrent part, with statistics and dropout of training."""

    def __init__(self, make, base):
        super().__init__()
        self.rnn = make(base(2, 3, batch_first=True).double())
        self.norm, self.drop = torch.nn.BatchNorm1d(3).double(), torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.norm(self.rnn(x)[0].mT).mT)


PATHS = {
    "certify": lambda net: rnnbounds.certify(net, inputs=1.0),
    "certify data": lambda net: rnnbounds.certify(net, inputs=rnnbounds.input_rows(X[0])),
    "contraction": lambda net: rnnbounds.contraction(net, inputs=1.0),
    "measure": lambda net: rnnbounds.measure(net, X),
    "attack": lambda net: rnnbounds.attack(net, inputs=0.1, eps=1.0),
    "layers": layers,
    "truncate": lambda net: rnnbounds.truncate(net, eps=0.5, inputs=0.1),
    "stable_": rnnbounds.stable_,  # refuses what is not stored
    "assert_contractive": lambda net: rnnbounds.assert_contractive(net, inputs=1.0),
    "assert_remembers": lambda net: rnnbounds.assert_remembers(
        net, at_most=9, eps=0.1, inputs=1.0
    ),
    "assert_truncation": lambda net: rnnbounds.assert_truncation(net, X, eps=0.5),
    "assert_receptive_field": lambda net: rnnbounds.assert_receptive_field(net, X, 3),
}  # fmt: skip


def state(net):
    """All that a reader could have changed."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_state_dict_hooks")
    parts = [*net.named_parameters(), *net.named_buffers()]
    return {
        "tensors": {name: (id(p), p._version, p.tolist()) for name, p in parts},
        "gradients": {
            name: (p.requires_grad, None if p.grad is None else p.grad.tolist())
            for name, p in parts
        },
        "attributes": {
            path: {name: id(value) for name, value in vars(one).items()}
            for path, one in net.named_modules()
        },
        "training": {path: one.training for path, one in net.named_modules()},
        "hooks": {
            path: [list(getattr(one, kind)) for kind in hooks] for path, one in net.named_modules()
        },
        "generators": (torch.get_rng_state().tolist(), random.getstate()),
    }  # fmt: skip


@pytest.mark.parametrize("make", [spectral, settled, noisy])
@pytest.mark.parametrize("path", PATHS)
def test_a_module_is_read_as_it_is_and_left_so(path, make):
    """In training mode too, refused or not."""
    torch.manual_seed(0)
    net = Net(make, torch.nn.RNN)
    net(X).sum().backward()
    before = state(net)
    with suppress(InputError, AssertionError):
        PATHS[path](net)
    assert state(net) == before


def test_gradients_flow_to_the_modules_own_parameters():
    """`contraction` is trained on: what is undone of the buffers is no part of its graph."""
    net = settled(torch.nn.RNN(2, 3))
    rnnbounds.contraction(net, inputs=1.0).backward()
    assert net.parametrizations.weight_hh_l0.original.grad.abs().sum() > 0
