"""The one trainer of all experiments.

    plan = Plan(steps=600, rate=0.01)
    trained = train(model, task, plan, seed=0, project=lambda m: stable_(m.rnn, 0.95, bound))
    loss = losses(model, task, "held out")

`model` is any `torch.nn.Module` with forward(x); every call gives all of them the same budget: so
many steps on the same batches in the same order, a function of seed and step alone. After each
step `project` may move the weights back into a set, and `penalty` is added to the loss. The weights
that did best on the validation data are kept, of those that are `admissible`.

Several networks may be trained side by side as one module: it says how many by an attribute
`networks` (G), every parameter has G as its first axis, and losses are (G,). Each has its own
loss, gradient clipping and best weights, so none knows of the others.

Where a `slot` is given (`Job.train` gives one), the whole state is stored every `plan.save` steps
and the training goes on from there, bit for bit.

A task is any object with the three methods of `Task`.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import msgspec
import torch
from torch import Tensor

from rnnbounds.experiments.engine.parts import TrainingSlot

M = TypeVar("M", bound=torch.nn.Module)
TICKS = 10  # of progress, a training


class Task(Protocol):
    """Something to learn from; parts of the data are "training", "validation" and "held out"."""

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Training batch (x, y) of step 0, 1, … for this seed, drawn by `chance(seed, step)`."""

    def batches(self, part: str) -> Iterable[tuple[Tensor, Tensor]]:
        """All of a part, in batches; the loss over it is the mean weighted by their lengths."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Mean training loss of outputs and targets y: (), or (G,) for a model of G networks."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How long and how: the budget, the same for all that are compared.

    rate: the first; schedule: "constant", "linear" down to a tenth, "cosine" down to 0, or "1/t":
    rate/t at step t. clip: the greatest norm of each network's own gradient, None for none.
    Validation is looked at every `every` steps; keep: the "best" weights there, or the "last",
    then without a look at validation.
    back: a network whose validation loss is so far above its best, that of the first weights
    included, goes back to it. save: so many steps between two stored states.
    """

    steps: int
    rate: float = 0.01
    optimiser: Literal["adam", "sgd"] = "adam"
    schedule: Literal["constant", "linear", "cosine", "1/t"] = "linear"
    clip: float | None = 1.0
    every: int = 50
    keep: Literal["best", "last"] = "best"
    back: float | None = None
    save: int = 200

    def rate_at(self, step: int) -> float:
        """The learning rate of step 0, 1, …."""
        share = step / self.steps
        match self.schedule:
            case "constant":
                return self.rate
            case "linear":
                return self.rate * (1 - 0.9 * (step + 1) / self.steps)
            case "cosine":
                return self.rate * (1 + math.cos(math.pi * share)) / 2
            case "1/t":
                return self.rate / (step + 1)


@dataclass(frozen=True)
class Trained(Generic[M]):
    """A model with the weights that were kept, and how its training went.

    best: the validation loss of what was kept, an entry for each network, infinite where none was
    admissible (the last weights are kept then); steps, losses and validation: the steps that were
    looked at, counted from 1, the mean training loss since the look before, (looks, G), and the
    validation loss, (looks, G).
    """

    model: M
    best: tuple[float, ...]
    steps: tuple[int, ...]
    losses: Tensor
    validation: Tensor


