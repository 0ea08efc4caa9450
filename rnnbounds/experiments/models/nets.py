"""Recurrent layers with a linear readout, by the names that `certify` reads: torch's own, a minimal
GRU, a linear recurrent unit and an echo state network."""

import math
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from rnnbounds.experiments.tasks.task import Task

_TORCH: Mapping[str, Literal["tanh", "relu"]] = {"RNN tanh": "tanh", "RNN ReLU": "relu"}
_RADIUS, _LEAK = 0.9, 0.5  # of the echo state network: its spectral radius, and what is new a step
_FASTEST, _SLOWEST = 0.5, 0.99  # |Λ_j| of the linear recurrent unit, at first


class MinGRU(torch.nn.Module):
    """Feng et al. (2024): h⁺ = (1 − z)∘h + z∘(W_h x + b_h), z = σ(W_z x + b_z)."""

    cell = "min-gru"

    def __init__(self, d: int, n: int) -> None:
        super().__init__()
        self.weight_z = torch.nn.Parameter(torch.randn(n, d) / math.sqrt(d))
        self.bias_z = torch.nn.Parameter(torch.zeros(n))
        self.weight_h = torch.nn.Parameter(torch.randn(n, d) / math.sqrt(d))
        self.bias_h = torch.nn.Parameter(torch.zeros(n))

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """x (N, T, d) -> h (N, T, n)."""
        z = torch.sigmoid(x @ self.weight_z.mT + self.bias_z)
        drive, h, states = z * (x @ self.weight_h.mT + self.bias_h), z.new_zeros(z.shape[0], 1), []
        for t in range(x.shape[1]):
            h = (1 - z[:, t]) * h + drive[:, t]
            states.append(h)
        return torch.stack(states, 1), None


class LRU(torch.nn.Module):
    """Orvieto et al. (2023): h⁺ = Λ∘h + γ∘(B x) in ℂⁿ, put out as (Re h, Im h)."""

    cell = "diagonal"

    def __init__(self, d: int, n: int) -> None:
        super().__init__()
        ring = _FASTEST**2 + torch.rand(n) * (_SLOWEST**2 - _FASTEST**2)
        self.nu_log = torch.nn.Parameter((-ring.log() / 2).log())
        self.theta_log = torch.nn.Parameter((math.pi * torch.rand(n) + 1e-3).log())
        self.gamma_log = torch.nn.Parameter((1 - ring).log() / 2)
        self.B_re = torch.nn.Parameter(torch.randn(n, d) / math.sqrt(2 * d))
        self.B_im = torch.nn.Parameter(torch.randn(n, d) / math.sqrt(2 * d))

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """x (N, T, d) -> h (N, T, 2n)."""
        size, angle, scale = (-self.nu_log.exp()).exp(), self.theta_log.exp(), self.gamma_log.exp()
        a, w = size * angle.cos(), size * angle.sin()
        p, q = scale * (x @ self.B_re.mT), scale * (x @ self.B_im.mT)
        re, im, states = a.new_zeros(1), a.new_zeros(1), []
        for t in range(x.shape[1]):
            re, im = a * re - w * im + p[:, t], w * re + a * im + q[:, t]
            states.append(torch.cat([re, im], 1))
        return torch.stack(states, 1), None


class EchoState(torch.nn.Module):
    """Jaeger (2001): h⁺ = (1 − a)∘h + a∘tanh(W h + W_in x + b), none of which is trained."""

    cell = "leaky-tanh"

    def __init__(self, d: int, n: int) -> None:
        super().__init__()
        W = torch.randn(n, n) * (torch.rand(n, n) < 0.2)
        radius = torch.linalg.eigvals(W.double()).abs().amax().float()
        self.register_buffer("W", _RADIUS / radius * W)
        self.register_buffer("W_in", torch.rand(n, d) - 0.5)
        self.register_buffer("leak", torch.full((n,), _LEAK))
        self.register_buffer("b", 0.2 * (torch.rand(n) - 0.5))

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """x (N, T, d) -> h (N, T, n)."""
        W, leak = self.get_buffer("W"), self.get_buffer("leak")
        drive = x @ self.get_buffer("W_in").mT + self.get_buffer("b")
        h, states = drive.new_zeros(len(x), len(W)), []
        for t in range(x.shape[1]):
            h = (1 - leak) * h + leak * torch.tanh(h @ W.mT + drive[:, t])
            states.append(h)
        return torch.stack(states, 1), None


OWN_LAYERS: Mapping[str, type[MinGRU | LRU | EchoState]] = {
    "minGRU": MinGRU,
    "LRU": LRU,
    "echo state": EchoState,
}


SHRINK_FACTOR = 0.25  # of torch's first recurrent weights, for what is to be certified


class ReadoutNet(torch.nn.Module):
    """A recurrent layer and a linear readout: x (N, T, d), or ids (N, T), -> (N, T, p), in float32.

    `name` is that of a layer, as in "GRU, 2 layers". First weights are those of the seed; those of
    torch's that are `shrunk` begin with smaller recurrent ones. `cell` is what its tensors have to
    be called to be read; None of torch's, which say it.
    """

    def __init__(
        self, name: str, task: Task, states: int, seed: int, *, shrunk: bool = False
    ) -> None:
        super().__init__()
        name, _, layers = name.partition(", ")
        self.cell = OWN_LAYERS[name].cell if name in OWN_LAYERS else None
        self.inputs = task.inputs
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.rnn = _make_layer(name, task.inputs, states, int(layers[:1] or 1))
            self.readout = torch.nn.Linear(states * (1 + (name == "LRU")), task.outputs)
        for part, weight in self.rnn.named_parameters() if shrunk else ():
            if part.startswith("weight_hh"):
                weight.data.mul_(SHRINK_FACTOR)

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts."""
        vectors = x if x.is_floating_point() else one_hot(x, self.inputs).float()
        forecasts: Tensor = self.readout(self.rnn(vectors)[0])
        return forecasts

    @property
    def layer(self) -> torch.nn.Module | dict[str, Tensor]:
        """The recurrent layer as it is certified: a module of torch's, or tensors by name."""
        if self.cell is None:
            return self.rnn
        return dict(self.rnn.named_parameters()) | dict(self.rnn.named_buffers())


def _make_layer(name: str, inputs: int, states: int, layers: int) -> torch.nn.Module:
    if name in OWN_LAYERS:
        return OWN_LAYERS[name](inputs, states)
    if name in _TORCH:
        return torch.nn.RNN(inputs, states, layers, nonlinearity=_TORCH[name], batch_first=True)
    make = {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU}[name]
    layer: torch.nn.Module = make(inputs, states, layers, batch_first=True)
    return layer
