"""Results of the adversary against a model, printed beside its certificate."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.errors import exactly, shown
from rnnbounds.impl.memory.adversary.attack import Attacked, attack, bracket
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.reports.pages.model.vectors import map_name
from rnnbounds.shell.output import echo, show_status

Attack = Annotated[bool, typer.Option("--attack",
    help="also seek inputs that are remembered for long")]  # fmt: skip


def attack_certified(model: LoadedModel[Any], certificate: Certificate) -> Attacked:
    """The attack on the model of a certificate at its ε. Raises ContradictionError."""
    epsilons = [epsilon for epsilon, _ in certificate.windows]
    inputs = certificate.input_bound if certificate.inputs is None else certificate.inputs
    with show_status("seeking inputs that are remembered for long"):
        result = attack(model, inputs, epsilons)
    bracket(certificate, result)
    return result


def attack_entry(result: Attacked | None) -> dict[str, Any]:
    """Entry of the attack in a certificate's JSON document; {} without an attack."""
    return {} if result is None else {"attacked": result.to_json(inputs=False)}


def print_attacked(certificate: Certificate, result: Attacked | None) -> None:
    """The bracket of a certified model, the lower end alone of any other."""
    if result is None:
        return
    output = "output h"
    if result.readout is not None:
        output = shown(map_name(result.readout))
    echo(
        f"attacked: where inputs are proved whose last k do not fix the {output} to within ε, "
        f"memory is at least k + 1"
    )
    for epsilon, lower, k in bracket(certificate, result):
        if k is not None:
            between = f"exactly {k}" if k == lower else f"between {lower} and {k}"
            echo(f"memory at ε = {exactly(epsilon)}: {between}")
        elif lower:
            echo(f"memory at ε = {exactly(epsilon)}: no k below {lower} will do")
        else:
            echo(f"memory at ε = {exactly(epsilon)}: no inputs were found, which says nothing")
    for subject, reason in result.skipped:
        echo(f"attack: {subject}: {reason}")
