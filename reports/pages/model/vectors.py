"""Names of the vector whose error ε bounds: the output h, or the map of h that a readout is.

The code of a model is not read, so that a readout is never called its prediction.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]


def stage_names(readout: Document) -> Sequence[str]:
    """The stages of a readout in a record, in the order in which they are applied to h."""
    found: Sequence[str] = readout["chain"] if "chain" in readout else (readout["tensor"],)
    return found


def map_symbol(names: Sequence[str]) -> str:
    """The map of h that these stages are: `head.weight h`, `b.weight ∘ tanh ∘ a.weight h`."""
    return f"{' ∘ '.join(reversed(names))} h"


def map_name(names: Sequence[str], plural: str = "") -> str:
    """What that map is called: `linear map head.weight h`; a chain is no linear map."""
    return f"{'linear ' * (len(names) == 1)}map{plural} {map_symbol(names)}"


def vector_name(document: Document, plural: str = "") -> str:
    """The vector of a certificate: `output h`, or the map of its readout."""
    readout = document.get("readout")
    return map_name(stage_names(readout), plural) if readout else f"output{plural} h"


def vector_symbol(document: Document) -> str:
    """The vector of a certificate in formulas: `h`, or `head.weight h`."""
    readout = document.get("readout")
    return map_symbol(stage_names(readout)) if readout else "h"


def short_name(document: Document, plural: str = "") -> str:
    """The vector in a sentence: `output`, `linear map of h` or `map of h`."""
    readout = document.get("readout")
    if not readout:
        return f"output{plural}"
    return f"{'linear ' * (len(stage_names(readout)) == 1)}map{plural} of h"
