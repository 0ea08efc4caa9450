"""How a network is trained that is to be certified: its estimate penalised, or projected."""

from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.models.nets import ReadoutNet
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.contraction import contraction
from rnnbounds.impl.certificate.stable_module import stable_


def penalty_options(inputs: InputSet, *, aim: float, weight: float) -> dict[str, Any]:
    """`weight` times the excess of the estimated λ over `aim` is added to the loss."""

    def penalty(net: ReadoutNet) -> Tensor:
        excess = contraction(net.layer, inputs, cell=net.cell) - aim
        return weight * torch.relu(excess)

    return {"penalty": penalty}


def admissible_options(inputs: InputSet, *, epsilon: float, limit: int) -> dict[str, Any]:
    """Weights are kept where the certified k at ε is at most so many."""

    def short(net: ReadoutNet) -> bool:
        k = certify(net.layer, inputs, epsilon, cell=net.cell).window(epsilon)
        return k is not None and k <= limit

    return {"admissible": short}


def projection_options(inputs: InputSet, lam: float) -> dict[str, Any]:
    """After each step to where one step contracts by at most λ."""
    return {"project": lambda net: stable_(net.rnn, lam, inputs)}
