"""Options that commands about a model share.

This module and those of the commands import torch when they are called, not before: a call that is
wrong is answered at once.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import path_option, require_file
from rnnbounds.impl.errors import RangeError

DATA_SUFFIXES = (".npy", ".npz", ".csv", ".safetensors")  # of files of recorded inputs
EPILOG = """Cells: linear, lstm, lstm-projected, gru, gru-cho, and of each activation
rnn-ACTIVATION, leaky-ACTIVATION and deep-ACTIVATION: identity (of rnn it is linear), relu,
leaky-relu, tanh, sigmoid, softplus, gelu, silu, elu, erf, sin, arctan. Several layers: stacked-
before one of these names, or stack for the one that fits."""


def _require_inputs(text: str | None) -> str | None:
    """The set of inputs, a bound that is one or a file that is there; raises InputError."""
    if text is not None and Path(text).suffix in DATA_SUFFIXES:
        require_file(Path(text))
    bound = 0.0 if text is None else ascii_number(text)
    if bound is not None and not 0 <= bound < math.inf:
        raise RangeError("the input bound B", bound, "a number ≥ 0")
    return text


def _cells() -> list[str]:
    from rnnbounds.impl.cells.table import CELLS, STACK

    return [*CELLS, STACK]


Model = Annotated[Path, typer.Argument(metavar="MODEL", callback=require_file,
    help="a safetensors file, one of torch.save, an ONNX model, or package.module:factory, "
    "whose code is run")]  # fmt: skip
Cell = Annotated[str | None, typer.Option("--cell", rich_help_panel="Model",
    help="the cell, if the file does not determine it; one of those below",
    autocompletion=_cells)]  # fmt: skip
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="NAME",
    rich_help_panel="Model",
    help="leave out this tensor, which the cell does not read; repeatable")]  # fmt: skip
Layer = Annotated[str | None, typer.Option("--layer", rich_help_panel="Model",
    help="the recurrent part of a bigger model, as encoder.rnn; certify --list lists "
    "them")]  # fmt: skip
Direction = Annotated[str | None, typer.Option("--direction", rich_help_panel="Model",
    hidden=True, help="forward or backward: one cell of a layer that reads its inputs in both "
    "directions", autocompletion=lambda: ["forward", "backward"])]  # fmt: skip
Readout = Annotated[str | None, typer.Option("--readout", metavar="NAME", rich_help_panel="Model",
    help="the linear layer after the cell; ε is then about its outputs")]  # fmt: skip
Inputs = Annotated[str | None, typer.Option("--inputs", metavar="SET", rich_help_panel="Inputs",
    callback=_require_inputs,
    help="LOW:HIGH for all channels, or one for each with commas; B, with ‖x_t‖₂ ≤ B; a FILE of "
    "recorded inputs, whose box is meant; or a tensor of the model's file with all inputs as its "
    "rows, as embed.weight")]  # fmt: skip
Out = Annotated[Path, path_option("--out", "DIR",
    "for the model, certificate.json and its page; or a .safetensors file", "Output")]  # fmt: skip


def recorded_inputs(help: str) -> Any:
    """The option --data, of a file of recorded inputs."""
    return path_option("--data", "FILE", help, "Inputs", callback=require_file)


def ascii_number(text: str) -> float | None:
    """The number in ASCII text; None for text that is none."""
    try:
        return float(text) if text.isascii() else None
    except ValueError:
        return None


def parse_epsilon(text: str) -> Any:
    """The ε in the text: a number, or a share as it stands, as 5%."""
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
    return text


def _require_epsilon(eps: Any) -> Any:
    """One ε or several, each a share or a number > 0; raises RangeError."""
    for one in eps if isinstance(eps, list | tuple) else (eps,):
        if isinstance(one, float) and not 0 < one < math.inf:
            raise RangeError("ε", one, "a number > 0")
    return eps


def epsilon_option(help: str) -> Any:
    """The option --eps, of numbers and shares."""
    help = f"{help}, or as 5% of the certified bound on ‖h‖₂, of a readout on ‖C h‖₂"
    return typer.Option(
        "--eps",
        parser=parse_epsilon,
        metavar="E",
        help=help,
        callback=_require_epsilon,
        rich_help_panel="Question",
    )
