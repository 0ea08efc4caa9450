"""A set of inputs as it is typed: LOW:HIGH of each channel, or the name of a table in a file."""

from __future__ import annotations

from pathlib import Path

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box
from rnnbounds.impl.certificate.inputs import input_tensor
from rnnbounds.impl.errors import InputError


class InputsError(InputError):
    """Inputs that are not stated as they can be."""


def parse_input_set(text: str, model: Path, d: int) -> InputSet:
    """The box LOW:HIGH,LOW:HIGH,… of d channels, one for all of them, or the rows of the tensor of
    that name in the model's file; raises InputError."""
    if ":" not in text and not set(text) <= set("0123456789.+-;, "):
        return input_tensor(model, text)
    try:
        ends = [tuple(map(float, interval.split(":"))) for interval in text.split(",")]
        low, high = zip(*ends, strict=True)
    except ValueError:
        raise InputsError("--inputs is no box; write LOW:HIGH, as -1:1 or 0:1,-2:2") from None
    return input_box(low, high, d)
