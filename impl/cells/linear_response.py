"""Impulse responses of cells that are linear, to inputs in a ball or in a set."""

from functools import partial

import numpy as np
import torch

from rnnbounds.impl.arithmetic.inputs.input_images import image_of_set
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.norms.impulses import Array, ImpulseResponse, LinearSystem


def response_to(inputs: float, system: LinearSystem) -> ImpulseResponse:
    """The response to inputs ‖x‖₂ ≤ `inputs`, or in that `InputSet`."""
    ranges = partial(_ranges, inputs) if isinstance(inputs, InputSet) else None
    return ImpulseResponse(system, float(inputs), ranges)


@np.errstate(all="ignore")
def _ranges(inputs: InputSet, C: Array) -> tuple[Array, Array]:
    """The largest of −C(x, 1) and of C(x, 1) over the set: C (m, n, d + 1) -> (m, n) each."""
    rows = torch.from_numpy(C.reshape(1, -1, C.shape[-1]))
    bias = rows[..., -1].contiguous()
    found = image_of_set(inputs, rows[..., :-1].contiguous(), Interval) + Interval(bias, bias)
    return (-found.low).numpy().reshape(C.shape[:2]), found.high.numpy().reshape(C.shape[:2])
