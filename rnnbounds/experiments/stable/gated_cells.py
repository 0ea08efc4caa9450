"""LSTMs and GRUs on which norms are compared with what others published: drawn, and trained."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.engine.experiment import Job
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.models.nets import Net
from rnnbounds.experiments.models.training import penalised, projected
from rnnbounds.experiments.stable.published import CONDITIONS
from rnnbounds.experiments.tasks.score import Numbers
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.impl.arithmetic.inputs.sets import input_box

GATES = {"lstm": 4, "gru": 3, "gru-cho": 3}
DRAWN, EDGE = "drawn", "on the edge"
TRAINED = ("trained freely", "trained, penalised", "trained, projected")
LAM, AIM, WEIGHT = 0.92, 0.9, 0.2  # what a projection asks for; what a penalty aims at, its weight
_EDGES = (0.999, 0.99, 0.9, 0.7)
_HALVINGS, _LARGEST = 50, 64.0
_LENGTH = 30
_OFF = 1 << 20  # of the seeds of what is validated


class Driven(Task):
    """To follow y⁺ = ½y + ½ tanh(2x_1 + x_2 y), from noise x in [−1, 1]²."""

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Sequences (N, T, d) and what they drive, (N, T, 1)."""
        x = 2 * torch.rand(self.size, _LENGTH, self.inputs, generator=chance(seed, step)) - 1
        y, told = x.new_zeros(self.size), []
        for t in range(_LENGTH):
            y = y / 2 + torch.tanh(2 * x[:, t, 0] + x[:, t, 1] * y) / 2
            told.append(y)
        return x, torch.stack(told, 1)[..., None]

    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """A batch that none was trained on."""
        yield self.batch(0, _OFF)


def trained(job: Job[Any], n: int) -> torch.nn.Module:
    """The recurrent layer of a network of n units, trained as its variant says."""
    task = Driven("driven", "drawn here", Numbers("", 1.0), None, 2, 1, {}, 16)
    unit, among = job.unit, input_box(-1.0, 1.0, task.inputs)
    free: dict[str, Any] = {}
    ways = free, penalised(among, aim=AIM, weight=WEIGHT), projected(among, LAM)
    way = dict(zip(TRAINED, ways, strict=True))[unit.variant]
    net = Net(unit.task, task, n, unit.seed, shrunk=way is not free)
    plan = Plan(steps=job.setting.steps, rate=0.02, every=job.setting.steps, keep="last")
    job.train(net, task, plan, **way)
    return net.rnn


def drawn(cell: str, edge: bool, seed: int, n: tuple[int, int], d: int) -> dict[str, Tensor]:
    """Random weights, each gate's matrices and biases of a size of their own: up to 4 times the
    usual, then all of a size from 1/64 to 1; or as large as a condition of the cell's lets them be
    for a λ from 0.7 to 0.999."""
    by, gates = chance(GATES[cell], seed), GATES[cell]

    def share() -> float:
        return float(torch.rand(1, generator=by, dtype=torch.float64))

    N = int(torch.randint(n[0], n[1] + 1, (1,), generator=by))
    shapes = {"weight_hh": (N, N), "weight_ih": (N, d), "bias_ih": (N,), "bias_hh": (N,)}
    parts = {
        role: torch.cat([_gaussian(shape, 4 ** (3 * share() - 2), by) for _ in range(gates)])
        for role, shape in shapes.items()
    }
    if not edge:
        size = 64 ** (share() - 1)
        return {role: size * part for role, part in parts.items()}
    conditions = CONDITIONS[cell]
    condition = conditions[int(share() * len(conditions))]
    target = _EDGES[int(share() * len(_EDGES))]
    low, high = 0.0, _LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scaled = {role: (middle * part).numpy() for role, part in parts.items()}
        met = condition.told(scaled, 1.0).lam < target
        low, high = (middle, high) if met else (low, middle)
    return {role: low * part for role, part in parts.items()}


def _gaussian(shape: tuple[int, ...], size: float, by: torch.Generator) -> Tensor:
    return size * torch.randn(shape, generator=by, dtype=torch.float64)
