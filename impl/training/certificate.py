"""Certified bounds on training: gradients, weights, and the window after N steps.

The outputs are y = C h with ‖C‖₂ ≤ c, and the loss is one of the last outputs; the bounds hold for
every such readout, every target with ‖y‖₂ ≤ Y, and all weights of the set Ω of
`impl.training.certified`, in which no norm exceeds that of the model's weights. Source: Miller &
Hardt, Lemmas 2 and 3, Theorem 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rnnbounds.impl.errors import InputError, RangeError, UnknownNameError, factor
from rnnbounds.impl.gradients.loss import LOSSES, Loss, loss
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.impl.numbers.outward import add_up, mul_up, sqrt_up
from rnnbounds.impl.training.bound import TrainingConstants, largest_rate
from rnnbounds.impl.training.certified import training_constants

CELL = ("L_w", "beta_hh", "beta_wh", "beta_ww", "L_p", "beta_p")
TRAINING = ("G_0", "G_1", "gamma", "beta")
LENGTH = 1_000  # a bound needs some length, as some window is certified for every α


class TaskError(InputError):
    """Half of a training run."""


@dataclass(frozen=True)
class Task:
    """The training that is asked about: N = `steps` of sizes α/t, both or none of them given.

    `loss` is one of `LOSSES`; `readout` is c ≥ ‖C‖₂; `target` is Y ≥ ‖y‖₂ of the squared loss, by
    default c B_h, which bounds every output of the model under ‖x‖₂ ≤ B; `length` T is
    that of the longest sequence, where a window of T is the full model. Raises an InputError for
    what makes no sense.

    >>> rnnbounds.certify(rnn, 1.0, training=rnnbounds.Task(steps=100, alpha=1e-4)).training
    """

    steps: int | None = None
    alpha: float | None = None
    loss: str = "squared"
    readout: float = 1.0
    target: float | None = None
    length: int = LENGTH

    def __post_init__(self) -> None:
        if (self.steps is None) != (self.alpha is None):
            raise TaskError("a training run has a number of steps and a size α; give both or none")
        if self.loss not in LOSSES:
            raise UnknownNameError("loss", self.loss, LOSSES)
        for name, count in (("the number of steps N", self.steps), ("the length T", self.length)):
            if count is not None and count < 1:
                raise RangeError(name, count, "at least 1")
        for name, size in (("α", self.alpha), ("the norm of the readout", self.readout)):
            if size is not None and not 0 < size < math.inf:
                raise RangeError(name, size, "a number > 0")
        if self.target is not None and not 0 <= self.target < math.inf:
            raise RangeError("the bound on the target", self.target, "a number ≥ 0")


@dataclass(frozen=True)
class TrainingCertificate:
    """Certified bounds on a training task; `target` is its Y, infinite where none is known.

    All of it is in the Euclidean norm, with the factor there (`lambda` in the record), which is not
    the λ of the certificate where another norm has a shorter memory. `windows` are triples
    (ε, k, α): after the N steps ‖y_T − y_T^k‖₂ ≤ ε for every T, where y_T is the output of the
    model trained in full and y_T^k that of the truncated one trained as such; k is None where the
    bound is vacuous, as no k < T is certified, and α the largest size at which it is not (None: at
    none). `reason` says why nothing is known, if so.
    """

    task: Task
    target: float
    constants: TrainingConstants
    windows: tuple[tuple[float, int | None, float | None], ...]
    reason: str | None

    @property
    def named(self) -> dict[str, float]:
        """The constants by name, infinite where none is known; those of training all or none."""
        known = {name: getattr(self.constants, name) for name in (*CELL, *TRAINING)}
        return known if self.reason is None else known | dict.fromkeys(TRAINING, math.inf)

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite is null."""
        task = self.task
        return {
            "lambda": finite_or_none(self.constants.lam),
            "loss": task.loss,
            "readout_norm": task.readout,
            "target_bound": finite_or_none(self.target),
            "target_asked": task.target,
            "weights": {name: finite_or_none(size) for name, size in self.constants.radii.items()},
            "reason": self.reason,
            "steps": task.steps,
            "alpha": task.alpha,
            "length": task.length,
            "windows": [
                {"eps": epsilon, "k": k, "largest_alpha": alpha}
                for epsilon, k, alpha in self.windows
            ],
        }


def certify_training(
    model: LoadedModel[RNN],
    input_bound: float,
    epsilons: Sequence[float],
    task: Task,
    states: float,
) -> TrainingCertificate:
    """Certify gradients, smoothness and, for a run, the window for each ε; see `Task`.

    `states` is the B_h of the target's default, of all inputs ‖x‖₂ ≤ B.
    """
    target = float(mul_up(task.readout, states)) if task.target is None else task.target
    constants = training_constants(model, input_bound, _worst(task, target, model.n))
    reason = _reason(model, constants)
    windows: list[tuple[float, int | None, float | None]] = []
    if task.steps is not None and task.alpha is not None:
        longest = task.length - 1
        for epsilon in epsilons:
            k = rate = None
            if reason is None:
                k = constants.window(task.alpha, task.steps, epsilon, longest)
                rate = largest_rate(constants, task.steps, epsilon, longest)
            windows.append((epsilon, k, rate))
    return TrainingCertificate(task, target, constants, tuple(windows), reason)


def _worst(task: Task, target: float, n: int) -> Loss:
    """A loss whose L_p, β_p and L_f are the largest of all readouts and targets within the bounds.

    One output does it, and two for the cross-entropy, that are as far apart as ‖C‖₂ ≤ c allows.
    """
    row = torch.zeros(1, 1, n, dtype=torch.float64)
    row[0, 0, 0] = task.readout
    if task.loss == "cross-entropy":
        row = mul_up(sqrt_up(0.5), row)
        return loss(task.loss, torch.cat([row, -row], dim=1))
    return loss(task.loss, row, torch.tensor([[target]], dtype=torch.float64))


def _reason(model: LoadedModel[RNN], constants: TrainingConstants) -> str | None:
    """Why nothing is known about training, in a line."""
    rho = model.cell.activation
    if not rho.curvature < math.inf:
        return f"the slope of {rho.name} jumps, so gradients of truncated models need not be close"
    if not constants.lam < 1:
        return (
            f"training is certified in the Euclidean norm alone, in which λ = "
            f"{factor(constants.lam)} is not below 1"
        )
    if not add_up(constants.gamma, constants.beta) < math.inf:
        return "a constant is too large for a float"
    return None
