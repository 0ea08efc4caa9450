"""Which cell a system is one of, and the columns of the matrix: the cells that people run.

A kind of system belongs to a cell by `CELL_OF`, a cell to a column by its name, and `COLUMNS` says
which of the assumptions that tie a claim to some cells each column meets.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import isfinite
from typing import NamedTuple, get_args

from impl.cells.activation import ACTIVATIONS, LIBRARY_ACTIVATIONS
from impl.cells.stacks.stack import PREFIX
from impl.cells.table import CELLS, STACK
from properties.systems.kinds import (
    ACTIVATIONS_OF,
    CAUSAL,
    CERTIFIED_KINDS,
    EXACT_REGIMES,
    FAMILIES,
    Kind,
)
from properties.systems.spec import SystemSpec
from reports.records.matrix import Column

NO_CELL, REGIME, NAMED = "no-cell", "regime", "named"
LAYERED = "layered"  # of one layer it is a vanilla network
KNOWN = ACTIVATIONS | LIBRARY_ACTIVATIONS
# The cell of each kind of system; for None its activation says which vanilla network it is, and
# for REGIME its regime names the cell.
CELL_OF: dict[str, str | None] = {
    **dict.fromkeys(("linear", "rnn", "unstable"), None),
    "descent": "linear",
    **dict.fromkeys(("gradient", "smooth", "training"), None),
    **dict.fromkeys(("unitary", "urnn", "candidate", "sigmoid", "planted"), None),
    **dict.fromkeys(("matrix", "quadratic", "projection", "block"), NO_CELL),
    **{name: name for name in ("lstm", "lstm-projected", "gru", "gru-cho", "deep", "stack")},
    **{name: name for name in ("leaky", "diagonal", "min-gru", "min-lstm", "selective")},
    **{name: name for name in ("tcn", "gated-conv", "wavenet", "attention")},
    **{"layered": "deep", "cascade": "stack", "modes": "diagonal", "jordan": "linear"},
    **dict.fromkeys(("monotone", "scan"), REGIME),
    **dict.fromkeys(CERTIFIED_KINDS, NAMED),
}
# Where a kind does not take every activation.
ONLY = ACTIVATIONS_OF | {
    "linear": ("identity",), "unstable": ("identity", "tanh"),
}  # fmt: skip


class Meets(NamedTuple):
    """A column's title, and which of the assumptions that tie claims to cells it meets, by id."""

    title: str
    assumptions: tuple[str, ...] = ()


# Of which something is certified about training.
TRAINABLE = tuple(
    name
    for name, kind in CELLS.items()
    if kind.trains and isfinite(KNOWN["identity" if name == "linear" else name[4:]].curvature)
)
OF_KIND = {"certified-rnn": TRAINABLE, "certified-relu": ("rnn-relu",)}
# Every recurrent cell contracts in some norm, if its weights are small enough.
STATE = ("contraction", "gradient gap", "smooth")
LAYERS = "deep transition"
COLUMNS: dict[str, Meets] = {
    "linear": Meets(
        "linear", (*STATE, "linear", "rnn", "system", "descent", "Jordan block", LAYERS)
    ),
    "rnn-smooth": Meets("RNN, smooth ρ", (*STATE, "rnn", "system", "sigmoidal", LAYERS)),
    "rnn-kinked": Meets("RNN, kinked ρ", ("contraction", "rnn", "relu", "patterns", LAYERS)),
    "lstm": Meets("LSTM", (*STATE, "cells")),
    "lstm-projected": Meets("LSTM, projected", STATE),
    "gru": Meets("GRU", (*STATE, "gru")),
    "gru-cho": Meets("GRU, Cho", (*STATE, "gru")),
    "deep": Meets("deep transition", (*STATE, LAYERS)),
    "stack": Meets("stack", (*STATE, "lower layer")),
    "leaky": Meets("echo state", STATE),
    "diagonal": Meets("diagonal", (*STATE, "diagonal")),
    "min-gru": Meets("minGRU", (*STATE, "scan")),
    "min-lstm": Meets("minLSTM", (*STATE, "scan")),
    "selective": Meets("selective", (*STATE, "scan")),
    "tcn": Meets("TCN"),
    "gated-conv": Meets("gated convolution"),
    "wavenet": Meets("WaveNet"),
    "attention": Meets("attention"),
    NO_CELL: Meets("no cell"),
}


def vanilla(activation: str) -> str:
    """The name of the vanilla network with that activation."""
    return "linear" if activation == "identity" else f"rnn-{activation}"


def cell_of(spec: SystemSpec) -> str:
    """The name of the cell that a system is one of, as `--cell` has it; a kind that is not in the
    table is a cell of its own."""
    base = CELL_OF.get(spec.kind, spec.kind)
    if base is None:
        return vanilla(spec.activation)
    if base == REGIME:
        return spec.regime
    if base == NAMED:
        return STACK if spec.cell.startswith(PREFIX) else spec.cell
    if spec.kind == LAYERED and spec.layers == 1:
        return vanilla(spec.activation)
    exact = f"{base}-{spec.activation}"
    return exact if exact in CELLS else base


def column_of(cell: str) -> str:
    """The column of a cell: kinds with an activation in their name share one, but RNNs two."""
    base, _, activation = cell.partition("-")
    if activation not in KNOWN:
        return cell
    if base != "rnn":
        return base
    return "rnn-smooth" if isfinite(KNOWN[activation].curvature) else "rnn-kinked"


def cells_of(kind: str) -> tuple[str, ...]:
    """The cells that the systems of a kind, or of a family of kinds, can be."""
    if kind in FAMILIES:
        return tuple(cell for member in FAMILIES[kind] for cell in cells_of(member))
    base = CELL_OF.get(kind, kind)
    if base == NAMED:
        return (*CELLS, STACK) if kind == CERTIFIED_KINDS[0] else OF_KIND[kind]
    if base == REGIME:
        return (CAUSAL | EXACT_REGIMES)[kind]
    own = tuple(name for name in CELLS if column_of(name) == base) or (str(base),)
    if base is not None and kind != LAYERED:
        return own
    networks = tuple(vanilla(name) for name in ONLY.get(kind, tuple(ACTIVATIONS)))
    return networks if base is None else (*own, *networks)


@cache
def drawn() -> dict[str, None]:
    """The cells of which some kind of system is drawn, in order."""
    return dict.fromkeys(cell for kind in get_args(Kind) for cell in cells_of(kind))


def columns(others: Iterable[str] = ()) -> tuple[Column, ...]:
    """The columns of all cells that are read or attacked, those of the table in its order."""
    cells = tuple(dict.fromkeys((*CELLS, *drawn(), *others)))
    names = {column_of(cell) for cell in cells}
    ordered = [name for name in COLUMNS if name in names]
    ordered[-1:-1] = sorted(names - set(COLUMNS))
    return tuple(
        Column(
            name=name,
            title=COLUMNS[name].title if name in COLUMNS else name,
            cells=tuple(cell for cell in cells if column_of(cell) == name),
        )
        for name in ordered
    )
