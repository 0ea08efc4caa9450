"""``rnnbounds unitary`` and ``rnnbounds check``: unitary equivalents, and certificates of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import torch
import typer

from impl.checker.truncated import check_truncated
from impl.checker.truncated_file import is_truncated
from impl.checker.unitary import Source, check
from impl.convert.unitary import NoUnitaryError, save_unitary, unitary
from impl.errors import InputError
from impl.reading.adapters import load_model
from impl.reading.files import check_target, shown
from rnnbounds.commands.models import (
    As,
    Bound,
    Cell,
    Ignore,
    Model,
    Out,
    print_certificate,
    print_left_out,
    read_from,
)
from rnnbounds.output import Format, echo, print_json, print_table


class CellError(InputError):
    """A cell of no source."""

    def __init__(self) -> None:
        super().__init__("--cell and --ignore are about --source; name a source, or leave them out")


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("unitary")(unitary_model)
    app.command("check")(check_file)


def unitary_model(
    model: Model,
    input_bound: Bound,
    out: Out,
    cell: Cell = None,
    ignore: Ignore = None,
    rescale: Annotated[
        bool, typer.Option("--rescale", help="search for scales that need fewer states")
    ] = False,
    format: As = Format.text,
) -> int:
    """Write the unitary equivalent of a ReLU model; exit 1 unless ‖W‖₂ < 1 is certified."""
    check_target(out, model)
    try:
        made = unitary(model, input_bound, rescale=rescale, cell=cell, ignore=ignore or ())
    except NoUnitaryError as error:
        if format is Format.json:
            print_json(error.certificate.to_json())
        else:
            print_certificate(error.certificate)
        return 1
    save_unitary(made, out)
    if format is Format.json:
        print_json(made.certificate)
        return 0
    told = made.certificate
    kept = "" if bool((made.scaling == 1).all()) else ", the first ones rescaled"
    echo(f"wrote {out}: {made.states} states for {made.n}{kept}")
    echo(f"{told['cell']}, {read_from(told['information'])}")
    print_left_out(told["information"])
    echo(f"orthogonality defect at most {told['orthogonality_defect']:.3g}")
    echo(f"the same outputs for every ‖x_t‖₂ ≤ {input_bound:g}, in real arithmetic")
    rounding = told["difference"]["own_dtype"]
    if rounding is not None:
        echo(f"rounding ({told['dtype']} against float64) moves a state by at most {rounding:.3g}")
    return 0


def check_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="what 'rnnbounds unitary' or 'rnnbounds truncate' wrote"
        ),
    ],
    source: Annotated[
        Path | None, typer.Option("--source", help="the original model, to compare its weights")
    ] = None,
    cell: Annotated[
        str | None,
        typer.Option("--cell", help="the cell of --source, where its file does not say"),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="a tensor of --source to leave out")
    ] = None,
    format: As = Format.text,
) -> int:
    """Prove the certificate of a file anew in ball arithmetic; exit 1 if any part falls.

    Of truncated models those of vanilla cells can be checked.
    """
    original = None
    if source is not None:
        held = load_model(source, cell, ignore=ignore or ())
        weights = {role: part.to(torch.float64).numpy() for role, part in held.weights.items()}
        original = Source(held.name, held.dtype, weights)
    elif cell is not None or ignore:
        raise CellError
    certificate, findings = (check_truncated if is_truncated(file) else check)(file, original)
    holds = all(finding.holds for finding in findings)
    if format is Format.json:
        print_json(
            {
                "file": str(file),
                "holds": holds,
                "findings": [
                    {"name": found.name, "holds": found.holds, "detail": found.detail}
                    for found in findings
                ],
                "certificate": certificate,
            }
        )
        return int(not holds)
    shape = certificate["shape"]
    echo(f"{file}: the certificate {'holds' if holds else 'FAILS'}")
    echo(
        f"of {certificate['cell']}, n = {shape['n']}, d = {shape['d']}, {certificate['dtype']}, "
        f"for every ‖x_t‖₂ ≤ {certificate['input_bound']:g}"
    )
    print_table(
        ("part", "", "found"),
        [(found.name, "holds" if found.holds else "FAILS", found.detail) for found in findings],
    )
    for name, value in certificate["information"].items():
        echo(f"information, not checked: {name}: {shown(json.dumps(value))}")
    return int(not holds)
