"""Results of the adversary against a model, printed beside its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import exactly, shown
from rnnbounds.impl.memory.adversary.attack import Attacked, attack, bracket
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.shell.output import echo, waiting

Found = Attacked | None
Attack = Annotated[
    bool, typer.Option("--attack", help="also seek inputs that are remembered for long")
]
Witness = Annotated[
    Path | None, path_option("--witness", "FILE", "write these as JSON; implies --attack")
]


def attacked(model: LoadedModel[Any], certificate: Certificate) -> Attacked:
    """The attack on the model of a certificate at its ε. Raises ContradictionError."""
    epsilons = [epsilon for epsilon, _ in certificate.windows]
    asked = certificate.input_bound if certificate.inputs is None else certificate.inputs
    with waiting("seeking inputs that are remembered for long"):
        found = attack(model, asked, epsilons)
    bracket(certificate, found)
    return found


def told(found: Found) -> dict[str, Any]:
    """Entry of the attack in a certificate's JSON document; {} without an attack."""
    return {} if found is None else {"attacked": found.to_json(inputs=False)}


def print_attacked(certificate: Certificate, found: Found) -> None:
    """The bracket of a certified model, the lower end alone of any other."""
    if found is None:
        return
    read = "" if found.readout is None else f", of predictions {shown(found.readout['tensor'])} h"
    echo(f"attacked: inputs that are proved to be remembered for longer than k steps{read}")
    for epsilon, least, k in bracket(certificate, found):
        if k is not None:
            echo(f"memory at ε = {exactly(epsilon)}: between {least} and {k}")
        elif least:
            echo(f"memory at ε = {exactly(epsilon)}: no k below {least} will do")
        else:
            echo(f"memory at ε = {exactly(epsilon)}: no inputs were found, which says nothing")
    for what, reason in found.skipped:
        echo(f"attack: {what}: {reason}")
