"""Adam on several tensors at once, for searches: in floats, as they round.

torch.optim does the same for every tensor by itself, and loads torch's compiler first.
Source: Kingma & Ba, Adam: A Method for Stochastic Optimization (2015).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

Tensor = torch.Tensor
MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999  # how much of the moments is kept
EPSILON = 1e-8


class Adam:
    """Steps down the gradient of losses, from the tensors as they are; NaN counts as no slope."""

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.tensors = list(tensors)
        self.sizes = [tensor.numel() for tensor in self.tensors]
        self.mean = torch.zeros(sum(self.sizes), dtype=torch.float64)
        self.square = torch.zeros_like(self.mean)
        self.steps = 0

    def step(self, loss: Tensor, rate: float) -> None:
        """One step, in place."""
        gradients = torch.autograd.grad(
            loss, self.tensors, allow_unused=True, materialize_grads=True
        )
        slope = torch.cat([part.flatten() for part in gradients]).nan_to_num_(0.0, 0.0, 0.0)
        self.steps += 1
        self.mean.lerp_(slope, 1 - MEAN_DECAY)
        self.square.mul_(SQUARE_DECAY).addcmul_(slope, slope, value=1 - SQUARE_DECAY)
        size = self.square.sqrt().div_((1 - SQUARE_DECAY**self.steps) ** 0.5).add_(EPSILON)
        length = -rate / (1 - MEAN_DECAY**self.steps)
        parts = zip(self.split(self.mean), self.split(size), strict=True)
        with torch.no_grad():
            for tensor, (mean, scale) in zip(self.tensors, parts, strict=True):
                tensor.addcdiv_(mean.view_as(tensor), scale.view_as(tensor), value=length)

    def split(self, flat: Tensor) -> tuple[Tensor, ...]:
        """Split a flat tensor along its first axis into one chunk per parameter."""
        return torch.split(flat, self.sizes)
