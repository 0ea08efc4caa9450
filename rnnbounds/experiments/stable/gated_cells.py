"""LSTMs and GRUs on which norms are compared with what others published: drawn, and trained."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Job
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.models.nets import ReadoutNet
from rnnbounds.experiments.models.training import penalty_options, projection_options
from rnnbounds.experiments.stable.published import CONDITIONS
from rnnbounds.experiments.tasks.score import NumberScore
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.impl.arithmetic.inputs.sets import input_box

GATES = {"lstm": 4, "gru": 3, "gru-cho": 3}
DRAWN, EDGE = "drawn", "on the edge"
TRAINED = ("trained freely", "trained, penalised", "trained, projected")
LAM, AIM, WEIGHT = 0.92, 0.9, 0.2  # what a projection asks for; what a penalty aims at, its weight
_EDGES = (0.999, 0.99, 0.9, 0.7)
_HALVINGS, _LARGEST = 50, 64.0
_LENGTH = 30
_VALIDATION_STEP = 1 << 20  # of the seeds of what is validated


class DrivenTask(Task):
    """To follow y⁺ = ½y + ½ tanh(2x_1 + x_2 y), from noise x in [−1, 1]²."""

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Sequences (N, T, d) and what they drive, (N, T, 1)."""
        x = (
            2 * torch.rand(self.size, _LENGTH, self.inputs, generator=seeded_generator(seed, step))
            - 1
        )
        y, targets = x.new_zeros(self.size), []
        for t in range(_LENGTH):
            y = y / 2 + torch.tanh(2 * x[:, t, 0] + x[:, t, 1] * y) / 2
            targets.append(y)
        return x, torch.stack(targets, 1)[..., None]

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """A batch that none was trained on."""
        yield self.batch(0, _VALIDATION_STEP)


def train_layer(job: Job[Any], n: int) -> torch.nn.Module:
    """The recurrent layer of a network of n units, trained as its variant says."""
    task = DrivenTask("driven", "drawn here", NumberScore("", 1.0), None, 2, 1, {}, 16)
    unit, inputs = job.unit, input_box(-1.0, 1.0, task.inputs)
    free: dict[str, Any] = {}
    all_options = (
        free,
        penalty_options(inputs, aim=AIM, weight=WEIGHT),
        projection_options(inputs, LAM),
    )
    options = dict(zip(TRAINED, all_options, strict=True))[unit.variant]
    net = ReadoutNet(unit.task, task, n, unit.seed, shrunk=options is not free)
    plan = Plan(steps=job.setting.steps, rate=0.02, every=job.setting.steps, keep="last")
    job.train(net, task, plan, **options)
    return net.rnn


def draw_weights(cell: str, edge: bool, seed: int, n: tuple[int, int], d: int) -> dict[str, Tensor]:
    """Random weights, each gate's matrices and biases of a size of their own: up to 4 times the
    usual, then all of a size from 1/64 to 1; or as large as a condition of the cell's lets them be
    for a λ from 0.7 to 0.999."""
    generator, gates = seeded_generator(GATES[cell], seed), GATES[cell]

    def share() -> float:
        return float(torch.rand(1, generator=generator, dtype=torch.float64))

    N = int(torch.randint(n[0], n[1] + 1, (1,), generator=generator))
    shapes = {"weight_hh": (N, N), "weight_ih": (N, d), "bias_ih": (N,), "bias_hh": (N,)}
    weights = {
        role: torch.cat([_gaussian(shape, 4 ** (3 * share() - 2), generator) for _ in range(gates)])
        for role, shape in shapes.items()
    }
    if not edge:
        size = 64 ** (share() - 1)
        return {role: size * part for role, part in weights.items()}
    conditions = CONDITIONS[cell]
    condition = conditions[int(share() * len(conditions))]
    target = _EDGES[int(share() * len(_EDGES))]
    low, high = 0.0, _LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scaled = {role: (middle * part).numpy() for role, part in weights.items()}
        is_met = condition.evaluate(scaled, 1.0).lam < target
        low, high = (middle, high) if is_met else (low, middle)
    return {role: low * part for role, part in weights.items()}


def _gaussian(shape: tuple[int, ...], size: float, generator: torch.Generator) -> Tensor:
    return size * torch.randn(shape, generator=generator, dtype=torch.float64)
