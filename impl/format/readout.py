"""The readout of a certificate: one linear layer, or a chain of stages.

A chain lists the full names of weights and the names of activations and normalisations in the order
in which they are applied; what reads a single layer alone refuses it by its keys. The name of a
normalisation is its kind, its ε and the name before its `.weight`: "layer-norm-1e-05:head.1".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from rnnbounds.impl.format.fields import Count, Exactly, Number, RecordError, Size, converted

NORMALISATION = re.compile(r"(layer-norm|rms-norm)-([0-9.e+-]+)(?::(.+))?$")
Chain = Annotated[list[str], Meta(min_length=2)]


class LinearReadout(Exactly, frozen=True):
    """The map C h: the name of C, its rows, and the digest of its numbers."""

    tensor: str
    outputs: Count
    sha256: str


class ChainReadout(Exactly, frozen=True):
    """Stages by their names, the number of outputs, and the digest of all numbers."""

    chain: Chain
    outputs: Count
    sha256: str


class BoundedLinear(LinearReadout, frozen=True):
    """The map C h with a bound on ‖C‖₂."""

    norm: Size

    @property
    def norms(self) -> list[Size]:
        """The bound of its only stage."""
        return [self.norm]


class Averaged(Exactly, frozen=True):
    """A Lipschitz constant `norm` by averaged operators: ranges (a, b) of the slopes of each, unit
    by unit or one for all, and bounds on norms of segments from the i-th to the j-th linear map
    between them at [i][j − i]."""

    ranges: list[tuple[list[Number], list[Number]]]
    segments: list[list[Size]]
    norm: Size

    def __post_init__(self) -> None:
        counts = [*range(len(self.ranges) + 1, 0, -1)]
        same = all(len(a) == len(b) for a, b in self.ranges)
        if not same or [len(row) for row in self.segments] != counts:
            raise RecordError("segments of other stages")


class Reached(Averaged, frozen=True):
    """That on all ‖h‖₂ ≤ radius."""

    radius: Size


class BoundedChain(ChainReadout, frozen=True):
    """Stages with a bound on the Lipschitz constant of each, and one on that of all, which may be
    by averaged operators; and one on that of the states that are reached."""

    norms: list[Size]
    norm: Size
    averaged: Averaged | UnsetType = UNSET
    reached: Reached | UnsetType = UNSET

    def __post_init__(self) -> None:
        if len(self.norms) != len(self.chain):
            raise RecordError("norms of other stages")


def bounded_readout(told: Any) -> BoundedLinear | BoundedChain:
    """The readout of a certificate; raises RecordError."""
    return converted(told, BoundedChain) if _is_chain(told) else converted(told, BoundedLinear)


def stage_names(told: Mapping[str, Any]) -> Sequence[str]:
    """The names of the stages of a record that was read."""
    return told["chain"] if _is_chain(told) else (told["tensor"],)


def _is_chain(told: Any) -> bool:
    return isinstance(told, Mapping) and "chain" in told
