"""The command that measures an undecided model, to copy: with what the user gave about it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from impl.certificate.record import Certificate
from rnnbounds.commands.models.inputs import Asked

DATA = "FILE"  # stands for recorded inputs where none were named


def with_measuring(
    certificate: Certificate,
    model: Path,
    asked: Asked,
    *,
    cell: str | None,
    ignore: Sequence[str] | None,
    layer: str | None,
    readout: str | None = None,
) -> Certificate:
    """The certificate with `rnnbounds measure` of its model as the first thing to do next."""
    given = {
        "--data": str(asked.data or DATA), "--input-bound": asked.bound, "--inputs": asked.inputs,
        "--margin": repr(asked.margin) if asked.margin else None,
        "--cell": cell, "--layer": layer, "--readout": readout,
    }  # fmt: skip
    options = [*given.items(), *(("--ignore", name) for name in ignore or ())]
    words = [f"{name}={value}" for name, value in options if value is not None]
    return replace(certificate, measuring=shlex.join(["rnnbounds", "measure", str(model), *words]))
