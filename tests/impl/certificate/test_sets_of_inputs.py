"""Certificates over every set of inputs, by every family of cells: attacked by cells and inputs of
the tests' own, in NumPy, then saved, run and checked."""

from functools import cache
from itertools import product
from typing import NamedTuple

import checked
import numpy as np
import pytest
import torch

from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.reading.adapters import load_model

EPS, PAST, D = 0.05, 24, 2
T = np.arange(8.0)
FRAMES = np.stack([np.sin(T) + 0.5, 0.5 * np.sin(T + 0.3) - 0.4], 1)
TENSOR, LOW, HIGH = torch.tensor(FRAMES), FRAMES.min(0), FRAMES.max(0)
CORNERS = np.array(list(product(*zip(LOW, HIGH, strict=True))))
ANGLES = np.arange(16) * (np.pi / 8)
CIRCLE = (1 - 1e-12) * np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1)


class Inputs(NamedTuple):
    """A set as the product has it, and as the tests do: points whose hull it is, or which it is
    unless it `mixes`."""

    given: object
    ends: np.ndarray
    mixes: bool = True

    def drawn(self, length, count, draw):
        """Random inputs, at ends and between; those of every fourth run stay where they are."""
        first, second = draw.integers(len(self.ends), size=(2, length, count))
        share = draw.uniform(size=(length, count, 1)) * (draw.uniform(size=(1, count, 1)) < 0.5)
        x = self.ends[first] + share * self.mixes * (self.ends[second] - self.ends[first])
        x[:, ::4] = x[:1, ::4]
        return x


SETS = {
    "ball": Inputs(0.8, 0.8 * CIRCLE),
    "box": Inputs(input_box(LOW, HIGH), CORNERS),
    "rows": Inputs(input_rows(TENSOR), FRAMES, mixes=False),
}
CELLS = {  # name, units, layers, size of the recurrent weights, seed
    "rnn-tanh": ("rnn-tanh", 3, 1, 0.3, 1),
    "rnn-relu": ("rnn-relu", 3, 1, 0.25, 2),
    "leaky-tanh": ("leaky-tanh", 3, 1, 0.3, 1),
    "gru": ("gru", 3, 1, 0.1, 2),
    "a unit of gru": ("gru", 1, 1, 0.25, 5),
    "lstm": ("lstm", 2, 1, 0.05, 2),
    "layers of tanh": ("rnn-tanh", 2, 2, 0.2, 1),
    "layers of gru": ("gru", 1, 2, 0.2, 5),
}
GATES = {"lstm": (4, 2), "gru": (3, 1), "rnn-tanh": (1, 1), "rnn-relu": (1, 1)}


def sigmoid(a):
    """σ."""
    return 1 / (1 + np.exp(-a))


class Net:
    """A drawn model: its weights, and one step of states (M, N) under inputs (M, d)."""

    def __init__(self, name, n, layers, size, seed):
        draw = np.random.default_rng(seed)
        self.name, self.n, self.layers, self.weights = name, n, layers, {}
        if name == "leaky-tanh":
            self.width = n
            self.weights = {
                "W": size * draw.normal(size=(n, n)), "W_in": draw.normal(size=(n, D)),
                "b": draw.normal(size=n) / 4, "leak": draw.uniform(0.2, 1, n),
            }  # fmt: skip
            return
        gates, parts = GATES[name]
        self.width = parts * n
        for l in range(layers):
            for role, shape, scale in (
                ("weight_hh", (gates * n, n), size), ("bias_hh", gates * n, 0.25),
                ("weight_ih", (gates * n, n if l else D), 0.6), ("bias_ih", gates * n, 0.25),
            ):  # fmt: skip
                self.weights[f"{role}_l{l}"] = scale * draw.normal(size=shape)

    @property
    def loaded(self):
        """The model as the product reads it."""
        tensors = {role: torch.tensor(part) for role, part in self.weights.items()}
        return load_model(tensors, "stacked-" * (self.layers > 1) + self.name)

    def zero(self, count):
        """The zero state."""
        return np.zeros((count, self.layers * self.width))

    def layer(self, s, x, l):
        """The next state of one layer."""
        if self.name == "leaky-tanh":
            W, W_in, leak, b = (self.weights[role] for role in ("W", "W_in", "leak", "b"))
            return (1 - leak) * s + leak * np.tanh(s @ W.T + x @ W_in.T + b)
        roles = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
        W_ih, b_ih, W_hh, b_hh = (self.weights[f"{role}_l{l}"] for role in roles)
        n, u, w = self.n, x @ W_ih.T + b_ih, s[:, -self.n :] @ W_hh.T + b_hh
        if self.name == "lstm":
            i, f, z, o = np.split(u + w, 4, axis=1)
            c = sigmoid(f) * s[:, :n] + sigmoid(i) * np.tanh(z)
            return np.concatenate([c, sigmoid(o) * np.tanh(c)], 1)
        if self.name == "gru":
            r, z = np.split(sigmoid(u + w)[:, : 2 * n], 2, axis=1)
            return (1 - z) * np.tanh(u[:, 2 * n :] + r * w[:, 2 * n :]) + z * s
        return np.tanh(u + w) if self.name == "rnn-tanh" else np.maximum(u + w, 0)

    def step(self, s, x):
        """The next state of all layers."""
        found = []
        for l, part in enumerate(np.split(s, self.layers, axis=1)):
            found.append(self.layer(part, x, l))
            x = found[-1][:, -self.n :]
        return np.concatenate(found, 1)

    def run(self, x, start=None):
        """The states (T, M, N) after each of the inputs (T, M, d)."""
        s, found = self.zero(x.shape[1]) if start is None else start, []
        for one in x:
            found.append(s := self.step(s, one))
        return np.stack(found)

    def gaps(self, x, k):
        """‖h_T − h_T^k‖₂ on inputs (T, M, d), the truncated run from zero on the last k."""
        full, short = self.run(x)[-1], self.run(x[len(x) - k :])[-1] if k else 0.0
        return np.linalg.norm((full - short)[:, -self.n :], axis=1)


