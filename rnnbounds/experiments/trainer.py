"""The one trainer of all experiments.

Every call gives a model the same budget: so many steps on the same batches in the same order, a
function of seed and step alone. After each step `project` may move the weights back into a set. The
weights that did best on the validation data are kept.

A task has `batch(seed, step)`, the training batch (x, y) of step 0, 1, …, `batches(part)`, all of
"validation" or "held out" in batches, and `loss(outputs, y)`, the mean.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
import torch
from torch import Tensor

M = TypeVar("M", bound=torch.nn.Module)


def seeded_generator(*key: int) -> torch.Generator:
    """A random generator on the CPU of its own for every key of numbers ≥ 0, such as (seed, 3)."""
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How long and how: the budget, the same for all that are compared.

    rate: the first; schedule: "constant", "linear" down to a tenth, "cosine" down to 0, or "1/t".
    clip: the greatest norm of the gradient. Validation is looked at every `every` steps; keep: the
    "best" weights there, or the "last", then without a look. back: from a validation loss so far
    above its best, that of the first weights included, training goes back to the best weights.
    """

    steps: int
    rate: float = 0.01
    optimiser: Literal["adam", "sgd"] = "adam"
    schedule: Literal["constant", "linear", "cosine", "1/t"] = "linear"
    clip: float = 1.0
    every: int = 50
    keep: Literal["best", "last"] = "best"
    back: float = math.inf

    def rate_at(self, step: int) -> float:
        """The learning rate of step 0, 1, …."""
        factors = {
            "constant": 1.0,
            "linear": 1 - 0.9 * (step + 1) / self.steps,
            "cosine": (1 + math.cos(math.pi * step / self.steps)) / 2,
            "1/t": 1 / (step + 1),
        }
        return self.rate * factors[self.schedule]


def train(
    model: M, task: Any, plan: Plan, *, seed: int, device: str = "cpu",
    project: Callable[[M], object] = lambda model: None,
) -> float:  # fmt: skip
    """Train the model in place; it ends with the weights that are kept. A gradient that is
    not finite counts as 0. Returns the best validation loss, ∞ if none was finite or looked at."""
    model.to(device)
    parameters = [part for part in model.parameters() if part.requires_grad]
    make = torch.optim.Adam if plan.optimiser == "adam" else torch.optim.SGD
    optimiser: torch.optim.Optimizer = make(parameters, lr=plan.rate)
    kept = [part.detach().clone() for part in parameters]
    best = math.inf if plan.back == math.inf else part_loss(model, task, "validation")
    for step in range(1, plan.steps + 1):
        x, y = task.batch(seed, step - 1)
        optimiser.zero_grad()
        task.loss(model(x.to(device)), y.to(device)).backward()
        if not torch.nn.utils.clip_grad_norm_(parameters, plan.clip).isfinite():
            optimiser.zero_grad(set_to_none=False)
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(step - 1)
        optimiser.step()
        project(model)
        if plan.keep == "last" or (step % plan.every and step < plan.steps):
            continue
        now = part_loss(model, task, "validation")
        if now < best:
            best = now
            _copy(kept, parameters)
        elif now > best + plan.back:
            _copy(parameters, kept)
    if best < math.inf:
        _copy(parameters, kept)
    return best


@torch.no_grad()
def part_loss(model: torch.nn.Module, task: Any, part: str) -> float:
    """The mean loss over a part of the data, ∞ where it is not finite."""
    device, total, count = next(model.parameters()).device, 0.0, 0
    for x, y in task.batches(part):
        total += float(task.loss(model(x.to(device)), y.to(device))) * len(y)
        count += len(y)
    return total / count if math.isfinite(total) else math.inf


@torch.no_grad()
def _copy(to: Sequence[Tensor], of: Sequence[Tensor]) -> None:
    for target, source in zip(to, of, strict=True):
        target.copy_(source)
