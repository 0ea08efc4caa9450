"""RNNs that contract in a diagonal norm alone, and the sizes of ``rnnbounds experiment norms``."""

from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.record import Setting

_SPREAD = 64.0  # more than any spread of log-weights that is needed
_HALVINGS = 80


class Sizes(Setting, frozen=True, kw_only=True):
    """`seeds` RNNs, as many LSTMs and GRUs. n from `least` to `most` states, d `inputs`; ε is that
    of all windows. RNNs (`draw`): ‖W‖₂ uniform in `norms`, the planted factor μ in `rates`, inputs
    ‖x_t‖₂ ≤ `input_bound`. LSTMs and GRUs that are trained: 2 inputs, so many `steps` of Adam."""

    seeds: int = 200
    least: int = 2
    most: int = 12
    inputs: int = 2
    norms: tuple[float, float] = (1.0, 1.3)
    rates: tuple[float, float] = (0.8, 0.99)
    epsilon: float = 1e-3
    input_bound: float = 1.0
    steps: int = 60


@dataclass(frozen=True, eq=False)
class PlantedNetwork:
    """W = D⁻¹ (μM) D with ‖M‖₂ = 1, the d of D, and U."""

    W: Tensor
    U: Tensor
    d: Tensor


def draw_planted(setting: Sizes, seed: int) -> PlantedNetwork:
    """One system, whatever the others are.

    M has random singular vectors and singular values uniform in [q, 1], one of them 1, with q
    uniform in [0, 1]; log d is Gaussian, times the spread for which ‖W‖₂ is what was drawn. The
    spread is found by bisection from ‖μM‖₂ < 1, so that every norm above it is reached.
    """
    generator = seeded_generator(0, seed)

    def uniform(low: float, high: float) -> float:
        share = float(torch.rand(1, generator=generator, dtype=torch.float64))
        return low + (high - low) * share

    def gaussian(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    n = int(torch.randint(setting.least, setting.most + 1, (1,), generator=generator))
    rate, norm, smallest = uniform(*setting.rates), uniform(*setting.norms), uniform(0.0, 1.0)
    left_vectors, right_vectors = (torch.linalg.qr(gaussian(n, n))[0] for _ in range(2))
    values = smallest + (1 - smallest) * torch.rand(n, generator=generator, dtype=torch.float64)
    values[0] = 1.0
    M, log_d, U = (
        rate * (left_vectors * values) @ right_vectors,
        gaussian(n),
        gaussian(n, setting.inputs),
    )
    low, high = 0.0, _SPREAD
    for _ in range(_HALVINGS):
        spread = (low + high) / 2
        reached = torch.linalg.matrix_norm(scale_similar(M, spread * log_d), 2) >= norm
        low, high = (low, spread) if reached else (spread, high)
    log_d = high * log_d
    return PlantedNetwork(scale_similar(M, log_d), U, torch.exp(log_d))


def scale_similar(M: Tensor, log_d: Tensor) -> Tensor:
    """D⁻¹MD."""
    return M * torch.exp(log_d[None, :] - log_d[:, None])
