"""Names of the vector whose error ε bounds: the output h, or the linear map y of h of a readout.

The code of a model is not read, so that a readout is never called its prediction.
"""

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def map_name(readout: Document) -> str:
    """The map of a readout: `linear map y = head.weight h`; its bias is not shown."""
    return f"linear map y = {readout['tensor']} h"


def vector_name(document: Document) -> str:
    """The vector of a certificate: `output h`, or the map of its readout."""
    readout = document.get("readout")
    return map_name(readout) if readout else "output h"


def vector_symbol(document: Document) -> str:
    """The vector of a certificate in formulas."""
    return "y" if document.get("readout") else "h"


def short_name(document: Document) -> str:
    """The vector in a sentence: `output`, or `linear map of h`."""
    return "linear map of h" if document.get("readout") else "output"


def value_name(document: Document, plural: str = "") -> str:
    """One vector of many, or many of them: `output`, `value of this linear map of h`."""
    short = short_name(document)
    return f"value{plural} of this {short}" if document.get("readout") else f"{short}{plural}"
