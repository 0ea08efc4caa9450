"""Names of the vector whose error ε bounds: the output h, or the map y of h that a readout is.

The code of a model is not read, so that a readout is never called its prediction.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]


def stage_names(readout: Document) -> Sequence[str]:
    """The stages of a readout in a record, in the order in which they are applied to h."""
    found: Sequence[str] = readout["chain"] if "chain" in readout else (readout["tensor"],)
    return found


def map_name(names: Sequence[str]) -> str:
    """The map of these stages: `linear map y = head.weight h`, `map y = b.weight ∘ tanh ∘ a.weight
    h`; biases are not shown."""
    return f"{_kind(names)} y = {' ∘ '.join(reversed(names))} h"


def vector_name(document: Document) -> str:
    """The vector of a certificate: `output h`, or the map of its readout."""
    readout = document.get("readout")
    return map_name(stage_names(readout)) if readout else "output h"


def vector_symbol(document: Document) -> str:
    """The vector of a certificate in formulas."""
    return "y" if document.get("readout") else "h"


def short_name(document: Document) -> str:
    """The vector in a sentence: `output`, `linear map of h` or `map of h`."""
    readout = document.get("readout")
    return f"{_kind(stage_names(readout))} of h" if readout else "output"


def value_name(document: Document, plural: str = "") -> str:
    """One vector of many, or many of them: `output`, `value of this linear map of h`."""
    short = short_name(document)
    return f"value{plural} of this {short}" if document.get("readout") else f"{short}{plural}"


def _kind(names: Sequence[str]) -> str:
    return "linear map" if len(names) == 1 else "map"
