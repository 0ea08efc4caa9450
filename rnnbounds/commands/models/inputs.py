"""Which inputs a model is asked about, as options: a ball, a box, a table's rows or what recorded
inputs fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.impl.arithmetic.inputs.data_sets import SETS, changing_box
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.certificate.inputs import data_change, data_set, input_data
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import read_data
from rnnbounds.shell.input_text import InputsError, ascii_number, parse_input_set

FROM_DATA = "from-data"


def _check_number(value: str | None) -> str | None:
    """The bound, if it is a number or what stands for one."""
    if value not in (None, FROM_DATA) and ascii_number(str(value)) is None:
        raise typer.BadParameter(f"{value!r} is not a valid number, nor {FROM_DATA}")
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
        "of the model's file with all inputs as its rows, as embed.weight; or of --data its "
        "frames, their hull, a box in their principal axes or a zonotope around them",
    ),
]
Change = Annotated[
    str | None,
    typer.Option(
        "--change",
        metavar="D",
        callback=_check_number,
        help=f"|x_t − x_{{t−1}}| ≤ D in each channel, beside a box; {FROM_DATA}: as in --data",
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
Columns = Annotated[
    str | None,
    typer.Option("--columns", metavar="A,B", help="the columns of --data that are channels"),
]
Group = Annotated[
    str | None,
    typer.Option("--group", metavar="COLUMN", help="rows of --data with one value are a series"),
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="has to increase within each series of --data"),
]
Lengths = Annotated[
    Path | None,
    path_option("--lengths", "FILE", "of the padded sequences of --data, one number for each"),
]
Margin = Annotated[
    float, typer.Option("--margin", help="δ: include all inputs within δ of those of --data")
]


@dataclass(frozen=True)
class RecordedInputs:
    """The file of recorded inputs, the columns of a table, and the lengths of padded sequences."""

    path: Path
    columns: str | None = None
    group: str | None = None
    time: str | None = None
    lengths: Path | None = None

    @classmethod
    def of(
        cls, path: Path | None, columns: str | None, group: str | None, time: str | None,
        lengths: Path | None,
    ) -> RecordedInputs | None:  # fmt: skip
        """The recorded inputs of a call; None without --data, of which all others are about."""
        if path is not None:
            return cls(path, columns, group, time, lengths)
        if any(option is not None for option in (columns, group, time, lengths)):
            raise InputsError(
                "--columns, --group, --time and --lengths are of --data; name its file"
            )
        return None

    @cached_property
    def sequences(self) -> Data:
        """The inputs, read once; raises InputError."""
        return read_data(
            self.path, columns=self.columns, group=self.group, time=self.time, lengths=self.lengths
        )

    @property
    def options(self) -> Mapping[str, str | None]:
        """The options by their names, to write a command."""
        return {
            "--data": str(self.path), "--columns": self.columns, "--group": self.group,
            "--time": self.time, "--lengths": None if self.lengths is None else str(self.lengths),
        }  # fmt: skip


@dataclass(frozen=True)
class InputOptions:
    """Input options of a call; raises InputsError if they contradict each other.

    required: true if the inputs must be stated; otherwise they default to those of the data.
    """

    bound: str | None
    inputs: str | None
    data: RecordedInputs | None
    margin: float
    change: str | None = None
    required: bool = True

    def __post_init__(self) -> None:
        stated_twice = self.bound is not None and self.inputs is not None
        if stated_twice or (self.required and not self.is_stated):
            of_data = "" if stated_twice or self.data is None else f", as --input-bound {FROM_DATA}"
            raise InputsError(f"state the inputs once; give --input-bound or --inputs{of_data}")
        if self.bound == FROM_DATA and self.data is None:
            raise InputsError(f"--input-bound {FROM_DATA} takes B from --data; name its file")
        if self.inputs == FROM_DATA:
            raise InputsError(f"{FROM_DATA} is a bound; say --input-bound {FROM_DATA}")
        if self.inputs in SETS and self.data is None:
            raise InputsError(f"--inputs {self.inputs} takes them from --data; name its file")
        if self.change is not None and (not self.is_stated or self.inputs in SETS):
            raise InputsError("--change stands beside a box; give --inputs LOW:HIGH")
        if self.change == FROM_DATA and self.data is None:
            raise InputsError(f"--change {FROM_DATA} takes D from --data; name its file")
        if self.margin and self.bound != FROM_DATA:
            raise InputsError(f"--margin is for --input-bound {FROM_DATA}; leave it out")

    @property
    def is_stated(self) -> bool:
        """True if the inputs are stated, by --input-bound or by --inputs."""
        return self.bound is not None or self.inputs is not None

    @property
    def uses_data(self) -> bool:
        """True if --data says which inputs there are."""
        return FROM_DATA in (self.bound, self.change) or self.inputs in SETS

    def input_set(self, model: Path, d: int) -> float:
        """B, or the set of inputs of d channels; raises InputError."""
        given = self._free_set(model, d)
        if self.change is None:
            return given
        if not isinstance(given, InputSet):
            raise InputsError("--change stands beside a box; give --inputs LOW:HIGH")
        if self.change == FROM_DATA and self.data is not None:
            return data_change(self.data.sequences.require_width(given.d), given)
        return changing_box(given, float(self.change))

    def _free_set(self, model: Path, d: int) -> float:
        """The set without --change."""
        if self.inputs in SETS and self.data is not None:
            return data_set(str(self.inputs), self.data.sequences.require_width(d))
        if self.bound == FROM_DATA and self.data is not None:
            return input_data(self.data.sequences, self.margin)
        if self.inputs is None:
            return float(str(self.bound))
        return parse_input_set(self.inputs, model, d)
