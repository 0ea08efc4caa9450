"""Which inputs a model is asked about, as options: a ball, a box, a table's rows or data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.shell.input_text import InputsError, parse_input_set

FROM_DATA = "from-data"


def _check_number(value: str | None) -> str | None:
    """The bound, if it is a number or what stands for one."""
    try:
        if value not in (None, FROM_DATA):
            float(str(value))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a valid number, nor {FROM_DATA}") from None
    return value


Bound = Annotated[
    str | None,
    typer.Option(
        "--input-bound",
        metavar="B",
        callback=_check_number,
        help=f"B, with ‖x_t‖₂ ≤ B for every input; {FROM_DATA}: B and a box from --data",
    ),
]
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="SET",
        help="in place of B: LOW:HIGH for all channels, or one for each with commas; or a tensor "
        "of the model's file with all inputs as its rows, as embed.weight",
    ),
]
Recorded = Annotated[
    Path | None,
    path_option(
        "--data",
        "FILE",
        f"recorded inputs, for {FROM_DATA}; certify also measures the model on them (measure "
        f"--near certifies near them alone)",
    ),
]
Margin = Annotated[
    float, typer.Option("--margin", help="δ: include all inputs within δ of those of --data")
]


@dataclass(frozen=True)
class InputOptions:
    """Input options of a call; raises InputsError if they contradict each other.

    required: true if the inputs must be stated; otherwise they default to those of the data.
    """

    bound: str | None
    inputs: str | None
    data: Path | None
    margin: float
    required: bool = True

    def __post_init__(self) -> None:
        stated_twice = self.bound is not None and self.inputs is not None
        if stated_twice or (self.required and not self.is_stated):
            raise InputsError("state the inputs once; give --input-bound or --inputs")
        if self.bound == FROM_DATA and self.data is None:
            raise InputsError(f"--input-bound {FROM_DATA} takes B from --data; name its file")
        if self.margin and self.bound != FROM_DATA:
            raise InputsError(f"--margin is for --input-bound {FROM_DATA}; leave it out")

    @property
    def is_stated(self) -> bool:
        """True if the inputs are stated, by --input-bound or by --inputs."""
        return self.bound is not None or self.inputs is not None

    def input_set(self, model: Path, d: int) -> float:
        """B, or the set of inputs of d channels; raises InputError."""
        if self.bound == FROM_DATA and self.data is not None:
            return input_data(self.data, self.margin)
        if self.inputs is None:
            return float(str(self.bound))
        return parse_input_set(self.inputs, model, d)
