"""Commands to copy, about the model of a call: with what the user gave about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rnnbounds.commands.models.inputs import FROM_DATA, InputOptions
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
    arithmetic: str = "ieee"

    @property
    def measure_command(self) -> str:
        """`rnnbounds measure`, of the recorded inputs that were named or of a FILE."""
        return self._command("measure", self._data or {"--data": DATA})

    @property
    def _data(self) -> Mapping[str, str | None]:
        return {} if self.asked.data is None else self.asked.data.options

    def next_steps(self, certificate: Certificate, attacked: bool) -> list[str]:
        """List next steps for a certified or refuted model, each a line `words: command`; [] for
        other verdicts."""
        if certificate.verdict == "refuted":
            return [
                f"see what it remembers of recorded inputs: {self.measure_command}",
                f"or change it and ask again: {kind_of(certificate.cell).remedy}",
            ]
        if certificate.verdict != "certified":
            return []
        return self.further(certificate.windows[0][0], attacked=attacked)

    def further(self, eps: float, *, attacked: bool) -> list[str]:
        """List next steps for a certified model at that ε: the attack, and serving it."""
        epsilon = exactly(eps)
        data = {**self._data} if self.asked.bound == FROM_DATA else {}
        if self.arithmetic != "ieee":
            data["--arithmetic"] = self.arithmetic
        steps = []
        if not attacked:
            attack = self._command("certify", {**data, "--eps": epsilon}, "--attack")
            steps.append(f"see how much shorter its memory may be: {attack}")
        if self.readout is None:
            options = {**data, "--eps": epsilon, "--out": "short.safetensors"}
            steps.append(f"serve it without a state: {self._command('truncate', options)}")
        return steps

    def _command(self, name: str, more_values: Mapping[str, str | None], *flags: str) -> str:
        inputs = self.asked
        values = {
            **more_values,
            "--input-bound": inputs.bound, "--inputs": inputs.inputs,
            "--margin": repr(inputs.margin) if inputs.margin else None,
            "--cell": self.cell, "--layer": self.layer, "--readout": self.readout,
            "--direction": self.direction,
        }  # fmt: skip
        options = [*values.items(), *(("--ignore", name) for name in self.ignore)]
        words = [f"{name}={value}" for name, value in options if value is not None]
        return shlex.join(["rnnbounds", name, str(self.model), *words, *flags])
