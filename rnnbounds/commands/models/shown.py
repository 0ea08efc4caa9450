"""A certificate in lines of text, and on its page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from impl.certificate.record import Certificate
from impl.errors import at_least, at_most, exactly, factor, shown
from impl.memory.measure import Measurement
from impl.reading.misfit import LISTED
from impl.training.certificate import TrainingCertificate
from reports.pages.certificate import certificate_page, write_certificate
from reports.words import plural
from rnnbounds.commands.models.attacked import (
    Found,
    print_attacked,
    told,
)
from rnnbounds.commands.models.measured import print_measurement
from rnnbounds.shell.output import (
    Format,
    echo,
    print_json,
    print_table,
)  # fmt: skip

CERTIFYING = "certifying {} states: norms, then witnesses against them"


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
    sizes = f"{plural(certificate.n, 'state')}, {certificate.dtype}"
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
        print_table(("ε", "k"), [(exactly(eps), k) for eps, k in certificate.windows])
        echo(
            f"from one state, under inputs at most δ apart, "
            f"{'outputs' if certificate.readout is None else 'predictions'} are at most "
            f"{at_least(certificate.constants['gain'])} δ apart"
        )
        if certificate.rounding is not None:
            echo(
                f"{certificate.dtype} rounding adds at most {at_least(certificate.rounding, 3)} "
                f"to a state, in arithmetic as accurate as a CPU's: cuDNN's is not"
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
    if certificate.next_steps:
        echo("what to do next:")
        for line in certificate.next_steps:
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


def print_training(training: TrainingCertificate | None) -> None:
    """What is certified about training, in lines of text."""
    if training is None:
        echo("training: nothing is certified about training cells of this kind")
        return
    if training.reason is not None:
        echo(f"training: nothing is certified: {training.reason}")
        return
    task, known = training.task, training.constants
    of, about = "of C h", ""
    if task.loss == "squared":
        of, about = "½‖C h − y‖₂²", f", ‖y‖₂ ≤ {at_most(training.target)}"
    echo(
        f"training: {task.loss} loss {of}, ‖C‖₂ ≤ {exactly(task.readout)}{about}; all weights "
        f"that are no larger than the model's"
    )
    echo(
        f"gradients of the truncated model are within γ k λ^k, λ = {factor(known.lam)} "
        f"in the Euclidean norm, γ = {at_least(known.gamma)} "
        f"(G_0 = {at_least(known.G_0)}, G_1 = {at_least(known.G_1)}), and β-Lipschitz, "
        f"β = {at_least(known.beta)}"
    )
    if task.steps is None or task.alpha is None:
        return
    echo(
        f"after N = {task.steps} steps of size α/t, α = {exactly(task.alpha)}, outputs are within "
        f"ε of those of the model that was trained truncated"
    )
    print_table(
        ("ε", "k after training", "largest α"),
        [
            (
                exactly(epsilon),
                "vacuous" if k is None else k,
                "none" if rate is None else at_most(rate),
            )
            for epsilon, k, rate in training.windows
        ],
    )
    if any(k is None for _, k, _ in training.windows):
        echo(
            f"vacuous: at α = {exactly(task.alpha)} no k below T = {task.length} is certified; the "
            f"bound says something up to the largest α"
        )