def searched(net, inputs, k, draw):
    """The largest gap after k inputs that is found from random pasts and then by gradients, from
    differences: towards those ends of the set at which the gap's linearisation is the largest."""
    x = inputs.drawn(PAST + k, 8, draw)
    best, (steps, count, _) = net.gaps(x, k), x.shape
    share, at = np.ones(count), np.arange(steps * D)
    for _ in range(3):
        moved = np.repeat(x[:, None], steps * D, 1)
        moved[at // D, at, :, at % D] += 1e-6
        slope = net.gaps(moved.reshape(steps, -1, D), k).reshape(steps, D, count) - best
        aim = inputs.ends[(slope.transpose(0, 2, 1) @ inputs.ends.T).argmax(2)]
        part = share[:, None] if inputs.mixes else draw.uniform(size=(steps, count, 1)) < 0.7
        tried = x + part * (aim - x)
        found = net.gaps(tried, k)
        better = found > best
        x[:, better], best = tried[:, better], np.maximum(best, found)
        share = np.where(better, share, share / 4)
    return best.max()


CASES = list(product(CELLS, SETS))
SMALLER = {"rows": "box"}


@cache
def certified(cell: str, over: str):
    """The certificate of a model."""
    return certify(Net(*CELLS[cell]).loaded, SETS[over].given, EPS)


@pytest.mark.parametrize(("cell", "over"), CASES)
def test_what_is_certified_stands(cell: str, over: str) -> None:
    """After k inputs or more no past is remembered, from any two pasts the difference falls as the
    rate says, and states and gain are as told; a part of a set has no longer k."""
    net, inputs, draw = Net(*CELLS[cell]), SETS[over], np.random.default_rng(0)
    told, outer = certified(cell, over), certified(cell, SMALLER.get(over, over))
    k, C = told.window(EPS), told.constants
    assert told.verdict == "certified"
    assert k <= outer.window(EPS)
    for window in (k, k + 1, k + 4):
        assert searched(net, inputs, window, draw) <= EPS
    x = inputs.drawn(40, 60, draw)
    s = net.run(x)
    assert np.linalg.norm(x, axis=2).max() <= C["B_x"]
    assert np.linalg.norm(s[..., -net.n :], axis=2).max() <= C["B_h"]
    assert (abs(s).max((0, 1)) <= (told.to_json()["box"] or np.inf)).all()
    after, start = inputs.drawn(8, 60, draw), np.linalg.norm(s[-1] - s[-1][::-1], axis=1)
    apart = net.run(after, s[-1]) - net.run(after, s[-1][::-1])
    for t, size in enumerate(np.linalg.norm(apart[..., -net.n :], axis=2), 1):
        most = C["equivalence"] * C["reach"] * told.lam**t * start
        assert (size <= most + 1e-12).all()
    other = x if over == "rows" else x + 0.1 * (x[:, ::-1] - x)
    moved = np.linalg.norm(other - x, axis=2).max(0)
    gap = np.linalg.norm((net.run(other) - s)[..., -net.n :], axis=2).max(0)
    assert (gap <= C["gain"] * moved + 1e-12).all()


@pytest.mark.parametrize(("cell", "over"), [
    case for case in CASES if case[0] in ("rnn-tanh", "leaky-tanh", "layers of tanh") or
    case in (("gru", "box"), ("gru", "rows"), ("lstm", "ball"))
])  # fmt: skip
def test_files_hold(tmp_path, cell: str, over: str) -> None:
    """A truncated model computes within ε of the whole one, and its certificate is proved from the
    file."""
    net, inputs, path = Net(*CELLS[cell]), SETS[over], tmp_path / "t.safetensors"
    save_truncated(*truncate(net.loaded, EPS, inputs.given), path)
    x = inputs.drawn(40, 8, np.random.default_rng(1))
    found = load_truncated(path)(torch.tensor(x).transpose(0, 1)).detach().numpy()
    whole = net.run(x)[..., -net.n :].transpose(1, 0, 2)
    assert np.linalg.norm(found - whole, axis=2).max() <= EPS
    assert not checked.fallen("truncated", path)
