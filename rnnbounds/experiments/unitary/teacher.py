"""The teacher of the URNN experiment: a contractive ReLU network close to the identity.

Source: Emami et al., experiments: slowly varying systems, of which a student sees inputs and noisy
outputs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.record import Setting
from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.impl.models.rnn import RNN

SHARE_TOLERANCE = 0.02  # how close the calibrated share of time is to the one wanted
SWEEPS = 1000
_KEY = 1  # of what is drawn for the teachers


class TeacherSizes(Setting, frozen=True, kw_only=True):
    """The teacher's and the students' sizes; see `draw`.

    `seeds` realisations, `together` of which are trained at once. n `states`, d `inputs`, p
    `outputs`; W = I − ε AᵀA/‖A‖² with ε = `epsilon`; units are `on` for this share of time;
    `sequences` of a `length`, of which the last `test` share is for the test and a `validation`
    share before it; `snr` in dB; students with `hidden` units are trained for `epochs` by Adam on
    batches of `batch` sequences, from the learning `rate` down to 0 along a cosine.
    """

    seeds: int = 6
    states: int = 4
    inputs: int = 2
    outputs: int = 2
    epsilon: float = 0.01
    on: float = 0.6
    sequences: int = 60
    length: int = 400
    test: float = 0.3
    validation: float = 0.1
    snr: tuple[float, ...] = (15.0, 20.0)
    hidden: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14)
    together: int = 6
    epochs: int = 100
    batch: int = 10
    rate: float = 0.01

    @property
    def parts(self) -> tuple[slice, slice, slice]:
        """The sequences that are trained on, those of validation, those of the test."""
        N = self.sequences
        last = N - max(1, round(self.test * N))
        middle = last - max(1, round(self.validation * N))
        return slice(middle), slice(middle, last), slice(last, N)


FULL = TeacherSizes(sequences=100, length=1000, seeds=30, together=15)


@dataclass(frozen=True, eq=False)
class Teachers:
    """R teachers, their inputs x (R, N, T, d), states (R, N, T, n) and outputs y (R, N, T, p).

    `noise` is standard Gaussian, of y's shape; `on` (R, n) is each unit's share of time in the
    training sequences. All in float64.
    """

    cell: RNN
    C: Tensor
    x: Tensor
    states: Tensor
    y: Tensor
    noise: Tensor
    on: Tensor

    def noisy(self, snr: float) -> Tensor:
        """y with noise of the variance mean var(y)/10^(SNR/10), the same for all outputs."""
        variance = self.y.var((1, 2), correction=0).mean(1) / 10 ** (snr / 10)
        return self.y + variance.sqrt()[:, None, None, None] * self.noise


def draw_teachers(setting: TeacherSizes) -> Teachers:
    """Teachers with all entries Gaussian, then calibrated; the first are the same for any number.

    x_t ~ N(0, I). Source: Emami et al., experiments.
    """
    n, d, p = setting.states, setting.inputs, setting.outputs
    shapes = ((n, n), (n, d), (n,), (p, n), (setting.sequences, setting.length, d))
    noise = (setting.sequences, setting.length, p)
    samples = [
        [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in (*shapes, noise)]
        for generator in (seeded_generator(0, _KEY, r) for r in setting.each_seed)
    ]
    A, F, b, C, x, noises = (torch.stack(tensors) for tensors in zip(*samples, strict=True))
    part = setting.epsilon / torch.linalg.matrix_norm(A, 2)[:, None, None] ** 2
    W = torch.eye(n, dtype=torch.float64) - part * (A.mT @ A)
    cell, on_shares = calibrate(
        RNN(W, F, b, activation("relu")), x[:, setting.parts[0]], setting.on
    )
    h = run_states(cell, x)
    return Teachers(cell, C, x, h, torch.einsum("rstn,rpn->rstp", h, C), noises, on_shares)


def run_states(cell: RNN, x: Tensor) -> Tensor:
    """All states from the zero state: x (R, N, T, d) -> (R, N, T, n)."""
    return states(cell, x.permute(0, 2, 3, 1))[:, 1:].permute(0, 3, 1, 2)


def calibrate(cell: RNN, x: Tensor, target: float) -> tuple[RNN, Tensor]:
    """The cell with biases such that each unit is on for this share of time; the shares (R, n).

    Stochastic approximation: b ← b + 2/(1 + i/20)·(on − share), until all shares are near enough.
    """
    b = cell.b
    for i in range(SWEEPS):
        cell = RNN(cell.W, cell.U, b, cell.activation)
        share = (run_states(cell, x) > 0).double().mean((1, 2))
        is_far = (share - target).abs().amax(1) > SHARE_TOLERANCE
        if not bool(is_far.any()):
            break
        b = torch.where(is_far[:, None], b + 2 / (1 + i / 20) * (target - share), b)
    return cell, share
