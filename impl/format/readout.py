"""The readout of a certificate or of witnesses: one linear layer, or a chain of stages.

A chain lists the full names of weights and the names of activations in the order in which they are
applied; what reads a single layer alone refuses it by its keys.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from rnnbounds.impl.format.fields import Count, Exactly, RecordError, Size, converted

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


class BoundedChain(ChainReadout, frozen=True):
    """Stages with a bound on the Lipschitz constant of each, and one on their product."""

    norms: list[Size]
    norm: Size

    def __post_init__(self) -> None:
        if len(self.norms) != len(self.chain):
            raise RecordError("norms of other stages")


def stated_readout(told: Any) -> LinearReadout | ChainReadout:
    """The readout of a record of witnesses; raises RecordError."""
    return converted(told, ChainReadout) if _is_chain(told) else converted(told, LinearReadout)


def bounded_readout(told: Any) -> BoundedLinear | BoundedChain:
    """The readout of a certificate; raises RecordError."""
    return converted(told, BoundedChain) if _is_chain(told) else converted(told, BoundedLinear)


def stage_names(told: Mapping[str, Any]) -> Sequence[str]:
    """The names of the stages of a record that was read."""
    return told["chain"] if _is_chain(told) else (told["tensor"],)


def _is_chain(told: Any) -> bool:
    return isinstance(told, Mapping) and "chain" in told
