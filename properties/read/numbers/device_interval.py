"""Enclosures whose ends stay on the device where they were measured."""

from __future__ import annotations

from typing import Any

import torch

from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


class DeviceInterval(Interval):
    """[lo, hi] as tensors of one shape; `lo` and `hi`, NumPy arrays, are copied when first read."""

    tensors: tuple[Tensor, Tensor]

    def __init__(self, lo: Tensor, hi: Tensor) -> None:
        object.__setattr__(self, "tensors", (lo, hi))

    def __getattr__(self, name: str) -> Any:
        if name not in ("lo", "hi"):
            raise AttributeError(name)
        array = self.tensors[name == "hi"].cpu().numpy()
        object.__setattr__(self, name, array)
        return array


def around_on_device(value: Tensor, error: Tensor) -> DeviceInterval:
    """As `enclosures.around`: value ± error, rounded outward, cut at 0; NaN where there is none."""
    ends = [
        torch.where(error == 0, value, torch.nextafter(end, end.new_tensor(beyond)))
        for end, beyond in ((value - error, -torch.inf), (value + error, torch.inf))
    ]
    low, high = ends[0].clamp(min=0.0), ends[1]
    valid = low <= high
    return DeviceInterval(*(torch.where(valid, end, torch.nan) for end in (low, high)))


def interval_shape(interval: Interval) -> tuple[int, ...]:
    """Its shape, wherever it lies."""
    if isinstance(interval, DeviceInterval):
        return tuple(interval.tensors[0].shape)
    return interval.lo.shape
