"""A set of inputs as it is typed: LOW:HIGH of each channel, or the name of a table in a file."""

from __future__ import annotations

from pathlib import Path

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box
from rnnbounds.impl.certificate.inputs import input_tensor
from rnnbounds.impl.errors import InputError


def ascii_number(text: str) -> float | None:
    """The number in ASCII text; None for text that is none."""
    try:
        return float(text) if text.isascii() else None
    except ValueError:
        return None


def parse_input_set(text: str, model: Path, d: int) -> InputSet:
    """The box LOW:HIGH,LOW:HIGH,… of d channels, one for all of them, or the rows of the tensor of
    that name in the model's file; raises InputError."""
    if ":" not in text and not set(text) <= set("0123456789.+-;, "):
        return input_tensor(model, text)
    ends = [tuple(map(ascii_number, interval.split(":"))) for interval in text.split(",")]
    if any(len(pair) != 2 or None in pair for pair in ends):
        raise InputError("--inputs is no box; write LOW:HIGH, as -1:1 or 0:1,-2:2")
    low, high = zip(*ends, strict=True)
    return input_box(low, high, d)
