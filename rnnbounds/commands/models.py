"""``rnnbounds certify`` and ``rnnbounds truncate``: a user's own trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from impl.certificate import EPSILONS, Certificate, certify
from impl.norms import NORMS
from impl.truncate import NotCertifiedError, save_truncated, truncate
from rnnbounds.output import Format, print_json, print_table

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="a safetensors file or a weights_only state dict")
]
Cell = Annotated[
    str | None, typer.Option("--cell", help="linear, rnn-tanh, rnn-relu, …; rnn-tanh by default")
]
Bound = Annotated[float, typer.Option("--input-bound", help="B, with ‖x_t‖₂ ≤ B for every input")]
As = Annotated[Format, typer.Option("--format", help="text or json")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("certify")(certify_model)
    app.command("truncate")(truncate_model)


def certify_model(
    model: Model,
    input_bound: Bound,
    cell: Cell = None,
    eps: Annotated[list[float] | None, typer.Option("--eps", help="target ε; repeatable")] = None,
    norm: Annotated[str, typer.Option("--norm", help=f"auto, {', '.join(NORMS)}")] = "auto",
    format: As = Format.text,
) -> int:
    """Certify λ, the memory length k(ε) and all constants; exit 1 unless certified."""
    certificate = certify(model, input_bound, eps or EPSILONS, norm, cell=cell)
    if format is Format.json:
        print_json(certificate.to_json())
    else:
        print_certificate(certificate)
    return int(certificate.verdict != "certified")


def print_certificate(certificate: Certificate) -> None:
    """The certificate in lines of text."""
    head = f"{certificate.model}: {certificate.cell}, {certificate.n} states, {certificate.dtype}"
    typer.echo(head)
    if certificate.verdict == "certified":
        typer.echo(f"certified: λ = {certificate.lam:.9g} < 1 in the {certificate.norm} norm")
        typer.echo(
            f"every ‖x_t‖₂ ≤ {certificate.input_bound:g}; ε bounds the state's Euclidean norm"
        )
        print_table(("ε", "k"), [(f"{eps:g}", k) for eps, k in certificate.windows])
        if certificate.rounding is not None:
            typer.echo(
                f"{certificate.dtype} rounding adds at most {certificate.rounding:.3g} to a state"
            )
    elif certificate.witness is not None:
        typer.echo(f"refuted: {certificate.witness.text}")
    else:
        typer.echo("undecided: no norm that was tried certifies it, which says nothing about it")
    print_table(
        ("norm tried", "λ", "k"),
        [(name, f"{lam:.9g}", "-" if k is None else k) for name, lam, k in certificate.tried],
    )


def truncate_model(
    model: Model,
    input_bound: Bound,
    eps: Annotated[float, typer.Option("--eps", help="target ε")],
    out: Annotated[Path, typer.Option("--out", help="safetensors file to write")],
    cell: Cell = None,
    format: As = Format.text,
) -> int:
    """Write the feed-forward equivalent and its certificate; exit 1 if none is certified."""
    try:
        module, certificate = truncate(model, eps, input_bound, cell=cell)
    except NotCertifiedError as error:
        if format is Format.json:
            print_json(error.certificate.to_json())
        else:
            print_certificate(error.certificate)
        return 1
    save_truncated(module, certificate, out)
    if format is Format.json:
        print_json(certificate)
    else:
        typer.echo(f"wrote {out}: k = {module.k} inputs, within {eps:g} of the recurrent model")
    return 0
