"""Conditions on a model without which a gap of its last outputs means nothing, each tried on it.

One run decides whether outputs repeat; whether an output depends on later inputs, or on other
windows of its batch, is tried on changed inputs of the data's own values: what is found is shown,
what is not found is not disproved. Runs of equal shape may differ by rounding (an FFT, sums in
another order): a change counts from √u of the largest output on, u the dtype's unit roundoff.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.blackbox.model import CausalModel, MemoryLimitError, last_of

PROBED, SPLITS = 4, 16  # windows, and times after which inputs are changed


class ConditionError(InputError):
    """A model that is not causal, not deterministic, or mixes windows."""


class Checked(NamedTuple):
    """causal: True if causality was tried, False if the model gives one output a window, of which
    it cannot be. outputs: how many numbers an output has."""

    causal: bool
    outputs: int


def check_model(model: CausalModel, x: Tensor) -> Checked:
    """Try the conditions on windows x (N, T, …), N ≥ 1, or on fewer where memory runs out.

    Raises ConditionError where one fails, and MemoryLimitError where two windows do not fit.
    """
    try:
        return _checked(model, x)
    except MemoryError:
        if len(x) <= 2:
            raise MemoryLimitError from None
    return check_model(model, x[: len(x) // 2])


def _checked(model: CausalModel, x: Tensor) -> Checked:
    x = x.repeat(2, *[1] * (x.ndim - 1)) if len(x) == 1 else x
    y, again = (model.outputs(x) for _ in range(2))
    last_of(y)  # raises NotFiniteError
    if not torch.equal(y, again):
        raise ConditionError(
            f"{model.title} has two outputs for the same inputs; call .eval() first, and let it "
            f"keep no state between calls"
        )
    other = x.roll(1, 0).flip(1)
    for row in (0, -1):
        mixed = other.clone()
        mixed[row] = x[row]
        if (gap := _changed(y[row], model.outputs(mixed)[row])).any():
            raise ConditionError(
                f"{model.title}: the output on a window changes by {float(gap.max()):.3g} with "
                f"the other windows of its batch; call .eval() first, take inputs (N, T, …), or "
                f"run one window at a time in a function of your own"
            )
    if y.ndim == 3:
        _check_causal(model, x, y, other)
    return Checked(y.ndim == 3, y.shape[-1])


def _check_causal(model: CausalModel, x: Tensor, y: Tensor, other: Tensor) -> None:
    """Raise ConditionError with the first output (of those seen) that later inputs changed."""
    T = x.shape[1]
    first: tuple[int, int, float] | None = None
    for s in sorted({1 + i * (T - 1) // SPLITS for i in range(SPLITS)} - {T}):
        found = _changed(y[:, :s], model.outputs(torch.cat([x[:, :s], other[:, s:]], 1))[:, :s])
        by_time = found.amax((0, 2))
        if by_time.any():
            t = int(by_time.nonzero()[0])
            if first is None or t + 1 < first[0]:
                first = t + 1, s, float(by_time[t])
    if first is not None:
        t, s, gap = first
        raise ConditionError(
            f"{model.title} is not causal: y_{t} changed by {gap:.3g} when the inputs after time "
            f"{s} did; mask what is to come, or pass one direction"
        )


def _changed(y: Tensor, other: Tensor) -> Tensor:
    """|y − y'| where it is no rounding, else 0; infinity for NaN."""
    unit = torch.finfo(y.dtype).eps ** 0.5 if y.is_floating_point() else 0.0
    y, other = y.double(), other.double()
    apart = (y - other).abs().nan_to_num(torch.inf, torch.inf)
    return torch.where(apart > unit * y.abs().amax(), apart, 0.0)
