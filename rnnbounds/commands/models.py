"""``rnnbounds certify`` and ``rnnbounds truncate``: a user's own trained model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from impl.cells.stacks.stack import PREFIX
from impl.cells.table import CELLS, NORM_NAMES, STACK
from impl.certificate.certify import EPSILONS, Certificate, certify
from impl.convert.truncate import NotCertifiedError, save_truncated, truncate
from impl.errors import shown
from impl.gradients.loss import LOSSES
from impl.memory.measure import Measurement, measure
from impl.reading.adapters import load_model
from impl.reading.files import check_target
from impl.reading.misfit import LISTED
from impl.reading.readout import ReadoutError
from impl.training.certificate import LENGTH, Task, TrainingCertificate
from reports.pages.certificate import FILES, certificate_page, write_certificate
from rnnbounds.commands.attacked import Attack, Found, Witness, attacked, print_attacked, told
from rnnbounds.commands.inputs import Asked, Bound, Inputs, Margin, Recorded
from rnnbounds.commands.layers import List, show_layers
from rnnbounds.commands.measured import print_measurement, tell_both
from rnnbounds.commands.options import As, path_option
from rnnbounds.output import (
    Format,
    at_least,
    at_most,
    check_folder,
    echo,
    print_json,
    print_table,
)  # fmt: skip

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="a safetensors file, a weights_only state dict, an ONNX model, or "
        "package.module:factory, whose code is run",
    ),
]
Cell = Annotated[
    str | None,
    typer.Option(
        "--cell",
        help=f"{', '.join(CELLS)}, any of them after {PREFIX} or {STACK} (of layers); asked for "
        "where the file, names and shapes do not say it",
        autocompletion=lambda: [*CELLS, STACK],
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="NAME",
        help="a tensor beside the cell's own that is left out on purpose; repeatable",
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(
        "--layer", help="the part of a bigger model that is meant, as encoder.rnn; --list has them"
    ),
]
Out = Annotated[
    Path,
    path_option("--out", "FILE", "the .safetensors file to write"),
]


Told = Annotated[
    Path | None,
    path_option("--page", "DIR", "for certificate.json and its page"),
]


def certify_model(
    model: Model,
    input_bound: Bound = None,
    inputs: Inputs = None,
    data: Recorded = None,
    margin: Margin = 0.0,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    readout: Annotated[
        str | None,
        typer.Option("--readout", help="the linear layer after the cell: ε is one of its outputs"),
    ] = None,
    eps: Annotated[list[float] | None, typer.Option("--eps", help="target ε; repeatable")] = None,
    norm: Annotated[
        str,
        typer.Option(
            "--norm",
            help=f"auto, {', '.join(NORM_NAMES)}",
            autocompletion=lambda: ["auto", *NORM_NAMES],
        ),
    ] = "auto",
    steps: Annotated[
        int | None, typer.Option("--steps", help="N, of a training run; needs --alpha")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="α, its steps being α/t; needs --steps")
    ] = None,
    loss: Annotated[
        str, typer.Option("--loss", help=f"of the last output: {', '.join(LOSSES)}")
    ] = "squared",
    readout_norm: Annotated[
        float, typer.Option("--readout-norm", help="c ≥ ‖C‖₂ of the outputs C h; 1 for the state")
    ] = 1.0,
    target_bound: Annotated[
        float | None,
        typer.Option("--target-bound", help="Y ≥ ‖y‖₂ of the squared loss; by default c B_h"),
    ] = None,
    length: Annotated[
        int, typer.Option("--length", help="T of the longest sequence: only k < T says anything")
    ] = LENGTH,
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "for certificate.json, its page"),
    ] = None,
    attack: Attack = False,
    witness: Witness = None,
    list_layers: List = False,
    format: As = Format.text,
) -> int:
    """Certify λ, the memory length k(ε) and all constants; exit 1 unless certified.

    With --steps and --alpha also the k after training, for projected descent in full and truncated.
    """
    if list_layers:
        return show_layers(model, cell, format)
    asked = Asked(input_bound, inputs, data, margin)
    if out is not None:
        check_folder(out, *FILES)
    task = Task(steps, alpha, loss, readout_norm, target_bound, length)
    if witness is not None:
        check_target(witness, model, suffix=".json")
    seek = attack or witness is not None
    if readout is not None and (seek or asked.measured):
        raise ReadoutError(
            "what is attacked and measured is the output h, not a readout's; leave one of them out"
        )
    read = load_model(model, cell, ignore=ignore or (), layer=layer, readout=readout)
    certificate = certify(read, asked.of(model, read.d), eps or EPSILONS, norm, training=task)
    against = attacked(read, certificate, witness) if seek else None
    document = certificate.to_json() | told(against)
    seen = None
    if data is not None and readout is None:
        bound = certificate.input_bound if certificate.inputs is None else certificate.inputs
        seen = measure(read, data, eps=eps or EPSILONS, input_bound=bound)
    if out is not None and seen is None:
        tell(document, out, model, format)
    elif out is not None and seen is not None:
        tell_both(seen, document, out, format)
    certified = certificate.verdict == "certified"
    return show_certificate(certificate, format, certified=certified, against=against, seen=seen)


def tell(
    document: Mapping[str, Any], folder: Path, model: Path, format: Format, check: str = ""
) -> None:
    """Write a certificate and its page; the folders of the model are left out of both."""
    write_certificate(document, folder, certificate_page(document, model.name, check))
    if format is Format.text:
        echo(f"wrote {folder / 'index.html'} and {folder / 'certificate.json'}")


def show_certificate(
    certificate: Certificate,
    format: Format,
    *,
    certified: bool = False,
    against: Found = None,
    seen: Measurement | None = None,
) -> int:
    """Print a certificate, then what was found against it, then what was seen on data; 1 unless
    what was asked is certified."""
    if format is Format.json:
        data = {} if seen is None else {"on_your_data": seen.to_json()}
        print_json(certificate.to_json() | told(against) | data)
    else:
        print_certificate(certificate)
        print_attacked(certificate, against)
        print_measurement(seen)
    return int(not certified)


def print_certificate(certificate: Certificate) -> None:
    """The certificate in lines of text."""
    sizes = f"{certificate.n} states, {certificate.dtype}"
    echo(f"{shown(certificate.model)}: {certificate.cell}, {sizes}, {read_from(certificate)}")
    print_left_out(certificate.to_json())
    if certificate.verdict == "certified":
        what = "state" if certificate.training is not None else "output h"
        if certificate.readout is not None:
            norm = at_least(certificate.readout["norm"])
            what = f"prediction {shown(certificate.readout['tensor'])} h"
            echo(f"‖{shown(certificate.readout['tensor'])}‖₂ ≤ {norm}")
        echo(f"certified: λ = {factor(certificate.lam)} < 1 in the {certificate.norm} norm")
        echo(f"{certificate.speaks_of}; ε bounds the {what}'s Euclidean norm")
        if certificate.rounding is None:
            echo(
                f"{certificate.dtype} rounding is not bounded ({certificate.unrounded}): ε speaks "
                f"of real arithmetic alone"
            )
        print_table(("ε", "k"), [(f"{eps:g}", k) for eps, k in certificate.windows])
        echo(
            f"from one state, under inputs at most δ apart, "
            f"{'outputs' if certificate.readout is None else 'predictions'} are at most "
            f"{at_least(certificate.constants['gain'])} δ apart"
        )
        if certificate.rounding is not None:
            echo(
                f"{certificate.dtype} rounding adds at most {at_least(certificate.rounding, 3)} "
                f"to a state"
            )
        echo(f"states: {certificate.states}")
    elif certificate.witness is not None:
        echo(f"refuted: {certificate.witness.text}")
        echo(f"so {certificate.witness.speaks}")
    elif certificate.reason is not None:
        echo(f"undecided: {certificate.reason}")
    else:
        echo("undecided: no norm that was tried certifies it, which says nothing about it")
    print_table(
        ("norm tried", "λ", "k"),
        [(name, factor(lam), "-" if k is None else k) for name, lam, k in certificate.tried],
    )
    for name, reason in certificate.skipped:
        echo(f"{name}: not tried: {reason}")
    if any(certificate.rounds_to_one.values()):
        counts = ", ".join(f"{count} in {at}" for at, count in certificate.rounds_to_one.items())
        echo(f"decays that may round to 1: {counts}")
    if certificate.verdict == "certified":
        print_training(certificate.training)
    if certificate.advice is not None:
        echo("what to do next:")
        for line in certificate.advice.lines():
            echo(f"  {line}")


def read_from(told: Certificate | Mapping[str, Any]) -> str:
    """The full names of the tensors that were read."""
    tensors = told.tensors if isinstance(told, Certificate) else told["tensors"]
    return f"read from {', '.join(map(shown, sorted(tensors.values())))}"


def print_left_out(told: Mapping[str, Any]) -> None:
    """The tensors that were not read, if any: on purpose, or since they are elsewhere."""
    if told["ignored"]:
        echo(f"ignored: {', '.join(map(shown, told['ignored']))}")
    if told["unread"]:
        names = [shown(name) for name in told["unread"]]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        echo(f"not read, under other prefixes: {', '.join(names[:LISTED])}{more}")


def factor(lam: float) -> str:
    """A factor rounded up to nine digits, or to as many as keep it below 1 if it is."""
    shown = (at_least(lam, digits) for digits in (9, 13, 17))
    return next((text for text in shown if not lam < 1 <= float(text)), repr(lam))


def print_training(training: TrainingCertificate | None) -> None:
    """What is certified about training, in lines of text."""
    if training is None:
        echo("training: nothing is certified about training cells of this kind")
        return
    if training.reason is not None:
        echo(f"training: nothing is certified: {training.reason}")
        return
    task, known = training.task, training.constants
    about = f", ‖y‖₂ ≤ {at_most(training.target)}" if task.loss == "squared" else ""
    echo(
        f"training: {task.loss} loss of C h, ‖C‖₂ ≤ {task.readout:g}{about}; all weights that are "
        f"no larger than the model's"
    )
    echo(
        f"gradients of the truncated model are within γ k λ^k, λ = {factor(known.lam)} "
        f"in the Euclidean norm, γ = {at_least(known.gamma)} "
        f"(G_0 = {at_least(known.G_0)}, G_1 = {at_least(known.G_1)}), and β-Lipschitz, "
        f"β = {at_least(known.beta)}"
    )
    if task.steps is None:
        return
    echo(
        f"after N = {task.steps} steps of size α/t, α = {task.alpha:g}, outputs are within ε of "
        f"those of the model that was trained truncated"
    )
    print_table(
        ("ε", "k after training", "largest α"),
        [
            (
                f"{epsilon:g}",
                "vacuous" if k is None else k,
                "none" if rate is None else at_most(rate),
            )
            for epsilon, k, rate in training.windows
        ],
    )
    if any(k is None for _, k, _ in training.windows):
        echo(
            f"vacuous: at α = {task.alpha:g} no k below T = {task.length} is certified; the bound "
            f"says something up to the largest α"
        )


def truncate_model(
    model: Model,
    eps: Annotated[float, typer.Option("--eps", help="target ε")],
    out: Out,
    input_bound: Bound = None,
    inputs: Inputs = None,
    data: Recorded = None,
    margin: Margin = 0.0,
    cell: Cell = None,
    ignore: Ignore = None,
    layer: Layer = None,
    page: Told = None,
    format: As = Format.text,
) -> int:
    """Write the feed-forward equivalent and its certificate; exit 1 if none is certified."""
    asked = Asked(input_bound, inputs, data, margin)
    check_target(out, model)
    if page is not None:
        check_folder(page, *FILES)
    read = load_model(model, cell, ignore=ignore or (), layer=layer)
    try:
        module, certificate = truncate(read, eps, asked.of(model, read.d))
    except NotCertifiedError as error:
        return show_certificate(error.certificate, format)
    save_truncated(module, certificate, out)
    if page is not None:
        tell(certificate, page, out, format, f"rnnbounds check {out.name}")
    if format is Format.json:
        print_json(certificate)
    else:
        echo(f"wrote {out}: k = {module.k} inputs, within {eps:g} of the recurrent model")
        echo(f"{certificate['cell']}, {read_from(certificate['information'])}")
        print_left_out(certificate["information"])
    return 0
