"""Commands to copy, about the model of a call: with what the user gave about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rnnbounds.commands.models.inputs import InputOptions
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import exactly

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
