"""The one trainer of all experiments.

Every call gives a model the same budget: so many steps on the same batches in the same order, a
function of seed and step alone. After each step `project` may move the weights back into a set. The
weights that did best on the validation data are kept.

A task has `batch(seed, step)`, the training batch (x, y) of step 0, 1, …, `batches(part)`, all of
"validation" or "held out" in batches, and `loss(outputs, y)`, the mean: (), or (G,).

Several networks may be trained side by side as one module: it says how many by an attribute
`networks` (G), every parameter has G as its first axis, and losses are (G,). Each has its own loss,
gradient clipping and best weights, so none knows of the others.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

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
    clip: the greatest norm of each network's own gradient. Validation is looked at every `every`
    steps; keep: the "best" weights there, or the "last", then without a look. back: a network whose
    validation loss is so far above its best, that of the first weights included, goes back to it.
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
        return (
            self.rate
            * {
                "constant": 1.0,
                "linear": 1 - 0.9 * (step + 1) / self.steps,
                "cosine": (1 + math.cos(math.pi * step / self.steps)) / 2,
                "1/t": 1 / (step + 1),
            }[self.schedule]
        )


@dataclass(frozen=True)
class Trained(Generic[M]):
    """A model with the weights that were kept; the validation loss of each network there, infinite
    where none was finite; the steps that were looked at, with mean training losses since the look
    before and validation losses, (looks, G)."""

    model: M
    best: tuple[float, ...]
    steps: list[int]
    losses: Tensor
    validation: Tensor


def train(
    model: M, task: Any, plan: Plan, *, seed: int, device: str = "cpu",
    project: Callable[[M], object] = lambda model: None,
    observe: Callable[[M, int], None] = lambda model, step: None,
) -> Trained[M]:  # fmt: skip
    """Train the model in place; it ends with the weights that are kept. `observe(model, step)` sees
    it at each look. A gradient that is not finite counts as 0."""
    model.to(device)
    parameters = [part for part in model.parameters() if part.requires_grad]
    make = torch.optim.Adam if plan.optimiser == "adam" else torch.optim.SGD
    optimiser: torch.optim.Optimizer = make(parameters, lr=plan.rate)
    kept = [part.detach().clone() for part in parameters]
    best = torch.full((getattr(model, "networks", 1),), math.inf, dtype=torch.float64)
    if plan.back < math.inf:  # there it goes that explodes at once
        best = part_losses(model, task, "validation").nan_to_num(math.inf, math.inf)
    steps: list[int] = []
    losses, seen, total = [], [], torch.zeros_like(best)
    for step in range(1, plan.steps + 1):
        x, y = task.batch(seed, step - 1)
        loss = task.loss(model(x.to(device)), y.to(device))
        optimiser.zero_grad()
        loss.sum().backward()
        _clip(model, parameters, plan.clip)
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(step - 1)
        optimiser.step()
        total += loss.detach().double().cpu().reshape(-1)
        project(model)
        if step % plan.every == 0 or step == plan.steps:
            looked = part_losses(model, task, "validation") if plan.keep == "best" else best.clone()
            now = looked.nan_to_num(math.inf, math.inf, math.inf)
            better, gone = now < best, now > best + plan.back
            best = torch.where(better, now, best)
            _copy(model, kept, parameters, better)
            _copy(model, parameters, kept, gone)
            losses.append(total / (step - (steps[-1] if steps else 0)))
            steps.append(step)
            seen.append(looked)
            total = torch.zeros_like(best)
            observe(model, step)
    if plan.keep == "best":
        _copy(model, parameters, kept, best.isfinite())
    return Trained(model, tuple(best.tolist()), steps, torch.stack(losses), torch.stack(seen))


@torch.no_grad()
def part_losses(model: torch.nn.Module, task: Any, part: str) -> Tensor:
    """The mean loss over a part of the data, of each network, (G,), in float64, on the CPU."""
    device = next(model.parameters()).device
    total, count = torch.zeros(getattr(model, "networks", 1), dtype=torch.float64), 0
    for x, y in task.batches(part):
        losses = task.loss(model(x.to(device)), y.to(device)).double().cpu().reshape(-1)
        total += losses * y.shape[0]
        count += y.shape[0]
    return total / count


def _rows(model: Any, part: Tensor) -> Tensor:
    """A view (G, m) of a parameter, a row for each network."""
    return part.view(getattr(model, "networks", 1), -1)


@torch.no_grad()
def _clip(model: Any, parameters: Sequence[Tensor], limit: float) -> None:
    """The gradient of each network to a norm of at most `limit`."""
    rows = [_rows(model, part.grad) for part in parameters if part.grad is not None]
    norms = torch.stack([row.square().sum(1) for row in rows]).sum(0).sqrt()
    factor = torch.where(norms.isfinite(), (limit / norms).clamp(max=1.0), 0.0)
    for row in rows:
        row.mul_(factor[:, None]).nan_to_num_(0.0, 0.0, 0.0)


@torch.no_grad()
def _copy(model: Any, to: Sequence[Tensor], of: Sequence[Tensor], which: Tensor) -> None:
    """The weights `of` those networks, copied `to` others."""
    for target, source in zip(to, of, strict=True):
        rows = _rows(model, target)
        rows.copy_(torch.where(which.to(rows.device)[:, None], _rows(model, source), rows))
