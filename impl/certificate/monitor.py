"""Training monitor: an estimate of λ and of the memory length that follows.

With λ < 1 and the box of the states |h_i| ≤ h̄_i, two runs are at most 2‖h̄‖₂ λᵏ apart after k steps,
where λ is a factor in the Euclidean norm; in another norm its equivalence with that is left out. So

    k = ⌈log(2‖h̄‖₂/ε)/log(1/λ)⌉

is an estimate, in plain floats. `certify` computes the bound. Source: Miller & Hardt, Lemma 1.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.certificate.contraction import contraction, reach
from rnnbounds.impl.certificate.record import epsilons_of
from rnnbounds.impl.models.surroundings import isolated


class Monitored(NamedTuple):
    """Estimates, as floats to be logged: λ, and k, infinite where λ ≥ 1.

    >>> rnnbounds.monitor(torch.nn.LSTM(1, 16), 1.0, eps=0.1).lam
    """

    lam: float
    k: float


@isolated()
def monitor(
    model: torch.nn.Module | Mapping[str, Tensor],
    input_bound: float | InputSet,
    eps: float = 1e-2,
    *,
    cell: str | None = None,
) -> Monitored:
    """Estimate λ and the memory k at ε of a model that is being trained; no gradients, no proof.

    `model`, `input_bound` and `cell` as in `contraction`.

    >>> lam, k = rnnbounds.monitor(torch.nn.LSTM(1, 16), rnnbounds.input_box(-1, 1, 1), eps=0.1)

    Raises an InputError for what is no model, NaN, B < 0 and ε ≤ 0.
    """
    (epsilon,) = epsilons_of(eps)
    with torch.no_grad():
        lam = float(contraction(model, input_bound, cell=cell))
        size = float(reach(model, input_bound, cell))
    if not lam < 1 or math.isinf(size):
        return Monitored(lam, math.inf)
    if lam == 0 or 2 * size <= epsilon:
        return Monitored(lam, 1.0)
    return Monitored(lam, float(math.ceil(math.log(2 * size / epsilon) / -math.log(lam))))
