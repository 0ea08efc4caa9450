"""What is certified about training a user's model: γ, β and the window of a training run.

The run starts at the stored weights and takes N projected gradient steps of sizes α/t, t = 1 … N,
once on the loss of the full model and once on that of the truncated one, each in all its weights:
W, U and every bias that the model has, in the Euclidean norm of all of them together. After each
step the weights are projected onto

    Ω = {‖W‖₂ ≤ ℓ} × {‖U‖_F ≤ u} × {‖b_ih‖₂ ≤ r_ih} × {‖b_hh‖₂ ≤ r_hh},

since no constant holds for all weights. The loss p of the last state, or the mean of such losses
over time or over sequences with ‖x_t‖₂ ≤ B, has ‖∇p‖ ≤ L_p and a β_p-Lipschitz gradient on
‖h‖ ≤ B_h. All in real arithmetic and in the Euclidean norm of the state, so the model must contract
in that norm on all of Ω. Source: Miller & Hardt, Lemmas 2 and 3, Theorem 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError, UnknownNameError, at_least, number
from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.impl.gradients.loss import Loss, loss
from rnnbounds.impl.gradients.weight_sets import Region
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.norms.readout_norms import EUCLIDEAN, Dual
from rnnbounds.impl.numbers.outward import add_up, norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.training.bound import TrainingConstants, largest_rate
from rnnbounds.impl.training.window import training_window

__all__ = [
    "TrainingConstants",
    "largest_rate",
    "state_loss",
    "training_constants",
    "training_window",
]

NAMES = "lam S_0 B_h L_f L_w L_p beta_p G_0 G_1 D_1 beta beta_hh beta_wh beta_ww".split()


@dataclass(frozen=True)
class _Radii:
    W: Tensor
    U: Tensor
    b: Tensor


class _Given(Constants):
    """Constants with L_p and β_p as the user states them, where he does."""

    def __init__(self, *args: Any, given: tuple[float, float] | None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.given = given

    def slope(self, B_h: Tensor, dual: Dual = EUCLIDEAN) -> Tensor:
        """L_p."""
        return super().slope(B_h, dual) if self.given is None else self.filled(self.given[0])

    def curvature(self, dual: Dual = EUCLIDEAN) -> Tensor:
        """β_p."""
        return super().curvature(dual) if self.given is None else self.filled(self.given[1])


def training_constants(
    model: LoadedModel[RNN],
    input_bound: float,
    p: Loss | tuple[float, float] | None = None,
    radii: Mapping[str, float] | None = None,
) -> TrainingConstants:
    """The constants of training a loaded model with inputs ‖x_t‖₂ ≤ B.

    ``p`` is a loss of its state (a batch of one, whose readout makes the outputs y = C h), or a
    pair (L_p, β_p) that bounds one on ‖h‖ ≤ B_h (with y = h), by default ½‖h‖². ``radii`` of Ω by
    torch's names default to the norms of the stored weights, so that no norm may grow. Raises
    RangeError if the stored weights are not certainly in Ω, for B < 0, L_p < 0 and β_p < 0,
    UnknownNameError for a block that the model has not, ShapeError for a loss of other states.
    """
    given = p if isinstance(p, tuple) else None
    named = {"the input bound B": input_bound} | dict(
        zip(("L_p", "β_p"), given or (), strict=False)
    )
    for name, value in named.items():
        if not 0 <= number(name, value, "a number ≥ 0") < math.inf:
            raise RangeError(name, value, "a number ≥ 0")
    last = None if isinstance(p, tuple) else p or state_loss("squared", model.n)
    bounds = _radii(model, radii or {})
    omega, stored = (
        _Given(
            model.cell,
            torch.tensor([input_bound], dtype=torch.float64),
            None if last is None else last.C,
            loss=last,
            trained="WUb" if _biases(model) else "WU",
            region=region,
            biases=_biases(model),
            given=given,
        )
        for region in (_omega(model, bounds), _stored(model))
    )
    at_weights = {name: stored[name].item() for name in ("lam", "G_0", "G_1")}
    at_weights["gamma"] = float(add_up(stored["G_0"], stored["G_1"]))
    return TrainingConstants(
        **{name: omega[name].item() for name in NAMES}, radii=bounds, stored=at_weights
    )


def state_loss(name: str, n: int, target: float = 0.0) -> Loss:
    """A loss of the state itself (readout C = I) whose target has the norm ``target``."""
    y = torch.zeros(1, n, dtype=torch.float64)
    y[0, 0] = target
    return loss(name, torch.eye(n, dtype=torch.float64)[None], y)


def _biases(model: LoadedModel[RNN]) -> int:
    """How many bias vectors the model has."""
    return sum(role in model.weights for role in ("bias_ih", "bias_hh"))


def _radii(model: LoadedModel[RNN], asked: Mapping[str, float]) -> dict[str, float]:
    """The radii of Ω, each at least the norm of what is stored."""
    own = {role: part.double() for role, part in model.weights.items()}
    sizes = {
        role: float(certified_norm(part[None]) if role == "weight_hh" else norm_up(part.flatten()))
        for role, part in own.items()
    }
    for role, radius in asked.items():
        if role not in sizes:
            raise UnknownNameError("block", role, sizes)
        if not sizes[role] <= radius < math.inf:
            needed = f"at least {at_least(sizes[role], 17)}, the norm of the stored weights"
            raise RangeError(f"the radius of {role}", radius, needed)
    return sizes | {role: float(radius) for role, radius in asked.items()}


def _omega(model: LoadedModel[RNN], radii: Mapping[str, float]) -> Region:
    """Ω, where the sum of the biases is at most the sum of their radii."""
    bias = add_up(radii.get("bias_ih", 0.0), radii.get("bias_hh", 0.0))
    W, U = (torch.tensor(radii[role], dtype=torch.float64) for role in ("weight_hh", "weight_ih"))
    return Region.of_omega(_Radii(W[None], U[None], bias[None]), model.cell, "WUb")


def _stored(model: LoadedModel[RNN]) -> Region:
    """The stored weights; the sum of two biases lies beside its float64."""
    own = Region.of(model.cell)
    if _biases(model) < 2:
        return own
    low, high = (
        torch.nextafter(own.b_low, torch.full_like(own.b_low, end)) for end in (-math.inf, math.inf)
    )
    size = norm_up(torch.maximum(low.abs(), high.abs()))
    return replace(own, b_low=low, b_high=high, b_norm=size)
