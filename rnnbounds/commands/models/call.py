"""The inputs and the ε of a call about a model, and commands to copy about the model of a call.

Inputs are a ball, a box, a table's rows or the box of recorded ones; ε is a number, or a share of
the certified bound on the output: ``--eps 5%``.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rnnbounds.commands.models.options import ascii_number
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, bound_of, input_box
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.advice import training_calls
from rnnbounds.impl.certificate.certify import absolute
from rnnbounds.impl.certificate.inputs import input_data, input_tensor
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import InputError, at_least, exactly
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import READERS, read_data


def parse_input_set(text: str, model: Path, d: int, home: Path = Path()) -> float | InputSet:
    """The bound B; the box LOW:HIGH,LOW:HIGH,… of d channels, or one for all of them; the box of a
    file of recorded inputs below `home`; or the rows of the tensor of that name in the model's
    file. Raises InputError."""
    if (B := ascii_number(text)) is not None:
        return bound_of(B)
    if (path := home / text).is_file() or path.suffix in READERS:
        return input_data(path)
    if ":" not in text and not set(text) <= set("0123456789.+-;, "):
        return input_tensor(model, text)
    ends = [tuple(map(ascii_number, interval.split(":"))) for interval in text.split(",")]
    if any(len(pair) != 2 or None in pair for pair in ends):
        raise InputError("--inputs is no box; write LOW:HIGH, as -1:1 or 0:1,-2:2")
    low, high = zip(*ends, strict=True)
    return input_box(low, high, d)


@dataclass(frozen=True)
class RecordedInputs:
    """The file of recorded inputs."""

    path: Path

    @cached_property
    def sequences(self) -> Data:
        """The inputs, read once; raises InputError."""
        return read_data(self.path)


@dataclass(frozen=True)
class AskedInputs:
    """The inputs of a call: those of --inputs, else the box of the recorded ones, else [−1, 1]."""

    text: str | None
    data: RecordedInputs | None

    def input_set(self, model: Path, d: int) -> float | InputSet:
        """B, or the set of inputs of d channels; raises InputError."""
        if self.text is not None:
            return parse_input_set(self.text, model, d)
        if self.data is not None:
            return input_data(self.data.sequences)
        return input_box(-1, 1, d)

    @property
    def line(self) -> str | None:
        """The line that says which inputs were taken where none were stated."""
        if self.text is not None:
            return None
        taken = "[-1, 1] in each channel" if self.data is None else "the box of --data"
        return (
            f"no inputs were stated: taken is {taken}; say others by --inputs LOW:HIGH, B or FILE"
        )


def numbers_of(
    eps: Sequence[float | str], model: LoadedModel[Any], inputs: Callable[[], float | InputSet]
) -> tuple[list[float], list[str]]:
    """ε as numbers, and a line for each share that says what it is of; `inputs` returns B, or the
    set of inputs. Raises InputError where no bound on the output is certified."""
    found = absolute(eps, model, inputs)
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
    asked: AskedInputs
    cell: str | None = None
    ignore: Sequence[str] = ()
    layer: str | None = None
    readout: str | None = None
    direction: str | None = None
    eps: Sequence[float | str] = ()

    @property
    def measure_command(self) -> str:
        """`rnnbounds measure`, of the recorded inputs that were named or of a FILE."""
        return self._command("measure", self._data or {"--data": DATA})

    @property
    def _data(self) -> Mapping[str, str | None]:
        data = self.asked.data
        return {} if data is None else {"--data": str(data.path)}

    def next_steps(
        self, certificate: Certificate, attacked: bool, *, measured: bool = False
    ) -> list[str]:
        """List next steps, each a line `words: command`; of an undecided model those beside its
        certificate's own. measured: true if the model was measured on its data."""
        if (witness := certificate.witness) is not None:
            measure = f"see what it remembers of recorded inputs: {self.measure_command}"
            return [
                *([] if measured else [measure]),
                *self.near_steps,
                *training_calls(kind_of(certificate.cell), certificate.asked_inputs),
                # Other inputs help where the witness has one that is not in every set around 0.
                *["or ask of inputs without the constant one of the witness"] * any(witness.input),
            ]
        if certificate.verdict != "certified":
            return self.near_steps
        return self._further(certificate, attacked)

    def _further(self, certificate: Certificate, attacked: bool) -> list[str]:
        """Next steps for a certified model at its first ε: the attack, and serving it."""
        steps, epsilon = [], exactly(certificate.windows[0][0])
        if not attacked:
            attack = self._command("certify", {**self._data, "--eps": epsilon}, "--attack")
            steps.append(f"see how much shorter its memory may be: {attack}")
        if self.direction is None:
            options = {"--eps": epsilon, "--out": "short.safetensors"}
            if self.asked.text is None and self.asked.data is not None:
                options["--inputs"] = str(self.asked.data.path)
            steps.append(f"serve it without a state: {self._command('truncate', options)}")
        return steps

    @property
    def near_steps(self) -> list[str]:
        """The question about inputs near the recorded ones."""
        if self.asked.data is None or self.direction is not None:
            return []
        near = {**self._data, "--near": "0.001"}
        return [f"certify k near the recorded inputs: {self._command('measure', near)}"]

    def _command(self, name: str, more_values: Mapping[str, str | None], *flags: str) -> str:
        inputs = self.asked
        values = {
            **more_values, "--inputs": more_values.get("--inputs", inputs.text),
            "--cell": self.cell, "--layer": self.layer, "--readout": self.readout,
            "--direction": self.direction,
        }  # fmt: skip
        options = [*values.items(), *(("--ignore", name) for name in self.ignore)]
        if "--eps" not in values:
            options += [
                ("--eps", one if isinstance(one, str) else exactly(one)) for one in self.eps
            ]
        words = [f"{name}={value}" for name, value in options if value is not None]
        return shlex.join(["rnnbounds", name, str(self.model), *words, *flags])
