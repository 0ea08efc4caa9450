"""Which inputs a model is asked about, as options: a ball, a box, a table's rows or the box of
recorded inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import read_data
from rnnbounds.shell.input_text import ascii_number, parse_input_set

FROM_DATA = "from-data"


def _check_number(value: str | None) -> str | None:
    """The bound, if it is a number or what stands for one."""
    if value not in (None, FROM_DATA) and ascii_number(str(value)) is None:
        raise typer.BadParameter(f"{value!r} is not a valid number, nor {FROM_DATA}")
    return value


Bound = Annotated[str | None, typer.Option("--input-bound", metavar="B", callback=_check_number,
    help=f"B, with ‖x_t‖₂ ≤ B for every input; {FROM_DATA}: B and a box from --data")]  # fmt: skip
Inputs = Annotated[str | None, typer.Option("--inputs", metavar="SET",
    help="in place of B: LOW:HIGH for all channels, or one for each with commas; or a tensor "
    "of the model's file with all inputs as its rows, as embed.weight")]  # fmt: skip
Recorded = Annotated[Path | None, path_option("--data", "FILE",
    f"recorded inputs, for {FROM_DATA}; certify also measures the model on them (measure "
    f"--near certifies near them alone)")]  # fmt: skip


@dataclass(frozen=True)
class RecordedInputs:
    """The file of recorded inputs."""

    path: Path

    @cached_property
    def sequences(self) -> Data:
        """The inputs, read once; raises InputError."""
        return read_data(self.path)

    @property
    def options(self) -> Mapping[str, str | None]:
        """The options by their names, to write a command."""
        return {"--data": str(self.path)}


@dataclass(frozen=True)
class InputOptions:
    """Input options of a call; raises InputError if they contradict each other.

    required: true if the inputs must be stated; otherwise they default to those of the data.
    """

    bound: str | None
    inputs: str | None
    data: RecordedInputs | None
    required: bool = True

    def __post_init__(self) -> None:
        stated_twice = self.bound is not None and self.inputs is not None
        if stated_twice or (self.required and not self.is_stated):
            of_data = "" if stated_twice or self.data is None else f", as --input-bound {FROM_DATA}"
            raise InputError(f"state the inputs once; give --input-bound or --inputs{of_data}")
        if self.uses_data and self.data is None:
            raise InputError(f"--input-bound {FROM_DATA} takes B from --data; name its file")
        if self.inputs == FROM_DATA:
            raise InputError(f"{FROM_DATA} is a bound; say --input-bound {FROM_DATA}")

    @property
    def is_stated(self) -> bool:
        """True if the inputs are stated, by --input-bound or by --inputs."""
        return self.bound is not None or self.inputs is not None

    @property
    def uses_data(self) -> bool:
        """True if --data says which inputs there are."""
        return self.bound == FROM_DATA

    def input_set(self, model: Path, d: int) -> float:
        """B, or the set of inputs of d channels; raises InputError."""
        if self.inputs is not None:
            return parse_input_set(self.inputs, model, d)
        if self.data is not None and self.uses_data:
            return input_data(self.data.sequences)
        return float(str(self.bound))
