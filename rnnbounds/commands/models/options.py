"""Options that commands about a model share, and commands to copy about the model of a call.

Inputs are a ball, a box, a table's rows or the box of recorded ones; ε is a number, or a share of
the certified bound on the output: ``--eps 5%``.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, STACK, kind_of
from rnnbounds.impl.certificate.certify import absolute
from rnnbounds.impl.certificate.inputs import input_data, input_tensor
from rnnbounds.impl.certificate.record import Certificate, share_of
from rnnbounds.impl.errors import InputError, at_least, exactly
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import read_data
from rnnbounds.impl.reading.recognition.recognise import DIRECTIONS


def cells_by_family(names: Iterable[str]) -> str:
    """Format the cell names at the end of the help for --cell, by family (first word of the name):
    a paragraph for the families of at most four, then one for each larger family."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.partition("-")[0], []).append(name)
    large = [family for family in families.values() if len(family) > 4]
    small_families = [
        name for family in families.values() if family not in large for name in family
    ]
    paragraphs = "\n\n".join(", ".join(family) for family in (small_families, *large))
    return (
        f"Cells: {paragraphs}\n\nSeveral layers: {PREFIX} before one of these names, or {STACK} "
        "for the one that fits."
    )


EPILOG = cells_by_family(CELLS)
Model = Annotated[Path, typer.Argument(metavar="MODEL",
    help="a safetensors file, one of torch.save, an ONNX model, or package.module:factory, "
    "whose code is run")]  # fmt: skip
Cell = Annotated[str | None, typer.Option("--cell",
    help="the cell, if the file does not determine it; one of those below",
    autocompletion=lambda: [*CELLS, STACK])]  # fmt: skip
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="NAME",
    help="leave out this tensor, which the cell does not read; repeatable")]  # fmt: skip
Layer = Annotated[str | None, typer.Option("--layer",
    help="the recurrent part of a bigger model, as encoder.rnn; certify --list lists "
    "them")]  # fmt: skip
Direction = Annotated[str | None, typer.Option("--direction",
    help="forward or backward: one cell of a layer that reads its inputs in both directions",
    autocompletion=lambda: list(DIRECTIONS))]  # fmt: skip
Readout = Annotated[str | None, typer.Option("--readout", metavar="NAME",
    help="the linear layer after the cell; ε is then about its outputs")]  # fmt: skip
Out = Annotated[Path, path_option("--out", "FILE", "the .safetensors file to write")]


PageFolder = Annotated[Path | None, path_option("--page", "DIR",
    "write certificate.json and its page there")]  # fmt: skip


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

    def input_set(self, model: Path, d: int) -> float | InputSet:
        """B, or the set of inputs of d channels; raises InputError."""
        if self.inputs is not None:
            return parse_input_set(self.inputs, model, d)
        if self.data is not None and self.uses_data:
            return input_data(self.data.sequences)
        return float(str(self.bound))


def parse_epsilon(text: str) -> Any:
    """The ε in the text: a number, or a share as it stands, as 5%."""
    if (number := ascii_number(text)) is not None:
        return number
    try:
        share_of(text)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    return text


def epsilon_option(help: str) -> Any:
    """The option --eps, of numbers and shares."""
    help = f"{help}, or as 5% of the certified bound on ‖h‖₂, of a readout on ‖C h‖₂"
    return typer.Option("--eps", parser=parse_epsilon, metavar="E", help=help)


def require_numbers(eps: Sequence[float | str] | None) -> None:
    """Refuse shares where no bound on the output is certified; raises InputError."""
    for share in (one for one in eps or () if isinstance(one, str)):
        raise InputError(
            f"--eps {share} is a share of the certified bound on the output, and none is known "
            f"here; give ε as a number"
        )


def numbers_of(
    eps: Sequence[float | str], model: LoadedModel[Any], inputs: Callable[[], float | InputSet]
) -> tuple[list[float], list[str]]:
    """ε as numbers, and a line for each share that says what it is of; `inputs` returns B, or the
    set of inputs. Raises InputError where no bound on the output is certified."""
    if not any(isinstance(one, str) for one in eps):
        return list(eps), []  # type: ignore[arg-type]  # all are numbers
    found = absolute(eps, model, inputs())
    output = "‖h‖₂" if model.readout is None else "‖C h‖₂ of the readout C"
    return [number for number, _ in found], [
        f"ε = {exactly(number)} is {100 * of[0]:g} % of {at_least(of[1])}, the certified bound "
        f"on {output}"
        for number, of in found
        if of is not None
    ]


DATA = "FILE"  # stands for recorded inputs where none were named


@dataclass(frozen=True)
class ModelCall:
    """A model as it was named on the command line, and what was said of it."""

    model: Path
    asked: InputOptions
    cell: str | None = None
    ignore: Sequence[str] = ()
    layer: str | None = None
    readout: str | None = None
    direction: str | None = None

    @property
    def measure_command(self) -> str:
        """`rnnbounds measure`, of the recorded inputs that were named or of a FILE."""
        return self._command("measure", self._data or {"--data": DATA})

    @property
    def _data(self) -> Mapping[str, str | None]:
        return {} if self.asked.data is None else self.asked.data.options

    def next_steps(
        self, certificate: Certificate, attacked: bool, *, measured: bool = False
    ) -> list[str]:
        """List next steps, each a line `words: command`; of an undecided model those beside its
        certificate's own. measured: true if the model was measured on its data."""
        if certificate.verdict == "refuted":
            measure = f"see what it remembers of recorded inputs: {self.measure_command}"
            return [
                *([] if measured else [measure]),
                *self._of_data(),
                f"or change it and ask again: {kind_of(certificate.cell).remedy}",
            ]
        if certificate.verdict != "certified":
            return self._of_data()
        return self.further(certificate.windows[0][0], attacked=attacked)

    def further(self, eps: float, *, attacked: bool) -> list[str]:
        """List next steps for a certified model at that ε: the attack, and serving it."""
        epsilon = exactly(eps)
        data = {**self._data} if self.asked.uses_data else {}
        steps = []
        if not attacked:
            attack = self._command("certify", {**data, "--eps": epsilon}, "--attack")
            steps.append(f"see how much shorter its memory may be: {attack}")
        if self.readout is None and self.direction is None:
            options = {**data, "--eps": epsilon, "--out": "short.safetensors"}
            steps.append(f"serve it without a state: {self._command('truncate', options)}")
        return steps

    def _of_data(self) -> list[str]:
        """The question about inputs near the recorded ones."""
        if self.asked.data is None or self.direction is not None:
            return []
        near = {**self._data, "--near": "0.001", "--states": "recorded"}
        return [f"or certify k near the recorded inputs: {self._command('measure', near)}"]

    def _command(self, name: str, more_values: Mapping[str, str | None], *flags: str) -> str:
        inputs = self.asked
        values = {
            **more_values,
            "--input-bound": inputs.bound, "--inputs": inputs.inputs,
            "--cell": self.cell, "--layer": self.layer, "--readout": self.readout,
            "--direction": self.direction,
        }  # fmt: skip
        options = [*values.items(), *(("--ignore", name) for name in self.ignore)]
        words = [f"{name}={value}" for name, value in options if value is not None]
        return shlex.join(["rnnbounds", name, str(self.model), *words, *flags])
