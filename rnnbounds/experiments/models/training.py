"""How a network is trained that is to be certified: its estimate penalised, or projected."""

from typing import Any

import torch
from torch import Tensor

from impl.certificate.certify import certify
from impl.certificate.contraction import contraction
from impl.certificate.stable_module import stable_
from rnnbounds.experiments.models.nets import Net
from rnnbounds.experiments.models.tasks import Learned


def penalised(
    task: Learned, *, aim: float, weight: float, epsilon: float, most: int
) -> dict[str, Any]:
    """`weight` times the excess of the estimated λ over `aim` is added to the loss; weights are
    kept where the certified k at ε is at most so many."""

    def penalty(net: Net) -> Tensor:
        excess = contraction(net.layer, task.among, cell=net.cell) - aim
        return weight * torch.relu(excess)

    def short(net: Net) -> bool:
        k = certify(net.layer, task.among, epsilon, cell=net.cell).window(epsilon)
        return k is not None and k <= most

    return {"penalty": penalty, "admissible": short}


def projected(task: Learned, lam: float) -> dict[str, Any]:
    """After each step to where one step contracts by at most λ."""
    return {"project": lambda net: stable_(net.rnn, lam, task.bound)}
