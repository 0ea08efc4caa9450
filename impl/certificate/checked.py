"""The public `check`: the certificate of a file, proved anew in balls and without torch."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnbounds.impl.certificate.notebook import Row, Shown
from rnnbounds.impl.checker.truncated import check_certificate, check_truncated
from rnnbounds.impl.checker.unitary import Finding, Source
from rnnbounds.impl.checker.unitary import check as check_unitary
from rnnbounds.impl.checker.weights import Readout, readout_named
from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.format.on_data import NEAR, SEEN, Near
from rnnbounds.impl.format.sealed import (
    EXPORTS,
    READOUT,
    TRUNCATED,
    UNITARY,
    is_certificate,
    read_truncated,
)
from rnnbounds.impl.format.tensors import said_format

if TYPE_CHECKING:
    from rnnbounds.impl.models.loaded import LoadedModel
    from rnnbounds.impl.reading.adapters import Source as Model
    from rnnbounds.impl.reading.data.sequences import DataSource

Checker = Callable[
    [Path, Source | None, Readout | None, Callable[[], bool] | None],
    tuple[dict[str, Any], tuple[Finding, ...]],
]
CHECKERS: Mapping[str, Checker] = {
    TRUNCATED.family: check_truncated,
    UNITARY.family: lambda path, source, readout, near: check_unitary(path, source),
}


@dataclass(frozen=True, eq=False, repr=False)
class Checked(Shown):
    """The parts of a file's certificate, each proved or not; true if every part is proved.

    certificate: what the file states. findings: the parts, each with its name, whether it `holds`,
    and the detail that was found.

    >>> checked = rnnbounds.check("short.safetensors")
    >>> checked.holds, [part.name for part in checked.findings if not part.holds]
    """

    file: str
    certificate: Mapping[str, Any]
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """True if there are parts, and every one is proved."""
        return bool(self.findings) and all(part.holds for part in self.findings)

    def __bool__(self) -> bool:
        return self.holds

    def line(self) -> str:
        """The verdict on the file."""
        if (verdict := self.certificate.get("verdict")) in (NEAR, SEEN):
            proved = "proved" if self.holds else "NOT PROVED"
            return f"{self.file}: k is {proved}, {verdict}; nothing is certified"
        return f"{self.file}: the certificate {'holds' if self.holds else 'FAILS'}"

    def rows(self) -> list[Row]:
        """The parts of the certificate, and what was found of each."""
        return [
            {"part": part.name, "verdict": "holds" if part.holds else "FAILS", "found": part.detail}
            for part in self.findings
        ]

    def to_dict(self) -> dict[str, Any]:
        """The record as `rnnbounds check --format json` prints it."""
        parts = [{"name": p.name, "holds": p.holds, "detail": p.detail} for p in self.findings]
        document = {"file": self.file, "holds": self.holds, "findings": parts}
        return document | {"certificate": self.certificate}


def check(
    file: str | os.PathLike[str],
    *,
    source: Model | LoadedModel[Any] | None = None,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    direction: str | None = None,
    data: DataSource | None = None,
) -> Checked:
    """Prove the certificate of a file again, in ball arithmetic that shares nothing with its maker.

    `file` is one of `save_truncated`, of `rnnbounds unitary`, or a certificate in JSON, which needs
    its model: the `source`, with `cell`, `ignore`, `layer` and `direction` as in `certify`. Of the
    other files the weights are compared with those of the source, if it is given; without one torch
    is not imported. A truncated model whose k is proved near recorded inputs needs these `data`: by
    them it is proved again, by the program that wrote it; a k that was only seen is never. What is
    not proved of a certificate in JSON is named as information. Raises an InputError for an export,
    a file that is not intact, and a certificate that cannot be checked.

    >>> assert rnnbounds.check("short.safetensors")
    """
    path = Path(file)
    if path.suffix in EXPORTS:
        raise InputError(
            f"{shown(path)} is an export, which is not checked; check the .safetensors that it was "
            f"written beside"
        )
    if source is None and (cell is not None or layer is not None or ignore or direction):
        raise InputError(
            "cell, ignore, layer and direction are about a source; name one, or leave them out"
        )
    if data is not None and (direction == "backward" or getattr(source, "backward", False)):
        raise InputError("a k near data is of a cell that reads them forwards; name no other cell")
    original, readout = None, None
    if source is not None:
        named = readout_named(path)
        original, readout = _read(source, cell, ignore, layer, named, direction)
    if not is_certificate(path):
        near = None if data is None else partial(_prove_near, path, data)
        certificate, findings = _checker(path)(path, original, readout, near)
    elif original is not None:
        certificate, findings = check_certificate(path, original, readout)
    else:
        problem = "this is a certificate of a model, which is not in the file"
        raise InputError(f"{problem}; name it as source (--source)")
    if data is not None and certificate.get("verdict") != NEAR:
        problem = "data are for a model whose k is proved near them, and this one is not"
        raise InputError(f"{problem}; leave them out")
    return Checked(str(path), certificate, findings)


def _prove_near(path: Path, data: DataSource) -> bool:
    """True if the k of a truncated model is proved again near the data: torch runs the model."""
    from rnnbounds.impl.models.surroundings import isolated
    from rnnbounds.impl.near.again import is_proved_near
    from rnnbounds.impl.reading.adapters import load_model

    record = read_truncated(path).record
    with isolated():
        readout = None if record.readout is None else READOUT
        model = load_model(path, record.cell, readout=readout)
        return isinstance(record, Near) and is_proved_near(model, record, data)


def _checker(path: Path) -> Checker:
    """The checker of a file, by the format that it says of itself; raises InputError."""
    try:
        format_name = said_format(path)
    except OSError as cause:
        raise _uncheckable(path, str(cause.strerror)) from None
    for family, checker in CHECKERS.items():
        if format_name.startswith(family):
            return checker
    if format_name.startswith("rnnbounds/"):
        raise _uncheckable(path, f"is of the format {shown(format_name)}, which is not read")
    raise _uncheckable(path, "is not a file that can be checked, or is damaged")


def _uncheckable(path: Path, reason: str) -> InputError:
    """The refusal of a file that nothing here wrote, one that is cut, and none at all."""
    remedy = "name what 'rnnbounds truncate', 'unitary' or 'certify --out' wrote"
    return InputError(f"{shown(path)}: {reason}; {remedy}")


def _read(
    source: Model | LoadedModel[Any],
    cell: str | None,
    ignore: Collection[str],
    layer: str | None,
    readout: str | None,
    direction: str | None,
) -> tuple[Source, Readout | None]:
    """The original model and its readout, whatever wrote them: torch reads them."""
    from rnnbounds.impl.models.surroundings import isolated
    from rnnbounds.impl.reading.adapters import load_model

    with isolated():
        model = load_model(
            source, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
        )
        weights = {role: part.double().numpy() for role, part in model.weights.items()}
        original, read = Source(model.name, model.dtype, weights), model.readout
        if read is None:
            return original, None
        dtype = str(read.weight.dtype).removeprefix("torch.")
        return original, Readout(read.name, dtype, read.weight.double().numpy())
