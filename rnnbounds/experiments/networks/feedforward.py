"""Feed-forward cores at the speed of torch's own products: twins of `impl.models.causal`.

Those sum entry by entry, so that no bit of an output can depend on what it does not see; these take
their weights and compute the same numbers but for rounding, which a test holds them to.
"""

import math
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import pad

from rnnbounds.experiments.networks.recurrent import Network
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.models.causal.attention import Attention, WindowedAttention
from rnnbounds.impl.models.causal.base import Affine, Convolution
from rnnbounds.impl.models.causal.convolution import TCN, GatedConvolution
from rnnbounds.impl.reading.adapters import load_model

M = TypeVar("M", bound=torch.nn.Module)
CORES = ("TCN", "gated convolution", "windowed attention")


class FastAffine(Affine):
    """W x_t + b by one product."""

    def __init__(self, slow: Affine) -> None:
        torch.nn.Module.__init__(self)
        self.weight, self.bias = slow.weight, slow.bias

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, m)."""
        return functional.linear(x, self.weight, self.bias)


class FastConvolution(Convolution):
    """The convolution of torch's."""

    def __init__(self, slow: Convolution) -> None:
        torch.nn.Module.__init__(self)
        self.weight, self.bias, self.dilation = slow.weight, slow.bias, slow.dilation

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, n) -> (N, T, m)."""
        padded = pad(x.mT, (self.field - 1, 0))
        return functional.conv1d(padded, self.weight, self.bias, dilation=self.dilation).mT


class FastAttention(Attention):
    """All windows at once, and with a learned weight for each distance, 0 at first.

    The reference leaves positions out; without them a window is a bag.
    """

    def __init__(self, slow: Attention) -> None:
        torch.nn.Module.__init__(self)
        self.window, self.heads = slow.window, slow.heads
        self.query, self.key, self.value, self.out = (
            FastAffine(affine) for affine in (slow.query, slow.key, slow.value, slow.out)
        )
        self.distance = torch.nn.Parameter(torch.zeros(self.heads, self.window))

    def forward(self, x: Tensor) -> Tensor:
        """Scores of the window, softmax, mean: (N, T, n) -> (N, T, n)."""
        N, T, n = x.shape
        head_size = n // self.heads

        def seen(values: Tensor) -> Tensor:  # (N, T, heads, n/heads, w)
            windows = pad(values, (0, 0, self.window - 1, 0)).unfold(1, self.window, 1)
            return windows.reshape(N, T, self.heads, head_size, self.window)

        q = self.query(x).reshape(N, T, self.heads, head_size)
        scores = torch.einsum("nthe,nthew->nthw", q, seen(self.key(x))) / math.sqrt(head_size)
        before = torch.arange(T, device=x.device)[:, None] + torch.arange(
            self.window, device=x.device
        ) < (self.window - 1)
        weights = (scores + self.distance).masked_fill(before[:, None], -math.inf).softmax(3)
        mixed = torch.einsum("nthw,nthew->nthe", weights, seen(self.value(x)))
        outputs: Tensor = self.out(mixed.reshape(N, T, n))
        return outputs


def replace_products(module: M) -> M:
    """The module with every product replaced, weights kept."""
    twins = {Affine: FastAffine, Convolution: FastConvolution, Attention: FastAttention}
    for name, child in module.named_children():
        twin = twins.get(type(child))
        if twin is None:
            replace_products(child)
        else:
            setattr(module, name, twin(child))
    return module


def make_core(kind: str, inputs: int, units: int) -> torch.nn.Module:
    """A core of that kind, which sees its last 32 inputs or about so many."""
    if kind == "TCN":
        return replace_products(TCN(inputs, units, 3, (1, 2, 4)))  # 1 + 4(1 + 2 + 4) = 29
    if kind == "gated convolution":
        return replace_products(GatedConvolution(inputs, units, 3, (1, 2, 4, 8)))  # 1 + 2·15 = 31
    return replace_products(WindowedAttention(inputs, units, 16, 2, heads=2))  # 1 + 2·15 = 31


def feed_forward_network(
    kind: str, task: Task, units: int, seed: int, vectors: int = 32
) -> Network:
    """A network with that core; units are even, for two heads."""
    return Network(task, lambda d: make_core(kind, d, units), units, seed, vectors)


class TruncatedNetwork(torch.nn.Module):
    """A network whose trained recurrent core is cut to its last k inputs; weights are copied."""

    def __init__(self, network: Network, k: int) -> None:
        super().__init__()
        loaded = load_model(network.core)
        self.network = network
        self.core = FeedForward(loaded.weights, cell=loaded.name, k=k).float()

    def forward(self, x: Tensor) -> Tensor:
        """Every output from its window alone."""
        outputs: Tensor = self.network.readout(self.core(self.network.core_inputs(x)))
        return outputs
