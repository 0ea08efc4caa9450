"""``rnnbounds check``: the certificate of a file, proved anew in balls and without torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import FormatOption, require_file
from rnnbounds.impl.checker.truncated import check_certificate, check_truncated
from rnnbounds.impl.checker.unitary import Finding, Source, check
from rnnbounds.impl.checker.weights import Readout, readout_named
from rnnbounds.impl.errors import InputError, exactly, shown
from rnnbounds.impl.format.sealed import EXPORTS, TRUNCATED, UNITARY, is_certificate
from rnnbounds.impl.format.tensors import said_format
from rnnbounds.reports.pages.model.answer import vector_name
from rnnbounds.shell.output import Format, echo, print_json, print_table, show_status

Checker = Callable[[Path, Source | None], tuple[dict[str, Any], tuple[Finding, ...]]]
CHECKERS: Mapping[str, Checker] = {TRUNCATED.family: check_truncated, UNITARY.family: check}
_MOST_SIDES = 4  # sides of a box


def _uncheckable(path: Path, reason: str) -> InputError:
    """The refusal of a file that nothing here wrote, one that is cut, and none at all."""
    remedy = "name what 'rnnbounds truncate', 'unitary' or 'certify --out' wrote"
    return InputError(f"{shown(path)}: {reason}; {remedy}")


def check_file(
    file: Annotated[Path, typer.Argument(metavar="FILE",
        help="a file of 'rnnbounds truncate', 'unitary' or 'certify --out'")],
    source: Annotated[Path | None, typer.Option("--source",
        callback=require_file,
        help="the original model, to compare its weights")] = None,
    cell: Annotated[str | None, typer.Option("--cell",
        help="the cell of --source, if its file does not name it")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore",
        help="a tensor of --source to leave out")] = None,
    layer: Annotated[str | None, typer.Option("--layer",
        help="the recurrent part of --source, as encoder.rnn")] = None,
    direction: Annotated[str | None, typer.Option("--direction",
        help="forward or backward, one of --source's two")] = None,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Prove the certificate of a file again in ball arithmetic; exit 1 if any part fails.

    A certificate.json needs the model, --source: λ, the windows and the constants of states are
    proved for it, and the rest is listed as not checked.
    """
    if file.suffix in EXPORTS:
        raise InputError(
            f"{shown(file)} is an export, which is not checked; check the .safetensors that it was "
            f"written beside"
        )
    if source is None and (cell is not None or layer is not None or ignore or direction):
        raise InputError(
            "--cell, --ignore, --layer and --direction are about --source; name a source, or leave "
            "them out"
        )
    named = readout_named(file) if is_certificate(file) else None
    original, readout = None, None
    if source is not None:
        original, readout = read_source(source, cell, ignore or (), layer, named, direction)
    if not is_certificate(file):
        checker = partial(_find_checker(file), file, original)
    elif original is not None:
        checker = partial(check_certificate, file, original, readout)
    else:
        problem = "this is a certificate of a model, which is not in the file"
        raise InputError(f"{problem}; name it with --source")
    with show_status("proving the certificate anew"):
        certificate, findings = checker()
    holds = all(finding.holds for finding in findings)
    if format is Format.json:
        parts = [{"name": one.name, "holds": one.holds, "detail": one.detail} for one in findings]
        document = {"file": str(file), "holds": holds, "findings": parts}
        print_json(document | {"certificate": certificate})
        return int(not holds)
    shape = certificate["shape"]
    echo(f"{file}: the certificate {'holds' if holds else 'FAILS'}")
    subject = f"{certificate['cell']}, n = {shape['n']}, d = {shape['d']}, {certificate['dtype']}"
    subject += f", of the {shown(vector_name(certificate))}" if "readout" in certificate else ""
    echo(f"of {subject}, {_inputs_text(certificate)}")
    _print_findings(findings, certificate["information"])
    return int(not holds)


def _find_checker(file: Path) -> Checker:
    """Who checks it, by the format that it says of itself; raises InputError."""
    try:
        format_name = said_format(file)
    except OSError as cause:
        raise _uncheckable(file, str(cause.strerror)) from None
    for family, checker in CHECKERS.items():
        if format_name.startswith(family):
            return checker
    if format_name.startswith("rnnbounds/"):
        raise _uncheckable(file, f"is of the format {shown(format_name)}, which is not read")
    raise _uncheckable(file, "is not a file that can be checked, or is damaged")


def _inputs_text(document: dict[str, Any]) -> str:
    """The inputs that are spoken of; of a table's rows the box around them."""
    box = document.get("inputs")
    box_text = "" if box is None else f"x_t in {_box_text(box)}, "
    return f"for every {box_text}‖x_t‖₂ ≤ {exactly(document['input_bound'])}"


def _box_text(box: dict[str, list[float]]) -> str:
    """The ends that are proved, of the first few channels."""
    ends = zip(box["low"], box["high"], strict=True)
    sides = [f"[{float(low)!r}, {float(high)!r}]" for low, high in ends]
    more = f" × …, {len(sides)} channels" if len(sides) > _MOST_SIDES else ""
    return " × ".join(sides[:_MOST_SIDES]) + more


def _print_findings(findings: Sequence[Finding], information: Mapping[str, Any]) -> None:
    rows = [(one.name, "holds" if one.holds else "FAILS", one.detail) for one in findings]
    print_table(("part", "", "found"), rows)
    for name, value in information.items():
        if value not in ([], {}):
            echo(
                f"information, not checked: {name}: {shown(json.dumps(value, ensure_ascii=False))}"
            )


def read_source(
    path: Path, cell: str | None, ignore: Sequence[str], layer: str | None = None,
    readout: str | None = None, direction: str | None = None,
) -> tuple[Source, Readout | None]:  # fmt: skip
    """The original model and its readout, whatever wrote them: torch reads them."""
    from rnnbounds.impl.reading.adapters import load_model

    model = load_model(path, cell, ignore=ignore, layer=layer, readout=readout, direction=direction)
    weights = {role: part.double().numpy() for role, part in model.weights.items()}
    source, readout_read = Source(model.name, model.dtype, weights), model.readout
    if readout_read is None:
        return source, None
    C = readout_read.weight
    dtype = str(C.dtype).removeprefix("torch.")
    return source, Readout(readout_read.name, dtype, C.double().numpy())