def train(
    model: M,
    task: Task,
    plan: Plan,
    *,
    seed: int,
    device: str = "cpu",
    project: Callable[[M], object] = lambda model: None,
    penalty: Callable[[M], Tensor] | None = None,
    admissible: Callable[[M], bool] = lambda model: True,
    observe: Callable[[M, int], None] = lambda model, step: None,
    slot: TrainingSlot | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Trained[M]:
    """Train the model in place; it ends with the weights that are kept.

    `observe(model, step)` sees the model at each look, once, also when a training is resumed: what
    it is to remember it writes to buffers of the model, which are stored. A gradient that
    is not finite counts as 0. `advance` is called TICKS times.
    """
    model.to(device)
    run = _Training(model, plan, device)
    stored = None if slot is None else slot.load()
    if stored is not None:
        run.restore(stored)
    elif plan.back is not None and admissible(model):  # there it goes that explodes at once
        run.best = _infinite_if_unknown(part_losses(model, task, "validation"))
    ticked = 0
    for step in range(plan.steps):
        if step >= run.step:
            x, y = task.batch(seed, step)
            loss = task.loss(model(x.to(device)), y.to(device))
            run.descend(loss, None if penalty is None else penalty(model), plan.rate_at(step))
            project(model)
            if run.step % plan.every == 0 or run.step == plan.steps:
                best = plan.keep == "best"
                now = part_losses(model, task, "validation") if best else run.best.clone()
                run.note_validation(now, admissible(model))
                observe(model, run.step)
            if slot is not None and (run.step % plan.save == 0 or run.step == plan.steps):
                slot.save(run.state())
        while ticked < TICKS * (step + 1) // plan.steps:
            ticked += 1
            advance()
    return run.finish()


@torch.no_grad()
def part_losses(model: torch.nn.Module, task: Task, part: str) -> Tensor:
    """The mean loss over a part of the data, of each network, (G,), in float64, where it lies."""
    device = next(model.parameters()).device
    total, count = torch.zeros(getattr(model, "networks", 1), dtype=torch.float64), 0
    for x, y in task.batches(part):
        batch_losses = task.loss(model(x.to(device)), y.to(device)).double().cpu().reshape(-1)
        total += batch_losses * y.shape[0]
        count += y.shape[0]
    return total / count


def _infinite_if_unknown(loss: Tensor) -> Tensor:
    """A loss that is not finite is worse than any."""
    return torch.where(loss.isfinite(), loss, math.inf)


class _Training(Generic[M]):
    """A model, its optimiser, what it was when it did best, and what was seen on the way."""

    def __init__(self, model: M, plan: Plan, device: str) -> None:
        self.model, self.plan, self.device = model, plan, device
        self.G: int = getattr(model, "networks", 1)
        self.parameters = [part for part in model.parameters() if part.requires_grad]
        make = torch.optim.Adam if plan.optimiser == "adam" else torch.optim.SGD
        self.optimiser: torch.optim.Optimizer = make(self.parameters, lr=plan.rate)
        self.step = 0
        self.best_weights = {name: part.detach().clone() for name, part in model.named_parameters()}
        self.best = torch.full((self.G,), math.inf, dtype=torch.float64)
        self.loss_sum = torch.zeros(self.G, dtype=torch.float64)
        looks = -(-plan.steps // plan.every)
        self.history = torch.full((looks, 3, self.G), math.nan, dtype=torch.float64)

    def descend(self, loss: Tensor, penalty: Tensor | None, rate: float) -> None:
        """One step on each network's own loss and the penalty."""
        self.optimiser.zero_grad()
        total = loss.sum() if penalty is None else loss.sum() + penalty.sum()
        total.backward()  # type: ignore[no-untyped-call]
        slopes = [part.grad for part in self.parameters if part.grad is not None]
        norms = (
            torch.stack([self.networks_first(s).flatten(1).square().sum(1) for s in slopes])
            .sum(0)
            .sqrt()
        )
        limit = math.inf if self.plan.clip is None else self.plan.clip
        factor = torch.where(norms.isfinite(), (limit / norms).clamp(max=1.0), 0.0)
        for slope in slopes:
            rows = self.networks_first(slope)
            rows.mul_(self.per_network(factor, rows)).nan_to_num_(0.0, 0.0, 0.0)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.loss_sum += loss.detach().double().cpu().reshape(-1)
        self.step += 1

    @torch.no_grad()
    def note_validation(self, now: Tensor, admissible: bool) -> None:
        """Take note of the validation loss, and keep the weights that do best."""
        row = (self.step - 1) // self.plan.every
        count = self.step - row * self.plan.every
        self.history[row, 0], self.history[row, 1], self.history[row, 2] = (
            self.step,
            self.loss_sum / count,
            now,
        )
        self.loss_sum.zero_()
        now = _infinite_if_unknown(now)
        better = (now < self.best) if admissible else torch.zeros_like(now, dtype=torch.bool)
        self.best = torch.where(better, now, self.best)
        diverged = torch.zeros_like(better)
        if self.plan.back is not None:
            diverged = now > self.best + self.plan.back
        for name, part in self.model.named_parameters():
            rows, best_rows = (
                self.networks_first(part),
                self.networks_first(self.best_weights[name]),
            )
            best_rows.copy_(torch.where(self.per_network(better, rows), rows, best_rows))
            rows.copy_(torch.where(self.per_network(diverged, rows), best_rows, rows))

    @torch.no_grad()
    def finish(self) -> Trained[M]:
        """The model with the weights that are kept."""
        if self.plan.keep == "best":
            has_best = self.best.isfinite()
            for name, part in self.model.named_parameters():
                rows = self.networks_first(part)
                rows.copy_(
                    torch.where(
                        self.per_network(has_best, rows),
                        self.networks_first(self.best_weights[name]),
                        rows,
                    )
                )
        steps = tuple(int(step) for step in self.history[:, 0, 0].tolist())
        best = tuple(self.best.tolist())
        return Trained(self.model, best, steps, self.history[:, 1], self.history[:, 2])

    def state(self) -> dict[str, Tensor]:
        """All that the rest of the training depends on."""
        tensors = {f"model.{name}": part for name, part in self.model.state_dict().items()}
        tensors |= {f"kept.{name}": part for name, part in self.best_weights.items()}
        for index, part in enumerate(self.parameters):
            for name, value in self.optimiser.state.get(part, {}).items():
                if isinstance(value, Tensor):
                    tensors[f"optimiser.{index}.{name}"] = value
        step = torch.tensor(self.step)
        return tensors | {
            "best": self.best,
            "since": self.loss_sum,
            "seen": self.history,
            "step": step,
        }

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from what `state` gave."""
        self.best, self.loss_sum, self.history = (state[name] for name in ("best", "since", "seen"))
        self.step = int(state["step"])
        by_kind: dict[str, dict[str, Tensor]] = {"model": {}, "kept": {}}
        for key, value in state.items():
            kind, _, name = key.partition(".")
            if kind in by_kind:
                by_kind[kind][name] = value.to(self.device)
            elif kind == "optimiser":
                index, _, name = name.partition(".")
                target = "cpu" if name == "step" else self.device
                self.optimiser.state[self.parameters[int(index)]][name] = value.to(target)
        self.model.load_state_dict(by_kind["model"])
        self.best_weights = by_kind["kept"]

    def networks_first(self, part: Tensor) -> Tensor:
        """A view of a parameter with the networks as its first axis."""
        return part if hasattr(self.model, "networks") else part[None]

    @staticmethod
    def per_network(values: Tensor, part: Tensor) -> Tensor:
        """A value for each network, (G,), to go with its part (G, …)."""
        return values.to(part.device).reshape(-1, *[1] * (part.ndim - 1))
