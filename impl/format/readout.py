"""The readout of a certificate: one linear layer."""

from typing import Any

from rnnbounds.impl.format.fields import Count, Exactly, Size, converted


class BoundedReadout(Exactly, frozen=True):
    """The map C h: the name of C, its rows, the digest of its numbers, and a bound on ‖C‖₂."""

    tensor: str
    outputs: Count
    sha256: str
    norm: Size


def bounded_readout(told: Any) -> BoundedReadout:
    """The readout of a certificate; raises RecordError."""
    return converted(told, BoundedReadout)
