"""Which inputs an output depends on: a module is run on changed inputs, and bits are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from rnnbounds.impl.errors import (
    InputError,
    NotFiniteError,
    RangeError,
    ShapeError,
    at_most,
    number,
)

Tensor = torch.Tensor
TensorFunction = Callable[[Tensor], Tensor]
MOST_SPLITS = 32  # times at which inputs are split into changed and unchanged ones


@dataclass(frozen=True)
class Leak:
    """y_t changed, from one value to the other, when inputs were changed; times count from 1."""

    t: int
    before: float
    after: float
    changed: str
    since: int


class Probe:
    """A module, the inputs (N, T, d) that it is looked at on, and its outputs (N, T, …) there.

    ``largest`` bounds what the inputs are replaced with. Raises InputError if the inputs or the
    outputs make no sense, or if the same inputs give two outputs.
    """

    def __init__(self, module: TensorFunction, inputs: Tensor, largest: float | None) -> None:
        if not isinstance(inputs, Tensor):
            raise ShapeError("inputs", "a tensor (N, T, d)", type(inputs).__name__)
        self.module, self.x = module, inputs.detach()
        if inputs.ndim != 3 or 0 in inputs.shape or not inputs.is_floating_point():
            raise ShapeError("inputs", "(N, T, d), all positive, of floats", inputs)
        if not inputs.isfinite().all():
            raise NotFiniteError("inputs")
        top = torch.finfo(inputs.dtype).max
        self.largest = top if largest is None else largest
        if not 0 < number("largest", self.largest, "positive") <= top:
            raise RangeError("largest", largest, f"positive and at most {at_most(top, 3)}")
        self.y = self.run(self.x)
        if not self.y.isfinite().all():
            raise NotFiniteError("the module's output on the inputs")
        if differing_bits(self.y, self.run(self.x)).any():
            raise InputError("the module has two outputs for the same inputs; call .eval() first")

    def run(self, x: Tensor) -> Tensor:
        """The outputs (N, T, m) on a copy of the same layout."""
        with torch.no_grad():
            y = self.module(x.clone(memory_format=torch.contiguous_format))
        if not isinstance(y, Tensor):
            problem = f"the module returns a {type(y).__name__}, no tensor"
            raise InputError(f"{problem}; wrap it so that it returns the outputs (N, T, …) alone")
        if y.ndim < 2 or y.shape[:2] != self.x.shape[:2]:
            raise ShapeError("the module's output", f"({self.x.shape[0]}, {self.x.shape[1]}, …)", y)
        return y.flatten(2) if y.ndim > 2 else y[..., None]

    def replacements(self) -> Iterator[tuple[str, Tensor]]:
        """Yield replacements of the inputs: the name, and a tensor (N, T, d) of x's dtype."""
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(
            self.x.shape, generator=generator, dtype=torch.float64, device="cpu"
        ).to(self.x)
        noise = (noise + noise.sign()) * self.x.abs().amax().clamp(min=2.0**-10)
        signs = noise.sign()
        tiny = torch.finfo(self.x.dtype).smallest_normal
        yield "others of their size", noise.clamp(-self.largest, self.largest)
        yield f"±{self.largest:.3g}", signs * self.largest
        yield f"{self.largest**0.5:.3g}", torch.full_like(self.x, self.largest**0.5)
        yield "−0", torch.full_like(self.x, -0.0)
        yield "subnormal", torch.full_like(self.x, tiny / 4)

    def split_times(self, last: int) -> list[int]:
        """Times from 1 to the last, evenly spaced, both ends among them."""
        count = min(last, MOST_SPLITS)
        return sorted({1 + round(i * (last - 1) / max(count - 1, 1)) for i in range(count)})

    def past_leaks(self, field: int) -> Iterator[Leak]:
        """Outputs y_t that changed when inputs at times ≤ s ≤ t − field did."""
        T = self.x.shape[1]
        for s in self.split_times(T - field):
            for name, other in self.replacements():
                x = torch.cat([other[:, :s], self.x[:, s:]], dim=1)
                yield from self.latest_leak(x, s + field, T, f"at times ≤ {s} were {name}", s)

    def future_leaks(self) -> Iterator[Leak]:
        """Outputs y_t that changed when inputs at times > s ≥ t did."""
        T = self.x.shape[1]
        for s in self.split_times(T - 1):
            for name, other in self.replacements():
                x = torch.cat([self.x[:, :s], other[:, s:]], dim=1)
                yield from self.latest_leak(x, 1, s, f"after time {s} were {name}", s + 1)

    def latest_leak(
        self, x: Tensor, first: int, last: int, changed: str, since: int
    ) -> Iterator[Leak]:
        """The latest output among y_first, …, y_last that differs on these inputs."""
        span = slice(first - 1, last)
        before, after = self.y[:, span], self.run(x)[:, span]
        changed_mask = differing_bits(before, after)
        if changed_mask.any():
            times = changed_mask.any(2).any(0).nonzero()
            i = int(times[-1])
            index = tuple(changed_mask[:, i].nonzero()[0].tolist())
            old, new = (float(part[index[0], i, index[1]]) for part in (before, after))
            yield Leak(first + i, old, new, changed, since)

    def sees_oldest(self, field: int) -> bool:
        """True if some change of one input alone changes the output `field` − 1 steps later."""
        for s in self.split_times(self.x.shape[1] - field + 1):
            for _, other in self.replacements():
                x = self.x.clone()
                x[:, s - 1] = other[:, s - 1]
                t = s + field - 1
                if differing_bits(self.y[:, t - 1], self.run(x)[:, t - 1]).any():
                    return True
        return False


def differing_bits(first: Tensor, second: Tensor) -> Tensor:
    """Boolean mask of entries that differ: −0 differs from 0, and NaN from every value."""
    return (first != second) | (first.signbit() != second.signbit())
