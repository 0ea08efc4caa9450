"""The one trainer of all experiments, and the data that it trains on.

Compared models have one budget: as many steps, on the same batches in the same order, a function of
seed and step alone. After each step `project` may move the weights back into a set.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

M = TypeVar("M", bound=torch.nn.Module)
PARTS = ("training", "validation", "held out")
EVERY = 50  # steps between two looks at the validation data


def seeded_generator(*key: int) -> torch.Generator:
    """A random generator on the CPU of its own for every key of numbers ≥ 0, such as (seed, 3)."""
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))


def cross_entropy(outputs: Tensor, y: Tensor) -> Tensor:
    """The mean over classes y (…) of logits (…, p), nats."""
    return torch.nn.functional.cross_entropy(outputs.flatten(0, -2), y.flatten())


@dataclass(frozen=True, eq=False, kw_only=True)
class Data:
    """Inputs and targets (N, …) of the parts "training", "validation" and "held out"."""

    parts: Mapping[str, tuple[Tensor, Tensor]]
    loss: Callable[[Tensor, Tensor], Tensor] = cross_entropy

    @classmethod
    def split(cls, x: Tensor, y: Tensor, **more: Any) -> "Data":
        """A tenth for validation, the last three tenths held out."""
        cuts = [len(x) * 6 // 10, len(x) * 7 // 10]
        parts = zip(torch.tensor_split(x, cuts), torch.tensor_split(y, cuts), strict=True)
        return cls(parts=dict(zip(PARTS, parts, strict=True)), **more)

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """32 sequences to train on, drawn with replacement."""
        x, y = self.parts["training"]
        rows = torch.randint(len(x), (32,), generator=seeded_generator(seed, step))
        return x[rows], y[rows]


def falling_rates(steps: int, first: float = 0.01) -> list[float]:
    """The learning rate of each step, down to a tenth of the first."""
    return [first * (1 - 0.9 * (step + 1) / steps) for step in range(steps)]


def train(
    model: M, data: Data, rates: Sequence[float], *, seed: int, device: str = "cpu",
    project: Callable[[M], object] = lambda model: None,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam, clip: float = 1.0,
) -> float:  # fmt: skip
    """Train the model in place, a step for each learning rate; gradients are at most `clip` long,
    and one that is not finite counts as 0. The weights that did best on the validation data are
    kept, without these the last ones. Returns the best validation loss, ∞ if none was finite."""
    model.to(device)
    parameters = [part for part in model.parameters() if part.requires_grad]
    descent, best, kept = optimiser(parameters, lr=rates[0]), math.inf, model.state_dict()
    for step, rate in enumerate(rates, 1):
        x, y = data.batch(seed, step - 1)
        descent.zero_grad()
        torch.autograd.backward(data.loss(model(x.to(device)), y.to(device)))
        if not torch.nn.utils.clip_grad_norm_(parameters, clip).isfinite():
            descent.zero_grad(set_to_none=False)
        for group in descent.param_groups:
            group["lr"] = rate
        descent.step()
        project(model)
        if "validation" in data.parts and (step % EVERY == 0 or step == len(rates)):
            loss = part_loss(model, data, "validation")
            if loss < best:
                best, kept = loss, deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return best


@torch.no_grad()
def part_loss(model: torch.nn.Module, data: Data, part: str) -> float:
    """The mean loss over a part of the data, ∞ where it is not finite."""
    device, (x, y) = next(model.parameters()).device, data.parts[part]
    loss = float(data.loss(model(x.to(device)), y.to(device)))
    return loss if math.isfinite(loss) else math.inf
