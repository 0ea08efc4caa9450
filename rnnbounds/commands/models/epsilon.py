"""ε as a number, or as a share of the certified bound on the output: ``--eps 5%``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import typer

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import EPSILONS
from rnnbounds.impl.errors import InputError, at_least, at_most, exactly
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.shell.input_text import ascii_number

_DIGITS, _ROUNDS = 4, 4  # of an ε that is a share


class Share(float):
    """A share of the bound on the output, 0.05 of 5%."""


def parse_epsilon(text: str) -> float:
    """The ε in the text, a Share if it ends in %; beyond all of the bound no input is needed."""
    number = ascii_number(text.removesuffix("%"))
    if number is None:
        raise typer.BadParameter(f"{text!r} is neither a number nor a share as 5%")
    if not text.endswith("%"):
        return number
    if not 0 < number <= 100:
        raise typer.BadParameter(
            f"{text} is no share of the bound on the output; give one above 0% and up to 100%, "
            f"beyond which no input is needed"
        )
    return Share(number / 100)


def epsilon_option(help: str) -> Any:
    """The option --eps, of numbers and shares."""
    help = f"{help}, or as 5% of the certified bound on ‖h‖₂, of a readout on ‖C h‖₂"
    return typer.Option("--eps", parser=parse_epsilon, metavar="E", help=help)


def require_numbers(eps: Sequence[float] | None) -> None:
    """Refuse shares where no bound on the output is certified; raises InputError."""
    for one in eps or ():
        if isinstance(one, Share):
            share = f"{100 * one:g}%"
            raise InputError(
                f"--eps {share} is a share of the certified bound on the output, and none is known "
                f"here; give ε as a number"
            )


def absolute(
    eps: Sequence[float], model: LoadedModel[Any], inputs: Callable[[], float]
) -> tuple[list[float], list[str]]:
    """ε with each share as a number, rounded down to four digits: of the least B_h ≥ ‖h_t‖₂ found,
    times ‖C‖₂ of a readout, which bounds ‖C h_t‖₂; then a line for each
    share that says so. `inputs` returns B, or the set of inputs. Raises InputError where no such
    bound is certified."""
    if not any(isinstance(one, Share) for one in eps):
        return list(eps), []
    scale = 1.0 if model.readout is None else model.readout.norm
    bound, numbers = math.inf, list(EPSILONS)
    for _ in range(_ROUNDS):  # B_h is that of the norm which is best at these ε
        certificate = certify(model, inputs(), numbers)
        size = certificate.constants["B_h"] * scale
        if not 0 < size < bound:
            break
        bound = size
        numbers = [_part(one, bound) if isinstance(one, Share) else one for one in eps]
        if certificate.verdict != "certified":
            break
    if math.isinf(bound):
        require_numbers(eps)
    output = "‖h‖₂" if model.readout is None else "‖C h‖₂ of the readout C"
    return numbers, [
        f"ε = {exactly(number)} is {100 * one:g} % of {at_least(bound)}, the certified bound "
        f"on {output}"
        for one, number in zip(eps, numbers, strict=True)
        if isinstance(one, Share)
    ]


def _part(share: float, bound: float) -> float:
    """That share of a bound, rounded down."""
    return float(at_most(share * bound * (1 - 2**-40), _DIGITS))
