"""Kinds of cells whose weights are torch's: W (g n, n), U (g n, d) and two biases for g gates."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from impl.cells.kind import Analysis, Kind, Weights, fixed
from impl.errors import NotFiniteError
from impl.reading.model import Cell, LoadedModel

SUFFIX = "_l0"
BIASES = ("bias_ih", "bias_hh")


def drive(weights: Weights, x: Tensor) -> Tensor:
    """U x + b_ih in rows."""
    return linear(x, weights["weight_ih"], weights.get("bias_ih"))


def finite(weights: Weights) -> None:
    """Raise NotFiniteError if the sum of the two biases overflows."""
    biases = [weights[role] for role in BIASES if role in weights]
    if biases and not bool(torch.isfinite(torch.stack(biases).sum(0)).all()):
        raise NotFiniteError("bias_ih + bias_hh")


def torch_kind(
    name: str,
    *,
    gates: int,
    width: int,
    mode: str | None,
    default: bool,
    norms: tuple[str, ...],
    build: Callable[[Tensor, Tensor, Tensor, Tensor], Cell],
    step: Callable[[Tensor, Tensor | float, Tensor, Tensor], Tensor],
    analyse: Callable[[LoadedModel[Any], float], Analysis],
    **more: Any,
) -> Kind:
    """The kind of a cell of g gates whose states have width·n numbers.

    build: the cells of W (B, g n, n), U (B, g n, d), b_ih and b_hh (B, g n). step: one step in rows
    of W, b_hh, the drive U x + b_ih (…, M, g n) and states (…, M, width·n). The others are those of
    `Kind`.
    """

    def cells(weights: Weights) -> Cell:
        finite(weights)
        W = weights["weight_hh"]
        zero = torch.zeros_like(W[:, :, 0])
        b_ih, b_hh = (weights.get(role, zero) for role in BIASES)
        return build(W, weights["weight_ih"], b_ih, b_hh)

    def advance(weights: Weights, driven: Tensor, s: Tensor) -> Tensor:
        return step(weights["weight_hh"], weights.get("bias_hh", 0.0), driven, s)

    rows = "n" if gates == 1 else f"{gates}n"
    shapes = {"weight_hh": f"{rows} n", "weight_ih": f"{rows} d", "bias_ih": rows, "bias_hh": rows}
    return Kind(
        name=name,
        layout=fixed(shapes, BIASES, state="n" if width == 1 else f"{width}n"),
        norms=norms,
        build=cells,
        step=advance,
        analyse=analyse,
        drive=drive,
        default=default,
        suffix=SUFFIX,
        mode=mode,
        gates=gates,
        width=width,
        **more,
    )
